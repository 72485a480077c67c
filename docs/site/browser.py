"""The built site in a browser: pages at three widths, light and dark; sliders moved, search asked, the keyboard used.

    pip install playwright && playwright install chromium          # or a Chromium that is there already
    python docs/site/browser.py docs/_build/html                   # what is wrong; exit status 1 if anything
    python docs/site/browser.py docs/_build/html --pictures look   # and pictures of each page, in look/

It needs a browser, so the tests do not run it; `tidy.py` and tests/test_site.py look at all that can be seen without.
Pages are opened as files, with the network off: that is how a reader has them who has built them.
"""

import argparse
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WIDTHS = (420, 900, 1400)
QUERIES = {  # what somebody types, and a page that has to be among the first ten
    "simulate": "4-many-steps",
    "bicycle stable speed": "WhippleBicycle",
    "wheel": "mechanisms",
    "constraint": "constraints",
    "energy drift": "long_runs",
    "gpu": "when_it_is_slow",
    "checkpoint": "long_run",
    "collision": "events",
    "motor": "forces",
    "initial velocity off the constraint": "how_to/constraints",
    "install": "releases",
    "plot": "reference/plots",
    "jit": "gradients",
    "robot": "mechanisms",
    "slip": "constraints",
    "multiplier": "how_to/constraints",
    "order": "choosing_a_scheme",
    "own system": "my_system",
    "quaternion": "choosing_a_frame",
    "parallel": "clusters",
    "NaN": "when_it_fails",
    "bicycle": "WhippleBicycle",
    "closed loop": "closed_loops",
    "friction": "forces",
    "resume": "clusters",
    "gradient": "gradients",
    "urdf": "mechanisms",
    "slow": "when_it_is_slow",
    "NewtonFailed": "errors",
    "new scheme": "add_a_scheme",
    "self-stable bicycle": "WhippleBicycle",
    "coulomb friction": "forces",
}
# Contrast of text with what is behind it, by WCAG 2.2: each text node's colour against the first opaque ground.
CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
  const rgba = c => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = c; canvas.fillRect(0, 0, 1, 1)
    return canvas.getImageData(0, 0, 1, 1).data }
  const light = c => { const [r, g, b] = [...c].slice(0, 3).map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b }
  const ground = e => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor)
    if (c[3] > 250) return c }; return rgba('white') }
  const found = {}
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node; node = walk.nextNode();) {
    const e = node.parentElement
    if (!node.data.trim() || !e.getClientRects().length || e.closest('svg, script, style, noscript')) continue
    const style = getComputedStyle(e), size = parseFloat(style.fontSize)
    if (style.visibility == 'hidden' || style.opacity < 0.1 || e.getBoundingClientRect().width < 2) continue
    const a = light(rgba(style.color)), b = light(ground(e))
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700)
    if (ratio < (large ? 3 : 4.5)) {
      const key = `${style.color} in ${e.tagName.toLowerCase()}.${e.className} of .${e.parentElement.className}`
      found[key] = [ratio.toFixed(2), node.data.trim().slice(0, 30)] }
  }
  return found }"""
LAYOUT = """() => {
  const rolls = e => { for (; e && e.tagName != 'ARTICLE'; e = e.parentElement)
    if (['auto', 'scroll', 'hidden'].includes(getComputedStyle(e).overflowX)) return true }
  const wide = [...document.querySelectorAll('article *')].filter(e => e.getClientRects().length
    && e.getBoundingClientRect().right > innerWidth + 1 && !rolls(e) && getComputedStyle(e).position != 'fixed')
  const ranks = [...document.querySelectorAll('article h1, article h2, article h3, article h4')].map(h => +h.tagName[1])
  return {
    overflow: document.documentElement.scrollWidth - innerWidth,
    wide: wide.slice(0, 2).map(e => `${e.tagName}.${e.className}`),
    broken: [...document.images].filter(i => i.complete && !i.naturalWidth && i.src).map(i => i.src.slice(-60)),
    jumps: ranks.map((r, k) => k && r > ranks[k - 1] + 1 ? `h${ranks[k - 1]} to h${r}` : '').filter(x => x),
  } }"""

STOP = """() => { const e = document.activeElement
  return [e.tagName, (e.innerText || e.ariaLabel || e.name || '').trim().slice(0, 30)] }"""
SEEN = """() => { const e = document.activeElement, s = getComputedStyle(e), r = e.getBoundingClientRect()
  return (s.outlineStyle != 'none' && parseFloat(s.outlineWidth) > 0 || s.boxShadow != 'none')
    && r.width > 0 && r.bottom > 0 && r.top < innerHeight }"""


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium without a window and without the network."""
    from playwright.sync_api import sync_playwright

    here = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as play:
        made = play.chromium.launch(executable_path=here, args=["--no-sandbox", "--allow-file-access-from-files"])
        try:
            yield made
        finally:
            made.close()


@contextmanager
def window(made: Any, width: int, scheme: str = "light") -> Iterator[tuple[Any, list[str]]]:
    """A page of this width, and what its console says is wrong."""
    context = made.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page, said = context.new_page(), []
    page.on("console", lambda m: said.append(f"console: {m.text[:120]}") if m.type == "error" else None)
    page.on("pageerror", lambda error: said.append(f"script: {str(error)[:120]}"))
    yield page, said
    context.close()


def looks(made: Any, root: Path, pages: list[Path], pictures: Path | None) -> Iterator[str]:
    """Every page at every width, and in the dark."""
    for width, scheme in [(w, "light") for w in WIDTHS] + [(1400, "dark")]:
        contrast: dict[str, tuple[str, str, Path]] = {}
        with window(made, width, scheme) as (page, said):
            for path in pages:
                name = path.relative_to(root)
                page.goto(path.as_uri(), wait_until="load")
                page.evaluate("document.querySelectorAll('img[loading=lazy]').forEach(i => i.loading = 'eager')")
                page.wait_for_load_state("networkidle")
                found = page.evaluate(LAYOUT)
                if found["overflow"] > 0 or found["wide"]:  # the theme cuts off on small screens what is too wide
                    yield f"{name} at {width}: too wide by {found['overflow']}, {found['wide']}"
                yield from (f"{name}: picture missing: {source}" for source in found["broken"])
                if width == WIDTHS[-1]:
                    for key, (ratio, text) in page.evaluate(CONTRAST).items():
                        contrast.setdefault(key, (ratio, text, name))
                    yield from (f"{name}: heading jumps from {jump}" for jump in found["jumps"])
                yield from (f"{name} at {width}: {words}" for words in said)
                said.clear()
                if pictures:
                    out = pictures / f"{str(name).replace('/', '+')}-{width}-{scheme}.png"
                    page.screenshot(path=out)
            yield from (f"{scheme}: contrast {r} of {key}: {t!r} on {n}" for key, (r, t, n) in contrast.items())


def moves(made: Any, root: Path) -> Iterator[str]:
    """Sliders and films: what is moved changes the picture."""
    for name in ("generated/sleigh.html", "generated/sets.html", "generated/catalogue/RollingDisk.html"):
        with window(made, 900) as (page, said):
            page.goto((root / name).as_uri())
            page.wait_for_timeout(500)
            for k in range(page.locator("figure.film button").count()):
                page.locator("figure.film button").nth(k).click()
            page.wait_for_timeout(1500)
            page.evaluate("document.querySelectorAll('button').forEach(b => b.textContent == 'Pause' && b.click())")
            sliders = page.locator("input[type=range]:visible")
            if not sliders.count():
                yield f"{name}: no slider"
            for k in range(sliders.count()):
                slider = sliders.nth(k)
                slider.scroll_into_view_if_needed()
                before = page.locator("article").screenshot()
                slider.evaluate(
                    "e => { e.value = e.value == e.max ? e.min : e.max; e.dispatchEvent(new Event('input', "
                    "{bubbles: true})); e.dispatchEvent(new Event('change', {bubbles: true})) }"
                )
                page.wait_for_timeout(800)
                if page.locator("article").screenshot() == before:
                    yield f"{name}: slider {k} moves nothing"
                if not slider.evaluate("e => !!(e.labels?.length || e.ariaLabel || e.getAttribute('aria-labelledby'))"):
                    yield f"{name}: slider {k} has no label"
            yield from (f"{name}: {words}" for words in said)


def answers(made: Any, root: Path) -> Iterator[str]:
    """The search, from the page's own field."""
    for query, wanted in QUERIES.items():
        with window(made, 1400) as (page, said):
            page.goto((root / "index.html").as_uri())
            field = page.locator("input[name=q]:visible").first
            field.fill(query)
            field.press("Enter")
            try:
                page.wait_for_selector("#search-results ul.search li a", timeout=8000)
                page.wait_for_timeout(1000)
            except Exception:
                yield f"search {query!r}: no answer"
                continue
            links = page.eval_on_selector_all("#search-results ul.search li > a", "all => all.map(a => a.href)")[:10]
            if not any(wanted in link for link in links):
                yield f"search {query!r}: {wanted} is not among {[link.rpartition('/html/')[2] for link in links]}"
            yield from (f"search {query!r}: {words}" for words in said)


def keys(made: Any, root: Path) -> Iterator[str]:
    """Tab alone: the first stop leads to the content, every stop is seen, once the theme has rolled there."""
    for name in ("index.html", "how_to/my_system.html", "generated/sleigh.html"):
        with window(made, 1400) as (page, _):
            page.goto((root / name).as_uri())
            stops = []
            for _k in range(30):
                page.keyboard.press("Tab")
                seen = True
                try:
                    page.wait_for_function(SEEN, timeout=2000)
                except Exception:  # Playwright's own TimeoutError, which is imported where there is a browser
                    seen = False
                stops.append((*page.evaluate(STOP), seen))
            if "skip" not in stops[0][1].lower():
                yield f"{name}: the first stop of Tab is {stops[0][:2]}, not a link to the content"
            unseen = [stop[:2] for stop in stops if not stop[2] and stop[0] != "BODY"]
            if unseen:
                yield f"{name}: focus is not seen on {unseen[:4]}"
            if len({stop[:2] for stop in stops}) < 10:
                yield f"{name}: Tab is caught: {stops[-3:]}"


def main() -> int:
    """Print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path, help="a folder for pictures of all pages")
    parser.add_argument("--only", nargs="*", default=["looks", "moves", "answers", "keys"])
    parser.add_argument("--pages", default="", help="only those with this in their path")
    given = parser.parse_args()
    root = given.site.resolve()
    pages = [path for path in sorted(root.rglob("*.html")) if given.pages in str(path.relative_to(root))]
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    wrong = 0
    with browser() as made:
        parts = {
            "looks": lambda: looks(made, root, pages, given.pictures),
            "moves": lambda: moves(made, root),
            "answers": lambda: answers(made, root),
            "keys": lambda: keys(made, root),
        }
        for part in given.only:
            for words in parts[part]():
                wrong += 1
                print(words, flush=True)
    print(f"{len(pages)} pages; {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""What the built site must be, page by page: links that lead somewhere, no orphan, words for pictures, no network.

    python docs/site/tidy.py docs/_build/html

prints what is wrong; the exit status is 1 if anything is. Part of `make docs`.
"""

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

UNLINKED = {
    "genindex.html",
    "search.html",
    "index.html",
    "404.html",
}  # the theme links them from each page, or from none


VERBATIM = ("pre", "code", "script", "style", "math")
LATEX = re.compile(r"\$\$|\\(?:dot|frac|begin|partial|xi|mu|Psi)\b")


class Page(HTMLParser):
    """What a page names, and what is named in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.wordless: list[str] = []
        self.language, self.titles, self.labels = "", 0, 0
        self.verbatim = 0
        self.raw: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """One tag."""
        has = {name: value or "" for name, value in attributes}
        self.verbatim += tag in VERBATIM
        self.ids.update(has[name] for name in ("id", "name") if name in has)
        if tag == "html":
            self.language = has.get("lang", "")
        if tag == "h1":
            self.titles += 1
        if tag == "a" and "href" in has:
            self.links.append(has["href"])
        if tag in ("img", "script", "source", "iframe") and "src" in has:
            self.loaded.append(has["src"])
        if tag == "link" and has.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(has.get("href", ""))
        if (tag == "img" and "alt" not in has) or (has.get("role") == "img" and not has.get("aria-label")):
            self.wordless.append(has.get("src", tag))

    def handle_endtag(self, tag: str) -> None:
        """The end of one."""
        self.verbatim -= tag in VERBATIM

    def handle_data(self, data: str) -> None:
        """Words: LaTeX among them is a formula that nobody typeset."""
        if not self.verbatim:
            self.raw += LATEX.findall(data)


def wrong(root: Path) -> Iterator[str]:
    """Sentences, one a fault."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in sorted(root.rglob("*.html"))}
    reached: set[Path] = set()
    for path, page in pages.items():
        name = path.relative_to(root)
        yield from (f"{name}: a picture without words: {source[:80]}" for source in page.wordless)
        if page.raw:
            yield f"{name}: formulas that are not typeset: {page.raw[:3]}"
        if not page.language:
            yield f"{name}: its language is not said"
        if page.titles != 1 and path.name != "search.html":  # which is filled in by a script
            yield f"{name}: {page.titles} titles of the first rank"
        for address in page.loaded:
            if "://" in address and not address.startswith("data:"):
                yield f"{name}: loads {address} from the network"
        for address in [*page.links, *page.loaded]:
            target, fragment = urldefrag(address.partition("?")[0])
            if "://" in address or address.startswith(("mailto:", "data:", "javascript:")):
                continue
            place = (path.parent / unquote(target)).resolve() if target else path
            if place.is_dir():
                place = place / "index.html"
            if not place.exists():
                yield f"{name}: {address} leads nowhere"
            elif fragment and place in pages and unquote(fragment) not in pages[place].ids:
                yield f"{name}: {address}: there is no such place on that page"
            if place != path:
                reached.add(place)
    for path in pages:
        if path not in reached and path.name not in UNLINKED:
            yield f"{path.relative_to(root)}: no page leads to it"


def main(root: Path) -> int:
    """Print them."""
    found = list(dict.fromkeys(wrong(root.resolve())))
    print(*found[:200], sep="\n" if found else "", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))

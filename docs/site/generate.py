"""Pages that the code says itself: reference, catalogue, gallery, films, slips, and copies of the root's pages.

They are written into docs/generated/ before Sphinx reads the folder, anew each time; films go to docs/generated/films/,
which the site has as films/.
"""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import catalogue as systems
import gallery as figures
import interactive
import reference as entries
from docstrings import page_of, prose
from reference import raw

import discrete_hamel as dh
from discrete_hamel.cli.name_lookup import catalogue as known_systems
from paper_figures.papers import PAPERS
from paper_figures.slips import SLIPS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OUT = DOCS / "generated"
FILMS = "films/films"  # inside OUT; `html_extra_path` takes what is in the first folder
LINKS = {"docs/": "../", "notebooks/README.md": "tutorial/index.md", "CONTRIBUTING.md": "contributing.md"}


def main() -> None:
    """All of them."""
    shutil.rmtree(OUT, ignore_errors=True)
    for folder in ("reference", "catalogue", "tutorial", FILMS):
        (OUT / folder).mkdir(parents=True)
    reference()
    catalogue()
    gallery()
    films()
    slips()
    tutorial()
    citation()
    for name, place in {"README": "start", "CONTRIBUTING": "contributing", "CHANGELOG": "changelog"}.items():
        taken_over(name, place)


def taken_over(name: str, place: str) -> None:
    """A page of the repository's root, with its links turned to the site's pages."""
    text = (ROOT / f"{name}.md").read_text()
    for written, page in LINKS.items():
        text = text.replace(f"]({written}", f"]({page}")
    if name == "README":
        text = text.replace("# discrete_hamel", "# Start", 1)
    (OUT / f"{place}.md").write_text(text)


def readable() -> list[Path]:
    """The pages that people have written: those in which a name may be found beside its reference."""
    pages = sorted([*DOCS.glob("*.md"), *DOCS.glob("how_to/*.md")])
    return [*pages, *sorted((ROOT / "notebooks").glob("*.ipynb")), ROOT / "README.md"]


def addresses(up: str = "") -> dict[str, str]:
    """Where the entry of each public name is, from a page that is `up` from the site's root."""
    return {name: f"{up}{address}" for name, address in entries.links(entries.pages()).items()}


def reference() -> None:
    """A page a theme of `dh.THEMES`, and a page each public module: every public name has its entry."""
    pages = entries.pages()
    links = entries.links(pages)
    used = entries.mentions(readable(), [name for _, names, _ in pages.values() for name in names])
    for page, (title, names, owner) in pages.items():
        about = "" if owner is dh else raw(page_of(owner.__doc__ or "", links))
        _write(f"reference/{page}", title, about, *(entries.entry(owner, name, links, used) for name in names))
    listed = []
    for page, (title, names, owner) in pages.items():
        words = ", ".join(f"[{name}]({page}.md#{entries.anchor(owner, name)})" for name in names)
        listed.append(f"## {title}\n\n{words}\n")
    about = (
        "Every public name, by theme; `dir(dh)` lists them. Shapes: N coordinates, n quasi-velocities, m of them free, "
    )
    about += "K steps.\n\n"
    _index("reference", "Reference", about + "\n".join(listed), list(pages))


def catalogue() -> None:
    """A page a system."""
    kinds = known_systems()
    for name, kind in kinds.items():
        blocks = systems.program(name, kind) + systems.command(name)
        _write(f"catalogue/{name}", name, raw(systems.page(name, kind, OUT / FILMS)), blocks)
    cards = raw(f'<div class="cards">{"".join(systems.card(name, kind) for name, kind in kinds.items())}</div>')
    _index("catalogue", "Catalogue", f"{len(kinds)} systems, each with a sample motion.\n\n{cards}", list(kinds))


def gallery() -> None:
    """The papers' figures with their claims."""
    found = [holds for about in figures.claims().values() for _, holds in about["claims"]]
    about = (
        f"{len(figures.FIGURES)} figures; {sum(found)} of {len(found)} claims hold. Each computes its own data: "
        "`discrete-hamel figures` writes all of them, large, as PDF and PNG, and checks every claim anew.\n"
    )
    parts = [part for heading, body in figures.page() for part in (f"## {heading}\n", raw(body))]
    shutil.copytree(figures.FOLDER, OUT / "films" / "gallery", ignore=shutil.ignore_patterns("*.json"))
    _write("gallery", "The papers' figures", about, *parts)


def films() -> None:
    """The pages on which a reader changes something."""
    interactive.write_sleighs(OUT / FILMS)
    about = (
        "A sleigh on one blade, pushed backward at 1 m/s. Its mass centre is `offset` in front of the blade (behind, "
        "where that is negative). Change it: whatever the offset, the sleigh ends with its mass centre in front; "
        "where it has to turn about for that, its path has a cusp.\n"
    )
    runs = "Every path is a run of `dh.simulate(dh.systems.ChaplyginSleigh(offset=...), ...)`, made with this site.\n"
    _write("sleigh", "Change the sleigh", about, raw(interactive.PAGE), runs)
    more = "Films with a slider: play, then move it.\n"
    _write("sets", "Change a number", more, raw(interactive.write_sets(OUT / FILMS)))


def slips() -> None:
    """The papers' slips, with the tests that show them."""
    parts = []
    for paper in PAPERS:
        own = [slip for slip in SLIPS if slip.paper == paper.tag]
        if own:
            parts.append(f"## [{paper.tag}] {paper.title}\n")
            rows = "".join(
                f"<dt>{prose(slip.place, {})}</dt><dd><p>{prose(slip.right, {})}</p>"
                f"<p>Printed: {prose(slip.printed, {})}</p><p><code>{_escaped(slip.test)}</code></p></dd>"
                for slip in own
            )
            parts.append(raw(f"<dl>{rows}</dl>"))
    about = (
        "Each was found by computing both forms; the test named passes with the right one and fails with the other.\n"
    )
    _write("slips", "Errata of the papers", about, *parts)


def citation() -> None:
    """CITATION.cff, as it is: what reads it wants it so."""
    text = (ROOT / "CITATION.cff").read_text()
    about = "Cite the library, and the papers whose theory it implements. Reference managers read `CITATION.cff`:\n"
    _write("cite", "How to cite", about, f"```yaml\n{text}```\n")


def tutorial() -> None:
    """The notebooks, in their order, with the outputs that are kept in them."""
    text = (ROOT / "notebooks" / "README.md").read_text()
    names = re.findall(r"\]\((\w+)\.ipynb\)", text)
    for name in names:
        shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", OUT / "tutorial")
    listed = "\n".join(re.findall(r"^\d+\. .*$", text, flags=re.MULTILINE))
    _index("tutorial", "Tutorial", f"In reading order; each runs by itself in some seconds.\n\n{listed}", names)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _write(name: str, title: str, *parts: str) -> None:
    (OUT / f"{name}.md").write_text("\n".join([f"# {title}\n", *(part for part in parts if part)]))


def _index(folder: str, title: str, about: str, names: Sequence[str]) -> None:
    listed = "\n".join(names)
    (OUT / folder / "index.md").write_text(
        f"# {title}\n\n{about}\n\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{listed}\n```\n"
    )


if __name__ == "__main__":
    main()

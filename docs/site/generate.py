"""Pages that the code says itself: the reference by theme, the catalogue, the papers' slips, the notebooks' copies.

They are written into docs/generated/ before Sphinx reads the folder, anew each time.
"""

import inspect
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from docstrings import highlighted, page_of, prose

import discrete_hamel as dh
from discrete_hamel.cli.names import catalogue as known_systems
from discrete_hamel.cli.systems import description
from paper_figures.papers import PAPERS
from paper_figures.slips import SLIPS

ROOT = Path(__file__).parents[2]
OUT = ROOT / "docs" / "generated"
LINKS = {"docs/": "../", "notebooks/README.md": "tutorial/index.md", "CONTRIBUTING.md": "contributing.md"}
PARTS = ("mechanisms", "groups", "fields", "testing", "plots", "animate")  # public modules with functions of their own


def main() -> None:
    """All of them."""
    shutil.rmtree(OUT, ignore_errors=True)
    for folder in ("reference", "catalogue", "tutorial"):
        (OUT / folder).mkdir(parents=True)
    reference()
    catalogue()
    slips()
    tutorial()
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


def reference() -> None:
    """A page a theme of `dh.THEMES`, and a page each public module: every public name has its entry."""
    themes = {theme: [name for names in modules.values() for name in names] for theme, modules in dh.THEMES.items()}
    pages = {f"{k + 1}-{slug(theme)}": (theme, names, dh) for k, (theme, names) in enumerate(themes.items())}
    for part in PARTS:
        if part in dh.MODULES:
            module = getattr(dh, part)
            pages[part] = (f"dh.{part}", [name for name in module.__all__ if _documented(module, name)], module)
    links = {
        (name if owner is dh else f"{page}.{name}"): f"{page}.html#{_anchor(owner, name)}"
        for page, (_, names, owner) in pages.items()
        for name in names
    }
    for page, (title, names, owner) in pages.items():
        entries = [entry(owner, name, links) for name in names]
        about = "" if owner is dh else page_of(owner.__doc__ or "", links)
        _write(f"reference/{page}", title[0].upper() + title[1:] if owner is dh else title, about, *entries)
    _index("reference", "Reference", "Every public name, by theme; `dir(dh)` lists them.", list(pages))


def _documented(module: object, name: str) -> bool:
    return callable(getattr(module, name)) and bool(inspect.getdoc(getattr(module, name)))


def _anchor(owner: object, name: str) -> str:
    kind = "-class" if inspect.isclass(getattr(owner, name)) else ""  # Mechanism and mechanism are two entries
    return f"{'dh' if owner is dh else owner.__name__.rpartition('.')[2]}-{name}{kind}".lower()


def entry(owner: object, name: str, links: Mapping[str, str]) -> str:
    """A heading, the signature, and the docstring of a name; of a class its public methods too."""
    thing = getattr(owner, name)
    prefix = "dh" if owner is dh else f"dh.{owner.__name__.rpartition('.')[2]}"
    parts = [f"({_anchor(owner, name)})=\n## {prefix}.{name}\n"]
    if callable(thing):
        parts.append(_raw(highlighted(f"{prefix}.{name}{signature(thing)}", "python")))
    parts.append(_raw(page_of(inspect.getdoc(thing) or "", links)))
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        own = [n for n, member in vars(thing).items() if not n.startswith("_") and inspect.getdoc(member)]
        members = [(n, inspect.getattr_static(thing, n)) for n in own]
        rows = [_member(n, member, links) for n, member in members if callable(member) or isinstance(member, property)]
        if rows:
            parts.append(_raw(f'<dl class="members">{"".join(rows)}</dl>'))
    return "\n".join(parts)


def _member(name: str, member: object, links: Mapping[str, str]) -> str:
    call = "" if isinstance(member, property) else signature(member)
    return f"<dt><code>.{name}{_escaped(call)}</code></dt><dd>{page_of(inspect.getdoc(member) or '', links)}</dd>"


def signature(thing: object) -> str:
    """As one reads it: types by their last name."""
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(...)"
    return re.sub(r"<[^<>]* at 0x[0-9a-f]+>", "...", re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Z]\w*)", "", text))


def catalogue() -> None:
    """A page a system: equations, coordinates, parameters, its sample motion; with a film where there is one."""
    kinds = known_systems()
    for name, kind in kinds.items():
        film = ROOT / "docs" / "animations" / f"{name.lower()}.gif"
        picture = f"![{name} moving](../../animations/{film.name})\n" if film.exists() else ""
        facts = description(kind).partition(inspect.getdoc(kind) or name)[2].strip()
        command = f"discrete-hamel run {name} --plot run.png --animate run.gif"
        body = _raw(page_of(inspect.getdoc(kind) or "", {}))
        _write(f"catalogue/{name}", name, picture, body, f"```text\n{facts}\n```", f"```console\n{command}\n```")
    rows = [f"| [{name}]({name}.md) | {_first(kind)} |" for name, kind in kinds.items()]
    table = "\n".join(["| system | |", "|---|---|", *rows])
    _index("catalogue", "Catalogue", f"{len(kinds)} systems, each with a sample motion.\n\n{table}", list(kinds))


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
            parts.append(_raw(f"<dl>{rows}</dl>"))
    about = "Each was found by computing both forms; the test named passes with the right one and fails with the other."
    _write("slips", "Slips in the papers", about, *parts)


def tutorial() -> None:
    """The notebooks, in their order, with the outputs that are kept in them."""
    text = (ROOT / "notebooks" / "README.md").read_text()
    names = re.findall(r"\]\((\w+)\.ipynb\)", text)
    for name in names:
        shutil.copy(ROOT / "notebooks" / f"{name}.ipynb", OUT / "tutorial")
    entries = "\n".join(re.findall(r"^\d+\. .*$", text, flags=re.MULTILINE))
    _index("tutorial", "Tutorial", f"In reading order; each runs by itself in some seconds.\n\n{entries}", names)


def slug(text: str) -> str:
    """A name for a file."""
    return re.sub(r"\W+", "-", text.lower()).strip("-")


def _first(thing: object) -> str:
    return (inspect.getdoc(thing) or "").partition("\n")[0].replace("|", "\\|")


def _raw(text: str) -> str:
    return f"```{{raw}} html\n{text}\n```\n"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _write(name: str, title: str, *parts: str) -> None:
    body = "\n".join(part if part.startswith(("#", "(", "`", "!")) else _markup(part) for part in parts if part)
    (OUT / f"{name}.md").write_text(f"# {title}\n\n{body}\n")


def _markup(part: str) -> str:
    return _raw(part) if part.startswith("<") else part + "\n"


def _index(folder: str, title: str, about: str, names: Sequence[str]) -> None:
    listed = "\n".join(names)
    (OUT / folder / "index.md").write_text(f"# {title}\n\n{about}\n\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n")


if __name__ == "__main__":
    main()

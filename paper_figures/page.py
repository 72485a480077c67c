"""index.html: every figure in a folder, by papers, with caption, claims, parameters and files; the papers' slips."""

import html
import json
import struct
from collections.abc import Iterator, Sequence
from numbers import Number
from pathlib import Path
from typing import Any

import numpy as np

from .mathematics import typeset
from .papers import OWN, PAPERS, TAG, Paper, paper_of
from .slips import SLIPS, Slip

About = dict[str, Any]

HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>discrete_hamel: the papers' figures</title>
<style>
  :root { --ink: #222; --pale: #666; --rule: #d5d5d5; --link: #00588f }
  body { font: 17px/1.5 Georgia, "Times New Roman", serif; max-width: 58rem; margin: 2rem auto; padding: 0 1rem;
         color: var(--ink); overflow-wrap: break-word }
  h1, h2, h3 { font-weight: normal; line-height: 1.25 }
  h2 { margin: 4rem 0 0.25rem; border-top: 2px solid var(--ink); padding-top: 0.6rem }
  a { color: var(--link); text-decoration: none }
  a:hover { text-decoration: underline }
  math { font-family: "STIX Two Math", "Cambria Math", "Latin Modern Math", math, Georgia, serif; white-space: nowrap }
  .whole { white-space: nowrap }
  .long { display: inline-block; max-width: 100%; overflow-x: auto; vertical-align: bottom }
  .about, small, pre { color: var(--pale) }
  .about { margin: 0 0 1rem }
  section { border-top: 1px solid var(--rule); margin-top: 2.5rem; padding-top: 0.25rem }
  section > a > img { max-width: 100%; height: auto; display: block; margin: 1rem auto }
  nav { display: grid; grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); gap: 0.75rem; margin: 1rem 0 }
  nav a { display: block; border: 1px solid var(--rule); border-radius: 4px; padding: 0.4rem; color: var(--ink);
          font-size: 0.8rem; line-height: 1.3 }
  nav img, nav .none { width: 100%; height: 6.5rem; object-fit: contain; display: block; margin-bottom: 0.3rem }
  nav a.broken { border-color: #d55e00 }
  ul.claims { list-style: none; padding-left: 0 }
  .claims li { padding-left: 1.7rem; text-indent: -1.7rem; margin: 0.2rem 0 }
  .claims li > * { text-indent: 0 }
  .holds::before { content: "\\2713\\00a0\\00a0"; color: #007a59; font-weight: bold }
  .fails::before { content: "\\2717\\00a0\\00a0"; color: #d55e00; font-weight: bold }
  .fails, .error { color: #a33c00 }
  dl { display: grid; grid-template-columns: fit-content(40%) 1fr; gap: 0.1rem 1rem; font-size: 0.88rem;
       margin: 0.5rem 0 }
  dt { color: var(--pale) }
  dd { margin: 0; min-width: 0 }
  summary { cursor: pointer; color: var(--pale) }
  pre { overflow-x: auto; font-size: 0.8rem }
  code { font-size: 0.85em; overflow-wrap: anywhere }
  .slips dt { margin-top: 0.8rem; color: var(--ink) }
  .slips { display: block; font-size: 1rem }
  .slips dd { margin-left: 1.5rem }
  @media print { details > * { display: block } nav { display: none } section { break-inside: avoid } }
</style>
</head>
<body>
"""


def write(out: Path, order: Sequence[str]) -> Path:
    """The page of all figures in `out` that are in `order`, also those of earlier runs; its path."""
    found = [json.loads(str(np.load(out / f"{name}.npz")["about"])) for name in order if (out / f"{name}.npz").exists()]
    groups = [(paper, [a for a in found if paper_of(a["title"]) == paper]) for paper in (*PAPERS, OWN)]
    parts = [HEAD, _summary(found, groups)]
    for paper, figures in groups:
        if figures or paper is not OWN:  # what is cited is there
            parts += [_paper(paper, figures), *(_section(about, out) for about in figures)]
    where = out / "index.html"
    where.write_text("".join([*parts, _slips(SLIPS), "</body>\n</html>\n"]), encoding="utf-8")
    return where


def prose(text: str) -> str:
    """Text with its formulas typeset and the papers' tags linked to them."""
    parts = TAG.split(text)  # every second one is a tag
    linked = [f'<a href="#paper-{part}">[{part}]</a>' if i % 2 else typeset(part) for i, part in enumerate(parts)]
    return "".join(linked)


def _summary(found: list[About], groups: list[tuple[Paper, list[About]]]) -> str:
    holds = [holds for about in found for _, holds in about["claims"]]
    broken = sum(bool(about["error"]) for about in found)
    versions = ", ".join(f"{name} {version}" for name, version in (found[-1]["versions"] if found else {}).items())
    links = " &middot; ".join(
        [
            *(f'<a href="#paper-{p.tag}">{_called(p)}</a> ({len(figures)})' for p, figures in groups if figures),
            '<a href="#slips">the papers\' slips</a>',
        ]
    )
    note = f"; {broken} could not be made" if broken else ""
    return (
        f"<h1>The papers' figures</h1>\n<p>{len(found)} figures{note}; {sum(holds)} of {len(holds)} claims hold.</p>\n"
        f"<p>{links}</p>\n"
        f"<p><small>{html.escape(versions)}. The papers are cited in full in CITATION.cff.</small></p>\n"
    )


def _called(paper: Paper) -> str:
    return html.escape(paper.title if paper is OWN else f"[{paper.tag}] {paper.title}")


def _paper(paper: Paper, figures: list[About]) -> str:
    """A paper's heading, and its figures small."""
    about = html.escape(", ".join(part for part in (paper.authors, paper.where) if part))
    small = "".join(map(_thumbnail, figures))
    heading = f'<h2 id="paper-{paper.tag}">{_called(paper)}</h2>\n<p class="about">{about}</p>\n'
    return heading + (f"<nav>\n{small}</nav>\n" if small else "")


def _thumbnail(about: About) -> str:
    name, title = about["figure"], about["title"]
    if about["error"]:
        return f'<a class="broken" href="#{name}"><span class="none"></span>{prose_plain(title)}</a>\n'
    return f'<a href="#{name}"><img src="{name}.png" alt="" loading="lazy">{prose_plain(title)}</a>\n'


def prose_plain(title: str) -> str:
    """A title without its paper's tag, which stands above."""
    return typeset(TAG.sub("", title).replace("( ", "(").strip())


def _section(about: About, out: Path) -> str:
    name, title = about["figure"], prose_plain(about["title"])
    parts = [f'<section id="{name}">\n<h3>{title[:1].upper()}{title[1:]}</h3>\n']
    if about["error"]:
        parts.append(f'<p class="error">This figure could not be made.</p><pre>{html.escape(about["error"])}</pre>\n')
    else:
        alt = html.escape(about["title"], quote=True)
        wide, high = _shown(out / f"{name}.png")
        sized = f'width="{wide}" height="{high}" loading="lazy"'
        parts.append(f'<a href="{name}.pdf"><img src="{name}.png" alt="{alt}" {sized}></a>\n')
    parts.append(f'<p>{prose(" ".join(about["caption"].split()))}</p>\n<ul class="claims">\n')
    for sentence, holds in about["claims"]:
        parts.append(f'<li class="{"holds" if holds else "fails"}"><span>{prose(sentence)}</span></li>\n')
    parts.append("</ul>\n<details><summary>Parameters</summary>\n<dl>\n")
    parts += [f"<dt>{typeset(key)}</dt><dd>{_value(value)}</dd>\n" for key, value in _flat(about["parameters"])]
    kinds = {".pdf": "PDF", ".png": "PNG", "_column.pdf": "PDF for one column", "_column.png": "PNG for one column"}
    kinds |= {".npz": "data (NPZ)", ".gif": "GIF"}
    files = " &middot; ".join(
        f'<a href="{name}{suffix}">{kind}</a>' for suffix, kind in kinds.items() if (out / f"{name}{suffix}").exists()
    )
    parts.append(f"</dl>\n</details>\n<p><small>{files} &middot; {about['settings']} settings &middot; ")
    parts.append(f"<code>paper_figures/{name}.py</code></small></p>\n</section>\n")
    return "".join(parts)


def _shown(png: Path) -> tuple[int, int]:
    """Width and height on the screen: a little larger than in print, so that all figures have letters of one size."""
    across, up = struct.unpack(">II", png.read_bytes()[16:24])
    return round(0.6 * across), round(0.6 * up)


def _flat(parameters: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """(name, value), the names of nested ones joined.

    >>> list(_flat({"h": 0.1, "case": {"q": [1, 2]}}))
    [('h', 0.1), ('case: q', [1, 2])]
    """
    for key, value in parameters.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}: ")
        else:
            yield f"{above}{key}".replace("_", " ") if len(key) > 3 else f"{above}{key}", value


def _value(value: Any) -> str:
    """A number to six digits, a list with commas, a list of lists in brackets.

    >>> _value([0.3, -0.9327379053088815, 10000]), _value([[1, 2], "x"]), _value(True)
    ('0.3, -0.932738, 10000', '(1, 2), x', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(f"({_value(item)})" if isinstance(item, (list, tuple)) else _value(item) for item in value)
    return str(value) if isinstance(value, Number) else html.escape(str(value))


def _slips(slips: Sequence[Slip]) -> str:
    """What is wrong in print, what is right, and the test that fails with the printed form."""
    parts = [
        '<h2 id="slips">The papers\' slips</h2>\n'
        '<p class="about">Found while their figures were made. The test of each computes both forms: it passes with '
        'the right one, and fails with the printed one.</p>\n<dl class="slips">\n'
    ]
    for slip in slips:
        parts.append(f"<dt>{prose(f'[{slip.paper}] {slip.place}')}</dt>\n")
        parts.append(f"<dd>{prose(slip.right)}<br>Printed: {prose(slip.printed)}<br>")
        parts.append(f"<small><code>{html.escape(slip.test)}</code></small></dd>\n")
    return "".join([*parts, "</dl>\n"])

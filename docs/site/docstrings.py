"""A docstring of the library as a piece of a page: prose and equations typeset as MathML, examples as code.

The docstrings write formulas in plain letters, by the same rules as the figures' captions, so that they are typeset by
the same function; nothing is loaded by who reads the page.
"""

import html
import inspect
import re
from collections.abc import Mapping

from paper_figures.mathematics import typeset

WIDE = " \u2003 "  # between the formulas of a line
CROSS = re.compile(r"(?<=[\w)\]']) x (?=[\w(])")  # a x b in an equation; the coordinate x has no factor after it
CODE = re.compile(r"dh\.|=[\"']|^\S+\(.*\)$|^(from|import|def|class) |: *(float|int)\b")


def page_of(docstring: str, links: Mapping[str, str]) -> str:
    """HTML of a docstring; `links` are the addresses of names that have an entry."""
    return "\n".join(_block(block, links) for block in _blocks(inspect.cleandoc(docstring)))


def prose(text: str, links: Mapping[str, str]) -> str:
    """A paragraph: what stands in backticks as code, with a link where it has an entry; the rest typeset."""
    pieces = re.split(r"(`[^`]+`)", text)
    return "".join(_code(piece[1:-1], links) if piece.startswith("`") else typeset(piece) for piece in pieces)


def _code(name: str, links: Mapping[str, str]) -> str:
    shown = f"<code>{html.escape(name)}</code>"
    address = links.get(name.removeprefix("dh."))
    return f'<a href="{address}">{shown}</a>' if address else shown


def _blocks(text: str) -> list[list[str]]:
    """Lines that belong together: paragraphs, indented blocks, examples."""
    blocks: list[list[str]] = [[]]
    for line in text.splitlines():
        kind = _kind(line) if line.strip() else ""
        if blocks[-1] and (not kind or (_kind(blocks[-1][0]) != kind and _kind(blocks[-1][0]) != "example")):
            blocks.append([])
        if kind:
            blocks[-1].append(line)
    return [block for block in blocks if block]


def _kind(line: str) -> str:
    if line.startswith(">>>"):
        return "example"
    if line.startswith("* "):
        return "item"
    return "indented" if line.startswith("    ") else "prose"


def _block(lines: list[str], links: Mapping[str, str]) -> str:
    kind = _kind(lines[0])
    if kind == "example":
        return highlighted("\n".join(lines), "pycon")
    if kind == "item":
        items = re.split(r"\n?\* ", "\n".join(lines))[1:]
        return "<ul>" + "".join(f"<li>{prose(item, links)}</li>" for item in items) + "</ul>"
    if kind == "prose":
        return f"<p>{prose(' '.join(lines), links)}</p>"
    lines = inspect.cleandoc("\n" + "\n".join(lines)).splitlines()
    if any(CODE.search(line) for line in lines):
        return highlighted("\n".join(lines), "python")
    apart = [re.sub(" {2,}", WIDE, CROSS.sub(" × ", line)) for line in lines]
    rows = "".join(f"<div>{prose(line, links)}</div>" for line in apart)
    return f'<div class="equation">{rows}</div>'


def highlighted(code: str, language: str) -> str:
    """Code in the colours of the page's theme."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import get_lexer_by_name

    inner = highlight(code, get_lexer_by_name(language), HtmlFormatter(nowrap=True))
    return f'<div class="highlight-{language} notranslate"><div class="highlight"><pre>{inner}</pre></div></div>'

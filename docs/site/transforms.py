"""What Sphinx does to the pages that people write: names of the library become links, formulas are typeset.

A formula is what is indented without being code, and what stands in a sentence as the figures' captions write it; a
name is what stands in backticks as dh.NAME. So the pages read well as plain text too.
"""

import html
import re
from typing import Any

import generate
from docstrings import page_of
from docutils import nodes
from latex2mathml.converter import convert

from paper_figures.mathematics import typeset

TYPESET = (
    "theory",
    "equations",
    "promises",
    "notation",
    "glossary",
    "index",
)  # pages whose formulas are in plain letters
LONG = 40  # letters of LaTeX, beyond which a formula may be wider than a telephone: it rolls sideways
WIDE = 14  # letters of a name in a table, beyond which it may be broken
JOINTS = re.compile(r"(?<=[/_.(,=])(?=\w)|(?<=\))(?=\S)")  # where: after what joins its parts
NAME = re.compile(r"(?:dh|discrete_hamel)\.((?:\w+\.)?\w+)\b")
ADDRESSES = generate.addresses("generated/reference/")


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("doctree-resolved", _resolved)
    app.add_html_math_renderer("mathml", (_inline, None), (_displayed, None))


def _inline(writer: Any, node: nodes.Node) -> None:
    """LaTeX of a notebook in a sentence, as MathML: no script, no network."""
    made = convert(node.astext())
    writer.body.append(f'<span class="long">{made}</span>' if len(node.astext()) > LONG else made)
    raise nodes.SkipNode


def _displayed(writer: Any, node: nodes.Node) -> None:
    writer.body.append(f'<div class="equation">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def _resolved(app: Any, tree: nodes.document, page: str) -> None:
    for literal in list(tree.findall(nodes.literal)):
        _linked(app, literal, page)
    for cell in tree.findall(nodes.entry):
        for literal in list(cell.findall(nodes.literal)):
            _broken(literal)
    if page in TYPESET:
        for block in list(tree.findall(nodes.literal_block)):
            if block.get("language", "default") in ("default", "none", ""):
                text = "\n".join("    " + line for line in block.astext().splitlines())
                _replace(block, page_of("x\n\n" + text, {}).partition("</p>")[2])
        for text in [t for t in tree.findall(nodes.Text) if _prose(t)]:
            made = typeset(str(text))
            if "<math" in made:
                _replace(text, made)


def _linked(app: Any, literal: nodes.literal, page: str) -> None:
    found = NAME.match(literal.astext())
    if not found or any(isinstance(above, nodes.reference | nodes.title) for above in _above(literal)):
        return
    address = ADDRESSES.get(found[1]) or ADDRESSES.get(found[1].partition(".")[0])
    if address:
        document, _, anchor = address.partition("#")
        uri = app.builder.get_relative_uri(page, document.removesuffix(".html"))
        reference = nodes.reference("", "", internal=True, refuri=f"{uri}#{anchor}")
        literal.replace_self(reference)
        reference += literal


def _broken(literal: nodes.literal) -> None:
    """A long name in a table may go on in the next line, else its column leaves no room to the others."""
    if len(literal.astext()) > WIDE:
        text = JOINTS.sub("<wbr>", html.escape(literal.astext(), quote=False))
        _replace(literal, f'<code class="docutils literal notranslate">{text}</code>')


def _replace(old: nodes.Node, made: str) -> None:
    old.parent.replace(old, nodes.raw("", made, format="html"))


def _prose(text: nodes.Text) -> bool:
    fixed = (nodes.literal, nodes.literal_block, nodes.title, nodes.raw, nodes.reference)
    return not any(isinstance(above, fixed) for above in _above(text))


def _above(node: nodes.Node) -> list[nodes.Node]:
    found = []
    while node.parent is not None:
        node = node.parent
        found.append(node)
    return found

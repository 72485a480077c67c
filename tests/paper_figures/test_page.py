"""The page of figures: formulas typeset in prose, figures grouped by papers, parameters in words, no network."""

import html.parser
import re

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from paper_figures import FIGURES, gallery, page, papers
from paper_figures.mathematics import typeset


def plain(text):
    """The text with each formula between bars, its markup dropped."""
    return re.sub(r"<[^>]*>", "", text.replace("<math>", "⟦").replace("</math>", "⟧"))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a = u - v cos(psi) (3e-14 cm)", "⟦a=u−vcos(ψ)⟧ (⟦3·10−14cm⟧)"),
        ("tends to a theta with h a quarter", "tends to a ⟦θ⟧ with ⟦h⟧ a quarter"),
        ("A platform (oval) on one blade, round-off", "A platform (oval) on one blade, round-off"),
        ("Runge's C & D, by DOP853 on (11.1)", "Runge&#x27;s ⟦C⟧ &amp; ⟦D⟧, by DOP853 on (11.1)"),
        ("figure 4b and 9.8 m/s^2", "figure 4b and ⟦9.8m/s²⟧"),
        ("rates 0, 0, +-i w; |q| - 1 < eps", "rates 0, 0, ⟦±iw⟧; ⟦|q|−1&lt;ε⟧"),
        ("<script> x_{k+1}", "&lt;script&gt; ⟦xk+1⟧"),
    ],
)
def test_formulas_in_prose(text, wanted):
    assert plain(typeset(text)) == wanted


def test_a_long_formula_may_be_broken_after_an_operator_outside_of_brackets():
    text = typeset("U_c = p1^2/2A + p2^2/2(m R^2 + B) + m g R cos theta")
    assert text.count("<wbr>") == 3
    assert "<wbr>" not in typeset("p2 = m (R + B)")


def test_powers_roots_and_indices_are_markup():
    assert "<msup><mi>h</mi><mn>2</mn></msup>" in typeset("of h^2")
    assert "<msqrt>" in typeset("sqrt(1 + J/(m a^2))")
    assert "<msub><mi>γ</mi><mi>k</mi></msub>" in typeset("at gamma_k")
    assert "<msubsup><mi>c</mi><mrow><mi>i</mi><mi>j</mi></mrow><mi>k</mi></msubsup>" in typeset("c^k_ij xi^i")
    assert "<msub><mi>L</mi><mrow><mi>v</mi><mi>v</mi></mrow></msub>" in typeset("L_vv a")
    assert "<msub><mi>q</mi><mi>mid</mi></msub>" in typeset("at q_mid")  # a word, which is drawn upright
    assert "<msubsup><mi>p</mi><mn>1</mn><mo>′</mo></msubsup>" in typeset("p1' = 0")
    assert "<mover><mi>ξ</mi><mo>˙</mo></mover>" in typeset("(qdot, xidot)")  # accent="true" would draw it into q
    assert "{" not in typeset("G^{-1} A^T")
    assert "<math" not in typeset("D’Alembert's principle, Ctrl-C, the library’s")


class Balanced(html.parser.HTMLParser):
    """Every element that is opened is closed, in order; what the page links to."""

    VOID = ("meta", "img", "br", "wbr", "mspace")

    def __init__(self):
        super().__init__()
        self.open, self.links, self.ids = [], [], set()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.links += [attributes[name] for name in ("href", "src") if name in attributes]
        self.ids |= {attributes["id"]} if "id" in attributes else set()
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Three figures' page: every link is to a file beside it or to a place on it."""
    out = tmp_path_factory.mktemp("figures")
    for name in ("he_1", "qs_6_2", "sleigh_path"):
        gallery.write(name, out, fast=True)
    text = page.write(out, FIGURES).read_text(encoding="utf-8")
    parsed = Balanced()
    parsed.feed(text)
    return out, text, parsed


def test_the_page_is_whole_and_asks_no_network(written):
    out, text, parsed = written
    assert parsed.open == []
    assert "http" not in text
    for link in parsed.links:
        assert (
            link[1:] in parsed.ids | {"paper-ND", "paper-BE", "paper-MD"} if link[0] == "#" else (out / link).exists()
        )
    assert "he_1_column.pdf" in parsed.links
    assert parsed.links.count("he_1.png") == 3  # small, large, and as a file


def test_figures_are_under_their_papers(written):
    _, text, _ = written
    places = [text.index(f'id="{name}"') for name in ("paper-HE", "he_1", "paper-QS", "qs_6_2", "sleigh_path", "slips")]
    assert places == sorted(places)
    assert {
        papers.paper_of(gallery.figure_module(name).__doc__ or "").tag for name in FIGURES if "own" not in name
    } == {paper.tag for paper in papers.PAPERS}


def test_parameters_are_words(written):
    _, text, _ = written
    assert "<dt>mass</dt><dd>1</dd>" in text
    assert "{&quot;" not in text
    assert page._value(np.pi) == "3.14159"


@pytest.mark.parametrize("name", FIGURES)
def test_no_sentence_names_a_source_that_nobody_has(name):
    source = (gallery.figure_module(name).__file__ or "").removesuffix("c")
    with open(source, encoding="utf-8") as file:
        assert not re.search(r"\[[TC]\]|the known (values|digits|ones)", file.read())

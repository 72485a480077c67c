"""The site: every public name has a whole entry, and what docstrings write comes out typeset. `make docs` builds it."""

import inspect
import sys
from pathlib import Path

import pytest

import discrete_hamel as dh
from discrete_hamel.cli.names import catalogue

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "site"))

from docstrings import page_of

generate = pytest.importorskip("generate", exc_type=ImportError)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """What is written for the reference and the catalogue, by name of the page."""
    place = tmp_path_factory.mktemp("generated")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "OUT", place)
        generate.main()
    return {str(path.relative_to(place)): path.read_text() for path in place.rglob("*.md")}


@pytest.mark.parametrize("name", [name for name in dh.__all__ if name not in dh.MODULES])
def test_every_public_name_has_an_entry_with_what_it_says(name, pages):
    (page,) = [text for text in pages.values() if f"## dh.{name}\n" in text]
    entry = page.partition(f"## dh.{name}\n")[2].partition("\n## ")[0]
    assert len(entry) > 60
    if ">>>" in (inspect.getdoc(getattr(dh, name)) or ""):
        assert "highlight-pycon" in entry


def test_every_system_has_a_page_with_its_parameters(pages):
    known = catalogue()
    assert set(known) > {"ChaplyginSleigh", "WhippleBicycle"}
    for name, kind in known.items():
        page = pages[f"catalogue/{name}.md"]
        assert all(field in page for field in inspect.signature(kind).parameters)
        assert f"discrete-hamel run {name}" in page


def test_what_is_written_in_plain_letters_is_typeset_and_code_is_not():
    html = page_of("The step.\n\n    q_{k+1} = q_k + h Psi xi\n\nSee `simulate`, |gamma| < 1.\n\n>>> 1 + 1\n2", {})
    assert "<mi>Ψ</mi>" in html
    assert "<code>simulate</code>" in html
    assert "highlight-pycon" in html
    assert "< 1" not in html  # would open a tag
    assert 'href="there"' in page_of("See `dh.simulate`.", {"simulate": "there"})


def test_signatures_name_types_shortly():
    assert "discrete_hamel." not in generate.signature(dh.simulate)
    assert "System" in generate.signature(dh.simulate)

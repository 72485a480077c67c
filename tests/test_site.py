"""The site: every public name has a whole entry, and what docstrings write comes out typeset. `make docs` builds it."""

import doctest
import inspect
import re
import signal
import sys
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel._support import errors
from discrete_hamel.cli.name_lookup import catalogue
from discrete_hamel.testing.failure_message import AxiomFailed

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import gallery
import generate
import interactive
import motions
import reference
import tidy
from docstrings import page_of

NAMES = [name for name in dh.__all__ if name not in dh.MODULES]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """What is written, by name of the page; the films that need runs are left out."""
    place = tmp_path_factory.mktemp("generated")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "OUT", place)
        patch.setattr(generate, "films", lambda: None)
        generate.main()
    return {str(path.relative_to(place)): path.read_text() for path in place.rglob("*.md")}


@pytest.fixture(scope="module")
def used():
    return reference.mentions(generate.readable(), NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_an_entry_with_what_it_says(name, pages):
    (page,) = [text for text in pages.values() if f"## dh.{name}\n" in text]
    entry = page.partition(f"## dh.{name}\n")[2].partition("\n## ")[0]
    thing = getattr(dh, name)
    assert len(entry) > 60
    assert "highlight-pycon" in entry, f"dh.{name} has no example: in its docstring, or in docs/site/examples.txt"
    if inspect.isfunction(thing):
        shown = entry.replace("<code>*", "<code>").replace("<code>*", "<code>")
        assert all(f"<code>{p}" in shown for p in inspect.signature(thing).parameters)
        assert "Returns</span>" in entry
    assert "See also" in entry


@pytest.mark.parametrize("name", reference.EXAMPLES)
def test_the_examples_of_the_reference_run(name):
    """Those that stand beside the docstrings; pytest runs the docstrings' own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored, where the suite is a background job
    test = doctest.DocTestParser().get_doctest(reference.EXAMPLES[name], {}, name, "docs/site/examples.txt", 0)
    said: list[str] = []
    try:
        assert not doctest.DocTestRunner().run(test, out=said.append).failed, "".join(said)
    finally:
        signal.signal(signal.SIGINT, before)
        if "matplotlib.pyplot" in sys.modules:  # which warns when many figures are open
            sys.modules["matplotlib.pyplot"].close("all")


def test_entries_are_called_what_a_reader_writes(pages):
    called = [name for text in pages.values() for name in re.findall(r"^## dh\.([\w.]+)$", text, re.MULTILINE)]
    assert {"simulate", "animate.film", "plots.path", "mechanisms.Body"} <= set(called)
    for name in called:
        attrgetter(name)(dh)


def test_entries_of_the_modules_are_whole_too(pages):
    """An example of their own or of what returns them, and where to look further."""
    for page, (_, names, owner) in reference.pages().items():
        if owner is dh:
            continue
        entries = re.split(r"^## (dh\.[\w.]+)$", pages[f"reference/{page}.md"], flags=re.MULTILINE)[1:]
        known = dict(zip(entries[::2], entries[1::2], strict=True))
        assert len(known) == len(names)
        for name, entry in known.items():
            assert "highlight-pycon" in entry or "Example: see" in entry, f"{name} has no example"
            assert "See also" in entry, f"{name} leads nowhere"


def test_an_example_stands_in_one_place():
    for name in reference.EXAMPLES:
        thing = dh
        for part in name.removeprefix("dh.").split("."):
            thing = getattr(thing, part)
        assert ">>>" not in (inspect.getdoc(thing) or ""), f"{name} has one in its docstring"


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_stands_on_a_page_beside_its_entry(name, used):
    assert used[name], f"name it in docs/questions.md, or on another page: dh.{name}"


def test_every_argument_is_explained():
    entries = [(owner, name) for _, names, owner in reference.pages().values() for name in names]
    unsaid = {f"{reference.public(o)}.{name}": reference.unexplained(getattr(o, name)) for o, name in entries}
    hint = "say them in a comment beside the field, or in docs/site/arguments.py"
    assert len(entries) > 250
    assert not {name: found for name, found in unsaid.items() if found}, hint


def test_an_example_that_uses_an_argument_does_not_explain_it_and_a_comment_of_the_base_class_does():
    def turned(by):
        """Returns the angle.

        >>> turned(by=1.0)
        """

    assert reference.unexplained(turned) == ["by"]
    assert "stiffness" not in reference.unexplained(dh.mechanisms.Hinge)  # said beside the field that joints share


def test_what_is_one_of_a_few_values_shows_these_and_no_call(pages):
    entry = pages["reference/analysis.md"].partition("## dh.analysis.Stability\n")[2].partition("\n## ")[0]
    assert all(f".{value.name}</code></dt><dd>{value.value}" in entry for value in dh.analysis.Stability)
    assert "qualname" not in entry


def test_what_a_call_raises_is_found_in_what_it_calls():
    assert {"InputError", "RunInterrupted"} <= reference.raised(dh.simulate)
    assert "NewtonFailed" not in reference.raised(dh.energy)


def test_every_error_and_warning_names_its_place_on_the_page():
    headings = {line[3:].lower() for line in (ROOT / "docs/errors.md").read_text().splitlines() if line[:3] == "## "}
    here = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, errors.Explained)]
    kinds = {*here, dh.CompiledStepDiffers, dh.SinglePrecision, dh.SlowPath, AxiomFailed} - {errors.Explained}
    assert len(kinds) >= 14
    for kind in kinds:
        assert kind.page == f"errors.html#{kind.__name__.lower()}"
        assert kind.__name__.lower() in headings
        if issubclass(kind, Warning):
            assert str(kind("words")) == f"words ({kind.page})"
        else:
            assert str(kind("words")) == "words"
            assert kind("words").__notes__ == [f"More in the documentation: {kind.page}"]
    raised = [getattr(dh, name) for name in reference.WRONG]
    assert set(raised) <= kinds, "a public error has no page"


def test_every_system_has_a_page_with_its_parameters(pages):
    known = catalogue()
    assert set(known) > {"ChaplyginSleigh", "WhippleBicycle"}
    for name, kind in known.items():
        page = pages[f"catalogue/{name}.md"]
        assert all(field in page for field in inspect.signature(kind).parameters)
        assert f"discrete-hamel run {name}" in page
        assert ("--animate" in page) == bool(motions.kept(name)), name  # a command that would be refused
        assert f"films/{name}.svg" in page, name
        place = next(m for m in (dh.systems.garage, dh.systems) if getattr(m, name, None))
        called = f"system = dh.{place.__name__.partition('.')[2]}.{name}()" in page
        assert called or any(p.default is p.empty for p in inspect.signature(kind).parameters.values()), name


@pytest.mark.parametrize("name", ["ChaplyginSleigh", "RollingDisk"])
def test_a_film_shows_the_sample_motion(name):
    kept, again = motions.kept(name), motions.run(name)
    np.testing.assert_allclose(kept.q, again["q"], rtol=0, atol=2e-3 * np.abs(kept.q).max())
    np.testing.assert_array_equal(kept.t, again["t"])


def test_all_that_can_be_drawn_has_a_film():
    without = {name for name in catalogue() if motions.kept(name) is None}
    assert without <= {"EulerPoincare", "EulerPoincareSuslov", "ReducedSuslov"}, without


def test_the_gallery_has_all_figures_and_their_claims():
    known = gallery.claims()
    assert tuple(known) == gallery.FIGURES
    for name, about in known.items():
        assert (gallery.FOLDER / f"{name}.webp").stat().st_size > 1000
        assert about["claims"]
        assert all(holds for _, holds in about["claims"]), name


def test_the_sleigh_of_the_page_ends_as_its_closed_form(monkeypatch):
    """omega = 0 and v = sign(a) sqrt(v0^2 + (J + m a^2) / m omega0^2) at the end, where it has come to it."""
    monkeypatch.setattr(interactive, "OFFSETS", (-0.4, 0.4))
    monkeypatch.setattr(interactive, "TURNS", (1.5,))
    behind, front = interactive.sleighs()["runs"]
    speed = np.sqrt(1 + (0.7 + 0.16) * 1.5**2)
    np.testing.assert_allclose(front["end"], [0, speed], atol=2e-3)
    np.testing.assert_allclose(behind["end"], [0, -speed], atol=2e-3)
    assert front["energy"] < 1e-13


def test_tidy_finds_what_is_wrong(tmp_path):
    good = '<html lang="en"><h1>A</h1><a href="b.html#there">b</a></html>'
    (tmp_path / "index.html").write_text(good)
    (tmp_path / "b.html").write_text('<html lang="en"><h1 id="there">B</h1></html>')
    assert list(tidy.wrong(tmp_path)) == []
    (tmp_path / "b.html").write_text(
        '<html lang="en"><h1>B</h1><p>$$ \\dot q $$</p><img src="x.png"><a href="#no">c</a></html>'
    )
    (tmp_path / "c.html").write_text('<html lang="en"><h1>C</h1><script src="https://x.y/z.js"></script></html>')
    found = "\n".join(tidy.wrong(tmp_path))
    for fault in (
        "without words",
        "not typeset",
        "x.png leads nowhere",
        "no such place",
        "no page leads to it",
        "from the network",
    ):
        assert fault in found


def test_what_is_written_in_plain_letters_is_typeset_and_code_is_not():
    html = page_of("The step.\n\n    q_{k+1} = q_k + h Psi xi\n\nSee `simulate`, |gamma| < 1.\n\n>>> 1 + 1\n2", {})
    assert "<mi>Ψ</mi>" in html
    assert "<code>simulate</code>" in html
    assert "highlight-pycon" in html
    assert "< 1" not in html  # would open a tag
    assert 'href="there"' in page_of("See `dh.simulate`.", {"simulate": "there"})


def test_a_cross_product_is_no_coordinate():
    html = page_of(
        "It turns.\n\n    M' = M x omega + (a x b) x (c + d),  z' = y x',  L = T - m g x\n\nAlong x and y.", {}
    )
    assert html.count("×") == 3
    assert html.count("<mi>x</mi>") == 3  # x', m g x, and that of the prose
    assert "×" in page_of(dh.systems.RigidBody.__doc__, {})


def test_signatures_name_types_shortly():
    assert "discrete_hamel." not in reference.signature(dh.simulate)
    assert "System" in reference.signature(dh.simulate)
    assert "~" not in reference.signature(dh.Scheme.fitted)

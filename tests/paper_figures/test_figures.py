"""Every figure computes with fast settings, its claims hold, nothing drawn is cut off, and the page shows failures."""

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from test_pictures import printable, resolution

from paper_figures import FIGURES, gallery, page, pictures


@pytest.mark.parametrize("name", FIGURES)
def test_figure(name, tmp_path, monkeypatch):
    module, drawings = gallery.figure_module(name), []
    draw = module.draw
    monkeypatch.setattr(module, "draw", lambda data: drawings.append(draw(data)) or drawings[-1])
    about = gallery.write(name, tmp_path, fast=True)
    assert not about["error"], about["error"]
    assert about["claims"], "a figure that claims nothing checks nothing"
    assert [sentence for sentence, holds in about["claims"] if not holds] == []
    assert about["title"]
    assert len(about["caption"]) > 40
    for suffix in ("pdf", "png", "npz"):
        assert (tmp_path / f"{name}.{suffix}").stat().st_size > 1000
    with np.load(tmp_path / f"{name}.npz") as stored:
        assert json.loads(str(stored["about"]))["versions"]["discrete_hamel"]
        assert set(stored) > {"about"}
        assert all(np.all(np.isfinite(stored[key])) for key in stored if key != "about")
    for drawing in drawings:
        everything_is_inside(drawing)
    stems = [name, *([f"{name}_column"] if getattr(module, "COLUMN", False) else [])]
    assert len(drawings) == len(stems)
    for stem, drawing in zip(stems, drawings, strict=True):
        assert printable(tmp_path / f"{stem}.pdf")
        dots, across, up = resolution(tmp_path / f"{stem}.png")
        assert dots == 200
        np.testing.assert_allclose([across, up], 200 * drawing.get_size_inches(), atol=1)
        assert stem == name or drawing.get_size_inches()[0] == pictures.COLUMN


def everything_is_inside(drawing):
    """No axes are empty, and no label or legend is cut off."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(drawing).draw()
    page_box = drawing.bbox
    for ax in drawing.axes:
        texts = [ax.xaxis.label, ax.yaxis.label, ax.title] if ax.axison else [ax.title]
        texts += [text for legend in (ax.get_legend(), *drawing.legends) if legend for text in legend.get_texts()]
        for text in (text for text in texts if text.get_text()):
            box = text.get_window_extent()
            assert page_box.x0 <= box.x0, text
            assert box.x1 <= page_box.x1, text
            assert page_box.y0 <= box.y0, text
            assert box.y1 <= page_box.y1, text
        assert ax.lines or ax.collections or ax.patches or ax.images, "empty axes"


class _Figure:
    __doc__ = "A figure\n\nOf nothing."
    PARAMETERS = {"a": 1.0}

    def __init__(self, holds):
        self.holds = holds

    def compute(self, _):
        return {"x": np.zeros(2)}

    def draw(self, _):
        from matplotlib.figure import Figure

        return Figure(figsize=(1, 1))

    def claims(self, _):
        if self.holds is None:
            raise ZeroDivisionError("no data")
        return [("<zero> is zero", self.holds)]


@pytest.mark.parametrize(
    ("holds", "mark"), [(True, 'class="holds"'), (False, 'class="fails"'), (None, 'class="error"')]
)
def test_page_and_exit_status_tell_what_failed(holds, mark, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(gallery, "figure_module", lambda _: _Figure(holds))
    monkeypatch.setattr(gallery, "FIGURES", ("one", "two"))
    assert gallery.write_all(["one", "two"], tmp_path) is (holds is True)
    text = (tmp_path / "index.html").read_text()
    assert text.count(mark) == 2
    assert "<zero>" not in text
    assert "left" in capsys.readouterr().out
    assert ('class="holds"' in text) is (holds is True)


class _Filmed(_Figure):
    def animate(self, where):
        where.write_bytes(b"GIF89a")
        return where


@pytest.mark.parametrize("films", [True, False])
def test_films_are_written_and_linked_on_request(films, tmp_path, monkeypatch):
    modules = {"moving": _Filmed(True), "still": _Figure(True)}
    monkeypatch.setattr(gallery, "figure_module", modules.__getitem__)
    monkeypatch.setattr(gallery, "FIGURES", tuple(modules))
    (tmp_path / "moving.gif").write_bytes(b"of an earlier run")
    assert gallery.write_all(list(modules), tmp_path, films=films)
    assert [path.read_bytes() for path in tmp_path.glob("*.gif")] == ([b"GIF89a"] if films else [])
    text = (tmp_path / "index.html").read_text()
    assert ('<a href="moving.gif">GIF</a>' in text) is films
    assert "still.gif" not in text


def test_the_films_of_the_string_and_the_sleigh_are_there():
    assert [name for name in FIGURES if hasattr(gallery.figure_module(name), "animate")] == ["he_2", "he_3"]


def test_page_keeps_figures_of_earlier_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "figure_module", lambda _: _Figure(True))
    gallery.write("one", tmp_path, fast=True)
    gallery.write("two", tmp_path, fast=True)
    text = page.write(tmp_path, ("two", "one")).read_text()
    assert text.index('id="two"') < text.index('id="one"')

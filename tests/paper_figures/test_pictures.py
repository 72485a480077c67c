"""A written picture can be printed, whoever writes it: TrueType fonts in a PDF, 200 dots an inch in a PNG."""

import re
import struct

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from discrete_hamel import cli, plots
from paper_figures import gallery, pictures, readme_picture


def fonts(pdf):
    """The kinds of fonts that a PDF embeds: Matplotlib writes their dictionaries uncompressed."""
    kinds = re.findall(rb"/Subtype /(Type[0-9]\w*|TrueType|CIDFontType[0-9]\w*)", pdf.read_bytes())
    return {kind.decode() for kind in kinds}


def printable(pdf):
    """CIDFontType2 is a TrueType font; Type0 refers to it."""
    return "CIDFontType2" in fonts(pdf) and fonts(pdf) <= {"CIDFontType2", "TrueType", "Type0"}


def resolution(png):
    """Dots an inch, as the file says, and its width and height in dots."""
    data = png.read_bytes()
    (across, up), at = struct.unpack(">II", data[16:24]), data.index(b"pHYs") + 4
    metre, _ = struct.unpack(">II", data[at : at + 8])
    return round(0.0254 * metre), across, up


class Formula:
    """A figure with letters, formulas and ticks, which is all that has fonts.

    Two lines.
    """

    PARAMETERS = {"a": 1.0}
    COLUMN = True

    def compute(self, _):
        return {"x": np.linspace(0, 1, 5)}

    def draw(self, data):
        with plots.style():
            drawing, axes = pictures.mosaic([["left", "right"]], size=(7.0, 3.0))
            axes["left"].plot(data["x"], data["x"] ** 2, label=r"$\gamma^2$")
            axes["right"].plot(data["x"], data["x"])
            axes["left"].set(xlabel="$t$ [s]", ylabel=r"$\sqrt{\dot\theta}$")
        return drawing

    def claims(self, data):
        return [("x is from 0 to 1", bool(np.ptp(data["x"]) == 1))]


def test_figures(tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "figure_module", lambda _: Formula())
    assert not gallery.write("one", tmp_path, fast=True)["error"]
    assert printable(tmp_path / "one.pdf")
    assert resolution(tmp_path / "one.png") == (200, 1400, 600)
    assert printable(tmp_path / "one_column.pdf")
    dots, across, up = resolution(tmp_path / "one_column.png")
    assert (dots, across) == (200, 680)
    assert up == pytest.approx(2 * 3.4 * 3.0 / 3.5 * 200, abs=1)  # one panel below the other, each with its shape


def test_run_plot(tmp_path):
    for suffix in ("pdf", "png"):
        where = tmp_path / f"run.{suffix}"
        assert cli.main(["run", "ChaplyginSleigh", "--steps", "5", "--plot", str(where)]) == 0
    assert printable(tmp_path / "run.pdf")
    assert resolution(tmp_path / "run.png") == (200, 1440, 920)


def test_readme_picture(tmp_path):
    readme_picture.main(str(tmp_path / "sleigh_path.png"))
    assert resolution(tmp_path / "sleigh_path.png") == (200, 1440, 860)


def test_bench(tmp_path):
    report = pytest.importorskip("benchmarks.report", reason="the benchmarks are not part of what is distributed")
    kinds = {f"{kind}, ns a step": 100.0 for kind in ("C", "loop", "dh.simulate", "plain")}
    about = {"name": "trajectory", "rows": [{"system": "disk", "steps": 10_000} | kinds], "error": ""}
    report.write(about, tmp_path)
    assert resolution(tmp_path / "trajectory.png")[0] == 200

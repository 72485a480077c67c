"""Every notebook runs from its first cell to its last, and ends where its text says."""

import json
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def executed(name):
    """The names that a notebook's code cells leave behind."""
    matplotlib.use("Agg")
    cells = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]
    names = {"__name__": name}
    for k, cell in enumerate(cells):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{name}.ipynb, cell {k}", "exec"), names)
    plt.close("all")
    return names


def test_all_are_here():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == {"optimal_control"}


@pytest.mark.slow
def test_optimal_control():
    names = executed("optimal_control")
    for plan in (names["plan"], names["gait"]):
        assert plan.feasibility < 1e-10
    assert np.abs(names["plan"].q[-1] - [0.0, 0.0, 0.5, 0.0]).max() < 1e-10
    assert names["gait"].q[-1, 1] == pytest.approx(0.3, abs=1e-10)
    assert names["fit"].x[:2] == pytest.approx([0.7, 0.4], rel=0.01)

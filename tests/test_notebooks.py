"""Every notebook runs from its first cell to its last, what its text says is so, and what it shows is kept in it."""

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import discrete_hamel as dh

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
NAMES = [
    "first_run",
    "your_own_system",
    "spherical_pendulum",
    "structural_stability",
    "schemes_compared",
    "conserved_quantities",
    "relative_equilibria",
    "ensembles_and_gradients",
    "discrete_principle",
    "nonlinear_constraints",
    "bodies_and_principles",
    "testing_your_own_system",
    "groups",
    "reduction_and_phases",
    "optimal_control",
    "mechanisms",
    "vehicles",
    "balancers_and_balls",
]


def cells(name: str) -> list[dict[str, Any]]:
    return json.loads((NOTEBOOKS / f"{name}.ipynb").read_text())["cells"]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def printed(cell: dict[str, Any]) -> str:
    """What a cell printed when it was executed for the repository."""
    return "".join("".join(out["text"]) for out in cell["outputs"] if out["output_type"] == "stream")


def executed(name: str) -> dict[str, Any]:
    """The names that a notebook's code cells leave behind; each prints what is kept of it, round-off aside."""
    names: dict[str, Any] = {"__name__": name}
    with mpl.rc_context():
        mpl.use("Agg")
        for k, cell in enumerate(cells(name)):
            if cell["cell_type"] == "code":
                with redirect_stdout(io.StringIO()) as out:
                    exec(compile(source(cell), f"{name}.ipynb, cell {k}", "exec"), names)
                assert without_digits(out.getvalue()) == without_digits(printed(cell)), f"{name}.ipynb, cell {k}"
        plt.close("all")
    return names


def without_digits(text: str) -> str:
    """The words of an output, and its True and False; numbers are held against theory by the tests below."""
    return re.sub(r"\s+", " ", re.sub(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", "#", text)).strip()


def invariants_off(run: dh.Trajectory) -> dict[str, float]:
    return {name: float(np.max(np.abs(values - values[0]))) for name, values in run.invariants().items()}


def exact(run: dh.Trajectory, scale: float = 1.0) -> float:
    """Round-off of so many steps."""
    return 1e-12 * scale * ((len(run.t) - 1) * run.save_every) ** 0.5


def test_all_are_here_and_in_the_readme():
    assert {path.stem for path in NOTEBOOKS.glob("*.ipynb")} == set(NAMES)
    assert re.findall(r"\((\w+)\.ipynb\)", (NOTEBOOKS / "README.md").read_text()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_reads_well_where_it_is(name):
    """Short, small, with its outputs, without machines, warnings or progress, and with links that lead somewhere."""
    text = (NOTEBOOKS / f"{name}.ipynb").read_text()
    assert len(text) < 400_000
    code = [cell for cell in cells(name) if cell["cell_type"] == "code"]
    assert sum(bool(line.strip()) for cell in code for line in source(cell).splitlines()) < 150
    for cell in code:
        kinds = [out["output_type"] for out in cell["outputs"]]
        pictures = sum("image/png" in out.get("data", {}) for out in cell["outputs"])
        assert pictures == any(drawn in source(cell) for drawn in ("plt.subplots", ".plot();", "\nshow("))
        assert ("print(" in source(cell)) == bool(printed(cell)), "executed, and its output kept"
        assert "error" not in kinds
        assert all(out["name"] == "stdout" for out in cell["outputs"] if out["output_type"] == "stream")
    assert not re.search(r"/(home|root|work|tmp|usr)/|Warning|\|#", text)
    for link in re.findall(r"\]\((\w+\.ipynb)\)", text):
        assert (NOTEBOOKS / link).exists()


@pytest.mark.slow
def test_first_run():
    names = executed("first_run")
    traj, energy = names["traj"], names["energy"]
    assert traj.xi[0, 1] < 0 < traj.xi[-1, 1]  # pushed backward, it leaves forward
    assert traj.xi[-1, 1] == pytest.approx(np.sqrt(2 * energy), rel=1e-4)
    assert abs(traj.xi[-1, 0]) < 0.01
    assert np.max(np.abs(traj.energy - energy)) < exact(traj)
    assert names["apart"] < 1e-10
    assert abs(names["order"] - 2) < 0.1
    assert names["audit"].sound


@pytest.mark.slow
def test_your_own_system():
    names = executed("your_own_system")
    runs, discrete = names["runs"], names["discrete"]
    for run in runs.values():
        assert np.max(np.abs(run.v[:, 1] - discrete)) < exact(run)
        assert np.max(np.abs(run.q - runs["velocities"].q)) < exact(run)
    off = np.max(np.abs(discrete - names["exact"]))
    amplitude = np.max(np.abs(names["exact"] - names["roll"]))
    assert off == pytest.approx(amplitude * (2.0 * 0.02) ** 2 / 24, rel=0.01)  # x/sin x - 1 = x^2/6, x = omega h/2
    run, fall = names["run"], 9.8 * np.sin(0.2) / 1.5
    drift = fall / (2 * 2.0)
    assert run.q[-1, 3] / run.t[-1] == pytest.approx(drift, rel=0.01)
    assert np.max(run.q[:, 2]) < (0.5 / 2.0 + fall / (2 * 2.0**2)) * 1.001  # the two terms of x in closed form
    assert dh.audit(run).sound


@pytest.mark.slow
def test_spherical_pendulum():
    names = executed("spherical_pendulum")
    run, off = names["run"], names["off"]
    first = {name: abs(values[0]) for name, values in run.invariants().items()}
    assert all(size < 1e-13 * first[name] for name, size in invariants_off(run).items())
    assert names["low"] - 1e-12 < run.q[:, 2].min() < names["low"] + 1e-3
    assert names["high"] - 1e-3 < run.q[:, 2].max() < names["high"] + 1e-12
    lost = {name: size / first[name] for name, size in invariants_off(off).items()}
    assert lost["vertical momentum"] < 1e-12
    assert min(lost["energy"], lost["length of gamma"]) > 0.15
    assert np.max(np.abs(names["x"][:, 2])) < 9.8  # the bob
    assert np.linalg.norm(names["x"], axis=1) == pytest.approx(9.8, rel=1e-12)
    above, below = names["in_gamma"].energy + 9.8**2, names["in_angles"].energy + 9.8**2
    assert np.ptp(above) < exact(names["in_gamma"], scale=9.8**2)
    assert below.max() > 1.5 * below[0]
    assert names["passing"] == pytest.approx(0.09, abs=0.005)
    late = np.max(np.abs(names["exact"].q - names["in_gamma"].q[:151]))
    assert late < np.max(np.abs(np.diff(names["in_gamma"].q, axis=0))) * 1.5  # a step, after ten swings


@pytest.mark.slow
def test_structural_stability():
    names = executed("structural_stability")
    balanced, hamel, left = (names[name] for name in ("balanced", "hamel", "left"))
    circle = {"q": [0, 0, 0], "xi": [1.0, 1.0], "h": 0.1, "steps": 1000}
    kept = dh.simulate(balanced, **circle, scheme=hamel)
    assert np.max(np.abs(kept.xi[:, :2] - 1)) < exact(kept)
    spiral = dh.simulate(balanced, **circle, scheme=left)
    assert spiral.xi[:, 1] == pytest.approx(np.cos(0.1) ** np.arange(1001), rel=1e-9)
    midpoint = dh.simulate(balanced, **circle, scheme=dh.CortesMartinez(0.5, 0.5))
    assert np.max(np.abs(midpoint.xi[:, :2] - 1)) < exact(midpoint, scale=10)
    leapfrog = names["gliding"]
    assert leapfrog.xi[:, 1].min() < -1.29
    assert leapfrog.energy.min() < 0.01 * leapfrog.energy[0]
    assert leapfrog.energy[-1] == pytest.approx(leapfrog.energy[0], rel=0.1**2)
    growing = leapfrog.xi[200:212, 0]
    assert np.all(growing[1:] * growing[:-1] < 0)  # alternating in sign
    assert np.all(np.abs(growing[1:]) > np.abs(growing[:-1]))
    glide = dh.simulate(names["sleigh"], q=[0, 0, 0], xi=[1e-3, 1.3], h=0.1, steps=1000)
    assert glide.xi[:, 1].min() > 1.2999
    rate = -np.log(glide.xi[50, 0] / glide.xi[0, 0]) / glide.t[50]
    assert rate == pytest.approx(0.4 * 1.3 / 0.86, rel=1e-2)
    assert names["wobble"] > 1e-5  # in the stretched frame; the invariant one keeps it


@pytest.mark.slow
def test_schemes_compared():
    names = executed("schemes_compared")
    orders = {name: scheme.order for name, scheme in names["schemes"].items()}
    assert sorted(orders.values()) == [1, 2, 2, 4, 4, 4, 6]
    for name, errors in names["errors"].items():
        assert abs(names["slope"](errors) - orders[name]) < 0.1, name
    assert names["found"]["Hamel"].deviation["energy"] < 1e-12
    assert names["found"]["Runge-Kutta 4"].deviation["energy"] > 1e-9
    driven = {
        name: dh.analysis.trend(run.t, run.invariants()["energy of the driven"]) for name, run in names["runs"].items()
    }
    assert driven["Hamel"].significant
    assert driven["energy-exact"].significant
    assert not driven["Hamel, eps = 0"].significant
    assert 100 * max(abs(driven[name].slope) for name in ("Hamel, order 4", "Gauss, 2 stages")) < abs(
        driven["Hamel"].slope
    )
    off = {name: invariants_off(run) for name, run in names["runs"].items()}
    assert off["Hamel, orthonormal frame"]["energy of the driven"] < exact(names["run"])
    assert off["energy-exact"]["energy"] < exact(names["run"])
    assert off["Hamel"]["energy"] > 0.01


@pytest.mark.slow
def test_conserved_quantities():
    names = executed("conserved_quantities")
    assert np.ptp(names["turned"].p, axis=0).max() < exact(names["turned"])
    assert np.ptp(names["body"].p, axis=0).min() > 1
    assert np.ptp(names["constants"].along(names["exact"]), axis=0).max() < 1e-10
    run, long, disk = names["run"], names["long"], names["disk"]
    assert names["apart"] < 0.01**2
    assert run.q[:, 0].min() == pytest.approx(names["low"], abs=1e-4)
    assert run.q[:, 0].max() == pytest.approx(names["high"], abs=1e-4)
    coarse = dh.simulate(disk, names["q"], names["xi"], h=0.02, steps=5000)
    spreads = [np.ptp(names["constants"].along(a), axis=0) for a in (coarse, long)]
    assert np.log2(spreads[0] / spreads[1]) == pytest.approx(2, abs=0.1)
    assert not any(dh.analysis.trend(long.t, values).significant for values in names["values"].T)


@pytest.mark.slow
def test_relative_equilibria():
    names = executed("relative_equilibria")
    steady, fold, disk = names["steady"], names["fold"], names["disk"]
    assert names["spin"](0.3, steady.xi[1]) == pytest.approx(3.0, rel=1e-9)
    assert steady.dimension == 2
    assert names["own"] == pytest.approx(names["spin"](0.3, names["turn"]), rel=1e-9)
    slope = (names["spin"](0.3, fold.xi[1] + 1e-4) - names["spin"](0.3, fold.xi[1] - 1e-4)) / 2e-4
    assert abs(slope) < 1e-6
    middle, later = 1.8, 3.0  # rad/s of the heading, at lean 0.3: unstable, and stable
    for turn, stable in ((middle, False), (later, True)):
        grown = dh.simulate(disk, [0.301, 0, 0, 0, 0], [0.0, turn, names["spin"](0.3, turn)], h=0.01, steps=1000).q[
            :, 0
        ]
        assert (np.max(np.abs(grown - 0.3)) < 0.02) == stable
    assert names["found"] == pytest.approx(np.sqrt(9.8 * 0.25 / (0.5 * 1.5)), rel=1e-9)
    assert np.max(np.abs(names["run"].q[:, 0])) < 1.1e-3
    wobbling = dh.simulate(disk, [1e-3, 0, 0, 0, 0], [0, -2 * 1.75e-3, 1.75], h=0.01, steps=3000)
    assert np.max(np.abs(wobbling.q[:, 0])) > 0.2
    assert wobbling.q[500, 0] == pytest.approx(1e-3 * np.cosh(names["growing"] * 5), rel=0.01)


@pytest.mark.slow
def test_ensembles_and_gradients():
    names = executed("ensembles_and_gradients")
    assert np.max(np.abs(names["heading"] - names["turned"])) < 0.01**2
    assert names["odd"].failure.values.astype(bool).tolist() == [False, True, False]
    spread = [np.linalg.det(np.cov(names["cloud"].xi.sel(step=step).values[:, :2].T)) for step in (0, 500, 1000, 2000)]
    assert spread[0] < spread[1] > spread[2] > spread[3]
    assert np.max(np.abs(names["slopes"](names["push"]) - names["differences"])) < 1e-7
    assert np.linalg.norm(names["end"](names["aim"]) - names["target"]) < 1e-12
    off = (names["fit"].x - names["true"]) / names["errors"]
    assert np.max(np.abs(off)) < 4
    assert names["errors"].max() < 0.01


@pytest.mark.slow
def test_discrete_principle():
    names = executed("discrete_principle")
    run, eta, asked = names["run"], names["eta"], names["asked"]
    (own,) = [source(cell) for cell in cells("discrete_principle") if "def turn" in source(cell)]
    assert sum(bool(line.strip()) for line in own.splitlines()) == 15  # a principle of one's own, with all it prints
    assert names["own"].report.path == "compiled"
    assert abs(dh.action_variation(run, eta[:, :2])) < exact(run)
    assert abs(dh.action_variation(run, eta * [0, 0, 1])) > 0.1
    assert abs(names["off"]) > 1e-6
    in_time = dh.action_variation(names["exact"], np.outer(names["bump"], [0, 0, 1]))
    pushed = -np.trapezoid(names["pushes"] * names["bump"], names["exact"].t)
    assert in_time == pytest.approx(pushed, abs=1e-4)
    assert names["apart"] < 1e-13
    powers = {}
    for name, variation in names["variations"].items():
        whole, half = (asked(variation, h)[1:] for h in (0.1, 0.05))
        powers[name] = [np.log2(a / b) if a > 1e-12 else 0 for a, b in zip(whole, half, strict=True)]
    assert powers["Hamel (5.8)"] == pytest.approx([3, 0, 2], abs=0.1)
    assert powers["one term more"] == pytest.approx([5, 2, 4], abs=0.1)
    assert powers["derived"] == pytest.approx([0, 2, 0], abs=0.1)


@pytest.mark.slow
def test_groups():
    names = executed("groups")
    assert names["order"] == pytest.approx(2, abs=0.2)
    assert names["stays"] < 1e-13 < 1e-6 < min(names["averaged"])
    for name, (off, energy, momentum) in names["table"].items():
        assert off < 1e-12
        kept = momentum if "derived" in name else energy
        assert kept < exact(names["runs"][name])
        assert name == "linear averaging" or max(energy, momentum) > 1e-4
    assert np.ptp(names["turning"].energy) < exact(names["turning"])


@pytest.mark.slow
def test_reduction_and_phases():
    names = executed("reduction_and_phases")
    assert names["apart"] < 1e-13
    assert names["back"] < 3 * names["direct"] < 0.01
    assert names["closed"] < 1e-3 < names["gone"]
    assert names["orbit"].off < 1e-10
    angle = names["orbit"].angles[0] / (2 * np.pi)
    turned = abs(names["number"]) % 1
    assert min(abs(turned - angle), abs(1 - turned - angle)) < (names["orbit"].period / 200) ** 2


@pytest.mark.slow
def test_nonlinear_constraints():
    pytest.importorskip("sympy")
    names = executed("nonlinear_constraints")
    assert names["parallel"] < 1e-14
    assert names["energy"] < 1e-6
    assert names["difference"] < 1e-3
    assert names["kept"] < exact(names["exact"], scale=10)
    assert names["off"] < 1e-3
    assert names["apart"] < 1e-10


@pytest.mark.slow
def test_bodies_and_principles():
    pytest.importorskip("sympy")
    names = executed("bodies_and_principles")
    assert set(names["found"].reduced) == {"p_1", "p_2", "p_3", "theta"}
    assert names["off"] < 1e-9
    assert np.ptp(names["f"]) > 0.02
    assert abs(names["volume"]) < 1e-12
    assert names["rolling"].q[:, 1].max() < 3 < 6 < names["stationary"].q[:, 1].max()


@pytest.mark.slow
def test_testing_your_own_system():
    names = executed("testing_your_own_system")
    assert names["right"] == "holds"
    assert names["wrong"].startswith("bracket:")
    assert names["found"]["Overdrawn"].startswith("invariant 'turning':")
    assert names["found"]["Elsewhere"].startswith("symmetry 'translation':")
    assert {case for case, holds in names["verdicts"].items() if holds} == {
        ("free", "exact"),
        ("tethered", 2),
        ("tethered", False),
    }


@pytest.mark.slow
def test_optimal_control():
    names = executed("optimal_control")
    assert float(names["rise"].cost) == pytest.approx(32 * np.tan(np.pi / 32), rel=1e-9)
    for plan in (names["plan"], names["gait"]):
        assert plan.feasibility < 1e-10
        assert plan.stationarity < 1e-6
    assert np.max(np.abs(names["plan"].q[-1] - [0.0, 0.0, 0.5, 0.0])) < 1e-10
    assert names["plan"].cost < 1.32  # other stationary paths cost more: 1.89 and 4.8 have been met
    assert names["gait"].cost < 0.16
    assert names["gait"].q[-1, 1] == pytest.approx(0.3, abs=1e-10)
    assert np.max(np.abs(names["gait"].q[:, 4])) < np.pi / 2


@pytest.mark.slow
def test_mechanisms():
    pytest.importorskip("mujoco")
    names = executed("mechanisms")
    assert names["apart"] < 1e-12
    assert names["lean"].max() < 1.0
    assert names["lost"] > 0.1
    assert np.log2(names["off"][0] / names["off"][1]) == pytest.approx(2, abs=0.1)


@pytest.mark.slow
def test_vehicles():
    names = executed("vehicles")
    assert names["fork"][0] == 2.9
    assert np.abs(names["fork"][300:]).max() < 1.0  # the caster has swung about
    assert np.ptp(names["lag"][-50:], axis=0).max() < 1e-3
    assert names["sideways"] < 1e-13
    assert np.ptp(names["turned"].energy) < exact(names["turned"])
    assert abs(names["across"]) > 10 * names["lowest"]
    early, late = ({speed: lean[part].max() for speed, lean in names["leans"].items()} for part in (EARLY, LATE))
    assert late[5.0] < 0.5 * early[5.0]
    assert late[3.0] > 2 * early[3.0]


EARLY, LATE = slice(None, 40), slice(-40, None)


@pytest.mark.slow
def test_balancers_and_balls():
    names = executed("balancers_and_balls")
    assert names["tilt"][-100:].max() < 0.01 * names["tilt"][0]
    assert np.ptp(names["spin"]) < exact(names["ridden"])
    assert names["off"] < exact(names["rolled"])
    assert names["height"].min() > 0.5
    assert names["kept"] < 1e-12
    assert names["first"] > 0.99
    assert names["last"] < -0.8

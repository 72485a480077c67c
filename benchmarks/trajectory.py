"""One trajectory, against the same algorithm in hand-written C

10^4 steps of the spherical pendulum (h = 0.2 s) and of the rolling disk (h = 0.01 s) by DiscreteHamel, every node
saved, Newton's iteration ended by its tolerance in both. C is compiled by gcc -O3 -march=native and eliminates q by
hand; ours saves more than C does: besides the states also the nodal velocities, the interval velocities and the report
of every step. "plain" is our own definition of a step in ordinary JAX, without the compiler. Compilation is excluded.
"""

import tempfile
from collections.abc import Callable, Iterator
from ctypes import c_long
from typing import Any

import numpy as np

import discrete_hamel as dh
from benchmarks.contests import DOUBLES, Bar, in_c, installed
from paper_figures.speeds import compiled, interleaved, plain, start

STEPS, PLAIN_STEPS, ROUNDS = 10_000, 1000, 300
PEERS = ("gcc",)
GAMMA = (0.3, 0.2, -np.sqrt(1 - 0.3**2 - 0.2**2))
CASES: dict[str, Any] = {
    "pendulum": (dh.systems.SphericalPendulum(), GAMMA, (0.6, 0.0), 0.2),
    "disk": (dh.systems.RollingDisk(), (0.3, 0.0, 0.0, 0.0, 0.0), (0.1, 0.6, -2.0), 0.01),
}


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            runs, difference = contest(name, folder)
            best = interleaved(runs, -(-rounds // 4) if quick else rounds)
            each = {kind: 1e9 * t / (PLAIN_STEPS if kind == "plain" else STEPS) for kind, t in best.items()}
            c = each.get("C", float("nan"))
            yield {
                "system": name,
                "C, ns a step": c,
                "ours, ns a step": each["ours"],
                "plain, ns a step": each["plain"],
                "ours / C": each["ours"] / c,
                "plain / ours": each["plain"] / each["ours"],
                "difference of the first 100 nodes": difference,
            }


def contest(name: str, folder: str) -> tuple[dict[str, Callable[[], Any]], float]:
    """The contestants, and by how much the first 100 nodes of C differ from ours."""
    system, q, xi, h = CASES[name]
    begun = start(system, dh.DiscreteHamel(), q, xi, h)
    runs = {"ours": compiled(begun, STEPS)[0], "plain": plain(begun, PLAIN_STEPS)}
    nodes, difference = runs["ours"]()[0], float("nan")
    runs["plain"]()
    if installed("gcc"):
        begin = np.array([*q, *xi]) if name == "pendulum" else np.array([*q, *np.asarray(begun[2].p), *xi])
        runs["C"] = hand_written(name, folder, begin)
        difference = float(np.abs(nodes[:100] - runs["C"]()[:100, : len(q)]).max())
    return runs, difference


def hand_written(name: str, folder: str, begin: np.ndarray) -> Callable[[], np.ndarray]:
    """The C program as a function that returns all states after the first."""
    program, rows = in_c(name, folder), np.zeros((STEPS, len(begin)))
    program.run.argtypes = (DOUBLES, DOUBLES, c_long)

    def states() -> np.ndarray:
        program.run(begin.copy().ctypes.data_as(DOUBLES), rows.ctypes.data_as(DOUBLES), STEPS)
        return rows

    return states


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    limits = {"pendulum": (1.3, 1.1, 30), "disk": (2.0, 1.3, 200)}
    found = []
    for row in rows:
        bar, aim, gain = limits[row["system"]]
        found.append(Bar(f"{row['system']}, one trajectory: time over C's", row["ours / C"], bar, aim))
        found.append(
            Bar(f"{row['system']}: times faster than our plain path", row["plain / ours"], gain, at_least=True)
        )
    return found


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.plots import BLUE, GREY, VERMILLION
    from paper_figures.pictures import mosaic

    figure, axes = mosaic([["time"]], size=(4.6, 2.4))
    ax, kinds = axes["time"], {"C": GREY, "ours": BLUE, "plain": VERMILLION}
    for i, row in enumerate(rows):
        for j, (kind, colour) in enumerate(kinds.items()):
            height = row[f"{kind}, ns a step"]
            place = 3 * (len(rows) - 1 - i) + 2 - 0.8 * j
            ax.barh(place, height, 0.7, color=colour, label=kind if i == 0 else None)
            ax.annotate(f" {height:,.0f}", (height, place), va="center", fontsize=8)
    ax.set_yticks([3 * (len(rows) - 1 - i) + 1.2 for i in range(len(rows))], [row["system"] for row in rows])
    ax.set(xscale="log", xlabel="time of a step [ns]", xlim=(20, 5 * max(row["plain, ns a step"] for row in rows)))
    ax.grid(axis="y", visible=False)
    figure.legend(loc="outside upper right", ncols=3)
    return figure

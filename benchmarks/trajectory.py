"""One trajectory, against the same algorithm in hand-written C

10^4 and 10^6 steps of the spherical pendulum (h = 0.2 s) and of the rolling disk (h = 0.01 s) by DiscreteHamel, every
node kept, Newton's iteration ended by its tolerance in all. C is compiled by gcc -O3 -march=native, eliminates q by
hand, and writes into memory that it is given. "dh.simulate" is the whole call, which is what a user waits for: checks
of the data, the loop, and a Trajectory in new arrays, with nodal and interval velocities and the report of every step
beside the states. "loop" is the compiled loop in it alone, called with data that are checked and a state that is made.
"plain" is our own definition of a step in ordinary JAX, without the compiler. Compilation is excluded.
"""

import tempfile
from collections.abc import Callable, Iterator
from ctypes import c_long
from typing import Any

import numpy as np

import discrete_hamel as dh
from benchmarks.contests import DOUBLES, Bar, in_c, installed
from paper_figures.speeds import compiled, interleaved, plain, start

STEPS, PLAIN_STEPS, ROUNDS = (10_000, 1_000_000), 1000, 300
PEERS = ("gcc",)
GAMMA = (0.3, 0.2, -np.sqrt(1 - 0.3**2 - 0.2**2))
CASES: dict[str, Any] = {
    "pendulum": (dh.systems.SphericalPendulum(), GAMMA, (0.6, 0.0), 0.2),
    "disk": (dh.systems.RollingDisk(), (0.3, 0.0, 0.0, 0.0, 0.0), (0.1, 0.6, -2.0), 0.01),
}


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            for steps in STEPS[:1] if quick else STEPS:
                runs, difference = contest(name, steps, folder)
                best = interleaved(runs, -(-rounds // 4) if quick else rounds)
                each = {kind: 1e9 * t / (PLAIN_STEPS if kind == "plain" else steps) for kind, t in best.items()}
                c, plain_step = each.get("C", float("nan")), each.get("plain", float("nan"))
                yield {
                    "system": name,
                    "steps": steps,
                    "C, ns a step": c,
                    "dh.simulate, ns a step": each["dh.simulate"],
                    "loop, ns a step": each["loop"],
                    "plain, ns a step": plain_step,
                    "dh.simulate / C": each["dh.simulate"] / c,
                    "loop / C": each["loop"] / c,
                    "plain / loop": plain_step / each["loop"],
                    "difference of the first 100 nodes": difference,
                }


def contest(name: str, steps: int, folder: str) -> tuple[dict[str, Callable[[], Any]], float]:
    """The contestants, and by how much the first 100 nodes of C differ from ours; plain joins at the fewest steps."""
    system, q, xi, h = CASES[name]
    begun = start(system, dh.DiscreteHamel(), q, xi, h)

    def simulated() -> Any:
        return dh.simulate(system, q, xi, h=h, steps=steps, scheme=dh.DiscreteHamel()).q

    runs: dict[str, Callable[[], Any]] = {"loop": compiled(begun, steps)[0], "dh.simulate": simulated}
    if steps == STEPS[0]:
        runs["plain"] = plain(begun, PLAIN_STEPS)
    for run in runs.values():
        run()  # compiles
    nodes, difference = simulated()[1:], float("nan")
    if installed("gcc"):
        begin = np.array([*q, *xi]) if name == "pendulum" else np.array([*q, *np.asarray(begun[2].p), *xi])
        runs["C"] = hand_written(name, steps, folder, begin)
        difference = float(np.abs(nodes[:100] - runs["C"]()[:100, : len(q)]).max())
    return runs, difference


def hand_written(name: str, steps: int, folder: str, begin: np.ndarray) -> Callable[[], np.ndarray]:
    """The C program as a function that returns all states after the first."""
    program, rows = in_c(name, folder), np.zeros((steps, len(begin)))
    program.run.argtypes = (DOUBLES, DOUBLES, c_long)

    def states() -> np.ndarray:
        program.run(begin.copy().ctypes.data_as(DOUBLES), rows.ctypes.data_as(DOUBLES), steps)
        return rows

    return states


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    limits = {"pendulum": (1.3, 1.1, 30), "disk": (2.0, 1.3, 200)}
    found = []
    for row in rows:
        name, steps = row["system"], f"10^{round(np.log10(row['steps']))} steps"
        bar, aim, gain = limits[name]
        whole = (1.5, 1.1) if row["steps"] == STEPS[0] else (1.2, 0.9)
        found.append(Bar(f"{name}, {steps}, the whole dh.simulate: time over C's", row["dh.simulate / C"], *whole))
        if row["steps"] == STEPS[0]:
            found.append(Bar(f"{name}, {steps}, the loop alone: time over C's", row["loop / C"], bar, aim))
            what = f"{name}, the loop alone: times faster than our plain path"
            found.append(Bar(what, row["plain / loop"], gain, at_least=True))
    return found


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.drawing.plots import BLUE, GREY, SKY, VERMILLION
    from paper_figures.pictures import mosaic

    figure, axes = mosaic([["time"]], size=(5.2, 0.9 + 0.75 * len(rows)))
    ax, kinds = axes["time"], {"C": GREY, "loop": SKY, "dh.simulate": BLUE, "plain": VERMILLION}
    places, most = 4 * np.arange(len(rows))[::-1], 0.0
    for i, row in enumerate(rows):
        for j, (kind, colour) in enumerate(kinds.items()):
            height = row[f"{kind}, ns a step"]
            if height is None or not np.isfinite(height):
                continue
            place, most = places[i] + 2 - 0.8 * j, max(most, height)
            ax.barh(place, height, 0.7, color=colour, label=kind if i == 0 else None)
            ax.annotate(f" {height:,.0f}", (height, place), va="center", fontsize=8)
    ax.set_yticks(places + 0.8, [f"{row['system']}\n$10^{round(np.log10(row['steps']))}$ steps" for row in rows])
    ax.set(xscale="log", xlabel="time of a step [ns]", xlim=(20, 5 * most))
    ax.grid(axis="y", visible=False)
    figure.legend(loc="outside upper right", ncols=4)
    return figure

"""Batches of 1 to 100 000 trajectories, against C with SIMD

Spherical pendulums (h = 0.2 s) and rolling disks (h = 0.01 s) that start with different velocities, side by side on one
core in both; sleighs besides. C is the hand-reduced pendulum or disk in lanes (gcc -O3 -march=native; sines by the same
kernels), in its best blocking, with a tolerance for each lane as ours has; "without test" makes three iterations and
asks nothing. Both save the last node, ours also its nodal velocity and each lane's iterations. Compilation is excluded.
"""

import sys
import tempfile
from collections.abc import Iterator
from ctypes import CDLL, c_long
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from benchmarks.contests import DOUBLES, Bar, in_c, installed
from discrete_hamel.compiler.graph.pytree_leaves import scalars
from discrete_hamel.compiler.native.lanes import LANES
from discrete_hamel.compiler.paths import lanes_for
from discrete_hamel.runs.validation import canonical
from paper_figures.speeds import interleaved

ROUNDS = 30
PEERS = ("gcc",)
GAMMA = (0.3, 0.2, -np.sqrt(1 - 0.3**2 - 0.2**2))
CASES: dict[str, Any] = {
    "pendulum": (dh.systems.SphericalPendulum(), GAMMA, (0.6, 0.0), 0.2),
    "disk": (dh.systems.RollingDisk(), (0.3, 0.0, 0.0, 0.0, 0.0), (0.1, 0.6, -2.0), 0.01),
    "sleigh": (dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4), (0.1, 0.0, 0.0), (1.5, -0.3), 0.01),
}
SIZES = (1, 10, 100, 1000, 10_000, 100_000)
BLOCKS = (16, 32, 128)  # of the C program, of which the best counts
MEMBER_STEPS = 2_000_000  # about, in each call


def spread(count: int) -> np.ndarray:
    """What is added to the last velocity of each member: a tenth, at random."""
    return 0.1 * np.random.default_rng(0).random(count)


class InC:
    """Runs in C from states in rows, so many that they are whole blocks."""

    def __init__(self, program: CDLL, first: np.ndarray, steps: int, fixed: int) -> None:
        self.program, self.first, self.steps, self.fixed = program, first, steps, fixed
        program.run.argtypes = (DOUBLES, DOUBLES, *(c_long,) * 3)
        self.iterations = np.zeros(first.shape[1])

    def __call__(self) -> np.ndarray:
        states = self.first.copy()
        places = (a.ctypes.data_as(DOUBLES) for a in (states, self.iterations))
        self.program.run(*places, len(self.iterations), self.steps, self.fixed)
        return states


def pendulum_states(members: int, block: int) -> np.ndarray:
    """gamma and xi of pendulums."""
    first = np.stack([np.full(-(-members // block) * block, x) for x in (*GAMMA, 0.6, 0.0)])
    first[-1] += spread(first.shape[1])
    return first


class Ours:
    """The lanes kernel on the same members."""

    def __init__(self, name: str, members: int, steps: int) -> None:
        system, q, xi, h = CASES[name]
        system, scheme, h = canonical(system), canonical(dh.DiscreteHamel()), jnp.asarray(h)
        count = -(-members // LANES) * LANES
        velocities = np.tile(xi, (count, 1))
        velocities[:, -1] += spread(count)
        states = jax.vmap(lambda xi: dh.start(system, scheme, q, xi, h))(velocities)
        numbers = scalars((system, scheme, h))
        sample = jax.tree.map(lambda leaf: leaf[0], states)
        lanes = lanes_for(system, scheme, sample, h, (False,) * len(numbers))
        if isinstance(lanes, str):
            raise RuntimeError(f"{name} does not run in lanes: {lanes}")
        begin = np.concatenate([np.asarray(leaf).reshape(count, -1).T for leaf in jax.tree.leaves(states)])
        active = (np.arange(count) < members).astype(float)
        self.lanes, self.begin, self.arguments = lanes, begin, (numbers, np.zeros((0, count)), begin, active, 1, steps)

    def __call__(self) -> np.ndarray:
        return self.lanes.advance(*self.arguments)[0]


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    rounds, sizes = (-(-rounds // 4), (10, 10_000)) if quick else (rounds, SIZES)
    with tempfile.TemporaryDirectory() as folder:
        blocks = BLOCKS if installed("gcc") else ()
        programs, of_disks = (
            {block: in_c(name, folder, f"-DLANES={block}") for block in blocks}
            for name in ("pendulum_lanes", "disk_lanes")
        )
        for members in sizes:
            yield pendulums(programs, members, rounds)
        yield others("disk", of_disks, rounds)
    yield others("sleigh", {}, rounds)


def others(name: str, programs: dict[int, CDLL], rounds: int) -> dict[str, Any]:
    """Ten thousand of another system, in C from the very states that ours have: (q, p, xi at the midpoint before)."""
    members, steps = 10_240, 200
    ours = Ours(name, members, steps)
    runs: dict[str, Any] = {"ours": ours}
    runs |= {f"C {block}": InC(program, ours.begin, steps, 0) for block, program in programs.items()}
    ends = {which: run() for which, run in runs.items()}
    difference = max(
        (float(np.abs(end - ends["ours"]).max()) for end in ends.values() if programs), default=float("nan")
    )
    each = {which: 1e9 * t / members / steps for which, t in interleaved(runs, rounds).items()}
    return row(name, members, each, difference)


def pendulums(programs: dict[int, CDLL], members: int, rounds: int) -> dict[str, Any]:
    """So many of them, by all contestants."""
    steps = max(100, min(10_000, MEMBER_STEPS // members))
    runs: dict[str, Any] = {"ours": Ours("pendulum", members, steps)}
    for block, program in programs.items():
        first = pendulum_states(members, block)
        runs |= {f"{name} {block}": InC(program, first, steps, fixed) for name, fixed in (("C", 0), ("three", 3))}
    few, difference = min(members, 100), float("nan")  # few steps' difference would be round-off, and many grow it
    end = runs["ours"]()
    if programs:
        difference = float(np.abs(end[:3, :few] - runs["C 16"]()[:3, :few]).max())
    each = {name: 1e9 * t / members / steps for name, t in interleaved(runs, rounds).items()}
    return row("pendulum", members, each, difference)


def row(system: str, members: int, each: dict[str, float], difference: float) -> dict[str, Any]:
    c, three = (min((each[k] for k in each if k.startswith(s)), default=float("nan")) for s in ("C", "three"))
    return {
        "system": system,
        "members": members,
        "C, ns a member-step": c,
        "C without test": three,
        "ours, ns a member-step": each["ours"],
        "ours / C": each["ours"] / c,
        "difference": difference,
    }


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    found = [(row["system"], row["ours / C"]) for row in rows if 10_000 <= row["members"] <= 10_240]
    return [
        Bar(f"10 000 {name}s on one core: time over SIMD C's", ratio, 1.2, 0.9) for name, ratio in found if ratio > 0
    ]


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.drawing.plots import BLUE, GREEN, GREY, ORANGE
    from paper_figures.pictures import mosaic

    figure, axes = mosaic([["time"]], size=(4.6, 3.0))
    ax, found = axes["time"], [row for row in rows if row["system"] == "pendulum"]
    for key, label, colour, marker in (
        ("C, ns a member-step", "pendulum, C with SIMD", GREY, "s"),
        ("ours, ns a member-step", "pendulum, ours", BLUE, "o"),
    ):
        ax.loglog([r["members"] for r in found], [r[key] for r in found], marker=marker, color=colour, label=label)
    for other, colour, marker in (("disk", ORANGE, "^"), ("sleigh", GREEN, "v")):
        of_it = [row for row in rows if row["system"] == other]
        x, y = [r["members"] for r in of_it], [r["ours, ns a member-step"] for r in of_it]
        ax.loglog(x, y, marker, color=colour, label=f"{other}, ours")
    ax.set(xlabel="members", ylabel="time of a step of a member [ns]", ylim=(2, None))
    ax.legend()
    return figure


if __name__ == "__main__":
    from discrete_hamel.cli import main

    sys.exit(main(["bench", "lanes", *sys.argv[1:]]))

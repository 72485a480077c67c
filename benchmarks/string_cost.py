"""Cost of a step against the number of points: python benchmarks/string_cost.py [points ...] [--memory].

Prints, for each field with its scheme of linear cost, the time of a step and of a step a point, and the ratio to the
line above; a linear cost has the ratio of the points. The loop is one's own (dh.start, dh.step), without what
`simulate` keeps and looks at. With --memory: the most that a process ever held which imports the library, runs
`simulate` for ten steps with each number of points and looks at the end (energy, velocity, tension), in MB above what
it holds before; one process a line, as a peak cannot be taken back.
"""

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel import fields

POINTS = (100, 1000, 10_000, 100_000)
Case = tuple[dh.System, dh.schemes.scheme.Scheme, dict, float]


def string(points: int) -> Case:
    system = fields.String(points=points)
    start = system.laid(lambda s: 2 * s, lambda s: np.cos(3 * s))
    return system, fields.TridiagonalTension(), start, 0.25 / (points - 1)


def across(points: int) -> Case:
    system = fields.AlongAndAcross(fields.String(points=points))
    start = system.string.laid(lambda s: 2 * s, lambda s: np.cos(3 * s))
    return system, fields.NeighbourTension(), system.state_of(**start), 0.25 / (points - 1)


def following(points: int) -> Case:
    system = fields.ConstrainedString(points=points, heading=lambda d: jnp.sin(3 * d), pull=0.3)
    return system, fields.LinkByLink(), system.behind(lambda s: np.sin(3 * (s - 1)), 1.0), 0.5 / (points - 1)


def sleigh(points: int) -> Case:
    system = fields.SleighWithString(points=points, pull=0.3)
    return system, fields.LinkByLink(), system.drawing(lambda s: np.sin(s - 1), 1.5, 1.0), 0.5 / (points - 1)


def sphere(points: int) -> Case:
    system = fields.SphereField(points=points)
    start = system.sample()
    return system, fields.NeighbourHamel(), start, start.pop("h")


def beam(points: int) -> Case:
    system = fields.Beam(points=points, blade=True)
    start = system.sample()
    return system, fields.NeighbourHamel(), {"q": start["q"], "xi": start["xi"]}, 0.25 / points


CASES: tuple[Callable[[int], Case], ...] = (string, across, following, sleigh, sphere, beam)


@jax.jit
def run(system: Any, scheme: Any, state: Any, h: Any, steps: Any) -> Any:
    """So many steps, and whether all were solved."""

    def one(_: Any, carry: tuple) -> tuple:
        state, well = carry
        state, interval = dh.step(system, scheme, state, h)
        return state, well & interval.report.converged

    return jax.lax.fori_loop(0, steps, one, (state, jnp.asarray(True)))


def seconds_a_step(case: Any, points: int) -> float:
    """The best of three runs of about a second."""
    system, scheme, start, h = case(points)
    state = dh.start(system, scheme, start["q"], start["xi"], h)
    steps = max(1, 200_000 // points)
    times = []
    for count in (1, steps, steps, steps):
        began = time.perf_counter()
        final, well = jax.block_until_ready(run(system, scheme, state, h, count))
        times.append((time.perf_counter() - began) / count)
        if not well or not np.all(np.isfinite(final.q)):
            raise RuntimeError(f"a step of {type(system).__name__} with {points} points was not solved")
    return min(times[1:])


def peak() -> float:
    """The most that this process has held so far, MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def megabytes(case: Any, points: int) -> float:
    """What a run of ten steps and a look at its end take at most, above what was held before; in this process."""
    system, scheme, start, h = case(points)
    before = peak()
    end = dh.simulate(system, **start, h=h, steps=10, save_every=10, scheme=scheme)
    print(f"energy {end.energy[-1]:g}, fastest {np.max(np.abs(end.v[-1])):g}", file=sys.stderr)
    if isinstance(system, fields.String):
        fields.tension(system, end.q[-1], end.xi[-1])
    elif hasattr(system, "tension"):
        system.tension(end.q[-1], end.xi[-1])
    return peak() - before


def memory(case: Any, sizes: Any) -> None:
    for points in sizes:
        command = [sys.executable, __file__, "--one", case.__name__, str(points)]
        spent = float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        matrix = 8 * len(case(points)[2]["q"]) ** 2 / 1e6
        print(f"{case.__name__:9} {points:7} points: {spent:7.0f} MB; one dense matrix: {matrix:9.0f} MB", flush=True)


def times(case: Any, sizes: Any) -> None:
    before = None
    for points in sizes:
        spent = seconds_a_step(case, points)
        each = f"{spent * 1e3:9.3f} ms a step, {spent / points * 1e6:6.2f} us a point"
        line = f"{case.__name__:9} {points:7} points: {each}"
        if before:
            line += f", {spent / before[1]:.1f} times for {points / before[0]:.1f} times the points"
        print(line, flush=True)
        before = (points, spent)


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--one"]:
        print(megabytes(next(case for case in CASES if case.__name__ == arguments[1]), int(arguments[2])))
        return
    sizes = [int(a) for a in arguments if a != "--memory"] or POINTS
    for case in CASES:
        (memory if "--memory" in arguments else times)(case, sizes)


if __name__ == "__main__":
    main(sys.argv[1:])

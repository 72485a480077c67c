"""Cost of a step against the number of points: python benchmarks/string_cost.py [points ...].

Prints, for the string (TridiagonalTension), the sphere field and the beam (NeighbourHamel), the time of a step and of a
step a point, and the ratio to the line above; a linear cost has the ratio of the points. The loop is one's own
(dh.start, dh.step), without what `simulate` keeps and looks at.
"""

import sys
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

POINTS = (100, 1000, 10_000, 100_000)


def string(points: int) -> tuple[dh.System, dh.schemes.scheme.Scheme, dict, float]:
    system = dh.fields.String(points=points)
    spacing, n = 1 / (points - 1), points - 1
    s = (np.arange(n) + 0.5) * spacing
    theta, omega = 2 * s, np.cos(3 * s)
    q = np.concatenate([[0.0, 0.0], np.column_stack([np.cos(theta), np.sin(theta)]).ravel()])
    return system, dh.fields.TridiagonalTension(), {"q": q, "xi": np.concatenate([[0.0, 0.0], omega])}, 0.25 * spacing


def sphere(points: int) -> tuple[dh.System, dh.schemes.scheme.Scheme, dict, float]:
    system = dh.fields.SphereField(points=points)
    start = system.sample()
    return system, dh.fields.NeighbourHamel(), start, start.pop("h")


def beam(points: int) -> tuple[dh.System, dh.schemes.scheme.Scheme, dict, float]:
    system = dh.fields.Beam(points=points, blade=True)
    start = system.sample()
    return system, dh.fields.NeighbourHamel(), {"q": start["q"], "xi": start["xi"]}, 0.25 / points


CASES = (string, sphere, beam)


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


def main(arguments: list[str]) -> None:
    sizes = [int(a) for a in arguments] or POINTS
    for case in CASES:
        before = None
        for points in sizes:
            spent = seconds_a_step(case, points)
            each = f"{spent * 1e3:9.3f} ms a step, {spent / points * 1e6:6.2f} us a point"
            line = f"{case.__name__:7} {points:7} points: {each}"
            if before:
                line += f", {spent / before[1]:.1f} times for {points / before[0]:.1f} times the points"
            print(line, flush=True)
            before = (points, spent)


if __name__ == "__main__":
    main(sys.argv[1:])

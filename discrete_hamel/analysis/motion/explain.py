"""Which path a run takes and why, what the compiler made of its step, and what both cost."""

import time
from typing import NamedTuple

import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Scalar, Velocities
from discrete_hamel.compiler import paths
from discrete_hamel.compiler.step.program import Done
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import loop
from discrete_hamel.runs import validation as checks
from discrete_hamel.schemes.nonlinear_midpoint import default_scheme
from discrete_hamel.schemes.scheme import Scheme

TIMED = {"compiled": 1000, "plain": 20}  # steps


class Explanation(NamedTuple):
    """What `explain` found; its text is a line for each."""

    path: str  # "compiled" or "plain"
    reason: str  # for the plain path
    passes: tuple[Done, ...]  # of the compiler, in order: name, what it left, nodes of the graph, CPU seconds
    building: float  # seconds, almost none where this kind of run was built before
    step: float  # seconds, measured
    iterations: float  # a step, on average of the same steps

    def __repr__(self) -> str:
        lines = [("path", self.path + (f": {self.reason}" if self.reason else ""))]
        lines += [(name, f"{left}; {nodes} nodes, {_time(seconds)}") for name, left, nodes, seconds in self.passes]
        lines += [
            ("building", f"{self.building:.2f} s"),
            ("a step", f"{_time(self.step)}, {self.iterations:.3g} iterations"),
        ]
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:{width}}  {said}" for name, said in lines)


def explain(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    *,
    v: Velocities | None = None,
    h: Scalar = 0.01,
    scheme: Scheme | None = None,
) -> Explanation:
    """Returns how `simulate` would run this: its path, the reason where that is the plain one, the passes of the
    compiler with the sizes that they leave, what building it took, and a step, by running some.

    >>> import discrete_hamel as dh
    >>> found = dh.explain(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3])
    >>> found.path, [one.name for one in found.passes][:4]
    ('compiled', ['read', 'find node velocity', 'drop idle angles', 'regroup'])
    """
    scheme = default_scheme(system) if scheme is None else scheme
    scheme, h = checks.canonical(scheme.fitted(system)), checks.step_size(h)
    system, q, xi = checks.initial_data(system, q, xi, v)
    state, _ = loop.first_state(system, scheme, q, xi, h)
    begin = time.perf_counter()
    stepper = paths.stepper_for(system, scheme, state, h)
    if not isinstance(stepper, str):
        stepper.run.improve()  # to what a long run takes
    building = time.perf_counter() - begin
    path, reason = ("plain", stepper) if isinstance(stepper, str) else ("compiled", "")
    steps = TIMED[path]

    def run() -> tuple[int, Array]:
        if path == "plain":
            _, done, _, saved, _ = loop.plain_chunk(system, scheme, state, h, steps, 1)
        else:
            _, done, _, saved = stepper.run(system, scheme, state, h, steps, 1)  # type: ignore[union-attr]
        return done, saved[-1].iterations

    run()  # compiles
    begin = time.perf_counter()
    done, iterations = run()
    step = (time.perf_counter() - begin) / max(done, 1)
    passes = () if isinstance(stepper, str) else tuple(stepper.done)
    return Explanation(path, reason, passes, building, step, float(np.mean(iterations)) if done else float("nan"))


def _time(seconds: float) -> str:
    """A time in the unit in which it has few digits."""
    for unit, size in (("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3)):
        if seconds < 1000 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"

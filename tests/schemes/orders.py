"""Problems and reference of the order tests: unbalanced sleigh, rolling disk, Suslov's problem with its attitude."""

import dataclasses

import numpy as np
from checkers import end_of, falls
from problems import DISK, SLEIGH, SO3, Problem

import discrete_hamel as dh

SUSLOV = Problem(
    "suslov",
    dh.systems.Suslov(inertia=((1.2, 0.0, 0.2), (0.0, 1.5, 0.3), (0.2, 0.3, 2.0))),
    tuple(np.eye(3).ravel()),
    (0.8, -0.9),
    4.0,
    SO3,
)
LONG_SUSLOV = dataclasses.replace(SUSLOV, name="long suslov", time=16.0)
MEDIUM_SUSLOV = dataclasses.replace(SUSLOV, name="medium suslov", time=8.0)
LONG_SLEIGH = dataclasses.replace(SLEIGH, name="long sleigh", time=8.0)
TURNING_SLEIGH = dataclasses.replace(SLEIGH, name="turning sleigh", xi=(1.4, 1.1), time=6.0)
SLOW_DISK = dataclasses.replace(DISK, name="slow disk", q=(0.1, 0.2, 0.0, 0.0, 0.0), xi=(0.05, 0.3, 1.5), time=1.0)
# psi' between 1.0, from where the slopes of Suzuki 8 come down to 8, and 0.9, from where they come up
SLOWER_DISK = dataclasses.replace(SLOW_DISK, name="slower disk", xi=(0.05, 0.3, 0.95))

NEARLY_STEADY_DISK = dataclasses.replace(  # a small nutation about steady rolling: smooth for long
    DISK, name="nearly steady disk", q=(0.3, 0.2, 0.0, 0.0, 0.0), xi=(0.05, -0.7157155729657075, 3.0), time=20.0
)

ROUND_OFF = 2e-13  # points below it say nothing of the order
ENDS: dict[str, np.ndarray] = {}


def fine_end(problem: Problem) -> np.ndarray:
    """(q, xi^D) at the end to about 1e-14: Gauss(12), which has to agree with DOP853 as far as that goes."""
    if problem.name not in ENDS:
        end = end_of(problem.run(40, scheme=dh.Gauss(12)), problem.system.rank)
        independent = end_of(dh.reference(problem.system, problem.q, problem.xi, t=problem.time), problem.system.rank)
        assert np.linalg.norm(end - independent) < 5e-11
        ENDS[problem.name] = end
    return ENDS[problem.name]


def has_declared_order(
    problem: Problem, scheme: dh.schemes.Scheme, counts: tuple[int, ...], order: int | None = None
) -> None:
    """At least four points above round-off, and every slope within 0.1 of the order, 0.3 above order 6."""
    order = scheme.order if order is None else order
    assert len(counts) >= 4
    end, rank = fine_end(problem), problem.system.rank
    errors = [np.linalg.norm(end_of(problem.run(n, scheme=scheme), rank) - end) for n in counts]
    falls(errors, counts, order, above=ROUND_OFF)

"""What a step of a scheme makes of a steady motion: how far it leaves the orbit, in axes that move with the group."""

from functools import partial
from typing import NamedTuple

import numpy as np
from jax import Array

from discrete_hamel.analysis.equilibria.equilibrium_search import SOLVED, Point, Sought
from discrete_hamel.analysis.equilibria.steady_equations import SURELY, SteadyEquations, left_over
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.phase_space import Chosen
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics.system import System

REFINEMENTS = 30
KEPT = SURELY * SOLVED  # a step adds its own solve's round-off; what is only accurate shows with a longer one


class KeptMotion(NamedTuple):
    """The relative equilibrium of a map that belongs to a steady motion of (H), or the nearest to one there is."""

    point: Point
    residual: float  # what is left of the equations, relative to what they are made of; round-off is SOLVED

    @property
    def kept(self) -> bool:
        """Whether nothing but round-off is left."""
        return self.residual <= KEPT


def kept_motion(sought: Sought, y: np.ndarray, group: np.ndarray) -> KeptMotion:
    """A step from the steady motion's (q, xi), taken back by the group's element that brings it nearest.

    Where something is left, the nodes may have another velocity than the steps: then with the positions alone given and
    the step's own velocity that of the motion,  r_k = r_e, Delta g_k = h eta_e.   [HE] 5.5
    """
    nodes = sought.question.coordinates + sought.question.system.rank
    found = _refine(sought, y, group, nodes)
    if found.kept:
        return found
    other = _refine(sought, y, group, sought.question.coordinates)
    return other if other.kept else found


def _refine(sought: Sought, y: np.ndarray, group: np.ndarray, known: int) -> KeptMotion:
    """y with its first `known` entries given, and the group's element, such that a step is the motion of the group."""
    ask, first = sought.question, y
    n, m = ask.coordinates, ask.system.rank
    wanted = np.zeros(0)
    if known == n and ask.h is not None:
        wanted = _underway(ask.symmetries, ask.system, ask.h, y[: n + m], group)[n:]
    point = sought.at(y, group)
    at, unit = point.at, np.where(np.arange(len(y)) < n, 1.0, point.rate)
    for _ in range(REFINEMENTS):
        missed, rows = _with_velocity(at, wanted, known)
        if not np.any(missed) or not (np.all(np.isfinite(missed)) and np.all(np.isfinite(rows))):
            break
        weights = 1 / np.concatenate([unit, unit[n : n + len(wanted)]])
        change = np.linalg.lstsq(weights[:, None] * rows, -weights * missed, rcond=phase_space.DEPENDENT)[0]
        moved = group + change[: len(group)], np.concatenate([y[:known], y[known:] + change[len(group) :]])
        new = ask.at(moved[1], moved[0])
        gain = np.linalg.norm(weights * _with_velocity(new, wanted, known)[0]) / (
            np.linalg.norm(weights * missed) or 1.0
        )
        if not gain < 1:
            break
        (group, y), at = moved, new
        if gain > 0.9:
            break
    if at is not point.at:
        point = sought.at(y, group, at)
    residual = left_over(at, point.noise, y, group, n, SOLVED)
    if len(wanted):
        residual = max(residual, _off(at.velocity - wanted, point.noise.velocity, first[n : n + m]))
    return KeptMotion(point, residual if np.isfinite(residual) else np.inf)


def _with_velocity(at: SteadyEquations, wanted: np.ndarray, known: int) -> tuple[np.ndarray, np.ndarray]:
    """What is missed, and its derivatives by the group and by what of y is free; of the velocity too, if wanted."""
    rows = np.concatenate([at.by_group, at.by_point[:, known:]], axis=1)
    if not len(wanted):
        return at.value, rows
    own = np.concatenate([np.zeros((len(wanted), at.by_group.shape[1])), at.velocity_by_point[:, known:]], axis=1)
    return np.concatenate([at.value, at.velocity - wanted]), np.concatenate([rows, own])


def _off(left: np.ndarray, noise: np.ndarray, velocity: np.ndarray) -> float:
    most, rounded = float(np.max(np.abs(left), initial=0.0)), np.max(noise, initial=0.0)
    size = np.max(np.abs(velocity), initial=0.0) + (rounded / SOLVED if most <= SURELY * rounded else 0.0)
    return most / size if most else 0.0


def _underway(symmetries: Chosen, system: System, h: Array, x: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Where the steady motion is half a step later: there a symmetric step has its velocity, should that turn."""
    return np.asarray(_act(symmetries, system, float(h) * group / 2, x))


@partial(interpret, static=1, often=OFTEN)
def _act(symmetries: Chosen, system: System, group: Array, x: Array) -> Array:
    return phase_space.action(system, symmetries, group, x)

"""Relative equilibria: motions that are orbits of a one-parameter group, of (H) and of a scheme's map."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Scalar, Velocities
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.inputs import explained
from discrete_hamel.analysis.equilibria import discrete_maps
from discrete_hamel.analysis.equilibria.equilibrium_search import Point, Sought
from discrete_hamel.analysis.equilibria.held_quantities import (
    Held,
    Quantity,
    conditions_of,
    function_named,
    is_parameter,
    with_parameter,
)
from discrete_hamel.analysis.equilibria.reachable import reachable
from discrete_hamel.analysis.equilibria.steady_equations import Question, modulo_symmetry, nearest_group
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.invariance import refuse_inherited
from discrete_hamel.analysis.symmetry.phase_space import Symmetries
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.schemes.scheme import Scheme


class RelativeEquilibrium(NamedTuple):
    """(q, xi) that moves along the symmetry `group` (rates by name); `dimension` is that of the family through it."""

    q: np.ndarray
    xi: np.ndarray
    group: dict[str, float]
    dimension: int  # of the manifold of relative equilibria here, modulo the symmetry
    residual: float  # what is left of the equations

    def __repr__(self) -> str:
        rates = ", ".join(f"{name} {rate:.6g}" for name, rate in self.group.items()) or "none: it is at rest"
        return (
            f"RelativeEquilibrium(q = {np.round(self.q, 6).tolist()}, xi = {np.round(self.xi, 6).tolist()}; along "
            f"{rates}; one of a family of dimension {self.dimension} modulo symmetry, residual {self.residual:.1e})"
        )


def relative_equilibrium(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    *,
    v: Velocities | None = None,
    hold: Held = (),
    symmetries: Symmetries = None,
    scheme: Scheme | None = None,
    h: Scalar | None = None,
) -> RelativeEquilibrium:
    """Returns the relative equilibrium nearest to (q, xi): qdot and xidot are those of a one-parameter group of
    symmetries.

    Newton's method on the reduced equations, damped; where that fails, along the curve that leads from the given point
    to where nothing is left of them. `hold` names what stays as given (coordinates, velocities, invariants, or
    functions of (q, xi)), or maps them to the values wanted. Whatever is left free moves as little as possible, along
    the symmetry only if that is asked for, and never off a constraint that is holonomic, though given by velocities.
    With a scheme and h it is one of the map: a step is the motion of the group by h.   [HE] 5.5

    >>> import discrete_hamel as dh
    >>> rolling = dh.relative_equilibrium(
    ...     dh.systems.RollingDisk(), [0.3, 0, 0, 0, 0], [0.0, -0.7, 3.0], hold=["theta", "psi'"])
    >>> round(float(rolling.xi[1]), 6), rolling.dimension
    (-0.715716, 2)
    """
    system, q, xi = checks.initial_data(system, q, xi, v)
    ask, y = question_at(system, q, xi, scheme, h, symmetries)
    conditions = conditions_of(system, hold, q, xi)
    sought = Sought(ask, conditions, reachable(system, q))
    first = sought.at(y, nearest_group(ask.symmetries, system, y[: len(q) + system.rank]))
    found = sought.solve(first) or sought.follow(first)
    if found is None:
        raise InputError(
            f"no relative equilibrium of {type(system).__name__} was found near the given (q, xi), where the equations "
            f"are off by {np.max(np.abs(first.missed)):.1e}: neither Newton's method nor following the curve on which "
            "that grows less led to one. "
            + ("With less held fixed there may be one. " if conditions else "")
            + ("It declares no symmetries, so only states of rest were sought." if not len(first.group) else "")
        )
    return result(sought, found)


def result(sought: Sought, found: Point) -> RelativeEquilibrium:
    """A solution, as it is handed out."""
    ask, y = sought.question, found.y
    q, free = y[: ask.coordinates], y[ask.coordinates : ask.coordinates + ask.system.rank]
    xi = np.asarray(hamel.full(ask.system, jnp.asarray(q), jnp.asarray(free)))
    names = phase_space.generators(ask.system, ask.symmetries)
    linear = modulo_symmetry(found.at, found.noise, found.basis, sought.orbits(y), ask.coordinates, None)
    left = float(np.max(np.abs(found.at.value), initial=0.0))
    return RelativeEquilibrium(q, xi, dict(zip(names, map(float, found.group), strict=True)), linear.nullity(), left)


def family(
    system: System,
    q: Coordinates,
    xi: Quasivelocities,
    along: Quantity,
    values: Iterable[float],
    *,
    v: Velocities | None = None,
    hold: Iterable[Quantity] = (),
    symmetries: Symmetries = None,
) -> list[RelativeEquilibrium]:
    """Returns a list of relative equilibria by continuation: `along` takes each of the values in turn.

    It is a name (of a coordinate, velocity or invariant, or of a parameter of the system), or a function of (q, xi).
    Each is sought from the one before, in which `hold` keeps the values it had at the first.

    >>> from discrete_hamel import family
    >>> import discrete_hamel as dh
    >>> disk = dh.systems.RollingDisk()
    >>> leaning = family(disk, [0.1, 0, 0, 0, 0], [0.0, -0.3, 3.0], "theta", [0.1, 0.2, 0.3], hold=["psi'"])
    >>> [round(float(found.xi[1]), 3) for found in leaning]
    [-0.22, -0.453, -0.716]
    """
    found: list[RelativeEquilibrium] = []
    given = system
    system, q, xi = checks.initial_data(system, q, xi, v)
    kept = {name: float(function_named(system, name, q, xi)(q, xi)) for name in hold}
    parameter = along if isinstance(along, str) and is_parameter(given, along) else None
    for value in values:
        here = given if parameter is None else with_parameter(given, parameter, value)
        wanted = kept | {along: value} if parameter is None else kept
        found.append(relative_equilibrium(here, q, xi, hold=wanted, symmetries=symmetries))
        q, xi = found[-1].q, found[-1].xi[: system.rank]
    return found


def question_at(
    system: System, q: Coordinates, xi: Quasivelocities, scheme: Scheme | None, h: Scalar | None, symmetries: Symmetries
) -> tuple[Question, np.ndarray]:
    """What is asked to be steady, checked as a run would be; and y = (q, xi^D, what the scheme remembers)."""
    q = jnp.asarray(q)
    if system.frameless and jax.eval_shape(system.rows, q, xi).shape[0]:
        raise InputError(
            "equilibria are sought in coordinates on the constraint, and here z is more than these: give "
            "system.around(q, v), with z = 0 for xi."
        )
    if symmetries is None:
        refuse_inherited(system, q)
    x, select = phase_space.join(system, q, xi), phase_space.static_generators(system, symmetries, q)
    if (scheme is None) != (h is None):
        raise InputError("a scheme and its step h go together: give both, or neither for the continuous motion.")
    if scheme is None:
        return Question(select, system, None, None, len(q)), np.asarray(x)
    scheme, h = checks.canonical(scheme.fitted(system)), checks.step_size(h)
    checks.finite_parameters(scheme)
    with explained(f"what {type(scheme).__name__} checks before a run"):
        scheme.check(system, q)
    phase_space.require_affine(system, symmetries, q)
    return Question(select, system, scheme, h, len(q)), np.asarray(_start(system, scheme, h, x))


@partial(interpret, often=OFTEN)
def _start(system: System, scheme: Scheme, h: Array, x: Array) -> Array:
    return discrete_maps.first_point(system, scheme, h, x)

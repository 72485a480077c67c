"""Branches of relative equilibria, followed by their arc length, which passes the folds where a parameter turns."""

from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Velocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.equilibria.equilibrium_search import RANK, SOLVED, Point, Sought, least
from discrete_hamel.analysis.equilibria.held_quantities import (
    Quantity,
    conditions_of,
    function_named,
    is_parameter,
    parameter_value,
    with_parameter,
)
from discrete_hamel.analysis.equilibria.reachable import Words, reachable
from discrete_hamel.analysis.equilibria.relative_equilibria import RelativeEquilibrium, relative_equilibrium, result
from discrete_hamel.analysis.equilibria.steady_equations import Question
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.phase_space import Chosen, Symmetries
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks

MAX_ITERATIONS = 60


class Place(NamedTuple):
    """A point of a branch, x = (q, xi^D), the group's rates and the parameter, and the unit direction ahead."""

    x: np.ndarray
    group: np.ndarray
    value: float  # of the parameter that varies, in its unit; 0 where none does
    ahead: np.ndarray  # of (x, parameter), orthogonal to the orbit of the symmetry, length one
    turning: np.ndarray  # of the group's rates


class Branch:
    """Relative equilibria along a curve, one each `length` of it; `folds(name)` are where a quantity turns on it."""

    def __init__(self, curve: "_Curve", length: float, places: list[Place]) -> None:
        self._curve, self.length, self._places = curve, length, places
        self.points = [result(curve.problem_at(place.value), curve.point(place)) for place in places]

    @property
    def systems(self) -> list[System]:
        """The system at each point: another where the branch is along a parameter."""
        return [self._curve.problem_at(place.value).question.system for place in self._places]

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> RelativeEquilibrium:
        return self.points[index]

    def values(self, name: Quantity) -> np.ndarray:
        """A coordinate, velocity, invariant, function of (q, xi), or the parameter that varies, at each point."""
        if name == self._curve.parameter:
            return np.array([self._curve.unit * place.value for place in self._places])
        pairs = zip(self.systems, self.points, strict=True)
        return np.array([_value(system, name, at) for system, at in pairs])

    def folds(self, name: Quantity) -> list[RelativeEquilibrium]:
        """The points at which that quantity is stationary along the branch, to round-off."""
        slopes = [self._curve.slope(place, name) for place in self._places]
        found = []
        for place, left, right in zip(self._places, slopes, slopes[1:], strict=False):
            if left * right < 0:

                def slope(part: float, place: Place = place) -> float:
                    return self._curve.slope(self._curve.next(place, part * self.length), name)

                part = scipy.optimize.brentq(slope, 0.0, 1.0, xtol=1e-14, rtol=1e-14)
                end = self._curve.next(place, part * self.length)
                found.append(result(self._curve.problem_at(end.value), self._curve.point(end)))
        return found

    def __repr__(self) -> str:
        return f"Branch of {len(self)} relative equilibria, {self.length:g} apart\n  {self[0]!r}\n  ...\n  {self[-1]!r}"


def branch(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    along: Quantity | None = None,
    *,
    v: Velocities | None = None,
    length: float,
    count: int,
    hold: Iterable[Quantity] = (),
    symmetries: Symmetries = None,
) -> Branch:
    """Returns the relative equilibria by continuation in arc length, from the one nearest to (q, xi), in `count` steps.

    It sets out towards larger values of `along` (a name, or a function of (q, xi)), or with a negative `length` towards
    smaller, and goes on where that value turns, which `family` cannot. Arc length is that of (q, xi^D) across the
    orbits of the symmetry. `hold` keeps so much fixed that a curve is left.   (Keller 1977)

    Where `along` names a parameter of the system, that varies too, its length in units of its first value (or of one).

    >>> import discrete_hamel as dh
    >>> disk = dh.systems.RollingDisk()
    >>> found = dh.analysis.branch(
    ...     disk, [0.3, 0, 0, 0, 0], [0.0, 1.0, -2.3], "phi'", hold=["theta"], length=0.2, count=14)
    >>> [round(float(fold.xi[1]), 6) for fold in found.folds("psi'")]      # where the own spin at this lean turns
    [2.864705]
    """
    count = checks.count("count", count, 1)
    if not np.isfinite(length) or length == 0:
        raise InputError(f"length is {length}; it must be finite and not zero (negative goes the other way).")
    if along is None:
        raise InputError(
            "along says which way to set out: a name, a parameter of the system, or a function of (q, xi)."
        )
    system, q, xi = checks.initial_data(system, q, xi, v)
    first = relative_equilibrium(system, q, xi, hold=hold, symmetries=symmetries)
    select, hold = phase_space.static_generators(system, symmetries, q), tuple(hold)
    values = tuple(value for _, value in conditions_of(system, hold, jnp.asarray(first.q), jnp.asarray(first.xi)))
    name = along if isinstance(along, str) and is_parameter(system, along) else None
    given = None if name is None else float(parameter_value(system, name))
    unit = 1.0 if given is None else abs(given) or 1.0
    start = 0.0 if given is None else given / unit
    curve = _Curve(system, select, hold, values, len(q), reachable(system, q), name, unit)
    x = np.asarray(phase_space.join(system, first.q, first.xi))
    place = curve.place(x, np.array(list(first.group.values())), start, None)
    if curve.slope(place, along) * length < 0:
        place = place._replace(ahead=-place.ahead, turning=-place.turning)
    places = [place]
    for _ in range(count):
        places.append(curve.next(places[-1], abs(float(length))))
    return Branch(curve, abs(float(length)), places)


def _value(system: System, name: Quantity, at: RelativeEquilibrium) -> float:
    q, xi = jnp.asarray(at.q), jnp.asarray(at.xi)
    return float(function_named(system, name, q, xi)(q, xi))


@partial(jax.jit, static_argnums=(0, 1))
def _by_parameter(select: Chosen, name: str, system: System, y: Array, group: Array, value: Array) -> Array:
    """dE / d parameter."""

    def equations(value: Array) -> Array:
        changed = with_parameter(system, name, value)
        return phase_space.field(changed, y) - phase_space.orbit(changed, select, y) @ group

    return jax.jvp(equations, (value,), (jnp.ones(()),))[1]


class _Curve(NamedTuple):
    """The equations F(x) = group^a X_a(x), held(x) = values, whose solutions are a curve modulo the symmetry."""

    system: System
    symmetries: Chosen
    hold: tuple
    values: tuple[float, ...]
    coordinates: int
    words: Words
    parameter: str | None
    unit: float

    def problem_at(self, value: float) -> Sought:
        """What is sought at that value of the parameter."""
        system = self.system
        if self.parameter is not None:
            system = with_parameter(system, self.parameter, jnp.asarray(self.unit * value))
        q, xi = (
            jnp.zeros(self.coordinates),
            jnp.zeros(jax.eval_shape(system.frame, jnp.zeros(self.coordinates)).shape[1]),
        )
        functions = [function_named(system, name, q, xi) for name in self.hold]
        conditions = list(zip(functions, self.values, strict=True))
        return Sought(Question(self.symmetries, system, None, None, self.coordinates), conditions, self.words)

    def point(self, place: Place) -> Point:
        """All that is known there."""
        return self.problem_at(place.value).at(place.x, place.group)

    def rows(self, point: Point, value: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Derivatives by all unknowns, the parameter the last, their units, those of the equations, and the rank."""
        rows, scale, units, rank = self.problem_at(value).rows(point)
        if self.parameter is None:
            return rows, scale, units, rank
        by = _by_parameter(
            self.symmetries, self.parameter, self.system, *map(jnp.asarray, (point.y, point.group, self.unit * value))
        )
        column = np.append(self.unit * np.asarray(by), np.zeros(len(point.held))) / units
        rows = np.concatenate([rows, column[:, None]], axis=1)
        sizes = np.linalg.svd(rows, compute_uv=False)
        return rows, np.append(scale, 1.0), units, max(rank, int(np.sum(sizes > RANK * sizes[0])))

    def place(self, x: np.ndarray, group: np.ndarray, value: float, before: Place | None) -> Place:
        """The direction of the curve at a point of it, the way it came."""
        point = self.problem_at(value).at(x, group)
        rows, scale, _, rank = self.rows(point, value)
        n = point.basis.shape[1]
        kernel = scale[:, None] * np.linalg.svd(rows)[2][rank:].T
        of_point = np.concatenate([kernel[:n], kernel[n + len(group) :]])
        orbit = phase_space.independent(point.basis.T @ self.problem_at(value).orbits(x))
        orbit = np.concatenate([orbit, np.zeros((len(of_point) - n, orbit.shape[1]))])
        across = of_point - orbit @ (orbit.T @ of_point)
        left, lengths, mix = np.linalg.svd(across, full_matrices=False)
        free = int(np.sum(lengths > phase_space.DEPENDENT * np.linalg.norm(kernel)))
        if free != 1:
            what = "they are isolated" if free == 0 else f"they are a family of dimension {free}"
            advice = "hold less" if free == 0 else f"hold {free - 1} more, so that a curve is left"
            raise InputError(
                f"near q = {np.round(x[: self.coordinates], 6).tolist()} the relative equilibria of "
                f"{type(self.system).__name__} with this held are no curve: {what}. You can {advice}."
            )
        ahead = np.concatenate([point.basis @ left[:n, 0], left[n:, 0]])
        turning = kernel[n : n + len(group)] @ mix[0] / lengths[0]
        sense = -1.0 if before is not None and ahead @ before.ahead < 0 else 1.0
        return Place(x, group, value, sense * ahead, sense * turning)

    def next(self, place: Place, length: float) -> Place:
        """The point of the curve whose projection on its direction here is at that length."""
        if length == 0:
            return place
        here, n = self.problem_at(place.value), len(place.x)
        x, group = here.move(place.x, length * place.ahead[:n]), place.group + length * place.turning
        value = place.value + length * float(np.sum(place.ahead[n:]))
        for _ in range(MAX_ITERATIONS):
            sought = self.problem_at(value)
            with np.errstate(over="ignore", invalid="ignore"):  # too long a step ends in numbers that are none
                point = sought.at(x, group)
            if not np.all(np.isfinite(point.missed)):
                break
            short = place.ahead[:n] @ (x - place.x) + float(np.sum(place.ahead[n:])) * (value - place.value) - length
            if sought.distance(point) <= SOLVED and abs(short) <= SOLVED * (1 + abs(length)):
                return self.place(x, group, value, place)
            rows, scale, units, _ = self.rows(point, value)
            onward = np.concatenate([place.ahead[:n] @ point.basis, np.zeros(len(group)), place.ahead[n:]]) * scale
            rows, missed = np.concatenate([rows, onward[None]]), np.append(point.missed / units, short)
            left, sizes, right = np.linalg.svd(rows)
            rank = int(np.sum(sizes > RANK * sizes[0]))
            change = -scale * (right[:rank].T @ (left[:, :rank].T @ missed / sizes[:rank]))
            orbit = phase_space.independent(point.basis.T @ sought.orbits(x))
            change, _ = least(orbit.T, change, scale[:, None] * right[rank:].T)
            at = point.basis.shape[1]
            x, group = sought.move(x, point.basis @ change[:at]), group + change[at : at + len(group)]
            value += float(np.sum(change[at + len(group) :]))
        raise InputError(
            f"the branch of relative equilibria of {type(self.system).__name__} could not be followed beyond "
            f"q = {np.round(place.x[: self.coordinates], 6).tolist()} in steps of {length:g}; take shorter ones."
        )

    def slope(self, place: Place, name: Quantity) -> float:
        """The derivative of a quantity by the arc length."""
        n = len(place.x)
        if name == self.parameter and name is not None:
            return float(place.ahead[n])

        def of_x(x: Array, value: Array) -> Array:
            system = self.system
            if self.parameter is not None:
                system = with_parameter(system, self.parameter, self.unit * value)
            q, free = x[: self.coordinates], x[self.coordinates :]
            xi = hamel.full(system, q, free)
            return function_named(system, name, q, xi)(q, xi)

        ahead = place.ahead[:n], float(np.sum(place.ahead[n:]))
        at = place.x, place.value
        return float(jax.jvp(of_x, tuple(map(jnp.asarray, at)), tuple(map(jnp.asarray, ahead)))[1])

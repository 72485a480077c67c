"""Branches of relative equilibria, followed by their arc length, which passes the folds where a parameter turns."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import brentq

from discrete_hamel import checks, hamel
from discrete_hamel.analysis import phase_space
from discrete_hamel.analysis.phase_space import Chosen, Symmetries
from discrete_hamel.analysis.relative_equilibria import (
    MAX_ITERATIONS,
    RANK,
    SOLVED,
    RelativeEquilibrium,
    conditions_of,
    equations_at,
    function_named,
    held_values,
    moved,
    nearest_group,
    relative_equilibrium,
    result,
)
from discrete_hamel.system import System


class Place(NamedTuple):
    """A point of a branch, x = (q, xi^D) and the group's rates, and the unit direction in which it goes on."""

    x: np.ndarray
    group: np.ndarray
    ahead: np.ndarray  # of x, orthogonal to the orbit of the symmetry, length one
    turning: np.ndarray  # of the group's rates


class Branch:
    """Relative equilibria along a curve, one each `length` of it; `folds(name)` are where a quantity turns on it."""

    def __init__(self, curve: "_Curve", length: float, places: list[Place]) -> None:
        self._curve, self.length, self._places = curve, length, places
        self.points = [curve.result(place) for place in places]

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, index: int) -> RelativeEquilibrium:
        return self.points[index]

    def values(self, name: Any) -> np.ndarray:
        """A coordinate, velocity, invariant or function of (q, xi) at each point."""
        function = function_named(self._curve.system, name)
        return np.array([float(function(jnp.asarray(at.q), jnp.asarray(at.xi))) for at in self.points])

    def folds(self, name: Any) -> list[RelativeEquilibrium]:
        """The points at which that quantity is stationary along the branch, to round-off."""
        slopes = [self._curve.slope(place, name) for place in self._places]
        found = []
        for place, left, right in zip(self._places, slopes, slopes[1:], strict=False):
            if left * right < 0:

                def slope(part: float, place: Place = place) -> float:
                    return self._curve.slope(self._curve.next(place, part * self.length), name)

                part = brentq(slope, 0.0, 1.0, xtol=1e-14, rtol=1e-14)
                found.append(self._curve.result(self._curve.next(place, part * self.length)))
        return found

    def __repr__(self) -> str:
        return f"Branch of {len(self)} relative equilibria, {self.length:g} apart\n  {self[0]!r}\n  ...\n  {self[-1]!r}"


def branch(
    system: System,
    q: Any,
    xi: Any,
    along: Any,
    *,
    length: float,
    count: int,
    hold: Iterable[Any] = (),
    symmetries: Symmetries = None,
) -> Branch:
    """Relative equilibria by continuation in arc length, from the one nearest to (q, xi), in `count` steps.

    It sets out towards larger values of `along` (a name, or a function of (q, xi)), or with a negative `length` towards
    smaller, and goes on where that value turns, which `family` cannot. Arc length is that of (q, xi^D) across the
    orbits of the symmetry. `hold` keeps so much fixed that a curve is left.   (Keller 1977)

    >>> import discrete_hamel as dh
    >>> disk = dh.systems.RollingDisk()
    >>> found = dh.analysis.branch(
    ...     disk, [0.3, 0, 0, 0, 0], [0.0, 1.0, -2.3], "phi'", hold=["theta"], length=0.2, count=14)
    >>> [round(float(fold.xi[1]), 6) for fold in found.folds("psi'")]      # where the own spin at this lean turns
    [2.864705]
    """
    count = checks.count("count", count, 1)
    if not np.isfinite(length) or length == 0:
        raise ValueError(f"length is {length}; it must be finite and not zero (negative goes the other way).")
    system, q, xi = checks.initial_data(system, q, xi, None)
    first = relative_equilibrium(system, q, xi, hold=hold, symmetries=symmetries)
    select = phase_space.chosen(system, symmetries, q)
    curve = _Curve(system, select, conditions_of(system, hold, jnp.asarray(first.q), jnp.asarray(first.xi)), len(q))
    x = np.asarray(phase_space.joined(system, first.q, first.xi))
    place = curve.place(x, np.array(list(first.group.values())), None)
    if curve.slope(place, along) * length < 0:
        place = place._replace(ahead=-place.ahead, turning=-place.turning)
    places = [place]
    for _ in range(count):
        places.append(curve.next(places[-1], abs(float(length))))
    return Branch(curve, abs(float(length)), places)


class _Curve(NamedTuple):
    """The equations F(x) = group^a X_a(x), held(x) = values, whose solutions are a curve modulo the symmetry."""

    system: System
    symmetries: Chosen
    conditions: list[tuple[Callable, float]]
    coordinates: int

    def equations(self, x: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What is left of them, their derivatives by (tangent of x, group), and that tangent's basis."""
        at = equations_at(self.symmetries, self.system, None, None, self.coordinates, x, group)
        basis = phase_space.tangent(self.system, x[: self.coordinates], len(x) - self.coordinates)
        value, slope = held_values(self.system, self.conditions, x, self.coordinates)
        rows = np.block([[at.by_point @ basis, at.by_group], [slope @ basis, np.zeros((len(value), len(group)))]])
        return np.concatenate([at.value, value]), rows, basis

    def place(self, x: np.ndarray, group: np.ndarray, before: Place | None) -> Place:
        """The direction of the curve at a point of it, the way it came."""
        _, rows, basis = self.equations(x, group)
        orbit = phase_space.independent(basis.T @ phase_space.orbits(self.symmetries, self.system, x))
        _, sizes, right = np.linalg.svd(rows)
        kernel = right[int(np.sum(sizes > RANK * max(sizes[0], 1e-300))) :].T
        across = kernel[: basis.shape[1]] - orbit @ (orbit.T @ kernel[: basis.shape[1]])
        left, lengths, mix = np.linalg.svd(across, full_matrices=False)
        free = int(np.sum(lengths > RANK))
        if free != 1:
            what = "they are isolated" if free == 0 else f"they are a family of dimension {free}"
            advice = "hold less" if free == 0 else f"hold {free - 1} more, so that a curve is left"
            raise ValueError(
                f"near q = {np.round(x[: self.coordinates], 6).tolist()} the relative equilibria of "
                f"{type(self.system).__name__} with this held are no curve: {what}. You can {advice}."
            )
        ahead, turning = basis @ left[:, 0], kernel[basis.shape[1] :] @ mix[0] / lengths[0]
        sense = -1.0 if before is not None and ahead @ before.ahead < 0 else 1.0
        return Place(x, group, sense * ahead, sense * turning)

    def next(self, place: Place, length: float) -> Place:
        """The point of the curve whose projection on its direction here is at that length."""
        if length == 0:
            return place
        x, group = moved(self.system, place.x, length * place.ahead, self.coordinates), place.group
        group = group + length * place.turning
        _, scale = nearest_group(self.symmetries, self.system, place.x)
        for _ in range(MAX_ITERATIONS):
            value, rows, basis = self.equations(x, group)
            if not np.all(np.isfinite(value)):
                break
            rows = np.concatenate([rows, np.append(place.ahead @ basis, np.zeros(len(group)))[None]])
            missed = np.append(value, place.ahead @ (x - place.x) - length)
            if np.max(np.abs(missed)) < SOLVED * scale:
                return self.place(x, group, place)
            change = np.linalg.lstsq(rows, -missed, rcond=RANK)[0]
            x = moved(self.system, x, basis @ change[: basis.shape[1]], self.coordinates)
            group = group + change[basis.shape[1] :]
        raise ValueError(
            f"the branch of relative equilibria of {type(self.system).__name__} could not be followed beyond "
            f"q = {np.round(place.x[: self.coordinates], 6).tolist()} in steps of {length:g}; take shorter ones."
        )

    def slope(self, place: Place, name: Any) -> float:
        """The derivative of a quantity by the arc length."""
        function = function_named(self.system, name)

        def of_x(x: Any) -> Any:
            q, free = x[: self.coordinates], x[self.coordinates :]
            return function(q, hamel.full(self.system, q, free))

        return float(jax.jvp(of_x, (jnp.asarray(place.x),), (jnp.asarray(place.ahead),))[1])

    def result(self, place: Place) -> RelativeEquilibrium:
        at = equations_at(self.symmetries, self.system, None, None, self.coordinates, place.x, place.group)
        basis = phase_space.tangent(self.system, place.x[: self.coordinates], len(place.x) - self.coordinates)
        return result(self.system, self.symmetries, place.x, self.coordinates, place.group, at, basis)

"""Relative equilibria: motions that are orbits of a one-parameter group, of (H) and of a scheme's map."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel import checks, hamel
from discrete_hamel.analysis import discrete_maps, phase_space
from discrete_hamel.analysis.phase_space import Chosen, Symmetries
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

Held = Iterable[Any] | Mapping[Any, Any]  # names, or functions of (q, xi); as a mapping, with the values wanted

MAX_ITERATIONS = 60
SOLVED = 1e-12  # residual per unit of the field's size
RANK = 1e-8  # relative singular value below which a direction does not change the equations


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


class Equations(NamedTuple):
    """E(y, group) = 0 at a point: value, derivatives by y and by the group's rates; and the velocity of a step."""

    value: np.ndarray
    by_point: np.ndarray
    by_group: np.ndarray
    velocity: np.ndarray  # xi^D of the step, empty for (H)
    velocity_by_point: np.ndarray


@partial(jax.jit, static_argnums=0)
def _continuous(symmetries: Chosen, system: System, y: Array, group: Array) -> tuple[Array, Any]:
    def equations(y: Array, group: Array) -> Array:
        return phase_space.field(system, y) - phase_space.orbit(system, symmetries, y) @ group

    return equations(y, group), jax.jacfwd(equations, (0, 1))(y, group)


@partial(jax.jit, static_argnums=(0, 1))
def _discrete(
    symmetries: Chosen, coordinates: int, system: System, scheme: Scheme, h: Array, y: Array, group: Array
) -> tuple[Array, Any]:
    def equations(y: Array, group: Array) -> Array:
        stepped, velocity = discrete_maps.one_step(system, scheme, h, y, coordinates)
        node, memory = jnp.split(stepped, [coordinates + system.rank])
        back = phase_space.action(system, symmetries, -h * group, node)
        return jnp.concatenate([(jnp.concatenate([back, memory]) - y) / h, velocity])

    return equations(y, group), jax.jacfwd(equations, (0, 1))(y, group)


def nearest_group(symmetries: Chosen, system: System, x: Any) -> tuple[np.ndarray, float]:
    """The group's rates that come nearest to the field of (H) at x, and the field's size."""
    field, lifts = phase_space.rates(system, x), phase_space.orbits(symmetries, system, x)
    rates = np.linalg.lstsq(lifts, field)[0] if lifts.shape[1] else np.zeros(0)
    return rates, 1.0 + float(np.max(np.abs(field)))


def equations_at(
    symmetries: Chosen, system: System, scheme: Any, h: Any, coordinates: int, y: Any, group: Any
) -> Equations:
    """F(x) - group^a X_a(x), or for a scheme (exp(-h group^a X_a) Phi_h(y) - y) / h, and its derivatives."""
    y, group = jnp.asarray(y), jnp.asarray(group)
    if scheme is None:
        value, derivatives = _continuous(symmetries, system, y, group)
    else:
        value, derivatives = _discrete(symmetries, coordinates, system, scheme, h, y, group)
    value, by_point, by_group = (np.asarray(a) for a in (value, *derivatives))
    n = len(y)
    return Equations(value[:n], by_point[:n], by_group[:n], value[n:], by_point[n:])


def relative_equilibrium(
    system: System,
    q: Any,
    xi: Any,
    *,
    hold: Held = (),
    symmetries: Symmetries = None,
    scheme: Scheme | None = None,
    h: Any = None,
) -> RelativeEquilibrium:
    """The relative equilibrium nearest to (q, xi): qdot and xidot are those of a one-parameter group of symmetries.

    Newton's method on the reduced equations. `hold` names what stays as given (coordinates, velocities, invariants, or
    functions of (q, xi)), or maps them to the values wanted; whatever is left free moves as little as possible. With a
    scheme and h it is one of the map: a step is the motion of the group by h.   [HE] 5.5

    >>> import discrete_hamel as dh
    >>> rolling = dh.relative_equilibrium(
    ...     dh.systems.RollingDisk(), [0.3, 0, 0, 0, 0], [0.0, -0.7, 3.0], hold=["theta", "psi'"])
    >>> round(float(rolling.xi[1]), 6), rolling.dimension
    (-0.715716, 2)
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    select, (y, h) = phase_space.chosen(system, symmetries, q), started(system, scheme, h, q, xi)
    if scheme is not None:
        phase_space.require_affine(system, symmetries, q)
    conditions = conditions_of(system, hold, q, xi)
    group, scale = nearest_group(select, system, y[: len(q) + system.rank])
    for _ in range(MAX_ITERATIONS):
        at = equations_at(select, system, scheme, h, len(q), y, group)
        basis = phase_space.tangent(system, y[: len(q)], len(y) - len(q))
        value, slope = held_values(system, conditions, y, len(q))
        missed = np.concatenate([at.value, value])
        if not np.all(np.isfinite(missed)):
            break
        if np.max(np.abs(missed)) < SOLVED * scale:
            return result(system, select, y, len(q), group, at, basis)
        rows = np.block([[at.by_point @ basis, at.by_group], [slope @ basis, np.zeros((len(value), len(group)))]])
        change = np.linalg.lstsq(rows, -missed, rcond=RANK)[0]
        y, group = moved(system, y, basis @ change[: basis.shape[1]], len(q)), group + change[basis.shape[1] :]
    raise ValueError(
        f"no relative equilibrium of {type(system).__name__} was found near the given (q, xi): Newton's method left "
        f"{np.max(np.abs(missed)):.1e} after {MAX_ITERATIONS} iterations. "
        + ("With less held fixed there may be one. " if conditions else "")
        + ("It declares no symmetries, so only states of rest were sought." if not len(group) else "")
    )


def family(
    system: System,
    q: Any,
    xi: Any,
    along: Any,
    values: Iterable[float],
    *,
    hold: Iterable[Any] = (),
    symmetries: Symmetries = None,
) -> list[RelativeEquilibrium]:
    """Relative equilibria by continuation: `along` (a name, or a function of (q, xi)) takes each of the values in turn.

    Each is sought from the one before, in which `hold` keeps the values it had at the first.

    >>> import discrete_hamel as dh
    >>> disk = dh.systems.RollingDisk()
    >>> leaning = family(disk, [0.1, 0, 0, 0, 0], [0.0, -0.3, 3.0], "theta", [0.1, 0.2, 0.3], hold=["psi'"])
    >>> [round(float(found.xi[1]), 3) for found in leaning]
    [-0.22, -0.453, -0.716]
    """
    found: list[RelativeEquilibrium] = []
    _, q, xi = checks.initial_data(system, q, xi, None)
    kept = {name: float(function_named(system, name)(q, xi)) for name in hold}
    for value in values:
        found.append(relative_equilibrium(system, q, xi, hold=kept | {along: value}, symmetries=symmetries))
        q, xi = found[-1].q, found[-1].xi
        xi = xi[: system.rank]
    return found


def started(system: System, scheme: Any, h: Any, q: Array, xi: Array) -> tuple[np.ndarray, Any]:
    """y = (q, xi^D, what the scheme remembers), and h, checked."""
    x = phase_space.joined(system, q, xi)
    if (scheme is None) != (h is None):
        raise ValueError("a scheme and its step h go together: give both, or neither for the continuous motion.")
    if scheme is None:
        return np.asarray(x), None
    h = checks.step_size(h)
    return np.asarray(_started(system, scheme, h, x)), h


@jax.jit
def _started(system: System, scheme: Scheme, h: Array, x: Array) -> Array:
    return discrete_maps.started(system, scheme, h, x)


def _entry(q: Array, xi: Array, of: int, index: int) -> Array:
    return (q, xi)[of][index]


def function_named(system: System, name: Any) -> Callable[[Array, Array], Array]:
    """What a name in `hold` means, as a function of (q, xi)."""
    if callable(name):
        return name
    if name in system.coordinates:
        return partial(_entry, of=0, index=system.coordinates.index(name))
    if name in system.velocities:
        return partial(_entry, of=1, index=system.velocities.index(name))
    if name in system.invariants():
        return system.invariants()[name]
    known = ", ".join([*system.coordinates, *system.velocities, *system.invariants()])
    raise ValueError(f"{type(system).__name__} has nothing named {name!r} to hold; it has {known}.")


def conditions_of(system: System, hold: Held, q: Array, xi: Array) -> list[tuple[Any, float]]:
    if isinstance(hold, str):
        raise ValueError(f"hold takes several names: hold=[{hold!r}].")
    wanted = hold if isinstance(hold, Mapping) else dict.fromkeys(hold)
    functions = [(function_named(system, name), value) for name, value in wanted.items()]
    return [(f, float(f(q, xi)) if value is None else float(value)) for f, value in functions]


def held_values(system: System, conditions: list, y: np.ndarray, coordinates: int) -> tuple[np.ndarray, np.ndarray]:
    """How far each held function is off its value, and its gradient, row by row."""

    def of_point(y: Array, function: Callable) -> Array:
        q = y[:coordinates]
        return function(q, hamel.full(system, q, y[coordinates : coordinates + system.rank]))

    pairs = [jax.value_and_grad(of_point)(jnp.asarray(y), function) for function, _ in conditions]
    off = np.array([float(value) - wanted for (value, _), (_, wanted) in zip(pairs, conditions, strict=True)])
    return off, np.array([np.asarray(slope) for _, slope in pairs]).reshape(len(pairs), len(y))


def moved(system: System, y: np.ndarray, change: np.ndarray, coordinates: int) -> np.ndarray:
    q = jnp.asarray(y[:coordinates])
    eta = np.linalg.pinv(np.asarray(phase_space.frame(system, q)), rcond=phase_space.DEPENDENT) @ change[:coordinates]
    q = phase_space.retracted(system, q, jnp.asarray(eta))
    return np.concatenate([np.asarray(q), y[coordinates:] + change[coordinates:]])


def result(
    system: System, select: Chosen, y: np.ndarray, coordinates: int, group: np.ndarray, at: Equations, basis: np.ndarray
) -> RelativeEquilibrium:
    q, free = y[:coordinates], y[coordinates : coordinates + system.rank]
    names = list(phase_space.generators(system, select))
    xi = np.asarray(hamel.full(system, jnp.asarray(q), jnp.asarray(free)))
    rates = dict(zip(names, map(float, group), strict=True))
    return RelativeEquilibrium(q, xi, rates, dimension(at, basis), float(np.max(np.abs(at.value))))


def dimension(at: Equations, basis: np.ndarray) -> int:
    """How many directions, modulo the symmetry, keep the equations to first order."""
    rows = np.concatenate([at.by_point @ basis, at.by_group], axis=1)
    sizes = np.linalg.svd(rows, compute_uv=False)
    rank = int(np.sum(sizes > RANK * max(sizes[0], 1e-300)))
    return rows.shape[1] - rank - at.by_group.shape[1]

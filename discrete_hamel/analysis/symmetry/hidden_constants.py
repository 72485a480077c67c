"""Hidden constants: momenta <p, eta_a(r)> along fields that change with the shape variable r."""

from functools import partial
from typing import overload

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.adjoint_equation import Shape, adjoint, basis_of_s, drags
from discrete_hamel.analysis.symmetry.conserved_momenta import HiddenMomenta, fit
from discrete_hamel.analysis.symmetry.flat_systems import FLAT, adjoint_at, flatness, flatness_of_several, prepare
from discrete_hamel.analysis.symmetry.phase_space import Chosen, Symmetries
from discrete_hamel.analysis.symmetry.several_shapes import ShapeMomenta, several_bases, transport_at
from discrete_hamel.mechanics.system import System

DEGREE = 192  # of the Chebyshev series that are fitted, before what is round-off is cut off


@overload
def hidden_momenta(
    system: System,
    q: Coordinates,
    *,
    between: tuple[float, float],
    symmetries: Symmetries = None,
    shape: Shape | None = None,
    vertical: bool = True,
) -> HiddenMomenta: ...
@overload
def hidden_momenta(
    system: System, q: Coordinates, *, symmetries: Symmetries = None, shape: Shape | None = None, vertical: bool = True
) -> ShapeMomenta: ...
def hidden_momenta(
    system: System,
    q: Coordinates,
    *,
    between: tuple[float, float] | None = None,
    symmetries: Symmetries = None,
    shape: Shape | None = None,
    vertical: bool = True,
) -> HiddenMomenta | ShapeMomenta:
    """Returns the momenta <p, eta_a(r)> that are kept, for eta_a invariant fields of D that depend on one shape
    variable r.

    deta/dr = -<tau, eta>, integrated along a horizontal curve through q over r in `between`       [QS] (4.12), (6.13)

    Nothing but l, the frame and the generators of the symmetries is used. With `vertical` the fields lie in S, the
    symmetry directions of D: all dim S solutions are constants if the system is flat. Without, any invariant field of D
    will do, as for the sleigh's frame [QS] (6.2) with the symmetries of translation. Where only some of the solutions
    are constants, those are found. With several shape variables, which need no `between`, they are `ShapeMomenta`, for
    systems that are flat there too.

    >>> import discrete_hamel as dh, numpy as np
    >>> disk = dh.systems.RollingDisk()
    >>> constants = dh.hidden_momenta(disk, [0.0, 0, 0, 0, 0], between=(-1.2, 1.2))
    >>> run = dh.reference(disk, [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0], t=np.linspace(0, 2, 21))
    >>> kept = constants.along(run)
    >>> kept.shape, bool(np.ptp(kept, axis=0).max() < 1e-9)
    ((21, 2), True)
    """
    system, q, group, shape, several = prepare(system, q, symmetries, shape)
    if several:
        return _along_several(system, group, shape, q)
    if between is None:
        raise InputError("between = (low, high), the range of the shape variable, is needed to integrate over it.")
    low, high = sorted(float(end) for end in between)
    here = float(shape(q))
    if not low <= here <= high or low == high:
        raise InputError(f"between = ({low:g}, {high:g}) must contain the shape variable of q, which is {here:.6g}.")
    start = jax.tree.map(np.asarray, adjoint_at(group, shape, system, q))
    choice = basis_of_s(start) if vertical else np.linalg.inv(np.linalg.cholesky(start.inertia)).T
    r = (high + low) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))
    points, fields, logarithm = _integrate(system, group, shape, q, choice, r, here, vertical)
    constants = choice_of_constants(system, group, shape, points, fields, vertical)
    if not constants.shape[1]:
        found = flatness(system, q, symmetries=dict(group) if group else None, shape=shape)
        raise InputError(
            f"{type(system).__name__} is not flat: its flatness residual is {found.residual:.2g}, and no invariant "
            f"field {'along S' if vertical else 'of D'} has a constant momentum."
        )
    invariant = _frame_is_invariant(system, group, points)
    if not invariant:
        phase_space.require_affine(system, dict(phase_space.generators(system, group)), q)
    kept = constants.shape[1] == choice.shape[1]
    series = fit(np.einsum("rma,ab->rmb", fields, constants))
    return HiddenMomenta(
        system,
        group,
        shape,
        invariant,
        jnp.array([low, high]),
        fit(points),
        series,
        fit(logarithm if kept else np.full_like(logarithm, np.nan)),
    )


def _along_several(system: System, symmetries: Chosen, shape: Shape, q: Array) -> ShapeMomenta:
    places = jnp.concatenate([q[None], phase_space.nearby(system, q, system.frame(q).shape[1])])
    for place in places:
        found = flatness_of_several(system, symmetries, shape, place)
        if not found:
            bent = float(np.max(np.abs(found.curvature)))
            raise InputError(
                f"{type(system).__name__} is not flat: its flatness residual is {found.residual:.2g}, the curvature of "
                f"the transport along its {len(found.curvature)} shape variables {bent:.2g}, so its momenta along S "
                "are not constants of the shape alone."
            )
    if not _frame_is_invariant(system, symmetries, np.asarray(places)):
        raise InputError(
            f"with several shape variables the frame has to be invariant under the symmetries; that of "
            f"{type(system).__name__} is not."
        )
    s, _ = several_bases(jax.tree.map(np.asarray, transport_at(symmetries, shape, system, q)))
    return ShapeMomenta(system, symmetries, shape, q, s)


@partial(jax.jit, static_argnums=(0, 1, 2))
def _rates(symmetries: Chosen, shape: Shape, vertical: bool, system: System, q: Array, fields: Array) -> tuple:
    """dq/dr, d eta/dr, and d ln W/dr = -Tr tau, the trace on S or D in an orthonormal basis."""
    at = adjoint(system, symmetries, shape, q)
    stretch = 0.5 * jnp.linalg.solve(at.inertia, at.change + at.rate.T @ at.inertia + at.inertia @ at.rate)
    onto = jnp.eye(len(at.dr)) - (jnp.outer(at.kappa, at.dr) if vertical else 0.0)
    return at.velocity, at.rate @ fields, jnp.trace(onto @ stretch)


def _integrate(
    system: System,
    symmetries: Chosen,
    shape: Shape,
    q: Array,
    fields: np.ndarray,
    r: np.ndarray,
    here: float,
    vertical: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The horizontal curve, the fields and ln W at each r."""
    size, form = len(q), fields.shape
    y0 = np.concatenate([q, fields.ravel(), [0.0]])

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        parts = _rates(symmetries, shape, vertical, system, y[:size], y[size:-1].reshape(form))
        return np.concatenate([np.ravel(part) for part in parts])

    values = np.empty((len(r), len(y0)))
    for side in (r >= here, r < here):
        wanted = r[side]
        if not len(wanted):
            continue
        order = np.argsort(np.abs(wanted - here))
        end = wanted[order[-1]]
        solution = scipy.integrate.solve_ivp(
            rate, (here, end), y0, "DOP853", t_eval=wanted[order], rtol=3e-14, atol=1e-14
        )
        if not solution.success or solution.y.shape[1] < len(wanted):
            raise InputError(
                f"the adjoint equation could not be integrated to r = {end:.6g}: {solution.message} "
                "The shape variable or the orbits have a singular point there; ask for a smaller range."
            )
        part = np.empty((len(wanted), len(y0)))
        part[order] = solution.y.T
        values[side] = part
    return values[:, :size], values[:, size:-1].reshape(-1, *form), values[:, -1]


def choice_of_constants(
    system: System, symmetries: Chosen, shape: Shape, points: np.ndarray, fields: np.ndarray, vertical: bool
) -> np.ndarray:
    """The combinations of the solutions that satisfy, at every point, the conditions beside the adjoint equation."""
    rows = []
    for q, eta in list(zip(points, fields, strict=True))[:: max(1, len(points) // 32)]:
        at = jax.tree.map(np.asarray, adjoint_at(symmetries, shape, system, q))
        basis, unit = basis_of_s(at), np.linalg.inv(np.linalg.cholesky(at.inertia)).T
        size = max(float(np.abs(np.einsum("sab,si,aj,bk->ijk", at.growth, unit, unit, unit)).max()), 1e-12)
        tests = [np.einsum("sab,aj,bk->jks", at.growth, basis, basis).reshape(-1, len(at.dr)) / size]
        lift = at.lift @ unit
        tests.append(at.lift[None] / max(float(np.linalg.norm(lift)), 1e-12))
        if vertical:
            tests.append(at.dr[None] / np.linalg.norm(at.dr @ unit))
        rows.append(np.concatenate(tests) @ eta / np.linalg.norm(np.linalg.solve(unit, eta), axis=0))
    conditions = np.concatenate(rows)
    _, sizes, right = np.linalg.svd(conditions, full_matrices=True)
    zero = np.concatenate([sizes, np.zeros(len(right) - len(sizes))]) <= FLAT * np.sqrt(len(conditions))
    return np.eye(len(right)) if zero.all() else right[zero].T


def _frame_is_invariant(system: System, symmetries: Chosen, points: np.ndarray) -> bool:
    """Whether [X, u_j] = 0 on the section and at points moved away from it by the group."""
    points = points[:: max(1, len(points) // 4)]
    amounts = np.random.default_rng(0).normal(size=(len(points), len(phase_space.generators(system, symmetries))))
    return float(_largest_drag(symmetries, system, points, amounts)) <= FLAT


@partial(jax.jit, static_argnums=0)
def _largest_drag(symmetries: Chosen, system: System, points: Array, amounts: Array) -> Array:
    def drag(q: Array) -> Array:
        return jnp.max(jnp.abs(drags(system, symmetries, q)[1]))

    moved = jax.vmap(partial(_carry, symmetries, system))(points, amounts)
    return jnp.maximum(jnp.max(jax.vmap(drag)(points)), jnp.max(jax.vmap(drag)(moved)))


def _carry(symmetries: Chosen, system: System, q: Array, amounts: Array) -> Array:
    """q after a unit time of the flow of amounts^a X_a, by Runge and Kutta's rule; enough to leave the section."""
    moves = list(phase_space.generators(system, symmetries).values())

    def flow(q: Array) -> Array:
        return sum((a * move(q) for a, move in zip(amounts, moves, strict=True)), jnp.zeros_like(q)) / 64

    def step(_: int, q: Array) -> Array:
        a = flow(q)
        b = flow(q + a / 2)
        c = flow(q + b / 2)
        return q + (a + 2 * b + 2 * c + flow(q + c)) / 6

    return jax.lax.fori_loop(0, 64, step, q)

"""Phase volume of any system: its divergence, a density f(q) that makes it invariant, and Jacobi's last multiplier."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.geometry.poisson import integrable
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.invariance import components
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.manifold import nearest
from discrete_hamel.mechanics.nonlinear import need_frame
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks

ZERO = 1e-9  # relative to the terms that cancel
MOST = 200  # coordinates
NODES = 24  # of the quadrature along a path


def phase_divergence(system: System, q: Coordinates, xi: Quasivelocities) -> float:
    """Returns the rate at which the flow of (H) expands phase volume omega^1 ... omega^n dp_1 ... dp_m, for any system.

        div = u_i[xi^i(q, p)] + c^k_ki xi^i + dF_j/dp_j

    omega is the coframe, so redundant coordinates count with their true dimensions. On D/G it is the same number, where
    the frame is invariant and the group unimodular (SE(n), SO(n), translations): the volume contracted with the
    generators is that of D/G. `divergence` is the part along the momenta, of Euler-Poincare(-Suslov) systems.

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    >>> round(dh.phase_divergence(sleigh, [0.0, 0, 0], [0.0, 2.0]), 6)                # -a m v / (J + m a^2)
    -0.930233
    >>> round(dh.phase_divergence(dh.systems.HeavyTop(), [1.0, 0, 0, 0, 1, 0, 0, 0, 1], [0.3, 0.2, 1.0]), 12)
    0.0
    """
    need_frame(system, "the divergence of phase volume", "as_linear gives one where the constraint is linear after all")
    system, q, xi = checks.initial_data(system, q, xi, None)
    return float(_divergence(system, q, xi[: system.rank]))


@jax.jit
def _divergence(system: System, q: Array, free: Array) -> Array:
    """By (q, p): with mu(q, xi) = p it is tr M^-1 (dF/dxi - dmu/dq Psi_D), and the divergence of the fields."""
    m, psi = system.rank, system.frame(q)

    def sides(q: Array, free: Array) -> Array:
        return jnp.stack(hamel.balance(system, q, free))

    mass, turned = jax.jacfwd(sides, 1)(q, free)
    drift = jax.jacfwd(lambda q: hamel.momentum_on_d(system, q, free))(q) @ psi[:, :m]
    slips = jnp.trace(jax.jacfwd(system.slip)(q) @ psi[:, m:])
    fields = jnp.einsum("kki,i->", system.structure(q), hamel.full(system, q, free))
    return jnp.trace(jnp.linalg.solve(mass, turned - drift)) + fields + slips


class Density(NamedTuple):
    """f(q) with f omega dp invariant under the flow, if there is one; called with q it is f(q) / f(place)."""

    exists: bool
    residual: float  # of the conditions, relative; round-off where there is one
    system: System
    place: Array
    symmetries: phase_space.Chosen

    def __call__(self, q: Coordinates) -> np.ndarray:
        """f(q) / f(place); q may have leading axes."""
        return np.exp(self.logarithm(q))

    def logarithm(self, q: Coordinates) -> np.ndarray:
        """ln f(q) - ln f(place), along chords from place to the first q and from each to the next, as of a run."""
        if not self.exists:
            raise InputError(f"no density f(q) is kept (off by {self.residual:.1e}): there is no ln f.")
        q = jnp.asarray(q, float)
        flat = q.reshape(-1, q.shape[-1])
        starts = jnp.concatenate([self.place[None], flat[:-1]])
        pieces = jax.vmap(partial(logarithm, self.system, self.symmetries))(starts, flat)
        return np.cumsum(np.asarray(pieces)).reshape(q.shape[:-1])


def invariant_density(
    system: System, q: Coordinates | None = None, symmetries: phase_space.Symmetries = None
) -> Density:
    """Solves for, and returns, a density f(q), invariant under the symmetries, such that f omega dp is kept by the
    flow.

        u_j[ln f] = - theta_j along D, X[ln f] = 0 for the symmetries X, theta_j xi^j the divergence;  d(d ln f) = 0

    For kinetic minus potential energy without forces an invariant measure of smooth density has one of q alone: the
    divergence is linear in xi. The equations are solved for d ln f at q and at points nearby, where it has to be
    closed; ln f is its integral along a path. `symmetries` are those declared by default, and with D they have to
    reach all directions (else f is not determined by what is asked).   Chaplygin 1903; [QS] 5.2; [ND]

    >>> import discrete_hamel as dh
    >>> disk, sleigh = dh.systems.RollingDisk(), dh.systems.ChaplyginSleigh(offset=0.4)
    >>> dh.invariant_density(disk).exists, dh.invariant_density(sleigh).exists
    (True, False)
    """
    need_frame(system, "a density", "none is looked for there")
    if q is None:
        q = system.sample()["q"]  # type: ignore[attr-defined]  # of the catalogue
    system, q, _ = checks.initial_data(system, q, jnp.zeros(system.at(jnp.asarray(q, float)).rank), None)
    if len(q) > MOST:
        raise InputError(f"{len(q)} coordinates are too many for the closedness of a one-form to be asked.")
    chosen = phase_space.static_generators(system, symmetries, q)
    worst = 0.0
    for place in [q, *phase_space.nearby(system, q, system.frame(q).shape[1])]:
        rank, off = _conditions(chosen, system, place)
        if not np.isfinite(off):
            raise InputError(
                f"the divergence of {type(system).__name__} has no derivative at rest at q = "
                f"{np.asarray(place).tolist()}, as of a force that is not smooth there: "
                "whether a density is kept cannot be told."
            )
        worst = max(worst, float(off))
    n = system.frame(q).shape[1]
    if int(rank) < n and int(rank) < (reached := integrable(system, q).growth[-1]):
        raise InputError(
            f"D and the symmetries of {type(system).__name__} span {int(rank)} of the {reached} directions that D "
            "reaches: name symmetries along the others, symmetries=[...], or f is not determined."
        )
    return Density(worst < ZERO, worst, system, q, chosen)


def _covector(system: System, chosen: phase_space.Chosen, q: Array) -> tuple[Array, Array, Array]:
    """(d ln f)(u_i), n components, by how much they miss the equations, and the matrix of these."""
    m, n = system.rank, system.frame(q).shape[1]
    theta = jax.jacfwd(partial(_divergence, system, q))(jnp.zeros(m))
    moves = [components(system, move, q) for move in phase_space.generators(system, chosen).values()]
    rows = jnp.concatenate([jnp.eye(n)[:m], jnp.stack(moves) if moves else jnp.zeros((0, n))])
    wanted = jnp.concatenate([-theta, jnp.zeros(len(moves))])
    sigma = jnp.linalg.pinv(rows, rtol=1e-10) @ wanted
    return sigma, rows @ sigma - wanted, rows


@partial(jax.jit, static_argnums=0)
def _conditions(chosen: phase_space.Chosen, system: System, q: Array) -> tuple[Array, Array]:
    """How many directions are reached, and by how much the equations, linearity and closedness are missed."""
    sigma, off, rows = _covector(system, chosen, q)
    along = jax.jacfwd(lambda q: _covector(system, chosen, q)[0])(q) @ system.frame(q)  # [j, i] = u_i[sigma_j]
    curl = rows @ (along.T - along - jnp.einsum("kij,k->ij", system.structure(q), sigma)) @ rows.T
    free = jnp.linspace(0.3, 1.1, system.rank)
    curved = _divergence(system, q, free) + _divergence(system, q, -free)
    size = 1 + jnp.max(jnp.abs(sigma), initial=0.0) + jnp.max(jnp.abs(rows)) ** 2
    parts = (jnp.max(jnp.abs(part), initial=0.0) for part in (off, curl, curved))
    return jnp.linalg.matrix_rank(rows, rtol=1e-10), sum(parts, jnp.zeros(())) / size


def logarithm(system: System, chosen: phase_space.Chosen, start: Array, end: Array) -> Array:
    """The integral of d ln f from start to end, along the chord, led back to `holonomic` where there is one."""
    x, w = np.polynomial.legendre.leggauss(NODES)

    def slope(s: Array) -> Array:
        q, velocity = jax.jvp(lambda s: nearest(system, start + s * (end - start)), (s,), (jnp.ones(()),))
        return _covector(system, chosen, q)[0] @ (jnp.linalg.pinv(system.frame(q), rtol=1e-10) @ velocity)

    return jnp.asarray(w) @ jax.vmap(slope)(jnp.asarray((1 + x) / 2)) / 2


def multiplier_residual(system: System, function: Callable, q: Coordinates, xi: Quasivelocities) -> float:
    """Returns d/dt ln |M| + div at (q, xi), relative to its terms: zero where M is a last multiplier of Jacobi's.

    M is `function`, of (q, xi). M omega dp is kept;
    the quotient of two multipliers is an integral, and with all integrals but one a
    multiplier gives the last by quadrature. An invariant density f(q) is a multiplier that is positive everywhere;
    one that depends on velocities and is zero or infinite somewhere may be there where none of q is.   Jacobi 1866

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(offset=0.4)
    >>> bool(dh.multiplier_residual(sleigh, lambda q, xi: 1 / xi[0], [0.1, 0.0, 0.0], [1.5, -0.3]) < 1e-12)
    True
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    velocity, rate = hamel.vector_field(system, q, xi)
    _, change = jax.jvp(lambda q, xi: jnp.log(jnp.abs(function(q, xi))), (q, xi), (velocity, rate))
    div = _divergence(system, q, xi[: system.rank])
    return float(jnp.abs(change + div) / (1 + jnp.abs(change) + jnp.abs(div)))

"""Exact energy: a discrete gradient on the almost-Poisson form of Hamel's equations."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree, of
from discrete_hamel.mechanics.gibbs_appell import covector, directions, energy
from discrete_hamel.mechanics.hamel import balance, full
from discrete_hamel.mechanics.newton import NEGLIGIBLE
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import CompensatedState, Scheme, compensate

UNRESOLVED = 1e5  # round-off units of h H below which |z1 - z0|^2 cannot carry a correction


class Gonzalez(Pytree):
    """grad H at the midpoint, plus what is missing of H(z1) - H(z0), along W (z1 - z0).   Gonzalez (1996)

        Dbar H = g + alpha W dz,  alpha = (H1 - H0 - <g, dz>) / <dz, W dz>

    The numerator is of third order in dz. Where <dz, W dz> sinks to the round-off of h H, its round-off would be
    divided by nothing; there alpha is faded out, <dz, W dz> / (<dz, W dz>^2 + delta^2), which changes the energy by far
    less than the round-off of H. Where H itself is a difference of larger numbers (1 - cos q near 0) its round-off is
    not known from H, and a motion that comes to rest there may end in NewtonFailed: take MeanValue.

    W makes q and p comparable, <dz, W dz> an energy times h (`_weights`). With W = 1 one of them decides, by its units,
    until it hardly changes: there the correction turns round, steeper than Newton's method can follow.

    H1 - H0 is a difference of rounded numbers, not always rounded to the same side: some systems lost a fiftieth of a
    rounding at every step. H0 and what it lacks are therefore carried along, and the next step makes up for that.

    The correction is a force along cyclic coordinates too. It is also steeper than Newton's stopping rule expects, so
    Newton goes on until nothing is left.
    """

    points = np.array([0.5])
    negligible = 0.0
    weighted = True

    def __call__(self, gradients: Array, change: Array, rise: Array, scale: Array, weights: Scalar = 1.0) -> Array:
        """Dbar H from grad H at `points` of the segment, dz, H1 - H0, |h| (|H0| + |H1|), and the diagonal of W."""
        midpoint, along = gradients[0], weights * change
        size = change @ along
        eps, tiny = jnp.finfo(change.dtype).eps, jnp.finfo(change.dtype).tiny
        faint = UNRESOLVED * eps * scale + tiny**0.25  # whose square is not 0
        return midpoint + (rise - midpoint @ change) * (size / (size**2 + faint**2)) * along


class MeanValue(Pytree):
    """The mean of grad H over the segment from z0 to z1, by Gauss quadrature with `number` points.

    No division, and nothing depends on the units of the coordinates. Exact energy up to the quadrature's error,
    O(|dz|^{2 number + 1}): with 8 points below round-off on the samples of the catalogue.
    Harten, Lax & van Leer (1983); McLachlan, Quispel & Robidoux (1999)
    """

    number: int = 8

    negligible = NEGLIGIBLE
    weighted = False

    def __post_init__(self) -> None:
        if self.number < 1:
            raise InputError(f"number is {self.number}; a quadrature has at least one point.")

    @property
    def points(self) -> np.ndarray:
        return (1 + np.polynomial.legendre.leggauss(self.number)[0]) / 2

    def __call__(self, gradients: Array, change: Array, rise: Array, scale: Array, weights: Scalar = 1.0) -> Array:
        return jnp.asarray(np.polynomial.legendre.leggauss(self.number)[1] / 2) @ gradients


class EnergyExact(Scheme):
    """(E) z1 - z0 = h J((z0+z1)/2) Dbar H(z0, z1), z = (q, p): the energy stays to round-off, for any system.

    H(q, p) = <p, xi> - l(q, xi, b(q)), so that dH/dp = xi and dH/dq = -dl/dq; J holds Psi_D and c^k_ij mu_k. The
    Legendre map is never inverted: the velocities at z1 and at the points of the gradient are unknowns of the one
    solve. The constraint holds at (q0+q1)/2, as in (D1), so redundant coordinates stay on their group.

    With a force, H changes by exactly h <f, mean xi>. With a slip the motion itself does not conserve the energy; H is
    then the moving energy E - <mu_U, b>, exact where its balance vanishes at midpoints as it does on the motion, and
    of second order otherwise. `gradient` is MeanValue(number), whose quadrature limits the step (large ones need more
    points), or Gonzalez(), exact at any step for which Newton's method converges.
    """

    gradient: MeanValue | Gonzalez = MeanValue()  # how Dbar E is made

    order = 2
    symmetric = True
    nodal = True
    changes = ("q",)
    conserves = ("constraint", "relative equilibria", "energy", "spatial momentum")
    negligible = of("gradient.negligible")
    reference = "Gonzalez, J. Nonlinear Sci. 6 (1996) 449; McLachlan, Quispel & Robidoux, Phil. Trans. 357 (1999) 1021"

    def fitted(self, system: System) -> Scheme:
        return NonlinearEnergyExact(self.gradient) if system.frameless else self

    def start(self, system: System, q: Array, xi: Array, h: Array) -> CompensatedState:
        state = Scheme.start(self, system, q, xi, h)
        low = jnp.zeros_like(q)
        if self.gradient.weighted:
            low = jnp.append(low, jnp.stack([_moving_energy(system, q, state.xi), jnp.zeros_like(h)]))
        return CompensatedState(state.q, state.p, state.xi, low)

    def guess(self, system: System, state: CompensatedState, h: Array) -> Array:
        """z = (xi^D at z1, q_{k+1} - q_k, xi^D at each point of the gradient)."""
        change = h * system.frame(state.q) @ full(system, state.q, state.xi)
        return jnp.concatenate([state.xi, change, jnp.tile(state.xi, len(self.gradient.points))])

    def _parts(self, system: System, state: CompensatedState, h: Array, z: Array) -> tuple[Array, ...]:
        """From z: xi^D and p at the end, Dbar H = (along q, mean xi^D), and the Legendre map's residual."""
        m, n = system.rank, len(state.q)
        xi1, dq, inside = z[:m], z[m : m + n], z[m + n :].reshape(-1, m)
        q1 = state.q + dq
        p1, _ = balance(system, q1, xi1)
        change = jnp.concatenate([dq, p1 - state.p])
        fractions = jnp.asarray(self.gradient.points)[:, None]
        q, p = state.q[None] + fractions * change[None, :n], state.p[None] + fractions * change[None, n:]
        mu = jax.vmap(lambda q, xi: balance(system, q, xi)[0])(q, inside)
        along_q = jax.vmap(lambda q, xi: jax.grad(_minus_lagrangian, 1)(system, q, xi))(q, inside)
        weighted, h1 = self.gradient.weighted, _moving_energy(system, q1, xi1)
        h0, lacking = state.low[n:] if weighted else (h1, 0.0)  # a mean of gradients asks for no energies
        weights = _weights(system, state.q + dq / 2, inside[0], h) if weighted else 1.0
        scale = jnp.abs(h) * (jnp.abs(h0) + jnp.abs(h1))
        gradients = jnp.concatenate([along_q, inside], axis=1)
        mean = self.gradient(gradients, change, (h1 - h0) - lacking, scale, weights)
        return xi1, dq, p1, mean[:n], mean[n:], (mu - p).ravel()

    def residual(self, system: System, state: CompensatedState, h: Array, z: Array) -> Array:
        _, dq, p1, along_q, free, legendre = self._parts(system, state, h, z)
        velocity, force = _almost_poisson(system, state.q + dq / 2, (state.p + p1) / 2, along_q, free)
        return jnp.concatenate([p1 - state.p - h * force, dq - h * velocity, legendre])

    def advance(self, system: System, state: CompensatedState, h: Array, z: Array) -> tuple[CompensatedState, Array]:
        xi1, dq, p1, along_q, free, _ = self._parts(system, state, h, z)
        q1, low = compensate(state.q, state.low[: len(dq)], dq)
        if self.gradient.weighted:
            due = h * _power(system, state.q + dq / 2, (state.p + p1) / 2, along_q, free)
            (h0, lacking), h1 = state.low[len(dq) :], _moving_energy(system, q1, xi1)
            low = jnp.append(low, jnp.stack([h1, lacking + (due - (h1 - h0))]))
        return CompensatedState(q1, p1, xi1, low), full(system, state.q + dq / 2, free)

    def equation(self, system: System, row: int) -> str:
        known = system.rank + len(system.coordinates)
        return super().equation(system, row) if row < known else "the velocity inside the step"


def _minus_lagrangian(system: System, q: Array, free: Array) -> Array:
    """-l on the constraint, whose derivative along q at fixed xi^D is dH/dq at fixed p."""
    return -system.lagrangian(q, full(system, q, free))


def _moving_energy(system: System, q: Array, free: Array) -> Array:
    """H = <mu_D, xi^D> - l; the energy where there is no slip."""
    return balance(system, q, free)[0] @ free + _minus_lagrangian(system, q, free)


def _weights(system: System, q: Array, free: Array, h: Array) -> Array:
    """For q |M| / (|h| |Psi_D|^2), for p |h| / |M|: with dq = h Psi xi both make of a square h times an energy."""
    mass = jnp.linalg.norm(jax.jacfwd(lambda xi: balance(system, q, xi)[0])(free))
    anchor = jnp.sum(system.frame(q)[:, : system.rank] ** 2)
    of_q, of_p = mass / (jnp.abs(h) * anchor), jnp.abs(h) / mass
    return jnp.concatenate([jnp.full_like(q, of_q), jnp.full_like(free, of_p)])


def _almost_poisson(system: System, q: Array, p: Array, along_q: Array, free: Array) -> tuple[Array, Array]:
    """J(q, p) Dbar H with slip and force, as (qdot, pdot); mu_U is taken at the mean velocity.

    Through b(q) the gradient of H along q has a part <mu_U, db/dq>, which is no force: it is taken out again.
    """
    m, xi = system.rank, full(system, q, free)
    mu = jnp.concatenate([p, jax.grad(system.lagrangian, 1)(q, xi)[m:]])
    _, transpose = jax.vjp(system.slip, q)
    psi = system.frame(q)
    force = system.coadjoint(q, xi, mu) - psi.T @ (along_q + transpose(mu[m:])[0]) + system.force(q, xi)
    return psi @ xi, force[:m]


def _power(system: System, q: Array, p: Array, along_q: Array, free: Array) -> Array:
    """<Dbar H, (qdot, pdot)> without what cancels in it, as J is skew: the power of forces, and of the slip.

    <f, xi^D> + <Psi_U^T D_q H - [xi, mu]*_U, b> - <mu_U, db/dq Psi_D xi^D>
    """
    m, xi = system.rank, full(system, q, free)
    mu = jnp.concatenate([p, jax.grad(system.lagrangian, 1)(q, xi)[m:]])
    psi = system.frame(q)
    _, slip_rate = jax.jvp(system.slip, (q,), (psi[:, :m] @ free,))
    across = psi[:, m:].T @ along_q - system.coadjoint(q, xi, mu)[m:]
    return free @ system.force(q, xi)[:m] + across @ xi[m:] - mu[m:] @ slip_rate


class NonlinearEnergyExact(Scheme):
    """(E) y1 - y0 = h J((y0+y1)/2) Dbar E(y0, y1), y = (q, z): what EnergyExact is for velocities qdot = psi(q, z).

    With P(q, z) = L_v(q, psi), G = psi_z^T L_vv psi_z and B = psi_z G^{-1} the Gibbs-Appell equations are

        qdot = B E_z + w,  zdot = B^T (-E_q + (P_q^T - P_q) qdot + f),  w = psi - B E_z = psi's part across psi_z

    so that J = [[0, B], [-B^T, B^T (P_q^T - P_q) B]] is skew. If psi is in the span of psi_z, as for constraints that
    are homogeneous in the velocities, w = 0 and E is kept to round-off; otherwise the reactions work, and E changes by
    exactly the discrete work of w. Order 2, symmetric; the constraint holds at nodes, where qdot = psi(q, z).

    What is solved for are the changes of q and z, and what q and z round off of them is carried along: else z of size
    20 rounds E by 1e-14 at each step, which adds up. With `Gonzalez` so are E and what it lacks, as there.
    """

    gradient: MeanValue | Gonzalez  # how Dbar E is made

    order = 2
    symmetric = True
    changes = ("q", "p")
    conserves = ("energy",)
    negligible = of("gradient.negligible")
    reference = "this library; Gonzalez, J. Nonlinear Sci. 6 (1996) 449; Benenti (2008), (45)"
    frameless = True

    def start(self, system: System, q: Array, xi: Array, h: Array) -> CompensatedState:
        if jax.eval_shape(system.rows, q, xi).shape[0]:
            raise InputError(
                "EnergyExact needs velocities psi(q, z) for all z, and those of C(q, v) = 0 are not: take coordinates "
                "on the constraint, system.around(q, v), or NonlinearMidpoint."
            )
        of_energy = jnp.stack([energy(system, q, xi), jnp.zeros_like(h)]) if self.gradient.weighted else jnp.zeros(0)
        return CompensatedState(q, xi, xi, jnp.concatenate([jnp.zeros(len(q) + system.rank), of_energy]))

    def guess(self, system: System, state: CompensatedState, h: Array) -> Array:
        """(z_{k+1} - z_k, q_{k+1} - q_k), z extrapolated from the last interval's."""
        change = state.p - state.xi
        return jnp.concatenate([2 * change, h * system.velocity(state.q, state.p + change)])

    def _parts(self, system: System, state: CompensatedState, h: Array, z: Array) -> tuple[Array, ...]:
        """qdot and zdot over the step, and the power of what is no gradient in them; Dbar E = (along q, along z)."""
        dz, dq = z[: system.rank], z[system.rank :]
        fractions = jnp.asarray(self.gradient.points)[:, None]
        inside = state.q[None] + fractions * dq[None], state.p[None] + fractions * dz[None]
        slopes = jax.vmap(lambda q, z: jnp.concatenate(jax.grad(energy, (1, 2))(system, q, z)))(*inside)
        e1 = energy(system, state.q + dq, state.p + dz)
        e0, lacking = state.low[len(z) :] if self.gradient.weighted else (e1, 0.0)  # as in EnergyExact
        rise, scale = (e1 - e0) - lacking, jnp.abs(h) * (jnp.abs(e0) + jnp.abs(e1))
        mean = self.gradient(slopes, jnp.concatenate([dq, dz]), rise, scale)
        along_q, along_z = mean[: len(dq)], mean[len(dq) :]
        q, middle = state.q + dq / 2, state.p + dz / 2
        psi_z = directions(system, q, middle)
        mass = psi_z.T @ jax.jacfwd(covector, 2)(system, q, middle)
        velocity, twist = system.velocity(q, middle), jax.jacfwd(covector, 1)(system, q, middle)
        rate = jax.jvp(lambda v: jax.grad(system.lagrangian, 1)(q, v), (velocity,), (velocity,))[1]  # L_vv psi
        across = velocity - psi_z @ jnp.linalg.solve(mass, psi_z.T @ rate)
        chord, given = psi_z @ jnp.linalg.solve(mass, along_z) + across, system.force(q, velocity)
        force = twist.T @ chord - twist @ chord - along_q + given
        return chord, jnp.linalg.solve(mass, psi_z.T @ force), given @ chord - across @ force  # as J is skew

    def residual(self, system: System, state: CompensatedState, h: Array, z: Array) -> Array:
        qdot, zdot, _ = self._parts(system, state, h, z)
        return z - h * jnp.concatenate([zdot, qdot])

    def advance(self, system: System, state: CompensatedState, h: Array, z: Array) -> tuple[CompensatedState, Array]:
        m, n = system.rank, len(state.q)
        sums, low = compensate(jnp.concatenate([state.q, state.p]), state.low[: m + n], jnp.concatenate([z[m:], z[:m]]))
        if self.gradient.weighted:
            (e0, lacking), e1 = state.low[m + n :], energy(system, sums[:n], sums[n:])
            low = jnp.append(low, jnp.stack([e1, lacking + (h * self._parts(system, state, h, z)[2] - (e1 - e0))]))
        middle = state.p + z[:m] / 2
        return CompensatedState(sums[:n], sums[n:], middle, low), middle

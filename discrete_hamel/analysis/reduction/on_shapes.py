"""Where the momenta are functions of the shape: the system on Q/G, with its amended potential and magnetic term."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.analysis.reduction.reduced_equations import coefficients
from discrete_hamel.analysis.reduction.reduced_systems import ReducedSystem
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.system import System

TRANSPORTED = 1e-7  # how far p(r) may be off (4.10), relative to its terms


class ShapeSystem(System):
    """See `on_shapes`."""

    reduced: ReducedSystem  # whose shapes r it moves on
    law: Callable = static()  # p(r)
    params: PyTree

    @property
    def rank(self) -> int:
        return self.reduced.shapes_count

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.reduced.coordinates

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.reduced.velocities[: self.rank]

    def momenta(self, r: Array) -> Array:
        """p(r), along S."""
        return jnp.atleast_1d(call(self.law, self.params, r))

    def spin(self, r: Array) -> Array:
        """Omega^S(r) of D/G: I_S Omega = p(r)."""
        s, none = self.rank, jnp.zeros(self.reduced.rank)
        locked = jax.jacfwd(lambda x: hamel.momentum_on_d(self.reduced, r, none.at[s:].set(x))[s:])(none[s:])
        return jnp.linalg.solve(locked, self.momenta(r))

    def amended_potential(self, r: Array) -> Array:
        """U + p I_S^-1 p / 2.   [MD] 8.4"""
        rest = self.reduced.constrained_lagrangian(r, jnp.zeros(self.reduced.rank))
        return 0.5 * self.momenta(r) @ self.spin(r) - rest

    def lagrangian(self, q: Array, xi: Array) -> Array:
        """K(u_alpha, u_beta) r' r' / 2 - U_c(r)."""
        only = jnp.concatenate([xi, jnp.zeros(self.reduced.rank - self.rank)])
        return self.reduced.constrained_lagrangian(q, only) - 0.5 * self.momenta(q) @ self.spin(q)

    def frame(self, q: Array) -> Array:
        return jnp.eye(len(q))

    def structure(self, q: Array) -> Array:
        return jnp.zeros((len(q),) * 3)

    def force(self, q: Array, xi: Array) -> Array:
        """What (4.2) has beside this Lagrangian: c^k_ij xi^i mu_k + f_j of D/G, and dp_b/dr^j Omega^b.

        The last is d(l_c)/dr^j at constant Omega less that at p(r), as <<u_alpha, S>> = 0. The force is magnetic, and
        quadratic in r' where [u_a, u_b] leaves D.
        """
        spin = self.spin(q)
        whole = hamel.full(self.reduced, q, jnp.concatenate([xi, spin]))
        turned = self.reduced.coadjoint(q, whole, hamel.momentum(self.reduced, q, whole))
        outer = self.reduced.force(q, whole)
        return (turned + outer)[: self.rank] + spin @ jax.jacfwd(self.momenta)(q)

    def magnetic(self, r: ArrayLike) -> Array:
        """M[alpha, beta] of the force M r', antisymmetric: (L_u K)(u_beta, Omega).   [MD] (8.11)"""
        return jax.jacfwd(partial(self.force, jnp.asarray(r, float)))(jnp.zeros(self.rank))

    def beyond(self, r: ArrayLike, rate: ArrayLike) -> Array:
        """The force that is quadratic in r', -K_abc r'^b r'^c, which Proposition 8.4.1 of [MD] leaves out."""
        r, rate = jnp.asarray(r, float), jnp.asarray(rate, float)
        return self.force(r, rate) - self.force(r, jnp.zeros_like(rate)) - self.magnetic(r) @ rate

    def check(self) -> None:
        self.reduced.check()

    def shapes(self, q: Array) -> list[np.ndarray]:  # noqa: ARG002  # where it is has been reduced away
        """Nothing; `reconstruct` brings back what can be drawn."""
        return []


def on_shapes(reduced: ReducedSystem, p: Callable, *, params: PyTree = None) -> ShapeSystem:
    """Returns the system on Q/G when the momenta along S are p(r), as constants of motion make them, `params` last if
    given.

        d/dt (G_c r')_a = -dU_c/dr^a + dK/dr^a + M_ab r'^b - K_abc r'^b r'^c,  U_c = U + p I_S^-1 p / 2   [MD] (8.11)

    All of it is computed upstairs, from D/G: the last term is what [MD] Proposition 8.4.1 lacks where there are two
    shapes or more and [u_a, u_b] leaves D. p has to solve the momentum equation for every r', which is asked at the
    shape where `reduced` was made and nearby: dp_b/dr^a = D^c_ba p_c.

    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> sleigh = dh.reduce(dh.systems.NonholonomicParticle(), q=[0.0, 0.4, 0.0])
    >>> at = lambda r: dh.coefficients(sleigh, r).locked_inertia[0, 0]
    >>> line = dh.on_shapes(sleigh, lambda r, c: c * jnp.sqrt(at(r)), params=1.5)       # Omega = C / sqrt(1 + y^2)
    >>> bool(abs(line.amended_potential(jnp.array([0.9])) - 1.5**2 / 2) < 1e-12)
    True
    """
    made = ShapeSystem(reduced, p, params)
    for shift in (0.0, 0.05, -0.03):
        r = reduced.start + shift * (1 + jnp.arange(len(reduced.start)))
        value, slope = made.momenta(r), jax.jacfwd(made.momenta)(r)
        if value.shape != (reduced.rank - made.rank,):
            raise InputError(f"p(r) has {reduced.rank - made.rank} components here, along S; got shape {value.shape}.")
        at = coefficients(reduced, r)
        due = jnp.einsum("cbx,c->bx", at.D, value)
        spin, bent = at.momentum_rate(value, jnp.zeros(made.rank)), at.D2 + at.D2.swapaxes(1, 2)  # D2: whatever p is
        size = float(jnp.max(jnp.abs(due)) + jnp.max(jnp.abs(slope)) + jnp.max(jnp.abs(value)))
        off = max(float(jnp.max(jnp.abs(slope - due))), float(jnp.max(jnp.abs(spin))))
        large = float(jnp.max(jnp.abs(bent))) / float(jnp.max(jnp.abs(at.locked_inertia)))
        if not (off <= TRANSPORTED * size and large <= TRANSPORTED):
            raise InputError(
                f"p(r) does not solve the momentum equation (4.10) for every r' at r = {np.asarray(r).tolist()}: it is "
                f"off by {max(off, large):.1e}. Such p exist only where the system is flat (dh.flatness)."
            )
    return made

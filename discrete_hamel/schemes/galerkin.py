"""The discrete Hamel principle with several points in a step: polynomials of xi, of q and of the variations."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.hamel import full
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.coefficients.quadrature import gauss, lobatto, polynomials, through_nodes
from discrete_hamel.schemes.cortes_martinez import CortesMartinez
from discrete_hamel.schemes.gauss import MOST_STAGES, Gauss
from discrete_hamel.schemes.lagrangian import momentum_and_force, need_independent, refuse_dependent
from discrete_hamel.schemes.scheme import Scheme, State


class Galerkin(Scheme):
    """(P2) The principle (P) on polynomials, for all eta(t) of degree s in D: s^d = h sum_i b_i l(q(c_i), xi(c_i)).

        xi(t) of degree s - 1, xi^U = b(q) and q' = Psi xi at its own points, the s points of Gauss; q(t) of degree s
        h sum_i b_i [<dl, (Psi eta, delta xi)> + <f, eta>](c_i) = -<p_k, eta(0)> + <p_{k+1}, eta(1)>

    quadrature   "gauss": c_i are the own points; "lobatto": s + 1 points with both ends; or a pair (c, b), on [0, 1]
    variation    "hamel": delta xi = eta' + [xi, eta], (3.4) of [HE] at each c_i; "derived": delta q of degree s, Psi
                 eta with eta in D at s + 1 Lobatto points, l taken at Psi^+ q'; or one's own delta xi, linear, of
                 (system, q, xi, eta, eta')

    With Hamel's variations at Gauss points it is `Gauss(s)` (docs/equations.md); with derived ones and no constraint it
    is variational in the strict sense (symplectic), with one Lagrange and d'Alembert's discrete principle. The order,
    2 s, is measured for s = 1, 2, 3. Relative equilibria are kept with Hamel's variations, and lost with derived ones
    (measured at s = 2): a delta q of degree s does not turn with the frame.   [HE] 5; Marsden & West (2001) 2.6.5

    >>> import discrete_hamel as dh
    >>> dh.Galerkin(stages=3, quadrature="lobatto").order
    6
    """

    stages: int = 2
    quadrature: str | tuple = static(default="gauss")
    variation: Callable | str = static(default="hamel")

    reference = "Zenkov, On Hamel's equations (2016), 5; Hairer, Lubich & Wanner (2006), VI.6.2"

    def __post_init__(self) -> None:
        if self.stages not in range(1, MOST_STAGES + 1):
            raise InputError(f"stages is {self.stages}; Galerkin has 1 to {MOST_STAGES} of them.")
        if not callable(self.variation) and self.variation not in ("hamel", "derived"):
            raise InputError(f'variation is {self.variation!r}; it is "hamel", "derived" or a function.')
        if isinstance(self.quadrature, str):
            if self.quadrature not in ("gauss", "lobatto"):
                raise InputError(f'quadrature is {self.quadrature!r}; it is "gauss", "lobatto" or a pair (c, b).')
            return
        c, b = (tuple(float(x) for x in np.atleast_1d(part)) for part in self.quadrature)
        if len(c) != len(b) or abs(sum(b) - 1) > 1e-12 or min(c) < 0 or max(c) > 1:
            raise InputError(f"quadrature has {len(c)} points in [0, 1] and {len(b)} weights; as many, of sum 1.")
        object.__setattr__(self, "quadrature", (c, b))

    ours = property(lambda self: isinstance(self.quadrature, str) and isinstance(self.variation, str))  # known
    order = property(lambda self: 2 * self.stages if self.ours else None)
    symmetric = property(lambda self: True if self.ours else None)

    @property
    def conserves(self) -> tuple[str, ...]:  # type: ignore[override]
        if not self.ours:
            return ()
        if self.quadrature == "gauss" and (self.variation == "hamel" or self.stages == 1):
            return Gauss.conserves if self.variation == "hamel" else CortesMartinez().conserves
        steady = ("relative equilibria",) if self.variation == "hamel" else ()
        return ("constraint", *steady, "angular momentum")

    def points(self) -> tuple[np.ndarray, np.ndarray]:
        """(c, b) of the quadrature."""
        if self.quadrature == "gauss":
            return gauss(self.stages)
        if self.quadrature == "lobatto":
            return lobatto(self.stages + 1)
        return tuple(np.asarray(part) for part in self.quadrature)  # type: ignore[return-value]

    def check(self, system: System, q: Array) -> None:
        if self.variation == "derived":
            refuse_dependent(system, q, "Galerkin with derived variations")

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        if self.variation == "derived":
            need_independent(system, q, "Galerkin with derived variations")
        return Scheme.start(self, system, q, xi, h)

    guess, equation = Gauss.guess, Gauss.equation

    def _at_own(self, system: System, z: Array) -> tuple[Array, Array, Array]:
        """q, xi (n components) and q' at the own points, where z has q and xi^D; each (s, ...)."""
        free, q = jnp.split(z.reshape(self.stages, -1), [system.rank], axis=1)
        xi = jax.vmap(lambda q, xi: full(system, q, xi))(q, free)
        return q, xi, jax.vmap(lambda q, xi: system.frame(q) @ xi)(q, xi)

    def _balances(self, system: System, state: State, h: Array, own: tuple[Array, Array, Array]) -> Array:
        """The principle's rows, (s + 1, m): by the tests that are 1 at the start and 0 at the end, and by eta = 1."""
        c, b = self.points()
        values, integrals = polynomials(self.stages, c)
        q = state.q[None] + h * (integrals @ own[2])
        if self.variation == "derived":
            return self._derived_rows(system, state.q, h, q, (c, b), own[2])
        momentum, force = jax.vmap(lambda q, xi: self._vary(system, q, xi))(q, values @ own[1])
        weights = gauss(self.stages)[1]
        tests = (weights - integrals) / weights  # int_t^1 l_j / w_j: phi_j(c_i), phi_j' = -l_j / w_j
        rows = h * ((b[:, None] * tests).T @ force) - (b[:, None] * values / weights).T @ momentum
        return jnp.concatenate([rows, h * (b @ force)[None]])[:, : system.rank]

    def _vary(self, system: System, q: Array, xi: Array) -> tuple[Array, Array]:
        """By eta' and by eta: the slopes of <dl, (Psi eta, delta xi)> + <f, eta>."""
        slope, momentum = jax.grad(system.lagrangian, (0, 1))(q, xi)
        along, own = system.frame(q).T @ slope + system.force(q, xi), self.variation
        if not callable(own):
            return momentum, system.coadjoint(q, xi, momentum) + along
        _, transpose = jax.vjp(lambda rate, eta: own(system, q, xi, eta, rate), 0 * xi, 0 * xi)
        return transpose(momentum)[0], transpose(momentum)[1] + along

    def _derived_rows(self, system: System, q0: Array, h: Array, q: Array, points: tuple, velocity: Array) -> Array:
        """The same rows for delta q = sum of M_k(t) Psi(q^k) eta^k, q^k = q(t_k): by eta^k, k < s, and by all."""
        c, b = points
        at_nodes = q0[None] + h * (polynomials(self.stages, lobatto(self.stages + 1)[0])[1] @ velocity)
        values, slopes = through_nodes(self.stages, c)
        v = polynomials(self.stages, c)[0] @ velocity
        momentum, force = jax.vmap(lambda q, v: momentum_and_force(system, q, v))(q, v)
        covectors = h * ((b[:, None] * values).T @ force) + (b[:, None] * slopes).T @ momentum
        rows = jax.vmap(lambda q, covector: system.frame(q)[:, : system.rank].T @ covector)(at_nodes, covectors)
        return jnp.concatenate([rows[:-1], jnp.sum(rows, axis=0)[None]])

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        own = self._at_own(system, z)
        integrals = polynomials(self.stages, gauss(self.stages)[0])[1]
        given = np.eye(self.stages)[0] if self.variation == "derived" else np.ones(self.stages)  # eta(0) of the tests
        rows = -self._balances(system, state, h, own)[:-1] - given[:, None] * state.p[None]
        return jnp.concatenate([rows, own[0] - state.q[None] - h * (integrals @ own[2])], axis=1).ravel()

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        own = self._at_own(system, z)
        mean = jnp.asarray(gauss(self.stages)[1])
        xi, gain = mean @ own[1], self._balances(system, state, h, own)[-1]
        return State(state.q + h * (mean @ own[2]), state.p + gain, xi[: system.rank]), xi

"""Chaplygin's reducing multiplier: a change of time after which a reduced nonholonomic system is Hamiltonian."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.analysis.symmetry import hypotheses
from discrete_hamel.analysis.symmetry.phase_space import nearby
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.trajectory import Trajectory

OFF = 1e-8  # of the conditions, relative, from which they do not hold
NODES = 12  # of the quadratures along a ray


class Hamiltonised(System):
    """See `hamiltonise`. Coordinates r, velocities w = dr/dtau; no constraint and no force."""

    system: System
    place: Array  # where f = 1, and where the rays of the quadratures begin
    law: Callable | None = static()  # f(r), one's own
    params: PyTree
    bent: bool = static()  # whether there is a magnetic term

    @property
    def rank(self) -> int:
        return len(self.place)

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.system.coordinates

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"d{name}/dtau" for name in self.coordinates)

    def factor(self, r: ArrayLike) -> Array:
        """f(r) = dtau/dt."""
        r = jnp.asarray(r, float)
        if self.law is not None:
            return call(self.law, self.params, r)
        return jnp.exp(self._along_ray(lambda _, x: log_slope(self.system, x)[0] @ (r - self.place), r))

    def _along_ray(self, integrand: Callable, r: Array) -> Array:
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        s = jnp.asarray((1 + nodes) / 2)
        values = jax.vmap(lambda s: integrand(s, self.place + s * (r - self.place)))(s)
        return jnp.tensordot(jnp.asarray(weights / 2), values, 1)

    def _potential(self, r: Array) -> Array:
        """A with dA = f M: of the homotopy along rays, A_b = int s B_ab (r - place)^a ds."""
        return self._along_ray(lambda s, x: s * (r - self.place) @ (self.factor(x) * log_slope(self.system, x)[2]), r)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        found = _lagrangian_on_d(self.system, q, self.factor(q) * xi)
        return found + self._potential(q) @ xi if self.bent else found

    def frame(self, q: Array) -> Array:
        return jnp.eye(len(q))

    def structure(self, q: Array) -> Array:
        return jnp.zeros((len(q),) * 3)

    def times(self, run: Trajectory) -> np.ndarray:
        """t at the nodes of a run in tau: the integral of dtau / f, by the trapezoidal rule with its ends corrected."""
        q, w = jnp.asarray(run.q), jnp.asarray(run.xi)
        rate, slope = (np.asarray(a) for a in _pace(self, q, w))
        h = np.diff(np.asarray(run.t))
        steps = h / 2 * (rate[:-1] + rate[1:]) + h**2 / 12 * (slope[:-1] - slope[1:])
        return np.concatenate([[0.0], np.cumsum(steps)])

    def check(self) -> None:
        self.system.check()

    def shapes(self, q: Array) -> list[np.ndarray]:  # noqa: ARG002  # where it is has been reduced away
        """Nothing; `reconstruct` brings back what can be drawn."""
        return []


@jax.jit
def _pace(made: Hamiltonised, q: Array, w: Array) -> tuple[Array, Array]:
    """1/f and its rate along tau."""
    return jax.vmap(lambda q, w: jax.jvp(lambda q: 1 / made.factor(q), (q,), (w,)))(q, w)


def _lagrangian_on_d(system: System, r: Array, velocity: Array) -> Array:
    return system.lagrangian(r, hamel.full(system, r, velocity))


def _gyroscopic(system: System, r: Array, velocity: Array) -> Array:
    """G of d/dt dl_c/dv - dl_c/dr = G(r, v): what keeps the reduced equations from being Lagrange's."""
    return hamel.balance(system, r, velocity)[1] - jax.grad(_lagrangian_on_d, 1)(system, r, velocity)


def log_slope(system: System, r: Array) -> tuple[Array, Array, Array]:
    """d ln f, by how much it misses G = (p.v) d ln f - p (v . d ln f) + M v relative to its terms, and M_ab."""
    one = jnp.eye(len(r))
    force, momentum = (jax.vmap(partial(part, system, r)) for part in (_gyroscopic, hamel.momentum_on_d))
    pairs = (one[:, None] + one[None]).reshape(-1, len(r))
    plus, minus, both = force(one), force(-one), force(pairs).reshape(len(r), len(r), -1)
    alone = (plus + minus) / 2  # G is quadratic: G(a, b) = (G(a + b) - G(a) - G(b)) / 2
    quadratic = (both - plus[:, None] - plus[None]).T / 2
    linear, mass = (plus - minus).T / 2, momentum(one).T
    half = jnp.einsum("ab,cd->abcd", mass, one) / 2
    rows = jnp.einsum("bc,ad->abcd", mass, one) - half - half.swapaxes(1, 2)
    rows, wanted = rows.reshape(-1, len(r)), quadratic.ravel()
    slope = jnp.linalg.solve(rows.T @ rows, rows.T @ wanted)
    size = jnp.max(jnp.abs(mass)) + jnp.max(jnp.abs(wanted))
    at_rest = alone - jnp.diagonal(quadratic, axis1=1, axis2=2).T
    others = jnp.max(jnp.abs(linear + linear.T)) + jnp.max(jnp.abs(at_rest))
    return slope, (jnp.max(jnp.abs(rows @ slope - wanted)) + others) / size, linear


@interpret
def _conditions(made: Hamiltonised, r: Array) -> tuple[Array, Array, Array]:
    """By how much f misses its equations, and its differential and f M are not closed; the size of M."""
    slope, off, magnetic = log_slope(made.system, r)
    bent, turned = jax.jacfwd(lambda r: log_slope(made.system, r)[::2])(r)
    closed = jnp.max(jnp.abs(bent - bent.T))
    if made.law is not None:
        closed += jnp.max(jnp.abs(jax.grad(lambda r: jnp.log(made.factor(r)))(r) - slope))
    if len(r) > 2:
        turned = turned + jnp.einsum("ab,c->abc", magnetic, slope)  # d(f M) / f
        closed += jnp.max(jnp.abs(turned + turned.transpose(1, 2, 0) + turned.transpose(2, 0, 1)))
    size = 1 + jnp.max(jnp.abs(slope)) + jnp.max(jnp.abs(bent))
    return off, closed / size, jnp.max(jnp.abs(magnetic))


def hamiltonise(
    system: System, r: Coordinates | None = None, *, factor: Callable | None = None, params: PyTree = None
) -> Hamiltonised:
    """Returns the system in the time tau, dtau = f(r) dt, in which its equations are Hamilton's, if there is such an f.

        d/dt dl_c/dv - dl_c/dr = (p.v) d ln f - p (v . d ln f) + M v,  p = dl_c/dv      Chaplygin's condition on f
        L(r, w) = l_c(r, f w) + <A, w>,  w = dr/dtau,  dA = f M:  then Lagrange's equations, with P = f p canonical

    `system` is one on shapes alone, as `reduce` gives it where S = 0 and `on_shapes` where the momenta along S are
    functions of r: as many velocities as coordinates, kinetic minus potential energy. ln f is found from the equations
    themselves, at r and at points nearby where it has to be closed, and is then an integral along rays from r; or give
    `factor`, f(r) in closed form (params last), which is held against them. What comes back is a System without
    constraint or force, with canonical momenta: `DiscreteHamel()` there is the midpoint rule, symplectic, and
    `Galerkin(s, variation="derived")` is of order 2 s. `times(run)` is t at its nodes, and v = f w the velocity.
    With two shapes f^(m-1) = f is an invariant density, and f exists where that does.   Chaplygin 1911; Borisov &
    Mamaev 2001; `jacobiator(reduced, r, v, factor=made.factor)` shows the identity that the bracket then obeys.

    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> along = lambda q, xi: 0.5 * (xi[0] ** 2 + xi[1] ** 2 + (xi[2] + q[1] * xi[0]) ** 2)      # z' = y x', on (x, y)
    >>> bracket = lambda q: jnp.zeros((3, 3, 3)).at[2, 0, 1].set(-1.0).at[2, 1, 0].set(1.0)
    >>> particle = dh.from_quasivelocities(along, lambda q: jnp.eye(2, 3), 2, structure=bracket)
    >>> made = dh.hamiltonise(particle, [0.0, 0.0])
    >>> bool(abs(made.factor([0.3, 0.8]) * jnp.sqrt(1 + 0.8**2) - 1) < 1e-10)                  # f = 1/sqrt(1 + y^2)
    True
    """
    if r is None:
        r = getattr(system, "start", None)
        if r is None:
            raise InputError("give r, a shape about which f is looked for.")
    place = checks.vector("r", r)
    system, name = checks.canonical(system).at(place), type(system).__name__
    psi = np.asarray(system.frame(place))
    if system.rank != len(place) or np.max(np.abs(psi[:, : system.rank] - np.eye(len(place)))) > 0 or len(place) < 2:
        raise InputError(
            f"hamiltonise is for systems in two shapes or more whose quasi-velocities are their rates; {name} has "
            f"{len(place)} coordinates and rank {system.rank}. Reduce it first: dh.reduce, dh.on_shapes."
        )
    hypotheses.natural(system, place, "a change of time")
    made = Hamiltonised(system, place, factor, params, bent=False)
    found = [_conditions(made, point) for point in [place, *nearby(system, place, psi.shape[1])]]
    off, closed, magnetic = np.max(np.asarray(found), axis=0)
    for what, size in (("no d ln f solves Chaplygin's condition", off), ("d ln f or f M is not closed", closed)):
        if not size < OFF:
            raise InputError(f"{name} is not Hamiltonian after a change of time f(r): {what}, off by {size:.1e}.")
    return made.replace(bent=bool(magnetic > OFF))

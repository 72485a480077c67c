"""The nonholonomic momentum, its equation, its discrete equation along a trajectory, and Noether's theorem."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.symmetry.group_actions import Generator, Symmetry, generator
from discrete_hamel.analysis.symmetry.invariance import DRAWS, INVARIANT, components, invariance
from discrete_hamel.analysis.symmetry.phase_space import nearby
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.trajectory import Trajectory

NODES = 40  # of the quadrature of N(q)
Field = Callable[[Array], Array]  # q -> a(q), n components in the frame, zero along U


def horizontal(system: System, symmetry: Symmetry) -> Field:
    """Returns the frame components of a symmetry that lies in D; what it has along U is refused where it is used.

    >>> from discrete_hamel.analysis import horizontal, nonholonomic_momentum
    >>> import discrete_hamel as dh
    >>> disk = dh.systems.RollingDisk()
    >>> turn = horizontal(disk, disk.symmetries()["rotation about the vertical"])
    >>> nonholonomic_momentum(disk, turn, [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0])     # at the origin, where it is in D
    1.5453...
    """
    return partial(components, system, generator(system, symmetry))


def _gain(field: Field, system: System, q: Array, xi: Array) -> tuple[Array, Array]:
    """delta_a l + <f, a> = <dl/dq, Psi a> + <mu, a' + [xi, a]> + <f, a>, and <f, a> alone."""
    a, rate = jax.jvp(field, (q,), (system.frame(q) @ xi,))
    gradient, mu = jax.grad(system.lagrangian, (0, 1))(q, xi)
    twisted = rate + jnp.einsum("kij,i,j->k", system.structure(q), xi, a)
    work = system.force(q, xi) @ a
    return gradient @ (system.frame(q) @ a) + mu @ twisted + work, work


def _momentum(field: Field, system: System, q: Array, xi: Array) -> tuple[Array, Array, Array]:
    """<mu, a>, its rate with the reactions' <lambda, a_U>, and a."""
    a, mu = field(q), jax.grad(system.lagrangian, 1)(q, xi)
    change, _ = _gain(field, system, q, xi)
    if system.rank < len(xi):
        change = change + hamel.reactions(system, q, xi) @ a[system.rank :]
    return mu @ a, change, a


_momentum_of = jax.jit(_momentum, static_argnums=0)


def _in_d(field: Field, system: System, q: Coordinates, xi: Quasivelocities) -> tuple[Array, Array]:
    system, q, xi = checks.initial_data(system, q, xi, None)
    value, rate, a = _momentum_of(field, system, q, xi)
    off = float(np.max(np.abs(a[system.rank :]), initial=0.0))
    if off > INVARIANT * (1 + float(np.max(np.abs(a)))):
        raise InputError(
            f"the field is not in D at this q: it has a component {off:.2e} along U, where reactions act, so its "
            "momentum obeys no equation without them. Take a section of S = V & D; bundles(system, q).S spans it."
        )
    return value, rate


def nonholonomic_momentum(system: System, field: Field, q: Coordinates, xi: Quasivelocities) -> float:
    """Returns J = <mu, a(q)>, a(q) the frame components of a field in D.   [QS] 4; [MD] 5

    >>> from discrete_hamel.analysis import nonholonomic_momentum
    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> disk = dh.systems.RollingDisk()
    >>> nonholonomic_momentum(disk, lambda q: jnp.eye(5)[2], [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0])     # (B + m R^2)(..)
    4.7659...
    """
    return float(_in_d(field, system, q, xi)[0])


def momentum_equation(system: System, field: Field, q: Coordinates, xi: Quasivelocities) -> float:
    """Returns dJ/dt = <dl/dq, Psi a> + <mu, a' + [xi, a]> + <f, a>, which needs no reaction as the field a is in D.
    [QS] (4.7)

    >>> from discrete_hamel.analysis import momentum_equation
    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> disk = dh.systems.RollingDisk()                           # p2' = -m R^2 cos(theta) phi' theta'    [QS] 6.5
    >>> momentum_equation(disk, lambda q: jnp.eye(5)[2], [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0])
    -0.0573...
    """
    return float(_in_d(field, system, q, xi)[1])


@partial(jax.jit, static_argnums=0)
def _balance(field: Field, system: System, tau: Array, h: Array, nodes: tuple, mids: Array) -> Array:
    def residual(start: tuple, end: tuple, xi: Array) -> Array:
        (q0, p0), (q1, p1) = start, end
        a0, a1 = field(q0)[: system.rank], field(q1)[: system.rank]
        mu, force = hamel.balance(system, (1 - tau) * q0 + tau * q1, xi)
        return (p1 @ a1 - p0 @ a0 - mu @ (a1 - a0)) / h - force @ (tau * a1 + (1 - tau) * a0)

    q, p = nodes
    return jax.vmap(residual)((q[:-1], p[:-1]), (q[1:], p[1:]), mids)


def momentum_residual(trajectory: Trajectory, field: Field) -> np.ndarray:
    """Returns the discrete momentum equation's residual, one number an interval.

    (J_{k+1} - J_k)/h - <mu, (a_{k+1} - a_k)/h> - <F, tau a_{k+1} + (1-tau) a_k>, mu and F at (q_{k+tau}, xi_{k,k+1}):
    zero to round-off for DiscreteHamel, whatever the field a is, by (D2); of the scheme's order for others.

    >>> from discrete_hamel.analysis import momentum_residual
    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> run = dh.simulate(dh.systems.RollingDisk(), [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0], h=0.01, steps=50)
    >>> bool(abs(momentum_residual(run, lambda q: jnp.eye(5)[1] * jnp.cos(q[0]))).max() < 1e-10)
    True
    """
    if trajectory.scheme is None or trajectory.save_every != 1:
        raise InputError(
            "the discrete momentum equation relates neighbouring nodes: it needs a trajectory of simulate with "
            "save_every = 1 (one of reference has no steps)."
        )
    if trajectory.scheme.time(trajectory.final) is not None:
        raise InputError("the discrete momentum equation is written for a constant step; here the steps vary.")
    tau = jnp.asarray(trajectory.scheme.point, float)
    nodes = jnp.asarray(trajectory.q), jnp.asarray(trajectory.p)
    return np.asarray(_balance(field, trajectory.system, tau, trajectory.h, nodes, jnp.asarray(trajectory.xi_mid)))


def _form(field: Field, system: System, q: Array) -> Array:
    """alpha_i, the part of delta_a l + <f, a> that is linear in xi, n components."""
    n = system.frame(q).shape[1]
    return jax.grad(lambda xi: _gain(field, system, q, xi)[0])(jnp.zeros(n))


def _test(field: Field, system: System, q: Array, free: Array) -> Array:
    """At a velocity in D, relative to their terms: the gain, the force's work, gain - <alpha, xi>, and d alpha.

    d alpha(u_i, u_j) = u_i[alpha_j] - u_j[alpha_i] - c^k_ij alpha_k
    """
    xi = hamel.full(system, q, free)
    psi, c = system.frame(q), system.structure(q)
    gain, work = _gain(field, system, q, xi)
    alpha, slopes = _form(field, system, q), jax.jacfwd(partial(_form, field, system))(q) @ psi
    closed = slopes.T - slopes - jnp.einsum("kij,k->ij", c, alpha)
    a, rate = jax.jvp(field, (q,), (psi @ xi,))
    gradient, mu = jax.grad(system.lagrangian, (0, 1))(q, xi)
    norm = jnp.linalg.norm
    size = norm(gradient) * norm(psi @ a) + norm(system.force(q, xi)) * norm(a)
    size += norm(mu) * (norm(rate) + norm(c) * norm(xi) * norm(a))
    around = norm(slopes) + norm(c) * norm(alpha)
    left = jnp.stack([gain / size, work / size, (gain - alpha @ xi) / size, jnp.max(jnp.abs(closed)) / around])
    whole = jnp.stack([size, size, size, around])
    return jnp.where(whole > 0, jnp.abs(left), 0.0)


# It runs once for each generator, so that compiling is what it costs.
@partial(jax.jit, static_argnums=0, compiler_options={"xla_backend_optimization_level": 0})
def _probe(move: Generator, system: System, xi: Array, points: Array, frees: Array) -> tuple[Array, ...]:
    """J and dJ/dt at the first point, the components of X at all, and `_test` at each with its velocity."""
    field = partial(components, system, move)
    value, rate, _ = _momentum(field, system, points[0], xi)
    tested = jax.vmap(partial(_test, field, system))(points, frees)
    return value, rate, jax.vmap(field)(points), tested


class Noether(NamedTuple):
    """What Noether's theorem says of a generator: its momentum, and why it is or is not constant."""

    momentum: float
    rate: float  # dJ/dt here, with what forces and, where the generator is not in D, reactions do along it
    horizontal: bool  # X in D
    full: bool  # l invariant at any velocity
    partial: bool  # l invariant at velocities in D
    idle: bool  # the force does no work along it, at velocities in D
    balanced: bool  # delta l + <f, X> = 0 at velocities in D
    exact: bool  # delta l + <f, X> = -dN/dt at velocities in D, with some N(q); `gauge_term` gives it

    @property
    def conserved(self) -> bool:
        """Whether the momentum is constant by the theorem: X in D, and neither l nor the force changes it on D."""
        return self.horizontal and self.balanced

    @property
    def conserved_with_gauge(self) -> bool:
        """Whether J + N(q) is constant by the theorem, with the N of `gauge_term`."""
        return self.horizontal and self.exact

    def __str__(self) -> str:
        here = f"dJ/dt = {self.rate:.3g} here"
        if not self.horizontal:
            return f"no conservation law: the generator is not in D, so reactions do work along it; {here}"
        if self.conserved and not self.idle:
            return "conserved: in D, and what the force does along it is what the Lagrangian loses"
        if self.conserved:
            kind = "a symmetry of l" if self.full else "l does not change at velocities in D, though it does at others"
            return f"conserved: in D, and {kind}"
        if self.exact:
            return f"conserved with a function of q added: in D, and J + N(q) is constant; {here}"
        causes = {"the Lagrangian changes": not self.partial, "the force does work": not self.idle}
        found = " and ".join(words for words, holds in causes.items() if holds)
        return f"no conservation law: in D, but {found} along it; {here}"


def noether(system: System, symmetry: Symmetry, q: Coordinates, xi: Quasivelocities) -> Noether:
    """Returns what Noether's theorem says with constraints and forces, for J = <mu, a> of X = Psi a.

        dJ/dt = delta_a l + <f, a> + <lambda, a_U>                                      [QS] (4.7), (5.7); [MD] 5

    J is constant if X is in D and the first two sum to zero on D; J + N(q) is if they sum to -dN/dt, as for a magnetic
    force. The symmetry is given as `generator` takes it. Asked at q and nearby; for a constant of motion the hypotheses
    have to hold at every q.

    >>> from discrete_hamel.analysis import noether
    >>> import discrete_hamel as dh
    >>> disk = dh.systems.VerticalDisk()
    >>> print(noether(disk, disk.symmetries()["own rotation"], [0.1, 0, 0, 0], [1.0, 2.0]))
    no conservation law: the generator is not in D, so reactions do work along it; dJ/dt = ... here
    >>> print(noether(disk, lambda q: disk.frame(q)[:, 1], [0.1, 0, 0, 0], [1.0, 2.0]))      # and rolling along
    conserved: in D, and l does not change at velocities in D, though it does at others
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    move = generator(system, symmetry, q)
    found = invariance(system, move, q, xi)
    around = [q, *nearby(system, q, len(xi))]
    points = jnp.stack([around[k % len(around)] for k in range(DRAWS)])
    frees = np.asarray(xi)[: system.rank] + np.random.default_rng(0).normal(size=(DRAWS, system.rank))
    value, rate, a, tried = (np.asarray(part) for part in _probe(move, system, xi, points, frees))
    outside = np.max(np.abs(a[:, system.rank :]), axis=1, initial=0.0)
    in_d = bool(np.all(outside < INVARIANT * (1 + np.max(np.abs(a), axis=1))))
    # NaN, as of a force that has no derivative at rest, is no small number: `exact` is False then.
    small = np.all(tried < INVARIANT, axis=0) & (found.position < INVARIANT)
    balanced, idle, linear, closed = map(bool, small)
    calm = found.position < INVARIANT
    return Noether(
        float(value),
        float(rate),
        in_d and calm,
        found.lagrangian < INVARIANT and calm,
        found.constrained < INVARIANT and calm,
        idle,
        balanced,
        balanced or (linear and closed),
    )


def gauge_term(system: System, symmetry: Symmetry, q: Coordinates, *, origin: Coordinates | None = None) -> float:
    """Returns N(q) with dN/dt = -(delta_a l + <f, a>), zero at the origin: then J + N is constant where `noether` says
    so.

    N(q) = -int <alpha, dq> along the straight line from the origin, which must be in the domain of the coordinates; a
    is the generator of the symmetry.

    >>> from discrete_hamel.analysis import gauge_term
    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> L, magnetic = lambda q, v: 0.5 * v @ v, lambda q, v: 0.3 * jnp.stack([v[1], -v[0]])
    >>> particle = dh.from_velocities(L, lambda q: jnp.eye(2), 2, force=magnetic)
    >>> round(gauge_term(particle, 0, [2.0, 5.0]), 12)                   # m x' - 0.3 y is constant
    -1.5
    """
    q = on_device(checks.vector("q", q))
    start = jnp.zeros_like(q) if origin is None else checks.vector("origin", origin)
    system = checks.canonical(system).at(q)
    n, _ = checks.shapes(system, q)
    if n != len(q) or not system.brackets_by_autodiff:
        raise InputError(
            f"N(q) is found along a straight line of coordinates that are independent; {type(system).__name__} has "
            f"{len(q)} coordinates and {n} fields. Integrate noether(...).rate along a motion instead."
        )
    x, weights = np.polynomial.legendre.leggauss(NODES)
    return -0.5 * float(weights @ np.asarray(_slopes(generator(system, symmetry, q), system, start, q - start, x)))


@partial(jax.jit, static_argnums=0, compiler_options={"xla_backend_optimization_level": 0})
def _slopes(move: Generator, system: System, start: Array, by: Array, x: Array) -> Array:
    """<alpha, by> along start + (1 + x) by / 2."""

    def slope(x: Array) -> Array:
        q = start + 0.5 * (1 + x) * by
        return _form(partial(components, system, move), system, q) @ jnp.linalg.solve(system.frame(q), by)

    return jax.vmap(slope)(x)

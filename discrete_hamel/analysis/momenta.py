"""The nonholonomic momentum, its equation, its discrete equation along a trajectory, and Noether's theorem."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel import checks, hamel
from discrete_hamel.analysis.actions import Generator, generator
from discrete_hamel.analysis.phase_space import nearby
from discrete_hamel.analysis.symmetries import INVARIANT, components, invariance
from discrete_hamel.system import System
from discrete_hamel.trajectory import Trajectory

Field = Callable[[Array], Array]  # q -> a(q), n components in the frame, zero along U


def horizontal(system: System, symmetry: Any) -> Field:
    """The frame components of a symmetry that lies in D; what it has along U is refused where it is used.

    >>> import discrete_hamel as dh
    >>> disk = dh.systems.RollingDisk()
    >>> turn = horizontal(disk, disk.symmetries()["rotation about the vertical"])
    >>> nonholonomic_momentum(disk, turn, [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0])     # at the origin, where it is in D
    1.5453...
    """
    return partial(components, system, generator(system, symmetry))


@partial(jax.jit, static_argnums=0)
def _momentum(field: Field, system: System, q: Array, xi: Array) -> tuple[Array, Array, Array]:
    """<mu, a>, its rate by the momentum equation, and a."""
    a, rate = jax.jvp(field, (q,), (system.frame(q) @ xi,))
    gradient, mu = jax.grad(system.lagrangian, (0, 1))(q, xi)
    twisted = rate + jnp.einsum("kij,i,j->k", system.structure(q), xi, a)
    change = gradient @ (system.frame(q) @ a) + mu @ twisted + system.force(q, xi) @ a
    return mu @ a, change, a


def _in_d(field: Field, system: System, q: Any, xi: Any) -> tuple[Array, Array]:
    system, q, xi = checks.initial_data(system, q, xi, None)
    value, rate, a = _momentum(field, system, q, xi)
    off = float(np.max(np.abs(a[system.rank :]), initial=0.0))
    if off > INVARIANT * (1 + float(np.max(np.abs(a)))):
        raise ValueError(
            f"the field is not in D at this q: it has a component {off:.2e} along U, where reactions act, so its "
            "momentum obeys no equation without them. Take a section of S = V & D; bundles(system, q).S spans it."
        )
    return value, rate


def nonholonomic_momentum(system: System, field: Field, q: Any, xi: Any) -> float:
    """J = <mu, a(q)>, a(q) the frame components of a field in D.   [QS] 4; [MD] 5

    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> disk = dh.systems.RollingDisk()
    >>> nonholonomic_momentum(disk, lambda q: jnp.eye(5)[2], [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0])     # (B + m R^2)(..)
    4.7659...
    """
    return float(_in_d(field, system, q, xi)[0])


def momentum_equation(system: System, field: Field, q: Any, xi: Any) -> float:
    """dJ/dt = <dl/dq, Psi a> + <mu, a' + [xi, a]> + <f, a>, which needs no reaction as a is in D.   [QS] (4.7)

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
    """The discrete momentum equation's residual, one number an interval.

    (J_{k+1} - J_k)/h - <mu, (a_{k+1} - a_k)/h> - <F, tau a_{k+1} + (1-tau) a_k>, mu and F at (q_{k+tau}, xi_{k,k+1}):
    zero to round-off for DiscreteHamel, whatever a is, by (D2); of the scheme's order for others.

    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> run = dh.simulate(dh.systems.RollingDisk(), [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0], h=0.01, steps=50)
    >>> bool(abs(momentum_residual(run, lambda q: jnp.eye(5)[1] * jnp.cos(q[0]))).max() < 1e-10)
    True
    """
    if trajectory.scheme is None or trajectory.save_every != 1:
        raise ValueError(
            "the discrete momentum equation relates neighbouring nodes: it needs a trajectory of simulate with "
            "save_every = 1 (one of reference has no steps)."
        )
    if trajectory.scheme.time(trajectory.final) is not None:
        raise ValueError("the discrete momentum equation is written for a constant step; here the steps vary.")
    tau = jnp.asarray(getattr(trajectory.scheme, "tau", 0.5), float)
    nodes = jnp.asarray(trajectory.q), jnp.asarray(trajectory.p)
    return np.asarray(_balance(field, trajectory.system, tau, trajectory.h, nodes, jnp.asarray(trajectory.xi_mid)))


@partial(jax.jit, static_argnums=0)
def _components(move: Generator, system: System, q: Array) -> Array:
    return components(system, move, q)


class Noether(NamedTuple):
    """What Noether's theorem says of a generator: its momentum, and why it is or is not constant."""

    momentum: float
    rate: float  # dJ/dt, by the momentum equation; NaN where the generator is not in D
    horizontal: bool  # X in D
    full: bool  # l invariant at any velocity
    partial: bool  # l invariant at velocities in D

    @property
    def conserved(self) -> bool:
        """Whether the momentum is constant by the theorem: X is in D and l is invariant, on D at least."""
        return self.horizontal and self.partial

    def __str__(self) -> str:
        if not self.horizontal:
            return "no conservation law: the generator is not in D, so reactions do work along it"
        if not self.partial:
            return f"no conservation law: in D, but the Lagrangian changes along it; dJ/dt = {self.rate:.3g} here"
        kind = "a symmetry of l" if self.full else "l does not change at velocities in D, though it does at others"
        return f"conserved: in D, and {kind}"


def noether(system: System, symmetry: Any, q: Any, xi: Any) -> Noether:
    """Noether's theorem with constraints: <mu, a> of X = Psi a is constant if X is in D and l is invariant on D.

    The symmetry is given as `generator` takes it. Asked at q and nearby; for a constant of motion the hypotheses have
    to hold at every q.   [MD] 5; design section 3

    >>> import discrete_hamel as dh
    >>> disk = dh.systems.VerticalDisk()
    >>> print(noether(disk, disk.symmetries()["own rotation"], [0.1, 0, 0, 0], [1.0, 2.0]))
    no conservation law: the generator is not in D, so reactions do work along it
    >>> print(noether(disk, lambda q: disk.frame(q)[:, 1], [0.1, 0, 0, 0], [1.0, 2.0]))      # and rolling along
    conserved: in D, and l does not change at velocities in D, though it does at others
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    move = generator(system, symmetry, q)
    found = invariance(system, move, q, xi)
    value, rate, a = _momentum(horizontal(system, move), system, q, xi)
    around = [a, *(_components(move, system, point) for point in nearby(system, q, len(xi)))]
    in_d = all(
        float(np.max(np.abs(b[system.rank :]), initial=0.0)) < INVARIANT * (1 + float(np.max(np.abs(b))))
        for b in around
    )
    calm = found.position < INVARIANT
    return Noether(
        float(value),
        float(rate) if in_d else float("nan"),
        in_d and calm,
        found.lagrangian < INVARIANT and calm,
        found.constrained < INVARIANT and calm,
    )

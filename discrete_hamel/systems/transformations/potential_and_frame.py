"""A system changed in one respect: with a potential more, or in another frame."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics import frames
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.nonlinear import need_frame
from discrete_hamel.mechanics.system import Invariant, System, Wrapper

IN_D = 1e-10  # share of a field of the new frame that may lie outside D


def with_potential(system: System, V: Callable, *, params: PyTree = None) -> System:
    """Returns the system with l - V(q) for its Lagrangian; `params`, if given, is V's last argument.

    >>> import discrete_hamel as dh
    >>> hill = dh.with_potential(dh.systems.ChaplyginSleigh(), lambda q, k: k * q[1], params=9.8)
    >>> run = dh.simulate(hill, q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=100)
    >>> bool(abs(run.energy - run.energy[0]).max() < 1e-4)
    True
    """
    return WithPotential(system, V, params)


def in_frame(system: System, T: Callable, *, velocities: tuple[str, ...] = ()) -> System:
    """The same motion in the frame w_a = T^i_a(q) u_i: xi = T(q) xi', T m x m or n x n.

    D must stay D: T maps its first m components among themselves. An m x m matrix leaves the other fields as they are.
    `velocities` are the names of xi'.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> def scaled(q):
    ...     return jnp.diag(jnp.array([1.0, 2.0]))
    >>> sleigh = dh.in_frame(dh.systems.ChaplyginSleigh(), scaled)
    >>> dh.simulate(sleigh, q=[0.1, 0, 0], v=[0.0, jnp.cos(0.1), jnp.sin(0.1)], h=0.1, steps=1).xi[0].tolist()
    [0.0, 0.5, 0.0]
    """
    need_frame(system, "in_frame", "take other parameters z in psi(q, z)")
    return InFrame(system, T, tuple(velocities))


class WithPotential(Wrapper):
    """See `with_potential`."""

    system: System
    V: Callable
    params: PyTree = None

    @property
    def same_motion(self) -> bool:
        """The fields are the same, and the Lagrangian is of the same kind: a step for it within is one for this."""
        return True

    @property
    def in_velocities(self) -> Callable | None:
        inner = self.system.in_velocities
        return None if inner is None else lambda q, v: inner(q, v) - call(self.V, self.params, q)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.system.lagrangian(q, xi) - call(self.V, self.params, q)


class InFrame(Wrapper):
    """See `in_frame`."""

    system: System
    T: Callable
    names: tuple[str, ...] = static(default=())

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.names

    @property
    def in_velocities(self) -> Callable | None:
        return self.system.in_velocities

    def transition(self, q: Array) -> Array:
        """T(q), n x n."""
        t = jnp.asarray(self.T(q), float)
        n, m = jax.eval_shape(self.system.frame, q).shape[1], self.rank
        if t.shape == (n, n):
            return t
        if t.shape != (m, m):
            raise InputError(f"T(q) must be {m} x {m}, a change within D, or {n} x {n}; got shape {t.shape}.")
        return jnp.eye(n).at[:m, :m].set(t)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.system.lagrangian(q, self.transition(q) @ xi)

    def frame(self, q: Array) -> Array:
        return self.system.frame(q) @ self.transition(q)

    def structure(self, q: Array) -> Array:
        return frames.transform_structure(self.system.frame, self.system.structure, self.transition, q)

    def slip(self, q: Array) -> Array:
        """xi'^U of T_UU xi'^U = b."""
        m = self.rank
        return jnp.linalg.solve(self.transition(q)[m:, m:], self.system.slip(q))

    def force(self, q: Array, xi: Array) -> Array:
        t = self.transition(q)
        return t.T @ self.system.force(q, t @ xi)

    def invariants(self) -> dict[str, Invariant]:
        """Those of the system, at the same state; kept as the continuous motion keeps them."""

        def there(kept: Invariant) -> Invariant:
            return Invariant(lambda q, xi: kept.function(q, self.transition(q) @ xi), "continuous", ())

        return {name: there(kept) for name, kept in self.system.invariants().items()}

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Those of the system: they are of the motion, not of its frame."""
        return self.system.symmetries()

    def check_start(self, q: Array) -> None:
        self.system.check_start(q)
        t, m = np.asarray(self.transition(q)), self.rank
        if not np.all(np.isfinite(t)) or np.linalg.cond(t) > 1 / IN_D:
            raise InputError(f"T(q) is singular or not finite at q = {np.asarray(q).tolist()}: {t.tolist()}.")
        outside = float(np.max(np.abs(t[m:, :m]), initial=0.0))
        if outside > IN_D * np.max(np.abs(t)):
            raise InputError(
                f"T(q) takes D out of itself: its block below the first {m} columns' first {m} rows has an entry "
                f"{outside:.3g}, so the new free velocities would not satisfy the constraint. Make it zero."
            )

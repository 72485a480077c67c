"""Further constraints on a system, by rows in the terms of its own frame: Hamel's equations with multipliers."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree, static
from discrete_hamel.mechanics import frames
from discrete_hamel.mechanics.adapted_frames import Graph, adapt, probes
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.nonlinear import need_frame
from discrete_hamel.mechanics.system import System, Wrapper


def with_constraints(system: System, a: Callable, *, b: Callable | None = None, params: PyTree = None) -> System:
    """Returns the system with a(q) xi^D = b(q) besides: a is k x m, in the quasi-velocities of the system's own frame.

        d/dt mu_j = F_j + lambda_s a^s_j,   a(q) xi^D = b(q)                                          [QS] 3.3

    The multipliers lambda are the first k of `dh.reactions`. A frame adapted to a is made within D, at the place where
    a run starts: its xi are m - k components that stay free, then a xi^D, then what was constrained before;
    `user_velocities(q, xi)` are those of the frame that was given. `params` is the last argument of a and b if given.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> body = dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.array(
    ...     [[1, 0, 0], [0, jnp.cos(q[0]), -jnp.sin(q[0])], [0, jnp.sin(q[0]), jnp.cos(q[0])]]), 3)
    >>> skate = dh.with_constraints(body, lambda q: jnp.array([[0, 0, 1.0]]))                # it does not go sideways
    >>> run = dh.simulate(skate, q=[0.0, 0, 0], v=[1.0, 2.0, 0.0], h=0.1, steps=10)
    >>> [round(float(one), 12) for one in (run.xi[-1, 1], dh.reactions(run.system, run.q[-1], run.xi[-1])[0])]
    [2.0, 2.0]
    """
    need_frame(system, "with_constraints", "give all rows as C(q, qdot) = 0 to dh.from_nonlinear_constraints")
    return WithConstraints(system, a, b, params)


class WithConstraints(Wrapper):
    """See `with_constraints`; `choice` is the frame adapted to a, made by `at`."""

    system: System
    a: Callable
    b: Callable | None = static(default=None)
    params: PyTree = None
    choice: Pytree | None = None

    same_motion = False

    @property
    def rank(self) -> int:
        if self.choice is None:
            raise InputError("how many velocities stay free is known once the system is at a point: system.at(q).rank")
        return len(self.choice.free)  # type: ignore[attr-defined]

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of those that stay free, where they are some of the velocities given; then of the rows."""
        names, choice = self.system.velocities, self.choice
        if not names or not isinstance(choice, Graph):
            return ()
        k = len(choice.dependent)
        m = len(choice.free) + k
        return (*(names[i] for i in choice.free), *(f"row {s} of a(q) xi" for s in range(k)), *names[m:])

    def one_forms(self, q: Array) -> Array:
        """a(q), k x m."""
        return jnp.asarray(call(self.a, self.params, q), float)

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> System:
        if self.choice is not None:
            return self
        if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((self, q))):
            raise InputError(
                "the frame adapted to a(q) is chosen at a point, by numbers, and this q or a parameter is traced by "
                "jax (jit, grad or vmap). Choose it first, outside: system = system.at(q0)."
            )
        ready = self.replace(system=self.system.at(jnp.asarray(q, float), by))
        rows, m = np.asarray(_rows(ready, probes(np.asarray(q, float)))), ready.system.rank
        if rows.ndim != 3 or rows.shape[2] != m:
            raise InputError(f"a(q) must be k x {m}, one row a constraint on {m} velocities; got {rows.shape[1:]}.")
        b = np.zeros(rows.shape[1]) if self.b is None else np.asarray(call(self.b, self.params, jnp.asarray(q)))
        if b.shape != rows.shape[1:2]:
            raise InputError(f"b(q) must have shape ({rows.shape[1]},), one number a row of a(q); got {b.shape}.")
        return ready.replace(choice=adapt(rows, b))

    def transition(self, q: Array) -> Array:
        """T(q), n x n: xi of the system within = T xi."""
        inside = self.choice.frame(self.one_forms(q))  # type: ignore[union-attr]
        n, m = jax.eval_shape(self.system.frame, q).shape[1], len(inside)
        return jnp.eye(n).at[:m, :m].set(inside)

    def user_velocities(self, q: Array, xi: Array) -> Array:
        """The xi of the frame that was given."""
        return self.transition(q) @ xi

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.system.lagrangian(q, self.transition(q) @ xi)

    @property
    def in_velocities(self) -> Callable | None:
        return self.system.in_velocities

    def frame(self, q: Array) -> Array:
        return self.system.frame(q) @ self.transition(q)

    def structure(self, q: Array) -> Array:
        return frames.transform_structure(self.system.frame, self.system.structure, self.transition, q)

    def slip(self, q: Array) -> Array:
        """b(q), and the slip there was."""
        k = len(self.one_forms(q))
        b = jnp.zeros(k) if self.b is None else jnp.asarray(call(self.b, self.params, q), float)
        return jnp.concatenate([b, self.system.slip(q)])

    def force(self, q: Array, xi: Array) -> Array:
        t = self.transition(q)
        return t.T @ self.system.force(q, t @ xi)

    def frame_margin(self, q: Array) -> Array:
        return self.choice.margin(self.one_forms(q)) * self.system.frame_margin(q)  # type: ignore[union-attr]


@jax.jit
def _rows(system: WithConstraints, q: Array) -> Array:
    return jax.vmap(system.one_forms)(q)

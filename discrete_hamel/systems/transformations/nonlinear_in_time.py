"""Time as a coordinate, and prescribed coordinates, where constraints are nonlinear in the velocities."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.system import System, Wrapper


class NonlinearInTime(Wrapper):
    """A system without a frame, with time as its last coordinate, t' = 1, and coordinates that are given by paths.

    z stays as it is: that the driven coordinates move by f'(t) are rows of (q, z), psi(q, z)_driven - f'(t) = 0.
    """

    system: System
    driven: tuple[int, ...] = static(default=())
    paths: tuple[Callable, ...] = static(default=())
    params: PyTree = None

    clock = -1

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        names = self.system.coordinates
        return (*(name for i, name in enumerate(names) if i not in self.driven), "t") if names else ()

    def _others(self, q: Array) -> Array:
        return jnp.array([i for i in range(len(q) - 1 + len(self.driven)) if i not in self.driven], int)

    def whole(self, q: Array) -> Array:
        """All coordinates of the system beneath: q with the driven ones put in and time left out."""
        place = jnp.zeros(len(q) - 1 + len(self.driven), q.dtype).at[self._others(q)].set(q[:-1])
        if not self.driven:
            return place
        moved = jnp.stack([jnp.asarray(call(path, self.params, q[-1]), q.dtype) for path in self.paths])
        return place.at[jnp.array(self.driven, int)].set(moved)

    def _beneath(self, q: Array, v: Array) -> tuple[Array, Array]:
        return jax.jvp(self.whole, (q,), (v,))

    def at(self, q: Array) -> System:
        ready = self.system.at(self.whole(jnp.asarray(q, float)))
        return self if ready is self.system else self.replace(system=ready)

    def velocity(self, q: Array, z: Array) -> Array:
        """psi(q, z) without the driven, and t' = 1."""
        return jnp.append(self.system.velocity(self.whole(q), z)[self._others(q)], 1.0)

    def rows(self, q: Array, z: Array) -> Array:
        whole, rate = self._beneath(q, jnp.zeros_like(q).at[-1].set(1.0))
        inner = self.system.rows(whole, z)
        if not self.driven:
            return inner
        driven = jnp.array(self.driven, int)
        missed = self.system.velocity(whole, z)[driven] - rate[driven]
        return jnp.concatenate([inner, missed])

    def z_of(self, q: Array, v: Array) -> Array | None:
        return self.system.z_of(*self._beneath(q, v))  # type: ignore[attr-defined]

    def check_state(self, q: Array, z: Array) -> None:
        self.system.check_state(self.whole(q), z)

    def lagrangian(self, q: Array, v: Array) -> Array:  # v = qdot here
        return self.system.lagrangian(*self._beneath(q, v))

    def force(self, q: Array, v: Array) -> Array:
        return jnp.append(self.system.force(*self._beneath(q, v))[self._others(q)], 0.0)

    def check_start(self, q: Array) -> None:
        self.system.check_start(self.whole(q))

    def shapes(self, q: Array) -> list[np.ndarray]:
        """What is drawn of it."""
        return self.system.shapes(self.whole(jnp.asarray(q, float)))  # type: ignore[attr-defined]

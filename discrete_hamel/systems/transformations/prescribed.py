"""Prescribed motion: coordinates that are functions of time, and time itself as a coordinate."""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used: linalg alone takes 0.1 s
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import of, static
from discrete_hamel.mechanics import frames
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.system import System, Wrapper

STUCK = 1e-10  # share of a row below which no motion in D changes a coordinate


def prescribe(system: System, paths: Mapping[str | int, Callable], *, params: PyTree = None) -> System:
    """Returns the system with some coordinates given as functions of time: a steering angle, a rotor, a pivot that is
    moved.

    `paths` maps names of coordinates (or their indices) to functions of t, and of `params`, any pytree, if that is
    given: its values are traced, so that a motion can be optimised over them. Those coordinates go; time, "t", comes
    last, with the velocity t' = 1. The reaction to that constraint, the last of `dh.reactions`, is the power of what
    moves them.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> car = dh.prescribe(dh.systems.Car(), {"alpha": lambda t: 0.4 * jnp.sin(t)})
    >>> car.coordinates, car.velocities, car.rank
    (('theta', 'x', 'y', 't'), ('v', 'sideways', 'turning', "t'"), 1)
    >>> dh.simulate(car, q=[0.0, 0, 0, 0], xi=[1.0], h=0.02, steps=50).q.shape
    (51, 4)
    """
    _without_clock(system)
    driven = tuple(_index(system, key) for key in paths)
    if len(set(driven)) < len(driven):
        raise InputError(f"a coordinate is prescribed twice: {list(paths)}.")
    if not driven:
        raise InputError("no coordinate is prescribed; to have time among the coordinates use timed(system).")
    for key, path in paths.items():
        shape = jax.eval_shape(path, 0.0, *(() if params is None else (params,))).shape
        if shape != ():
            raise InputError(f"the path of {key} must return one number for a time; it returns shape {shape}.")
    if system.frameless:
        return NonlinearInTime(system, driven, tuple(paths.values()), params)
    return InTime(system, driven, tuple(paths.values()), params, _by_name(system, driven))


def timed(system: System) -> System:
    """Returns the system with time as its last coordinate, "t", whose velocity t' = 1; the motion is the same.

    >>> import discrete_hamel as dh
    >>> dh.timed(dh.systems.ChaplyginSleigh()).coordinates
    ('theta', 'x', 'y', 't')
    """
    _without_clock(system)
    return NonlinearInTime(system) if system.frameless else InTime(system, (), (), None, ())


def _without_clock(system: System) -> None:
    if system.clock is not None:
        raise InputError(
            "this system has time among its coordinates already. Prescribe all paths in one call, before an input u(t) "
            "or a clock is added: controlled(prescribe(system, {...}), u)."
        )


class InTime(Wrapper):
    """See `prescribe` and `timed`.

    With R the rows of Psi of the driven coordinates and R_P the block of as many free velocities ("pivots"),

        xi_P = R_P^{-1} (f'(t) t' - R_O xi_O),

    so the fields are w_a = u_a - u_P R_P^{-1} R_a and d/dt + u_P R_P^{-1} f'(t), in which nothing but t' drives.
    """

    system: System
    driven: tuple[int, ...] = static()
    paths: tuple[Callable, ...] = static()
    params: PyTree = None
    pivots: Any = static(default=None)

    clock = -1  # time is the last coordinate
    brackets_by_autodiff = of("system.brackets_by_autodiff")

    @property
    def rank(self) -> int:
        return self.system.rank - len(self.driven)

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        names = self.system.coordinates
        return (*_without(names, self.driven), "t") if names else ()

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        names = self.system.velocities
        return (*_without(names, self.pivots), "t'") if names and self.pivots is not None else ()

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> System:
        if self.pivots is not None:
            ready = self.system.at(self.whole(q), by)
            return self if ready is self.system else self.replace(system=ready)
        if isinstance(q, jax.core.Tracer):
            raise InputError(
                "which velocities give way to the prescribed motion is chosen at a point, and this q is traced by jax "
                "(jit, grad or vmap). Choose it first, outside: system = system.at(q0)."
            )
        whole = self.whole(jnp.asarray(q, float))
        ready = self.system.at(whole, by)
        rows = np.asarray(ready.frame(whole))[list(self.driven), : ready.rank]
        return self.replace(system=ready, pivots=_pivots(self, rows))

    def whole(self, q: Array) -> Array:
        """All coordinates of the system beneath: q with the driven ones put in and time left out."""
        size = len(q) - 1 + len(self.driven)
        if max(self.driven, default=0) >= size:
            raise InputError(f"coordinate {max(self.driven)} is prescribed, and q has {size} coordinates from 0 on.")
        place = jnp.zeros(size, q.dtype).at[_others(size, self.driven)].set(q[:-1])
        return place.at[jnp.array(self.driven, int)].set(self._path(q[-1])) if self.driven else place

    def holonomic(self, q: Array) -> Array:
        return self.system.holonomic(self.whole(q))

    def check_start(self, q: Array) -> None:
        self.system.check_start(self.whole(q))

    def check_shape(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> None:
        self.system.check_shape(self.whole(q), by)

    def _path(self, t: Array) -> Array:
        last = () if self.params is None else (self.params,)
        return jnp.stack([jnp.asarray(path(t, *last), t.dtype) for path in self.paths])

    def _transition(self, whole: Array) -> Array:
        """The fields w_O and w_P = u_P R_P^{-1} by the u_i; w_O moves no driven coordinate, w_P each its own."""
        psi = self.system.frame(whole)
        n, k = psi.shape[1], len(self.driven)
        others, pivots = _others(n, self.pivots), jnp.array(self.pivots, int)
        t = jnp.zeros((n, n), whole.dtype).at[others, jnp.arange(n - k)].set(1.0)
        if not k:
            return t
        rows = psi[jnp.array(self.driven, int)]
        right = jnp.concatenate([-rows[:, others], jnp.eye(k)], axis=1)
        return t.at[pivots].set(_solve(rows[:, pivots], right))

    def _in_time(self, t: Array, columns: Array) -> Array:
        """Columns along w_O and w_P to columns along w_O and time: f'(t) w_P."""
        free = columns.shape[1] - len(self.driven)
        moved = jnp.zeros(len(columns), columns.dtype)
        if self.driven:
            moved = columns[:, free:] @ jax.jvp(self._path, (t,), (jnp.ones_like(t),))[1]
        return jnp.concatenate([columns[:, :free], moved[:, None]], axis=1)

    def _to_inner(self, q: Array) -> tuple[Array, Array]:
        """The whole coordinates, and what carries xi to the xi of the system beneath."""
        whole = self.whole(q)
        return whole, self._in_time(q[-1], self._transition(whole))

    def lagrangian(self, q: Array, xi: Array) -> Array:
        whole, carried = self._to_inner(q)
        return self.system.lagrangian(whole, carried @ xi)

    def frame(self, q: Array) -> Array:
        whole, carried = self._to_inner(q)
        fields = (self.system.frame(whole) @ carried)[_others(len(whole), self.driven)]
        return jnp.concatenate([fields, jnp.zeros((1, fields.shape[1]), q.dtype).at[0, -1].set(1.0)])

    def structure(self, q: Array) -> Array:
        """By autodiff, or from the algebra beneath: d/dt + f' w_P has the brackets of f' w_P with w_O."""
        if self.brackets_by_autodiff:
            return frames.structure_functions(self.frame, q)
        whole = self.whole(q)
        c = frames.transform_structure(self.system.frame, self.system.structure, self._transition, whole)
        free = len(c) - len(self.driven)
        with_time = jax.vmap(lambda rows: self._in_time(q[-1], rows))(c[:free])[:, :free]  # [k, i, j], j to time
        result = jnp.zeros((free + 1,) * 3).at[:free, :free, :].set(with_time)
        return result.at[:free, free, :free].set(-with_time[:, :, free])

    def slip(self, q: Array) -> Array:
        return jnp.concatenate([self.system.slip(self.whole(q)), jnp.ones(1, q.dtype)])

    def force(self, q: Array, xi: Array) -> Array:
        whole, carried = self._to_inner(q)
        return carried.T @ self.system.force(whole, carried @ xi)

    def frame_margin(self, q: Array) -> Array:
        """det R_P over the volume of R on D: zero where the driven coordinates no longer determine xi_P."""
        whole = self.whole(q)
        within = self.system.frame_margin(whole)
        if not self.driven:
            return within
        rows = self.system.frame(whole)[jnp.array(self.driven, int), : self.system.rank]
        pivots = rows[:, jnp.array(self.pivots, int)]
        return within * jnp.linalg.det(pivots) / jnp.sqrt(jnp.linalg.det(rows @ rows.T))

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """What is drawn of it."""
        return self.system.shapes(self.whole(jnp.asarray(q, float)))  # type: ignore[attr-defined]

    @property
    def scenery(self) -> Callable[[Array], list[np.ndarray]]:
        beneath = self.system.scenery  # type: ignore[attr-defined]  # where it has none, neither has this
        return lambda q: beneath(np.asarray(jax.vmap(self.whole)(jnp.asarray(q))))


def _solve(block: Array, right: Array) -> Array:
    """block^{-1} right; written out for one and two coordinates, which compiles in a fraction of the time."""
    if len(block) > 2:
        return jnp.linalg.solve(block, right)
    if len(block) == 1:
        return right / block
    (a, b), (c, d) = block
    return jnp.stack([d * right[0] - b * right[1], a * right[1] - c * right[0]]) / (a * d - b * c)


def _index(system: System, key: str | int) -> int:
    names = system.coordinates
    if isinstance(key, bool) or not isinstance(key, int | str):
        raise InputError(f"a prescribed coordinate is named by its name or index; got {key!r}.")
    if key in names:
        return names.index(key)
    if isinstance(key, str) or key < 0 or (names and key >= len(names)):
        known = ", ".join(names) or "it has no names for them, so give an index"
        raise InputError(f"{type(system).__name__} has no coordinate {key!r}; its coordinates: {known}.")
    return key


def _by_name(system: System, driven: tuple[int, ...]) -> tuple[int, ...] | None:
    """The free velocities phi' of coordinates phi, where the system has them by these names; else None."""
    names = [f"{system.coordinates[i]}'" for i in driven] if system.coordinates else []
    if not names or not set(names) <= set(system.velocities[: system.rank]):
        return None
    pivots = tuple(system.velocities.index(name) for name in names)
    _leave_some(system.rank, len(driven))
    return pivots


def _pivots(system: InTime, rows: np.ndarray) -> tuple[int, ...]:
    """The free velocities that determine those of the driven coordinates best."""
    _leave_some(rows.shape[1], len(rows))
    sizes = np.linalg.norm(rows, axis=1)
    names = [(system.system.coordinates or {i: f"q[{i}]"})[i] for i in system.driven]
    _, r, order = scipy.linalg.qr(rows / np.where(sizes > 0, sizes, 1.0)[:, None], mode="economic", pivoting=True)
    if not np.all(np.isfinite(rows)) or np.abs(np.diag(r))[-1] <= STUCK:
        raise InputError(
            f"{' and '.join(names)} cannot be prescribed at this q: the constraint lets no motion change "
            f"{'it' if len(names) == 1 else 'them independently'} (their rows of the frame on D are {rows.tolist()})."
        )
    return tuple(int(i) for i in order[: len(rows)])


def _leave_some(rank: int, driven: int) -> None:
    if driven >= rank:
        raise InputError(
            f"{driven} prescribed coordinates for {rank} free velocities leave none free: the motion is then given by "
            "the constraint alone, qdot = Psi xi, and there is no balance of momentum to integrate."
        )


def _others(size: int, taken: tuple[int, ...]) -> Array:
    return jnp.array([i for i in range(size) if i not in taken], int)


def _without(names: tuple[str, ...], indices: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(name for i, name in enumerate(names) if i not in indices)


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

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> System:
        ready = self.system.at(self.whole(jnp.asarray(q, float)), by)
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

    def check_shape(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> None:
        self.system.check_shape(self.whole(q), by)

    def shapes(self, q: Array) -> list[np.ndarray]:
        """What is drawn of it."""
        return self.system.shapes(self.whole(jnp.asarray(q, float)))  # type: ignore[attr-defined]

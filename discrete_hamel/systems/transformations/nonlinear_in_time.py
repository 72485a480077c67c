"""Time as a coordinate, and prescribed coordinates, where constraints are nonlinear in the velocities."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics.nonlinear import FromNonlinearConstraints, NonlinearSystem, from_nonlinear_constraints
from discrete_hamel.mechanics.system import System, Wrapper


class BesideTime(Wrapper):
    """A system without a frame with time as its last coordinate, t' = 1; z and the motion are the same."""

    system: System

    clock = -1

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        names = self.system.coordinates
        return (*names, "t") if names else ()

    def at_state(self, q: Array, v: Array) -> System:
        return self._with(self.system.at_state(q[:-1], v[:-1]))  # type: ignore[attr-defined]

    def velocity(self, q: Array, z: Array) -> Array:
        """(psi(q, z), 1)."""
        return jnp.append(self.system.velocity(q[:-1], z), 1.0)  # type: ignore[attr-defined]

    def z_of(self, q: Array, v: Array) -> Any:
        return self.system.z_of(q[:-1], v[:-1])  # type: ignore[attr-defined]

    def lagrangian(self, q: Array, v: Array) -> Array:  # v = qdot here
        return self.system.lagrangian(q[:-1], v[:-1])

    def force(self, q: Array, v: Array) -> Array:
        return jnp.append(self.system.force(q[:-1], v[:-1]), 0.0)

    def check_start(self, q: Array) -> None:
        self.system.check_start(q[:-1])

    def shapes(self, q: Any) -> Any:
        """What is drawn of it."""
        return self.system.shapes(q[:-1])  # type: ignore[attr-defined]


def prescribed_constraints(
    system: System, driven: tuple[int, ...], paths: tuple[Callable, ...], params: Any
) -> NonlinearSystem:
    """A system of constraints C(q, v) = 0 with some coordinates given by paths: those of C that is left, and t' = 1."""
    if not isinstance(system, FromNonlinearConstraints):
        raise ValueError(
            f"coordinates of {type(system).__name__} cannot be prescribed: which z gives way would have to be solved "
            "for in psi(q, z). Give its constraints as C(q, qdot) = 0 (dh.from_nonlinear_constraints); or put the "
            "paths into psi and L, with dh.timed's coordinate t."
        )
    beneath = _Beneath(driven, paths, params is not None)
    names = system.coordinates
    left = [name for i, name in enumerate(names) if i not in driven]
    return from_nonlinear_constraints(
        _Part("lagrangian", beneath),
        _Part("constraint", beneath),
        force=_Part("force", beneath),
        params={"system": system, "paths": params},
        coordinates=(*left, "t") if names else (),
    )


@dataclass(frozen=True)
class _Beneath:
    """(q, v) with time to the (q, v) beneath: driven coordinates put in, time left out."""

    driven: tuple[int, ...]
    paths: tuple[Callable, ...]
    with_params: bool

    def others(self, q: Array) -> Array:
        size = len(q) - 1 + len(self.driven)
        return jnp.array([i for i in range(size) if i not in self.driven], int)

    def place(self, q: Array, params: Any) -> Array:
        last = (params,) if self.with_params else ()
        driven = jnp.stack([jnp.asarray(path(q[-1], *last), q.dtype) for path in self.paths])
        whole = jnp.zeros(len(q) - 1 + len(self.driven), q.dtype).at[self.others(q)].set(q[:-1])
        return whole.at[jnp.array(self.driven, int)].set(driven)


@dataclass(frozen=True)
class _Part:
    """A function (q, v) of the system beneath."""

    name: str
    beneath: _Beneath

    def __call__(self, q: Array, v: Array, held: Any) -> Array:
        system = held["system"]
        whole, moved = jax.jvp(lambda q: self.beneath.place(q, held["paths"]), (q,), (v,))
        value = jnp.asarray(getattr(system, self.name)(whole, moved))
        if self.name == "force":
            return jnp.append(value[self.beneath.others(q)], 0.0)
        return jnp.append(value, v[-1] - 1.0) if self.name == "constraint" else value

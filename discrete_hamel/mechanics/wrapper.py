"""Systems made of another one: what they hand on to it unless they say otherwise."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import System


class Around(System):
    """Methods of a System with a field `system`, each that one's; a subclass overrides what it changes."""

    @property
    def rank(self) -> Any:
        return self._inner.rank

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]  # names depend on a field
        return self._inner.coordinates

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._inner.velocities

    @property
    def units(self) -> Mapping[str, str]:  # type: ignore[override]
        return self._inner.units

    @property
    def clock(self) -> Any:
        return self._inner.clock

    @property
    def brackets_by_autodiff(self) -> bool:
        return self._inner.brackets_by_autodiff

    @property
    def redundant(self) -> bool:
        return self._inner.redundant

    @property
    def _inner(self) -> Any:
        return self.system  # type: ignore[attr-defined]  # a field of every subclass

    @property
    def same_motion(self) -> bool:
        """Whether coordinates, fields and Lagrangian are those of the system within: forces may be more."""
        own = type(self)
        return own.frame is Around.frame and own.lagrangian is Around.lagrangian and own.slip is Around.slip

    @property
    def in_velocities(self) -> Any:
        return self._inner.in_velocities if self.same_motion else None

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self._inner.lagrangian(q, xi)

    def frame(self, q: Array) -> Array:
        return self._inner.frame(q)

    def structure(self, q: Array) -> Array:
        return self._inner.structure(q)

    def slip(self, q: Array) -> Array:
        return self._inner.slip(q)

    def force(self, q: Array, xi: Array) -> Array:
        return self._inner.force(q, xi)

    def holonomic(self, q: Array) -> Array:
        return self._inner.holonomic(q)

    def check(self) -> None:
        self._inner.check()

    def check_start(self, q: Array) -> None:
        self._inner.check_start(q)

    def at(self, q: Array) -> System:
        ready = self._inner.at(q)
        return self if ready is self._inner else self.replace(system=ready)

    def frame_margin(self, q: Array) -> Array:
        return self._inner.frame_margin(q)

    def shapes(self, q: Any) -> list[np.ndarray]:
        """What is drawn of it."""
        return self._inner.shapes(q)

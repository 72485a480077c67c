"""Homogeneous solids, for the masses of bodies and for films: about their own middle, in their own axes.

Each has a mass or a density, and knows its volume and its radii of gyration.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree
from discrete_hamel.systems._blocks import outlines
from discrete_hamel.systems.mechanisms.rotations import AXES


class Solid(Pytree):
    """A homogeneous solid: give its `mass` in kg, or its `density` in kg/m^3."""

    if TYPE_CHECKING:  # fields of the subclasses, not of this class
        mass: Scalar | None = None
        density: Scalar | None = None

    def volume(self) -> Scalar:
        """m^3."""
        raise InputError(f"a {type(self).__name__} has no volume; give its mass.")

    def second_moments(self) -> Sequence[Scalar]:
        """The means of x^2, y^2 and z^2 over the volume, m^2."""
        raise NotImplementedError

    def outline(self) -> list[np.ndarray]:
        """What a film draws, about the middle."""
        raise NotImplementedError

    def total_mass(self) -> Scalar:
        """The mass."""
        if (self.mass is None) == (self.density is None):
            raise InputError(f"a {type(self).__name__} needs its mass or its density, one of the two.")
        return self.density * self.volume() if self.mass is None else self.mass  # type: ignore[operator]  # one of the two is given

    def inertia(self) -> Array:
        """I about the middle: m (<r^2> - <x_i^2>) on the diagonal, 3 x 3, kg m^2."""
        means = jnp.stack([jnp.asarray(a, float) for a in self.second_moments()])
        return jnp.diag(self.total_mass() * (jnp.sum(means) - means))


class Box(Solid):
    """A block, its edges along x, y and z.

    >>> import discrete_hamel as dh
    >>> Box = dh.mechanisms.Box
    >>> Box((1.0, 2.0, 3.0), mass=12.0).inertia().diagonal().round(12).tolist()
    [13.0, 10.0, 5.0]
    """

    edges: Sequence[float] = (1.0, 1.0, 1.0)  # m
    mass: Scalar | None = None  # kg
    density: Scalar | None = None  # kg/m^3

    def volume(self) -> Scalar:
        a, b, c = self.edges
        return a * b * c

    def second_moments(self) -> Sequence[Scalar]:
        return [a**2 / 12 for a in self.edges]

    def outline(self) -> list[np.ndarray]:
        corners = 0.5 * np.asarray(self.edges, float) * np.array(
            [[x, y, z] for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1))]
        )  # fmt: skip
        return [corners[:5], corners[5:], *(corners[[i, i + 5]] for i in range(4))]


class Cylinder(Solid):
    """A cylinder or a disk about an axis."""

    radius: Scalar = 1.0  # m
    length: Scalar = 0.0  # m, along the axis; a disk has none, and needs its mass
    axis: str = "z"  # of the body's own: x, y or z
    mass: Scalar | None = None  # kg
    density: Scalar | None = None  # kg/m^3

    def volume(self) -> Scalar:
        return jnp.pi * self.radius**2 * self.length

    def second_moments(self) -> Sequence[Scalar]:
        return _along(self.axis, self.radius**2 / 4, self.length**2 / 12)

    def outline(self) -> list[np.ndarray]:
        axis, across, up = _triad(self.axis)
        radius, half = float(self.radius), 0.5 * float(self.length) * axis
        middles = (half, -half) if half.any() else (half,)
        return [part for middle in middles for part in outlines.disk(middle, radius * across, radius * up)]


class Hoop(Cylinder):
    """A hoop or a tube: all its mass at the radius."""

    volume = Solid.volume

    def second_moments(self) -> Sequence[Scalar]:
        return _along(self.axis, self.radius**2 / 2, self.length**2 / 12)


class Sphere(Solid):
    """A ball."""

    radius: Scalar = 1.0  # m
    mass: Scalar | None = None  # kg
    density: Scalar | None = None  # kg/m^3

    def volume(self) -> Scalar:
        return 4 / 3 * jnp.pi * self.radius**3

    def second_moments(self) -> Sequence[Scalar]:
        return [self.radius**2 / 5] * 3

    def outline(self) -> list[np.ndarray]:
        return [outlines.ellipsoid(np.eye(3), [float(self.radius)] * 3)]


class Shell(Sphere):
    """A hollow ball: all its mass at the radius."""

    volume = Solid.volume

    def second_moments(self) -> Sequence[Scalar]:
        return [self.radius**2 / 3] * 3


class Rod(Solid):
    """A thin rod about its middle, along an axis: it needs its mass."""

    length: Scalar = 1.0  # m
    axis: str = "z"  # of the body's own: x, y or z
    mass: Scalar | None = None  # kg
    density: Scalar | None = None  # kg/m^3

    def second_moments(self) -> Sequence[Scalar]:
        return _along(self.axis, 0.0 * self.length, self.length**2 / 12)

    def outline(self) -> list[np.ndarray]:
        half = 0.5 * float(self.length) * np.array(AXES[self.axis])
        return [outlines.segment(-half, half)]


def _along(axis: str, across: Scalar, along: Scalar) -> list[Scalar]:
    return [along if a == axis else across for a in "xyz"]


def _triad(axis: str) -> np.ndarray:
    """A unit axis and two across it."""
    return np.roll(np.eye(3), -"xyz".index(axis), axis=0)

"""Axisymmetric bodies that roll on a horizontal plane, each given by one function of its lean.   [MD] chapter 9"""

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.arrays import PyTree, Scalar
from discrete_hamel.mechanics.system import Invariant
from discrete_hamel.systems._blocks import physical, roundness
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.rolling import Rolling, axisymmetric_moments, spin_of_the_body


def support_of_disk(c: Array, radius: Array) -> Array:
    """h = radius sin(theta): a thin disk or a hoop, whose axis has c = cos(theta) upward."""
    return radius * jnp.sqrt(1 - c**2)


def support_of_sphere(c: Array, sizes: Array | tuple) -> Array:
    """h = radius + offset c: a spherical base, the mass centre above its centre; sizes = (offset, radius)."""
    offset, radius = sizes
    return radius + offset * c


def support_of_spheroid(c: Array, sizes: Array | tuple) -> Array:
    """h = sqrt(b^2 sin^2 + a^2 cos^2) of semi-axes b across and a along the axis; sizes = (b, a)."""
    across, along = sizes
    return jnp.sqrt(across**2 * (1 - c**2) + along**2 * c**2)


class RollingBody(Rolling):
    """A body of revolution, the mass centre on its axis, that rolls without slipping on a horizontal plane.

    Its shape is the support function h(c), the height of the mass centre when the body's third axis makes the angle
    theta, c = cos(theta) = gamma3, with the vertical; h(c, params) where `params`, any pytree, is given. With
    r = h - c h'(c) and a = h'(c) the mass centre is at rho = a e_3 + r gamma from the contact. [MD] takes h and
    d = a + r c for independent; they are not: r' + a' c = 0.

    Coordinates, quasi-velocities and l are those of `Rolling`, J = diag(J1, J1, J3), [MD] (9.1), (9.2). With
    omega_3 = Omega1 + c Omega2 and sin^2(theta) Omega2 = gamma1 omega1 + gamma2 omega2 the motion obeys

        a J3 omega3' + r (J3 c omega3 + J1 sin^2 Omega2)' = 0                                       [MD] (9.12)
        J3 omega3' + m r sin (sin [r omega3 - (a + r c) Omega2])' = m r sin (r + a c) Omega2 theta'    [MD] (9.13)

    and E = {J1 + m (a^2 + 2 a r c + r^2)} theta'^2 / 2 + m g (r + a c)
          + {J3 omega3^2 + J1 sin^2 Omega2^2 + m sin^2 [(a + r c) Omega2 - r omega3]^2} / 2.        [MD] 9.6

    Energy is bounded. Two more constants, linear in the velocity, are solutions of the linear equations (9.12-13).
    Steady motions, theta fixed, are lost at O(h^2), because gamma and omega turn in the body's axes with its spin;
    `RollingBodyAngles` keeps them to round-off, but has a pole where this has none, upright.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> egg = dh.systems.RollingBody(dh.systems.rolling_bodies.support_of_spheroid, params=(0.5, 0.8))
    >>> float(egg.height(jnp.array([0.0, 0.0, 1.0])))     # upright
    0.8
    """

    support: Callable = support_of_spheroid
    params: PyTree = (0.8, 0.5)  # m, passed to `support` as second argument unless None
    mass: float = 1.0  # kg
    inertia_across: float = 0.4  # kg m^2, about axes through the mass centre across the body's axis (J1)
    inertia_axis: float = 0.5  # kg m^2, about the body's axis (J3)
    gravity: float = 9.8  # m/s^2

    def shape_of_revolution(self) -> tuple[Callable, PyTree]:
        """The support function h(c), and its parameters."""
        return self.support, self.params

    def height_at(self, c: Array) -> Array:
        """h(c)."""
        return self.support(c) if self.params is None else self.support(c, self.params)

    def height(self, gamma: Array) -> Array:
        return self.height_at(gamma[2])

    def to_centre(self, gamma: Array) -> Array:
        h, slope = jax.value_and_grad(self.height_at)(gamma[2])
        return ((h - gamma[2] * slope) * gamma).at[2].add(slope)

    def moments(self) -> Array:
        return _axisymmetric(self.inertia_across, self.inertia_axis)

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return Rolling.symmetries(self) | {"rotation about the body's axis": spin_of_the_body}

    def check(self) -> None:
        physical.positive(self, "mass")
        physical.not_negative(self, "gravity")
        axisymmetric_moments(self, "inertia_across", "inertia_axis")

    def check_shape(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> None:
        roundness.convex_of_revolution(self, by)

    def sample(self) -> dict:
        """A leaning body that spins and falls a little."""
        return {"q": leaning(0.9), "xi": (0.157, -0.548, 2.665), "h": 0.01}


class RouthTop(Rolling):
    """A top with a spherical base that rolls on a plane: the tippe top's shape (offset < 0), without its slipping.

    rho = a e_3 + r gamma with a the height of the mass centre above the base's centre and r the base's radius; for
    r = 0 the top stands on a point that does not slip, Lagrange's top. Coordinates, quasi-velocities and l are those of
    `Rolling`. With c = gamma3, s^2 = 1 - c^2:

        C1 = J3 (a + r c) omega3 + r J1 s^2 Omega2 = rho . J omega         Jellett's integral, [MD] 9.5 (Routh 243)
        C2 = omega3 sqrt(J1 (J3 + m r^2 s^2) + m J3 (a + r c)^2)           Routh's integral, [MD] 9.5
        U = (C2^2 - m C1^2 / J3) / (2 J1) + m g (r + a c) + {C1 D - C2 J3 (a + r c)}^2 / (2 r^2 J1^2 J3 s^2)

    with D the root in C2; E = {J1 + m (a^2 + 2 a r c + r^2)} theta'^2 / 2 + U(theta). Sleeping (theta = 0, spin n) is
    stable iff n^2 [J3 + m r (a + r)]^2 > 4 m g a (J1 + m (a + r)^2). Energy is bounded. Leaning steady motions are lost
    at O(h^2); `RollingBodyAngles.of` has the same top in axes in which they are kept, but for sleeping.

    >>> import discrete_hamel as dh
    >>> top = dh.systems.RouthTop(radius=0.0)     # Lagrange's top
    >>> sorted(top.invariants())
    ['Jellett', 'Routh', 'energy', 'trace of R^T R']
    """

    mass: float = 1.0  # kg
    inertia_across: float = 0.7  # kg m^2, about axes through the mass centre across the body's axis (J1)
    inertia_axis: float = 0.45  # kg m^2, about the body's axis (J3)
    offset: float = 0.2  # m, mass centre above the centre of the spherical base, along the body's axis (a)
    radius: float = 0.35  # m, of the spherical base (r)
    gravity: float = 9.8  # m/s^2

    units = SI | {"Jellett": "kg m^3/s", "Routh": "kg m^2/s"}

    def height(self, gamma: Array) -> Array:
        return self.radius + self.offset * gamma[2]

    def to_centre(self, gamma: Array) -> Array:
        return (self.radius * gamma).at[2].add(self.offset)

    def moments(self) -> Array:
        return _axisymmetric(self.inertia_across, self.inertia_axis)

    def shape_of_revolution(self) -> tuple[Callable, PyTree]:
        """The support function h(c), and its parameters."""
        return support_of_sphere, (self.offset, self.radius)

    def jellett(self, q: Array, xi: Array) -> Array:
        """rho . J omega."""
        return self.to_centre(q[6:9]) @ self.moments() @ xi[:3]

    def routh(self, q: Array, xi: Array) -> Array:
        """omega3 sqrt(J1 (J3 + m r^2 s^2) + m J3 (a + r c)^2)."""
        c, r, j1, j3 = q[8], self.radius, self.inertia_across, self.inertia_axis
        square = j1 * (j3 + self.mass * r**2 * (1 - c**2)) + self.mass * j3 * (self.offset + r * c) ** 2
        return xi[2] * jnp.sqrt(square)

    def invariants(self) -> dict[str, Invariant]:
        return Rolling.invariants(self) | {
            "Jellett": Invariant(self.jellett, "exact"),
            "Routh": Invariant(self.routh, "bounded"),
        }

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return Rolling.symmetries(self) | {"rotation about the body's axis": spin_of_the_body}

    def check(self) -> None:
        physical.positive(self, "mass")
        physical.not_negative(self, "gravity", "radius")
        axisymmetric_moments(self, "inertia_across", "inertia_axis")

    def sample(self) -> dict:
        """A leaning top that spins and falls a little."""
        return {"q": leaning(0.9), "xi": (0.157, -0.548, 2.665), "h": 0.01}


def _axisymmetric(across: Scalar, axis: Scalar) -> Array:
    return jnp.diag(jnp.stack([across, across, axis]))


def leaning(theta: float) -> tuple[float, ...]:
    """R_1(theta), row by row, and the origin of the plane: the body's axis leans by theta towards -y."""
    c, s = math.cos(theta), math.sin(theta)
    return (1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c, 0.0, 0.0)

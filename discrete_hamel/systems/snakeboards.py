"""The snakeboard, which drives itself by turning a rotor and its wheels."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.carts import DrivenInPlane, in_the_plane, plane_symmetries, wheel


class Snakeboard(System):
    """A board on two wheel sets that turn in opposite senses by the angle phi, with a rotor on top, both let go.

    Coordinates (theta, x, y, psi, phi): heading, middle of the board, rotor and front wheels against the board; the
    rear wheels stand at -phi. Quasi-velocities (v, psi', phi', slips): v carries the board forward by cos(phi) and
    turns it by sin(phi) / l, which leaves no wheel skidding; the slips are sideways and across v.

        L = {m |x'|^2 + J theta'^2 + J_r (theta' + psi')^2 + 2 J_w (theta'^2 + phi'^2)} / 2

    with l half the length. J_r (theta' + psi') and phi' are exact, energy is bounded. At phi = +-pi/2 the two
    constraints are one and the frame, which goes on, keeps both of its slips. Reference: [ND] momentum equation;
    Lewis, Ostrowski, Murray and Burdick (1994).
    """

    mass: float = 1.0  # kg
    inertia: float = 0.2  # kg m^2, of the board about the vertical (J)
    rotor_inertia: float = 0.1  # kg m^2 (J_r)
    wheel_inertia: float = 0.05  # kg m^2, of each wheel set about the vertical (J_w)
    half_length: float = 0.5  # m, middle to wheels (l)

    rank = 3
    coordinates = ("theta", "x", "y", "psi", "phi")
    velocities = ("v", "psi'", "phi'", "sideways", "across v")
    units = SI

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return _snakeboard_energy(self, _snakeboard_wheels(self, q[4]) @ xi[jnp.array([0, 3, 4])], xi[1], xi[2])

    def frame(self, q: Array) -> Array:
        v, sideways, across = (in_the_plane(q[0]) @ _snakeboard_wheels(self, q[4])).T
        place = jnp.stack([v, jnp.zeros(3), jnp.zeros(3), sideways, across], axis=1)
        return jnp.concatenate([place, jnp.eye(5)[1:3]])

    def invariants(self) -> dict[str, Invariant]:
        def rotor(q: Array, xi: Array) -> Array:
            return self.rotor_inertia * (xi[1] + (self.frame(q) @ xi)[0])

        return {
            "energy": Invariant(self.lagrangian, "bounded"),
            "rotor momentum": Invariant(rotor, "exact"),
            "phi'": Invariant(lambda q, xi: xi[2], "exact"),
        }

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return plane_symmetries(self.coordinates) | {"rotation of the rotor": lambda q: jnp.zeros(5).at[3].set(1.0)}

    def check(self) -> None:
        _check_snakeboard(self)

    def sample(self) -> dict:
        """Rolling, the rotor and the wheels turning."""
        return {"q": (0.0, 0.0, 0.0, 0.0, 0.3), "xi": (0.5, 2.0, 0.4), "h": 0.02}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Board, wheels and rotor, in the plane."""
        theta, x, y, psi, phi = np.asarray(q, float)
        return _snakeboard(float(self.half_length), theta, x, y, psi, phi)


class DrivenSnakeboard(DrivenInPlane):
    """The snakeboard whose rotor psi(t) and wheels phi(t) are prescribed: it moves from rest by turning them.

    Coordinates (theta, x, y, t); quasi-velocities (v, slips, t'), where t' = 1 is a slip. Parameters as for
    `Snakeboard`. With m l^2 = J + J_r + 2 J_w, as in [ND]'s reference,

        m v' = -(J_r / l) psi'' sin(phi)

    Nothing is conserved.
    """

    mass: float = 1.0  # kg
    inertia: float = 0.05  # kg m^2, of the board about the vertical (J)
    rotor_inertia: float = 0.1  # kg m^2 (J_r)
    wheel_inertia: float = 0.05  # kg m^2, of each wheel set about the vertical (J_w)
    half_length: float = 0.5  # m, middle to wheels (l)
    rotor: Callable = jnp.sin  # psi(t)
    steering: Callable = jnp.sin  # phi(t)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        rotor, steering = (jax.jvp(angle, (q[3],), (xi[3],))[1] for angle in (self.rotor, self.steering))
        return _snakeboard_energy(self, _snakeboard_wheels(self, self.steering(q[3])) @ xi[:3], rotor, steering)

    def frame(self, q: Array) -> Array:
        return _with_time(in_the_plane(q[0]) @ _snakeboard_wheels(self, self.steering(q[3])))

    def check(self) -> None:
        _check_snakeboard(self)

    def sample(self) -> dict:
        """From rest: rotor and wheels in phase drive it ahead."""
        return {"q": (0.0, 0.0, 0.0, 0.0), "xi": (0.0,), "h": 0.02}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Board, wheels and rotor, in the plane."""
        theta, x, y, t = np.asarray(q, float)
        return _snakeboard(float(self.half_length), theta, x, y, float(self.rotor(t)), float(self.steering(t)))


# Planar velocities below are (turning, forward, sideways).


def _snakeboard_wheels(board: "Snakeboard | DrivenSnakeboard", phi: Array) -> Array:
    """Columns v, sideways, across v."""
    c, s, length = jnp.cos(phi), jnp.sin(phi), board.half_length
    return jnp.array([[s / length, 0.0, c], [c, 0.0, -s * length], [0.0, 1.0, 0.0]])


def _snakeboard_energy(board: "Snakeboard | DrivenSnakeboard", planar: Array, rotor: Array, steering: Array) -> Array:
    turning, forward, sideways = planar
    moving = board.mass * (forward**2 + sideways**2) + board.inertia * turning**2
    on_top = board.rotor_inertia * (turning + rotor) ** 2 + 2 * board.wheel_inertia * (turning**2 + steering**2)
    return 0.5 * (moving + on_top)


def _with_time(place: Array) -> Array:
    """The frame on (theta, x, y, t) of fields in the plane and d/dt."""
    n = place.shape[1]
    return jnp.concatenate([jnp.concatenate([place, jnp.zeros((3, 1))], axis=1), jnp.eye(n + 1)[n:]])


def _check_snakeboard(board: "Snakeboard | DrivenSnakeboard") -> None:
    physical.positive(board, "mass", "inertia", "rotor_inertia", "wheel_inertia", "half_length")


def _snakeboard(length: float, theta: float, x: float, y: float, psi: float, phi: float) -> list[np.ndarray]:
    ends = outlines.planar(theta, x, y, [(-length, 0.0), (length, 0.0)])
    side = 0.12 * length
    board = [(-length, -side), (length, -side), (length, side), (-length, side), (-length, -side)]
    bar = np.array([(-0.5, -0.05), (0.5, -0.05), (0.5, 0.05), (-0.5, 0.05), (-0.5, -0.05)]) * length
    rotor = outlines.planar(theta + psi, x, y, bar).view(outlines.Load)
    wheels = []
    for end, turn in zip(ends, (theta - phi, theta + phi), strict=True):  # two on each turning axle
        axle = outlines.planar(turn, end[0], end[1], [(0.0, -2 * side), (0.0, 2 * side)])
        wheels += [axle, *(wheel(turn, place, 0.14 * length) for place in axle)]
    return [outlines.planar(theta, x, y, board).view(outlines.Solid), rotor, *wheels]

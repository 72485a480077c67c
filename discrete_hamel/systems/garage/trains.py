"""Links one behind the other on wheels: a car with trailers, and a snake."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.systems._blocks import outlines, physical
from discrete_hamel.systems._blocks.units import SI
from discrete_hamel.systems.carts import Car, wheel
from discrete_hamel.systems.garage.carried import Vehicle, heading, plane_motions


class CarWithTrailers(Vehicle):
    """A car as `Car`, that pulls trailers; none of the axles skids.

    Coordinates (theta, x, y, alpha, theta1..thetan): heading of the car, middle of its rear axle, steering angle, and
    headings of the trailers, all against the plane. Quasi-velocities (v, alpha', slips): v the speed of the front
    wheel; the slips are the rear axle's sideways velocity, turning beyond v sin(alpha) / l, and that of the trailers.
    A trailer's drawbar, of length L, is hooked on at h behind the axle before it:

        w_i = v_{i-1} - h theta_{i-1}' n_{i-1},   L theta_i' = w_i . n_i,   v_i = (w_i . t_i) t_i
        L = L_car + sum_i {m_t |v_i + c_t theta_i' n_i|^2 + J_t theta_i'^2} / 2

    Energy is bounded and J_S (alpha' + theta') exact. Laumond (1993); hooks off the axles: Rouchon et al. (1993). As on
    the road, driving backward folds the train.
    """

    trailers: int = 2
    mass: float = 1.0  # kg, of the car
    inertia: float = 0.3  # kg m^2, of the car about the vertical through its mass centre
    steering_inertia: float = 0.02  # kg m^2, of the front wheel about the vertical (J_S)
    wheelbase: float = 1.0  # m, rear axle to front wheel (l)
    centre: float = 0.4  # m, rear axle to mass centre
    hook: float = 0.2  # m, behind each axle (h)
    drawbar: float = 0.8  # m, hook to the trailer's axle (L)
    trailer_mass: float = 0.5  # kg (m_t)
    trailer_inertia: float = 0.1  # kg m^2, about the vertical through its mass centre (J_t)
    trailer_centre: float = 0.1  # m, axle to the trailer's mass centre, ahead (c_t)

    rank = 2
    units = (
        SI
        | {"hook": "m", "drawbar": "m", "trailer_mass": "kg", "trailer_inertia": "kg m^2", "trailer_centre": "m"}
        | {f"slip theta{i}": "rad/s" for i in range(1, 100)}
    )

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as there are trailers
        return ("theta", "x", "y", "alpha", *(f"theta{i + 1}" for i in range(self.trailers)))

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as there are trailers
        return ("v", "alpha'", "sideways", "turning", *(f"slip theta{i + 1}" for i in range(self.trailers)))

    def qdot(self, q: Array, xi: Array) -> Array:
        v, steering, sideways, slip = xi[:4]
        c, s = jnp.cos(q[3]), jnp.sin(q[3])
        along, across = heading(q[0])
        rates = [v * s / self.wheelbase + c * slip]
        rear = (v * c - s * self.wheelbase * slip) * along
        velocity = rear
        for angle, beyond in zip(q[4:], xi[4:], strict=True):
            hooked = velocity - self.hook * rates[-1] * across
            along, across = heading(angle)
            rates.append(hooked @ across / self.drawbar + beyond)
            velocity = (hooked @ along) * along
        rear = rear + sideways * heading(q[0])[1]
        return jnp.stack([rates[0], *rear, steering, *rates[1:]])

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        _, across = heading(q[0])
        axle, turning = v[1:3], v[0]
        centre = axle + self.centre * turning * across
        twice = self.mass * centre @ centre + self.inertia * turning**2 + self.steering_inertia * (v[3] + turning) ** 2
        for angle, rate in zip(q[4:], v[4:], strict=True):
            hooked = axle - self.hook * turning * across
            turning, (_, across) = rate, heading(angle)
            axle = hooked - self.drawbar * turning * across
            centre = axle + self.trailer_centre * turning * across
            twice += self.trailer_mass * centre @ centre + self.trailer_inertia * turning**2
        return 0.5 * twice, jnp.zeros(())

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        size = len(self.coordinates)
        return plane_motions(size, (0, *range(4, size)), (1, 2))

    def check(self) -> None:
        if self.trailers < 0:
            raise InputError(f"the parameter trailers of CarWithTrailers must not be negative; it is {self.trailers}.")
        physical.positive(self, "mass", "inertia", "steering_inertia", "wheelbase", "drawbar")
        physical.not_negative(self, "trailer_mass", "trailer_inertia")

    def sample(self) -> dict:
        """Into a curve, the train straight."""
        return {"q": (0.0, 0.0, 0.0, 0.3, *(0.0,) * self.trailers), "xi": (1.0, 0.2), "h": 0.02}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Car, drawbars and trailers, from above."""
        q = np.asarray(q, float)
        length, hook, bar = float(self.wheelbase), float(self.hook), float(self.drawbar)
        w = 0.2 * length
        drawn = Car(wheelbase=length).shapes(q[:4])
        place, turn = q[1:3], q[0]
        for angle in q[4:]:
            hooked = place - hook * np.array([np.cos(turn), np.sin(turn)])
            place, turn = hooked - bar * np.array([np.cos(angle), np.sin(angle)]), angle
            box = [(-w, -w), (0.6 * bar, -w), (0.6 * bar, w), (-w, w), (-w, -w)]
            hubs = outlines.planar(turn, place[0], place[1], [(0.0, -w), (0.0, w)])
            drawn += [
                outlines.planar(turn, place[0], place[1], box).view(outlines.Solid),
                outlines.segment(hooked, place),
                *(wheel(turn, hub, 0.6 * w) for hub in hubs),
            ]
        return drawn


class WheeledSnake(Vehicle):
    """Links hinged to one another, each with wheels under its middle that do not skid.

    Coordinates (x, y, theta1..thetan): middle of the first link, and headings. Quasi-velocities: speed and turning of
    the first link, which every other follows; then the first one's sideways slip, and the turning of the others beyond
    what their wheels make it. With a link's length l, v_1 = speed t_1,

        w = v_{i-1} - (l / 2) theta_{i-1}' n_{i-1},   (l / 2) theta_i' = w . n_i,   v_i = (w . t_i) t_i
        L = sum_i {m |v_i|^2 + J theta_i'^2} / 2

    Energy is bounded. Hirose (1993), Ostrowski and Burdick (1998). A snake that goes backward folds up.
    """

    links: int = 4
    length: float = 0.2  # m, of a link (l)
    mass: float = 0.5  # kg, of a link (m)
    inertia: float = 0.002  # kg m^2, of a link about the vertical through its middle (J)

    rank = 2
    units = SI | {"speed": "m/s"} | {f"slip theta{i}": "rad/s" for i in range(1, 100)}

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as there are links
        return ("x", "y", *(f"theta{i + 1}" for i in range(self.links)))

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]  # as many as there are links
        return ("speed", "turning", "sideways", *(f"slip theta{i + 1}" for i in range(1, self.links)))

    def qdot(self, q: Array, xi: Array) -> Array:
        along, across = heading(q[2])
        velocity, rates = xi[0] * along, [xi[1]]
        first = velocity + xi[2] * across
        half = 0.5 * self.length
        for angle, beyond in zip(q[3:], xi[3:], strict=True):
            hinge = velocity - half * rates[-1] * across
            along, across = heading(angle)
            rates.append(hinge @ across / half + beyond)
            velocity = (hinge @ along) * along
        return jnp.stack([*first, *rates])

    def energies(self, q: Array, v: Array) -> tuple[Array, Array]:
        turns = (
            0.5 * self.length * v[None, 2:] * jnp.stack([-jnp.sin(q[2:]), jnp.cos(q[2:])])
        )  # of half a link, 2 x links
        middles = v[:2, None] - (2 * jnp.cumsum(turns, axis=1) - turns - turns[:, :1])
        return 0.5 * (self.mass * jnp.sum(middles**2) + self.inertia * v[2:] @ v[2:]), jnp.zeros(())

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Generators, q to qdot."""
        return plane_motions(self.links + 2, tuple(range(2, self.links + 2)), (0, 1))

    def check(self) -> None:
        if self.links < 1:
            raise InputError(f"the parameter links of WheeledSnake must be at least 1; it is {self.links}.")
        physical.positive(self, "length", "mass", "inertia")

    def sample(self) -> dict:
        """In waves, coasting: it winds up in the end, but not soon."""
        waves = tuple(float(a) for a in 0.6 * np.cos(1.2 * np.arange(self.links)))
        return {"q": (0.0, 0.0, *waves), "xi": (0.3, 0.0), "h": 0.01}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """Links and wheels, from above."""
        q, length = np.asarray(q, float), float(self.length)
        drawn: list[np.ndarray] = []
        place, before = q[:2], None
        for angle in q[2:]:
            along = np.array([np.cos(angle), np.sin(angle)])
            if before is not None:
                place = place - 0.5 * length * (before + along)
            box = 0.5 * length * np.array([(-0.9, -0.2), (0.9, -0.2), (0.9, 0.2), (-0.9, 0.2), (-0.9, -0.2)])
            hubs = outlines.planar(angle, place[0], place[1], [(0.0, -0.2 * length), (0.0, 0.2 * length)])
            drawn += [outlines.planar(angle, place[0], place[1], box).view(outlines.Solid)]
            drawn += [wheel(angle, hub, 0.12 * length) for hub in hubs]
            before = along
        return drawn

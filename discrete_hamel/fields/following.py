"""A string on ice: no point of it moves sideways, so it follows its front end."""

import math
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.fields.complex_points import complex_of, points_along, square
from discrete_hamel.fields.line import Line

KINK = 1e-6  # rad, between the string at its front and where it goes


def follow(links: Array, first: Array, sideways: Array, stretching: Array) -> Array:
    """The points' velocities (complex), from the front's: on each link the edge forbids sideways motion at its middle.

    Links are unit vectors that point ahead, from the front backwards; along a link the velocity falls by `stretching`,
    and across it its mean is `sideways`. Where both vanish, v_{k+1} is v_k mirrored at the link: all speeds are equal.

    >>> v = follow(jnp.exp(1j * jnp.array([0.1, 0.3])), jnp.asarray(2.0 + 0j), jnp.zeros(2), jnp.zeros(2))
    >>> np.abs(v).round(12).tolist(), np.angle(v).round(12).tolist()
    ([2.0, 2.0, 2.0], [0.0, 0.2, 0.4])
    """

    # With every other velocity conjugated, u_{k+1} = g_k u_k + d_k, |g_k| = 1: sums of angles, and one weighted sum.
    parity = (-1.0) ** np.arange(1, len(links) + 1)
    angles = 2 * jnp.cumsum(parity * jnp.arctan2(links.imag, links.real))
    turned = lax.complex(jnp.cos(angles), jnp.sin(angles))
    added = jnp.conj(turned) * _where(parity, links / jnp.abs(links) * lax.complex(-stretching, 2 * sideways))
    rest = turned * (first + jnp.cumsum(added))
    return jnp.concatenate([first[None], _where(parity, rest)])


def across_links(links: Array, velocities: Array) -> tuple[Array, Array]:
    """(sideways, stretching) of the links, from the points' velocities: `follow` undone.

    >>> links = jnp.exp(1j * jnp.array([0.1, 0.3]))
    >>> v = follow(links, jnp.asarray(2.0 + 0j), jnp.array([0.5, 0.6]), jnp.array([0.7, 0.8]))
    >>> [np.asarray(a).round(12).tolist() for a in across_links(links, v)]
    [[0.5, 0.6], [0.7, 0.8]]
    """
    ahead = jnp.conj(links / jnp.abs(links))
    return 0.5 * (ahead * (velocities[:-1] + velocities[1:])).imag, -(ahead * jnp.diff(velocities)).real


def drawn_along(links: Array, first: Array, ratio: Array) -> Array:
    """The links after an interval in which their front has moved at the velocity `first`; ratio = h / ds. (D1), solved.

    At tau = 1/2 the middle of a link, mean over the interval, moves along that link's mean direction. This says that
    link and velocity are mirrored at one direction, so that no equation is left to solve: with c = h / ds

        w = e_k + c v_{k-1},   t = 2 i w Im(conj(v_{k-1}) e_k) / |w|^2,   v_k = v_{k-1} + t,   e_k' = e_k - c t

    With c |v| = 1 links move up by one.

    >>> links = jnp.exp(1j * jnp.array([0.3, 0.2, 0.1]))
    >>> np.angle(drawn_along(links, jnp.exp(0.4j), jnp.asarray(1.0))).round(12).tolist()
    [0.4, 0.3, 0.2]
    """

    def one(velocity: Array, link: Array) -> tuple[Array, Array]:
        between = link + ratio * velocity
        turn = 2j * between * (jnp.conj(velocity) * link).imag / square(between)  # small, and so is its round-off
        return velocity + turn, link - ratio * turn

    return lax.scan(one, first, links)[1]


def _where(parity: np.ndarray, z: Array) -> Array:
    """z, conjugated where the parity is -1."""
    return lax.complex(z.real, parity * z.imag)


class Trailing(Line):
    """What strings behind a front share: coordinates (one number; x, y of the front; e_1, ..), links pointing ahead."""

    velocity: Callable

    def links(self, q: Array) -> Array:
        """e_k, complex."""
        return complex_of(q[3:])

    def places(self, q: Array) -> Array:
        """z_k, complex, from the front."""
        return trail(complex_of(q[1:3])[0], self.links(q), self.spacing)

    def stretch(self, q: Array, _: Array) -> Array:
        """The largest | |e_k| - 1 |."""
        return jnp.max(jnp.abs(jnp.abs(self.links(q)) - 1.0))

    def frame(self, q: Array) -> Array:
        """Psi(q) of q' = Psi xi."""
        return jax.jacfwd(partial(self.velocity, q))(jnp.zeros(2 * self.points + 1))


def laid_behind(angle: Callable, length: float, points: int, ahead: float, goes: str) -> np.ndarray:
    """(Re e_1, Im e_1, ..) of a string with the tangent angle(s), s from its tail, behind a front that goes at `ahead`.

    A link has the mean of the angles at its ends: then the directions that mirroring makes of the front's, 2 phi_1 -
    theta_0 and so on, are the angles at the points. (With the angle at its middle they would alternate about these.)
    """
    theta = np.array([float(angle(s)) for s in np.linspace(length, 0.0, points)])
    kink = math.remainder(ahead - theta[0], 2 * math.pi)
    if abs(kink) > KINK:
        raise InputError(
            f"the string has a kink at its front: it lies at angle(length) = {theta[0]:.6g} rad there and goes at "
            f"{goes} = {ahead:.6g} rad, {kink:.3g} rad to the side. A point that moves sideways is what the "
            "constraint forbids; let the two agree."
        )
    links = 0.5 * (theta[1:] + theta[:-1])
    return np.column_stack([np.cos(links), np.sin(links)]).ravel()


def trail(front: Array, links: Array, spacing: Array | float) -> Array:
    """The points (complex) behind the front."""
    return points_along(front, -spacing * links)


def polyline(z: ArrayLike) -> np.ndarray:
    """The points as a polyline."""
    return np.column_stack([np.real(z), np.imag(z)])

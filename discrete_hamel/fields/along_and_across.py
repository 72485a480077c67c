"""The string's velocity along and across it, with its bracket: [HE] Example 3.2 as it stands, on nodal values."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.fields.complex_points import complex_of, pairs_of, square
from discrete_hamel.fields.string import String
from discrete_hamel.fields.tension import tension
from discrete_hamel.mechanics.system import System


class AlongAndAcross(System):
    """A free String in the velocities xi = u + i w along and across it: z' = z_s xi.

    Coordinates: the points z_k as (x_0, y_0, x_1, ..); quasi-velocities (u_0, w_0, u_1, ..), all free. With D the
    difference quotient of second order (one-sided at the ends), t = D z:

        z_k' = t_k xi_k                                                                  [HE] (3.14)
        [xi, eta] = (D(t xi) eta - D(t eta) xi) / t  ->  xi_s eta - xi eta_s             [HE] (3.15)
        xi' = xi conj(xi)_s + lambda_s + i kappa (lambda - |xi|^2) + O(ds^2)             [HE] (3.17)

    The tension enters as a force, the multiplier of the accelerations (`tension`), so lengths are kept by the exact
    motion only; a scheme keeps them as well as its order is. For long runs take `String`, which cannot stretch. A step
    at linear cost is `NeighbourTension`. `turned` chooses Remark 3.2's substitution z' = (z_s / |z_s|) xi, with
    the bracket of se(2):

        [xi, eta] = i (omega(xi) eta - omega(eta) xi),   omega(xi) = Im(D(t xi / |t|) / t)
    """

    string: String = String()  # points, mass, length and the rest
    turned: bool = False

    linear_cost = "dh.fields.NeighbourTension()"

    @property
    def rank(self) -> int:
        return 2 * self.string.points

    def tangents(self, q: Array) -> Array:
        """t_k, or t_k / |t_k|, as complex numbers."""
        t = _slope(complex_of(q), self.string.spacing)
        return t / jnp.abs(t) if self.turned else t

    def velocity(self, q: Array, xi: Array) -> Array:
        """qdot = Psi(q) xi."""
        return pairs_of(self.tangents(q) * complex_of(xi))

    def quasivelocity(self, q: Array, v: Array) -> Array:
        """xi with Psi(q) xi = v."""
        return pairs_of(complex_of(v) / self.tangents(q))

    def frame(self, q: Array) -> Array:
        return jax.jacfwd(partial(self.velocity, q))(jnp.zeros(self.rank))

    def bracket(self, q: Array, xi: Array, eta: Array) -> Array:
        """[xi, eta]_q of the discrete fields."""
        ds, directions = self.string.spacing, self.tangents(q)
        a, b = complex_of(xi), complex_of(eta)
        along_a, along_b = (_slope(directions * c, ds) for c in (a, b))
        if not self.turned:
            return pairs_of((along_a * b - along_b * a) / directions)
        t = _slope(complex_of(q), ds)
        return pairs_of(1j * ((along_a / t).imag * b - (along_b / t).imag * a))

    def structure(self, q: Array) -> Array:
        none = jnp.zeros(self.rank)
        return jax.jacfwd(jax.jacfwd(partial(self.bracket, q), 0), 1)(none, none)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        v = complex_of(self.velocity(q, xi))
        z = complex_of(q)
        links = jnp.diff(z) / self.string.spacing
        return 0.5 * self.string.masses() @ square(v) - self.string.potential(_join(z, links))

    def force(self, q: Array, xi: Array) -> Array:
        """Psi^* of the tension's pull on the points."""
        pull = self.pull(q, tension(*self.as_string(q, self.velocity(q, xi))))
        return pairs_of(jnp.conj(self.tangents(q)) * complex_of(pull))

    def as_string(self, q: Array, v: Array) -> tuple[String, Array, Array]:
        """The String, its coordinates, and its quasi-velocities as far as its tension depends on them."""
        z, v = complex_of(q), complex_of(v)
        links = jnp.diff(z) / self.string.spacing
        turning = (jnp.conj(links) * jnp.diff(v)).imag / self.string.spacing
        return self.string, _join(z, links), jnp.concatenate([pairs_of(v[:1]), turning])

    def pull(self, q: Array, tensions: Array) -> Array:
        """The links' pull on the points, as (x_0, y_0, ..)."""
        z = complex_of(q)
        held = tensions * jnp.diff(z) / self.string.spacing
        return pairs_of(jnp.zeros_like(z).at[:-1].add(held).at[1:].add(-held))

    def state_of(self, q: Coordinates, xi: Quasivelocities) -> dict:
        """The q, xi of a String as initial data here."""
        string = self.string
        q, xi = jnp.asarray(q, float), jnp.asarray(xi, float)
        xi = jnp.concatenate([xi, string.slip(q)]) if len(xi) == string.rank else xi
        here = pairs_of(string.places(q))
        return {"q": here, "xi": pairs_of(string.point_velocities(q, xi) / self.tangents(here))}

    def check(self) -> None:
        self.string.check()
        if self.string.rank != self.string.points + 1:
            raise InputError("AlongAndAcross is for a string whose ends are free; its front is held. Use String.")

    def sample(self) -> dict:
        """The sample of the String."""
        start = self.string.sample()
        return {**self.state_of(start["q"], start["xi"]), "h": start["h"]}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The string."""
        return [np.asarray(q).reshape(-1, 2)]


def _slope(values: Array, ds: Array | float) -> Array:
    """Derivative along s of second order: central within, one-sided at the ends."""
    first = (-3 * values[0] + 4 * values[1] - values[2]) / (2 * ds)
    last = (3 * values[-1] - 4 * values[-2] + values[-3]) / (2 * ds)
    return jnp.concatenate([first[None], (values[2:] - values[:-2]) / (2 * ds), last[None]])


def _join(z: Array, links: Array) -> Array:
    """The coordinates of a String, from its points and links."""
    return jnp.concatenate([pairs_of(z[:1]), pairs_of(links)])

"""The basketball on its hoop by hand: the fundamental solutions of [MD] (11.1), and the library's energy along them."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import discrete_hamel as dh

UNTURNED = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)
BASKET = dh.systems.BasketballOnHoop()
U, V, R = 23.8125, 13.080106663602425, 12.127606663602425


@functools.cache
def _solution():
    """(11.1) from psi = 0 to 4 pi with (C1, C2) = (1, 0) and (0, 1): f11, a^2 f12, f21, a^2 f22 of psi."""

    def rate(psi, y):
        a = U - V * np.cos(psi)
        return [U * y[1] / a**2, -0.4 * a * y[0], U * y[3] / a**2, -0.4 * a * y[2]]

    start = [1.0, 0.0, 0.0, (U - V) ** 2]
    span = (0.0, 4 * np.pi)
    return solve_ivp(rate, span, start, rtol=1e-12, atol=1e-12, method="DOP853", max_step=0.05, dense_output=True).sol


def fundamental(psi_over_pi):
    """f11, f12, f21, f22; the outer two are even, the inner two odd."""
    psi = np.pi * np.asarray(psi_over_pi, float)
    first, second, third, fourth = _solution()(np.abs(psi))
    a2 = (U - V * np.cos(psi)) ** 2
    return first, np.sign(psi) * second / a2, np.sign(psi) * third, fourth / a2


def spins(psi_over_pi, c1, c2):
    """(Omega1, Omega2)."""
    f11, f12, f21, f22 = fundamental(psi_over_pi)
    return c1 * f11 + c2 * f21, c1 * f12 + c2 * f22


def place(psi_over_pi):
    """q at psi; psi = 0 is the inner horizontal."""
    return (*UNTURNED, V * (psi_over_pi - 0.5) * np.pi, 0.0)


@jax.jit
def _at_rest(q, xi):
    return dh.energy(BASKET, q, xi), dh.vector_field(BASKET, q, xi)[1][0]


def potential(psi_over_pi, c1, c2):
    """The amended potential, which is the library's energy where psi' = 0."""
    xi = jnp.array([0.0, *spins(psi_over_pi, c1, c2)])
    return float(_at_rest(jnp.array(place(psi_over_pi)), xi)[0])


def slope(psi_over_pi, c1, c2):
    """U', which the library shows as -(J + m r^2) v^2 psi'' / r^2 where psi' = 0."""
    xi = jnp.array([0.0, *spins(psi_over_pi, c1, c2)])
    return -(5 / 3) * V * R * float(_at_rest(jnp.array(place(psi_over_pi)), xi)[1])


def contact(psi_over_pi, c1, c2):
    """N = (a theta'^2 cos psi + g sin psi) / v: the ball stays on the hoop while psi'^2 < N."""
    psi = np.pi * psi_over_pi
    around = R * spins(psi_over_pi, c1, c2)[1]
    return ((U - V * np.cos(psi)) * around**2 * np.cos(psi) + 980.66 * np.sin(psi)) / V

"""The basketball on its hoop, [MD] chapter 11: its two hidden constants, what they give as functions of psi, and runs.

psi is the ball's place around the wire, 0 at the inner horizontal and negative below; C1 = Omega1(0), C2 = Omega2(0).
Lengths in cm, mass 1.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import discrete_hamel as dh

BALL = dh.systems.BasketballOnHoop()
RADIUS, HOOP, AROUND = BALL.radius, BALL.hoop + BALL.wire, BALL.radius + BALL.wire  # r, u, v
GRAVITY = BALL.gravity
REACH = 4 * np.pi
PIECE = 512
KINETIC = 5 * AROUND**2 / 3  # (J + m r^2) v^2 / r^2, of psi'^2 / 2
PARAMETERS: dict[str, Any] = {
    "mass": BALL.mass,
    "radius": RADIUS,
    "hoop": BALL.hoop,
    "wire": BALL.wire,
    "gravity": GRAVITY,
}


def arc(psi: Any) -> Any:
    """s = v (psi - pi/2), the coordinate of the library, and its shape variable."""
    return AROUND * (np.asarray(psi) - np.pi / 2)


def place(psi: float) -> list[float]:
    """q at psi, the ball not turned, at theta = 0."""
    return [*np.eye(3).ravel(), float(arc(psi)), 0.0]


def angle(run: dh.Trajectory) -> np.ndarray:
    """psi at the nodes."""
    return np.asarray(run.q)[:, 9] / AROUND + np.pi / 2


def to_axis(psi: Any) -> Any:
    """a = u - v cos(psi), the distance of the ball's centre from the axis of the hoop."""
    return HOOP - AROUND * np.cos(psi)


@functools.cache
def constants(side: int) -> tuple[dh.analysis.HiddenMomenta, np.ndarray]:
    """The hidden momenta over two turns on one side of psi = 0, and their values for (C1, C2) = (1, 0) and (0, 1).

    They are series, whose second derivatives are poor at an end: the range begins beyond psi = 0.
    """
    between = arc(np.sort([-side, side * (REACH + 1e-9)]))
    momenta = dh.hidden_momenta(BALL, place(0.0), between=between)
    return momenta, np.stack([np.asarray(momenta(place(0.0), [0.0, *start])) for start in np.eye(2)], axis=1)


def reduced(c1: float, c2: float, side: int) -> dh.analysis.Reduced:
    """The motion in s that is left for these constants."""
    momenta, columns = constants(side)
    return dh.reduced(momenta, columns @ [c1, c2])


def _along(function: Any, psi: Any, c1: float, c2: float) -> np.ndarray:
    """Values of function(reduced motion, s) at each psi, last axis; in pieces of one length, compiled once."""
    psi = np.asarray(psi, float)
    padded = np.concatenate([psi, np.zeros(-len(psi) % PIECE)])
    values = []
    for piece in padded.reshape(-1, PIECE):
        sides = [np.asarray(function(reduced(c1, c2, side), jnp.asarray(arc(piece)))) for side in (1, -1)]
        values.append(np.where(piece >= 0, *sides))
    return np.concatenate(values, axis=-1)[..., : len(psi)]


def spins(psi: Any, c1: float, c2: float) -> np.ndarray:
    """Omega1 and Omega2 as functions of psi, from the kept momenta."""
    return _along(_spins, psi, c1, c2)


def potential(psi: Any, c1: float, c2: float) -> np.ndarray:
    """U (cm^2/s^2), the energy of the whole system where psi rests."""
    return _along(_potential, psi, c1, c2)


def bend(psi: Any, c1: float, c2: float) -> np.ndarray:
    """U' and U'' in psi."""
    return _along(_slopes, psi, c1, c2) * np.array([[AROUND], [AROUND**2]])


def rest(low: float, high: float, c1: float, c2: float) -> float:
    """The psi between low and high where U' = 0."""
    return float(brentq(lambda psi: bend(np.array([psi]), c1, c2)[0][0], low, high, xtol=1e-13))


def contact(psi: Any, c1: float, c2: float) -> np.ndarray:
    """N (rad^2/s^2): the ball stays on the hoop while psi'^2 < N.   [MD] 11"""
    psi = np.asarray(psi)
    around = RADIUS * spins(psi, c1, c2)[1]
    return (to_axis(psi) * around**2 * np.cos(psi) + GRAVITY * np.sin(psi)) / AROUND


def crossing_rate(psi: Any, c1: float, c2: float) -> np.ndarray:
    """|psi'| at the horizontal of the motion that turns at psi."""
    rise = potential(psi, c1, c2) - potential(np.zeros(1), c1, c2)
    return np.sqrt(2 * rise / KINETIC)


def run(rate: float, c1: float, c2: float, *, h: float, steps: int) -> dh.Trajectory:
    """The whole ball in space by the discrete Hamel scheme, from the horizontal with psi' = rate."""
    return dh.simulate(BALL, q=place(0.0), xi=[rate * AROUND / RADIUS, c1, c2], h=h, steps=steps)


def fundamental(psi: Any) -> np.ndarray:
    """f11, f12, f21, f22 by DOP853 on (11.1) as printed, with neither the frame nor the adjoint equation."""
    psi = np.asarray(psi, float)

    def rate(at: float, y: np.ndarray) -> list[float]:
        a = to_axis(at)
        return [HOOP * y[1] / a**2, -0.4 * a * y[0], HOOP * y[3] / a**2, -0.4 * a * y[2]]

    start, values = [1.0, 0.0, 0.0, (HOOP - AROUND) ** 2], np.empty((4, len(psi)))
    for side in (psi >= 0, psi < 0):
        if side.any():
            end = psi[side][np.argmax(np.abs(psi[side]))]
            solved = solve_ivp(
                rate, (0.0, end), start, "DOP853", rtol=1e-13, atol=1e-13, dense_output=True, max_step=0.05
            )
            values[:, side] = solved.sol(psi[side])
    values[1::2] /= to_axis(psi) ** 2
    return values


def vertex(x: np.ndarray, y: np.ndarray, k: int) -> tuple[float, float]:
    """Where the parabola through three neighbouring points of a curve is level, and its value; at an end, the end."""
    if not 0 < k < len(x) - 1:
        return float(x[k]), float(y[k])
    a, b, c = y[k - 1 : k + 2]
    shift = 0.5 * (a - c) / (a - 2 * b + c)
    return float(x[k] + shift * (x[1] - x[0])), float(b - 0.25 * (a - c) * shift)


@jax.jit
def _spins(motion: Any, s: jax.Array) -> jax.Array:
    return jax.vmap(lambda s: motion.velocity(s, 0.0)[1:], out_axes=1)(s)


@jax.jit
def _potential(motion: Any, s: jax.Array) -> jax.Array:
    return jax.vmap(motion.potential)(s)


@jax.jit
def _slopes(motion: Any, s: jax.Array) -> jax.Array:
    slope = jax.grad(motion.potential)
    return jax.vmap(lambda s: jnp.stack(jax.jvp(slope, (s,), (jnp.ones(()),))), out_axes=1)(s)

"""The Routh top as [MD] 9.6 and 9.7 reduce it to its lean: U for each C1 and C2, from the library's energy."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

import discrete_hamel as dh

SIZES = {
    "mass": 1.3,
    "inertia_across": 0.7,
    "inertia_axis": 0.45,
    "offset": 0.6,
    "radius": 0.35,
    "gravity": 9.81,
}
TOP = dh.systems.RouthTop(**SIZES)
M, J1, J3, A, R, G = SIZES.values()


def at(theta: Array) -> Array:
    """q with the body's axis leaning by theta."""
    c, s = jnp.cos(theta), jnp.sin(theta)
    return jnp.stack([1.0, 0.0, 0.0, 0.0, c, -s, 0.0, s, c, 0.0, 0.0])


def turning(theta: Array, c1: Any, c2: Any, fall: Any = 0.0) -> Array:
    """omega at lean theta with theta' = fall, and Jellett's and Routh's integral C1 and C2."""
    q, axis = at(theta), jnp.array([0.0, 0.0, 1.0])

    def integrals(omega: Array) -> Array:
        xi = jnp.concatenate([omega, jnp.zeros(3)])
        return jnp.stack([TOP.jellett(q, xi), TOP.routh(q, xi)])

    spins = jnp.stack([axis, q[6:9]])  # about the body's axis and about the vertical
    both = jax.vmap(integrals)(spins).T  # the integrals are linear in omega
    return jnp.linalg.solve(both, jnp.array([c1, c2])) @ spins + jnp.array([1.0, 0.0, 0.0]) * fall


@jax.jit
def _reduced(theta: Array, c1: Any, c2: Any) -> Array:
    return jax.vmap(lambda t: dh.energy(TOP, at(t), turning(t, c1, c2)))(theta)


def reduced(theta: Any, c1: float, c2: float) -> np.ndarray:
    """U(theta), the energy with theta' = 0."""
    return np.asarray(_reduced(jnp.asarray(theta, float), float(c1), float(c2)))


def constant(c1: float, c2: float) -> float:
    """U - Q(cos theta)."""
    return (c2**2 - M * c1**2 / J3) / (2 * J1) + M * G * R


def s_of(z: Any, c1: Any, c2: Any, xp: Any = np) -> Any:
    """S(z) of [MD] 9.7."""
    root = xp.sqrt(J1 * (J3 + M * R**2 * (1 - z**2)) + M * J3 * (A + R * z) ** 2)
    return c1 * root - c2 * J3 * (A + R * z)


def q_of(z: Any, c1: Any, c2: Any, xp: Any = np) -> Any:
    """Q(z) of [MD] 9.7."""
    return M * G * A * z + s_of(z, c1, c2, xp) ** 2 / (2 * R**2 * J1**2 * J3 * (1 - z**2))


def at_pole(theta: float, c2: float, fall: float) -> Array:
    """Upright or upside down the spin is C2's, and C1 follows: S vanishes there."""
    root = np.sqrt(J1 * J3 + M * J3 * (A + R * np.cos(theta)) ** 2)
    return jnp.array([fall, 0.0, c2 / root])


def energy_of_lean(axis: np.ndarray, omega: np.ndarray, c1: float, c2: float) -> np.ndarray:
    """P theta'^2 / 2 + U along a run, gamma and omega, where it is not near a pole, with one C1 and C2 throughout."""
    (g1, g2, z), (o1, o2, _) = (v[axis[:, 2] ** 2 < 0.9].T for v in (axis, omega))
    fall2 = (g1 * o2 - g2 * o1) ** 2 / (1 - z**2)  # gamma3' = gamma1 omega2 - gamma2 omega1
    return 0.5 * (J1 + M * (A**2 + R**2 + 2 * A * R * z)) * fall2 + constant(c1, c2) + q_of(z, c1, c2)


def without_pole(pole: float, c2: float) -> float:
    """The C1 for which S(pole) = 0."""
    return c2 * J3 * (A + R * pole) / float(np.sqrt(J1 * J3 + M * J3 * (A + R * pole) ** 2))


def slope_of_s(pole: float, c2: float) -> tuple[float, float, float]:
    """S'(pole) where S(pole) = 0: by autodiff, by the formula (its sign errors mended), and as printed."""
    lean = A + pole * R
    formula = -c2 * R * J1 * (J3 + pole * M * R * lean) / (J1 + M * lean**2)
    printed = formula if pole > 0 else c2 * R * J1 * (J3 + M * R * lean) / (J1 + M * lean**2)
    return float(jax.grad(lambda z: s_of(z, without_pole(pole, c2), c2, jnp))(pole)), formula, printed


def bend(pole: float, slope: float) -> float:
    """U'' at the pole where S vanishes with this slope."""
    return -pole * M * G * A + slope**2 / (4 * R**2 * J1**2 * J3)


def measured_bend(pole: float, c2: float) -> float:
    """U'' at that pole from the library's energy beside it: U is even there, a series in the squared lean."""
    nodes = 0.3 + 0.28 * np.cos(np.pi * (np.arange(12) + 0.5) / 12)
    u = reduced(np.sqrt(nodes) if pole > 0 else np.pi - np.sqrt(nodes), without_pole(pole, c2), c2)
    return 2 * float(np.polynomial.Polynomial.fit(nodes, u, 11).deriv()(0.0))


def swinging(start: tuple[float, float], constants: tuple[float, float], t: np.ndarray) -> np.ndarray:
    """theta at times t from (theta, theta') at (C1, C2), by DOP853 of (P theta'^2 / 2)' = -U' theta' with [MD]'s Q."""
    from scipy.integrate import solve_ivp

    slope = jax.jit(jax.grad(lambda z: q_of(z, *constants, xp=jnp)))

    def rate(_: float, y: np.ndarray) -> list[float]:
        c, s = np.cos(y[0]), np.sin(y[0])
        p = J1 + M * (A**2 + R**2 + 2 * A * R * c)
        return [y[1], (M * A * R * s * y[1] ** 2 + float(slope(c)) * s) / p]

    return solve_ivp(rate, (0.0, t[-1]), start, "DOP853", t, rtol=1e-11, atol=1e-12).y[0]


def through(lean: np.ndarray) -> np.ndarray:
    """Its sign changes where it comes down to a pole, nearer than one step takes it."""
    inside = lean[1:-1]
    step = np.abs(np.diff(lean)).max()
    low = (inside <= lean[:-2]) & (inside < lean[2:]) & (inside < step)
    # Of the two nodes beside the pole the later one is the first on the other side.
    flip = np.concatenate([[False], low & (lean[2:] > lean[:-2]), [False]])
    late = np.concatenate([[False, False], (low & (lean[2:] <= lean[:-2]))])
    return lean * np.cumprod(np.where(flip | late, -1.0, 1.0))

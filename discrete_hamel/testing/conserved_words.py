"""The words of `Scheme.conserves`, each with the measurement that shows it, or shows that it does not hold."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from discrete_hamel.mechanics.hamel import energy
from discrete_hamel.schemes.scheme import Scheme, start
from discrete_hamel.systems.disks import RollingDisk
from discrete_hamel.testing.small_problems import (
    BODY,
    DISK,
    PARTICLE,
    PENDULUM,
    SLEIGH,
    STEP,
    SURFACE,
    Case,
    accepts,
    orbit,
    velocity,
)

ENERGY = jax.jit(energy)


def steady_spin(disk: RollingDisk, theta: float, turn: float) -> float:
    """psi' of the steady rolling with lean theta and heading rate phi' = turn, from the balance of lean by hand.

    (m R^2 + B) (phi' sin theta + psi') phi' cos theta - A phi'^2 sin theta cos theta + m g R sin theta = 0
    """
    m, r, a, b, g = disk.mass, disk.radius, disk.inertia_diameter, disk.inertia_axis, disk.gravity
    c, s = np.cos(theta), np.sin(theta)
    return (a * turn**2 * s * c - m * g * r * s) / ((m * r**2 + b) * turn * c) - turn * s


def keeps_steady_rolling(
    disk: RollingDisk,
    scheme: Scheme,
    theta: float,
    turn: float,
    spin: float,
    h: float,
    tolerance: float = 1e-12,
    steps: int = 3,
) -> None:
    """Lean, quasi-velocities and momenta stay, and each step moves the disk by the same element of SE(2) x S^1."""
    state = start(disk, scheme, jnp.array([theta, 0.7, -0.2, 0.4, 0.1]), jnp.array([0.0, turn, spin]), h)
    moves = []
    for _ in range(steps):
        new, interval = STEP(disk, scheme, state, h)
        size = 1.0 + float(jnp.max(jnp.abs(state.p))) + float(jnp.max(jnp.abs(state.xi)))
        drift = np.concatenate([new.q[:1] - state.q[:1], new.p - state.p, new.xi - state.xi, interval.xi[3:]])
        assert np.max(np.abs(drift)) <= tolerance * size, f"steady rolling is lost: off by {drift}"
        c, s = np.cos(state.q[1]), np.sin(state.q[1])
        change = np.asarray(new.q - state.q)
        moves.append([change[1], change[2], c * change[3] + s * change[4], -s * change[3] + c * change[4]])
        state = new
    assert np.max(np.abs(np.diff(moves, axis=0))) <= tolerance * size
    assert np.allclose(np.asarray(moves)[:, :2], [h * turn, h * spin], rtol=0, atol=tolerance * size)


# --- each is the largest deviation over a run of the scheme from the case's data ---


def off_constraint(scheme: Scheme, case: Case) -> float:
    """The blade's slip at nodes and over the last interval."""
    states = orbit(scheme, case, 0.1, 20)
    nodal = [float(velocity(scheme, case, state)[2]) for state in states]
    _, interval = STEP(case.system, scheme, states[-1], 0.1)
    return max(np.max(np.abs(nodal)), abs(float(interval.xi[2])))


def off_steady_rolling(scheme: Scheme, case: Case) -> float:
    """1 where steady rolling with the case's rate of turning is lost."""
    turn = case.xi[1]
    try:
        keeps_steady_rolling(case.system, scheme, 0.3, turn, steady_spin(case.system, 0.3, turn), 0.05, steps=10)
    except AssertionError:
        return 1.0
    return 0.0


def _range(values: Sequence) -> float:
    along = np.asarray(values)
    return float(np.max(np.abs(along - along[0])))


def energy_of(h: float, steps: int) -> Callable[[Scheme, Case], float]:
    """Of so many steps."""

    def deviation(scheme: Scheme, case: Case) -> float:
        states = orbit(scheme, case, h, steps)
        values = [float(ENERGY(case.system, state.q, velocity(scheme, case, state))) for state in states]
        return _range(values) / abs(values[0])

    return deviation


def spatial_momentum(scheme: Scheme, case: Case) -> float:
    """Of the rigid body, by steps so long that what is off at a high order is seen to be off."""
    states = orbit(scheme, case, 0.3, 50)
    return _range([case.system.spatial_momentum(state.q, velocity(scheme, case, state)) for state in states])


def angular_momentum(scheme: Scheme, case: Case) -> float:
    """q x q' of the particle; about the vertical, where the scheme takes the pendulum only."""
    values = []
    for state in orbit(scheme, case, 0.1, 50):
        v = case.system.frame(state.q) @ velocity(scheme, case, state)
        values.append(float(state.q[0] * v[1] - state.q[1] * v[0]))
    return _range(values)


def off_surface(scheme: Scheme, case: Case) -> float:
    """The distance of the particle from its surface."""
    return max(abs(float(case.system.constraint(state.q))) for state in orbit(scheme, case, 0.1, 50))


class Word(NamedTuple):
    """The measurement, the cases of which it is asked (the first that the scheme accepts), and stronger words."""

    deviation: Callable[[Scheme, Case], float]
    cases: tuple[Case, ...]
    implied_by: tuple[str, ...] = ()

    def case(self, scheme: Scheme) -> Case | None:
        """None where the word cannot be asked of the scheme."""
        return next((case for case in self.cases if accepts(scheme, case)), None)


WORDS = {
    "constraint": Word(off_constraint, (SLEIGH,)),
    "relative equilibria": Word(off_steady_rolling, (DISK,)),
    "quadratic energy": Word(energy_of(0.1, 50), (SLEIGH,), implied_by=("energy",)),
    "energy": Word(energy_of(0.05, 10), (DISK,)),
    "spatial momentum": Word(spatial_momentum, (BODY,)),
    "angular momentum": Word(angular_momentum, (PARTICLE, PENDULUM)),
    "holonomic constraint": Word(off_surface, (SURFACE,)),
}

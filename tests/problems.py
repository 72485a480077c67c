"""What the tests run: systems, data, final time; structure and constraints by hand; invariants by theorem."""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

import discrete_hamel as dh


def bracket(n: int, **relations: tuple[int, float]) -> np.ndarray:
    """c[k, i, j] from relations i_j = (k, value) that mean [u_i, u_j] = value u_k, counted from 1."""
    c = np.zeros((n, n, n))
    for pair, (k, value) in relations.items():
        i, j = (int(digit) - 1 for digit in pair.strip("u").split("_"))
        c[k - 1, i, j], c[k - 1, j, i] = value, -value
    return c


SO3 = bracket(3, u1_2=(3, 1.0), u2_3=(1, 1.0), u3_1=(2, 1.0))
SE2 = bracket(3, u1_2=(3, 1.0), u1_3=(2, -1.0))  # turn, forward, sideways


def disk_bracket(radius: float) -> np.ndarray:
    """[d_phi, d_psi - R e] = -R n, [d_phi, e] = n, [d_phi, n] = -e for the heading e and its normal n."""
    return bracket(5, u2_3=(5, -radius), u2_4=(5, 1.0), u2_5=(4, -1.0))


class OwnSteps(dh.RungeKutta4):
    """Runge and Kutta's rule with a `step` of its own, as a user may write it: such steps are plain."""

    def step(self, system: dh.System, state: dh.State, h: Any) -> tuple[dh.State, dh.Interval]:
        return super().step(system, state, h)


def no_constraint(q: Any) -> np.ndarray:
    return np.zeros((0, len(q)))


def blade(q: Any) -> np.ndarray:
    """y' cos theta - x' sin theta = 0."""
    return np.array([[0.0, -np.sin(q[0]), np.cos(q[0])]])


def rolling(q: Any) -> np.ndarray:
    """x' + R psi' cos phi = 0, y' + R psi' sin phi = 0 with R = 1, taken along and across the heading."""
    c, s = np.cos(q[1]), np.sin(q[1])
    return np.array([[0.0, 0.0, 1.0, c, s], [0.0, 0.0, 0.0, -s, c]])


@dataclasses.dataclass(frozen=True)
class Problem:
    name: str
    system: dh.System
    q: tuple
    xi: tuple
    time: float
    structure: np.ndarray  # by hand
    one_forms: Callable[[Any], np.ndarray] = no_constraint
    exact: tuple[str, ...] = ()  # invariants that theorems make exact at tau = 1/2
    steps: int = 100

    @property
    def h(self) -> float:
        return self.time / self.steps

    def run(self, steps: int | None = None, *, system: Any = None, scheme: Any = None, **options: Any) -> dh.Trajectory:
        """The motion to the final time in `steps` steps, by another system or scheme if given."""
        steps = self.steps if steps is None else steps
        system = self.system if system is None else system
        data = {"q": self.q, "xi": self.xi, "h": self.time / max(steps, 1)} | options
        return dh.simulate(system, **data, steps=steps, scheme=scheme)


SLEIGH = Problem(
    "sleigh",
    dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4),
    (0.1, 0.0, 0.0),
    (1.5, -0.3),
    4.0,
    SE2,
    blade,
    ("energy",),
)
DISK = Problem(
    "disk", dh.systems.RollingDisk(), (0.3, 0.2, 0.0, 0.0, 0.0), (0.1, 0.6, 3.0), 2.0, disk_bracket(1.0), rolling
)
PENDULUM = Problem(  # [HE] 6.3
    "pendulum",
    dh.systems.SphericalPendulum(mass=1.0, length=9.8, gravity=9.8),
    (0.3, 0.2, -((1 - 0.3**2 - 0.2**2) ** 0.5)),
    (0.6, 0.0),
    20.0,
    SO3,
    exact=("energy", "vertical momentum", "length of gamma"),
)
BODY = Problem(
    "rigid body",
    dh.systems.RigidBody(inertia=(1.0, 2.0, 3.0)),
    tuple(np.eye(3).ravel()),
    (0.1, 1.0, 0.1),
    5.0,
    SO3,
    exact=("energy", "spatial momentum x", "spatial momentum y", "spatial momentum z", "trace of R^T R"),
)
TOP = Problem(
    "heavy top",
    dh.systems.HeavyTop(inertia=(1.0, 1.0, 0.4), weight=(0.0, 0.0, 3.0)),
    dh.systems.HeavyTop().sample()["q"],
    (0.3, 0.1, 9.0),
    2.0,
    SO3,
    exact=("energy", "vertical momentum", "trace of R^T R"),
)

PROBLEMS = (SLEIGH, DISK, PENDULUM, BODY, TOP)


def spinning(n: int) -> dh.System:
    """A free motion in a frame that is a product of rotations of R^n by t = q[0]: its inverse, which its bracket takes,
    needs other pivots as it turns."""

    def frame(q: Any) -> jax.Array:
        turned = jnp.eye(n)
        for i in range(n - 1):
            c, s = jnp.cos((i + 1) * q[0]), jnp.sin((i + 1) * q[0])
            plane = jnp.eye(n).at[i, i].set(c).at[i + 1, i + 1].set(c).at[i, i + 1].set(-s).at[i + 1, i].set(s)
            turned = turned @ plane
        return jnp.zeros((n + 1, n + 1)).at[0, 0].set(1.0).at[1:, 1:].set(turned)

    def lagrangian(q: Any, xi: Any) -> jax.Array:
        v = frame(q) @ xi
        return 0.5 * v @ v - 0.1 * jnp.cos(q[1])

    return dh.from_quasivelocities(lagrangian, frame, rank=3)


SIZES = st.floats(0.4, 2.5)
DISKS = st.builds(
    lambda m, r, a, k, g: dh.systems.RollingDisk(m, r, a * m * r**2, k * a * m * r**2, g),
    SIZES,
    SIZES,
    st.floats(0.2, 0.6),
    st.floats(0.8, 2.0),  # 2 for a thin disk; no mass allows more
    st.floats(1.0, 10.0),
)

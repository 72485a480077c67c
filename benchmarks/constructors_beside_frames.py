"""Errors of `from_constraints` beside a frame written by hand: python -m benchmarks.constructors_beside_frames.

Of one motion, at one step, by the default scheme: the largest error of a coordinate at the end, beside `dh.reference`.
The models are those of benchmarks/wheeled.py, and a ball on a turntable with its attitude as a quaternion.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from benchmarks.wheeled import Model, model
from discrete_hamel.systems.mechanisms.rotations import by_quaternion

# model, h, steps
RUNS = {
    "car with no trailer": ("car + 0", 0.02, 250),
    "car with 1 trailer": ("car + 1", 0.02, 250),
    "car with 3 trailers": ("car + 3", 0.02, 250),
    "snake of 3": ("snake of 3", 0.02, 100),
    "snake of 8": ("snake of 8", 0.02, 100),
    "bicycle": ("bicycle", 0.01, 100),
    "ball on a turntable": ("ball", 0.005, 100),
    "car with 1 trailer, 6 turns": ("turning", 0.02, 1000),
}
RADIUS, RATE = 0.1, 3.0


def ball() -> Model:
    """q = unit quaternion, x, y; rolling on a table that turns; a weight beside the middle, so that attitude counts."""
    weight = jnp.array([0.02, 0.0, 0.01])

    def omega(q: Any, v: Any) -> Any:
        return 4 * (by_quaternion(q[:4]).T @ v[:4]) / (q[:4] @ q[:4])  # in the ball's axes

    def turned(q: Any, a: Any) -> Any:
        w, u = q[0], q[1:4]
        return a + 2 * jnp.cross(u, jnp.cross(u, a) + w * a) / (q[:4] @ q[:4])

    def L(q: Any, v: Any) -> Any:
        kinetic = 0.5 * v[4:] @ v[4:] + 2 * 0.004 * (v[:4] @ v[:4]) / (q[:4] @ q[:4])
        return kinetic - 9.8 * 0.1 * turned(q, weight)[2]

    def slips(q: Any, v: Any) -> Any:
        nu = turned(q, omega(q, v))
        return jnp.stack([v[4] - RADIUS * nu[1], v[5] + RADIUS * nu[0], q[:4] @ v[:4]])

    def A(q: Any) -> Any:
        return jnp.stack([slips(q, e) for e in np.eye(6)], axis=1)

    def frame(q: Any) -> Any:
        turns = by_quaternion(q[:4])
        spins = jnp.stack([turned(q, e) for e in np.eye(3)], axis=1)
        upper = jnp.concatenate([turns, jnp.zeros((4, 2)), q[:4, None]], axis=1)
        rolling = RADIUS * jnp.stack([spins[1], -spins[0]])
        return jnp.concatenate([upper, jnp.concatenate([rolling, np.eye(2), np.zeros((2, 1))], axis=1)])

    q = np.array([1.0, 0, 0, 0, 0.3, -0.1])
    table = np.array([RATE * 0.1, RATE * 0.3, 0.0])
    return Model(L, A, frame, 3, None, q, lambda q: frame(jnp.asarray(q)) @ jnp.array([1.0, 2.0, 0.7, *table]))


def table_slip(q: Any) -> Any:
    """b(q): the velocity of the table under the ball."""
    return jnp.stack([-RATE * q[5], RATE * q[4], 0.0])


def both(name: str) -> tuple[dh.System, dh.System, Any, Any]:
    """From constraints, by its frame, and where the run starts."""
    if name == "ball":
        given = ball()
        ways = (
            dh.from_constraints(given.L, given.A, b=table_slip),
            dh.from_velocities(given.L, given.frame, given.rank, slip=table_slip),
        )
        return *ways, given.q, given.velocity()
    given = model("car + 1" if name == "turning" else name)
    v = given.velocity()
    if name == "turning":  # straight is no turn: 6 of them in 20 s
        v = np.asarray(given.frame(jnp.asarray(given.q))[:, :2] @ jnp.array([1.0, 1.9]))
    return given.system("constraints"), given.system("frame"), given.q, v


def errors(name: str, h: float, steps: int) -> tuple[float, float]:
    """Of `from_constraints`, and of the frame by hand."""
    constraints, frame, q, v = both(name)
    end = dh.reference(frame, q, v=v, t=h * steps).q[-1]
    runs = (dh.simulate(system, q, v=v, h=h, steps=steps, progress=False) for system in (constraints, frame))
    first, second = (float(np.max(np.abs(run.q[-1] - end))) for run in runs)
    return first, second


def main() -> None:
    print("| motion | h | from constraints | frame by hand | ratio |\n|---|---|---|---|---|")
    for name, run in RUNS.items():
        found, by_hand = errors(*run)
        print(f"| {name} | {run[1]} | {found:.1e} | {by_hand:.1e} | {found / by_hand:.2f} |", flush=True)


if __name__ == "__main__":
    main()

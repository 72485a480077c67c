"""Five systems reduced and reconstructed: against the whole motion, and reducing before or after discretising.

    python -m benchmarks.reduction [name ...]

For each system: the largest difference of q at t = 1 between the reconstruction of the reduced `reference` and the
whole one; the same for DiscreteHamel at a step and half of it, with the order; and of the shapes between the reduced
run and the whole run (reduce, then discretise, less the other way round) at both. They commute, to round-off, where
the whole frame is invariant, the group only translates the coordinates on which l, Psi and c depend, the shape is among
the coordinates, and e(r) and A are constant in that frame; otherwise they differ by the scheme's error, h^2.
docs/groups_and_reduction.md has the proof.
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh


def about(axis: int, angle: jax.Array) -> jax.Array:
    """The rotation about the first or the second axis."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    if axis == 0:
        return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])
    return jnp.array([[c, 0, s], [0, 1.0, 0], [-s, 0, c]])


def tilt(r: jax.Array) -> jax.Array:
    return jnp.concatenate([about(0, r[0]).reshape(9), jnp.zeros(2)])


def tilts(r: jax.Array) -> jax.Array:
    return jnp.concatenate([(about(0, r[0]) @ about(1, r[1])).reshape(9), jnp.zeros(2)])


SYSTEMS = {
    "disk": lambda: dh.reduce(dh.systems.RollingDisk()),
    "sleigh-oscillator": lambda: dh.reduce(dh.systems.SleighOscillator()),
    "Routh top": lambda: dh.reduce(dh.systems.RouthTop(), section=tilt, r=0.9),
    "Chaplygin sphere": lambda: dh.reduce(dh.systems.ChaplyginSphere(), section=tilts, r=[0.1, 0.2]),
    "rattleback": lambda: dh.reduce(dh.systems.Rattleback(), section=tilts, r=[0.0, 0.0]),
}

STEP = {"rattleback": 0.001}  # it rattles fast; others 0.02


def report(name: str, end: float = 1.0) -> str:
    began = time.process_time()
    reduced = SYSTEMS[name]()
    sample = reduced.system.sample()
    q, xi = np.asarray(sample["q"], float), np.asarray(sample["xi"], float)
    r, free, g = dh.shape_of(reduced, q, xi)
    free = free[: reduced.rank]
    exact = dh.reference(reduced.system, q, xi, t=end).q[-1]
    known = dh.reconstruct(dh.reference(reduced, r, free, t=end), g)[-1]
    errors, diagram = [], []
    first = STEP.get(name, 0.02)
    for h in (first, first / 2):
        steps = round(end / h)
        run = dh.simulate(reduced, r, free, h=h, steps=steps)
        whole = dh.simulate(reduced.system, q, xi, h=h, steps=steps)
        errors.append(np.max(np.abs(dh.reconstruct(run, g)[-1] - exact)))
        place, *_ = dh.shape_of(reduced, whole.q[-1], whole.xi[-1], r=run.q[-1])
        diagram.append(np.max(np.abs(place - run.q[-1])))
    order = np.log2(errors[0] / errors[1])
    power = f"{np.log2(diagram[0] / diagram[1]):.2f}" if diagram[0] > 1e-12 else "commutes"
    apart = np.max(np.abs(known - exact))
    return (
        f"| {name} | {apart:.1e} | {first / 2:g} | {errors[1]:.1e} | {order:.3f} | {diagram[0]:.1e}, {diagram[1]:.1e} "
        f"| {power} | {run.report.path} | {time.process_time() - began:.0f} |"
    )


if __name__ == "__main__":
    print("| system | reference | h | scheme | order | diagram at 2h, h | its order | path | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in sys.argv[1:] or SYSTEMS:
        print(report(name), flush=True)

"""Motions on SL(3), SE(3) and the Heisenberg group over 10^5 steps: what each step keeps of group, energy, momentum.

    python -m benchmarks.groups [steps [group ...]]

SL(3) carries an ellipsoid whose strains are linear, held by springs (a free one runs away); the others move freely. h =
0.05. "Group" is the largest residual of the group's relations (det - 1, R^T R - 1, entries that are fixed); energy and
the momentum map are held against their first values, relative to them: the largest difference, over all nodes.
"""

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

H, EVERY = 0.05, 10
GROUPS = {"SL(3)": dh.groups.SL(3), "SE(3)": dh.groups.SE(3), "Heisenberg": dh.groups.Heisenberg()}
SCHEMES = {
    "exp, (5.8)": dh.Principle(reconstruction=dh.groups.exponential),
    "exp, derived": dh.Principle(reconstruction=dh.groups.exponential, variation="derived"),
    "Cayley, (5.8)": dh.Principle(reconstruction=dh.groups.cayley),
    "Cayley, derived": dh.Principle(reconstruction=dh.groups.cayley, variation="derived"),
    "Cayley over dual numbers, (5.8)": dh.Principle(reconstruction=dh.groups.cayley_se3),
    "linear averaging": dh.DiscreteHamel(),
}


def ellipsoid(g: jax.Array, omega: jax.Array, k: jax.Array) -> jax.Array:
    """An incompressible body whose strains are linear, with a spring in each direction."""
    v = g @ GROUPS["SL(3)"].hat(omega)
    return 0.5 * jnp.sum(v * v) - 0.5 * k * jnp.sum(g * g)


def system(name: str) -> dh.System:
    group = GROUPS[name]
    if name == "SL(3)":
        return dh.groups.system(group, ellipsoid, params=1.0)
    return dh.groups.system(group, np.linspace(1.0, 2.0, group.dimension))


def deformation(g: jax.Array, xi: jax.Array) -> jax.Array:
    """The angular momentum and the circulation of the ellipsoid, g' = g hat(xi): the skew parts of g' g^T, g^T g'."""
    v = g @ GROUPS["SL(3)"].hat(xi)
    left, right = v @ g.T, g.T @ v
    return jnp.concatenate([(a - a.T)[jnp.triu_indices(3, 1)] for a in (left, right)])


def report(name: str, label: str, steps: int) -> str:
    group, moving = GROUPS[name], system(name)
    if label.startswith("Cayley") and not group.keeps_cayley:
        return f"| {name} | {label} | | not on the group: refused | | | | |"
    began = time.process_time()
    xi = 0.3 * np.cos(1.0 + np.arange(group.dimension))
    run = dh.simulate(moving, group.identity, xi, h=H, steps=steps, scheme=SCHEMES[label], save_every=EVERY)
    spent = time.process_time() - began
    q, xi = np.asarray(run.q), np.asarray(run.xi)
    off = max(group.off(group.matrix(g)) for g in q[::100])
    energy = np.max(np.abs(run.energy / run.energy[0] - 1))
    if name == "SL(3)":
        found = jax.vmap(deformation)(q.reshape(-1, 3, 3), xi)
    else:
        found = jax.vmap(moving.momentum_map)(jnp.asarray(q), jnp.asarray(xi))
    found = np.asarray(found)
    momentum = np.max(np.abs(found - found[0])) / np.max(np.abs(found[0]))
    kept = " | ".join(f"{a:.0e}" for a in (steps, off, energy, momentum))
    return f"| {name} | {label} | {kept} | {run.report.path} | {spent:.1f} |"


if __name__ == "__main__":
    steps = int(float(sys.argv[1])) if sys.argv[1:] else 100_000
    print("| group | step | steps | off the group | energy | momentum | path | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for name in sys.argv[2:] or GROUPS:
        for label in SCHEMES:
            if "dual" not in label or name == "SE(3)":
                print(report(name, label, steps), flush=True)

"""Structural stability: what each scheme makes of the rolling disk's steady motions and of their stability, [HE] 5.5.

    python benchmarks/structural_stability.py [--save steady.npz] [--plot steady.png]

A disk (m = R = 1, A = 1/4, B = 1/2) is started on the steady motion with lean 0.3 and psi' = 3. The motion keeps lean
and psi'. Printed are psi' and lean after 10 s, and the eigenvalues of a step, modulo the symmetry, at upright straight
rolling with psi' = 5 (neutral: two are 1, two on the circle) and at the sleigh's straight motion, which attracts.
"""

import argparse
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.schemes import Scheme

DISK, SLEIGH = dh.systems.RollingDisk(), dh.systems.ChaplyginSleigh()
LEAN, TURN, SPIN = 0.3, -0.7157155729657075, 3.0  # a steady motion
STEP = jax.jit(dh.step)

SCHEMES = {
    "DiscreteHamel(0)": dh.DiscreteHamel(tau=0.0),
    "DiscreteHamel(1/4)": dh.DiscreteHamel(tau=0.25),
    "DiscreteHamel(1/2)": dh.DiscreteHamel(),
    "DiscreteHamel(1)": dh.DiscreteHamel(tau=1.0),
    "CortesMartinez(1/2, 1/2)": dh.CortesMartinez(),
    "CortesMartinez(0, 0)": dh.CortesMartinez(0.0, 0.0),
    "CortesMartinez(0, 1/2)": dh.CortesMartinez(0.0, 0.5),
    "CortesMartinez(1/2, 0)": dh.CortesMartinez(0.5, 0.0),
    "CortesMartinez(1, 1)": dh.CortesMartinez(1.0, 1.0),
    "Leapfrog": dh.Leapfrog(),
    "StaggeredHamel": dh.StaggeredHamel(),
    "EnergyExact": dh.EnergyExact(),
    "Gauss(2)": dh.Gauss(2),
    "RungeKutta4": dh.RungeKutta4(),
}


def steady_run(scheme: Any, h: float = 0.02, time: float = 10.0) -> dh.Trajectory:
    start = [LEAN, 0.0, 0.0, 0.0, 0.0], [0.0, TURN, SPIN]
    return dh.simulate(DISK, *start, h=h, steps=round(time / h), scheme=scheme, on_failure="mark")


def spectrum(system: Any, scheme: Any, q: Any, xi: Any, shape: list[int], h: float = 0.05) -> np.ndarray:
    """Eigenvalues of a step on (q[shape], p, the reaction where the scheme remembers one), by central differences."""
    state = dh.start(system, scheme, jnp.asarray(q, float), jnp.asarray(xi, float), h)
    m, memory = system.rank, hasattr(state, "reaction")

    def packed(state: Any) -> np.ndarray:
        return np.concatenate([np.asarray(state.q)[shape], state.p, state.reaction if memory else []])

    def mapped(x: np.ndarray) -> np.ndarray:
        shaped, p, reaction = np.split(x, [len(shape), len(shape) + m])
        moved = state.replace(q=state.q.at[jnp.array(shape, int)].set(shaped), p=jnp.asarray(p))
        moved = moved.replace(xi=Scheme.velocity(scheme, system, moved)[:m])
        if memory:
            moved = moved.replace(reaction=jnp.asarray(reaction))
        return packed(STEP(system, scheme, moved, h)[0])

    x, small = packed(state), 1e-5
    columns = [(mapped(x + small * e) - mapped(x - small * e)) / (2 * small) for e in np.eye(len(x))]
    return np.linalg.eigvals(np.array(columns).T)


def sizes(eigenvalues: np.ndarray) -> str:
    return " ".join(f"{size:.4f}" for size in np.sort(np.abs(eigenvalues)))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--save", help="write psi' and lean of all runs to this .npz")
    options.add_argument("--plot", help="draw them to this file")
    chosen = options.parse_args()
    runs = {}
    print(f"{'':26}{'psi prime':>10}{'lean':>9}   {'|eigenvalues|, straight rolling':44}{'straight sleigh'}")
    for name, scheme in SCHEMES.items():
        run = runs[name] = steady_run(scheme)
        disk = spectrum(DISK, scheme, [0.0] * 5, [0.0, 0.0, 5.0], [0])
        sleigh = spectrum(SLEIGH, scheme, [0.0] * 3, [0.0, 1.0], [])
        print(f"{name:26}{run.xi[-1, 2]:10.4f}{run.q[-1, 0]:9.4f}   {sizes(disk):44}{sizes(sleigh)}", flush=True)
    if chosen.save:
        paths = {name: np.stack([run.t, run.xi[:, 2], run.q[:, 0]]) for name, run in runs.items()}
        np.savez(chosen.save, **paths)  # type: ignore[arg-type]
    if chosen.plot:
        with dh.plots.style():
            drawing = draw(runs)
        dh.plots.save(drawing, chosen.plot)


def draw(runs: dict[str, dh.Trajectory]) -> Any:
    """psi' and lean against time."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 6), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    for name, run in runs.items():
        top.plot(run.t, run.xi[:, 2], label=name)
        bottom.plot(run.t, run.q[:, 0])
    top.set(ylabel="psi'", ylim=(2.8, 3.5), title="the steady motion lean = 0.3, psi' = 3")
    bottom.set(ylabel="lean", xlabel="t", ylim=(0.2, 0.5))
    top.legend(fontsize="small", ncols=3)
    return figure


if __name__ == "__main__":
    main()

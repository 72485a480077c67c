"""Energy and time a step beside MuJoCo's integrators: python -m benchmarks.beside_mujoco [steps] [picture].

Three mechanisms without damping, read from one MJCF each by both, at the same step from the same state. Energy is this
library's function of (q, xi) for all, as a share of the kinetic energy's largest value. Its drift is the change of the
mean over a tenth of the run from the first tenth to the last; what oscillates is the largest distance from the mean in
the first tenth. Times are of one core, compiled, without saving, in turns, the best of several; MuJoCo's by
mujoco.rollout, which loops in C. Before that, how far q is after a second from MuJoCo's RK4 at a hundredth of the
step, with steps of 10, 5 and 2.5 ms: the slope is the order.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np

import discrete_hamel as dh

STEP, ROUNDS, TIMED = 0.005, 7, 2000
HINGES = "".join(
    f'<body name="link{i}" pos="0 0 {-0.5 * (i > 0)}"><joint name="hinge{i}" type="hinge" axis="0 1 0"/>'
    '<geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.5" density="1000"/>'
    for i in range(6)
)
TOP = (
    '<body name="top"><joint name="tip" type="ball"/><geom type="cylinder" size="0.1 0.02" pos="0 0 0.2" '
    'density="1000"/></body>'
)
TUMBLING = (
    '<body name="ship"><freejoint name="ship"/><geom type="box" size="0.3 0.2 0.1"/><body name="arm" pos="0.3 0 0">'
    '<joint name="shoulder" axis="0 1 0" stiffness="20"/><geom type="capsule" size="0.04" fromto="0 0 0 0.6 0 0"/>'
    '<body name="hand" pos="0.6 0 0"><joint name="wrist" axis="0 0 1" stiffness="5"/>'
    '<geom type="box" size="0.1 0.05 0.05"/></body></body></body>'
)
MODELS = {
    "six pendulums": (HINGES + "</body>" * 6, "0 0 -9.81", {0: 1.0}, {}),
    "spinning top": (TOP, "0 0 -9.81", {}, {0: 1.0, 2: 40.0}),
    "tumbling arm in space": (TUMBLING, "0 0 0", {7: 0.5}, {3: 1.0, 4: 2.0, 5: 0.5, 7: 3.0}),
}
INTEGRATORS = ("Euler", "implicitfast", "implicit", "RK4")


def model_of(body: str, gravity: str, integrator: str) -> Any:
    import mujoco

    xml = (
        f'<mujoco><option timestep="{STEP}" gravity="{gravity}" integrator="{integrator}"><flag contact="disable"/>'
        f'</option><default><geom contype="0" conaffinity="0"/></default><worldbody>{body}</worldbody></mujoco>'
    )
    return mujoco.MjModel.from_xml_string(xml)


def theirs(model: Any, q: Any, xi: Any, steps: int) -> tuple[Any, Any]:
    """q and xi at all nodes after the first."""
    import mujoco
    from mujoco import rollout

    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = q, xi
    start = np.zeros(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states, _ = rollout.rollout(model, data, start[None], nstep=steps)
    return states[0, :, 1 : 1 + model.nq], states[0, :, 1 + model.nq : 1 + model.nq + model.nv]


def told(energy: Any, size: float) -> tuple[float, float]:
    """What it oscillates by, and drifts by, as shares of a size."""
    tenth = len(energy) // 10
    first, last = energy[:tenth], energy[-tenth:]
    return float(np.max(np.abs(first - first.mean()))) / size, float(last.mean() - first.mean()) / size


def timed(run: Any) -> float:
    began = time.process_time()
    run()
    return (time.process_time() - began) / TIMED


def compared(name: str, steps: int) -> tuple[dict[str, Any], list[str]]:
    """Energies by contestant, and the lines of the table."""
    body, gravity, places, rates = MODELS[name]
    models = {integrator: model_of(body, gravity, integrator) for integrator in INTEGRATORS}
    system = dh.mechanisms.from_mjcf(models["RK4"])
    q, xi = system.rest(), np.zeros(system.rank)
    q[list(places)], xi[list(rates)] = list(places.values()), list(rates.values())
    values = jax.jit(jax.vmap(lambda q, xi: (system.energy(q, xi), system.kinetic_energy(q, xi))))
    save = max(1, steps // 10_000)
    run = dh.simulate(system, q, xi, h=STEP, steps=steps, save_every=save)
    found, kinetic = (np.asarray(a) for a in values(run.q, run.xi))
    t, size = np.asarray(run.t), float(kinetic.max())
    energies = {"DiscreteHamel": found}
    for integrator, model in models.items():
        qs, xis = theirs(model, q, xi, steps)
        energies[integrator] = np.concatenate(
            [found[:1], np.asarray(values(qs[save - 1 :: save], xis[save - 1 :: save])[0])]
        )
    contestants: dict[str, Callable] = {
        "DiscreteHamel": lambda: dh.simulate(system, q, xi, h=STEP, steps=TIMED, save_every=TIMED)
    }
    for integrator, model in models.items():
        contestants[integrator] = partial(theirs, model, q, xi, TIMED)
    best = dict.fromkeys(contestants, np.inf)
    for _ in range(ROUNDS):
        for contestant, go in contestants.items():
            best[contestant] = min(best[contestant], timed(go))
    lines = []
    for contestant, energy in energies.items():
        swing, drift = told(energy, size)
        lines.append(f"| {name} | {contestant} | {swing:.1e} | {drift:+.1e} | {1e6 * best[contestant]:.1f} |")
    return {"t": t, "size": size} | energies, lines


def against_converged(name: str) -> tuple[list[float], float]:
    """How far q is from RK4's with steps so short that it has converged, after a second, and how far that has."""
    body, gravity, places, rates = MODELS[name]
    model = model_of(body, gravity, "RK4")
    system = dh.mechanisms.from_mjcf(model)
    q, xi = system.rest(), np.zeros(system.rank)
    q[list(places)], xi[list(rates)] = list(places.values()), list(rates.values())
    ends = []
    for shorter in (50, 100):
        model.opt.timestep = STEP / shorter
        ends.append(theirs(model, q, xi, round(1.0 / model.opt.timestep))[0][-1])
    runs = (dh.simulate(system, q, xi, h=h, steps=round(1.0 / h)) for h in (2 * STEP, STEP, STEP / 2))
    return [float(np.abs(run.q[-1] - ends[1]).max()) for run in runs], float(np.abs(ends[0] - ends[1]).max())


def picture(found: dict[str, dict[str, Any]], path: str) -> None:
    """Energy's change over time, one panel a mechanism."""
    from matplotlib.figure import Figure

    styles = dict(zip(("DiscreteHamel", *INTEGRATORS), ("k-", "C1-", "C2--", "C3-", "C0-"), strict=True))
    figure = Figure(figsize=(11.0, 3.6), layout="constrained", dpi=110)
    every = figure.subplots(1, len(found), sharey=True)
    for axes, (name, energies) in zip(every, found.items(), strict=True):
        for contestant, style in styles.items():
            change = np.abs(energies[contestant] - energies[contestant][0]) / energies["size"]
            axes.loglog(energies["t"][1:], np.maximum.accumulate(change)[1:], style, label=contestant)
        axes.set(title=name, xlabel="t [s]", ylim=(1e-9, 1e3))
        axes.grid(alpha=0.3)
    every[0].set_ylabel("largest change of energy so far,\nas a share of the kinetic energy")
    handles = every[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=len(styles), frameon=False)
    figure.savefig(path)


def main(steps: int = 100_000, path: str = "") -> None:
    path = path and str(Path(path).resolve())
    os.chdir(tempfile.mkdtemp())  # MuJoCo writes its warnings to a file where it runs
    for name in MODELS:
        errors, left = against_converged(name)
        slopes = ", ".join(f"{np.log2(a / b):.3f}" for a, b in zip(errors, errors[1:], strict=False))
        far = ", ".join(f"{error:.1e}" for error in errors)
        print(f"{name}: {far} from RK4, which has converged to {left:.0e}; slopes {slopes}", flush=True)
    print("| mechanism | integrator | oscillates by | drifts by | us a step |\n|---|---|---|---|---|")
    found: dict[str, dict[str, Any]] = {}
    for name in MODELS:
        found[name], lines = compared(name, steps)
        print("\n".join(lines), flush=True)
    if path:
        picture(found, path)


if __name__ == "__main__":
    main(*(int(a) if a.isdigit() else a for a in sys.argv[1:]))  # type: ignore[arg-type]

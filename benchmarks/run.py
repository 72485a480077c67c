"""One trajectory, pendulum and disk, against the same algorithm in hand-written C: python benchmarks/run.py

One interleaved run, best of many rounds, compilation excluded on both sides. Ours saves more than C does: besides the
states also the nodal velocities, the interval velocities and the report of every step.
"""

import ctypes
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.checks import canonical
from discrete_hamel.kernel.choice import stepper_for
from discrete_hamel.kernel.loop import chunk

STEPS, ROUNDS = 10_000, 40
SOURCES = Path(__file__).parent / "c"
GAMMA = (0.3, 0.2, -np.sqrt(1 - 0.3**2 - 0.2**2))
CASES = {
    "pendulum": (dh.systems.SphericalPendulum(), GAMMA, (0.6, 0.0), 0.2),
    "disk": (dh.systems.RollingDisk(), (0.3, 0.0, 0.0, 0.0, 0.0), (0.1, 0.6, -2.0), 0.01),
}


def hand_written(name: str, folder: str) -> Callable[[np.ndarray], np.ndarray]:
    """The C program as a function from the first state to all the others."""
    library = str(Path(folder) / f"{name}.so")
    command = ["gcc", "-O3", "-march=native", "-shared", "-fPIC", str(SOURCES / f"{name}.c"), "-o", library, "-lm"]
    subprocess.run(command, check=True)
    run = ctypes.CDLL(library).run
    double = ctypes.POINTER(ctypes.c_double)
    run.argtypes = (double, double, ctypes.c_long)

    def states(begin: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        rows = np.empty((STEPS, len(begin))) if rows is None else rows
        run(begin.copy().ctypes.data_as(double), rows.ctypes.data_as(double), STEPS)
        return rows

    return states


def contest(name: str, folder: str) -> tuple[dict[str, Callable[[], object]], float]:
    """The contestants, and by how much their first 100 nodes differ."""
    system, q, xi, h = CASES[name]
    system, scheme, step = canonical(system), canonical(dh.DiscreteHamel()), jnp.asarray(h)
    state = dh.start(system, scheme, q, xi, step)
    begin = np.array([*q, *xi]) if name == "pendulum" else np.array([*q, *np.asarray(state.p), *xi])
    in_c, rows = hand_written(name, folder), np.zeros((STEPS, len(begin)))
    stepper = stepper_for(STEPS, system, scheme, state, step)
    if isinstance(stepper, str):
        raise SystemExit(f"{name} runs on the plain path: {stepper}")
    arguments = (stepper, STEPS, system, scheme, state, step, jnp.asarray(STEPS), jnp.asarray(1))
    nodes = chunk(*arguments)[3][0]
    difference = np.abs(nodes[:100] - in_c(begin, rows)[:100, : len(q)]).max()
    few = {"q": q, "xi": xi, "h": h, "steps": 500, "scheme": dh.DiscreteHamel(), "compiled": False}
    dh.simulate(system, **few)
    return {
        "C": lambda: in_c(begin, rows),
        "ours": lambda: jax.block_until_ready(chunk(*arguments)),
        "plain": lambda: dh.simulate(system, **few),
    }, float(difference)


def main() -> None:
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    print(f"discrete_hamel {dh.__version__}, jax {jax.__version__}, python {sys.version.split()[0]}, {compiler}")
    print(f"{platform.machine()}, {platform.processor() or platform.system()}; ns a step, best of {ROUNDS} rounds")
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            runs, difference = contest(name, folder)
            best = dict.fromkeys(runs, float("inf"))
            for k in range(ROUNDS):
                for kind, run in runs.items():
                    if kind == "plain" and k % 10:
                        continue
                    begin = time.perf_counter()
                    run()
                    best[kind] = min(best[kind], time.perf_counter() - begin)
            per_step = {kind: 1e9 * t / (500 if kind == "plain" else STEPS) for kind, t in best.items()}
            ratio, gain = per_step["ours"] / per_step["C"], per_step["plain"] / per_step["ours"]
            table = ", ".join(f"{kind} {t:.1f}" for kind, t in per_step.items())
            print(f"{name}: {table}; {ratio:.2f} x C, {gain:.0f} x faster than plain (difference {difference:.0e})")


if __name__ == "__main__":
    main()

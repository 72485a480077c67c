"""Batches of 1 to 100 000 pendulums against SIMD C, and disks and sleighs besides: python benchmarks/lanes.py [ROUNDS]

One core on both sides, one interleaved run, best of many rounds, compilation excluded. C is the hand-reduced pendulum
in lanes (c/pendulum_lanes.c), with a tolerance for each lane as ours, in its best blocking; beside it the same with
three iterations and no test. Both save the last node; ours also its nodal velocity and each lane's iterations.
"""

import ctypes
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.checks import canonical
from discrete_hamel.kernel import lanes
from discrete_hamel.kernel.lane_choice import bundle_for
from discrete_hamel.kernel.stepper import scalars

SOURCE = Path(__file__).parent / "c" / "pendulum_lanes.c"
GAMMA = (0.3, 0.2, -np.sqrt(1 - 0.3**2 - 0.2**2))
CASES = {
    "pendulum": (dh.systems.SphericalPendulum(), GAMMA, (0.6, 0.0), 0.2),
    "disk": (dh.systems.RollingDisk(), (0.3, 0.0, 0.0, 0.0, 0.0), (0.1, 0.6, -2.0), 0.01),
    "sleigh": (dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4), (0.1, 0.0, 0.0), (1.5, -0.3), 0.01),
}
SIZES = (1, 10, 100, 1000, 10_000, 100_000)
BLOCKS = (16, 32, 128)  # of the C program, of which the best counts
MEMBER_STEPS = 2_000_000  # about, in each call


def spread(count: int) -> np.ndarray:
    """What is added to the last velocity of each member: a tenth, at random."""
    return 0.1 * np.random.default_rng(0).random(count)


def hand_written(folder: str, block: int) -> ctypes.CDLL:
    """The C program, for blocks of so many lanes."""
    library = str(Path(folder) / f"lanes{block}.so")
    options = ["-O3", "-march=native", f"-DLANES={block}", "-shared", "-fPIC"]
    subprocess.run(["gcc", *options, str(SOURCE), "-o", library, "-lm"], check=True)
    program = ctypes.CDLL(library)
    double = ctypes.POINTER(ctypes.c_double)
    program.run.argtypes = (double, double, *(ctypes.c_long,) * 3)
    return program


class InC:
    """Pendulums in C: states in five rows, padded to whole blocks."""

    def __init__(self, program: ctypes.CDLL, block: int, members: int, steps: int, fixed: int) -> None:
        self.program, self.steps, self.fixed = program, steps, fixed
        self.count = -(-members // block) * block
        self.first = np.stack([np.full(self.count, x) for x in (*GAMMA, 0.6, 0.0)])
        self.first[-1] += spread(self.count)
        self.iterations = np.zeros(self.count)

    def __call__(self) -> np.ndarray:
        states = self.first.copy()
        double = ctypes.POINTER(ctypes.c_double)
        places = (a.ctypes.data_as(double) for a in (states, self.iterations))
        self.program.run(*places, self.count, self.steps, self.fixed)
        return states


class Ours:
    """The lanes kernel on the same members."""

    def __init__(self, name: str, members: int, steps: int) -> None:
        system, q, xi, h = CASES[name]
        system, scheme, h = canonical(system), canonical(dh.DiscreteHamel()), jnp.asarray(h)
        count = -(-members // lanes.LANES) * lanes.LANES
        velocities = np.tile(xi, (count, 1))
        velocities[:, -1] += spread(count)
        states = jax.vmap(lambda xi: dh.start(system, scheme, q, xi, h))(velocities)
        numbers = scalars((system, scheme, h))
        sample = jax.tree.map(lambda leaf: leaf[0], states)
        bundle = bundle_for(system, scheme, sample, h, (False,) * len(numbers), 1, count)
        if isinstance(bundle, str):
            raise SystemExit(f"{name} does not run in lanes: {bundle}")
        begin = jnp.concatenate([leaf.reshape(count, -1).T for leaf in jax.tree.leaves(states)])
        active = (jnp.arange(count) < members).astype(float)
        counts = jnp.asarray(1), jnp.asarray(steps)
        self.arguments = (bundle, 1, numbers, *counts, jnp.zeros((0, count)), begin, active)

    def __call__(self) -> np.ndarray:
        return np.asarray(lanes.advance(*self.arguments)[0])


def interleaved(runs: dict, rounds: int) -> dict[str, float]:
    """The best time of each, all taking turns."""
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(rounds):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    compiler = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    print(f"discrete_hamel {dh.__version__}, jax {jax.__version__}, python {sys.version.split()[0]}, {compiler}")
    print(f"{platform.machine()}, {platform.processor() or platform.system()}; ns a member-step, best of {rounds}")
    with tempfile.TemporaryDirectory() as folder:
        programs = {block: hand_written(folder, block) for block in BLOCKS}
        for members in SIZES:
            steps = max(100, min(10_000, MEMBER_STEPS // members))
            runs: dict = {f"C {b}": InC(p, b, members, steps, 0) for b, p in programs.items()}
            runs |= {f"three {b}": InC(p, b, members, steps, 3) for b, p in programs.items()}
            runs["ours"] = ours = Ours("pendulum", members, steps)
            few = min(members, 100)  # few steps' difference would be round-off, and many grow it
            difference = np.abs(ours()[:3, :few] - runs["C 16"]()[:3, :few]).max()
            best = {name: 1e9 * t / members / steps for name, t in interleaved(runs, rounds).items()}
            in_c = min(t for name, t in best.items() if name.startswith("C"))
            three = min(t for name, t in best.items() if name.startswith("three"))
            print(
                f"pendulum, {members:6} lanes x {steps} steps: C {in_c:.2f}, C without test {three:.2f}, "
                f"ours {best['ours']:.2f}; {best['ours'] / in_c:.2f} x C (difference {difference:.0e})",
                flush=True,
            )
    for name in ("disk", "sleigh"):
        run = {"ours": Ours(name, 10_240, 200)}
        run["ours"]()
        print(f"{name}, 10 240 lanes: ours {1e9 * interleaved(run, rounds)['ours'] / 10_240 / 200:.2f}", flush=True)


if __name__ == "__main__":
    main()

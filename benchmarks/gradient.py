"""A reverse gradient through 10 000 steps, over the run itself

jax.grad of a sum of squares of the last node, with respect to the start (q, xi) and all parameters of the system,
through dh.simulate under jax.jit; over the same function without grad. "run" is the plain call of dh.simulate outside
jit, with all nodes saved and all its checks. Compilation is excluded. Memory is what the gradient adds at most to the
resident memory of a fresh process that has compiled it, in floats of 8 bytes a step; beside it, what XLA reserves.
"""

import ctypes
import gc
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import discrete_hamel as dh
from benchmarks.contests import Bar
from paper_figures.speeds import interleaved

STEPS, ROUNDS = 10_000, 20
PEERS = ()
LIMITS = {"pendulum": 1.3, "disk": 1.5}  # of the gradient over the primal
CASES: dict[str, Any] = {
    "pendulum": (dh.systems.SphericalPendulum(), (0.3, 0.2, -(0.87**0.5)), (0.6, 0.0), 0.2),
    "disk": (dh.systems.RollingDisk(), (0.3, 0.0, 0.0, 0.0, 0.0), (0.1, 0.6, 3.0), 0.01),
}


def functions(name: str, steps: int) -> tuple[Callable[..., Any], Callable[..., Any], tuple]:
    """The loss, its gradient, and where they are evaluated."""
    system, q, xi, h = CASES[name]

    def loss(system: Any, q: Any, xi: Any) -> Any:
        end = dh.simulate(system, q, xi, h=h, steps=steps).q[-1]
        return jnp.sum(end[: min(3, len(q))] ** 2)

    where = jax.tree.map(lambda x: jnp.asarray(x, float), (system, jnp.array(q), jnp.array(xi)))
    return jax.jit(loss), jax.jit(jax.grad(loss, argnums=(0, 1, 2))), where


def run(name: str, steps: int) -> Callable[[], Any]:
    system, q, xi, h = CASES[name]
    return lambda: dh.simulate(system, q, xi, h=h, steps=steps, progress=False).q


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    for name in list(CASES)[:1] if quick else CASES:
        loss, gradient, where = functions(name, STEPS)
        runs = {"primal": lambda f=loss, w=where: f(*w), "gradient": lambda f=gradient, w=where: f(*w)}
        runs["run"] = run(name, STEPS)
        for each in runs.values():
            jax.block_until_ready(each())
        best = interleaved(runs, -(-rounds // 4) if quick else rounds)
        added, reserved = memory(name)
        yield {
            "system": name,
            "run, ns a step": 1e9 * best["run"] / STEPS,
            "primal under jit, ns a step": 1e9 * best["primal"] / STEPS,
            "gradient, ns a step": 1e9 * best["gradient"] / STEPS,
            "gradient / primal": best["gradient"] / best["primal"],
            "gradient / run": best["gradient"] / best["run"],
            "memory, floats a step": added / 8 / STEPS,
            "reserved by XLA, floats a step": reserved / 8 / STEPS,
        }


def memory(name: str) -> tuple[float, float]:
    """Bytes that the gradient adds to a fresh process at most (NaN where there is no /proc), and that XLA reserves."""
    command = [sys.executable, "-m", "benchmarks.gradient", name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    return tuple(json.loads(done.stdout))


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    return [
        Bar(
            f"{row['system']}, reverse gradient through 10^4 steps: time over the primal's",
            row["gradient / primal"],
            LIMITS[row["system"]],
            1.2,
        )
        for row in rows
    ]


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.drawing.plots import BLUE, GREY, VERMILLION
    from paper_figures.pictures import mosaic

    figure, axes = mosaic([["time"]], size=(4.6, 2.4))
    ax = axes["time"]
    kinds = {"run": GREY, "primal under jit": BLUE, "gradient": VERMILLION}
    for i, row in enumerate(reversed(rows)):
        for j, (kind, colour) in enumerate(kinds.items()):
            length, place = row[f"{kind}, ns a step"], 3 * i + 2 - 0.8 * j
            ax.barh(place, length, 0.7, color=colour, label=kind if i == 0 else None)
            ax.annotate(f" {length:,.0f}", (length, place), va="center", fontsize=8)
    ax.set_yticks([3 * i + 1.2 for i in range(len(rows))], [row["system"] for row in reversed(rows)])
    longest = max(row[f"{kind}, ns a step"] for row in rows for kind in kinds)
    ax.set(xlabel="time of a step [ns]", xlim=(0, 1.15 * longest))
    ax.grid(axis="y", visible=False)
    figure.legend(loc="outside upper right", ncols=3)
    return figure


def resident(kind: str) -> float:
    """VmRSS, what this process holds, or VmHWM, its peak, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(kind):
            return 1024.0 * float(line.split()[1])
    return float("nan")


def main(name: str) -> None:
    """In a fresh process: compile, forget the peak that took, run, and print what `memory` returns."""
    _, gradient, where = functions(name, STEPS)
    compiled = gradient.lower(*where).compile()
    added = float("nan")
    if Path("/proc/self/clear_refs").exists():
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = resident("VmRSS")
        jax.block_until_ready(compiled(*where))
        added = resident("VmHWM") - before
    print(json.dumps([added, compiled.memory_analysis().temp_size_in_bytes]))


if __name__ == "__main__":
    main(sys.argv[1])

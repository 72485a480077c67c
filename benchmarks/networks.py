"""Friction by a small network, beside diffrax

The pendulum with friction that a network gives: two layers of 32 (and of 64) units with tanh and a linear one, from
(gamma, xi) to the force, 100 steps of h = 0.05. diffrax takes its own equations with the same network by Midpoint
(a constant step, two evaluations a step), so many steps that both evaluate the network equally often; ours counts one
evaluation an iteration and one more. Loss is a sum of squares of the last node under jax.jit, and gradient its
reverse derivative with respect to all weights. Compilation is excluded, and given: with no object code on disk.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from benchmarks.contests import Bar, installed
from paper_figures.speeds import interleaved

ROUNDS, STEPS, H = 30, 100, 0.05
PEERS = ("diffrax",)
WIDTHS = (32, 64)
GAMMA, XI = (0.3, 0.2, -(0.87**0.5)), (0.6, 0.0)
EVALUATIONS = 4  # of a step of ours: three iterations, and the root
Weights = tuple[tuple[Any, Any], ...]


def weights(width: int, inputs: int = 5, outputs: int = 2) -> Weights:
    rng, sizes = np.random.default_rng(0), (inputs, width, width, outputs)
    return tuple(
        (jnp.asarray(rng.normal(size=(b, a)) / np.sqrt(a)), jnp.asarray(0.1 * rng.normal(size=b)))
        for a, b in zip(sizes[:-1], sizes[1:], strict=True)
    )


def network(layers: Weights, x: Any) -> Any:
    *hidden, (last, shift) = layers
    for matrix, bias in hidden:
        x = jnp.tanh(matrix @ x + bias)
    return last @ x + shift


def friction(q: Any, xi: Any, layers: Weights) -> Any:
    """On (q, xi), of which the last xi is no velocity but 0."""
    given = 0.01 * network(layers, jnp.concatenate([q, xi[:2]]))
    return jnp.append(-0.1 * xi[:2] + given, 0.0)


def ours(layers: Weights) -> Any:
    system = dh.forced(dh.systems.SphericalPendulum(), friction, params=layers)
    return jnp.sum(dh.simulate(system, GAMMA, XI, h=H, steps=STEPS, progress=False).q[-1] ** 2 * jnp.arange(1.0, 4.0))


def theirs(layers: Weights) -> Any:
    import diffrax

    system = dh.systems.SphericalPendulum()
    length, gravity = system.length, system.gravity

    def right(_t: Any, y: Any, layers: Weights) -> Any:
        q, xi = y[:3], y[3:]
        inertia = system.mass * length**2
        gamma = jnp.cross(q, jnp.array([xi[0], xi[1], 0.0]))
        own = gravity / length * jnp.array([q[1], -q[0]])
        return jnp.concatenate([gamma, own + friction(q, xi, layers)[:2] / inertia])

    found = diffrax.diffeqsolve(
        diffrax.ODETerm(right), diffrax.Midpoint(), 0.0, STEPS * H, STEPS * H / (STEPS * EVALUATIONS // 2),
        jnp.array([*GAMMA, *XI]), args=layers, max_steps=STEPS * EVALUATIONS,
    )  # fmt: skip
    return jnp.sum(found.ys[-1, :3] ** 2 * jnp.arange(1.0, 4.0))


def compiled(function: Callable, layers: Weights) -> tuple[Callable[[], Any], float]:
    """The function under jit as a call, and the CPU seconds of its first."""
    begin, call = time.process_time(), jax.jit(function)
    jax.block_until_ready(call(layers))
    return lambda: call(layers), time.process_time() - begin


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {"DISCRETE_HAMEL_CACHE": folder}):
        yield from _measured(rounds, quick)


def _measured(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    for width in WIDTHS[:1] if quick else WIDTHS:
        layers, runs, first = weights(width), {}, {}
        contestants = {"ours": ours} | ({"diffrax": theirs} if installed("diffrax") else {})
        for who, function in contestants.items():
            for what, of in (("loss", function), ("gradient", jax.grad(function))):
                runs[who, what], first[who, what] = compiled(of, layers)
        path = dh.simulate(
            dh.forced(dh.systems.SphericalPendulum(), friction, params=layers), GAMMA, XI, h=H, steps=5
        ).report
        best = interleaved(runs, -(-rounds // 4) if quick else rounds)
        for what in ("loss", "gradient"):
            times = {who: best.get((who, what), float("nan")) for who in ("ours", "diffrax")}
            yield {
                "width": width,
                "what": what,
                "path": " ".join((path.path, path.reason)).strip(),
                "ours, us a step": 1e6 * times["ours"] / STEPS,
                "diffrax, us a step": 1e6 * times["diffrax"] / STEPS,
                "ours / diffrax": times["ours"] / times["diffrax"],
                "first call, CPU s": first["ours", what],
                "diffrax's": first.get(("diffrax", what), float("nan")),
            }


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    return [
        Bar(f"friction by a network of width 32, {row['what']}: time over diffrax's", row["ours / diffrax"], 1.0, 0.3)
        for row in rows
        if row["width"] == WIDTHS[0]
    ]


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.drawing.plots import BLUE, GREY
    from paper_figures.pictures import mosaic

    figure, axes = mosaic([["time"]], size=(4.6, 2.4))
    ax, places = axes["time"], np.arange(len(rows))
    for shift, who, colour in ((-0.2, "ours", BLUE), (0.2, "diffrax", GREY)):
        ax.bar(places + shift, [row[f"{who}, us a step"] for row in rows], 0.4, color=colour, label=who)
    ax.set_xticks(places, [f"{row['what']}, {row['width']}" for row in rows])
    ax.set(ylabel="time of a step [us]", yscale="log")
    ax.legend()
    return figure


if __name__ == "__main__":
    from discrete_hamel.cli import main

    sys.exit(main(["bench", "networks", *sys.argv[1:]]))

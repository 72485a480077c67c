"""What compiler/graph/size_limits.py is taken from: CPU seconds of first calls, beside the plain path's

Chains of links of unlike masses, and nothing that is kept on disk: python -m benchmarks.limits
"""

import os
import time
from collections.abc import Callable
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.compiler import paths
from discrete_hamel.compiler.graph import expressions
from discrete_hamel.compiler.native import object_cache
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.runs import validation as checks

GRAPHS, SLOPES, STEPS = (8, 16, 32, 64), (3, 6, 12), 20


def start(links: int, scheme: dh.Scheme) -> tuple:
    """A run of a chain, as the compiler takes it."""
    system = dh.systems.PlanarChain(links=links, masses=np.linspace(1, 2, links))
    sample = system.sample()
    system, q, xi = checks.initial_data(system, sample["q"], sample["xi"], None)
    system, scheme, h = checks.canonical(system), checks.canonical(scheme), jnp.asarray(1e-3)
    return system, scheme, dh.start(system, scheme, q, xi, h), h


def seconds(call: Callable[[], object]) -> float:
    """CPU seconds of a call."""
    begin = time.process_time()
    jax.block_until_ready(call())
    return time.process_time() - begin


def gradient(links: int, compiled: bool) -> float:
    """Seconds of the first gradient of a run by explicit steps."""
    system, scheme, state, _ = start(links, dh.RungeKutta4())

    def end(s: jax.Array) -> jax.Array:
        how = {"scheme": scheme, "h": 1e-3, "steps": STEPS, "compiled": compiled}
        return dh.simulate(system, state.q, s * jnp.ones(links), **how).q[-1, -1]

    return seconds(lambda: jax.jit(jax.grad(end))(1.0))


def main() -> None:
    os.environ[object_cache.VARIABLE] = "off"
    with patch.object(expressions, "MOST_NODES", 10**9), patch.object(paths, "MOST_JIT", 10**9):
        print("links   nodes of the graph   to build it, s")
        for links in GRAPHS:
            run, made = start(links, dh.DiscreteHamel()), []
            taken = seconds(lambda run=run, made=made: made.append(Stepper(*run)))  # type: ignore[misc]
            print(f"{links:5} {len(made[0].graph.nodes):20} {taken:16.1f}", flush=True)
        print("links   operations of a step of RungeKutta4   its first gradient, s   plain, s")
        for links in SLOPES:
            operations = Stepper(*start(links, dh.RungeKutta4())).root.operations
            print(f"{links:5} {operations:37} {gradient(links, True):23.1f} {gradient(links, False):10.1f}", flush=True)


if __name__ == "__main__":
    main()

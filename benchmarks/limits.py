"""What compiler/graph/limits.py is taken from: seconds that XLA takes to compile a step, and what one costs then.

Chains of links of unlike masses, by XLA alone (as without llvmlite), in CPU seconds: python -m benchmarks.limits
"""

import time
from collections.abc import Callable
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.compiler import paths
from discrete_hamel.compiler.graph import limits
from discrete_hamel.compiler.native import host
from discrete_hamel.compiler.step import program
from discrete_hamel.compiler.step.loop import chunk
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.runs import validation as checks

HOST, LANES, JIT = (4, 6, 9, 16, 32, 48), (6, 9, 14, 20), (4, 6, 9, 14)
STEPS, MEMBERS = 2000, 128


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


def on_host(links: int, fused: bool) -> tuple[int, float, float]:
    """Operations an iteration, seconds to compile, microseconds a step."""
    run = start(links, dh.DiscreteHamel())
    with patch.object(program, "FUSED", 10**9 if fused else 0):
        stepper = Stepper(*run)
    many, one = jnp.asarray(STEPS), jnp.asarray(1)
    first = seconds(lambda: chunk(stepper, STEPS, *run, one, one))
    each = min(seconds(lambda: chunk(stepper, STEPS, *run, many, one)) for _ in range(3)) / STEPS
    return stepper.root.operations, first, 1e6 * each


def in_lanes(links: int) -> tuple[int, float]:
    """Operations an iteration, and seconds until the first step of lanes; without LLVM."""
    system, scheme, state, h = start(links, dh.DiscreteHamel())
    varying = (False,) * (sum(np.size(leaf) for leaf in jax.tree.leaves(system)) + 2)
    stepper = Stepper(system, scheme, state, h)
    varying = (False,) * len(stepper.parameters)
    building = seconds(lambda: Stepper(system, scheme, state, h) and None)
    whole = seconds(lambda: paths.bundle_for(system, scheme, state, h, varying, 1, MEMBERS) and None)
    return stepper.root.operations, whole - building


def under_jit(links: int) -> tuple[int, float]:
    """Operations an iteration, and seconds of a gradient's first call."""
    system, scheme, state, h = start(links, dh.DiscreteHamel())

    def end(s: jax.Array) -> jax.Array:
        return dh.simulate(system, state.q, s * jnp.ones(links), scheme=scheme, h=h, steps=20).q[-1, -1]

    taken = seconds(lambda: jax.jit(jax.grad(end))(1.0))
    return Stepper(system, scheme, state, h).root.operations, taken


def main() -> None:
    unlimited = {name: 10**9 for name in ("MOST_HOST", "MOST_LANES", "MOST_JIT")}
    with patch.object(host, "available", lambda: "left out"), patch.multiple(paths, **unlimited):
        print("host: links  operations   compile, s (fused)   step, us (fused)")
        for links in HOST:
            few, first, each = on_host(links, fused=False)
            whole = on_host(links, fused=True) if few <= 4 * limits.FUSED else (0, np.nan, np.nan)
            print(f"      {links:5} {few:11} {first:10.1f} ({whole[1]:.1f}) {each:14.2f} ({whole[2]:.2f})", flush=True)
        for name, measure, sizes in (("lanes", in_lanes, LANES), ("grad under jit", under_jit, JIT)):
            print(f"{name}: links  operations   compile, s")
            for links in sizes:
                few, first = measure(links)
                print(f"      {links:5} {few:11} {first:10.1f}", flush=True)


if __name__ == "__main__":
    main()

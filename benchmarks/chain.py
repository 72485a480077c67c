"""Cost against size: a step of the planar chain of 2 to 128 links, compiled and plain: python benchmarks/chain.py

One interleaved run, dense output (states, nodal and interval velocities, report), best of many rounds, compilation
excluded and told apart. The plain path is measured up to 32 links; `--all` goes on to 128, which takes minutes to
compile. The issue asks for time(128 links) / time(32 links) <= 6, aims at 4.5, and wants no size at which compiled is
slower than plain.
"""

import argparse
import platform
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import discrete_hamel as dh
from discrete_hamel import checks, loops
from discrete_hamel.kernel.choice import chunk, stepper_for

SIZES = (2, 3, 5, 6, 8, 12, 16, 24, 32, 64, 128)
ROUNDS, PLAIN_STEPS, PLAIN_UP_TO = 200, 64, 32


def steps_of(links: int) -> int:
    """So many that what a call costs beside its steps does not count."""
    return max(256, 16384 // links)


def problem(links: int) -> tuple[Any, Any, Any, Any]:
    """System, scheme, state and step of the sample run."""
    system = dh.systems.PlanarChain(links=links)
    sample = system.sample()
    system, q, xi = checks.initial_data(system, sample["q"], sample["xi"], None)
    system, scheme, h = checks.canonical(system), checks.canonical(dh.DiscreteHamel()), jnp.asarray(sample["h"])
    return system, scheme, dh.start(system, scheme, q, xi, h), h


def compiled(links: int) -> tuple[Callable[[], Any], str]:
    """A run of `steps_of(links)` steps by the compiled path, and how that was built."""
    begin, steps = time.perf_counter(), steps_of(links)
    run = problem(links)
    stepper = stepper_for(steps, *run)
    seconds = time.perf_counter() - begin
    if isinstance(stepper, str):
        raise SystemExit(f"{links} links run on the plain path: {stepper}")
    count = jnp.asarray(steps), jnp.asarray(1)
    return lambda: chunk(stepper, steps, *run, *count), f"{type(stepper).__name__}, {seconds:.1f} s to build"


def plain(links: int) -> Callable[[], Any]:
    """A run of PLAIN_STEPS steps by the plain path."""
    run, count = problem(links), (jnp.asarray(PLAIN_STEPS), jnp.asarray(1))
    return lambda: loops._chunk(*run, *count)


def measured(runs: dict[Any, tuple[Callable[[], Any], int]], rounds: int) -> dict[Any, float]:
    """Seconds a step of each, best of the rounds; what takes long is run in every tenth."""
    best = dict.fromkeys(runs, float("inf"))
    for k in range(rounds):
        for key, (run, steps) in runs.items():
            if k % 10 and best[key] * steps > 0.1:
                continue
            begin = time.perf_counter()
            jax.block_until_ready(run()[0])
            best[key] = min(best[key], (time.perf_counter() - begin) / steps)
    return best


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="the plain path at all sizes")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    versions = f"discrete_hamel {dh.__version__}, jax {jax.__version__}, {platform.machine()}"
    print(f"{versions}; ns a step, best of {options.rounds} rounds")
    runs: dict[Any, tuple[Callable[[], Any], int]] = {}
    notes = {}
    for links in SIZES:
        run, notes[links] = compiled(links)
        runs["compiled", links] = run, steps_of(links)
        if options.all or links <= PLAIN_UP_TO:
            runs["plain", links] = plain(links), PLAIN_STEPS
        for kind in ("compiled", "plain"):
            if (kind, links) in runs:
                runs[kind, links][0]()  # compiles
    best = measured(runs, options.rounds)
    print("links  compiled, ns   a link     plain, ns   plain / compiled")
    for links in SIZES:
        ours, theirs = 1e9 * best["compiled", links], 1e9 * best.get(("plain", links), float("nan"))
        table = f"{links:5} {ours:13.0f} {ours / links:8.0f} {theirs:13.0f} {theirs / ours:18.1f}"
        print(f"{table}   {notes[links]}")
    ratio = best["compiled", 128] / best["compiled", 32]
    print(f"time(128 links) / time(32 links) = {ratio:.2f}   (bar 6, aim 4.5)")
    slower = [n for kind, n in best if kind == "plain" and best["plain", n] < best["compiled", n]]
    print(f"compiled slower than plain at: {slower or 'no size'}")


if __name__ == "__main__":
    main()

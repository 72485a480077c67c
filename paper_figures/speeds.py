"""What figures and benchmarks of speed share: the compiled and the plain loop as calls, and taking turns."""

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

import discrete_hamel as dh
from discrete_hamel.compiler.paths import stepper_for
from discrete_hamel.runs import loop as loops
from discrete_hamel.runs import validation as checks


def interleaved(runs: Mapping[Any, Callable[[], Any]], rounds: int, patience: float = 4.0) -> dict[Any, float]:
    """The best time of each in seconds, all taking turns; who has had `patience` seconds drops out, after one turn.

    >>> sorted(interleaved({"a": lambda: None, "b": lambda: None}, 3))
    ['a', 'b']
    """
    best, spent = dict.fromkeys(runs, float("inf")), dict.fromkeys(runs, 0.0)
    for _ in range(rounds):
        for name, run in runs.items():
            if spent[name] > patience:
                continue
            begin = time.perf_counter()
            jax.block_until_ready(run())
            took = time.perf_counter() - begin
            best[name], spent[name] = min(best[name], took), spent[name] + took
    return best


def start(system: Any, scheme: Any, q: Any, xi: Any, h: Any) -> tuple[Any, Any, Any, Any]:
    """System, scheme, state and step as `simulate` hands them to its loops."""
    system, q, xi = checks.initial_data(system, q, xi, None)
    system, scheme, step = checks.canonical(system), checks.canonical(scheme), jnp.asarray(h, float)
    return system, scheme, dh.start(system, scheme, q, xi, step), step


def compiled(run: tuple[Any, Any, Any, Any], steps: int, every: int = 1) -> tuple[Callable[[], Any], Any]:
    """So many steps by the compiled path: a call that returns what is saved, (q, p, xi, xi_mid, report); the stepper.

    `run` is from `start`. RuntimeError, with the reason, where there is no compiled step.
    """
    stepper = stepper_for(*run)
    if isinstance(stepper, str):
        raise RuntimeError(f"{type(run[0]).__name__} with {run[1]} runs on the plain path: {stepper}")
    loop = partial(stepper.run, *run, steps // every, every)
    return lambda: loop()[3], stepper


def plain(run: tuple[Any, Any, Any, Any], steps: int) -> Callable[[], Any]:
    """So many steps (at most 4096, every node saved) by the plain path, which defines what a step is."""
    loop = partial(loops._chunk, *run, jnp.asarray(steps), jnp.asarray(1))
    return lambda: loop()[3]

"""Thousands of wrong inputs: python benchmarks/malformed.py [inputs] [seed].

Each input is a call of `simulate` (one in ten of `ensemble`, malformed_ensembles.py) that is right but for one to three
things. It must end in a sentence (an exception
that this library raises itself, saying what is wrong) or in a right answer: finite, its steps solving the scheme's
equations. Anything else is printed: a traceback from inside JAX or NumPy, a NaN, a wrong step.
"""

# ruff: noqa: ARG001  # functions of a system keep their signature

import collections
import dataclasses
import random
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import malformed_ensembles
import numpy as np
from oddities import NUMBERS, OTHERS, Odd, anything, numbers

import discrete_hamel as dh

OURS = str(Path(dh.__file__).parent)
SENTENCES = (ValueError, TypeError, OSError, dh.RunFailed)
Call = dict[str, Any]


def kinetic(q: Any, xi: Any) -> Any:
    return 0.5 * xi @ xi


def branching(q: Any, xi: Any) -> Any:
    return 0.5 * xi @ xi if q[0] > 0 else xi @ xi


def raising(q: Any, xi: Any) -> Any:
    raise KeyError("stiffness")


def forgetful(q: Any, xi: Any) -> Any:
    0.5 * xi @ xi  # the return is what has been forgotten


def wordy(q: Any, xi: Any) -> Any:
    return "kinetic energy"


def not_a_number(q: Any, xi: Any) -> Any:
    return 0.5 * xi @ xi + jnp.sqrt(-1.0 - q[0] ** 2)


def infinite(q: Any, xi: Any) -> Any:
    return 0.5 * xi @ xi + 1.0 / (q[0] - q[0])


def imaginary(q: Any, xi: Any) -> Any:
    return 0.5 * xi @ xi + 1j * q[0]


def massless(q: Any, xi: Any) -> Any:
    return 0.5 * xi[0] ** 2


def by_numpy(q: Any, xi: Any) -> Any:
    return float(np.sum(np.asarray(xi) ** 2))


def by_math(q: Any, xi: Any) -> Any:
    import math

    return 0.5 * xi @ xi - math.cos(q[0])


def of_one(q: Any) -> Any:
    return 0.5 * q @ q


def square(q: Any) -> Any:
    return jnp.eye(2)


def flat(q: Any) -> Any:
    return jnp.ones(2)


def nested(q: Any) -> Any:
    return [[1.0, 0.0], [0.0, 1.0]]


def ragged(q: Any) -> Any:
    return [[1.0, 0.0], [1.0]]


def parallel(q: Any) -> Any:
    return jnp.array([[1.0, 2.0], [1.0, 2.0]])


def wide(q: Any) -> Any:
    return jnp.ones((2, 3))


def nothing(q: Any) -> Any:
    return None


LAGRANGIANS = (
    branching, raising, forgetful, wordy, not_a_number, infinite, imaginary, massless, by_numpy, by_math, of_one,
    7, None,
)  # fmt: skip
FRAMES = (flat, nested, ragged, parallel, wide, nothing, kinetic, "identity", None)


def parameter(draw: random.Random, call: Call) -> None:
    """Some parameter of the system is something else."""
    if isinstance(call["system"], dh.System):
        names = [field.name for field in dataclasses.fields(call["system"])]
        call["system"] = partial(call["system"].replace, **{draw.choice(names): anything(draw)})


def argument(name: str, draw: random.Random, call: Call) -> None:
    call[name] = anything(draw)


def state(name: str, draw: random.Random, call: Call) -> None:
    """q, xi or v of the right length, with strange numbers."""
    old = call.get(name)
    call[name] = numbers(draw, len(old) if isinstance(old, list) else 3)


def velocities(draw: random.Random, call: Call) -> None:
    call["v"] = call.pop("xi") if draw.random() < 0.5 else numbers(draw, draw.choice((2, 3)))
    call.setdefault("xi", None)


def scheme(draw: random.Random, call: Call) -> None:
    call["scheme"] = draw.choice(
        (dh.DiscreteHamel, "DiscreteHamel", 4, Odd(), dh.DiscreteHamel(draw.choice((*NUMBERS, *OTHERS))), dh.simulate)
    )


def function(draw: random.Random, call: Call) -> None:
    """A system of the user's own in which something is wrong."""
    wrong_l = draw.random() < 0.5
    made = (draw.choice(LAGRANGIANS) if wrong_l else kinetic, square if wrong_l else draw.choice(FRAMES))
    call["system"] = partial(dh.from_quasivelocities, *made, draw.choice((2, 2, 2, 0, 3, "2", None)))
    call |= {"q": [0.3, -0.2], "xi": [0.5, 0.1]}


def where(draw: random.Random, call: Call) -> None:
    folder = Path(call["folder"])
    (folder / "file").touch()
    call["store"] = draw.choice(
        (7, "", "a\0b", folder, folder / "file", folder / "file" / "run.zarr", [], Odd(), "x" * 300, b"run.zarr")
    )


def options(draw: random.Random, call: Call) -> None:
    name = draw.choice(("save_every", "on_failure", "checkpoint_every", "resume", "steps", "steps", "h", "h"))
    call[name] = anything(draw)


MISTAKES: tuple[Callable[[random.Random, Call], None], ...] = (
    partial(argument, "q"), partial(argument, "xi"), partial(argument, "v"), partial(argument, "h"),
    partial(argument, "system"), partial(state, "q"), partial(state, "xi"), partial(state, "v"),
    parameter, parameter, velocities, scheme, function, where, options,
)  # fmt: skip
RIGHT = (
    {"system": dh.systems.ChaplyginSleigh(), "q": [0.1, 0, 0], "xi": [1.5, -0.3]},
    {"system": dh.systems.SphericalPendulum(), "q": [0.6, 0.0, -0.8], "xi": [0.1, 0.7]},
    {"system": dh.systems.Particle(), "q": [0.1, 0.2, 0.3], "xi": [0.4, -0.5]}
    if hasattr(dh.systems, "Particle")
    else {"system": dh.systems.ChaplyginSleigh(offset=0.0), "q": [0.1, 0, 0], "xi": [1.5, -0.3]},
)


def drawn(draw: random.Random, folder: str) -> tuple[list[str], Call]:
    """A right call with one to three mistakes, and their names."""
    call: Call = {**draw.choice(RIGHT), "h": 0.01, "steps": 4, "folder": folder}
    mistakes = draw.choices(MISTAKES, k=draw.choice((1, 1, 1, 2, 3)))
    for mistake in mistakes:
        mistake(draw, call)
    if isinstance(call["steps"], int | np.integer):
        call["steps"] = min(call["steps"], 50)  # a long run is no mistake
    return [getattr(m, "__name__", None) or f"{m.func.__name__} {m.args[0]}" for m in mistakes], call


@jax.jit
def _left(system: Any, rule: Any, q: Any, p: Any, z: Any, h: Any) -> Any:
    def one(q: Any, p: Any, z: Any) -> Any:
        return rule.residual(system, dh.schemes.scheme.State(q, p, z[: system.rank]), h, z)

    return jax.vmap(one)(q, p, z)


def right(run: dh.Trajectory) -> str:
    """Why the trajectory is no right answer, or nothing."""
    arrays = {name: np.asarray(getattr(run, name)) for name in ("t", "q", "p", "xi", "xi_mid", "v", "energy")}
    for name, values in arrays.items():
        if not np.all(np.isfinite(values)):
            return f"NaN in {name}"
    if len(run) < 2:
        return ""
    if not np.all(np.asarray(run.report.converged)):
        return "a step that has not converged"
    m, q = run.system.rank, arrays["q"]
    z = np.concatenate([arrays["xi_mid"][:, :m], q[1:]], axis=1)
    left = np.asarray(_left(run.system, run.scheme, q[:-1], arrays["p"][:-1], z, run.h))
    # What a unit of round-off in the unknowns and momenta makes of the equations, generously.
    size = 1.0 + np.abs(z).max() ** 2 + np.abs(arrays["p"]).max() + abs(float(run.h)) * np.abs(z).max() ** 2
    return "" if np.all(np.abs(left) < 1e-8 * size) else f"a step off by {np.abs(left).max():.1e} of {size:.1e}"


def verdict(call: Call) -> tuple[str, str]:
    """How a call ends: ("answer" or "sentence" or what must not be, more of it)."""
    call = {name: value for name, value in call.items() if name != "folder"}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if isinstance(call["system"], partial):
                call["system"] = call["system"]()
            if "reduction" in call:
                wrong = malformed_ensembles.answer(call)
                return ("no answer", wrong) if wrong else ("answer", "")
            run = dh.simulate(call.pop("system"), call.pop("q"), call.pop("xi"), progress=False, **call)
            wrong = right(run)
    except SENTENCES as error:
        frames = traceback.extract_tb(error.__traceback__)
        if not frames[-1].filename.startswith(OURS):
            return "from inside another library", f"{type(error).__name__}: {str(error)[:200]}"
        text = str(error)
        if len(text) < 20 or " " not in text or not text.rstrip().endswith((".", ")", "]")):
            return "no sentence", text
        return "sentence", text
    except Exception as error:
        return "another exception", f"{type(error).__name__}: {str(error)[:200]}"
    return ("no answer", wrong) if wrong else ("answer", "")


def campaign(inputs: int, seed: int, folder: str) -> tuple[collections.Counter, list[str]]:
    """The tally of verdicts, and what must not be, told."""
    draw, tally, told = random.Random(seed), collections.Counter(), []
    for number in range(inputs):
        mistakes, call = malformed_ensembles.drawn(draw) if number % 10 == 9 else drawn(draw, folder)
        kind, more = verdict(dict(call))
        tally[kind] += 1
        if kind not in ("answer", "sentence"):
            told.append(f"input {number} ({', '.join(mistakes)}), {kind}: {more}\n    {call!r}"[:900])
    return tally, told


def main(inputs: int, seed: int) -> int:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tally, told = campaign(inputs, seed, folder)
    print("\n".join(told[:40]))
    print(f"{inputs} inputs in {time.monotonic() - began:.0f} s: {dict(tally)}")
    return bool(told)


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in [*sys.argv[1:], *("10000", "1")[len(sys.argv) - 1 :]])))

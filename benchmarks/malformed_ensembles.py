"""Wrong inputs of `ensemble`, reductions above all; `malformed.py` draws one in ten from here.

A right answer is one that the same reduction gives when it is folded by hand over the saved nodes.
"""

# ruff: noqa: ARG001, ARG005  # functions of a reduction keep their signature

import random
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from oddities import Odd, anything, numbers

import discrete_hamel as dh

Call = dict[str, Any]
STEPS, EVERY, H = 4, 2, 0.01
Q = [0.1, 0.0, 0.0]
XI = [[1.5, -0.3], [1.0, 0.2], [0.5, 0.0]]


def first(system: Any, q: Any, xi: Any) -> Any:
    return {"m": q[1]}


def nothing(system: Any, q: Any, xi: Any) -> Any:
    {"m": q[1]}  # the return is what has been forgotten


def bare(system: Any, q: Any, xi: Any) -> Any:
    return q[1]


def paired(system: Any, q: Any, xi: Any) -> Any:
    return q[0], q[1]


def nested(system: Any, q: Any, xi: Any) -> Any:
    return {"m": {"n": q[1]}}


def ragged(system: Any, q: Any, xi: Any) -> Any:
    return {"m": [q, xi[:2]]}


def named(name: Any) -> Callable[..., Any]:
    return lambda system, q, xi: {name: q[1]}


def valued(value: Any) -> Callable[..., Any]:
    return lambda system, q, xi: {"m": value}


def beyond(system: Any, q: Any, xi: Any) -> Any:
    return {"m": q[17]}


def by_name(system: Any, q: Any, xi: Any) -> Any:
    return {"m": system.charge * q[0]}


def two(system: Any) -> Any:
    return {"m": 0.0}


def whole(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return {"m": jnp.maximum(kept["m"], q[1])}


def other_name(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return {"n": kept["m"]}


def one_more(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return kept | {"n": q[1]}


def growing(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return {"m": jnp.append(kept["m"], q[1])}


def branching(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return kept if q[1] > 0 else {"m": q[1]}


def by_numpy(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return {"m": np.float64(kept["m"]) + 1}


def raising(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    raise KeyError("height")


def forgetful(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    kept["m"] = q[1]


def imaginary(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return {"m": kept["m"] + 1j}


def logarithm(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return {"m": kept["m"] + jnp.log(-1.0 - q[0] ** 2)}


def counting(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return {"m": kept["m"] + 1}


def endless(kept: Any, system: Any, q: Any, xi: Any) -> Any:
    return endless(kept, system, q, xi)


NAMES = ("failure", "member", "q", "reason", "time", "m n", "../m", "", "class", 7, None, ("m",), "é", "m")
VALUES = (0, 0.0, True, "high", None, 1j, [1.0, 2.0], np.ones((2, 2)), 10**400, float("nan"), object(), b"1")
STARTS = (
    first, nothing, bare, paired, nested, ragged, beyond, by_name, two, 7, None, "start",
    *map(named, NAMES), *map(valued, VALUES),
)  # fmt: skip
UPDATES = (
    whole, other_name, one_more, growing, branching, by_numpy, raising, forgetful, imaginary, logarithm, counting,
    endless, first, 7, None, "update",
)  # fmt: skip
OTHERS = (first, (first, whole), [first, whole], {"start": first, "update": whole}, "max", 1, dh.Reduction, Odd())


def reduction(draw: random.Random, call: Call) -> None:
    """Something is wrong with one function of the reduction, with both, or with what should be one."""
    kind = draw.randrange(4)
    if kind == 3:
        call["reduction"] = draw.choice(OTHERS)
        return
    start = draw.choice(STARTS) if kind != 1 else first
    update = draw.choice(UPDATES) if kind != 0 else draw.choice((whole, counting, logarithm))
    call["reduction"] = dh.Reduction(start, update)


def argument(name: str, draw: random.Random, call: Call) -> None:
    call[name] = anything(draw)


def rows(draw: random.Random, call: Call) -> None:
    """Strange numbers among those of some members."""
    call["xi"] = [numbers(draw, 2) for _ in range(3)]


def parameter(draw: random.Random, call: Call) -> None:
    """A parameter for each member, with strange numbers, or not as many."""
    values = numbers(draw, draw.choice((1, 2, 3, 3, 3)))
    call["system"] = partial(call["system"].replace, **{draw.choice(("mass", "inertia", "offset")): values})


MISTAKES = (
    reduction, reduction, reduction, reduction, rows, parameter, partial(argument, "q"), partial(argument, "xi"),
    partial(argument, "h"), partial(argument, "save_every"), partial(argument, "workers"),
)  # fmt: skip


def drawn(draw: random.Random) -> tuple[list[str], Call]:
    """A right call with one or two mistakes, and their names."""
    call: Call = {"system": dh.systems.ChaplyginSleigh(), "q": Q, "xi": XI, "h": H, "steps": STEPS}
    call |= {"save_every": EVERY, "reduction": dh.Reduction(first, whole), "workers": 1}
    mistakes = draw.choices(MISTAKES, k=draw.choice((1, 1, 2)))
    for mistake in mistakes:
        if mistake is not parameter or isinstance(call["system"], dh.System):
            mistake(draw, call)
    return [f"ensemble: {getattr(m, '__name__', None) or m.args[0]}" for m in mistakes], call


def answer(call: Call) -> str:
    """Why what an ensemble gives is no right answer, or nothing."""
    call = dict(call, progress=False)
    system = call.pop("system")
    data = [call.pop(name) for name in ("q", "xi")]
    kept = dh.ensemble(system, *data, **call)
    folded = call.pop("reduction")
    saved = dh.ensemble(system, *data, **call | {"save_every": call["save_every"] or STEPS})
    for k in range(len(saved.member)):
        well = not saved.failure.values[k]
        if well != np.isfinite(saved.q.values[k]).all() or well == bool(saved.reason.values[k]):
            return f"member {k}: {saved.reason.values[k]!r}, and q = {saved.q.values[k].tolist()}"
        if well and folded is not None and (wrong := _unlike(kept, k, saved, _member(system, k), folded)):
            return wrong
    return ""


def _member(system: Any, k: int) -> Any:
    given = {name: np.ravel(getattr(system, name)) for name in ("mass", "inertia", "offset")}
    return system.replace(**{name: float(a[k if len(a) > 1 else 0]) for name, a in given.items()})


def _unlike(kept: Any, k: int, saved: Any, system: Any, folded: dh.Reduction) -> str:
    nodes = [(jnp.asarray(saved.q.values[k, i]), jnp.asarray(saved.xi.values[k, i])) for i in range(len(saved.step))]
    wanted = folded.start(system, *nodes[0])
    for node in nodes[1:]:
        wanted = folded.update({name: jnp.asarray(a) for name, a in wanted.items()}, system, *node)
    for name, a in wanted.items():
        if not np.allclose(kept[name].values[k], np.asarray(a, float), rtol=1e-12, atol=1e-12, equal_nan=True):
            return f"member {k}: {name} = {kept[name].values[k]}, by hand {a}"
    return ""

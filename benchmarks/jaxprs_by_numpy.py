"""What a jaxpr gives for numbers, primitive by primitive in NumPy; it shares nothing with the compiler's reading.

To compile a random program by XLA takes a second, to evaluate it here 3 ms. A primitive that is not here is evaluated
by JAX. `python -m benchmarks.random_programs 100 0 xla` compares programs with what XLA makes of them instead.
"""

# ruff: noqa: ARG001, ARG005  # all rules of a primitive have the same signature

import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax.extend.core import Literal

Arrays = list[Any]


def evaluated(jaxpr: Any, constants: Any, *arguments: Any) -> Arrays:
    """The outputs of an open jaxpr."""
    known: dict[Any, Any] = dict(zip(jaxpr.constvars, map(np.asarray, constants), strict=True))
    known.update(zip(jaxpr.invars, map(np.asarray, arguments), strict=True))

    def read(v: Any) -> Any:
        return np.asarray(v.val) if isinstance(v, Literal) else known[v]

    for equation in jaxpr.eqns:
        outputs = _applied(equation, [read(v) for v in equation.invars])
        for variable, value in zip(equation.outvars, outputs, strict=True):
            known[variable] = np.asarray(value, variable.aval.dtype)
            assert known[variable].shape == variable.aval.shape, equation.primitive
    return [read(v) for v in jaxpr.outvars]


def _applied(equation: Any, values: Arrays) -> Arrays:
    name, p = equation.primitive.name, equation.params
    if name in NESTED:
        return NESTED[name](p, values)
    rule = ELEMENTWISE.get(name)
    if rule is not None:
        return [rule(*values)]
    if name in ARRAYS:
        result = ARRAYS[name](p, *values)
        return list(result) if equation.primitive.multiple_results else [result]
    result = equation.primitive.bind(*map(jnp.asarray, values), **p)
    return list(result) if equation.primitive.multiple_results else [result]


# Programs within programs.


def _closed(closed: Any, *values: Any) -> Arrays:
    return evaluated(closed.jaxpr, closed.consts, *values)


def _scan(p: dict, values: Arrays) -> Arrays:
    fixed, carry = values[: p["num_consts"]], values[p["num_consts"] : p["num_consts"] + p["num_carry"]]
    along, length = values[p["num_consts"] + p["num_carry"] :], p["length"]
    shapes = [v.aval for v in p["jaxpr"].jaxpr.outvars[p["num_carry"] :]]
    kept = [np.zeros((length, *a.shape), a.dtype) for a in shapes]
    for k in range(length)[:: -1 if p["reverse"] else 1]:
        outputs = _closed(p["jaxpr"], *fixed, *carry, *(a[k] for a in along))
        carry = outputs[: p["num_carry"]]
        for rows, row in zip(kept, outputs[p["num_carry"] :], strict=True):
            rows[k] = row
    return [*carry, *kept]


def _while(p: dict, values: Arrays) -> Arrays:
    a, b = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
    state = values[b:]
    while _closed(p["cond_jaxpr"], *values[:a], *state)[0]:
        state = _closed(p["body_jaxpr"], *values[a:b], *state)
    return state


def _linear_solve(p: dict, values: Arrays) -> Arrays:
    lengths = p["const_lengths"]
    at = lengths.matvec + lengths.vecmat
    whole = lengths.matvec + lengths.vecmat + lengths.solve + lengths.transpose_solve
    return _closed(p["jaxprs"].solve, *values[at : at + lengths.solve], *values[whole:])


NESTED: dict[str, Callable[[dict, Arrays], Arrays]] = {
    "jit": lambda p, v: _closed(p["jaxpr"], *v),
    "closed_call": lambda p, v: _closed(p["call_jaxpr"], *v),
    "custom_jvp_call": lambda p, v: _closed(p["call_jaxpr"], *v),
    "custom_vjp_call": lambda p, v: _closed(p["call_jaxpr"], *v),
    "custom_linear_solve": _linear_solve,
    "cond": lambda p, v: _closed(p["branches"][int(np.clip(v[0], 0, len(p["branches"]) - 1))], *v[1:]),
    "scan": _scan,
    "while": _while,
}


# Windows of arrays.


def _starts(numbers: Any, indices: Any, batch: tuple, operand: tuple, sizes: Any, mode: Any, scatter: bool) -> Any:
    """Where the window of a batch index begins, and whether it lies within."""
    placed = numbers.scatter_dims_to_operand_dims if scatter else numbers.start_index_map
    batched = numbers.scatter_indices_batching_dims if scatter else numbers.start_indices_batching_dims
    start = np.zeros(len(operand), int)
    start[list(placed)] = indices[batch]
    start[list(numbers.operand_batching_dims)] = [batch[k] for k in batched]
    last = np.asarray(operand) - sizes
    if mode == jax.lax.GatherScatterMode.CLIP:
        start = np.clip(start, 0, last)
    return start, np.all((start >= 0) & (start <= last))


def _gather(p: dict, a: Any, indices: Any) -> Any:
    numbers, sizes = p["dimension_numbers"], np.asarray(p["slice_sizes"])
    dropped = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    window = tuple(int(s) for k, s in enumerate(sizes) if k not in dropped)
    batches = indices.shape[:-1]
    fill = p["fill_value"] if p["fill_value"] is not None else (np.nan if a.dtype.kind == "f" else 0)
    found = np.full((*batches, *window), fill, a.dtype)
    for batch in np.ndindex(*batches):
        start, within = _starts(numbers, indices, batch, a.shape, sizes, p["mode"], False)
        if within:
            found[batch] = a[tuple(slice(s, s + n) for s, n in zip(start, sizes, strict=True))].reshape(window)
    rank = len(batches) + len(window)
    outer = [k for k in range(rank) if k not in numbers.offset_dims]
    return np.transpose(found, np.argsort([*outer, *numbers.offset_dims]))


def _scatter(combine: Callable) -> Callable:
    def scattered(p: dict, a: Any, indices: Any, updates: Any) -> Any:
        numbers = p["dimension_numbers"]
        inserted = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
        outer = [k for k in range(updates.ndim) if k not in numbers.update_window_dims]
        rows = np.transpose(updates, [*outer, *numbers.update_window_dims])
        inner = iter(rows.shape[len(outer) :])
        sizes = np.array([1 if k in inserted else next(inner) for k in range(a.ndim)], int)
        result = np.array(a)
        for batch in np.ndindex(*indices.shape[:-1]):
            start, within = _starts(numbers, indices, batch, a.shape, sizes, p["mode"], True)
            if within:
                place = tuple(slice(s, s + n) for s, n in zip(start, sizes, strict=True))
                result[place] = combine(result[place], rows[batch].reshape(sizes))
        return result

    return scattered


def _dynamic_slice(p: dict, a: Any, *starts: Any) -> Any:
    return a[
        tuple(slice(s, s + n) for s, n in zip(_clipped(starts, a, p["slice_sizes"]), p["slice_sizes"], strict=True))
    ]


def _dynamic_update_slice(p: dict, a: Any, update: Any, *starts: Any) -> Any:
    result = np.array(a)
    result[tuple(slice(s, s + n) for s, n in zip(_clipped(starts, a, update.shape), update.shape, strict=True))] = (
        update
    )
    return result


def _clipped(starts: Any, a: Any, sizes: Any) -> list[int]:
    return [int(np.clip(s, 0, m - n)) for s, m, n in zip(starts, a.shape, sizes, strict=True)]


def _pad(p: dict, a: Any, value: Any) -> Any:
    low, high, between = zip(*p["padding_config"], strict=True) if a.ndim else ((), (), ())
    full = [max(n + (n - 1) * i, 0) if n else 0 for n, i in zip(a.shape, between, strict=True)]
    spread = np.full(full, value, a.dtype)
    spread[tuple(slice(None, None, i + 1) for i in between)] = a
    result = np.full([n + lo + hi for n, lo, hi in zip(full, low, high, strict=True)], value, a.dtype)
    to, of = [], []
    for n, lo, hi in zip(full, low, high, strict=True):
        begin, end = max(0, -lo), n - max(0, -hi)
        of.append(slice(begin, max(end, begin)))
        to.append(slice(begin + lo, max(end, begin) + lo))
    result[tuple(to)] = spread[tuple(of)]
    return result


def _dot(p: dict, a: Any, b: Any, *_: Any) -> Any:
    (along_a, along_b), (each_a, each_b) = p["dimension_numbers"]
    free_a = [k for k in range(a.ndim) if k not in (*along_a, *each_a)]
    free_b = [k for k in range(b.ndim) if k not in (*along_b, *each_b)]
    many, inner = [a.shape[k] for k in each_a], math.prod(a.shape[k] for k in along_a)
    left, right = [a.shape[k] for k in free_a], [b.shape[k] for k in free_b]
    x = np.transpose(a, [*each_a, *free_a, *along_a]).reshape((*many, math.prod(left), inner))
    y = np.transpose(b, [*each_b, *along_b, *free_b]).reshape((*many, inner, math.prod(right)))
    return (x @ y).reshape((*many, *left, *right))


def _broadcast(p: dict, a: Any, *_: Any) -> Any:
    shape = [1] * len(p["shape"])
    for k, at in enumerate(p["broadcast_dimensions"]):
        shape[at] = a.shape[k]
    return np.broadcast_to(a.reshape(shape), p["shape"])


def _cumulative(of: Any) -> Callable:
    def run(p: dict, a: Any) -> Any:
        turned = np.flip(a, p["axis"]) if p["reverse"] else a
        made = of.accumulate(turned, p["axis"])
        return np.flip(made, p["axis"]) if p["reverse"] else made

    return run


def _triangular(p: dict, a: Any, b: Any) -> Any:
    """x of a x = b, of the triangle of a that is asked for, or of x a = b."""
    whole = np.tril(a) if p["lower"] else np.triu(a)
    if p["unit_diagonal"]:
        one = np.eye(a.shape[-1])
        whole = whole * (1 - one) + one
    matrix = whole.swapaxes(-1, -2) if p["transpose_a"] else whole
    if p["left_side"]:
        return np.linalg.solve(matrix, b)
    return np.linalg.solve(matrix.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)


def _lu(p: dict, a: Any) -> Arrays:
    if a.ndim > 2:
        return [np.stack(each) for each in zip(*(_lu(p, b) for b in a), strict=True)]
    factors, pivots = scipy.linalg.lu_factor(a)
    order = np.arange(len(a))
    for k, at in enumerate(pivots):
        order[[k, at]] = order[[at, k]]
    return [factors, pivots, order]


def _sort(p: dict, *keys: Any) -> Arrays:
    assert p["num_keys"] == 1
    order = np.argsort(keys[0], p["dimension"], stable=True)
    return [np.take_along_axis(a, order, p["dimension"]) for a in keys]


def _unstack(p: dict, a: Any) -> Arrays:
    return list(np.moveaxis(a, p["axis"], 0))


def _split(p: dict, a: Any) -> Any:
    return np.split(a, np.cumsum(p["sizes"])[:-1], p["axis"])


def _iota(p: dict) -> Any:
    shape, along = p["shape"], p["dimension"]
    return np.broadcast_to(np.arange(shape[along]).reshape([-1 if k == along else 1 for k in range(len(shape))]), shape)


def _slice(p: dict, a: Any) -> Any:
    strides = p["strides"] or (1,) * a.ndim
    return a[tuple(itertools.starmap(slice, zip(p["start_indices"], p["limit_indices"], strides, strict=True)))]


ARRAYS: dict[str, Callable[..., Any]] = {
    "broadcast_in_dim": _broadcast,
    "concatenate": lambda p, *a: np.concatenate(a, p["dimension"]),
    "convert_element_type": lambda p, a: a.astype(p["new_dtype"]),
    "cumprod": _cumulative(np.multiply),
    "cumsum": _cumulative(np.add),
    "dot_general": _dot,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "integer_pow": lambda p, a: a ** p["y"] if p["y"] >= 0 else 1 / a ** -p["y"],
    "iota": _iota,
    "lu": _lu,
    "pad": _pad,
    "reduce_max": lambda p, a: np.max(a, axis=tuple(p["axes"])),
    "reduce_min": lambda p, a: np.min(a, axis=tuple(p["axes"])),
    "reduce_prod": lambda p, a: np.prod(a, axis=tuple(p["axes"])),
    "reduce_sum": lambda p, a: np.sum(a, axis=tuple(p["axes"])),
    "reshape": lambda p, a, *_: a.reshape(p["new_sizes"]),
    "rev": lambda p, a: np.flip(a, p["dimensions"]),
    "scatter": _scatter(lambda old, new: new),
    "scatter-add": _scatter(np.add),
    "scatter_mul": _scatter(np.multiply),
    "slice": _slice,
    "sort": _sort,
    "split": _split,
    "square": lambda p, a: a * a,
    "stack": lambda p, *a: np.stack(a, p["axis"]),
    "squeeze": lambda p, a: np.squeeze(a, tuple(p["dimensions"])),
    "tile": lambda p, a: np.tile(a, p["reps"]),
    "transpose": lambda p, a: np.transpose(a, p["permutation"]),
    "triangular_solve": _triangular,
    "unstack": _unstack,
}
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "add": np.add,
    "add_any": np.add,
    "and": np.bitwise_and,
    "clamp": lambda low, a, high: np.clip(a, low, high),
    "copy": lambda a: a,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "div": lambda a, b: np.divide(a, b) if a.dtype.kind == "f" else np.trunc(a / b),
    "eq": np.equal,
    "ge": np.greater_equal,
    "gt": np.greater,
    "le": np.less_equal,
    "lt": np.less,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "ne": np.not_equal,
    "neg": np.negative,
    "not": np.invert,
    "or": np.bitwise_or,
    "rem": np.fmod,
    "select_n": lambda which, *cases: np.choose(which.astype(int), cases),
    "sign": np.sign,
    "sin": np.sin,
    "sqrt": np.sqrt,
    "stop_gradient": lambda a: a,
    "sub": np.subtract,
    "tanh": np.tanh,
}

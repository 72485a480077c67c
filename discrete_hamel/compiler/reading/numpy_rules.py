"""What each of JAX's primitives is in NumPy, as the interpreter does it: parameters and arrays to an array."""

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from discrete_hamel.compiler.graph.operations import BINARY, UNARY
from discrete_hamel.compiler.reading.data_movement import BY_NUMPY
from discrete_hamel.compiler.reading.gather_scatter import gather, scatter

if TYPE_CHECKING:  # it brings Pallas along, which takes long to load
    from jax.extend.core import JaxprEqn


def _iota(p: dict) -> np.ndarray:
    shape, along = p["shape"], p["dimension"]
    places = np.arange(shape[along]).reshape([-1 if k == along else 1 for k in range(len(shape))])
    return np.broadcast_to(places, shape)


def _select(p: dict, which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    return np.where(which, *cases[::-1]) if which.dtype == bool else np.choose(which, cases)


def _dot(p: dict, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (ca, cb), (ba, bb) = p["dimension_numbers"]
    fa = [k for k in range(a.ndim) if k not in (*ca, *ba)]
    fb = [k for k in range(b.ndim) if k not in (*cb, *bb)]
    batch, left, right = ([x.shape[k] for k in at] for x, at in ((a, ba), (a, fa), (b, fb)))
    length = prod(a.shape[k] for k in ca)
    x = a.transpose([*ca, *ba, *fa]).reshape(length, *batch, *left, *(1 for _ in right))
    y = b.transpose([*cb, *bb, *fb]).reshape(length, *batch, *(1 for _ in left), *right)
    if not length:
        return np.zeros(np.broadcast_shapes(x.shape[1:], y.shape[1:]), np.result_type(a, b))
    total = 0 + x[0] * y[0]
    for of_a, of_b in zip(x[1:], y[1:], strict=True):  # in the order of `primitive_rules.py`, on which bits depend
        total = total + of_a * of_b
    return total


def _power(a: np.ndarray, exponent: int) -> np.ndarray:
    """By squares and products, as `Graph.power`: NumPy's rounds as its version does."""
    if exponent < 0:
        return 1 / _power(a, -exponent)
    half = _power(a, exponent // 2) if exponent > 1 else np.ones_like(a)
    return half * half * a if exponent % 2 else half * half


def _divide(p: dict, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a / b if np.issubdtype(a.dtype, np.inexact) else np.trunc(a / b)


def _along(reduce: Callable) -> Callable:
    return lambda p, a: reduce(a, axis=tuple(p["axes"]))


def _ends(kind: np.dtype) -> tuple:
    return (-np.inf, np.inf) if np.issubdtype(kind, np.inexact) else (np.iinfo(kind).min, np.iinfo(kind).max)


def _extreme(reduce: Callable, end: Callable) -> Callable:
    """Of no numbers, as XLA: the end of those that there are."""

    def rule(p: dict, a: np.ndarray) -> np.ndarray:
        axes = tuple(p["axes"])
        return reduce(a, axis=axes) if a.size else reduce(a, axis=axes, initial=end(_ends(a.dtype)))

    return rule


def _cumulative(reduce: Callable) -> Callable:
    def rule(p: dict, a: np.ndarray) -> np.ndarray:
        axis = p["axis"]
        return np.flip(reduce(np.flip(a, axis), axis=axis), axis) if p["reverse"] else reduce(a, axis=axis)

    return rule


def _gather(p: dict, a: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return _gather_at(p, a.shape, a.dtype, indices)(a)


def _gather_at(p: dict, shape: tuple[int, ...], kind: np.dtype, indices: np.ndarray) -> Callable:
    filling = p.get("fill_value")
    nothing = np.nan if np.issubdtype(kind, np.inexact) else 0
    return gather(p, shape, indices, nothing if filling is None else filling)


def _newer(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return new


def _sum(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return old + new


def _scatter(combine: Callable) -> Callable:
    def rule(p: dict, a: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        return _scatter_at(combine, p, a.shape, indices, updates.shape)(a, updates)

    return rule


def _scatter_at(
    combine: Callable, p: dict, shape: tuple[int, ...], indices: np.ndarray, of: tuple[int, ...]
) -> Callable:
    """What updates `of` a shape make of an operand; several to one place follow each other."""
    taken, into = scatter(p, shape, indices, of)
    turns = [slice(None)] if len(np.unique(into)) == len(into) else range(len(into))

    def rule(a: np.ndarray, updates: np.ndarray) -> np.ndarray:
        result, values = a.flatten(), updates.reshape(-1)[taken]
        for k in turns:
            result[into[k]] = combine(result[into[k]], values[k])
        return result.reshape(shape)

    return rule


def _window(shape: tuple[int, ...], sizes: tuple[int, ...], starts: tuple[np.ndarray, ...]) -> tuple[slice, ...]:
    begins = [min(max(int(s), 0), n - size) for s, n, size in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(b, b + size) for b, size in zip(begins, sizes, strict=True))


def _update(p: dict, a: np.ndarray, update: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    result = a.copy()
    result[_window(a.shape, update.shape, starts)] = update
    return result


def factor(p: dict, a: np.ndarray) -> list[np.ndarray]:
    """P A = L U with partial pivoting, of all matrices side by side."""
    n, batch = a.shape[-1], a.shape[:-2]
    packed = a.reshape(prod(batch), n, n).copy()
    every = np.arange(len(packed))
    swaps, order = (np.tile(np.arange(n, dtype=np.int32), (len(packed), 1)) for _ in range(2))
    for k in range(n):
        best = k + np.argmax(np.abs(packed[:, k:, k]), axis=1)
        swaps[:, k] = best
        for rows in (packed, order):
            rows[every, k], rows[every, best] = rows[every, best], rows[every, k].copy()
        packed[:, k + 1 :, k] /= packed[:, k, k, None]
        packed[:, k + 1 :, k + 1 :] -= packed[:, k + 1 :, k, None] * packed[:, k, None, k + 1 :]
    return [packed.reshape(a.shape), swaps.reshape(*batch, n), order.reshape(*batch, n)]


def _triangular(p: dict, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    a = np.tril(a) if p["lower"] else np.triu(a)
    if p["unit_diagonal"]:
        a[..., range(a.shape[-1]), range(a.shape[-1])] = 1
    a = np.swapaxes(a, -1, -2) if p["transpose_a"] else a
    return solve(a, b) if p["left_side"] else np.swapaxes(solve(np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


def solve(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A^-1 b, no numbers where A is singular."""
    try:
        return np.linalg.solve(a, b)
    except np.linalg.LinAlgError:
        return np.full_like(b, np.nan)


TABLE: dict[str, Callable] = {
    **{name: (lambda p, a, of=entry[0]: of(a)) for name, entry in UNARY.items()},
    **{name: (lambda p, a, b, of=entry[0]: of(a, b)) for name, entry in BINARY.items()},
    **BY_NUMPY,
    "add": lambda p, a, b: a + b,
    "add_any": lambda p, a, b: a + b,
    "sub": lambda p, a, b: a - b,
    "mul": lambda p, a, b: a * b,
    "div": _divide,
    "rem": lambda p, a, b: np.where(b == 0, a if a.dtype.kind in "iu" else np.nan, np.fmod(a, b)),  # as XLA has it
    "neg": lambda p, a: -a,
    "square": lambda p, a: a * a,
    "integer_pow": lambda p, a: _power(a, p["y"]),
    "is_finite": lambda p, a: np.isfinite(a),
    "and": lambda p, a, b: a & b,
    "or": lambda p, a, b: a | b,
    "not": lambda p, a: ~a,
    "clamp": lambda p, low, a, high: np.minimum(np.maximum(a, low), high),
    "convert_element_type": lambda p, a: a if np.issubdtype(p["new_dtype"], np.complexfloating) else a.real,
    "iota": _iota,
    "select_n": _select,
    "dot_general": _dot,
    "reduce_sum": _along(np.sum),
    "reduce_prod": _along(np.prod),
    "reduce_max": _extreme(np.max, min),
    "reduce_min": _extreme(np.min, max),
    "reduce_and": _along(np.all),
    "reduce_or": _along(np.any),
    "cumsum": _cumulative(np.cumsum),
    "cumprod": _cumulative(np.cumprod),
    "gather": _gather,
    "scatter": _scatter(_newer),
    "scatter-add": _scatter(_sum),
    "dynamic_slice": lambda p, a, *starts: a[_window(a.shape, p["slice_sizes"], starts)],
    "dynamic_update_slice": _update,
    "triangular_solve": _triangular,
}  # fmt: skip


def _gather_from(equation: "JaxprEqn", indices: np.ndarray) -> Callable:
    shape, kind = equation.invars[0].aval.shape, equation.invars[0].aval.dtype  # type: ignore[attr-defined]  # of an array
    rule = _gather_at(equation.params, shape, kind, indices)
    return lambda a, _: rule(a)


def _scatter_to(combine: Callable) -> Callable:
    def bind(equation: "JaxprEqn", indices: np.ndarray) -> Callable:
        shape, _, of = (v.aval.shape for v in equation.invars)  # type: ignore[attr-defined]  # of arrays
        rule = _scatter_at(combine, equation.params, shape, indices, of)
        return lambda a, _, updates: rule(a, updates)

    return bind


# By indices that are the same each time: which entries go where is found once.
INDEXED = {"gather": _gather_from, "scatter": _scatter_to(_newer), "scatter-add": _scatter_to(_sum)}

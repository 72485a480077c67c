"""A function of JAX interpreted by NumPy: nothing is compiled, for what is asked once or a few times.

Its jaxpr is traced once a shape, and then done equation by equation: milliseconds, where XLA would compile for seconds.
A primitive that is not in the tables is JAX's own, done as it stands, so that nothing is unknown here.
"""

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from functools import wraps
from math import inf, prod
from typing import TYPE_CHECKING, Any, TypeGuard

import jax
import numpy as np

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.caches import garbage_kept
from discrete_hamel.compiler.graph.operations import BINARY, UNARY
from discrete_hamel.compiler.reading.data_movement import BY_NUMPY, FEW
from discrete_hamel.compiler.reading.gather_scatter import gather, scatter_places

if TYPE_CHECKING:  # it brings Pallas along, which takes long to load
    from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

MANY = 4000  # numbers of the arguments, from which on XLA's loops are worth compiling
OFTEN = 40  # calls, after which what takes NumPy some ten milliseconds is worth a second of compiling


class TracedWithin(ValueError):
    """A function to be interpreted has inside it a value that JAX traces outside."""


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
    total = np.zeros(np.broadcast_shapes(x.shape[1:], y.shape[1:]), np.result_type(a, b))
    for of_a, of_b in zip(x, y, strict=True):  # in the order of `primitive_rules.py`, on which bits depend
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
    filling = p.get("fill_value")
    nothing = np.nan if np.issubdtype(a.dtype, np.inexact) else 0
    return gather(p, a, indices, nothing if filling is None else filling)


def _scatter(combine: Callable) -> Callable:
    def rule(p: dict, a: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> np.ndarray:
        result = a.copy()
        for place, update in scatter_places(p, a.shape, indices, updates):
            result[place] = combine(result[place], update)
        return result

    return rule


def _window(shape: tuple[int, ...], sizes: tuple[int, ...], starts: tuple[np.ndarray, ...]) -> tuple[slice, ...]:
    begins = [min(max(int(s), 0), n - size) for s, n, size in zip(starts, shape, sizes, strict=True)]
    return tuple(slice(b, b + size) for b, size in zip(begins, sizes, strict=True))


def _update(p: dict, a: np.ndarray, update: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    result = a.copy()
    result[_window(a.shape, update.shape, starts)] = update
    return result


def _factor(p: dict, a: np.ndarray) -> list[np.ndarray]:
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
    "scatter": _scatter(lambda old, new: new),
    "scatter-add": _scatter(lambda old, new: old + new),
    "dynamic_slice": lambda p, a, *starts: a[_window(a.shape, p["slice_sizes"], starts)],
    "dynamic_update_slice": _update,
    "triangular_solve": _triangular,
}  # fmt: skip


def is_literal(v: object) -> TypeGuard["Literal"]:
    """Whether an operand of an equation is a number, and no variable."""
    return hasattr(v, "val")


def _of_kind(value: object, kind: object) -> np.ndarray:
    """A value as NumPy's array; a key of `jax.random`, which NumPy has no type for, stays JAX's."""
    return np.asarray(value, kind) if isinstance(kind, np.dtype) else value  # type: ignore[return-value]  # JAX's


def evaluate(equation: "JaxprEqn", values: list[np.ndarray]) -> list[np.ndarray]:
    """The outputs of an equation whose operands are numbers."""
    name, several = equation.primitive.name, equation.primitive.multiple_results
    arrays = [
        v if type(v) is np.ndarray and v.dtype == i.aval.dtype else _of_kind(v, i.aval.dtype)  # type: ignore[attr-defined]
        for v, i in zip(values, equation.invars, strict=True)
    ]
    if name == "lu" and arrays[0].shape[-1] == arrays[0].shape[-2]:
        result = _factor(equation.params, *arrays)
    elif rule := TABLE.get(name):
        result = rule(equation.params, *arrays)
    else:
        result = equation.primitive.bind(*map(jax.device_put, arrays), **equation.params)
    if not several and type(result) is np.ndarray and result.dtype == equation.outvars[0].aval.dtype:
        return [result]
    outputs = zip(result if several else [result], equation.outvars, strict=True)
    return [_of_kind(value, variable.aval.dtype) for value, variable in outputs]  # type: ignore[attr-defined]


class _Plan:
    """A jaxpr as a list of steps over numbered values, those of the calls within it too: found once, run often."""

    def __init__(self, jaxpr: "Jaxpr") -> None:
        self.known: list = []  # what is the same each time
        self.steps: list[tuple] = []
        environment = {v: self._new(None) for v in (*jaxpr.constvars, *jaxpr.invars)}
        self.kinds = [v.aval.dtype for v in environment]  # type: ignore[attr-defined]  # of an array
        self.outputs = self._add(jaxpr, environment)
        self._shorten()

    def _shorten(self) -> None:
        """Without the steps that nothing asks for, and those that are done here, as they are of numbers only."""
        asked, steps = {*self.outputs}, []
        for one in reversed(self.steps):
            _, about, operands, made, kind = one
            if not asked.isdisjoint(made) or (kind is None and about.effects):
                steps.append(one)
                asked.update(operands)
        self.steps = []
        for step, about, operands, made, kind in reversed(steps):
            values = [self.known[k] for k in operands]
            if kind is None or made[0] in self.outputs or any(v is None or np.size(v) > FEW for v in values):
                self.steps.append((step, about, operands, made, kind))
            else:
                self.known[made[0]] = _of_kind(TABLE[step](about, *values), kind)

    def _new(self, value: object) -> int:
        self.known.append(value)
        return len(self.known) - 1

    def _add(self, jaxpr: "Jaxpr", environment: dict) -> list[int]:
        """The steps of a jaxpr, whose given variables have their numbers in the environment; those of its outputs."""

        def place(v: Any) -> int:
            return self._new(_of_kind(v.val, v.aval.dtype)) if is_literal(v) else environment[v]  # type: ignore[attr-defined]

        for equation in jaxpr.eqns:
            name, operands = equation.primitive.name, [place(v) for v in equation.invars]
            if name in CALLS:
                inner: Any = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
                within, consts = (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
                fixed = [self._new(_of_kind(a, v.aval.dtype)) for v, a in zip(within.constvars, consts, strict=True)]
                given = zip((*within.constvars, *within.invars), (*fixed, *operands), strict=True)
                environment.update(zip(equation.outvars, self._add(within, dict(given)), strict=True))
                continue
            made = [self._new(None) for _ in equation.outvars]
            environment.update(zip(equation.outvars, made, strict=True))
            if name in TABLE and name not in CONTROL and not equation.primitive.multiple_results:
                kind = equation.outvars[0].aval.dtype  # type: ignore[attr-defined]
                self.steps.append((name, equation.params, operands, made, kind))
            else:
                self.steps.append((CONTROL.get(name, evaluate), equation, operands, made, None))
        return [place(v) for v in jaxpr.outvars]

    def run(self, given: Sequence) -> list[np.ndarray]:
        known, fitting = self.known[:], zip(given, self.kinds, strict=True)
        known[: len(self.kinds)] = [_of_kind(value, kind) for value, kind in fitting]
        for step, about, operands, made, kind in self.steps:
            values = [known[k] for k in operands]
            if kind is None:
                for k, value in zip(made, step(about, values), strict=True):
                    known[k] = value
                continue
            result = TABLE[step](about, *values)
            known[made[0]] = result if type(result) is np.ndarray and result.dtype is kind else _of_kind(result, kind)
        return [known[k] for k in self.outputs]


_plans: "weakref.WeakKeyDictionary[Jaxpr, _Plan]" = weakref.WeakKeyDictionary()


def outcome(jaxpr: "Jaxpr", consts: Sequence, arguments: Sequence) -> list[np.ndarray]:
    """The outputs of a jaxpr for arguments that are numbers."""
    plan = _plans.get(jaxpr)
    if plan is None:
        plan = _plans[jaxpr] = _Plan(jaxpr)
    return plan.run([*consts, *arguments])


def _run_closed(jaxpr: "ClosedJaxpr", values: list[np.ndarray]) -> list[np.ndarray]:
    return outcome(jaxpr.jaxpr, jaxpr.consts, values) if hasattr(jaxpr, "consts") else outcome(jaxpr, (), values)  # type: ignore[arg-type]


def _cond(equation: "JaxprEqn", values: list[np.ndarray]) -> list[np.ndarray]:
    branches, (which, *operands) = equation.params["branches"], values
    return _run_closed(branches[int(np.clip(which, 0, len(branches) - 1))], operands)


def _while(equation: "JaxprEqn", values: list[np.ndarray]) -> list[np.ndarray]:
    p = equation.params
    ends, runs = p["cond_nconsts"], p["body_nconsts"]
    for_end, for_run, carry = values[:ends], values[ends : ends + runs], values[ends + runs :]
    while np.any(going := np.asarray(_run_closed(p["cond_jaxpr"], [*for_end, *carry])[0])):
        after = _run_closed(p["body_jaxpr"], [*for_run, *carry])
        carry = [_where(going, new, old) for new, old in zip(after, carry, strict=True)] if going.ndim else after
    return carry


def _where(going: np.ndarray, new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Loops side by side: those that have ended stay as they are."""
    return np.where(going.reshape(going.shape + (1,) * (np.ndim(new) - going.ndim)), new, old)


def _scan(equation: "JaxprEqn", values: list[np.ndarray]) -> list[np.ndarray]:
    p = equation.params
    fixed, moving = p["num_consts"], p["num_carry"]
    consts, carry, sequences = values[:fixed], values[fixed : fixed + moving], values[fixed + moving :]
    places = range(p["length"])
    rows = []
    for k in reversed(places) if p["reverse"] else places:
        outputs = _run_closed(p["jaxpr"], [*consts, *carry, *(np.asarray(s)[k] for s in sequences)])
        carry = outputs[:moving]
        rows.append(outputs[moving:])
    rows = rows[::-1] if p["reverse"] else rows
    kinds = [v.aval for v in equation.outvars[moving:]]
    stacked = [np.array([row[i] for row in rows], kind.dtype).reshape(kind.shape) for i, kind in enumerate(kinds)]  # type: ignore[attr-defined]
    return [*carry, *stacked]


def _linear_solve(equation: "JaxprEqn", values: list[np.ndarray]) -> list[np.ndarray]:
    """A x = b with A read off the map x -> A x, where there is one system; else as JAX would solve it."""
    lengths, jaxprs = equation.params["const_lengths"], equation.params["jaxprs"]
    right = values[sum(lengths) :]
    if len(right) != 1 or np.ndim(right[0]) != 1:
        before = sum(lengths[:2])
        return _run_closed(jaxprs.solve, [*values[before : before + lengths.solve], *right])
    b = np.asarray(right[0])
    columns = [
        _run_closed(jaxprs.matvec, [*values[: lengths.matvec], unit])[0] for unit in np.eye(len(b), dtype=b.dtype)
    ]
    return [solve(np.array(columns, b.dtype).reshape(len(b), len(b)).T, b)]


CALLS = ("jit", "pjit", "closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "remat2", "checkpoint")
CONTROL: dict[str, "Callable[[JaxprEqn, list[np.ndarray]], list[np.ndarray]]"] = {
    "cond": _cond,
    "while": _while,
    "scan": _scan,
    "custom_linear_solve": _linear_solve,
}


def interpret(function: Callable, static: int = 0, most: int = MANY, often: float = inf) -> Callable:
    """The function, of pytrees, by NumPy; where JAX traces its arguments, or they are more than `most` numbers, it is
    the function under jit, and so it is from the call on that makes it `often`. So many first arguments are `static`,
    as jit has them.

    >>> import jax.numpy as jnp
    >>> float(interpret(lambda x: jnp.sum(jnp.sin(x) ** 2))(jnp.array([0.0, np.pi / 2])))
    1.0
    """
    staged = jax.jit(function, static_argnums=range(static))
    calls: Counter[int] = Counter()  # by what was traced

    @wraps(function)
    def by_numpy(*arguments: PyTree) -> Any:
        leaves = jax.tree.leaves(arguments[static:])
        if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves) or sum(map(np.size, leaves)) > most:
            return staged(*arguments)
        with garbage_kept():
            traced = staged.trace(*arguments)
        closed = traced.jaxpr
        calls[id(closed.jaxpr)] += 1
        if calls[id(closed.jaxpr)] > often:
            return staged(*arguments)
        if len(closed.jaxpr.invars) != len(leaves):  # what the function has inside is handed in, beside its arguments
            found = staged(*arguments)
            if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(found)):
                raise TracedWithin(f"{function.__name__} has inside it a value that is traced by JAX")
            return found
        with np.errstate(all="ignore"):
            found = outcome(closed.jaxpr, closed.consts, [np.asarray(leaf) for leaf in leaves])
        kinds = jax.tree.leaves(traced.out_info)
        arrays = [np.asarray(value, kind.dtype) for value, kind in zip(found, kinds, strict=True)]
        return jax.tree.unflatten(jax.tree.structure(traced.out_info), arrays)

    return by_numpy

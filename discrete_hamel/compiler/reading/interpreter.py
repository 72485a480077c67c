"""A function of JAX interpreted by NumPy: nothing is compiled, for what is asked once or a few times.

Its jaxpr is traced once a shape, and then done equation by equation: milliseconds, where XLA would compile for seconds.
A primitive that is not in the tables is JAX's own, done as it stands, so that nothing is unknown here.
"""

import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial, wraps
from math import inf
from operator import is_
from typing import TYPE_CHECKING, Any, TypeGuard

import jax
import numpy as np

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.caches import garbage_kept
from discrete_hamel.compiler.reading.data_movement import FEW
from discrete_hamel.compiler.reading.numpy_rules import INDEXED, TABLE, factor, solve

if TYPE_CHECKING:  # it brings Pallas along, which takes long to load
    from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

MANY = 4000  # numbers of the arguments, from which on XLA's loops are worth compiling
OFTEN = 40  # calls, after which what takes NumPy some ten milliseconds is worth a second of compiling


class TracedWithin(ValueError):
    """A function to be interpreted has inside it a value that JAX traces outside."""


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
        result = factor(equation.params, *arrays)
    elif rule := TABLE.get(name):
        result = rule(equation.params, *arrays)
    else:
        result = equation.primitive.bind(*map(jax.device_put, arrays), **equation.params)
    if not several and type(result) is np.ndarray and result.dtype == equation.outvars[0].aval.dtype:
        return [result]
    outputs = zip(result if several else [result], equation.outvars, strict=True)
    return [_of_kind(value, variable.aval.dtype) for value, variable in outputs]  # type: ignore[attr-defined]


class _Plan:
    """A jaxpr as a list of steps over numbered values, those of the calls within it too: found once, run often.

    What nothing asks for is left out, what is of numbers only is done here, and where indices are, so is what they
    take from where.
    """

    def __init__(self, jaxpr: "Jaxpr", consts: Sequence) -> None:
        self.consts = consts
        self.known: list = []  # what is the same each time
        fixed = [_of_kind(a, v.aval.dtype) for v, a in zip(jaxpr.constvars, consts, strict=True)]  # type: ignore[attr-defined]
        given = zip((*jaxpr.constvars, *jaxpr.invars), (*fixed, *(None for _ in jaxpr.invars)), strict=True)
        environment = {v: self._new(value) for v, value in given}
        self.kinds = [v.aval.dtype for v in environment]  # type: ignore[attr-defined]  # of an array
        equations: list[tuple[JaxprEqn, list[int], list[int]]] = []
        self.outputs = self._add(jaxpr, environment, equations)
        self.steps: list[tuple] = []
        for equation, operands, made in _asked_for(equations, self.outputs):
            self._do(equation, operands, made)

    def _new(self, value: object) -> int:
        self.known.append(value)
        return len(self.known) - 1

    def _add(self, jaxpr: "Jaxpr", environment: dict, equations: list) -> list[int]:
        """Its equations, whose given variables have their numbers in the environment; the numbers of its outputs."""

        def place(v: Any) -> int:
            return self._new(_of_kind(v.val, v.aval.dtype)) if is_literal(v) else environment[v]  # type: ignore[attr-defined]

        for equation in jaxpr.eqns:
            name, operands = equation.primitive.name, [place(v) for v in equation.invars]
            if name in CALLS:
                inner: Any = equation.params.get("jaxpr") or equation.params.get("call_jaxpr")
                within, consts = (inner.jaxpr, inner.consts) if hasattr(inner, "consts") else (inner, ())
                fixed = [self._new(_of_kind(a, v.aval.dtype)) for v, a in zip(within.constvars, consts, strict=True)]
                given = zip((*within.constvars, *within.invars), (*fixed, *operands), strict=True)
                environment.update(zip(equation.outvars, self._add(within, dict(given), equations), strict=True))
                continue
            made = [self._new(None) for _ in equation.outvars]
            environment.update(zip(equation.outvars, made, strict=True))
            equations.append((equation, operands, made))
        return [place(v) for v in jaxpr.outvars]

    def _do(self, equation: "JaxprEqn", operands: list[int], made: list[int]) -> None:
        """Now, if that is possible, or as a step."""
        name, values = equation.primitive.name, [self.known[k] for k in operands]
        if name not in TABLE or name in CONTROL or equation.primitive.multiple_results:
            self.steps.append((CONTROL.get(name, evaluate), equation, operands, made, None))
            return
        kind = equation.outvars[0].aval.dtype  # type: ignore[attr-defined]
        if made[0] not in self.outputs and all(value is not None and np.size(value) <= FEW for value in values):
            self.known[made[0]] = _of_kind(TABLE[name](equation.params, *values), kind)
            return
        with_indices = INDEXED.get(name) if len(values) > 1 and values[1] is not None else None
        rule = with_indices(equation, values[1]) if with_indices else partial(TABLE[name], equation.params)
        self.steps.append((rule, None, operands, made, kind))

    def run(self, given: Sequence) -> list[np.ndarray]:
        known, fitting = self.known[:], zip(given, self.kinds, strict=True)
        known[: len(self.kinds)] = [_of_kind(value, kind) for value, kind in fitting]
        for step, about, operands, made, kind in self.steps:
            values = [known[k] for k in operands]
            if kind is None:
                for k, value in zip(made, step(about, values), strict=True):
                    known[k] = value
                continue
            result = step(*values)
            known[made[0]] = result if type(result) is np.ndarray and result.dtype is kind else _of_kind(result, kind)
        return [known[k] for k in self.outputs]


def _asked_for(equations: list, outputs: list[int]) -> list:
    """Those that the outputs depend on, or that have effects, in their order."""
    asked, found = {*outputs}, []
    for one in reversed(equations):
        equation, operands, made = one
        if not asked.isdisjoint(made) or equation.effects:
            found.append(one)
            asked.update(operands)
    return found[::-1]


_plans: "weakref.WeakKeyDictionary[Jaxpr, _Plan]" = weakref.WeakKeyDictionary()


def outcome(jaxpr: "Jaxpr", consts: Sequence, arguments: Sequence) -> list[np.ndarray]:
    """The outputs of a jaxpr for arguments that are numbers."""
    plan = _plans.get(jaxpr)
    if plan is None or not all(map(is_, plan.consts, consts)):
        plan = _plans[jaxpr] = _Plan(jaxpr, consts)
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

"""A function that each run asks for once, as a line of Python for each of its operations on numbers.

First it is interpreted (`interpreter`), which takes some three microseconds for each of its equations. Its scalar graph
has a tenth as many operations, each of some thirtieth of a microsecond, and takes as long to build as the function to
be interpreted four times: so from the third run of a kind on it is the graph. Both are the same function, and sum in
the same order; but solves may round differently, so what has to have the same bits whatever ran before asks for
`afresh`.
"""

import math
from collections.abc import Callable, Hashable
from functools import partial, update_wrapper
from typing import Generic, ParamSpec, TypeVar

import jax
import numpy as np

from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.operations import BINARY, UNARY
from discrete_hamel.compiler.graph.pytree_leaves import inputs_like
from discrete_hamel.compiler.reading.cached_scalars import kind_of, record_of
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.compiler.reading.jaxprs import trace
from discrete_hamel.compiler.reading.primitive_rules import as_nodes
from discrete_hamel.compiler.simplifying import hidden

P = ParamSpec("P")
T = TypeVar("T")
RARE = 2  # calls that are interpreted
LONGEST = 3000  # operations, of which each takes a hundred microseconds to find
MOST = 200  # numbers of the arguments


def _number(function: Callable) -> Callable:
    return lambda *of: float(function(*of))


ARITHMETIC = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "neg": "-{}",
    "select": "{1} if {0} else {2}", "abs": "abs({})", "sqrt": "root({})",
    "max": "{0} if {0} > {1} or {0} != {0} else {1}", "min": "{0} if {0} < {1} or {0} != {0} else {1}",
}  # fmt: skip
NAMES: dict[str, object] = {
    **{name: _number(entry[0]) for name, entry in (*UNARY.items(), *BINARY.items())},
    "nan": np.nan, "inf": np.inf, "root": math.sqrt, "abs": abs, "unheard": partial(np.errstate, all="ignore"),
}  # fmt: skip


def _in_python(graph: Graph, inputs: list[int], outputs: list[int]) -> Callable[[list[float]], list[float]]:
    """The function of the numbers at `inputs` that gives those at `outputs`."""
    order = graph.dependencies(outputs)
    if len(order) > LONGEST:
        raise Unsupported(f"{len(order)} operations, of {LONGEST} at most")
    words = {i: f"v{i}" if (value := graph.value(i)) is None else f"({value!r})" for i in {*order, *inputs}}
    lines = [f"{''.join(f'{words[i]}, ' for i in inputs)} = numbers"] if inputs else []
    for i in order:
        if behind := graph.operands(i):
            name = graph.nodes[i][0]
            form = ARITHMETIC.get(name) or f"{name}({', '.join(['{}'] * len(behind))})"
            lines.append(f"{words[i]} = {form.format(*(words[k] for k in behind))}")
    lines.append(f"return [{', '.join(words[i] for i in outputs)}]")
    if any(graph.nodes[i][0] not in ARITHMETIC for i in order if graph.operands(i)):  # NumPy's, which would warn
        lines = ["with unheard():", *(f" {line}" for line in lines)]
    made: dict = {}
    exec("def function(numbers):\n " + "\n ".join(lines), NAMES, made)  # no text of the user's is in it
    return made["function"]


class Tape:
    """The operations of a function of pytrees, of which these arguments are a sample."""

    def __init__(self, function: Callable, arguments: tuple) -> None:
        traced = jax.jit(function).trace(*arguments)
        closed, leaves = traced.jaxpr, jax.tree.leaves(arguments)
        if len(closed.jaxpr.invars) != len(leaves):
            raise Unsupported("a value inside the function that is handed in beside its arguments")
        kinds, self.structure = jax.tree.flatten(traced.out_info)
        if any(kind.dtype != float for kind in kinds):
            raise Unsupported("outputs that are no doubles")
        graph = Graph()
        given, inputs = inputs_like(graph, leaves)
        outputs = [np.ravel(as_nodes(graph, value)).tolist() for value in trace(graph, closed, given)]
        ends = np.cumsum([0, *map(len, outputs)]).tolist()
        self.places = [(slice(a, b), kind.shape) for a, b, kind in zip(ends, ends[1:], kinds, strict=False)]
        nodes = sum(outputs, [])
        self.count, guards = len(nodes), hidden.guards(graph, nodes)
        self.function = _in_python(graph, inputs, [*nodes, *guards])

    def __call__(self, numbers: list[float]) -> object:
        """The function's outputs, or nothing where it meets no number (a division by zero, an overflow), or
        too small a pivot."""
        try:
            found = self.function(numbers)
        except (ArithmeticError, ValueError):
            return None
        if len(found) > self.count and not all(guard > 0 for guard in found[self.count :]):
            return None
        block = np.array(found)
        return jax.tree.unflatten(self.structure, [block[at].reshape(shape) for at, shape in self.places])


class Repeated(Generic[P, T]):
    """A function of pytrees by its operations, where these can be found; else, and the first times, interpreted.

    >>> import jax.numpy as jnp
    >>> double = Repeated(lambda x: 2 * x)
    >>> [float(double(jnp.array(x))) for x in (1.0, 2.0, 3.0, 4.0)], float(double.afresh(jnp.array(5.0)))
    ([2.0, 4.0, 6.0, 8.0], 10.0)
    """

    def __init__(self, function: Callable[P, T], by: Callable[[Callable[P, T]], Callable[P, T]] = interpret) -> None:
        update_wrapper(self, function)
        self.function = function
        self.afresh = by(function)
        self.programs = Cache(most=200)

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> T:
        key, numbers = list[Hashable](), list[float]()
        for argument in arguments:
            if type(argument) is np.ndarray and argument.size <= MOST:
                key += [argument.shape, argument.dtype]
                numbers += argument.ravel().tolist()
            elif made := record_of(argument):
                key += made.kind
                numbers += made.listed
            else:
                leaves = jax.tree.leaves(argument)
                traced = any(isinstance(leaf, jax.core.Tracer) for leaf in leaves)
                if traced or sum(leaf.size for leaf in leaves) > MOST:
                    return self.afresh(*arguments, **named)
                key += kind_of(argument)
                numbers += [x for leaf in leaves for x in np.asarray(leaf).ravel().tolist()]
        if named or len(numbers) > MOST:
            return self.afresh(*arguments, **named)
        program: object = self.programs.fetch(kind := tuple(key), lambda: 0)  # or how often there was none
        if isinstance(program, int):
            program = self.programs[kind] = program + 1 if program < RARE else self._program(arguments)
        found = program(numbers) if isinstance(program, Tape) else None
        return self.afresh(*arguments, **named) if found is None else found  # type: ignore[return-value]  # the function's

    def _program(self, arguments: tuple) -> Tape | str:
        try:
            return Tape(self.function, arguments)
        except Unsupported as error:
            return str(error.reason)

"""A function of (system, state) at many nodes at once: its scalar graph by NumPy, so that nothing is compiled for it.

Block by block, which stay in the processor's cache; a function that has been asked for at very many nodes becomes
native code. Where it has no scalar graph, JAX does it, in blocks of one size, so that nothing recompiles for a new
number of nodes. Not for derivatives.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.operations import BINARY, UNARY
from discrete_hamel.compiler.graph.pytree_leaves import inputs_like
from discrete_hamel.compiler.native.function_of_rows import NativeColumns
from discrete_hamel.compiler.native.object_code import available
from discrete_hamel.compiler.reading.cached_scalars import kind_of, numbers_of
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.simplifying import hidden
from discrete_hamel.mechanics.system import System

BLOCK = 2048  # nodes: two pages of a cache for each number in use
ROWS = 2**17  # nodes that NumPy has done in the time that it takes to compile native code
MANY = 200  # numbers of a state beyond which a graph takes long to build
_programs = Cache(most=200)
_TRUTHS = ("lt", "le", "gt", "ge", "eq", "ne")


def _number(compare: Callable) -> Callable:
    return lambda a, b: np.asarray(compare(a, b), float)


VALUES: dict[str, Callable] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "select": lambda truth, a, b: np.where(np.not_equal(truth, 0), a, b),
    **{name: entry[0] for name, entry in (*UNARY.items(), *BINARY.items())},
    **{name: _number(BINARY[name][0]) for name in _TRUTHS},
}  # fmt: skip


def along(function: Callable, system: System, *states: np.ndarray) -> np.ndarray:
    """function(system, *rows) for the rows of arrays that are equally long; `function` may be one number or an array.

    >>> import numpy as np
    >>> along(lambda scale, q: scale * q[0], np.asarray(2.0), np.array([[1.0], [3.0]]))
    array([2., 6.])
    """
    key = function, kind_of(system), *[(a.shape[1:], a.dtype) for a in states]
    return _programs.fetch(key, lambda: _program(function, system, states))(system, states)


def _program(function: Callable, system: System, states: Sequence[np.ndarray]) -> Callable:
    by_jax = partial(_by_jax, jax.jit(jax.vmap(function, (None, *(0 for _ in states)))))
    if sum(a[0].size for a in states) > MANY:
        return by_jax
    try:
        return Columns(function, system, states, by_jax)
    except Unsupported:
        return by_jax


def _by_jax(function: Callable, system: System, states: Sequence[np.ndarray]) -> np.ndarray:
    made = []
    for k in range(0, len(states[0]), BLOCK):
        rows = [a[k : k + BLOCK] for a in states]
        size = len(rows[0])
        whole = [np.concatenate([a, np.broadcast_to(a[-1:], (BLOCK - size, *a.shape[1:]))]) for a in rows]
        made.append(np.asarray(function(system, *whole))[:size])
    return np.concatenate(made)


class Columns:
    """The graph of a function, as a list of NumPy's operations on a block of nodes.

    Its pivots are those of the first node; where one of them is too small, `otherwise` does the node.
    """

    def __init__(self, function: Callable, system: System, states: Sequence[np.ndarray], otherwise: Callable) -> None:
        self.otherwise = otherwise
        graph = Graph()
        mechanics, self.parameters = inputs_like(graph, system)
        rows = [inputs_like(graph, a[0]) for a in states]
        self.columns = [nodes for _, nodes in rows]
        outputs = to_graph(graph, function, mechanics, *(row for row, _ in rows))
        if len(outputs) != 1:
            raise Unsupported("several outputs")
        self.shape, self.outputs = outputs[0].shape, list(outputs[0].ravel())
        self.outputs += hidden.guards(graph, self.outputs)
        self.graph, self.seen = graph, 0
        self.native: NativeColumns | None = None
        order = graph.dependencies(self.outputs)
        last = {a: index for index in order for a in graph.operands(index)}
        self.fixed = {index: value for index in order if (value := graph.value(index)) is not None}
        kept = {*self.outputs, *self.fixed, *self.parameters}
        self.steps = []
        for index in order:
            if operands := graph.operands(index):
                over = [a for a in {*operands} if last[a] == index and a not in kept]
                self.steps.append((index, VALUES[graph.nodes[index][0]], operands, over))

    def __call__(self, system: System, states: Sequence[np.ndarray]) -> np.ndarray:
        """The function's values, a row a node."""
        numbers = numbers_of(system)
        result = np.empty((len(states[0]), len(self.outputs)))
        done = self._natively(numbers, states, result)
        if done < len(result):
            self._by_numpy(numbers, [a[done:] for a in states], result[done:])
        size = math.prod(self.shape)
        found, guards = result[:, :size], result[:, size:]
        if not (trusted := np.all(guards > 0, axis=1)).all():
            found[~trusted] = self.otherwise(system, [a[~trusted] for a in states]).reshape(-1, size)
        return found.reshape(len(result), *self.shape)

    def _natively(self, numbers: np.ndarray, states: Sequence[np.ndarray], result: np.ndarray) -> int:
        """How many rows of the result native code has written: none, where something in them is no finite number."""
        self.seen += len(result)
        if self.native is None and self.seen > ROWS and not available():
            self.native = NativeColumns(self.graph, self.parameters, self.columns, self.outputs)
        if self.native is None:
            return 0
        whole = len(result) // self.native.width * self.native.width
        result[:whole] = self.native(numbers, states).T
        if whole < len(result):  # the last vector, filled up with its last row
            rest = [np.concatenate([a[whole:], np.repeat(a[-1:], self.native.width, axis=0)]) for a in states]
            result[whole:] = self.native(numbers, rest).T[: len(result) - whole]
        return len(result) if np.isfinite(result).all() else 0  # angles beyond reach: NumPy knows their sines

    def _by_numpy(self, numbers: np.ndarray, states: Sequence[np.ndarray], result: np.ndarray) -> None:
        fixed = self.fixed | dict(zip(self.parameters, numbers, strict=True))
        with np.errstate(all="ignore"):
            for k in range(0, len(result), BLOCK):
                values: dict[int, Array] = dict(fixed)
                for nodes, rows in zip(self.columns, states, strict=True):
                    block = rows[k : k + BLOCK]
                    block = block.reshape(len(block), len(nodes)).T
                    values.update(zip(nodes, block, strict=True))
                for index, operation, operands, over in self.steps:
                    values[index] = operation(*[values[a] for a in operands])
                    for a in over:
                        del values[a]
                for i, index in enumerate(self.outputs):
                    result[k : k + BLOCK, i] = values[index]

"""What passes decide by sample values, on record: at other values they would make the same program if all come out so.

A decision is a rule of a graph, its samples and plain data. Besides, samples decide on nothing that is made.
"""

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from discrete_hamel.compiler.graph.operations import BINARY, UNARY

if TYPE_CHECKING:
    from discrete_hamel.compiler.graph.expressions import Graph

NUMBERS: dict[str, Callable] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": np.divide, "neg": operator.neg,
    "select": lambda truth, a, b: a if truth else b,
    **{name: entry[0] for name, entry in (*UNARY.items(), *BINARY.items())},
}  # fmt: skip


class Decision(NamedTuple):
    """What was asked of samples, and what they said."""

    rule: Callable  # (graph, samples, *about)
    about: tuple
    outcome: object


def holds_at(graph: "Graph", first: Sequence[float]) -> bool:
    """Whether each decision comes out as it did, where the samples of the first nodes, those that were read, are these.

    >>> from discrete_hamel.compiler.graph.expressions import Graph
    >>> graph = Graph()
    >>> a, b = graph.input("a", 1.0), graph.input("b", 2.0)
    >>> graph.decide(lambda graph, samples, x, y: samples[x] < samples[y], graph.mul(a, a), b)
    True
    >>> holds_at(graph, [1.1, 1.5]), holds_at(graph, [1.1, 1.2])
    (True, False)
    """
    samples = list(first)
    with np.errstate(all="ignore"):
        for index in range(len(first), len(graph.nodes)):
            samples.append(_sample(graph, samples, index))
        return all(rule(graph, samples, *about) == outcome for rule, about, outcome in graph.decisions)


def _sample(graph: "Graph", samples: list[float], index: int) -> float:
    operation, *operands = graph.nodes[index]
    if operation in NUMBERS:
        return float(NUMBERS[operation](*[samples[a] for a in operands]))
    return samples[graph.sampled_as[index]] if index in graph.sampled_as else graph.samples[index]

"""The graph of one link of a chain: what a function of arrays along the chain does at each of n links alike.

Where a residual is made of operations at each link, of cumulative sums along the chain and of neighbours' values, it
is n copies of one small graph. The copies hang together by ties only: a tie is a variable w_k of the link with

    w_k = w_{k-1} + a_k  (sums going up),   w_k = w_{k+1} + a_k  (going down),   w_k = a_{k-1},   w_k = a_{k+1}

and so the Jacobian, with the ties as extra unknowns, is block-tridiagonal with small blocks, however dense it is
without them. Here are the graph and its ties; `strips.py` reads them off a jaxpr.
"""

from typing import Any, NamedTuple

import numpy as np

from discrete_hamel.kernel.graph import Graph
from discrete_hamel.kernel.lowering import dependent

FROM_BELOW, FROM_ABOVE = -1, +1  # the side of the neighbour


class Tie(NamedTuple):
    """A variable of each link that comes from a neighbour: w_k = w_{k+side} + a_k if it is a sum, else a_{k+side}."""

    node: int  # w
    of: int  # a
    side: int
    is_sum: bool


class Links:
    """The graph that all n links share, the ties between them, and the numbers that differ from link to link."""

    def __init__(self, n: int) -> None:
        self.n, self.graph = n, Graph()
        self.ties: list[Tie] = []
        self.vectors: dict[int, np.ndarray] = {}
        self._known: dict[Any, int] = {}

    def vector(self, values: np.ndarray) -> int:
        """A node that is values[k] at link k."""
        if np.all(values == values[0]):
            return self.graph.const(float(values[0]))
        key = values.tobytes()
        if key not in self._known:
            self._known[key] = self.graph.input(("vector", key), float(np.median(values)))
            self.vectors[self._known[key]] = values.astype(float)
        return self._known[key]

    def tie(self, of: int, side: int, is_sum: bool) -> int:
        """The variable tied to `of` at the neighbours on one side; the same one if asked for again."""
        key = (of, side, is_sum)
        if key not in self._known:
            node = self.graph.input(("tie", key), self.graph.samples[of])
            self._known[key] = node
            self.ties.append(Tie(node, of, side, is_sum))
        return self._known[key]

    def within(self, node: int, start: int, length: int) -> int:
        """The node at the links start, ..., start + length - 1, and 0 at the others."""
        k = np.arange(self.n)
        return self.graph.select(self.vector((k >= start) & (k < start + length)), node, self.graph.const(0.0))

    def varying(self, outputs: list[int], variables: list[int]) -> tuple[set[int], list[Tie]]:
        """The nodes that outputs need and that change with `variables`, here or at other links; the ties among them."""
        ties: list[Tie] = []
        for tie in self.ties_of(outputs):  # each only uses earlier ones
            if tie.of in dependent(self.graph, [tie.of], [*variables, *(t.node for t in ties)]):
                ties.append(tie)
        behind = [*outputs, *(t.of for t in ties)]
        return dependent(self.graph, behind, [*variables, *(t.node for t in ties)]), ties

    def ties_of(self, outputs: list[int]) -> list[Tie]:
        """The ties that outputs need, in order."""
        needed, ties = set(self.graph.needed(outputs)), []
        for tie in reversed(self.ties):
            if tie.node in needed:
                needed |= set(self.graph.needed([tie.of]))
                ties.append(tie)
        return ties[::-1]

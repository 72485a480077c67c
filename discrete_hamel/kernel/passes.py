"""Evaluating the graph of a link along the whole chain: loops over the links, up and down, as few as the ties allow.

Each loop holds the scalars of one link only, so that XLA makes tight native code of it. What a later loop needs again
is stored along the chain; ties are what a loop carries.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel.kernel.links import FROM_ABOVE, FROM_BELOW, Links, Tie
from discrete_hamel.kernel.lowering import lowered
from discrete_hamel.kernel.operations import BINARY, UNARY

Step = Callable[[tuple, list[Array]], tuple[tuple, tuple]]  # (carry, the outputs at a link) -> carry, what is stored


class Pass(NamedTuple):
    """One loop: its direction, the ties it carries, and the nodes that it stores for those after it."""

    side: int
    ties: list[Tie]
    stored: list[int]


class Passes:
    """The loops that evaluate `outputs`, given some nodes (all inputs and perhaps ties); the last one goes `last`."""

    def __init__(self, links: Links, outputs: list[int], given: set[int], last: int | None = None) -> None:
        self.links, self.outputs = links, outputs
        self.given = given | set(links.vectors)
        groups = self._groups(last)
        self.passes: list[Pass] = []
        have = {i for i in self.given}
        for place, (side, ties) in enumerate(groups):
            ends = [t.of for t in ties]
            found = {t.node for t in ties} | set(links.graph.needed(ends, given=have))
            later = [t.of for _, more in groups[place + 1 :] for t in more] + outputs
            again = set(links.graph.needed(later, given=have | found)) & found - have
            stored = sorted(i for i in again if links.graph.value(i) is None)
            self.passes.append(Pass(side, ties, stored if place + 1 < len(groups) else []))
            have |= set(stored)

    def _groups(self, last: int | None) -> list[tuple[int, list[Tie]]]:
        """The ties, each in the first loop that can carry it."""
        open_ties = [t for t in self.links.ties_of(self.outputs) if t.node not in self.given]
        groups: list[tuple[int, list[Tie]]] = []
        side = FROM_BELOW
        while open_ties:
            waiting: list[Tie] = []
            taken: list[Tie] = []
            for tie in open_ties:
                needed = set(self.links.graph.needed([tie.of], given=self.given))
                ready = tie.side == side and not needed & {t.node for t in waiting}
                (taken if ready else waiting).append(tie)
            if taken:
                groups.append((side, taken))
            open_ties, side = waiting, -side
        if not groups or last not in (None, groups[-1][0]):
            groups.append((last or FROM_BELOW, []))
        return groups

    def __call__(self, known: Mapping[int, Array], begin: tuple = (), step: Step | None = None) -> tuple[tuple, tuple]:
        """The carry at the end and what was stored, by default the outputs along the chain; `known` has scalars where
        a value is the same at all links, arrays along the chain otherwise."""
        known = {**known, **{node: jnp.asarray(v) for node, v in self.links.vectors.items()}}
        for one in self.passes[:-1]:
            _, rows = self._run(one, known, (), lambda carry, _: (carry, ()), [])
            known |= dict(zip(one.stored, rows, strict=True))
        return self._run(self.passes[-1], known, begin, step or (lambda carry, values: (carry, tuple(values))))

    def _run(
        self, one: Pass, known: Mapping[int, Array], begin: tuple, step: Step, outputs: list[int] | None = None
    ) -> tuple[Any, tuple]:
        graph, outputs = self.links.graph, self.outputs if outputs is None else outputs
        wanted = set(graph.needed([*(t.of for t in one.ties), *one.stored, *outputs], given=known))
        along = [i for i in wanted if i in known and known[i].ndim]
        alike = {i: known[i] for i in wanted if i in known and not known[i].ndim}

        def at_link(carry: tuple, values: tuple) -> tuple[tuple, tuple]:
            came, state = carry
            here = {**alike, **dict(zip(along, values, strict=True))}
            for tie, value in zip(one.ties, came, strict=True):
                here[tie.node] = value  # of the neighbour; sums are not yet right
            here_of = []
            for tie, value in zip(one.ties, came, strict=True):
                if tie.is_sum:
                    here[tie.node] = value + lowered(graph, [tie.of])(here)[0]
            for tie in one.ties:
                here_of.append(here[tie.node] if tie.is_sum else lowered(graph, [tie.of])(here)[0])
            state, kept = step(state, lowered(graph, outputs)(here))
            return (tuple(here_of), state), (*lowered(graph, one.stored)(here), *kept)

        zero = jnp.zeros_like(next(known[i] for i in [*along, *alike]).ravel()[0])
        carry = ((zero,) * len(one.ties), begin)
        rows = tuple(known[i] for i in along)
        (_, state), kept = lax.scan(at_link, carry, rows, length=self.links.n, reverse=one.side == FROM_ABOVE)
        return state, kept


NUMBERS: dict[str, Callable] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "neg": np.negative,
    "select": lambda truth, a, b: np.where(truth != 0, a, b),
    **{name: entry[0] for name, entry in (*UNARY.items(), *BINARY.items())},
}  # fmt: skip


def sampled(links: Links, outputs: list[int], known: Mapping[int, Any]) -> list[np.ndarray]:
    """The outputs along the chain by NumPy, once and without compiling: for samples, on which pivots are chosen."""
    graph, ones = links.graph, np.ones(links.n)
    values: dict[int, np.ndarray] = {i: np.asarray(a) * ones for i, a in known.items()}
    values |= links.vectors

    def evaluate(ends: list[int]) -> None:
        for index in graph.needed(ends, given=values):
            if index in values:
                continue
            number, operands = graph.value(index), [values[a] for a in graph.operands(index)]
            values[index] = number * ones if number is not None else NUMBERS[graph.nodes[index][0]](*operands) * 1.0

    with np.errstate(all="ignore"):
        for tie in links.ties_of(outputs):
            evaluate([tie.of])
            a = values[tie.of][:: -tie.side]
            values[tie.node] = (np.cumsum(a) if tie.is_sum else np.append(0.0, a[:-1]))[:: -tie.side]
        evaluate(outputs)
    return [values[o] for o in outputs]

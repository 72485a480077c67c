"""What a graph does for each link of a chain alike: batches of the same operation, on operands that lie side by side.

Whoever wrote the model went through the links one after another, or through arrays of them, and so the same operations
come again and again, with a period: one where they are those of an array, some more where they are those of a link. A
batch is one place of such a period, one node a link. Its operands are, link by link, one and the same node, or follow
each other in a `row` of nodes, forwards or backwards; so a batch can be evaluated many links at a time. That is looked
up in the graph for each link. What needs the link before (a sum along the chain) is no batch.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import LATENCY

LEAST = 16  # links, two vectors: of 10 planar hinges a step by vectors of 8 and 9 took 1.3 times as long
LONGEST_PERIOD = 32  # operations a link
ARITHMETIC = ("add", "sub", "mul", "div", "neg", "abs", "sqrt", "rsqrt", "sin", "cos", "max", "min", "sign", "floor")
OPERATIONS = (*ARITHMETIC, "ceil", "lt", "le", "gt", "ge", "eq", "ne", "select")
Place = tuple[int, int]  # a row, and the index in it
FARTHEST = 32  # places from what is given for a link to what is given for the next
OF_SUMS = 4  # cycles
IN_MEMORY = -1  # the row of what has its place already
LONGEST_GROUP = 150  # batches


class LinkOperation(NamedTuple):
    """Nodes of the same operation, one a link; how many places each operand goes on from link to link: 0, 1, -1, or
    some, of what is given."""

    nodes: list[int]
    strides: list[int]


class Group(NamedTuple):
    """Batches of as many links each, of which those that use others do so at the same link."""

    batches: list[LinkOperation]

    @property
    def links(self) -> int:
        return len(self.batches[0].nodes)


class EqualLinks:
    """The batches in an order of nodes, and the rows in which they and their operands lie.

    `place` says where in memory a node is already, if it is.
    """

    def __init__(self, graph: Graph, order: list[int], place: Callable[[int], int | None]) -> None:
        self.graph, self.order = graph, order
        self.at: dict[int, Place] = {}
        self.rows: list[dict[int, int]] = []  # index -> node
        self.batches: list[LinkOperation] = []
        for i in dict.fromkeys(a for node in order for a in (node, *graph.operands(node))):
            if (there := place(i)) is not None:
                self.at[i] = IN_MEMORY, there
        self._where = {i: k for k, i in enumerate(order)}
        self._letters = self._spell()
        self._periods = self._find_periods()
        self._fault: dict[int, int] = {}  # by period, what was last found not to be repeated after it
        k = 0
        while k < len(order):
            k += self._take(k) if k in self._periods else 1

    def _spell(self) -> str:
        """A letter for the operation of each node; of what is in no batch its own."""
        letters = {name: chr(k) for k, name in enumerate(OPERATIONS)}
        names = (self.graph.nodes[i][0] for i in self.order)
        return "".join(letters.get(name) or chr(0x10000 + k) for k, name in enumerate(names))

    def _find_periods(self) -> dict[int, list[int]]:
        """By where they begin, the periods by which operations repeat themselves for as many links as a batch has."""
        letters, found = np.array([ord(c) for c in self._letters]), dict[int, list[int]]()
        for period in range(1, LONGEST_PERIOD + 1):
            other = np.flatnonzero(letters[:-period] != letters[period:])
            ends = np.append(other, max(len(letters) - period, 0))
            here = np.arange(ends[-1])
            for k in np.flatnonzero(ends[np.searchsorted(ends, here)] - here >= period * (LEAST - 1)).tolist():
                found.setdefault(k, []).append(period)
        return found

    def _take(self, begin: int) -> int:
        """Take what repeats itself from here on; how many nodes were seen to."""
        seen, period, links, strides = 0, 0, 0, list[list[int]]()
        for one in self._periods[begin]:
            if begin <= self._fault.get(one, -1) < begin + one * (LEAST - 1) or (seen and not one % period):
                continue  # what was no repetition is in this one too, or it is one of several links
            count, found = self._repetitions(begin, one)
            if count >= LEAST and count * one > seen:
                seen, period, links, strides = count * one, one, count, found
        if not seen:
            return 1
        carried = self._find_carried(begin, period, links)
        columns = [[self.order[begin + r * period + m] for r in range(links)] for m in range(period)]
        for m, nodes in enumerate(columns):
            in_row = self._put(nodes, 1)
            operands = list(zip(*(self.graph.operands(i) for i in nodes), strict=True))
            placed = [self._put(list(each), s) for each, s in zip(operands, strides[m], strict=True)]
            if m not in carried and in_row and all(placed):
                self.batches.append(LinkOperation(nodes, strides[m]))
        return seen

    def _repetitions(self, begin: int, period: int) -> tuple[int, list[list[int]]]:
        """How often nodes from `begin` on are repeated, and how operands then go on, by node and operand."""
        letters, strides, links = self._letters, list[list[int]](), 1
        while letters[(now := begin + links * period) : now + period] == letters[begin : begin + period]:
            found = list[list[int]]()
            for k in range(now, now + period):
                if (steps := self._steps(k, begin, period)) is None or (strides and strides[k - now] != steps):
                    self._fault[period] = k - period
                    return links, strides
                found.append(steps)
            strides = found
            links += 1
        return links, strides

    def _steps(self, k: int, begin: int, period: int) -> list[int] | None:
        """How the operands of a node go on from those of the link before; None if they do not."""
        before, after = (self.graph.operands(self.order[at]) for at in (k - period, k))
        now = k - (k - begin) % period
        steps = list[int]()
        for a, b in zip(before, after, strict=True):
            if (step := self._step(a, b, begin, now, period)) is None:
                return None
            steps.append(step)
        return steps

    def _step(self, before: int, after: int, begin: int, now: int, period: int) -> int | None:
        """From an operand to that of the next link: the same, the next in a row, or the one before, or some places on;
        None if neither."""
        if before == after:
            return 0
        p, q = self._where.get(before, -1), self._where.get(after, -1)
        if now > q >= begin:  # of a link before
            return 1 if p < begin or q - p == period else None
        if p >= begin or q >= begin:  # of the same link
            return 1 if p >= begin and q - p == period else None
        a, b = self.at.get(before), self.at.get(after)
        if a and b:
            stride = b[1] - a[1] if a[0] == b[0] else 0
            return stride if 0 < abs(stride) <= (FARTHEST if a[0] == IN_MEMORY else 1) else None
        if self.graph.value(before) is not None or self.graph.value(after) is not None:
            return None
        if a:
            return 1 if a[0] != IN_MEMORY and a[1] + 1 not in self.rows[a[0]] else None
        if b:
            return 1 if b[0] != IN_MEMORY and b[1] - 1 not in self.rows[b[0]] else None
        return 1

    def _put(self, nodes: list[int], stride: int) -> bool:
        """Put nodes in a row, if they are not; whether they now are."""
        if not stride:
            return True
        if len({*nodes}) < len(nodes):
            return False
        there = [(k, self.at[i]) for k, i in enumerate(nodes) if i in self.at]
        if not there:
            self.rows.append({})
            there = [(0, (len(self.rows) - 1, 0))]
        k, (row, index) = there[0]
        first = index - stride * k
        for n, i in enumerate(nodes):
            wanted = row, first + stride * n
            if self.at.get(i, wanted) != wanted or (i not in self.at and not self._free(wanted)):
                return False
        for n, i in enumerate(nodes):
            if i not in self.at:
                self.at[i] = row, first + stride * n
                self.rows[row][first + stride * n] = i
        return True

    def _free(self, at: Place) -> bool:
        return at[0] != IN_MEMORY and at[1] not in self.rows[at[0]]

    def _find_carried(self, begin: int, period: int, links: int) -> set[int]:
        """Which nodes of a period depend on themselves, one or more links before."""
        behind = [0] * period
        for k in range(begin, begin + links * period):
            for a in self.graph.operands(self.order[k]):
                if (there := self._where.get(a, -1)) >= begin:
                    behind[(k - begin) % period] |= 1 << (there - begin) % period
        for via in range(period):
            for m in range(period):
                if behind[m] >> via & 1:
                    behind[m] |= behind[via]
        return {m for m in range(period) if behind[m] >> m & 1}

    @property
    def share(self) -> float:
        """What batches are of all work, by how long operations take."""
        each = [LATENCY.get(self.graph.nodes[i][0], OF_SUMS) for i in self.order]
        inside = {i for batch in self.batches for i in batch.nodes}
        return sum(t for t, i in zip(each, self.order, strict=True) if i in inside) / max(sum(each), 1)

    def schedule(self) -> list[list[int] | Group]:
        """The order anew, in groups of batches and lists of other nodes: each as long as it can be."""
        item = {i: k for k, i in enumerate(self.order)}
        whole = {self._where[b.nodes[0]]: b for b in self.batches}
        for first, batch in whole.items():
            item |= dict.fromkeys(batch.nodes, first)
        waiting, users = dict.fromkeys(item.values(), 0), dict[int, list[int]]()
        for i, mine in item.items():
            for a in self.graph.operands(i):
                if a in item and item[a] != mine:
                    waiting[mine] += 1
                    users.setdefault(item[a], []).append(mine)
        ready: tuple[list[int], list[int]] = [], []  # single nodes, batches

        def finish(which: int) -> None:
            for user in users.get(which, []):
                waiting[user] -= 1
                if not waiting[user]:
                    heappush(ready[user in whole], user)

        for which, count in waiting.items():
            if not count:
                heappush(ready[which in whole], which)
        parts: list[list[int] | Group] = []
        while ready[0] or ready[1]:
            single = list[int]()
            while ready[0]:
                which = heappop(ready[0])
                single.append(self.order[which])
                finish(which)
            if single:
                parts.append(single)
            while ready[1] and not (single and ready[0]):
                group, left = Group([]), list[int]()
                inside: dict[int, int] = {}  # node -> link
                while ready[1]:
                    which = heappop(ready[1])
                    if group.batches and not self._fits(whole[which], group, inside):
                        left.append(which)
                        continue
                    group.batches.append(whole[which])
                    inside |= {i: link for link, i in enumerate(whole[which].nodes)}
                    finish(which)
                parts.append(group)
                for which in left:
                    heappush(ready[1], which)
        assert not any(waiting.values()), "batches wait for each other"
        return parts

    def _fits(self, batch: LinkOperation, group: Group, inside: dict[int, int]) -> bool:
        operands = (
            (link, a, s)
            for link, i in enumerate(batch.nodes)
            for a, s in zip(self.graph.operands(i), batch.strides, strict=True)
        )
        alike = all(a not in inside or (inside[a] == link and s == 1) for link, a, s in operands)
        return len(batch.nodes) == group.links and alike and len(group.batches) < LONGEST_GROUP

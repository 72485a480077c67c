"""Parts of the graph as functions over one array of doubles, `memory`, in which each shared value has its place.

Small parts are inlined where they are called, and LLVM turns the memory into registers. Large ones are cut into
functions of a bounded number of instructions: LLVM's time is more than linear in the length of a function, and what is
cut passes its values on through memory.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from typing import NamedTuple

from discrete_hamel.compiler.graph.equal_links import EqualLinks, Group
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.matrix_products import RowSums, find_products
from discrete_hamel.compiler.native.equal_links import RowPlaces, loop_over_links
from discrete_hamel.compiler.native.instructions import Code, Emitted, Kind
from discrete_hamel.compiler.native.matrix_products import LANES, Layout, layout, packing, product

LONGEST = 300  # operations of one function
MANY = 2000  # operations, from which on it pays to look for what is the same for each link
SHARE = 0.15  # of work that is the same for each link, below which what is not stays in its order


class Memory:
    """Places for values by graph and node."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, int], int] = {}
        self.size = 0
        self.matrices: dict[Layout, int] = {}  # laid out by columns, from a place on

    def new(self, count: int = 1) -> int:
        """The first of some places in a row."""
        self.size += count
        return self.size - count

    def place(self, graph: Graph, node: int) -> int:
        """Where a node's value is, or will be."""
        key = id(graph), node
        if key not in self.places:
            self.places[key] = self.new()
        return self.places[key]

    def put(self, graph: Graph, node: int, place: int) -> None:
        """Say where a node's value is."""
        self.places[id(graph), node] = place

    def has(self, graph: Graph, node: int) -> bool:
        return (id(graph), node) in self.places

    def place_together(self, graph: Graph, nodes: Sequence[int]) -> int | None:
        """The first place of nodes that follow each other, up to whole vectors; None where they are elsewhere."""
        if not any(self.has(graph, node) for node in nodes):
            first = self.new(-(-len(nodes) // LANES) * LANES)
            self.places.update({(id(graph), node): first + k for k, node in enumerate(nodes)})
        places = [self.place(graph, node) for node in nodes]
        return places[0] if places == [*range(places[0], places[0] + len(nodes))] else None


class Multiplied(NamedTuple):
    """A product, where its matrix is, and from where on its vector and what it gives."""

    product: RowSums
    layout: Layout
    vector: int
    rows: int


class Section:
    """The evaluation of `outputs` from what is in memory already (`given`), and the functions that do it."""

    def __init__(
        self,
        name: str,
        graph: Graph,
        outputs: Iterable[int],
        given: Iterable[int],
        memory: Memory,
        kind: Kind,
        steady: Collection[int] = (),
        many: bool = False,
    ) -> None:
        """`steady` are nodes given once a run, of which matrices may be; `many`, that this is part of much."""
        self.name, self.graph, self.memory, self.kind = name, graph, memory, kind
        self.laid_out = dict[Layout, int]()
        given = set(given)
        self.outputs = [o for o in dict.fromkeys(outputs) if graph.value(o) is None and o not in given]
        self.given = given
        order = self._order(self.outputs)
        self.operations = len(order)
        self.products = self._find_products(order, steady) if len(order) > LONGEST else {}
        self.groups = dict[int, Group]()  # by the part in whose place it is
        self.row_place: Callable[[int], int | None] = lambda node: None
        alike = kind.lanes == 1 and not self.products and (many or len(order) > MANY)
        self.parts = self.among = (self._by_links(order) if alike else []) or self._cut(order)
        self._allot()

    def _find_products(self, order: list[int], steady: Collection[int]) -> dict[int, "Multiplied"]:
        """Products by the first node of each in the order."""
        found = {}
        for one in find_products(self.graph, order, self.outputs, steady):
            at = layout(one.matrix, lambda node: self.memory.place(self.graph, node))
            vector, rows = (self.memory.place_together(self.graph, nodes) for nodes in (one.vector, one.rows))
            if at is not None and vector is not None and rows is not None:
                if at not in self.memory.matrices:
                    self.memory.matrices[at] = self.memory.new(at.height * at.columns)
                found[min(one.rows)] = Multiplied(one, at, vector, rows)
        return found

    def _cut(self, order: list[int]) -> list[list[int]]:
        """Parts of the order, a product by itself being one that is empty."""
        loose = {i for it in self.products.values() for i in (*it.product.rows, *it.product.inside)}
        parts: list[list[int]] = [[]]
        self.between = dict[int, Multiplied]()  # by the part in whose place it is
        for i in order:
            if i in self.products:
                self.between[len(parts)] = self.products[i]
                parts += [[], []]
            if i not in loose:
                if len(parts[-1]) == LONGEST:
                    parts.append([])
                parts[-1].append(i)
        return parts

    def _by_links(self, order: list[int]) -> list[list[int]]:
        """Parts, groups of what is the same for each link being some that are empty; none where there is little."""
        memory, graph = self.memory, self.graph
        found = EqualLinks(graph, order, lambda i: memory.places.get((id(graph), i)))
        if found.share < SHARE:
            return []
        self.row_place, self.between = RowPlaces(found, memory.new), {}
        parts: list[list[int]] = []
        for part in found.schedule():
            if isinstance(part, Group):
                self.groups[len(parts)] = part
                parts.append([])
            else:
                parts += [part[k : k + LONGEST] for k in range(0, len(part), LONGEST)]
        return parts

    def _order(self, outputs: Iterable[int]) -> list[int]:
        """What is evaluated for them."""
        nodes = self.graph.dependencies(outputs, given=self.given)
        return [i for i in nodes if i not in self.given and self.graph.value(i) is None]

    def part_for(self, name: str, outputs: Iterable[int]) -> "Section":
        """What gives some of the outputs, and what else is made of the same, to the bits that they have here; for what
        has no products by matrices."""
        assert not self.products
        assert not self.groups
        fewer = copy(self)
        order = self._order(outputs)
        fewer.name, needed = name, set(order)
        fewer.outputs = [o for o in dict.fromkeys(outputs) if o in needed]
        further = [i for i in order if not any(i in part for part in self.parts)]
        fewer.among = [*self.parts[:-1], [*self.parts[-1], *further]] if further else self.parts
        fewer.parts = [[i for i in part if i in needed] for part in fewer.among]
        shared = {*fewer.outputs, *(i for part in self.shared for i in part)}
        fewer.shared = [[i for i in part if i in shared] for part in fewer.parts]
        fewer.operations = len(order)
        for i in fewer.outputs:
            self.memory.place(self.graph, i)
        return fewer

    def _allot(self) -> None:
        """Places for what other functions need: the outputs, and what one part passes on to others."""
        members = [*self.parts]
        for k, group in self.groups.items():
            members[k] = [i for batch in group.batches for i in batch.nodes]
        home = {i: k for k, part in enumerate(members) for i in part}
        shared = set(self.outputs)
        for k, part in enumerate(members):
            shared |= {a for i in part for a in self.graph.operands(i) if home.get(a, k) != k}
        for multiplied in self.products.values():
            shared |= {*multiplied.product.vector}
        self.shared = [[i for i in part if i in shared] for part in self.parts]
        for k, group in self.groups.items():
            self.shared[k] = [i for b in group.batches if not shared.isdisjoint(b.nodes) for i in b.nodes]
        for part in self.shared:
            for i in part:
                if not self.memory.has(self.graph, i) and (place := self.row_place(i)) is not None:
                    self.memory.put(self.graph, i, place)
                self.memory.place(self.graph, i)

    def text(self, inline: bool) -> str:
        """The functions' definitions."""
        laid_out = (packing(self._packing(at), at, place) for at, place in self.laid_out.items())
        return "".join([*laid_out, *(self._function(k, inline) for k in range(len(self.parts)))])

    def lay_out(self, matrices: dict[Layout, int]) -> None:
        """Have matrices laid out by columns whenever this is evaluated."""
        self.laid_out = dict(matrices)

    def _packing(self, at: Layout) -> str:
        return f"{self.name}_matrix_{[*self.laid_out].index(at)}"

    def _function(self, k: int, inline: bool) -> str:
        if k in self.between:
            it = self.between[k]
            packed = self.memory.matrices[it.layout]
            return product(f"{self.name}_{k}", it.layout, packed, it.vector, it.rows, self.kind.fused)
        code, part, graph = Code(self.kind), self.parts[k], self.graph
        if k in self.groups:
            group, kept = self.groups[k], set(self.shared[k])
            first = [b.nodes[0] for b in group.batches if b.nodes[0] in kept]
            return loop_over_links(f"{self.name}_{k}", graph, group, first, self._place, self.kind.fused)
        Emitted(code, graph, part, self.shared[k], self._load, self._store, self.among[k])
        how = "alwaysinline" if inline else "noinline"
        head = f"define internal void @{self.name}_{k}(ptr noalias %memory) {how} nounwind {{\n"
        return head + "\n".join(code.lines) + "\n  ret void\n}\n"

    def _load(self, code: Code, node: int) -> str:
        return code.load("%memory", self._place(node))

    def _place(self, node: int) -> int:
        if not self.memory.has(self.graph, node):
            raise KeyError(f"node {node} of {self.name} has no value")
        return self.memory.place(self.graph, node)

    def _store(self, code: Code, node: int, value: str) -> None:
        code.store(value, "%memory", self.memory.place(self.graph, node))

    def call(self, code: Code, memory: str = "%memory") -> None:
        """Evaluate it here."""
        for k in range(len(self.parts)):
            code.do(f"call void @{self.name}_{k}(ptr {memory})")
        for at in self.laid_out:
            code.do(f"call void @{self._packing(at)}(ptr {memory})")


def load(code: Code, memory: Memory, graph: Graph, node: int) -> str:
    """A node's value from memory, or the number that it is."""
    value = graph.value(node)
    return code.kind.number(value) if value is not None else code.load("%memory", memory.place(graph, node))

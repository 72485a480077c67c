"""Parts of the graph as functions over one array of doubles, `memory`, in which each shared value has its place.

Small parts are inlined where they are called, and LLVM turns the memory into registers. Large ones are cut into
functions of a bounded number of instructions: LLVM's time is more than linear in the length of a function, and what is
cut passes its values on through memory.
"""

from collections.abc import Iterable

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.native.instructions import Code, Emitted, Kind

LONGEST = 300  # operations of one function


class Memory:
    """Places for values by graph and node."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, int], int] = {}
        self.size = 0

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

    def has(self, graph: Graph, node: int) -> bool:
        return (id(graph), node) in self.places


class Section:
    """The evaluation of `outputs` from what is in memory already (`given`), and the functions that do it."""

    def __init__(
        self, name: str, graph: Graph, outputs: Iterable[int], given: Iterable[int], memory: Memory, kind: Kind
    ) -> None:
        self.name, self.graph, self.memory, self.kind = name, graph, memory, kind
        given = set(given)
        self.outputs = [o for o in dict.fromkeys(outputs) if graph.value(o) is None and o not in given]
        order = [i for i in graph.dependencies(self.outputs, given=given) if i not in given and graph.value(i) is None]
        self.parts = [order[k : k + LONGEST] for k in range(0, len(order), LONGEST)]
        self.operations = len(order)
        self._allot()

    def _allot(self) -> None:
        """Places for what other functions need: the outputs, and what one part passes on to others."""
        home = {i: k for k, part in enumerate(self.parts) for i in part}
        shared = set(self.outputs)
        for k, part in enumerate(self.parts):
            shared |= {a for i in part for a in self.graph.operands(i) if home.get(a, k) != k}
        self.shared = [[i for i in part if i in shared] for part in self.parts]
        for part in self.shared:
            for i in part:
                self.memory.place(self.graph, i)

    def text(self, inline: bool) -> str:
        """The functions' definitions."""
        return "".join(self._function(k, inline) for k in range(len(self.parts)))

    def _function(self, k: int, inline: bool) -> str:
        code, part, graph = Code(self.kind), self.parts[k], self.graph
        Emitted(code, graph, part, self.shared[k], self._load, self._store)
        how = "alwaysinline" if inline else "noinline"
        head = f"define internal void @{self.name}_{k}(ptr noalias %memory) {how} nounwind {{\n"
        return head + "\n".join(code.lines) + "\n  ret void\n}\n"

    def _load(self, code: Code, node: int) -> str:
        if not self.memory.has(self.graph, node):
            raise KeyError(f"node {node} of {self.name} has no value")
        return code.load("%memory", self.memory.place(self.graph, node))

    def _store(self, code: Code, node: int, value: str) -> None:
        code.store(value, "%memory", self.memory.place(self.graph, node))

    def call(self, code: Code, memory: str = "%memory") -> None:
        """Evaluate it here."""
        for k in range(len(self.parts)):
            code.do(f"call void @{self.name}_{k}(ptr {memory})")


def load(code: Code, memory: Memory, graph: Graph, node: int) -> str:
    """A node's value from memory, or the number that it is."""
    value = graph.value(node)
    return code.kind.number(value) if value is not None else code.load("%memory", memory.place(graph, node))

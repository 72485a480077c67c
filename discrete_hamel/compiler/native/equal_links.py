"""What a section does for each link alike (`graph/equal_links.py`) in vectors: a loop over the links, eight at a time.

Values that only the same link needs stay in registers. Rows of nodes lie side by side in memory, so that what a link
needs of its neighbour is a vector one place further. No instruction rounds otherwise than that for a single number.
"""

from collections.abc import Callable, Iterable

from discrete_hamel.compiler.graph.equal_links import EqualLinks, Group
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.native.circular import circular
from discrete_hamel.compiler.native.instructions import Code, Emitted, Kind

LANES = 8  # links side by side
NEAR = "@circular_near_of_row"


class LinkLanes(Kind):
    """Doubles of links that follow each other."""

    @property
    def circular(self) -> str:
        return "@circular_of_row"


class RowPlaces:
    """Places for the nodes of rows, side by side: a row has them as soon as one of its nodes needs its own."""

    def __init__(self, found: EqualLinks, new: Callable[[int], int]) -> None:
        self.found, self.new = found, new
        self.first: dict[int, int] = {}

    def __call__(self, node: int) -> int | None:
        """Where it shall be, if it is of a row."""
        row, index = self.found.at.get(node, (-1, 0))
        if row < 0:
            return None
        if row not in self.first:
            indices = self.found.rows[row]
            least = min(indices)
            self.first[row] = self.new(max(indices) - least + 1) - least
        return self.first[row] + index


def template(graph: Graph, group: Group, place: Callable[[int], int]) -> tuple[Graph, dict[int, int]]:
    """A group's batches as a graph of one link, and the node there by the first link's node.

    Its inputs are named by how they go on from link to link, and where in memory they begin.
    """
    one, made = Graph(), dict[int, int]()
    for nodes, strides in group.batches:
        operands = []
        for a, stride in zip(graph.operands(nodes[0]), strides, strict=True):
            value = graph.value(a)
            if value is not None:
                operands.append(one.const(value))
            else:
                inside = stride == 1 and a in made
                operands.append(made[a] if inside else one.input((stride, place(a)), graph.samples[a]))
        made[nodes[0]] = one.copy_node(graph.nodes[nodes[0]][0], operands, graph.samples[nodes[0]])
    return one, made


def loop_over_links(
    name: str,
    graph: Graph,
    group: Group,
    kept: Iterable[int],
    place: Callable[[int], int],
    fused: bool,
    lanes: int = LANES,
) -> str:
    """The function that evaluates a group; of batches whose first nodes are `kept` the values go to memory.

    The last vector is that of the last links, some of which are evaluated twice.
    """
    one, made = template(graph, group, place)
    code, links = Code(LinkLanes(fused, lanes) if lanes > 1 else Kind(fused)), group.links
    kind = code.kind.double
    targets: dict[int, list[int]] = {}
    for node in kept:
        targets.setdefault(made[node], []).append(place(node))
    code.do("br label %next")
    code.lines.append("next:")
    code.do("%k = phi i64 [0, %entry], [%after, %next]")
    late = code(f"icmp sgt i64 %k, {links - lanes}")
    at = code(f"select i1 {late}, i64 {links - lanes}, i64 %k")
    here = code(f"getelementptr inbounds double, ptr %memory, i64 {at}")
    back = code(f"getelementptr inbounds double, ptr %memory, i64 {code(f'sub i64 0, {at}')}")

    def address(base: str, to: int) -> str:
        return code(f"getelementptr inbounds double, ptr {base}, i64 {to}")

    def load(code: Code, node: int) -> str:
        stride, first = one.nodes[node][1]
        if lanes == 1 or stride not in (0, 1, -1):
            base = code(f"getelementptr inbounds double, ptr %memory, i64 {code(f'mul i64 {at}, {stride}')}")
            each = [code(f"load double, ptr {address(base, first + k * stride)}") for k in range(lanes)]
            if lanes == 1:
                return each[0]
            value = "poison"
            for k, single in enumerate(each):
                value = code(f"insertelement {kind} {value}, double {single}, i32 {k}")
            return value
        if stride == 1:
            return code(f"load {kind}, ptr {address(here, first)}, align 8")
        if stride:
            value = code(f"load {kind}, ptr {address(back, first - lanes + 1)}, align 8")
        else:
            single = code(f"load double, ptr {address('%memory', first)}")
            value = code(f"insertelement {kind} poison, double {single}, i32 0")
        mask = ", ".join(f"i32 {k}" for k in (range(lanes - 1, -1, -1) if stride else [0] * lanes))
        return code(f"shufflevector {kind} {value}, {kind} poison, <{lanes} x i32> <{mask}>")

    def store(code: Code, node: int, value: str) -> None:
        for first in targets[node]:
            code.do(f"store {kind} {value}, ptr {address(here, first)}, align 8")

    Emitted(code, one, sorted(set(made.values())), list(targets), load, store)
    code.do(f"%after = add i64 %k, {lanes}")
    code.do(f"br i1 {code(f'icmp slt i64 %after, {links}')}, label %next, label %over")
    lines = "\n".join(code.lines)
    head = f"define internal void @{name}(ptr noalias %memory) noinline nounwind {{\nentry:\n"
    return f"{head}{lines}\nover:\n  ret void\n}}\n"


def circular_of_rows(text: str, fused: bool) -> str:
    """The function that gives sines and cosines of a row's angles, if `text` calls it; of one that is beyond reach the
    C library's, as for a single angle."""
    row = LinkLanes(fused, LANES)
    if f"{row.circular}(" not in text:
        return ""
    one = row.double
    both = f"{{{one}, {one}}}"
    code = Code(row)
    near = code(f"call {both} {NEAR}({one} %x)")
    values = [code(f"extractvalue {both} {near}, {k}") for k in (0, 1)]
    known = [code(f"fcmp ord {one} {value}, {value}") for value in values]
    bits = code(f"bitcast <{LANES} x i1> {known[0]} to i{LANES}")
    code.do(f"br i1 {code(f'icmp eq i{LANES} {bits}, -1')}, label %done, label %far, !prof !0")
    code.lines.append("far:")
    asked = ["poison", "poison"]
    for lane in range(LANES):
        angle = code(f"extractelement {one} %x, i32 {lane}")
        pair = code(f"call {{double, double}} {Kind(fused).circular}(double {angle})")
        for k in (0, 1):
            value = code(f"extractvalue {{double, double}} {pair}, {k}")
            asked[k] = code(f"insertelement {one} {asked[k]}, double {value}, i32 {lane}")
    code.do("br label %done")
    code.lines.append("done:")
    merged = [code(f"phi {one} [{values[k]}, %entry], [{asked[k]}, %far]") for k in (0, 1)]
    first = code(f"insertvalue {both} poison, {one} {merged[0]}, 0")
    code.do(f"ret {both} {code(f'insertvalue {both} {first}, {one} {merged[1]}, 1')}")
    head = f"define internal {both} {row.circular}({one} %x) noinline nounwind {{\nentry:\n"
    own = circular(Kind(fused, LANES), True).replace(f"{Kind(fused, LANES).circular}(", f"{NEAR}(")
    return own + head + "\n".join(code.lines) + "\n}\n"

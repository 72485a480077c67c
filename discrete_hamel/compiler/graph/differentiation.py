"""Derivatives along one direction in the graph: a forward sweep for tangents, a backward sweep for cotangents."""

from collections.abc import Mapping

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import dependent
from discrete_hamel.compiler.graph.operations import BINARY, UNARY


def push(graph: Graph, outputs: list[int], tangents: Mapping[int, int]) -> list[int]:
    """The tangents of outputs, from those of variables."""
    known = dict(tangents)
    zero = graph.const(0.0)
    for index in graph.dependencies(outputs):
        if index not in known:
            total = _sum(graph, [_times(graph, slope, known[a]) for a, slope in _slopes(graph, index, known)])
            if not graph.is_zero(total):
                known[index] = total
    return [known.get(o, zero) for o in outputs]


def pull(graph: Graph, outputs: list[int], cotangents: list[int], variables: list[int]) -> list[int]:
    """The cotangents of variables, from those of outputs."""
    varying = dependent(graph, outputs, variables)
    terms: dict[int, list[int]] = {}
    for o, cotangent in zip(outputs, cotangents, strict=True):
        terms.setdefault(o, []).append(cotangent)
    final: dict[int, int] = {}
    for index in reversed(graph.dependencies(outputs)):
        if index in varying and index in terms:
            final[index] = total = _sum(graph, terms[index])
            for a, slope in _slopes(graph, index, varying):
                terms.setdefault(a, []).append(_times(graph, slope, total))
    return [final.get(v, graph.const(0.0)) for v in variables]


Slope = tuple[str, int]  # how a tangent is multiplied: by a node, by minus one, or chosen by a node


def _times(graph: Graph, slope: Slope, value: int) -> int:
    kind, node = slope
    if kind == "times":
        return graph.mul(node, value)
    zero = graph.const(0.0)
    return graph.select(node, value, zero) if kind == "where" else graph.select(node, zero, value)


def _sum(graph: Graph, terms: list[int]) -> int:
    total = graph.const(0.0)
    for term in terms:
        total = graph.add(total, term)
    return total


def _slopes(graph: Graph, index: int, varying: Mapping[int, int] | set[int]) -> list[tuple[int, Slope]]:
    """The operands that vary, each with the derivative of the node by it; one that occurs twice comes twice."""
    operation, operands = graph.nodes[index][0], graph.operands(index)
    if not any(a in varying for a in operands):
        return []
    one, minus = graph.const(1.0), graph.const(-1.0)
    if operation == "select":
        truth, a, b = operands
        pairs = [(a, ("where", truth)), (b, ("where not", truth))]
        return [(a, slope) for a, slope in pairs if a in varying]
    if operation in UNARY:
        slopes = [UNARY[operation][1](graph, index, operands[0])]
    elif operation in BINARY:
        slopes = list(BINARY[operation][1](graph, index, *operands))
    elif operation == "div":
        reciprocal = graph.div(one, operands[1])
        slopes = [reciprocal, graph.neg(graph.mul(index, reciprocal))]
    else:
        a, b = (*operands, *operands)[:2]
        slopes = {"add": [one, one], "sub": [one, minus], "neg": [minus], "mul": [b, a]}[operation]
    return [(a, ("times", slope)) for a, slope in zip(operands, slopes, strict=True) if a in varying]

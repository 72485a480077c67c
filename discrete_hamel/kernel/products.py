"""Products of arrays along a chain: link by link, and with matrices that have few diagonals."""

from typing import Any

import numpy as np

from discrete_hamel.kernel.graph import Unsupported
from discrete_hamel.kernel.links import Links
from discrete_hamel.kernel.rules import RULES, as_nodes
from discrete_hamel.kernel.strips import FARTHEST, Strip, column, elementwise, moved


def dot(links: Links, p: dict, a: Any, b: Any) -> Strip:
    contracted, batch = p["dimension_numbers"]
    sides = [i for i, v in enumerate((a, b)) if isinstance(v, Strip)]
    if not sides:
        raise Unsupported("several strips at once")
    at: Strip = (a, b)[sides[0]]
    own, other = contracted[sides[0]], contracted[1 - sides[0]]
    if at.axis in own:
        if len(sides) > 1:
            raise Unsupported("a total over all links")
        return banded(links, at, (a, b)[1 - sides[0]], own, other, first=sides[0] == 0)
    if at.axis in batch[sides[0]]:
        place = batch[sides[0]].index(at.axis)
        like = at._replace(axis=batch[1 - sides[0]][place])
        second = column(links, (a, b)[1 - sides[0]], like)
        nodes = [at.nodes, second] if sides[0] == 0 else [second, at.nodes]
        return at._replace(nodes=RULES["dot_general"](links.graph, p, *nodes), axis=place)
    if len(sides) > 1:
        raise Unsupported("a matrix whose rows and columns are links")
    nodes = [v.nodes if isinstance(v, Strip) else as_nodes(links.graph, v) for v in (a, b)]
    free = [i for i in range(at.nodes.ndim) if i not in (*own, *batch[sides[0]])]
    axis = len(batch[0]) + free.index(at.axis)
    if sides[0] == 1:
        axis += nodes[0].ndim - len(contracted[0]) - len(batch[0])
    return at._replace(nodes=RULES["dot_general"](links.graph, p, *nodes), axis=axis)


def banded(links: Links, a: Strip, matrix: np.ndarray, own: Any, other: Any, first: bool) -> Strip:
    """The product with a matrix that has few diagonals: each is a vector times neighbours' values."""
    graph = links.graph
    if np.ndim(matrix) != 2 or matrix.shape != (links.n,) * 2 or len(own) != 1 or a.length != links.n:
        raise Unsupported("a matrix over all links")
    by = as_nodes(graph, matrix if other[0] == 1 else matrix.T)  # by[k, j] takes link j to link k
    total, rest = None, np.squeeze(a.nodes, a.axis)
    rows, columns = np.nonzero(np.frompyfunc(lambda x: not graph.is_zero(x), 1, 1)(by).astype(bool))
    offsets = sorted(set((columns - rows).tolist()))
    if len(offsets) > 2 * FARTHEST + 1 or any(abs(d) > FARTHEST for d in offsets):
        raise Unsupported("a matrix that ties each link to many")
    flat = Strip(np.expand_dims(rest, -1 if first else 0), rest.ndim if first else 0, 0, links.n)
    for d in offsets:
        inside = slice(max(d, 0), links.n + min(d, 0))
        near = moved(links, Strip(flat.nodes, flat.axis, inside.start, inside.stop - inside.start), inside.start - d)
        diagonal = np.diagonal(by, d).reshape([-1 if i == flat.axis else 1 for i in range(flat.nodes.ndim)])
        term = RULES["mul"](graph, {}, near.nodes, np.broadcast_to(column(links, diagonal, near), near.nodes.shape))
        term = elementwise(lambda node, near=near: links.within(node, near.start, near.length), term)
        total = term if total is None else RULES["add"](graph, {}, total, term)
    return (
        flat._replace(nodes=total)
        if total is not None
        else Strip(elementwise(lambda _: graph.const(0.0), flat), flat.axis, 0, links.n)
    )

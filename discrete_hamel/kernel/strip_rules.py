"""What primitives that move or sum up data do to arrays along a chain."""

import itertools
from typing import Any

import numpy as np

from discrete_hamel.kernel.graph import Unsupported
from discrete_hamel.kernel.links import Links
from discrete_hamel.kernel.movements import BY_NUMPY
from discrete_hamel.kernel.products import dot
from discrete_hamel.kernel.rules import RULES, as_nodes
from discrete_hamel.kernel.strips import Pieces, Strip, column, elementwise, moved, one_long

REDUCTIONS = ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod")
CUMULATIVE = ("cumsum", "cumprod")


def _broadcast(links: Links, p: dict, a: Any) -> Strip:
    if not isinstance(a, Strip):  # equal values spread along the chain
        axis = p["shape"].index(links.n)
        if axis in p["broadcast_dimensions"]:
            a = np.take(a, [0], axis=p["broadcast_dimensions"].index(axis))
        return Strip(BY_NUMPY["broadcast_in_dim"]({**p, "shape": one_long(p["shape"], axis)}, a), axis, 0, links.n)
    axis = p["broadcast_dimensions"][a.axis]
    return a._replace(
        nodes=BY_NUMPY["broadcast_in_dim"]({**p, "shape": one_long(p["shape"], axis)}, a.nodes), axis=axis
    )


def _reshape(links: Links, p: dict, a: Any) -> Any:
    if isinstance(a, Pieces):
        return _in_rows(p["new_sizes"], a) if len(a.shape) == 1 else _one_after_another(p["new_sizes"], a)
    if p["new_sizes"] == (int(np.prod(a.shape)),) and a.axis == a.nodes.ndim - 1 and a.nodes.size > 1:
        return _one_after_another(p["new_sizes"], Pieces([a]))
    before, new = int(np.prod(a.shape[: a.axis])), p["new_sizes"]
    for axis in range(len(new)):
        if new[axis] == a.length and int(np.prod(new[:axis])) == before:
            return a._replace(nodes=a.nodes.reshape(one_long(new, axis)), axis=axis)
    raise Unsupported("a reshape that mixes links with something else")


def _in_rows(shape: tuple[int, ...], a: Pieces) -> Any:
    """Pieces, as many in each of several rows."""
    each, rest = divmod(len(a.parts), shape[0])
    rows = [a.parts[i : i + each] for i in range(0, len(a.parts), max(each, 1))]
    alike = all(part.length == first.length for row in rows for part, first in zip(row, rows[0], strict=True))
    if len(shape) != 2 or rest or not alike:
        raise Unsupported("a reshape that mixes links with something else")
    columns = [Strip(np.stack([s.nodes for s in column]), 1, 0, column[0].length) for column in zip(*rows, strict=True)]
    return columns[0] if each == 1 else Pieces(columns)


def _one_after_another(shape: tuple[int, ...], a: Pieces) -> Pieces:
    """Rows of pieces as one."""
    if len(shape) != 1 or len(a.shape) != 2 or a.axis != 1:
        raise Unsupported("a reshape that mixes links with something else")
    return Pieces([Strip(s.nodes[i], 0, s.start, s.length) for i in range(a.shape[0]) for s in a.parts])


def _squeeze(links: Links, p: dict, a: Strip) -> Strip:
    if a.axis in p["dimensions"]:
        raise Unsupported("a choice of single links")
    kept = [n for i, n in enumerate(a.nodes.shape) if i not in p["dimensions"]]
    return a._replace(nodes=a.nodes.reshape(kept), axis=a.axis - sum(d < a.axis for d in p["dimensions"]))


def _transpose(links: Links, p: dict, a: Strip) -> Strip:
    return a._replace(nodes=a.nodes.transpose(p["permutation"]), axis=p["permutation"].index(a.axis))


def _slice(links: Links, p: dict, a: Any) -> Any:
    if isinstance(a, Pieces):
        others = [i for i in range(len(a.shape)) if i != a.axis]
        if any(p["limit_indices"][i] - p["start_indices"][i] != a.shape[i] for i in others):
            raise Unsupported("a slice across strips")
        return _parts(p["start_indices"][a.axis], p["limit_indices"][a.axis], p["strides"], a)
    begin, end, axis = p["start_indices"], p["limit_indices"], a.axis
    if p["strides"] and p["strides"][axis] != 1:
        raise Unsupported("every so-many-th link")
    cut = {
        "start_indices": (*begin[:axis], 0, *begin[axis + 1 :]),
        "limit_indices": one_long(end, axis),
        "strides": p["strides"],
    }
    return Strip(BY_NUMPY["slice"](cut, a.nodes), axis, a.start + begin[axis], end[axis] - begin[axis])


def _parts(begin: int, end: int, strides: Any, a: Pieces) -> Any:
    kept, at = [], 0
    for part in a.parts:
        if begin <= at and at + part.length <= end:
            kept.append(part)
        at += part.length
    if strides or sum(part.length for part in kept) != end - begin:
        raise Unsupported("a slice across strips")
    return kept[0] if len(kept) == 1 else Pieces(kept)


def _pad(links: Links, p: dict, a: Strip, filling: Any) -> Strip:
    low, high, inside = p["padding_config"][a.axis]
    length = a.length + low + high
    if inside or low < 0 or high < 0 or length > links.n or a.start - low < 0 and a.start + length - low > links.n:
        raise Unsupported("a padding beyond the chain")
    others = [*p["padding_config"]]
    others[a.axis] = (0, 0, 0)
    filling = as_nodes(links.graph, filling)
    if not links.graph.is_zero(filling.item()):
        raise Unsupported("a padding of links that is not 0")
    start = 0 if length == links.n else max(a.start - low, 0)
    a = moved(links, a, start + low)
    nodes = elementwise(lambda node: links.within(node, a.start, a.length), a)
    return Strip(BY_NUMPY["pad"]({"padding_config": others}, nodes, filling), a.axis, start, length)


def _concatenate(links: Links, p: dict, *values: Any) -> Any:
    flat = [part for v in values for part in (v.parts if isinstance(v, Pieces) else [v]) if np.prod(v.shape)]
    like = next(v for v in flat if isinstance(v, Strip))
    if p["dimension"] != like.axis:
        return _side_by_side(links, p["dimension"], flat, like)
    length = sum(v.shape[like.axis] for v in flat)
    if length > links.n:
        if any(not isinstance(v, Strip) or v.axis != like.axis for v in flat):
            raise Unsupported("strips one after another in this form")
        return Pieces(flat)
    total, start = None, 0 if length == links.n else like.start
    at = start
    for value in flat:
        part = Strip(like.nodes, like.axis, at, value.shape[like.axis])
        nodes = moved(links, value, at).nodes if isinstance(value, Strip) else column(links, value, part)
        nodes = elementwise(lambda a, part=part: links.within(a, part.start, part.length), nodes)
        total = nodes if total is None else RULES["add"](links.graph, {}, total, nodes)
        at += part.length
    return Strip(np.asarray(total, dtype=object), like.axis, start, length)


def _side_by_side(links: Links, dimension: int, values: list[Any], like: Strip) -> Strip:
    nodes = [np.broadcast_to(column(links, v, like), one_long(v.shape, like.axis)) for v in values]
    return like._replace(nodes=np.concatenate(nodes, axis=dimension))


def _stack(links: Links, p: dict, *values: Any) -> Strip:
    """A new axis, on which values stand side by side."""
    new = p["axis"]
    like: Strip = next(v for v in values if isinstance(v, Strip))
    nodes = np.stack([np.broadcast_to(column(links, v, like), like.nodes.shape) for v in values], axis=new)
    return like._replace(nodes=nodes, axis=like.axis + (new <= like.axis))


def _split(links: Links, p: dict, a: Any) -> list[Any]:
    ends = np.cumsum([0, *p["sizes"]]).tolist()
    pieces = []
    for begin, end in itertools.pairwise(ends):
        start, limit = [0] * len(a.shape), list(a.shape)
        start[p["axis"]], limit[p["axis"]] = begin, end
        pieces.append(_slice(links, {"start_indices": start, "limit_indices": limit, "strides": None}, a))
    return pieces


def _reduce(name: str) -> Any:
    def rule(links: Links, p: dict, a: Strip) -> Strip:
        if a.axis in p["axes"]:
            raise Unsupported("a total over all links")
        nodes = RULES[name](links.graph, {"axes": p["axes"]}, a.nodes)
        return a._replace(nodes=nodes, axis=a.axis - sum(i < a.axis for i in p["axes"]))

    return rule


def _cumulative(name: str) -> Any:
    def rule(links: Links, p: dict, a: Strip) -> Strip:
        if p["axis"] != a.axis:
            return a._replace(nodes=RULES[name](links.graph, p, a.nodes))
        if name != "cumsum" or a.length != links.n:
            raise Unsupported(f"{name} along part of a chain")
        return a._replace(nodes=elementwise(lambda x: links.tie(x, 1 if p["reverse"] else -1, True), a))

    return rule


ALONG: dict[str, Any] = {
    "broadcast_in_dim": _broadcast,
    "reshape": _reshape,
    "squeeze": _squeeze,
    "transpose": _transpose,
    "slice": _slice,
    "pad": _pad,
    "concatenate": _concatenate,
    "stack": _stack,
    "split": _split,
    "dot_general": dot,
    "copy": lambda links, p, a: a,
    "copy_p": lambda links, p, a: a,
    "stop_gradient": lambda links, p, a: a,
    **{name: _reduce(name) for name in REDUCTIONS},
    **{name: _cumulative(name) for name in CUMULATIVE},
}

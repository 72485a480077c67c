"""Arrays along a chain, kept as the nodes of one link, and how they meet with each other and with other arrays."""

import itertools
from typing import Any, NamedTuple

import numpy as np

from discrete_hamel.kernel.graph import Unsupported
from discrete_hamel.kernel.links import FROM_ABOVE, FROM_BELOW, Links
from discrete_hamel.kernel.rules import as_nodes, symbolic

FARTHEST = 3  # neighbours that a link may look at


class Strip(NamedTuple):
    """An array along the chain: element i of its `axis` belongs to link start + i; `nodes` has length 1 there."""

    nodes: np.ndarray
    axis: int
    start: int
    length: int

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.nodes.shape[: self.axis], self.length, *self.nodes.shape[self.axis + 1 :])


class Pieces(NamedTuple):
    """Strips one after another along their axis, as in z = (xi, q)."""

    parts: list[Strip]

    @property
    def axis(self) -> int:
        return self.parts[0].axis

    @property
    def shape(self) -> tuple[int, ...]:
        rest = self.parts[0].shape
        return (*rest[: self.axis], sum(part.length for part in self.parts), *rest[self.axis + 1 :])


class Lost(NamedTuple):
    """What is no function of single links, and why."""

    reason: str
    shape: tuple[int, ...]


def column(links: Links, value: Any, like: Strip) -> np.ndarray:
    """The nodes of a value next to those of the strip `like`, link by link."""
    axis, graph = like.axis, links.graph
    if isinstance(value, Strip):
        if value.axis != axis or value.length != like.length:
            raise Unsupported("a matrix whose rows and columns are links")
        return moved(links, value, like.start).nodes
    if isinstance(value, Pieces):
        raise Unsupported("several strips at once")
    if value.ndim == 0:
        return as_nodes(graph, value)
    if symbolic(value):
        first = np.take(value, [0], axis=axis)
        if np.all(value == first):
            return first
        if any(graph.value(a) is None for a in value.ravel()):
            raise Unsupported("a choice of single links")
        value = np.vectorize(graph.value, otypes=[float])(value)
    around = [(0, 0)] * value.ndim
    around[axis] = (like.start, links.n - like.start - like.length)
    every = np.moveaxis(np.pad(np.asarray(value, float), around, mode="edge"), axis, 0)
    nodes = np.empty(every.shape[1:], dtype=object)
    for at in np.ndindex(*nodes.shape):
        nodes[at] = links.vector(np.ascontiguousarray(every[(slice(None), *at)]))
    return np.expand_dims(nodes, axis)


def moved(links: Links, strip: Strip, start: int) -> Strip:
    """The strip with its first element at link `start`: neighbours' values come by ties."""
    far = strip.start - start
    if not far:
        return strip
    if abs(far) > FARTHEST:
        raise Unsupported("links far from each other that meet")
    nodes = elementwise(lambda a: links.within(a, strip.start, strip.length), strip)
    for _ in range(abs(far)):
        nodes = elementwise(lambda a: links.tie(a, FROM_ABOVE if far > 0 else FROM_BELOW, False), nodes)
    return strip._replace(nodes=nodes, start=start)


def elementwise(function: Any, strip: Any) -> np.ndarray:
    """A function of single nodes at all of them."""
    nodes = strip.nodes if isinstance(strip, Strip) else strip
    return np.frompyfunc(function, 1, 1)(nodes)


def piecewise(values: list[Any], like: Pieces) -> list[list[Any]]:
    """The values next to each piece."""
    ends = np.cumsum([0, *(part.length for part in like.parts)])
    rows = []
    for place, (begin, end) in enumerate(itertools.pairwise(ends)):
        row: list[Any] = []
        for value in values:
            if isinstance(value, Pieces):
                row.append(value.parts[place])
            elif isinstance(value, Strip):
                raise Unsupported("several strips at once")
            else:
                row.append(np.take(value, range(begin, end), axis=like.axis) if np.ndim(value) else value)
        rows.append(row)
    return rows


def one_long(shape: Any, axis: int) -> tuple[int, ...]:
    """The shape with length 1 along the axis."""
    return (*shape[:axis], 1, *shape[axis + 1 :])

"""Sines and cosines at the root, from those that Newton's last iteration evaluated next to it.

    sin(a + d) = sin a + (d - d^3/6) cos a - (d^2/2 - d^4/24) sin a,  and the same for cos, to d^5 / 120

An iteration ends with a correction whose square is round-off, so that d is far smaller than `near` allows. Where it is
not, the step is not trusted, and the plain path takes it.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import dependent
from discrete_hamel.compiler.simplifying.angle_identities import angles_in
from discrete_hamel.compiler.simplifying.fewer_unknowns import TERMS, Polynomial, in_the_others, polynomial
from discrete_hamel.compiler.step.root import Root

UNLIKE = 1e-3  # a share by which the sample values of equal nodes do not differ


def near(dtype: np.dtype | type) -> float:
    """The |d| up to which what is left out, d^5 / 120, is a fiftieth of a rounding."""
    return float(2.4 * jnp.finfo(dtype).eps) ** (1 / 5)


class Angle(NamedTuple):
    """The nodes of an angle, its sine and its cosine: in an iteration, and the same at the root."""

    seen: tuple[int, int, int]
    here: tuple[int, int, int]


def angles_met(graph: Graph, outputs: list[int], root: Root) -> list[Angle]:
    """The angles that outputs need at the root and that its iteration evaluates, both as sine and as cosine."""
    if root.linear:
        return []  # one iteration, from wherever the guess is
    unknowns = [*root.unknowns, *(unknown for unknown, _ in root.formulas)]
    moving = _changing(graph, angles_in(graph, outputs), unknowns)
    seen = _changing(graph, angles_in(graph, root.needs()), root.unknowns)
    found: list[Angle] = []
    multiplied_out: dict[int, Polynomial | None] = {}
    fewer_unknowns = in_the_others(graph, root.formulas, root.points)
    for here in moving:
        (fewer,) = graph.substitute([here], fewer_unknowns)
        same = next((a for a in seen if _equal(graph, a, fewer, multiplied_out)), None)
        if same is not None:
            found.append(Angle(*((a, graph.unary("sin", a), graph.unary("cos", a)) for a in (same, here))))
    return found


def turn(
    graph: Graph, outputs: list[int], angles: Iterable[Angle], last: Mapping[int, int]
) -> tuple[list[int], list[int]]:
    """The outputs with these sines and cosines from those of the last iteration, and what has to be positive for that.

    `last` are the nodes that have the values of the angles' nodes in the last iteration.
    """
    near_by, replaced = [], dict[int, int]()
    for seen, (here, sine, cosine) in angles:
        a, s, c = (last[node] for node in seen)
        d = graph.sub(here, a)
        square = graph.mul(d, d)
        along = graph.sub(d, graph.mul(graph.mul(d, square), graph.const(1 / 6)))
        back = graph.mul(square, graph.sub(graph.const(0.5), graph.mul(square, graph.const(1 / 24))))
        replaced[sine] = graph.add(s, graph.sub(graph.mul(along, c), graph.mul(back, s)))
        replaced[cosine] = graph.sub(c, graph.add(graph.mul(along, s), graph.mul(back, c)))
        near_by.append(graph.sub(graph.const(near(float)), graph.unary("abs", d)))
    return (graph.substitute(outputs, replaced) if replaced else outputs), near_by


def _changing(graph: Graph, angles: Iterable[int], unknowns: list[int]) -> list[int]:
    angles = list(angles)
    changing = dependent(graph, angles, unknowns)
    return [a for a in angles if a in changing]


def _equal(graph: Graph, a: int, b: int, known: dict[int, Polynomial | None]) -> bool:
    """Whether two nodes differ by nothing when multiplied out; `known` are nodes that have been."""
    x, y = graph.samples[a], graph.samples[b]  # no decision: what is equal multiplied out is so at any sample
    if abs(x - y) > UNLIKE * (abs(x) + abs(y)):
        return False
    return a == b or polynomial(graph, graph.sub(a, b), TERMS, known) == {}

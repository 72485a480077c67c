"""Angles that an expression only seems to depend on.

Brackets of a frame that turns with a heading contain sin^2 + cos^2 of it in many guises. Multiplied out, with
sin^2 = 1 - cos^2, the heading disappears; then it may as well be 0 in the expression as it stands, which folds.
"""

import math
from collections.abc import Sequence
from functools import reduce
from operator import or_

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.simplifying.fewer_unknowns import Polynomial, polynomial

MOST_TERMS = 300  # of an expression multiplied out
LEAST = 0.1  # of the least divisor before


def without_idle_angles(graph: Graph, outputs: list[int]) -> list[int]:
    """The outputs, each with the angles put to 0 that it does not depend on; first in what they divide by."""
    behind = _Behind(graph)
    divisors = sorted({graph.nodes[i][2] for i in graph.dependencies(outputs) if graph.nodes[i][0] == "div"})
    known: dict[int, Polynomial | None] = {}  # what the outputs share is multiplied out once
    simpler = {d: _without(graph, d, known, behind) for d in divisors}
    changed = {d: new for d, new in simpler.items() if new != d}
    outputs = graph.substitute(outputs, changed) if changed else outputs
    return [_without(graph, output, known, behind) for output in outputs]


class _Behind:
    """What nodes are made of, found once for all that share it: a look behind each would take that many times as long.

    `angles` has a bit for each angle whose sine or cosine a node depends on. `rounded` are the nodes that contain
    (x + y) - x: what a sum rounds off, which is y to algebra, but not at another angle.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph, self.angles, self.rounded, self._bits = graph, dict[int, int](), set[int](), dict[int, int]()

    def look(self, output: int) -> int:
        """The bits of an output's angles."""
        graph, angles = self.graph, self.angles
        for index in graph.dependencies([output], given=angles):
            if index in angles:
                continue
            name, operands = graph.nodes[index][0], graph.operands(index)
            angles[index] = reduce(or_, (angles[a] for a in operands), 0)
            if name in ("sin", "cos"):
                angles[index] |= self._bits.setdefault(operands[0], 1 << len(self._bits))
            if not self.rounded.isdisjoint(operands) or name == "sub" and self._undoes(*operands):
                self.rounded.add(index)
        return angles[output]

    def _undoes(self, a: int, b: int) -> bool:
        graph, sums = self.graph, ("add", "sub")
        return (graph.nodes[a][0] in sums and b in graph.operands(a)) or (
            graph.nodes[b][0] in sums and a in graph.operands(b)
        )


def _without(graph: Graph, output: int, known: dict[int, Polynomial | None], behind: _Behind) -> int:
    there = behind.look(output)
    polynomials = polynomial(graph, output, MOST_TERMS, known) if there and output not in behind.rounded else None
    if polynomials is None:
        return output
    inside = reduce(or_, (behind.look(a) for f in set().union(*polynomials) for a in graph.operands(f)), 0)
    if not there & ~inside:
        return output
    terms = _multiplied_out(graph, output, known)
    for sine, cosine in angles_in(graph, [output]).values() if terms else ():
        if sine is not None and cosine is not None and terms is not None and _idle(*terms, sine, cosine):
            (at_zero,) = graph.substitute([output], {sine: graph.const(0.0), cosine: graph.const(1.0)})
            # What cancels may be infinite there: a frame whose fields are parallel at that angle.
            if graph.decide(_divisors_stay, at_zero, output):
                output = at_zero
                terms = _multiplied_out(graph, output, known)
    return output


def _multiplied_out(
    graph: Graph, output: int, known: dict[int, Polynomial | None] | None = None
) -> tuple[Polynomial, set[int]] | None:
    """An output as a polynomial, and the nodes inside its factors; None if it has too many terms."""
    terms = polynomial(graph, output, MOST_TERMS, known)
    if terms is None:
        return None
    factors = {f for each in terms for f in each}
    return terms, set(graph.dependencies(a for f in factors for a in graph.operands(f)))


def _divisors_stay(graph: Graph, samples: Sequence[float], changed: int, output: int) -> bool:
    return _least_divisor(graph, samples, changed) >= LEAST * _least_divisor(graph, samples, output)


def _least_divisor(graph: Graph, samples: Sequence[float], output: int) -> float:
    """The least that an output divides by, at the sample; 0 if it led to what is not finite."""
    needed = graph.dependencies([output])
    if not all(math.isfinite(samples[i]) for i in needed):
        return 0.0
    divisors = (samples[graph.nodes[i][2]] for i in needed if graph.nodes[i][0] == "div")
    return min((abs(d) for d in divisors), default=math.inf)


def angles_in(graph: Graph, outputs: list[int]) -> dict[int, tuple[int | None, int | None]]:
    """Angle -> the nodes of its sine and cosine among what outputs need."""
    found: dict[int, tuple[int | None, int | None]] = {}
    for index in graph.dependencies(outputs):
        name, *operands = graph.nodes[index]
        if name in ("sin", "cos"):
            sine, cosine = found.get(operands[0], (None, None))
            found[operands[0]] = (index, cosine) if name == "sin" else (sine, index)
    return found


def idle(graph: Graph, output: int, sine: int, cosine: int) -> bool:
    """Whether an output is a polynomial in sin x and cos x from which x disappears by sin^2 x = 1 - cos^2 x."""
    terms = _multiplied_out(graph, output)
    return terms is not None and _idle(*terms, sine, cosine)


def _idle(terms: Polynomial, inside: set[int], sine: int, cosine: int) -> bool:
    """The same of terms; `inside` has what is inside of factors, and so not multiplied out."""
    if sine in inside or cosine in inside:
        return False
    largest = max((abs(c) for c in terms.values()), default=0.0)
    left: Polynomial = {}
    for factors, coefficient in terms.items():
        others = tuple(f for f in factors if f != sine and f != cosine)
        for power, c in _in_cosines(factors.count(sine), factors.count(cosine)).items():
            key = (*others, *power)
            left[key] = left.get(key, 0.0) + coefficient * c
    return all(abs(c) <= 1e-14 * largest for key, c in left.items() if key and key[-1] < 0)


SINE, COSINE = -2, -1  # marks in the keys above; nodes are not negative


def _in_cosines(sines: int, cosines: int) -> dict[tuple[int, ...], float]:
    """sin^a cos^b with at most one sine: marks -> coefficient."""
    result = {(SINE,) * (sines % 2) + (COSINE,) * cosines: 1.0}
    for _ in range(sines // 2):
        result = {
            marks: result.get(marks, 0.0) - (result.get(marks[:-2], 0.0) if marks[-2:] == (COSINE,) * 2 else 0.0)
            for marks in {*result, *((*marks, COSINE, COSINE) for marks in result)}
        }
    return result

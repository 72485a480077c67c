"""Small matrices and sequences in the graph: LU, Cholesky, QR, eigenvalues, singular values and sorting, unrolled.

Eigenvalues are found by Jacobi's rotations, and singular values by the same on columns (Hestenes), in sweeps over all
pairs, as many as small matrices take to converge quadratically to round-off; a guard says whether they did.

    t = 2 a_pq / (d + sign(d) sqrt(d^2 + 4 a_pq^2)),  d = a_qq - a_pp    Golub, Van Loan (2013), 8.5, 8.6
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from discrete_hamel.compiler.graph.elimination import factors, solve_each
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.reading.primitive_rules import Nodes

MOST = 8  # rows and columns of a matrix that is turned: 5000 operations
MOST_SORTED = 32
ROUND_OFF = 1e-14  # of what is turned away, beside the whole


def _each(rule: Callable[[Graph, dict, Nodes], Sequence[Nodes]]) -> Callable:
    """A rule for one matrix, of all matrices of an array."""

    def of_all(graph: Graph, p: dict, a: Nodes) -> list[Nodes]:
        shape = a.shape[:-2]
        found = [rule(graph, p, a[at]) for at in np.ndindex(*shape)]
        return [np.stack(parts).reshape(*shape, *parts[0].shape) for parts in zip(*found, strict=True)]

    return of_all


def lu(graph: Graph, p: dict, a: Nodes) -> Sequence[Nodes]:
    """P A = L U with the row order of the sample, for determinants; solves eliminate anew."""
    if a.shape[0] != a.shape[1]:
        raise Unsupported("the LU decomposition of a matrix that is not square")
    return factors(graph, a)


def triangular_solve(graph: Graph, p: dict, a: Nodes, b: Nodes) -> list[Nodes]:
    """A x = b, or x A = b, with one triangle of A."""
    if a.ndim != 2:
        raise Unsupported("several triangular solves at once")
    n = len(a)
    lower, a = p["lower"], a.copy()
    for i, j in np.ndindex(n, n):
        if i == j and p["unit_diagonal"]:
            a[i, j] = graph.const(1.0)
        elif (j > i) if lower else (j < i):
            a[i, j] = graph.const(0.0)
    a = a.T if p["transpose_a"] == p["left_side"] else a  # x A = b is A^T x^T = b^T
    right = b if p["left_side"] else b.T
    rows = [dict(enumerate(row)) for row in a]
    x = np.array(solve_each(graph, rows, [list(column) for column in right.T], guarded=True), dtype=object)
    return [x.T if p["left_side"] else x]


def cholesky(graph: Graph, p: dict, a: Nodes) -> list[Nodes]:
    """A = L L^T; as JAX has it from the lower triangle, and no number where A is not positive."""
    lower = np.full(a.shape, graph.const(0.0), dtype=object)
    for j in range(len(a)):
        square = _less(graph, a[j, j], lower[j, :j], lower[j, :j])
        lower[j, j] = graph.unary("sqrt", square)
        for i in range(j + 1, len(a)):
            lower[i, j] = graph.div(_less(graph, a[i, j], lower[i, :j], lower[j, :j]), lower[j, j])
    return [lower]


def qr(graph: Graph, p: dict, a: Nodes) -> list[Nodes]:
    """A = Q R by Householder's reflections, with LAPACK's signs: R_kk = -sign(x_k) |x|."""
    rows, columns = a.shape
    if p["pivoting"]:
        raise Unsupported("a QR decomposition with pivots")
    r, count = a.copy(), min(rows, columns)
    q = np.array([[graph.const(float(i == j)) for j in range(rows)] for i in range(rows)], dtype=object)
    for k in range(min(count, rows - 1)):
        x = r[k:, k].copy()
        norm = graph.unary("sqrt", _dot(graph, x, x))
        ahead = graph.select(graph.binary("lt", x[0], graph.const(0.0)), graph.neg(norm), norm)
        x[0] = graph.add(x[0], ahead)
        half = graph.mul(ahead, x[0])  # |x|^2 / 2
        for column in (*r.T[k:], *q):  # R from the left, and Q from the right
            share = graph.div(_dot(graph, x, column[k:]), half)
            column[k:] = [graph.sub(c, graph.mul(share, y)) for c, y in zip(column[k:], x, strict=True)]
        r[k + 1 :, k] = graph.const(0.0)
    kept = rows if p["full_matrices"] else count
    return [q[:, :kept], r[:kept]]


class Rotation(NamedTuple):
    """By an angle: its cosine and sine."""

    cosine: int
    sine: int

    def __call__(self, graph: Graph, x: Nodes, y: Nodes) -> tuple[Nodes, Nodes]:
        """c x - s y, s x + c y."""
        c, s = self
        pairs = list(zip(x, y, strict=True))
        first = [graph.sub(graph.mul(c, a), graph.mul(s, b)) for a, b in pairs]
        return np.array(first, dtype=object), np.array(
            [graph.add(graph.mul(s, a), graph.mul(c, b)) for a, b in pairs], dtype=object
        )


def _rotation(graph: Graph, d: int, a: int) -> Rotation:
    """By the smaller angle that makes a zero of a, d being the difference of the others; none where both are 0."""
    twice, one = graph.add(a, a), graph.const(1.0)
    square = graph.add(graph.mul(d, d), graph.mul(twice, twice))
    nothing = graph.binary("eq", square, graph.const(0.0))
    size = graph.unary("sqrt", graph.select(nothing, one, square))
    below = graph.binary("lt", d, graph.const(0.0))
    t = graph.div(twice, graph.add(d, graph.select(below, graph.neg(size), size)))
    t = graph.select(nothing, graph.const(0.0), t)
    c = graph.unary("rsqrt", graph.add(one, graph.mul(t, t)))
    return Rotation(c, graph.mul(t, c))


def _sweeps(n: int) -> int:
    """After so many no entry that is turned away is more than round-off."""
    if n > MOST:
        raise Unsupported(f"eigenvalues or singular values of a matrix with more than {MOST} rows and columns")
    return 1 if n == 2 else 5 + (n > 3) + (n > 5)


def eigh(graph: Graph, p: dict, a: Nodes) -> list[Nodes]:
    """A = V diag(w) V^T, in ascending order, with the signs of LAPACK's at the sample."""
    if p.get("subset_by_index") is not None:
        raise Unsupported("some of the eigenvalues of a matrix")
    n, samples = len(a), np.vectorize(graph.samples.__getitem__, otypes=[float])
    triangle = np.tril(np.ones((n, n), bool)) if p["lower"] else np.triu(np.ones((n, n), bool))
    whole = np.where(triangle, a, a.T)
    a = whole.copy()
    vectors = np.array([[graph.const(float(i == j)) for j in range(n)] for i in range(n)], dtype=object)
    for _, (i, j) in itertools.product(range(_sweeps(n)), itertools.combinations(range(n), 2)):
        turn = _rotation(graph, graph.sub(a[j, j], a[i, i]), a[i, j])
        a[i], a[j] = turn(graph, a[i], a[j])
        a[:, i], a[:, j] = turn(graph, a[:, i], a[:, j])
        vectors[:, i], vectors[:, j] = turn(graph, vectors[:, i], vectors[:, j])
    off = [a[i, j] for i, j in itertools.combinations(range(n), 2)]
    values = [a[i, i] for i in range(n)]
    for value in values:
        _guard_against(graph, value, _dot(graph, off, off), _dot(graph, whole.ravel(), whole.ravel()))
    if p["sort_eigenvalues"]:
        values, *rows = _in_order(graph, [values, *vectors])
        vectors = np.array(rows, dtype=object)
    signs = _signs(samples(vectors), np.linalg.eigh(samples(whole))[1])
    return [_with_signs(graph, vectors, signs), np.array(values, dtype=object)]


def svd(graph: Graph, p: dict, a: Nodes) -> list[Nodes]:
    """A = U diag(s) V^T, in descending order, with the signs of LAPACK's at the sample."""
    if p.get("subset_by_index") is not None:
        raise Unsupported("some of the singular values of a matrix")
    upright = a.shape[0] >= a.shape[1]
    if p["compute_uv"] and p["full_matrices"] and a.shape[0] != a.shape[1]:
        raise Unsupported("the whole orthogonal matrices of a singular value decomposition")
    columns = list(a.T if upright else a)
    n, samples = len(columns), np.vectorize(graph.samples.__getitem__, otypes=[float])
    turns = [np.array([graph.const(float(i == j)) for i in range(n)], dtype=object) for j in range(n)]
    for _, (i, j) in itertools.product(range(_sweeps(n)), itertools.combinations(range(n), 2)):
        across = _dot(graph, columns[i], columns[j])
        turn = _rotation(graph, graph.sub(_square(graph, columns[j]), _square(graph, columns[i])), across)
        columns[i], columns[j] = turn(graph, columns[i], columns[j])
        turns[i], turns[j] = turn(graph, turns[i], turns[j])
    values = [graph.unary("sqrt", _square(graph, column)) for column in columns]
    whole = _dot(graph, values, values)
    for i, j in itertools.combinations(range(n), 2):
        across = _dot(graph, columns[i], columns[j])
        for value in (values[i], values[j]):
            _guard_against(graph, value, graph.mul(across, across), graph.mul(whole, whole))
    units = [[graph.div(x, value) for x in column] for column, value in zip(columns, values, strict=True)]
    negative = [graph.neg(value) for value in values]
    order = _in_order(graph, [negative, *np.transpose(units), *np.transpose(turns)])
    values = [graph.neg(value) for value in order[0]]
    s, (left, right) = np.array(values, dtype=object), np.split(np.array(order[1:], dtype=object), [len(columns[0])])
    if not p["compute_uv"]:
        return [s]
    u, vt = (left, right.T) if upright else (right, left.T)
    signs = _signs(samples(u), np.linalg.svd(samples(a), full_matrices=False)[0])
    return [s, _with_signs(graph, u, signs), _with_signs(graph, vt.T, signs).T]


def sort(graph: Graph, p: dict, *operands: Nodes) -> list[Nodes]:
    """Along one axis, by the first operand, the others with it; equal ones stay in their order."""
    axis, n = p["dimension"], operands[0].shape[p["dimension"]]
    if p["num_keys"] != 1 or n > MOST_SORTED:
        raise Unsupported(f"sorting by several keys, or of more than {MOST_SORTED} numbers")
    lined = [np.moveaxis(a, axis, -1) for a in operands]
    results = [np.empty(a.shape, dtype=object) for a in lined]
    for at in np.ndindex(*lined[0].shape[:-1]):
        for result, row in zip(results, _in_order(graph, [list(a[at]) for a in lined]), strict=True):
            result[at] = row
    return [np.moveaxis(a, -1, axis) for a in results]


def _in_order(graph: Graph, given: Iterable[Iterable[int]]) -> list[list[int]]:
    """The rows in the order in which the first ascends: neighbours change places, where the one behind is smaller."""
    rows = [list(row) for row in given]
    for end in range(len(rows[0]) - 1, 0, -1):
        for k in range(end):
            swapped = graph.binary("lt", rows[0][k + 1], rows[0][k])
            for row in rows:
                a, b = row[k], row[k + 1]
                row[k], row[k + 1] = graph.select(swapped, b, a), graph.select(swapped, a, b)
    return rows


def _guard_against(graph: Graph, value: int, square: int, whole: int) -> None:
    """Trust the value where a square that should be nothing is round-off of the square of the whole."""
    if graph.operands(value):
        margin = graph.add(graph.mul(graph.const(ROUND_OFF**2), whole), graph.const(float(np.finfo(float).tiny)))
        rest = graph.sub(margin, square)
        known = graph.guards.get(value)
        graph.guards[value] = rest if known is None else graph.binary("min", known, rest)


def _signs(found: np.ndarray, like: np.ndarray) -> np.ndarray:
    """For each column the sign that makes it like the other."""
    return np.where(np.sum(found * like, axis=0) < 0, -1, 1)


def _with_signs(graph: Graph, vectors: Nodes, signs: np.ndarray) -> Nodes:
    """The columns with these signs."""
    turned = vectors.copy()
    for k in np.flatnonzero(signs < 0):
        turned[:, k] = [graph.neg(x) for x in vectors[:, k]]
    return turned


def _dot(graph: Graph, a: Iterable[int], b: Iterable[int]) -> int:
    total = graph.const(0.0)
    for x, y in zip(a, b, strict=True):
        total = graph.add(total, graph.mul(x, y))
    return total


def _square(graph: Graph, a: Iterable[int]) -> int:
    return _dot(graph, a, a)


def _less(graph: Graph, a: int, b: Iterable[int], c: Iterable[int]) -> int:
    """a - b . c"""
    for x, y in zip(b, c, strict=True):
        a = graph.sub(a, graph.mul(x, y))
    return a


MATRICES: dict[str, Callable[..., list[Nodes]]] = {
    "lu": _each(lu),
    "triangular_solve": triangular_solve,
    "cholesky": _each(cholesky),
    "qr": _each(qr),
    "eigh": _each(eigh),
    "svd": _each(svd),
    "sort": sort,
}

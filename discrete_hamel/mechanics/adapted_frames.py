"""Frames adapted to constraint one-forms: A(q) -> Psi with A u_j = 0 for j <= m and A u_{m+a} = e_a.

Two smooth constructions. The graph solves for the velocities of k coordinates S, so that xi^D are the velocities of the
other coordinates; it degenerates where det A_S vanishes. Where no choice of S keeps that determinant from vanishing
nearby (a blade that turns), k Householder reflections with fixed axes and signs carry the one-forms to coordinate axes;
the images of the other axes span ker A and are orthonormal, and only a row that turns to the opposite of its axis, an
event of codimension 2 or more, spoils them. Of many rows those that have a coordinate by a number are solved for it
before (`Nested`). The choice is made once, at the start of a run. A user who wants certain velocities as xi^D has them
solved for instead: a Graph for coordinates, else the inverse of [R; A] (`Stacked`).
"""

import itertools
from collections.abc import Callable, Iterable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used: linalg alone takes 0.1 s
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel._support.inputs import combination
from discrete_hamel._support.pytrees import Pytree, static

MAX_SETS = 500  # column sets that are all looked at; beyond, only those that pivoted QR suggests
DEPENDENT = 1e-10  # share of a row below which it is a combination of others
UNSOLVABLE = 1e-8  # reciprocal condition of [R; A], rows made unit, below which it is not solved for xi^D
SAME = 1e-12  # change of a coefficient, beside its row, up to which it is a number
LEAST_SHARE = 1e-3  # of a row, from which on its number is one to solve by
STEADY = 0.1  # least ratio of det A_S, nearby, for a graph


class Graph(Pytree):
    """u_f = e_f - e_S A_S^{-1} A_f for each free coordinate f, u_{m+a} = e_S A_S^{-1} e_a."""

    free: tuple[int, ...] = static()
    dependent: tuple[int, ...] = static()

    def frame(self, one_forms: Array) -> Array:
        k, coordinates = one_forms.shape
        f, s = self._columns()
        block = jnp.linalg.solve(one_forms[:, s], jnp.concatenate([-one_forms[:, f], jnp.eye(k)], axis=1))
        return jnp.zeros((coordinates, coordinates)).at[f, jnp.arange(len(self.free))].set(1.0).at[s].set(block)

    def fields(self, one_forms: Array) -> Array:
        """u_1..u_m."""
        f, s = self._columns()
        block = -jnp.linalg.solve(one_forms[:, s], one_forms[:, f])
        return jnp.zeros((one_forms.shape[1], len(f))).at[f, jnp.arange(len(f))].set(1.0).at[s].set(block)

    def _columns(self) -> tuple[Array, Array]:
        return jnp.array(self.free, int), jnp.array(self.dependent, int)

    def margin(self, one_forms: Array) -> Array:
        """det A_S over the volume of A's rows: zero where the frame degenerates, of the other sign beyond."""
        volume = jnp.sqrt(jnp.linalg.det(one_forms @ one_forms.T))
        return jnp.linalg.det(one_forms[:, jnp.array(self.dependent, int)]) / volume


class Reflections(Pytree):
    """The images under H = H_1 ... H_k of the free axes, and A^T (A A^T)^{-1}.

    H_r reflects row r, made unit and freed of the axes used before, to -sign_r e_(axis_r).
    """

    free: tuple[int, ...] = static()
    axes: tuple[int, ...] = static()
    signs: tuple[float, ...] = static()

    def frame(self, one_forms: Array) -> Array:
        h, _ = reflect(one_forms, self.axes, self.signs)
        return jnp.concatenate([h[:, jnp.array(self.free, int)], _dual(one_forms)], axis=1)

    def fields(self, one_forms: Array) -> Array:
        """u_1..u_m, orthonormal."""
        return reflect(one_forms, self.axes, self.signs)[0][:, jnp.array(self.free, int)]

    def margin(self, one_forms: Array) -> Array:
        """Half the least of the mirrors' normals, by which the frame loses digits: 1 where a row points along its sign
        and axis, 0 where it points the other way and the frame degenerates."""
        mirrors = reflect(one_forms, self.axes, self.signs)[1]
        return jnp.min(jnp.stack([jnp.sqrt(mirror @ mirror) / 2 for mirror in mirrors]))


def reflect(rows: Array, axes: Sequence[int], signs: Sequence[float] | None = None) -> tuple[Array, list[Array]]:
    """H = H_1 ... H_k, Householder's reflections of the rows, one after another, to -sign_r e_(axis_r), by default with
    the signs of the rows, which jump where one has no such component; and the mirrors' normals, 0 where H degenerates.
    """
    h, mirrors = jnp.eye(rows.shape[1]), []
    for r, axis in enumerate(axes):
        unit = _unit(jnp.where(np.isin(np.arange(rows.shape[1]), axes[:r]), 0.0, rows[r]))
        mirror = unit.at[axis].add(jnp.where(unit[axis] < 0, -1.0, 1.0) if signs is None else signs[r])
        weight = 2 / (mirror @ mirror)
        mirrors.append(mirror)
        rows = rows - weight * jnp.outer(rows @ mirror, mirror)
        h = h - weight * jnp.outer(h @ mirror, mirror)
    return h, mirrors


class Nested(Pytree):
    """Rows A_1 solved for a coordinate each: v = P y, y the velocities of those left; on them A_2 P, framed by `inner`.

    Each wheel of a train has the rate of its own heading so, with a number for coefficient that cannot vanish.
    """

    rows: tuple[int, ...] = static()
    dependent: tuple[int, ...] = static()
    inner: "Graph | Nested | Reflections"

    @property
    def free(self) -> tuple[int, ...]:
        return self.inner.free

    def frame(self, one_forms: Array) -> Array:
        return jnp.concatenate([self.fields(one_forms), _dual(one_forms)], axis=1)

    def fields(self, one_forms: Array) -> Array:
        """u_1..u_m."""
        block, left = self.solve_rows(one_forms)
        return self.whole(block, self.inner.fields(left))

    def margin(self, one_forms: Array) -> Array:
        """That of `inner`."""
        return self.inner.margin(self.solve_rows(one_forms)[1])

    def solve_rows(self, one_forms: Array) -> tuple[Array, Array]:
        """The rows of P that are not those of 1, and A_2 P."""
        left = without(self.dependent, one_forms.shape[1])
        own, others = one_forms[self.rows, :], one_forms[without(self.rows, len(one_forms)), :]
        block = -jnp.linalg.solve(own[:, self.dependent], own[:, left])
        return block, others[:, left] + others[:, self.dependent] @ block

    def whole(self, block: Array, y: Array) -> Array:
        """P y."""
        v = jnp.zeros((len(y) + len(block), *y.shape[1:]))
        return v.at[without(self.dependent, len(v)),].set(y).at[self.dependent,].set(block @ y)


def without(some: tuple[int, ...], count: int) -> tuple[int, ...]:
    """The others of so many, as (0, 2) without (1, 3) of 4."""
    return tuple(i for i in range(count) if i not in some)


def _dual(one_forms: Array) -> Array:
    return jnp.linalg.solve(one_forms @ one_forms.T, one_forms).T


class Stacked(Pytree):
    """The fields with R u_j = e_j and A u_j = 0, and A u_{m+a} = e_a, R u_{m+a} = 0: the inverse of [R; A].

    R(q), m x N, are the velocities that the user wants as xi^D, so that what is given here is [R; A].
    """

    free: tuple[int, ...] = static()

    def frame(self, stacked: Array) -> Array:
        return jnp.linalg.inv(stacked)

    def fields(self, stacked: Array) -> Array:
        """u_1..u_m."""
        return jnp.linalg.solve(stacked, jnp.eye(len(stacked))[:, : len(self.free)])

    def margin(self, stacked: Array) -> Array:
        """det [R; A] over the lengths of its rows."""
        return jnp.linalg.det(jax.vmap(_unit)(stacked))


def _unit(row: Array) -> Array:
    return row / jnp.sqrt(row @ row)


def probes(q: np.ndarray, count: int = 64) -> np.ndarray:
    """Points about q, q first: within a turn for one half, which angles need, and close by for the other."""
    offsets = np.random.default_rng(0).uniform(-np.pi, np.pi, (count, len(q)))
    offsets[::2] /= 8
    return np.concatenate([q[None], q + offsets])


def adapt(one_forms: np.ndarray, b: np.ndarray | None = None) -> "Graph | Nested | Reflections":
    """The construction that stays farthest from degenerate over A at several points, the first the start.

    b of A qdot = b at the start tells rows that are there twice from rows that contradict each other.
    """
    here = one_forms[0]
    _refuse_dependent_rows(one_forms, np.zeros(len(here)) if b is None else b)
    norms = np.linalg.norm(one_forms, axis=2, keepdims=True)
    given = one_forms
    one_forms = one_forms / np.where(norms > 0, norms, 1.0)  # the choice is not to depend on the rows' units
    one_forms = one_forms[np.all(np.isfinite(one_forms), axis=(1, 2))]
    one_forms = one_forms[np.linalg.matrix_rank(one_forms) == len(here)] if len(here) else one_forms  # NumPy 2.0
    coordinates = range(here.shape[1])
    volumes = np.sqrt(np.linalg.det(one_forms @ np.swapaxes(one_forms, 1, 2)))

    def steadiness(chosen: tuple[int, ...]) -> tuple[float, float]:
        shares = np.linalg.det(one_forms[:, :, chosen]) / volumes
        least, most = float(np.min(shares * np.sign(shares[0]))), float(np.max(np.abs(shares)))
        return least / max(most, 1e-300), abs(shares[0])

    dependent = max(_column_sets(one_forms), key=steadiness)
    if steadiness(dependent)[0] >= STEADY:
        return Graph(tuple(i for i in coordinates if i not in dependent), dependent)
    given = given[np.all(np.isfinite(given), axis=(1, 2))]
    if nested := _by_numbers(given):
        return nested
    axes, signs = _farthest_axes(one_forms)
    return Reflections(without(axes, here.shape[1]), axes, signs)


def _by_numbers(one_forms: np.ndarray) -> Nested | None:
    """All rows but one or more solved by coefficients that are the same at all points, the largest first."""
    left, rows, columns = one_forms.copy(), tuple[int, ...](), tuple[int, ...]()
    while len(rows) < left.shape[1] - 1:
        same = np.ptp(left, axis=0) <= SAME * np.max(np.abs(left), axis=(0, 2))[:, None]
        share = np.abs(left[0]) / np.max(np.linalg.norm(left, axis=2), axis=0, initial=1e-300)[:, None] * same
        share[list(rows)] = 0.0
        row, column = map(int, np.unravel_index(np.argmax(share), share.shape))
        if share[row, column] < LEAST_SHARE:
            break
        factors = left[:, :, column] / left[:, [row], column]
        factors[:, row] = 0.0
        left -= factors[:, :, None] * left[:, [row]]
        left[:, without((row,), left.shape[1]), column] = 0.0
        rows, columns = (*rows, row), (*columns, column)
    free = without(columns, left.shape[2])
    if len(free) > left.shape[1]:  # no less would be left to be solved
        return None
    return Nested(rows, columns, adapt(left[:, without(rows, left.shape[1])][:, :, free]))


def by_rows(
    one_forms: np.ndarray, b: np.ndarray, free: np.ndarray | Sequence[str | int], coordinates: Sequence[str]
) -> "Graph | Stacked":
    """The construction whose xi^D are the velocities that the user wants, from A, b and R (or the names) at the start.

    `free` is R(q) at the start, m x N, or names or indices of coordinates; A is at points, the first the start.
    """
    _refuse_dependent_rows(one_forms, b)
    k, size = (one_forms := one_forms[0]).shape
    if isinstance(free, np.ndarray):
        if free.shape != (size - k, size):
            raise InputError(
                f"free(q) must be {size - k} x {size}, one row a velocity wanted, for {size} coordinates with "
                f"{k} constraints; got shape {free.shape}."
            )
        _refuse_unsolvable(free, one_forms, [f"row {j} of free(q)" for j in range(size - k)])
        return Stacked(tuple(range(size - k)))
    graph = by_names(free, k, size, coordinates)
    names = [f"the velocity of {coordinates[i] if i < len(coordinates) else f'q[{i}]'}" for i in graph.free]
    _refuse_unsolvable(np.eye(size)[list(graph.free)], one_forms, names)
    return graph


def by_names(free: Iterable[str | int] | Callable, k: int, size: int, coordinates: Sequence[str]) -> Graph | Stacked:
    """The same without a look at numbers, which jax may trace: of R(q) `Stacked`, of names or indices their Graph."""
    if callable(free):
        return Stacked(tuple(range(size - k)))
    chosen = tuple(_index(one, size, coordinates) for one in free)
    if len(set(chosen)) != len(chosen) or len(chosen) != size - k:
        raise InputError(
            f"free = {tuple(free)} must name {size - k} different coordinates: {size} coordinates with {k} constraints "
            f"leave {size - k} velocities free."
        )
    return Graph(chosen, tuple(i for i in range(size) if i not in chosen))


def _index(one: int | str, size: int, coordinates: Sequence[str]) -> int:
    if isinstance(one, str):
        if one not in coordinates:
            known = f"its coordinates are {', '.join(coordinates)}" if coordinates else "no coordinates= are named"
            raise InputError(f"free asks for the velocity of {one!r}, and {known}.")
        return list(coordinates).index(one)
    if isinstance(one, bool) or not isinstance(one, int | np.integer) or not -size <= one < size:
        raise InputError(f"free asks for coordinate {one!r}; give names, or indices from 0 to {size - 1}.")
    return int(one) % size


def _refuse_unsolvable(rows: np.ndarray, one_forms: np.ndarray, names: Sequence[str]) -> None:
    """Refuses velocities that A does not leave independent: some combination of A's rows is one of theirs."""
    stacked = np.concatenate([rows, one_forms])
    if not np.all(np.isfinite(rows)):
        raise InputError(f"free(q) is not finite at this q: {rows.tolist()}.")
    lengths = np.linalg.norm(stacked, axis=1)
    lengths[lengths == 0] = 1.0
    left, sizes, _ = np.linalg.svd(stacked / lengths[:, None])
    if sizes[-1] > UNSOLVABLE * sizes[0]:
        return
    every = (*names, *(f"row {a} of A(q)" for a in range(len(one_forms))))
    terms = combination(left[:, -1] / lengths, lambda i: f"({every[i]})", 1e-6)
    raise InputError(
        f"the velocities that free asks for do not determine the others at this q: {terms} = 0 to {sizes[-1]:.1e}, so "
        "that they are tied to each other by the constraints. Ask for others, start at another q, or leave free out."
    )


def _refuse_dependent_rows(one_forms: np.ndarray, b: np.ndarray) -> None:
    k, coordinates = (a := one_forms[0]).shape
    for name, value in (("A(q)", a), ("b(q)", b)):
        if not np.all(np.isfinite(value)):
            raise InputError(f"{name} is not finite at this q: {value.tolist()}.")
    if k >= coordinates:
        raise InputError(
            f"A(q) has {k} rows for {coordinates} coordinates, which leaves no motion; give fewer constraints."
        )
    norms = np.fmax(np.linalg.norm(a, axis=1), np.nanmedian(np.linalg.norm(one_forms, axis=2), axis=0))
    unit = a / np.where(norms > 0, norms, 1.0)[:, None]  # by sizes around q: a row may vanish at q but for round-off
    if k == 0 or np.linalg.svd(unit, compute_uv=False)[-1] > DEPENDENT:  # no pivot is less
        return
    _, r, order = scipy.linalg.qr(unit.T, mode="economic", pivoting=True)
    if (least := abs(r[-1, -1])) > DEPENDENT:
        return
    row, others = int(order[-1]), np.sort(order[:-1])
    weights = np.linalg.lstsq(unit[others].T, a[row])[0] / np.where(norms[others] > 0, norms[others], 1.0)
    said = " + ".join(f"{w:.3g} row {i}" for w, i in zip(weights, others, strict=True) if abs(w) > DEPENDENT)
    implied = float(weights @ b[others])
    start = f"the {k} constraint rows of A(q) are dependent at this q: row {row} is, to {least:.1e}, {said or 'zero'}"
    if abs(b[row] - implied) > DEPENDENT * max(1.0, float(np.max(np.abs(b)))):
        raise InputError(
            f"{start}, and the constraints are inconsistent: the others demand {implied:.6g} of it, b(q) says "
            f"{b[row]:.6g}, off by {b[row] - implied:.3g}, so no velocity satisfies all. Correct b, or remove a row."
        )
    raise InputError(f"{start}, so it is redundant (wrong rank: {k} rows say less). Remove it, or start at another q.")


def _column_sets(one_forms: np.ndarray) -> Sequence[tuple[int, ...]]:
    _, k, coordinates = one_forms.shape
    every = list(itertools.islice(itertools.combinations(range(coordinates), k), MAX_SETS + 1))
    if len(every) <= MAX_SETS:
        return every
    pivots = (scipy.linalg.qr(a, mode="r", pivoting=True)[1][:k] for a in one_forms)
    return sorted({tuple(sorted(int(c) for c in chosen)) for chosen in pivots})


def _farthest_axes(one_forms: np.ndarray) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """For row after row, the axis and sign whose opposite the row stays farthest from, over all the points."""
    rows = one_forms.copy()
    axes: list[int] = []
    signs: list[float] = []
    for r in range(one_forms.shape[1]):
        row = rows[:, r].copy()
        row[:, axes] = 0.0
        row /= np.linalg.norm(row, axis=1, keepdims=True)
        used = np.isin(np.arange(row.shape[1]), axes)
        worst = {sign: np.where(used, -1.0, np.min(1 + sign * row, axis=0)) for sign in (1.0, -1.0)}
        sign = max(worst, key=lambda s: np.max(worst[s]))
        axis = int(np.argmax(worst[sign]))
        mirror = row.copy()
        mirror[:, axis] += sign
        mirror /= np.linalg.norm(mirror, axis=1, keepdims=True)
        rows -= 2 * np.einsum("pri,pi,pj->prj", rows, mirror, mirror)
        axes.append(axis)
        signs.append(sign)
    return tuple(axes), tuple(signs)

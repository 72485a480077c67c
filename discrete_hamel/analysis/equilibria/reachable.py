"""The directions in which motions can get anywhere: D and the drift of its slip, closed under brackets."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates
from discrete_hamel.analysis.symmetry.phase_space import DEPENDENT, frame, nearby
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.gauss import collocation

# u_i is i, the slip's drift b^a u_a is m, and [u_i, w] is (i, w).
Word = int | tuple[int, "Word"]
Words = tuple[Word, ...] | None  # fields that span what can be reached; None: all of the frame

SUBSTEPS, STAGES, TURNS = 4, 4, 60
ROUNDED = 1e-12  # of the largest field beside it


def reachable(system: System, q: Coordinates) -> Words:
    """Fields that span the smallest involutive distribution with the motions in it (Sussmann 1973).

    A motion stays on the leaf where it began: a constraint that is holonomic, though given by velocities, is a leaf.
    """
    q = jnp.asarray(q)
    if system.frameless:
        return None
    m, n = system.rank, jax.eval_shape(system.frame, q).shape[1]
    if m == n:
        return None
    point = np.asarray(nearby(system, q, n))[0]  # where nothing vanishes by accident
    words: list[Word] = list(range(m))
    span = np.eye(n)[:, :m]
    drifts = bool(np.any(_slip(system, point)) or np.any(_slip(system, q)))
    if drifts:
        words, span = _extend(words, span, [m], np.asarray(_sections((m,), system, point)))
    first = np.asarray(_structure(system, point))[:, :m, :m].reshape(n, -1)
    new, span = _extend([], span, [(int(i), int(j)) for i, j in np.ndindex(m, m)], first)
    if drifts:
        more, span = _extend([], span, *_brackets(system, point, m, drifts))
        new += more
    while new and span.shape[1] < n:
        words, latest, new = words + new, new, []
        for word in latest:
            more, span = _extend([], span, *_brackets(system, point, word, drifts))
            new += more
    return None if span.shape[1] == n else tuple(words + new)


def _extend(
    words: list[Word], span: np.ndarray, names: list[Word], fields: np.ndarray
) -> tuple[list[Word], np.ndarray]:
    """`words` and an orthonormal basis of their span, with those of the fields that add to it.

    A bracket that is zero comes as the round-off of larger ones, which points anywhere: it adds nothing.
    """
    sizes = np.linalg.norm(fields, axis=0)
    sizes = np.where(sizes > ROUNDED * np.max(sizes, initial=1.0), sizes, np.inf)
    while span.shape[1] < len(span):
        beyond = fields - span @ (span.T @ fields)
        beyond -= span @ (span.T @ beyond)
        share = np.linalg.norm(beyond, axis=0) / sizes
        best = int(np.argmax(share))
        if share[best] <= DEPENDENT:
            break
        words, new = [*words, names[best]], beyond[:, best] / np.linalg.norm(beyond[:, best])
        span = np.concatenate([span, new[:, None]], axis=1)
    return words, span


def _brackets(system: System, q: Array, word: Word, drifts: bool) -> tuple[list[Word], np.ndarray]:
    """[u_i, w] for i = 1..m, and for the drift."""
    names: list[Word] = [(i, word) for i in range(system.rank + drifts)]
    return names, np.asarray(_sections(tuple(names), system, q))


@partial(interpret, often=OFTEN)
def _slip(system: System, q: Array) -> Array:
    return system.slip(q)


@partial(interpret, often=OFTEN)
def _structure(system: System, q: Array) -> Array:
    return system.structure(q)


@partial(interpret, static=1, often=OFTEN)
def _sections(words: tuple[Word, ...], system: System, q: Array) -> Array:
    return _of_words(words, system, q)


def _of_words(words: tuple[Word, ...], system: System, q: Array) -> Array:
    return jnp.stack([section(word, system, q) for word in words], axis=1)


def section(word: Word, system: System, q: Array) -> Array:
    """A field's components in the frame, n of them:  [a, b]^k = a[b^k] - b[a^k] + c^k_ij a^i b^j."""
    if isinstance(word, int):
        slip = system.slip(q)
        if word == system.rank:
            return jnp.concatenate([jnp.zeros(system.rank), slip])
        return jnp.zeros(system.rank + len(slip)).at[word].set(1.0)
    first, second = (partial(section, w, system) for w in word)
    (psi, bracket), a, b = call(_frame_and_bracket, None, system, q), first(q), second(q)
    _, along = jax.jvp(second, (q,), (psi @ a,))
    _, across = jax.jvp(first, (q,), (psi @ b,))
    return along - across + jnp.einsum("kij,i,j->k", bracket, a, b)


def _frame_and_bracket(system: System, q: Array) -> tuple[Array, Array]:
    return system.frame(q), system.structure(q)


def fields(words: Words, system: System, q: Array) -> Array:
    """Those fields at q, as columns."""
    psi = frame(system, q)
    return psi if words is None else psi @ _of_words(words, system, q)


@partial(interpret, static=1, often=OFTEN)
def columns(words: Words, system: System, q: Array) -> Array:
    """`fields`, compiled."""
    return fields(words, system, q)


@partial(interpret, static=1, often=OFTEN)
def flow(words: Words, system: System, q: Array, amounts: Array) -> Array:
    """The flow, for a unit of time, of the fields in those amounts: it stays on the leaf, and where the coordinates are
    redundant on their manifold. By Gauss collocation, of order 8, whose stages are found by iteration."""
    share, weights, _ = collocation(STAGES)
    a, b = (jnp.asarray(part) / SUBSTEPS for part in (share * weights, weights))

    def substep(_: object, q: Array) -> Array:
        slopes = jax.vmap(lambda point: fields(words, system, point) @ amounts)

        def again(carry: tuple) -> tuple:
            count, stages, _ = carry
            new = slopes(q[None] + a @ stages)
            return count + 1, new, jnp.max(jnp.abs(new - stages), initial=0.0)

        def going(carry: tuple) -> Array:
            count, stages, change = carry
            return (count < TURNS) & (change > 2 * jnp.finfo(q.dtype).eps * jnp.max(jnp.abs(stages), initial=0.0))

        start = jnp.broadcast_to(fields(words, system, q) @ amounts, (STAGES, len(q)))
        return q + b @ jax.lax.while_loop(going, again, (0, start, jnp.asarray(jnp.inf)))[1]

    return jax.lax.fori_loop(0, SUBSTEPS, substep, q)

"""Who takes part in an ensemble: systems side by side in one tree, initial data, and who cannot start and why."""

from collections.abc import Sequence
from functools import partial
from itertools import combinations, islice
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel import checks, hamel
from discrete_hamel.ensembles.plain import Axes, in_groups
from discrete_hamel.ensembles.reasons import Why
from discrete_hamel.shapes import shapes
from discrete_hamel.system import System

FEW = 8  # members that are tried before all are given up
GROUP = 2048  # members looked at together: few enough for the cache
NEAR_UNITY = 0.9  # singular values then are between 0.1 and 1.9
MOST_HYPOTHESES = 4096  # ways to read a system's parameters that are tried


class Members(NamedTuple):
    """`system` with a leading axis on those of its leaves where `axes` is 0, not None; q (B, N) and xi (B, n)."""

    system: System
    axes: Axes
    q: np.ndarray
    xi: np.ndarray
    why: np.ndarray  # (B,) Why, of those who cannot start

    def __len__(self) -> int:
        return len(self.q)


def stacked(systems: Sequence[System]) -> System:
    """Systems of one kind as one, each leaf with a leading axis."""
    trees: list[Any] = [jax.tree.structure(s) for s in systems]
    if any(tree != trees[0] for tree in trees):
        other = next(k for k, tree in enumerate(trees) if tree != trees[0])
        raise ValueError(
            f"systems of one ensemble have to be of one kind: number {other} is {systems[other]!r}, "
            f"number 0 is {systems[0]!r}."
        )
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x, float) for x in leaves]), *systems)


def one(system: System, axes: Axes, member: int) -> Any:
    """The system of one member."""
    leaves, tree = jax.tree.flatten(system)
    own = [leaf if axis is None else leaf[member] for leaf, axis in zip(leaves, axes, strict=True)]
    return jax.tree.unflatten(tree, own)


def _size(count: int | None, q: np.ndarray, velocity: np.ndarray, system: System) -> int:
    sizes = {"q": len(q) if q.ndim == 2 else None, "the velocity": len(velocity) if velocity.ndim == 2 else None}
    given = {name: size for name, size in {**sizes, "systems": count}.items() if size is not None}
    if not given:
        lengths = [leaf.shape[0] for leaf in jax.tree.leaves(system) if leaf.ndim]
        if not lengths:
            raise ValueError("nothing differs from member to member: give q, xi, or a parameter a leading axis.")
        return max(lengths)
    if len(set(given.values())) > 1:
        told = ", ".join(f"{name} has {size}" for name, size in given.items())
        raise ValueError(f"the members of an ensemble are counted by leading axes, which differ: {told}.")
    return next(iter(given.values()))


def _axes(system: System, q: Array, members: int) -> Axes:
    """Which leaves have a leading axis of members: the fewest with which the system's functions have their shapes."""
    leaves = jax.tree.leaves(system)
    candidates = [k for k, leaf in enumerate(leaves) if leaf.ndim and leaf.shape[0] == members]
    error: Exception | None = None
    fitting = None
    by_size = (c for size in range(len(candidates) + 1) for c in combinations(candidates, size))
    for chosen in [*islice(by_size, MOST_HYPOTHESES), tuple(candidates)]:
        axes = tuple(0 if k in chosen else None for k in range(len(leaves)))
        try:
            member = one(system, axes, 0)
            shapes(member.at(q), q)
            fitting = fitting or axes
            member.check()
        except Exception as problem:
            error = error or problem
            continue
        return axes
    if fitting is not None:
        return fitting  # what is wrong with the values is said when it is tried
    raise ValueError(
        f"the parameters of {type(system).__name__} fit neither one member nor {members}: {error} Give each parameter "
        f"that differs a leading axis of {members}."
    )


def _rows(name: str, value: Any) -> np.ndarray:
    array = np.asarray(value, jnp.result_type(float))
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must have shape (members, components), or (components,) for all, got {array.shape}.")
    return array


def gathered(system: Any, q: Any, xi: Any, v: Any, workers: int = 1) -> Members:
    """The members, checked: a sentence for what is wrong with all, a reason for each who cannot start alone."""
    if (xi is None) == (v is None):
        raise ValueError("give the initial velocity once: xi (quasi-velocities) or v (coordinate velocities qdot).")
    several = not isinstance(system, System)
    if several and (not len(system) or not all(isinstance(s, System) for s in system)):
        raise TypeError(f"ensemble takes a System or a list of them; got {system!r}.")
    count = len(system) if several else None
    whole: Any = stacked(system) if several else checks.canonical(system)
    q, velocity = _rows("q", q), _rows("xi" if v is None else "v", v if xi is None else xi)
    members = _size(count, q, velocity, whole)
    if not members:
        raise ValueError("an ensemble needs at least one member.")
    q, velocity = (np.broadcast_to(a, (members, a.shape[-1])) for a in (q, velocity))
    axes = (0,) * len(jax.tree.leaves(whole)) if several else _axes(whole, jnp.asarray(q[0]), members)
    ready = _a_good_one(whole, axes, q, velocity, v is None)
    return _started(_ready(whole, ready), axes, q, velocity, v is None, workers)


def _a_good_one(whole: System, axes: Axes, q: np.ndarray, velocity: np.ndarray, quasi: bool) -> System:
    """The system of the first member who can start; if the first few cannot, what is wrong with the first of them."""
    finite = np.isfinite(q).all(axis=1) & np.isfinite(velocity).all(axis=1)
    for leaf, axis in zip(jax.tree.leaves(whole), axes, strict=True):
        if axis is not None:
            finite &= np.isfinite(leaf).reshape(len(q), -1).all(axis=1)
    refusal: ValueError | None = None
    for k in [*np.flatnonzero(finite)[:FEW].tolist(), 0][:FEW]:
        given = (velocity[k], None) if quasi else (None, velocity[k])
        try:
            return checks.initial_data(one(whole, axes, k), q[k], *given)[0]
        except ValueError as error:
            refusal = refusal or error
    raise refusal or ValueError("no member can start.")


def _ready(whole: System, ready: System) -> Any:
    """The system with what `at` chose for one of them, the parameters being those of all."""
    if str(jax.tree.structure(ready)) == str(jax.tree.structure(whole)):
        return whole
    return ready.replace(**{name: getattr(whole, name) for name in ("params",) if hasattr(whole, name)})


@partial(jax.jit, static_argnums=(0, 4))
def _facts(axes: Axes, system: System, q: Array, velocity: Array, quasi: bool) -> tuple[Array, ...]:
    tree = jax.tree.unflatten(jax.tree.structure(system), axes)

    def facts(system: System, q: Array, given: Array) -> tuple[Array, Array, Array, Array]:
        xi = hamel.full(system, q, given[: system.rank]) if quasi else hamel.quasivelocities(system, q, given)
        free = xi[: system.rank]
        inertia = hamel.inertia(system, q, free)
        mu, force = hamel.balance(system, q, free)
        parts = (system.frame(q), mu, force, inertia, *jax.tree.leaves(system))
        finite = jnp.isfinite(sum(jnp.sum(part * 0) for part in parts))
        scale = jnp.sqrt(jnp.abs(jnp.diag(inertia)))
        wanted = xi[: len(given)] if quasi else system.frame(q) @ jnp.concatenate([free, system.slip(q)])
        return xi, finite, inertia / jnp.outer(scale, scale), jnp.max(jnp.abs(given - wanted))

    return jax.vmap(facts, (tree, 0, 0))(system, q, velocity)


def _allowed(system: Any, axes: Axes, members: int) -> np.ndarray:
    """Whose parameters the system's own `check` lets pass; each set of them is looked at once."""
    leaves, tree = jax.tree.flatten(system)
    numbers = jax.tree.unflatten(tree, [np.asarray(leaf) for leaf in leaves])
    different = [np.asarray(a).reshape(members, -1) for a, axis in zip(leaves, axes, strict=True) if axis is not None]
    if not different:
        return np.ones(members, bool)
    _, first, which = np.unique(np.concatenate(different, axis=1), axis=0, return_index=True, return_inverse=True)

    def passes(member: int) -> bool:
        try:
            one(numbers, axes, member).check()
        except ValueError:
            return False
        return True

    return np.array([passes(member) for member in first])[which.reshape(-1)]


def _regular(inertia: np.ndarray) -> np.ndarray:
    """Which of many matrices with a diagonal of ones can be inverted.

    Singular values differ from 1 by ||A - 1|| at most, which leaves few matrices, or none, whose own have to be found.
    """
    regular = np.linalg.norm(inertia - np.eye(inertia.shape[-1]), axis=(1, 2)) < NEAR_UNITY
    others = ~regular & np.isfinite(inertia).all(axis=(1, 2))
    sizes = np.linalg.svd(inertia[others], compute_uv=False)
    regular[others] = sizes[:, -1] > checks.SINGULAR * sizes[:, 0]
    return regular


def _started(system: Any, axes: Axes, q: np.ndarray, velocity: np.ndarray, quasi: bool, workers: int) -> Members:
    axes += (None,) * (len(jax.tree.leaves(system)) - len(axes))  # what `at` added is the same for all
    leaves, tree = jax.tree.flatten(system)
    own = [np.asarray(leaf) for leaf, axis in zip(leaves, axes, strict=True) if axis is not None]

    def facts(own: list, q: np.ndarray, velocity: np.ndarray) -> tuple[Array, ...]:
        different = iter(own)
        parts = [leaf if axis is None else next(different) for leaf, axis in zip(leaves, axes, strict=True)]
        return _facts(axes, jax.tree.unflatten(tree, parts), q, velocity, quasi)

    xi, finite, inertia, off = in_groups(facts, GROUP, len(q), own, q, velocity, workers=workers)
    size = np.max(np.abs(velocity), axis=1)
    why = np.where(off <= checks.ON_CONSTRAINT * size, Why.WELL, Why.CONSTRAINT)
    why = np.where(_regular(inertia), why, Why.DEGENERATE)
    why = np.where(finite, why, Why.FUNCTIONS)
    why = np.where(_allowed(system, axes, len(q)), why, Why.PARAMETERS)
    why = np.where(np.isfinite(q).all(axis=1) & np.isfinite(velocity).all(axis=1), why, Why.DATA)
    return Members(system, axes, q, xi, why)

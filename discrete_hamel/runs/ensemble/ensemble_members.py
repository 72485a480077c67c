"""Who takes part in an ensemble: systems side by side in one tree, initial data, and who cannot start and why."""

from collections.abc import Sequence
from itertools import combinations, islice
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Quasivelocities, Velocities
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel._support.inputs import floats
from discrete_hamel.compiler.reading.output_shapes import nonlinear_shapes, shapes
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.ensemble.placement import Placement, is_sharded, placement
from discrete_hamel.runs.ensemble.plain import Axes
from discrete_hamel.runs.ensemble.validation import one, starts

FEW = 8  # members that are tried before all are given up
MOST_HYPOTHESES = 4096  # ways to read a system's parameters that are tried


class Lead(NamedTuple):
    """A member who can start, the same one in all processes: by it is decided how all are run."""

    system: System
    q: np.ndarray
    xi: np.ndarray


class Members(NamedTuple):
    """`system` with a leading axis on those of its leaves where `axes` is 0, not None; q (B, N) and velocity, xi or v:
    of those members whose data are here.
    """

    system: System
    axes: Axes
    q: np.ndarray
    velocity: np.ndarray
    quasi: bool  # the velocity is xi
    lead: Lead
    place: Placement

    def __len__(self) -> int:
        return self.place.members

    def block(self, number: int, part: range) -> tuple[System, np.ndarray, np.ndarray, np.ndarray]:
        """Part of a block of members: their system, q and xi, and why those who cannot start cannot."""
        begin = self.place.slot(number).start
        who = slice(begin + part.start, begin + part.stop)
        leaves, tree = jax.tree.flatten(self.system)
        parts = [a if axis is None else a[who] for a, axis in zip(leaves, self.axes, strict=True)]
        system, q = jax.tree.unflatten(tree, parts), self.q[who]
        return system, q, *starts(system, self.axes, q, self.velocity[who], self.quasi)


def stack(systems: Sequence[System]) -> System:
    """Systems of one kind as one, each leaf with a leading axis."""
    trees: list = [jax.tree.structure(s) for s in systems]
    if any(tree != trees[0] for tree in trees):
        other = next(k for k, tree in enumerate(trees) if tree != trees[0])
        raise InputError(
            f"systems of one ensemble have to be of one kind: number {other} is {systems[other]!r}, "
            f"number 0 is {systems[0]!r}."
        )
    return jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(x, float) for x in leaves]), *systems)


def _size(count: int | None, q: np.ndarray, velocity: np.ndarray, system: System) -> int:
    sizes = {"q": len(q) if q.ndim == 2 else None, "the velocity": len(velocity) if velocity.ndim == 2 else None}
    given = {name: size for name, size in {**sizes, "systems": count}.items() if size is not None}
    if not given:
        lengths = [leaf.shape[0] for leaf in jax.tree.leaves(system) if leaf.ndim]
        if not lengths:
            raise InputError("nothing differs from member to member: give q, xi, or a parameter a leading axis.")
        return max(lengths)
    if len(set(given.values())) > 1:
        told = ", ".join(f"{name} has {size}" for name, size in given.items())
        raise InputError(f"the members of an ensemble are counted by leading axes, which differ: {told}.")
    return next(iter(given.values()))


def _axes(system: System, q: Array, members: int, sure: set[int]) -> Axes:
    """Which leaves have a leading axis of members: the fewest with which the system's functions have their shapes,
    beside those that are known to.
    """
    leaves = jax.tree.leaves(system)
    candidates = [k for k, leaf in enumerate(leaves) if k not in sure and leaf.ndim and leaf.shape[0] == members]
    error: Exception | None = None
    fitting = None
    by_size = (c for size in range(len(candidates) + 1) for c in combinations(candidates, size))
    for chosen in [*islice(by_size, MOST_HYPOTHESES), tuple(candidates)]:
        axes = tuple(0 if k in sure or k in chosen else None for k in range(len(leaves)))
        try:
            member = one(system, axes, 0)
            (nonlinear_shapes if member.frameless else shapes)(member.at(q, checks.by_numpy), q)
            fitting = fitting or axes
            member.check()
        except Exception as problem:
            error = error or problem
            continue
        return axes
    if fitting is not None:
        return fitting  # what is wrong with the values is said when it is tried
    raise InputError(
        f"the parameters of {type(system).__name__} fit neither one member nor {members}: {error} Give each parameter "
        f"that differs a leading axis of {members}."
    )


def _rows(name: str, value: Any) -> Any:
    array = value if is_sharded(value) else np.asarray(floats(name, value))
    if array.ndim not in (1, 2) or array.ndim == 1 and is_sharded(array):
        raise InputError(f"{name} must have shape (members, components), or (components,) for all, got {array.shape}.")
    return array


def gather(system: Any, q: Any, xi: Quasivelocities | None, v: Velocities | None, block: int = 2048) -> Members:
    """The members, or a sentence for what is wrong with all."""
    if (xi is None) == (v is None):
        raise InputError("give the initial velocity once: xi (quasi-velocities) or v (coordinate velocities qdot).")
    several = not isinstance(system, System)
    if several and (not len(system) or not all(isinstance(s, System) for s in system)):
        raise InputTypeError(f"ensemble takes a System or a list of them; got {system!r}.")
    count = len(system) if several else None
    whole: Any = stack(system) if several else checks.canonical(system)
    q, velocity = _rows("q", q), _rows("xi" if v is None else "v", v if xi is None else xi)
    members = _size(count, q, velocity, whole)
    if not members:
        raise InputError("an ensemble needs at least one member.")
    place = placement([q, velocity, *jax.tree.leaves(whole)], members, block)
    axes, few, q_few, velocity_few = _few(whole, q, velocity, place, several)
    lead = _a_good_one(few, axes, q_few, velocity_few, v is None)
    ready = _ready(whole, lead.system)
    axes += (None,) * (len(jax.tree.leaves(ready)) - len(axes))  # what `at` added is the same for all
    leaves, tree = jax.tree.flatten(ready)
    leaves = [leaf if axis is None else place.rows(leaf) for leaf, axis in zip(leaves, axes, strict=True)]
    q, velocity = (place.rows(_all(a, members)) for a in (q, velocity))
    return Members(jax.tree.unflatten(tree, leaves), axes, q, velocity, v is None, lead, place)


def _few(
    whole: System, q: np.ndarray, velocity: np.ndarray, place: Placement, several: bool
) -> tuple[Axes, System, np.ndarray, np.ndarray]:
    """Which leaves have an axis of members; and a few members, of whom the last is the first of all."""
    leaves, tree = jax.tree.flatten(whole)
    looked_at = {k: leaf for k, leaf in enumerate(leaves) if leaf.ndim and leaf.shape[0] == place.members}
    data = {k: a for k, a in (("q", q), ("velocity", velocity)) if a.ndim == 2}
    found = dict(zip([*data, *looked_at], place.few([*data.values(), *looked_at.values()], FEW), strict=True))
    count = len(next(iter(found.values())))
    q, velocity = (
        found[k] if k in found else np.broadcast_to(a, (count, len(a))) for k, a in (("q", q), ("velocity", velocity))
    )
    sure = {k for k, leaf in enumerate(leaves) if several or is_sharded(leaf)}
    known = jax.tree.unflatten(tree, [found[k] if k in sure else leaf for k, leaf in enumerate(leaves)])
    axes = _axes(known, jnp.asarray(q[-1]), place.members, sure)
    few = [leaf if axis is None else found[k] for k, (leaf, axis) in enumerate(zip(leaves, axes, strict=True))]
    return axes, jax.tree.unflatten(tree, few), q, velocity


def _a_good_one(few: System, axes: Axes, q: np.ndarray, velocity: np.ndarray, quasi: bool) -> Lead:
    """The first member who can start; if none of the few can, what is wrong with the first of them."""
    refusals = []
    for k in range(min(FEW, len(q))):  # one at least: `gathered` refuses none
        given = (velocity[k], None) if quasi else (None, velocity[k])
        try:
            system, at, xi = checks.initial_data(one(few, axes, k), q[k], *given)
        except ValueError as error:
            refusals.append(error)
        else:
            return Lead(system, np.asarray(at), np.asarray(xi))
    raise refusals[0]


def _ready(whole: System, ready: System) -> System:
    """The system with what `at` chose for one of them, the parameters being those of all."""
    if str(jax.tree.structure(ready)) == str(jax.tree.structure(whole)):
        return whole
    return ready.replace(**{name: getattr(whole, name) for name in ("params",) if hasattr(whole, name)})


def _all(a: Array, members: int) -> Any:
    """Rows for all members, of what may be given once for all of them."""
    return a if a.ndim == 2 else np.broadcast_to(a, (members, len(a)))

"""Mechanisms that roll or have loops: a tree with constraints, whose frame follows them."""

from collections.abc import Callable, Iterable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel._support.inputs import short
from discrete_hamel._support.pytrees import Pytree, static
from discrete_hamel.mechanics.adapted_frames import Graph
from discrete_hamel.mechanics.constructors import FromConstraints
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems.mechanisms.contacts import Contact
from discrete_hamel.systems.mechanisms.placing import ONCE, together
from discrete_hamel.systems.mechanisms.rotations import Motion
from discrete_hamel.systems.mechanisms.tree import Mechanism, some_of

DEPENDENT = 1e-8  # share of a row below which others say the same
SAMPLES = 4  # places at which that is looked at


class Held(Pytree):
    """A tree and what holds it: L(q, v), A(q) and the gaps in the coordinates q that are left.

    Where a free body stands on the ground, its height z is none of them: `whole` finds it from the first contact.
    """

    tree: Mechanism
    contacts: tuple[Contact, ...]
    kept: tuple[int, ...] = static(default=())  # the slips that are independent
    gaps_kept: tuple[int, ...] = static(default=())  # the gaps whose rates are among them
    height: int | None = static(default=None)  # the index of z, where the first gap determines it

    def whole(self, q: Array) -> Array:
        """All coordinates of the tree."""
        if self.height is None:
            return q
        low = jnp.concatenate([q[: self.height], jnp.zeros(1), q[self.height :]])
        return low.at[self.height].set(-self._gaps(low)[0])

    def state(self, q: Array, v: Array) -> tuple[Array, Array]:
        """(q, xi) of the tree."""
        whole, moved = (q, v) if self.height is None else jax.jvp(self.whole, (q,), (v,))
        return whole, self.tree.rates(whole, moved)

    def lagrangian(self, q: Array, v: Array) -> Array:
        """L(q, v)."""
        return self.tree.lagrangian(*self.state(q, v))

    def force(self, q: Array, v: Array) -> Array:
        """Of dampers and motors, as a covector of v."""
        (whole, xi), back = jax.vjp(lambda v: self.state(q, v), v)
        return back((jnp.zeros_like(whole), self.tree.force(whole, xi)))[0]

    def slips(self, q: Array, v: Array) -> Array:
        """All slips, linear in v."""
        whole, xi = self.state(q, v)
        motion = self.tree.motion(whole, xi)
        return jnp.concatenate([one.slips(*one.look(self.tree, whole, xi, motion)) for one in self.contacts])

    def rows(self, q: Array) -> Array:
        """A(q): the slips that are independent, and the rates of what redundant coordinates satisfy."""
        forms = jax.jacfwd(lambda v: self.slips(q, v))(jnp.zeros_like(q))[np.array(self.kept, int)]
        return jnp.concatenate([forms, jax.jacfwd(lambda q: self.tree.holonomic(self.whole(q)))(q)])

    def closure(self, q: Array) -> Array:
        """g(q): the gaps that coordinates can open, and what redundant coordinates satisfy."""
        whole = self.whole(q)
        return jnp.concatenate([self._gaps(whole)[np.array(self.gaps_kept, int)], self.tree.holonomic(whole)])

    def gaps(self, q: Array) -> Array:
        """All gaps."""
        return self._gaps(self.whole(q))

    def every_gap(self, q: Array) -> Array:
        """All gaps, and what redundant coordinates satisfy."""
        whole = self.whole(q)
        return jnp.concatenate([self._gaps(whole), self.tree.holonomic(whole)])

    def _gaps(self, whole: Array) -> Array:
        still = jnp.zeros(self.tree.rank)
        motion = self.tree.motion(whole, still)
        found = [one.gaps(*one.look(self.tree, whole, still, motion)) for one in self.contacts]
        return jnp.concatenate([jnp.zeros(0), *found])

    def labels(self) -> list[str]:
        """What each slip is, in words."""
        return [f"{' and '.join(contact.bodies())} {word}" for contact in self.contacts for word in contact.words]

    def gap_slips(self) -> list[int]:
        """The slip that is the rate of each gap."""
        found: list[int] = []
        end = 0
        for contact in self.contacts:
            end += len(contact.words)
            found += range(end - contact.gap_count, end)
        return found


class RollingMechanism(FromConstraints):
    """Rigid bodies, joints, and wheels, balls and blades on the plane z = 0, or loops: what `mechanism` makes of them.

    A tree of bodies (`Mechanism`) in coordinates q and their velocities v, with constraints A(q) v = 0: that nothing
    slips, and that loops stay closed. Rows that others imply are left out: the sideways slips of two wheels on one axle
    are one. The step is that of `FollowingHamel`: A v = 0 exactly at the middle of each, and no frame to degenerate.

    Where a free body stands on the ground, its height is no coordinate. Further contacts, and loops, are positions that
    `HolonomicHamel` holds: `gaps(q)` is zero at every node to round-off, and slips are at the middle.
    """

    def __repr__(self) -> str:
        held = self.params.labels()
        return f"{self.tree.in_a_line('RollingMechanism')}; held: {some_of([held[i] for i in self.params.kept])}>"

    @property
    def tree(self) -> Mechanism:
        """The mechanism without what holds it."""
        return self.params.tree

    def _without_height(self, of_all: Iterable) -> tuple:
        return tuple(a for i, a in enumerate(of_all) if i != self.params.height)

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return self._without_height(self.tree.coordinates)

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        """Rates of the coordinates that the frame leaves free, where it does, and the slips."""
        if self.choice is None:
            return ()
        coordinates, graph = self.coordinates, isinstance(self.choice, Graph)
        named = tuple(f"{coordinates[i]}'" if graph else f"xi{k + 1}" for k, i in enumerate(self.choice.free))
        labels = self.params.labels()
        relations = len(self.coordinates) - len(named) - len(self.params.kept)
        return named + tuple(f"slip of {labels[i]}" for i in self.params.kept) + ("redundant'",) * relations

    @property
    def units(self) -> dict[str, str]:  # type: ignore[override]
        of_each = [one.unit for one in self.params.contacts for _ in one.words]
        labels = {f"slip of {label}": unit for label, unit in zip(self.params.labels(), of_each, strict=True) if unit}
        own = self.tree.units
        rates = {f"{name}'": "1/s" if own[name] == "1" else f"{own[name]}/s" for name in self.coordinates}
        return rates | own | labels

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> System:
        if self.choice is None and not any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((self, q))):
            self._refuse_dead_point(np.asarray(by(Held.rows)(self.params, jnp.asarray(q, float))))
        return super().at(q, by)

    def _refuse_dead_point(self, rows: np.ndarray) -> None:
        """Refuses a place where constraints that are independent elsewhere say the same, by what they are of."""
        said = self.params.labels()
        names = [said[i] for i in self.params.kept] + ["redundant coordinates"] * (len(rows) - len(self.params.kept))
        sizes = np.linalg.norm(rows, axis=1)
        there = sizes > DEPENDENT * np.max(sizes, initial=0.0)
        left, shares, _ = np.linalg.svd(np.where(there[:, None], rows, 0.0) / np.where(there, sizes, 1.0)[:, None])
        if len(rows) and shares[-1] < DEPENDENT * shares[0]:
            tied = dict.fromkeys(names[i] for i in np.flatnonzero(np.abs(left[:, -1]) > DEPENDENT))
            raise InputError(
                f"at this q constraints of the mechanism say the same, or nothing: {', '.join(tied)}. It is a dead "
                "point, such as a loop that lies flat, where the motion is not determined; start at another q."
            )

    def rest(self) -> np.ndarray:
        """q of all joints as they were put together."""
        return np.array(self._without_height(self.tree.rest()))

    def gaps(self, q: Array) -> Array:
        """How far wheels are above the plane, and loops from closed, m."""
        return self.params.gaps(jnp.asarray(q, float))

    def holonomic(self, q: Array) -> Array:
        return self.params.closure(q)

    def positions(self, q: Array) -> Array:
        return self.params.closure(q)

    @property
    def held_rows(self) -> tuple[int, ...]:  # type: ignore[override]
        """Where gaps can open: their rates, and those of what redundant coordinates satisfy."""
        held = self.params
        if not held.gaps_kept:
            return ()
        slips = held.gap_slips()
        relations = jax.eval_shape(held.closure, jnp.zeros(len(self.coordinates))).shape[0] - len(held.gaps_kept)
        rates = (held.kept.index(slips[gap]) for gap in held.gaps_kept)
        return (*rates, *range(len(held.kept), len(held.kept) + relations))

    @property
    def redundant(self) -> bool:
        return bool(self.params.gaps_kept) or self.tree.redundant

    def energy(self, q: Array, xi: Array) -> Array:
        """T + V."""
        return self.tree.energy(*self.params.state(q, self.frame(q) @ xi))

    def invariants(self) -> dict[str, Invariant]:
        if self.tree.lossy:
            return {}
        return {"energy": Invariant(self.energy, "continuous", ("lagrangian", "slip", "force"))}

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The bodies' shapes."""
        return self.tree.shapes(_whole(self.params, jnp.asarray(q, float)))


_whole = jax.jit(Held.whole)


# What the constructor is given. Each is traced once for a mechanism, and read again from there: a first call asks for
# A(q) some sixty times, and to go through all bodies takes a tenth of a second.


@jax.jit
def lagrangian(q: Array, v: Array, held: Held) -> Array:
    """L(q, v), for the constructor."""
    return held.lagrangian(q, v)


@jax.jit
def one_forms(q: Array, held: Held) -> Array:
    """A(q), for the constructor."""
    return held.rows(q)


@jax.jit
def force(q: Array, v: Array, held: Held) -> Array:
    """f(q, v), for the constructor."""
    return held.force(q, v)


def hold(tree: Mechanism, contacts: tuple[Contact, ...], like: RollingMechanism | None = None) -> RollingMechanism:
    """The system of a tree and what holds it, by the slips that are independent, or those of `like`."""
    contacts = tuple(sorted(contacts, key=lambda contact: not contact.bears))
    height = _free_height(tree) if any(contact.bears for contact in contacts[:1]) else None
    bare = Held(tree, contacts, height=height)
    of_force = force if tree.loaded else None
    if like is None:
        return RollingMechanism(L_of=lagrangian, A_of=one_forms, force_of=of_force, params=_choose(bare))
    params = _choice_of(bare, like)
    return like.replace(force_of=of_force, params=params)  # with its frame, where it was made: `at(q)`


def _choice_of(bare: Held, like: object) -> Held:
    """With the choice of a mechanism of the same parts."""
    theirs = getattr(like, "params", None)
    if not isinstance(theirs, Held):
        raise InputError(f"`like` must be a mechanism of the same parts, which rolls; got {short(like)}.")
    for what, mine, other in (
        ("bodies", bare.tree.names, theirs.tree.names),
        ("joints", bare.tree.joints, theirs.tree.joints),
        ("contacts", [type(one) for one in bare.contacts], [type(one) for one in theirs.contacts]),
        ("contacts' bodies", [one.bodies() for one in bare.contacts], [one.bodies() for one in theirs.contacts]),
    ):
        if mine != other:
            raise InputError(f"`like` must be a mechanism of the same parts; its {what} are others.")
    return bare.replace(kept=theirs.kept, gaps_kept=theirs.gaps_kept)


def _choose(bare: Held) -> Held:
    """With the slips that are independent, as seen at some places where things touch."""
    tree, contacts = bare.tree, bare.contacts
    if any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(bare)):
        raise InputError(
            "which constraints of a mechanism follow from others is found at numbers, and JAX traces some of its: make "
            "it once of the same parts with numbers, outside, and give it: mechanism(..., like=it)."
        )
    height = bare.height
    at_rest = np.delete(tree.rest(), [] if height is None else [height])
    aside = [0.2 * np.random.default_rng(k).normal(size=len(at_rest)) for k in range(SAMPLES)]
    samples = [*_put_together(bare, at_rest), *(together(bare, at_rest + off) for off in aside)]
    if any(type(contact).check is not Contact.check for contact in contacts):
        for contact, seen in zip(contacts, _looks(bare, jnp.asarray(samples[-SAMPLES])), strict=True):
            contact.check(*seen)
    gap_slips = bare.gap_slips()
    forms = [np.asarray(_all_rows(bare, q)) for q in samples]
    kept = _independent(forms, len(bare.labels()))
    gaps_kept = tuple(gap for gap, slip in enumerate(gap_slips) if slip in kept)
    if len(kept) + forms[0].shape[0] - len(bare.labels()) >= len(at_rest):
        raise InputError(
            f"the mechanism cannot move: {len(kept)} constraints that are independent hold its {len(at_rest)} "
            f"coordinates: {', '.join(bare.labels()[i] for i in kept)}."
        )
    return bare.replace(kept=kept, gaps_kept=gaps_kept)


def _free_height(tree: Mechanism) -> int | None:
    """Where z of the only free body on the ground stands in q."""
    place, found = 0, []
    for joint, parent, turned in zip(tree.joints, tree.parents, tree.turned, strict=True):
        if " z" in joint.coordinates and parent < 0 and not turned:
            found.append(place + 2)
        place += len(joint.coordinates)
    return found[0] if len(found) == 1 and sum(parent < 0 for parent in tree.parents) == 1 else None


@partial(jax.jit, compiler_options=ONCE)
def _looks(bare: Held, q: Array) -> list[list[Motion]]:
    """What each contact is told, at rest."""
    whole, still = bare.whole(q), jnp.zeros(bare.tree.rank)
    motion = bare.tree.motion(whole, still)
    return [contact.look(bare.tree, whole, still, motion) for contact in bare.contacts]


@partial(jax.jit, compiler_options=ONCE)
def _all_rows(bare: Held, q: Array) -> Array:
    slips = jax.jacfwd(lambda v: bare.slips(q, v))(jnp.zeros_like(q))
    return jnp.concatenate([slips, jax.jacfwd(lambda q: bare.tree.holonomic(bare.whole(q)))(q)])


def _put_together(bare: Held, at_rest: np.ndarray) -> list[np.ndarray]:
    """Where parts touch as they were given; no place where these lie in each other, and nothing leads out."""
    try:
        return [together(bare, at_rest)]
    except (InputError, np.linalg.LinAlgError):
        return []


def _independent(forms: list[np.ndarray], slips: int) -> tuple[int, ...]:
    """The slips, in order, of which none follows from others and from what redundant coordinates satisfy.

    Of more than SAMPLES places the first is where the mechanism was put together: slips that are independent there as
    well come first, so that it can start there. Of rows of which two say the same where a loop lies flat, others stay.
    """
    bases = [list(np.linalg.qr(rows[slips:].T)[0].T) if len(rows) > slips else [] for rows in forms]
    sizes = [max(np.linalg.norm(rows, axis=1).max(), 1e-300) for rows in forms]
    kept: list[int] = []
    for places in (slice(0, None), slice(len(forms) - SAMPLES, None)):
        for i in (i for i in range(slips) if i not in kept):
            rests = [_beyond(rows[i], basis) for rows, basis in zip(forms, bases, strict=True)]
            shares = [np.linalg.norm(rest) / size for rest, size in zip(rests, sizes, strict=True)]
            if min(shares[places]) > DEPENDENT:
                kept.append(i)
                for rest, basis, share in zip(rests, bases, shares, strict=True):
                    basis += [rest / np.linalg.norm(rest)] if share > DEPENDENT else []
    return tuple(sorted(kept))


def _beyond(row: np.ndarray, basis: list[np.ndarray]) -> np.ndarray:
    """What of a row no combination of the basis gives; twice, since once leaves round-off."""
    rest = row.copy()
    for unit in basis + basis:
        rest -= (rest @ unit) * unit
    return rest

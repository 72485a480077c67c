"""Bodies on bodies: the kinematics of a tree link by link, and the System that it is."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.systems._blocks import outlines
from discrete_hamel.systems.mechanisms.joints import Joint
from discrete_hamel.systems.mechanisms.rotations import AXES, Links, Motion, apply

SHALLOW = 8  # levels of a tree that go one after another
SHOWN = 8  # names in a line


def each(number: float) -> Any:
    """A field with a row a body, or one number for all."""
    return dataclasses.field(default=number)


def some_of(names: Sequence[str]) -> str:
    """Names as a line shows them: a few, and how many more there are."""
    return ", ".join(names[:SHOWN]) + f" and {len(names) - SHOWN} more" * (len(names) > SHOWN)


class Group(NamedTuple):
    """Bodies whose joints are of one kind, and where their coordinates and rates stand in q and xi."""

    joint: type[Joint]
    axis: Any  # a fixed one, or None where each body has its own
    turned: bool
    bodies: np.ndarray  # k
    q: np.ndarray  # k x coordinates of the joint
    xi: np.ndarray  # k x rates of the joint


class Mechanism(System):
    """Rigid bodies joined in a tree, with springs, dampers and gravity: what `mechanism` makes where nothing rolls.

    Coordinates are those of the joints, body by body, quasi-velocities the joints' rates. A body's pose and twist, in
    its own axes, follow from those of the body that it is on,

        T_i = T_parent T_joint(q_i),   V_i = Ad(T_joint)^-1 V_parent + S_i(q_i) xi_i
        l = sum_i (m_i |v_i + omega_i x c_i|^2 + omega_i . I_i omega_i) / 2 + m_i g . (p_i + R_i c_i) - springs

    Energies take twists and gravity from body to body in the bodies' own axes, g_i = R_joint^T g_parent, so that forces
    come back the same way: operations in proportion to the number of bodies (Featherstone 2008, ch. 7). Poses on the
    ground, for contacts and films, take rounds that halve the levels (`rounds`).
    """

    names: tuple[str, ...] = static()  # of the bodies
    parents: tuple[int, ...] = static()  # -1 for the ground
    joints: tuple[type[Joint], ...] = static()  # classes
    letters: tuple[str | None, ...] = static()  # of the joints' axes; None where the axis is a vector
    turned: tuple[bool, ...] = static()  # whether a body's axes at rest are not those of its parent
    weighty: tuple[int, ...] = static()  # bodies with mass
    extended: tuple[int, ...] = static()  # bodies with moments of inertia
    loaded: tuple[int, ...] = static()  # joints with springs, dampers, rotors or motors
    laws: tuple[tuple[int, Callable], ...] = static()  # (body, torque of coordinate and rate), where not constant
    lossy: bool = False  # whether there is a damper or a motor
    mass: Array = each(1.0)  # kg, (bodies)
    inertia: Array = each(1.0)  # kg m^2, about the mass centre in the body's axes, (bodies, 3, 3)
    centre: Array = each(0.0)  # m, of mass, in the body's axes, (bodies, 3)
    mount: Array = each(0.0)  # m, where the joint is on the parent, (bodies, 3)
    turn: Array = each(0.0)  # the body's axes at rest in those of the parent, (bodies, 3, 3)
    axis: Array = each(0.0)  # of joints with one, (bodies, 3)
    stiffness: Array = each(0.0)  # N m/rad or N/m, (bodies)
    unloaded: Array = each(0.0)  # rad or m, (bodies)
    damping: Array = each(0.0)  # N m s/rad or N s/m, (bodies)
    rotor: Array = each(0.0)  # kg m^2 or kg, (bodies)
    torque: Array = each(0.0)  # N m or N, of motors, (bodies)
    gravity: ArrayLike = (0.0, 0.0, -9.81)  # m/s^2
    shapes_of: tuple = ()  # what films draw, a solid or None a body

    def __repr__(self) -> str:
        return f"{self.in_a_line('Mechanism')}>"

    def in_a_line(self, kind: str) -> str:
        """What it consists of, in a line."""
        count = f"{len(self.names)} bod{'y' if len(self.names) == 1 else 'ies'}"
        return f"<{kind} of {count}: {some_of(self.names)}; coordinates: {some_of(self.coordinates)}"

    # What the joints say.

    @property
    def rank(self) -> int:
        return sum(len(joint.velocities) for joint in self.joints)

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self._units("coordinates"))

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(self._units("velocities"))

    @property
    def units(self) -> dict[str, str]:  # type: ignore[override]
        return {"t": "s", "energy": "J"} | self._units("coordinates") | self._units("velocities")

    def _units(self, of: str) -> dict[str, str]:
        pairs = zip(self.names, self.joints, strict=True)
        return {name + word: unit for name, joint in pairs for word, unit in getattr(joint, of).items()}

    def rest(self) -> np.ndarray:
        """q of all joints as they were put together."""
        return np.array([a for joint in self.joints for a in joint.rest], float)

    def groups(self) -> Iterator[Group]:
        """The bodies by kinds of joints."""
        q_ends = np.cumsum([len(joint.coordinates) for joint in self.joints])
        xi_ends = np.cumsum([len(joint.velocities) for joint in self.joints])
        kinds = list(zip(self.joints, self.letters, self.turned, strict=True))
        for kind in dict.fromkeys(kinds):
            joint, letter, turned = kind
            bodies = np.array([i for i, other in enumerate(kinds) if other == kind])
            own = None if letter is None else np.array(AXES[letter])
            q = q_ends[bodies][:, None] - len(joint.coordinates) + np.arange(len(joint.coordinates))
            xi = xi_ends[bodies][:, None] - len(joint.velocities) + np.arange(len(joint.velocities))
            yield Group(joint, own, turned, bodies, q, xi)

    def place_of(self, name: str) -> tuple[int, int]:
        """Where the coordinate and the rate of a body's joint, one of one axis, stand in q and xi."""
        body = self.names.index(name)
        if len(self.joints[body].coordinates) != 1:
            raise InputError(
                f"the joint of {name!r} is a {self.joints[body].__name__}: a gear needs one with one axis."
            )
        before = self.joints[: body + 1]
        return sum(len(joint.coordinates) for joint in before) - 1, sum(len(joint.velocities) for joint in before) - 1

    # Kinematics.

    def frame(self, q: Array) -> Array:
        psi = jnp.zeros((len(q), self.rank))
        for joint, _, _, _, rows, columns in self.groups():
            if rows.size:
                psi = psi.at[rows[:, :, None], columns[:, None, :]].set(jax.vmap(joint.frame)(q[rows]))
        return psi

    def structure(self, q: Array) -> Array:
        c = np.zeros((self.rank,) * 3)
        for joint, _, _, _, _, columns in self.groups():
            for own in columns:
                c[np.ix_(own, own, own)] = joint.brackets
        return jnp.asarray(c)

    def rates(self, q: Array, v: Array) -> Array:
        """xi of coordinate velocities."""
        xi = jnp.zeros(self.rank)
        for joint, _, _, _, rows, columns in self.groups():
            if rows.size:
                xi = xi.at[columns].set(jax.vmap(joint.rates)(q[rows], v[rows]))
        return xi

    def holonomic(self, q: Array) -> Array:
        found = [jax.vmap(group.joint.relations)(q[group.q]).reshape(-1) for group in self.groups()]
        return jnp.concatenate([jnp.zeros(0), *found])

    @property
    def redundant(self) -> bool:
        return any(len(joint.coordinates) > len(joint.velocities) for joint in self.joints)

    def _links(self, q: Array, xi: Array) -> Links:
        """What energies need of all bodies, in their own axes."""
        joints = self._joint_motions(q, xi)
        found: list[Links] = []
        for bodies, on in levels(self.parents):
            before = found[-1].of(on) if found else Links.ground(jnp.asarray(self.gravity, float), len(bodies))
            found.append(before.then(joints.of(bodies)))
        back = np.argsort(np.concatenate([bodies for bodies, _ in levels(self.parents)]))
        return Links(*(jnp.concatenate(a)[back] for a in zip(*found, strict=True)))

    def motion(self, q: Array, xi: Array) -> Motion:
        """Where all bodies are and how they move, seen from the ground."""
        found = self._joint_motions(q, xi)
        for bodies, before in rounds(self.parents):
            found = found.put(bodies, found.of(before).then(found.of(bodies)))
        return found

    def _joint_motions(self, q: Array, xi: Array) -> Motion:
        """Each body's as seen from its parent."""
        parts, order = [], []
        for joint, own, turned, bodies, rows, columns in self.groups():
            axes, along = (self.axis[bodies], 0) if own is None else (own, None)
            turns, places = jax.vmap(joint.pose, (along, 0), 0)(axes, q[rows])
            twists = jax.vmap(joint.twist, (along, 0, 0), 0)(axes, q[rows], xi[columns])
            if turned:
                turns, places = self.turn[bodies] @ turns, apply(self.turn[bodies], places)
            parts.append(Motion(turns, self.mount[bodies] + places, *twists))
            order.append(bodies)
        back = np.argsort(np.concatenate(order))
        return Motion(*(jnp.concatenate(a)[back] for a in zip(*parts, strict=True)))

    # Energies and forces.

    def kinetic_energy(self, q: Array, xi: Array) -> Array:
        """T."""
        return self._kinetic(self._links(q, xi), xi)

    def potential_energy(self, q: Array) -> Array:
        """V of gravity and springs."""
        return self._potential(self._links(q, jnp.zeros(self.rank)), q)

    def _kinetic(self, links: Links, xi: Array) -> Array:
        some, thick = np.array(self.weighty, int), np.array(self.extended, int)
        speeds = links.speed[some] + jnp.cross(links.omega[some], self.centre[some])
        turning = jnp.einsum("ka,kab,kb->", links.omega[thick], self.inertia[thick], links.omega[thick])
        joints, _, columns = self._loads()
        rotors = jnp.sum(self.rotor[joints] * xi[columns] ** 2)
        return 0.5 * (jnp.sum(self.mass[some] * jnp.sum(speeds**2, axis=1)) + turning + rotors)

    def _potential(self, links: Links, q: Array) -> Array:
        some = np.array(self.weighty, int)
        falls = links.fall[some] + jnp.sum(links.pull[some] * self.centre[some], axis=1)
        joints, rows, _ = self._loads()
        springs = 0.5 * jnp.sum(self.stiffness[joints] * (q[rows] - self.unloaded[joints]) ** 2)
        return springs - self.mass[some] @ falls

    def _loads(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Joints with springs, dampers, rotors or motors, and where their coordinates and rates are."""
        joints = np.array(self.loaded, int)
        q_ends = np.cumsum([len(joint.coordinates) for joint in self.joints])
        xi_ends = np.cumsum([len(joint.velocities) for joint in self.joints])
        return joints, q_ends[joints] - 1, xi_ends[joints] - 1

    def energy(self, q: Array, xi: Array) -> Array:
        """T + V."""
        links = self._links(q, xi)
        return self._kinetic(links, xi) + self._potential(links, q)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        links = self._links(q, xi)
        return self._kinetic(links, xi) - self._potential(links, q)

    def in_velocities(self, q: Array, v: Array) -> Array:
        """L(q, v), so that schemes need no brackets."""
        return self.lagrangian(q, self.rates(q, v))

    def force(self, q: Array, xi: Array) -> Array:
        joints, rows, columns = self._loads()
        given = self.torque[joints] - self.damping[joints] * xi[columns]
        of_laws = {body: law for body, law in self.laws}
        for k, body in enumerate(self.loaded):
            if body in of_laws:
                given = given.at[k].add(of_laws[body](q[rows[k]], xi[columns[k]]))
        return jnp.zeros(self.rank).at[columns].add(given)

    def invariants(self) -> dict[str, Invariant]:
        if self.lossy:
            return {}
        return {"energy": Invariant(self.energy, "bounded", ("lagrangian", "slip", "force"))}

    # Films.

    def shapes(self, q: Array | np.ndarray) -> list[np.ndarray]:
        """The bodies' shapes; rods from joint to joint and to the mass centre where a body was given none."""
        turns, places = (np.asarray(a) for a in _poses(self, jnp.asarray(q, float)))
        drawn: list[np.ndarray] = []
        for i, (parent, solid) in enumerate(zip(self.parents, self.shapes_of, strict=True)):
            middle = places[i] + turns[i] @ np.asarray(self.centre[i])
            if solid is not None:
                drawn += [_move_part(part, turns[i], middle) for part in solid.outline()]
                continue
            ends = [places[i]] if parent < 0 else [places[parent], places[i]]
            ends += [middle] if np.any(middle != places[i]) else []
            drawn += [outlines.rod(*ends)] if len(ends) > 1 else []
        return drawn


@jax.jit
def _poses(system: Mechanism, q: Array) -> tuple[Array, Array]:
    motion = system.motion(q, jnp.zeros(system.rank))
    return motion.turn, motion.place


def _move_part(part: np.ndarray, turn: np.ndarray, place: np.ndarray) -> np.ndarray:
    moved = (np.asarray(part) @ turn.T + place).view(type(part))
    moved.__array_finalize__(part)
    return moved


def levels(parents: tuple[int, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    """From the ground outwards: the bodies of each level, and where those that they are on stand in the one before.

    >>> [(a.tolist(), b.tolist()) for a, b in levels((-1, 0, 0, 2))]
    [([0], [-1]), ([1, 2], [0, 0]), ([3], [1])]
    """
    found = []
    on = np.array(parents, int)
    bodies = np.flatnonzero(on < 0)
    places = np.full(len(bodies), -1)
    while bodies.size:
        found.append((bodies, places))
        after = np.flatnonzero(np.isin(on, bodies))
        places = np.searchsorted(bodies, on[after])
        bodies = after
    return found


def rounds(parents: tuple[int, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rounds (bodies, those before them) after which each body's motion, first seen from its parent, is the ground's.

    >>> [(a.tolist(), b.tolist()) for a, b in rounds((-1, 0, 0, 2))]
    [([1, 2], [0, 0]), ([3], [2])]
    """
    depths = np.zeros(len(parents), int)
    for i, parent in enumerate(parents):
        depths[i] = 0 if parent < 0 else depths[parent] + 1
    return _rounds(np.array(parents, int), depths, np.arange(len(parents)))


def _rounds(parents: np.ndarray, depths: np.ndarray, nodes: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Level by level; where these are many, every other level joins the one before it, the half that is left is done
    so, and the other levels follow: twice as many operations as bodies, in twice log2(depth) rounds."""
    levels = range(depths[nodes].max(initial=0) + 1)
    if len(levels) <= SHALLOW:
        chosen = [nodes[depths[nodes] == level] for level in levels[1:]]
        return [(bodies, parents[bodies]) for bodies in chosen]
    odd = nodes[depths[nodes] % 2 == 1]
    even = nodes[depths[nodes] % 2 == 0]
    half, other = (odd, even) if len(odd) <= len(even) else (even, odd)
    joined, after = (bodies[parents[bodies] >= 0] for bodies in (half, other))
    farther, halved = parents.copy(), depths // 2
    farther[joined] = parents[parents[joined]]
    return [(joined, parents[joined]), *_rounds(farther, halved, half), (after, parents[after])]

"""From parts, in a roboticist's words, to a System."""

import dataclasses
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Scalar
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel._support.inputs import array_of, explained, floats, short
from discrete_hamel._support.pytrees import Pytree
from discrete_hamel.systems.mechanisms.contacts import Contact
from discrete_hamel.systems.mechanisms.joints import Fixed, Hinge, Joint, Universal
from discrete_hamel.systems.mechanisms.rolling import RollingMechanism, hold
from discrete_hamel.systems.mechanisms.rotations import AXES, turn_about
from discrete_hamel.systems.mechanisms.solids import Solid
from discrete_hamel.systems.mechanisms.tree import Mechanism


class Body(Pytree):
    """A rigid body, and the joint by which it is on another one, or on the ground.

    Its axes have their origin at the joint, and at the joint's zero are those of the body it is on, moved to `at` and
    turned by `turn`. Its mass centre is at `centre`; `shape`, a solid, lies about it and gives mass and inertia where
    these are not given. A body with mass and no inertia is a point mass.
    """

    name: str  # by which others are put on it, and its coordinates are called
    joint: Joint = Fixed()  # how it moves on the other
    on: str = ""  # the name of a body, or nothing: the ground
    at: ArrayLike = (0.0, 0.0, 0.0)  # m, the joint's place in the axes of that body
    turn: ArrayLike | tuple[ArrayLike, Scalar] | None = None  # of the axes there: a rotation matrix, or (axis, angle)
    mass: Scalar | None = None  # kg
    inertia: ArrayLike | None = None  # kg m^2, about the mass centre: three moments or a matrix
    centre: ArrayLike = (0.0, 0.0, 0.0)  # m, the mass centre in its own axes
    shape: Solid | None = None  # a solid about it, for mass, inertia and films


def mechanism(
    *parts: Body | Contact, gravity: ArrayLike = 9.81, like: RollingMechanism | None = None
) -> Mechanism | RollingMechanism:
    """Returns the System of these parts: bodies, and wheels, balls, blades and pins that hold them.

    `gravity` points down the z axis, or is a vector. Bodies joined in a tree give a `Mechanism`, anything that rolls or
    closes a loop a `RollingMechanism`. `initial` finds where it can start. Which constraints follow from others is
    found at numbers: where JAX traces masses or sizes of what rolls, `like` is a mechanism of the same parts with
    numbers, made outside, whose choice is taken; so is that of its frame, where it has one: like=mechanism(...).at(q).

    >>> import discrete_hamel as dh
    >>> m = dh.mechanisms
    >>> links = [m.Body(f"link{i}", m.Hinge("y"), on=f"link{i - 1}" if i else "", at=(0, 0, -0.5 * (i > 0)), mass=1.0,
    ...                 centre=(0, 0, -0.5)) for i in range(3)]
    >>> chain = m.mechanism(*links)
    >>> traj = dh.simulate(chain, q=[0.3, 0.2, 0.1], xi=[0.0, 0.0, 0.0], h=0.01, steps=10)
    >>> chain.velocities, bool(abs(traj.energy - traj.energy[0]).max() < 1e-4)
    (("link0'", "link1'", "link2'"), True)
    """
    unknown = [part for part in parts if not isinstance(part, Body | Contact)]
    if unknown:
        raise InputTypeError(
            f"mechanism takes its parts one by one, Body(...), Wheel(...) and so on; got {unknown[0]!r}."
        )
    tree = tree_of([body for part in parts if isinstance(part, Body) for body in _simple(part)], gravity)
    contacts = tuple(part for part in parts if isinstance(part, Contact))
    for contact in contacts:
        for name in contact.bodies():
            if name not in tree.names:
                kind = type(contact).__name__
                fields = ", ".join(field.name for field in dataclasses.fields(contact))
                takes = "" if isinstance(name, str) else f" A {kind} is made of {fields}, bodies by their names."
                raise InputError(f"a {kind} is on {short(name)}, but there is no such body.{takes}")
    return hold(tree, contacts, like) if contacts else tree


def _simple(body: Body) -> list[Body]:
    """A universal joint as two hinges."""
    if isinstance(body.joint, type):
        raise InputTypeError(f"the joint of {body.name!r} is a class: write {body.joint.__name__}().")
    if not isinstance(body.joint, Joint):
        raise InputTypeError(
            f"the joint of {body.name!r} must be one of dh.mechanisms', such as Hinge('y'); got {body.joint!r}."
        )
    if not isinstance(body.joint, Universal):
        return [body]
    cross = Body(f"{body.name} cross", Hinge(body.joint.first), on=body.on, at=body.at, turn=body.turn)
    return [cross, body.replace(joint=Hinge(body.joint.second), on=cross.name, at=(0.0, 0.0, 0.0), turn=None)]


def tree_of(bodies: list[Body], gravity: ArrayLike) -> Mechanism:
    """The System of bodies with simple joints, each after the one it is on."""
    names = tuple(body.name for body in bodies)
    _refuse_names(bodies, names)
    for body in bodies:
        _refuse_numbers(body)
    masses, inertias = zip(*(_mass(body) for body in bodies), strict=True)
    axes = [getattr(body.joint, "axis", "z") for body in bodies]
    torques = [getattr(body.joint, "torque", 0.0) for body in bodies]
    laws = tuple((i, torque) for i, torque in enumerate(torques) if callable(torque))
    loads = {"torque": [0.0 if callable(torque) else torque for torque in torques]}
    for name in ("stiffness", "unloaded", "damping", "rotor"):
        loads[name] = [getattr(body.joint, name, 0.0) for body in bodies]
    for i, law in laws:
        _refuse_law(bodies[i].name, law)
    loaded = {i for load in loads.values() for i in _nonzero(load)} | {i for i, _ in laws}
    return Mechanism(
        names=names,
        parents=tuple(names.index(body.on) if body.on else -1 for body in bodies),
        joints=tuple(type(body.joint) for body in bodies),
        letters=tuple(axis if isinstance(axis, str) else None for axis in axes),
        turned=tuple(body.turn is not None for body in bodies),
        weighty=_nonzero(masses),
        extended=_nonzero(inertias),
        loaded=tuple(sorted(loaded)),
        laws=laws,
        lossy=bool(laws or _nonzero(loads["damping"]) or _nonzero(loads["torque"])),
        mass=_array(masses),
        inertia=_array(inertias),
        centre=_array([body.centre for body in bodies]),
        mount=_array([body.at for body in bodies]),
        turn=_array([_turn(body) for body in bodies]),
        axis=_array([_unit(axis) for axis in axes]),
        gravity=_gravity(gravity),
        shapes_of=tuple(body.shape for body in bodies),
        **{name: _array(values) for name, values in loads.items()},
    )


def _refuse_names(bodies: list[Body], names: tuple[str, ...]) -> None:
    if not bodies:
        raise InputError("a mechanism needs at least one Body.")
    for i, body in enumerate(bodies):
        if not body.name or names.index(body.name) < i:
            raise InputError(f"each body needs a name of its own; {body.name!r} is there twice, or empty.")
        if body.on and body.on not in names[:i]:
            why = "it is given later: give a body after the one it is on" if body.on in names else "there is none"
            raise InputError(f"{body.name!r} is on {body.on!r}, but {why}.")


def _refuse_numbers(body: Body) -> None:
    """Refuses what no body has: places that are not three numbers, another inertia, a mass below zero."""
    given = {name: getattr(body, name) for name in ("at", "centre", "inertia", "mass")}
    for name, value in given.items():
        if value is None or any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value)):
            continue
        array = floats(f"{name} of {body.name!r}", value)
        if name in ("at", "centre") and array.shape != (3,):
            raise InputError(f"{name} of {body.name!r} must be three numbers, x, y, z in m; got {value!r}.")
        if name == "inertia" and array.shape not in ((3,), (3, 3)):
            raise InputError(f"inertia of {body.name!r} must be three moments or a 3 x 3 matrix; got {value!r}.")
        sizes = np.linalg.eigvalsh(array) if array.ndim == 2 else array
        if name in ("inertia", "mass") and not np.all(sizes >= -1e-12 * np.max(np.abs(sizes))):
            raise InputError(f"{name} of {body.name!r} must not be negative; it is {value!r}.")


def _refuse_law(name: str, law: Callable) -> None:
    with explained(f"the torque of {name!r}, which is asked for (coordinate, rate) of its joint,"):
        given = jax.eval_shape(law, *2 * [jax.ShapeDtypeStruct((), float)])
    if getattr(given, "shape", None) not in ((), (1,)):
        raise InputError(f"the torque of {name!r} must return one number; it returned {short(given)}.")


def _gravity(given: ArrayLike) -> Array:
    """As a vector."""
    if np.ndim(given) == 0:
        down = array_of("gravity", given, axes=0)
        return jnp.stack([0.0, 0.0, -down])
    vector = array_of("gravity", given)
    if vector.shape != (3,):
        raise InputError(f"gravity must be one number, down, or three, x, y, z in m/s^2; got {short(given)}.")
    return jnp.asarray(vector)


def _mass(body: Body) -> tuple[Scalar, Array]:
    """Mass and inertia about the mass centre, as given, else of the shape."""
    solid = body.shape
    if solid is not None and not isinstance(solid, Solid):
        raise InputTypeError(f"the shape of {body.name!r} must be a solid, such as Box((1, 2, 3)); got {solid!r}.")
    if solid is not None and body.mass is not None:
        solid = solid.replace(mass=body.mass, density=None)
    mass = body.mass if body.mass is not None else 0.0 if solid is None else solid.total_mass()
    if body.inertia is None:
        inertia = jnp.zeros((3, 3)) if solid is None else solid.inertia()
    else:
        inertia = _array(body.inertia)
        inertia = jnp.diag(inertia) if inertia.ndim == 1 else inertia
    return mass, inertia


def _turn(body: Body) -> Array:
    if body.turn is None:
        return jnp.eye(3)
    if isinstance(body.turn, tuple) and len(body.turn) == 2:
        axis, angle = body.turn
        return turn_about(jnp.asarray(_unit(axis)), jnp.asarray(angle, float))
    return _array(body.turn)


def _unit(axis: ArrayLike) -> ArrayLike:
    if isinstance(axis, str):
        if axis not in AXES:
            raise InputError(f"an axis is 'x', 'y', 'z' or a vector; got {axis!r}.")
        return np.array(AXES[axis])
    vector = array_of("an axis", axis)
    if vector.shape != (3,) or not isinstance(vector, jax.core.Tracer) and not np.any(vector):
        raise InputError(f"an axis is 'x', 'y', 'z' or a vector that is not zero; got {short(axis)}.")
    return vector / jnp.sqrt(vector @ vector)


def _array(values: object) -> Array:
    if isinstance(values, list | tuple):
        return jnp.stack([_array(value) for value in values])
    return jnp.asarray(values, float)


def _nonzero(values: Sequence) -> tuple[int, ...]:
    """Which are there: not zero, or traced."""
    return tuple(i for i, a in enumerate(values) if isinstance(a, jax.core.Tracer) or np.any(np.asarray(a)))

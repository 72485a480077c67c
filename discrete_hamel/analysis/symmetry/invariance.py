"""Symmetries: is the Lagrangian, and are the constraints, invariant under a generator?"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.symmetry.group_actions import Generator, Symmetry, Translation, generator
from discrete_hamel.analysis.symmetry.phase_space import nearby
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System, overridden
from discrete_hamel.runs import validation as checks

INVARIANT = 1e-9  # relative change that counts as none
DRAWS = 6


class Invariance(NamedTuple):
    """Largest relative changes under a generator, over the points looked at; `str` is a sentence."""

    position: float  # of X off the span of the frame, the directions in which q can move at all
    lagrangian: float  # of l at any velocity
    constrained: float  # of l at velocities in D
    constraint: float  # of D (and the slip): how far constrained velocities are carried off it
    force: float  # of f

    @property
    def holds(self) -> bool:
        """Whether Lagrangian, constraint and force are all invariant."""
        return max(self.position, self.lagrangian, self.constraint, self.force) < INVARIANT

    def __str__(self) -> str:
        if self.holds:
            return "a symmetry: Lagrangian, constraint and force are invariant"
        changed = {
            "it leaves the configuration space": self.position,
            "the Lagrangian changes": self.lagrangian,
            "the constraint is not carried into itself": self.constraint,
            "the force changes": self.force,
        }
        found = ", ".join(f"{words} (by {size:.1e})" for words, size in changed.items() if size >= INVARIANT)
        return f"no symmetry: {found}"


def components(system: System, generator: Generator, q: Array) -> Array:
    """a with X = Psi a, n components; the smallest such a where the fields of the frame are dependent."""
    psi = system.frame(q)
    return jnp.linalg.pinv(psi, rtol=1e-10) @ generator(q)


def variation(system: System, generator: Generator, q: Array, xi: Array) -> Array:
    """delta xi = a' + [xi, a] along delta q = Psi a: how X moves quasi-velocities.   [HE] (3.9)"""
    a, rate = jax.jvp(partial(components, system, generator), (q,), (system.frame(q) @ xi,))
    return rate + jnp.einsum("kij,i,j->k", system.structure(q), xi, a)


def changes(generator: Generator, system: System, q: Array, free: Array, across: Array) -> tuple:
    """What `Invariance` is the largest of, at one state: relative changes of position, l, l on D, D and f."""
    m = system.rank
    on = hamel.full(system, q, free)
    off = on.at[m:].add(across)
    move = generator(q)
    outside = move - system.frame(q) @ components(system, generator, q)

    def change(xi: Array) -> tuple[Array, Array]:
        return jax.jvp(system.lagrangian, (q, xi), (move, variation(system, generator, q, xi)))

    (_, anywhere), (_, on_d) = change(off), change(on)
    moved = variation(system, generator, q, on)
    _, slip = jax.jvp(system.slip, (q,), (move,))
    # f is a covector: its pairing with any carried vector w is constant, f' . w + f . w' = 0 with w' = [w, a] + a'.
    _, pushed = jax.jvp(system.force, (q, on), (move, moved))
    fields = jax.vmap(lambda w: variation(system, generator, q, w))(jnp.eye(len(on)))
    force = pushed + fields @ system.force(q, on)
    gradient, mu = jax.grad(system.lagrangian, (0, 1))(q, off)
    size = 1 + jnp.abs(mu @ off) + jnp.linalg.norm(gradient) * jnp.linalg.norm(move)
    return outside, anywhere / size, on_d / size, moved[m:] - slip, force[:m]


_changes = interpret(changes, static=1, often=OFTEN)


def invariance(system: System, symmetry: Symmetry, q: Coordinates, xi: Quasivelocities | None = None) -> Invariance:
    """Returns how far something is from a symmetry, at (q, xi), at random velocities there, and at points nearby.

    delta q = X = Psi a, delta xi = a' + [xi, a]; it is one if l, D and f do not change. It is given as `generator`
    takes it: as X(q), an action g(s, q), an affine map or a cyclic coordinate.

    >>> from discrete_hamel.analysis import invariance
    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> blade = dh.systems.KnifeEdgeOnIncline()
    >>> print(invariance(blade, "y", [0.3, 0, 0]))
    a symmetry: Lagrangian, constraint and force are invariant
    >>> print(invariance(blade, lambda s, q: q + s * jnp.array([0.0, 1.0, 0.0]), [0.3, 0, 0]))      # downhill
    no symmetry: the Lagrangian changes (by 7.7e-01)
    """
    velocity = jnp.zeros(system.at(jnp.asarray(q, float)).rank) if xi is None else xi
    system, q, full = checks.initial_data(system, q, velocity, None)
    move = generator(system, symmetry, q)
    random = np.random.default_rng(0)
    points = [q, *nearby(system, q, len(full))]
    worst = np.zeros(5)
    for draw in range(DRAWS):
        free = np.asarray(full[: system.rank]) + (draw > 0) * random.normal(size=system.rank)
        across = random.normal(size=len(full) - system.rank)
        found = _changes(move, system, points[draw % len(points)], jnp.asarray(free), jnp.asarray(across))
        worst = np.maximum(worst, [float(np.max(np.abs(part), initial=0.0)) for part in found])
    return Invariance(*map(float, worst))


def refuse_inherited(system: System, q: Coordinates) -> None:
    """Refuses symmetries that a system has from its base class, and that methods of its own have made untrue."""
    base: type[System] = next(one for one in type(system).__mro__ if "symmetries" in vars(one))
    if system.frameless or base.lagrangian is System.lagrangian or not overridden(type(system), base):
        return
    for name, move in system.symmetries().items():
        if not (found := invariance(system, move, q)).holds:
            raise InputError(
                f"{name!r}, which {type(system).__name__} has from {base.__name__}, is {found}. Let its own method "
                "symmetries() return those that it has, or give them as symmetries={...}."
            )


def cyclic_coordinates(system: System, q: Coordinates) -> tuple[str, ...]:
    """Returns the names of the coordinates whose translation is a symmetry, at q and nearby.

    >>> from discrete_hamel.analysis import cyclic_coordinates
    >>> import discrete_hamel as dh
    >>> cyclic_coordinates(dh.systems.RollingDisk(), [0.3, 0.2, 0, 0, 0])
    ('psi', 'x', 'y')
    """
    q = jnp.asarray(q, float)
    names = system.coordinates or tuple(f"q[{i}]" for i in range(len(q)))
    return tuple(name for i, name in enumerate(names) if invariance(system, Translation(i), q).holds)

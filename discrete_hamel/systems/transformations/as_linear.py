"""Constraints that are written nonlinearly and are linear: recognised, and made ordinary systems.

[BE] 8.1 (parallel velocities that are across a line) and 8.4 (tau phi' = 0) are of this kind.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Velocities
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import of
from discrete_hamel.mechanics.adapted_frames import Graph, Nested, Reflections, adapt, probes
from discrete_hamel.mechanics.constructors import from_constraints
from discrete_hamel.mechanics.gibbs_appell import directions
from discrete_hamel.mechanics.nonlinear import NonlinearSystem
from discrete_hamel.mechanics.system import System, Wrapper
from discrete_hamel.systems.implicit_constraints import FromNonlinearConstraints

TOLERANCE = 1e-9  # what is zero, relative to the velocities compared
SIZES = (1.0, 1e-2, 30.0)  # of the z that are tried


def linear_in_velocities(system: NonlinearSystem, q: Coordinates, *, v: Velocities | None = None) -> bool:
    """Returns whether the velocities allowed form a linear space, at q and at points about it.

    For velocities qdot = psi(q, z) it is asked whether psi is linear in z; for constraints C(q, v) = 0 whether the
    branch of their solutions that v lies on is a linear space, whatever C looks like. Found by evaluation at many
    points: a psi that is not linear but is so to 1e-9 at all of them counts as linear.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> across = dh.from_nonlinear_constraints(lambda q, v: 0.5 * v @ v, lambda q, v: [v[0] * v[1]])  # one of them 0
    >>> dh.linear_in_velocities(across, [0.0, 0.0], v=[0.0, 1.0])
    True
    >>> dh.linear_in_velocities(dh.systems.TwoPointsParallelVelocities(), [0.0, 0, 1, 0])
    False
    """
    q = jnp.asarray(q, float)
    if isinstance(system, FromNonlinearConstraints):
        return _linear_branch(_ready(system, q, v), q)
    z = np.random.default_rng(1).normal(size=(len(SIZES), system.rank)) * np.array(SIZES)[:, None]
    near = jnp.asarray(probes(np.asarray(q)))
    velocities, at_zero, twice, slopes = (np.asarray(a) for a in _samples(system, near, jnp.asarray(z)))
    size = np.max(np.abs(velocities), axis=-1, keepdims=True)
    linear = np.einsum("qij,zj->qzi", slopes, z)
    off = [np.abs(velocities - linear), np.abs(at_zero[:, None]), np.abs(twice - 2 * velocities)]
    return all(bool(np.all(a <= TOLERANCE * size)) for a in off)  # NaN, of a psi singular at 0, is not


@jax.jit
def _samples(system: NonlinearSystem, q: Array, z: Array) -> tuple[Array, ...]:
    """psi(q, z), psi(q, 0), psi(q, 2 z) and psi_z(q, 0) for several q and z."""
    zero = jnp.zeros(z.shape[1])
    every = jax.vmap(jax.vmap(system.velocity, (None, 0)), (0, None))
    return (
        every(q, z),
        jax.vmap(lambda q: system.velocity(q, zero))(q),
        every(q, 2 * z),
        jax.vmap(lambda q: directions(system, q, zero))(q),
    )


def _ready(system: FromNonlinearConstraints, q: Array, v: Velocities | None) -> FromNonlinearConstraints:
    if v is not None:
        return system.around(q, v)
    if system.chart is None:
        raise InputError("a constraint may have several branches: give a velocity v on the one that is meant.")
    return system


def _linear_branch(system: FromNonlinearConstraints, q: Array) -> bool:
    """Whether all of the tangent space at v_0 satisfies C, v_0 among it: at q, and at points about it."""
    weights = np.random.default_rng(1).normal(size=(6, system.rank))
    points = jnp.asarray(probes(np.asarray(q))[:9])
    off = np.asarray(_off_tangent_space(system, points, jnp.asarray(weights)))
    found = off[np.isfinite(off)]  # at the other points the chart has ended
    return bool(np.isfinite(off[0]) and np.all(found <= TOLERANCE))


@jax.jit
def _off_tangent_space(system: FromNonlinearConstraints, points: Array, weights: Array) -> Array:
    """How far C is from zero on the tangent space at v(q, z = 0), relative to its slopes and the velocities' sizes."""

    def largest(q: Array) -> Array:
        v = system.velocity(q, jnp.zeros(system.rank))
        slopes = jax.jacfwd(system.constraint, 1)(q, v)
        size = jnp.linalg.norm(v)
        steep = jnp.linalg.norm(slopes, axis=1)
        others = size * weights @ jnp.linalg.svd(slopes)[2][len(slopes) :]
        off = jax.vmap(lambda w: jnp.abs(system.constraint(q, w)))(others)
        steeper = jax.vmap(lambda w: jnp.linalg.norm(jax.jacfwd(system.constraint, 1)(q, w), axis=1))(others)
        sizes = (steep[None] + steeper) * (size + jnp.linalg.norm(others, axis=1, keepdims=True))
        return jnp.maximum(jnp.max(jnp.abs(slopes @ v) / (steep * size)), jnp.max(off / sizes))

    return jax.vmap(largest)(points)


def as_linear(system: NonlinearSystem, q: Coordinates, *, v: Velocities | None = None) -> System:
    """The ordinary System with the same motions, for every scheme: refused if the constraint is truly nonlinear.

    From velocities psi = Psi_D(q) z its first m quasi-velocities are z, and the others, zero, are along a complement
    of the fields that is chosen at q. From constraints C(q, qdot) = 0 its one-forms are C_v on the branch of v.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> def skate(q, z):
    ...     return jnp.array([z[0], z[1] * jnp.cos(q[0]), z[1] * jnp.sin(q[0])])
    >>> curved = dh.nonlinear(lambda q, v: 0.5 * v @ v, skate, 2)
    >>> dh.simulate(dh.as_linear(curved, [0.1, 0, 0]), [0.1, 0, 0], [1.0, 0.5], h=0.1, steps=5).xi.shape
    (6, 3)
    """
    q = jnp.asarray(q, float)
    if isinstance(system, FromNonlinearConstraints):
        system = _ready(system, q, v)
    if not linear_in_velocities(system, q):
        raise InputError(
            f"the velocities of {type(system).__name__} are truly nonlinear: those allowed at q = {q.tolist()} or "
            "about it do not form a linear space. NonlinearMidpoint, Gauss, EnergyExact and RungeKutta4 take it as it "
            "is."
        )
    if isinstance(system, FromNonlinearConstraints):
        return from_constraints(_lagrangian, _one_forms, force=_force, params=system).at(q)
    every = jnp.asarray(probes(np.asarray(q)))
    fields = np.asarray(jax.vmap(lambda q: _fields(system, q))(every))
    if fields.shape[1] == fields.shape[2]:
        return LinearVelocities(system)
    return LinearVelocities(system, adapt(np.swapaxes(fields, 1, 2)))


def _fields(system: NonlinearSystem, q: Array) -> Array:
    """Psi_D(q) of psi(q, z) = Psi_D(q) z."""
    return directions(system, q, jnp.zeros(system.rank))


class LinearVelocities(Wrapper):
    """The ordinary system of velocities that are linear in z; see `as_linear`."""

    original: NonlinearSystem
    choice: Graph | Nested | Reflections | None = (
        None  # of the complement: a construction of `adapt`, with the fields in the place of one-forms
    )

    system = of("original")
    structure, slip, brackets_by_autodiff = System.structure, System.slip, System.brackets_by_autodiff
    frameless, rows = System.frameless, System.rows

    def frame(self, q: Array) -> Array:
        fields = _fields(self.original, q)
        if self.choice is None:
            return fields
        across = self.choice.frame(fields.T)[:, : fields.shape[0] - fields.shape[1]]
        return jnp.concatenate([fields, across], axis=1)

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> System:
        return self  # `choice` has been made

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.original.lagrangian(q, self.frame(q) @ xi)

    def force(self, q: Array, xi: Array) -> Array:
        psi = self.frame(q)
        return psi.T @ self.original.force(q, psi @ xi)

    def frame_margin(self, q: Array) -> Array:
        return jnp.ones(()) if self.choice is None else self.choice.margin(_fields(self.original, q).T)


# Functions of (q, v) and the system in `params`.


def _lagrangian(q: Array, v: Array, system: FromNonlinearConstraints) -> Array:
    return system.lagrangian(q, v)


def _force(q: Array, v: Array, system: FromNonlinearConstraints) -> Array:
    return system.force(q, v)


def _one_forms(q: Array, system: FromNonlinearConstraints) -> Array:
    """C_v at the velocity of the branch that is nearest to the chart's base."""
    return jax.jacfwd(system.constraint, 1)(q, system.velocity(q, jnp.zeros(system.rank)))

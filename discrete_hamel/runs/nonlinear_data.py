"""What is asked of the initial state of a system with nonlinear constraints, before anything is traced."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.reading.interpreter import interpreted
from discrete_hamel.mechanics import gibbs_appell
from discrete_hamel.mechanics.singular_states import refuse_singular
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.output_shapes import refuse_shape

ON_CONSTRAINT = 1e-8  # how far off the constraint a velocity may be, relative to its size


def nonlinear_data(
    system: System, q: Array, z: Array | None, v: Array | None, concrete: bool
) -> tuple[System, Array, Array]:
    """The system ready for a run, q, and z, checked; from z or from v = qdot."""
    if v is not None:
        _length("v", v, len(q))
    system = system.at(q)
    known = None if v is None or not concrete else system.z_of(q, v)  # type: ignore[attr-defined]
    if known is not None:
        system.check_state(q, known)  # before anything is made of what it refuses
    _shapes(system, q)
    if v is None:
        assert z is not None
        m = system.rank
        if len(z) != m:
            names = f": {', '.join(system.velocities)}" if system.velocities else ""
            raise InputError(f"z (given as xi) has {len(z)} components; it needs m = {m}{names}.")
    else:
        z = gibbs_appell.quasivelocities(system, q, v)
    if not concrete:
        return system, q, z
    if known is None:
        system.check_state(q, z)
    _finite(system, q, z)
    if v is not None:
        _reached(system, q, z, np.asarray(v))
    refuse_singular(system, q, z)
    return system, q, z


def _length(name: str, value: Array, n: int) -> None:
    if len(value) != n:
        raise InputError(f"{name} has {len(value)} components, q has {n}; {name} is qdot, one component a coordinate.")


def _shapes(system: System, q: Array) -> None:
    m = getattr(system, "rank", None)
    n = len(q)
    counts = isinstance(m, int | np.integer) and not isinstance(m, bool) and m >= 1
    if not counts or m > n + sum(jax.eval_shape(system.rows, q, jnp.zeros(m)).shape):
        raise InputError(f"m is {m!r}; it counts the parameters z of the velocities and must be 1 to n = {n}.")
    z, v = jnp.zeros(m), jnp.zeros(n)
    refuse_shape("velocity(q, z)", (n,), f"n = {n}, m = {m}", system.velocity, q, z)
    refuse_shape("the Lagrangian L(q, qdot)", (), f"n = {n}, m = {m}", system.lagrangian, q, v)
    refuse_shape("force(q, qdot)", (n,), f"n = {n}, m = {m}", system.force, q, v)


def _finite(system: System, q: Array, z: Array) -> None:
    for name, value in zip(FACTS, _facts(system, q, z), strict=True):
        if not np.all(np.isfinite(value)):
            raise InputError(
                f"{name} is not finite at the initial data, q = {np.asarray(q).tolist()}, z = {np.asarray(z).tolist()}"
                f": {np.asarray(value).tolist()}. A pole, a division by zero or the root of a negative number are the "
                "usual causes."
            )


FACTS = ("velocity(q, z)", "its derivative by z", "the Lagrangian", "dL/dqdot", "dL/dq and the force")


@interpreted
def _facts(system: System, q: Array, z: Array) -> tuple[Array, ...]:
    v = system.velocity(q, z)
    return (
        v,
        gibbs_appell.directions(system, q, z),
        system.lagrangian(q, v),
        gibbs_appell.covector(system, q, z),
        gibbs_appell.drive(system, q, z),
    )


def _reached(system: System, q: Array, z: Array, v: np.ndarray) -> None:
    miss = v - np.asarray(system.velocity(q, z))
    worst, size = int(np.argmax(np.abs(miss))), float(np.max(np.abs(v)))
    if abs(miss[worst]) > ON_CONSTRAINT * max(size, 1e-300):
        names = system.coordinates
        name = names[worst] if worst < len(names) else f"q[{worst}]"
        raise InputError(
            f"the initial velocity is off the constraint: no z gives it, and the nearest found misses row {worst}, the "
            f"velocity of {name}, by {miss[worst]:.3g} (v is of size {size:.3g}). Give z, or correct v."
        )

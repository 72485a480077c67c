"""What is asked of a run before anything is traced: each refusal says what, where, how far off, and what to do."""

import math
from functools import cache
from typing import Any, SupportsIndex

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.ad_checkpoint import checkpoint_name

from discrete_hamel._support.arrays import ArrayLike, PyTree
from discrete_hamel._support.caches import Cache
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.inputs import array_of, explained, floats, name_of
from discrete_hamel.compiler.native.kept_values import interpreted_once, keeping, once_a_run
from discrete_hamel.compiler.reading.cached_scalars import kind_of, number, on_device, once, record_of, settle
from discrete_hamel.compiler.reading.interpreter import TracedWithin, interpret
from discrete_hamel.compiler.reading.output_shapes import nonlinear_shapes, shapes
from discrete_hamel.compiler.reading.outside_values import forget_if_changed, of_a_user
from discrete_hamel.compiler.reading.parameters import canonical, finite_parameters
from discrete_hamel.compiler.reading.start_facts import (
    DENSE,
    gramian,
    refuse_degenerate,
    refuse_dependent,
    refuse_not_finite,
)
from discrete_hamel.mechanics import gibbs_appell, hamel
from discrete_hamel.mechanics.constructors import unwrap
from discrete_hamel.mechanics.manifold import off_manifold, refuse_off_manifold
from discrete_hamel.mechanics.singular_states import INDEPENDENT, refuse_singular
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.traced_refusals import ON_CONSTRAINT

_shapes, _kept_shapes = Cache(most=500), keeping(shapes)  # by what they follow from
by_numpy = cache(interpret)  # what choices of frames are made by, one interpreter a function


def traced(*things: PyTree) -> bool:
    """Whether jax traces any leaf: then values cannot be looked at, and only shapes are checked."""
    asked = [it for it in things if type(it) is not np.ndarray and record_of(it) is None]
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(asked))


def vector(name: str, value: object) -> Array:
    """A finite one-dimensional float array, or a sentence; of NumPy's where JAX does not trace it."""
    array = array_of(name, value)
    if isinstance(array, np.ndarray) and not all(map(math.isfinite, array.tolist())):
        bad = np.flatnonzero(~np.isfinite(array))[0]
        raise InputError(f"{name}[{bad}] is {float(array[bad])}; initial data must be finite.")
    return array


def step_size(h: object) -> Array:
    """A finite step different from zero; negative steps run back in time."""
    array = h if type(h) is float else array_of("h", h, 0)
    if isinstance(array, jax.core.Tracer):
        return array
    if not math.isfinite(array) or array == 0:
        raise InputError(f"h is {float(array)}; the step must be finite and not zero (negative runs back in time).")
    return number(float(array))


def count(name: str, value: SupportsIndex, least: int) -> int:
    """An integer not below `least`."""
    try:
        number = int(value.__index__())
    except (AttributeError, TypeError):
        raise InputError(f"{name} must be an integer, got {value!r}.") from None
    if number < least:
        raise InputError(f"{name} is {number}; it must be at least {least}.")
    return number


def _named_facts(system: System, q: Array, xi: Array) -> dict[str, Array]:
    """What has to be finite at (q, xi), by name; with many coordinates by maps of vectors."""
    free, whole = xi[: system.rank], hamel.full(system, q, xi[: system.rank])
    found = {
        "slip(q)": system.slip(q),
        "the velocity qdot = frame(q) xi": system.velocity(q, whole),
        "the Lagrangian": system.lagrangian(q, whole),
    }
    if len(q) > DENSE:
        gradient, mu = jax.grad(system.lagrangian, (0, 1))(q, whole)
        return found | {"dl/dxi": mu, "dl/dq": gradient, "force(q, xi)": system.force(q, whole)}
    mu, force = hamel.balance(system, q, free)
    return {
        "frame(q)": system.frame(q),
        **found,
        "dl/dxi": mu,
        "the Hamel force (from the Lagrangian's derivative, structure and force)": force,
        "inertia": hamel.inertia(system, q, free),
    }


@once_a_run
def _facts(system: System, q: Array, xi: Array) -> tuple[Array, Array, Array]:
    """All these numbers in a row, the frame's first and the inertia's last; slip(q); and how far q is off, and the
    gramians of the frame's fields and of the inertia, where that is asked.
    """
    found, marks = _named_facts(system, q, xi), [off_manifold(system, q)]
    if "frame(q)" in found:
        psi, mass = found["frame(q)"], found["inertia"]
        marks += [gramian(psi if system.brackets_by_autodiff else psi[:, : system.rank])]
        marks += [gramian(mass, form=True)]
    return jnp.concatenate([jnp.ravel(one) for one in found.values()]), found["slip(q)"], jnp.stack(marks)


def initial_data(system: System, q: ArrayLike, xi: object, v: object) -> tuple[System, Array, Array]:
    """The system ready at q, q, and xi with all n components, checked."""
    system, at, velocity = ready(system, q, xi, v)
    return system, on_device(at), on_device(velocity)


def ready(system: System, at: ArrayLike, xi: Any, v: Any, lasting: bool = False) -> tuple[System, Array, Array]:
    """The same with what `vector` makes of q and xi; of a `lasting` run no bit depends on others."""
    q = vector("q", at)
    noticed = checkpoint_name(0.0, "noticed")  # as it is, but under jit, where all else may be known
    made = settle(system)
    forget_if_changed(system if made is None else made)
    if (xi is None) == (v is None):
        raise InputError("give the initial velocity once: xi (quasi-velocities) or v (coordinate velocities qdot).")
    concrete = not traced(system if made is None else made, q, noticed, xi, v)
    if concrete:
        system = canonical(system) if made is None else made
        _check(system) if of_a_user(system) else once(_check, system)
    asked = system.frameless or (type(system).at, type(system).check_start) != (System.at, System.check_start)
    place = on_device(q) if asked or not concrete else q  # an array of JAX's takes as long as 400 steps of a pendulum
    q = q if concrete else place
    xi, v = (None if a is None else vector(name, a) for name, a in (("xi", xi), ("v", v)))
    if system.frameless:
        return _nonlinear_data(system, place, xi, v, concrete)
    if asked:
        with explained(f"{type(system).__name__} at the initial q"):
            system = system.at(place, by_numpy)
    n, m = _shapes.fetch((kind_of(system), q.shape, q.dtype), lambda: _kept_shapes(system, q))
    if len(xi) not in (m, n) if v is None else len(v) != len(q):
        hamel.refuse_length(system, q, *(("xi", xi) if v is None else ("v", v)))
    if v is not None and len(q) < m:
        raise InputError(f"v cannot determine {m} free quasi-velocities from {len(q)} coordinates; give xi.")
    if not concrete:
        from discrete_hamel.compiler.gradients.jax_primitives import of_trees  # here: it loads jax.extend

        return system, q, _quasivelocities(system, q, v) if xi is None else of_trees(hamel.full, system, q, xi)
    with explained(f"what {type(system).__name__} checks of the place where it starts"):
        system.check_start(place)
        system.check_shape(q, by_numpy)
    with explained("the system at the initial data"):
        try:
            state = system, q, floats("xi", [0] * n) if xi is None else xi
            facts: tuple = (_facts.afresh if lasting else _facts)(*state)
        except TracedWithin:
            raise InputError(
                "a function of the system uses a value that jax.grad or jax.vmap traces, and that simulate is not "
                "given: hand it over as params=..., or put jax.jit around what is differentiated."
            ) from None
    numbers, slip, (off, *gramians) = facts
    refuse_off_manifold(system, q, float(off))
    psi = numbers[: len(q) * n].reshape(len(q), n) if gramians else None
    if psi is not None and not gramians[0] > INDEPENDENT:
        refuse_dependent(system, psi, q)
    if not math.isfinite(sum(numbers.tolist())):  # or too large to be summed
        refuse_not_finite(by_numpy(_named_facts)(*state), q=q)
    if psi is not None and not gramians[1] > INDEPENDENT:
        refuse_degenerate(system, numbers[-m * m :].reshape(m, m), psi)
    if xi is None:
        xi = _from_velocity(system, q, v, psi)
    elif len(xi) < n:
        xi = np.concatenate([xi, slip])
    _on_constraint(system, xi, slip, v is not None)
    return system, q, xi


def _nonlinear_data(system: System, q: Array, z: Any, v: Array | None, concrete: bool) -> tuple[System, Array, Array]:
    """The same of a system with velocities psi(q, z): itself at q, q, and z, checked; from z or from v = qdot."""
    system = system.at(q, by_numpy)
    nonlinear_shapes(system, q)
    hamel.refuse_length(system, q, *(("xi", z) if v is None else ("v", v)))
    known = None if v is None or not concrete else system.z_of(q, v)  # type: ignore[attr-defined]
    if known is not None:
        system.check_state(q, known)  # before anything is made of what it refuses
    z = z if v is None else gibbs_appell.quasivelocities(system, q, v)
    if not concrete:
        return system, q, z
    if known is None:
        system.check_state(q, z)
    refuse_not_finite(dict(zip(NONLINEAR_FACTS, _nonlinear_facts(system, q, z), strict=True)), q=q, z=z)
    if v is not None:
        _refuse_unreached(system, v, system.velocity(q, z), "z")
    refuse_singular(system, q, z, by_numpy)
    return system, q, z


NONLINEAR_FACTS = ("velocity(q, z)", "its derivative by z", "the Lagrangian", "dL/dqdot", "dL/dq and the force")


@interpreted_once
def _nonlinear_facts(system: System, q: Array, z: Array) -> tuple[Array, ...]:
    v, slopes = system.velocity(q, z), gibbs_appell.directions(system, q, z)
    covector, drive = gibbs_appell.covector(system, q, z), gibbs_appell.drive(system, q, z)
    return v, slopes, system.lagrangian(q, v), covector, drive


def _check(system: System) -> None:
    finite_parameters(system)
    with explained(f"what {type(system).__name__} checks of its parameters"):
        system.check()


_quasivelocities = interpret(hamel.quasivelocities)


def _from_velocity(system: System, q: Array, v: Array, psi: np.ndarray | None) -> Array:
    """xi, checked against v; psi is the frame, None where it is too large to be looked at."""
    xi = _quasivelocities(system, q, v)
    if not np.all(np.isfinite(xi)) and not system.frame_is_a_map:
        # D's fields dependent at this point: any xi that gives v will do
        psi = np.asarray(system.frame(on_device(q))) if psi is None else psi
        slip, m = np.asarray(system.slip(on_device(q))), system.rank
        xi = np.concatenate([np.linalg.lstsq(psi[:, :m], v - psi[:, m:] @ slip)[0], slip])
    _refuse_unreached(system, v, system.velocity(*map(on_device, (q, xi))) if psi is None else psi @ xi, "xi")
    return xi


def _on_constraint(system: System, xi: np.ndarray, slip: np.ndarray, of_v: bool) -> None:
    """Refuses a velocity off the constraint, in the terms in which it was given: xi, or v = qdot."""
    m = system.rank
    off = xi[m:] - slip
    if not off.any():
        return
    worst = int(np.argmax(np.abs(off)))
    size = max(float(np.max(np.abs(xi))), float(np.max(np.abs(slip))), 1e-300)
    if abs(off[worst]) <= ON_CONSTRAINT * size:
        return
    row, name = worst, name_of(system.velocities, "xi", m + worst)
    if rows := unwrap(system):
        row, name = rows.row_name(worst)
    elif of_v and m + worst >= len(system.velocities):
        name = f"the component of v along u_{m + worst + 1}"
    of_xi = f"Give the {m} free components of xi only, or correct the velocity"
    cure = "Correct v, or start from what dh.project(system, q, v=v) gives" if of_v else of_xi
    raise InputError(
        f"the initial velocity is off the constraint: row {row} demands {name} = {slip[worst]:.6g} and it is "
        f"{xi[m + worst]:.6g}, off by {off[worst]:.3g}. {cure}."
    )


def _refuse_unreached(system: System, v: Array, found: ArrayLike, by: str) -> None:
    """Refuses a velocity that no xi, or z, gives; `found` is the nearest that one does."""
    miss = np.asarray(v) - np.asarray(found)
    worst, size = int(np.argmax(np.abs(miss))), float(np.max(np.abs(v)))
    if not abs(miss[worst]) <= ON_CONSTRAINT * max(size, 1e-300):
        raise InputError(
            f"the initial velocity is off the constraint: no {by} gives it, and the nearest misses row {worst}, the "
            f"velocity of {name_of(system.coordinates, 'q', worst)}, by {miss[worst]:.3g} (v is of size {size:.3g}). "
            f"Give {by}, or correct v."
        )

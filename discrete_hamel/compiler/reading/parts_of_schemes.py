"""What is asked of a scheme before a run: places that lie in the step, and parts of one's own that are a principle's.

What these tend to as h goes to 0 is measured at random states, by NumPy. A part that does not tend to what the
principle asks of it makes a scheme that converges, if at all, to the motion of another system. The order in h is not
asked: `properties` finds it. Nor is the bracket in a variation of one's own, of which there are several opinions.
"""

import dataclasses
from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Scalar
from discrete_hamel._support.caches import Cache
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.inputs import explained
from discrete_hamel.compiler.reading.cached_scalars import once
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.mechanics.hamel import full
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.galerkin import Galerkin
from discrete_hamel.schemes.principle import Principle
from discrete_hamel.schemes.scheme import Scheme

PLACES = "tau", "point", "lagrangian_at", "constraint_at"
ALLOWED = 1e-3  # of the size, where not half of it is gone at a hundredth of h: it does not tend to zero
SCALES = 1e-6, 1e6  # of variations, by which a constant and a square among them are seen
STATES = 3  # the start with two velocities, and a place beside it
Misses = dict[str, tuple[Array, Array]]  # what a part misses, and the size of what it has to be, by what is asked of it

_found = Cache(most=200)  # sentences, by scheme, system and place


def check_scheme_at(system: System, scheme: Scheme, q: Array) -> None:
    """Refuses a scheme that is not for this start, whose tau is no place in a step, or that has a wrong part."""
    once(_check_places, scheme)
    scheme.check(system, q)
    inner = once(_innermost, scheme)
    if not once(_has_parts, inner):
        return
    leaves, kind = jax.tree.flatten((inner, system))
    key = kind, np.asarray(q).tobytes(), *(np.asarray(leaf).tobytes() for leaf in leaves)
    if sentence := _found.fetch(key, partial(_sentence, system, inner, np.asarray(q))):
        raise InputError(sentence)


def _check_places(scheme: Scheme) -> None:
    for name, place in places(scheme).items():
        if not 0 <= float(place) <= 1:
            raise InputError(f"{name} is {float(place):g}; that point lies between the nodes: 0 <= {name} <= 1.")


def places(scheme: Scheme) -> dict[str, Scalar]:
    """Its numbers that are places between the nodes, 0 to 1, by name."""
    inner = _innermost(scheme)
    return {field.name: getattr(inner, field.name) for field in dataclasses.fields(inner) if field.name in PLACES}


def off_limits(system: System, scheme: Scheme, q: Array) -> Array:
    """Whether one does, for runs under jit."""
    if not _has_parts(inner := _innermost(scheme)):
        return jnp.asarray(False)
    return jnp.any(jnp.stack([_stays(found) for found in _relative(system, inner, q).values()]))


def _innermost(scheme: Scheme) -> Scheme:
    while isinstance(inner := getattr(scheme, "scheme", None), Scheme):
        scheme = inner
    return scheme


def _has_parts(scheme: Scheme) -> bool:
    if not isinstance(scheme, Galerkin | Principle):
        return False
    parts = ("own_point", "lagrangian", "two_point", "reconstruction", "constraint")
    return callable(scheme.variation) or any(getattr(scheme, part, None) is not None for part in parts)


def _sentence(system: System, scheme: Scheme, q: np.ndarray) -> str:
    """What is wrong first; nothing if nothing is."""
    with explained(f"a part of {scheme!r}"):
        found = _interpreted(system, scheme, q)
    for asked, by_step in found.items():
        if _stays(by_step):
            large, small = np.max(by_step, axis=0)
            steps = tuple(float(h) for h in _steps())
            return (
                f"{scheme!r} asks that {asked} as h goes to 0; near q = {q.tolist()} it is off by {large:.2g} of its "
                f"size at h = {steps[0]:.1e} and by {small:.2g} at h = {steps[1]:.1e}. However small its steps, the "
                "motion would be that of another system: correct this part."
            )
    return ""


def _steps() -> np.ndarray:
    return float(jnp.finfo(float).eps) ** np.array([0.25, 0.375])


def _stays(by_step: Array) -> Array:
    """Whether what is missed, (states, 2), is no less at the smaller step; no numbers at the start count as missed."""
    large, small = by_step[:, 0], by_step[:, 1]
    missed = (small > ALLOWED) & (small > large / 2)
    return jnp.any(missed) | jnp.any(~jnp.isfinite(small[:-1]))


def _relative(system: System, scheme: Scheme, q: Array) -> dict[str, Array]:
    """Of each part what it misses relative to its size, (states, 2 steps)."""
    n = len(jax.eval_shape(lambda q: full(system, q, jnp.zeros(system.rank)), q))
    rng = np.random.default_rng(0)
    beside = len(q) == n and system.brackets_by_autodiff and not system.redundant  # else it may be off the manifold
    places = q[None] + 0.1 * beside * np.outer([0, 0, 1], rng.normal(size=len(q)))
    free, eta = rng.normal(size=(STATES, system.rank)), rng.normal(size=(STATES, 4, system.rank))
    eta = np.pad(eta, ((0, 0), (0, 0), (0, n - system.rank)))
    misses = _of_galerkin if isinstance(scheme, Galerkin) else _of_principle

    def relative(q: Array, free: Array, eta: Array, h: Array) -> dict[str, Array]:
        found = misses(scheme, system, q, full(system, q, free), eta, h)  # type: ignore[arg-type]
        tiny = jnp.finfo(float).tiny
        return {asked: jnp.max(jnp.abs(off)) / (jnp.max(jnp.abs(size)) + tiny) for asked, (off, size) in found.items()}

    by_step = jax.vmap(relative, (None, None, None, 0))
    return jax.vmap(by_step, (0, 0, 0, None))(places, free, eta, _steps())  # type: ignore[arg-type]  # NumPy's


_interpreted = interpret(_relative)


def _of_principle(scheme: Principle, system: System, q: Array, xi: Array, eta: Array, h: Array) -> Misses:
    found: Misses = {}
    v, (by_q, mu) = system.velocity(q, xi), jax.grad(system.lagrangian, (0, 1))(q, xi)
    q1 = q + h * v
    if scheme.own_point is not None:
        found["point(q0, q1) tends to q where q0 and q1 do"] = scheme.at(q, q1) - q, jnp.stack([q, v])
    if scheme.lagrangian is not None:
        ours, slopes = jax.grad(partial(scheme.density, system), (0, 1))(q, xi, h), jnp.concatenate([by_q, mu])
        asked = "lagrangian(system, q, xi, h) / h tends, by its slopes in q and xi, to the system's l(q, xi)"
        found[asked] = jnp.concatenate(ours) / h - slopes, slopes
    if scheme.two_point is not None:
        ends = jnp.stack(jax.grad(lambda q0, q1: scheme.action(system, q0, q1, xi, h), (0, 1))(q, q1))
        asked = "the slopes of two_point in q0 and q1, along the frame, tend to minus and plus the momentum dl/dxi"
        found[asked] = ends @ system.frame(q) + jnp.stack([mu, -mu]), mu
    if scheme.reconstruction is not None:

        def gap(q1: Array) -> Array:
            return scheme.reconstruction_gap(system, q, q1, xi, h)

        scheme.refuse_shape("reconstruction", gap(q1), len(q))
        asked = "q1 of reconstruction(system, q, q1, xi, h) = 0 leaves q at a rate that tends to qdot = Psi(q) xi"
        found[asked] = jnp.linalg.solve(jax.jacfwd(gap)(q1), gap(q1)) / h, v
    if (own := scheme.constraint) is not None:

        def rows(q1: Array) -> Array:
            return jnp.atleast_1d(scheme.call(own, system, q, q1, h))

        scheme.refuse_shape("constraint", rows(q1), len(xi) - system.rank)
        asked = "constraint(system, q, q1, h) = 0 allows rates that tend to those with xi^U = b(q)"
        found[asked] = rows(q1) / h, jax.jacfwd(rows)(q1) * v[None]
    if callable(scheme.variation):
        vary = partial(scheme.call, scheme.variation, system, q, xi)
        found["variation is linear in eta0 and eta1, also"] = _nonlinear(lambda a, b: vary(a, b, 0.1), eta)
        found["eta_bar of variation tends to eta where eta0 and eta1 do"] = vary(eta[0], eta[0], h)[0] - eta[0], eta[0]
        found["h delta xi of variation tends to eta1 - eta0"] = h * vary(*eta[:2], h)[1] - eta[1] + eta[0], eta[:2]
    return found


def _of_galerkin(scheme: Galerkin, system: System, q: Array, xi: Array, eta: Array, h: Array) -> Misses:
    def vary(eta: Array, rate: Array) -> Array:
        return scheme.variation(system, q, xi, eta, rate)  # type: ignore[operator]  # own ones only

    return {
        "variation is linear in eta and eta', also": _nonlinear(vary, eta),
        "delta xi of variation tends to eta' where eta does to 0": (vary(h * eta[0], eta[1]) - eta[1], eta[1]),
    }


def _nonlinear(part: Callable, eta: Array) -> tuple[Array, Array]:
    """By how much part(a, b) misses being linear, and its size: over those of a and b, small ones and large ones."""

    def defect(scale: Array) -> tuple[Array, Array]:
        a, b = scale * eta[:2], scale * eta[2:]
        one, other, both = part(*a), part(*b), part(*(2 * a - 3 * b))
        off = jax.tree.map(lambda a, b, c: (c - 2 * a + 3 * b) / scale, one, other, both)
        return jnp.stack(jax.tree.leaves(off)), jnp.stack(jax.tree.leaves((one, other))) / scale

    small, large = (defect(jnp.asarray(scale)) for scale in SCALES)
    return jnp.stack([small[0], large[0]]), small[1]

"""What a run refuses in words, as a mark that a traced run carries: under jit, vmap and grad nothing can be raised.

`report.refused` is a sum of the codes below, 0 if nothing is wrong; `report.refusals()` says them once they are
numbers, and `trajectory.refusal()` is the very sentence of the refusal outside jit. A parameter is marked by what
`systems.parameters` demands of it; a check that branches in Python cannot be made of a traced value.
"""

import contextlib

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.compiler.reading.parts_of_schemes import off_limits, places
from discrete_hamel.mechanics import gibbs_appell
from discrete_hamel.mechanics.manifold import off_manifold, slack
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.systems._blocks.physical import demanded

ON_CONSTRAINT = 1e-8  # how far off the constraint initial velocities may be, relative to their size

NOT_FINITE, NO_STEP, OFF_CONSTRAINT, PARAMETER, OFF_MANIFOLD, PLACE, PART = 1, 2, 4, 8, 16, 32, 64
SENTENCES = {
    NOT_FINITE: "initial data or parameters are not finite",
    NO_STEP: "the step h is zero or not finite",
    OFF_CONSTRAINT: "the initial velocity is off the constraint",
    OFF_MANIFOLD: "the initial q is off what its redundant coordinates satisfy: dh.project gives the nearest point",
    PARAMETER: "a parameter is impossible: system.check() says which",
    PLACE: "a place of the scheme, its tau, lies outside the step: it is from 0 to 1",
    PART: "a part of the principle does not tend to what is asked of it as h goes to 0",
}


@interpret
def marks(system: System, scheme: Scheme, q: Array, xi: Array, h: Array, v: Array | None, asked: list[Array]) -> Array:
    """The codes of what is wrong with a run's data, summed; xi with all n components, v if given, and `demands`."""
    within = [(place >= 0) & (place <= 1) for place in places(scheme).values()]
    numbers = [leaf for leaf in jax.tree.leaves((system, scheme, q, xi)) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    wrong = {
        NOT_FINITE: ~jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in numbers])),
        NO_STEP: (h == 0) | ~jnp.isfinite(h),
        OFF_CONSTRAINT: _off_constraint(system, q, xi, v),
        OFF_MANIFOLD: off_manifold(system, q) > slack(q),
        PART: off_limits(system, scheme, q),
        **{code: ~jnp.all(jnp.array([True, *said])) for code, said in ((PLACE, within), (PARAMETER, asked))},
    }
    return sum((jnp.where(bad, code, 0) for code, bad in wrong.items()), start=jnp.asarray(0))


def sentences(refused: int) -> tuple[str, ...]:
    """The sentences of a mark."""
    return tuple(sentence for code, sentence in SENTENCES.items() if refused & code)


def _off_constraint(system: System, q: Array, xi: Array, v: Array | None) -> Array:
    """Whether xi^U is not the slip, rows(q, z) not zero, or v not what xi gives; NaN counts elsewhere."""
    if system.frameless:
        sizes = jnp.linalg.norm(gibbs_appell.slopes(system, q, xi), axis=1) * jnp.linalg.norm(xi)
        off = jnp.any(jnp.abs(system.rows(q, xi)) > ON_CONSTRAINT * sizes)
    else:
        slip = system.slip(q)
        size = jnp.maximum(jnp.max(jnp.abs(xi)), jnp.max(jnp.abs(slip), initial=0.0))
        off = jnp.any(jnp.abs(xi[system.rank :] - slip) > ON_CONSTRAINT * size)
    if v is None:
        return off
    return off | jnp.any(jnp.abs(v - system.velocity(q, xi)) > ON_CONSTRAINT * jnp.max(jnp.abs(v)))


def demands(system: System) -> list[Array]:
    """What is demanded of traced numbers by the system's check of its parameters."""
    with demanded() as asked, contextlib.suppress(jax.errors.JAXTypeError, jax.errors.JAXIndexError):
        system.check()
    return asked

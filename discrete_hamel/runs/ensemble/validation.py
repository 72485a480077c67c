"""Who among the members of an ensemble cannot start, and why: looked at side by side."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.mechanics import gibbs_appell, hamel, manifold
from discrete_hamel.mechanics.singular_states import SINGULAR
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.ensemble.failure_codes import Why
from discrete_hamel.runs.ensemble.plain import Axes, in_groups

GROUP = 2048  # members looked at together: few enough for the cache
NEAR_UNITY = 0.9  # singular values then are between 0.1 and 1.9


def one(system: System, axes: Axes, member: int) -> System:
    """The system of one member."""
    leaves, tree = jax.tree.flatten(system)
    own = [leaf if axis is None else leaf[member] for leaf, axis in zip(leaves, axes, strict=True)]
    return jax.tree.unflatten(tree, own)


def starts(
    system: System, axes: Axes, q: np.ndarray, velocity: np.ndarray, quasi: bool
) -> tuple[np.ndarray, np.ndarray]:
    """xi of members, and why those who cannot start cannot. By one thread at a time: where two do batched linear
    algebra at once, XLA has been seen to hang.
    """
    leaves, tree = jax.tree.flatten(system)
    own = [leaf for leaf, axis in zip(leaves, axes, strict=True) if axis is not None]

    def facts(own: list, q: np.ndarray, velocity: np.ndarray) -> tuple[Array, ...]:
        different = iter(own)
        parts = [leaf if axis is None else next(different) for leaf, axis in zip(leaves, axes, strict=True)]
        return _facts(axes, jax.tree.unflatten(tree, parts), q, velocity, quasi)

    xi, finite, inertia, off, apart = in_groups(facts, GROUP, len(q), own, q, velocity)
    size = np.max(np.abs(velocity), axis=1)
    why = np.where(off <= checks.ON_CONSTRAINT * size, Why.WELL, Why.CONSTRAINT)
    why = np.where(apart <= manifold.slack(q), why, Why.POSITION)  # type: ignore[arg-type]
    why = np.where(_regular(inertia), why, Why.DEGENERATE)
    why = np.where(finite, why, Why.FUNCTIONS)
    why = np.where(_allowed(system, axes, len(q)), why, Why.PARAMETERS)
    why = np.where(np.isfinite(q).all(axis=1) & np.isfinite(velocity).all(axis=1), why, Why.DATA)
    return xi, why


@partial(jax.jit, static_argnums=(0, 4))
def _facts(axes: Axes, system: System, q: Array, velocity: Array, quasi: bool) -> tuple[Array, ...]:
    tree = jax.tree.unflatten(jax.tree.structure(system), axes)

    def facts(system: System, q: Array, given: Array) -> tuple[Array, ...]:
        if system.frameless:
            xi = given if quasi else hamel.quasivelocities(system, q, given)
            free, wanted = xi, given if quasi else system.velocity(q, xi)
            fields, slopes = gibbs_appell.directions(system, q, xi), gibbs_appell.slopes(system, q, xi)
            off = jnp.max(jnp.abs(system.rows(q, xi)) / jnp.linalg.norm(slopes, axis=1), initial=0.0)
        else:
            xi = hamel.full(system, q, given[: system.rank]) if quasi else hamel.quasivelocities(system, q, given)
            free, fields, off = xi[: system.rank], system.frame(q), jnp.zeros(())
            wanted = xi[: len(given)] if quasi else fields @ jnp.concatenate([free, system.slip(q)])
        inertia = hamel.inertia(system, q, free)
        parts = (fields, *hamel.balance(system, q, free), inertia, *jax.tree.leaves(system))
        finite = jnp.isfinite(sum(jnp.sum(part * 0) for part in parts))
        scale = jnp.sqrt(jnp.abs(jnp.diag(inertia)))
        off, apart = jnp.maximum(off, jnp.max(jnp.abs(given - wanted))), manifold.off_manifold(system, q)
        return xi, finite, inertia / jnp.outer(scale, scale), off, apart

    return jax.vmap(facts, (tree, 0, 0))(system, q, velocity)


def _allowed(system: System, axes: Axes, members: int) -> np.ndarray:
    """Whose parameters the system's own `check` lets pass; each set of them is looked at once."""
    leaves, tree = jax.tree.flatten(system)
    numbers = jax.tree.unflatten(tree, [np.asarray(leaf) for leaf in leaves])
    different = [np.asarray(a).reshape(members, -1) for a, axis in zip(leaves, axes, strict=True) if axis is not None]
    if not different:
        return np.ones(members, bool)
    _, first, which = np.unique(np.concatenate(different, axis=1), axis=0, return_index=True, return_inverse=True)

    def passes(member: int) -> bool:
        try:
            one(numbers, axes, member).check()
        except ValueError:
            return False
        return True

    return np.array([passes(member) for member in first])[which.reshape(-1)]


def _regular(inertia: np.ndarray) -> np.ndarray:
    """Which of many matrices with a diagonal of ones can be inverted.

    Singular values differ from 1 by ||A - 1|| at most, which leaves few matrices, or none, whose own have to be found.
    """
    regular = np.linalg.norm(inertia - np.eye(inertia.shape[-1]), axis=(1, 2)) < NEAR_UNITY
    others = ~regular & np.isfinite(inertia).all(axis=(1, 2))
    sizes = np.linalg.svd(inertia[others], compute_uv=False)
    regular[others] = sizes[:, -1] > SINGULAR * sizes[:, 0]
    return regular

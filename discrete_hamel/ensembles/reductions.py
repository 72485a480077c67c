"""What is kept of members instead of their nodes: something folded over them, so that memory does not grow."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel.ensembles.plain import Axes
from discrete_hamel.system import System


class Reduction(NamedTuple):
    """`start(system, q, xi)` at a member's first node, then `update(kept, system, q, xi)` at each saved one after it.

    Both are JAX functions of one member and return a dictionary name -> array, which becomes a variable of the result.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> highest = dh.Reduction(
    ...     start=lambda system, q, xi: {"highest": q[1]},
    ...     update=lambda kept, system, q, xi: {"highest": jnp.maximum(kept["highest"], q[1])},
    ... )
    """

    start: Callable[[System, Array, Array], dict[str, Array]]
    update: Callable[[dict[str, Array], System, Array, Array], dict[str, Array]]


@partial(jax.jit, static_argnums=(0, 1))
def first(reduction: Reduction, axes: Axes, system: System, q: Array, xi: Array) -> dict[str, Array]:
    """What is kept of each member at its first node."""

    def one(system: System, q: Array, xi: Array) -> dict[str, Array]:
        return jax.tree.map(jnp.asarray, reduction.start(system, q, xi))

    return jax.vmap(one, (jax.tree.unflatten(jax.tree.structure(system), axes), 0, 0))(system, q, xi)


@partial(jax.jit, static_argnums=(0, 1))
def folded(
    reduction: Reduction, axes: Axes, kept: dict[str, Array], system: System, q: Array, xi: Array, count: Array
) -> dict[str, Array]:
    """After the nodes q (nodes, members, N) and xi, of which each member has reached `count`."""

    def one(kept: dict[str, Array], system: System, q: Array, xi: Array, count: Array) -> dict[str, Array]:
        def node(kept: dict[str, Array], at: tuple) -> tuple[dict[str, Array], None]:
            k, q, xi = at
            new = reduction.update(kept, system, q, xi)
            return jax.tree.map(lambda a, b: jnp.where(k < count, a, b).astype(b.dtype), new, kept), None

        return lax.scan(node, kept, (jnp.arange(len(q)), q, xi))[0]

    tree = jax.tree.unflatten(jax.tree.structure(system), axes)
    return jax.vmap(one, (0, tree, 1, 1, 0))(kept, system, q, xi, count)

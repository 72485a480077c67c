"""Steps of a scheme in NumPy alone: its own functions as JAX traces them, evaluated by `jaxprs_by_numpy`."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import discrete_hamel as dh
from benchmarks import jaxprs_by_numpy

MOST_ITERATIONS = 12


def nodes(system: Any, scheme: Any, q: np.ndarray, xi: np.ndarray, whole: Any, steps: int) -> tuple[np.ndarray, ...]:
    """(q, p) at the nodes from (q, xi): Newton's method, Jacobians column by column."""
    rule, lengths = scheme.substeps(whole) or (scheme, whole[None])

    def read(function: Callable, *arguments: Any) -> Callable:
        closed = jax.make_jaxpr(function)(*arguments)
        tree = jax.tree.structure(jax.eval_shape(function, *arguments))

        def evaluate(*values: Any) -> Any:
            flat = jax.tree.leaves(values)
            return jax.tree.unflatten(tree, jaxprs_by_numpy.evaluated(closed.jaxpr, closed.consts, *flat))

        return evaluate

    state = read(lambda q, xi, h: dh.start(system, rule, q, xi, h), q, xi, whole)(q, xi, lengths[0])
    guess = read(lambda state, h: rule.guess(system, state, h), state, whole)
    z = guess(state, lengths[0])
    residual = read(lambda state, h, z: rule.residual(system, state, h, z), state, whole, z)
    along = read(
        lambda state, h, z, d: jax.jvp(lambda z: rule.residual(system, state, h, z), (z,), (d,))[1], state, whole, z, z
    )
    advance = read(lambda state, h, z: rule.advance(system, state, h, z)[0], state, whole, z)
    found = [(state.q, state.p)]
    for _ in range(steps):
        for h in np.asarray(lengths):
            z = guess(state, h)
            for _ in range(MOST_ITERATIONS):
                jacobian = np.stack([along(state, h, z, d) for d in np.eye(len(z))], axis=1)
                change = np.linalg.solve(jacobian, residual(state, h, z))
                z = z - change
                if np.abs(change).max() <= 1e-15 * max(1.0, np.abs(z).max()):
                    break
            state = advance(state, h, z)
        found.append((state.q, state.p))
    return tuple(np.array(each) for each in zip(*found, strict=True))

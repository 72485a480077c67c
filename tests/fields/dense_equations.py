"""What a run at linear cost leaves of the discrete Hamel equations, with frame and structure as matrices."""

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.schemes.scheme import State


@jax.jit
def _left(system, h, q, p, xi, after):
    scheme = dh.DiscreteHamel()
    state, z = State(q, p, xi), jnp.concatenate([xi[: system.rank], after])
    return scheme.residual(system, state, h, z), scheme.advance(system, state, h, z)[0].p


def is_the_discrete_hamel_map(run, atol=1e-12):
    """Asserts (D1) and (D2), tau = 1/2, for some intervals of a run that keeps each node."""
    last = len(run) - 2
    for k in (0, last // 3, last):
        rows, p = _left(run.system, jnp.asarray(run.h), run.q[k], run.p[k], run.xi_mid[k], run.q[k + 1])
        np.testing.assert_allclose(rows, 0, atol=atol)
        np.testing.assert_allclose(p, run.p[k + 1], atol=atol)
    assert np.max(np.abs(run.q[-1] - run.q[0])) > 0.01

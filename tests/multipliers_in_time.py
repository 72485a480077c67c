"""Lagrange-d'Alembert with multipliers for L(t, q, v), constraints c(t, q, v) = 0 affine in v, and forces f(t, q, v).

Time stands on its own here: no clock among the coordinates, no frame, no bracket, no slip.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp


def no_force(t, q, v, s):
    return jnp.zeros_like(q)


@partial(jax.jit, static_argnums=(0, 1, 2))
def accelerations(L, constraint, force, t, q, v, s):
    """(q'', lambda) of d/dt dL/dv - dL/dq = f + lambda . dc/dv,  d/dt c = 0; `s`, any pytree, is passed on."""
    ones = jnp.ones_like(t)
    momentum = jax.grad(L, 2)
    mass = jax.jacfwd(momentum, 2)(t, q, v, s)
    drift = jax.jvp(lambda t, q: momentum(t, q, v, s), (t, q), (ones, v))[1]
    applied = jax.grad(L, 1)(t, q, v, s) + force(t, q, v, s) - drift
    rows = jax.jacfwd(constraint, 2)(t, q, v, s)
    bend = -jax.jvp(lambda t, q: constraint(t, q, v, s), (t, q), (ones, v))[1]
    kkt = jnp.block([[mass, -rows.T], [rows, jnp.zeros((len(rows), len(rows)))]])
    solution = jnp.linalg.solve(kkt, jnp.concatenate([applied, bend]))
    return solution[: len(q)], solution[len(q) :]


def motion(L, constraint, q, v, times, s=None, force=no_force):
    """q and v at `times`, the first of which is the start, by DOP853 at 1e-12."""
    n = len(q)

    def rate(t, y):
        a, _ = accelerations(L, constraint, force, t, jnp.asarray(y[:n]), jnp.asarray(y[n:]), s)
        return np.concatenate([y[n:], a])

    start = np.concatenate([np.asarray(q, float), np.asarray(v, float)])
    run = solve_ivp(rate, (times[0], times[-1]), start, "DOP853", t_eval=times, rtol=1e-12, atol=1e-12)
    assert run.success
    return run.y[:n].T, run.y[n:].T


def unit(angle):
    return jnp.stack([jnp.cos(angle), jnp.sin(angle)])


def across(angle):
    return jnp.stack([-jnp.sin(angle), jnp.cos(angle)])


def moving(place, q, v):
    """The velocity of place(q)."""
    return jax.jvp(place, (q,), (v,))[1]

"""Systems with truly nonlinear constraints for these tests, and their motion by multipliers, without our formulas."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from checkers import falls

import discrete_hamel as dh


def metric(q):
    """A mass matrix that varies with q, positive definite."""
    a, b = 0.3 * jnp.sin(q[0]), 0.2 * jnp.cos(q[1] + q[2])
    return jnp.array([[2.0 + a, b, 0.1], [b, 1.5 + 0.2 * jnp.sin(q[1]), 0.0], [0.1, 0.0, 1.0 + 0.1 * q[0] ** 2]])


def lagrangian(q, v, drag=0.0):
    potential = 0.5 * q[0] ** 2 + jnp.cos(q[1]) + 0.2 * q[2] ** 2 + 0.1 * q[0] * q[2]
    return 0.5 * v @ metric(q) @ v + 0.3 * q[1] * v[0] - potential + 0 * drag  # with a magnetic term


def radius(q):
    return 1.0 + 0.3 * jnp.sin(q[0] - q[1])


def cone(q, z, drag=0.0):  # all functions take the parameters
    """x'^2 + y'^2 = (r(q) w)^2, w the third velocity, as of Appell and Hamel: homogeneous."""
    return jnp.stack([radius(q) * z[1] * jnp.cos(z[0]), radius(q) * z[1] * jnp.sin(z[0]), z[1]])


def cone_row(q, v):
    return jnp.stack([v[0] ** 2 + v[1] ** 2 - (radius(q) * v[2]) ** 2])


def dragging(q, v, drag):
    return -drag * v + 0 * q


CONE = dh.nonlinear(lagrangian, cone, 2, force=dragging, params=0.0)
DRAGGED = CONE.replace(params=0.1)  # shares all compilations


def cylinder(q, z):
    """x'^2 + y'^2 = r(q)^2, w free: not homogeneous, so that reactions work."""
    return jnp.stack([radius(q) * jnp.cos(z[0]), radius(q) * jnp.sin(z[0]), z[1]])


def cylinder_row(q, v):
    return jnp.stack([v[0] ** 2 + v[1] ** 2 - radius(q) ** 2])


CYLINDER = dh.nonlinear(lagrangian, cylinder, 2)


@dataclasses.dataclass(frozen=True, eq=False)
class Run:
    """A system, initial data and a time; `row` is its constraint C(q, v)."""

    system: dh.NonlinearSystem
    q: tuple
    z: tuple
    time: float
    row: object = None


def parallel_row(_, v):
    return jnp.stack([v[0] * v[3] - v[1] * v[2]])


POINTS = Run(dh.systems.TwoPointsParallelVelocities(), (0.0, 0.0, 1.0, 0.3), (1.0, -2.0, 1.2), 3.0, parallel_row)
SLOPE = Run(
    dh.systems.TwoPointsParallelVelocities.inclined_plane(1.0, 3.0), (0.0, 0, 0, 1), (1.0, -1.0, 1.5), 3.0, parallel_row
)
ON_CONE = Run(CONE, (0.2, 0.1, -0.3), (0.4, 0.9), 2.0, cone_row)
ON_CYLINDER = Run(CYLINDER, (0.2, 0.1, -0.3), (0.4, 0.9), 2.0, cylinder_row)
RUNS = {"points": POINTS, "slope": SLOPE, "cone": ON_CONE, "cylinder": ON_CYLINDER}

_ends = {}


def end(trajectory):
    return np.concatenate([trajectory.q[-1], trajectory.xi[-1]])


def exact_end(run):
    """By DOP853, to some 1e-12."""
    if run not in _ends:
        _ends[run] = end(dh.reference(run.system, run.q, run.z, t=run.time))
    return _ends[run]


def finer_end(run):
    """By Gauss(8), to some 1e-14, which has to agree with DOP853 as far as that goes."""
    if (run, 8) not in _ends:
        found = end(dh.simulate(run.system, run.q, run.z, h=run.time / 60, steps=60, scheme=dh.Gauss(8)))
        assert np.linalg.norm(found - exact_end(run)) < 2e-11
        _ends[run, 8] = found
    return _ends[run, 8]


def errors(run, scheme, counts, exact=exact_end):
    ends = [end(dh.simulate(run.system, run.q, run.z, h=run.time / n, steps=n, scheme=scheme)) for n in counts]
    return np.array([np.linalg.norm(found - exact(run)) for found in ends])


def has_order(run, scheme, order, counts):
    """Two-sided, within 0.1, or 0.3 above order 6: the error falls with this power of h, well above the reference's."""
    found = errors(run, scheme, counts, finer_end if order >= 6 else exact_end)
    falls(found, counts, order, above=1e-12 if order >= 6 else 1e-10)


DERIVATIVES = {}


def accelerations_by_multipliers(lagrangian, row, q, v, force=None):
    """qddot of d/dt L_v - L_q = f + lambda C_v, C_v qddot + C_q v = 0 (Chetaev), by one dense solve in NumPy."""
    key = (lagrangian, row)
    if key not in DERIVATIVES:
        by_v = jax.grad(lagrangian, 1)
        DERIVATIVES[key] = jax.jit(
            lambda q, v: (
                jax.hessian(lagrangian, 1)(q, v),
                jax.jacfwd(by_v, 0)(q, v) @ v,
                jax.grad(lagrangian, 0)(q, v),
                jax.jacfwd(row, 1)(q, v),
                jax.jacfwd(row, 0)(q, v) @ v,
            )
        )
    mass, drift, slope, along, turning = (np.asarray(a) for a in DERIVATIVES[key](jnp.asarray(q), jnp.asarray(v)))
    n, r = len(v), len(along)
    matrix = np.block([[mass, -along.T], [along, np.zeros((r, r))]])
    right = np.concatenate([slope - drift + (0 if force is None else np.asarray(force)), -turning])
    return np.linalg.solve(matrix, right)[:n]

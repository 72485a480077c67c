"""Measures: what of the momenta's volume, or of phase volume, the motion and a scheme keep."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities, Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.motion.node_states import remembers
from discrete_hamel.analysis.symmetry import hypotheses
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.reading.output_shapes import shapes
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.newton import Report
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.schemes.nonlinear_midpoint import default_scheme
from discrete_hamel.schemes.scheme import Scheme, State

KEPT = 1e-10  # residual, relative to the terms that cancel, that counts as zero


def divergence(system: System, q: Coordinates, xi: Quasivelocities) -> float:
    """Returns div = sum_j d(p_j')/dp_j at fixed q: the rate at which the flow of the momenta p, on D, expands their
    volume.

    [QS] 5.2, for Euler-Poincare(-Suslov) systems, where the momenta move on their own

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    >>> round(dh.divergence(sleigh, [0.0, 0, 0], [0.0, 2.0]), 6)    # -a m v / (J + m a^2): it contracts
    -0.930233
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    _euler_poincare(system, q, "the divergence in the momenta")
    return float(_divergence(system, q, xi[: system.rank]))


@jax.jit
def _divergence(system: System, q: Array, free: Array) -> Array:
    inertia = hamel.inertia(system, q, free)
    rate = jax.jacfwd(lambda v: hamel.balance(system, q, v)[1])(free)
    return jnp.trace(jnp.linalg.solve(inertia.T, rate.T))


def measure_condition(system: System, q: Coordinates) -> np.ndarray:
    """Returns the part of K ad*_{I^-1 a} a + T along D, m numbers: zero iff the momentum flow keeps a smooth measure.

    K C^C_AB I^AD a_C a_D + C^C_BC = gamma a_B,  K = 1 / <a, I^-1 a>;    [QS] (5.5), (5.6); Kozlov 1988, Jovanovic 1998

    in the adapted frame, where a is the last covector, and the a_B of several constraints summed with the inverse of
    <a^a, I^-1 a^b>. Without constraint it is the unimodularity of the algebra, [QS] Theorem 5.1. The divergence is this
    covector on xi.

    >>> import discrete_hamel as dh
    >>> dh.measure_condition(dh.systems.ChaplyginSleigh(offset=0.0), [0.0, 0, 0]).tolist()
    [0.0, 0.0]
    >>> dh.measure_condition(dh.systems.Suslov(), dh.systems.Suslov().sample()["q"]).round(4).tolist()
    [0.2, -0.1667]
    """
    q = on_device(checks.vector("q", q))
    system = checks.canonical(system).at(q, checks.by_numpy)
    shapes(system, q)
    _euler_poincare(system, q, "the condition for an invariant measure")
    return np.asarray(_condition(system, q))


@jax.jit
def _condition(system: System, q: Array) -> Array:
    m = system.rank
    c = system.structure(q)
    n = len(c)
    inverse = jnp.linalg.inv(jax.hessian(system.lagrangian, 1)(q, jnp.zeros(n)))
    trace = jnp.einsum("cbc->b", c)
    if m == n:
        return trace
    weights = jnp.linalg.inv(inverse[m:, m:])
    return (jnp.einsum("aib,ix,ax->b", c[m:], inverse[:, m:], weights) + trace)[:m]


def keeps_measure(system: System, q: Coordinates) -> bool:
    """Returns whether an Euler-Poincare(-Suslov) system keeps a measure of smooth positive density on its momenta.

    For a quadratic field such a density exists iff the volume itself is kept, Kozlov's theorem in [QS] 5.1.

    >>> import discrete_hamel as dh
    >>> principal, oblique = dh.systems.ReducedSuslov(inertia=(1.0, 2.0, 2.5)), dh.systems.ReducedSuslov()
    >>> dh.keeps_measure(principal, []), dh.keeps_measure(oblique, [])
    (True, False)
    """
    size = float(np.max(np.abs(np.asarray(hamel.structure(system, q))), initial=0.0))
    return bool(np.max(np.abs(measure_condition(system, q)), initial=0.0) <= KEPT * max(size, 1e-300))


def transported_density(system: System, q: Coordinates, xi: Quasivelocities, t: ArrayLike) -> np.ndarray:
    """Returns rho(t) along a motion, of a density that is 1 at its start and is carried by the flow of the momenta.

    rho = exp(- int div dt): 1 for ever where the volume is kept; without bound on motions that end in an attractor.

    >>> import discrete_hamel as dh
    >>> dh.transported_density(dh.systems.ReducedSuslov(inertia=(1.0, 2.0, 2.5)), [], [0.3, 0.8], [0.0, 5.0]).tolist()
    [1.0, 1.0]
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    _euler_poincare(system, q, "the transport of a density of the momenta")
    times = np.atleast_1d(np.asarray(t, float))
    m = system.rank
    found = scipy.integrate.solve_ivp(
        lambda _, y: np.asarray(_rates(system, q, y)),
        (0.0, times[-1]),
        np.append(np.asarray(xi)[:m], 0.0),
        "DOP853",
        t_eval=times,
        rtol=1e-12,
        atol=1e-12,
    )
    return np.exp(-found.y[m])


@jax.jit
def _rates(system: System, q: Array, y: Array) -> Array:
    free = y[:-1]
    _, acceleration = hamel.vector_field(system, q, free)
    return jnp.append(acceleration[: len(free)], _divergence(system, q, free))


def volume_change(
    system: System, q: Coordinates, xi: Quasivelocities, *, h: Scalar, scheme: Scheme | None = None
) -> float:
    """Returns ln |det| of one step (q, p) -> (q', p'): by how much, and in which sense, it changes phase volume.

    The volume is that of the frame's coframe and the momenta, omega^1 ... omega^n dp_1 ... dp_m, so that redundant
    coordinates count with their true dimensions. Where the fields are dependent as vectors, or fewer coordinates than
    fields are kept, it is that of the coordinates as they lie in R^N.

    >>> import discrete_hamel as dh
    >>> principal, oblique = dh.systems.ReducedSuslov(inertia=(1.0, 2.0, 2.5)), dh.systems.ReducedSuslov()
    >>> changes = [dh.volume_change(body, [], [0.3, 0.8], h=0.1) for body in (principal, oblique)]
    >>> abs(changes[0]) < 1e-12, abs(changes[1]) > 1e-3
    (True, True)
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    scheme = checks.canonical(default_scheme(system) if scheme is None else scheme)
    h = checks.step_size(h)
    state = scheme.start(system, q, xi, h)
    if remembers(state):
        raise InputError(
            f"a step of {type(scheme).__name__} is no map of (q, p) alone; its phase volume is not defined."
        )
    rank = int(np.linalg.matrix_rank(np.asarray(system.frame(q)))) if len(q) else 0
    change, report = _volume_change(rank, system, scheme, state, h)
    if not bool(report.converged):
        raise InputError(f"the step of size {float(h):g} could not be solved here; take a smaller one.")
    return float(change)


@partial(jax.jit, static_argnums=0)
def _volume_change(rank: int, system: System, scheme: Scheme, state: State, h: Array) -> tuple[Array, Report]:
    directions, _ = _directions(rank, system, state.q)

    def end_of_step(q: Array, p: Array) -> tuple[tuple[Array, Array], Report]:
        after, interval = scheme.step(system, state.replace(q=q, p=p), h)
        return (after.q, after.p), interval.report

    def along(tangent: Array) -> tuple[Array, Array]:
        dq, dp = directions @ tangent[:rank], tangent[rank:]
        _, of_end, _ = jax.jvp(end_of_step, (state.q, state.p), (dq, dp), has_aux=True)
        return of_end

    ends, momenta = jax.vmap(along)(jnp.eye(rank + len(state.p)))
    (end, _), report = end_of_step(state.q, state.p)
    _, back = _directions(rank, system, end)
    return jnp.linalg.slogdet(jnp.concatenate([back @ ends.T, momenta.T]))[1], report


def _directions(rank: int, system: System, q: Array) -> tuple[Array, Array]:
    """A basis of the directions of q, and what takes velocities to their components: the frame's, or orthonormal."""
    psi = system.frame(q)
    if rank == psi.shape[1]:
        return psi, jnp.linalg.pinv(psi)
    basis = jnp.linalg.svd(psi, full_matrices=False)[0][:, :rank] if rank else jnp.zeros((len(q), 0))
    return basis, basis.T


def _euler_poincare(system: System, q: Array, what: str) -> None:
    for hypothesis in (hypotheses.no_slip, hypotheses.natural, hypotheses.left_invariant, hypotheses.force_free):
        hypothesis(system, q, what)

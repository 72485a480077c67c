"""The action of a motion, its variation along given fields, and what Hamel's variations are off those of paths."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.mechanics import frames, hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.cortes_martinez import CortesMartinez
from discrete_hamel.schemes.discrete_hamel import DiscreteHamel, StaggeredHamel
from discrete_hamel.schemes.lagrangian import refuse_dependent
from discrete_hamel.schemes.principle import Principle
from discrete_hamel.schemes.scheme import Scheme

Eta = Callable[[Array], Array] | ArrayLike  # of t, or its values: m or n components in the frame


def principle_of(scheme: Scheme) -> Principle:
    """The principle whose instance a scheme is.

    >>> import discrete_hamel as dh
    >>> principle_of(dh.DiscreteHamel(0.3))
    Principle(point=0.3)
    """
    if isinstance(scheme, Principle):
        return scheme
    if type(scheme) is DiscreteHamel:
        return Principle(point=scheme.tau)
    if type(scheme) is StaggeredHamel:
        return Principle(staggered=True)
    if type(scheme) is CortesMartinez:
        points = scheme.lagrangian_at, scheme.constraint_at
        if not any(isinstance(point, jax.core.Tracer) for point in points) and points[0] == points[1]:
            return Principle(point=points[0], variation="derived")
        return Principle(two_point=_on_chord, reconstruction=_at_its_point, point=points[0], params=points)
    raise InputError(
        f"{type(scheme).__name__} comes from no discrete principle that the library knows: give principle=, one by "
        "which to judge its motion, Principle() for that of the tau-rule at tau = 1/2."
    )


def _on_chord(system: System, q0: Array, q1: Array, h: Array, points: tuple) -> Array:
    """h L(q_a, (q1 - q0)/h), L(q, v) = l(q, Psi^+ v).   [HE] 5.3"""
    q = (1 - points[0]) * q0 + points[0] * q1
    return h * system.lagrangian(q, frames.left_inverse(system.frame(q), (q1 - q0) / h))


def _at_its_point(system: System, q0: Array, q1: Array, xi: Array, h: Array, points: tuple) -> Array:
    q = (1 - points[1]) * q0 + points[1] * q1
    return q1 - q0 - h * (system.frame(q) @ hamel.full(system, q, xi[: system.rank]))


def action(trajectory: Trajectory, *, principle: Principle | None = None) -> float | Array:
    """Returns the action of a motion: s^d = sum l^d(q_bar, xi) of the scheme's principle, [HE] (5.3); of a reference
    int l dt.

    The integral is that of a spline of degree five through the nodes, so of order six in their distance. `principle`
    is the one to use instead of the scheme's own.

    >>> import discrete_hamel as dh, numpy as np
    >>> sleigh, start = dh.systems.ChaplyginSleigh(), ([0.1, 0, 0], [1.5, -0.3])
    >>> run = dh.simulate(sleigh, *start, h=0.01, steps=100)
    >>> exact = dh.reference(sleigh, *start, t=np.linspace(0, 1, 101))
    >>> bool(abs(dh.action(run) - dh.action(exact)) < 1e-4)
    True
    """
    if trajectory.scheme is None and principle is None:
        return _integral(
            trajectory.t, _density(trajectory.system, jnp.asarray(trajectory.q), jnp.asarray(trajectory.xi))
        )
    judge, h, parts = _intervals(trajectory, principle)
    return _number(jnp.sum(_actions(judge, trajectory.system, h, *parts)))


def action_variation(trajectory: Trajectory, eta: Eta, *, principle: Principle | None = None) -> float | Array:
    """Returns delta s along eta, with the work of forces: 0 on every motion, for all eta in D that vanish at both ends.

        sum <dl^d, (Psi eta_bar, delta xi)> + h <f, eta_bar>                        [HE] Theorems 5.1, 5.2
        int <l_q, Psi eta> + <mu, eta' + [xi, eta]> + <f, eta> dt, of a reference   [HE] (3.8), (3.9), Theorem 3.1

    eta is a JAX function of t, or an array with a row for each node; it has m components, along D, or n. Along U this
    is minus what the reactions do: - int lambda_a eta^a dt. Where eta does not vanish at the ends it is, for eta in D,
    <p_K, eta_K> - <p_0, eta_0>. A staggered principle has eta between its points, so from h/2 before the first to h/2
    after the last, K + 2 rows.

    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> run = dh.simulate(sleigh, [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=100)
    >>> bump = lambda t: (t * (1 - t)) ** 2
    >>> along = lambda j: dh.action_variation(run, lambda t: bump(t) * jnp.eye(3)[j])
    >>> [bool(abs(along(j)) < 1e-14) for j in range(3)]                       # turn and forward; and across the blade
    [True, True, False]
    """
    if trajectory.scheme is None and principle is None:
        t, q, xi = (jnp.asarray(a) for a in (trajectory.t, trajectory.q, trajectory.xi))
        values, rates = _field(eta, np.asarray(t), trajectory)
        return _integral(trajectory.t, _rate(trajectory.system, q, xi, values, rates))
    judge, h, parts = _intervals(trajectory, principle)
    t = jnp.asarray(trajectory.t)
    if judge.staggered:
        t = jnp.append(t - h / 2, t[-1] + h / 2)
    values, _ = _field(eta, t, trajectory, rates=False)
    return _number(jnp.sum(_variations(judge, trajectory.system, h, *parts, values[:-1], values[1:])))


def transpositional_defect(trajectory: Trajectory, *, principle: Principle | None = None) -> np.ndarray:
    """Returns delta l^d of an interval by its own formula less that of varied nodes, (K, 2, n), both with the work of
    forces, as in `action_variation`; 0 where the fields are constant.

    Hamel's variations (5.7), (5.8) are not those that delta q_k = Psi(q_k) eta_k and the reconstruction give ([HE]
    Remark 5.1). With eta in the middle of an interval and eta' its rate the difference is

        defect[k, 0] @ eta + defect[k, 1] @ eta'

    of order h^3 at tau = 1/2, else h^2. A principle with derived variations is compared with Hamel's.

    >>> import discrete_hamel as dh
    >>> run = dh.simulate(dh.systems.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.01, steps=100)
    >>> bool(1e-8 < abs(dh.transpositional_defect(run)).max() < 1e-6)
    True
    """
    judge, h, parts = _intervals(trajectory, principle)
    if judge.staggered or judge.two_point is not None:
        raise InputError(
            "the defect compares two variations of one l^d(q_bar, xi): a staggered principle has no variations of "
            "nodes, and L^d(q0, q1) has only those."
        )
    refuse_dependent(trajectory.system, jnp.asarray(trajectory.q[0]), "The transpositional defect")
    own = judge.replace(variation="hamel") if judge.variation == "derived" else judge
    return np.asarray(_defects(own, judge.replace(variation="derived"), trajectory.system, h, *parts))


# --- on intervals ---


def _number(value: Array) -> float | Array:
    return value if isinstance(value, jax.core.Tracer) else float(value)


def _intervals(run: Trajectory, principle: Principle | None) -> tuple[Principle, Array, tuple[Array, Array, Array]]:
    """The principle, h, and of each interval q_k, q_{k+1}, xi; of staggered ones the points, twice."""
    if run.scheme is None or run.save_every != 1:
        raise InputError("a sum over steps needs a trajectory of simulate with save_every = 1.")
    if run.scheme.time(run.final) is not None:
        raise InputError("the action sum is written for a constant step; here the steps vary.")
    judge = principle_of(run.scheme) if principle is None else principle
    q, h = jnp.asarray(run.q), jnp.asarray(run.h)
    if judge.staggered:
        return judge, h, (q, q, jnp.asarray(run.xi))
    return judge, h, (q[:-1], q[1:], jnp.asarray(run.xi_mid))


@interpret
def _actions(judge: Principle, system: System, h: Array, *parts: Array) -> Array:
    return jax.vmap(lambda q0, q1, xi: judge.action(system, q0, q1, xi, h))(*parts)


@interpret
def _variations(judge: Principle, system: System, h: Array, *parts: Array) -> Array:
    return jax.vmap(lambda q0, q1, xi, eta0, eta1: judge.vary(system, q0, q1, xi, h, eta0, eta1))(*parts)


@interpret
def _defects(own: Principle, derived: Principle, system: System, h: Array, *parts: Array) -> Array:
    def of_interval(q0: Array, q1: Array, xi: Array) -> Array:
        def along(eta: Array, rate: Array) -> Array:
            ends = eta - own.point * h * rate, eta + (1 - own.point) * h * rate
            return own.vary(system, q0, q1, xi, h, *ends) - derived.vary(system, q0, q1, xi, h, *ends)

        return jnp.stack(jax.grad(along, (0, 1))(jnp.zeros_like(xi), jnp.zeros_like(xi)))

    return jax.vmap(of_interval)(*parts)


# --- continuous ---


@interpret
def _density(system: System, q: Array, xi: Array) -> Array:
    return jax.vmap(system.lagrangian)(q, xi)


@interpret
def _rate(system: System, q: Array, xi: Array, eta: Array, rate: Array) -> Array:
    """<l_q, Psi eta> + <mu, eta' + [xi, eta]> + <f, eta> at the nodes.   [HE] (3.8), (3.9)"""

    def at(q: Array, xi: Array, eta: Array, rate: Array) -> Array:
        slope, momentum = jax.grad(system.lagrangian, (0, 1))(q, xi)
        twisted = system.coadjoint(q, xi, momentum) @ eta
        return slope @ (system.frame(q) @ eta) + momentum @ rate + twisted + system.force(q, xi) @ eta

    return jax.vmap(at)(q, xi, eta, rate)


def _integral(t: ArrayLike, values: Array) -> float:
    """That of the spline of degree five through the values."""
    t = np.asarray(t)
    if len(t) < 2:
        return 0.0
    forward = np.sign(t[-1] - t[0])
    spline = scipy.interpolate.make_interp_spline(forward * t, np.asarray(values), min(5, len(t) - 1))
    return float(forward * spline.integrate(forward * t[0], forward * t[-1]))


def _field(eta: Eta, t: Array | np.ndarray, run: Trajectory, *, rates: bool = True) -> tuple[Array, Array | None]:
    """eta and eta' at the times, with n components."""
    m, n = run.system.rank, run.xi.shape[1]
    if callable(eta):
        values, slopes = jax.vmap(lambda t: jax.jvp(eta, (t,), (jnp.ones_like(t),)))(jnp.asarray(t))
    else:
        values, slopes = jnp.asarray(eta, float), None
    if values.shape not in ((len(t), m), (len(t), n)):
        raise InputError(
            f"eta has shape {values.shape}; it has a row for each of {len(t)} times and {m} components, those along D, "
            f"or all {n}."
        )
    if slopes is None and rates:
        forward = np.sign(t[-1] - t[0])
        spline = scipy.interpolate.make_interp_spline(forward * t, np.asarray(values), min(5, len(t) - 1))
        slopes = jnp.asarray(forward * spline.derivative()(forward * t))
    short = partial(jnp.pad, pad_width=((0, 0), (0, n - values.shape[1])))
    return short(values), None if slopes is None else short(slopes)

"""Where energy comes from and goes to: the power of forces and moving constraints, the work along a run."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics import frames, gibbs_appell, hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import Trajectory


class Supplied(NamedTuple):
    """Power, or work, by where it comes from."""

    forces: Array | np.ndarray  # <f, xi>
    slip: Array | np.ndarray  # lambda_a b^a: the reactions' power through the moving constraint

    @property
    def total(self) -> Array | np.ndarray:
        """All of E'."""
        return self.forces + self.slip


def power(system: System, q: Coordinates, xi: Quasivelocities) -> Supplied:
    """Returns the two parts of E' = <f, xi> + lambda_a b^a(q), along (H).   [MD] Proposition 3.2.2

    >>> import discrete_hamel as dh
    >>> table = dh.systems.BallOnTurntable(rate=1.0)
    >>> parts = dh.power(table, table.sample()["q"], [0.0, 2.0, 0.0])
    >>> float(parts.forces), round(float(parts.slip), 4)      # the table works on the ball
    (0.0, 0.0057)
    """
    system, (q, xi) = hamel.arguments(system, q, xi=xi)
    if system.frameless:
        return _nonlinear_power(system, q, xi)
    return Supplied(system.force(q, xi) @ xi, hamel.reactions(system, q, xi) @ system.slip(q))


def _nonlinear_power(system: System, q: Array, z: Array) -> Supplied:
    """<f, psi>, and what the reactions do where psi is not in the span of psi_z: the rest of E' along the motion."""
    v = system.velocity(q, z)
    _, rate = jax.jvp(partial(gibbs_appell.energy, system), (q, z), gibbs_appell.vector_field(system, q, z))
    forces = system.force(q, v) @ v
    return Supplied(forces, rate - forces)


def moving_energy(system: System, q: Coordinates, xi: Quasivelocities, field: Callable | None = None) -> Array:
    """Returns E - <mu, eta> for a field Psi eta with eta^U = b, by default eta = (0, b).   Fasso & Sansonetto (2016)

    Its rate is that of E with the reactions gone: -eta[l] + <f, xi - eta>, where eta[l] is the change of l along the
    lifted field. So it is constant without forces if the field is a symmetry of l: a table's rotation, a belt's motion.
    `field`, q to an N-vector, is such a generator (`system.symmetries()` has them); its eta^U must be b.

    >>> import discrete_hamel as dh
    >>> table = dh.systems.BallOnTurntable()
    >>> traj = dh.simulate(table, table.sample()["q"], [0.0, 2.0, 4.0], h=0.01, steps=300)
    >>> moving = [float(dh.moving_energy(table, q, xi, table.with_the_table)) for q, xi in zip(traj.q, traj.xi)]
    >>> max(moving) - min(moving) < 1e-12, float(traj.energy.max() - traj.energy.min()) > 1e-3
    (True, True)
    """
    system, (q, xi) = hamel.arguments(system, q, xi=xi)
    value, mu = jax.value_and_grad(system.lagrangian, 1)(q, xi)
    if field is None:
        return mu @ xi - value - mu[system.rank :] @ system.slip(q)
    return mu @ (xi - frames.left_inverse(system.frame(q), field(q))) - value


def work(trajectory: Trajectory) -> Supplied:
    """Returns the work done since the start, at the nodes: (K+1,) by forces, and by reactions through the moving
    constraint.

    For schemes of order two it is summed where the scheme itself takes the force,

        W_{k+1} = W_k + h (<f, xi> + lambda_a b^a)  at  (q_{k+tau}, xi_{k,k+1}),

    and closes with the energy to O(h^2), or exactly where the scheme's energy does (EnergyExact, constant
    coefficients). For others, runs that save only some nodes, and references it is the integral of the spline of degree
    five through the power at the nodes, of order six.

    >>> import jax.numpy as jnp
    >>> import discrete_hamel as dh
    >>> pushed = dh.forced(dh.systems.ChaplyginSleigh(offset=0.0), lambda q, xi: jnp.array([0.0, 0.5, 0.0]))
    >>> traj = dh.simulate(pushed, [0.0, 0, 0], [0.0, 0.0], h=0.1, steps=20)
    >>> round(float(dh.work(traj).forces[-1]), 12), round(float(traj.energy[-1]), 12)
    (0.5, 0.5)
    """
    scheme = trajectory.scheme
    inside = scheme is not None and trajectory.save_every == 1 and scheme.order in (1, 2)
    return _on_intervals(trajectory) if inside else _between_nodes(trajectory)


def _on_intervals(run: Trajectory) -> Supplied:
    tau = run.scheme.point
    inside = run.replace(q=(1 - tau) * run.q[:-1] + tau * run.q[1:], xi=run.xi_mid)
    h = run.t[1:] - run.t[:-1]
    return Supplied(*(_cumulative_sum(h * part) for part in inside._evaluate(power)))


def _between_nodes(run: Trajectory) -> Supplied:
    if isinstance(run.q, jax.core.Tracer):
        raise InputError(
            "work between nodes is a spline's, which jax cannot trace. Call work outside of jit, grad and vmap, or "
            "save every node of a scheme of order two."
        )
    degree = min(5, len(run.t) - 1)
    if not degree:
        return Supplied(np.zeros(1), np.zeros(1))
    forward = np.sign(run.t[-1] - run.t[0])  # splines want times that grow
    splines = (scipy.interpolate.make_interp_spline(forward * run.t, part, degree) for part in run._evaluate(power))
    return Supplied(*(forward * spline.antiderivative()(forward * run.t) for spline in splines))


def _cumulative_sum(parts: Array) -> Array | np.ndarray:
    if isinstance(parts, jax.core.Tracer):
        return jnp.concatenate([jnp.zeros(1), jnp.cumsum(parts)])
    return np.concatenate([[0.0], np.cumsum(parts)])

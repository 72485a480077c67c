"""Forces put on a system: given, dissipative (Rayleigh), gyroscopic (magnetic), and inputs that depend on time.

Each makes a new system, so they go together: damped(controlled(car, motor), drag). In the schemes a force enters where
the other terms of F do, f_j(q_{k+tau}, xi_{k,k+1}) in (D2): the forced discrete Lagrange-d'Alembert principle in the
frame, which keeps the scheme's order.   Marsden & West (2001) 3.2

Systems that have no frame (constraints nonlinear in the velocities) take the same, qdot in the place of xi, and forces
as covectors in coordinates.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import System, Wrapper
from discrete_hamel.systems.transformations.prescribed import timed

ANTISYMMETRIC = 1e-9  # what M + M^T may have, relative to M


def forced(system: System, force: Callable, *, params: PyTree = None) -> System:
    """Returns the system with force(q, xi) besides its own: n components along the frame, xi all n; without a frame
    f(q, qdot).

    `params`, any pytree, is passed as last argument if given; so it is by all functions here.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> push = lambda q, xi, f: jnp.array([0.0, f, 0.0])
    >>> pushed = dh.forced(dh.systems.ChaplyginSleigh(offset=0.0), push, params=0.5)
    >>> traj = dh.simulate(pushed, q=[0.0, 0, 0], xi=[0.0, 0.0], h=0.1, steps=20)
    >>> round(float(traj.xi[-1, 1]), 12), round(float(dh.work(traj).forces[-1]), 12)    # m v = f t, W = m v^2 / 2
    (1.0, 0.5)
    """
    return Forced(system, _call, _need_function(force, "force(q, xi)"), params)


def damped(system: System, dissipation: Callable, *, params: PyTree = None) -> System:
    """Returns the system with the Rayleigh force f = -dR/dxi of R = dissipation(q, xi).

    For R quadratic in xi the power is -2 R.

    >>> import discrete_hamel as dh
    >>> dragged = dh.damped(dh.systems.ChaplyginSleigh(), lambda q, xi, c: 0.5 * c * xi @ xi, params=0.3)
    >>> bool(dh.power(dragged, [0.0, 0, 0], [1.0, 2.0]).forces == -0.3 * (1 + 4))
    True
    """
    return Forced(system, _rayleigh, _need_function(dissipation, "dissipation(q, xi)"), params)


def magnetic(system: System, form: Callable, *, params: PyTree = None) -> System:
    """Returns the system with the gyroscopic force M(q) qdot, M = form(q) an antisymmetric N x N matrix. It does no
    work.

    d/dt dL/dqdot - dL/dq = M qdot + lambda_a A^a,   f_j = Psi^a_j M_ab Psi^b_i xi^i     [MD] (2.2), (3.1)

    >>> import jax.numpy as jnp
    >>> import discrete_hamel as dh
    >>> plane = dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(2), rank=2)
    >>> turning = dh.magnetic(plane, lambda q, B: jnp.array([[0.0, B], [-B, 0.0]]), params=2.0)
    >>> traj = dh.simulate(turning, [0.0, 0], [1.0, 0], h=0.01, steps=1000)
    >>> round(float(abs(traj.q).max()), 3)     # a circle of radius v / B
    1.0
    """
    return Forced(system, _gyroscopic, _need_function(form, "form(q)"), params)


def controlled(system: System, u: Callable, *, params: PyTree = None) -> System:
    """Returns the system with the input u(t, q, xi), n components along the frame: open loop, feedback, or both.

    The system is given a clock (`timed`) if it has none, so q has one more component to start from: the time. What u
    sees as q and xi are those of the system given.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> motor = lambda t, q, xi: jnp.stack([jnp.sin(t), -0.5 * xi[1], 0.0 * t])
    >>> run = dh.simulate(dh.controlled(dh.systems.ChaplyginSleigh(), motor), q=[0.0, 0, 0, 0], xi=[0.0, 1.0],
    ...                   h=0.1, steps=10)
    >>> run.q.shape
    (11, 4)
    """
    _need_function(u, "u(t, q, xi)")
    if system.clock is None:
        return Forced(timed(system), _input_beside_time, u, params)
    return Forced(system, _input, u, params)


class Forced(Wrapper):
    """A system with one force more: law(system, function, params, q, xi)."""

    system: System
    law: Callable
    function: Callable
    params: PyTree = None

    def force(self, q: Array, xi: Array) -> Array:
        return self.system.force(q, xi) + self.law(self._call, self.system, q, xi)

    def check_start(self, q: Array) -> None:
        self.system.check_start(q)
        if self.law is not _gyroscopic:
            return
        form = np.asarray(self._call(q))
        off = np.abs(form + form.T).max()
        if not off <= ANTISYMMETRIC * np.abs(form).max():
            raise InputError(
                f"form(q) must be antisymmetric, M^T = -M, and at q = {np.asarray(q).tolist()} M + M^T has an entry of "
                f"{off:.3g}: its symmetric part is no gyroscopic force. A drag is dh.damped(system, R)."
            )

    def _call(self, *arguments: Array) -> Array:
        last = () if self.params is None else (self.params,)
        return jnp.asarray(self.function(*arguments, *last))


def _call(function: Callable, _: System, q: Array, xi: Array) -> Array:
    return _need_size(function(q, xi), len(xi), "force(q, xi)")


def _rayleigh(function: Callable, _: System, q: Array, xi: Array) -> Array:
    return -jax.grad(function, 1)(q, xi)


def _gyroscopic(function: Callable, system: System, q: Array, xi: Array) -> Array:
    psi, form = jnp.eye(len(q)) if system.frameless else system.frame(q), function(q)
    if form.shape != (len(q), len(q)):
        raise InputError(f"form(q) must be {len(q)} x {len(q)}, for q of length {len(q)}; got shape {form.shape}.")
    # The antisymmetric part is all that is gyroscopic, and the power of it is zero to the last bit but round-off.
    return psi.T @ (0.5 * (form - form.T) @ (psi @ xi))


def _input(function: Callable, system: System, q: Array, xi: Array) -> Array:
    return _need_size(function(q[system.clock], q, xi), len(xi), "u(t, q, xi)")


def _input_beside_time(function: Callable, _: System, q: Array, xi: Array) -> Array:
    force = _need_size(function(q[-1], q[:-1], xi[:-1]), len(xi) - 1, "u(t, q, xi)")
    return jnp.concatenate([force, jnp.zeros(1, force.dtype)])


def _need_function(function: Callable, name: str) -> Callable:
    if not callable(function):
        raise InputError(
            f"{name} must be a function of JAX's numbers; got {function!r}. Its parameters go into params=."
        )
    return function


def _need_size(force: Array, n: int, name: str) -> Array:
    if force.shape != (n,):
        raise InputError(
            f"{name} must return the {n} components along the frame (without one, of qdot); got shape {force.shape}."
        )
    return force

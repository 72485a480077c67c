"""A step that varies along the run by reversible means only: nothing is ever rejected, tried again or estimated."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.pytrees import Pytree, of
from discrete_hamel.mechanics.hamel import full, vector_field
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Interval, Scheme, State, Wrapped, compensate


class Paced(Pytree):
    """The state of the scheme that steps, log sigma, the time, and what that rounds off."""

    inner: State
    log_density: Array
    t: Array
    low: Array

    q, p, xi = of("inner.q"), of("inner.p"), of("inner.xi")


class TimeTransformed(Wrapped):
    """Steps h sigma of another scheme, where sigma follows density(q, xi) > 0 by an integrating controller.

        log sigma_{k+1/2} = log sigma_k + (h/2) s'(q_k, xi_k),  a step h sigma_{k+1/2},
        log sigma_{k+1} = log sigma_{k+1/2} + (h/2) s'(q_{k+1}, xi_{k+1}),  sigma_0 = s(q_0, xi_0)

    with s' = ds/dt of the density s along (H), since d log s / d tau = s' when dt = s d tau. It is explicit, sigma
    stays positive, and the whole is symmetric when the scheme is; its order is the scheme's. sigma is s + O(h^2), an
    integrated quantity: it may wander off on long runs of motions that are not their own reverse (docs/long_runs.md).
    Hairer & Soderlind, SIAM J. Sci. Comput. 26 (2005) 1838, there for 1/sigma; HLW VIII.3.2

    `simulate(..., h=density)` is `simulate(..., h=1, scheme=TimeTransformed(scheme, density))`.

    >>> import discrete_hamel as dh
    >>> sleigh, shorter_in_turns = dh.systems.ChaplyginSleigh(), lambda q, xi: 0.02 / (1 + xi[0] ** 2)
    >>> traj = dh.simulate(sleigh, q=[0.1, 0, 0], xi=[1.5, -0.3], h=shorter_in_turns, steps=300)
    >>> h = traj.t[1:] - traj.t[:-1]
    >>> [round(float(step), 3) for step in (min(h), max(h))]
    [0.006, 0.012]
    """

    scheme: Scheme
    density: Callable

    reference = "Hairer & Soderlind, SIAM J. Sci. Comput. 26 (2005) 1838"

    def start(self, system: System, q: Array, xi: Array, h: Array) -> Paced:
        density = self.density(q, xi)
        zero = jnp.zeros((), q.dtype)
        return Paced(self.scheme.start(system, q, xi, h * density), jnp.log(density), zero, zero)

    def _slope(self, system: System, state: Paced) -> Array:
        """s' = ds/dt along (H) at a node."""
        xi = self.scheme.velocity(system, state)
        motion = vector_field(system, state.q, xi[: system.rank])
        return jax.jvp(self.density, (state.q, full(system, state.q, xi)), motion)[1]

    def _step_size(self, system: System, state: Paced, h: Array) -> tuple[Array, Array]:
        log_density = state.log_density + h / 2 * self._slope(system, state.inner)  # type: ignore[arg-type]
        return log_density, h * jnp.exp(log_density)

    def step(self, system: System, state: Paced, h: Array) -> tuple[Paced, Interval]:
        log_density, size = self._step_size(system, state, h)
        inner, interval = self.scheme.step(system, state.inner, size)
        log_density = log_density + h / 2 * self._slope(system, inner)
        report = interval.report.replace(converged=interval.report.converged & jnp.isfinite(log_density))
        return Paced(inner, log_density, *compensate(state.t, state.low, size)), interval.replace(report=report)

    def unsolved(self, system: System, state: Paced, h: Array) -> tuple[Scheme, State, Array]:
        return self.scheme.unsolved(system, state.inner, self._step_size(system, state, h)[1])

    def time(self, state: Paced) -> Array:
        return state.t

"""Noether's theorem for the discrete principle: momenta at nodes, what changes them, and the reactions' impulses."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.motion.action import principle_of
from discrete_hamel.analysis.symmetry.group_actions import Generator, Symmetry, generator
from discrete_hamel.analysis.symmetry.invariance import components
from discrete_hamel.mechanics.system import System, Wrapper
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.principle import Principle


class MomentumBalance(NamedTuple):
    """Along a run of K steps; before[k] and after[k] are of interval k, at its two nodes. See `discrete_noether`."""

    before: np.ndarray  # (K,)  J_k, by the interval that begins at node k
    after: np.ndarray  # (K,)  J_{k+1}, by the interval that ends at node k+1
    gain: np.ndarray  # (K,)  after - before = delta l^d + h <f, eta_bar>
    work: np.ndarray  # (K,)  h <f, eta_bar>, the part that forces have in it
    impulse: np.ndarray  # (K-1,)  of the reactions at inner nodes: before[k] - after[k-1]
    gauge: np.ndarray  # (K+1,)  N at the nodes, 0 where none was given

    @property
    def momentum(self) -> np.ndarray:
        """J_k at the nodes, (K+1,): by the interval behind it, at the first node by the one before it."""
        return np.concatenate([self.before[:1], self.after])

    @property
    def conserved(self) -> np.ndarray:
        """J_k + N_k, (K+1,): constant where gain + N_{k+1} - N_k and all impulses vanish."""
        return self.momentum + self.gauge

    @property
    def rest(self) -> np.ndarray:
        """gain + N_{k+1} - N_k, (K,): zero if l^d is invariant up to the difference of N, forces counted."""
        return self.gain + np.diff(self.gauge)

    def __repr__(self) -> str:
        def largest(values: np.ndarray) -> str:
            return f"{np.max(np.abs(values), initial=0.0):.2g}"

        size = np.max(np.abs(self.momentum))
        return (
            f"MomentumBalance: |J| <= {size:.3g}; a step changes it by {largest(self.gain)} (forces "
            f"{largest(self.work)}, beside N {largest(self.rest)}), reactions at a node by {largest(self.impulse)}"
        )


class _Free(Wrapper):
    """The system without its forces."""

    system: System

    def force(self, q: Array, xi: Array) -> Array:  # noqa: ARG002  # none anywhere
        return jnp.zeros_like(xi)


def discrete_noether(
    trajectory: Trajectory, symmetry: Symmetry, *, gauge: Callable | None = None, principle: Principle | None = None
) -> MomentumBalance:
    """Returns the momentum of a symmetry along a run, with the rate that the discrete principle gives, force by force.

        J_{k+1}^- - J_k^+ = <dl^d, (delta q_bar, delta xi)> + h <f, eta_bar>,  eta_k = a(q_k), X = Psi a
        J_k^+ - J_k^-  = <lambda_k, a_U(q_k)>, the reactions' impulse at node k; 0 where X is in D at q_k

    That is (P) of `Principle` for eta = a, all n components of it: the variation along a symmetry need not vanish along
    U, and what is left there at a node is what the constraint gave. Summed: J_K + N_K - J_0 - N_0 = sum rest + sum
    impulses. So J is constant, to round-off, if X is in D and l^d invariant; J + N(q) if l^d changes by N_k - N_{k+1}
    alone, a total derivative (`gauge`, as `dh.analysis.gauge_term` finds it). `symmetry` is what `generator` takes.

    >>> import discrete_hamel as dh
    >>> top = dh.systems.HeavyTop()
    >>> run = dh.simulate(top, **top.sample(), steps=100)
    >>> found = dh.discrete_noether(run, top.symmetries()["rotation about z"])
    >>> bool(abs(found.momentum - found.momentum[0]).max() < 1e-12)
    True
    """
    if trajectory.scheme is None or trajectory.save_every != 1:
        raise InputError(
            "the discrete theorem relates neighbouring nodes: it needs a run of simulate with save_every = 1."
        )
    if trajectory.scheme.time(trajectory.final) is not None:
        raise InputError("the discrete theorem is written for a constant step; here the steps vary.")
    judge = principle_of(trajectory.scheme) if principle is None else principle
    if judge.staggered:
        raise InputError("a staggered principle has its variations between the points, so no momenta at them.")
    q = jnp.asarray(trajectory.q)
    move = generator(trajectory.system, symmetry, q[0])
    parts = q[:-1], q[1:], jnp.asarray(trajectory.xi_mid)
    before, after, gain, work = _balance(move, judge, trajectory.system, jnp.asarray(trajectory.h), *parts)
    values = np.zeros(len(q)) if gauge is None else np.asarray(jax.vmap(gauge)(q), float)
    if values.shape != (len(q),):
        raise InputError(f"gauge(q) is a number N; it gave an array of shape {values.shape[1:]}.")
    before, after = np.asarray(before), np.asarray(after)
    return MomentumBalance(before, after, np.asarray(gain), np.asarray(work), before[1:] - after[:-1], values)


@partial(jax.jit, static_argnums=0)
def _balance(move: Generator, judge: Principle, system: System, h: Array, *parts: Array) -> tuple[Array, ...]:
    free = _Free(system)

    def of_interval(q0: Array, q1: Array, xi: Array) -> tuple[Array, ...]:
        eta0, eta1 = components(system, move, q0), components(system, move, q1)
        zero = jnp.zeros_like(eta0)

        def along(of: System, start: Array, end: Array) -> Array:
            return judge.vary(of, q0, q1, xi, h, start, end)

        gain = along(system, eta0, eta1)
        return -along(system, eta0, zero), along(system, zero, eta1), gain, gain - along(free, eta0, eta1)

    return jax.vmap(of_interval)(*parts)

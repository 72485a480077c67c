"""The generalised Stormer-Verlet scheme, for unconstrained systems."""

import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics import frames
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.coordinates import covector, need_square, refuse_dependent, verlet
from discrete_hamel.schemes.scheme import Scheme, State


class StormerVerlet(Scheme):
    """Stormer-Verlet in coordinates, for kinetic energies that depend on q, so implicit; no constraints.

    P_{1/2} = P - (h/2) H_q(q, P_{1/2}),  q1 = q + (h/2)(H_p(q, P_{1/2}) + H_p(q1, P_{1/2})),
    P1 = P_{1/2} - (h/2) H_q(q1, P_{1/2})

    written with L instead of H (`coordinates.verlet`); P = Psi^{-T} p. In a commuting frame, where p is canonical, the
    map is symplectic. [HE] 6.3 compares the spherical pendulum with it.
    """

    order = 2
    symmetric = True
    changes = ("q",)
    conserves = ("angular momentum",)
    reference = "Hairer, Lubich and Wanner, Geometric Numerical Integration (2006), VI.3 (3.4)"

    def check(self, system: System, q: Array) -> None:
        refuse_dependent(system, q, "StormerVerlet")

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        need_square(system, q, "StormerVerlet")
        if system.rank != len(xi):
            raise ValueError(
                f"StormerVerlet is for unconstrained systems; this one constrains {len(xi) - system.rank} of its "
                f"{len(xi)} velocities. Use DiscreteHamel or Leapfrog, or Rattle if the constraint is holonomic."
            )
        return Scheme.start(self, system, q, xi, h)

    def guess(self, system: System, state: State, h: Array) -> Array:
        v = system.frame(state.q) @ state.xi
        return jnp.concatenate([v, v])

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        return verlet(system, state.q, covector(system, state.q, state.p), h, z)[0]

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        _, q1, end = verlet(system, state.q, covector(system, state.q, state.p), h, z)
        v, v1 = jnp.split(z, 2)
        psi = system.frame(q1)
        mean = frames.left_inverse(system.frame((state.q + q1) / 2), (v + v1) / 2)
        return State(q1, psi.T @ end, frames.left_inverse(psi, v1)), mean

    def equation(self, system: System, row: int) -> str:
        return momentum_balance(system, row)


def momentum_balance(system: System, row: int) -> str:
    """What a row of `verlet` is, for messages."""
    names, n = system.coordinates, len(system.coordinates)
    name = names[row % n] if n else f"coordinate {row}"
    return f"the momentum balance along {name} of the {'first' if row < n or not n else 'second'} half-step"

"""RATTLE, for holonomic constraints in redundant coordinates."""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics import frames, hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.coordinates import covector, need_square, refuse_dependent, verlet
from discrete_hamel.schemes.scheme import Scheme, State
from discrete_hamel.schemes.stormer_verlet import momentum_balance

OFF = 1e-8  # how far off the constraint a start may be, relative to its sizes


class Rattle(Scheme):
    """Stormer-Verlet with reactions that put the next node on g(q) = 0 and its velocity along it.

    P_{1/2} = P + (h/2)(dL/dq - G^T r),  q1 = q + (h/2)(v + v1),  g(q1) = 0,  P1 = P_{1/2} + (h/2)(dL/dq - G^T r1)

    with r1 such that the nodal velocity is along g = 0. The system has a method `constraint(q)`, which is g, and its
    constrained velocities xi^U are those across g = 0. Only the components p of P along the constraint go from node to
    node: r and r1 leave those across it free, so the unknowns are (v, v1) and the components across at the start.
    """

    order = 2
    symmetric = True
    changes = ("q",)
    conserves = ("holonomic constraint", "angular momentum")
    reference = "Andersen (1983); Hairer, Lubich and Wanner, Geometric Numerical Integration (2006), VII.1 (1.26)"

    def check(self, system: System, q: Array) -> None:
        refuse_dependent(system, q, "Rattle")
        if getattr(system, "constraint", None) is not None:
            _on_and_along(system, q)

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        if getattr(system, "constraint", None) is None:
            raise ValueError(
                f"Rattle is for holonomic constraints, and {type(system).__name__} has no method constraint(q) whose "
                "zeros are its positions; velocity constraints are for DiscreteHamel, CortesMartinez or Leapfrog."
            )
        need_square(system, q, "Rattle")
        rows, across = len(_constraint(system, q)), len(xi) - system.rank
        if rows != across:
            raise ValueError(
                f"Rattle needs one holonomic constraint for each constrained velocity; constraint(q) has {rows} and "
                f"this system constrains {across} velocities. Nonholonomic ones are for DiscreteHamel or Leapfrog."
            )
        return Scheme.start(self, system, q, xi, h)

    def guess(self, system: System, state: State, h: Array) -> Array:
        v = hamel.velocities(system, state.q, state.xi)
        return jnp.concatenate([v, v, hamel.momentum(system, state.q, state.xi)[system.rank :]])

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        (v, across) = jnp.split(z, [2 * len(state.q)])
        start = covector(system, state.q, jnp.concatenate([state.p, across]))
        rows, q1, _ = verlet(system, state.q, start, h, v)
        return jnp.concatenate([rows, _constraint(system, q1)])

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        velocities, across = jnp.split(z, [2 * len(state.q)])
        start = covector(system, state.q, jnp.concatenate([state.p, across]))
        _, q1, end = verlet(system, state.q, start, h, velocities)
        v, v1 = jnp.split(velocities, 2)
        psi, m = system.frame(q1), system.rank
        mean = frames.left_inverse(system.frame((state.q + q1) / 2), (v + v1) / 2)
        return State(q1, (psi.T @ end)[:m], frames.left_inverse(psi, v1)[:m]), mean

    def equation(self, system: System, row: int) -> str:
        n = len(system.coordinates)
        return momentum_balance(system, row) if not n or row < 2 * n else f"the holonomic constraint {row - 2 * n}"


def _on_and_along(system: Any, q: Array) -> None:
    """Refuses a start off g = 0, and velocities of D across it."""
    psi = system.frame(q)
    slope = jax.jacfwd(partial(_constraint, system))(q)
    if len(slope) != psi.shape[1] - system.rank:
        return  # `start` says so
    scale, off = float(jnp.max(jnp.abs(slope))), float(jnp.max(jnp.abs(_constraint(system, q))))
    if off > OFF * scale * (1 + float(jnp.max(jnp.abs(q)))):
        raise ValueError(f"the initial q is off the holonomic constraint: constraint(q) is {off:.3g} there, not 0.")
    along = psi[:, : system.rank]
    across = float(jnp.max(jnp.abs(slope @ along)))
    if across > OFF * scale * float(jnp.max(jnp.abs(along))):
        raise ValueError(
            f"the free velocities of {type(system).__name__} are not along constraint(q) = 0: they change it at rates "
            f"up to {across:.3g}. Rattle needs a frame whose first {system.rank} fields are tangent to it."
        )


def _constraint(system: Any, q: Array) -> Array:
    return jnp.atleast_1d(system.constraint(q))

"""Schemes that know no frame: generalised Stormer-Verlet, Rattle and Leapfrog, for L(q, v) = l(q, Psi^+ v).

Momenta still enter and leave by their components in the frame: p_j = <P, u_j> of a covector P.
"""

from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics import frames, hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

DEPENDENT = 1e8  # condition of a frame from which its fields are dependent
OFF = 1e-8  # how far off a holonomic constraint a start may be, relative to its sizes


def momentum_and_force(system: System, q: Array, v: Array) -> tuple[Array, Array]:
    """dL/dv and dL/dq + f, covectors in coordinates."""

    def lagrangian(q: Array, v: Array) -> Array:
        return system.lagrangian(q, frames.left_inverse(system.frame(q), v))

    force, momentum = jax.grad(lagrangian, (0, 1))(q, v)
    xi, transpose = jax.vjp(lambda v: frames.left_inverse(system.frame(q), v), v)
    return momentum, force + transpose(system.force(q, xi))[0]


def _covector(system: System, q: Array, mu: Array) -> Array:
    """P with <P, u_i> = mu_i, for a square frame."""
    return jnp.linalg.solve(system.frame(q).T, mu)


def _verlet(system: System, q: Array, start: Array, h: Array, z: Array) -> tuple[Array, Array, Array]:
    """One step of generalised Stormer-Verlet from the covector `start` at q: what z = (v, v1) leaves, q1, and P1.

    P_{1/2} = P + (h/2) dL/dq(q, v) = dL/dv(q, v) = dL/dv(q1, v1),  q1 = q + (h/2)(v + v1),
    P1 = P_{1/2} + (h/2) dL/dq(q1, v1)
    """
    v, v1 = jnp.split(z, 2)
    q1 = q + (h / 2) * (v + v1)
    before, kick = momentum_and_force(system, q, v)
    after, kick1 = momentum_and_force(system, q1, v1)
    half = start + (h / 2) * kick
    return jnp.concatenate([before - half, after - half]), q1, half + (h / 2) * kick1


def _mean(system: System, q: Array, q1: Array, z: Array) -> Array:
    """The interval's xi: of the mean of v and v1, at the middle."""
    v, v1 = jnp.split(z, 2)
    return frames.left_inverse(system.frame((q + q1) / 2), (v + v1) / 2)


class _Lagrangian(Scheme):
    """What the schemes made of `_verlet` share: their unknowns begin with z = (v, v1), qdot on both its sides."""

    order = 2
    symmetric = True
    changes = ("q",)
    conserves: ClassVar[tuple[str, ...]] = ("angular momentum",)

    def check(self, system: System, q: Array) -> None:
        refuse_dependent(system, q, type(self).__name__)

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        _need_square(system, q, type(self).__name__)
        return Scheme.start(self, system, q, xi, h)

    def guess(self, system: System, state: State, h: Array) -> Array:
        v = hamel.velocities(system, state.q, state.xi)
        return jnp.concatenate([v, v])

    def equation(self, system: System, row: int) -> str:
        names, n = system.coordinates, len(system.coordinates)
        name = names[row % n] if n else f"coordinate {row}"
        return f"the momentum balance along {name} of the {'first' if row < n or not n else 'second'} half-step"


class StormerVerlet(_Lagrangian):
    """Stormer-Verlet in coordinates, for kinetic energies that depend on q, so implicit; no constraints.

    P_{1/2} = P - (h/2) H_q(q, P_{1/2}),  q1 = q + (h/2)(H_p(q, P_{1/2}) + H_p(q1, P_{1/2})),
    P1 = P_{1/2} - (h/2) H_q(q1, P_{1/2})

    written with L instead of H (`_verlet`); P = Psi^{-T} p. In a commuting frame, where p is canonical, the
    map is symplectic. [HE] 6.3 compares the spherical pendulum with it.
    """

    reference = "Hairer, Lubich and Wanner, Geometric Numerical Integration (2006), VI.3 (3.4)"

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        if system.rank != len(xi):
            raise InputError(
                f"StormerVerlet is for unconstrained systems; this one constrains {len(xi) - system.rank} of its "
                f"{len(xi)} velocities. Use DiscreteHamel or Leapfrog, or Rattle if the constraint is holonomic."
            )
        return super().start(system, q, xi, h)

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        return _verlet(system, state.q, _covector(system, state.q, state.p), h, z)[0]

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        _, q1, end = _verlet(system, state.q, _covector(system, state.q, state.p), h, z)
        psi = system.frame(q1)
        return State(q1, psi.T @ end, frames.left_inverse(psi, jnp.split(z, 2)[1])), _mean(system, state.q, q1, z)


class Rattle(_Lagrangian):
    """Stormer-Verlet with reactions that put the next node on g(q) = 0 and its velocity along it.

    P_{1/2} = P + (h/2)(dL/dq - G^T r),  q1 = q + (h/2)(v + v1),  g(q1) = 0,  P1 = P_{1/2} + (h/2)(dL/dq - G^T r1)

    with r1 such that the nodal velocity is along g = 0. The system has a method `constraint(q)`, which is g, and its
    constrained velocities xi^U are those across g = 0. Only the components p of P along the constraint go from node to
    node: r and r1 leave those across it free, so the unknowns are (v, v1) and the components across at the start.
    """

    conserves = ("holonomic constraint", "angular momentum")
    reference = "Andersen (1983); Hairer, Lubich and Wanner, Geometric Numerical Integration (2006), VII.1 (1.26)"

    def check(self, system: System, q: Array) -> None:
        super().check(system, q)
        if getattr(system, "constraint", None) is not None:
            _on_and_along(system, q)

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        if getattr(system, "constraint", None) is None:
            raise InputError(
                f"Rattle is for holonomic constraints, and {type(system).__name__} has no method constraint(q) whose "
                "zeros are its positions; velocity constraints are for DiscreteHamel, CortesMartinez or Leapfrog."
            )
        _need_square(system, q, "Rattle")
        rows, across = len(_constraint(system, q)), len(xi) - system.rank
        if rows != across:
            raise InputError(
                f"Rattle needs one holonomic constraint for each constrained velocity; constraint(q) has {rows} and "
                f"this system constrains {across} velocities. Nonholonomic ones are for DiscreteHamel or Leapfrog."
            )
        return Scheme.start(self, system, q, xi, h)

    def guess(self, system: System, state: State, h: Array) -> Array:
        across = hamel.momentum(system, state.q, state.xi)[system.rank :]
        return jnp.concatenate([super().guess(system, state, h), across])

    def _step(self, system: System, state: State, h: Array, z: Array) -> tuple[Array, Array, Array]:
        velocities, across = jnp.split(z, [2 * len(state.q)])
        start = _covector(system, state.q, jnp.concatenate([state.p, across]))
        return _verlet(system, state.q, start, h, velocities)

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        rows, q1, _ = self._step(system, state, h, z)
        return jnp.concatenate([rows, _constraint(system, q1)])

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        _, q1, end = self._step(system, state, h, z)
        velocities, psi, m = z[: 2 * len(q1)], system.frame(q1), system.rank
        xi = frames.left_inverse(psi, jnp.split(velocities, 2)[1])[:m]
        return State(q1, (psi.T @ end)[:m], xi), _mean(system, state.q, q1, velocities)

    def equation(self, system: System, row: int) -> str:
        n = len(system.coordinates)
        return super().equation(system, row) if not n or row < 2 * n else f"the holonomic constraint {row - 2 * n}"


def _on_and_along(system: System, q: Array) -> None:
    """Refuses a start off g = 0, and velocities of D across it."""
    q = jnp.asarray(q)
    psi = system.frame(q)
    slope = jax.jacfwd(partial(_constraint, system))(q)
    if len(slope) != psi.shape[1] - system.rank:
        return  # `start` says so
    scale, off = float(jnp.max(jnp.abs(slope))), float(jnp.max(jnp.abs(_constraint(system, q))))
    if off > OFF * scale * (1 + float(jnp.max(jnp.abs(q)))):
        raise InputError(f"the initial q is off the holonomic constraint: constraint(q) is {off:.3g} there, not 0.")
    along = psi[:, : system.rank]
    across = float(jnp.max(jnp.abs(slope @ along)))
    if across > OFF * scale * float(jnp.max(jnp.abs(along))):
        raise InputError(
            f"the free velocities of {type(system).__name__} are not along constraint(q) = 0: they change it at rates "
            f"up to {across:.3g}. Rattle needs a frame whose first {system.rank} fields are tangent to it."
        )


def _constraint(system: System, q: Array) -> Array:
    return jnp.atleast_1d(system.constraint(q))  # type: ignore[attr-defined]


class ReactingState(State):
    """A node with the reaction force there, which acts on both half-steps that meet in it."""

    reaction: Array


class Leapfrog(_Lagrangian):
    """Stormer-Verlet between nodes, momenta projected at the nodes, by the same reaction before and after.

    P+_k = P_k + (h/2) A^T(q_k) lambda_k  -- Stormer-Verlet -->  P-_{k+1} = P_{k+1} - (h/2) A^T(q_{k+1}) lambda_{k+1}

    with lambda_{k+1} such that the velocity at node k+1 is on the constraint. For L = T - V it is the geometric
    nonholonomic integrator: P+ is P- reflected in D by the kinetic metric, so explicit when that is constant (Newton
    then stops at its first iteration), and implicit otherwise. Affine constraints and forces are admitted. The reaction
    is remembered from step to step; a perturbation of it alternates in sign and does not decay, and what decays in the
    system may grow in the scheme: the straight motion of the unbalanced sleigh loses its stability (observed).
    """

    reference = (
        "Ferraro, Iglesias and Martin de Diego, Momentum and energy preserving integrators for nonholonomic dynamics "
        "(2008); McLachlan and Perlmutter, Integrators for nonholonomic mechanical systems (2006)"
    )

    def start(self, system: System, q: Array, xi: Array, h: Array) -> ReactingState:
        state = super().start(system, q, xi, h)
        return ReactingState(q, state.p, state.xi, hamel.reactions(system, q, state.xi))

    def _step(self, system: System, state: ReactingState, h: Array, z: Array) -> tuple[Array, Array, Array]:
        across = hamel.momentum(system, state.q, state.xi)[system.rank :] + (h / 2) * state.reaction
        return _verlet(system, state.q, _covector(system, state.q, jnp.concatenate([state.p, across])), h, z)

    def residual(self, system: System, state: ReactingState, h: Array, z: Array) -> Array:
        return self._step(system, state, h, z)[0]

    def advance(self, system: System, state: ReactingState, h: Array, z: Array) -> tuple[ReactingState, Array]:
        _, q1, end = self._step(system, state, h, z)
        p, across = jnp.split(system.frame(q1).T @ end, [system.rank])
        xi = hamel.legendre(system, q1, p, frames.left_inverse(system.frame(q1), jnp.split(z, 2)[1]))
        reaction = (hamel.momentum(system, q1, xi)[system.rank :] - across) / (h / 2)
        return ReactingState(q1, p, xi[: system.rank], reaction), _mean(system, state.q, q1, z)


def _need_square(system: System, q: Array, scheme: str) -> None:
    """Refuses a system whose velocities are not as many as its coordinates."""
    coordinates, n = need_independent(system, q, scheme)
    if coordinates != n:
        raise InputError(
            f"{scheme} works with momenta dL/dqdot in coordinates, so it needs as many coordinates as velocities; "
            f"this system has {coordinates} coordinates and {n} quasi-velocities (redundant coordinates), where that "
            "momentum is not determined. Use DiscreteHamel."
        )


def need_independent(system: System, q: Array, scheme: str) -> tuple[int, int]:
    """(N, n); refuses a system with more velocities than coordinates, so that qdot does not determine xi."""
    coordinates, n = jax.eval_shape(system.frame, q).shape
    if coordinates < n:
        raise _undetermined_error(scheme, coordinates, n)
    return coordinates, n


def refuse_dependent(system: System, q: Array, scheme: str) -> None:
    """The same where the fields are dependent as vectors, which only concrete values show."""
    psi = np.asarray(system.frame(jnp.asarray(q)))
    if psi.shape[0] < psi.shape[1] or frames.condition(psi) > DEPENDENT:
        raise _undetermined_error(scheme, *psi.shape)


def _undetermined_error(scheme: str, coordinates: int, n: int) -> InputError:
    return InputError(
        f"{scheme} needs a Lagrangian L(q, qdot), and here qdot does not determine the quasi-velocities: the "
        f"{n} fields are dependent as vectors in {coordinates} coordinates and carry the bracket of an algebra "
        "(advected or reduced coordinates). Use DiscreteHamel, or the system in full coordinates."
    )

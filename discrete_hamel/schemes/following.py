"""The discrete Hamel scheme in frames that follow the constraints: each interval has its own, and none degenerates."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.pytrees import of
from discrete_hamel.mechanics.adapted_frames import Nested, without
from discrete_hamel.mechanics.constructors import FromConstraints, unwrap
from discrete_hamel.mechanics.hamel import full
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import AtHalf, Scheme, State

POLISHED = 3  # turning by an angle a in half a step, the isometry is off by a^16 / 2^15: round-off up to a = 0.2


class _Middle(NamedTuple):
    """What (F2) needs of the tau-point."""

    fields: Array  # W, N x m
    velocity: Array  # v, N
    momentum: Array  # W^T P, m
    force: Array  # F, m


class FollowingHamel(Scheme):
    """The tau-rule for a system from constraints A(q) v = b(q): what DiscreteHamel is there.

    At a node the motions that the constraint allows, D, are spanned by the system's fields E. At the tau-point they are
    spanned by the projections of these along the rows of A, orthogonal by the coordinates' weights G (their inertias):

    (F1) q_{k+tau} = (1-tau) q_k + tau q_{k+1},  q_{k+1} = q_k + h v,  v = W x + N S^{-1} b
         W = E_k - N S^{-1} A E_k,  N = G^{-1} A^T,  S = A N     A and b at q_{k+tau}

    Each w in D(q_{k+tau}) is a field nearby that stays in D, changes along N only, and keeps its length. So the balance
    (D2) needs neither a complement of D nor a bracket, as <L_v, D w[v]> = -nu . DA[v] w; at a node that field is E C:

    (F2) C_k^T p_k = W^T P - (1-tau) h F,  C_{k+1}^T p_{k+1} = W^T P + tau h F
         P = L_v,  nu = S^{-1} N^T P,  F = W^T (L_q + f - DA[v]^T nu)
         C: the isometry by G of D at q_{k+tau} with D at the node that is nearest to the projection

    It is computed in Q with E = Q R, orthonormal by G, and p = R^T (Q^T L_v): near a node where E degenerates only R is
    ill-conditioned, by the lengths of the fields: what that costs, xi and p at the node lose, and not q and v.

    Theorem: the constraint is exact at the tau-point; the step depends on D and G only, not on the fields E, so that
    no frame can degenerate while A keeps its rank; the step with (tau, h) is undone by (1-tau, -h); it is equivariant
    under changes of coordinates that keep G. Observed: order 2 at tau = 1/2, else 1; errors as with a good frame by
    hand. Not claimed: energy or momenta, but for a symmetry whose field is constant and in D (kept to round-off).
    """

    tau: float = 0.5

    order = AtHalf(2, otherwise=1)
    symmetric = AtHalf(True, otherwise=False)
    point = of("tau")
    conserves = ("constraint",)
    at_nodes = True
    reference = "this library; the principle: Zenkov, On Hamel's equations (2016), section 5"

    def __repr__(self) -> str:
        return f"{type(self).__name__}(tau={self.tau})"

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        """p_0 = E^T L_v: the momentum along the fields at the node."""
        rows, free = rows_of(system), xi[: system.rank]
        momentum = jax.grad(system.in_velocities, 1)(q, rows.frame(q) @ full(system, q, xi))
        return State(q, rows.fields(q).T @ momentum, free)

    def guess(self, system: System, state: State, h: Array) -> Array:
        rows = rows_of(system)
        fields, r = orthonormal(rows, state.q)
        x, across = r @ state.xi, _Projection(rows, state.q).shortest()
        return jnp.concatenate([x, state.q + h * (fields @ x + across)])

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        x, q1, q = self._points(system, state, z)
        fields, r = orthonormal(rows_of(system), state.q)
        middle = _middle(system, q, fields, x)
        carried = _transport(rows_of(system).weights, fields, middle.fields)
        momentum = jnp.linalg.solve(r.T, state.p)
        balance = middle.momentum - (1 - self.tau) * h * middle.force - carried.T @ momentum  # (F2)
        return jnp.concatenate([balance, q1 - state.q - h * middle.velocity])  # (F1)

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        x, q1, q = self._points(system, state, z)
        rows = rows_of(system)
        middle = _middle(system, q, orthonormal(rows, state.q)[0], x)
        after, r = orthonormal(rows, q1)
        carried = _transport(rows.weights, after, middle.fields)
        p1 = r.T @ jnp.linalg.solve(carried.T, middle.momentum + self.tau * h * middle.force)  # (F2)
        xi = full(system, q, rows.components(q, middle.velocity - _dual(rows, q)))
        there = (after.T * rows.weights[None]) @ (middle.fields @ x)
        return State(q1, p1, jnp.linalg.solve(r, there)), xi

    def missed_momentum(self, system: System, q: Array, p: Array, free: Array) -> Array:
        """Of p = R^T Q^T L_v the part in Q."""
        rows = rows_of(system)
        fields, r = orthonormal(rows, q)
        v = fields @ (r @ free) + _dual(rows, q)
        return fields.T @ jax.grad(system.in_velocities, 1)(q, v) - jnp.linalg.solve(r.T, p)

    def _points(self, system: System, state: State, z: Array) -> tuple[Array, Array, Array]:
        x, q1 = z[: system.rank], z[system.rank :]
        return x, q1, (1 - self.tau) * state.q + self.tau * q1


def rows_of(system: System) -> FromConstraints:
    found = unwrap(system)
    assert found is not None
    return found


class _Projection:
    """Onto the velocities that A allows: G^{-1} (p - A^T nu) of momenta p. With P of `Nested`, 1 for other frames:

    v = P (y - N S^{-1} A_2 P y),  y = (P^T G P)^{-1} P^T p,  N = (P^T G P)^{-1} (A_2 P)^T,  S = A_2 P N
    """

    def __init__(self, rows: FromConstraints, q: Array) -> None:
        self.choice = choice = rows.choice if isinstance(rows.choice, Nested) else Nested((), (), rows.choice)
        self.a, self.weights, self.slip = rows.one_forms(q), rows.weights, rows.slip(q) if rows.b_of else None
        self.others, self.free = without(choice.rows, len(self.a)), without(choice.dependent, len(q))
        self.own = self.a[choice.rows, :][:, choice.dependent]
        self.block, self.left = choice.solve_rows(self.a)
        heavy = self.weights[choice.dependent,][:, None] * self.block
        self.gram = jnp.diag(self.weights[self.free,]) + self.block.T @ heavy
        self.normals = jnp.linalg.solve(self.gram, self.left.T)
        self.square = self.left @ self.normals

    def __call__(self, momenta: Array) -> tuple[Array, Array]:
        """The velocities, and nu of the rows A_2."""
        y = jnp.linalg.solve(self.gram, momenta[self.free,] + self.block.T @ momenta[self.choice.dependent,])
        nu = jnp.linalg.solve(self.square, self.left @ y)
        return self.choice.whole(self.block, y - self.normals @ nu), nu

    def shortest(self) -> Array:
        """Of the velocities with A v = b, one of which has A_1 v = b by the dependent coordinates alone."""
        v, rows = jnp.zeros_like(self.weights), self.choice.rows
        if self.slip is None:
            return v
        v = v.at[self.choice.dependent,].set(jnp.linalg.solve(self.own, self.slip[rows,]))
        rest = jnp.linalg.solve(self.square, (self.slip - self.a @ v)[self.others,])
        v = v + self.choice.whole(self.block, self.normals @ rest)
        return v - self(self.weights * v)[0] if rows else v

    def multipliers(self, momentum: Array) -> Array:
        """nu, of A_1 by what the others leave of p - G v."""
        v, others = self(momentum)
        nu = jnp.zeros(len(self.a)).at[self.others,].set(others)
        rest = (momentum - self.weights * v - self.a.T @ nu)[self.choice.dependent,]
        return nu.at[self.choice.rows,].set(jnp.linalg.solve(self.own.T, rest))


def _dual(rows: FromConstraints, q: Array) -> Array:
    """The part of the velocity along u_{m+1}..u_n of the system's own frame."""
    return jnp.zeros_like(q) if rows.b_of is None else rows.frame(q)[:, rows.rank :] @ rows.slip(q)


def _middle(system: System, q: Array, fields: Array, x: Array) -> _Middle:
    rows = rows_of(system)
    onto = _Projection(rows, q)
    w, _ = onto(rows.weights[:, None] * fields)
    v = w @ x + onto.shortest()
    slope, momentum = jax.grad(system.in_velocities, (0, 1))(q, v)
    nu = onto.multipliers(momentum)
    _, turned = jax.jvp(lambda point: rows.one_forms(point).T @ nu, (q,), (v,))  # DA[v]^T nu
    return _Middle(w, v, w.T @ momentum, w.T @ (slope - turned) + force_along(system, q, v, w))


def force_along(system: System, q: Array, v: Array, w: Array) -> Array:
    """f along the fields w: the covector of the constructor, or what was put on in the frame's own terms."""
    rows = rows_of(system)
    if isinstance(system, FromConstraints):
        return w.T @ system.force_in_velocities(q, v)
    free = rows.components(q, v - _dual(rows, q))
    return rows.components(q, w).T @ system.force(q, full(system, q, free))[: system.rank]


def _transport(weights: Array, at_node: Array, in_middle: Array) -> Array:
    """C of (F2), m x m: the field that is w_j in the middle is at_node @ C[:, j] at the node; at_node orthonormal."""
    weighed = in_middle.T * weights[None]
    gram = weighed @ in_middle
    carried = (weighed @ at_node).T  # the projection; Newton's iteration for the polar factor goes on from it
    for _ in range(POLISHED):
        carried = 0.5 * (carried + jnp.linalg.solve(carried.T, gram))
    return carried


def orthonormal(rows: FromConstraints, q: Array) -> tuple[Array, Array]:
    """Q and R of E = Q R with Q^T G Q = 1, by Gram and Schmidt."""
    fields = rows.fields(q)
    columns: list[Array] = []
    for field in fields.T:
        for column in columns:
            field = field - (column @ (rows.weights * field)) * column
        columns.append(field / jnp.sqrt(field @ (rows.weights * field)))
    q_fields = jnp.stack(columns, axis=1)
    return q_fields, (q_fields.T * rows.weights[None]) @ fields

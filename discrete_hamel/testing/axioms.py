"""The axioms of a system at one state: pure functions of a State, each giving how far off it is.

A finding is (off, size): what should be zero, and the size of the terms of which it is the difference; arrays, where
an axiom is asked of several symmetries or invariants at once.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.analysis.symmetry.invariance import changes
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.frames import left_inverse
from discrete_hamel.mechanics.nonlinear import NonlinearSystem
from discrete_hamel.mechanics.system import System

Finding = tuple[Array, Array]
NEARER = 60  # steps of Newton's method on det Psi = 0; where it only touches zero each halves the distance


class State(NamedTuple):
    """A system at (q, xi), all n components, with the motion (H) gives there and the reactions."""

    system: System
    q: Array
    xi: Array
    velocity: Array
    rate: Array
    reactions: Array


class Axiom(NamedTuple):
    """How far off, how far off it may be, what to look at where it fails, and the names where it is several."""

    finding: Callable[[State], Finding]
    tolerance: float
    look: str
    names: tuple[str, ...] = ()


def state(system: System, q: Array, xi: Array) -> State:
    """What the axioms look at."""
    return State(system, q, xi, *hamel.vector_field(system, q, xi), hamel.reactions(system, q, xi))


def _largest(*parts: Array) -> Array:
    return sum((jnp.max(jnp.abs(part), initial=0.0) for part in parts), jnp.zeros(()))


def finite(at: State) -> Finding:
    """qdot, xidot, momenta, energy and reactions are numbers."""
    found = (at.velocity, at.rate, at.reactions, hamel.momentum(*at[:3]), hamel.energy(*at[:3]))
    good = jnp.stack([jnp.all(jnp.isfinite(value)) for value in found])
    return jnp.where(jnp.all(good), 0.0, jnp.inf), jnp.ones(())


def regular(at: State) -> Finding:
    """M = d mu/d xi on D is symmetric, and its condition number less than 10^12."""
    mass = hamel.inertia(*at[:3])
    sizes = jnp.linalg.svd(mass, compute_uv=False)
    off = 1e-12 * sizes[0] / sizes[-1] + _largest(mass - mass.T) / sizes[0]
    return jnp.where(jnp.all(jnp.isfinite(mass)), off, 0.0), jnp.ones(())  # what is not finite, `finite` says


def dependent(system: System, q: Array) -> tuple[Array, Array]:
    """Where Newton's method on det Psi = 0 leads from q, and the least singular value there over the largest at both.

    It finds where fields are dependent between states, also where det Psi only touches zero; of a frame that is not
    square, or whose fields are free to be dependent, there is nothing to be found.
    """
    if not system.brackets_by_autodiff or system.frame_is_a_map or type(system).frame_margin is not System.frame_margin:
        return q, jnp.ones(())
    if system.frame(q).shape != (len(q), len(q)):
        return q, jnp.ones(())

    def nearer(q: Array, _: None) -> tuple[Array, None]:
        value, slope = jax.value_and_grad(lambda q: jnp.linalg.det(system.frame(q)))(q)
        square = slope @ slope
        return q - jnp.where(square > 0, value / jnp.where(square > 0, square, 1.0), 0.0) * slope, None

    end, _ = jax.lax.scan(nearer, q, length=NEARER)
    sizes = jnp.stack([jnp.linalg.svd(system.frame(point), compute_uv=False) for point in (end, q)])
    return end, sizes[0, -1] / jnp.maximum(jnp.max(sizes), jnp.finfo(q.dtype).tiny)


def tangent(at: State) -> Finding:
    """Dg Psi_D = 0 and Dg qdot = 0: the motion stays on holonomic(q) = 0."""
    rows, along = jax.jacfwd(at.system.holonomic)(at.q), at.system.frame(at.q)[:, : at.system.rank]
    size = 1 + _largest(rows) * (_largest(along) + _largest(at.velocity))
    return _largest(rows @ along, rows @ at.velocity), size


def bracket(at: State) -> Finding:
    """Psi c_ij = D u_j [u_i] - D u_i [u_j] and c_ij = -c_ji: the bracket given is that of the fields.   [HE] 2.3"""
    psi, c = at.system.frame(at.q), at.system.structure(at.q)
    along = jnp.einsum("ajb,bi->aij", jax.jacfwd(at.system.frame)(at.q), psi)
    off = jnp.einsum("ak,kij->aij", psi, c) - along + jnp.swapaxes(along, 1, 2)
    return _largest(off, c + jnp.swapaxes(c, 1, 2)), 1 + 2 * _largest(along) + _largest(psi) * _largest(c)


def jacobi(at: State) -> Finding:
    """The cyclic sum of c^l_im c^m_jk + u_i[c^l_jk] is zero.   [HE] 3.2, corrected"""
    c, psi = at.system.structure(at.q), at.system.frame(at.q)
    slope = jax.jacfwd(at.system.structure)(at.q)  # [l, j, k, b]
    terms = jnp.einsum("lim,mjk->lijk", c, c) + jnp.einsum("ljkb,bi->lijk", slope, psi)
    cyclic = terms + jnp.transpose(terms, (0, 2, 3, 1)) + jnp.transpose(terms, (0, 3, 1, 2))
    return _largest(cyclic), 1 + 3 * _largest(terms)


def work(at: State) -> Finding:
    """dE/dt = <f, xi> + <lambda, b>: what forces and the moving constraint do, and nothing else."""
    by_q, by_xi = jax.grad(lambda q, xi: hamel.energy(at.system, q, xi), (0, 1))(at.q, at.xi)
    gains = (by_q * at.velocity, by_xi * at.rate)
    spent = (at.system.force(at.q, at.xi) * at.xi, at.reactions * at.xi[at.system.rank :])
    off = sum(jnp.sum(part) for part in gains) - sum(jnp.sum(part) for part in spent)
    size = jnp.sum(jnp.abs(jnp.concatenate([*gains, *spent])))
    return jnp.abs(off), 1 + size


def multipliers(at: State) -> Finding:
    """<d/dt L_v - L_q, u_j> = f_j + lambda_j in the coordinates, without any bracket: Lagrange's and d'Alembert's way.

    L(q, v) = l(q, Psi^+ v) along the curve that (H) says, its second derivative by the chain rule; lambda_j is 0 on D
    and else what `reactions` says.
    """

    def in_velocities(q: Array, v: Array) -> Array:
        return at.system.lagrangian(q, left_inverse(at.system.frame(q), v))

    psi, turned = jax.jvp(at.system.frame, (at.q,), (at.velocity,))
    second = turned @ at.xi + psi @ at.rate
    (slope, _), (_, grown) = jax.jvp(jax.grad(in_velocities, (0, 1)), (at.q, at.velocity), (at.velocity, second))
    pushed = at.system.force(at.q, at.xi).at[at.system.rank :].add(at.reactions)
    terms = jnp.abs(psi).T @ (jnp.abs(grown) + jnp.abs(slope))
    return _largest(psi.T @ (grown - slope) - pushed), 1 + _largest(terms) + _largest(pushed)


def same_lagrangian(at: State) -> Finding:
    """l(q, xi) = L(q, Psi xi), where both are given."""
    one, other = at.system.lagrangian(at.q, at.xi), at.system.in_velocities(at.q, at.velocity)
    return jnp.abs(one - other), 1 + jnp.abs(one)


def invariants(at: State) -> Finding:
    """d/dt of each declared invariant is zero along (H)."""
    functions = [given.function for given in at.system.invariants().values()]

    def values(q: Array, xi: Array) -> Array:
        return jnp.stack([jnp.asarray(function(q, xi), float) for function in functions])

    by_q, by_xi = jax.jacrev(values, (0, 1))(at.q, at.xi)
    terms = jnp.concatenate([by_q * at.velocity[None], by_xi * at.rate[None]], axis=1)
    return jnp.abs(jnp.sum(terms, axis=1)), 1 + jnp.sum(jnp.abs(terms), axis=1)


def symmetries(at: State) -> Finding:
    """Each declared generator leaves l (at velocities off D too), constraint and force as they are.   [HE] (3.9)"""
    generators, m = list(at.system.symmetries().values()), at.system.rank
    across = jnp.full(len(at.xi) - m, 0.3)

    def off(weights: Array) -> Array:
        def generator(q: Array) -> Array:
            return weights @ jnp.stack([jnp.asarray(one(q), float) for one in generators])

        found = changes(generator, at.system, at.q, at.xi[:m], across)
        return _largest(*(part for k, part in enumerate(found) if k != 2))  # l off D counts l on D

    size = 1 + _largest(at.system.frame(at.q)) * _largest(at.xi) + _largest(at.system.force(at.q, at.xi))
    return jax.vmap(off)(jnp.eye(len(generators))), size * jnp.ones(len(generators))


def reversal(at: State) -> Finding:
    """The motion from (q, -xi) is the one from (q, xi) run back: (qdot, xidot) becomes (-qdot, xidot)."""
    back, turned = hamel.vector_field(at.system, at.q, -at.xi)
    return _largest(at.velocity + back, at.rate - turned), 1 + _largest(at.velocity, at.rate)


def involution(reverse: Callable) -> Callable[[State], Finding]:
    """The same for an R(q, xi) of one's own with R o R = 1: DR X = -X o R."""

    def reversed_by(at: State) -> Finding:
        image, moved = jax.jvp(reverse, (at.q, at.xi), (at.velocity, at.rate))
        there, again = hamel.vector_field(at.system, *image), reverse(*image)
        gaps = [a + b for a, b in zip(moved, there, strict=True)]
        return _largest(*gaps, again[0] - at.q, again[1] - at.xi), 1 + _largest(*there)

    return reversed_by


def of_system(system: System, reversible: Callable | bool | None = None) -> dict[str, Axiom]:
    """The axioms that this system has to satisfy, by name."""
    found: dict[str, Axiom] = {}
    declared = tuple(system.invariants())
    if not isinstance(system, NonlinearSystem):
        found |= _of_frame(system)
        if callable(reversible) or reversible:
            mine = involution(reversible) if callable(reversible) else reversal
            look = "the motion run back is no motion: is there a force, a slip, an l that is odd in xi?"
            found["reversible"] = Axiom(mine, 1e-11, look)
        names = tuple(system.symmetries())
        if names:
            found["symmetry"] = Axiom(symmetries, 1e-9, "the Lagrangian, the constraint or the force changes", names)
    if declared:
        found["invariant"] = Axiom(invariants, 1e-11, "it is not constant along the motion", declared)
    return found


def _of_frame(system: System) -> dict[str, Axiom]:
    found = {}
    if system.redundant:
        found["tangent"] = Axiom(tangent, 1e-11, "the fields of frame(q) leave holonomic(q) = 0")
    found |= {
        "regular": Axiom(regular, 1.0, "the free velocities are not determined: d mu/d xi on D is singular"),
        "finite": Axiom(finite, 0.5, "a value or derivative is NaN or infinite: a root, norm or angle at its branch?"),
        "energy": Axiom(work, 1e-10, "energy changes by what no force does: is the bracket that of the fields?"),
        "bracket": Axiom(bracket, 1e-10, "structure(q) is not the bracket of the fields, or they are not closed"),
    }
    if system.brackets_by_autodiff:
        found["multipliers"] = Axiom(multipliers, 1e-9, "Lagrange's equations with multipliers say another motion")
    else:
        found["Jacobi"] = Axiom(jacobi, 1e-10, "the brackets of structure(q) violate Jacobi's identity")
    if system.in_velocities is not None:
        found["same Lagrangian"] = Axiom(same_lagrangian, 1e-12, "lagrangian and in_velocities differ")
    return found

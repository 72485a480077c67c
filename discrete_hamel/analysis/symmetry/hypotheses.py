"""What an analysis assumes of a system: each refusal says in a sentence which hypothesis fails."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import System

ZERO = 1e-9  # size, relative to what it is made of, that counts as zero


def no_slip(system: System, q: Array, what: str) -> None:
    """The constraint is linear: b(q) = 0."""
    slip = np.asarray(system.slip(q))
    if np.any(slip):
        raise InputError(
            f"{what} needs a constraint that is linear in the velocities; {type(system).__name__} has an affine one, "
            f"with slip(q) = {slip.tolist()}."
        )


def natural(system: System, q: Array, what: str) -> None:
    """l = K(xi, xi) / 2 - U(q): its second derivatives in xi do not depend on xi, and there is no linear term."""
    here, there, linear = (np.asarray(a) for a in _derivatives(system, q))
    size = float(np.max(np.abs(here)))
    if np.max(np.abs(here - there)) > ZERO * size or np.max(np.abs(linear)) > ZERO * size:
        raise InputError(
            f"{what} needs a Lagrangian K(xi, xi)/2 - U(q), quadratic in the velocities without a linear term; that of "
            f"{type(system).__name__} is not."
        )


@jax.jit
def _derivatives(system: System, q: Array) -> tuple[Array, Array, Array]:
    """d2l/dxi2 at zero and elsewhere, and dl/dxi at zero."""
    n = jax.eval_shape(system.frame, q).shape[1]
    inertia = jax.hessian(system.lagrangian, 1)
    return (
        inertia(q, jnp.zeros(n)),
        inertia(q, 1.0 + jnp.arange(n) / n),
        jax.grad(system.lagrangian, 1)(q, jnp.zeros(n)),
    )


def left_invariant(system: System, q: Array, what: str) -> None:
    """l and c do not depend on q, so that the momenta obey an Euler-Poincare(-Suslov) equation on their own."""
    changes, sizes = (np.asarray(a) for a in _along_the_frame(system, q))
    for name, change, size in zip(("Lagrangian", "structure c^k_ij"), changes, sizes, strict=True):
        if change > ZERO * max(size, 1.0):
            raise InputError(
                f"{what} is for Euler-Poincare(-Suslov) systems, whose Lagrangian and structure are the same at every "
                f"q; the {name} of {type(system).__name__} varies along its frame."
            )


@jax.jit
def _along_the_frame(system: System, q: Array) -> tuple[Array, Array]:
    """How much l and c change along the fields, and how large they are."""
    n = jax.eval_shape(system.frame, q).shape[1]
    xi = 1.0 + jnp.arange(n) / n
    along, c = system.frame(q), system.structure(q)
    changes = (along.T @ jax.grad(system.lagrangian)(q, xi), jax.jacfwd(system.structure)(q) @ along)
    sizes = jnp.stack([jnp.abs(system.lagrangian(q, xi)), jnp.max(jnp.abs(c), initial=0.0)])
    return jnp.stack([jnp.max(jnp.abs(change), initial=0.0) for change in changes]), sizes


def force_free(system: System, q: Array, what: str) -> None:
    """No non-conservative force along D."""
    n = jax.eval_shape(system.frame, q).shape[1]
    force = system.force(q, 1.0 + jnp.arange(n) / n)[: system.rank]
    if float(jnp.max(jnp.abs(force))) > 0:
        raise InputError(f"{what} needs a system without force; {type(system).__name__} has one along its constraint.")

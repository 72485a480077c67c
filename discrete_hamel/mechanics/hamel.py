"""Hamel's formalism (docs/equations.md): pure functions of (system, q, xi), each equation in one place.

xi may have m components (the slip b(q) is filled in) or all n. Vectors over the frame have n components
(`momentum`, `structure`, `quasivelocities`); balances along D have m (`hamel_force`).
"""

from collections.abc import Callable
from functools import partial, wraps
from inspect import signature
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Float, Momenta, N, Quasivelocities, Velocities, k, m, n
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel._support.inputs import array_of, explained
from discrete_hamel.mechanics import gibbs_appell
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.newton import root
from discrete_hamel.mechanics.system import System, frame_shape

F = TypeVar("F", bound=Callable)


def arguments(system: System, q: Coordinates, **given: Quasivelocities) -> tuple[System, list[Array]]:
    """The system at q, q, and xi with all components, or v, or a vector with a component along each field of D."""
    if isinstance(system, type):
        raise InputTypeError(f"give an instance, {system.__name__}(...), not the class.")
    arrays = {name: jnp.asarray(array_of(name, value)) for name, value in {"q": q, **given}.items()}
    q = arrays["q"]
    with explained(f"{type(system).__name__}, of a q with {len(q)} components,"):
        system = system.at(q)
        for name, array in arrays.items():
            refuse_length(system, q, name, array)
    filled = "xi" in arrays and not system.frameless
    return system, [*(arrays | {"xi": full(system, q, arrays["xi"])} if filled else arrays).values()]


def refuse_length(system: System, q: Array, name: str, array: Array) -> None:
    """Refuses q, or at q one of the others, of another length than this system has."""
    size, names = len(array), system.velocities
    if name == "q":
        names, no_frame = system.coordinates, system.frameless or system.frame_is_a_map
        right: tuple[int, ...] = (len(names) or (size if no_frame else frame_shape(system, q)[0]),)
        says = f"; {type(system).__name__} has {right[0]}"
    elif name == "v":
        right, names, says = (len(q),), (), f", q has {len(q)}; v is qdot, one component a coordinate"
    elif name == "p" or system.frameless:
        right, name = (m := system.rank,), name.replace("xi", "z (given as xi)")
        names, says = names[:m], f"; it needs m = {m}"
    else:
        n = size if size in (m := system.rank, len(names)) else frame_shape(system, q)[1]
        right, says = (m, n), f"; it needs the {m} free ones (the slip is filled in) or all {n}"
    if size not in right:
        raise InputError(f"{name} has {size} components{says}{': ' if names else ''}{', '.join(names)}.")


def _or(gibbs_appell_form: Callable) -> Callable[[F], F]:
    """The decorated formula, traced once a shape; where there is no frame, `gibbs_appell`'s, of `arguments`."""

    def decorate(formula: F) -> F:
        asked = signature(formula)

        @wraps(formula)
        def dispatch(*given: object, **named: object) -> Any:
            what: dict[str, Any] = asked.bind(*given, **named).arguments
            if isinstance(what["system"], System) and not what["system"].frameless:
                return call(formula, None, *what.values())
            system, arrays = arguments(**what)
            return gibbs_appell_form(system, *arrays)

        return dispatch  # type: ignore[return-value]  # the formula's own signature

    return decorate


def full(system: System, q: Array, xi: Array) -> Array:
    """xi with all n components: xi^U = b(q) filled in where xi has only m."""
    return jnp.concatenate([xi, system.slip(q)]) if xi.shape[-1] == system.rank else xi


def structure(system: System, q: Coordinates, xi: Quasivelocities | None = None) -> Float[Array, n, n, n]:  # noqa: ARG001  # one signature for all
    """Returns c[k, i, j] of [u_i, u_j] = c^k_ij u_k; xi is not used and only makes the signatures alike.   [HE] 2.3"""
    system, (q,) = arguments(system, q)
    return system.structure(q)


@_or(gibbs_appell.momentum)
def momentum(system: System, q: Coordinates, xi: Quasivelocities) -> Float[Array, n]:
    """Returns mu = dl/dxi, all n components, varied before the constraint is imposed.   [HE] (5.5)"""
    system, (q, xi) = arguments(system, q, xi=xi)
    return jax.grad(system.lagrangian, 1)(q, xi)


def _balance(system: System, q: Array, xi: Array) -> tuple[Array, Array]:
    """mu and F_j = c^k_ij xi^i mu_k + Psi^a_j dl/dq^a + f_j, both for all j = 1..n."""
    gradient, mu = jax.grad(system.lagrangian, (0, 1))(q, xi)
    if system.frame_is_a_map:
        (along_frame,) = jax.linear_transpose(partial(system.velocity, q), xi)(gradient)
    else:
        along_frame = system.frame(q).T @ gradient
    return mu, system.coadjoint(q, xi, mu) + along_frame + system.force(q, xi)


@_or(gibbs_appell.balance)
def balance(system: System, q: Coordinates, xi: Quasivelocities) -> tuple[Float[Array, m], Float[Array, m]]:
    """Returns (mu_j, F_j) for j = 1..m, the two sides of (H) d/dt mu_j = F_j; what the schemes discretise."""
    system, (q, xi) = arguments(system, q, xi=xi)
    if system.in_velocities is not None:
        return _balance_in_velocities(system, q, xi)
    mu, force = _balance(system, q, xi)
    return mu[: system.rank], force[: system.rank]


def _balance_in_velocities(system: System, q: Array, xi: Array) -> tuple[Array, Array]:
    """The same from L(q, v), v = Psi xi, which needs no bracket and no complement of D, but its m fields u_j.

    mu_j = <L_v, u_j>,  F_j = <L_q, u_j> + <L_v, D u_j [v]> + f_j: by the product rule u_j[l] + c^k_ij xi^i mu_k + f_j.
    """
    m = system.rank
    v = system.frame(q) @ xi
    slope, covector = jax.grad(system.in_velocities, (0, 1))(q, v)
    fields, turned = jax.jvp(lambda point: system.frame(point)[:, :m], (q,), (v,))
    return fields.T @ covector, fields.T @ slope + turned.T @ covector + system.force(q, xi)[:m]


def hamel_force(system: System, q: Coordinates, xi: Quasivelocities) -> Float[Array, m]:
    """Returns F_j = c^k_ij xi^i mu_k + Psi^a_j dl/dq^a + f_j, j = 1..m.   (H); [HE] (2.2), (4.4); [QS] (3.4)

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    >>> dh.hamel_force(sleigh, [0.0, 0, 0], [1.5, -0.3]).round(3).tolist()     # -m a omega v, m a omega^2
    [0.18, 0.9]
    """
    return balance(system, q, xi)[1]


@_or(gibbs_appell.energy)
def energy(system: System, q: Coordinates, xi: Quasivelocities) -> Float[Array, ()]:
    """Returns E = <mu, xi> - l."""
    system, (q, xi) = arguments(system, q, xi=xi)
    value, mu = jax.value_and_grad(system.lagrangian, 1)(q, xi)
    return mu @ xi - value


@_or(gibbs_appell.inertia)
def inertia(system: System, q: Coordinates, xi: Quasivelocities) -> Float[Array, m, m]:
    """M_ij = d mu_i / d xi^j on D, m x m: what must be regular for the motion to be determined."""
    system, (q, xi) = arguments(system, q, xi=xi)
    return jax.jacfwd(lambda free: momentum_on_d(system, q, free))(xi[: system.rank])


@_or(gibbs_appell.momentum_on_d)
def momentum_on_d(system: System, q: Array, free: Array) -> Array:
    """mu_j, j = 1..m, at (xi^D, b(q))."""
    xi = full(system, q, free)
    if system.in_velocities is None:
        return jax.grad(system.lagrangian, 1)(q, xi)[: system.rank]
    psi = system.frame(q)
    return psi[:, : system.rank].T @ jax.grad(system.in_velocities, 1)(q, psi @ xi)


@_or(gibbs_appell.vector_field)
def vector_field(system: System, q: Coordinates, xi: Quasivelocities) -> tuple[Float[Array, N], Float[Array, n]]:
    """Returns (qdot, xidot) of (H) d/dt mu_j = F_j, qdot = Psi xi, xi^U = b(q), each with all its components.

    [HE] (4.4); [QS] (3.4)
    """
    system, (q, xi) = arguments(system, q, xi=xi)
    free = xi[: system.rank]
    velocity = system.velocity(q, xi)
    mass = jax.jacfwd(partial(momentum_on_d, system, q))(free)
    _, drift = jax.jvp(lambda point: momentum_on_d(system, point, free), (q,), (velocity,))
    _, slip_rate = jax.jvp(system.slip, (q,), (velocity,))
    return velocity, jnp.concatenate([jnp.linalg.solve(mass, balance(system, q, free)[1] - drift), slip_rate])


@_or(gibbs_appell.reactions)
def reactions(system: System, q: Coordinates, xi: Quasivelocities) -> Float[Array, k]:
    """Returns lambda_a of d/dt dL/dqdot - dL/dq = f + lambda_a A^a, n - m components: a force, not an impulse.

    A^a are the one-forms with xi^{m+a} = A^a(q) qdot (for `from_constraints` the user's own rows), so that
    lambda_a = d/dt mu_{m+a} - F_{m+a}: the rows of (2.2) that the constraint takes away.   [HE] 2.4
    """
    system, (q, xi) = arguments(system, q, xi=xi)
    _, rate = jax.jvp(jax.grad(system.lagrangian, 1), (q, xi), vector_field(system, q, xi))
    return (rate - _balance(system, q, xi)[1])[system.rank :]


@_or(lambda system, q, z: system.velocity(q, z))  # [BE] (9)
def velocities(system: System, q: Coordinates, xi: Quasivelocities) -> Float[Array, N]:
    """Returns qdot = Psi(q) xi."""
    system, (q, xi) = arguments(system, q, xi=xi)
    return system.velocity(q, xi)


@_or(gibbs_appell.quasivelocities)
def quasivelocities(system: System, q: Coordinates, v: Velocities) -> Float[Array, n]:
    """Returns xi with Psi(q) xi = v, n components.

    Where the fields are dependent as vectors (advected coordinates) no v determines all of xi: then the one that
    satisfies the constraint, xi^U = b(q), is meant.
    """
    system, (q, v) = arguments(system, q, v=v)
    return system.quasivelocity(q, v)


def nodal_velocity(system: System, q: Coordinates, p: Momenta, guess: Momenta | None = None) -> Float[Array, n]:
    """Returns xi at a node, n components, from its (q, p): mu_j(q, xi) = p_j, j = 1..m, xi^U = b(q).   (D2); [HE] (5.6)

    It is not the velocity xi_{k,k+1} of the interval before or after, which belongs to the middle and is off by h/2.
    `guess` (m components) is where Newton's method starts: zero unless given; mu linear in xi needs one iteration.
    A solve that fails is a ValueError, or NaN under jit.

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> p = dh.momentum(sleigh, [0.1, 0, 0], [1.5, -0.3])[:2]
    >>> dh.nodal_velocity(sleigh, [0.1, 0, 0], p).round(12).tolist()
    [1.5, -0.3, 0.0]
    """
    system, (q, p, start) = arguments(system, q, p=p, guess=[0.0] * system.rank if guess is None else guess)
    if system.frameless:
        return p  # z, which such a state holds in the place of p
    xi, off = _nodal(system, q, p, start)
    if not isinstance(off, jax.core.Tracer) and not bool(jnp.isfinite(off)):
        raise InputError(
            f"no xi with mu(q, xi) = p = {p.tolist()} was found at q = {q.tolist()} from the guess {start.tolist()}: "
            "give one nearer by, such as state.xi, or a p that the Lagrangian can have."
        )
    return xi


@jax.jit
def _nodal(system: System, q: Array, p: Array, guess: Array) -> tuple[Array, Array]:
    """xi, and how far its momentum is from p; NaN both where that is more than round-off."""
    xi = legendre(system, q, p, guess)
    off = jnp.max(jnp.abs(balance(system, q, xi[: len(p)])[0] - p), initial=0.0)
    well = off <= jnp.sqrt(jnp.finfo(p.dtype).eps) * (1 + jnp.max(jnp.abs(p), initial=0.0))
    return jnp.where(well, xi, jnp.nan), jnp.where(well, off, jnp.nan)


@_or(gibbs_appell.legendre)
def legendre(system: System, q: Array, p: Array, guess: Array) -> Array:
    """The nodal velocity: xi with mu_j(q, xi) = p_j, j = 1..m, and xi^U = b(q); all n components."""
    return full(system, q, root(lambda xi: momentum_on_d(system, q, xi) - p, guess[: system.rank])[0])

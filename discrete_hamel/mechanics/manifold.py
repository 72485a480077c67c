"""Redundant coordinates: the manifold g(q) = 0 on which they lie, how far a point is off it, and the nearest on it."""

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.constructors import unwrap
from discrete_hamel.mechanics.hamel import arguments, quasivelocities
from discrete_hamel.mechanics.system import System

ON_MANIFOLD = 1e-8  # how far off an initial q may be, as a relative error
MOST = 30  # iterations of Gauss and Newton: they double the digits, and from far off halve the distance first


def off_manifold(system: System, q: Array) -> Array:
    """The largest |g_i(q)| of `System.holonomic`, a relative error; 0 where no coordinate is redundant. Runs under jit.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> from discrete_hamel.mechanics.manifold import off_manifold
    >>> round(float(off_manifold(dh.systems.SphericalPendulum(), jnp.array([0.0, 0.0, -1.3]))), 12)     # |gamma|^2 - 1
    0.69
    """
    return jnp.max(jnp.abs(system.holonomic(q)), initial=0.0)


def project(
    system: System, q: Coordinates, xi: Quasivelocities | None = None, *, v: Coordinates | None = None
) -> tuple[Array, Array]:
    """Returns (q, xi) on the constraints: q where g(q) = 0, to round-off, and xi with all n components, xi^U = b(q).

    q moves by Gauss' and Newton's iteration q - G^T (G G^T)^{-1} g, G = Dg, to the point of the manifold that is
    nearest, up to the square of the distance; the free quasi-velocities stay. What is consistent already comes back
    bit for bit. Constraints that are nonlinear in the velocities have no xi^U: z comes back as it is. From v = qdot,
    given instead of xi, what the constraint forbids is taken; of `from_constraints` along G^{-1} A^T, G its weights.

    >>> import discrete_hamel as dh
    >>> q, xi = dh.project(dh.systems.SphericalPendulum(), q=[0.3, 0.4, -1.2], xi=[0.6, 0.0])
    >>> [round(float(a), 3) for a in q], xi.shape                              # 1 / 1.3 of it
    ([0.231, 0.308, -0.923], (3,))
    """
    if (xi is None) == (v is None):
        raise InputError("give the velocity once: xi (quasi-velocities) or v (coordinate velocities qdot).")
    _, (given, velocity) = arguments(system, q, **({"xi": xi} if v is None else {"v": v}))
    system = system.at(near := nearest(system, given))
    velocity = velocity if v is None else _admissible_velocity(system, near, velocity)
    if not isinstance(near, jax.core.Tracer) and not float(off_manifold(system, near)) <= slack(near):
        raise InputError(
            f"Gauss' and Newton's iteration finds no point near q = {given.tolist()} that satisfies what "
            f"{type(system).__name__} asks of its redundant coordinates, holonomic(q) = 0; start nearer."
        )
    return near, jnp.concatenate([velocity[: system.rank], jnp.asarray(system.slip(near), near.dtype)])


@jax.jit
def _admissible_velocity(system: System, q: Array, v: Array) -> Array:
    rows = unwrap(system)
    if rows is None:
        return quasivelocities(system, q, v)
    return rows.components(q, v - rows.frame(q)[:, rows.rank :] @ rows.slip(q))


@jax.jit
def nearest(system: System, q: Array) -> Array:
    """The point of g = 0 that Gauss' and Newton's iteration reaches from q, to round-off."""
    if not system.redundant:
        return q
    from jax.scipy.sparse.linalg import cg  # here: it takes six milliseconds to load, and few need it

    g = system.holonomic
    roundoff = 16 * jnp.finfo(q.dtype).eps

    def once(point: Array, _: None) -> tuple[Array, None]:
        value, along = jax.linearize(g, point)
        across = jax.linear_transpose(along, point)
        arrived = jnp.max(jnp.abs(value)) <= roundoff  # it stays, bit for bit, and its slopes become tangent
        off = value - jnp.where(arrived, jax.lax.stop_gradient(value), 0.0)
        pull, _ = cg(lambda y: along(*across(y)), off, tol=1e-14)  # (G G^T) y = g, without forming G
        return point - across(pull)[0], None

    return jax.lax.scan(once, q, length=MOST)[0]


def refuse_off_manifold(system: System, q: Array, off: float | None = None) -> None:
    """Refuses a q off g = 0, with the amount, `off_manifold` if not given, and the nearest point."""
    amount = float(off_manifold(system, q)) if off is None and system.redundant else off or 0.0
    if amount <= ON_MANIFOLD or amount <= slack(q):
        return
    there = nearest(system, q)
    apart = float(jnp.linalg.norm(q - there))
    if not float(off_manifold(system, there)) <= slack(q):
        aim = "No point near it satisfies them"
    else:
        shown = f", {[float(f'{a:.12g}') for a in there]}" if len(q) <= 16 else ""
        aim = f"The nearest point that does is {apart:.3g} away{shown}: dh.project(system, q, xi) gives it"
    raise InputError(
        f"the initial q is off the holonomic constraints of {type(system).__name__}'s redundant coordinates, "
        f"holonomic(q) = 0, by {amount:.3g}. {aim}."
    )


def slack(q: Array) -> float:
    """How far off an initial q of this precision may be."""
    return max(ON_MANIFOLD, 64 * float(jnp.finfo(q.dtype).eps))

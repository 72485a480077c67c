"""Constraints that are nonlinear in the velocities: NonlinearSystem, qdot = psi(q, z), and one made of functions.

What makes them from C(q, v) = 0 is in `systems/implicit_constraints.py`.
"""

from collections.abc import Callable
from typing import ClassVar, NoReturn, Unpack

import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.description import NOTHING, DescribedSystem, Description, Words, describe
from discrete_hamel.mechanics.description import call as _call
from discrete_hamel.mechanics.system import System


class NonlinearSystem(System):
    """A Lagrangian L(q, qdot) and velocities qdot = psi(q, z), z in R^m, m <= n: a curved set of velocities at each q.

    The constraint is ideal in Chetaev's sense: reactions R with psi_z^T R = 0. Then   [BE] Theorem 1

        psi_z^T (d/dt L_v - L_q - f) = 0,   qdot = psi(q, z)

    z may be more than the velocities allowed need, with `rows(q, z)` that vanish on the constraint: then variations
    psi_z delta z are those with K delta z = 0, K = rows_z.

    Subclass it with float fields, `rank` (m), `lagrangian(q, v)` and `velocity(q, z)`; `force(q, v)` is a covector in
    coordinates. Everything that takes a System takes it, z in the place of xi; there is no frame, so only schemes that
    need none do: NonlinearMidpoint (the default), Gauss, EnergyExact, RungeKutta4, and compositions of these.

    `momentum` is psi_z^T L_v, which need not determine z (for parallel velocities its last component is zero), so that
    `traj.p` holds z itself.
    """

    frameless = True
    singular: ClassVar[str] = ""  # in words, the states in which psi_z loses rank

    def lagrangian(self, q: Array, v: Array) -> Array:  # an override: v = qdot here
        """L(q, qdot)."""
        raise NotImplementedError(f"{type(self).__name__} needs a method lagrangian(self, q, v)")

    def velocity(self, q: Array, z: Array) -> Array:
        """psi(q, z), n components."""
        raise NotImplementedError(f"{type(self).__name__} needs a method velocity(self, q, z)")

    def force(self, q: Array, v: Array) -> Array:  # noqa: ARG002  # the signature of all forces
        """Non-conservative force, a covector in coordinates."""
        return jnp.zeros_like(v)

    def z_of(self, q: Array, v: Array) -> Array | None:  # noqa: ARG002
        """z with psi(q, z) = v in closed form, or None, and it is searched for."""
        return None

    def slip(self, q: Array) -> Array:  # noqa: ARG002
        """Nothing is left to fill in: z has all its m components."""
        return jnp.zeros(0)

    def frame(self, q: Array) -> NoReturn:  # noqa: ARG002
        """Refused: velocities that are not linear in z have no frame."""
        raise InputError(
            f"{type(self).__name__} has velocities qdot = psi(q, z) and no frame, which is what is asked for here. "
            "Take a scheme that needs none: NonlinearMidpoint(), Gauss(s), EnergyExact() or RungeKutta4(). If psi is "
            "linear in z after all, dh.as_linear(system, q) is the ordinary system, for every scheme."
        )

    structure = frame  # refused as well


def need_frame(system: System, what: str, instead: str) -> None:
    """Refuses a system whose constraints are not linear in the velocities."""
    if system.frameless:
        raise InputError(
            f"{what} needs a frame, and the constraints of {type(system).__name__} are nonlinear; {instead}."
        )


def nonlinear(
    L: Callable,
    velocity: Callable,
    m: int,
    *,
    force: Callable | None = None,
    params: PyTree = None,
    **description: Unpack[Words],
) -> NonlinearSystem:
    """A system from L(q, qdot) and velocity(q, z) = qdot, z in R^m; force(q, qdot) is a covector in coordinates.

    `params`, any pytree, is passed as last argument to each function; names, symmetries, invariants and shapes are
    given as to `from_quasivelocities`, z in the place of xi.   [BE] Theorem 1

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> def steady(q, z):
    ...     return jnp.array([jnp.cos(z[0]), jnp.sin(z[0])])
    >>> point = dh.nonlinear(lambda q, v: 0.5 * v @ v - q[1], steady, 1)
    >>> traj = dh.simulate(point, [0.0, 0.0], [0.5], h=0.1, steps=50)           # a point of speed 1 under gravity
    >>> bool(abs(jnp.linalg.norm(traj.v, axis=1) - 1).max() < 1e-15)
    True
    """
    return FromNonlinear(m, L, velocity, force, params, describe(description))


class FromNonlinear(DescribedSystem, NonlinearSystem):
    """See `nonlinear`."""

    rank: int  # type: ignore[misc]
    L_of: Callable
    velocity_of: Callable
    force_of: Callable | None = static(default=None)
    params: PyTree = None
    description: Description = static(default=NOTHING)

    def lagrangian(self, q: Array, v: Array) -> Array:
        return _call(self.L_of, self.params, q, v)

    def velocity(self, q: Array, z: Array) -> Array:
        return jnp.asarray(_call(self.velocity_of, self.params, q, z))

    def force(self, q: Array, v: Array) -> Array:
        return jnp.zeros_like(v) if self.force_of is None else jnp.asarray(_call(self.force_of, self.params, q, v))

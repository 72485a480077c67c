"""Two well-known wrong ways to nonholonomic equations, as systems to hold against the right one, and their detector.

Constraining before varying puts xi^U = b into l, so that no momentum across the constraint is left to be transported;
the missing bracket treats quasi-velocities as if they were the derivatives of coordinates.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System, Wrapper
from discrete_hamel.runs import validation as checks

AGREES = 1e-9  # relative difference of accelerations that counts as none


class ConstrainedFirst(Wrapper):
    """The same system with the constraint put into the Lagrangian before it is varied: wrong unless integrable.

    l_c(q, xi) = l(q, xi^D, b(q)), so mu_k = 0 along U and c^k_ij xi^i mu_k loses its terms with k in U.

    >>> import discrete_hamel as dh
    >>> wrong = dh.analysis.ConstrainedFirst(dh.systems.ChaplyginSleigh())
    >>> dh.vector_field(wrong, [0, 0, 0], [1.0, 2.0])[1].round(6).tolist()         # the sleigh would not turn straight
    [0.0, 0.0, 0.0]
    """

    system: System

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return self.system.lagrangian(q, hamel.full(self.system, q, xi[: self.rank]))


class WithoutBracket(Wrapper):
    """The same system with [u_i, u_j] = 0 pretended: wrong unless the frame commutes.

    >>> import discrete_hamel as dh
    >>> wrong = dh.analysis.WithoutBracket(dh.systems.RigidBody())
    >>> dh.vector_field(wrong, dh.systems.RigidBody().sample()["q"], [0.1, 1.0, 0.1])[1].tolist()
    [0.0, 0.0, 0.0]
    """

    system: System

    def structure(self, q: Array) -> Array:
        return jnp.zeros_like(self.system.structure(q))


class WrongWay(NamedTuple):
    """xidot of D at a point: as it is, and by each wrong way; `verdict` is about equations held against them."""

    right: np.ndarray  # vary, then constrain
    constrained_first: np.ndarray  # with the constraint put into l before it is varied
    without_bracket: np.ndarray  # with the term of the structure left out
    verdict: str

    def __repr__(self) -> str:
        rows = [("right", self.right), ("constrained, then varied", self.constrained_first)]
        rows.append(("bracket left out", self.without_bracket))
        size = 1 + np.max(np.abs(self.right))
        lines = [
            f"  {name:<26}{np.array2string(xidot, precision=6, floatmode='fixed')}   off by "
            f"{np.max(np.abs(xidot - self.right)) / size:.1e}"
            for name, xidot in rows
        ]
        return "\n".join(["d/dt xi^D", *lines, self.verdict])


@jax.jit
def _acceleration(system: System, q: Array, xi: Array) -> Array:
    return hamel.vector_field(system, q, xi[: system.rank])[1][: system.rank]


def wrong_way(
    system: System,
    q: Coordinates,
    xi: Quasivelocities,
    equations: Callable[[Array, Array], ArrayLike] | ArrayLike | None = None,
) -> WrongWay:
    """Returns what the two wrong ways give at (q, xi), and which way `equations`, xidot^D(q, xi) or its value, were
    got.

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> turned = dh.systems.ChaplyginSleighMomentumFrame()
    >>> wrong = dh.vector_field(dh.analysis.ConstrainedFirst(turned), [0.3, 0, 0], [1.5, 0.3])[1][:2]
    >>> print(dh.analysis.wrong_way(turned, [0.3, 0, 0], [1.5, 0.3], equations=wrong).verdict)
    these equations are those of constraining before varying: vary first, then impose xi^U = b
    >>> print(dh.analysis.wrong_way(sleigh, [0, 0, 0], [0.0, 2.0]).verdict)
    here both wrong ways agree with the right one, so this point does not tell them apart
    """
    system, q, xi = checks.initial_data(system, q, xi, None)
    systems = (system, ConstrainedFirst(system), WithoutBracket(system))
    ways = [np.asarray(_acceleration(each, q, xi)) for each in systems]
    size = 1 + max(float(np.max(np.abs(way))) for way in ways)
    off = [float(np.max(np.abs(way - ways[0]))) / size > AGREES for way in ways[1:]]
    given = None if equations is None else equations(q, xi) if callable(equations) else equations
    return WrongWay(ways[0], ways[1], ways[2], _verdict(ways, off, given, size))


def _verdict(ways: list[np.ndarray], off: list[bool], given: ArrayLike | None, size: float) -> str:
    if given is None:
        if not any(off):
            return "here both wrong ways agree with the right one, so this point does not tell them apart"
        names = [
            name
            for name, differs in zip(("constraining first", "leaving the bracket out"), off, strict=True)
            if differs
        ]
        return f"{' and '.join(names)} would be wrong here"
    given = np.asarray(given, float)
    if given.shape != ways[0].shape:
        raise InputError(f"equations must give xidot along D, {len(ways[0])} components; got shape {given.shape}.")
    fits = [bool(np.max(np.abs(given - way)) / size <= AGREES) for way in ways]
    if fits[0]:
        alone = "" if any(off) else ", though at this point the wrong ones would be too"
        return f"these equations are right here{alone}"
    if fits[1] and not fits[2]:
        return "these equations are those of constraining before varying: vary first, then impose xi^U = b"
    if fits[2] and not fits[1]:
        return "these equations lack the bracket term c^k_ij xi^i mu_k"
    if all(fits[1:]):
        return "these equations are wrong; here constraining before varying and leaving the bracket out give the same"
    return "these equations are wrong, and by neither of the two usual ways"

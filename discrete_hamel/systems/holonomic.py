"""Systems whose positions are constrained, g(q) = 0, and perhaps their velocities too: from_holonomic."""

from collections.abc import Callable, Iterable
from typing import Unpack

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used: linalg alone takes 0.1 s
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.constructors import FromConstraints
from discrete_hamel.mechanics.description import Words, call, describe
from discrete_hamel.mechanics.manifold import nearest
from discrete_hamel.mechanics.system import System

DEPENDENT = 1e-8  # share of a row of Dg below which it adds nothing to the others
NEARBY = 3  # points about the start at which the rank of Dg has to be the same
ASIDE = 1e-2  # how far they are from it, relative to 1 + |q|


def from_holonomic(
    L: Callable,
    g: Callable,
    *,
    A: Callable | None = None,
    b: Callable | None = None,
    force: Callable | None = None,
    params: PyTree = None,
    free: Iterable[str | int] | Callable | None = None,
    **description: Unpack[Words],
) -> "FromHolonomic":
    """A system from L(q, qdot) whose positions satisfy g(q) = 0, and whose velocities may satisfy A(q) qdot = b(q).

    `DiscreteHamel` takes the form `HolonomicHamel` here: g = 0 at every node to round-off, however long the run, and
    A qdot = b at the tau-point; for g alone it is variational. g may have rows that others imply (a loop written in
    three dimensions): those independent at the start are kept, and the rank there has to be that of the places around.
    A start off g = 0 or a velocity across it is refused with the amount; `dh.project(system, q, v=v)` leads back.
    `force(q, qdot)`, `free` and what is said of the system are as to `from_constraints`: xi = (xi^D, Dg qdot, A qdot).
    `Rattle` takes it too where there is no A; schemes that know only frames keep Dg qdot = 0 and drift off g = 0.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> def L(q, v):                                                          # a bob on a rod of length 1
    ...     return 0.5 * v @ v - 9.8 * q[1]
    >>> pendulum = dh.from_holonomic(L, lambda q: q @ q - 1.0, coordinates=("x", "y"))
    >>> traj = dh.simulate(pendulum, q=[0.6, -0.8], v=[0.8, 0.6], h=0.01, steps=1000)
    >>> bool(abs(jnp.sum(traj.q**2, axis=1) - 1).max() < 1e-14)
    True
    """
    if "holonomic" in description:
        raise InputTypeError("from_holonomic takes g itself: redundant coordinates are positions that g constrains.")
    if b is not None and A is None:
        raise InputTypeError("b(q) is what A(q) qdot equals; give A.")
    free = free if free is None or callable(free) else tuple(free)
    return FromHolonomic(L, A, b, force, params, describe(description), free, g_of=g)  # type: ignore[arg-type]  # no A


class FromHolonomic(FromConstraints):
    """See `from_holonomic`; `kept` are the rows of g that are independent, found by `at`."""

    g_of: Callable | None = static(default=None)
    kept: tuple[int, ...] | None = static(default=None)

    def constraint(self, q: Array) -> Array:
        """g(q), all rows; what `Rattle` asks for."""
        return jnp.atleast_1d(jnp.asarray(call(self.g_of, self.params, q), float))  # type: ignore[arg-type]

    def positions(self, q: Array) -> Array:
        g = self.constraint(q)
        return g if self.kept is None else g[jnp.array(self.kept, int)]

    @property
    def held_rows(self) -> tuple[int, ...]:  # type: ignore[override]
        return tuple(range(1 if self.kept is None else len(self.kept)))

    @property
    def redundant(self) -> bool:
        return True

    def holonomic(self, q: Array) -> Array:
        """g, each row in units of its slope and of 1 + |q|."""
        g, slopes = self.constraint(q), jax.jacfwd(self.constraint)(q)
        sizes = jnp.sum(slopes**2, axis=1)  # no square root of 0, which has no derivative
        return g / (jnp.sqrt(jnp.where(sizes > 0, sizes, 1.0)) * (1 + jnp.max(jnp.abs(q))))

    def one_forms(self, q: Array) -> Array:
        """Dg and A, one below the other."""
        slopes = jax.jacfwd(self.positions)(q)
        return slopes if self.A_of is None else jnp.concatenate([slopes, super().one_forms(q)])

    def slip(self, q: Array) -> Array:
        """0 for the rates of g, b(q) for the rows of A."""
        if self.b_of is None:
            return jnp.zeros(len(self.one_forms(q)))
        return jnp.concatenate([jnp.zeros(len(self.held_rows)), super().slip(q)])

    def row_name(self, row: int) -> tuple[int, str]:
        rows = len(self.held_rows)
        return (self.kept[row], "Dg(q) v") if row < rows else (row - rows, "A(q) v")  # type: ignore[index]

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> System:
        if self.choice is not None:
            return self
        if any(isinstance(a, jax.core.Tracer) for a in jax.tree.leaves((self, q))):  # then all rows count
            every = tuple(range(jax.eval_shape(self.constraint, q).shape[0]))
            return FromConstraints.at(self.replace(kept=every), q, by)
        return FromConstraints.at(self.replace(kept=_independent(self, jnp.asarray(q, float))), q, by)


def _independent(system: FromHolonomic, q: Array) -> tuple[int, ...]:
    """The rows of g whose slopes at q span those of all; refused where the rank there is not that of places around."""
    shape = jax.eval_shape(system.constraint, q).shape
    if len(shape) != 1 or not shape[0]:
        raise InputError(f"g(q) must return one number a constraint, a vector; got shape {shape}.")
    offsets = np.random.default_rng(0).normal(size=(NEARBY, len(q)))
    around = [nearest(system, q + ASIDE * (1 + jnp.max(jnp.abs(q))) * offset) for offset in offsets]
    here, *others = (np.asarray(_slopes(system, point)) for point in (q, *around))
    if not np.all(np.isfinite(here)):
        row = int(np.argwhere(~np.isfinite(here))[0][0])
        raise InputError(f"row {row} of g(q) has no finite derivative at q = {np.asarray(q).tolist()}.")
    kept = _spanning(here)
    ranks = [len(_spanning(slopes)) for slopes in others if np.all(np.isfinite(slopes))]
    if ranks and max(ranks) > len(kept):
        raise InputError(
            f"g(q) = 0 is singular at q = {np.asarray(q).tolist()}: its {shape[0]} rows have rank {len(kept)} there "
            f"and {max(ranks)} at places around (branches of it meet), so that the motion is not determined. Start at "
            "another place, or give the branch that is meant as a constraint of its own."
        )
    return kept


def _spanning(slopes: np.ndarray) -> tuple[int, ...]:
    """Indices of rows that span all rows, the first ones where there is a choice."""
    sizes = np.linalg.norm(slopes, axis=1)
    unit = slopes / np.where(sizes > 0, sizes, 1.0)[:, None]
    rank = (
        int(np.sum(np.abs(np.diag(scipy.linalg.qr(unit.T, mode="r", pivoting=True)[0])) > DEPENDENT))
        if len(unit)
        else 0
    )
    kept: list[int] = []
    for row in range(len(unit)):
        if len(kept) < rank and np.linalg.matrix_rank(unit[[*kept, row]], tol=DEPENDENT) > len(kept):
            kept.append(row)
    return tuple(kept)


@jax.jit
def _slopes(system: FromHolonomic, q: Array) -> Array:
    return jax.jacfwd(system.constraint)(q)

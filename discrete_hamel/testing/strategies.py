"""Hypothesis strategies: parameters in their ranges, states on D, steps, motions, and the shapes that bodies have.

All shrink to what is simple: parameters to those given, positions to the place given, velocities and numbers to zero
or to whole ones. So what a failing test shows is a small state.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from discrete_hamel._support.arrays import Coordinates
from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel.mechanics.manifold import nearest, off_manifold
from discrete_hamel.mechanics.singular_states import refuse_singular
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.simulation import simulate
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.scheme import Scheme

Strategy = st.SearchStrategy

WITHIN = 3.0  # parameters are drawn between a third of what they are and three times that
NEAR = 0.7  # how far from the place given coordinates are drawn, rad or m
FAST = 2.0  # and how large quasi-velocities
ON_MANIFOLD = 1e-12


# --- numbers and bodies ---


def numbers(low: float = -2.0, high: float = 2.0) -> Strategy:
    """Numbers between two, no denormal ones."""
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


def sizes(low: float = 0.2, high: float = 3.0) -> Strategy:
    """Masses, lengths, moments: positive, of order one."""
    return numbers(low, high)


def vectors(n: int, low: float = -2.0, high: float = 2.0) -> Strategy:
    """Arrays of n numbers."""
    return st.lists(numbers(low, high), min_size=n, max_size=n).map(np.array)


def directions() -> Strategy:
    """Unit vectors of R^3."""
    return vectors(3, -1.0, 1.0).filter(lambda a: np.linalg.norm(a) > 0.1).map(lambda a: a / np.linalg.norm(a))


def rotations() -> Strategy:
    """Rotation matrices, 3 x 3, from quaternions."""

    def matrix(w: np.ndarray) -> np.ndarray:
        a, b, c, d = w / np.linalg.norm(w)
        return np.array(
            [
                [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
                [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
                [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
            ]
        )

    return vectors(4, -1.0, 1.0).filter(lambda w: np.linalg.norm(w) > 0.1).map(matrix)


def inertias() -> Strategy:
    """Full inertia matrices of real bodies: positive second moments, principal axes anywhere."""

    def matrix(moments: np.ndarray, turn: np.ndarray) -> np.ndarray:
        a, b, c = moments
        return turn @ np.diag([b + c, a + c, a + b]) @ turn.T

    return st.builds(matrix, vectors(3, 0.2, 2.0), rotations())


@st.composite
def bodies_of_revolution(draw: Callable) -> dict[str, float]:
    """Parameters of a body that rolls on a plane, J3 <= 2 J1."""
    j1 = draw(sizes())
    j3 = draw(numbers(0.1, 2.0)) * j1
    return {"mass": draw(sizes()), "inertia_across": j1, "inertia_axis": j3, "gravity": draw(numbers(0.0, 10.0))}


def steps(largest: float = 0.05, *, backward: bool = True) -> Strategy:
    """Steps h of either sign, not zero."""
    forward = numbers(largest / 50, largest)
    return forward | forward.map(lambda h: -h) if backward else forward


# --- of a system ---


@st.composite
def parameters(draw: Callable, system: System) -> System:
    """The system with other values of its parameters: each within a factor of three, where it is zero within one of it.

    What `system.check()` refuses is not drawn. It shrinks to the system given.

    >>> import discrete_hamel as dh
    >>> dh.testing.strategies.parameters(dh.systems.ChaplyginSleigh()).example().rank    # doctest: +SKIP
    2
    """
    leaves, tree = jax.tree.flatten(system)
    new = [draw(_like(np.asarray(leaf))) if _is_real(leaf) else leaf for leaf in leaves]
    drawn = jax.tree.unflatten(tree, new)
    try:
        drawn.check()
    except ValueError:
        assume(False)
    return drawn


def _is_real(leaf: object) -> bool:
    return not isinstance(leaf, bool | np.bool_) and np.issubdtype(np.asarray(leaf).dtype, np.number)


def _like(value: np.ndarray) -> Strategy:
    """Arrays of this shape, a factor or a shift for all of its numbers: so what is symmetric or ordered stays so."""
    if np.any(value):
        drawn = numbers(-1.0, 1.0).map(lambda power: value * WITHIN**power)
    else:
        drawn = numbers(-1.0, 1.0).map(lambda shift: value + shift)
    return drawn.map(lambda a: a if np.ndim(value) else float(a))


_nearest, _off = jax.jit(nearest), jax.jit(off_manifold)


@st.composite
def states(
    draw: Callable, system: System, q: Coordinates | None = None, *, near: float = NEAR, fast: float = FAST
) -> tuple:
    """(q, xi) with xi^D free, m components, and q within `near` of the place given, on `holonomic` where there is one.

    Without q the system's `sample()` says where. What `check_start` or `check_shape` refuses is not drawn, nor
    are states in which velocities that are nonlinear in z have no tangent: no motion is determined there.
    """
    place = np.asarray(where(system, q), float)
    moved = jnp.asarray(place + draw(vectors(len(place), -near, near)))
    if system.redundant:
        moved = _nearest(system, moved)
        assume(bool(_off(system, moved) < ON_MANIFOLD))
    ready = system.at(moved)
    xi = draw(vectors(ready.rank, -fast, fast))
    try:
        system.check_start(moved)
        system.check_shape(moved)
        if system.frameless:
            refuse_singular(ready, moved, jnp.asarray(xi, float))
    except ValueError:
        assume(False)
    return np.asarray(moved), xi


def where(system: System, q: Coordinates | None = None) -> Coordinates:
    """q, or where the system's sample starts."""
    if isinstance(system, type):
        raise InputTypeError(f"this takes a System (an instance: {system.__name__}(), not the class).")
    if q is not None:
        return q
    sample = getattr(system, "sample", None)
    if sample is None:
        raise InputError(f"{type(system).__name__} has no sample(): say where it is to be looked at, q=[...].")
    return sample()["q"]


@st.composite
def motions(draw: Callable, system: System, q: Coordinates | None = None, **spread: float) -> tuple:
    """(system, q, xi): other parameters, another place, another velocity."""
    drawn = draw(parameters(system))
    return drawn, *draw(states(drawn, q, **spread))


@st.composite
def trajectories(
    draw: Callable,
    system: System,
    q: Coordinates | None = None,
    *,
    steps: int = 20,
    scheme: Scheme | None = None,
    h: float | None = None,
) -> Trajectory:
    """Runs of so many steps, of `motions` and `steps`; what cannot be run is not drawn."""
    drawn, place, xi = draw(motions(system, q))
    size = draw(numbers(1e-3, 0.05)) if h is None else h
    found = simulate(drawn, place, xi, h=size, steps=steps, scheme=scheme, on_failure="mark")
    assume(bool(np.all(found.report.converged)))
    return found

"""check_conserved: how well runs keep a function, against what theory says of it."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from jax import Array

from discrete_hamel._support.arrays import Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.simulation import simulate
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.testing import strategies
from discrete_hamel.testing.failure_message import AxiomFailed, everywhere, numerals, signature

ROUNDOFF = 1e-12  # of a step; it adds up like a random walk
SEEN = 1e-10  # below it nothing is said of an order
LEAST = 0.2  # of the runs have to show something
NEAR = 0.5  # how near to its order the median of the slopes is
EXAMPLES = 10


def check_conserved(
    function: Callable | str,
    system: System | None = None,
    scheme: Scheme | None = None,
    *,
    kept: str | float = "exact",
    q: Coordinates | None = None,
    motions: strategies.Strategy | None = None,
    h: float = 0.05,
    steps: int = 100,
    examples: int = EXAMPLES,
) -> None:
    """Holds a function along runs against what theory says of it: `kept` is "exact", an order or False.

    "exact": constant to 1e-12 sqrt(steps) of its size, or of 1. p: it moves by O(h^p), so with h/2 over the same time
    by 2^p less, in the median draw. False: it is not kept, beyond round-off. `function` is a function of (q, xi) or
    the name of an invariant of the system ("energy" always), or several of these. Runs are of `motions`, by default
    those of `strategies.motions`, "exact" with steps between h/50 and h of either sign; what cannot be solved does not
    count.

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh(offset=0.4)
    >>> dh.testing.check_conserved("energy", sleigh)
    >>> dh.testing.check_conserved("energy", sleigh, dh.DiscreteHamel(tau=0.4), kept=1, h=0.1)
    >>> dh.testing.check_conserved(lambda q, xi: xi[0], sleigh)                # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discrete_hamel.testing.failure_message.AxiomFailed: <lambda> changes by ... of its size, where 1e-11 is allowed...
    """
    if isinstance(kept, str) and kept != "exact":
        raise InputError(f'kept is {kept!r}; it is "exact", an order or False.')
    functions = [function] if callable(function) or isinstance(function, str) else list(function)
    if motions is None:
        if system is None:
            raise InputError("say which system, or which motions (system, q, xi), the runs are of.")
        motions = strategies.motions(system, q)
    found: list[tuple[np.ndarray, np.ndarray]] = []

    def run(motion: tuple, size: float, count: int) -> np.ndarray:
        one, place, xi = motion
        along = simulate(one, place, xi, h=size, steps=count, scheme=scheme, on_failure="mark")
        assume(bool(np.all(along.report.converged)) and len(along.t) == count + 1)
        return np.array([_off(_values(each, along)) for each in functions])

    def exact(one: tuple) -> None:
        motion, size = one
        allowed = ROUNDOFF * steps**0.5
        for each, off in zip(functions, run(motion, size, steps), strict=True):
            if not off <= allowed:
                raise AxiomFailed(
                    f"{_label(each)} changes by {off:.1e} of its size, where {allowed:.0e} is allowed, in {steps} "
                    f"steps of h = {size:.4g} from q = {numerals(motion[1])}, xi = {numerals(motion[2])} of "
                    f"{signature(motion[0])}."
                )

    if kept == "exact":
        everywhere(st.tuples(motions, strategies.steps(h)), exact, examples)
        return
    assert not isinstance(kept, str)
    everywhere(motions, lambda motion: found.append((run(motion, h, steps), run(motion, h / 2, 2 * steps))), examples)
    for k, each in enumerate(functions):
        _of_order(_label(each), np.array([(whole[k], half[k]) for whole, half in found]), kept)


def _label(function: Callable | str) -> str:
    return function if isinstance(function, str) else getattr(function, "__name__", str(function))


def _off(values: np.ndarray) -> float:
    """The largest change, relative to the size, or to 1."""
    return float(np.max(np.abs(values - values[0]))) / max(1.0, float(abs(values[0])))


def _of_order(label: str, found: np.ndarray, kept: float) -> None:
    whole, half = found[found[:, 0] > SEEN].T
    if len(whole) < LEAST * len(found):
        if kept is not False:
            raise AxiomFailed(
                f"{label} is kept better than to order {kept}: it changes in {len(whole)} of {len(found)} runs."
            )
        raise AxiomFailed(f"{label} is kept: only {len(whole)} of {len(found)} runs change it by more than {SEEN:.0e}.")
    slope = float(np.median(np.log2(whole / half)))
    if kept is not False and not abs(slope - kept) < NEAR:
        raise AxiomFailed(f"{label} changes as h^{slope:.2f}, not as h^{kept}.")


def _values(function: Callable | str, run: Trajectory) -> np.ndarray:
    if function == "energy":
        return np.asarray(run.energy)
    if isinstance(function, str):
        known = run.invariants()
        if function not in known:
            raise InputError(f"{type(run.system).__name__} has no invariant {function!r}; it has {', '.join(known)}.")
        return np.asarray(known[function])
    return np.asarray(_along(function, run.q, run.xi))


def _along(function: Callable, q: Array | np.ndarray, xi: Array | np.ndarray) -> jax.Array:
    return jax.vmap(function)(jnp.asarray(q), jnp.asarray(xi))

"""check_scheme: what a scheme declares, order, symmetry and words, is what is measured; both ways."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.testing.conserved_words import WORDS
from discrete_hamel.testing.failure_message import AxiomFailed, everywhere, numerals
from discrete_hamel.testing.small_problems import (
    PARTICLE,
    POINTS,
    SLEIGH,
    START,
    STEP,
    SURFACE,
    Case,
    accepts,
    has_slope,
    orbit,
)
from discrete_hamel.testing.strategies import numbers, vectors

ROUNDOFF = 1e-12
SEEN = 1e-9  # a deviation beyond it is none of round-off
FEW = 3  # runs that Hypothesis draws
NEAR = 0.2  # how far from a case's velocities


def check_scheme(scheme: Scheme) -> None:
    """Holds a scheme against its own words, on small problems that it accepts.

    order: the error falls with the declared power of h, within 0.1 on both sides. symmetric: a step with -h undoes a
    step with h, if declared at every state drawn, if not declared at none looked at. equivariant: a step of a sleigh
    that is turned and moved in its plane is the step, turned and moved. conserves: each word holds to round-off over a
    run where it is declared, and is visibly broken where it is not: so neither a false claim nor a forgotten one
    passes. What is None is not claimed and not asked.

    >>> import discrete_hamel as dh
    >>> dh.testing.check_scheme(dh.DiscreteHamel())
    >>> class Modest(dh.DiscreteHamel):
    ...     conserves = ("constraint",)
    >>> dh.testing.check_scheme(Modest())                                     # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discrete_hamel.testing.failure_message.AxiomFailed: relative equilibria: kept by Modest(...), which does not say...
    """
    for check in (check_order, check_symmetry, check_equivariance):
        check(scheme)
    for word in WORDS:
        check_word(scheme, word)
    unknown = set(scheme.conserves) - set(WORDS)
    if unknown:
        raise AxiomFailed(f"{scheme!r} conserves {sorted(unknown)}; the words that can be tested are {sorted(WORDS)}.")


def _simple(scheme: Scheme) -> Case:
    case = next((case for case in (SLEIGH, PARTICLE, SURFACE, POINTS) if accepts(scheme, case)), None)
    if case is None:
        raise AxiomFailed(
            f"{scheme!r} starts on no problem of dh.testing.small_problems; does start() refuse them all?"
        )
    return case


def _nearby(case: Case, judge: Callable[[Case, float], None]) -> None:
    """judge(case, h) with other velocities; they shrink to the case's own."""
    moved = vectors(len(case.xi), -NEAR, NEAR).map(lambda d: dataclasses.replace(case, xi=tuple(np.add(case.xi, d))))
    everywhere(st.tuples(moved, numbers(0.05, 0.2)), lambda drawn: judge(*drawn), FEW)


def check_order(scheme: Scheme) -> None:
    """The error falls with the declared power of h."""
    if scheme.order is not None:
        try:
            has_slope(scheme, _simple(scheme), scheme.order, time=2.0)
        except AssertionError as missed:
            raise AxiomFailed(f"order: {scheme!r} declares {scheme.order}; {missed}.") from missed


def _apart(one: tuple, other: tuple) -> float:
    return max(float(jnp.max(jnp.abs(a - b))) for a, b in zip(one, other, strict=True))


def check_symmetry(scheme: Scheme) -> None:
    """A step back undoes a step to round-off; or, where that is not declared, far from it."""
    case = _simple(scheme)

    def off(case: Case, h: float) -> float:
        first, there = orbit(scheme, case, h, 1)
        back, _ = STEP(case.system, scheme, there, -h)
        return _apart((first.q, first.p), (back.q, back.p))

    def undo(case: Case, h: float) -> None:
        gap = off(case, h)
        if not gap < ROUNDOFF:
            raise AxiomFailed(
                f"symmetric: {scheme!r} declares it, and a step of -h after one of h = {h:.3g} from "
                f"q = {numerals(case.q)}, xi = {numerals(case.xi)} of {type(case.system).__name__} ends {gap:.1e} away."
            )

    if scheme.symmetric:
        _nearby(case, undo)
    elif scheme.symmetric is not None and not off(case, 0.2) > 1e-8:
        raise AxiomFailed(f"symmetric: {scheme!r} is, and does not say so.")


def check_equivariance(scheme: Scheme) -> None:
    """A turn and a translation of the sleigh's plane go through a step."""
    if not accepts(scheme, SLEIGH):
        return
    turn, shift = 0.7, np.array([0.3, -1.1])
    c, s = np.cos(turn), np.sin(turn)

    def move(q: ArrayLike | tuple) -> jax.Array:
        q = jnp.asarray(q)
        return jnp.concatenate([q[:1] + turn, jnp.array([[c, -s], [s, c]]) @ q[1:] + shift])

    def commutes(case: Case, h: float) -> None:
        begins = [START(case.system, scheme, q, jnp.array(case.xi), h) for q in (jnp.array(case.q), move(case.q))]
        here, there = (STEP(case.system, scheme, begin, h)[0] for begin in begins)
        gap = _apart((move(here.q), here.p), (there.q, there.p))
        if not gap < ROUNDOFF:
            raise AxiomFailed(
                f"equivariant: a step of {scheme!r} with h = {h:.3g} from xi = {numerals(case.xi)} of ChaplyginSleigh, "
                f"turned and moved in its plane, is off by {gap:.1e} from the step of the sleigh turned and moved."
            )

    _nearby(SLEIGH, commutes)


def check_word(scheme: Scheme, name: str) -> None:
    """A word of `conserves` holds where it is declared, and does not where it is not."""
    word = WORDS[name]
    case = word.case(scheme)
    if case is None:
        if name in scheme.conserves:
            raise AxiomFailed(f"{name}: declared by {scheme!r}, which accepts no problem on which it can be seen.")
        return

    def holds(case: Case, _: float) -> None:
        deviation = word.deviation(scheme, case)
        if not deviation < ROUNDOFF * 50**0.5:
            raise AxiomFailed(
                f"{name}: declared by {scheme!r}, and off by {deviation:.1e} in a run from q = {numerals(case.q)}, "
                f"xi = {numerals(case.xi)} of {type(case.system).__name__}."
            )

    if {name, *word.implied_by} & set(scheme.conserves):
        _nearby(case, holds)
    elif not word.deviation(scheme, case) > SEEN:
        raise AxiomFailed(f"{name}: kept by {scheme!r}, which does not say so in `conserves`.")

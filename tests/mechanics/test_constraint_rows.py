"""Constraints A(q) qdot = b(q) that cannot be: dependent, contradictory, of wrong length, or not met at the start."""

import re

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh


def kinetic(q, v, rows):
    return 0.5 * v @ v


def one_forms(q, rows):
    return rows[0]


def right_side(q, rows):
    return rows[1]


def at_start(a, b):
    params = jnp.asarray(a), jnp.asarray(b)
    return dh.from_constraints(kinetic, one_forms, b=right_side, params=params).at(np.zeros(5))


WHOLE = st.integers(-3, 3).map(float)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2), st.tuples(WHOLE, WHOLE), st.floats(0.01, 5.0), st.integers(0, 99))
def test_a_row_too_many_is_named_and_told_from_a_contradiction(place, weights, off, seed):
    """One row is a combination of two others (or zero): redundant if b agrees, inconsistent if not."""
    random = np.random.default_rng(seed)
    rows, b = random.normal(size=(2, 5)), random.normal(size=2)
    a = np.insert(rows, place, weights @ rows, axis=0)
    implied = float(np.dot(weights, b))
    others = [i for i in range(3) if i != place]
    involved = {place} | {i for i, w in zip(others, weights, strict=True) if w}
    for right, word in ((implied, "redundant"), (implied + off, "inconsistent")):
        with pytest.raises(ValueError, match=r"3 constraint rows of A\(q\) are dependent") as refusal:
            at_start(a, np.insert(b, place, right))
        message = str(refusal.value)
        assert word in message
        assert ("redundant" in message) != ("inconsistent" in message)
        named = int(re.search(r"row (\d) is", message)[1])
        assert named in involved
        missed = re.search(r"off by (\S+),", message)
        assert (missed is not None) == (word == "inconsistent")
        if missed and named == place:
            assert float(missed[1]) == pytest.approx(off, rel=1e-2)
    at_start(rows, b)  # the others alone are fine


def test_the_rows_units_do_not_matter():
    """Independent rows of very different sizes are no dependent ones."""
    a = np.array([[1e-12, 0.0, 0, 0, 0], [0.0, 1e9, 1e9, 0, 0]])
    assert at_start(a, np.zeros(2)).rank == 3


CASES = {
    "b too long": ([[1.0, 0, 0, 0, 0]], [1.0, 2.0], r"b\(q\) must have shape \(1,\), one number a row of A\(q\); got"),
    "b infinite": ([[1.0, 0, 0, 0, 0]], [np.inf], r"b\(q\) is not finite at this q: \[inf\]"),
    "A not a number": ([[np.nan, 0, 0, 0, 0]], [1.0], r"A\(q\) is not finite at this q"),
    "a zero row": ([[1.0, 0, 0, 0, 0], [0.0] * 5], [1.0, 0.0], "row 1 is, to 0.0e[+]00, zero, so it is redundant"),
    "no motion": (np.eye(5), np.zeros(5), "5 rows for 5 coordinates"),
    "one column short": ([[1.0, 0, 0, 0]], [1.0], r"A\(q\) must be k x 5"),
}


@pytest.mark.parametrize("case", CASES)
def test_constraints_that_cannot_be(case):
    a, b, sentence = CASES[case]
    with pytest.raises(ValueError, match=sentence):
        at_start(a, b)


def test_a_start_that_violates_a_row_is_refused_with_the_row():
    a, b = np.array([[0.0, 1.0, 0, 0, 0], [0.0, 0.0, 2.0, 0, 1.0]]), np.array([0.3, -0.5])
    system = at_start(a, b)
    good = np.array([0.2, 0.3, -0.25, 0.1, 0.0])
    dh.simulate(system, np.zeros(5), v=good, h=0.1, steps=1)
    for row, component in ((0, 1), (1, 4)):
        with pytest.raises(ValueError, match=rf"off the constraint: row {row} demands .*off by 0\.07"):
            dh.simulate(system, np.zeros(5), v=good + 0.07 * np.eye(5)[component], h=0.1, steps=1)
    with pytest.raises(ValueError, match=r"row 1 demands A\(q\) v = -0\.5 and it is 0\.1"):
        dh.simulate(system, np.zeros(5), [0.1, 0.2, 0.3, 0.3, 0.1], h=0.1, steps=1)

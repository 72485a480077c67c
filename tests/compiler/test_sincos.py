"""The polynomial sine and cosine, against extended precision."""

from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discrete_hamel.compiler.step import sincos

BOUND = 2.3e-16  # about one unit in the last place of 1
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")


def decimal_sine(x, quarter_turns):
    """sin(x + quarter_turns pi/2) by its power series, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        x = (Decimal(x) + quarter_turns * PI / 2) % (2 * PI)
        total = term = x
        for k in range(1, 60):
            term *= -x * x / (2 * k * (2 * k + 1))
            total += term
        return total


PAIRS = [(sincos.sin, np.sin, 0), (sincos.cos, np.cos, 1)]


@pytest.fixture(scope="module")
def points():
    """Uniform at several scales, the ends, and all around the multiples of pi/4, where reductions go wrong."""
    rng = np.random.default_rng(3)
    uniform = [rng.uniform(-scale, scale, 200_000) for scale in (1e-3, 1.0, 10.0, 1e3, 1e5, sincos.REACH)]
    k = rng.integers(-int(4 * sincos.REACH / np.pi) + 2, int(4 * sincos.REACH / np.pi) - 2, 100_000)
    edges = k * (np.pi / 4)
    beside = [np.nextafter(edges, -np.inf), edges, np.nextafter(edges, np.inf)]
    ends = np.array([0.0, -0.0, sincos.REACH, -sincos.REACH, 1e-300, 5e-324])
    return np.concatenate([*uniform, *beside, ends])


@pytest.mark.parametrize(("ours", "numpy", "_"), PAIRS)
def test_error_is_below_one_unit_within_reach(ours, numpy, _, points):
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("no extended precision on this machine; the next test computes in decimals")
    error = np.abs(np.asarray(jax.jit(ours)(points)).astype(np.longdouble) - numpy(points.astype(np.longdouble)))
    assert error.max() < BOUND


@pytest.mark.parametrize(("ours", "_", "quarter_turns"), PAIRS)
@settings(deadline=None, max_examples=200)
@given(x=st.floats(-sincos.REACH, sincos.REACH))
def test_error_is_below_one_unit_by_the_power_series(ours, _, quarter_turns, x):
    assert abs(Decimal(float(ours(jnp.asarray(x)))) - decimal_sine(x, quarter_turns)) < BOUND


@pytest.mark.parametrize(("ours", "_", "__"), PAIRS)
def test_beyond_its_reach_nothing_wrong_is_said(ours, _, __):
    beyond = jnp.array([1.001 * sincos.REACH, -1e9, 1e300, np.inf, -np.inf, np.nan])
    assert np.isnan(ours(beyond)).all()


def test_without_the_third_part_of_pi_the_bound_would_not_hold(points, monkeypatch):
    """The check above notices a reduction that is too short."""
    monkeypatch.setattr(sincos, "PARTS", sincos.PARTS[:2])
    error = np.abs(np.asarray(sincos.sin(jnp.asarray(points))) - np.sin(points))
    assert np.nanmax(error) > 4 * BOUND  # 2^20 times the part left out, 2e-21, is 2e-15

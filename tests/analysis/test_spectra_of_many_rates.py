"""Stability, growth and zeros of matrices whose rates spread over twelve decades or are many; stiff bodies at rest."""

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.analysis import Linearisation, Stability, threshold
from discrete_hamel.analysis.equilibria.linearisation import balancing

S = dh.systems


def of_stiffness(stiffness, mixed, seed=0):
    """[[0, 1], [-K, 0]] of x'' = -K x, K diagonal, or turned so that all coordinates mix."""
    n, stiff = len(stiffness), np.diag(stiffness)
    if mixed:
        turn, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))
        stiff = turn @ stiff @ turn.T
    return np.block([[np.zeros((n, n)), np.eye(n)], [-stiff, np.zeros((n, n))]])


DECADES = st.floats(-6, 6)


@settings(max_examples=60)
@given(
    st.lists(DECADES, min_size=1, max_size=100),
    st.integers(0, 3),
    st.none() | st.floats(-6, 6),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_oscillators_of_any_spread(decades, free, falling, mixed, seed):
    """Up to 206 rates: so many oscillators, free particles (a double zero each), and perhaps one that falls."""
    stiffness = np.concatenate([10 ** np.array(decades), np.zeros(free)])
    if falling is not None:
        # mixed, K is known to 1e-16 of its largest entry only
        falling = max(falling, max(decades) - 9) if mixed else falling
        stiffness = np.append(stiffness, -(10**falling))
    resolved = not mixed or min(decades) > max(*decades, -9 if falling is None else falling) - 11
    found = Linearisation(of_stiffness(stiffness, mixed, seed))
    if resolved:
        assert found.zeros() == 2 * free
        assert found.nullity() == free
    if falling is None:
        assert not found.growth() > 0
        assert found.stability(0) is Stability.NEUTRAL
    else:
        assert found.growth() == pytest.approx(10 ** (falling / 2), rel=1e-3)
        assert found.stability(0) is Stability.UNSTABLE


@settings(max_examples=30)
@given(st.lists(DECADES, min_size=1, max_size=200), st.integers(0, 3), st.booleans(), st.sampled_from([None, 1e-8]))
def test_damped_rates_of_any_spread(decades, zeros, grows, h):
    """First order, in rates of 1e-6 to 1e6 and of either sign; of a map the same as multipliers."""
    rates = -(10 ** np.array(decades))
    if grows:
        rates[0] *= -1
    found = Linearisation(np.diag(np.concatenate([rates, np.zeros(zeros)])), h)
    assert found.zeros() == zeros
    assert found.growth() == pytest.approx(np.max(rates), rel=1e-9 if h is None else 1e-2)
    expected = Stability.UNSTABLE if grows else Stability.PARTIAL if zeros else Stability.ASYMPTOTIC
    assert found.stability(zeros) is expected


@pytest.mark.parametrize(
    ("matrix", "zeros", "kernel", "growth"),
    [
        ([[1, 1], [0, 1]], 0, 0, 1),
        ([[-1, 1, 0], [0, -1, 1], [0, 0, -1]], 0, 0, -1),
        ([[0, 1, 0], [0, 0, 1], [0, 0, 0]], 3, 1, -np.inf),
        ([[0, 0, 1], [0, 0, 0], [0, 0, 0]], 3, 2, -np.inf),
        ([[1e6, 0, 0], [0, 1, 1], [0, 0, 1]], 0, 0, 1e6),
        ([[0, 1, 1, 0], [-1, 0, 0, 1], [0, 0, 0, 1], [0, 0, -1, 0]], 0, 0, 0),  # two equal frequencies, one block
    ],
)
def test_blocks_of_jordan(matrix, zeros, kernel, growth):
    """An eigenvalue of multiplicity k is known to the k-th root of round-off, and no further."""
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(len(matrix), len(matrix))))
    for turned in (np.array(matrix, float), turn @ matrix @ turn.T):
        found = Linearisation(turned)
        assert (found.zeros(), found.nullity()) == (zeros, kernel)
        assert found.growth() == pytest.approx(growth, rel=1e-4)


def oscillators(stiffness):
    return dh.from_velocities(ENERGIES, lambda q, k: jnp.eye(len(k)), len(stiffness), params=jnp.asarray(stiffness))


def ENERGIES(q, v, k):  # one function for all, so that nothing compiles twice
    return 0.5 * v @ v - 0.5 * k @ q**2


def test_five_oscillators_of_which_one_falls():
    """k = (-1, 1, 2, 3, 1e6): was NEUTRAL."""
    found = dh.spectrum(oscillators([-1.0, 1.0, 2.0, 3.0, 1e6]), np.zeros(5), np.zeros(5))
    assert found.stability is Stability.UNSTABLE
    assert found.growth == pytest.approx(1.0, rel=1e-12)
    assert found.continuous.zeros == 0


@pytest.mark.parametrize("twins", [[4.0, 9.0], [4.0, 4.0]])  # equal frequencies meet for ever
def test_threshold_beside_a_stiff_spring(twins):
    """k = (1 - p, 4, 9, 1e6) falls from p = 1 on; was 6e-6."""
    frame = lambda q, k: jnp.eye(4)  # noqa: E731

    def at(p):
        system = dh.from_velocities(ENERGIES, frame, 4, params=jnp.array([1 - p, *twins, 1e6]))
        return dh.spectrum(system, np.zeros(4), np.zeros(4))

    assert threshold(at, 0.0, 3.0) == pytest.approx(1.0, abs=1e-10)


def test_a_hanging_chain_is_neutral():
    """Twelve links: was UNSTABLE with growth 0.6. Its slowest rate is near that of a heavy string, 1.2024 sqrt(g/l)."""
    chain = S.PlanarChain(links=12)
    found = dh.spectrum(chain, np.zeros(12), np.zeros(12))
    assert found.stability is Stability.NEUTRAL
    assert found.growth == 0
    assert found.continuous.zeros == 0
    assert np.max(np.abs(found.rates.real)) < 1e-12
    standing = dh.spectrum(chain, np.full(12, np.pi), np.zeros(12))
    assert standing.stability is Stability.UNSTABLE
    assert standing.growth == pytest.approx(np.max(found.rates.imag), rel=1e-10)  # g -> -g


@pytest.mark.parametrize(("points", "stretching"), [(11, 400.0), (21, 1e5)])
def test_a_free_beam_at_rest(points, stretching):
    """Neutral, with one zero a rigid motion; was UNSTABLE with growth 295, or refused where it is stiff.

    Along the beam a chain of masses, halved at its ends: 2 sqrt(A / m) sin(k pi / (2 (points - 1))) / ds.
    """
    beam = dh.fields.Beam(points=points, stretching=stretching)
    found = dh.spectrum(beam, beam.straight(), np.zeros(3 * points))
    assert found.stability is Stability.NEUTRAL
    assert found.growth == 0
    assert found.continuous.zeros == found.continuous.family == 3
    pieces = points - 1
    along = 2 * pieces * np.sqrt(stretching) * np.sin(np.arange(1, points) * np.pi / (2 * pieces))
    gaps = np.min(np.abs(found.rates[:, None] - 1j * along), axis=0)
    assert np.max(gaps) < 1e-9 * along[-1]


def test_a_clamped_beam_has_no_rates_of_moving_its_clamp():
    """3 (points - 1) oscillations, none of them zero; the axial ones of a chain with one end held."""
    beam = dh.fields.Beam(points=6, clamped=True)
    found = dh.spectrum(beam, beam.straight(), np.zeros(15))
    assert len(found.rates) == 30
    assert found.continuous.zeros == found.continuous.family == 0
    along = 2 * 5 * np.sqrt(400.0) * np.sin((2 * np.arange(1, 6) - 1) * np.pi / 20)
    assert np.max(np.min(np.abs(found.rates[:, None] - 1j * along), axis=0)) < 1e-9 * along[-1]


def test_slow_motion_is_no_rest():
    """A sleigh that turns at 1e-5 rad/s accelerates by 4e-11; that is as much as its motion is made of."""
    sleigh = S.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    with pytest.raises(ValueError, match="is not a relative equilibrium"):
        dh.spectrum(sleigh, [0, 0, 0], [1e-5, 1e-5])
    assert dh.spectrum(sleigh, [0, 0, 0], [0.0, 1e-5]).rates == pytest.approx([0, -0.4e-5 / 0.86], abs=1e-17)


def test_balancing_is_as_good_as_lapacks():
    rng = np.random.default_rng(1)
    for k in range(300):
        n = int(rng.integers(1, 12))
        units = 10 ** rng.uniform(-8, 8, n)
        matrix = rng.normal(size=(n, n)) * np.exp(rng.choice([0, 2, 6]) * rng.normal(size=(n, n)))
        matrix *= rng.random((n, n)) < (0.5 if k % 3 == 0 else 1.0)
        matrix *= units / units[:, None] if k % 2 else 1.0
        with np.errstate(invalid="ignore"):  # SciPy casts a permutation that it was told not to make
            _, (theirs, _) = scipy.linalg.matrix_balance(matrix, permute=False, separate=True)
        ours = balancing(matrix)
        sizes = [np.linalg.norm(matrix * scales / scales[:, None]) for scales in (ours, theirs)]
        assert np.all(np.log2(ours) % 1 == 0)  # so nothing is rounded
        assert sizes[0] <= 1.01 * sizes[1]

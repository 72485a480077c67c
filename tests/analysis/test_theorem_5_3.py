"""[HE] 5.5 end to end: commutative Chaplygin systems and the disk keep manifold, dimension and stability type."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import DISKS

import discrete_hamel as dh
from discrete_hamel.analysis import Stability, structural_stability
from discrete_hamel.testing.conserved_words import steady_spin

S = dh.systems
MIDPOINT = dh.DiscreteHamel()
STEPS = st.floats(0.01, 0.5)
SIZES = st.floats(0.4, 2.5)
RATES = st.floats(0.3, 3.0) | st.floats(-3.0, -0.3)


# A commutative Chaplygin system whose relative equilibria may attract: q = (r, g, s), s' = alpha r' + (b0 + b1 r) g'.


def energy_difference(q, v, p):
    return 0.5 * (v[0] ** 2 + p["c"] * v[1] ** 2 + v[2] ** 2) - 0.5 * p["k"] * q[0] ** 2


def tilted_frame(q, p):
    b = p["b0"] + p["b1"] * q[0]
    zero, one = jnp.zeros_like(b), jnp.ones_like(b)
    rows = [[one, zero, zero], [zero, one, zero], [p["alpha"] * one, b, one]]
    return jnp.stack([jnp.stack(row) for row in rows])


def tilted(**params):
    return dh.from_velocities(energy_difference, tilted_frame, 2, params=params)


def along(index):
    return lambda q: jnp.zeros_like(q).at[index].set(1.0)


G_AND_H = {"g": along(1), "s": along(2)}
TILTED = st.fixed_dictionaries(
    {
        "c": SIZES,
        "k": SIZES,
        "alpha": SIZES,
        "b0": st.floats(-1.0, 1.0),
        "b1": st.floats(0.3, 1.5) | st.floats(-1.5, -0.3),
    }
)


def rates_by_hand(p, eta):
    """r'' + alpha s'' + k r = 0, c g'' + b s'' = 0, linearised at r = 0, g' = eta:
    (1 + kappa alpha^2) z^2 + kappa alpha b1 eta z + k = 0, kappa = 1 / (1 + b0^2 / c), and z = 0."""
    kappa = 1 / (1 + p["b0"] ** 2 / p["c"])
    return np.roots([1 + kappa * p["alpha"] ** 2, kappa * p["alpha"] * p["b1"] * eta, p["k"]])


@settings(max_examples=25)
@given(TILTED, RATES, STEPS)
def test_a_system_whose_relative_equilibria_attract_or_repel(p, eta, h):
    system = tilted(**p)
    found = dh.spectrum(system, [0.0, 0.4, -0.3], [0.0, eta], MIDPOINT, h, symmetries=G_AND_H)
    expected = np.array([0.0, *rates_by_hand(p, eta)])
    gaps = np.abs(found.rates[:, None] - expected[None])
    assert max(gaps.min(0).max(), gaps.min(1).max()) < 1e-9 * (1 + np.max(np.abs(expected)))
    kept = structural_stability(system, [0.0, 0.4, -0.3], [0.0, eta], MIDPOINT, h, symmetries=G_AND_H)
    assert kept.holds, kept
    assert kept.dimensions == (1, 1)  # dim G
    attracts = p["alpha"] * p["b1"] * eta > 0
    assert kept.stability == (Stability.PARTIAL if attracts else Stability.UNSTABLE,) * 2


@settings(max_examples=12)
@given(TILTED, RATES, STEPS, st.floats(-0.2, 0.2), st.floats(-0.2, 0.2))
def test_and_only_those_are_relative_equilibria_of_the_map(p, eta, h, r, fall):
    """Newton's method on the map, from elsewhere, arrives at r = 0, r' = 0."""
    start = [r, 0.1, 0.2], [fall, eta]
    held = {fixed_turn: eta}
    found = dh.relative_equilibrium(tilted(**p), *start, hold=held, symmetries=G_AND_H, scheme=MIDPOINT, h=h)
    assert np.abs(found.q[0]) < 1e-9
    assert found.xi[:2] == pytest.approx([0.0, eta], abs=1e-9)
    assert found.dimension == 1


def fixed_turn(q, xi):
    return xi[1] + 0 * q[0]


@settings(max_examples=10)
@given(SIZES, SIZES, st.floats(0.2, 0.6), st.floats(0.8, 2.0), RATES, RATES, STEPS)
def test_the_vertical_disk(m, r, a, k, turn, spin, h):
    """Every motion is a relative equilibrium: a family of dimension 2 = dim G."""
    disk = S.VerticalDisk(m, r, a * m * r**2, k * a * m * r**2)
    kept = structural_stability(disk, [0.3, 0.1, 0.0, 0.2], [turn, spin], MIDPOINT, h)
    assert kept.holds, kept
    assert kept.dimensions == (2, 2)


@settings(max_examples=10)
@given(SIZES, RATES, st.floats(-1.0, 1.0), STEPS)
def test_the_nonholonomic_particle(m, rate, y, h):
    """z' = y x': y rests, x' is constant."""
    kept = structural_stability(S.NonholonomicParticle(m), [0.3, y, -0.2], list_of(m, rate), MIDPOINT, h)
    assert kept.holds, kept
    assert kept.dimensions == (2, 2)


def list_of(m, rate):
    """xi with y' = 0, whichever of the two velocities y' is."""
    particle = S.NonholonomicParticle(m)
    return dh.quasivelocities(particle, [0.3, 0.0, -0.2], [rate, 0.0, 0.0])


@settings(max_examples=10)
@given(RATES, STEPS)
def test_the_translation_invariant_particle(rate, h):
    """[QS] 4.3 with b = sin r, V = r^2/2: r = 0, any s1'."""
    kept = structural_stability(S.TranslationInvariantParticle(), [0.0, 0.1, 0.2], [0.0, rate], MIDPOINT, h)
    assert kept.holds, kept
    assert kept.dimensions == (1, 1)
    assert kept.stability == (Stability.NEUTRAL,) * 2


@settings(max_examples=25)
@given(DISKS, st.floats(0.1, 1.1) | st.floats(-1.1, -0.1), RATES, STEPS)
def test_the_rolling_disk(disk, lean, turn, h):
    spin = steady_spin(disk, lean, turn)
    kept = structural_stability(disk, [lean, 0.2, 0.0, 0.1, 0.0], [0.0, turn, spin], MIDPOINT, h)
    assert kept.holds, kept
    assert kept.dimensions == (2, 2)


LEAN, TURN = 0.3, -0.7157155729657075
STEADY = [LEAN, 0, 0, 0, 0], [0.0, TURN, 3.0]


def test_what_other_schemes_do_to_the_disk():
    disk = S.RollingDisk()
    for scheme in (dh.StaggeredHamel(), dh.CortesMartinez()):
        kept = structural_stability(disk, *STEADY, scheme, 0.05)
        assert kept.holds, kept
    lost = structural_stability(disk, *STEADY, dh.CortesMartinez(0.0, 0.0), 0.05)
    assert not lost.kept
    assert lost.residual > 1e-3
    assert lost.stability[1] is None
    assert lost.dimensions == (2, None)


@pytest.mark.parametrize(("tau", "changed"), [(0.25, Stability.UNSTABLE), (0.75, Stability.PARTIAL)])
def test_other_tau_keep_the_family_but_not_its_type(tau, changed):
    """Neutral straight rolling is turned into one that grows, or one that attracts."""
    kept = structural_stability(S.RollingDisk(), [0, 0, 0, 0, 0], [0, 0, 5.0], dh.DiscreteHamel(tau=tau), 0.05)
    assert kept.kept
    assert kept.dimensions[0] == kept.dimensions[1]
    assert kept.stability == (Stability.NEUTRAL, changed)
    assert not kept.holds


@pytest.mark.parametrize(
    "scheme",
    [
        dh.DiscreteHamel(compensated=True),
        dh.StaggeredHamel(),
        dh.EnergyExact(),
        dh.Gauss(stages=2),
        dh.Composed(dh.DiscreteHamel(), order=4),
        dh.RungeKutta4(),
    ],
    ids=lambda scheme: type(scheme).__name__,
)
def test_any_scheme_can_be_asked(scheme):
    """On the sleigh these keep manifold, dimension and type at this step; each answer is a sentence."""
    kept = structural_stability(S.ChaplyginSleigh(), [0, 0, 0], [0.0, 2.0], scheme, 0.2)
    assert kept.holds, kept
    assert kept.dimensions == (1, 1)
    assert "relative equilibrium kept" in repr(kept)


def test_a_step_that_varies_has_no_spectrum_and_says_so():
    scheme = dh.TimeTransformed(dh.DiscreteHamel(), lambda q, xi: 1.0 + 0 * q[0])
    with pytest.raises(ValueError, match="keeps its own clock or pace"):
        structural_stability(S.ChaplyginSleigh(), [0, 0, 0], [0.0, 2.0], scheme, 0.2)


def test_leapfrog_loses_the_type_of_the_sleigh():
    kept = structural_stability(S.ChaplyginSleigh(), [0, 0, 0], [0.0, 2.0], dh.Leapfrog(), 0.1)
    assert kept.kept
    assert kept.stability == (Stability.PARTIAL, Stability.UNSTABLE)
    assert not kept.holds


# --- structure, not accuracy: Kepler's circles in Cartesian coordinates, which accuracy alone does not keep ---


def radial(q):
    r = jnp.sqrt(q @ q)
    return jnp.stack([q / r, jnp.stack([-q[1], q[0]])], axis=1)


KEPLER = dh.from_velocities(lambda q, v: 0.5 * v @ v + 1 / jnp.sqrt(q @ q), radial, 2)
CIRCLE = {"q": [1.0, 0.0], "xi": [0.0, 1.0], "symmetries": {"turn": np.array([[0.0, -1.0], [1.0, 0.0]])}}


@pytest.mark.parametrize(
    ("scheme", "order"),
    [(MIDPOINT, 2), pytest.param(dh.RungeKutta4(), 4, marks=pytest.mark.slow), (dh.Gauss(stages=3), 6)],
    ids=lambda value: type(value).__name__,
)
def test_what_falls_with_the_step_is_not_kept(scheme, order):
    """At h = 0.4 it shows at once; at h = 0.01 the sixth order is at round-off, and a longer step shows it."""
    lost = structural_stability(KEPLER, scheme=scheme, h=0.4, **CIRCLE)
    assert not lost.kept
    assert lost.slope == pytest.approx(order, abs=0.3)
    assert lost.dimensions == (1, None)
    assert "is lost; a step leaves the orbit" in repr(lost)
    short = structural_stability(KEPLER, scheme=scheme, h=0.01, **CIRCLE)
    assert not short.kept
    if order == 6:
        assert short.residual < 1e-12
        assert short.seen_at > 0.01
        assert "it is seen with h = " in repr(short)


def test_a_spring_keeps_its_circles_with_the_velocity_of_the_steps():
    """F_r = r_mid (omega^2 - 1) vanishes at any r_mid: the nodes move faster, the steps as they should."""
    spring = dh.from_velocities(lambda q, v: 0.5 * v @ v - 0.5 * q @ q, radial, 2)
    assert structural_stability(spring, scheme=MIDPOINT, h=0.4, **CIRCLE).kept


def rolling_on_rotations():
    """A disk that rolls steadily, lean 0.3, in axes of the body, which turn with it: xi is not constant."""
    disk = S.RollingDiskOnRotations()
    q = np.concatenate([np.asarray(disk.attitude(LEAN, 0.4, 0.2)).ravel(), [0.3, 0.1]])
    return disk, q, TURN * q[6:9] + 3.0 * np.array([0.0, 0.0, 1.0])


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "order"), [(MIDPOINT, 2), (dh.Gauss(stages=3), 6)], ids=repr)
def test_where_xi_turns_in_the_frame_the_scheme_is_seen_not_the_frame(scheme, order):
    """It was 2.1e-2 for every scheme, h = 0.1, dimensions (2, -2), and kept by Gauss(3) at h = 0.05 to a tolerance."""
    lost = structural_stability(*rolling_on_rotations(), scheme, 0.1)
    shorter = structural_stability(*rolling_on_rotations(), scheme, 0.05)
    assert not lost.kept
    assert not shorter.kept
    assert lost.residual / shorter.residual == pytest.approx(2.0**order, rel=0.3)
    assert lost.dimensions == (2, None)


def test_a_scheme_that_does_not_take_the_system_says_so():
    with pytest.raises(ValueError, match="CortesMartinez"):
        structural_stability(*rolling_on_rotations(), dh.CortesMartinez(), 0.1)

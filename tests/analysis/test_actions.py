"""A symmetry given as a generator, a group action, an affine map or cyclic coordinates: one and the same analysis."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel import analysis

S = dh.systems
DISK = S.RollingDisk()
AT = [0.3, 0.4, 0.1, 2.0, 5.0]
STEADY = [0.3, 0, 0, 0, 0], [0.0, -0.7157155729657075, 3.0]


def turned(s, q):
    """The plane turned by s about the origin: heading and contact point."""
    c, sn = jnp.cos(s), jnp.sin(s)
    return jnp.stack([q[0], q[1] + s, q[2], c * q[3] - sn * q[4], sn * q[3] + c * q[4]])


def spun(s, q):
    return q.at[2].add(s)


def leant(s, q):
    return q.at[0].add(s)


TURN = np.zeros((5, 5))
TURN[3, 4], TURN[4, 3] = -1.0, 1.0


@settings(max_examples=10)
@given(st.lists(st.floats(-3, 3), min_size=5, max_size=5))
def test_the_four_ways_give_one_generator(q):
    ways = (turned, (TURN, [0.0, 1.0, 0, 0, 0]), lambda q: jnp.stack([0 * q[0], 1 + 0 * q[0], 0 * q[0], -q[4], q[3]]))
    moves = [np.asarray(analysis.generator(DISK, way, q)(jnp.array(q))) for way in ways]
    for move in moves[1:]:
        assert move == pytest.approx(moves[0], abs=1e-14)
    cyclic = [analysis.generator(DISK, way)(jnp.array(q)) for way in (spun, "psi", 2)]
    assert all(np.array_equal(move, np.eye(5)[2]) for move in cyclic)


def test_invariance_of_actions():
    for way in (turned, (TURN, [0.0, 1.0, 0, 0, 0]), spun, "psi", 4):
        assert analysis.invariance(DISK, way, AT).holds
    assert analysis.invariance(DISK, leant, AT).lagrangian > 1e-2
    assert analysis.invariance(DISK, "phi", AT).constraint > 1e-2  # the heading alone: the slip turns with it
    assert analysis.cyclic_coordinates(DISK, AT) == ("psi", "x", "y")


def test_a_coordinate_that_only_seems_cyclic_at_one_point():
    """cos theta has no slope at 0; nearby it has."""
    assert analysis.cyclic_coordinates(S.SphericalPendulumAngles(), [1.2, 0.3]) == ("phi",)
    upright = dh.from_velocities(lambda q, v: 0.5 * v @ v + jnp.cos(q[0]), lambda q: jnp.eye(2), 2)
    assert analysis.cyclic_coordinates(upright, [0.0, 0.0]) == ("q[1]",)


def test_every_analysis_takes_them():
    """Spectrum, equilibria, bundles, flatness by actions are those by the generators that the disk declares."""
    symmetries = {"turn": turned, "spin": spun, "x": "x", "y": lambda s, q: q.at[4].add(s)}
    for group in (symmetries, {"turn": (TURN, [0.0, 1.0, 0, 0, 0]), "spin": 2, "x": 3, "y": 4}, None):
        found = analysis.bundles(DISK, AT, symmetries=group)
        assert [found.S.shape[1], found.H.shape[1], found.N.shape[1]] == [2, 1, 2]
    rates, declared = (
        dh.spectrum(DISK, *STEADY, symmetries=group).continuous.linear.rates() for group in (symmetries, None)
    )
    assert np.sort_complex(rates) == pytest.approx(np.sort_complex(declared), abs=1e-9)
    at = dh.relative_equilibrium(DISK, STEADY[0], [0, -0.7, 3.0], hold=["theta", "psi'"], symmetries=symmetries)
    assert at.xi[1] == pytest.approx(STEADY[1][1], rel=1e-9)
    assert list(at.group) == list(symmetries)
    assert dh.flatness(DISK, AT, symmetries=symmetries)


def test_cyclic_coordinates_as_a_list():
    """Translations of the sleigh, which the sleigh's frame (6.2) needs."""
    sleigh = S.ChaplyginSleigh(offset=0.4, inertia=0.7)
    momenta = dh.hidden_momenta(sleigh, [0.0, 0, 0], symmetries=["x", "y"], between=(-1, 1), vertical=False)
    run = dh.reference(sleigh, [0.1, 0, 0], [0.4, -0.3], t=np.linspace(0, 1, 11))
    assert np.ptp(momenta.along(run), axis=0).max() < 1e-9


def test_noethers_theorem_by_an_action():
    """The free particle's z' = y x': the flow of gamma/sqrt(1 + y^2) is a group, and its momentum is kept."""

    def slide(s, q):
        along = s / jnp.sqrt(1 + q[1] ** 2)
        return q + along * jnp.stack([1.0 + 0 * q[1], 0 * q[1], q[1]])

    particle = S.NonholonomicParticle()
    q, v = [0.2, 0.7, -0.1], np.array([0.5, -0.3, 0.35])
    found = analysis.noether(particle, slide, q, dh.quasivelocities(particle, q, v))
    assert found.conserved
    assert not found.full
    assert found.momentum == pytest.approx(0.5 * np.sqrt(1 + 0.49), rel=1e-12)
    origin = analysis.noether(DISK, turned, [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0])
    assert not origin.horizontal  # in D at the origin only


def test_what_is_no_symmetry_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match=r"g\(0, q\) differs from q by 1.0e\+00"):
        analysis.invariance(DISK, lambda s, q: q + 1.0 + s, AT)
    with pytest.raises(ValueError, match="no action of a one-parameter group"):
        analysis.invariance(DISK, lambda s, q: q + s**2 + s, AT)
    with pytest.raises(ValueError, match="takes 3 arguments"):
        analysis.generator(DISK, lambda s, t, q: q)
    with pytest.raises(ValueError, match="no coordinate 'z'; it has theta, phi, psi, x, y"):
        analysis.generator(DISK, "z")
    with pytest.raises(ValueError, match="a square matrix M, or a pair"):
        analysis.generator(DISK, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="a mapping of names to symmetries"):
        analysis.bundles(DISK, AT, symmetries=turned)


def test_a_symmetry_of_other_coordinates_is_refused_and_no_momentum_that_is_zero_for_ever():
    with pytest.raises(ValueError, match="has 5 coordinates, counted from 0; got 5"):
        analysis.generator(DISK, 5, AT)
    with pytest.raises(ValueError, match="has 5 coordinates, counted from 0; got -6"):
        analysis.bundles(DISK, AT, symmetries=[3, -6])
    with pytest.raises(ValueError, match="got 2"):
        analysis.generator(dh.from_velocities(lambda q, v: v @ v, lambda q: jnp.eye(2), 2), 2, [0.0, 0.0])
    with pytest.raises(ValueError, match=r"the symmetry of q must return shape \(5,\) for N = 5; got shape \(2,\)"):
        analysis.noether(DISK, lambda q: q[:2], AT, [0.1, 0.6, 3.0])
    with pytest.raises(ValueError, match=r"the symmetry of \(s, q\) must return shape \(5,\)"):
        analysis.generator(DISK, lambda s, q: q[:2] + s, AT)
    with pytest.raises(ValueError, match="the size of q here, 5; M has 3 rows"):
        analysis.generator(DISK, np.eye(3), AT)

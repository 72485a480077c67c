"""Relative equilibria are found on the leaf of the constraint, without drift, from afar, and along a parameter."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.analysis import branch, family
from discrete_hamel.analysis.equilibria.reachable import reachable

S = dh.systems


def bent(beam):
    """Sections of a clamped beam with a moment at its end: kappa = M / B in every piece, no stretching, no shear."""
    pieces, ds = beam.points - 1, float(beam.spacing)
    theta = np.arange(beam.points) * ds * float(beam.moment) / float(beam.bending)
    middle = (theta[1:] + theta[:-1]) / 2
    x, y = (np.concatenate([[0.0], np.cumsum(ds * f(middle))]) for f in (np.cos, np.sin))
    assert len(middle) == pieces
    return np.column_stack([theta, x, y])


@pytest.mark.parametrize("moment", [0.5, 5.0])
def test_a_clamped_beam_bends_to_an_arc_and_stays_clamped(moment):
    """From straight, five radians; was un-clamped, the first section turned by -2.39 and 0.36 m away."""
    beam = dh.fields.Beam(clamped=True, moment=moment)
    found = dh.relative_equilibrium(beam, beam.straight(), np.zeros(30))
    assert np.max(np.abs(found.q[:3])) < 1e-15
    assert found.q.reshape(-1, 3) == pytest.approx(bent(beam), abs=1e-9)
    assert found.dimension == 0


def bob(q, v):
    return 0.5 * v @ v - 9.8 * q[1]


def around(q):
    """Along the circle, and off it: the rod is a constraint given by velocities."""
    return jnp.array([[-q[1], q[0]], [q[0], q[1]]])


def test_a_rod_given_by_velocities_keeps_its_length():
    pendulum = dh.from_velocities(bob, around, 1)
    found = dh.relative_equilibrium(pendulum, [0.8, -0.6], [0.0])
    assert found.q == pytest.approx([0.0, -1.0], abs=1e-12)
    assert np.hypot(*found.q) == pytest.approx(1.0, abs=4e-16)
    assert found.dimension == 0  # were the rod to stretch, one
    assert dh.spectrum(pendulum, found.q, found.xi).rates == pytest.approx(1j * np.sqrt(9.8) * np.array([1, -1]))


@pytest.mark.parametrize(
    ("system", "q", "fields"),
    [
        (S.ChaplyginSleigh(), [0.1, 0, 0], None),
        (S.RollingDisk(), [0.3, 0, 0, 0, 0], None),  # by brackets of brackets
        (dh.fields.Beam(points=3, clamped=True), [0.0, 0, 0, 0, 0.5, 0, 0, 1.0, 0], 6),
        (dh.from_velocities(bob, around, 1), [0.6, -0.8], 1),
        (dh.from_velocities(bob, lambda q: jnp.eye(2), 1, slip=lambda q: jnp.ones(1)), [0.0, 0.0], None),  # drifts
    ],
)
def test_what_motions_can_reach(system, q, fields):
    words = reachable(system, jnp.asarray(q, float))
    assert words is None if fields is None else len(words) == fields


def test_a_constraint_that_is_integrable_beside_one_that_is_not():
    """[u1, u2] = u3 and u4 is never reached: the frame of Heisenberg, and a coordinate that rests."""

    def frame(q):
        return jnp.eye(4).at[2, 1].set(q[0])

    system = dh.from_velocities(lambda q, v: 0.5 * v @ v - 0.5 * (q - 1.0) @ (q - 1.0), frame, 2)
    assert reachable(system, jnp.zeros(4)) == (0, 1, (0, 1))
    assert dh.relative_equilibrium(system, [0.2, 0.3, 0.4, 0.5], [0.0, 0.0]).q[3] == 0.5


def test_nothing_drifts_along_a_symmetry():
    """Lean and rates are to be found; heading, place and own angle are as good as any other, and stay."""
    given = np.array([0.3, 0.1, 0.7, 2.0, -3.0])
    found = dh.relative_equilibrium(S.RollingDisk(), given, [0.0, -0.7, 3.0])
    assert found.q[1:] == pytest.approx(given[1:], abs=1e-12)
    asked = dh.relative_equilibrium(S.RollingDisk(), given, [0.0, -0.7, 3.0], hold={"x": 4.0})
    assert asked.q[3] == pytest.approx(4.0, abs=1e-12)
    assert asked.q[[1, 2, 4]] == pytest.approx(given[[1, 2, 4]], abs=1e-10)


def fold(q, v, p):
    return 0.5 * v @ v - (q[0] ** 3 / 3 - p["load"] * q[0] + 0.5 * q[1] ** 2)


def plane(q, p):
    return jnp.eye(2)


def test_a_branch_along_a_parameter_passes_its_fold():
    """x^2 = load: from x = 1 to load = 0 and back up on x < 0, by arc length of (x, load)."""
    system = dh.from_velocities(fold, plane, 2, params={"load": 1.0})
    found = branch(system, [1.0, 0.0], [0.0, 0.0], "load", length=-0.1, count=30)
    x, load = found.values("q[0]"), found.values("load")
    assert x[0] == 1.0
    assert x[-1] < -0.5
    assert load == pytest.approx(x**2, abs=1e-12)
    assert [at.params["load"] for at in found.systems] == pytest.approx(load)
    (turn,) = found.folds("load")
    assert turn.q == pytest.approx([0.0, 0.0], abs=1e-8)


def test_a_family_along_a_parameter():
    beam = dh.fields.Beam(points=6, clamped=True)
    moments = [0.0, 2.0, 4.0]
    for moment, found in zip(moments, family(beam, beam.straight(), np.zeros(15), "moment", moments), strict=True):
        assert found.q.reshape(-1, 3) == pytest.approx(bent(beam.replace(moment=moment)), abs=1e-9)


def test_velocities_may_be_given_instead():
    sleigh = S.ChaplyginSleigh()
    v = [0.0, 2 * np.cos(0.3), 2 * np.sin(0.3)]
    by_v, by_xi = dh.spectrum(sleigh, [0.3, 0, 0], v=v), dh.spectrum(sleigh, [0.3, 0, 0], [0.0, 2.0])
    assert by_v.rates == pytest.approx(by_xi.rates, abs=1e-14)
    assert dh.relative_equilibrium(sleigh, [0.3, 0, 0], v=v).xi == pytest.approx([0, 2, 0], abs=1e-14)
    along = branch(sleigh, [0.3, 0, 0], along="v1", v=v, length=0.5, count=1)
    assert along.values("v1") == pytest.approx([2.0, 2.5])
    with pytest.raises(ValueError, match="give the initial velocity once"):
        dh.spectrum(sleigh, [0.3, 0, 0])


def test_what_has_no_name_is_held_by_its_index():
    system = dh.from_velocities(fold, plane, 2, params={"load": 1.0})
    with pytest.raises(ValueError, match=r"nothing named 'x' to hold; it has q\[0\], q\[1\], xi\[0\], xi\[1\] \("):
        dh.relative_equilibrium(system, [0.9, 0.1], [0.0, 0.0], hold=["x"])
    found = dh.relative_equilibrium(system, [0.9, 0.0], [0.0, 0.0], hold=["q[1]"])
    assert found.q == pytest.approx([1.0, 0.0], abs=1e-12)

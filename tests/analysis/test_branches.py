"""Branches of relative equilibria by arc length: on the closed curve of steady rollings, past its folds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.analysis import branch, family
from discrete_hamel.testing.conserved_words import steady_spin

S = dh.systems
DISK = S.RollingDisk()


def fold_of_the_disk(disk, lean):
    """(phi', psi') at which psi' = -a phi' - b/phi' of a given lean is greatest: phi'^2 = b/a, by hand."""
    rolling = disk.mass * disk.radius**2 + disk.inertia_axis
    a = np.sin(lean) * (1 - disk.inertia_diameter / rolling)
    b = disk.mass * disk.gravity * disk.radius * np.tan(lean) / rolling
    return np.sqrt(b / a), -2 * np.sqrt(a * b)


@settings(max_examples=5)
@given(st.floats(0.15, 0.9))
def test_the_branch_passes_the_fold_of_the_own_spin(lean):
    turn, spin = fold_of_the_disk(DISK, lean)
    start = [0.0, 0.5 * turn, steady_spin(DISK, lean, 0.5 * turn) + 0.02]
    found = branch(DISK, [lean, 0.2, 0, 0.1, 0], start, "psi'", hold=["theta"], length=0.15 * turn, count=10)
    turns, spins = found.values("phi'"), found.values("psi'")
    assert turns[0] < turn < turns[-1]
    assert spins == pytest.approx(steady_spin(DISK, lean, turns), abs=1e-10)
    assert spins[1] > spins[0]  # it sets out the way it is told to
    assert spins[-1] < np.max(spins)  # and has turned
    (fold,) = found.folds("psi'")
    assert fold.xi[1:3] == pytest.approx([turn, spin], rel=1e-8)
    assert found.folds("phi'") == []
    assert all(at.dimension == 2 for at in found.points)
    gaps = np.hypot(np.diff(turns), np.diff(spins))
    assert np.all((gaps >= found.length * (1 - 1e-9)) & (gaps < 1.2 * found.length))  # chords on their tangents
    backward = branch(DISK, [lean, 0.2, 0, 0.1, 0], start, "psi'", hold=["theta"], length=-0.1, count=1)
    assert backward.values("psi'")[1] < spins[0]


def test_values_alone_cannot_pass_it():
    turn, spin = fold_of_the_disk(DISK, 0.3)
    start = [0.0, 0.8 * turn, steady_spin(DISK, 0.3, 0.8 * turn)]
    with pytest.raises(ValueError, match="no relative equilibrium"):
        family(DISK, [0.3, 0, 0, 0, 0], start, "psi'", [spin - 0.02, spin + 0.2], hold=["theta"])


def test_conical_pendulums_and_steady_tops_on_rotation_matrices():
    """turn^2 = g / (l cos lean) all along; J1 w^2 cos - J3 omega3 w + m g a = 0."""
    ball = S.SphericalPendulumAngles(mass=1.0, length=2.0, gravity=9.8)
    found = branch(ball, [0.3, 0.0], [0.0, 2.3], "theta", length=0.25, count=12)
    lean, turn = found.values("theta"), found.values("phi'")
    assert lean[-1] > 1.0
    assert turn**2 * np.cos(lean) == pytest.approx(9.8 / 2.0, rel=1e-10)
    top, upright = S.LagrangeTop(), S.LagrangeTop().sample()
    steady = branch(top, upright["q"], upright["xi"], "omega3", hold=[lean_of_top], length=0.3, count=4)
    for at in steady.points:
        gamma, omega = at.q[6:9], at.xi
        rate = (omega[:2] @ gamma[:2]) / (gamma[:2] @ gamma[:2])  # of precession about the vertical
        j1, j3 = top.inertia_across, top.inertia_axis
        own = omega[2]
        balance = j1 * rate**2 * gamma[2] - j3 * own * rate + top.mass * top.gravity * top.distance
        assert abs(balance) < 1e-9 * j3 * own * abs(rate)


def lean_of_top(q, xi):
    return q[8] + 0 * xi[0]


def test_sentences():
    with pytest.raises(ValueError, match="family of dimension 2. You can hold 1 more"):
        branch(DISK, [0.3, 0, 0, 0, 0], [0.0, 1.0, -2.3], "phi'", length=0.2, count=2)
    with pytest.raises(ValueError, match="isolated. You can hold less"):
        branch(DISK, [0.3, 0, 0, 0, 0], [0.0, 1.0, -2.3], "phi'", hold=["theta", "phi'"], length=0.2, count=2)
    with pytest.raises(ValueError, match="could not be followed"):
        branch(DISK, [0.3, 0, 0, 0, 0], [0.0, 1.0, -2.3], "phi'", hold=["theta"], length=-1e200, count=1)
    with pytest.raises(ValueError, match="must be finite and not zero"):
        branch(DISK, [0.3, 0, 0, 0, 0], [0.0, 1.0, -2.3], "phi'", hold=["theta"], length=0.0, count=1)

"""Noether's theorem where forces act, where it holds up to a function of q, and the rate where reactions act."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel import analysis

S = dh.systems


def kinetic(q, v):
    return 0.5 * v @ v


def flat(q):
    return jnp.eye(2)


def push(q, v):
    return jnp.array([0.5, 0.0])


def damping(q, v):
    return -0.6 * v


def magnetic(q, v):
    return 0.3 * jnp.stack([v[1], -v[0]])


def magnetic_in_x(q, v):
    """Of the field B = x: closed in y's direction only."""
    return q[0] * jnp.stack([v[1], -v[0]])


def particle(force, lagrangian=kinetic):
    return dh.from_velocities(lagrangian, flat, 2, force=force)


@pytest.mark.parametrize(("force", "rate"), [(push, 0.5), (damping, -0.6), (magnetic, 0.3)])
def test_a_force_along_a_symmetry_is_counted(force, rate):
    """The review's three: each was called conserved beside this rate."""
    found = analysis.noether(particle(force), 0, [0.2, -0.1], [1.0, 1.0])
    assert not found.conserved
    assert not found.idle
    assert found.rate == pytest.approx(rate, rel=1e-14)
    assert found.partial  # the Lagrangian itself has the symmetry
    assert found.exact == (force is not push)  # of a push N would be -t/2; of linear damping it is 0.6 x
    words = "no conservation law: in D, but the force does work" if force is push else "J + N(q) is constant"
    assert words in str(found)


def test_quadratic_drag_has_no_gauge_term():
    found = analysis.noether(particle(lambda q, v: -0.6 * v * jnp.sqrt(v @ v)), 0, [0.2, -0.1], [1.0, 1.0])
    assert not found.exact
    assert "the force does work along it" in str(found)


def test_a_force_that_is_no_form_has_no_gauge_term():
    """B = x: p_x + N would need d/dt N = -x y', which no N has; p_y changes by -x x', which one has."""
    bent = particle(magnetic_in_x)
    across, along = (analysis.noether(bent, i, [0.4, -0.1], [1.0, 1.0]) for i in (0, 1))
    assert (across.exact, along.exact) == (False, True)
    assert analysis.gauge_term(bent, 1, [0.4, 7.0]) == pytest.approx(0.5 * 0.4**2, rel=1e-13)


def test_what_lagrangian_and_force_change_may_cancel():
    """Weight in l and a force that carries it."""
    carried = particle(lambda q, v: jnp.array([2.0, 0.0]), lambda q, v: kinetic(q, v) - 2.0 * q[0])
    found = analysis.noether(carried, 0, [0.2, -0.1], [1.0, 1.0])
    assert found.conserved
    assert not found.idle
    assert not found.partial
    assert "what the force does along it is what the Lagrangian loses" in str(found)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_verdict_has_no_scale(scale):
    """A force of a nanonewton on a nanogram is as good as any."""
    small = particle(lambda q, v: scale * push(q, v), lambda q, v: scale * kinetic(q, v))
    assert not analysis.noether(small, 0, [0.2, -0.1], [1.0, 1.0]).conserved
    assert analysis.noether(small, 1, [0.2, -0.1], [1.0, 1.0]).conserved


def kept(system, symmetry, q, xi, t=4.0):
    """J + N along DOP853, its spread, and that of J."""
    run = dh.reference(system, q, xi, t=np.linspace(0.0, t, 9))
    points = list(zip(run.q, run.xi, strict=True))
    momenta = np.array([analysis.noether(system, symmetry, *point).momentum for point in points])
    terms = np.array([analysis.gauge_term(system, symmetry, place, origin=q) for place, _ in points])
    return np.ptp(momenta + terms), np.ptp(momenta)


CHARGED = S.ChargedParticle(mass=0.7, charge=1.3, magnetic=(0.2, -0.4, 0.9), electric=(0.0, 0.1, 0.0))


@pytest.mark.parametrize(
    ("system", "symmetry", "q", "xi"),
    [
        (particle(magnetic), 0, [0.2, -0.1], [1.0, 0.4]),
        (particle(damping), 0, [0.2, -0.1], [1.0, 0.4]),
        (particle(magnetic), 1, [0.2, -0.1], [1.0, 0.4]),
        (CHARGED, 0, [0.3, -0.2, 0.1], [0.5, 1.0, 0.2]),
        (CHARGED, "y", [0.3, -0.2, 0.1], [0.5, 1.0, 0.2]),  # along E: the gauge term has -e E_y t instead, so not kept
    ],
    ids=["force, x", "damping, x", "force, y", "in l, x", "in l, y"],
)
def test_momentum_with_its_gauge_term_is_constant_along_the_reference(system, symmetry, q, xi):
    found = analysis.noether(system, symmetry, q, xi)
    total, momentum = kept(system, symmetry, q, xi)
    assert not found.conserved
    assert momentum > 0.1
    assert found.conserved_with_gauge == (symmetry != "y")
    assert (total < 1e-9) == found.conserved_with_gauge


def test_a_gauge_term_on_a_constraint():
    """The particle with z' = y x' in a magnetic field along z, pushed by it: the field of [MD] ch. 6 along D."""
    base = S.NonholonomicParticle()
    system = dh.forced(base, lambda q, xi, b: b * jnp.array([xi[1], -xi[0], 0.0]), params=0.4)
    found = analysis.noether(system, lambda q: system.frame(q)[:, 0] / jnp.sqrt(1 + q[1] ** 2), [0.1, 0.5, 0], [1, 0.4])
    assert found.horizontal
    assert not found.conserved
    total, momentum = kept(
        system, lambda q: system.frame(q)[:, 0] / jnp.sqrt(1 + q[1] ** 2), [0.1, 0.5, 0.0], [0.6, 0.4], t=1.0
    )
    assert momentum > 1e-2
    assert found.exact == (total < 1e-9)


UPRIGHT = {"y": [0.1, 0.3, 0, 0], "phi": [0.1, 0.3, 0, 0]}
SLIDING = S.ChaplyginSleigh(offset=0.4)
DRAGGED = dh.forced(SLIDING, lambda q, xi: -0.3 * xi)


@pytest.mark.parametrize(
    ("system", "symmetry", "q", "xi"),
    [
        (SLIDING, "x", [0.4, 0.3, 0.2], [1.0, 2.0]),
        (DRAGGED, "y", [0.4, 0.3, 0.2], [1.0, 2.0]),
        (S.RollingDisk(), "x", [0.3, 0.2, 0, 0, 0], [0.1, 0.6, 3.0]),
        (S.RollingDisk(), "theta", [0.3, 0.2, 0, 0, 0], [0.1, 0.6, 3.0]),
        (S.KnifeEdgeOnIncline(), "y", [0.3, 0, 0], [0.7, 1.0]),
        (S.BallOnTurntable(), None, None, None),
    ],
    ids=["sleigh, x", "dragged sleigh, y", "disk, x", "disk, theta", "blade, downhill", "turntable"],
)
def test_the_rate_is_that_of_the_momentum_along_the_reference(system, symmetry, q, xi):
    """<lambda, a_U> is known: with it dJ/dt is the central difference of J along DOP853, to its own error."""
    if q is None:
        q, xi = system.sample()["q"], system.sample()["xi"]
        symmetry = next(iter(system.symmetries().values()))
    h = 1e-3
    ahead, back = (dh.reference(system, q, xi, t=[0.0, s * h]) for s in (1, -1))
    values = [analysis.noether(system, symmetry, run.q[-1], run.xi[-1]).momentum for run in (ahead, back)]
    found = analysis.noether(system, symmetry, q, xi)
    assert found.rate == pytest.approx((values[0] - values[1]) / (2 * h), abs=3e-5 * (1 + abs(found.momentum)))
    assert np.isfinite(found.rate)
    assert abs(found.rate) > 1e-3 or symmetry in ("theta", "y") or isinstance(system, S.BallOnTurntable)


def test_a_closed_form_of_the_reactions_part():
    """The sleigh's x: J = m (v cos th - a w sin th), dJ/dt = -sin th times the reaction m v w."""
    m, a, w, v, th = 1.2, 0.4, 1.1, 2.0, 0.5
    sleigh = S.ChaplyginSleigh(mass=m, inertia=0.7, offset=a)
    found = analysis.noether(sleigh, "x", [th, 0.3, 0.2], [w, v])
    turning = -m * a * v * w / (0.7 + m * a**2)  # w'
    speeding = a * w**2  # v'
    rate = m * (speeding * np.cos(th) - v * w * np.sin(th) - a * turning * np.sin(th) - a * w**2 * np.cos(th))
    assert found.momentum == pytest.approx(m * (v * np.cos(th) - a * w * np.sin(th)), rel=1e-12)
    assert found.rate == pytest.approx(rate, rel=1e-12)
    assert not found.conserved
    assert "reactions do work" in str(found)

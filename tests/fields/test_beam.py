"""The geometrically exact beam: statics, frequencies, frame indifference, momenta, and the rigid limit with a blade."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

import discrete_hamel as dh
from discrete_hamel.fields import Beam, NeighbourHamel, equilibrium
from discrete_hamel.mechanics import frames

FAST = NeighbourHamel()


def slope(errors):
    return np.diff(-np.log2(errors))


@pytest.mark.parametrize("points", [5, 12])
def test_an_end_couple_rolls_the_beam_up_into_a_circle(points):
    """Moment 2 pi B / L: the last section meets the first, whatever their number; half of it, a half circle."""
    beam = Beam(points=points, clamped=True, bending=2.0, length=1.5)
    q = beam.straight()
    for part in np.linspace(0, 1, 9)[1:]:
        beam = beam.replace(moment=float(2 * np.pi * 2.0 / 1.5 * part))
        q = equilibrium(beam, q)
        if part == 0.5:
            theta, x, y = np.asarray(q).reshape(-1, 3)[-1]
            ds = 1.5 / (points - 1)
            chords = ds * np.exp(1j * (np.arange(points - 1) + 0.5) * np.pi / (points - 1))
            np.testing.assert_allclose([theta, x, y], [np.pi, np.sum(chords).real, np.sum(chords).imag], atol=1e-11)
    np.testing.assert_allclose(np.asarray(q).reshape(-1, 3)[-1], [2 * np.pi, 0, 0], atol=1e-11)
    strains = np.asarray(beam.strains(q))
    np.testing.assert_allclose(strains, np.tile([2 * np.pi / 1.5, 0, 0], (points - 1, 1)), atol=1e-10)


def test_the_rolled_up_beam_stays_at_rest():
    beam = Beam(points=5, clamped=True)
    q = beam.straight()
    for part in (0.25, 0.5, 0.75, 1.0):
        beam = beam.replace(moment=2 * np.pi * part)
        q = equilibrium(beam, q)
    run = dh.simulate(beam, q=q, xi=np.zeros(beam.rank), h=0.01, steps=50, scheme=FAST)
    assert np.max(np.abs(run.q - run.q[0])) < 1e-9
    let_go = dh.simulate(beam.replace(moment=0.0), q=q, xi=np.zeros(beam.rank), h=0.01, steps=50, scheme=FAST)
    assert np.max(np.abs(let_go.q - let_go.q[0])) > 0.1


def frequencies(beam, count):
    """The lowest of the free beam at rest, from the Lagrangian's second derivatives."""
    q = jnp.asarray(beam.straight())
    rest = jnp.zeros(3 * beam.points)
    stiffness = jax.hessian(beam.potential)(q)
    mass = jax.hessian(lambda xi: beam.lagrangian(q, xi))(rest)
    squares = eigh(np.asarray(stiffness), np.asarray(mass), eigvals_only=True)
    assert np.max(np.abs(squares[:3])) < 1e-9 * squares[-1]  # three rigid motions
    return np.sqrt(squares[3 : 3 + count])


def test_free_free_frequencies():
    """cos(x) cosh(x) = 1, omega = x^2 sqrt(B / (m L^3)): Euler and Bernoulli's, the beam being slender."""
    roots = [brentq(lambda x: np.cos(x) - 1 / np.cosh(x), a, a + 1) for a in (4.3, 7.4)]
    exact = np.array(roots) ** 2
    errors = []
    for points in (13, 25, 49):
        beam = Beam(points=points, gyration=1e-3, shearing=1e6, stretching=1e6)
        errors.append(np.abs(frequencies(beam, 2) / exact - 1))
    first, second = np.transpose(errors)
    assert slope(first)[-1] == pytest.approx(2, abs=0.1)
    assert slope(second)[-1] == pytest.approx(2, abs=0.1)
    assert first[-1] < 5e-3


def test_timoshenkos_correction():
    """A stocky beam, against Timoshenko's own frequency equation solved by shooting, extrapolated in ds."""
    kwargs = dict(gyration=0.06, bending=1.0, shearing=1 / (3 * 0.06**2) * 1.0, stretching=1 / 0.06**2)
    found = [frequencies(Beam(points=points, **kwargs), 1)[0] for points in (25, 49)]
    extrapolated = found[1] + (found[1] - found[0]) / 3
    exact = _timoshenko(kwargs["gyration"], kwargs["bending"], kwargs["shearing"])
    slender = brentq(lambda x: np.cos(x) - 1 / np.cosh(x), 4.3, 5.3) ** 2
    assert extrapolated == pytest.approx(exact, rel=1e-4)
    assert exact < 0.95 * slender


def _timoshenko(r, bending, shearing):
    """Lowest free-free w, rho A = L = 1: y' = theta + Q / S, theta' = M / B, Q' = -w^2 y, M' = -Q - r^2 w^2 theta."""
    from scipy.linalg import expm

    def defect(w):
        a = np.array([[0, 1, 1 / shearing, 0], [0, 0, 0, 1 / bending], [-(w**2), 0, 0, 0], [0, -(r**2) * w**2, -1, 0]])
        return np.linalg.det(expm(a)[2:, :2])  # (Q, M) at the far end from (y, theta), no Q, M at the near

    grid = np.linspace(8, 24, 60)
    values = [defect(w) for w in grid]
    crossing = next(k for k in range(59) if values[k] * values[k + 1] < 0)
    return brentq(defect, grid[crossing], grid[crossing + 1])


def thrown(beam):
    """A bent beam that turns and flies, its sections moving apart."""
    g = beam.straight().reshape(-1, 3)
    s = np.linspace(0, 1, beam.points)
    g = g + 0.1 * np.column_stack([np.sin(2 * s), 0.1 * s**2, s * (1 - s)])
    xi = beam.rigid_motion(g.ravel(), 1.0, 0.4) + 0.05 * np.cos(np.arange(g.size))
    return g.ravel(), xi[: beam.rank]


@pytest.fixture(scope="module")
def free_run():
    beam = Beam(points=5)
    q, xi = thrown(beam)
    return dh.simulate(beam, q=q, xi=xi, h=0.01, steps=1000, scheme=FAST)


def test_the_free_beam_keeps_momenta(free_run):
    beam, exact = free_run.system, 1e-12 * 1000**0.5
    q, xi = jnp.asarray(free_run.q), jnp.asarray(free_run.xi)
    assert np.max(np.ptp(np.asarray(jax.vmap(beam.linear_momentum)(q, xi)), axis=0)) < exact
    assert np.ptp(np.asarray(jax.vmap(beam.angular_momentum)(q, xi))) < exact
    energy = free_run.energy
    assert 1e-9 < np.ptp(energy) / energy[0] < 0.05
    halves = [np.ptp(part) for part in np.split(energy[1:], 2)]
    assert max(halves) < 3 * min(halves)
    strains = np.asarray(jax.vmap(beam.strains)(q))
    assert np.max(np.abs(strains[:, :, 0])) > 0.1


@pytest.mark.parametrize("blade", [False, True])
def test_frame_indifference(blade):
    """Seen from a turned and shifted frame it is the same motion, and a rigid motion costs no energy."""
    beam = Beam(points=5, blade=blade)
    q, xi = thrown(beam)
    turn, shift = 0.7, np.array([2.0, -1.0])
    c, s = np.cos(turn), np.sin(turn)
    rotation = np.array([[c, -s], [s, c]])

    def moved(q):
        g = q.reshape(-1, 3)
        return np.column_stack([g[:, 0] + turn, g[:, 1:] @ rotation.T + shift]).ravel()

    assert abs(beam.potential(jnp.asarray(moved(q))) - beam.potential(jnp.asarray(q))) < 1e-12
    v = np.asarray(beam.velocity(jnp.asarray(q), jnp.asarray(np.append(xi, 0.0) if blade else xi))).reshape(-1, 3)
    turned = np.column_stack([v[:, 0], v[:, 1:] @ rotation.T]).ravel()
    a = dh.simulate(beam, q=q, xi=xi, h=0.01, steps=100, scheme=FAST)
    b = dh.simulate(beam, q=moved(q), v=turned, h=0.01, steps=100, scheme=FAST)
    np.testing.assert_allclose(b.q[-1], moved(a.q[-1]), atol=1e-10)
    rigid = beam.straight(theta=0.4, place=(1.0, 2.0))
    assert float(beam.potential(jnp.asarray(rigid))) < 1e-25


@pytest.mark.parametrize(
    "kwargs", [{}, {"blade": True}, {"clamped": True, "moment": 0.4}], ids=["free", "blade", "clamped"]
)
def test_the_linear_step_is_the_discrete_hamel_map(kwargs):
    beam = Beam(points=4, **kwargs)
    q, xi = thrown(beam)
    runs = [
        dh.simulate(beam, q=q, xi=xi, h=0.01, steps=30, scheme=s, compiled=False) for s in (dh.DiscreteHamel(), FAST)
    ]
    for name, size in (("q", 1e-11), ("p", 1e-11), ("xi", 1e-9)):
        np.testing.assert_allclose(*(getattr(run, name) for run in runs), atol=size)
    automatic = frames.structure_functions(beam.frame, jnp.asarray(q))
    np.testing.assert_allclose(beam.structure(jnp.asarray(q)), automatic, atol=1e-13)


def test_the_blade_holds():
    beam = Beam(points=5, blade=True)
    q, xi = thrown(beam)
    run = dh.simulate(beam, q=q, xi=xi, h=0.01, steps=300, scheme=FAST)
    middle = 0.5 * (run.q[1:, 0] + run.q[:-1, 0])
    step = np.diff(run.q[:, 1:3], axis=0)
    assert np.max(np.abs(np.cos(middle) * step[:, 1] - np.sin(middle) * step[:, 0])) < 1e-13
    momentum = np.asarray(jax.vmap(beam.linear_momentum)(jnp.asarray(run.q), jnp.asarray(run.xi)))
    assert np.ptp(momentum[:, 1]) > 1e-2  # the blade pushes


def test_the_rigid_limit_is_the_chaplygin_sleigh():
    """Stiffer and stiffer, the flexible sleigh's motion tends to the rigid one's, as 1 / stiffness."""
    points, length = 4, 0.8
    s = np.linspace(0, length, points)
    m = np.asarray(Beam(points=points, length=length).masses())
    r = 0.05
    offset = float(m @ s)
    inertia = float(m @ (s - offset) ** 2 + r**2)
    rigid = dh.systems.ChaplyginSleigh(mass=1.0, inertia=inertia, offset=offset)
    exact = dh.reference(rigid, [0.0, 0, 0], [1.5, 0.5], t=np.array([0.0, 0.5])).q[-1]
    errors = []
    for stiffness in (1e3, 4e3, 16e3):
        beam = Beam(points, 1.0, length, r, stiffness, 4 * stiffness, 4 * stiffness, blade=True)
        # Set off as the rotating beam is at rest in its own frame: stretched by its turning, so that it does not ring.
        xi = beam.rigid_motion(beam.straight(), 1.5, 0.5)[: beam.rank]
        run = dh.simulate(beam, q=beam.straight(), xi=xi, h=0.002, steps=250, scheme=FAST)
        errors.append(np.max(np.abs(run.q[-1, :3] - exact)))
    np.testing.assert_allclose(slope(errors) / 2, 1, atol=0.15)  # each is four times as stiff
    assert errors[-1] < 2e-6
    free = Beam(points, 1.0, length, r, 1e4, 4e4, 4e4)
    start = free.straight()
    without = dh.simulate(free, q=start, xi=free.rigid_motion(start, 1.5, 0.5), h=0.002, steps=250, scheme=FAST)
    assert np.max(np.abs(without.q[-1, :3] - exact)) > 0.02


def test_refusals():
    with pytest.raises(ValueError, match="on a blade or clamped"):
        Beam(blade=True, clamped=True).check()
    with pytest.raises(ValueError, match="bending of Beam must be positive"):
        Beam(bending=0.0).check()
    with pytest.raises(ValueError, match="who its neighbours are"):
        dh.simulate(dh.systems.ChaplyginSleigh(), q=[0, 0, 0], xi=[1, 1], h=0.1, steps=1, scheme=FAST)

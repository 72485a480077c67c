"""[HE] 5.5: which schemes keep the rolling disk's steady motions, and the stability of what they keep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import STEP
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.testing.conserved_words import steady_spin

DISK = dh.systems.RollingDisk(mass=1.0, radius=1.0, inertia_diameter=0.25, inertia_axis=0.5, gravity=9.8)
TILT, TURN, H = 0.3, -0.7157155729657075, 0.05
SPIN = 3.0
SLEIGH = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
POINTS = [(0.5, 0.5), (0.0, 0.0), (0.0, 0.5), (0.5, 0.0)]  # (lagrangian_at, constraint_at)


def lagrangian(q, v):
    """The disk in plain coordinates: mass centre, turning about a diameter and about the axis, height of the centre."""

    def centre(q):
        return jnp.array([q[3] - jnp.sin(q[0]) * jnp.sin(q[1]), q[4] + jnp.sin(q[0]) * jnp.cos(q[1]), jnp.cos(q[0])])

    _, moving = jax.jvp(centre, (q,), (v,))
    turning = 0.25 * (v[0] ** 2 + (v[1] * jnp.cos(q[0])) ** 2) + 0.5 * (v[1] * jnp.sin(q[0]) + v[2]) ** 2
    return 0.5 * (moving @ moving + turning) - 9.8 * jnp.cos(q[0])


def rolling(phi):
    """x' = -R psi' cos phi, y' = -R psi' sin phi: the columns are the velocities of theta, phi and psi."""
    return np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [0, 0, -np.cos(phi)], [0, 0, -np.sin(phi)]])


def defect(a, b, tilt, turn, spin, h):
    """(D_1 L_d(q_k, q_{k+1}) + D_2 L_d(q_{k-1}, q_k))/h along D at q_k, on the steady motion, constraint at q_b."""

    def discrete(q, q1):
        return h * lagrangian((1 - a) * q + a * q1, (q1 - q) / h)

    q = [np.array([tilt, 0.7, 0.0, 0.0, 0.0])]
    for _ in range(2):
        q.append(q[-1] + h * rolling(q[-1][1] + b * h * turn) @ [0.0, turn, spin])
    balance = jax.grad(discrete, 1)(*map(jnp.asarray, q[:2])) + jax.grad(discrete, 0)(*map(jnp.asarray, q[1:]))
    return rolling(q[1][1]).T @ np.asarray(balance) / h


def test_the_disk_of_the_library_is_the_disk_by_hand():
    for q, xi in np.random.default_rng(0).uniform(-1, 1, (5, 2, 5)):
        assert float(DISK.lagrangian(q, xi)) == pytest.approx(float(lagrangian(q, DISK.frame(q) @ xi)), rel=1e-13)
    assert steady_spin(DISK, TILT, TURN) == pytest.approx(SPIN, rel=1e-13)


@pytest.mark.parametrize(
    ("points", "published"),
    [((0.5, 0.5), 0.0), ((0.0, 0.0), -3.6e-2), ((0.5, 0.0), -3.8e-2), ((0.0, 0.5), 2.7e-3)],
)
def test_the_defect_of_cortes_martinez_on_the_steady_motion(points, published):
    found = defect(*points, TILT, TURN, SPIN, H)
    if published == 0.0:
        assert np.max(np.abs(found)) < 1e-12
    else:
        assert found[2] == pytest.approx(published, abs=0.05 * 10 ** np.floor(np.log10(abs(published))))
        assert np.max(np.abs(found)) > 1e-2


@settings(max_examples=20)
@given(
    st.floats(0.05, 1.2),
    st.floats(0.3, 3.0),
    st.sampled_from([-1.0, 1.0]),
    st.floats(0.01, 0.1),
    st.sampled_from(POINTS),
)
def test_only_the_midpoints_keep_the_whole_family(tilt, turn, sign, h, points):
    """First order in h, and a multiple of phi' psi': none of the family's tilted members but by accident survives."""
    turn *= sign
    spin = float(steady_spin(DISK, tilt, turn))
    found = defect(*points, tilt, turn, spin, h)
    size = 1 + spin**2 + turn**2
    if points == (0.5, 0.5):
        assert np.max(np.abs(found)) < 1e-11 * size / h
    else:
        assert np.max(np.abs(found)) > 1e-3 * h * abs(turn) * tilt


def steady_state(scheme, tilt=TILT, turn=TURN, spin=SPIN, h=H):
    """The node whose step is the steady one, if there is any: the scheme's own momentum there, 0 = residual."""
    xi = jnp.array([0.0, turn, spin])
    state = dh.start(DISK, scheme, jnp.array([tilt, 0.7, 0.0, 0.0, 0.0]), xi, h)
    if isinstance(scheme, dh.CortesMartinez):
        q1 = state.q + h * rolling(float(state.q[1]) + scheme.constraint_at * h * turn) @ np.array(xi)
        left = scheme.residual(DISK, state, h, jnp.concatenate([xi, q1]))
        state = state.replace(p=state.p + left[:3])
    return state


def drift(scheme, steps=5, h=H):
    """How far lean and momenta are from those of the steady motion after a few steps."""
    state = first = steady_state(scheme, h=h)
    for _ in range(steps):
        state, _ = STEP(DISK, scheme, state, h)
    return max(float(jnp.max(jnp.abs(state.p - first.p))), abs(float(state.q[0] - first.q[0])))


@pytest.mark.parametrize("tau", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_discrete_hamel_keeps_the_steady_motion_at_every_tau(tau):
    assert drift(dh.DiscreteHamel(tau=tau)) < 1e-12


@pytest.mark.parametrize("points", POINTS)
def test_cortes_martinez_keeps_it_at_midpoints_only(points):
    change = drift(dh.CortesMartinez(*points))
    assert change < 1e-12 if points == (0.5, 0.5) else change > 1e-3


def test_the_disk_spins_up_or_down():
    """The momentum along psi, constant on the steady motion, changes at the rate of the defect from the first step."""
    for points in POINTS[1:]:
        scheme = dh.CortesMartinez(*points)
        state = steady_state(scheme)
        new, _ = STEP(DISK, scheme, state, H)
        assert np.asarray(new.p - state.p) / H == pytest.approx(defect(*points, TILT, TURN, SPIN, H), abs=1e-9)


@pytest.mark.parametrize(("points", "way"), [((0.5, 0.5), 0), ((0.0, 0.0), 1), ((0.0, 0.5), 1), ((0.5, 0.0), -1)])
def test_in_ten_seconds_it_has_spun_up_or_down(points, way):
    """psi' = 3 and the lean 0.3 are steady. As found: with h = 0.02 psi' goes to 3.26, 3.43 and 2.90."""
    scheme = dh.CortesMartinez(*points)
    state = dh.start(DISK, scheme, jnp.array([TILT, 0.0, 0.0, 0.0, 0.0]), jnp.array([0.0, TURN, SPIN]), 0.02)
    for _ in range(500):
        state, _ = STEP(DISK, scheme, state, 0.02)
    change = float(scheme.velocity(DISK, state)[2]) - SPIN
    assert abs(change) < 0.02**2 if way == 0 else way * change > 0.05


# --- stability types ---


def spectrum(system, scheme, q, xi, shape, h=H):
    """Eigenvalues of a step on (q[shape], p, and the reaction where the scheme keeps one), by central differences."""
    state = dh.start(system, scheme, jnp.asarray(q, float), jnp.asarray(xi, float), h)
    memory = hasattr(state, "reaction")

    def packed(state):
        return np.concatenate([np.asarray(state.q)[shape], state.p, state.reaction if memory else []])

    def mapped(x):
        k, m = len(shape), len(state.p)
        moved = state.replace(q=state.q.at[jnp.array(shape, int)].set(x[:k]), p=jnp.asarray(x[k : k + m]))
        moved = moved.replace(xi=scheme.velocity(system, moved)[:m])
        if memory:
            moved = moved.replace(reaction=jnp.asarray(x[k + m :]))
        return packed(STEP(system, scheme, moved, h)[0])

    x, small = packed(state), 1e-5
    assert np.max(np.abs(mapped(x) - x)) < 1e-12  # an equilibrium of the map, modulo the symmetry
    columns = [(mapped(x + small * e) - mapped(x - small * e)) / (2 * small) for e in np.eye(len(x))]
    return np.linalg.eigvals(np.array(columns).T)


def cayley(rate, h=H):
    return (1 + h * rate / 2) / (1 - h * rate / 2)


def straight_rolling(spin):
    """Rates of (H) at upright straight rolling: 0, 0 and +-sqrt((A m g R - B (m R^2 + B) spin^2)/(A (A + m R^2)))."""
    return np.sqrt(complex((0.25 * 9.8 - 0.5 * 1.5 * spin**2) / (0.25 * 1.25)))


@pytest.mark.parametrize("spin", [1.0, 5.0])
@pytest.mark.parametrize("scheme", [dh.DiscreteHamel(), dh.StaggeredHamel(), dh.CortesMartinez()], ids=repr)
def test_the_disk_keeps_its_spectrum_at_one_half(spin, scheme):
    """Fast straight rolling is neutral, slow falls over; each rate goes over into its Cayley transform."""
    found = spectrum(DISK, scheme, [0, 0, 0, 0, 0], [0, 0, spin], [0])
    rate = straight_rolling(spin)
    expected = np.array([1.0, 1.0, cayley(rate), cayley(-rate)])
    gaps = [np.min(np.abs(found - value)) for value in expected]
    assert max(gaps) < 1e-6  # a double eigenvalue by differences
    if spin == 5.0:
        assert np.max(np.abs(np.abs(found) - 1)) < 1e-6


@pytest.mark.parametrize(
    ("scheme", "grows"),
    [
        (dh.DiscreteHamel(tau=0.0), True),
        (dh.DiscreteHamel(tau=0.25), True),
        (dh.DiscreteHamel(tau=1.0), False),
        (dh.CortesMartinez(0.0, 0.0), True),
        (dh.CortesMartinez(0.0, 0.5), True),
        (dh.CortesMartinez(0.5, 0.0), True),
        (dh.CortesMartinez(1.0, 1.0), False),
    ],
    ids=repr,
)
def test_neutral_rolling_is_not_neutral_away_from_one_half(scheme, grows):
    """Every tau keeps the family, only tau = 1/2 its stability type. As found: below it grows, above it is damped."""
    sizes = np.abs(spectrum(DISK, scheme, [0, 0, 0, 0, 0], [0, 0, 5.0], [0]))
    assert np.max(sizes) > 1.02 if grows else (np.min(sizes) < 0.9 and np.max(sizes) < 1 + 1e-6)


ALL_BUT_LEAPFROG = [
    *(dh.DiscreteHamel(tau=tau) for tau in (0.0, 0.5, 1.0)),
    dh.StaggeredHamel(),
    *(dh.CortesMartinez(*points) for points in POINTS),
]


@pytest.mark.parametrize("scheme", ALL_BUT_LEAPFROG, ids=repr)
def test_straight_motion_of_the_sleigh_attracts_or_repels_as_it_should(scheme):
    """Rates of (H): 0, and -m a v/(J + m a^2) with v = +-1."""
    for v in (1.0, -1.0):
        rate = -0.4 * v / 0.86
        found = np.sort(spectrum(SLEIGH, scheme, [0, 0, 0], [0, v], []).real)
        turning = found[np.argmax(np.abs(found - 1))]
        assert np.min(np.abs(found - 1)) < 1e-9
        assert np.sign(turning - 1) == np.sign(rate)
        assert turning == pytest.approx(np.exp(H * rate), abs=H**2)


def test_leapfrog_loses_the_attraction_of_straight_motion():
    """As found: its remembered reaction has the eigenvalue -1/lambda, outside the unit circle where lambda attracts."""
    for v in (1.0, -1.0):
        sizes = spectrum(SLEIGH, dh.Leapfrog(), [0, 0, 0], [0, v], []).real
        physical = sizes[np.argmin(np.abs(sizes - np.exp(-H * 0.4 * v / 0.86)))]
        assert np.min(sizes) == pytest.approx(-1 / physical, rel=1e-6)
    ahead = spectrum(SLEIGH, dh.Leapfrog(), [0, 0, 0], [0, 1.0], [])
    assert np.max(np.abs(ahead)) > 1.02

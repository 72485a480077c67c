"""Forces: the order is kept, dissipation and magnetism do what they are, inputs may depend on time and state."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import slopes
from hypothesis import given, settings
from hypothesis import strategies as st
from multipliers_in_time import across, motion, moving, unit
from piloted import GAINS, PILOTED, SLEIGH, START, TIME, pilot

import discrete_hamel as dh


def sleigh_lagrangian(t, q, v, s):
    centre = moving(lambda q: q[1:] + 0.4 * unit(q[0]), q, v)
    return 0.5 * centre @ centre + 0.35 * v[0] ** 2


def sleigh_blade(t, q, v, s):
    return across(q[0])[None] @ v[1:]


def sleigh_forces(t, q, v, s):
    """As covectors in coordinates: the torque on theta', the thrust and drag along the heading and across it."""
    ahead, aside = unit(q[0]) @ v[1:], across(q[0]) @ v[1:]
    torque, thrust, _ = pilot(t, q, jnp.stack([v[0], ahead, aside]), s)
    torque, thrust = torque - 0.2 * (v[0] + 0.0), thrust - 0.2 * ahead - 0.2 * 0.4 * ahead**3
    plane = thrust * unit(q[0]) - 0.2 * aside * across(q[0])
    return jnp.concatenate([torque[None], plane])


@functools.cache
def by_multipliers():
    q, xi = START
    v = np.asarray(dh.velocities(SLEIGH, q[:3], xi))
    return motion(sleigh_lagrangian, sleigh_blade, q[:3], v, np.array([0.0, TIME]), GAINS, sleigh_forces)[0][-1]


def errors(scheme, counts):
    runs = [dh.simulate(PILOTED, *START, h=TIME / n, steps=int(n), scheme=scheme) for n in counts]
    return np.array([np.max(np.abs(run.q[-1, :3] - by_multipliers())) for run in runs])


def test_forced_reference_against_multipliers():
    assert np.max(np.abs(dh.reference(PILOTED, *START, t=TIME).q[-1, :3] - by_multipliers())) < 1e-9


@pytest.mark.parametrize(
    ("scheme", "order", "counts"),
    [
        (dh.DiscreteHamel(), 2, (64, 80, 100, 125)),
        (dh.Composed(dh.DiscreteHamel(), order=4), 4, (40, 48, 56, 64)),
        (dh.Composed(dh.DiscreteHamel(), order=6), 6, (24, 28, 32, 36)),
        (dh.DiscreteHamel(tau=0.0), 1, (800, 1000, 1200, 1600)),
    ],
    ids=["two", "four", "six", "tau 0"],
)
def test_order_is_kept_with_forces(scheme, order, counts):
    found = errors(scheme, counts)
    assert found[-1] > 1e-12  # above the oracle's own error
    assert slopes(1 / np.array(counts), found) == pytest.approx(order, abs=0.1)


def test_the_piloted_sleigh_is_compiled():
    assert dh.simulate(PILOTED, *START, h=0.02, steps=64).report.path == "compiled"


def test_a_force_that_is_forgotten_is_noticed():
    """The same run without the drag misses at every step size: the order test would see 0."""
    bare = dh.controlled(SLEIGH, pilot, params=GAINS)
    miss = [np.max(np.abs(dh.reference(bare, *START, t=TIME).q[-1, :3] - by_multipliers()))]
    assert miss[0] > 0.1


NUMBERS = st.floats(-2.0, 2.0)
POWER = jax.jit(dh.power)
DISK = dh.systems.RollingDisk()
DRAGGED = dh.damped(DISK, lambda q, xi, c: 0.5 * c * xi @ jnp.diag(jnp.arange(1.0, 6.0)) @ xi, params=0.3)


@settings(max_examples=25, deadline=None)
@given(st.floats(-1.0, 1.0), st.tuples(*[NUMBERS] * 3), st.floats(0.0, 2.0))
def test_rayleigh_takes_twice_the_dissipation(lean, xi, c):
    """E' = -2R for R quadratic, along (H): from the energy's own rate, and never a gain."""
    system, q, xi = DRAGGED.replace(params=c), jnp.array([lean, 0.2, 0, 0, 0]), jnp.array(xi)
    twice = c * xi @ (jnp.arange(1.0, 4.0) * xi)
    assert float(POWER(system, q, xi).forces) == pytest.approx(-float(twice), abs=1e-12)
    assert float(ENERGY_RATE(system, q, xi)) == pytest.approx(-float(twice), abs=1e-9)


@jax.jit
def ENERGY_RATE(system, q, xi):
    xi = jnp.concatenate([xi, system.slip(q)])
    return jax.jvp(lambda q, xi: dh.energy(system, q, xi), (q, xi), dh.vector_field(system, q, xi))[1]


def field(q, s):
    """e times the matrix of v -> v x B(q), which is antisymmetric."""
    b = jnp.array([0.3, 0.0, 1.0 + 0.5 * s * q[1] ** 2])
    return jnp.array([[0.0, b[2], -b[1]], [-b[2], 0.0, b[0]], [b[1], -b[0], 0.0]])


def test_magnetic_force_is_the_vector_potentials():
    """A uniform field as a force, and as a term linear in v: the same discrete motion, and energy exact."""
    charged = dh.systems.ChargedParticle(magnetic=(0.3, 0.0, 1.0))
    free = dh.forced(
        dh.systems.ChargedParticle(charge=0.0), lambda q, xi: jnp.array([0.0, 0.1, 0.0])
    )  # E as a force, too
    pushed = dh.magnetic(free, field, params=0.0)
    runs = [dh.simulate(system, **charged.sample(), steps=400) for system in (charged, pushed)]
    assert np.max(np.abs(runs[0].q - runs[1].q)) < 1e-11
    work = dh.work(runs[1])
    assert np.max(np.abs(work.total - 0.1 * (runs[1].q[:, 1] - runs[1].q[0, 1]))) < 1e-12  # E alone works
    assert np.max(np.abs(runs[1].energy - runs[1].energy[0] - work.total)) < 1e-12
    other = dh.simulate(dh.magnetic(free, lambda q, s: field(q, s).T, params=0.0), **charged.sample(), steps=400)
    assert np.max(np.abs(other.q - runs[0].q)) > 0.5  # the sign of M matters


@settings(max_examples=25, deadline=None)
@given(st.tuples(*[NUMBERS] * 3), st.tuples(*[NUMBERS] * 2), NUMBERS)
def test_magnetic_force_under_a_constraint(q, xi, s):
    """[MD] (3.1): for all states as with the vector potential, and it does no work however the field varies."""
    q, xi = jnp.array(q), jnp.array(xi)
    charged = dh.systems.ChargedNonholonomicParticle(magnetic=(0.3, 0.0, 1.0))
    particle = dh.magnetic(dh.systems.NonholonomicParticle(), field, params=0.0)
    wanted = RATES(charged, q, xi)
    for got, want in zip(RATES(particle, q, xi), wanted, strict=True):
        assert np.asarray(got) == pytest.approx(np.asarray(want), abs=1e-10)
    assert abs(float(POWER(particle.replace(params=s), q, xi).total)) < 1e-11


RATES = jax.jit(dh.vector_field)


def test_inputs_see_the_clock_of_the_system():
    """On a system that has a clock u takes that; on one that has none it is given one."""
    board = dh.systems.DrivenSnakeboard()
    assert board.clock == 3
    braked = dh.controlled(board, lambda t, q, xi: jnp.stack([-0.2 * t, 0.0 * t, 0.0 * t, 0.0 * t]))
    assert braked.coordinates == board.coordinates
    q, xi = jnp.array([0.1, 0.0, 0.0, 2.0]), jnp.array([0.7])
    assert float(dh.power(braked, q, xi).forces) == pytest.approx(-0.2 * 2.0 * 0.7, abs=1e-14)
    assert dh.controlled(SLEIGH, pilot, params=GAINS).coordinates == (*SLEIGH.coordinates, "t")


@pytest.mark.parametrize(
    ("system", "sentence"),
    [
        (dh.controlled(SLEIGH, lambda t, q, xi: jnp.zeros(2)), r"u\(t, q, xi\) must return the 3 components.*\(2,\)"),
        (dh.forced(dh.timed(SLEIGH), lambda q, xi: jnp.zeros(3)), r"force\(q, xi\) must return the 4 components"),
        (dh.magnetic(dh.timed(SLEIGH), lambda q: jnp.zeros((3, 3))), r"form\(q\) must be 4 x 4"),
        (
            dh.magnetic(dh.timed(SLEIGH), lambda q: jnp.eye(4)[::-1]),
            r"form\(q\) must be antisymmetric.*has an entry of 2",
        ),
        (
            dh.magnetic(dh.timed(SLEIGH), lambda q: jnp.zeros((4, 4)).at[0, 1].set(1.0)),
            "must be antisymmetric.*has an entry of 1",
        ),
    ],
)
def test_forces_of_the_wrong_length_or_kind_get_a_sentence(system, sentence):
    with pytest.raises(ValueError, match=sentence):
        dh.simulate(system, *START, h=0.1, steps=1)


@pytest.mark.parametrize(
    ("put_on", "name"),
    [
        (dh.forced, "force(q, xi)"),
        (dh.damped, "dissipation(q, xi)"),
        (dh.magnetic, "form(q)"),
        (dh.controlled, "u(t, q, xi)"),
    ],
)
def test_a_number_in_the_place_of_a_function_gets_a_sentence(put_on, name):
    with pytest.raises(dh.InputError) as refused:
        put_on(SLEIGH, 0.3)
    assert str(refused.value).startswith(f"{name} must be a function of JAX's numbers; got 0.3.")

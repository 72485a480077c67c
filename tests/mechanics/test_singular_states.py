"""States in which psi_z loses rank: refused at the start, found at and between nodes, and not seen elsewhere."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.compiler.reading.start_facts import FEW, gramian
from discrete_hamel.mechanics.singular_states import INDEPENDENT, SINGULAR, lost_direction

PLANE = dh.systems.TwoPointsParallelVelocities.inclined_plane(1.0, 2.0)
Q = [0.0, 0.0, 0.0, 1.0]
SCHEMES = [None, dh.EnergyExact(), dh.Gauss(2), dh.RungeKutta4()]
NAMES = ["midpoint", "energy", "gauss", "runge-kutta"]


def test_both_speeds_zero_is_refused_with_its_name():
    with pytest.raises(ValueError, match=r"initial state is singular.*both speeds are zero.*along 1 theta moves no"):
        dh.simulate(PLANE, Q, [0.0, 0.0, 1.0], h=0.1, steps=1)
    with pytest.raises(ValueError, match="initial state is singular"):
        dh.reference(PLANE, Q, [0.0, 0.0, 1.0], t=1.0)


@pytest.mark.parametrize("scheme", SCHEMES, ids=NAMES)
@pytest.mark.parametrize("h", [0.07, 0.1, 1 / 16])
def test_a_run_that_meets_it_stops_and_says_where(scheme, h):
    """Up the slope with equal speeds both come to rest at t = 1: between two nodes, or (h = 1/16) at one."""
    with pytest.raises(dh.SingularState, match="both speeds are zero") as stopped:
        dh.simulate(PLANE, Q, [1.0, 1.0, np.pi], h=h, steps=40, scheme=scheme)
    run = stopped.value.trajectory
    assert len(run) >= int(1 / h)
    assert np.all(np.isfinite(run.q[: int(1 / h)]))
    first = int(np.ceil(1 / h - 1e-9))
    assert any(f"step {k} " in str(stopped.value) for k in (first, first + 1))


@pytest.mark.parametrize("scheme", SCHEMES, ids=NAMES)
def test_one_speed_through_zero_is_no_singular_state(scheme):
    """A point that turns back: psi_z keeps its rank as long as the other moves."""
    run = dh.simulate(PLANE, Q, [1.0, 0.5, np.pi], h=0.07, steps=40, scheme=scheme)
    assert run.xi[:, 1].min() < 0 < run.xi[:, 1].max()
    assert np.max(np.abs(run.xi[:, 0] - run.xi[:, 1] - 0.5)) < 1e-10


def test_an_encounter_that_is_passed_by_is_none():
    """Speeds of 1e-2 at their smallest are passed with small steps; the time is that of the free fall."""
    run = dh.simulate(PLANE, Q, [1.0, 0.99, np.pi], h=1e-3, steps=2000, scheme=dh.EnergyExact())
    assert np.min(np.hypot(run.xi[:, 0], run.xi[:, 1])) < 1e-2
    assert abs(run.energy[-1] - run.energy[0]) < 1e-12


def test_marked_runs_and_restarts():
    run = dh.simulate(PLANE, Q, [1.0, 1.0, np.pi], h=0.1, steps=40, on_failure="mark")
    assert len(run) == 41
    assert np.isfinite(run.q[9]).all()
    assert np.isnan(run.q[11:]).all()


def test_massless_directions_are_named():
    light = dh.nonlinear(lambda q, v: 0.5 * v[0] ** 2 - q[1], lambda q, z: jnp.sinh(z) + 0 * q, 2)
    with pytest.raises(ValueError, match=r"degenerate on the constraint.*Add the missing mass"):
        dh.simulate(light, [0.0, 0.0], [1.0, 0.0], h=0.1, steps=1)


@pytest.mark.parametrize(
    ("psi", "m", "z", "words"),
    [
        (
            lambda q, z: jnp.stack([z[0] + z[1], 2 * z[0] + 2 * z[1], q[0] + z[0] + z[1]]),
            2,
            [1.0, 1.0],
            "rank below m = 2",
        ),
        (lambda q, z: jnp.stack([z[0], z[1], 0 * q[0]]), 4, [1.0, 1, 1, 1], "must be 1 to n = 3"),
        (lambda q, z: jnp.stack([z[0], q[0]]), 1, [1.0], r"must return shape \(3,\) for n = 3, m = 1"),
        (lambda q, z: jnp.stack([z[0], z[0], jnp.sqrt(q[0] - 1)]), 1, [1.0], r"velocity\(q, z\) is not finite"),
        (lambda q, z: z[0] + q, 1, [1.0, 2.0], "z .given as xi. has 2 components; it needs m = 1"),
    ],
    ids=["wrong rank", "too many", "shape", "not finite", "length"],
)
def test_bad_velocities(psi, m, z, words):
    system = dh.nonlinear(lambda q, v: 0.5 * v @ v + 0 * q[0], psi, m)
    with pytest.raises(ValueError, match=words):
        dh.simulate(system, [0.0, 0.0, 0.0], z, h=0.1, steps=1)


def test_velocity_off_the_constraint_is_refused_with_the_row():
    with pytest.raises(ValueError, match=r"off the constraint.*row [0-3], the velocity of [xy][12], by"):
        dh.simulate(PLANE, Q, v=[1.0, 0.0, 1.0, 0.5], h=0.1, steps=1)
    steady = dh.nonlinear(
        lambda q, v: 0.5 * v @ v - q[1], lambda q, z: jnp.stack([jnp.cos(z[0]), jnp.sin(z[0])]) + 0 * q, 1
    )
    with pytest.raises(ValueError, match=r"off the constraint.*row"):
        dh.simulate(steady, [0.0, 0.0], v=[2.0, 0.0], h=0.1, steps=1)


def test_z_is_found_from_v():
    """In closed form for the catalogue, by least squares otherwise."""
    run = dh.simulate(PLANE, Q, v=[1.0, 2.0, -0.5, -1.0], h=0.1, steps=1)
    assert np.max(np.abs(run.v[0] - [1.0, 2.0, -0.5, -1.0])) < 1e-15
    steady = dh.nonlinear(
        lambda q, v: 0.5 * v @ v - q[1], lambda q, z: jnp.stack([jnp.cos(z[0]), jnp.sin(z[0])]) + 0 * q, 1
    )
    run = dh.simulate(steady, [0.0, 0.0], v=[-0.6, 0.8], h=0.1, steps=1)
    assert np.max(np.abs(run.v[0] - [-0.6, 0.8])) < 1e-12


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.integers(0, 3), st.sampled_from([1.0, 1e-2, 1e-4, 1e-13, 0.0]), st.integers(0, 10**6))
def test_columns_are_independent_whatever_finds_it(columns, more, least, seed):
    """Determinants and eigenvalues, which are asked first, never take for independent what singular values do not."""
    random = np.random.default_rng(seed)
    left, _ = np.linalg.qr(random.normal(size=(columns + more, columns)))
    right, _ = np.linalg.qr(random.normal(size=(columns, columns)))
    sizes = np.array([*random.uniform(0.5, 1.0, columns - 1), least if columns > 1 else 1.0])
    matrix = (left * sizes) @ right * 10.0 ** random.integers(-30, 30, columns)  # in any units
    scaled = np.linalg.svd(matrix / np.linalg.norm(matrix, axis=0), compute_uv=False)
    lost = lost_direction(matrix)
    assert (lost is None) == (scaled[-1] > SINGULAR * scaled[0])
    found = float(gramian(jnp.asarray(matrix)))
    assert lost is None or not found > INDEPENDENT
    assert abs(found - (np.prod(scaled**2) if columns <= FEW else 0.0)) < 1e-13
    if lost is not None:
        assert np.linalg.norm(matrix @ lost) < 1e-11 * np.linalg.norm(np.abs(matrix) @ np.abs(lost))


def test_fields_of_any_size_are_asked():
    """Their squares, and products of these, overflow long before they do; a warning is an error here."""
    assert lost_direction(1e100 * np.eye(40)) is None
    assert lost_direction(1e-100 * np.eye(40)) is None
    assert lost_direction(1e12 * np.ones((40, 2))) is not None

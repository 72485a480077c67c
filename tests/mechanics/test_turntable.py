"""A ball on a turntable: the circle at k/(1+k) of the table's rate, the drift down none but across the slope."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import slopes
from hypothesis import given, settings
from hypothesis import strategies as st
from multipliers_in_time import accelerations, no_force

import discrete_hamel as dh

EYE = np.eye(3).ravel()


def ball(k, rate=3.0, tilt=0.0):
    return dh.systems.BallOnTurntable(mass=2.0, inertia=k * 2.0 * 0.1**2, radius=0.1, rate=rate, tilt=tilt)


def set_down(system, place, velocity, spin=0.7):
    """(q, xi^D) of the ball's centre at `place` with `velocity`: x' = r nu_2 - Omega y, y' = -r nu_1 + Omega x."""
    (x, y), (u, v), rate = place, velocity, system.rate
    return np.array([*EYE, x, y]), np.array([(rate * x - v) / 0.1, (u + rate * y) / 0.1, spin])


def exact(t, w, fall, place, velocity):
    """x'' = w e_z x x' + fall e_x, in complex numbers: z = x + i y, z'' = i w z' + fall."""
    z, dz = complex(*place), complex(*velocity)
    drift = 1j * fall / w
    z = z + drift * t + (dz - drift) * (np.exp(1j * w * t) - 1) / (1j * w)
    return np.stack([z.real, z.imag], axis=-1)


@pytest.mark.parametrize("k", [0.4, 2 / 3, 0.1], ids=["solid", "hollow", "heavy inside"])
def test_the_centre_goes_around_at_k_over_1_plus_k(k):
    """From a fine run: the rate is the angle of the velocity over time, to the scheme's 1 / (1 + (w h)^2 / 12)."""
    system = ball(k)
    q, xi = set_down(system, (0.2, -0.1), (0.3, 0.4))
    w = k / (1 + k) * 3.0
    assert float(system.turning()) == pytest.approx(w, rel=1e-14)
    found = []
    for n in (100, 200):
        run = dh.simulate(system, q, xi, h=4.0 / n, steps=n)
        assert run.report.path == "compiled"
        angle = np.unwrap(np.arctan2(run.v[:, 10], run.v[:, 9]))
        rate = (angle[-1] - angle[0]) / 4.0
        assert rate == pytest.approx(2 / (4.0 / n) * np.arctan(w * 4.0 / n / 2), rel=1e-12)  # the midpoint's circle
        found.append(rate)
        assert np.hypot(run.v[:, 9], run.v[:, 10]) == pytest.approx(0.5, abs=1e-12)
    assert (4 * found[1] - found[0]) / 3 == pytest.approx(w, rel=1e-6)
    assert dh.reference(system, q, xi, t=4.0).q[-1, 9:] == pytest.approx(
        exact(4.0, w, 0.0, (0.2, -0.1), (0.3, 0.4)), abs=1e-10
    )


def test_on_a_tilted_table_it_drifts_across_the_slope():
    system = ball(0.4, tilt=0.1)
    w, fall = 0.4 / 1.4 * 3.0, 9.8 * np.sin(0.1) / 1.4
    assert float(system.drift()) == pytest.approx(9.8 * np.sin(0.1) / (0.4 * 3.0), rel=1e-14)
    assert float(system.drift()) == pytest.approx(fall / w, rel=1e-14)
    q, xi = set_down(system, (0.2, -0.1), (0.3, 0.4))
    period = 2 * np.pi / w
    times = np.linspace(0.0, period, 5)
    assert dh.reference(system, q, xi, t=times).q[:, 9:] == pytest.approx(
        exact(times, w, fall, (0.2, -0.1), (0.3, 0.4)), abs=1e-9
    )
    counts, errors = np.array([100, 200, 400]), []
    for n in counts:
        run = dh.simulate(system, q, xi, h=period / n, steps=int(n))
        gone = run.q[-1, 9:] - run.q[0, 9:]
        errors.append(np.abs(gone - [0.0, float(system.drift()) * period]))  # none of it downhill
    assert np.all(np.array(errors)[-1] < 1e-2)
    assert slopes(1 / counts, np.max(errors, axis=1)) == pytest.approx(2.0, abs=0.1)


def test_invariants_are_exact_and_energy_is_not():
    steps = 2000
    for tilt in (0.0, 0.1):
        system = ball(0.4, tilt=tilt)
        q, xi = set_down(system, (0.2, -0.1), (0.3, 0.4))
        run = dh.simulate(system, q, xi, h=0.02, steps=steps)
        for name, value in run.invariants().items():
            size = max(1.0, float(np.max(np.abs(run.q[:, 9:]))))
            wander = np.max(np.abs(value - value[0]))
            assert (wander < 1e-12 * size**2 * steps**0.5) == (name != "energy"), (name, wander)
        moving = np.asarray(MOVING(system, run.q, run.xi))
        kept = np.max(np.abs(moving - moving[0])) < 1e-12 * steps**0.5 * max(1.0, abs(moving[0]))
        assert kept == (tilt == 0.0)
        work = dh.work(run)
        assert np.all(work.forces == 0.0)
        assert np.ptp(run.energy) > 0.05
        assert np.ptp(work.slip) == pytest.approx(np.ptp(run.energy), rel=1e-3)


@jax.jit
def MOVING(system, q, xi):
    return jax.vmap(lambda q, xi: dh.moving_energy(system, q, xi, system.with_the_table))(q, xi)


def lagrangian(t, q, v, s):
    """Point masses R x of equal second moments J / 2; the centre slides down along x."""
    m, j, r, rate, tilt = s
    return 0.25 * j * v[:9] @ v[:9] + 0.5 * m * v[9:] @ v[9:] + m * 9.8 * jnp.sin(tilt) * q[9]


def constraint(t, q, v, s):
    """R^T R = 1, and the lowest point -r e_z moves as the table does."""
    m, j, r, rate, tilt = s
    rotation, turned = q[:9].reshape(3, 3), v[:9].reshape(3, 3)
    stiff = (rotation.T @ turned + turned.T @ rotation)[np.triu_indices(3)]
    contact = v[9:] - r * (turned @ rotation[2])[:2]
    return jnp.concatenate([stiff, contact - rate * jnp.stack([-q[10], q[9]])])


NUMBERS, SIZES = st.floats(-2.0, 2.0), st.floats(0.2, 3.0)
RATES = jax.jit(dh.vector_field)


@settings(max_examples=25, deadline=None)
@given(st.tuples(*[SIZES] * 3), NUMBERS, st.floats(-0.5, 0.5), st.tuples(*[NUMBERS] * 4), st.tuples(*[NUMBERS] * 5))
def test_it_is_lagrange_dalembert(sizes, rate, tilt, quaternion, numbers):
    size = np.linalg.norm(quaternion)
    if size < 0.1:
        return
    w, x, y, z = np.array(quaternion) / size
    hat = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    rotation = np.eye(3) + 2 * w * hat + 2 * hat @ hat
    system = dh.systems.BallOnTurntable(sizes[0], sizes[1], sizes[2], rate, tilt)
    q, xi = jnp.array([*rotation.ravel(), *numbers[:2]]), jnp.array(numbers[2:])
    velocity, acceleration = RATES(system, q, xi)
    got = SECOND(system, q, xi, velocity, acceleration)
    s = jnp.array([*sizes, rate, tilt])
    assert np.max(np.abs(constraint(0.0, q, velocity, s))) < 1e-10
    wanted, _ = accelerations(lagrangian, constraint, no_force, 0.0, q, velocity, s)
    assert np.asarray(got) == pytest.approx(np.asarray(wanted), abs=1e-10 * max(1.0, float(np.max(np.abs(wanted)))))


@jax.jit
def SECOND(system, q, xi, velocity, acceleration):
    whole = jnp.concatenate([xi, system.slip(q)])
    _, turned = jax.jvp(lambda q: system.frame(q) @ whole, (q,), (velocity,))
    return turned + system.frame(q) @ acceleration

"""Discrete gradients: the energy of every catalogue system to round-off, and no trouble where nothing moves."""

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import STEP, falls, is_undone, keeps
from problems import BODY, DISK, TOP

import discrete_hamel as dh
from discrete_hamel.schemes import Gonzalez, MeanValue, energy_exact

GRADIENTS = [MeanValue(), Gonzalez()]


DRIVEN = {"DrivenRollerRacer", "DrivenSnakeboard"}  # their motion keeps no energy: tests/systems/test_driven.py
CONSERVATIVE = sorted(
    name
    for name in set(dh.systems.__all__) - DRIVEN
    if not issubclass(getattr(dh.systems, name), dh.NonlinearSystem)  # which has schemes of its own
)


@jax.jit
def energies(system, q, xi):
    """H = <mu_D, xi^D> - l over nodes, and its unit of round-off: what it changes by when all in it is rounded."""

    def at(q, xi):
        value, (slope, mu) = jax.value_and_grad(system.lagrangian, (0, 1))(q, xi)
        m, size = system.rank, jnp.sum(jnp.abs(q * slope)) + jnp.sum(jnp.abs(mu * xi)) + jnp.abs(value)
        return mu[:m] @ xi[:m] - value, jnp.finfo(q.dtype).eps * size

    return jax.vmap(at)(q, xi)


@pytest.mark.slow
@pytest.mark.parametrize("name", CONSERVATIVE)
def test_energy_of_the_catalogue_is_exact(name):
    """1000 steps of the sample: no more than the random walk of some rounding a step, four times its size at most.

    benchmarks/energy_exact.py makes 10^5 steps.
    """
    system, steps = getattr(dh.systems, name)(), 1000
    run = dh.simulate(system, **system.sample(), steps=steps, scheme=dh.EnergyExact())
    energy, units = map(np.asarray, energies(run.system, run.q, run.xi))
    drift = np.max(np.abs(energy - energy[0]))
    assert drift <= 1e-12 * steps**0.5 * max(1.0, abs(energy[0]))
    assert drift <= 4 * np.max(units) * steps**0.5


def test_gonzalez_gradient_has_no_bias():
    """On the disk, where a Newton step left out too soon was 5e-15 J a step: 20 000 steps do not drift."""
    steps = 20_000
    run = dh.simulate(
        DISK.system, DISK.q, DISK.xi, h=0.01, steps=steps, save_every=20, scheme=dh.EnergyExact(Gonzalez())
    )
    energy, units = map(np.asarray, energies(DISK.system, run.q, run.xi))
    assert np.max(np.abs(energy - energy[0])) <= 4 * np.max(units) * steps**0.5


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "BallOnTurntable",
        "ContactOscillator",
        "Gearbox",
        "HeavyTop",
        "RigidBody",
        "Snakeboard",
        "SphericalPendulumAngles",
    ],
)
def test_gonzalez_energy_is_off_by_some_roundings_only(name):
    """Slips, shears, redundant coordinates, angles: never ten units, where a random walk would be at 45.

    benchmarks/energy_exact.py makes 10^5 steps of all systems.
    """
    system = getattr(dh.systems, name)()
    run = dh.simulate(system, **system.sample(), steps=2000, scheme=dh.EnergyExact(Gonzalez()))
    energy, units = map(np.asarray, energies(run.system, run.q, run.xi))
    assert np.max(np.abs(energy - energy[0])) <= 10 * np.max(units)


class Forgetful(dh.EnergyExact):
    """Does not carry along what its steps lack."""

    def advance(self, system, state, h, z):
        after, xi = super().advance(system, state, h, z)
        return after.replace(low=after.low.at[-1].set(0.0)), xi


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "bounded"), [(dh.EnergyExact, True), (Forgetful, False)])
def test_gonzalez_energy_is_bounded_by_roundings_because_the_next_step_makes_up_for_them(scheme, bounded):
    """Here H1 - H0 rounds to one side: a fiftieth of a unit a step, so 5000 steps would be a hundred units off."""
    system = dh.systems.ConvexBody()
    run = dh.simulate(system, **system.sample(), steps=5000, save_every=10, scheme=scheme(Gonzalez()))
    energy, units = map(np.asarray, energies(run.system, run.q, run.xi))
    assert (np.max(np.abs(energy - energy[0])) <= 10 * np.max(units)) == bounded


class Unweighted(Gonzalez):
    """dz in the units of q and p as they are."""

    weighted = False


@pytest.mark.parametrize(("gradient", "goes"), [(Gonzalez(), True), (Unweighted(), False)], ids=["weighted", "not"])
def test_gonzalez_takes_large_steps_because_it_makes_q_and_p_comparable(gradient, goes):
    """Spherical angles, momenta a hundred times the angles, 13 steps a swing: unweighted, Newton's method gets lost."""
    system, steps = dh.systems.SphericalPendulumAngles(), 500
    start, scheme = system.sample() | {"h": 0.5}, dh.EnergyExact(gradient)
    run = dh.simulate(system, **start, steps=steps, scheme=scheme, on_failure="mark")
    assert bool(np.all(run.report.converged)) == goes
    if goes:
        assert np.max(np.abs(run.energy - run.energy[0])) < 1e-12 * steps**0.5 * abs(run.energy[0])


@pytest.mark.parametrize("gradient", GRADIENTS, ids=repr)
def test_energy_is_exact_where_the_tau_rule_only_bounds_it(gradient):
    steps = 1000
    exact = DISK.run(steps, scheme=dh.EnergyExact(gradient))
    keeps(exact, ["energy"], 1e-12 * steps**0.5)
    bounded = DISK.run(steps).energy
    assert np.max(np.abs(bounded - bounded[0])) > 1e-8


def test_quadrature_decides_the_mean_values_energy():
    """One point is the midpoint rule, exact for no disk; the error falls with the number of points."""
    errors = []
    for number in (1, 2, 3):
        energy = DISK.run(40, scheme=dh.EnergyExact(MeanValue(number))).energy
        errors.append(np.max(np.abs(energy - energy[0])))
    assert errors[0] > 1e-4
    assert errors[1] < errors[0] / 10
    assert errors[2] < errors[1] / 10


@pytest.mark.parametrize("gradient", GRADIENTS, ids=repr)
def test_is_symmetric(gradient):
    scheme = dh.EnergyExact(gradient)
    is_undone(DISK.system, scheme, scheme, dh.start(DISK.system, scheme, DISK.q, DISK.xi, 0.1), 0.1, 2e-13)


@pytest.mark.parametrize("problem", [BODY, TOP], ids=lambda problem: problem.name)
def test_redundant_coordinates_stay_on_the_rotation_group(problem):
    steps = 300
    keeps(problem.run(steps, scheme=dh.EnergyExact()), ["energy", "trace of R^T R"], 1e-12 * steps**0.5)


@pytest.mark.parametrize("gradient", GRADIENTS, ids=repr)
def test_rest_stays_rest_and_has_gradients(gradient):
    """At equilibrium z1 = z0: no 0/0, neither in the step nor in its derivative with respect to data and h."""
    pendulum = dh.systems.SphericalPendulum(length=1.0)
    scheme, down = dh.EnergyExact(gradient), jnp.array([0.0, 0.0, -1.0])
    run = dh.simulate(pendulum, down, [0.0, 0.0], h=0.1, steps=20, scheme=scheme)
    assert np.max(np.abs(run.q - np.asarray(down))) < 1e-15

    def end(data):
        q, xi, h = data
        state, _ = STEP(pendulum, scheme, dh.start(pendulum, scheme, q, xi, h), h)
        return state.q @ state.q + state.p @ state.p

    assert all(np.all(np.isfinite(part)) for part in jax.grad(end)((down, jnp.zeros(2), 0.1)))


@hypothesis.given(
    exponent=st.floats(-14, 0), h=st.floats(1e-4, 0.2), angle=st.floats(0, 6.28), which=st.sampled_from(GRADIENTS)
)
@hypothesis.settings(max_examples=30)
def test_motions_of_any_size_keep_the_energy(exponent, h, angle, which):
    """From swings of a double's last digits to large ones, with steps that hardly move."""
    pendulum = dh.systems.SphericalPendulum(length=1.0)
    size = 10**exponent
    scheme = dh.EnergyExact(which)
    state = dh.start(pendulum, scheme, [0.0, 0.0, -1.0], [size * np.cos(angle), size * np.sin(angle)], h)
    before = dh.energy(pendulum, state.q, state.xi)
    for _ in range(3):
        state, interval = STEP(pendulum, scheme, state, h)
        assert interval.report.converged
    assert abs(float(dh.energy(pendulum, state.q, state.xi) - before)) < 1e-13


def test_a_force_works_exactly_as_much_as_the_energy_says():
    """H1 - H0 = h <f, mean xi>, for damping: an exact balance, step by step."""
    damped = dh.from_velocities(
        lambda q, v: 0.5 * v @ v + jnp.cos(q[0]) * jnp.cos(q[1]),
        lambda q: jnp.array([[1.0, 0.0], [0.3 * q[0], 1.0]]),
        2,
        force=lambda q, v: -0.2 * v,
    )
    run = dh.simulate(damped, [1.0, 0.3], [0.4, -0.6], h=0.1, steps=100, scheme=dh.EnergyExact())
    middle = (run.q[1:] + run.q[:-1]) / 2
    force = np.stack([damped.force(q, xi) for q, xi in zip(middle, run.xi_mid, strict=True)])
    work = 0.1 * np.sum(force * run.xi_mid, axis=1)
    assert np.max(np.abs(np.diff(run.energy) - work)) < 1e-13
    assert run.energy[-1] < run.energy[0] - 0.1


def test_with_a_slip_it_is_second_order_and_keeps_the_moving_energy_of_a_homogeneous_flow():
    """A particle seen from a belt that runs at speed b: H = E - <mu_U, b> is its energy seen from the belt."""
    belt = dh.from_quasivelocities(
        lambda q, xi: 0.5 * xi @ xi - jnp.sin(q[0]) - 0.1 * q[0] ** 4,
        lambda q: jnp.eye(2),
        1,
        slip=lambda q: jnp.array([0.7 + 0.2 * q[1] ** 2]),
    )
    q, xi, time = [0.3, -0.2], [0.5], 2.0
    exact = dh.reference(belt, q, xi, t=time)
    errors, counts = [], (50, 100, 200, 400)
    for n in counts:
        run = dh.simulate(belt, q, xi, h=time / n, steps=n, scheme=dh.EnergyExact())
        errors.append(np.linalg.norm(np.concatenate([run.q[-1] - exact.q[-1], run.xi[-1] - exact.xi[-1]])))
    falls(errors, counts, 2)
    # The motion along the first field is a one-dimensional potential's; the second coordinate is only carried along.
    own = 0.5 * run.xi[:, 0] ** 2 + np.sin(run.q[:, 0]) + 0.1 * run.q[:, 0] ** 4
    assert np.max(np.abs(own - own[0])) < 1e-12


def test_number_of_points_is_checked():
    with pytest.raises(ValueError, match="at least one point"):
        MeanValue(0)


@hypothesis.given(st.sampled_from(CONSERVATIVE + sorted(DRIVEN)), st.integers(0, 2**32 - 1))
def test_the_power_is_what_does_not_cancel(name, seed):
    """<Dbar H, J Dbar H + f> for any Dbar H, q at the sample, is the work of force and slip: J is skew."""
    system, rng = getattr(dh.systems, name)(), np.random.default_rng(seed)
    q = jnp.asarray(system.sample()["q"], float)
    along_q, free, p = (jnp.asarray(rng.normal(size=k)) for k in (len(q), system.rank, system.rank))
    velocity, force = energy_exact._almost_poisson(system, q, p, along_q, free)
    size = np.sum(np.abs(along_q * velocity)) + np.sum(np.abs(free * force))
    power = energy_exact._power(system, q, p, along_q, free)
    assert abs(along_q @ velocity + free @ force - power) < 1e-13 * size

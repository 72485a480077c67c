"""What tau = 1/2 keeps to round-off, over long runs; and what it, or another tau, does not keep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import exact_invariants, slopes
from problems import BODY, DISK, PENDULUM, PROBLEMS, SLEIGH

import discrete_hamel as dh

OVER_THE_EQUATOR = (1.6, 0.3)  # as figure 4b of [HE]: enough energy to rise above the pivot


@pytest.mark.parametrize("problem", [p for p in PROBLEMS if p.exact], ids=lambda problem: problem.name)
def test_exact_invariants_of_every_problem(problem):
    exact_invariants(problem)


def test_sleigh_keeps_energy_for_100000_steps():
    trajectory = SLEIGH.run(100_000, h=0.01)
    assert np.ptp(trajectory.xi[:, 1]) > 1.0  # the velocity has turned over: not a trivial motion
    assert np.max(np.abs(trajectory.energy - trajectory.energy[0])) < 1e-13


@pytest.mark.parametrize("xi", [PENDULUM.xi, OVER_THE_EQUATOR], ids=["figure 4a", "figure 4b"])
def test_pendulum_of_he_6_3(xi):
    trajectory = PENDULUM.run(10_000, h=0.2, xi=xi)
    crosses = np.max(trajectory.q[:, 2]) > 0.1
    assert crosses == (xi is OVER_THE_EQUATOR)
    for name in PENDULUM.exact:
        values = trajectory.invariants()[name]
        assert np.max(np.abs(values / values[0] - 1)) < 1e-13, name


@pytest.mark.parametrize("xi", [PENDULUM.xi, OVER_THE_EQUATOR], ids=["figure 4a", "figure 4b"])
def test_staggered_pendulum_is_the_same_map(xi):
    """(S), whose points [HE] calls midpoints, from the nodal data of (D): the same points, labels shifted by h/2.

    F is linear in gamma here, so that the mean of F over the ends is F at the middle.
    """
    nodes, staggered = (PENDULUM.run(1000, h=0.2, xi=xi, scheme=s) for s in (dh.DiscreteHamel(), dh.StaggeredHamel()))
    assert np.max(np.abs(staggered.q - nodes.q)) < 1e-12 * 1000**0.5
    assert np.max(np.abs(staggered.xi - nodes.xi)) < 1e-12 * 1000**0.5
    assert np.max(np.abs(staggered.xi_mid - nodes.xi_mid)) < 1e-12 * 1000**0.5


def test_staggered_sleigh_is_another_map():
    """With a bracket F is quadratic in xi, and the two differ."""
    nodes, staggered = (SLEIGH.run(100, scheme=s) for s in (dh.DiscreteHamel(), dh.StaggeredHamel()))
    assert 1e-6 < np.max(np.abs(staggered.q - nodes.q)) < 1e-2


def test_rigid_body_keeps_energy_and_spatial_momentum():
    trajectory = BODY.run(20_000, h=0.05)
    for name in BODY.exact[:4]:
        values = trajectory.invariants()[name]
        assert np.max(np.abs(values - values[0])) < 1e-12, name
    rotation = trajectory.q.reshape(-1, 3, 3)
    assert np.max(np.abs(np.swapaxes(rotation, 1, 2) @ rotation - np.eye(3))) < 1e-13
    assert np.ptp(trajectory.xi[:, 1]) > 1.5  # it tumbles


def test_body_momentum_is_not_kept():
    assert np.max(np.ptp(BODY.run(1000, h=0.05).p, axis=0)) > 1.0


@pytest.mark.parametrize("problem", [PENDULUM, BODY], ids=lambda problem: problem.name)
def test_energy_drifts_away_from_one_half(problem):
    """The drift is secular, twice as much in twice the time, and of the other sign for 1 - tau."""
    below, above = (problem.run(4000, h=0.05, scheme=dh.DiscreteHamel(tau=tau)).energy for tau in (0.49, 0.51))
    half, whole = below[[2000, 4000]] - below[0]
    assert abs(whole) > 1e-2
    assert whole / half == pytest.approx(2.0, abs=0.2)
    assert (above[4000] - above[0]) / whole == pytest.approx(-1.0, abs=0.2)


def test_energy_at_midpoints_is_second_order_only():
    def at_midpoints(steps: int) -> float:
        trajectory = SLEIGH.run(steps)
        middle = (trajectory.q[:-1] + trajectory.q[1:]) / 2
        energies = jax.vmap(lambda q, xi: dh.energy(SLEIGH.system, q, xi))(middle, trajectory.xi_mid)
        return float(np.max(np.abs(energies - trajectory.energy[0])))

    counts = np.array([100, 200, 400, 800])
    values = [at_midpoints(int(n)) for n in counts]
    assert slopes(1 / counts, values) == pytest.approx(2.0, abs=0.05)
    assert values[0] > 1e-5


def test_energy_of_the_disk_is_bounded_not_exact():
    """The disk is reversible: the energy oscillates with the lean, of size h^2, and does not drift."""
    coarse, fine = (DISK.run(int(400 / h) // 10, h=h).energy for h in (0.02, 0.01))
    size = [np.ptp(energy) for energy in (coarse, fine)]
    assert size[0] / size[1] == pytest.approx(4.0, abs=0.4)
    assert size[1] > 1e-8
    for energy, whole in zip((coarse, fine), size, strict=True):
        first, last = np.array_split(energy, 4)[0], np.array_split(energy, 4)[-1]
        assert abs(np.mean(last) - np.mean(first)) < 0.1 * whole


def sleigh_with_potential(q, xi):
    return SLEIGH.system.lagrangian(q, xi) - jnp.sin(q[1]) - 0.5 * jnp.cos(q[0]) * q[2]


def in_coordinates(q, v):
    return sleigh_with_potential(q, SLEIGH.system.frame(q).T @ v)


def square(q):
    return jnp.eye(len(q))


@jax.jit
def one_step(system, z, h):
    """One step in canonical coordinates (q, P), P = Psi^-T p."""
    q, momentum = jnp.split(z, 2)
    state = dh.start(system, dh.DiscreteHamel(), q, jnp.zeros(len(q)), h)
    p = system.frame(q).T @ momentum
    state = state.replace(p=p, xi=jnp.linalg.solve(mass_matrix(system, q), p))
    new, _ = dh.step(system, dh.DiscreteHamel(), state, h)
    return jnp.concatenate([new.q, jnp.linalg.solve(system.frame(new.q).T, new.p)])


def mass_matrix(system, q):
    return jax.hessian(system.lagrangian, 1)(q, jnp.zeros(len(q)))


JACOBIAN = jax.jit(jax.jacfwd(one_step, 1))


def defect(system: dh.System, q: jax.Array, v: jax.Array, h: float) -> float:
    """max |M^T J M - J| for the Jacobian M of one step in canonical coordinates."""
    n = len(q)
    poisson = np.block([[np.zeros((n, n)), np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
    momentum = jnp.linalg.solve(system.frame(q).T, dh.momentum(system, q, dh.quasivelocities(system, q, v)))
    m = JACOBIAN(system, jnp.concatenate([q, momentum]), h)
    return float(np.max(np.abs(m.T @ poisson @ m - poisson)))


Q, V = jnp.array([0.4, 0.3, -0.2]), jnp.array([1.1, 0.7, -0.5])


def test_commuting_frame_gives_a_symplectic_map():
    system = dh.from_velocities(in_coordinates, square, 3)
    assert all(defect(system, Q, V, h) < 1e-13 for h in (0.1, 0.025))


def test_noncommuting_frame_does_not():
    """Unconstrained systems in frames with a bracket: the two-form changes by O(h^3) a step."""
    disk = DISK.system
    free_disk = dh.from_quasivelocities(disk.lagrangian, disk.frame, 5)
    for system, q, v in (
        (dh.from_quasivelocities(sleigh_with_potential, SLEIGH.system.frame, 3), Q, V),
        (free_disk, jnp.array(DISK.q), jnp.array([0.1, 0.6, 3.0, 0.4, -0.2])),
    ):
        steps = np.array([0.02, 0.01, 0.005])
        values = [defect(system, q, v, h) for h in steps]
        assert values[-1] > 1e-8
        assert slopes(steps, values) == pytest.approx(3.0, abs=0.3)


def particle(q, v):
    return 0.5 * v @ v


def unit_frame(q):
    """D: z' = y x', by orthonormal fields; u_1 is along the horizontal symmetry d_x + y d_z, made unit."""
    s = jnp.sqrt(1 + q[1] ** 2)
    return jnp.array([[1 / s, 0.0, -q[1] / s], [0.0, 1.0, 0.0], [q[1] / s, 0.0, 1 / s]])


def plain_frame(q):
    return jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [q[1], 0.0, 1.0]])


def test_momentum_along_an_aligned_field_is_exact():
    """x' sqrt(1 + y^2) of the nonholonomic particle: kept where u_1[l] = 0 and c^a_i1 mu_a xi^i = 0, else O(h^2)."""
    data = {"q": [0.0, -1.0, 0.0], "v": [1.0, 0.5, -1.0], "steps": 200}
    spread = {}
    for frame, h in ((unit_frame, 0.04), (plain_frame, 0.04), (plain_frame, 0.02)):
        run = dh.simulate(dh.from_velocities(particle, frame, 2), **data, h=h)
        spread[frame, h] = np.ptp((run.v[:, 0] * np.sqrt(1 + run.q[:, 1] ** 2))[: 1 + round(4 / h)])
    assert spread[unit_frame, 0.04] < 1e-13
    assert spread[plain_frame, 0.04] > 1e-6
    assert spread[plain_frame, 0.04] / spread[plain_frame, 0.02] == pytest.approx(4.0, abs=0.5)

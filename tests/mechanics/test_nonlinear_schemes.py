"""The schemes on velocities qdot = psi(q, z): orders on both sides, symmetry, constraint, energy, refusals."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import STEP, slopes
from curved import CONE, DRAGGED, ON_CONE, ON_CYLINDER, POINTS, RUNS, SLOPE, end, errors, has_order, parallel_row

import discrete_hamel as dh
from discrete_hamel.mechanics.gibbs_appell import covector, directions, drive

MIDPOINTS = (50, 100, 200, 400)
FINE = (200, 400, 800, 1600)


@pytest.mark.parametrize("name", RUNS)
def test_the_midpoint_rule_is_of_order_two_at_one_half(name):
    has_order(RUNS[name], dh.NonlinearMidpoint(), 2, MIDPOINTS)


@pytest.mark.parametrize("tau", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("name", ["points", "slope", "cone"])
def test_and_of_order_one_otherwise(name, tau):
    scheme = dh.NonlinearMidpoint(tau)
    assert (scheme.order, scheme.symmetric) == (1, False)
    has_order(RUNS[name], scheme, 1, FINE)


@pytest.mark.parametrize(
    ("name", "scheme", "counts"),
    [
        ("points", dh.EnergyExact(), MIDPOINTS),
        ("cone", dh.EnergyExact(), MIDPOINTS),
        ("cylinder", dh.EnergyExact(), MIDPOINTS),
        ("points", dh.Gauss(1), MIDPOINTS),
        ("points", dh.Gauss(2), (20, 40, 80, 160)),
        ("slope", dh.Gauss(2), (10, 20, 40, 80)),
        ("slope", dh.Gauss(3), (14, 18, 24, 32)),
        ("points", dh.Gauss(3), (14, 18, 24, 32)),
        ("slope", dh.Gauss(4), (8, 10, 12, 14)),
        ("points", dh.Gauss(4), (12, 14, 16, 18)),
        ("cone", dh.RungeKutta4(), (20, 40, 80, 160)),
        ("slope", dh.Composed(dh.NonlinearMidpoint(), order=4), (15, 20, 30, 40, 60)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_others_keep_their_orders(name, scheme, counts):
    has_order(RUNS[name], scheme, scheme.order, counts)


def test_forces_keep_the_orders():
    run = dataclasses.replace(ON_CONE, system=DRAGGED)
    has_order(run, dh.NonlinearMidpoint(), 2, MIDPOINTS)
    has_order(run, dh.EnergyExact(), 2, MIDPOINTS)


@pytest.mark.parametrize(
    ("run", "scheme", "inverse", "undone"),
    [
        (ON_CONE, dh.NonlinearMidpoint(), dh.NonlinearMidpoint(), True),
        (ON_CONE, dh.NonlinearMidpoint(0.25), dh.NonlinearMidpoint(0.75), True),
        (ON_CONE, dh.NonlinearMidpoint(0.25), dh.NonlinearMidpoint(0.25), False),
        (POINTS, dh.EnergyExact(), dh.EnergyExact(), True),
    ],
    ids=["half", "tau and 1 - tau", "tau and tau", "energy"],
)
def test_a_step_back_undoes_a_step(run, scheme, inverse, undone):
    state = dh.start(run.system, scheme, run.q, run.z, 0.1)
    there, _ = STEP(run.system, scheme, state, 0.1)
    back, _ = STEP(run.system, inverse, there, -0.1)
    gap = max(float(jnp.max(jnp.abs(back.q - state.q))), float(jnp.max(jnp.abs(back.p - state.p))))
    assert gap < 1e-12 if undone else gap > 1e-6


@pytest.mark.parametrize("tau", [0.25, 0.5])
@pytest.mark.parametrize("name", ["points", "cone", "cylinder"])
def test_constraint_holds_at_nodes_and_tau_points_and_the_equations_hold(name, tau):
    """C at (q_{k+tau}, (q_{k+1} - q_k)/h) and at nodes; (N2) recomputed along the run."""
    run, h = RUNS[name], 0.05
    traj = dh.simulate(run.system, run.q, run.z, h=h, steps=20, scheme=dh.NonlinearMidpoint(tau))
    middle = (1 - tau) * traj.q[:-1] + tau * traj.q[1:]
    for q, v in [*zip(middle, np.diff(traj.q, axis=0) / h, strict=True), *zip(traj.q, traj.v, strict=True)]:
        assert abs(run.row(jnp.asarray(q), jnp.asarray(v))[0]) < 1e-12 * (1 + v @ v)
    for k in range(20):
        q, z = jnp.asarray(middle[k]), jnp.asarray(traj.xi_mid[k])
        along, force, here = directions(run.system, q, z).T, drive(run.system, q, z), covector(run.system, q, z)
        before, after = (covector(run.system, traj.q[i], jnp.asarray(traj.xi[i])) for i in (k, k + 1))
        assert np.max(np.abs(along @ (here - before - (1 - tau) * h * force))) < 1e-12
        assert np.max(np.abs(along @ (after - here - tau * h * force))) < 1e-12


def test_energy_is_exact_on_homogeneous_constraints_by_energy_exact_and_by_no_other():
    steps = 1000
    for run in (POINTS, SLOPE, ON_CONE):
        kept = dh.simulate(run.system, run.q, run.z, h=0.004, steps=steps, scheme=dh.EnergyExact()).energy
        assert np.max(np.abs(kept - kept[0])) < 1e-12 * steps**0.5
        assert np.max(np.abs(kept - kept[0])) < 1e-12 * max(1, abs(kept[0]))
    for scheme in (dh.NonlinearMidpoint(), dh.Gauss(1)):
        lost = dh.simulate(CONE, ON_CONE.q, ON_CONE.z, h=0.04, steps=100, scheme=scheme).energy
        assert np.max(np.abs(lost - lost[0])) > 1e-7


def test_gonzalez_gradient_too():
    run = dh.simulate(POINTS.system, POINTS.q, POINTS.z, h=0.02, steps=200, scheme=dh.EnergyExact(dh.Gonzalez()))
    assert np.max(np.abs(run.energy - run.energy[0])) < 1e-12 * 200**0.5


def test_energy_is_not_kept_where_reactions_work_and_then_converges():
    """The cylinder is not homogeneous: E changes on the motion, and EnergyExact's E with it, to second order."""
    run = ON_CYLINDER
    exact = dh.reference(run.system, run.q, run.z, t=run.time).energy
    assert abs(exact[-1] - exact[0]) > 0.1
    misses = []
    for n in MIDPOINTS:
        traj = dh.simulate(run.system, run.q, run.z, h=run.time / n, steps=n, scheme=dh.EnergyExact())
        misses.append(abs(traj.energy[-1] - exact[-1]))
    assert np.all(np.abs(slopes(1 / np.array(MIDPOINTS), misses) - 2) < 0.1)


def test_with_a_force_energy_falls_by_its_work():
    """E1 - E0 = h <f, chord velocity>, step by step: EnergyExact's balance on a homogeneous constraint."""
    h = 0.05
    traj = dh.simulate(DRAGGED, ON_CONE.q, ON_CONE.z, h=h, steps=60, scheme=dh.EnergyExact())
    chords, middle = np.diff(traj.q, axis=0) / h, (traj.q[1:] + traj.q[:-1]) / 2
    velocities = np.asarray(jax.vmap(CONE.velocity)(jnp.asarray(middle), jnp.asarray(traj.xi_mid)))
    work = h * np.sum(-0.1 * velocities * chords, axis=1)
    assert np.max(np.abs(np.diff(traj.energy) - work)) < 1e-13
    assert traj.energy[-1] < traj.energy[0] - 0.05


def test_energy_of_the_midpoint_rule():
    """Observed, as its docstring says: off by O(h^2) on a general metric; on two points and a spring by O(h^4), and
    there without drift."""

    def off(run, h, time):
        energy = dh.simulate(run.system, run.q, run.z, h=h, steps=round(time / h)).energy
        return energy - energy[0]

    wide = [np.max(np.abs(off(ON_CONE, h, 4.0))) for h in (0.04, 0.02, 0.01)]
    assert np.all(np.abs(slopes([0.04, 0.02, 0.01], wide) - 2) < 0.1)
    swinging = dataclasses.replace(POINTS, q=(0.0, 0, 1, 0), z=(1.0, -1.0, np.pi / 2))
    narrow = [np.max(np.abs(off(swinging, h, 20.0))) for h in (0.08, 0.04, 0.02)]
    assert np.all(np.abs(slopes([0.08, 0.04, 0.02], narrow) - 4) < 0.1)
    early, late = np.split(off(swinging, 0.05, 400.0)[1:], 2)
    assert np.max(np.abs(late)) < 1.1 * np.max(np.abs(early))
    assert np.max(np.abs(early)) > 1e-9


# --- who takes whom ---


@pytest.mark.parametrize(
    "scheme",
    [
        dh.DiscreteHamel(),
        dh.StaggeredHamel(),
        dh.CortesMartinez(),
        dh.Rattle(),
        dh.Composed(dh.DiscreteHamel(), order=4),
    ],
    ids=lambda scheme: type(scheme).__name__,
)
def test_schemes_that_need_a_frame_refuse(scheme):
    for run in (
        lambda: dh.simulate(POINTS.system, POINTS.q, POINTS.z, h=0.1, steps=1, scheme=scheme),
        lambda: dh.start(POINTS.system, scheme, POINTS.q, POINTS.z, 0.1),
    ):
        with pytest.raises(ValueError, match=r"no frame.*NonlinearMidpoint\(\), Gauss\(s\), EnergyExact\(\)"):
            run()


def test_the_nonlinear_midpoint_refuses_frames():
    with pytest.raises(ValueError, match="DiscreteHamel"):
        dh.simulate(dh.systems.ChaplyginSleigh(), [0, 0, 0], [1, 1], h=0.1, steps=1, scheme=dh.NonlinearMidpoint())


def test_the_default_scheme_and_the_compiled_path():
    data = {"q": POINTS.q, "xi": POINTS.z, "h": 0.05, "steps": 12}
    compiled, plain = dh.simulate(POINTS.system, **data), dh.simulate(POINTS.system, **data, compiled=False)
    assert isinstance(compiled.scheme, dh.NonlinearMidpoint)
    assert (compiled.report.path, plain.report.path) == ("compiled", "plain")
    for name in ("q", "p", "xi", "xi_mid"):
        assert np.max(np.abs(getattr(compiled, name) - getattr(plain, name))) < 1e-13
    assert np.array_equal(compiled.p, compiled.xi)


def test_gradients_through_a_run():
    """Of the end with respect to z, a mass and h: against central differences."""
    q, z = jnp.array(POINTS.q), jnp.array(POINTS.z)

    def final(z, mass, h):
        system = dh.systems.TwoPointsParallelVelocities(mass, 2.0)
        return jnp.sum(dh.simulate(system, q, z, h=h, steps=5).q[-1] ** 2)

    run = jax.jit(jax.value_and_grad(final, (0, 1, 2)))
    arguments = [z, jnp.asarray(1.3), jnp.asarray(0.1)]
    _, slopes_found = run(*arguments)
    for i, argument in enumerate(arguments):
        for j in np.ndindex(argument.shape):
            ends = []
            for e in (1e-5, -1e-5):
                moved = [a if k != i else a.at[j].add(e) for k, a in enumerate(arguments)]
                ends.append(float(run(*moved)[0]))
            assert abs((ends[0] - ends[1]) / 2e-5 - float(slopes_found[i][j])) < 1e-6


def test_vmap_over_masses_is_a_loop():
    masses = jnp.array([0.5, 1.0, 3.0])

    def final(mass):
        return dh.simulate(dh.systems.TwoPointsParallelVelocities(mass, 2.0), POINTS.q, POINTS.z, h=0.1, steps=5).q[-1]

    together = jax.jit(jax.vmap(final))(masses)
    for mass, found in zip(masses, together, strict=True):
        assert np.max(np.abs(found - final(float(mass)))) < 1e-13


def test_archive_and_dataset(tmp_path):
    pytest.importorskip("zarr")
    traj = dh.simulate(POINTS.system, POINTS.q, POINTS.z, h=0.05, steps=10)
    traj.save(tmp_path / "run.zarr")
    again = dh.load(tmp_path / "run.zarr")
    assert np.array_equal(again.q, traj.q)
    assert np.array_equal(again.energy, traj.energy)
    assert isinstance(again.system, dh.systems.TwoPointsParallelVelocities)


def test_errors_of_ends_are_of_ends():
    assert end(dh.reference(POINTS.system, POINTS.q, POINTS.z, t=0.5)).shape == (7,)
    assert errors(POINTS, dh.Gauss(2), (80,))[0] < 1e-5
    assert abs(parallel_row(0, jnp.array([1.0, 1, 1, 2]))[0]) == 1

"""The compiled path against the plain one, which is its definition."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from problems import DISK, PENDULUM, SLEIGH, spinning

import discrete_hamel as dh
from discrete_hamel.compiler import paths as choice
from discrete_hamel.compiler.graph.lowering import lower
from discrete_hamel.compiler.graph.pytree_leaves import scalars
from discrete_hamel.compiler.native.host import HostRun
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.runs import validation as checks

SCHEMES = (
    dh.DiscreteHamel(tau=0.25),
    dh.StaggeredHamel(),
    dh.Gauss(stages=2),
    dh.EnergyExact(),
    dh.CortesMartinez(lagrangian_at=0.0, constraint_at=0.5),
)


def difference(a, b):
    """The largest difference of two runs, relative to the largest number of each kind."""
    pairs = [(getattr(a, name), getattr(b, name)) for name in ("q", "p", "xi", "xi_mid")]
    return max(np.abs(x - y).max() / max(np.abs(y).max(), 1e-300) for x, y in pairs if y.size)


def both(system, **data):
    return dh.simulate(system, **data), dh.simulate(system, **data, compiled=False)


def sample(name):
    system = getattr(dh.systems, name)()
    data = system.sample()
    return system, {key: data[key] for key in ("q", "xi", "v", "h") if key in data}


@pytest.mark.slow
@pytest.mark.parametrize("name", dh.systems.__all__)
def test_a_compiled_step_is_a_plain_step_on_the_whole_catalogue(name):
    system, data = sample(name)
    system, q, xi = checks.initial_data(system, data["q"], data.get("xi"), data.get("v"))
    usual = dh.NonlinearMidpoint() if isinstance(system, dh.NonlinearSystem) else dh.DiscreteHamel()
    scheme, h = checks.canonical(usual), jnp.asarray(data["h"], float)
    state = dh.start(system, scheme, q, xi, h)
    native = HostRun(Stepper(system, scheme, state, h))
    plain = jax.jit(lambda system, state: dh.step(system, scheme, state, h))
    for _ in range(3):
        after, whole, good, _ = native(system, scheme, state, h, 1, 1)
        state, _ = plain(system, state)
        ours, expected = (np.array([float(x) for x in scalars(one)]) for one in (after, state))
        assert (whole, good) == (1, True)
        assert np.abs(ours - expected).max() < 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize("problem", [SLEIGH, DISK, PENDULUM], ids=lambda p: p.name)
@pytest.mark.parametrize("save_every", [1, 4])
def test_runs_are_the_same(problem, save_every):
    data = {"q": problem.q, "xi": problem.xi, "h": problem.h, "steps": 12, "save_every": save_every}
    compiled, plain = both(problem.system, **data)
    assert compiled.report.path == "compiled"
    assert (plain.report.path, plain.report.reason) == ("plain", "asked for")
    assert difference(compiled, plain) < 1e-13
    assert compiled.report.converged.all()


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
def test_every_scheme_either_runs_the_same_or_says_why_not(scheme):
    data = {"q": SLEIGH.q, "xi": SLEIGH.xi, "h": 0.05, "steps": 8, "scheme": scheme}
    compiled, plain = both(SLEIGH.system, **data)
    assert difference(compiled, plain) < 1e-13
    assert compiled.report.path == "compiled" or compiled.report.reason


def test_new_parameters_do_not_build_anew():
    data = {"q": SLEIGH.q, "xi": SLEIGH.xi, "h": 0.05, "steps": 4}
    dh.simulate(SLEIGH.system, **data)
    built = len(choice._steps)
    other = dh.systems.ChaplyginSleigh(mass=3.0, inertia=0.2, offset=-0.1)
    compiled, plain = both(other, **data)
    assert len(choice._steps) == built
    assert difference(compiled, plain) < 1e-13


def test_a_heading_that_turns_full_circle_stays_right():
    """The block (cos, -sin; sin, cos) of the disk's frame has no static pivot that holds all the way round."""
    data = {"q": (0.0, 0.0, 0.0, 0.0, 0.0), "xi": (0.0, np.pi / 2, 1.0), "h": 0.1, "steps": 60}
    compiled, plain = both(dh.systems.RollingDisk(gravity=0.0), **data)
    assert compiled.q[-1, 1] > 2 * np.pi
    assert difference(compiled, plain) < 1e-12


def test_a_run_through_singular_pivots_falls_back_and_stays_right():
    system = spinning(4)
    data = {"q": (0.1, 0.2, 0.0, 0.0, 0.0), "xi": (1.0, 0.4, 0.3), "h": 0.01, "steps": 300}
    compiled, plain = both(system, **data)
    assert compiled.report.path == "compiled", compiled.report.reason
    stepper = next(s for s in reversed(choice._steps.values()) if not isinstance(s, str))
    assert stepper.guards
    assert difference(compiled, plain) < 1e-12
    assert compiled.report.converged.all()
    before = np.concatenate([compiled.q[:-1], compiled.p[:-1], compiled.xi_mid[:, :3]], axis=1)
    z = np.concatenate([compiled.xi_mid[:, :3], compiled.q[1:]], axis=1)
    numbers = scalars((system, checks.canonical(dh.DiscreteHamel()), jnp.asarray(0.01)))
    known = {i: jnp.full(300, x) for i, x in zip(stepper.parameters, numbers, strict=True)}
    known |= dict(zip([*stepper.state, *stepper.unknowns], jnp.asarray([*before.T, *z.T]), strict=True))
    spoilt = np.min(np.stack(lower(stepper.graph, stepper.guards)(known)), axis=0) <= 0
    assert spoilt.any()  # the guards did speak somewhere, or this run would show nothing
    assert not spoilt.all()


def springy(potential):
    return dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi - potential(q), lambda q: jnp.eye(3), rank=3)


POTENTIALS = {
    "where": lambda q: jnp.where(q[0] > 0, q @ q, 2 * q @ q),
    "cond": lambda q: lax.cond(q[0] > 0, lambda x: x @ x, lambda x: 2 * x @ x, q),
    "fori_loop": lambda q: lax.fori_loop(0, 3, lambda i, s: s + q[i] ** 2 / (1 + i), 0.0),
    "inverse": lambda q: q[:2] @ jnp.linalg.inv(jnp.array([[2.0 + q[2], q[0]], [0.3, 1.5]])) @ q[:2],
    "determinant": lambda q: -jnp.linalg.det(jnp.eye(3) + jnp.outer(q, q)),
    "cross": lambda q: jnp.sum(jnp.cross(q, jnp.array([1.0, 2.0, 3.0])) ** 2),
    "norm": lambda q: jnp.linalg.norm(q),
    "power": lambda q: jnp.sum(jnp.abs(q) ** 2.5),
    "sign, max": lambda q: jnp.maximum(q[0], -q[0]) ** 3 + jnp.sign(q[1]) * q[1] ** 3,
    "arctan2": lambda q: jnp.arctan2(q[1], 2 + q[0]) + q @ q,
    "clip": lambda q: jnp.sum(jnp.clip(q, -0.5, 0.5) ** 2),
    "cumsum": lambda q: jnp.sum(jnp.cumsum(q) ** 2),
    "sort": lambda q: jnp.sum(jnp.sort(q) * jnp.array([1.0, 2.0, 3.0]) * q),
    "eigenvalues": lambda q: jnp.sum(jnp.linalg.eigvalsh(jnp.outer(q, q) + jnp.diag(jnp.arange(3.0)))),
}
BEYOND = {
    "a special function": (lambda q: jnp.sum(jax.scipy.special.erf(q) * q), "erf"),
    "complex numbers": (lambda q: jnp.sum(jnp.abs(jnp.fft.fft(q)) ** 2), "complex128"),
    "eigenvalues of many rows": (
        lambda q: jnp.sum(jnp.linalg.eigvalsh(jnp.diag(jnp.arange(9.0)) + q[0] ** 2)),
        "more than 8 rows",
    ),
}
DATA = {"q": (0.3, -0.2, 0.4), "xi": (-1.0, 0.5, 0.2), "h": 0.1, "steps": 10}


@pytest.mark.parametrize("name", POTENTIALS)
def test_users_functions_compile_and_give_the_same_numbers(name):
    compiled, plain = both(springy(POTENTIALS[name]), **DATA)
    assert compiled.report.path == "compiled", compiled.report.reason
    assert difference(compiled, plain) < 1e-13


@pytest.mark.parametrize("name", BEYOND)
def test_what_cannot_be_compiled_runs_all_the_same_and_the_report_names_it(name):
    potential, word = BEYOND[name]
    traj = dh.simulate(springy(potential), **DATA)
    assert traj.report.path == "plain"
    assert word in traj.report.reason


def test_whole_number_parameters_are_named_as_the_reason():
    system = dh.from_quasivelocities(
        lambda q, xi, k: 0.5 * xi @ xi - k * q @ q, lambda q, k: jnp.eye(3), rank=3, params=jnp.asarray(2)
    )
    traj = dh.simulate(system, **DATA)
    assert traj.report.path == "compiled" or "type int" in traj.report.reason
    assert np.isfinite(traj.q).all()


def test_a_run_that_fails_names_its_step_on_either_path():
    """x'' = x^2 leaves for infinity in finite time; the last step that can be solved is the same."""
    system = springy(lambda q: -(q[0] ** 3) - 0 * q @ q)
    data = DATA | {"q": (1.0, 0.0, 0.0), "xi": (1.0, 0.0, 0.0), "steps": 200}
    steps = []
    for compiled in (True, False):
        with pytest.raises(dh.RunFailed) as failure:
            dh.simulate(system, **data, compiled=compiled)
        steps.append(len(failure.value.trajectory.t))
    assert steps[0] == steps[1]


def test_other_jax_code_is_left_alone():
    flags = dict(jax.config.values)
    f = jax.jit(lambda x: lax.fori_loop(0, 5, lambda _, y: jnp.sin(y), x))
    before = f.lower(1.0).as_text()
    dh.simulate(springy(POTENTIALS["norm"]), **DATA)
    assert dict(jax.config.values) == flags
    assert f.lower(1.0).as_text() == before

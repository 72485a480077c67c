"""What surrounds the steps of a call: read from the scalar graph, written in place, compiled once."""

import gc
import signal
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.along import BLOCK, along
from discrete_hamel.compiler.native import host
from discrete_hamel.compiler.reading import tape
from discrete_hamel.runs import loop
from discrete_hamel.runs.trajectory import contact_force_at
from discrete_hamel.systems.rolling import normal_force

CONTACTS = [name for name in dir(dh.systems) if hasattr(getattr(dh.systems, name), "contact_force")]


def _compilations(run) -> int:
    seen = []
    jax.monitoring.register_event_duration_secs_listener(
        listener := lambda event, *_, **__: seen.append(event) if event.endswith("backend_compile_duration") else None
    )
    try:
        run()
    finally:
        jax.monitoring.unregister_event_duration_listener(listener)
    return len(seen)


@pytest.mark.parametrize("name", CONTACTS)
def test_contact_force_at_all_nodes_is_that_of_each(name):
    system = getattr(dh.systems, name)()
    sample = system.sample()
    start = {key: sample[key] for key in ("q", "xi")}
    traj = dh.simulate(system, **start, h=sample["h"], steps=20)
    found = along(contact_force_at, traj.system, traj.q, traj.xi)
    assert found == pytest.approx(np.asarray(traj.contact_force), rel=1e-11, abs=1e-11)


def test_a_small_pivot_at_some_node_is_left_to_true_pivoting():
    matrices = np.array([[[2.0, 1.0], [1.0, 3.0]], [[0.0, 1.0], [1.0, 0.0]], [[1e-18, 1.0], [1.0, 1.0]]])
    matrices = np.concatenate([matrices, np.random.default_rng(0).normal(size=(BLOCK, 2, 2))])
    found = along(lambda scale, a: scale * jnp.linalg.det(a), np.asarray(2.0), matrices)
    assert found == pytest.approx(2 * np.linalg.det(matrices), rel=1e-9)


def test_what_has_no_graph_is_evaluated_by_jax():
    q = np.random.default_rng(0).normal(size=(BLOCK + 3, 4))
    found = along(lambda scale, q: scale * jnp.sort(q)[1], np.asarray(2.0), q)
    assert found == pytest.approx(2 * np.sort(q, axis=1)[:, 1])


def test_disk_in_angles_has_the_force_of_the_disk_on_rotations():
    random = np.random.default_rng(0)
    for _ in range(20):
        disk = dh.systems.RollingDisk(*random.uniform(0.5, 1.0, 3), random.uniform(1.0, 1.2), 9.81)
        q, xi = random.uniform(-1.4, 1.4, 5), random.normal(size=5)
        c, s = np.cos(q[0]), np.sin(q[0])
        on_rotations = dh.systems.RollingDiskOnRotations(
            disk.mass, disk.radius, disk.inertia_diameter, disk.inertia_axis, disk.gravity
        )
        omega = jnp.array([-xi[0], xi[1] * c, xi[1] * s + xi[2]])
        force = normal_force(on_rotations, jnp.array([0.0, c, s]), omega)
        assert float(disk.contact_force(q, xi)) == pytest.approx(float(force), rel=1e-12)


def test_a_system_from_constraints_compiles_nothing_for_a_new_number_of_steps():
    system = dh.from_constraints(lambda q, v: 0.5 * v @ v, lambda q: jnp.array([[-jnp.sin(q[2]), jnp.cos(q[2]), 0.0]]))

    def run(steps: int, turn: float):
        return dh.simulate(system, q=[0.0, 0.0, turn], v=[np.cos(turn), np.sin(turn), 0.4], h=0.01, steps=steps)

    run(7, 0.3)
    assert _compilations(lambda: run(11, 0.31)) == 0


@pytest.mark.parametrize("steps", [0, 1, 64, 700])
def test_rows_written_in_place_are_those_of_the_plain_path(steps):
    run = {"q": [0.1, 0, 0], "xi": [1.5, -0.3], "h": 0.01, "steps": steps}
    a, b = (dh.simulate(dh.systems.ChaplyginSleigh(), **run, compiled=compiled) for compiled in (True, False))
    for name in ("t", "q", "p", "xi", "xi_mid"):
        one, other = getattr(a, name), getattr(b, name)
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        assert one == pytest.approx(other, abs=1e-11)
    assert a.report.converged.shape == (steps,)
    assert a.report.converged.all()


def test_more_nodes_than_memory_holds_are_refused_at_once():
    with pytest.raises(MemoryError, match="save_every"):
        dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=10**15)


@pytest.mark.parametrize("name", ["SphericalPendulum", "RollingDisk"])
def test_a_call_like_others_before_makes_no_array_of_jax(name, monkeypatch):
    """It takes as long as a hundred steps of these; but users' functions are asked with one."""
    system = getattr(dh.systems, name)()
    start = {**{"h": 0.01}, **system.sample()}
    for _ in range(tape.RARE + 1):
        dh.simulate(system, **start, steps=3)
    made = []
    put = jax.device_put
    monkeypatch.setattr(jax, "device_put", lambda *a, **b: made.append(a) or put(*a, **b))
    dh.simulate(system, **{**start, "q": 1.0 * np.asarray(start["q"])}, steps=5)
    assert not made
    place = []

    class Placed(type(system)):
        def check_start(self, q):
            place.append(q)

    dh.simulate(Placed(), **start, steps=3)
    assert isinstance(place[0], jax.Array)


def test_ctrl_c_ends_a_loop_over_short_runs(monkeypatch):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    looked = loop.not_finite
    monkeypatch.setattr(loop, "not_finite", lambda *a: signal.raise_signal(signal.SIGINT) or looked(*a))
    try:
        with pytest.raises(KeyboardInterrupt):
            dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=10)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("name", ["EulerPoincareSuslov", "SphericalPendulum", "RollerRacer"])
def test_a_run_has_the_same_bits_however_often_it_was_made(name):
    """The start is interpreted at first, and a program of its operations from the third run on."""
    system = getattr(dh.systems, name)()
    runs = [dh.simulate(system, steps=2, **system.sample()) for _ in range(4)]
    for run in runs[1:]:
        for quantity in ("q", "p", "xi"):
            np.testing.assert_array_equal(getattr(run, quantity), getattr(runs[0], quantity))


def pushed(share, sign=0.0):
    """The sleigh with a force, by a lambda of its own each time."""
    return dh.forced(
        dh.systems.ChaplyginSleigh(), lambda q, xi, f: jnp.array([f * share, jnp.arctan2(sign, -1.0), 0.0]), params=0.5
    )


def test_a_new_lambda_of_the_same_code_compiles_nothing_and_one_of_another_constant_is_another(monkeypatch):
    made = []
    translated = host.machine_code
    monkeypatch.setattr(host, "machine_code", lambda *a, **k: made.append(a) or translated(*a, **k))
    start = {"q": [0.1, 0.0, 0.0], "xi": [1.5, -0.3], "h": 0.01, "steps": 3}
    dh.clear_caches()
    first = dh.simulate(pushed(1.0), **start)
    assert len(made) == 1
    again = dh.simulate(pushed(1.0), **start)
    assert len(made) == 1
    assert np.array_equal(first.q, again.q)
    assert np.array_equal(first.p, again.p)
    for k, (share, sign) in enumerate([(np.nextafter(1.0, 2.0), 0.0), (1.5, 0.0), (1.0, -0.0)]):  # arctan2: pi or -pi
        system = pushed(share, sign)
        run, plain = (dh.simulate(system, **start, compiled=compiled) for compiled in (True, False))
        assert run.report.path == "compiled"
        assert len(made) == 2 + k
        np.testing.assert_allclose(run.q, plain.q, rtol=0, atol=1e-13)


def _of_arrays():
    """A system of one's own whose parameters are NumPy's arrays and a whole number."""
    params = {"stiffness": np.array([[2.0, 0.3], [0.3, 1.0]]), "masses": [1, 2]}

    def lagrangian(q, v, p):
        return 0.5 * sum(m * one**2 for m, one in zip(p["masses"], v, strict=True)) - 0.5 * q @ p["stiffness"] @ q

    system = dh.from_velocities(lagrangian, lambda q, p: jnp.eye(2), 2, params=params)
    return system, {"q": [0.1, 0.2], "xi": [0.3, 0.4]}


def _of_sample(name):
    system = getattr(dh.systems, name)()
    return system, system.sample()


ONCE_COMPILED = ["RollingBody", "RollingBodyAngles", "ConvexBody", "BallOnSurface", "TwoPointsParallelVelocities"]
ONCE_COMPILED += ["EulerPoincare", "EulerPoincareSuslov"]


@pytest.mark.parametrize("make", [_of_arrays, *(partial(_of_sample, name) for name in ONCE_COMPILED)])
def test_xla_compiles_nothing_for_a_first_call(make):
    """Its start-up takes 50 MB, and each compilation some ten milliseconds: what is asked once is done by NumPy."""
    jax.clear_caches()
    dh.clear_caches()

    def run():
        system, start = make()
        assert dh.simulate(system, **{"h": 0.01, **start}, steps=10).report.path == "compiled"

    assert not _compilations(run)


def test_xla_compiles_nothing_for_a_spectrum():
    jax.clear_caches()
    dh.clear_caches()
    disk = dh.systems.RollingDisk()
    rolls = {"q": [0.0, 0.7, 0.0, 0.1, 0.0], "xi": [0.0, 0.0, 6.0], "scheme": dh.DiscreteHamel(), "h": 0.01}
    assert not _compilations(lambda: dh.spectrum(disk, **rolls))


def test_xla_compiles_but_calls_of_native_code_for_a_gradient():
    """The run and its adjoint, and xi as it comes; beside the caller's own, here for the last node's first number."""
    disk = dh.systems.RollingDisk()
    sample = {"h": 0.01, **disk.sample()}
    q, xi = (jnp.asarray(sample.pop(name)) for name in ("q", "xi"))
    one, index = jax.grad(lambda x: x[-1, 0]), jnp.ones((11, len(q)))
    jax.clear_caches()
    own = _compilations(lambda: one(index))
    dh.clear_caches()  # and JAX's
    found = _compilations(lambda: jax.grad(lambda xi: dh.simulate(disk, q, xi, **sample, steps=10).q[-1, 0])(xi))
    assert found <= own + 3


def test_what_a_first_call_builds_is_not_searched_for_cycles():
    """Each search would look at all of JAX; it is left for afterwards, and then goes on as before."""
    searches, before = [], gc.get_threshold()
    gc.callbacks.append(count := lambda phase, _: searches.append(phase))
    gc.set_threshold(100)
    try:
        dh.simulate(dh.systems.RollerRacer(), **dh.systems.RollerRacer().sample(), steps=10)
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(count)
    assert len(searches) < 60, len(searches)  # 28; 170 without that

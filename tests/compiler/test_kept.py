"""A Jacobian that is kept over a step: the roots of the plain path, at any stiffness, and a function of the state."""

import ctypes
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from problems import DISK, PENDULUM, SLEIGH
from test_native_runs import assert_same_as_plain, bits_in_any_chunks, built, numbers

import discrete_hamel as dh
from discrete_hamel.compiler.native import instructions, kept, object_code
from discrete_hamel.compiler.native.host import HostRun
from discrete_hamel.compiler.native.run import Run
from discrete_hamel.compiler.step import root, stepper
from discrete_hamel.compiler.step.verification import difference
from discrete_hamel.runs import loop

pytestmark = pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())


@pytest.fixture(autouse=True)
def always_kept(monkeypatch):
    """Also where so small a Jacobian would be written out."""
    monkeypatch.setattr(root, "MOST_UNROLLED", -1.0)


def point(force, n, mass=1.0):
    """n coordinates without a constraint."""
    return dh.from_quasivelocities(
        lambda q, xi: 0.5 * mass * xi @ xi, lambda q: jnp.eye(n), rank=n, force=lambda q, xi: force(q, xi)
    )


def run_of(system, q, xi, h, steps, scheme=None):
    scheme, q, xi = scheme or dh.DiscreteHamel(), jnp.asarray(q, float), jnp.asarray(xi, float)
    at = system, scheme, dh.start(system, scheme, q, xi, jnp.asarray(h)), jnp.asarray(h)
    native = HostRun(stepper.Stepper(*at))
    assert native.stepper.root.directions is not None
    return native(*at, steps, 1), at


@pytest.mark.parametrize("problem", [SLEIGH, DISK, PENDULUM], ids=lambda p: p.name)
@pytest.mark.parametrize("scheme", [dh.DiscreteHamel(), dh.StaggeredHamel(), dh.EnergyExact()], ids=repr)
def test_it_is_the_run_of_the_plain_path(problem, scheme):
    native, at = built(problem, scheme=scheme)
    assert_same_as_plain(native, at)
    assert difference(native.stepper, *at) == ""


@pytest.mark.parametrize("scheme", [dh.DiscreteHamel(), dh.Composed(dh.DiscreteHamel())], ids=["one", "composed"])
def test_a_step_is_a_function_of_its_state_to_the_bit(scheme):
    native, (system, rule, state, h) = built(DISK, scheme=scheme)
    _, state = bits_in_any_chunks(native, (system, rule, state, h), 1)
    assert numbers(native(system, rule, state, h, 3, 1)[3]) == numbers(native(system, rule, state, h, 3, 1)[3])


def stiff(seed, n):
    """A force whose Jacobian is dense, of stiffnesses from 1 to 10^5, and changes with q and xi."""
    random = np.random.default_rng(seed)
    turned, _ = np.linalg.qr(random.normal(size=(n, n)))
    stiffness = jnp.asarray(turned @ np.diag(np.logspace(0, random.uniform(0, 5), n)) @ turned.T)
    bend = jnp.asarray(random.normal(size=(n, n)) / n)
    return point(lambda q, xi: -stiffness @ q - 0.3 * (bend @ xi) * (1 + q @ q) + jnp.sin(bend @ q), n)


@pytest.mark.parametrize("seed", range(6))
def test_random_stiff_systems_have_the_plain_paths_roots(seed):
    n = [2, 5, 9, 11, 8, 17][seed]  # less than a vector, one, and more
    random = np.random.default_rng(100 + seed)
    (_, whole, good, saved), at = run_of(stiff(seed, n), random.normal(size=n), random.normal(size=n), 0.05, 15)
    _, done, failed, theirs, _ = loop.plain_chunk(*at, 15, 1)
    assert (done, failed, whole, good) == (15, None, 15, True)
    for a, b in zip(saved[:2], theirs[:2], strict=True):
        assert np.abs(a - b).max() < 1e-12 * np.abs(b).max()  # 1e5 of stiffness and 15 steps are among it


def test_at_rest_one_correction_is_enough():
    (_, whole, good, saved), _ = run_of(stiff(0, 5), np.zeros(5), np.zeros(5), 0.05, 4)
    assert (whole, good) == (4, True)
    assert not np.any(saved[0])
    assert saved[-1].iterations.tolist() == [1] * 4


def test_where_corrections_do_not_shrink_the_jacobian_is_evaluated_again(monkeypatch):
    wall = point(lambda q, xi: -jnp.exp(6.0 * q) + 1.0 - 30.0 * xi * jnp.abs(xi), 3)
    start = np.array([0.4, 0.2, 0.5]), np.array([5.0, -2.0, 3.0])
    (_, whole, good, saved), at = run_of(wall, *start, 0.1, 20)
    assert (whole, good) == (20, True)
    theirs = loop.plain_chunk(*at, 20, 1)[3]
    assert np.abs(saved[0] - theirs[0]).max() < 1e-13 * np.abs(theirs[0]).max()
    often = saved[-1].iterations
    monkeypatch.setattr(root, "hardly_shrunk", lambda size, new: new > jnp.inf)
    monkeypatch.setattr("discrete_hamel.compiler.native.solve.hardly_shrunk", lambda size, new: new > jnp.inf)
    monkeypatch.setattr(kept, "MOST_KEPT", 60)
    (_, whole, good, without), _ = run_of(wall, *start, 0.1, 20)
    assert not good or without[-1].iterations.sum() > often.sum()


def test_pivots_are_chosen_by_rows():
    """The Jacobian of a coupling without a diagonal has zeros where elimination in order would divide."""
    swap = jnp.asarray(np.eye(4)[[1, 0, 3, 2]])
    system = point(lambda q, xi: 20.0 * xi + 400.0 * swap @ xi + jnp.sin(q), 4)  # 1 - h 20 / 2 = 0 at h = 0.1
    (_, whole, good, saved), at = run_of(system, np.ones(4), [1.0, 0.5, -0.3, 0.2], 0.1, 3)
    assert (whole, good) == (3, True)
    theirs = loop.plain_chunk(*at, 3, 1)[3]
    assert np.abs(saved[0] - theirs[0]).max() < 1e-12 * np.abs(theirs[0]).max()


def test_where_there_is_no_root_the_run_stops():
    falling = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi + q[0] ** 3, lambda q: jnp.eye(2), rank=2)
    (final, whole, good, saved), _ = run_of(falling, [1.0, 0.0], [1.0, 0.0], 0.1, 100)
    assert not good
    assert 5 < whole < 100
    assert final.q.tobytes() == saved[0][-1].tobytes()


sizes = st.floats(1e-6, 1e30)


@given(size=sizes, new=sizes, rate=st.floats(0, 1, allow_subnormal=False), left=sizes)
@example(size=1e16, new=1e6, rate=0.0, left=0.0)
def test_what_is_forecast_is_never_less_than_what_shows(size, new, rate, left):
    """Squares: what shows above round-off is what the next correction is told from, by the share that it is."""
    share, ahead = (float(x) for x in root.forecast(*map(jnp.asarray, (size, new, rate, left, 0.0))))
    if new > root.SHOWS**2 or rate == 0:
        assert (share, ahead) == (new / size, new / size * new)
    else:
        assert share == rate
        assert ahead == rate * min(new, left)
    assert tuple(map(float, root.forecast(*map(jnp.asarray, (size, new, rate, left, 1.0))))) == (0.0, 0.0)


def test_a_rule_that_ends_too_early_would_be_noticed(monkeypatch):
    monkeypatch.setattr("discrete_hamel.compiler.native.solve.may_stop", lambda new, ahead, negligible: new < 1e20)
    (_, whole, good, saved), at = run_of(stiff(1, 5), np.ones(5), np.ones(5), 0.05, 5)
    theirs = loop.plain_chunk(*at, 5, 1)[3]
    assert not good or np.abs(saved[0] - theirs[0]).max() > 1e-13 * np.abs(theirs[0]).max()


def test_gradients_under_jit_are_those_of_the_jacobian_written_out(monkeypatch):
    def reached(xi):
        return dh.simulate(DISK.system, DISK.q, xi, h=0.05, steps=20, progress=False).q[-1, 0]

    xi = jnp.asarray(DISK.xi)
    dh.clear_caches()
    ours = jax.jit(jax.value_and_grad(reached))(xi)
    monkeypatch.setattr(root, "MOST_UNROLLED", 1e9)
    dh.clear_caches()
    jax.clear_caches()
    theirs = jax.jit(jax.value_and_grad(reached))(xi)
    dh.clear_caches()
    for a, b in zip(ours, theirs, strict=True):
        assert np.abs(np.asarray(a) - np.asarray(b)).max() < 1e-12 * max(1.0, np.abs(np.asarray(b)).max())


@pytest.mark.parametrize("values", [np.arange(1.0, 9.0), np.array([1e16, 1.0, -1e16, 3.0, 1.0, 1.0, 0.1, -3.0])])
def test_lanes_are_added_in_halves(values):
    """To the bit as NumPy does that, which no flag of LLVM's leaves to the processor."""
    code = instructions.Code(instructions.Kind(False, len(values)))
    whole = code("load <8 x double>, ptr %x, align 8")
    code.do(f"store double {kept.sum_of_lanes(code, whole)}, ptr %y")
    body = "\n".join(code.lines)
    library = object_code.machine_code(f"define void @f(ptr %x, ptr %y) {{\n{body}\n  ret void\n}}\n", 1)
    made = np.zeros(1)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(library.address("f"))(values.ctypes.data, made.ctypes.data)
    expected = values
    while len(expected) > 1:
        expected = expected[: len(expected) // 2] + expected[len(expected) // 2 :]
    assert made.tobytes() == expected.tobytes()


def test_no_instruction_has_a_fast_math_flag():
    (_, _, _, _), at = run_of(stiff(0, 9), np.ones(9), np.ones(9), 0.05, 1)
    text = Run(stepper.Stepper(*at), instructions.Kind(object_code.fused())).text()
    assert not re.search(r"\b(fast|reassoc|contract|nnan|ninf|nsz|arcp|afn)\b", text)

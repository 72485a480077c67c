"""Disks that fill up, users' functions that fail at step k, Ctrl-C: each ends in a sentence, and nothing is lost."""

import errno
import os
import resource
import signal
import threading
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runs import go, same

import discrete_hamel as dh
from discrete_hamel.compiler import paths
from discrete_hamel.runs import loop as loops
from discrete_hamel.runs.storage import atomic_files, recording


@cache
def undisturbed():
    return go(200)


@pytest.fixture
def whole():
    return undisturbed()


@given(writes=st.integers(0, 400), at=st.sampled_from(["open", "replace", "flush"]), between=st.integers(20, 90))
@settings(max_examples=20)
def test_a_disk_that_fills_up_at_any_moment_loses_no_checkpoint(tmp_path_factory, writes, at, between):
    whole = undisturbed()
    store = tmp_path_factory.mktemp("full") / "run.zarr"
    left = [writes]

    def failing(plain):
        def call(*arguments, **options):
            reads = at == "open" and not arguments[1] & os.O_CREAT  # reading needs no room
            left[0] -= not reads
            if left[0] < 0 and not reads:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return plain(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        where = atomic_files if at == "flush" else atomic_files.os
        patch.setattr(where, at, failing(getattr(where, at)))
        failure = None
        try:
            go(200, store=store, checkpoint_every=between)
        except (OSError, dh.StoreFailed) as error:
            failure = error
    if isinstance(failure, dh.StoreFailed):
        assert "cannot be written: No space left on device. It holds" in str(failure)
        kept = dh.load(store)
        assert same(failure.trajectory, kept)
        assert f"{len(kept) - 1} steps" in str(failure)
        assert (len(kept) - 1) % between == 0 or len(kept) == 201
        assert np.array_equal(kept.q, whole.q[: len(kept)])
    elif failure is not None:  # before the store had appeared
        assert os.listdir(store.parent) == []
    assert same(go(200, store=store, resume=True), whole)


def test_a_real_limit_on_files_is_like_a_full_disk(tmp_path, whole, monkeypatch):
    """The kernel itself refuses: no file of this process may grow beyond so many bytes."""
    go(20, store=tmp_path / "run.zarr")
    size = (tmp_path / "run.zarr" / "xi_mid" / "0.0").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, hard))
    try:
        with pytest.raises(dh.StoreFailed, match="cannot be written: File too large. It holds 20 steps"):
            go(200, store=tmp_path / "run.zarr", resume=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert len(dh.load(tmp_path / "run.zarr")) == 21
    assert same(go(200, store=tmp_path / "run.zarr", resume=True), whole)


def test_places_where_nothing_can_be_written_are_refused_before_the_run(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"no store can be made at .*file/run.zarr"):
        go(10**9, store=tmp_path / "file" / "run.zarr")

    def readonly(*arguments, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("pathlib.Path.mkdir", readonly)
    with pytest.raises(OSError, match="no store can be made at .*run.zarr: Read-only file system"):
        go(10**9, store=tmp_path / "run.zarr")


def test_reading_needs_no_right_to_write(tmp_path, monkeypatch, whole):
    go(200, store=tmp_path / "run.zarr")
    plain = os.open

    def reading_only(path, flags, *more):
        assert not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        return plain(path, flags, *more)

    monkeypatch.setattr(os, "open", reading_only)
    assert same(dh.load(tmp_path / "run.zarr"), whole)


H, K = 0.125, 37  # a free motion q = k h, exact in binary; what is wrong begins within step K + 1


def ending(q, xi, sign):
    """0.5 |xi|^2 until q[0] = (K + 1/4) h, beyond which inf with that sign, or NaN, is added."""
    wrong = jnp.where(sign == 0, jnp.nan, sign * jnp.inf)
    return 0.5 * xi @ xi + jnp.where(q[0] > (K + 0.25) * H, wrong, 0.0) * (1 + q[0] + xi[0])


def plane(q, sign):
    return jnp.eye(2)


@pytest.mark.parametrize("sign", [0.0, 1.0, -1.0], ids=["nan", "inf", "-inf"])
@pytest.mark.parametrize("compiled", [True, False])
def test_what_is_not_finite_from_step_k_on_is_told_at_step_k(sign, compiled):
    with pytest.raises(dh.NewtonFailed, match=rf"step {K + 1} \(from t = {K * H:g}") as failure:
        go(
            1000,
            system=dh.from_quasivelocities(ending, plane, 2, params=sign),
            q=[0.0, 0.0],
            xi=[1.0, 0.0],
            h=H,
            compiled=compiled,
        )
    kept = failure.value.trajectory
    assert np.array_equal(kept.q[:, 0], np.arange(K + 1) * H)
    assert np.all(np.isfinite(kept.xi))


def checked(q):
    if q[0] > (K + 0.25) * H:
        raise ArithmeticError("the table of forces ends here")
    return np.zeros(2)


def with_callback():
    """A force that calls back to Python, which raises within step K + 1."""

    def force(q, xi):
        return jax.pure_callback(checked, jax.ShapeDtypeStruct((2,), float), jax.lax.stop_gradient(q))

    return dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi, lambda q: jnp.eye(2), 2, force=force)


def test_an_exception_in_a_callback_is_told_and_loses_nothing(tmp_path, monkeypatch):
    """The plain path takes two steps one by one, to see how long they take, and then by ten here."""
    monkeypatch.setattr(recording.Recording, "room", lambda self, finished: 10)
    monkeypatch.setattr(paths, "TELLING", 0.0)
    data = {"q": [0.0, 0.0], "xi": [1.0, 0.0], "h": H}
    with pytest.raises(dh.RunFailed, match=r"between steps 33 and 42 .*the table of forces ends here") as failure:
        go(100, system=with_callback(), store=tmp_path / "run.zarr", **data)
    assert np.array_equal(failure.value.trajectory.q[:, 0], np.arange(33) * H)
    with pytest.raises(ValueError, match=r"at the initial data cannot be evaluated: .*table of forces ends here"):
        go(100, system=with_callback(), **{**data, "q": [1000.0, 0.0]})


@pytest.fixture
def slow(monkeypatch):
    """Chunks of ten steps, with a function called after each; Ctrl-C as at a keyboard, whatever shell this is."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr(loops, "_per_call", lambda *_: 10)
    after = []
    plain = loops.Progress.at
    monkeypatch.setattr(loops.Progress, "at", lambda self, done: (plain(self, done), [do(done) for do in after]))
    yield after
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("stored", [False, True])
def test_ctrl_c_leaves_a_trajectory_and_a_store_to_go_on_with(slow, tmp_path, whole, stored):
    slow.append(lambda done: signal.raise_signal(signal.SIGINT) if done == 50 else None)
    options = {"store": tmp_path / "run.zarr"} if stored else {}
    with pytest.raises(KeyboardInterrupt) as stop:
        go(200, **options)
    assert isinstance(stop.value, dh.RunInterrupted)
    assert "interrupted after 50 of 200 steps" in str(stop.value)
    assert np.array_equal(stop.value.trajectory.q, whole.q[:51])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    state, _ = dh.step(stop.value.trajectory.system, dh.DiscreteHamel(), stop.value.trajectory.final, 0.01)
    assert np.max(np.abs(state.q - whole.q[51])) < 1e-13
    slow.clear()
    if stored:
        assert same(go(200, resume=True, **options), whole)


def test_a_second_ctrl_c_is_not_waited_for(slow):
    slow.append(lambda done: [signal.raise_signal(signal.SIGINT) for _ in range(2)])
    with pytest.raises(KeyboardInterrupt) as stop:
        go(200)
    assert not isinstance(stop.value, dh.RunInterrupted)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_the_first_step_says_so(slow, monkeypatch):
    """While the system is looked at, and while the step is built."""

    def interrupt(*_, **__):
        signal.raise_signal(signal.SIGINT)

    class Interrupting(dh.systems.ChaplyginSleigh):
        lagrangian = interrupt

    start = {"q": [0.1, 0, 0], "xi": [1.5, -0.3], "h": 0.01, "steps": 10}
    with pytest.raises(dh.RunInterrupted, match="before the first step") as stop:
        dh.simulate(Interrupting(), **start)
    assert stop.value.trajectory is None
    monkeypatch.setattr(loops, "stepper_for", interrupt)
    with pytest.raises(dh.RunInterrupted, match="before the first step"):
        dh.simulate(dh.systems.ChaplyginSleigh(), **start)


def test_others_who_handle_ctrl_c_are_left_alone(slow, whole):
    heard = []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    try:
        slow.append(lambda done: signal.raise_signal(signal.SIGINT) if done == 50 else None)
        assert same(go(200), whole)
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [1]


def test_runs_in_other_threads_work(whole):
    found = []
    thread = threading.Thread(target=lambda: found.append(go(200)))
    thread.start()
    thread.join()
    assert same(found[0], whole)

"""Killed and taken up again where the plain path stands in for the compiled one: the same bits."""

import os
import shutil
import signal
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
from runs import same
from test_stores import retold

import discrete_hamel as dh
from discrete_hamel.compiler.gradients.plain_run import PlainHistory
from discrete_hamel.runs import loop as loops
from discrete_hamel.runs.storage import reading


def turning(q):
    """A product of three rotations of R^4 by multiples of q[0]: brackets need its inverse, and that other pivots."""
    turned = jnp.eye(4)
    for i in range(3):
        c, s = jnp.cos((i + 1) * q[0]), jnp.sin((i + 1) * q[0])
        plane = jnp.eye(4).at[i, i].set(c).at[i + 1, i + 1].set(c).at[i, i + 1].set(-s).at[i + 1, i].set(s)
        turned = turned @ plane
    return jnp.zeros((5, 5)).at[0, 0].set(1.0).at[1:, 1:].set(turned)


def hanging(q, xi):
    v = turning(q) @ xi
    return 0.5 * v @ v - 0.1 * jnp.cos(q[1])


SYSTEM = dh.from_quasivelocities(hanging, turning, rank=3)
DATA = {"q": (0.1, 0.2, 0.0, 0.0, 0.0), "xi": (1.0, 0.4, 0.3), "h": 0.01, "steps": 300}


def go(store, **options):
    return dh.simulate(SYSTEM, **DATA, store=store, resume=True, progress=False, **options)


def test_the_report_counts_the_steps_that_were_plain(undisturbed, tmp_path):
    """A pivot is lost at step 18, under jit at 42; the plain path goes on, to step 64 or to the end."""
    data = {name: DATA[name] for name in ("h", "steps")}
    q, xi = jnp.asarray(DATA["q"]), jnp.asarray(DATA["xi"])
    under_jit = jax.jit(lambda q: dh.simulate(SYSTEM, q=q, xi=xi, **data))(q)
    saved = jax.jit(lambda q: dh.simulate(SYSTEM, q=q, xi=xi, **data, save_every=10))(q)
    plain = dh.simulate(SYSTEM, **DATA, compiled=False, progress=False)
    counts = [traj.report.plain_steps for traj in (undisturbed, under_jit, saved, plain)]
    assert counts == [46, 258, 260, 300]
    assert under_jit.report.path == undisturbed.report.path == "compiled"
    assert "46 steps plain" in repr(undisturbed)
    assert "258 steps plain" in repr(under_jit.report)
    undisturbed.save(tmp_path / "copy.zarr")
    assert dh.load(tmp_path / "copy.zarr", system=SYSTEM).report.plain_steps == 46
    sleigh = dh.simulate(dh.systems.ChaplyginSleigh(), q=[0, 0, 0], xi=[1, 0.1], h=0.1, steps=3, progress=False)
    assert sleigh.report.plain_steps == 0
    assert "plain" not in repr(sleigh)


def test_derivatives_outside_jit_go_on_by_the_plain_path_where_a_step_fails():
    """Under jit the plain path is compiled beside the steps; outside, once a step is seen to fail, here step 42."""
    q, xi = jnp.asarray(DATA["q"]), jnp.asarray(DATA["xi"])

    def end(q):
        run = dh.simulate(SYSTEM, q=q, xi=xi, h=0.01, steps=50, progress=False)
        return run.q[-1] @ jnp.arange(1.0, 6.0), run.report.plain_steps

    slope, plain = jax.grad(end, has_aux=True)(q)
    assert int(plain) == 8
    e = 1e-4 * jnp.array([1.0, -1.0, 0.5, 0.2, 1.0])
    assert abs(slope @ e - (end(q + e)[0] - end(q - e)[0]) / 2) < 1e-7 * abs(slope @ e)


def test_derivatives_outside_jit_compile_no_plain_path_where_none_fails(monkeypatch):
    def compiled(*_):
        raise AssertionError("the plain path is compiled")

    q, xi = jnp.zeros(3), jnp.array([1.0, 0.2])
    sleigh = dh.systems.ChaplyginSleigh()

    def end(xi):
        return dh.simulate(sleigh, q=q, xi=xi, h=0.01, steps=20).q[-1] @ jnp.arange(1.0, 4.0)

    inside = jax.jit(jax.grad(end))(xi)
    dh.clear_caches()
    monkeypatch.setattr(PlainHistory, "resume", compiled)
    assert jnp.allclose(jax.grad(end)(xi), inside, rtol=1e-13, atol=0)
    with pytest.raises(AssertionError):  # this one is
        jax.jit(jax.grad(end))(xi)


class Killed(BaseException):
    """Ends a run as SIGKILL does: nothing that it still holds is written."""


def dying(call, how):
    """`loops.plain_chunk`, whose so-and-so-manieth call ends the run."""
    calls, plain = [], loops.plain_chunk

    def deadly(*arguments):
        calls.append(arguments)
        if len(calls) == call:
            how()
        return plain(*arguments)

    return deadly


def killed():
    raise Killed


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    return go(tmp_path_factory.mktemp("whole") / "run.zarr")


def stretch(store):
    """How far a store's run is, and up to where the plain path goes on."""
    told = reading.Contents(store).manifest
    return told["finished"], told["plain_until"]


@pytest.mark.parametrize(("call", "between"), [(1, 8), (2, 5), (4, 7), (6, 6)])
def test_killed_where_the_plain_path_goes_on_it_has_the_same_bits(undisturbed, tmp_path, monkeypatch, call, between):
    store = tmp_path / "run.zarr"
    with monkeypatch.context() as patched:
        patched.setattr(loops, "plain_chunk", dying(call, killed))
        with pytest.raises(Killed):
            go(store, checkpoint_every=between)
    finished, until = stretch(store)
    assert finished < until if call > 1 else until == 0  # at the first call the stretch is not in the store yet
    assert same(go(store), undisturbed)


def test_killed_there_by_sigkill(undisturbed, tmp_path):
    store = tmp_path / "run.zarr"
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # what the tests import
    ended = subprocess.run([sys.executable, __file__, store], capture_output=True, timeout=300, env=env)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    finished, until = stretch(store)
    assert 0 < finished < until
    forgetful = shutil.copytree(store, tmp_path / "forgetful.zarr")
    retold(forgetful, lambda told, _: told.update(plain_until=0))
    assert same(go(store), undisturbed)
    assert not same(go(forgetful), undisturbed)  # the two paths differ in the last bits, so it had to be remembered


if __name__ == "__main__":
    loops.plain_chunk = dying(2, lambda: os.kill(os.getpid(), signal.SIGKILL))
    go(sys.argv[1], checkpoint_every=8)

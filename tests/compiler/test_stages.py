"""Gauss collocation by sweeps over its stages: the plain path's numbers, a closed form, and what does not settle."""

import jax.numpy as jnp
import numpy as np
import pytest
from numpy.polynomial import Polynomial

import discrete_hamel as dh
from discrete_hamel.compiler import paths as choice
from discrete_hamel.compiler.native.host import HostRun
from discrete_hamel.compiler.step.collocation_step import StageStepper
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.runs import loop as loops
from discrete_hamel.runs import validation as checks


class Spring(dh.System):
    """A mass on a spring, its force k q (1 + hardening q^2)."""

    stiffness: float = 1.0
    hardening: float = 0.0

    coordinates = ("q",)
    velocities = ("v",)
    rank = 1

    def lagrangian(self, q, xi):
        return 0.5 * xi @ xi - self.stiffness * (0.5 * q @ q + 0.25 * self.hardening * jnp.sum(q**4))

    def frame(self, q):  # noqa: ARG002  # a frame has it
        return jnp.eye(1)


def chosen(system, q, xi, h, scheme):
    """The compiled step that a run takes."""
    system, q, xi = checks.initial_data(system, q, xi, None)
    scheme, h = checks.canonical(scheme), jnp.asarray(h, float)
    return choice.stepper_for(checks.canonical(system), scheme, dh.start(system, scheme, q, xi, h), h)


def pade(z, order):
    """The diagonal approximant of exp(z): what Gauss makes of a linear equation."""
    factors = [1.0]
    for j in range(order):
        factors.append(factors[-1] * (order - j) / ((2 * order - j) * (j + 1)))
    above = Polynomial(factors)
    return above(z) / above(-z)


@pytest.mark.parametrize("stages", [3, 5, 8, 12])
@pytest.mark.parametrize(("h", "kind"), [(0.5, StageStepper), (60.0, Stepper)])
def test_on_a_spring_both_ways_to_the_root_are_the_approximant_of_the_exponential(stages, h, kind):
    """Also at steps so long that sweeps do not settle: then Newton's iteration finds the root."""
    scheme, steps = dh.Gauss(stages), 40
    assert type(chosen(Spring(), [1.0], [0.3], h, scheme)) is kind
    run = dh.simulate(Spring(), [1.0], [0.3], h=h, steps=steps, scheme=scheme)
    exact = (1.0 - 0.3j) * pade(1j * h, stages) ** np.arange(steps + 1)
    assert run.report.path == "compiled"
    # q + ... turned the usual way: q = Re, v = -Im of (q0 - i v0) exp(i t)
    assert np.abs(run.q[:, 0] - exact.real).max() < 1e-13 * max(1.0, h)
    assert np.abs(run.p[:, 0] + exact.imag).max() < 1e-13 * max(1.0, h)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["RollingDisk", "BallOnTurntable", "EulerPoincareSuslov", "Snakeboard", "HeavyTop", "CoaxialDiscs"]
)
def test_a_sweep_to_the_end_is_the_plain_step(name):
    system = getattr(dh.systems, name)()
    data = {key: value for key, value in system.sample().items() if key in ("q", "xi", "v", "h")}
    scheme = dh.Gauss(stages=3)
    swept = dh.simulate(system, **data, steps=20, scheme=scheme)
    plain = dh.simulate(system, **data, steps=20, scheme=scheme, compiled=False)
    assert swept.report.path == "compiled"
    assert any(isinstance(s, StageStepper) and s.rank == system.rank for s in choice._steps.values())
    for mine, its in ((swept.q, plain.q), (swept.p, plain.p), (swept.xi, plain.xi), (swept.xi_mid, plain.xi_mid)):
        assert its.size == 0 or np.abs(mine - its).max() <= 1e-13 * np.abs(its).max()
    size = max(np.abs(plain.q).max(initial=1.0), np.abs(plain.p).max())
    assert 0 < swept.report.residual.max() < 1e-13 * size


def test_a_step_that_does_not_settle_is_not_trusted():
    system, scheme = checks.canonical(Spring()), checks.canonical(dh.Gauss(4))
    state = dh.start(system, scheme, [1.0], [0.0], 1.0)
    native = HostRun(StageStepper(system, scheme, state, jnp.asarray(1.0)))
    after, whole, good, (*_, report) = native(system, scheme, state, jnp.asarray(1.0), 1, 1)
    assert (whole, good) == (1, True)
    assert 5 < report.iterations[0] < 40
    assert np.hypot(after.q[0], after.p[0]) == pytest.approx(1.0, abs=1e-15)
    for h in (30.0, 300.0, jnp.nan):  # h / 2s is what a sweep shrinks the error by
        _, whole, good, _ = native(system, scheme, state, jnp.asarray(h), 1, 1)
        assert (whole, good) == (0, False)


class Wall(dh.System):
    """A mass thrown at a wall that repels exponentially."""

    steepness: float = 4.0

    coordinates = ("q",)
    velocities = ("v",)
    rank = 1

    def lagrangian(self, q, xi):
        return 0.5 * xi @ xi - jnp.sum(jnp.exp(self.steepness * q))

    def frame(self, q):  # noqa: ARG002  # a frame has it
        return jnp.eye(1)


def test_where_a_run_stiffens_under_way_the_plain_path_takes_it(monkeypatch):
    plain_chunks = []
    original = loops.plain_chunk
    monkeypatch.setattr(loops, "plain_chunk", lambda *chunk: plain_chunks.append(chunk) or original(*chunk))
    data = {"q": [-10.0], "xi": [2.0], "h": 1.0, "steps": 90, "scheme": dh.Gauss(4)}
    assert type(chosen(Wall(), data["q"], data["xi"], data["h"], data["scheme"])) is StageStepper
    swept = dh.simulate(Wall(), **data)
    assert swept.report.path == "compiled"
    assert len(plain_chunks) == 1
    plain = dh.simulate(Wall(), **data, compiled=False)
    assert plain.q[-1, 0] < -100  # it came back
    assert np.abs(swept.q - plain.q).max() < 1e-13 * np.abs(plain.q).max()
    assert swept.report.converged.all()

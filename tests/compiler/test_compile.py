"""One compilation a system and scheme: counted by JAX's own log, and by what is asked of LLVM."""

import contextlib
import logging
from unittest.mock import patch

import cartesian
import jax
import jax.numpy as jnp
import pytest
from problems import SLEIGH

import discrete_hamel as dh
from discrete_hamel.compiler.native import host, object_cache


class Log(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message.startswith("Compiling "):
            self.names.append(message.split()[1])


@contextlib.contextmanager
def compilations():
    """The names of all that JAX compiles inside, and "LLVM" for each native run."""
    log, logger = Log(), logging.getLogger("jax")
    made = host.machine_code

    def counted(*text, **how):
        log.names.append("LLVM")
        return made(*text, **how)

    propagate, logger.propagate = logger.propagate, False
    logger.addHandler(log)
    try:
        with jax.log_compiles(), patch.object(host, "machine_code", counted):
            yield log.names
    finally:
        logger.removeHandler(log)
        logger.propagate = propagate


def spring(q, xi, stiffness):
    return 0.5 * (xi @ xi - stiffness * q @ q)


def square(q, stiffness):
    return jnp.eye(2)


CHANGES = {
    "nothing": {},
    "parameters": {"system": dh.systems.ChaplyginSleigh(2.0, 0.5, -0.1)},
    "whole numbers": {"system": dh.systems.ChaplyginSleigh(2, 1, 0)},
    "step size": {"h": 0.013},
    "negative step": {"h": -0.01},
    "initial data": {"q": (1.0, -2.0, 3.0), "xi": (0.0, 1.0)},
    "number of steps": {"steps": 137},
    "several chunks": {"steps": 5000},
    "what is saved": {"steps": 600, "save_every": 6},
    "tau": {"scheme": dh.DiscreteHamel(tau=0.3)},
}


def run(system=SLEIGH.system, q=SLEIGH.q, xi=SLEIGH.xi, h=0.01, steps=100, **options):
    return dh.simulate(system, q=q, xi=xi, h=h, steps=steps, **options)


@pytest.fixture(scope="module", params=[True, False], ids=["compiled", "plain"])
def compiled(request):
    run(compiled=request.param)
    run(dh.systems.ChaplyginSleigh(1, 1, 1), q=(0, 0, 0), xi=(1, 0), h=1, steps=3, compiled=request.param)
    return request.param


@pytest.mark.parametrize("change", CHANGES)
def test_new_values_compile_nothing(compiled, change):
    with compilations() as names:
        run(**CHANGES[change], compiled=compiled)
    assert names == []


def test_a_new_scheme_does_compile(compiled, monkeypatch):
    """The counter counts, whatever tests before this one have compiled."""
    monkeypatch.setenv(object_cache.VARIABLE, "off")
    dh.clear_caches()
    with compilations() as names:
        run(scheme=dh.StaggeredHamel(), compiled=compiled)
    assert ("LLVM" in names) == compiled
    assert len(names) > 0


def test_params_of_the_users_functions_are_traced():
    def oscillate(stiffness):
        system = dh.from_quasivelocities(spring, square, 2, params=stiffness)
        return dh.simulate(system, q=[1.0, 0.0], xi=[0.0, 1.0], h=0.1, steps=50)

    first = oscillate(4.0)
    with compilations() as names:
        second = oscillate(9.0)
    assert names == []
    assert abs(first.q[-1] - second.q[-1]).max() > 0.1


def test_params_of_constraints_are_traced():
    def slide(params):
        system = dh.from_constraints(cartesian.sleigh, cartesian.blade, params=jnp.array(params))
        return dh.simulate(system, q=SLEIGH.q, v=[0.0, jnp.cos(0.1), jnp.sin(0.1)], h=0.01, steps=10)

    slide([1.0, 0.7, 0.4])
    with compilations() as names:
        slide([2.0, 0.5, 0.1])
    assert names == []

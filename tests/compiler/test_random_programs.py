"""Random array programs are read as JAX means them, to 1e-12, or refused with a reason; a campaign is in benchmarks."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from benchmarks.random_programs import Program, host, lanes, read, xla

SEEDS = range(7000, 7050)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_program_is_read_as_jax_means_it(seed):
    assert read(Program(seed, largest=12)).startswith(("equal", "plain: "))


@pytest.mark.parametrize("seed", [7002, 7003])
def test_numpy_means_what_xla_means(seed):
    """The numbers that programs are held to are those that run."""
    assert xla(Program(seed, largest=12)) == read(Program(seed, largest=12)) == "equal"


@pytest.mark.parametrize("seed", [7100, 7101])
@pytest.mark.parametrize("run", [host, lanes])
def test_a_run_of_a_program_is_the_plain_one(run, seed):
    assert run(Program(seed, largest=7)).startswith(("equal", "plain: "))


def of_masses(potential, params=None):
    return dh.from_velocities(
        lambda q, v, p: 0.5 * v @ v - potential(q, p), lambda q, p: jnp.eye(9), 9, params=params or {"s": 1.0}
    )


FOUND_BY_REVIEWERS = {
    "second differences": of_masses(lambda q, p: 0.5 * jnp.sum(jnp.diff(q, 2) ** 2)),
    "sums and choices": of_masses(lambda q, p: jnp.sum(jnp.where(jnp.cumsum(q) > 1, 2 * q**2, q**2))),
    "what nobody uses": of_masses(lambda q, p: 0.5 * p["s"] * q @ q, {"s": 1.0, "unused": np.array([0.8, 1.1])}),
}


@pytest.mark.parametrize("name", FOUND_BY_REVIEWERS)
def test_programs_that_once_went_wrong(name):
    """The first was off by 1.6 and called converged; the others ended the process."""
    run = {"q": np.sin(np.arange(9) / 2), "xi": np.zeros(9), "h": 0.05, "steps": 40}
    fast, plain = (dh.simulate(FOUND_BY_REVIEWERS[name], **run, compiled=compiled) for compiled in (True, False))
    assert fast.report.path == "compiled"
    assert np.abs(fast.q - plain.q).max() < 1e-13

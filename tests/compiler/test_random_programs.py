"""Random array programs are read as JAX means them, to 1e-12, or refused with a reason; a campaign is in benchmarks."""

import pytest

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

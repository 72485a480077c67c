"""What each run asks for once, as operations on Python's numbers: the same function as what JAX traces."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.reading import tape
from discrete_hamel.compiler.reading.cached_scalars import number
from discrete_hamel.compiler.reading.tape import Repeated
from discrete_hamel.runs import loop, validation

TABLE = dh.systems.BallOnTurntable()
SYSTEMS = {
    "disk": (dh.systems.RollingDisk(), [0.3, 0.1, -0.2, 0.4, 0.5], [0.1, 0.6, -2.0]),
    "turntable": (TABLE, TABLE.sample()["q"], TABLE.sample()["xi"][:3]),
    "pendulum": (dh.systems.SphericalPendulum(), [0.6, 0.0, -0.8], [0.3, -0.2]),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_facts_and_start_are_what_is_interpreted(name):
    system, q, xi = SYSTEMS[name]
    system, q, xi = validation.initial_data(system, q, xi, None)
    run = system, validation.canonical(dh.DiscreteHamel(tau=0.3)), q, xi, number(0.01)
    for asked, arguments in ((validation._facts, (system, q, xi)), (loop.first_state, run)):
        program = tape.Tape(asked.function, arguments)
        other = jax.tree.map(lambda leaf: leaf + 0.01 * np.ones(np.shape(leaf)), arguments)
        for at in (arguments, other):
            numbers = [x for leaf in jax.tree.leaves(at) for x in np.ravel(leaf).tolist()]
            found, expected = program(numbers), asked.afresh(*at)
            assert jax.tree.structure(found) == jax.tree.structure(expected)
            for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
                assert a.shape == b.shape
                assert np.allclose(a, b, rtol=1e-13, atol=1e-15)


def test_a_program_is_made_after_a_few_calls_of_a_kind_and_used(monkeypatch):
    asked = Repeated(lambda x: {"it": jnp.sin(x) * 2})
    made = []
    # has nothing to tell, so that what is interpreted does
    monkeypatch.setattr(tape.Tape, "__call__", lambda self, numbers: made.append(numbers) or None)
    for x in range(5):
        assert asked(jnp.array([float(x)]))["it"] == 2 * np.sin(x)
    assert len(made) == 5 - tape.RARE
    asked(jnp.array([1.0, 2.0]))
    assert len(made) == 5 - tape.RARE  # another shape


NO_NUMBERS = {
    "division": lambda x: 1 / x,
    "overflow": lambda x: jnp.exp(1000 * (1 - x)),
    "domain": lambda x: jnp.sqrt(x - 1),
    "no number": lambda x: jnp.where(x > 0, x, jnp.nan),
}


@pytest.mark.parametrize("function", NO_NUMBERS.values(), ids=NO_NUMBERS)
def test_what_is_no_number_is_none_here_too(function):
    asked = Repeated(function)
    asked(jnp.array(1.0)), asked(jnp.array(2.0)), asked(jnp.array(3.0))
    assert np.array_equal(asked(jnp.array(0.0)), asked.afresh(jnp.array(0.0)), equal_nan=True)


def test_what_cannot_be_read_is_interpreted_for_good():
    asked = Repeated(lambda x: jnp.linalg.eigvals(jnp.outer(x, x)).real)
    found = [asked(jnp.array([1.0, k])) for k in (2.0, 3.0, 4.0, 5.0)]
    assert np.allclose(found[-1].max(), 26.0)
    assert not any(isinstance(made, tape.Tape) for made in asked.programs.values())


def test_a_number_that_was_given_away_is_made_again():
    jax.jit(lambda x: x + 1, donate_argnums=0)(number(0.123))
    number(0.123).delete()
    assert float(number(0.123)) == 0.123


def test_a_number_made_under_jit_is_no_tracer_later():
    jax.jit(lambda: number(0.321))()
    assert not isinstance(number(0.321), jax.core.Tracer)


def test_stores_do_not_depend_on_what_ran_before(tmp_path):
    system, q, xi = SYSTEMS["turntable"]
    first = dh.simulate(system, q, xi, h=0.01, steps=8, store=tmp_path / "a.zarr")
    for _ in range(4):
        dh.simulate(system, q, xi, h=0.01, steps=8)
    assert dh.simulate(system, q, xi, h=0.01, steps=8, store=tmp_path / "a.zarr", resume=True).q[-1].tolist() == (
        first.q[-1].tolist()
    )

"""What a user's functions read besides their arguments may be another at the next run: then so is the run."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

STIFFNESS, MANY = 1.0, np.array([1.0, 1.0])


def potential(q):
    return 0.5 * STIFFNESS * q @ q


def natural(energy):
    return dh.from_velocities(lambda q, v: 0.5 * v @ v - energy(q), lambda q: jnp.eye(2), 2)


def global_number():
    def change():
        global STIFFNESS
        STIFFNESS *= 4

    return lambda q: 0.5 * STIFFNESS * q @ q, change


def number_of_a_function_that_is_called():
    _, change = global_number()
    return potential, change


def number_of_a_closure():
    k = 1.0

    def change():
        nonlocal k
        k = 4.0

    return lambda q: 0.5 * k * q @ q, change


def integer_of_a_closure():
    k = 1

    def change():
        nonlocal k
        k = 4

    return lambda q: 0.5 * k * q @ q, change


def function_made_anew():
    def inner(q):
        return 0.5 * q @ q

    def change():
        nonlocal inner
        inner = lambda q: 2.0 * q @ q  # noqa: E731

    return lambda q: inner(q), change


def dictionary():
    box = {"k": 1.0, "more": {"power": 2.0}}

    def change():
        box["more"]["power"] = 4.0

    return lambda q: 0.5 * box["k"] * jnp.sum(q ** box["more"]["power"]), change


def array_in_place():
    return lambda q: 0.5 * q @ (jnp.asarray(MANY) * q), lambda: MANY.__setitem__(0, 4 * MANY[0])


def array_of_jax():
    k = jnp.array(1.0)

    def change():
        nonlocal k
        k = jnp.array(4.0)

    return lambda q: 0.5 * k * q @ q, change


def part_of_a_partial():
    k = {"k": 1.0}
    return partial(lambda box, q: 0.5 * box["k"] * q @ q, k), lambda: k.update(k=4.0)


CASES = [
    global_number, number_of_a_function_that_is_called, number_of_a_closure, integer_of_a_closure, function_made_anew,
    dictionary, array_in_place, array_of_jax, part_of_a_partial,
]  # fmt: skip
RUN = {"h": 0.1, "steps": 10, "progress": False}


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_a_run_has_what_its_functions_read_then(case, compiled):
    energy, change = case()
    system, start = natural(energy), ([1.0, 0.5], [0.0, 1.0])
    before = [dh.simulate(system, *start, **RUN, compiled=compiled).q for _ in range(3)]
    change()
    after = dh.simulate(system, *start, **RUN, compiled=compiled).q
    expected = dh.simulate(natural(lambda q: energy(q)), *start, **RUN, compiled=compiled).q  # read for the first time
    assert np.abs(after - before[2]).max() > 0.01
    np.testing.assert_allclose(after, expected, rtol=0, atol=1e-14)


def test_the_reference_a_gradient_and_forces_of_wrappers_too():
    push = 1.0
    system = dh.forced(dh.systems.ChaplyginSleigh(), lambda q, xi: jnp.array([0.0, push, 0.0]))

    def end(h):
        return dh.simulate(system, jnp.zeros(3), jnp.ones(2), h=h, steps=5).xi[-1, 1]

    def seen():
        return np.array([dh.reference(system, np.zeros(3), np.ones(2), t=0.5).xi[-1, 1], end(0.1), jax.grad(end)(0.1)])

    before = seen()
    push = 2.0
    assert np.all(np.abs(seen() - before) > 0.05)


class Spring(dh.System):
    """A class that has a number beside its parameters."""

    mass: float = 1.0
    rank = 2
    lengths = (1.0, 1.0)

    def lagrangian(self, q, xi):
        return 0.5 * self.mass * xi @ xi - 0.5 * jnp.sum((q - jnp.array(self.lengths)) ** 2)

    def frame(self, q):
        return jnp.eye(len(q))


def test_numbers_of_the_users_class(monkeypatch):
    start = ([1.0, 0.5], [0.0, 1.0])
    before = dh.simulate(Spring(), *start, **RUN).q
    monkeypatch.setattr(Spring, "lengths", (3.0, 1.0))
    assert np.abs(dh.simulate(Spring(), *start, **RUN).q - before).max() > 0.01


def test_what_functions_count_and_loops_over_parameters_make_nothing_anew():
    """A list that grows as the function is traced, and a variable of the name of a parameter."""
    global mass
    traced, reads = [], {"n": 0}

    class Counted(Spring):
        def lagrangian(self, q, xi):
            traced.append(1.0)
            reads["n"] += 1
            return super().lagrangian(q, xi)

    counts = []
    for mass in (1.0, 1.0, 1.0, 2.0, 3.0):  # the name that `self.mass` has
        dh.simulate(Counted(mass=mass), [1.0, 0.5], [0.0, 1.0], **RUN)
        counts.append(len(traced))
    assert counts[2] == counts[3] == counts[4]


def test_keys_of_random_numbers_within_a_function():
    """NumPy has no type for them; as a parameter they are refused."""

    def energy(q):
        keys = jax.random.split(jax.random.key(1), 2)
        _, last = jax.lax.scan(lambda k, x: (k, jax.random.normal(k)), jax.random.key(5), q)
        return q @ (jax.vmap(jax.random.uniform)(keys) * q) + last @ jnp.cos(q)

    runs = [dh.simulate(natural(energy), [1.0, 0.5], [0.0, 1.0], **RUN, compiled=one) for one in (True, False)]
    assert runs[0].report.path == "compiled"
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-14)
    keyed = dh.from_velocities(lambda q, v, p: 0.5 * v @ v, lambda q, p: jnp.eye(2), 2, params=jax.random.key(3))
    with pytest.raises(dh.InputError, match=r"the parameter params of FromVelocities must be a number, or an array of"):
        dh.simulate(keyed, [1.0, 0.5], [0.0, 1.0], **RUN)


def test_a_step_density_too():
    size = 0.1
    system = natural(lambda q: 0.5 * q @ q)

    def end():
        return dh.simulate(system, [1.0, 0.5], [0.0, 1.0], h=density, steps=5).t[-1]

    def density(q, xi):
        return size * (1 + q @ q)

    before = end()
    size = 0.2
    assert end() > 1.5 * before


def test_functions_that_call_each_other_are_looked_at_once():
    """Forty that all read one another, and a number: a few dozen looks, not forty to the power of forty."""
    scope = {"k": 1.0, "jnp": jnp}
    calls = " + ".join(f"f{i}(q, n - 1)" for i in range(40))
    for i in range(40):
        exec(f"def f{i}(q, n):\n return 0.5 * k * q @ q if n == 0 or {i} else {calls}", scope)
    system, start = natural(eval("lambda q: f0(q, 0)", scope)), ([1.0, 0.5], [0.0, 1.0])
    before = dh.simulate(system, *start, **RUN).q
    scope["k"] = 4.0
    assert np.abs(dh.simulate(system, *start, **RUN).q - before).max() > 0.01


def test_a_stored_run_is_not_resumed_with_another_number(tmp_path):
    k = 1.0
    system, start = natural(lambda q: 0.5 * k * q @ q), ([1.0, 0.5], [0.0, 1.0])
    dh.simulate(system, *start, **RUN, store=tmp_path / "run.zarr")
    k = 4.0
    with pytest.raises(dh.InputError, match="lagrangian"):
        dh.simulate(system, *start, **(RUN | {"steps": 20}), store=tmp_path / "run.zarr", resume=True)

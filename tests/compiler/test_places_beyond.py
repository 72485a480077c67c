"""Places beyond an array's end, which NumPy refuses and JAX does not: a sentence, where no data make them right."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import discrete_hamel as dh
from discrete_hamel.compiler.reading.places_beyond import shape_within

Q = jnp.zeros(3)

BEYOND = {
    "a coordinate": (lambda x: x[3], "[3]"),
    "from the end": (lambda x: x[-4], "[-1]"),
    "several": (lambda x: x[jnp.array([0, 3])], "[3]"),
    "a column": (lambda x: jnp.outer(x, x)[:, 3], "[0, 3]"),
    "a write": (lambda x: x.at[3].set(1.0), "[3]"),
    "a sum written": (lambda x: jnp.zeros((3, 3)).at[1, 3].add(x[0]), "[1, 3]"),
    "under jit": (jax.jit(lambda x: x[3]), "[3]"),
    "in a loop": (lambda x: lax.scan(lambda c, a: (c + x[3], a), 0.0, x)[0], "[3]"),
    "in a branch": (lambda x: lax.cond(x[0] > 0, lambda: x[1], lambda: x[4]), "[4]"),
}
RIGHT = {
    "the last": lambda x: x[2] + x[-1] + x[-3],
    "several": lambda x: jnp.sum(x[np.array([0, -1])] + x[1:9]),
    "the nearest, as said": lambda x: jnp.sum(jnp.take(x, jnp.array([0, 7]), mode="clip")) + x.at[7].get(mode="clip"),
    "nothing, as said": lambda x: x.at[7].get(mode="fill", fill_value=0.0),
    "a window moved into it": lambda x: lax.dynamic_slice(x, (2,), (2,)),
    "a write of which a part is dropped": lambda x: x.at[jnp.arange(3) + 1].set(1.0),
    "a write to all": lambda x: jnp.zeros((3, 3)).at[:, :].set(jnp.outer(x, x)),
    "by a counter": lambda x: lax.fori_loop(0, 3, lambda i, c: c + x[i], 0.0),
    "by the data": lambda x: x[x[0].astype(int) + 5],
    "JAX's own": lambda x: jnp.sum(jnp.roll(x, 1) + jnp.sort(x)) + jnp.interp(x[0], x, x) + jnp.sum(jnp.repeat(x, 2)),
    "constants that are no numbers": lambda x: x[0] + lax.mul(jnp.inf, 0.0),
    "derivatives": jax.jacfwd(jax.grad(lambda x: jnp.sum(jnp.cumsum(x)[::-1] ** 2) + x[1])),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_is_refused(name):
    function, place = BEYOND[name]
    with pytest.raises(dh.InputError) as refusal:
        shape_within("f(q)", function, Q)
    assert str(refusal.value).startswith(f"f(q) asks for place {place} of an array of shape (3,"), refusal.value


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_not_runs(name):
    assert shape_within("f(q)", RIGHT[name], Q) == jax.eval_shape(RIGHT[name], Q)


def test_a_run_is_refused_before_it_begins_also_under_jit():
    wrong = dh.from_velocities(lambda q, v: 0.5 * v @ v - q[2] ** 2, lambda q: jnp.eye(2), 2)

    def end(q):
        return dh.simulate(wrong, q, jnp.zeros(2), h=0.1, steps=2).q[-1]

    for run in (end, jax.jit(end), jax.vmap(lambda x: end(x * jnp.ones(2)))):
        with pytest.raises(dh.InputError, match=r"^L\(q, qdot\) asks for place \[2\] of an array of shape \(2,\)"):
            run(jnp.ones(2))


def test_the_function_of_a_crossing_is_looked_at_too():
    run = dh.simulate(dh.systems.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.1, steps=5)
    with pytest.raises(dh.InputError, match=r"^the function of \(q, xi\) asks for place \[3\]"):
        dh.crossings(run, lambda q, xi: q[3])

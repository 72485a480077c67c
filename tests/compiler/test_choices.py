"""Choices by the state, as users write them: tables, branches, loops; compiled as by the plain path, with gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import discrete_hamel as dh

PLACES = jnp.linspace(-1.0, 2.0, 7)
TABLE = jnp.sin(PLACES) + 0.3


@jax.custom_jvp
def cube(x):
    return x**3


cube.defjvp(lambda p, t: (cube(p[0]), 3 * p[0] ** 2 * t[0]))


@jax.custom_vjp
def fourth(x):
    return x**4


fourth.defvjp(lambda x: (fourth(x), x), lambda x, weight: (4 * x**3 * weight,))


def root(x):
    """z^3 - x z = 3 by Newton's method, to a tolerance."""

    def going(carry):
        z, k = carry
        return (jnp.abs(z**3 - x * z - 3) > 1e-13) & (k < 30)

    def one(carry):
        z, k = carry
        return z - (z**3 - x * z - 3) / (3 * z**2 - x), k + 1

    return lax.while_loop(going, one, (1.5 + 0 * x, 0))[0]


def counted(x):
    return jnp.clip(jnp.floor(5 * x).astype(int), 0, 6)


def matrix(x):
    return jnp.array([[2 + x * x, x, 0.1], [x, 3.0, x], [0.1, x, 4.0]])


FUNCTIONS = {
    "interp": lambda x: jnp.interp(x, PLACES, TABLE),
    "searchsorted": lambda x: TABLE[jnp.clip(jnp.searchsorted(PLACES, x), 0, 6)],
    "held": lambda x: TABLE[jnp.floor(x / 0.4).astype(int)] * x,
    "held, from its end": lambda x: TABLE[-1 - counted(x)],
    "held, by truncation": lambda x: TABLE[(4 * x + 3).astype(int)],
    "two values": lambda x: TABLE[:2][(x > 0.4).astype(int)],
    "beyond its end": lambda x: TABLE.at[counted(x) + 5].get(mode="fill", fill_value=0.7),
    "rows": lambda x: TABLE[1:].reshape(3, 2)[counted(x) % 3].sum(),
    "window": lambda x: lax.dynamic_slice(TABLE, (counted(x),), (2,)).sum(),
    "switch": lambda x: lax.switch(counted(x) // 2, [jnp.sin, jnp.cos, lambda x: x * x], x),
    "cond": lambda x: lax.cond(x > 0.2, jnp.sin, lambda x: x * x, x),
    "while": root,
    "counted loop": lambda x: lax.fori_loop(0, counted(x), lambda i, c: c * 0.5 + x, x),
    "scan": lambda x: lax.scan(lambda c, a: (c * 0.5 + a * x, c), x, PLACES)[0],
    "piecewise": lambda x: jnp.piecewise(x, [x < 0, x < 0.3], [0.0, lambda x: x, lambda x: x * x]),
    "select": lambda x: jnp.select([x < 0, x < 0.3], [x, x * x], 0.1),
    "argmax": lambda x: TABLE[jnp.argmax(jnp.array([x, 0.1, -x]))],
    "counted twice, and taken off": lambda x: 1 - (x > 0.2) - 1.0 * (x > 0.2),
    "custom_jvp": cube,
    "solve": lambda x: jnp.linalg.solve(matrix(x), jnp.array([1.0, x, 2.0]))[0],
    "inv": lambda x: jnp.linalg.inv(matrix(x))[0, 1],
    "det": lambda x: jnp.linalg.det(matrix(x)),
    "cholesky": lambda x: jnp.linalg.cholesky(matrix(x))[2, 1],
    "eigenvalues": lambda x: jnp.linalg.eigvalsh(matrix(x))[1],
    "eigenvectors": lambda x: jnp.linalg.eigh(matrix(x))[1][0, 1] ** 2,
    "singular values": lambda x: jnp.linalg.svd(matrix(x)[:, :2], compute_uv=False)[0],
    "qr": lambda x: jnp.linalg.qr(matrix(x))[1][0, 0],
    "median": lambda x: jnp.median(jnp.array([x, 0.2, x * x, 0.5, 1.0])),
    "round": lambda x: jnp.round(3 * x) * x,
    "logsumexp": lambda x: jax.nn.logsumexp(jnp.array([x, 1.0])),
}
FORWARD = ("while", "counted loop")  # JAX has no reverse of a while loop, which the plain path would need


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_users_write_is_compiled_as_it_is(name):
    line = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi, lambda q: jnp.eye(1), rank=1)

    def run(share, compiled=True, steps=60):
        def force(q, xi, share):
            return -2 * q + share * jnp.reshape(FUNCTIONS[name](q[0]), (1,))

        system = dh.forced(line, force, params=share)
        return dh.simulate(system, [0.93], [0.1], h=0.05, steps=steps, compiled=compiled)

    fast, plain = run(0.3), run(0.3, compiled=False)
    assert (fast.report.path, fast.report.reason) == ("compiled", "")
    assert np.abs(fast.q - plain.q).max() < 1e-13 * np.abs(plain.q).max()
    end = lambda s: run(s).q[-1, 0]  # noqa: E731
    slope = jax.jit(lambda s: jax.jvp(end, (s,), (1.0,))[1] if name in FORWARD else jax.grad(end)(s))(0.3)
    quotient = (run(0.3 + 1e-5).q[-1, 0] - run(0.3 - 1e-5).q[-1, 0]) / 2e-5
    assert float(slope) == pytest.approx(float(quotient), rel=1e-6)


def test_a_function_with_a_reverse_rule_only_is_compiled():
    """The plain path, whose Jacobians are forward, cannot take it: so beside the same function without the rule."""
    line = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi, lambda q: jnp.eye(1), rank=1)

    def run(function, compiled):
        system = dh.forced(line, lambda q, xi: -2 * q + 0.3 * function(q))
        return dh.simulate(system, [0.93], [0.1], h=0.05, steps=60, compiled=compiled)

    fast, plain = run(fourth, True), run(lambda x: x**4, False)
    assert (fast.report.path, fast.report.reason) == ("compiled", "")
    assert np.abs(fast.q - plain.q).max() < 1e-13 * np.abs(plain.q).max()


def test_a_loop_that_shifts_an_array_in_the_lagrangian_is_compiled():
    """Its derivative contains calls that return nothing and do nothing, which are no prints."""

    def lagrangian(q, v):
        shifted = lax.fori_loop(0, 3, lambda i, y: y + 0.1 * jnp.roll(y, 1) * (i + 1), q)
        return 0.5 * v @ v - jnp.sum(1 - jnp.cos(shifted))

    chain = dh.from_velocities(lagrangian, lambda q: jnp.eye(3), rank=3)
    fast, plain = (dh.simulate(chain, [0.3, -0.2, 0.1], [0.1, 0, 0], h=0.05, steps=20, compiled=c) for c in (1, 0))
    assert (fast.report.path, fast.report.reason) == ("compiled", "")
    assert np.abs(fast.q - plain.q).max() < 1e-13


def test_a_loop_that_takes_longer_than_where_it_was_built_is_finished_by_the_plain_path():
    """Rounds in proportion to q, which grows from one round to fifty."""

    def rounds(q):
        return lax.while_loop(lambda c: c[0] < q, lambda c: (c[0] + 1.0, c[1] + 0.01), (0.0 * q, 0.0 * q))[1]

    line = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi, lambda q: jnp.eye(1), rank=1)
    system = dh.forced(line, lambda q, xi: jnp.reshape(rounds(q[0]), (1,)))
    fast, plain = (dh.simulate(system, [0.5], [10.0], h=0.05, steps=100, compiled=c) for c in (True, False))
    assert plain.q[-1, 0] > 50
    assert np.abs(fast.q - plain.q).max() < 1e-13 * np.abs(plain.q).max()


@pytest.mark.parametrize("divisor", [3, -3])
def test_quotients_of_whole_numbers_are_jaxs(divisor):
    from discrete_hamel.compiler.graph.expressions import Graph
    from discrete_hamel.compiler.graph.pytree_leaves import inputs_like
    from discrete_hamel.compiler.reading.jaxprs import to_graph
    from discrete_hamel.compiler.step.verification import values_of

    def every(x):
        k = x.astype(int)
        d = jnp.asarray(divisor)
        return jnp.stack([k // d, k % d, lax.div(k, d), lax.rem(k, d)]).astype(float)

    for value in (-7.9, -6.0, -0.5, 0.0, 5.99, 6.0, 7.1):
        graph = Graph()
        x, (node,) = inputs_like(graph, jnp.asarray(1.3))
        (outputs,) = to_graph(graph, every, x)
        assert np.array_equal(values_of(graph, list(outputs), {node: value}), every(jnp.asarray(value)))

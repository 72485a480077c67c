"""Arrays along a chain: what is found in a function, evaluated link by link, and solved by one sweep, against JAX."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from discrete_hamel.kernel.graph import Unsupported
from discrete_hamel.kernel.links import Links
from discrete_hamel.kernel.passes import Passes, sampled
from discrete_hamel.kernel.rolled import along, arrays, nodes_of, strip_like, whole
from discrete_hamel.kernel.strip_jaxprs import to_links
from discrete_hamel.kernel.sweeps import Sweep

N = 7
X = np.array([0.3, -0.7, 1.1, 0.45, -0.2, 0.9, 0.6])
Y = np.array([1.2, 0.8, -0.5, 0.35, 0.75, -1.4, 0.15])
WEIGHTS = np.linspace(0.5, 2.0, N)
BANDED = np.diag(WEIGHTS) + np.diag(WEIGHTS[1:], 1) - np.diag(WEIGHTS[:-1], -1)


def pair(x, y):
    return jnp.stack([x, y], axis=1)


AT_LINKS = {
    "at each link": lambda x, y: jnp.sin(x) * y**2 + 1.0,
    "numbers that differ": lambda x, y: x * WEIGHTS + jnp.arange(N),
    "a choice": lambda x, y: jnp.where(x > y, x, y * x),
    "sums up": lambda x, y: jnp.cumsum(x * y),
    "sums down": lambda x, y: jax.lax.cumsum(x * y, reverse=True),
    "sums of sums": lambda x, y: jax.lax.cumsum(y * jnp.cos(jnp.cumsum(jnp.cumsum(x))), reverse=True),
    "neighbours": lambda x, y: jnp.pad(jnp.diff(x * y), (1, 0)) + jnp.pad(x[1:] * y[:-1], (0, 1)),
    "second neighbours": lambda x, y: jnp.pad(x[2:] - y[:-2], (1, 1)) * x,
    "a bordered array": lambda x, y: jnp.concatenate([jnp.zeros(1), x[:-1] * y[1:]]),
    "the gradient of springs": lambda x, y: jax.grad(lambda z: jnp.sum((z[1:] - z[:-1]) ** 4))(x) + y,
    "a matrix with few diagonals": lambda x, y: BANDED @ (x * y) - x @ BANDED,
    "vectors at each link": lambda x, y: jnp.sum(pair(x, y) * jnp.cumsum(pair(y, x), axis=0), axis=1),
    "turned vectors": lambda x, y: (pair(x, y) @ jnp.array([[0.0, 1.0], [-1.0, 0.5]])).T[0],
    "products at each link": lambda x, y: jnp.einsum("ka,ka->k", pair(x, y), pair(y, x)),
    "a common factor": lambda x, y: jax.lax.cumsum(jnp.full(N, 2.0) * 3.0) * x,
}


def on_links(function):
    """The function's output for strips x and y: the links, the nodes of x and of y, and of the output."""
    links = Links(N)
    x, y = strip_like(links, X), strip_like(links, Y)
    outputs = whole(to_links(links, function, x, y), N)
    return links, x, y, outputs


@pytest.mark.parametrize("name", AT_LINKS)
def test_what_runs_along_a_chain_is_what_jax_computes(name):
    links, x, y, outputs = on_links(AT_LINKS[name])
    known = along([x, y], [X[::-1], Y])  # not the sample
    _, values = Passes(links, nodes_of(outputs), set(known))(known)
    (result,) = arrays(outputs, values)
    expected = AT_LINKS[name](jnp.asarray(X[::-1].copy()), jnp.asarray(Y))
    assert np.asarray(result) == pytest.approx(np.asarray(expected), rel=1e-13, abs=1e-13)
    (by_numpy,) = arrays(outputs, sampled(links, nodes_of(outputs), known))
    assert np.asarray(by_numpy) == pytest.approx(np.asarray(expected), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize("name", AT_LINKS)
def test_corrections_are_those_of_the_dense_jacobian(name):
    """Newton's correction of x for  x + f(x, y) / 9 = 0."""

    def residual(x, y):
        return x + AT_LINKS[name](x, y) / 9

    links, x, y, outputs = on_links(residual)
    known = along([x, y], [X, Y])
    sweep = Sweep(links, nodes_of(outputs), nodes_of([x]), known)
    (correction,) = sweep(along([x, y], [0.5 * Y, X]))
    at = jnp.asarray(0.5 * Y), jnp.asarray(X)
    jacobian = np.asarray(jax.jacfwd(residual)(*at))
    expected = np.linalg.solve(jacobian, -np.asarray(residual(*at)))
    tolerance = 1e-14 * 10 * np.linalg.cond(jacobian) * np.abs(expected).max()
    assert np.abs(np.asarray(correction) - expected).max() < tolerance


NO_CHAIN = {
    "a total over all links": lambda x, y: x * jnp.sum(y),
    "a matrix whose rows and columns are links": lambda x, y: jnp.sum(x[:, None] * y[None, :], axis=0),
    "a matrix over all links": lambda x, y: jnp.ones((2, N)) @ x,
    "a matrix that ties each link to many": lambda x, y: jnp.ones((N, N)) @ x + y,
    "a choice of single links": lambda x, y: x * y[3],
    "the primitive rev along a chain": lambda x, y: x[::-1] + y,
    "every so-many-th link": lambda x, y: x[::2],
    "the primitive sort along a chain": lambda x, y: jnp.sort(x),
}


@pytest.mark.parametrize("reason", NO_CHAIN)
def test_what_is_no_chain_is_refused_with_the_reason(reason):
    with pytest.raises(Unsupported, match=reason):
        on_links(NO_CHAIN[reason])


def test_a_total_that_no_output_needs_is_no_obstacle():
    (_, _, _, (output,)) = on_links(jax.grad(lambda x, y: jnp.sum(x**2 * y)))
    assert output.shape == (N,)


def test_pivots_bad_elsewhere_do_not_pass_for_a_root():
    """Four unknowns a link, so that pivots are chosen; where the chosen ones vanish the correction is no number."""

    def residual(a, b):
        first, second, third, fourth = a.T
        rows = [first * b, second * b + third, third * b + fourth**3, fourth + first]
        return jnp.stack(rows, axis=1) - 1

    links = Links(N)
    a, b = strip_like(links, np.ones((N, 4))), strip_like(links, np.ones(N))
    outputs = whole(to_links(links, residual, a, b), N)
    sweep = Sweep(links, nodes_of(outputs), nodes_of([a]), along([a, b], [np.ones((N, 4)), np.ones(N)]))
    correction = sweep(along([a, b], [np.ones((N, 4)), np.zeros(N)]))
    assert not np.all(np.isfinite(np.asarray(correction)))


def test_a_singular_start_is_refused():
    links, x, y, outputs = on_links(lambda x, y: (x - X) ** 2 * y)
    with pytest.raises(Unsupported, match="where the run starts"):
        Sweep(links, nodes_of(outputs), nodes_of([x]), along([x, y], [X, Y]))

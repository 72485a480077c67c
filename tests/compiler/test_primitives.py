"""Each primitive of JAX that the graph knows, against JAX; and what it does not know, named."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.lowering import lower
from discrete_hamel.compiler.graph.pytree_leaves import inputs_like
from discrete_hamel.compiler.reading.jaxprs import to_graph

SAMPLE = np.array([0.3, 0.7, -0.4, 0.6, 1.1, -0.9, 0.25, 0.8, 0.5])
ELSEWHERE = np.array([-0.5, 0.2, 0.9, -0.7, 0.4, 0.1, 0.65, -0.3, 1.6])


def square(x):
    return x.reshape(3, 3) + 2 * jnp.eye(3)


def symmetric(x):
    return square(x) + square(x).T


def positive(x):
    return four(x) @ four(x).T


def four(x):
    return jnp.outer(x[:4], x[1:5]) + jnp.diag(x[4:8] + 3.0)


FUNCTIONS = {
    "argmax": lambda x: x[jnp.argmax(x)],
    "a while loop that depends on the state": lambda x: lax.while_loop(lambda y: jnp.sum(y) < 3, lambda y: y + 1, x),
    "whole numbers": lambda x: x * x[0].astype(int),
    "a place that depends on the state": lambda x: x[jnp.asarray(x[0] > 0, int)],
    "where": lambda x: jnp.where(x > 0.1, x**2, jnp.sin(x)),
    "where that guards a pole": lambda x: jnp.where(jnp.abs(x) < 1e-3, 1.0, jnp.sin(x) / x),
    "and, or, not": lambda x: jnp.where((x > 0) & ~(x > 0.5) | (x < -0.6), x, 2 * x),
    "cond": lambda x: lax.cond(x[0] > 0, lambda y: y * y, lambda y: jnp.cos(y), x),
    "cond known beforehand": lambda x: lax.cond(jnp.asarray(True), lambda y: y * y, lambda y: jnp.cos(y), x),
    "fori_loop": lambda x: lax.fori_loop(0, 4, lambda i, y: y * x[i] + 1, x[0]),
    "fori_loop differentiated": jax.grad(lambda x: lax.fori_loop(0, 4, lambda i, y: y * x[i] + 1, x[0])),
    "while": lambda x: lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * 2), (0, x))[1],
    "scan": lambda x: lax.scan(lambda c, y: (c + y * y, c * y), 0.5, x),
    "scan backwards": lambda x: lax.scan(lambda c, y: (c + y * y, c * y), 0.5, x, reverse=True),
    "map": lambda x: lax.map(lambda y: jnp.sin(y) + 1, x),
    "vmap": lambda x: jax.vmap(lambda y, k: y * k, (0, None))(square(x), x[0]),
    "inv": lambda x: jnp.linalg.inv(square(x)),
    "solve": lambda x: jnp.linalg.solve(four(x), x[:4]),
    "solves of several matrices, and of several right sides": lambda x: jnp.linalg.solve(
        jnp.stack([four(x), four(-x), four(x)]), x[:8].reshape(1, 4, 2)
    ),
    "solve transposed": jax.grad(lambda x: jnp.sum(jnp.linalg.solve(four(x), x[:4]) ** 2)),
    "det 3": lambda x: jnp.linalg.det(square(x)),
    "det 4": lambda x: jnp.linalg.det(four(x)),
    "det 4 differentiated": jax.grad(lambda x: jnp.linalg.det(four(x))),
    "triangular": lambda x: jax.scipy.linalg.solve_triangular(four(x), x[:4], lower=True),
    "triangular transposed": lambda x: jax.scipy.linalg.solve_triangular(four(x), x[:4], trans=1),
    "cholesky": lambda x: jnp.linalg.cholesky(positive(x)),
    "cholesky differentiated": jax.grad(lambda x: jnp.linalg.cholesky(positive(x))[3, 1]),
    "solve by cholesky": lambda x: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(positive(x)), x[:4]),
    "qr": lambda x: jnp.linalg.qr(four(x)),
    "qr of a tall matrix": lambda x: jnp.linalg.qr(four(x)[:, :2]),
    "qr of a wide matrix": lambda x: jnp.linalg.qr(four(x)[:2]),
    "eigenvalues": lambda x: jnp.linalg.eigvalsh(symmetric(x)),
    "eigenvalues of 2": lambda x: jnp.linalg.eigvalsh(symmetric(x)[:2, :2]),
    "eigenvalues of 4": lambda x: jnp.linalg.eigvalsh(positive(x)),
    "eigenvalues of several": lambda x: jax.vmap(lambda k: jnp.linalg.eigvalsh(k * symmetric(x)))(x[:3]),
    "eigenvalues differentiated": jax.grad(lambda x: jnp.linalg.eigvalsh(positive(x))[1]),
    "eigenvectors": lambda x: jnp.abs(jnp.linalg.eigh(symmetric(x))[1]),
    "a function of a symmetric matrix": lambda x: (lambda w, v: v @ jnp.diag(jnp.tanh(w)) @ v.T)(
        *jnp.linalg.eigh(positive(x))
    ),
    "singular values": lambda x: jnp.linalg.svd(four(x), compute_uv=False),
    "singular values of a wide matrix": lambda x: jnp.linalg.svd(four(x)[:2], compute_uv=False),
    "singular vectors": lambda x: (lambda u, s, v: (jnp.abs(u), u @ jnp.diag(jnp.sqrt(s)) @ v))(
        *jnp.linalg.svd(four(x)[:, :3], full_matrices=False)
    ),
    "singular values differentiated": jax.grad(lambda x: jnp.linalg.svd(square(x), compute_uv=False)[1]),
    "pseudo-inverse": lambda x: jnp.linalg.pinv(four(x)[:, :2]),
    "spectral norm": lambda x: jnp.linalg.norm(square(x), 2),
    "sort": jnp.sort,
    "argsort": lambda x: jnp.argsort(x) * x[0],
    "sort along an axis": lambda x: jnp.sort(square(x), axis=0),
    "sort differentiated": jax.grad(lambda x: jnp.sum(jnp.sort(x) * jnp.arange(9.0))),
    "median": lambda x: jnp.median(x),
    "round": lambda x: jnp.round(4 * x) + jnp.round(jnp.array([0.5, 1.5, 2.5, -0.5, -1.5]) + jnp.floor(x[0])).sum(),
    "cross": lambda x: jnp.cross(x[:3], x[3:6]),
    "norm": lambda x: jnp.linalg.norm(x),
    "norm differentiated": jax.grad(lambda x: jnp.linalg.norm(x)),
    "power": lambda x: jnp.abs(x) ** 1.5 + x**3 + x**-2,
    "power of variables": lambda x: jnp.abs(x) ** x[::-1],
    "abs, sign": lambda x: jnp.abs(x) * jnp.sign(x - 0.2),
    "max, min, clip": lambda x: jnp.maximum(x, 0.2) + jnp.minimum(x, x[::-1]) + jnp.clip(x, -0.3, 0.3),
    "max over all": lambda x: jnp.max(x) - jnp.min(x),
    "arctan2": lambda x: jnp.arctan2(x, x[::-1]),
    "sums": lambda x: jnp.sum(square(x), axis=0) + jnp.prod(square(x), axis=1) + jnp.mean(x),
    "cumulative": lambda x: jnp.cumsum(x) + jnp.cumprod(x)[::-1],
    "stack, split": lambda x: jnp.stack([a.sum() * x[0] for a in jnp.split(x, 3)], axis=0),
    "unpacking": lambda x: (lambda a, b, c: jnp.array([[a, b], [b, c]]))(*x[:3]),
    "unpacking rows": lambda x: (lambda a, b, c: jnp.array([a @ b, c @ c]))(*square(x)),
    "at set": lambda x: jnp.zeros((3, 3)).at[1].set(x[:3]).at[0, 2].set(x[4]),
    "at add": lambda x: jnp.zeros(4).at[jnp.array([1, 3, 1])].add(x[:3]),
    "choice of a scalar": lambda x: jnp.where(True, x[0] ** 2, x[1]),
    "choices of scalars in a loop": lambda x: lax.fori_loop(0, 3, lambda i, y: y + jnp.where(i == 0, x[0], x[1]), 0.0),
    "interpolation at a constant": lambda x: jnp.interp(0.3, jnp.arange(3.0), x[:3]),
    "gather": lambda x: x[jnp.array([2, 0, 2])],
    "gather differentiated": jax.grad(lambda x: jnp.sum(x[jnp.array([2, 0, 2])] ** 3)),
    "einsum": lambda x: jnp.einsum("ij,jk,k->i", square(x), square(x), x[:3]),
    "hessian": jax.hessian(lambda x: jnp.sin(x[0] * x[1]) * x[2]),
    "pad, roll, flip": lambda x: jnp.roll(jnp.pad(x, 2), 3)[::-1],
    "tril, trace": lambda x: jnp.tril(square(x)) * jnp.trace(square(x)),
    "kron": lambda x: jnp.kron(x[:2], x[2:4]),
    "relu": jax.nn.relu,
    "softplus": jax.nn.softplus,
    "sinc": lambda x: jnp.sinc(x),
    "hypot": lambda x: jnp.hypot(x, x[::-1]),
    "truths counted": lambda x: jnp.sum(x > 0.1) * x[0],
    "checkpoint": lambda x: jax.checkpoint(lambda y: jnp.sin(y) * y)(x),
    "jit in jit": lambda x: jax.jit(lambda y: jax.jit(jnp.tanh)(y) * y)(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_those_of_jax_also_away_from_the_sample(name):
    function, g = FUNCTIONS[name], Graph()
    nodes, order = inputs_like(g, SAMPLE)
    outputs = to_graph(g, lambda x: jax.tree.leaves(function(x)), nodes)
    flat = [i for out in outputs for i in out.ravel()]
    for point in (SAMPLE, ELSEWHERE):
        known = dict(zip(order, map(jnp.asarray, point), strict=True))
        found = np.array([float(v) for v in lower(g, flat)(known)])
        leaves = jax.tree.leaves(function(jnp.asarray(point)))
        expected = np.concatenate([np.ravel(np.asarray(leaf, float)) for leaf in leaves])
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)


UNKNOWN = {
    "sort": (lambda x: jnp.sort(jnp.concatenate([x, x, x, x])), "more than 32"),
    "gamma function": (jax.scipy.special.gammaln, "lgamma"),
    "eigenvalues": (lambda x: jnp.linalg.eigvalsh(jnp.outer(x, x)), "more than 8"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_unknown_is_named(name):
    function, words = UNKNOWN[name]
    g = Graph()
    nodes, _ = inputs_like(g, SAMPLE)
    with pytest.raises(Unsupported, match=words):
        to_graph(g, function, nodes)


def turning_blade(angle):
    """A coefficient that is 0.1 (sin^2 + cos^2), and others that are none."""
    across = jnp.stack([-jnp.sin(angle[:4]), jnp.cos(angle[:4])], axis=1)
    return jnp.tril(across @ (0.1 * across.T)) + jnp.outer(angle[4:8], jnp.eye(4)[0])


def test_a_pivot_that_angles_cancel_in_needs_no_guard():
    graph = Graph()
    angle, _ = inputs_like(graph, SAMPLE)
    (x,) = to_graph(graph, lambda a: jnp.linalg.solve(turning_blade(a)[1:, 1:], a[:3]), angle)
    assert graph.guards_of(list(x)) == []
    (x,) = to_graph(graph, lambda a: jnp.linalg.solve(turning_blade(a), a[:4]), angle)
    assert graph.guards_of(list(x)) == []  # of what is left the one coefficient that turns
    (x,) = to_graph(graph, lambda a: jnp.linalg.solve(four(a), a[:4]), angle)
    assert graph.guards_of(list(x)) != []

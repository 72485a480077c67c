"""Functions interpreted by NumPy are what XLA makes of them; what JAX traces is left to it."""

import weakref
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from jax import lax

import discrete_hamel as dh
from discrete_hamel.compiler.reading import interpreter, numpy_rules
from discrete_hamel.compiler.reading.interpreter import TracedWithin, interpret

X = np.array([[0.3, -1.2, 2.5], [0.7, 0.1, -0.4], [1.5, 0.9, 3.1]])
TABLE = jnp.array([1.0, 4.0, 9.0, 16.0])
TWICE = jnp.array([2, 2])


def newton(x):
    return lax.while_loop(lambda c: jnp.abs(c**2 - 2) > 1e-12, lambda c: 0.5 * (c + 2 / c), 1 + x**2)


def running(a):
    return lax.scan(lambda c, row: (c + row @ row, c * row), 0.5, a, reverse=True)


@jax.custom_vjp
def cubed(x):
    return x**3


cubed.defvjp(lambda x: (x**3, x), lambda x, g: (g,))

PROGRAMS = {
    "arithmetic": lambda a: (a / (1 + a**2) - a**-3 + a**2.5, -jnp.abs(a), jnp.sign(a), jnp.square(a)),
    "functions": lambda a: (jnp.arctan2(a, 2.0), jnp.exp(a), jnp.log1p(a**2), jnp.tanh(a), lax.rsqrt(a**2)),
    "whole numbers": lambda a: (jnp.arange(7) // 2 - 3, -jnp.arange(7) // 2, jnp.arange(7) % 3, a.astype(int) * 2),
    "truths": lambda a: (jnp.any(a > 1, axis=0), ~(a > 1) & (a < 2) | (a == 0.1), jnp.isfinite(a / (a - 0.1))),
    "choices": lambda a: (jnp.where(a > 0, a, jnp.nan), jnp.clip(a, -0.5, 0.5), lax.select_n(jnp.arange(3) % 3, *a)),
    "contractions": lambda a: (a @ a.T, jnp.einsum("ij,jk,kl->il", a, a, a), jnp.einsum("ij,ik->ijk", a, a), a @ a[0]),
    "batches": jax.vmap(lambda row: jnp.outer(row, row) @ jnp.array(X)),
    "reductions": lambda a: (a.sum(0), a.max(), a.min(1), a.prod(), jnp.argmax(a, 1), jnp.linalg.norm(a, axis=1)),
    "of nothing": lambda a: (jnp.max(a[:0], initial=0.0), lax.reduce_min_p.bind(a[:0], axes=(0,)), a[:, :0].sum(1)),
    "sums on the way": lambda a: (jnp.cumsum(a, 0), jnp.cumsum(a[::-1], 1)[::-1], jnp.cumprod(a)),
    "movements": lambda a: (jnp.pad(a, ((1, 0), (2, 1))), a.T[::-1], jnp.tile(a, 2), jnp.split(a, 3)),
    "places": lambda a: (a.at[1, 2].set(5.0), a.at[jnp.array([0, 0])].add(a[:2]), a[jnp.array([2, 0])], jnp.diag(a)),
    "past the end": lambda a: (jnp.take(a, 7, axis=0, mode="fill"), a.at[9].set(1.0), a[jnp.array(9)]),
    "several to one place": lambda a: (a.at[jnp.array([0, 2, 0])].add(a), a.at[jnp.array([1, 5, 1]), 0].add(a[0])),
    "places by tables": lambda a: (a[jnp.array([[2, 0], [1, 1]]), jnp.array([0, 2])], a.at[:, TWICE].add(a[:, :2])),
    "places by values": lambda a: (a.at[(a[0] > 1).astype(int)].add(a), a[(a[0] > 1).astype(int)]),
    "places of each row": jax.vmap(lambda row: (row.at[jnp.array([2, 0])].add(row[:2]), row[jnp.array([1, 7])])),
    "the same each time": lambda a: (jnp.arange(3.0) * 2, a + jnp.eye(3), jnp.zeros((2, 3)).at[1].set(7.0)),
    "one place": lambda a: (a[0].at[1].get(mode="fill"), a[0, 0].at[()].get(mode="fill"), a[0, 0].at[()].add(a[1, 1])),
    "windows": lambda a: (lax.dynamic_slice(a, (2, 0), (2, 3)), lax.dynamic_update_slice(a, a[:2], (2, 0))),
    "tables": lambda a: (jnp.interp(a, jnp.arange(4.0), TABLE), jnp.searchsorted(TABLE, a * 5)),
    "a solve": lambda a: (jnp.linalg.solve(a, a[0]), jnp.linalg.solve(a, a.T), jnp.linalg.inv(a), jnp.linalg.det(a)),
    "solves side by side": lambda a: jax.vmap(lambda s: jnp.linalg.solve(a + s * jnp.eye(3), a[0]))(jnp.arange(3.0)),
    "derivatives of a solve": jax.jacfwd(lambda a: jnp.linalg.solve(a, jnp.sin(a[0]))),
    "other algebra": lambda a: (jnp.linalg.cholesky(a @ a.T + jnp.eye(3)), jnp.linalg.eigvalsh(a @ a.T)),
    "loops": lambda a: (newton(a[0, 0]), running(a), lax.fori_loop(0, 5, lambda k, c: c + a[k % 3], a[0])),
    "loops side by side": lambda a: jax.vmap(newton)(a[0]),
    "branches": lambda a: (lax.cond(a[0, 0] > 0, jnp.sin, jnp.cos, a), lax.switch(2, [jnp.sin, jnp.cos, jnp.tan], a)),
    "own derivatives": lambda a: (cubed(a), jax.nn.softplus(a), jax.grad(lambda b: jnp.sum(cubed(b)))(a)),
    "derivatives": jax.hessian(lambda a: jnp.sum(jnp.sin(a @ a) ** 2)),
    "a root": lambda a: lax.custom_root(lambda x: x**3 - a, 1 + a**2, _root, lambda g, y: y / g(1 + 0 * y)),
}  # fmt: skip


def _root(f, x):
    for _ in range(60):
        x = x - f(x) / (3 * x**2)
    return x


@pytest.mark.parametrize("name", PROGRAMS)
def test_equals_what_xla_makes_of_it(name):
    function = PROGRAMS[name]
    found, expected = interpret(function)(X), jax.jit(function)(X)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@given(
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5), st.integers(0, 3)), min_size=2, max_size=2),
)
def test_pads_and_crops_as_xla(shape, config):
    sizes = [low + n + high + max(n - 1, 0) * gap for n, (low, high, gap) in zip(shape, config, strict=True)]
    assume(min(sizes) >= 0)
    a = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)

    def padded(a):
        return lax.pad(a, -1.0, config)

    np.testing.assert_array_equal(interpret(padded)(a), padded(a))


def _wrong_bound(right):
    return lambda *about: lambda *a: 1.001 * right(*about)(*a)


WRONG = {
    **{name: ("TABLE", name, lambda right: lambda *a: 1.001 * right(*a))
       for name in ("dot_general", "cumsum", "scatter-add", "triangular_solve")},
    **{f"{name} at indices known before": ("INDEXED", name, _wrong_bound) for name in ("gather", "scatter-add")},
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_rule_is_seen(wrong, monkeypatch):
    table, name, of = WRONG[wrong]
    monkeypatch.setitem(getattr(numpy_rules, table), name, of(getattr(numpy_rules, table)[name]))
    monkeypatch.setattr(interpreter, "_plans", weakref.WeakKeyDictionary())
    failed = []
    for program in PROGRAMS:
        try:
            test_equals_what_xla_makes_of_it(program)
        except AssertionError:
            failed.append(program)
    assert failed


def test_a_singular_matrix_gives_no_numbers():
    assert np.all(np.isnan(interpret(lambda a: jnp.linalg.solve(a, a[0]))(np.zeros((2, 2)))))


def test_what_jax_traces_is_traced_on():
    function = interpret(lambda x: jnp.sin(x) * x)
    assert jax.grad(function)(1.0) == pytest.approx(np.sin(1) + np.cos(1))
    assert jax.jit(function)(1.0) == pytest.approx(np.sin(1))


def test_a_traced_value_inside_is_refused_by_its_name():
    with pytest.raises(TracedWithin):
        jax.grad(lambda a: float(interpret(lambda x: a * x)(1.0)))(2.0)


OURS = [f"jit_{name}" for name in ("first_state", "_facts", "_quasivelocities", "_definition", "_at_node")]


def test_nothing_is_compiled_for_a_first_call(monkeypatch):
    """Of what grows with the system."""
    compiled = []
    from jax._src import compiler

    whole = compiler.backend_compile_and_load

    def counted(backend, module, *rest, **more):
        compiled.append(str(module.operation.attributes["sym_name"]))
        return whole(backend, module, *rest, **more)

    monkeypatch.setattr(compiler, "backend_compile_and_load", counted)
    dh.clear_caches()
    skate = dh.from_velocities(
        lambda q, v: 0.5 * v @ v, partial(lambda q: jnp.array([[jnp.cos(q[1]), 0.0], [0.0, 1.0]])), 2
    )
    assert dh.simulate(skate, q=[0.1, 0.2], xi=[1.0, 0.5], h=0.01, steps=20).report.path == "compiled"
    assert not [name for name in compiled if name.strip('"') in OURS]


def test_what_is_asked_for_often_is_compiled():
    seen = []

    def noted(x):
        seen.append(type(x))
        return x + 1

    function = interpret(lambda x: jax.pure_callback(noted, x, x), often=2)
    assert [float(function(np.float64(k))) for k in range(4)] == [1.0, 2.0, 3.0, 4.0]
    assert float(interpret(lambda x: 2 * x, often=1)(np.ones(()))) == 2.0

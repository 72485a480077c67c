"""Gather and scatter in NumPy are XLA's: whatever the axes, and for windows that leave the operand."""

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

from discrete_hamel.compiler.reading.gather_scatter import gather
from discrete_hamel.compiler.reading.numpy_rules import TABLE

MODES = (lax.GatherScatterMode.CLIP, lax.GatherScatterMode.FILL_OR_DROP, lax.GatherScatterMode.PROMISE_IN_BOUNDS)
NOWHERE = -7


@st.composite
def windows(draw):
    """Shape, sizes of the windows, axes that are dropped, axes that the rows are along, indices, window axes, mode."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    sizes = [draw(st.integers(1, n)) for n in shape]
    axes = range(len(shape))
    dropped = tuple(axis for axis in axes if sizes[axis] == 1 and draw(st.booleans()))
    targets = tuple(draw(st.permutations(axes))[: draw(st.integers(1, len(shape)))])
    rows = draw(st.lists(st.integers(1, 3), max_size=2))
    mode = draw(st.sampled_from(MODES))  # a promise of indices in bounds that is broken has its consequences too
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    indices = rng.integers(-2, 6, size=(*rows, len(targets)))
    rank = len(rows) + len(shape) - len(dropped)
    places = tuple(sorted(draw(st.permutations(range(rank)))[: len(shape) - len(dropped)]))
    return shape, sizes, dropped, targets, indices, places, mode


@given(windows())
def test_gather_is_that_of_xla(case):
    shape, sizes, dropped, targets, indices, places, mode = case
    numbers = lax.GatherDimensionNumbers(places, dropped, targets)
    operand = np.arange(np.prod(shape)).reshape(shape)
    p = {"dimension_numbers": numbers, "slice_sizes": tuple(sizes), "mode": mode}
    expected = lax.gather(jnp.asarray(operand), jnp.asarray(indices), **p, fill_value=NOWHERE)
    assert np.array_equal(gather(p, operand.shape, indices, NOWHERE)(operand), expected)


@given(windows(), st.booleans())
def test_scatter_is_that_of_xla(case, adding):
    shape, sizes, dropped, targets, indices, places, mode = case
    numbers = lax.ScatterDimensionNumbers(places, dropped, targets)
    window, rows = iter([n for k, n in enumerate(sizes) if k not in dropped]), iter(indices.shape[:-1])
    rank = len(places) + indices.ndim - 1
    updates = np.arange(1.0, 200.0)[: np.prod([*indices.shape[:-1], *sizes])]
    updates = updates.reshape([next(window) if k in places else next(rows) for k in range(rank)])
    expected = lax.scatter_add(jnp.zeros(shape), jnp.asarray(indices), jnp.asarray(updates), numbers, mode=mode)
    p = {"dimension_numbers": numbers, "mode": mode}
    found = TABLE["scatter-add"](p, np.zeros(shape), indices, updates)
    assert np.array_equal(found, expected)


def test_axes_that_operand_and_rows_share():
    x, at = np.arange(24).reshape(2, 4, 3), np.array([[3, 0, 0], [1, 2, 9]])
    for function in (
        lambda x, at: x[at],
        lambda x, at: x[:, at],
        lambda x, at: x.at[at].get(mode="fill", fill_value=-7),
    ):
        over_rows = jax.vmap(function)
        (equation,) = (e for e in _equations(jax.make_jaxpr(over_rows)(x, at)) if e.primitive.name == "gather")
        assert equation.params["dimension_numbers"].operand_batching_dims
        found = gather(equation.params, x.shape, at[..., None], NOWHERE)(x)
        assert np.array_equal(found, over_rows(x, at))


def test_updates_that_operand_and_rows_share():
    x, at, more = np.zeros((2, 4)), np.array([[3, 0, 0], [1, 2, 9]]), np.arange(1.0, 7.0).reshape(2, 3)
    add = jax.vmap(lambda x, at, more: x.at[at].add(more))
    (equation,) = (e for e in _equations(jax.make_jaxpr(add)(x, at, more)) if e.primitive.name == "scatter-add")
    assert equation.params["dimension_numbers"].operand_batching_dims
    found = TABLE["scatter-add"](equation.params, x, at[..., None], more)
    assert np.array_equal(found, add(x, at, more))


def _equations(jaxpr):
    """All equations, those of inner functions too."""
    for equation in jaxpr.eqns:
        yield equation
        for inner in equation.params.values():
            yield from _equations(inner) if hasattr(inner, "eqns") else ()

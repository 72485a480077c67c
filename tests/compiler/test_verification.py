"""A compiled step that is not the plain one is refused with a warning, wherever the error sits, whatever the path."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.native import circular
from discrete_hamel.compiler.reading import data_movement
from discrete_hamel.compiler.step import verification

DATA = {"q": np.array([0.4, -0.7, 0.9]), "xi": np.array([0.3, 0.2, -0.5]), "h": 0.05, "steps": 6}
COEFFICIENT = 0.7


def lagrangian(q, v, k):
    return 0.5 * v @ v - 0.5 * jnp.sum(q * q) - k * jnp.sum(jnp.sin(q[1:] * q[::-1][1:]))


def system():
    """A new one each time, so that nothing built before is found."""
    return dh.from_velocities(lambda q, v, k: lagrangian(q, v, k), lambda q, k: jnp.eye(3), 3, params=COEFFICIENT)


def by_host(model, **scheme):
    return dh.simulate(model, **DATA, **scheme).q[-1]


def by_jit(model, **scheme):
    return jax.jit(lambda q: dh.simulate(model, **{**DATA, "q": q}, **scheme).q[-1])(jnp.asarray(DATA["q"]))


def by_lanes(model, **scheme):
    return dh.ensemble(model, **{**DATA, "q": DATA["q"][None]}, **scheme, progress=False).q.values[0, -1]


WAYS = {"host": by_host, "jit": by_jit, "lanes": by_lanes}
PLAIN = dh.simulate(system(), **DATA, compiled=False).q[-1]


@pytest.mark.parametrize("way", WAYS)
def test_a_right_one_is_taken_without_a_word(way):
    assert np.abs(WAYS[way](system()) - PLAIN).max() < 1e-13


def test_under_jit_the_compiled_step_is_still_taken():
    """The check runs while JAX traces, on concrete numbers."""
    run = jax.jit(lambda q: dh.simulate(system(), **{**DATA, "q": q}))(jnp.asarray(DATA["q"]))
    assert (run.report.path, run.report.reason) == ("compiled", "")


@pytest.mark.parametrize("way", WAYS)
def test_a_primitive_that_is_misread_is_refused(way, monkeypatch):
    """Reversals that are none: Newton's iteration converges, and without the check nothing tells."""
    monkeypatch.setitem(data_movement.BY_NUMPY, "rev", lambda p, a: a)
    with pytest.warns(RuntimeWarning, match=r"FromVelocities with DiscreteHamel.*row \d of DiscreteHamel's residual"):
        end = WAYS[way](system())
    assert np.abs(end - PLAIN).max() < 1e-13


@pytest.mark.parametrize("way", ["host", "lanes"])
def test_a_kernel_that_computes_something_else_is_refused(way, monkeypatch):
    for series in ("SINE", "COSINE"):
        monkeypatch.setattr(circular, series, tuple(2 * c for c in getattr(circular, series)))
    with pytest.warns(RuntimeWarning, match=r"(q|p|interval's xi|mu\(q, xi\)) differs .* of step 1"):
        end = WAYS[way](system())
    assert np.abs(end - PLAIN).max() < 1e-13


def test_a_nodal_velocity_that_does_not_belong_to_the_momentum_is_refused():
    model, state = (
        system(),
        dh.start(system(), dh.DiscreteHamel(), jnp.asarray(DATA["q"]), jnp.asarray(DATA["xi"]), 0.05),
    )
    assert not verification._not_at_node(model, state, state.p)
    assert "differs from p" in verification._not_at_node(model, state, state.p * (1 + 1e-4))


@pytest.mark.parametrize("scheme", [dh.Gauss(stages=3), dh.Composed(dh.DiscreteHamel(), order=4), dh.StaggeredHamel()])
def test_every_kind_of_step_is_checked(scheme, monkeypatch):
    monkeypatch.setitem(data_movement.BY_NUMPY, "rev", lambda p, a: a)
    with pytest.warns(RuntimeWarning, match="the compiled step differs from the plain one"):
        by_host(system(), scheme=scheme)


@pytest.mark.parametrize("size", [0.0, 1e-12, 1e9])
def test_no_size_and_no_rest_is_taken_for_a_difference(size):
    run = dh.simulate(system(), **{**DATA, "q": size * DATA["q"], "xi": 0 * DATA["xi"], "steps": 3})
    assert "differs" not in run.report.reason


def test_a_comparison_counts_as_a_number():
    """Slopes of choices add up: NumPy's True + True is True."""
    graph = Graph()
    less = graph.binary("lt", graph.input("x", 1.0), graph.const(2.0))
    assert verification.values_of(graph, [graph.add(less, less), graph.neg(less)], {0: 1.0}).tolist() == [2.0, -1.0]

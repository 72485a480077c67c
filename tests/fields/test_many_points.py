"""Fields of thousands of points through `simulate` and stores: nothing on the way is as large as a dense matrix."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import subjaxprs

import discrete_hamel as dh
from discrete_hamel import checks, loops, many_coordinates
from discrete_hamel.fields import Beam, NeighbourHamel, SphereField, String, TridiagonalTension

POINTS = 2000
CASES = [
    pytest.param(String(points=POINTS), TridiagonalTension(), id="string"),
    pytest.param(Beam(points=POINTS, blade=True), NeighbourHamel(), id="beam"),
    pytest.param(SphereField(points=POINTS), NeighbourHamel(), id="sphere"),
]


def largest(jaxpr):
    """Numbers in the largest array that a traced function forms, also within its loops and solves."""
    sizes = [int(np.prod(variable.aval.shape)) for equation in jaxpr.eqns for variable in equation.outvars]
    within = [largest(inner) for inner in subjaxprs(jaxpr)]
    return max(sizes + within, default=0)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    string = String(points=POINTS)
    path = tmp_path_factory.mktemp("many") / "run.zarr"
    return dh.simulate(string, **string.sample(), steps=10, scheme=TridiagonalTension(), store=path), path


def test_a_string_of_many_points_runs_into_a_store(stored):
    run, path = stored
    assert run.report.converged.all()
    assert np.max(run.invariants()["stretch"]) < 1e-12 * 10**0.5
    np.testing.assert_array_equal(np.asarray(dh.load(path, system=run.system, scheme=run.scheme).q), np.asarray(run.q))
    matrix = 8 * (2 * POINTS) ** 2
    assert sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) < matrix / 2


@pytest.mark.parametrize(("system", "scheme"), CASES)
def test_nothing_traced_is_a_matrix(system, scheme):
    """All that `simulate` compiles: what is asked of the data, the start, and a chunk of steps with its buffers."""
    start = system.sample()
    q, free, h = (jnp.asarray(start[name], float) for name in ("q", "xi", "h"))
    xi = jnp.concatenate([free, system.slip(q)])
    system, scheme = checks.canonical(system), checks.canonical(scheme)
    state = jax.eval_shape(scheme.start, system, q, xi, h)
    one = jnp.asarray(1)
    traced = [
        many_coordinates.facts.trace(system, q, xi),
        loops._start.trace(system, scheme, q, xi, h),
        loops._chunk.trace(system, scheme, state, h, one, one, length=loops._length(q)),
    ]
    assert max(largest(found.jaxpr.jaxpr) for found in traced) < POINTS**2 / 2
    assert largest(jax.make_jaxpr(system.frame)(q).jaxpr) >= (2 * POINTS) ** 2  # what would be found


def test_its_refusals_are_as_short():
    string = String(points=POINTS)
    start = string.sample()
    with pytest.raises(ValueError, match="the Lagrangian is inf at the initial data") as refused:
        dh.simulate(string, q=start["q"], xi=1e200 * start["xi"], h=1e-5, steps=1, scheme=TridiagonalTension())
    assert len(str(refused.value)) < 400
    with pytest.raises(dh.NewtonFailed, match="a residual of norm") as failed:
        dh.simulate(string, **(start | {"h": 1e3}), steps=10, scheme=TridiagonalTension())
    assert len(str(failed.value)) < 600
    assert len(failed.value.trajectory) == 1
    off = np.concatenate([start["xi"], 0 * start["xi"][2:]])
    off[-1] = 1.0
    with pytest.raises(ValueError, match=f"demands sigma{POINTS - 1} = 0 and it is 1"):
        dh.simulate(string, q=start["q"], xi=off, h=1e-5, steps=1, scheme=TridiagonalTension())

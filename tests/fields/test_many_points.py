"""Fields of thousands of points through `simulate` and stores: nothing on the way is as large as a dense matrix."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import subjaxprs

import discrete_hamel as dh
from discrete_hamel.fields import (
    AlongAndAcross,
    Beam,
    ConstrainedString,
    Driven,
    Fixed,
    LinkByLink,
    NeighbourHamel,
    NeighbourTension,
    SleighWithString,
    SphereField,
    String,
    TridiagonalTension,
    tension,
)
from discrete_hamel.runs import loop as loops
from discrete_hamel.runs import validation as checks

POINTS = 2000


def heading(distance):
    return 0.4 * jnp.sin(2 * distance)


CASES = [
    pytest.param(String(points=POINTS), TridiagonalTension(), id="string"),
    pytest.param(Beam(points=POINTS, blade=True), NeighbourHamel(), id="beam"),
    pytest.param(SphereField(points=POINTS), NeighbourHamel(), id="sphere"),
    pytest.param(AlongAndAcross(String(points=POINTS)), NeighbourTension(), id="across"),
    pytest.param(ConstrainedString(points=POINTS, heading=heading), LinkByLink(), id="following"),
    pytest.param(SleighWithString(points=POINTS), LinkByLink(), id="sleigh"),
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
        jax.jit(checks._facts.__wrapped__).trace(system, q, xi),
        jax.jit(loops.first_state.__wrapped__).trace(system, scheme, q, xi, h),
        loops._chunk.trace(system, scheme, state, h, one, one, length=loops.chunk_length(q)),
        jax.jit(lambda q: dh.quasivelocities(system, q, dh.velocities(system, q, xi))).trace(q),
        jax.jit(lambda q: _tension(system, q, xi)).trace(q),
    ]
    assert max(largest(found.jaxpr.jaxpr) for found in traced) < POINTS**2 / 2
    assert largest(jax.make_jaxpr(system.frame)(q).jaxpr) >= (2 * POINTS) ** 2  # what would be found


def _tension(system, q, xi):
    if isinstance(system, SphereField | Beam):
        return dh.energy(system, q, xi)
    if isinstance(system, AlongAndAcross):
        return tension(*system.as_string(q, system.velocity(q, xi)))
    return tension(system, q, xi) if isinstance(system, String) else system.tension(q, xi)


@pytest.mark.parametrize(("system", "scheme"), CASES)
def test_initial_data_as_velocities_need_no_matrix(system, scheme):
    """Ready for a run, xi is found from v; what is off the constraint is refused by the name of what it violates."""
    start = system.sample()
    q = jnp.asarray(start["q"])
    _, _, xi = checks.initial_data(system, q, start["xi"], None)
    v = np.asarray(system.velocity(q, xi))
    _, _, found = checks.initial_data(system, q, None, v)
    np.testing.assert_allclose(found, xi, atol=1e-12 * POINTS * np.max(np.abs(xi)))
    if system.rank < len(xi):
        off = np.asarray(xi).copy()
        off[-1] += 0.1
        with pytest.raises(ValueError, match=f"demands {system.velocities[-1]} = 0 and it is 0.1"):
            checks.initial_data(system, q, None, system.velocity(q, jnp.asarray(off)))


SMALL = [
    String(points=5),
    String(points=5, front=Fixed()),
    String(points=5, front=Driven(lambda t: (0.1 * jnp.sin(3 * t), 0.05 * t))),
    String(points=5, front=Fixed(), back=Fixed()),
    Beam(points=3),
    Beam(points=3, blade=True),
    Beam(points=3, clamped=True),
    AlongAndAcross(String(points=4)),
    AlongAndAcross(String(points=4), turned=True),
    ConstrainedString(points=4, heading=heading),
    SleighWithString(points=4),
]


@pytest.mark.parametrize("system", SMALL, ids=lambda system: type(system).__name__)
def test_the_inverse_of_velocity(system):
    """Against the frame as a matrix, off the constraint and off unit links too."""
    rng = np.random.default_rng(3)
    n = len(system.coordinates) or 2 * system.string.points
    q = jnp.asarray(rng.normal(size=n))
    xi = rng.normal(size=n)
    psi = np.asarray(system.frame(q))
    np.testing.assert_allclose(system.quasivelocity(q, jnp.asarray(psi @ xi)), xi, atol=1e-13 * np.linalg.cond(psi))


def test_velocities_that_are_no_motion_of_the_field_are_refused():
    """0.1 along x at u = (cos 2, sin 2, 0), the last point: off the sphere by 0.1 u_x u, most along y."""
    field = SphereField(points=POINTS)
    start = field.sample()
    v = np.array(field.velocity(jnp.asarray(start["q"]), jnp.asarray(start["xi"])))
    v[5997] += 0.1
    by = 0.1 * np.cos(2) * np.sin(2)
    with pytest.raises(
        ValueError, match=rf"misses row 5998, the velocity of q\[5998\], by {by:.3g} \(v is of size 1\)"
    ):
        dh.simulate(field, start["q"], v=v, h=1e-4, steps=1, scheme=NeighbourHamel())


class WithoutInverse(dh.System):
    rank = 201

    def lagrangian(self, q, xi):
        return 0.5 * xi @ xi - 0.5 * q @ q

    def velocity(self, q, xi):
        return xi + 0 * q

    def frame(self, q):
        return jnp.eye(len(q))


def test_a_map_without_its_inverse_is_asked_for_it():
    with pytest.raises(ValueError, match=r"Give xi; or give WithoutInverse a method quasivelocity\(q, v\)"):
        dh.simulate(WithoutInverse(), np.zeros(201), v=np.ones(201), h=0.1, steps=1)


def test_its_refusals_are_as_short():
    string = String(points=POINTS)
    start = string.sample()
    with pytest.raises(ValueError, match="the Lagrangian is not finite at the initial data.*: inf") as refused:
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

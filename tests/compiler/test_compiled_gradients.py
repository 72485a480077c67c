"""Derivatives of compiled runs: against the plain path, which is their definition, and against differences."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import DISK, PENDULUM, SLEIGH
from test_compile import compilations

import discrete_hamel as dh
from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler import paths
from discrete_hamel.compiler.gradients import jax_primitives
from discrete_hamel.compiler.graph.differentiation import pull, push
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import lower

STEPS = 12


class Turntable(dh.System):
    """A knife edge on a table that turns: b(q) is not zero, and the frame turns with the heading."""

    mass: float = 1.3
    turning: float = 0.4
    rank = 2

    def lagrangian(self, q, xi):
        return 0.5 * self.mass * (xi[1] ** 2 + xi[2] ** 2) + 0.3 * xi[0] ** 2 - 0.2 * self.mass * q[1] ** 2

    def frame(self, q):
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])

    def slip(self, q):
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        return self.turning * jnp.array([s * q[2] + c * q[1]])


CASES = {
    "pendulum": (PENDULUM.system, PENDULUM.q, PENDULUM.xi, 0.1, {}),
    "disk": (dh.systems.RollingDisk(1.0, 1.0, 0.3, 0.5), DISK.q, DISK.xi, 0.02, {"save_every": 3}),
    "sleigh": (SLEIGH.system, SLEIGH.q, SLEIGH.xi, 0.05, {"scheme": dh.Composed(dh.DiscreteHamel(), order=4)}),
    "turntable": (Turntable(), (0.3, 0.5, -0.2), (0.7, 0.4), 0.05, {"scheme": dh.Gauss(stages=1)}),
}


class Case:
    """All numbers of a run in one vector z = (parameters, q, xi, h), and what is computed from it, by both paths."""

    def __init__(self, system, q, xi, h, options):
        leaves, self.structure = jax.tree.flatten(system)
        self.z = jnp.array([*leaves, *q, *xi, h], float)
        self.ends = np.cumsum([len(leaves), len(q)])
        self.options = options

    def run(self, z, compiled=True):
        leaves, q, rest = jnp.split(z, self.ends)
        system = jax.tree.unflatten(self.structure, list(leaves))
        return dh.simulate(system, q=q, xi=rest[:-1], h=rest[-1], steps=STEPS, compiled=compiled, **self.options)

    def on_the_manifold(self, z):
        """z with a unit vector gamma where the coordinates are one: the host refuses others."""
        leaves, q, rest = jnp.split(z, self.ends)
        redundant = jax.tree.unflatten(self.structure, list(leaves)).redundant
        return jnp.concatenate([leaves, q / jnp.sqrt(q @ q) if redundant else q, rest])

    def numbers(self, z, compiled=True):
        traj = self.run(z, compiled)
        return jnp.concatenate([a.ravel() for a in (traj.t, traj.q, traj.p, traj.xi, traj.xi_mid, traj.energy)])

    def loss(self, z, compiled=True):
        numbers = self.numbers(z, compiled)
        return numbers @ jnp.cos(jnp.arange(len(numbers)))


def near(a, b, tolerance=1e-10):
    a, b = np.asarray(a), np.asarray(b)
    return np.abs(a - b).max() <= tolerance * np.abs(b).max()


@pytest.fixture(scope="module", params=CASES)
def case(request):
    return Case(*CASES[request.param])


@pytest.fixture(scope="module")
def first(case):
    """The direction; numbers, gradient and slope along the direction, compiled; numbers and gradient, plain."""
    direction = jnp.cos(jnp.arange(len(case.z)))

    @jax.jit
    def compiled(z, v):
        return case.numbers(z), jax.grad(case.loss)(z), jax.jvp(case.loss, (z,), (v,))[1]

    @jax.jit
    def plain(z):
        return case.numbers(z, compiled=False), jax.jacfwd(partial(case.loss, compiled=False))(z)

    return direction, compiled(case.z, direction), plain(case.z)


def test_numbers_and_first_derivatives_are_those_of_the_plain_path(first):
    direction, (numbers, reverse, along), (expected, plain) = first
    assert near(numbers, expected, 1e-13)
    assert near(reverse, plain)
    assert np.all(np.abs(plain) > 1e-9)  # everything matters: no derivative is compared as zero with zero
    assert float(along) == pytest.approx(float(plain @ direction), rel=1e-10)


def test_gradient_is_the_slope_of_the_run_on_the_host(case, first):
    """Differences of what `simulate` gives for numbers, by the other compiled loop: fourth order, in a direction."""
    direction, (_, reverse, _), _ = first

    def loss(k):
        return float(case.loss(case.on_the_manifold(case.z + k * 1e-3 * direction)))

    _, tangent = jax.jvp(case.on_the_manifold, (case.z,), (direction,))
    slope = (loss(-2) - 8 * loss(-1) + 8 * loss(1) - loss(2)) / 12
    assert float(reverse @ tangent) * 1e-3 == pytest.approx(slope, rel=1e-6)


def test_several_outputs_several_ways():
    """jacrev of many outputs is jacfwd of them, and vmap of the gradient is one gradient after the other."""
    case = Case(*CASES["pendulum"])

    def last(z):
        return case.run(z).q[-1]

    rows, columns = jax.jit(lambda z: (jax.jacrev(last)(z), jax.jacfwd(last)(z)))(case.z)
    assert near(rows, columns, 1e-12)
    points = jnp.stack([case.z, 1.01 * case.z, 0.99 * case.z])
    gradient = jax.grad(lambda z: last(z).sum())
    one = jax.jit(gradient)
    assert near(jax.jit(jax.vmap(gradient))(points), [one(z) for z in points], 1e-12)


def test_second_derivatives():
    """Forward over reverse and reverse over reverse; symmetric, and the slope of the gradient."""
    case = Case(*CASES["pendulum"])
    weights = jnp.array([1.0, 2.0, -1.0])
    gradient = jax.grad(lambda z: case.run(z).q[-1] @ weights)
    direction = jnp.cos(jnp.arange(len(case.z)))

    @jax.jit
    def second(z):
        return jax.jacfwd(gradient)(z), jax.vjp(gradient, z)[1](direction)[0]

    hessian, product = map(np.asarray, second(case.z))
    assert near(hessian, hessian.T, 1e-11)
    assert near(product, hessian @ direction)
    slopes, eps = jax.jit(gradient), 1e-3
    below2, below, above, above2 = (np.asarray(slopes(case.z + k * eps * direction)) for k in (-2, -1, 1, 2))
    assert near(hessian @ direction, (below2 - 8 * below + 8 * above - above2) / (12 * eps), 1e-7)


def test_new_values_compile_nothing():
    case = Case(*CASES["pendulum"])
    gradient = jax.jit(jax.grad(case.loss))
    other = case.z * 1.01
    gradient(case.z)
    with compilations() as names:
        gradient(other)
    assert names == []


def test_the_path_is_reported_under_jit():
    case = Case(*CASES["pendulum"])
    assert jax.jit(case.run)(case.z).report.path == "compiled"
    report = jax.jit(partial(case.run, compiled=False))(case.z).report
    assert (report.path, report.reason) == ("plain", "asked for")


def test_what_cannot_be_compiled_is_plain_with_the_reason():
    def lagrangian(q, xi):
        return 0.5 * xi @ xi - 0.5 * jax.scipy.special.gammaln(2.0 + q @ q)

    system = dh.from_quasivelocities(lagrangian, lambda q: jnp.eye(2), 2)

    def end(q):
        traj = dh.simulate(system, q=q, xi=[0.0, 1.0], h=0.1, steps=3)
        return traj.q[-1].sum(), traj.report

    slope, report = jax.jit(jax.grad(end, has_aux=True))(jnp.array([1.0, 0.5]))
    assert report.path == "plain"
    assert "digamma" in report.reason  # of the derivative; lgamma itself is not asked for
    assert np.all(np.isfinite(slope))


def test_a_derivative_of_ones_own_is_respected():
    """Of what has a custom rule only the rule is used: here it is wrong on purpose, and the plain path believes it."""

    @jax.custom_jvp
    def odd(x):
        return x**2

    odd.defjvp(lambda primals, tangents: (odd(*primals), 1.9 * primals[0] * tangents[0]))

    def lagrangian(q, xi):
        return 0.5 * xi @ xi - 0.5 * odd(q[0]) * q[1] ** 2 - jax.lax.stop_gradient(q[0]) * q[1]

    system = dh.from_quasivelocities(lagrangian, lambda q: jnp.eye(2), 2)

    def end(q, compiled):
        return dh.simulate(system, q=q, xi=[0.0, 1.0], h=0.1, steps=5, compiled=compiled).q[-1].sum()

    q = jnp.array([1.0, 0.5])
    fast, plain = (jax.jit(jax.grad(partial(end, compiled=c)))(q) for c in (True, False))
    assert near(fast, plain, 1e-12)


def test_a_step_that_fails_is_nan_and_marked_and_so_is_its_gradient():
    """Where Newton's equations lose their root, midway."""
    system = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi + q[0] ** 3 / 3, lambda q: jnp.eye(1), 1)

    def run(h, compiled):
        return dh.simulate(system, q=[1.0], xi=[1.0], h=h, steps=STEPS, compiled=compiled)

    fast, plain = (jax.jit(partial(run, compiled=c))(0.2) for c in (True, False))
    good = np.asarray(fast.report.converged)
    count = int(good.sum())
    assert 1 < count < STEPS
    assert np.array_equal(good, plain.report.converged)
    assert np.all(np.isnan(fast.q[count + 1 :]))
    assert near(fast.q[: count + 1], plain.q[: count + 1], 1e-12)

    def node(h, k):
        return run(h, compiled=True).q[k, 0]

    value, slope = (jax.jit(f, static_argnums=1) for f in (node, jax.grad(node)))
    assert np.isnan(slope(0.2, STEPS))
    assert float(slope(0.2, 1)) == pytest.approx(float((value(0.2001, 1) - value(0.1999, 1)) / 2e-4), rel=1e-6)


def test_where_pivots_fail_the_plain_path_takes_the_whole_run(monkeypatch):
    """A guard that gives way midway; what comes out is right all the same, forwards and backwards."""
    built, build = [], paths._at_point

    def with_guard(*point):
        compiled = build(*point)
        graph, height = compiled.history.graph, compiled.history.stepper.state[2]
        compiled.history.guards = [graph.sub(graph.const(-0.92), height)]
        built.append(compiled.history)
        return compiled

    monkeypatch.setattr(paths, "_at_point", with_guard)
    monkeypatch.setattr(paths, "_steps", Cache(most=1))
    case = Case(*CASES["pendulum"])
    weights = jnp.array([1.0, 2.0, -1.0])

    @partial(jax.jit, static_argnums=1)
    def both(z, compiled):
        def last(z):
            return case.run(z, compiled).q[-1] @ weights

        return case.run(z, compiled).q, jax.grad(last)(z), jax.jvp(last, (z,), (z,))[1]

    (q, reverse, forward), (expected, plain, _) = both(case.z, True), both(case.z, False)
    assert built[0].guards
    assert expected[1, 2] < -0.92 < np.max(expected[:, 2])  # it holds at first, and then it does not
    assert near(q, expected, 1e-13)
    assert near(reverse, plain)
    assert float(forward) == pytest.approx(float(plain @ case.z), rel=1e-10)


def test_sweeps_are_each_others_transpose():
    graph = Graph()
    x, y = graph.input("x", 0.4), graph.input("y", 1.3)
    product = graph.mul(graph.unary("sin", x), graph.div(y, graph.add(x, graph.const(2.0))))
    outputs = [product, graph.select(graph.binary("lt", x, y), graph.mul(x, product), y), graph.sub(x, product)]
    names = [graph.input(name, 1.0) for name in ("dx", "dy", "a", "b", "c")]
    forwards = push(graph, outputs, {x: names[0], y: names[1]})
    backwards = pull(graph, outputs, names[2:], [x, y])
    numbers = dict(zip([x, y, *names], jnp.array([0.4, 1.3, 0.7, -0.2, 0.5, 0.9, -1.1]), strict=True))
    moved, weighed = (jnp.stack(lower(graph, o)(numbers)) for o in (forwards, backwards))
    assert float(moved @ jnp.array([0.5, 0.9, -1.1])) == pytest.approx(float(weighed @ jnp.array([0.7, -0.2])), 1e-14)


def test_the_derivative_of_what_is_not_used_is_not_made(monkeypatch):
    """Outside jit JAX would trace and compile that of all that a run records."""

    def end(of, xi):
        return getattr(dh.simulate(DISK.system, DISK.q, xi, h=0.02, steps=STEPS), of)[-1, 0]

    plain = jax_primitives.FunctionCotangent.plain

    def refused(call, *arguments):
        if type(call.function).__name__ == "_Velocities":
            raise NotImplementedError("the cotangent of velocities")
        return plain(call, *arguments)

    monkeypatch.setattr(jax_primitives.FunctionCotangent, "plain", refused)
    assert np.all(np.isfinite(jax.grad(partial(end, "q"))(jnp.array(DISK.xi))))
    for of in ("xi", "xi_mid"):
        with pytest.raises(NotImplementedError, match="velocities"):
            jax.grad(partial(end, of))(jnp.array(DISK.xi))


def test_velocities_side_by_side_are_those_of_each_and_so_are_their_derivatives():
    def end(xi):
        return dh.simulate(DISK.system, DISK.q, xi, h=0.02, steps=STEPS).xi[-1]

    many = jnp.stack([jnp.array(DISK.xi), 1.1 * jnp.array(DISK.xi)])
    np.testing.assert_allclose(jax.vmap(end)(many), [end(xi) for xi in many], rtol=1e-13)
    np.testing.assert_allclose(jax.vmap(jax.jacrev(end))(many), [jax.jacfwd(end)(xi) for xi in many], rtol=1e-10)

"""Runs along many coordinates, sums and neighbours, against the plain path; and what is too large to be compiled."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.graph import expressions, size_limits
from discrete_hamel.compiler.graph.lowering import lower
from discrete_hamel.compiler.graph.pytree_leaves import scalars
from discrete_hamel.compiler.paths import compiled_for, stepper_for
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.compiler.step.verification import values_of
from discrete_hamel.runs import validation as checks


def relative(q, xi, parameters):
    """The chain in joint angles: the sums are of angles too."""
    masses, lengths, gravity = parameters
    angle, omega = jnp.cumsum(q), jnp.cumsum(xi)
    across = jnp.cumsum(lengths * jnp.cos(angle) * omega)
    up = jnp.cumsum(lengths * jnp.sin(angle) * omega)
    height = -jnp.cumsum(lengths * jnp.cos(angle))
    return jnp.sum(masses * (0.5 * across**2 + 0.5 * up**2 - gravity * height))


def springs(q, xi, stiffness):
    """Beads on a string, each held in place, in the manner of Fermi, Pasta, Ulam and Tsingou."""
    stretch = q[1:] - q[:-1]
    return 0.5 * xi @ xi - 0.5 * q @ q - jnp.sum(stiffness * stretch**2 / 2 + stretch**4 / 4)


def friction(q, xi, parameters):
    return -0.3 * xi


LINKS = 6
FRAME = {"frame": lambda q, _: jnp.eye(LINKS), "rank": LINKS}
SYSTEMS = {
    "absolute angles": dh.systems.PlanarChain(links=LINKS, masses=np.linspace(1, 2, LINKS)),
    "joint angles, friction": dh.from_quasivelocities(
        relative, **FRAME, force=friction, params=(np.linspace(1, 2, LINKS), 0.7, 9.8)
    ),
    "springs": dh.from_velocities(springs, **FRAME, params=0.8),
}
DATA = {"q": 0.2 + 0.1 * np.cos(np.arange(LINKS)), "xi": 0.3 * np.sin(np.arange(LINKS)), "h": 0.01}
SCHEMES = (
    dh.DiscreteHamel(tau=0.25),
    dh.DiscreteHamel(compensated=True),
    dh.StaggeredHamel(),
    dh.Gauss(stages=2),
    dh.Gauss(stages=2, compensated=True),
)


def built(system, scheme=None, q=DATA["q"], xi=DATA["xi"], h=DATA["h"]):
    """The stepper that a run takes, and what it takes."""
    run = begun(system, scheme, q, xi, h)
    return stepper_for(*run), *run


def begun(system, scheme=None, q=DATA["q"], xi=DATA["xi"], h=DATA["h"]):
    system, q, xi = checks.initial_data(system, q, xi, None)
    system, scheme, h = checks.canonical(system), checks.canonical(scheme or dh.DiscreteHamel()), jnp.asarray(h)
    return system, scheme, dh.start(system, scheme, q, xi, h), h


def difference(a, b):
    """The largest difference of two runs, relative to the largest number of each kind."""
    pairs = [(getattr(a, name), getattr(b, name)) for name in ("q", "p", "xi", "xi_mid")]
    return max(np.abs(x - y).max() / np.abs(y).max() for x, y in pairs)


CASES = [(name, dh.DiscreteHamel()) for name in SYSTEMS] + [("absolute angles", scheme) for scheme in SCHEMES]


@pytest.mark.parametrize(("name", "scheme"), CASES, ids=lambda x: x if isinstance(x, str) else repr(x))
def test_a_compiled_step_is_a_plain_one(name, scheme):
    """Step by step, each from where the plain one is, so that nothing is magnified by the motion."""
    stepper, system, scheme, state, h = built(SYSTEMS[name], scheme)
    assert isinstance(stepper, Stepper)
    plain = jax.jit(lambda state: dh.step(system, scheme, state, h))
    for _ in range(4):
        after, done, good, (_, _, xi, xi_mid, report) = stepper.run(system, scheme, state, h, 1, 1)
        state, interval = plain(state)
        assert (done, good) == (1, True)
        assert report.iterations[0] == interval.report.iterations
        assert np.abs(xi_mid[0] - interval.xi).max() < 1e-13 * np.abs(interval.xi).max()
        assert report.residual[0] < 1e-13 * np.abs(state.p).max()
        for kind in ("q", "p", "xi"):
            a, b = getattr(after, kind), getattr(state, kind)
            assert np.abs(a - b).max() < 1e-13 * np.abs(b).max(), kind
        expected = scheme.velocity(system, state)
        assert np.abs(xi[0] - expected).max() < 1e-13 * np.abs(expected).max()


@pytest.mark.parametrize("links", [2, 3, 12])
def test_runs_of_any_length_agree(links):
    system = dh.systems.PlanarChain(links=links)
    sample = system.sample()
    run, plain = (dh.simulate(system, **sample, steps=12, compiled=compiled) for compiled in (True, False))
    assert (run.report.path, plain.report.path) == ("compiled", "plain")
    assert difference(run, plain) < 1e-13
    assert np.array_equal(run.report.iterations, plain.report.iterations)
    assert run.report.residual.max() < 1e-13 * np.abs(run.p).max()


def test_the_work_of_a_chain_grows_with_its_links():
    """Elimination of the sums with the unknowns is linear in their number, where the dense one has its cube."""
    operations = []
    for links in (12, 24):
        system = dh.systems.PlanarChain(links=links, masses=np.linspace(1, 2, links))
        sample = system.sample()
        operations.append(Stepper(*begun(system, q=sample["q"], xi=sample["xi"])).root.operations)
    assert operations[1] < 2.2 * operations[0] < 2.2 * 200 * 12


def test_new_values_build_nothing_new():
    first, second = (built(SYSTEMS["absolute angles"].replace(masses=np.full(LINKS, m)))[0] for m in (0.5, 3.0))
    assert first is second


def test_a_second_difference_is_that_of_the_written_out_sum():
    """A free elastic rod: a compiler that misread it once said converged, and was off by 1.6."""

    def rod(q, v):
        return 0.5 * v @ v - 0.5 * jnp.sum(jnp.diff(q, 2) ** 2)

    system = dh.from_velocities(rod, lambda q: jnp.eye(12), 12)
    data = {"q": np.sin(np.arange(12) / 2), "xi": np.zeros(12), "h": 0.05, "steps": 400}
    run, plain = (dh.simulate(system, **data, compiled=compiled) for compiled in (True, False))
    assert (run.report.path, plain.report.path) == ("compiled", "plain")
    assert difference(run, plain) < 1e-11


def test_what_is_too_large_is_plain_with_the_reason(monkeypatch):
    monkeypatch.setattr(expressions, "MOST_NODES", 5000)
    system = dh.systems.PlanarChain(links=40)
    sample = system.sample()
    assert built(system, q=sample["q"], xi=sample["xi"])[0] == "more than 5000 operations"


def test_many_coordinates_that_do_not_meet_are_no_work():
    system = dh.from_velocities(lambda q, v: 0.5 * v @ v - 0.5 * q @ q, lambda q: jnp.eye(130), 130)
    data = {"q": np.ones(130), "xi": np.zeros(130), "h": 0.05, "steps": 20}
    run, plain = (dh.simulate(system, **data, compiled=compiled) for compiled in (True, False))
    assert (run.report.path, plain.report.path) == ("compiled", "plain")
    assert difference(run, plain) < 1e-13


def test_under_jit_and_grad_size_has_no_other_limit():
    """40 links: on the host, under jit, and the slope there by differences."""
    links = 40
    system = dh.systems.PlanarChain(links=links, masses=np.linspace(1, 2, links))
    sample = system.sample()
    push = np.cos(np.arange(links))

    def end(s):
        return dh.simulate(system, jnp.asarray(sample["q"]), s * push, h=1e-3, steps=20).q[-1, -1]

    host = dh.simulate(system, sample["q"], push, h=1e-3, steps=20)
    (form,) = compiled_for(*canonical(system, sample["q"], push, 1e-3))[:1]
    assert form.stepper.root.operations > size_limits.MOST_JIT
    value, slope = jax.jit(jax.value_and_grad(end))(1.0)
    assert value == host.q[-1, -1]
    assert slope == pytest.approx((end(1 + 1e-5) - end(1 - 1e-5)) / 2e-5, rel=1e-7)


def canonical(system, q, xi, h):
    system, q, xi = checks.initial_data(system, q, xi, None)
    return checks.canonical(system), checks.canonical(dh.DiscreteHamel()), q, xi, jnp.asarray(h)


def test_saving_now_and_then_saves_the_same():
    system = SYSTEMS["absolute angles"]
    every, fifth = (dh.simulate(system, **DATA, steps=40, save_every=k) for k in (1, 5))
    for name in ("t", "q", "p", "xi"):
        assert np.array_equal(getattr(every, name)[::5], getattr(fifth, name)), name
    assert np.array_equal(every.xi_mid[4::5], fifth.xi_mid)
    assert np.array_equal(every.report.iterations.reshape(-1, 5).max(axis=1), fifth.report.iterations)


def test_a_step_that_fails_is_a_failure_with_the_run_so_far():
    """A force without bounds: both paths stop after the same good steps."""
    system = dh.from_velocities(
        springs, **FRAME, params=0.8, force=lambda q, v, _: jnp.where(q > 1.0, jnp.nan, 5.0) + 0.0 * v
    )
    done = []
    for compiled in (True, False):
        with pytest.raises(dh.NewtonFailed) as failure:
            dh.simulate(system, **DATA, steps=500, compiled=compiled)
        done.append(len(failure.value.trajectory))
    assert 1 < done[0] == done[1] < 500


# (seed, scale, spread): the first were found to lose most digits, out of 400 drawn at random.
CHAINS = [
    *((906613, 0.20127300680296667, 1.7837084162909123), (251578, 0.47769296886919266, 1.420926479926138)),
    *((271785, -0.9312336619949568, 0.9061473810222925), (314302, 0.0, 2.5)),
    *((seed, seed % 5 - 2.0, 3.2 * seed / 25) for seed in range(25)),
]


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no number has more digits than a double here")
def test_elimination_with_the_sums_is_the_dense_solve_for_any_chain():
    """Masses over four decades, any angles: Newton's correction as by the dense Jacobian of the plain path.

    The pivots are those of the sample, so that elsewhere roundings grow by |K^-1| |L| |U| (Higham 2002, thm. 9.4),
    which no condition number bounds. With 11 more bits that is 2000 times less: there the formulas have to be exact.
    What is left in doubles must be small beside the correction, of which it is the factor of Newton's contraction, and
    in most chains nothing but roundings. That it is of no account in runs is shown by the test below.
    """
    contraction = []
    for seed, scale, spread in CHAINS:
        stepper, known, expected, condition = _at_a_chain(seed, scale, spread)
        size = np.abs(expected).max()
        exact = values_of(stepper.graph, stepper.root.correction, {k: np.longdouble(v) for k, v in known.items()})
        assert np.abs(exact - expected).max() < (1e-14 * condition + 1e-13) * size
        found = np.asarray(_corrected(stepper)(known))
        contraction.append(np.abs(found - expected).max() / size)
    assert max(contraction) < 1e-6
    assert np.median(contraction) < 1e-12


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no number has more digits than a double here")
def test_what_a_correction_loses_is_in_proportion_to_the_roundoff():
    """In single precision 2^29 times as much, for the same data: the first order of its bound, neither more nor less.

    A formula that is wrong by more than its roundings loses as much in both.
    """
    lost = np.array([_lost_in_doubles_and_singles(*chain) for chain in CHAINS[4:16]])
    ratio = np.median(lost[:, 1] / lost[:, 0])
    assert 2.0**29 / 8 < ratio < 2.0**29 * 8
    assert not 2.0**29 / 8 < np.median(lost[:, 1] / (lost[:, 0] + 1e-11)) < 2.0**29 * 8  # a formula off by that


def _lost_in_doubles_and_singles(seed, scale, spread):
    stepper, known, *_ = _at_a_chain(seed, scale, spread)
    exact, *others = (
        values_of(stepper.graph, stepper.root.correction, {k: kind(np.float32(v)) for k, v in known.items()})
        for kind in (np.longdouble, np.float64, np.float32)
    )
    return [np.abs(found - exact).max() / np.abs(exact).max() for found in others]


@pytest.mark.parametrize(("seed", "scale", "spread"), CHAINS[:3])
def test_the_digits_that_a_pivot_loses_are_found_again(seed, scale, spread):
    """By Newton's iteration in the step, and by a second correction where the equations are linear: xi at the nodes.

    That was 5e-12 off from the plain path's, for the first of these chains.
    """
    random, n = np.random.default_rng(seed), LINKS_OF_LONG
    first = dh.simulate(LONG, ANGLES, ANGLES, h=0.01, steps=1)
    masses = jnp.asarray(10.0**scale * random.uniform(0.1, 10, n))
    chain = LONG.replace(masses=masses, gravity=jnp.asarray(random.uniform(0, 20)))
    q, p = random.uniform(-spread, spread, n), random.normal(size=n)
    data = {"q": q, "xi": dh.nodal_velocity(chain, q, p), "h": 0.01, "steps": 1}
    run, plain = (dh.simulate(chain, **data, compiled=compiled) for compiled in (True, False))
    assert (first.report.path, run.report.path, run.report.plain_steps) == ("compiled", "compiled", 0)
    assert difference(run, plain) < 1e-14


def _at_a_chain(seed, scale, spread):
    """Numbers of the chain's nodes that are given, the correction there by the plain path's Jacobian, its condition."""
    random = np.random.default_rng(seed)
    system, scheme, state, h = begun(LONG, q=ANGLES, xi=ANGLES)
    stepper = _built.setdefault("long", None) or Stepper(system, scheme, state, h)
    _built["long"] = stepper
    system = system.replace(
        masses=jnp.asarray(10.0**scale * random.uniform(0.1, 10, LINKS_OF_LONG)),
        gravity=jnp.asarray(random.uniform(0, 20)),
    )
    q, p = random.uniform(-spread, spread, LINKS_OF_LONG), random.normal(size=LINKS_OF_LONG)
    state = state.replace(q=jnp.asarray(q), p=jnp.asarray(p))
    xi = jnp.asarray(random.normal(size=LINKS_OF_LONG))
    assert len(stepper.root.unknowns) == LINKS_OF_LONG
    given = zip((stepper.parameters, stepper.state), (scalars((system, scheme, h)), scalars(state)), strict=True)
    known = {node: float(x) for nodes, numbers in given for node, x in zip(nodes, numbers, strict=True)}
    known |= dict(zip(stepper.root.unknowns, map(float, xi), strict=True))
    residual, jacobian = _dense(system, scheme, state, h, jnp.concatenate([xi, state.q + h * xi]))
    return stepper, known, np.linalg.solve(jacobian, -residual)[:LINKS_OF_LONG], np.linalg.cond(jacobian)


LINKS_OF_LONG = 14  # more than are eliminated densely
LONG = dh.systems.PlanarChain(links=LINKS_OF_LONG, masses=np.linspace(1, 2, LINKS_OF_LONG))
ANGLES = 0.2 + 0.1 * np.cos(np.arange(LINKS_OF_LONG))
_built, _compiled = {}, {}


def _corrected(stepper):
    """Newton's correction at given numbers, where q1 - q0 - h xi = 0 has been eliminated."""

    def correction(known):
        return jnp.stack(lower(stepper.graph, stepper.root.correction)(known))

    return _compiled.setdefault(stepper, jax.jit(correction))


@jax.jit
def _dense(system, scheme, state, h, z):
    return jax.jacfwd(lambda z: (scheme.residual(system, state, h, z),) * 2, has_aux=True)(z)[::-1]

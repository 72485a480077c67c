"""The motion of the free, hung and driven string: orders, what it keeps, Bessel's chain, and a cost that is linear."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import j0, j1, jn_zeros

import discrete_hamel as dh
from discrete_hamel.fields import AlongAndAcross, Driven, Fixed, Free, String, TridiagonalTension
from discrete_hamel.fields.tension import forces

FAST = TridiagonalTension()
FRONT_VELOCITY = 0.3 - 0.2j


def hand(t):
    return 0.1 * jnp.sin(3 * t), 0.05 * t


FRONTS = {"free": Free(), "fixed": Fixed(), "driven": Driven(hand)}


def angle(s):
    return 1.2 * s + 0.4 * np.sin(2 * s)


def turning(s):
    return np.cos(2.5 * s) + 0.3


def bent(string):
    return string.laid(angle, turning, velocity=(FRONT_VELOCITY.real, FRONT_VELOCITY.imag))


def slope(errors, refinement=2.0):
    return np.diff(-np.log(errors)) / np.log(refinement)


@pytest.mark.parametrize("front", FRONTS)
def test_the_linear_step_is_the_discrete_hamel_map(front):
    """Without forces to round-off, and with gravity and stiffness, which enter elsewhere, to O(h^2)."""
    string = String(points=6, front=FRONTS[front])
    runs = _both(string, 0.01, 40)
    for name in ("q", "p", "xi", "xi_mid"):
        np.testing.assert_allclose(*(getattr(run, name) for run in runs), atol=1e-11)
    loaded = string.replace(gravity=3.0, stiffness=0.02)
    apart = [np.max(np.abs(np.subtract(*(run.q for run in _both(loaded, h, round(0.4 / h)))))) for h in (0.01, 0.005)]
    assert slope(apart)[0] == pytest.approx(2, abs=0.1)


def test_a_string_held_at_both_ends():
    string = String(points=8, front=Fixed(), back=Fixed(), gravity=5.0)
    runs = [_both(string, h, round(0.4 / h)) for h in (0.01, 0.005)]
    apart = [np.max(np.abs(a.q - b.q)) for a, b in runs]
    assert slope(apart)[0] == pytest.approx(2, abs=0.1)
    places = np.asarray(jax.vmap(string.places)(jnp.asarray(runs[0][1].q)))
    assert np.max(np.abs(places[:, -1] - places[0, -1])) < 1e-12
    assert np.max(np.abs(places[:, 4] - places[0, 4])) > 1e-2


@pytest.mark.parametrize("scheme", [dh.DiscreteHamel(), TridiagonalTension()], ids=["dense", "tridiagonal"])
def test_a_string_held_straight_is_refused(scheme):
    string = String(points=8, front=Fixed(), back=Fixed())
    with pytest.raises(ValueError, match="first and the last link of the string are parallel: .* 17.1887 and 17.1887"):
        dh.simulate(string, **string.laid(lambda s: 0.3), h=0.01, steps=1, scheme=scheme)


def _both(string, h, steps):
    start = string.laid(lambda s: 2 * s + 0.3, lambda s: np.cos(3 * s), velocity=(0.1, 0.2))
    plain = dh.simulate(string, **start, h=h, steps=steps, compiled=False)
    return plain, dh.simulate(string, **start, h=h, steps=steps, scheme=FAST)


def test_the_hand_is_followed():
    """The front's place is the midpoint rule for the hand's velocity."""
    errors = []
    for h in (0.02, 0.01):
        string = String(points=6, front=Driven(hand))
        run = dh.simulate(string, **string.laid(angle), h=h, steps=round(1 / h), scheme=FAST)
        errors.append(np.hypot(run.q[-1, 0] - 0.1 * np.sin(3), run.q[-1, 1] - 0.05))
    assert slope(errors)[0] == pytest.approx(2, abs=0.1)


def test_second_order_in_time():
    string = String(points=6, gravity=2.0)
    start = bent(string)
    exact = dh.reference(string, **start, t=np.array([0.0, 0.5])).q[-1]
    errors = [
        np.max(np.abs(dh.simulate(string, **start, h=0.5 / k, steps=k, scheme=FAST).q[-1] - exact))
        for k in (50, 100, 200)
    ]
    assert slope(errors)[-1] == pytest.approx(2, abs=0.1)


def test_second_order_in_space():
    """Of the motion, at all shared points but the two ends, which have it only when t >> sqrt(ds): the tension vanishes
    there, so what the first-order balance of their half cells does wrong is righted slowly."""
    ends = []
    for count in (11, 21, 41):
        string = String(points=count)
        run = dh.simulate(string, **bent(string), h=0.001, steps=200, save_every=200, scheme=FAST)
        ends.append(np.asarray(string.places(jnp.asarray(run.q[-1])))[:: (count - 1) // 10][1:-1])
    apart = [np.max(np.abs(b - a)) for a, b in zip(ends, ends[1:], strict=False)]
    assert slope(apart)[-1] == pytest.approx(2, abs=0.1)


def test_what_the_free_string_keeps_over_a_long_run():
    """Lengths, linear and angular momentum to round-off over 10^5 steps; the energy moves, and does not drift."""
    string, steps = String(points=21), 100_000
    start = string.laid(lambda s: 3 * s, lambda s: 1.0 + 0.2 * np.cos(3 * s), velocity=(0.1, 0.0))
    run = dh.simulate(string, **start, h=0.002, steps=steps, save_every=100, scheme=FAST)
    q, xi = jnp.asarray(run.q), jnp.asarray(run.xi)
    links = run.q[:, 2:].reshape(len(run), -1, 2)
    assert np.max(np.abs(np.hypot(links[..., 0], links[..., 1]) - 1)) < 1e-13
    assert np.max(np.ptp(np.asarray(jax.vmap(string.linear_momentum)(q, xi)), axis=0)) < 1e-12 * steps**0.5
    assert np.ptp(np.asarray(jax.vmap(string.angular_momentum)(q, xi))) < 1e-12 * steps**0.5
    energy = run.energy / run.energy[0] - 1
    assert 1e-9 < np.max(np.abs(energy)) < 1e-2
    halves = [np.max(np.abs(part)) for part in np.split(energy[1:], 2)]
    assert max(halves) < 3 * min(halves)


def test_gravity_leaves_the_spin():
    string = String(points=7, gravity=9.8)
    run = dh.simulate(string, **bent(string), h=0.01, steps=400, scheme=FAST)
    spin, momentum = (
        run.invariants()[f"{name}"] for name in ("angular momentum about the mass centre", "momentum along x")
    )
    assert max(np.ptp(spin), np.ptp(momentum)) < 1e-12 * 400**0.5
    fallen = np.asarray(jax.vmap(string.linear_momentum)(jnp.asarray(run.q), jnp.asarray(run.xi)))[:, 1]
    assert fallen[-1] - fallen[0] == pytest.approx(-9.8 * 4.0, rel=1e-12)


def test_small_oscillations_of_the_hanging_chain():
    """omega_k = (j_{0,k} / 2) sqrt(g / L), Bernoulli and Euler's, to 1e-4."""
    string = String(points=401, front=Fixed(), gravity=9.8, length=2.0)

    def at(theta):
        links = jnp.column_stack([jnp.sin(theta), -jnp.cos(theta)]).ravel()
        return jnp.concatenate([jnp.zeros(2), links])

    rest = jnp.zeros(400)
    stiffness = -jax.jacfwd(lambda theta: forces(string, at(theta)))(rest)
    still = jnp.zeros(402)
    mass = jax.hessian(lambda omega: string.lagrangian(at(rest), jnp.concatenate([omega, still])))(rest)
    omega = np.sqrt(eigh(np.asarray(stiffness), np.asarray(mass), eigvals_only=True)[:3])
    np.testing.assert_allclose(omega, jn_zeros(0, 3) / 2 * np.sqrt(9.8 / 2.0), rtol=1e-4)
    assert np.min(np.abs(omega / (jn_zeros(1, 3) / 2 * np.sqrt(9.8 / 2.0)) - 1)) > 0.05


def test_the_hanging_chain_swings_at_bessels_frequency():
    """The motion itself, started in the first mode: ten swings timed to 1e-4."""
    string = String(points=101, front=Fixed(), gravity=9.8)
    k = jn_zeros(0, 1)[0]

    def lean(s):  # d/ds of J_0(k sqrt(1 - s))
        return 1e-3 * j1(k * np.sqrt(1 - s)) * k / (2 * np.sqrt(1 - s))

    start = string.laid(lambda s: -np.pi / 2 + lean(s))
    period = 2 * np.pi / (k / 2 * np.sqrt(9.8))
    run = dh.simulate(string, **start, h=0.001, steps=17_000, save_every=10, scheme=FAST)
    x = np.asarray(jax.vmap(string.places)(jnp.asarray(run.q)))[:, -1].real
    down = np.flatnonzero((x[:-1] > 0) & (x[1:] <= 0))
    times = run.t[down] + 0.01 * x[down] / (x[down] - x[down + 1])
    assert np.polyfit(np.arange(len(times)), times, 1)[0] == pytest.approx(period, rel=1e-4)
    assert abs(j0(k)) < 1e-12


def test_no_dense_matrix_in_the_linear_step():
    """Nothing larger than a few numbers a point is ever formed; and `simulate` itself runs so under jit."""
    string = String(points=1000)
    start = bent(string)
    state = dh.start(string, FAST, start["q"], start["xi"], 1e-4)
    jaxpr = jax.make_jaxpr(lambda state: FAST.step(string, state, jnp.asarray(1e-4)))(state)
    sizes = [np.prod(v.aval.shape) for eqn in _equations(jaxpr.jaxpr) for v in eqn.outvars]
    assert max(sizes) <= 10 * 1000
    run = jax.jit(lambda q: dh.simulate(string, q, start["xi"], h=1e-4, steps=10, save_every=10, scheme=FAST))(
        start["q"]
    )
    assert bool(np.all(run.report.converged))


def _equations(jaxpr):
    for eqn in jaxpr.eqns:
        yield eqn
        for value in eqn.params.values():
            for inner in jax.tree.leaves(value, is_leaf=lambda x: hasattr(x, "eqns") or hasattr(x, "jaxpr")):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from _equations(inner)


def test_gradients_go_through_the_linear_step():
    string = String(points=5)
    start = bent(string)

    def end(velocity):
        xi = jnp.asarray(start["xi"]).at[0].add(velocity)
        return dh.simulate(string, start["q"], xi, h=0.01, steps=5, scheme=FAST).q[-1, 0]

    # The free string moves as a whole at the added velocity: d x / d v = t.
    assert jax.grad(end)(0.0) == pytest.approx(0.05, rel=1e-10)


def test_refusals():
    with pytest.raises(ValueError, match="at least 2 points"):
        String(points=1).check()
    with pytest.raises(ValueError, match="front is None"):
        String(front=None).check()
    with pytest.raises(ValueError, match="in front"):
        String(back=Fixed()).check()
    with pytest.raises(ValueError, match="for an inextensible String"):
        dh.simulate(dh.systems.ChaplyginSleigh(), q=[0, 0, 0], xi=[1, 1], h=0.1, steps=1, scheme=FAST)
    with pytest.raises(ValueError, match="front is held"):
        AlongAndAcross(String(front=Fixed())).check()

"""Systems on awkward scales, stiff, or with frames nearly singular: a right answer, or a sentence; never a NaN."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler import paths

UNITS = 50 * np.finfo(float).eps  # round-off of a step's few dozen operations
SCALE = st.floats(-8, 8).map(lambda x: 10.0**x)


@pytest.fixture(autouse=True)
def _own_steps(monkeypatch):
    """Each test builds its own compiled step: the values it is built at decide on the order of elimination."""
    monkeypatch.setattr(paths, "_steps", Cache(most=200))


def lagrangian(q, xi, k):
    """Masses k[0], k[1], a spring k[2] between unlike lengths, in the frame's own components."""
    return 0.5 * (k[0] * xi[0] ** 2 + k[1] * xi[1] ** 2) - 0.5 * k[2] * (q[0] - 0.3 * q[1]) ** 2


def frame(q, k):
    """Two fields at an angle k[3], not commuting."""
    return jnp.array([[1.0, jnp.cos(k[3])], [k[4] * jnp.sin(q[0]), jnp.sin(k[3]) + k[4] * q[0]]])


def oscillator(masses=(1.0, 1.0), stiffness=1.0, angle=1.5, turning=0.1):
    return dh.from_quasivelocities(lagrangian, frame, 2, params=jnp.array([*masses, stiffness, angle, turning]))


def outcome(system, **data):
    """The run, or None after a sentence."""
    told, run = None, None
    try:
        run = dh.simulate(system, **data)
    except (ValueError, dh.RunFailed) as error:
        told = error
    if run is None:
        assert len(str(told)) > 40
        kept = getattr(told, "trajectory", None)
        assert kept is None or np.all(np.isfinite(kept.q))
        return None
    for name in ("q", "p", "xi", "xi_mid", "v", "energy"):
        assert np.all(np.isfinite(getattr(run, name))), name
    assert np.all(run.report.converged)
    return run


@given(mass=SCALE, length=SCALE, time=SCALE)
@settings(max_examples=40)
def test_units_do_not_matter(mass, length, time):
    """The same oscillator in other units of mass, length and time is the same motion, to round-off."""
    data = {"q": [0.4, -0.2], "xi": [0.3, 0.5], "h": 0.05, "steps": 20}
    run = dh.simulate(oscillator(angle=np.pi / 2, turning=0.0), **data)
    units = {
        "q": [length * a for a in data["q"]], "xi": [length / time * a for a in data["xi"]], "h": time * 0.05,
    }  # fmt: skip
    other = oscillator((mass, mass), mass / time**2, angle=np.pi / 2, turning=0.0)
    scaled = outcome(other, **units, steps=20)
    assert scaled is not None  # no scale is refused for being one
    # Each step rounds q and xi by a few units, and the oscillation (at most 1.1 a unit of time, for 1) lets them be.
    assert np.max(np.abs(scaled.q / length - run.q)) < 20 * 50 * np.finfo(float).eps
    assert np.max(np.abs(scaled.p * time / (mass * length) - run.p)) < 20 * 50 * np.finfo(float).eps


@given(masses=st.tuples(SCALE, SCALE), stiffness=SCALE, q=st.tuples(SCALE, SCALE), xi=st.tuples(SCALE, SCALE), h=SCALE)
@settings(max_examples=60)
def test_unlike_and_stiff_scales_give_an_answer_or_a_sentence(masses, stiffness, q, xi, h):
    system = oscillator(masses, stiffness, angle=1.5, turning=0.0)
    run = outcome(system, q=list(q), xi=list(xi), h=h, steps=5)
    if run is None:
        return
    # The midpoint rule's two equations, by hand, each to round-off of its largest terms.
    psi = np.array([[1.0, np.cos(1.5)], [0.0, np.sin(1.5)]])
    middle, velocity = (run.q[1:] + run.q[:-1]) / 2, run.xi_mid @ psi.T
    pull = stiffness * (middle[:, 0] - 0.3 * middle[:, 1])[:, None] * np.array([1.0, -0.3])
    strongest = stiffness * np.max(np.abs(run.q), axis=1)[1:, None] + stiffness * np.max(np.abs(run.q[:-1]))
    moved = np.abs(run.q[1:]) + np.abs(run.q[:-1]) + h * np.max(np.abs(velocity), axis=1)[:, None]
    assert np.all(np.abs(run.q[1:] - run.q[:-1] - h * velocity) < UNITS * moved)
    pushed = np.abs(run.p[1:]) + np.abs(run.p[:-1]) + h * strongest
    assert np.all(np.abs(run.p[1:] - run.p[:-1] + h * pull @ psi) < UNITS * pushed)


@given(angle=st.floats(-16, 0).map(lambda x: 10.0**x), turning=st.sampled_from([0.0, 0.1, 1e-8, 1e8]))
@settings(max_examples=40)
def test_nearly_singular_frames_give_an_answer_or_a_sentence(angle, turning):
    data = {"q": [0.4, -0.2], "xi": [0.3, 0.5], "h": 0.05, "steps": 5}
    run = outcome(oscillator(angle=angle, turning=turning), **data)
    if angle < 1e-13 and turning == 0.0:
        assert run is None  # as good as parallel: refused, for its brackets would be noise
    if angle > 1e-3 and turning == 0.0:
        assert run is not None


def test_a_frame_that_would_be_singular_at_another_angle_takes_the_compensated_step():
    data = {"q": [0.4, -0.2], "xi": [0.3, 0.5], "h": 0.01, "steps": 20, "scheme": dh.DiscreteHamel(compensated=True)}
    system = oscillator(angle=np.pi / 2, turning=0.0)
    compiled, plain = dh.simulate(system, **data), dh.simulate(system, **data, compiled=False)
    assert compiled.report.path == "compiled"
    assert np.abs(compiled.q - plain.q).max() < UNITS


@pytest.mark.parametrize("stiffness", [1e4, 1e8, 1e12])
@pytest.mark.parametrize("xi", [(0.5, -0.15), (0.3, 0.5)], ids=["in place", "drifting"])
def test_a_stiff_spring_is_stable_at_any_step(stiffness, xi):
    """h omega up to 1e6: the midpoint rule is A-stable and keeps the energy, which an explicit method cannot.

    The force is k times a difference of coordinates. Rounded in the last digit of these, it moves p by h omega units of
    its own size for a spring that stays in place; by so much more as it is farther from the origin than it is long.
    """
    system = oscillator((1.0, 1.0), stiffness, angle=np.pi / 2, turning=0.0)
    run = dh.simulate(system, q=[0.4, -0.2], xi=xi, h=1.0, steps=200)
    length = np.sqrt(2 * run.energy[0] / stiffness)
    far = max(1.0, np.abs(run.q).max() / length)
    assert (far < 1.5) == (xi == (0.5, -0.15))
    eps = np.finfo(float).eps
    assert np.max(np.abs(run.energy / run.energy[0] - 1)) < eps * np.sqrt(stiffness) * far * 200**0.5
    explicit = outcome(system, q=[0.4, -0.2], xi=[0.3, 0.5], h=1.0, steps=3, scheme=dh.RungeKutta4())
    assert explicit is None or explicit.energy[-1] > 10 * explicit.energy[0]

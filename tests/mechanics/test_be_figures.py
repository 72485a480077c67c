"""The cases of [BE] figures 4 to 32: energy over 10^4 steps, and what the paper says of each."""

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.schemes import Gonzalez
from paper_figures.be_cases import BACKWARDS, BY_FIGURE, CASES, INCLINED, POINTED, ROUND, TRAVELLING

STEPS = 10_000
GONZALEZ = dh.EnergyExact(Gonzalez())


@functools.cache
def run_of(figure, scheme=dh.EnergyExact()):  # noqa: B008  # schemes are frozen
    case = BY_FIGURE[figure]
    return dh.simulate(case.system, case.q, case.z, h=case.time / STEPS, steps=STEPS, scheme=scheme)


def energy_error(run):
    return np.max(np.abs(run.energy - run.energy[0]))


@pytest.mark.parametrize("figure", BY_FIGURE)
def test_energy_over_ten_thousand_steps(figure):
    """1e-12 absolutely, to t = 20: on the plane between energies of 400 that cancel, of the springs up to 200."""
    run = run_of(figure)
    assert run.t[-1] == pytest.approx(20)
    assert energy_error(run) < 1e-12


class Forgetful(dh.schemes.NonlinearEnergyExact):
    """Does not carry along what its steps lack."""

    def advance(self, system, state, h, z):
        after, xi = super().advance(system, state, h, z)
        return after.replace(low=after.low.at[-1].set(0.0)), xi


def gonzalez_error(figure, scheme):
    """In roundings of the energies that it takes the difference of."""
    run = run_of(figure, scheme)
    kinetic = 0.5 * (run.system.mass1 * run.xi[:, 0] ** 2 + run.system.mass2 * run.xi[:, 1] ** 2)
    rounding = np.finfo(float).eps * np.max(kinetic + np.abs(run.energy[0] - kinetic))
    return energy_error(run) / rounding


@pytest.mark.parametrize("figure", BY_FIGURE)
def test_gonzalez_gradient_over_ten_thousand_steps(figure):
    """What a step rounds off the next makes up for, so the error is that of one step, some roundings after 10^4 too.

    A random walk of steps as large comes to a hundred and more (the test below).
    """
    assert gonzalez_error(figure, GONZALEZ) < 25


def test_what_a_step_lacks_would_add_up():
    assert gonzalez_error(26, Forgetful(Gonzalez())) > 100


def test_other_schemes_need_not_keep_it():
    """Gauss does, this energy being quadratic in (q, z); RungeKutta4 with the same steps and NonlinearMidpoint with
    longer ones do not."""
    assert energy_error(run_of(16, dh.RungeKutta4())) > 1e-11
    case = BY_FIGURE[16]
    lost = dh.simulate(case.system, case.q, case.z, h=0.05, steps=400, scheme=dh.NonlinearMidpoint())
    assert energy_error(lost) > 1e-8


@pytest.mark.parametrize("figure", [5, 8, 11, 14, 20, 29])
def test_runs_are_the_motions(figure):
    """Against DOP853, over a quarter of the picture: the energy alone does not tell."""
    case, run = BY_FIGURE[figure], run_of(figure)
    k = STEPS // 4
    exact = dh.reference(case.system, case.q, case.z, t=float(run.t[k]))
    assert np.max(np.abs(run.q[k] - exact.q[-1])) < 1e-4 * (1 + np.max(np.abs(exact.q[-1])))


def test_all_figures_of_the_section_are_there():
    """4 is not numbered in our copy, 9 is the picture of the cases."""
    assert sorted(BY_FIGURE) == [4, 5, 6, 7, 8, *range(10, 33)]
    for case in CASES:
        angle = np.degrees(case.theta)
        assert angle == {"A": 90, "B": 90, "C": np.degrees(INCLINED), "D": np.degrees(BACKWARDS)}.get(case.kind, 90)
        assert (case.v1 * case.v2 < 0) == (case.kind in "AC") or case.kind == "plane"


masses = st.floats(0.1, 10)


@given(m1=masses, m2=masses, k=st.floats(0.1, 5), v=st.floats(0.2, 3), angle=st.floats(0, 6.28), d=st.floats(0.2, 5))
@settings(deadline=None, max_examples=15)
@pytest.mark.parametrize("scheme", [dh.NonlinearMidpoint(), dh.EnergyExact()], ids=["midpoint", "energy"])
def test_case_b_with_equal_velocities_is_two_straight_lines_for_all_masses(scheme, m1, m2, k, v, angle, d):
    """Figure 17. The spring pulls across both velocities, which the constraint does not let it change.

    The lines are unstable where k d^2 > (m1 + m2) v^2: there round-off grows, and they are followed for e^7 only.
    """
    steps = 200 if (rate := growth(m1, m2, k, v, d)) < 0.7 else int(7 / rate / 0.05) + 1
    system = dh.systems.TwoPointsParallelVelocities.ideal_spring(m1, m2, k)
    across = d * np.array([np.cos(angle), np.sin(angle)])
    run = dh.simulate(system, [0.0, 0.0, *across], [v, v, angle + np.pi / 2], h=0.05, steps=steps, scheme=scheme)
    along = v * np.array([-np.sin(angle), np.cos(angle)])
    for i, start in ((0, np.zeros(2)), (2, across)):
        assert np.max(np.abs(run.q[:, i : i + 2] - start - run.t[:, None] * along)) < 1e-9
    assert np.max(np.abs(run.xi - run.xi[0])) < 1e-9


def growth(m1, m2, k, v, d):
    """s'' = k (1/m1 + 1/m2) (k d^2 / ((m1 + m2) v^2) - 1) s for s = v1 - v2 about the two lines, linearised."""
    return np.sqrt(max(0.0, k * (1 / m1 + 1 / m2) * (k * d**2 / ((m1 + m2) * v**2) - 1)))


@pytest.mark.parametrize("m2", [0.4, 1.0, 3.0])
def test_the_two_lines_are_unstable_where_the_spring_is_strong(m2):
    """A new finding, not in [BE]: v1 - v2 grows as cosh, or swings as cos, with the rate from the linearised (55)."""
    d, v = 2.0, 1.0
    for k, unstable in ((1.2 * (1 + m2) / d**2, True), (0.8 * (1 + m2) / d**2, False)):
        system = dh.systems.TwoPointsParallelVelocities.ideal_spring(1.0, m2, k)
        off = 1e-6
        exact = dh.reference(system, [0.0, 0, d, 0], [v + off, v, np.pi / 2], t=np.linspace(0, 4, 9))
        square = k * (1 + 1 / m2) * (k * d**2 / ((1 + m2) * v**2) - 1)
        assert (square > 0) == unstable
        expected = off * np.cos(np.emath.sqrt(-square) * exact.t).real
        assert np.max(np.abs(exact.xi[:, 0] - exact.xi[:, 1] - expected)) < 1e-3 * np.max(np.abs(expected))


@pytest.mark.parametrize("mass2", [1.0, 2.0, 0.3])
def test_case_b_with_unequal_velocities_is_not(mass2):
    """Figure 18: they bend, whatever the masses."""
    case = BY_FIGURE[18]._replace(mass2=mass2)
    run = dh.simulate(case.system, case.q, case.z, h=0.01, steps=1000)
    assert np.ptp(run.xi[:, 2]) > 0.1
    assert np.ptp(run.q[:, 0]) > 0.05


@pytest.mark.parametrize("figure", [10, 19])
def test_opposite_equal_velocities_of_equal_masses_are_free_ellipses(figure):
    """Free motion keeps v1 = -v2: the constraint does nothing. r'' = -2 (k/m) r about the fixed centre of mass."""
    case, run = BY_FIGURE[figure], run_of(figure)
    w, t = np.sqrt(2.0), run.t[:2001, None]
    half = np.array(case.second) / 2
    v = case.v1 * np.array([np.cos(case.theta), np.sin(case.theta)])
    expected = half - half * np.cos(w * t) + v * np.sin(w * t) / w
    assert np.max(np.abs(run.q[:2001, :2] - expected)) < 1e-5
    assert np.max(np.abs(run.q[:, :2] + run.q[:, 2:] - run.q[0, 2:])) < 1e-11
    different = run_of({10: 11, 19: 20}[figure])
    assert np.max(np.ptp(different.q[:, :2] + 2 * different.q[:, 2:], axis=0)) > 0.1  # its centre of mass moves


def test_equal_velocities_on_the_plane_are_free_parabolas():
    """Figure 4: a free fall keeps v1 = v2."""
    run = run_of(4)
    assert np.max(np.abs(run.q[:, 0] - run.t**2 / 2)) < 1e-5 * (1 + run.q[-1, 0])
    assert np.max(np.abs(run.q[:, 1] - run.t)) < 1e-5 * (1 + run.t[-1])


@pytest.mark.parametrize("figure", [4, 5, 6, 7, 8])
def test_the_difference_of_speeds_stays_on_the_plane(figure):
    """v1' = v2' = g cos(theta), by (53): linear in z, so that EnergyExact keeps it."""
    run = run_of(figure)
    difference = run.xi[:, 0] - run.xi[:, 1]
    assert np.max(np.abs(difference - difference[0])) < 1e-12 * STEPS**0.5


@pytest.mark.parametrize("figure", [case.figure for case in CASES if case.kind in "ABCD" and case.figure != 17])
def test_the_integrals_tell_the_kind_of_motion(figure):
    """v1 - v2 changes its sign again and again where T^2 - 2 E T + k J has a root below P^2 / (m1 + m2); if not, v1 or
    v2 does where P^2 / m2 or P^2 / m1 is between the roots. By DOP853, which keeps P and J."""
    case = BY_FIGURE[figure]
    exact = dh.reference(case.system, case.q, case.z, t=np.linspace(0, 20, 4001))
    (v1, v2, theta), q, (p, least, greatest) = exact.xi.T, exact.q, case.integrals
    kinetic = v1**2 + case.mass2 * v2**2
    across = (q[:, 3] - q[:, 1]) * np.cos(theta) - (q[:, 2] - q[:, 0]) * np.sin(theta)
    assert np.max(np.abs(v1 + case.mass2 * v2 - p)) < 1e-8 * (1 + abs(p))
    assert np.max(np.abs(across**2 * kinetic - least * greatest)) < 1e-7 * (1 + least * greatest)
    turns_back = [bool(x.min() < 0 < x.max()) for x in (v1 - v2, v1, v2)]
    seen = TRAVELLING if turns_back[0] else POINTED if any(turns_back[1:]) else ROUND
    assert seen == case.motion
    assert np.min(kinetic) == pytest.approx(max(least, p**2 / (1 + case.mass2)), rel=1e-3)
    assert np.max(kinetic) == pytest.approx(greatest, rel=1e-3)


@pytest.mark.parametrize(
    ("figure", "kind"),
    [(13, TRAVELLING), (14, POINTED), (15, TRAVELLING), (16, ROUND), (21, TRAVELLING), (22, POINTED), (23, ROUND)]
    + [(24, TRAVELLING), (25, POINTED)],
)
def test_the_distance_and_the_masses_decide_the_kind_of_motion(figure, kind):
    """In the text's words: a very strong qualitative dependence on the initial distance (13, 14, 16); with m2 = 3 m1 of
    a different kind (15); very different kinds of orbits (21, 22, 23), and a similar phenomenon (24, 25)."""
    run, case = run_of(figure), BY_FIGURE[figure]
    assert case.motion == kind
    turns, gone = np.ptp(run.xi[:, 2]) / (2 * np.pi), np.linalg.norm(run.q[-1] - run.q[0])
    if kind == TRAVELLING:
        assert turns < 0.5
        assert gone > 8 * np.hypot(*case.second)
    else:
        assert turns > 2
        assert np.max(np.abs(run.q)) < 10
    assert (run.xi[:, 0].min() < 0 < run.xi[:, 0].max()) == (kind != ROUND)


@pytest.mark.parametrize(("mass2", "bound"), [(2.0, 3.0), (3.0, 6.25)])
def test_case_a_travels_up_to_a_sharp_distance(mass2, bound):
    """k d^2 = (m1 v1 + m2 v2)^2 / (m1 + m2), 1 % on either side of it."""
    for factor, travelling in ((0.99, True), (1.01, False)):
        case = BY_FIGURE[14]._replace(mass2=mass2, second=(np.sqrt(factor * bound), 0.0))
        theta = dh.reference(case.system, case.q, case.z, t=np.linspace(0, 40, 401)).xi[:, 2]
        assert (np.ptp(theta) < np.pi) == travelling == (case.motion == TRAVELLING)


def test_at_one_distance_case_a_is_a_relative_equilibrium():
    """k d^2 = m1 v1^2 + m2 v2^2, 3 m for m2 = 2 m1: two circles, which figures 14 and 15 must not be."""
    case = BY_FIGURE[14]._replace(second=(3.0, 0.0))
    _, rates = dh.vector_field(case.system, np.asarray(case.q), np.asarray(case.z))
    np.testing.assert_allclose(rates, [0, 0, -1], atol=1e-15)  # d theta' = v2 - v1: the spring stays across
    for figure in (14, 15):
        p, least, greatest = BY_FIGURE[figure].integrals
        assert greatest > 1.5 * least


@pytest.mark.parametrize("figure", [29, 31])
def test_p1_starts_along_v1_and_turns_back_at_once(figure):
    """It "seems to move in an opposite direction"; figure 32 zooms: v1 > 0 only for a moment."""
    run = run_of(figure)
    turn = int(np.argmax(run.xi[:, 0] < 0))
    assert 0 < run.t[turn] < 0.2
    first = np.linalg.norm(run.q[: turn + 1, :2], axis=1).max()
    assert 0 < first < 2e-3 * np.max(np.ptp(run.q, axis=0))
    e = np.array([np.cos(BACKWARDS), np.sin(BACKWARDS)])
    assert (run.q[turn // 2, :2] - run.q[0, :2]) @ e > 0
    assert (run.q[4 * turn, :2] - run.q[0, :2]) @ e < 0


def test_masses_change_case_d():
    """Figures 26 and 27."""
    a, b = run_of(26), run_of(27)
    assert np.max(np.abs(a.q - b.q)) > 1

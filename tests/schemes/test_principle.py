"""The discrete principle: the library's schemes are instances of it, and one's own parts make schemes of their own."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import ANGLES, BLADE, BODY, DISK, PENDULUM, SLEIGH, SUSLOV, Case, has_slope, off_symplectic
from wrong_principles import of_left_node, of_the_wrong_sign, without_bracket

import discrete_hamel as dh
from discrete_hamel.compiler.reading.parts_of_schemes import check_scheme_at
from discrete_hamel.mechanics import frames
from discrete_hamel.mechanics.hamel import full

GAMMA = Case(dh.systems.SphericalPendulum(), tuple(dh.systems.SphericalPendulum().sample()["q"]), (0.6, 0.2))
DRAGGED = Case(dh.forced(BODY.system, lambda q, xi, k: -k * xi + 0.1 * q[:3], params=0.3), BODY.q, BODY.xi)
VELOCITIES = Case(
    dh.from_velocities(
        lambda q, v: 0.5 * v @ v + 0.4 * v[0] * (v[2] * jnp.cos(q[0]) - v[1] * jnp.sin(q[0])) - 0.2 * q[1] ** 2,
        SLEIGH.system.frame,
        2,
        force=lambda q, v: -0.2 * v,
    ),
    SLEIGH.q,
    SLEIGH.xi,
)
CASES = {
    "sleigh": SLEIGH,
    "disk": DISK,
    "body, 9 coordinates": BODY,
    "body with a force": DRAGGED,
    "blade with slip and force": BLADE,
    "Suslov": SUSLOV,
    "from velocities": VELOCITIES,
    "pendulum in angles": ANGLES,
    "pendulum, m < n": PENDULUM,
    "pendulum, dependent fields": GAMMA,
}
INDEPENDENT = [name for name, case in CASES.items() if case is not GAMMA]


def on_chord(system, q0, q1, h, points):
    """L^d(q0, q1) = h L(q_a, (q1 - q0)/h), L(q, v) = l(q, Psi^+ v)."""
    q = (1 - points[0]) * q0 + points[0] * q1
    return h * system.lagrangian(q, frames.left_inverse(system.frame(q), (q1 - q0) / h))


def at_its_point(system, q0, q1, xi, h, points):
    """(q1 - q0)/h = Psi(q_b) xi with xi^U = b(q_b)."""
    q = (1 - points[1]) * q0 + points[1] * q1
    return q1 - q0 - h * system.frame(q) @ full(system, q, xi[: system.rank])


def lagrange_dalembert(a, b):
    return dh.Principle(two_point=on_chord, reconstruction=at_its_point, point=a, params=(a, b))


def written_out(system, q, xi, eta0, eta1, h):
    """(5.4) and (5.8) of tau = 1/2."""
    mean = (eta0 + eta1) / 2
    return mean, (eta1 - eta0) / h + dh.bracket(system, q, xi, mean)


def run(case, scheme, h=0.02, steps=30, **options):
    return dh.simulate(case.system, case.q, list(case.xi), h=h, steps=steps, scheme=scheme, **options)


def apart(one, other):
    """The largest difference of q, p and xi at nodes and over intervals, relative to their sizes."""
    size = 1 + max(np.max(np.abs(one.p)), np.max(np.abs(one.xi)), np.max(np.abs(one.q)))
    return max(np.max(np.abs(getattr(one, name) - getattr(other, name))) for name in ("q", "p", "xi", "xi_mid")) / size


# --- the library's schemes are instances ---


@pytest.mark.parametrize("name", CASES)
def test_discrete_hamel_is_the_principle_of_its_point(name):
    for tau in (0.5, 0.0, 0.3, 1.0):
        ours = run(CASES[name], dh.Principle(point=tau))
        assert apart(ours, run(CASES[name], dh.DiscreteHamel(tau))) < 1e-12, tau
        assert ours.report.path == "compiled"


@pytest.mark.parametrize("name", CASES)
def test_staggered_hamel_is_the_principle_between_points(name):
    assert apart(run(CASES[name], dh.Principle(staggered=True)), run(CASES[name], dh.StaggeredHamel())) < 1e-12


@pytest.mark.parametrize("name", INDEPENDENT)
def test_cortes_martinez_is_the_principle_with_derived_variations(name):
    case = CASES[name]
    assert apart(run(case, dh.Principle(variation="derived")), run(case, dh.CortesMartinez())) < 1e-11
    for a, b in ((0.3, 0.6), (0.0, 0.5), (1.0, 0.0)):
        ours, theirs = run(case, lagrange_dalembert(a, b)), run(case, dh.CortesMartinez(a, b))
        assert apart(ours.replace(xi_mid=theirs.xi_mid), theirs) < 1e-11, (a, b)


def test_the_instances_are_different_schemes():
    """So that the tests above can fail: on the sleigh no two of them agree."""
    schemes = dh.Principle(), dh.Principle(point=0.3), dh.Principle(staggered=True), dh.Principle(variation="derived")
    runs = [run(SLEIGH, scheme, h=0.1) for scheme in (*schemes, lagrange_dalembert(0.5, 0.3))]
    for k, one in enumerate(runs):
        assert all(apart(one, other) > 1e-6 for other in runs[:k])


@pytest.mark.parametrize("name", CASES)
def test_the_variation_of_the_paper_written_out(name):
    scheme = dh.Principle(variation=written_out)
    assert apart(run(CASES[name], scheme), run(CASES[name], dh.DiscreteHamel())) < 1e-12


def test_the_discrete_lagrangian_written_out():
    scheme = dh.Principle(lagrangian=lambda system, q, xi, h: h * system.lagrangian(q, xi))
    assert apart(run(DISK, scheme), run(DISK, dh.DiscreteHamel())) < 1e-12


def test_a_discrete_constraint_of_ones_own():
    """D^d of the sleigh at b, L^d at a: Cortes and Martinez' principle, with xi that only says what (q1 - q0)/h is."""

    def blade(system, q0, q1, h, points):
        heading = (1 - points[1]) * q0[0] + points[1] * q1[0]
        return jnp.cos(heading) * (q1[2] - q0[2]) - jnp.sin(heading) * (q1[1] - q0[1])

    for a, b in ((0.5, 0.5), (0.3, 0.6), (0.0, 1.0)):
        scheme = dh.Principle(two_point=on_chord, constraint=blade, point=a, params=(a, b))
        ours, theirs = run(SLEIGH, scheme), run(SLEIGH, dh.CortesMartinez(a, b))
        assert apart(ours.replace(xi_mid=theirs.xi_mid), theirs) < 1e-12
        change = np.diff(ours.q, axis=0) / 0.02
        seen = [
            frames.left_inverse(SLEIGH.system.frame(q), v)
            for q, v in zip((1 - a) * ours.q[:-1] + a * ours.q[1:], change, strict=True)
        ]
        assert ours.xi_mid == pytest.approx(np.array(seen), abs=1e-11)


# --- variational in the strict sense ---


def test_derived_variations_are_symplectic_and_hamels_are_off_by_h_cubed():
    for tau in (0.5, 0.2):
        assert off_symplectic(dh.Principle(point=tau, variation="derived"), 0.1) < 1e-13
    off = [off_symplectic(dh.Principle(), h) for h in (0.1, 0.05, 0.025)]
    assert off[-1] > 1e-7
    assert np.log2(np.array(off[:-1]) / off[1:]) == pytest.approx(3, abs=0.2)


# --- parts of one's own ---


def turned(xi):
    return jnp.array([[0, -xi[2], xi[1]], [xi[2], 0, -xi[0]], [-xi[1], xi[0], 0]])


def by_exponential(system, q0, q1, xi, h):
    """R1 = R0 exp(h xi^)."""
    return q1 - (q0.reshape(3, 3) @ jax.scipy.linalg.expm(h * turned(xi))).ravel()


def by_both_ends(system, q0, q1, xi, h):
    return q1 - q0 - h * (system.frame(q0) + system.frame(q1)) @ xi / 2


MEAN_FRAME = dh.Principle(reconstruction=by_both_ends)
EXPONENTIAL = dh.Principle(reconstruction=by_exponential)


def test_a_retraction_keeps_the_group_and_the_order():
    ours = run(BODY, EXPONENTIAL, h=0.1, steps=200)
    rotations = ours.q.reshape(-1, 3, 3)
    assert np.max(np.abs(rotations.swapaxes(1, 2) @ rotations - np.eye(3))) < 1e-12
    assert apart(ours, run(BODY, dh.DiscreteHamel(), h=0.1, steps=200)) > 1e-4
    has_slope(EXPONENTIAL, BODY, 2)


def test_first_order_off_the_middle():
    has_slope(dh.Principle(point=lambda q0, q1: 0.3 * q0 + 0.7 * q1), SLEIGH, 1)


def test_a_point_of_ones_own_is_found_for_every_step():
    """For one on the chord with (5.4) at 1/2, and with (5.4) at its own tau by one's own variation."""

    def weighed(system, q, xi, eta0, eta1, h, tau):
        mean = (1 - tau) * eta0 + tau * eta1
        return mean, (eta1 - eta0) / h + dh.bracket(system, q, xi, mean)

    scheme = dh.Principle(point=lambda q0, q1, tau: (1 - tau) * q0 + tau * q1, variation=weighed, params=0.3)
    assert apart(run(DISK, scheme), run(DISK, dh.DiscreteHamel(0.3))) < 1e-12


# --- mutants: each part matters ---


def at_the_wrong_end(system, q, xi, eta0, eta1, h):
    return eta1, (eta1 - eta0) / h + dh.bracket(system, q, xi, eta1)


MUTANTS = {
    "no bracket": dh.Principle(variation=without_bracket),
    "bracket's sign": dh.Principle(variation=of_the_wrong_sign),
    "eta at the end": dh.Principle(variation=at_the_wrong_end),
    "reconstruction at the left node": dh.Principle(reconstruction=of_left_node),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_part_is_no_scheme_of_second_order(name):
    with pytest.raises(AssertionError):
        has_slope(MUTANTS[name], SLEIGH, 2)


# --- parts that do not tend to what the principle asks, as h goes to 0 ---

AFFINE, SQUARE = 1e-6 * jnp.ones(3), 1e-3
WRONG_LIMITS = {
    "half the action": (
        dh.Principle(lagrangian=lambda system, q, xi, h: h / 2 * system.lagrangian(q, xi)),
        "to the system's l",
    ),
    "an action without h": (dh.Principle(lagrangian=lambda system, q, xi, h: system.lagrangian(q, xi)), "l\\(q, xi\\)"),
    "L^d without h": (
        dh.Principle(two_point=lambda system, q0, q1, h: on_chord(system, q0, q1, h, (0.5, 0.5)) / h),
        "slopes of two_point .* tend to .* the momentum",
    ),
    "twice the rate": (
        dh.Principle(reconstruction=lambda system, q0, q1, xi, h: q1 - q0 - 2 * h * system.frame(q0) @ xi),
        "leaves q at a rate that tends to",
    ),
    "a rate without h": (
        dh.Principle(reconstruction=lambda system, q0, q1, xi, h: q1 - q0 - system.frame(q0) @ xi),
        "leaves q at a rate",
    ),
    "another blade": (dh.Principle(constraint=lambda system, q0, q1, h: (q1 - q0)[2]), "allows rates"),
    "a point that is a node at q = 0 only": (dh.Principle(point=lambda q0, q1: 0.55 * (q0 + q1)), "point.* tends to q"),
    "a variation with a constant": (
        dh.Principle(variation=lambda *a: (written_out(*a)[0], written_out(*a)[1] + AFFINE)),
        "variation is linear in eta0 and eta1",
    ),
    "a variation with a square": (
        dh.Principle(variation=lambda *a: (written_out(*a)[0], written_out(*a)[1] + SQUARE * (a[4] - a[3]) ** 2)),
        "variation is linear in eta0 and eta1",
    ),
    "twice the variation": (
        dh.Principle(variation=lambda *a: (a[3] + a[4], written_out(*a)[1])),
        "eta_bar of variation",
    ),
    "half the rate of variation": (
        dh.Principle(variation=lambda *a: (written_out(*a)[0], written_out(*a)[1] / 2)),
        "h delta xi of variation tends to eta1 - eta0",
    ),
    "twice the rate at several points": (
        dh.Galerkin(2, variation=lambda system, q, xi, eta, rate: 2 * rate + dh.bracket(system, q, xi, eta)),
        "delta xi of variation tends to eta'",
    ),
    "a square at several points": (
        dh.Galerkin(2, variation=lambda system, q, xi, eta, rate: rate + SQUARE * eta**2),
        "variation is linear in eta and eta'",
    ),
}
AT_ZERO = Case(SLEIGH.system, (0.0, 0.0, 0.0), SLEIGH.xi)  # q = 0, where more parts look right than elsewhere


@pytest.mark.parametrize("name", WRONG_LIMITS)
def test_a_part_with_a_wrong_limit_is_refused(name):
    scheme, sentence = WRONG_LIMITS[name]
    with pytest.raises(ValueError, match=f"asks that .*{sentence}.* as h goes to 0; near q = .* off by"):
        run(AT_ZERO, scheme)


def test_the_same_everywhere_that_asks_for_a_start():
    scheme = WRONG_LIMITS["twice the rate"][0]
    with pytest.raises(ValueError, match="leaves q at a rate"):
        dh.ensemble(SLEIGH.system, [SLEIGH.q] * 2, [SLEIGH.xi] * 2, h=0.02, steps=3, scheme=scheme)
    with pytest.raises(ValueError, match="leaves q at a rate"):
        dh.section(SLEIGH.system, SLEIGH.q, SLEIGH.xi, lambda q, xi: xi[0], h=0.02, count=2, scheme=scheme)
    with pytest.raises(ValueError, match="leaves q at a rate"):
        run(AT_ZERO, dh.schemes.varying_step.TimeTransformed(scheme, lambda q, xi: 0.01 + 0 * q[0]), h=1.0)


@pytest.mark.parametrize("name", ["an action without h", "twice the rate", "a variation with a square"])
def test_a_run_under_jit_is_marked(name):
    def report(scheme):
        return jax.jit(lambda q: run(Case(SLEIGH.system, q, SLEIGH.xi), scheme, steps=3).report)(jnp.zeros(3))

    traced = report(WRONG_LIMITS[name][0])
    assert traced.refusals() == ("a part of the principle does not tend to what is asked of it as h goes to 0",)
    assert not report(MEAN_FRAME).refusals()


@pytest.mark.parametrize(
    "of", [dh.DiscreteHamel, lambda tau: dh.Principle(point=tau), lambda tau: dh.CortesMartinez(tau, 0.5)]
)
def test_a_place_outside_the_step_is_marked_where_it_is_traced(of):
    report = jax.jit(lambda tau: run(SLEIGH, of(tau), steps=3).report)
    assert [report(tau).refusals() for tau in (0.0, 0.3, 1.0)] == [()] * 3
    for tau in (-0.1, 1.5, jnp.nan):
        assert "a place of the scheme, its tau, lies outside the step: it is from 0 to 1" in report(tau).refusals()
        assert "refused: " in repr(report(tau))
    with pytest.raises(ValueError, match=r"is 1.5; that point lies between the nodes"):
        run(SLEIGH, of(1.5))


def test_the_question_costs_little_where_it_was_asked_before():
    run(SLEIGH, MEAN_FRAME)
    q, taken = np.array(SLEIGH.q), []
    for _ in range(20):
        begun = time.perf_counter()
        check_scheme_at(SLEIGH.system, MEAN_FRAME, q)
        taken.append(time.perf_counter() - begun)
    assert min(taken) < 1e-3


# --- as a scheme like any other ---


def test_gradients_through_the_point_the_step_and_the_system():
    def end(scheme):
        def last(system, h):
            return jnp.sum(
                dh.simulate(system, list(SLEIGH.q), list(SLEIGH.xi), h=h, steps=20, scheme=scheme).q[-1] ** 2
            )

        return last(SLEIGH.system, 0.05), jax.grad(last, (0, 1))(SLEIGH.system, 0.05)

    ours, theirs = jax.tree.leaves(end(dh.Principle())), jax.tree.leaves(end(dh.DiscreteHamel()))
    assert np.array(ours) == pytest.approx(np.array(theirs), rel=1e-10)

    def of_tau(kind):
        return jax.grad(lambda tau: jnp.sum(run(SLEIGH, kind(tau), steps=10).q[-1] ** 2))(0.4)

    assert float(of_tau(lambda tau: dh.Principle(point=tau))) == pytest.approx(
        float(of_tau(dh.DiscreteHamel)), rel=1e-9
    )


def test_plain_path_jit_and_ensemble_agree():
    scheme = dh.Principle(variation=written_out)
    ours, plain = run(DISK, scheme), run(DISK, scheme, compiled=False)
    assert ours.report.path == "compiled"
    assert apart(ours, plain) < 1e-12
    traced = jax.jit(lambda q: dh.simulate(DISK.system, q, list(DISK.xi), h=0.02, steps=30, scheme=scheme).q)
    assert np.max(np.abs(traced(jnp.array(DISK.q)) - ours.q)) < 1e-12
    many = dh.ensemble(DISK.system, [DISK.q] * 2, [DISK.xi] * 2, h=0.02, steps=30, scheme=scheme)
    assert np.max(np.abs(np.asarray(many.q)[1, -1] - ours.q[-1])) < 1e-12


@pytest.mark.parametrize(
    "scheme", [dh.Principle(), dh.Principle(variation="derived"), dh.Principle(staggered=True)], ids=repr
)
def test_rest_stays_rest(scheme):
    at_rest = Case(SLEIGH.system, (0.0, 0.0, 0.0), (0.0, 0.0))
    ours = run(at_rest, scheme)
    assert not np.any(ours.q)
    assert not np.any(ours.p)


def test_work_is_counted_for_a_scheme_that_declares_no_order():
    dragged = Case(dh.forced(SLEIGH.system, lambda q, xi: -0.3 * xi), SLEIGH.q, SLEIGH.xi)
    ours = run(dragged, dh.Principle(variation=written_out))
    assert dh.work(ours).forces[-1] == pytest.approx(ours.energy[-1] - ours.energy[0], abs=1e-4)


def test_what_does_not_go_together_is_refused():
    with pytest.raises(ValueError, match="variation is"):
        dh.Principle(variation="hamilton")
    with pytest.raises(ValueError, match="two_point"):
        dh.Principle(two_point=on_chord, variation=written_out)
    with pytest.raises(ValueError, match="two_point"):
        dh.Principle(two_point=on_chord, lagrangian=written_out)
    with pytest.raises(ValueError, match="staggered"):
        dh.Principle(staggered=True, variation="derived")
    with pytest.raises(ValueError, match=r"reconstruction gives an array of shape \(2,\); it has 3 rows"):
        run(SLEIGH, dh.Principle(reconstruction=lambda system, q0, q1, xi, h: (q1 - q0)[:2]))
    with pytest.raises(ValueError, match=r"constraint gives an array of shape \(3,\); it has 1 rows"):
        run(SLEIGH, dh.Principle(constraint=lambda system, q0, q1, h: q1 - q0))
    for point in (lambda q0, q1: (q0 + q1) / 2 + 0.1, lambda q0, q1: q0[:2], lambda q0, q1: jnp.log(-1 - q0**2)):
        with pytest.raises(ValueError, match="the point between a node and itself is that node"):
            run(SLEIGH, dh.Principle(point=point))
    with pytest.raises(ValueError, match="point is 1.5"):
        run(SLEIGH, dh.Principle(point=1.5))
    with pytest.raises(ValueError, match="quasi-velocities"):
        run(GAMMA, dh.Principle(variation="derived"))


def test_repr_names_its_parts():
    assert repr(dh.Principle()) == "Principle(point=0.5)"
    assert repr(dh.Principle(variation=written_out)) == "Principle(point=0.5, variation=written_out)"
    assert (EXPONENTIAL.order, EXPONENTIAL.symmetric, EXPONENTIAL.conserves) == (None, None, ())
    assert dh.Principle(variation="derived").conserves == dh.CortesMartinez().conserves
    assert dh.Principle(point=0.2).order == 1

"""Each mistake gets the sentence that its maker needs, with the numbers; and no result is lost."""

import os
import subprocess
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import PENDULUM, SLEIGH

import discrete_hamel as dh
from discrete_hamel._support.inputs import explained
from discrete_hamel.compiler.reading.parts_of_schemes import check_scheme_at

SLED = SLEIGH.system


def go(system=SLED, q=SLEIGH.q, xi=SLEIGH.xi, h=0.01, steps=10, **options):
    return dh.simulate(system, q=q, xi=xi, h=h, steps=steps, **options)


def kinetic(q, xi):
    return 0.5 * xi @ xi


def half_massless(q, xi):
    return 0.5 * xi[0] ** 2


def vector_valued(q, xi):
    return xi


def square(q):
    return jnp.eye(2)


def polar(q):
    return jnp.array([[1.0, 0.0], [0.0, q[0]]])


def parallel(q):
    return jnp.array([[1.0, 2.0], [1.0, 2.0]])


def three_fields(q):
    return jnp.ones((2, 3))


def fall(q, xi):
    return 0.5 * xi @ xi + 1.0 / q[0]


def from_two(l, frame=square, rank=2, **options):  # noqa: E741
    return dh.from_quasivelocities(l, frame, rank, **options)


PLANE = {"q": [1.0, 0.0], "xi": [0.1, 0.2]}
REFUSALS = {
    "q too short": ({"q": [0.1, 0]}, r"q has 2 components; ChaplyginSleigh has 3: theta, x, y"),
    "q a matrix": ({"q": np.zeros((2, 3))}, r"q must be one-dimensional, got shape \(2, 3\).*vmap"),
    "q not a number": ({"q": (0.1, float("nan"), 0)}, r"q\[1\] is nan.*finite"),
    "xi infinite": ({"xi": (float("inf"), 0)}, r"xi\[0\] is inf.*finite"),
    "xi too long": ({"xi": (1, 2, 3, 4)}, r"xi has 4 components.*2 free ones.*all 3: omega, v1, v2"),
    "xi too short": ({"xi": (1,)}, r"xi has 1 components.*2 free ones"),
    "no velocity": ({"xi": None}, r"give the initial velocity once"),
    "both velocities": ({"v": [1, 0, 0]}, r"give the initial velocity once"),
    "v too long": ({"xi": None, "v": [1, 0, 0, 0]}, r"v has 4 components, q has 3"),
    "xi off the constraint": ({"xi": (1.5, -0.3, 0.2)}, r"off the constraint: row 0 demands v2 = 0 and it is 0.2"),
    "v off the constraint": (
        {"q": (0, 0, 0), "xi": None, "v": [1, 2, 0.5]},
        r"off the constraint: row 0 demands v2 = 0 and it is 0.5",
    ),
    "v outside the frame": (
        {"system": PENDULUM.system, "q": PENDULUM.q, "xi": None, "v": PENDULUM.q},
        r"off the constraint: no xi gives it, and the nearest misses row 2, the velocity of gamma3, by",
    ),
    "rank 0": ({"system": from_two(kinetic, rank=0), **PLANE}, r"rank is 0.*1 to n = 2"),
    "rank above n": ({"system": from_two(kinetic, rank=3), **PLANE}, r"rank is 3.*1 to n = 2"),
    "singular frame": (
        {"system": from_two(kinetic, parallel), **PLANE},
        r"frame\(q\) is singular at q = \[1.0, 0.0\].*u_1.*u_2 = 0.*rank is below 2",
    ),
    "a pole": ({"system": from_two(kinetic, polar), "q": [0.0, 0.0], "xi": [1, 1]}, r"singular.*1 u_2 = 0.*pole"),
    "more fields than coordinates": (
        {"system": from_two(kinetic, three_fields), **PLANE},
        r"3 fields on 2 coordinates.*structure\(q\)",
    ),
    "degenerate Lagrangian": (
        {"system": from_two(half_massless), **PLANE},
        r"degenerate.*1 xi\[1\] carries no inertia",
    ),
    "Lagrangian not a scalar": ({"system": from_two(vector_valued), **PLANE}, r"lagrangian.*scalar.*got shape \(2,\)"),
    "slip too long": (
        {"system": from_two(kinetic, rank=1, slip=lambda q: jnp.zeros(2)), "q": [1.0, 0], "xi": [0.1]},
        r"slip\(q\) must return shape \(1,\).*got shape \(2,\)",
    ),
    "force too short": (
        {"system": from_two(kinetic, force=lambda q, xi: xi[:1]), **PLANE},
        r"force\(q, xi\) must return shape \(2,\).*got shape \(1,\)",
    ),
    "structure of another size": (
        {"system": from_two(kinetic, structure=lambda q: jnp.zeros((3, 3, 3))), **PLANE},
        r"structure\(q\) must return shape \(2, 2, 2\).*got shape \(3, 3, 3\)",
    ),
    "Lagrangian infinite": ({"system": from_two(fall), "q": [0.0, 0], "xi": [0, 0]}, r"not finite at the initial data"),
    "parameter not a number": ({"system": dh.systems.ChaplyginSleigh(mass=float("nan"))}, r"mass.*nan"),
    "h zero": ({"h": 0.0}, r"h is 0.0.*not zero"),
    "h not a number": ({"h": float("nan")}, r"h is nan.*finite"),
    "h an array": ({"h": [0.1, 0.2]}, r"h must be one number, got shape \(2,\)"),
    "steps negative": ({"steps": -1}, r"steps is -1.*at least 0"),
    "steps not whole": ({"steps": 10.5}, r"steps must be an integer, got 10.5"),
    "save_every zero": ({"save_every": 0}, r"save_every is 0.*at least 1"),
    "save_every no divisor": ({"save_every": 3}, r"steps = 10 is not a multiple of save_every = 3.*9 or 12"),
    "on_failure unknown": ({"on_failure": "ignore"}, r"on_failure is 'ignore'.*'raise' or 'mark'"),
}


@pytest.mark.parametrize("mistake", REFUSALS)
def test_refused_with_a_sentence(mistake):
    change, sentence = REFUSALS[mistake]
    with pytest.raises(ValueError, match=f"(?s){sentence}"):
        go(**change)


def test_a_class_for_an_instance_is_refused():
    with pytest.raises(TypeError, match="an instance"):
        go(scheme=dh.DiscreteHamel)
    with pytest.raises(TypeError, match="takes a System"):
        go(system="sleigh")


@pytest.mark.parametrize("ask", [dh.energy, dh.momentum, dh.spectrum, dh.linearise, partial(dh.reference, t=1.0)])
def test_a_class_for_an_instance_is_refused_by_other_functions_too(ask):
    with pytest.raises(dh.InputTypeError, match=r"give an instance, ChaplyginSleigh\(...\), not the class"):
        ask(dh.systems.ChaplyginSleigh, [0.0, 0, 0], [0.0, 1.0])


def test_constraints_at_a_traced_point_are_refused():
    system = dh.from_constraints(lambda q, v: 0.5 * v @ v, lambda q: jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]]))
    with pytest.raises(ValueError, match=r"traced by jax.*system = system.at\(q0\)"):
        jax.vmap(lambda q: dh.simulate(system, q=q, v=jnp.zeros(3), h=0.1, steps=1).q)(jnp.zeros((2, 3)))


def test_constraints_with_a_traced_parameter_are_refused_and_the_way_out_has_a_gradient():
    system = dh.from_constraints(
        lambda q, v, mass: 0.5 * mass * v @ v,
        lambda q, mass: jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]]),
        params=1.3,
        force=lambda q, v, mass: jnp.array([0.1, 0.0, 0.0]),
    )
    start = {"q": np.array([0.1, 0.0, 0.0]), "v": np.array([1.0, np.cos(0.1), np.sin(0.1)])}

    def end(mass, system):
        return dh.simulate(system.replace(params=mass), **start, h=0.1, steps=5).q[-1, 1]

    with pytest.raises(ValueError, match=r"traced by jax.*system.replace\(params=...\)"):
        jax.grad(end)(1.3, system)
    slope = (end(1.3 + 1e-5, system) - end(1.3 - 1e-5, system)) / 2e-5
    assert jax.grad(end)(1.3, system.at(start["q"])) == pytest.approx(slope, rel=1e-6)


def test_off_the_constraint_is_a_matter_of_size():
    go(xi=(1.5, -0.3, 1e-9))
    with pytest.raises(ValueError, match="off the constraint"):
        go(xi=(1.5, -0.3, 1e-6))


def runaway(q, xi):
    """x'' = exp(x), which reaches infinity in finite time: once h^2 exp(x) > 4 / e or so, no step has a solution."""
    return 0.5 * xi @ xi + jnp.exp(q[0])


RUNAWAY = from_two(runaway)
HUGE = {"q": (-1.0, 0.0), "xi": (0.0, 1.0), "h": 0.5}


def test_newton_that_fails_names_the_step_and_keeps_the_trajectory():
    with pytest.raises(dh.NewtonFailed) as failure:
        dh.simulate(RUNAWAY, **HUGE, steps=5000)
    message, kept = str(failure.value), failure.value.trajectory
    reached = len(kept) - 1
    assert f"step {reached + 1} (from t = {reached * 0.5:g} with h = 0.5)" in message
    for words in ("residual of", "iterations", "worst in", "near q = [", "smaller step, h = 0.125", ".trajectory"):
        assert words in message
    assert np.all(np.isfinite(kept.q))
    assert np.all(np.isfinite(kept.xi))
    assert np.all(kept.report.converged)
    assert 1 < reached < 20  # what was kept is a run that can be had by itself
    assert np.array_equal(dh.simulate(RUNAWAY, **HUGE, steps=reached).q, kept.q)


def test_a_huge_step_fails_at_once_with_nothing_lost():
    with pytest.raises(
        dh.NewtonFailed, match=r"step 1 \(from t = 0 with h = 1000\).*momentum balance along xi\[0\]"
    ) as failure:
        dh.simulate(RUNAWAY, **(HUGE | {"h": 1000.0}), steps=3)
    assert failure.value.trajectory.q.tolist() == [list(HUGE["q"])]


def test_marked_failure_is_nan_and_says_where():
    with pytest.raises(dh.NewtonFailed) as failure:
        dh.simulate(RUNAWAY, **HUGE, steps=5000)
    kept = failure.value.trajectory
    marked = dh.simulate(RUNAWAY, **HUGE, steps=5000, on_failure="mark")
    good = len(kept)
    assert len(marked) == 5001
    assert np.array_equal(marked.q[:good], kept.q)
    assert np.all(np.isnan(marked.q[good:]))
    assert not np.any(marked.report.converged[good - 1 :])
    assert np.all(np.isfinite(marked.t))


def test_failure_under_jit_is_marked():
    traced = jax.jit(lambda h: dh.simulate(RUNAWAY, q=HUGE["q"], xi=HUGE["xi"], h=h, steps=200))
    marked = traced(0.5)
    bad = ~np.asarray(marked.report.converged)
    assert bad.any()
    first = int(np.argmax(bad))
    assert np.all(np.isnan(marked.q[first + 1 :]))
    assert np.all(np.isfinite(marked.q[: first + 1]))


def test_falling_into_a_pole_is_never_silent():
    """A potential sqrt(x) that ends at x = 0: beyond it there is NaN, and the run says at which step it came there."""
    with pytest.raises(dh.NewtonFailed, match=r"step \d+.*(not finite|residual)"):
        go(from_two(ends_at_zero), q=[0.05, 0.0], xi=[-1.0, 0.0], h=0.1, steps=100)


def ends_at_zero(q, xi):
    return 0.5 * xi @ xi - jnp.sqrt(q[0])


def test_float32_warns_once():
    code = (
        "import warnings, discrete_hamel as dh\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    for _ in range(2):\n"
        "        t = dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=20)\n"
        "print(len(seen), t.q.dtype, abs(t.energy - t.energy[0]).max() < 1e-5)\n"
        "print(seen[0].message)\n"
    )
    environment = os.environ | {"JAX_ENABLE_X64": "0"}
    out = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    counted, sentence = out.stdout.splitlines()[:2]
    assert counted == "1 float32 True"
    assert "float32" in sentence
    assert "JAX_ENABLE_X64" in sentence


def test_a_traced_value_that_simulate_is_not_given():
    """A function of the system closes over what grad traces: refused with the way out; under jit it works."""

    def end(stiffness):
        spring = dh.from_velocities(lambda q, v: 0.5 * v @ v - 0.5 * stiffness * q @ q, lambda q: jnp.eye(2), rank=2)
        return dh.simulate(spring, q=[1.0, 0.0], xi=[0.0, 1.0], h=0.1, steps=2).q[-1].sum()

    with pytest.raises(ValueError, match=r"jax.grad or jax.vmap traces.*params=.*jax.jit"):
        jax.grad(end)(2.0)
    assert jnp.isfinite(jax.jit(jax.grad(end))(2.0))


TWO_POINTS = dh.systems.TwoPointsParallelVelocities()
TIMED = dh.timed(SLED)


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda: dh.in_frame(TWO_POINTS, lambda q: jnp.eye(3)), "in_frame needs a frame.*nonlinear.*psi"),
        (lambda: dh.prescribe(TIMED, {"theta": lambda t: t}), "has time among its coordinates already.*one call"),
        (lambda: go(scheme=dh.CortesMartinez(2.0, 0.5)), "lagrangian_at is 2; .*between the nodes"),
        (lambda: go(h=lambda q, xi: -0.1 + 0 * xi[0]), "is -0.1 at the start.*positive"),
        (
            lambda: dh.simulate(
                dh.systems.SphericalPendulumCartesian(),
                q=[0, 0, -1.5],
                v=[0.1, 0, 0],
                h=0.1,
                steps=2,
                scheme=dh.Rattle(),
            ),
            "off the holonomic constraint",
        ),
    ],
)
def test_misuse_is_refused_with_the_way_out(mistake, words):
    with pytest.raises(ValueError, match=words):
        mistake()


def test_a_sentence_of_the_library_passes_whichever_room_it_comes_from():
    """What is raised on purpose, in the compiler's room here, is not said again as an error of the user's function."""
    with (
        pytest.raises(dh.InputError, match=r"^tau is 2; that point lies"),
        explained("what a function of the user's"),
    ):
        check_scheme_at(SLED, dh.DiscreteHamel(tau=2.0), jnp.array(SLEIGH.q))


def test_a_refusal_is_told_from_a_fault_by_its_class_not_by_its_words():
    """A system's own `check` may refuse as the library does; a ValueError with a full stop at its end is a fault."""

    def refuse(kind):
        with explained("its check"):
            raise kind("radius is -1.")

    with pytest.raises(dh.InputError) as refusal:
        refuse(dh.InputError)
    assert str(refusal.value) == "radius is -1."
    with pytest.raises(dh.InputError) as fault:
        refuse(ValueError)
    assert str(fault.value) == "its check cannot be evaluated: ValueError: radius is -1."


@pytest.mark.parametrize(
    "run",
    [
        lambda: go(dh.systems.ChaplyginSleigh(mass=-1.0)),
        lambda: go(dh.systems.SphericalPendulum(), q=[0, 0, -1.3], xi=[0.1, 0.0]),
    ],
    ids=["a parameter", "a place"],
)
def test_a_sentence_of_ours_is_handed_on_as_it_is(run):
    with pytest.raises(ValueError, match=r"positive; it is -1\.0|dh\.project") as refusal:
        run()
    assert "cannot be evaluated" not in str(refusal.value)

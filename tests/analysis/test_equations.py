"""dh.equations: the papers' equations as they print them (corrected), and the numbers of the traced functions."""

import dataclasses
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

sp = pytest.importorskip("sympy")


def printed(text: str, **found: object) -> "sp.Expr":
    """A formula of a paper, in the symbols of what was found."""
    symbols = {str(symbol): symbol for value in found.values() for symbol in value.free_symbols}
    return sp.parse_expr(text, local_dict=symbols)


def is_printed_as(found: "sp.Expr", text: str) -> None:
    """Equal, and not longer than in print."""
    paper = printed(text, found=found)
    assert sp.simplify(found - paper) == 0, f"{found} is not {paper}"
    assert sp.count_ops(found) <= sp.count_ops(paper) + 3, f"{found} is longer than {paper}"


SLEIGH = {"inertia": "J", "mass": "m", "offset": "a", "p_omega": "p1", "p_v1": "p2"}


def test_without_sympy_it_says_how_to_have_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(ImportError, match=r'pip install "discrete_hamel\[sympy\]"'):
        dh.equations(dh.systems.ChaplyginSleigh())


def test_the_sleigh():
    found = dh.equations(dh.systems.ChaplyginSleigh(), names=SLEIGH)
    is_printed_as(found.momenta["p1"], "(J + m*a**2)*omega")  # [QS] 6.1
    is_printed_as(found.momentum_equations["p1"], "-a*p1*p2/(J + m*a**2)")  # (6.1)
    is_printed_as(found.momentum_equations["p2"], "m*a*p1**2/(J + m*a**2)**2")
    assert list(found.reduced) == ["p1", "p2"]
    assert {name: str(value) for name, value in found.structure.items()} == {
        "[u_omega, u_v1]": "u_v2",
        "[u_omega, u_v2]": "-u_v1",
    }
    assert found.latex() == (
        "\\begin{aligned}\n\\dot{p}_{1} &= - \\frac{a p_{1} p_{2}}{J + a^{2} m} \\\\\n"
        "\\dot{p}_{2} &= \\frac{a m p_{1}^{2}}{\\left(J + a^{2} m\\right)^{2}}\n\\end{aligned}"
    )
    assert "  p1' = -a*p1*p2/(J + a**2*m)" in str(found)


OSCILLATOR = {"sleigh": "M", "mass": "m", "inertia": "J", "stiffness": "k", "p_Omega2": "p2", "p_w": "pr", "r'": "w"}


def test_the_sleigh_with_a_sliding_mass():
    """[QS] (6.5), and (6.6) to (6.8) in the frame that is scaled; r' = (M + m) p_r / (M m)."""
    found = dh.equations(dh.systems.SleighOscillator(), names=OSCILLATOR | {"p_Omega1": "p1"})
    is_printed_as(found.momenta["pr"], "M*m/(M + m)*w")
    is_printed_as(found.momentum_equations["pr"], "M*m*r/((M + m)*(J + m*r**2)**2)*p1**2 - k*r")
    rate = "((M + m)/(M*m)*pr)"
    is_printed_as(
        found.momentum_equations["p1"],
        f"-m*r/((M + m)*(J + m*r**2))*p1*p2 + m**2*r/((M + m)*(J + m*r**2))*p1*{rate}",
    )
    is_printed_as(found.momentum_equations["p2"], "m*r/(J + m*r**2)**2*p1**2")
    assert set(found.reduced) == {"pr", "p1", "p2", "r"}
    scaled = dh.equations(dh.systems.SleighOscillatorScaledFrame(), names=OSCILLATOR | {"p_xi1": "p1"})
    power = "(J + m*r**2)**(M/(M + m) + 1)"
    for name, text in {
        "pr": f"M*m*r/((M + m)*{power})*p1**2 - k*r",
        "p1": "-m*r/((M + m)*(J + m*r**2))*p1*p2",
        "p2": f"m*r/{power}*p1**2",
    }.items():
        value = scaled.momentum_equations[name]
        signs = {symbol: sp.Symbol(str(symbol), positive=True) for symbol in value.free_symbols}
        positive = value.xreplace(signs)
        is_printed_as(positive, text)


def test_the_pendulum_as_a_degenerate_body():
    """mu' = mu x xi + m g gamma x a, gamma' = gamma x xi with xi3 = 0 and a = r e3.   [HE] (6.1), (6.2)"""
    found = dh.equations(dh.systems.SphericalPendulum(), names={"mass": "m", "gravity": "g", "length": "r"})
    m, g, r = (sp.Symbol(name, real=True) for name in "mgr")
    gamma = sp.Matrix([sp.Symbol(f"gamma{k}", real=True) for k in (1, 2, 3)])
    xi = sp.Matrix([sp.Symbol("xi1", real=True), sp.Symbol("xi2", real=True), 0])
    mu, a = m * r**2 * xi, sp.Matrix([0, 0, r])
    momenta, directions = mu.cross(xi) + m * g * gamma.cross(a), gamma.cross(xi)
    assert [*found.balance.values()] == [*momenta[:2]]
    assert [*found.kinematics.values()] == [*directions]


def test_two_points_with_parallel_velocities():
    """[BE] (52) with gravity (53), with a spring (55), and with both."""
    names = {"mass1": "m1", "mass2": "m2", "gravity": "g", "stiffness": "k"}
    found = dh.equations(dh.systems.TwoPointsParallelVelocities(), names=names).accelerations
    a1, a3 = "(m1*g + k*(x2 - x1))", "(m2*g + k*(x1 - x2))"
    a2, a4 = "(k*(y2 - y1))", "(k*(y1 - y2))"
    paper = {
        "v1": f"({a1}*cos(theta) + {a2}*sin(theta))/m1",
        "v2": f"({a3}*cos(theta) + {a4}*sin(theta))/m2",
        "theta": f"(v1*({a2}*cos(theta) - {a1}*sin(theta)) + v2*({a4}*cos(theta) - {a3}*sin(theta)))"
        "/(m1*v1**2 + m2*v2**2)",
    }
    for name, text in paper.items():
        gap = found[name] - printed(text, found=found[name])
        assert sp.expand(gap * printed("m1*v1**2 + m2*v2**2", **found)) == 0
        assert found[name].xreplace({sp.Symbol("k", real=True): 0}).count(sp.sin) <= 2
    no_spring = found["theta"].subs(sp.Symbol("k", real=True), 0)  # (53)
    is_printed_as(sp.factor(no_spring), "-g*sin(theta)*(m1*v1 + m2*v2)/(m1*v1**2 + m2*v2**2)")


def numbers_of(expressions, values):
    return np.array([float(value.subs({s: values[str(s)] for s in value.free_symbols})) for value in expressions])


@pytest.mark.parametrize("name", ["RollingDisk", "Gearbox", "HeavyTop", "KnifeEdgeOnIncline"])
def test_the_numbers_are_those_that_are_integrated(name):
    system = getattr(dh.systems, name)()
    found = dh.equations(system)
    draw = np.random.default_rng(3)
    q = np.asarray(system.sample()["q"], float) + 0.1 * draw.normal(size=len(system.sample()["q"]))
    xi = draw.normal(size=system.rank)
    values = dict(zip(system.coordinates, q, strict=True)) | dict(zip(system.velocities, xi, strict=False))
    for field in dataclasses.fields(system):
        entries = np.asarray(getattr(system, field.name), float)
        values |= {field.name + "".join(f"_{k + 1}" for k in i): entries[i] for i in np.ndindex(entries.shape)}
    p = dh.momentum(system, q, xi)[: system.rank]
    values |= {f"p_{velocity}": value for velocity, value in zip(system.velocities, p, strict=False)}
    velocity, rate = dh.vector_field(system, q, xi)
    force = dh.hamel_force(system, q, xi)
    expected = {
        "kinematics": velocity, "momenta": p, "velocities": xi, "balance": force, "momentum_equations": force,
        "accelerations": rate[: system.rank], "reactions": dh.reactions(system, q, xi),
    }  # fmt: skip
    for part, numbers in expected.items():
        got = numbers_of(getattr(found, part).values(), values)
        np.testing.assert_allclose(got, numbers, rtol=1e-12, atol=1e-12, err_msg=part)


def test_latex_of_names_that_are_words_or_have_primes():
    disk = dh.equations(dh.systems.RollingDisk())
    assert "[u_{\\phi'}, u_{\\zeta_{1}}] &= u_{\\zeta_{2}}" in disk.latex("structure")
    assert "\\mathrm{gravity} \\, \\mathrm{mass} \\, \\mathrm{radius}" in disk.latex("momentum_equations")
    assert "\\tfrac{d}{dt} p_{\\theta'}" in disk.latex("momentum_equations")


def test_powers_roots_and_choices_are_read():
    def lagrangian(q, xi):
        return 0.5 * (1 + q[0] ** 2) ** 1.5 * xi[0] ** 2 - jnp.where(q[0] > 0, q[0] ** 2, 0.0) - jnp.sqrt(1 + q[0] ** 2)

    system = dh.from_quasivelocities(lagrangian, lambda q: jnp.eye(1), 1, coordinates=("x",), velocities=("u",))
    found = dh.equations(system, [0.5])
    x, u = sp.Symbol("x", real=True), sp.Symbol("u", real=True)
    rest = sp.Piecewise((-2 * x, x > 0), (0, True)) - x / sp.sqrt(1 + x**2)
    difference = found.balance["p_u"] - (sp.Rational(3, 2) * x * sp.sqrt(1 + x**2) * u**2 + rest)
    for point in (0.7, -0.4):
        assert abs(float(difference.subs({x: point, u: 1.3}))) < 1e-14


def test_what_is_not_linear_in_the_velocities_has_no_equations_in_momenta():
    system = dh.from_quasivelocities(lambda q, xi: jnp.sum(xi**4) + xi @ xi, lambda q: jnp.eye(2), 2)
    found = dh.equations(system, [0.0, 0.0])
    assert not found.momentum_equations
    assert str(found.momenta["p_xi1"]) == "4*xi1**3 + 2*xi1"
    assert set(found.reduced) == {"xi1", "xi2"}


def test_a_wrong_bracket_is_seen_in_print():
    """The mutant that forgets the bracket prints other equations."""

    class NoBracket(dh.systems.ChaplyginSleigh):
        def structure(self, q):
            return jnp.zeros((3, 3, 3)) * q[0]

    found = dh.equations(NoBracket(), names=SLEIGH)
    assert not found.structure
    assert found.momentum_equations["p1"] == 0


def test_where_must_be_said():
    system = dh.from_quasivelocities(lambda q, xi: xi @ xi, lambda q: jnp.eye(2), 2)
    with pytest.raises(ValueError, match="say near which q"):
        dh.equations(system)


def test_one_name_for_two_quantities_is_told_apart_or_refused():
    """A spring whose constant is called as its coordinate: the force was -3 x^2."""
    spring = dh.from_velocities(
        lambda q, v, p: 0.5 * v @ v - 0.5 * p["x"] * q[0] ** 2, lambda q, p: jnp.eye(1), 1,
        params={"x": 2.0}, coordinates=("x",),
    )  # fmt: skip
    found = dh.equations(spring, [0.3])
    (force,) = found.balance.values()
    assert str(force) == "-parameter_x*x"
    assert "x*x_spring" in str(dh.equations(spring, [0.3], names={"parameter_x": "x_spring"}))
    with pytest.raises(ValueError, match="two quantities would be called 'J'"):
        dh.equations(dh.systems.ChaplyginSleigh(), names={"mass": "J", "inertia": "J"})


def test_constraints_whose_free_velocities_alone_have_names():
    """A skate, theta and x free: p_theta' = 0, and the reaction is that of Lagrange's multiplier."""
    skate = dh.from_constraints(
        lambda q, v: 0.5 * v @ v,
        lambda q: jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]]),
        coordinates=("theta", "x", "y"),
        free=("theta", "x"),
    )
    found = dh.equations(skate, [0.3, 0.0, 0.0])
    assert found.balance["p_theta'"] == 0
    (reaction,) = found.reactions.values()
    at = {"theta": 0.3, "theta'": 0.7, "x'": 1.1}
    value = reaction.subs({symbol: at[str(symbol)] for symbol in reaction.free_symbols})
    assert float(value) == pytest.approx(0.7 * 1.1 / np.cos(0.3), rel=1e-12)  # theta' times the speed along

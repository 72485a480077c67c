"""Units: a change of units leaves every system's equations as they are, and axes show the units that systems say."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.cli.name_lookup import catalogue
from discrete_hamel.systems._blocks import units

# Written without dimensions: masses or lengths of 1 are left out of their equations.
PURE = {"ChargedNonholonomicParticle", "ContactOscillator", "EulerPoincare", "EulerPoincareSuslov", "Gearbox"} | {
    "HeisenbergParticle",
    "NonholonomicParticle",
    "TranslationInvariantParticle",
}
WITH_UNITS = sorted(set(catalogue()) - PURE)
# The new units of length, mass, time and current, in the old: no product of small powers of them is 1.
SIZES = {"m": 1.7, "cm": 1.7, "kg": 2.3, "g": 2.3, "s": 0.6, "A": 1.13, "rad": 1.0}


def factor(unit):
    """A number in the new units, over the number in the old."""
    return float(np.prod([SIZES[base] ** -power for base, power in units.powers((unit, 1)).items()]))


def factors(system, names):
    return np.array([factor(units.unit(system.units, name) or "1") for name in names])


def in_new_units(system):
    """The same system with its parameters in the new units; functions of time take the new time."""
    changes = {}
    for name in inspect.signature(type(system)).parameters:
        value, scale = getattr(system, name), factor(units.unit(system.units, name) or "1")
        if callable(value) and name in ("turning", "rotor", "steering"):
            rate = factor("1/s") if name == "turning" else 1.0
            changes[name] = lambda t, value=value, rate=rate: rate * value(t / factor("s"))
        elif not callable(value) and not isinstance(value, (bool, int)):
            changes[name] = jax.tree.map(lambda leaf, scale=scale: scale * np.asarray(leaf), value)
    return system.replace(**changes)


def equations(system, q, xi):
    """qdot, the Lagrangian, momenta, the slip, and the invariants."""
    kept = {name: function(q, xi) for name, function in system.invariants().items()}
    nonlinear = isinstance(system, dh.NonlinearSystem)
    v = system.velocity(q, xi) if nonlinear else system.frame(q) @ xi
    slip = jnp.zeros(0) if nonlinear else system.slip(q)
    return v, system.lagrangian(q, v if nonlinear else xi), dh.momentum(system, q, xi), slip, kept


def mistakes(system):
    """Which of a system's equations change with the units."""
    sample = system.sample()
    q, rng = np.array(sample["q"], float), np.random.default_rng(3)
    xi = rng.uniform(0.3, 1.0, len(system.velocities))
    q = q + rng.uniform(0.0, 0.1, len(q))
    xi[[not units.unit(system.units, name) for name in system.velocities]] = 0.0  # one has no unit
    of_q, of_xi = factors(system, system.coordinates), factors(system, system.velocities)
    v, value, p, slip, kept = equations(system, jnp.asarray(q), jnp.asarray(xi))
    found = equations(in_new_units(system), jnp.asarray(of_q * q), jnp.asarray(of_xi * xi))
    p_names = [f"p {name}" for name in system.velocities[: system.rank]]
    energy = factor(system.units["energy"])
    expected = (
        of_q * v / factor("s"),
        energy * value,
        factors(system, p_names) * p[: system.rank],
        of_xi[system.rank :] * slip,
        {name: factor(units.unit(system.units, name)) * value for name, value in kept.items()},
    )
    known = [bool(units.unit(system.units, name)) for name in p_names]
    differ = {
        "velocities": (found[0], expected[0]),
        "Lagrangian": (found[1], expected[1]),
        "momenta": (found[2][: system.rank][np.array(known)], expected[2][np.array(known)]),
        "slip": (found[3], expected[3][: len(found[3])]),
    } | {name: (found[4][name], expected[4][name]) for name in kept}
    return [name for name, (one, other) in differ.items() if not np.allclose(one, other, rtol=1e-12, atol=1e-13)]


@pytest.mark.parametrize("name", WITH_UNITS)
def test_a_change_of_units_leaves_the_equations(name):
    assert mistakes(catalogue()[name]()) == []


@pytest.mark.parametrize(
    ("name", "wrong", "seen"),
    [
        ("ChaplyginSleigh", {"v1": "rad/s"}, "velocities"),
        ("ChaplyginSleigh", {"inertia": "kg m"}, "Lagrangian"),
        ("RollingDisk", {"x": "rad"}, "velocities"),
        ("ThreeWheelCart", {"Omega": "rad/s"}, "velocities"),
        ("RouthTop", {"Jellett": "kg m^2/s"}, "Jellett"),
        ("BallOnTurntable", {"rate": "rad"}, "slip"),
        ("TwoPointsParallelVelocities", {"energy": "N"}, "Lagrangian"),
    ],
)
def test_a_wrong_unit_is_noticed(name, wrong, seen, monkeypatch):
    kind = catalogue()[name]
    monkeypatch.setattr(kind, "units", kind.units | wrong)
    assert seen in mistakes(kind())


def test_every_quantity_of_a_system_has_a_unit():
    for name in WITH_UNITS:
        system = catalogue()[name]()
        names = [*system.coordinates, *system.velocities, *system.invariants(), "t", "energy"]
        names += [
            key for key in inspect.signature(type(system)).parameters if isinstance(getattr(system, key), float | tuple)
        ]
        assert [n for n in names if not units.unit(system.units, n)] == (["xi1"] if "Scaled" in name else []), name
    assert not any(catalogue()[name].units for name in PURE)


def test_units_of_rates_and_momenta_follow():
    assert [units.unit(units.SI, n) for n in ("phi'", "r'", "t'", "p v1", "p phi'", "p R11", "nonsense")] == [
        *("rad/s", "m/s", "1", "kg m/s", "kg m^2/s", "kg m^2/s^2", "")
    ]
    assert units.unit({"x": "m"}, "x'") == units.unit({"v": "m/s"}, "p v") == ""  # no time, no energy said


def test_a_system_made_of_another_has_its_units():
    car = dh.systems.Car()
    driven = dh.prescribe(car, {"alpha": jnp.sin})
    assert [units.axis_title(driven.units, name) for name in driven.coordinates] == [
        "theta [rad]",
        "x [m]",
        "y [m]",
        "t [s]",
    ]
    assert dh.forced(car, lambda q, xi: -xi).units["x"] == "m"


def test_the_command_line_shows_them(capsys):
    from discrete_hamel.cli import main

    assert main(["systems", "ChaplyginSleigh"]) == 0
    out = capsys.readouterr().out
    assert "q  = (theta [rad], x [m], y [m])" in out
    assert "  inertia = 0.7 kg m²\n" in out

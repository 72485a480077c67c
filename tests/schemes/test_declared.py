"""What the schemes declare, `order`, `symmetric` and `conserves`, is what is measured: for all of them, and both ways.

A scheme is found by being exported; a word in `conserves` must be in WORDS, and a scheme that does not declare a word
must fail its check. So neither a false claim nor a forgotten one passes.
"""

import functools
import inspect
import re
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import BODY, DISK, PARTICLE, PENDULUM, POINTS, SLEIGH, SURFACE, has_slope, orbit, velocity
from checkers import STEP, keeps_steady_rolling, steady_spin

import discrete_hamel as dh
from discrete_hamel.schemes import Scheme

PUBLIC = [getattr(dh, name) for name in dh.__all__]
CLASSES = [value for value in PUBLIC if inspect.isclass(value) and issubclass(value, Scheme) and value is not Scheme]


def shorter_when_fast(q, xi):
    return 1 / (1 + 0.2 * xi[0] ** 2 + 0 * q[0])


def named(scheme):
    """Its repr, without addresses, which differ between the processes of a parallel run."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(scheme))


VARIANTS = {
    "DiscreteHamel": [
        dh.DiscreteHamel(),
        dh.DiscreteHamel(tau=0.25),
        dh.DiscreteHamel(tau=1.0),
        dh.DiscreteHamel(compensated=True),
    ],
    "CortesMartinez": [dh.CortesMartinez(a, b) for a, b in ((0.5, 0.5), (0.0, 0.0), (0.0, 0.5), (0.5, 0.0))],
    "Principle": [
        dh.Principle(),
        dh.Principle(variation="derived"),
        dh.Principle(point=0.3),
        dh.Principle(staggered=True),
    ],
    "Composed": [dh.Composed(dh.DiscreteHamel(), order=4)],
    "EnergyExact": [dh.EnergyExact(), dh.EnergyExact(dh.Gonzalez())],
    "Gauss": [dh.Gauss(2)],
    "TimeTransformed": [dh.schemes.TimeTransformed(dh.DiscreteHamel(), shorter_when_fast)],
}
SCHEMES = [scheme for cls in CLASSES for scheme in VARIANTS.get(cls.__name__) or [cls()]]


@functools.cache
def accepts(scheme, case):
    try:
        jax.eval_shape(lambda: dh.start(case.system, scheme, case.q, case.xi, 0.1))
    except ValueError:
        return False
    return True


ENERGY = jax.jit(dh.energy)


# --- order and symmetry ---


@pytest.mark.parametrize("scheme", SCHEMES, ids=named)
def test_order(scheme):
    case = next(case for case in (SLEIGH, PARTICLE, SURFACE, POINTS) if accepts(scheme, case))
    has_slope(scheme, case, scheme.order, time=2.0)


@pytest.mark.parametrize("scheme", SCHEMES, ids=named)
def test_symmetry(scheme):
    """A step back undoes a step to round-off; or, where that is not declared, far from it."""
    case = next(case for case in (SLEIGH, PARTICLE, SURFACE, POINTS) if accepts(scheme, case))
    h = 0.2
    first, there = orbit(scheme, case, h, 1)
    back, _ = STEP(case.system, scheme, there, -h)
    gap = max(float(jnp.max(jnp.abs(back.q - first.q))), float(jnp.max(jnp.abs(back.p - first.p))))
    assert gap < 1e-12 if scheme.symmetric else gap > 1e-8


# --- conserved quantities: each check returns the largest deviation over a run ---


def off_constraint(scheme):
    """The blade's slip at nodes and over intervals."""
    states = orbit(scheme, SLEIGH, 0.1, 20)
    nodal = [float(velocity(scheme, SLEIGH, state)[2]) for state in states]
    _, interval = STEP(SLEIGH.system, scheme, states[-1], 0.1)
    return max(np.max(np.abs(nodal)), abs(float(interval.xi[2])))


def off_steady_rolling(scheme):
    theta, turn = 0.3, 0.7
    try:
        keeps_steady_rolling(DISK.system, scheme, theta, turn, steady_spin(DISK.system, theta, turn), 0.05, steps=10)
    except AssertionError:
        return 1.0
    return 0.0


def energy_of(case, h, steps):
    def deviation(scheme):
        states = orbit(scheme, case, h, steps)
        values = [float(ENERGY(case.system, state.q, velocity(scheme, case, state))) for state in states]
        return np.max(np.abs(np.array(values) - values[0])) / abs(values[0])

    return deviation


def spatial_momentum(scheme):
    states = orbit(scheme, BODY, 0.1, 50)
    values = np.array([BODY.system.spatial_momentum(state.q, velocity(scheme, BODY, state)) for state in states])
    return np.max(np.abs(values - values[0]))


def angular_momentum(scheme):
    """q x q' of the particle; about the vertical, where the scheme takes the pendulum only."""
    case = PARTICLE if accepts(scheme, PARTICLE) else PENDULUM
    values = []
    for state in orbit(scheme, case, 0.1, 50):
        v = case.system.frame(state.q) @ velocity(scheme, case, state)
        values.append(float(state.q[0] * v[1] - state.q[1] * v[0]))
    return np.max(np.abs(np.array(values) - values[0]))


def off_surface(scheme):
    return max(abs(float(SURFACE.system.constraint(state.q))) for state in orbit(scheme, SURFACE, 0.1, 50))


class Word(NamedTuple):
    check: object
    cases: tuple  # it is asked of schemes that accept one of these
    implied_by: tuple = ()


WORDS = {
    "constraint": Word(off_constraint, (SLEIGH,)),
    "relative equilibria": Word(off_steady_rolling, (DISK,)),
    "quadratic energy": Word(energy_of(SLEIGH, 0.1, 50), (SLEIGH,), implied_by=("energy",)),
    "energy": Word(energy_of(DISK, 0.05, 10), (DISK,)),
    "spatial momentum": Word(spatial_momentum, (BODY,)),
    "angular momentum": Word(angular_momentum, (PARTICLE, PENDULUM)),
    "holonomic constraint": Word(off_surface, (SURFACE,)),
}


def test_every_scheme_and_every_word_is_known():
    assert len(CLASSES) >= 6
    for scheme in SCHEMES:
        assert scheme.reference
        assert set(scheme.conserves) <= set(WORDS)
        for name in scheme.conserves:
            assert any(accepts(scheme, case) for case in WORDS[name].cases), f"{name} cannot be asked of {scheme!r}"


@pytest.mark.parametrize("name", WORDS)
@pytest.mark.parametrize("scheme", SCHEMES, ids=named)
def test_conserves(scheme, name):
    word = WORDS[name]
    if not any(accepts(scheme, case) for case in word.cases):
        assert name not in scheme.conserves
        return
    deviation = word.check(scheme)
    if {name, *word.implied_by} & set(scheme.conserves):
        assert deviation < 1e-12 * 50**0.5
    else:
        assert deviation > 1e-9, f"{scheme!r} keeps {name} and does not say so"


def test_a_scheme_made_of_another_says_what_that_one_says():
    """Where on the chord it acts, what it keeps, and what it needs: of the scheme within."""
    within = dh.CortesMartinez(0.5, constraint_at=0.3)
    varying = dh.TimeTransformed(within, lambda q, xi: 0.01)
    for name in ("point", "order", "symmetric", "conserves", "frameless", "nodal"):
        assert getattr(varying, name) == getattr(within, name)
    assert (within.point, within.order, within.symmetric) == (0.3, 1, False)
    assert within.conserves == ("constraint", "angular momentum")
    assert "spatial momentum" in dh.CortesMartinez(0.2).conserves
    assert dh.TimeTransformed(dh.NonlinearMidpoint(0.3), lambda q, z: 0.01).point == 0.3
    assert (dh.Composed(dh.DiscreteHamel(), order=6).order, dh.Composed(dh.DiscreteHamel()).point) == (6, 0.5)
    assert dh.Composed(dh.EnergyExact()).nodal

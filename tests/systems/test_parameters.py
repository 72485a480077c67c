"""Impossible parameters are refused with a sentence that names them, before anything runs."""

import dataclasses
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.testing.strategies import inertias, numbers, sizes

S = dh.systems


def run(system):
    return dh.simulate(system, **system.sample(), steps=1)


MASSES = {
    "ChaplyginSleigh": ("mass", "inertia"),
    "ChaplyginSleighMomentumFrame": ("mass", "inertia"),
    "ChargedNonholonomicParticle": ("mass",),
    "ChargedParticle": ("mass",),
    "CoaxialDiscs": ("mass1", "mass2"),
    "DegenerateSleigh": ("mass",),
    "HeisenbergParticle": ("mass",),
    "KnifeEdgeOnIncline": ("mass", "inertia"),
    "LagrangeTop": ("mass", "distance", "inertia_across", "inertia_axis"),
    "NSpherePendulum": ("mass", "length"),
    "NonholonomicParticle": ("mass",),
    "SleighOscillator": ("sleigh", "mass", "inertia", "stiffness"),
    "SleighOscillatorScaledFrame": ("sleigh", "mass", "inertia", "stiffness"),
    "SphericalPendulum": ("mass", "length"),
    "SphericalPendulumAngles": ("mass", "length"),
    "SphericalPendulumCartesian": ("mass", "length"),
}


@pytest.mark.parametrize("name", MASSES)
def test_what_must_be_positive(name):
    for parameter in MASSES[name]:
        for value in (-1.0, 0.0):
            with pytest.raises(ValueError, match=rf"{parameter} of {name} must be positive; it is {value}"):
                run(getattr(S, name)(**{parameter: value}))


SIZES = re.compile(
    "mass|inertia$|_inertia|inertia_|length|radius|semiaxes|wheelbase|rear|front|wire|hoop|cylinder|sphere$"
)


def numbers_of(system):
    """The names and values of the fields that hold numbers."""
    fields = ((field.name, getattr(system, field.name)) for field in dataclasses.fields(system))
    return [
        (name, value) for name, value in fields if isinstance(value, float) or isinstance(np.ravel(value)[0], float)
    ]


@pytest.mark.parametrize("name", S.__all__)
def test_whatever_is_a_mass_or_a_size_must_be_positive(name):
    """No system may run with a negative one, nor with one that is no number or infinite, whatever it is."""
    system = getattr(S, name)()
    for parameter, value in numbers_of(system):
        for bad in (-1.0, np.nan, np.inf) if SIZES.search(parameter) else (np.nan, np.inf):
            broken = np.array(value, float)
            broken.flat[0] = bad
            if parameter == "algebra":  # antisymmetric: the first entry is zero
                broken[...] = bad
            with pytest.raises(ValueError, match=parameter):
                dh.simulate(system.replace(**{parameter: broken}), **system.sample(), steps=1)


def test_the_check_covers_the_catalogue():
    found = [p for name in S.__all__ for p, _ in numbers_of(getattr(S, name)()) if SIZES.search(p)]
    assert len(found) > 80


def test_shapes_of_parameters():
    with pytest.raises(ValueError, match=r"inertia of EulerPoincare must have shape \(3,\) or \(3, 3\)"):
        run(S.EulerPoincare(inertia=(1.0, 2.0)))
    with pytest.raises(ValueError, match="constraint of EulerPoincareSuslov must have shape"):
        run(S.EulerPoincareSuslov(constraint=(1.0, 2.0)))
    with pytest.raises(ValueError, match="semiaxes of Rattleback must have shape"):
        run(S.Rattleback(semiaxes=(0.2, 0.1)))


@pytest.mark.parametrize("name", ["RigidBody", "HeavyTop", "Suslov", "HeavySuslov", "ReducedSuslov"])
def test_inertia(name):
    system = getattr(S, name)
    with pytest.raises(ValueError, match=f"inertia of {name} must be positive definite"):
        run(system(inertia=(1.0, -2.0, 3.0)))
    with pytest.raises(ValueError, match=f"inertia of {name} must be positive definite"):
        run(system(inertia=((1.0, 2.0, 0.0), (2.0, 1.0, 0.0), (0.0, 0.0, 1.0))))
    with pytest.raises(ValueError, match=f"inertia of {name} must be symmetric"):
        run(system(inertia=((1.0, 0.5, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))))
    with pytest.raises(ValueError, match=f"inertia of {name} breaks the triangle inequality.* 3.1, exceeds .* 1 . 2"):
        run(system(inertia=(1.0, 2.0, 3.1)))
    with pytest.raises(ValueError, match=f"inertia of {name} must have shape"):
        run(system(inertia=(1.0, 2.0)))


def test_axes_and_algebras():
    with pytest.raises(ValueError, match="axis of Suslov .* it is zero"):
        run(S.Suslov(axis=(0.0, 0.0, 0.0)))
    with pytest.raises(ValueError, match="inertia_across and inertia_axis of LagrangeTop breaks the triangle"):
        run(S.LagrangeTop(inertia_across=0.1, inertia_axis=0.3))
    with pytest.raises(ValueError, match="algebra of EulerPoincare must be antisymmetric"):
        run(S.EulerPoincare(algebra=np.ones((2, 2, 2)), inertia=(1.0, 1.0)))
    bent = np.zeros((4, 4, 4))
    for k, i, j in ((2, 0, 1), (3, 2, 0), (1, 3, 2)):
        bent[k, i, j], bent[k, j, i] = 1.0, -1.0
    with pytest.raises(ValueError, match="Jacobi"):
        run(S.EulerPoincare(algebra=bent, inertia=(1.0, 1.0, 1.0, 1.0)))
    with pytest.raises(ValueError, match="inertia of EulerPoincareSuslov must be positive definite"):
        run(S.EulerPoincareSuslov(inertia=(1.0, 0.0, 1.0)))
    with pytest.raises(ValueError, match="constraint of EulerPoincareSuslov .* dependent"):
        run(S.EulerPoincareSuslov(constraint=((1.0, 0.0, 0.0), (2.0, 0.0, 0.0))))
    with pytest.raises(ValueError, match="stiffness of HeisenbergParticle must not be negative"):
        run(S.HeisenbergParticle(stiffness=-1.0))
    with pytest.raises(ValueError, match="dimension of NSpherePendulum"):
        S.NSpherePendulum(1).check()


@settings(max_examples=25)
@given(inertias(), sizes(), st.integers(0, 2), numbers(1.01, 3.0))
def test_real_bodies_pass_and_others_do_not(inertia, size, axis, excess):
    """Whatever has positive second moments is accepted; a moment above the sum of the others is not."""
    S.RigidBody(inertia=size * inertia).check()
    moments, axes = np.linalg.eigh(inertia)
    moments[axis] = excess * (moments.sum() - moments[axis])
    with pytest.raises(ValueError, match="triangle"):
        S.RigidBody(inertia=axes @ np.diag(moments) @ axes.T).check()
    flat = np.array([1.0, 2.0, 3.0]) * size  # a plate just meets the inequality
    S.RigidBody(inertia=flat).check()


def test_traced_parameters_are_not_looked_at():
    """Under jit there is no value to check, and nothing is refused."""
    system = S.ChaplyginSleigh()

    @jax.jit
    def end(mass):
        return dh.simulate(system.replace(mass=mass), **system.sample(), steps=2).q[-1]

    assert np.all(np.isfinite(end(jnp.asarray(1.0))))

"""What the schemes declare, `order`, `symmetric` and `conserves`, is what is measured: for all of them, and both ways.

A scheme is found by being exported; a word in `conserves` must be in WORDS, and a scheme that does not declare a word
must fail its check. So neither a false claim nor a forgotten one passes.
"""

import inspect
import re

import pytest

import discrete_hamel as dh
from discrete_hamel.schemes import Scheme
from discrete_hamel.testing import schemes
from discrete_hamel.testing.conserved_words import WORDS
from discrete_hamel.testing.small_problems import accepts

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
    "Galerkin": [
        dh.Galerkin(2, variation="derived"),
        dh.Galerkin(2, quadrature="lobatto"),
    ],
    "Composed": [dh.Composed(dh.DiscreteHamel(), order=4)],
    "EnergyExact": [dh.EnergyExact(), dh.EnergyExact(dh.Gonzalez())],
    "Gauss": [dh.Gauss(2), dh.Gauss(2, compensated=True)],
    "TimeTransformed": [dh.schemes.TimeTransformed(dh.DiscreteHamel(), shorter_when_fast)],
}
SCHEMES = [scheme for cls in CLASSES for scheme in VARIANTS.get(cls.__name__) or [cls()]]


# --- order, symmetry, equivariance ---


@pytest.mark.parametrize("scheme", SCHEMES, ids=named)
@pytest.mark.parametrize("check", [schemes.check_order, schemes.check_symmetry, schemes.check_equivariance])
def test_as_declared(scheme, check):
    check(scheme)


# --- conserved quantities ---


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
    schemes.check_word(scheme, name)


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

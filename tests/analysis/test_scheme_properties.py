"""`properties` finds of the library's schemes what they declare, both ways; and of others what they do not say."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

S = dh.systems
SLEIGH, DISK, BODY = S.ChaplyginSleigh(), S.RollingDisk(), S.RigidBody()
SCHEMES = [
    dh.DiscreteHamel(),
    dh.DiscreteHamel(0.3),
    dh.StaggeredHamel(),
    dh.CortesMartinez(),
    dh.CortesMartinez(0.0, 0.5),
    dh.EnergyExact(),
    dh.Gauss(2),
    dh.Composed(dh.DiscreteHamel(), order=6),
    dh.RungeKutta4(),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: repr(scheme)[:30])
def test_what_the_schemes_declare_is_found_on_the_sleigh(scheme):
    found = dh.properties(scheme, SLEIGH)
    assert found.order == scheme.order
    assert found.symmetric == bool(scheme.symmetric)
    energies = {"energy", "quadratic energy"} & set(scheme.conserves)
    assert ("energy" in found.exact) == bool(energies)
    if not energies and scheme.symmetric:
        assert found.kept["energy"].falls == pytest.approx(scheme.order, abs=0.3)


@pytest.mark.parametrize(
    ("scheme", "kept"),
    [(dh.DiscreteHamel(), True), (dh.DiscreteHamel(0.3), True), (dh.CortesMartinez(0.0, 0.5), False)],
    ids=repr,
)
def test_relative_equilibria_of_the_disk(scheme, kept):
    """Both steady motions are sought from a guess; [HE] 5.5 says which scheme keeps them."""
    found = dh.properties(scheme, DISK, h=0.02, steady=([0.3, 0, 0, 0, 0], [0.0, -0.7, 3.0]))
    assert found.equilibrium.kept == kept
    assert found.order == scheme.order


def test_momenta_of_symmetries_are_found():
    kept, lost = (dh.properties(scheme, BODY).kept for scheme in (dh.DiscreteHamel(), dh.RungeKutta4()))
    for axis in "xyz":
        assert kept[f"momentum of rotation about {axis}"].exact
        assert not lost[f"momentum of rotation about {axis}"].exact
    assert kept["relations of coordinates"].exact
    assert not lost["relations of coordinates"].exact


def turned(xi):
    return jnp.array([[0, -xi[2], xi[1]], [xi[2], 0, -xi[0]], [-xi[1], xi[0], 0]])


def by_exponential(system, q0, q1, xi, h):
    return q1 - (q0.reshape(3, 3) @ jax.scipy.linalg.expm(h * turned(xi))).ravel()


def without_bracket(system, q, xi, eta0, eta1, h):
    return (eta0 + eta1) / 2, (eta1 - eta0) / h


def test_of_a_principle_of_ones_own():
    """Nothing of it is declared: the exponential keeps the group, and is symmetric with the chord's middle."""
    ours = dh.Principle(reconstruction=by_exponential)
    assert (ours.order, ours.symmetric, ours.conserves) == (None, None, ())
    found = dh.properties(ours, BODY)
    assert (found.order, found.symmetric) == (2, True)
    assert {"energy", "relations of coordinates"} <= set(found.exact)
    assert "spatial momentum x" not in found.exact  # that is Cayley's


def test_a_mutant_is_found_out():
    """Without the bracket the errors do not fall: no order, and no energy."""
    found = dh.properties(dh.Principle(variation=without_bracket), SLEIGH)
    assert found.order in (None, 0)
    assert "energy" not in found.exact or found.slopes[-1] < 0.5


def test_it_prints_and_asks_for_what_it_lacks():
    text = repr(dh.properties(dh.DiscreteHamel(0.3), SLEIGH))
    assert "order" in text
    assert "energy" in text
    assert "exact, to" in text
    unknown = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi, lambda q: jnp.eye(2), 2)
    with pytest.raises(ValueError, match="no sample"):
        dh.properties(dh.DiscreteHamel(), unknown)
    still = dh.properties(dh.DiscreteHamel(), unknown, [0.0, 0.0], [0.0, 0.0])
    assert still.order is None
    assert still.exact == ("energy",)
    assert np.isfinite(still.h)

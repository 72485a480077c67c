"""The principle with several points: its instances, and what its variations keep. Orders: test_orders.py."""

import numpy as np
import pytest
from cases import BLADE, DISK, SLEIGH, Case, off_symplectic

import discrete_hamel as dh
from discrete_hamel.schemes.coefficients.quadrature import gauss, lobatto, polynomials, through_nodes


def run(case, scheme, steps=30):
    return dh.simulate(case.system, list(case.q), list(case.xi), h=0.1, steps=steps, scheme=scheme)


def apart(one, other):
    return max(np.max(np.abs(getattr(one, name) - getattr(other, name))) for name in ("q", "p", "xi", "xi_mid"))


@pytest.mark.parametrize(("case", "stages"), [(SLEIGH, 1), (BLADE, 3), (DISK, 2)], ids=str)
def test_hamels_variations_at_gauss_points_are_collocation(case, stages):
    ours = run(case, dh.Galerkin(stages))
    assert apart(ours, run(case, dh.Gauss(stages))) < 1e-12 * (1 + np.max(np.abs(ours.q)))
    assert ours.report.path == "compiled"


def test_one_point_with_derived_variations_is_cortes_and_martinez():
    assert apart(run(SLEIGH, dh.Galerkin(1, variation="derived")), run(SLEIGH, dh.CortesMartinez())) < 1e-12


def written_out(system, q, xi, eta, rate):
    return rate + dh.bracket(system, q, xi, eta)


def without_bracket(system, q, xi, eta, rate):
    return rate


def test_the_variation_of_ones_own_counts():
    known = run(SLEIGH, dh.Galerkin(2))
    assert apart(run(SLEIGH, dh.Galerkin(2, variation=written_out)), known) < 1e-12
    assert apart(run(SLEIGH, dh.Galerkin(2, variation=without_bracket)), known) > 1e-2


def test_derived_variations_are_symplectic_and_hamels_are_not():
    for quadrature in ("gauss", "lobatto"):
        assert off_symplectic(dh.Galerkin(2, quadrature=quadrature, variation="derived"), 0.2) < 1e-13
    assert off_symplectic(dh.Galerkin(2), 0.2) > 1e-8


def test_rest_stays_rest():
    ours = run(Case(SLEIGH.system, (0.0, 0.0, 0.0), (0.0, 0.0)), dh.Galerkin(2, variation="derived"), steps=5)
    assert not np.any(ours.q)
    assert not np.any(ours.p)


@pytest.mark.parametrize("points", [2, 3, 5, 8])
def test_quadrature_and_polynomials(points):
    c, b = lobatto(points)
    for k in range(2 * points - 2):
        assert abs(b @ c**k - 1 / (k + 1)) < 1e-15
    assert abs(b @ c ** (2 * points - 2) - 1 / (2 * points - 1)) > 1e-9
    t = np.linspace(0, 1, 7)
    values, slopes = through_nodes(points - 1, t)
    assert values @ c ** (points - 1) == pytest.approx(t ** (points - 1), abs=1e-13)
    assert slopes @ c ** (points - 1) == pytest.approx((points - 1) * t ** (points - 2), abs=1e-12)
    own, _ = gauss(points)
    values, integrals = polynomials(points, t)
    assert values @ own ** (points - 1) == pytest.approx(t ** (points - 1), abs=1e-13)
    assert integrals @ own ** (points - 1) == pytest.approx(t**points / points, abs=1e-14)


def test_what_it_says_and_refuses():
    own = dh.Galerkin(2, quadrature=([0.5], [1.0]), variation=written_out)
    assert (own.order, own.symmetric, own.conserves) == (None, None, ())
    assert "relative equilibria" in dh.Galerkin(3, quadrature="lobatto").conserves
    assert "relative equilibria" not in dh.Galerkin(2, variation="derived").conserves
    assert dh.Galerkin(1, variation="derived").conserves == dh.CortesMartinez().conserves
    for wrong, words in (
        ({"stages": 0}, "1 to 12"),
        ({"variation": "hamilton"}, "variation is"),
        ({"quadrature": "simpson"}, "quadrature is"),
        ({"quadrature": ([0.5, 1.0], [1.0])}, "as many, of sum 1"),
    ):
        with pytest.raises(ValueError, match=words):
            dh.Galerkin(**wrong)
    pendulum = dh.systems.SphericalPendulum()
    with pytest.raises(ValueError, match="quasi-velocities"):
        dh.simulate(pendulum, **pendulum.sample(), steps=1, scheme=dh.Galerkin(2, variation="derived"))

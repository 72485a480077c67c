"""Fields are systems like any other: compositions of their schemes, relative equilibria, spectra, the archive."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.fields import LinkByLink, SleighWithString, String, TridiagonalTension


def test_compositions_take_the_steps_of_linear_cost():
    """Of order 4, against DOP853."""
    string = String(points=6, gravity=2.0)
    start = string.laid(lambda s: 1.2 * s + 0.4 * np.sin(2 * s), lambda s: np.cos(2.5 * s) + 0.3, velocity=(0.3, -0.2))
    exact = dh.reference(string, **start, t=np.array([0.0, 0.5])).q[-1]
    scheme = dh.Composed(TridiagonalTension(), order=4)
    errors = [
        np.max(np.abs(dh.simulate(string, **start, h=0.5 / k, steps=k, scheme=scheme).q[-1] - exact))
        for k in (25, 50, 100)
    ]
    np.testing.assert_allclose(np.diff(-np.log2(errors)), 4, atol=0.1)


def test_the_string_on_the_sleighs_circle_is_a_stable_relative_equilibrium():
    """[HE] after (4.12): all its points on the circle v / omega; what is off it decays at (2 v / ds) cos(a), where the
    links turn by 2a, sin(a) = omega ds / (2 v), from phi_k' = (2 v / ds) sin(theta_{k-1} - phi_k), theta_k = 2 phi_k -
    theta_{k-1}: one rate for all links, which Newton's differences see to the root of round-off as they depend in turn.
    """
    sleigh, omega, v, ds = SleighWithString(points=3), 1.5, 1.0, 0.5
    start = sleigh.drawing(lambda s: 1.4 * (s - 1), omega=omega, v=v)
    lengths = [lambda q, xi, k=k: jnp.abs(sleigh.links(q))[k] for k in range(2)]
    found = dh.relative_equilibrium(sleigh, start["q"], start["xi"], hold=["omega", "v", *lengths])
    theta, x, y = np.asarray(found.q)[:3]
    centre = x + 1j * y + 1j * np.exp(1j * theta) * v / omega
    np.testing.assert_allclose(np.abs(np.asarray(sleigh.places(jnp.asarray(found.q))) - centre), v / omega, atol=1e-12)
    assert np.max(np.abs(np.asarray(found.q) - start["q"])) > 1e-2
    spectrum = dh.spectrum(sleigh, found.q, found.xi)
    decaying = np.array([rate for rate in spectrum.rates if rate.real < -1e-6])
    assert len(decaying) == 2
    np.testing.assert_allclose(decaying, -2 * v / ds * np.cos(np.arcsin(omega * ds / (2 * v))), atol=1e-6)


def test_the_archive_takes_them(tmp_path):
    sleigh = SleighWithString(points=5)
    run = dh.simulate(sleigh, **sleigh.sample(), steps=10, scheme=LinkByLink())
    run.save(tmp_path / "run.zarr")
    back = dh.load(tmp_path / "run.zarr", system=sleigh, scheme=LinkByLink())
    for name in ("t", "q", "p", "xi", "xi_mid"):
        np.testing.assert_array_equal(getattr(back, name), getattr(run, name))
    assert "sideways" in run.to_xarray().indexes["velocity"]
    with pytest.raises(ValueError, match="system"):
        dh.load(tmp_path / "run.zarr")

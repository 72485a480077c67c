"""Saving, loading and xarray: what goes in comes out, and a store that does not fit is refused with its reason."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

pytest.importorskip("xarray")
pytest.importorskip("zarr")

SLEIGH = dh.systems.ChaplyginSleigh(mass=1.3, inertia=0.7, offset=0.4)
DATA = {"q": [0.1, 0, 0], "xi": [1.5, -0.3]}


def equal(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("t", "q", "p", "xi", "xi_mid"))


def test_a_saved_trajectory_loads_bit_for_bit_and_can_be_continued(tmp_path):
    scheme = dh.DiscreteHamel(0.3)
    traj = dh.simulate(SLEIGH, **DATA, h=0.1, steps=20, scheme=scheme, save_every=2, store=tmp_path / "run.zarr")
    back = dh.load(tmp_path / "run.zarr")
    assert equal(traj, back)
    assert (float(back.system.mass), float(back.scheme.tau), float(back.h), back.save_every) == (1.3, 0.3, 0.1, 2)
    assert np.array_equal(back.report.residual, traj.report.residual)
    state, _ = dh.step(back.system, back.scheme, back.final, back.h)
    longer = dh.simulate(SLEIGH, **DATA, h=0.1, steps=21, scheme=scheme)
    np.testing.assert_allclose(state.q, longer.q[-1], rtol=0, atol=1e-15)


def test_the_dataset_names_what_it_holds():
    data = dh.simulate(SLEIGH, **DATA, h=0.1, steps=5).to_xarray()
    assert dict(data.sizes) == {"time": 6, "coordinate": 3, "momentum": 2, "velocity": 3, "interval": 5}
    assert list(data.velocity.values) == ["omega", "v1", "v2"]
    assert float(data.xi.sel(velocity="omega")[0]) == 1.5
    assert float(data.energy[0]) == pytest.approx(float(dh.energy(SLEIGH, **DATA)))


@pytest.mark.parametrize("gradient", [dh.MeanValue(5), dh.Gonzalez()], ids=["mean value", "Gonzalez"])
def test_a_scheme_with_a_gradient_loads(tmp_path, gradient):
    scheme = dh.Composed(dh.EnergyExact(gradient), order=4)
    traj = dh.simulate(SLEIGH, **DATA, h=0.1, steps=4, scheme=scheme, store=tmp_path / "run.zarr")
    back = dh.load(tmp_path / "run.zarr")
    assert equal(traj, back)
    assert repr(back.scheme.scheme.gradient) == repr(gradient)


def test_a_reference_saves_and_loads(tmp_path):
    ref = dh.reference(SLEIGH, **DATA, t=1.0)
    ref.save(tmp_path / "ref.zarr")
    back = dh.load(tmp_path / "ref.zarr")
    assert np.array_equal(ref.q, back.q)
    assert back.scheme is None


def lagrangian(q, xi, k):
    return 0.5 * (xi @ xi - k * q @ q)


def frame(q, k):
    return jnp.eye(2)


def test_a_system_of_the_users_own_has_to_be_given_and_to_agree(tmp_path):
    own = dh.from_quasivelocities(lagrangian, frame, 2, params=4.0)
    traj = dh.simulate(own, [1.0, 0], [0.0, 1], h=0.1, steps=3, store=tmp_path / "own.zarr")
    with pytest.raises(ValueError, match="FromQuasivelocities, cannot be rebuilt from data alone; give it"):
        dh.load(tmp_path / "own.zarr")
    assert equal(traj, dh.load(tmp_path / "own.zarr", system=own))
    other = dh.from_quasivelocities(lagrangian, frame, 2, params=5.0)
    with pytest.raises(ValueError, match=r"params is 5\.0, stored 4\.0"):
        dh.load(tmp_path / "own.zarr", system=other)
    with pytest.raises(ValueError, match="holds a FromQuasivelocities, the system given is a ChaplyginSleigh"):
        dh.load(tmp_path / "own.zarr", system=SLEIGH)


def test_a_scheme_outside_the_catalogue_has_to_be_given_and_to_agree(tmp_path):
    import xarray

    string, tension = dh.fields.String(points=6, gravity=1.0), dh.fields.TridiagonalTension()
    store = tmp_path / "string.zarr"
    traj = dh.simulate(string, **string.sample(), steps=4, scheme=tension, store=store)
    with pytest.raises(
        ValueError, match=r"String, and the scheme .*TridiagonalTension, .*load\(path, system=..., scheme="
    ):
        dh.load(store)
    with pytest.raises(ValueError, match=r"the scheme of .*give it: load\(path, scheme=...\)"):
        dh.load(store, system=string)
    back = dh.load(store, system=string, scheme=tension)
    assert equal(traj, back)
    assert np.array_equal(back.final.p, traj.final.p)
    with pytest.raises(ValueError, match="holds a TridiagonalTension, the scheme given is a DiscreteHamel"):
        dh.load(store, system=string, scheme=dh.DiscreteHamel())
    with pytest.raises(TypeError, match="instances"):
        dh.load(store, system=string, scheme=dh.fields.TridiagonalTension)
    with xarray.open_zarr(store, chunks=None) as arrays:  # what the message says of them
        assert np.array_equal(arrays.q, traj.q)


def test_a_scheme_of_the_catalogue_may_be_given_too(tmp_path):
    dh.simulate(SLEIGH, **DATA, h=0.1, steps=2, scheme=dh.DiscreteHamel(0.3), store=tmp_path / "run.zarr")
    assert float(dh.load(tmp_path / "run.zarr", scheme=dh.DiscreteHamel(0.3)).scheme.tau) == 0.3
    with pytest.raises(ValueError, match=r"tau is 0\.4, stored 0\.3"):
        dh.load(tmp_path / "run.zarr", scheme=dh.DiscreteHamel(0.4))


def test_stores_that_do_not_fit_are_refused_with_a_sentence(tmp_path):
    traj = dh.simulate(SLEIGH, **DATA, h=0.1, steps=2, store=tmp_path / "run.zarr")
    with pytest.raises(FileExistsError, match="exists already"):
        traj.save(tmp_path / "run.zarr")
    with pytest.raises(FileExistsError, match="exists already"):  # before the run: a huge one would never end
        dh.simulate(SLEIGH, **DATA, h=0.1, steps=10**12, store=tmp_path / "run.zarr")
    with pytest.raises(FileNotFoundError, match="no store at"):
        dh.load(tmp_path / "none.zarr")
    import xarray

    xarray.Dataset({"a": ("x", [1.0])}).to_zarr(tmp_path / "other.zarr", consolidated=False)
    with pytest.raises(ValueError, match="not one that discrete_hamel wrote"):
        dh.load(tmp_path / "other.zarr")

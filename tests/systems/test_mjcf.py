"""Models read from MJCF against MuJoCo's own mass matrix, bias and energies, where the package is there."""

import importlib.util
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.mechanics import hamel

OWN = """
<mujoco>
  <compiler angle="radian"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="ship" pos="1 2 3"><freejoint name="ship"/><geom size="0.3 0.2 0.1" type="box" pos="0.1 0 0"/>
      <body name="arm" pos="0.3 0 0.1" quat="0.8 0.6 0 0">
        <joint name="reach" type="slide" axis="1 0 1" ref="0.3" stiffness="4" springref="0.1"/>
        <joint name="swing" axis="0 1 0" pos="0.1 0.2 0" ref="0.4" armature="0.05" damping="0.3"/>
        <joint name="twist" axis="0.3 0 -1" pos="0 0 0.2"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0.5 0.1 0"/>
        <body name="hand" pos="0.5 0.1 0"><joint name="wrist" type="ball" pos="0 0.05 0"/>
          <geom type="ellipsoid" size="0.1 0.05 0.2"/>
          <body name="camera" pos="0 0.1 0"><geom size="0.03"/></body>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
LIMBED = OWN.replace('<joint name="twist"', '<joint name="twist" range="-1 1" frictionloss="0.1"')
OTHERS = {
    "dm_control": ("acrobot", "cartpole", "cheetah", "hopper", "humanoid", "pendulum", "reacher", "swimmer", "walker"),
    "gymnasium": (
        *("ant", "half_cheetah", "hopper", "humanoid", "humanoidstandup", "inverted_double_pendulum"),
        *("inverted_pendulum", "pusher", "reacher", "swimmer", "walker2d"),
    ),
}
FOLDERS = {"dm_control": "suite", "gymnasium": "envs/mujoco/assets"}
MODELS = ("own", *(f"{package} {name}" for package, names in OTHERS.items() for name in names))


def source(name):
    if name == "own":
        return OWN
    package, model = name.split()
    found = importlib.util.find_spec(package)
    if found is None:
        pytest.skip(f"{package} is not there")
    return Path(next(iter(found.submodule_search_locations))) / FOLDERS[package] / f"{model}.xml"


def full_mass(mujoco, model, data):
    mass = np.zeros((model.nv, model.nv))
    try:
        mujoco.mj_fullM(model, data, mass)
    except TypeError:  # before MuJoCo 4
        mujoco.mj_fullM(model, mass, data.qM)
    return mass


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes its warnings to a file where it runs."""
    monkeypatch.chdir(tmp_path)


@jax.jit
def facts(system, q, xi):
    """Mass matrix, generalised forces M xi' = passive - bias, kinetic and potential energy."""
    mass = hamel.inertia(system, q, xi)
    rates = dh.vector_field(system, q, xi)[1]
    return mass, mass @ rates, system.kinetic_energy(q, xi), system.potential_energy(q)


@pytest.mark.parametrize("name", MODELS)
def test_masses_biases_and_energies_are_mujocos(name):
    mujoco = pytest.importorskip("mujoco")
    given_as = source(name)
    system = dh.mechanisms.from_mjcf(given_as, leave_out="all")
    model = mujoco.MjModel.from_xml_string(given_as) if name == "own" else mujoco.MjModel.from_xml_path(str(given_as))
    model.opt.density = model.opt.viscosity = 0.0  # left out
    model.tendon_stiffness[:] = 0.0
    model.tendon_damping[:] = 0.0
    for j in np.flatnonzero(model.jnt_type < 2):
        model.jnt_stiffness[j] = 0.0
    model.dof_damping[np.isin(model.dof_jntid, np.flatnonzero(model.jnt_type < 2))] = 0.0
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(model)
    assert len(system.rest()) == model.nq
    assert system.rank == model.nv

    @settings(max_examples=15, deadline=None)
    @given(st.integers(0, 2**32 - 1))
    def equal(seed):
        rng = np.random.default_rng(seed)
        mujoco.mj_resetData(model, data)
        mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
        data.qvel = rng.normal(size=model.nv)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_energyPos(model, data)
        mujoco.mj_energyVel(model, data)
        wanted = full_mass(mujoco, model, data), data.qfrc_passive - data.qfrc_bias, data.energy[1], data.energy[0]
        for got, want in zip(facts(system, data.qpos, data.qvel), wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-10 * max(1.0, np.abs(want).max()))

    equal()


def test_what_is_not_simulated_is_listed():
    pytest.importorskip("mujoco")
    with pytest.raises(
        ValueError, match=r"does not simulate: limits \(1 joints\); friction \(1 joints with frictionloss\)"
    ):
        dh.mechanisms.from_mjcf(LIMBED)
    assert dh.mechanisms.from_mjcf(LIMBED, leave_out=("limits", "friction")).coordinates[:2] == ("ship x", "ship y")
    touching = OWN.replace('contype="0" conaffinity="0"', "")
    with pytest.raises(ValueError, match=r"contacts \(\d+ pairs of geoms that may touch\)"):
        dh.mechanisms.from_mjcf(touching)


def test_a_model_that_is_not_there_is_refused():
    pytest.importorskip("mujoco")
    with pytest.raises(FileNotFoundError, match=r"no MJCF file 'nowhere\.xml'"):
        dh.mechanisms.from_mjcf("nowhere.xml")


def test_without_mujoco_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ImportError, match=r"pip install .discrete_hamel\[mechanisms\]"):
        dh.mechanisms.from_mjcf(OWN)


def test_the_motion_is_mujocos():
    """Converged RK4 of MuJoCo against a reference here, without dampers' and constraints' solvers in between."""
    mujoco = pytest.importorskip("mujoco")
    system = dh.mechanisms.from_mjcf(OWN)
    model = mujoco.MjModel.from_xml_string(OWN)
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    xi = np.random.default_rng(0).normal(size=model.nv)
    data.qvel = xi
    q = data.qpos.copy()
    mujoco.mj_step(model, data, 2000)
    errors = [
        np.abs(dh.simulate(system, q, xi, h=h, steps=round(0.2 / h), compiled=False).q[-1] - data.qpos).max()
        for h in (0.02, 0.01)
    ]
    assert errors[1] < 1e-3
    assert 3.5 < errors[0] / errors[1] < 4.5

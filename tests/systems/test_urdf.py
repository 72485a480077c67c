"""Robots read from URDF against Pinocchio's mass matrix, bias and energies, where it is there; gears; refusals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from multipliers import accelerations

import discrete_hamel as dh
from discrete_hamel.mechanics import hamel
from discrete_hamel.systems.mechanisms import rolling

m = dh.mechanisms


def link(name, mass, centre, moments, turn="0 0 0"):
    xx, yy, zz, xy, xz, yz = moments
    return f"""<link name="{name}"><inertial><origin xyz="{centre}" rpy="{turn}"/><mass value="{mass}"/>
      <inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="{xy}" ixz="{xz}" iyz="{yz}"/></inertial></link>"""


def joint(name, kind, parent, child, place, turn="0 0 0", axis="0 0 1", more=""):
    more += '<limit effort="1" velocity="1"/>' * (kind in ("revolute", "prismatic"))  # Pinocchio asks for it
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
      <origin xyz="{place}" rpy="{turn}"/><axis xyz="{axis}"/>{more}</joint>"""


def robot(*parts):
    return f'<?xml version="1.0"?>\n<robot name="test">{"".join(parts)}</robot>'


SMALL = (0.02, 0.03, 0.015, 0.001, -0.002, 0.0005)
ARM = robot(  # six turning joints, in the manner of an industrial arm
    '<link name="base"/>',
    *(link(f"l{i}", 4.0 - 0.5 * i, f"0.02 {0.03 * i} 0.1", SMALL, "0.1 0.2 -0.3") for i in range(6)),
    joint("pan", "continuous", "base", "l0", "0 0 0.3"),
    joint("lift", "revolute", "l0", "l1", "0.1 0 0.1", "-1.5707963267948966 0 0.2", more='<dynamics damping="0.4"/>'),
    joint("elbow", "revolute", "l1", "l2", "0.4 0.05 0", "0 0 1.1", "0 1 0"),
    joint("wrist1", "revolute", "l2", "l3", "0.3 0 0.1", "0.3 -1.2 0", "0 0.6 0.8"),
    joint("wrist2", "revolute", "l3", "l4", "0 0.1 0", "1.5707963267948966 0 0"),
    joint("wrist3", "continuous", "l4", "l5", "0 0 0.1", "0 1.2 0", "1 0 0"),
)
SCARA = robot(  # two hinges, a slide, and a tool that is fixed on
    '<link name="base"/>',
    *(link(name, 2.0, "0.15 0 0.02", SMALL) for name in ("first", "second", "quill", "tool")),
    joint("shoulder", "revolute", "base", "first", "0 0 0.4", more='<dynamics damping="0.1"/>'),
    joint("elbow", "revolute", "first", "second", "0.3 0 0"),
    joint("stroke", "prismatic", "second", "quill", "0.3 0 0", "3.141592653589793 0 0"),
    joint("flange", "fixed", "quill", "tool", "0 0 0.1", "0 0.5 0"),
)
TREE = robot(  # two arms on a column that slides
    '<link name="base"/>',
    *(
        link(name, 1.5, "0.05 0.1 0.2", SMALL, "0 0 0.7")
        for name in ("column", "left", "right", "left hand", "right hand")
    ),
    joint("column", "prismatic", "base", "column", "0 0 0.5", "0 0.3 0", "0.6 0 0.8"),
    joint("left", "continuous", "column", "left", "0 0.3 0.2", "0.4 0 0", "0 1 0"),
    joint("right", "continuous", "column", "right", "0 -0.3 0.2", "-0.4 0 0", "1 0 0"),
    joint("left wrist", "revolute", "left", "left hand", "0 0 0.4", "0 0 1"),
    joint("right wrist", "revolute", "right", "right hand", "0 0 0.4", "0 0 -1", "0 0.8 -0.6"),
)


@jax.jit
def facts(system, q, xi):
    mass = hamel.inertia(system, q, xi)
    return mass, mass @ dh.vector_field(system, q, xi)[1], system.kinetic_energy(q, xi), system.potential_energy(q)


@pytest.mark.parametrize("source", [ARM, SCARA, TREE], ids=["arm", "scara", "two arms"])
def test_masses_biases_and_energies_are_pinocchios(source):
    pinocchio = pytest.importorskip("pinocchio")
    model = pinocchio.buildModelFromXML(source)
    data = model.createData()
    system = m.from_urdf(source)
    order = [system.coordinates.index(name) for name in list(model.names)[1:]]  # theirs, in ours
    starts = [j.idx_q for j in list(model.joints)[1:]]
    dampers = np.asarray(system.damping)[[system.names.index(name) for name in system.coordinates]]

    @settings(max_examples=10, deadline=None)
    @given(st.integers(0, 2**32 - 1))
    def equal(seed):
        rng = np.random.default_rng(seed)
        q, xi = rng.normal(size=system.rank), rng.normal(size=system.rank)
        theirs, rates = np.zeros(model.nq), np.zeros(model.nv)
        for k, (mine, start) in enumerate(zip(order, starts, strict=True)):
            round_and_round = list(model.joints)[k + 1].nq == 2  # by cosine and sine
            theirs[start : start + 1 + round_and_round] = (
                (np.cos(q[mine]), np.sin(q[mine])) if round_and_round else (q[mine],)
            )
            rates[list(model.joints)[k + 1].idx_v] = xi[mine]
        columns = [joint.idx_v for joint in list(model.joints)[1:]]
        mass = pinocchio.crba(model, data, theirs)
        mass = np.triu(mass) + np.triu(mass, 1).T
        bias = pinocchio.nonLinearEffects(model, data, theirs, rates)
        wanted_mass, wanted_force = np.zeros((len(order),) * 2), np.zeros(len(order))
        wanted_mass[np.ix_(order, order)] = mass[np.ix_(columns, columns)]
        wanted_force[order] = -bias[columns]
        kinetic = pinocchio.computeKineticEnergy(model, data, theirs, rates)
        potential = pinocchio.computePotentialEnergy(model, data, theirs)
        found = facts(system, jnp.asarray(q), jnp.asarray(xi))
        wanted = wanted_mass, wanted_force - dampers * xi, kinetic, potential
        for got, want in zip(found, wanted, strict=True):
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-10 * max(1.0, np.abs(want).max()))

    equal()


GRIPPER = robot(
    link("palm", 1.0, "0 0 0", SMALL),
    link("left", 0.2, "0 0 0.05", SMALL),
    link("right", 0.3, "0 0 0.05", SMALL),
    joint("left", "prismatic", "palm", "left", "0 0.05 0", axis="0 1 0"),
    joint("right", "revolute", "palm", "right", "0 -0.05 0", axis="0 0 1",
          more='<mimic joint="left" multiplier="-20" offset="0.1"/>'),
)  # fmt: skip


def slips(q, v, held):
    return rolling.one_forms(q, held) @ v


def test_a_mimic_is_a_gear():
    """One rate is free; the reduced mass is that of both."""
    gripper = m.from_urdf(GRIPPER, gravity=(0.0, 2.0, 0.0))
    q, v = m.initial(gripper, {"left": 0.02}, {"left'": 0.3})
    np.testing.assert_allclose(q, [0.02, 0.1 - 20 * 0.02], atol=1e-14)
    np.testing.assert_allclose(v, [0.3, -6.0], atol=1e-13)
    found, _ = accelerations(rolling.lagrangian, slips, jnp.asarray(q), jnp.asarray(v), gripper.params)
    np.testing.assert_allclose(found[0], 2.0 * 0.2 / (0.2 + 400 * 0.015), rtol=1e-12)


def test_a_robot_moves_on_wheels_that_the_file_does_not_say():
    base = robot(
        link("deck", 5.0, "0 0 0", SMALL),
        link("left wheel", 0.5, "0 0 0", SMALL),
        link("right wheel", 0.5, "0 0 0", SMALL),
        joint("left", "continuous", "deck", "left wheel", "0 0.2 0", axis="0 1 0"),
        joint("right", "continuous", "deck", "right wheel", "0 -0.2 0", axis="0 1 0"),
    )
    cart = m.from_urdf(base, m.Blade("left"), base=m.Planar())
    assert cart.at(cart.rest()).rank == 4
    assert cart.coordinates[:3] == ("deck heading", "deck x", "deck y")


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        ("nowhere.urdf", FileNotFoundError, "no URDF file 'nowhere.urdf'"),
        ("<mujoco/>", ValueError, "this describes a <mujoco>"),
        ("<robot><link", ValueError, "this is no XML"),
        (ARM.replace('"0 1 0"/>', '"0 1 0"/><limit lower="-1" upper="1"/>'), ValueError,
         r"limits \(1 joints\).*leave_out=\('limits',\) reads it so"),
        (ARM.replace('child link="l1"', 'child link="l9"'), ValueError, "'l9', but there is no such link"),
        (ARM.replace('parent link="base"', 'parent link="l5"'), ValueError, "on one another|without a joint above"),
        (ARM.replace('child link="l1"', 'child link="l0"'), ValueError, "hangs on two joints, 'pan' and 'lift'"),
        (ARM.replace("continuous", "screw"), ValueError, "the joint 'pan' is 'screw'"),
        (GRIPPER.replace('mimic joint="left"', 'mimic joint="thumb"'), ValueError, "mimics 'thumb'"),
    ],
)  # fmt: skip
def test_refusals(source, error, words):
    with pytest.raises(error, match=words):
        m.from_urdf(source)


def test_a_gear_needs_joints_with_one_axis():
    with pytest.raises(ValueError, match="'a' is a Planar: a gear needs one with one axis"):
        m.mechanism(m.Body("a", m.Planar(), mass=1.0), m.Body("b", m.Hinge("z"), on="a", mass=1.0), m.Gear("b", "a"))

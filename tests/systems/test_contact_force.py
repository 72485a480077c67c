"""The normal force of what rolls: Newton's law in space, multipliers, closed forms; and the warning when it pulls."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.systems import balls_on_surfaces as profiles

ROUND = (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0)
ROLLING = ("RollingBody", "RouthTop", "RollingDiskOnRotations", "ConvexBody", "Rattleback", "ChaplyginSphere")
ON_SURFACES = ("BallOnSurface", "BallInCylinder", "BasketballOnHoop")
FLAT = ("RollingDisk", "VerticalDisk", "BallOnTurntable")


def centre(system, q):
    """The mass centre in space, and the unit normal of the surface on the body's side."""
    up = jnp.array([0.0, 0.0, 1.0])
    if type(system).__name__ in ROLLING:
        return jnp.stack([q[9], q[10], q[6:9] @ system.to_centre(q[6:9])]), up
    if isinstance(system, dh.systems.RollingBodyAngles):
        return jnp.stack([q[3], q[4], system.on_rotations().height_at(jnp.cos(q[0]))]), up
    if isinstance(system, dh.systems.RollingDisk):
        across = system.radius * jnp.sin(q[0])
        place = [q[3] - across * jnp.sin(q[1]), q[4] + across * jnp.cos(q[1]), system.radius * jnp.cos(q[0])]
        return jnp.stack(place), up
    if isinstance(system, dh.systems.BallOnSphere):
        return q[9:], (-1 if system.inside else 1) * q[9:] / jnp.linalg.norm(q[9:])
    if type(system).__name__ in ON_SURFACES:
        (a, z), (da, dz) = jax.jvp(system.curve, (q[9],), (1.0,))
        c, s = jnp.cos(q[10]), jnp.sin(q[10])
        return jnp.stack([a * c, a * s, z]), jnp.stack([-dz * c, -dz * s, da])
    return jnp.zeros(3), up


@jax.jit
def by_newton(system, q, xi):
    """normal . (m a + m g e_z), a by differentiating the centre's place twice along (H)."""

    def speed(q, xi):
        return jax.jvp(lambda q: centre(system, q)[0], (q,), (system.frame(q) @ xi,))[1]

    _, acceleration = jax.jvp(speed, (q, xi), dh.vector_field(system, q, xi))
    return centre(system, q)[1] @ (acceleration + jnp.array([0, 0, system.gravity])) * system.mass


@pytest.mark.parametrize(
    "name", [*ROLLING, *ON_SURFACES, "RollingDisk", "RollingBodyAngles", "BallOnSphere", "the bowl"]
)
def test_it_is_newtons_law_in_space(name):
    system = dh.systems.BallOnSphere(inside=True) if name == "the bowl" else getattr(dh.systems, name)()
    sample = system.sample()
    motion = dh.reference(system, sample["q"], sample["xi"], t=np.linspace(0, 150 * sample["h"], 4))
    for q, xi, force in zip(motion.q, motion.xi, motion.contact_force, strict=True):
        wanted = float(by_newton(system, q, xi))
        assert force == pytest.approx(wanted, rel=1e-9, abs=1e-9 * float(system.mass * system.gravity))


@pytest.mark.parametrize("name", [*ROLLING, "BallOnSphere"])
def test_it_is_the_multipliers_normal_component(name):
    system = getattr(dh.systems, name)()
    sample = system.sample()
    motion = dh.reference(system, sample["q"], sample["xi"], t=50 * sample["h"])
    q, xi = motion.q[-1], motion.xi[-1]
    normal = system.curvature() * q[9:] if name == "BallOnSphere" else q[6:9]
    assert float(normal @ dh.reactions(system, q, xi)) == pytest.approx(motion.contact_force[-1], rel=1e-10)


def test_upright_disks_and_balls_on_tables_bear_their_weight():
    upright = dh.systems.VerticalDisk(mass=2.0)
    run = dh.simulate(upright, **upright.sample(), steps=5)
    np.testing.assert_allclose(run.contact_force, 2.0 * 9.8, rtol=1e-14)
    disk = dh.systems.RollingDisk(mass=2.0)
    run = dh.simulate(disk, (0.0, 0.0, 0, 0, 0), (0.0, 0.0, 3.0), h=0.05, steps=5)
    np.testing.assert_allclose(run.contact_force, 2.0 * 9.8, rtol=1e-12)
    table = dh.systems.BallOnTurntable(tilt=0.2)
    run = dh.simulate(table, **table.sample(), steps=5)
    np.testing.assert_allclose(run.contact_force, 9.8 * np.cos(0.2), rtol=1e-14)


@pytest.mark.parametrize("share", [0.4, 2 / 3])
def test_a_ball_leaves_a_sphere_at_the_known_angle(share):
    """From rest near the top, at cos theta = 2 cos theta_0 / (3 + J / (m r^2)): 10/17 for a solid ball."""
    system = dh.systems.BallOnSphere(mass=2.0, inertia=share * 2.0 * 0.05**2, radius=0.05, sphere=0.3)
    q = (*ROUND, 0.35 * np.sin(0.05), 0.0, 0.35 * np.cos(0.05))
    with pytest.warns(dh.ContactLost, match=r"from t = \d\.\d+ on the contact of BallOnSphere") as caught:
        run = dh.simulate(system, q, np.zeros(3), h=0.001, steps=1500)
    t = float(str(caught[0].message).split()[3])
    at = np.interp(t, run.t, run.q[:, 11]) / 0.35
    assert at == pytest.approx(2 * np.cos(0.05) / (3 + share), abs=2e-5)
    assert caught[0].filename == __file__
    before = run.t < t
    assert np.all(run.contact_force[before] >= 0)
    assert run.contact_force[~before][0] < 0


def test_by_profile_it_is_the_same():
    system = dh.systems.BallOnSurface(profiles.sphere, 0.35, mass=2.0, inertia=0.002, radius=0.05)
    with pytest.warns(dh.ContactLost, match="from t = ") as caught:
        run = dh.simulate(system, (*ROUND, 0.35 * 0.05, 0.0), np.zeros(3), h=0.001, steps=1500)
    t = float(str(caught[0].message).split()[3])
    assert np.cos(np.interp(t, run.t, run.q[:, 9]) / 0.35) == pytest.approx(2 * np.cos(0.05) / 3.4, abs=2e-5)


def test_no_warning_where_it_pushes_and_none_where_nothing_touches(recwarn):
    bowl = dh.systems.BallOnSphere(inside=True)
    sample = bowl.sample()
    q = (*ROUND, 0.25 * np.sin(0.3), 0.0, -0.25 * np.cos(0.3))
    run = dh.simulate(bowl, q, np.zeros(3), h=sample["h"], steps=300)
    assert run.contact_force.min() > 9.0
    sleigh = dh.systems.ChaplyginSleigh()
    assert dh.simulate(sleigh, **sleigh.sample(), steps=3).contact_force is None
    assert not [w for w in recwarn if issubclass(w.category, dh.ContactLost)]


def test_audits_and_plots_know_it():
    pytest.importorskip("matplotlib")
    disk = dh.systems.RollingDisk()
    run = dh.simulate(disk, **disk.sample(), steps=200)
    line = dh.audit(run)["least contact force"]
    assert (line.size, line.holds) == (run.contact_force.min(), True)
    pytest.importorskip("xarray")
    np.testing.assert_array_equal(run.to_xarray()["contact force"], run.contact_force)
    assert run.plot(dh.plots.power_spectrum, of="contact force") is not None
    hoop = dh.systems.BasketballOnHoop()
    with pytest.warns(dh.ContactLost):
        run = dh.simulate(hoop, **hoop.sample(), steps=300)
    line = dh.audit(run)["least contact force"]
    assert not line.holds
    assert "pulls from t = 0.15" in line.note


def test_with_other_forces_none_is_claimed():
    """A force put on, or a subclass with a Lagrangian of its own, may press or lift: what it does is not known."""

    class Blown(dh.systems.RollingDisk):
        def force(self, q, xi):  # noqa: ARG002
            return 0.1 + 0 * xi

    class Larger(dh.systems.RollingDisk):
        radius: float = 2.0

    sample = dh.systems.RollingDisk().sample()
    assert dh.simulate(Blown(), **sample, steps=2).contact_force is None
    assert (
        dh.simulate(dh.damped(dh.systems.RollingDisk(), lambda q, xi: xi @ xi), **sample, steps=2).contact_force is None
    )
    assert dh.simulate(Larger(), **sample, steps=2).contact_force is not None


def test_under_jit_it_is_there_too():
    disk = dh.systems.RollingDisk()
    sample = disk.sample()
    inside = jax.jit(lambda q: dh.simulate(disk, q, sample["xi"], h=sample["h"], steps=5).contact_force)
    outside = dh.simulate(disk, **sample, steps=5).contact_force
    np.testing.assert_allclose(inside(jnp.asarray(sample["q"])), outside, rtol=1e-13)

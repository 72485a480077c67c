"""What a subclass of a catalogue system inherits of its invariants: those that its own methods leave true."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.mechanics.constructors import FromVelocities


class Well(dh.systems.NonholonomicParticle):
    """The particle in a spring's potential."""

    def lagrangian(self, q, xi):
        return super().lagrangian(q, xi) - 2.0 * (q @ q)


class Heavier(dh.systems.NonholonomicParticle):
    """Another default, nothing else."""

    mass: float = 3.0

    def sample(self):
        return {"q": (0.1, 0.2, 0.3), "xi": (1.0, 0.5), "h": 0.1}


class Renamed(dh.systems.NonholonomicParticle):
    """Declares one more, and passes on what is inherited."""

    def invariants(self):
        return super().invariants() | {"mine": dh.Invariant(lambda q, xi: 1.0 + 0 * q[0], "exact")}


class WellAgain(Renamed):
    """A subclass of a subclass."""

    lagrangian = Well.lagrangian


class Rubbed(dh.systems.RigidBody):
    """With friction."""

    def force(self, q, xi):  # noqa: ARG002
        return -0.1 * xi


class Egg(dh.systems.rolling.Rolling):
    """A rolling body of one's own: what `Rolling` asks of a subclass changes none of its claims."""

    mass: float = 1.0
    gravity: float = 9.8

    def to_centre(self, gamma):
        return 0.5 * gamma

    def moments(self):
        return jnp.diag(jnp.array([0.2, 0.2, 0.3]))


def test_a_well_does_not_inherit_the_free_particles_invariants():
    run = dh.simulate(Well(), q=[0.5, 0.2, 0.1], xi=[1.0, 0.5], h=0.02, steps=400)
    assert np.ptp(run.invariants()["energy"]) < 1e-3
    np.testing.assert_array_equal(run.invariants()["energy"], run.energy)
    assert set(run.invariants()) == {"energy"}
    assert dh.audit(run).sound
    plain = dh.systems.NonholonomicParticle()
    assert set(plain.invariants()) == {"energy", "horizontal momentum", "momentum along y"}


@pytest.mark.parametrize(
    ("system", "kept"),
    [
        (Heavier(), {"energy", "horizontal momentum", "momentum along y"}),
        (Renamed(), {"energy", "horizontal momentum", "momentum along y", "mine"}),
        (WellAgain(), set()),
        (Rubbed(), {"trace of R^T R"}),
        (Egg(), {"energy", "trace of R^T R"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_inherited(system, kept):
    assert set(system.invariants()) == kept


@pytest.mark.parametrize(
    ("base", "name"),
    [
        (dh.systems.SphericalPendulumCartesian, "length"),
        (dh.systems.BallOnSphere, "distance of the centres"),
        (dh.systems.garage.BallOnBall, "length of n"),
    ],
)
def test_what_holds_by_the_constraint_is_lost_with_it(base, name):
    """Free to leave, or carried off."""
    assert name in base().invariants()
    free = type("Free", (base,), {"rank": base.rank + 1})
    carried = type("Carried", (base,), {"slip": lambda self, q: base.slip(self, q) + 0.1})
    assert name not in free().invariants()
    assert name not in carried().invariants()


def test_of_the_catalogue_nothing_is_lost():
    """Each class declares for itself what it overrides; its families pass on what holds for all of them."""
    for name in ("RouthTop", "ChaplyginSphere", "BallInCylinder", "Rattleback", "BasketballOnHoop"):
        system = getattr(dh.systems, name)()
        assert "energy" in system.invariants(), name
        assert any(label.startswith("trace") for label in system.invariants()), name


class Uphill(dh.systems.garage.RollingAxle):
    """A vehicle, whose Lagrangian is given in velocities too, on a slope."""

    def lagrangian(self, q, xi):
        return super().lagrangian(q, xi) - 2.0 * q[1]


class UphillAgain(Uphill):
    """The same, of another mass."""

    mass: float = 2.0


class Tied(FromVelocities):
    """What a constructor made, and a spring."""

    def lagrangian(self, q, xi):
        return super().lagrangian(q, xi) - q[0] ** 2


@pytest.mark.parametrize("system", [Uphill(), UphillAgain()], ids=lambda value: type(value).__name__)
def test_a_lagrangian_said_anew_is_the_one_that_moves(system):
    """Not the `in_velocities` of the base, which has the old one."""
    base = dh.systems.garage.RollingAxle(mass=system.mass)
    start = {"q": base.sample()["q"], "xi": base.sample()["xi"]}
    by_hand = dh.with_potential(base, lambda q: 2.0 * q[1])
    found, right, flat = (dh.hamel_force(one, **start) for one in (system, by_hand, base))
    np.testing.assert_allclose(found, right, rtol=0, atol=1e-12)
    assert np.abs(right - flat).max() > 0.1
    runs = [dh.simulate(one, **start, h=0.02, steps=20) for one in (system, by_hand)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)


def test_of_what_a_constructor_made_too():
    tied = Tied(1, lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(1))
    assert float(dh.hamel_force(tied, [0.5], [0.0])[0]) == -1.0
    assert float(dh.hamel_force(FromVelocities(1, tied.L_of, tied.frame_of), [0.5], [0.0])[0]) == 0.0


class Doubled(dh.systems.Suslov):
    """The same motion in a frame twice as long; Suslov's `structure` is that of its own frame."""

    def lagrangian(self, q, xi):
        return super().lagrangian(q, 2 * xi)

    def frame(self, q):
        return 2 * super().frame(q)


class Longer(dh.systems.SphericalPendulum):
    """Advected coordinates, whose brackets no frame tells."""

    def frame(self, q):
        return 2 * super().frame(q)


def test_a_frame_said_anew_has_its_own_bracket():
    base, start = dh.systems.Suslov(), dh.systems.Suslov().sample()
    q, xi = start["q"], np.asarray(start["xi"])
    np.testing.assert_allclose(dh.structure(Doubled(), q), 2 * dh.structure(base, q), rtol=0, atol=1e-12)
    (v, rate), (u, half) = dh.vector_field(base, q, xi), dh.vector_field(Doubled(), q, xi / 2)
    np.testing.assert_allclose(u, v, rtol=0, atol=1e-12)
    np.testing.assert_allclose(half, rate / 2, rtol=0, atol=1e-12)
    start = dh.systems.SphericalPendulum().sample()
    with pytest.raises(dh.InputError, match=r"give structure\(q\)"):
        dh.simulate(Longer(), start["q"], start["xi"], h=0.01, steps=2)


class Hilly(dh.systems.ChaplyginSleigh):
    """A sleigh in a valley along y: of the plane's symmetries one is left, and it does not say so."""

    def lagrangian(self, q, xi):
        return super().lagrangian(q, xi) - 5 * (1 - jnp.cos(q[1]))


class HillyAndSo(Hilly):
    """It says so."""

    def symmetries(self):
        return {name: move for name, move in super().symmetries().items() if name == "translation along y"}


class Windy(dh.systems.ChaplyginSleigh):
    """A sleigh that is pushed where there is wind."""

    def force(self, q, xi):  # noqa: ARG002
        return jnp.array([0.0, jnp.sin(q[1]), 0.0])


class Light(dh.systems.ChaplyginSleigh):
    """Another Lagrangian, as symmetric as the one before."""

    def lagrangian(self, q, xi):
        return 0.5 * super().lagrangian(q, xi)


def test_symmetries_that_are_none_any_more_are_refused():
    """Across the valley's bottom the force is zero, and the motion was called a stable relative equilibrium."""
    across = [0.0, 0.0, 0.0], [0.0, 1.0]
    for system, words in ((Hilly(), "the Lagrangian changes"), (Windy(), "the force changes")):
        for ask in (dh.spectrum, dh.relative_equilibrium):
            with pytest.raises(dh.InputError, match=f"'translation along x', which .* from ChaplyginSleigh.*{words}"):
                ask(system, *across)
    with pytest.raises(dh.InputError, match="is not a relative equilibrium"):
        dh.spectrum(HillyAndSo(), *across)
    np.testing.assert_allclose(
        dh.spectrum(Light(), *across).rates, dh.spectrum(dh.systems.ChaplyginSleigh(), *across).rates
    )

"""What a subclass of a catalogue system inherits of its invariants: those that its own methods leave true."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh


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


def test_of_the_catalogue_nothing_is_lost():
    """Each class declares for itself what it overrides; its families pass on what holds for all of them."""
    for name in ("RouthTop", "ChaplyginSphere", "BallInCylinder", "Rattleback", "BasketballOnHoop"):
        system = getattr(dh.systems, name)()
        assert "energy" in system.invariants(), name
        assert any(label.startswith("trace") for label in system.invariants()), name

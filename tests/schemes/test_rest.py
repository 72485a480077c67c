"""Where nothing moves there is nothing to measure round-off by but the coordinates: steps from rest, and into it."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.schemes import Gonzalez, MeanValue

# A damped pendulum under a torque: all that is solved for, velocities and changes, goes to 0 at sin q = 0.3.
SETTLING = dh.from_quasivelocities(
    lambda q, xi: 0.5 * xi @ xi + jnp.cos(q[0]), lambda q: jnp.eye(1), rank=1, force=lambda q, xi: 0.3 - xi
)


class Blind(dh.EnergyExact):
    """Is not told what its unknowns are changes of."""

    changes = ()


def settled(scheme, **options):
    return dh.simulate(SETTLING, [1.0], [0.4], h=0.1, steps=1000, scheme=scheme, **options)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize(
    "scheme",
    [dh.EnergyExact(), dh.EnergyExact(Gonzalez()), dh.Composed(dh.EnergyExact(), order=4), dh.Leapfrog()],
    ids=["mean value", "Gonzalez", "composed", "leapfrog"],
)
def test_a_damped_motion_settles(scheme, compiled):
    run = settled(scheme, compiled=compiled)
    assert abs(np.sin(run.q[-1, 0]) - 0.3) < 1e-15
    assert abs(run.xi[-1, 0]) < 1e-15


@pytest.mark.parametrize("compiled", [True, False])
def test_without_the_size_of_the_coordinates_it_does_not(compiled):
    with pytest.raises(dh.NewtonFailed):
        settled(Blind(), compiled=compiled)


GRADIENTS = pytest.mark.parametrize("gradient", [MeanValue(), Gonzalez()], ids=["mean value", "Gonzalez"])


@GRADIENTS
@pytest.mark.parametrize("name", ["ChaplyginSleigh", "VerticalDisk", "EulerPoincare", "ChargedNonholonomicParticle"])
def test_what_rests_without_any_energy_goes_on_resting(name, gradient):
    system = getattr(dh.systems, name)()
    data = system.sample()
    xi, steps = np.zeros(len(data["xi"])), 20
    run = dh.simulate(system, data["q"], xi, h=data["h"], steps=steps, scheme=dh.EnergyExact(gradient))
    rounding = 4 * np.finfo(float).eps * steps
    assert np.abs(run.q - run.q[0]).max(initial=0.0) < rounding
    assert np.abs(run.xi).max() < rounding


@GRADIENTS
def test_a_knife_edge_that_is_let_go_slides_down(gradient):
    """x = g sin(alpha) t^2 / 2, which a rule of order 2 has exactly."""
    system = dh.systems.KnifeEdgeOnIncline()
    run = dh.simulate(system, [0.0, 0.0, 0.0], [0.0, 0.0], h=0.02, steps=50, scheme=dh.EnergyExact(gradient))
    assert run.q[-1] == pytest.approx([0.0, 9.8 * np.sin(0.5) / 2, 0.0], abs=1e-13)


@GRADIENTS
@pytest.mark.parametrize("size", [1e-9, 1e-12, 1e-20])
def test_a_charged_particle_that_hardly_moves_goes_on(size, gradient):
    """Its momentum is nearly all the field's, so that its speed is known to roundings of that."""
    system, steps = dh.systems.ChargedNonholonomicParticle(), 100
    data = system.sample()
    xi = size * np.asarray(data["xi"], float)
    run = dh.simulate(system, data["q"], xi, h=data["h"], steps=steps, scheme=dh.EnergyExact(gradient))
    speed = np.linalg.norm(run.xi, axis=1)
    assert np.abs(speed - speed[0]).max() < 4 * np.finfo(float).eps * steps

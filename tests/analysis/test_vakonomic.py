"""The other principle against closed forms: circles of least energy, a holonomic constraint, the skate of Kozlov."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

import discrete_hamel as dh


class Heisenberg(dh.System):
    """z' = x y' - y x', twice the area swept; kinetic energy of the group."""

    rank = 2

    def lagrangian(self, q, xi):
        return 0.5 * xi @ xi + 0 * q[0]

    def frame(self, q):
        return jnp.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-q[1], q[0], 1.0]])


class WithoutBracket(Heisenberg):
    """lambda is left out of the bracket."""

    def coadjoint(self, q, xi, mu):
        return super().coadjoint(q, xi, mu.at[2:].set(0.0))


HEISENBERG = Heisenberg()


def test_the_flow_goes_round_circles_with_a_constant_multiplier():
    """z' = x y' - y x': x'' = 2 lambda y', y'' = -2 lambda x' of unit mass, up to the sign of turning."""
    curve = dh.vakonomic(HEISENBERG, [0.0, 0, 0], [0.8, 0.0], multipliers=[0.5], t=np.linspace(0, 2.0, 41))
    radius = 0.8 / (2 * 0.5)
    center = np.array([0.0, np.sign(curve.q[1, 1]) * radius])
    distances = np.linalg.norm(curve.q[:, :2] - center, axis=1)
    np.testing.assert_allclose(distances, radius, rtol=1e-10)
    assert np.ptp(curve.multipliers) < 1e-11
    assert np.ptp(curve.energy) < 1e-11
    straight = dh.vakonomic(HEISENBERG, [0.0, 0, 0], [0.8, 0.0], t=2.0)  # lambda = 0
    np.testing.assert_allclose(straight.q[-1], [1.6, 0.0, 0.0], atol=1e-12)


def test_between_two_points_the_least_energy_is_that_of_an_arc():
    """On an arc of angle a: chord 2 R sin(a/2), area z/2 = R^2 (a - sin a) / 2, action (R a)^2 / 2."""
    chord, lift = 0.3, 0.04
    angle = brentq(lambda a: (a - np.sin(a)) / (8 * np.sin(a / 2) ** 2) * chord**2 - lift / 2, 0.1, 6.0)
    length = chord / (2 * np.sin(angle / 2)) * angle
    curve = dh.vakonomic_between(HEISENBERG, [0.0, 0, 0], [chord, 0.0, lift], t=1.0)
    assert curve.action == pytest.approx(length**2 / 2, rel=1e-7)
    np.testing.assert_allclose(curve.q[-1], [chord, 0.0, lift], atol=1e-12)
    with pytest.raises(ValueError, match="as many coordinates as fields"):
        dh.vakonomic_between(dh.systems.SphericalPendulum(), [0.0, 0, -1], [1.0, 0, 0], t=1.0)


def test_holonomic_constraints_know_one_principle():
    """Whatever the multiplier at the start; and on the blade's Heisenberg neighbour they are two."""
    pendulum, times = dh.systems.SphericalPendulumCartesian(length=1.0), np.linspace(0, 3.0, 7)
    start = ([0.6, 0.0, -0.8], [0.3, 0.9])
    exact = dh.reference(pendulum, *start, t=times)
    for multiplier in (0.0, 0.7):
        curve = dh.vakonomic(pendulum, *start, multipliers=[multiplier], t=times)
        assert np.max(np.abs(curve.q - exact.q)) < 1e-10
    other = dh.vakonomic(HEISENBERG, [0.1, 0, 0], [1.0, 0.3], multipliers=[0.7], t=times)
    straight = np.outer(times, [1.0, 0.3]) + [0.1, 0.0]  # the nonholonomic motion
    assert np.max(np.abs(other.q[:, :2] - straight)) > 0.1


def test_without_the_multipliers_bracket_it_is_another_flow():
    """The mutant goes straight where circles are right."""
    curve = dh.vakonomic(WithoutBracket(), [0.0, 0, 0], [0.8, 0.0], multipliers=[0.5], t=2.0)
    np.testing.assert_allclose(curve.q[-1, :2], [1.6, 0.0], atol=1e-9)


def test_what_no_action_has_is_refused():
    pushed = dh.forced(HEISENBERG, lambda q, xi: jnp.array([1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match="forces are not part of an action"):
        dh.vakonomic(pushed, [0.0, 0, 0], [1.0, 0.0], t=1.0)
    with pytest.raises(ValueError, match="there are 1, one a constraint"):
        dh.vakonomic(HEISENBERG, [0.0, 0, 0], [1.0, 0.0], multipliers=[1.0, 2.0], t=1.0)

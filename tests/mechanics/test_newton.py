"""Newton's iteration where the guess says nothing of the root's size."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import brentq

import discrete_hamel as dh
from discrete_hamel.mechanics.newton import root

EPS = np.finfo(float).eps


class Pushed(dh.System):
    """A mass under the force cos q."""

    push: float = 1.0

    coordinates = ("q",)
    velocities = ("v",)
    rank = 1

    def lagrangian(self, q, xi):
        return 0.5 * xi @ xi + self.push * jnp.sum(jnp.sin(q))

    def frame(self, q):  # noqa: ARG002  # a frame has it
        return jnp.eye(1)


@pytest.mark.parametrize("way", ["compiled", "plain", "in lanes"])
@pytest.mark.parametrize("push", [1.0, 1e-6])
def test_from_rest_at_the_origin_the_first_step_is_as_good_as_any(way, push):
    """All that the guess consists of is zero. q_1 = h^2 push cos(q_1 / 2) / 2 (tau-midpoint, tau = 1/2, h = 1)."""
    exact = brentq(lambda q: q - 0.5 * push * np.cos(q / 2), 0.0, 1.0, xtol=1e-300, rtol=4 * EPS)
    if way == "in lanes":
        members = np.zeros((8, 1))
        q = dh.ensemble(Pushed(push=push), members, members, h=1.0, steps=1).q.to_numpy()[:, -1, 0]
    else:
        q = dh.simulate(Pushed(push=push), [0.0], [0.0], h=1.0, steps=1, compiled=way == "compiled").q[-1]
    assert np.all(np.abs(q - exact) <= 4 * EPS * exact)


@pytest.mark.parametrize("size", [1e-60, 1e-30, 1.0, 1e30])
@pytest.mark.parametrize("guess", [0.0, 1e-12, 1.0, 1e3])
def test_a_root_of_any_size_is_found_from_zero_or_near_it(size, guess):
    """z exp(z / size) = 3 size."""
    z, report = root(lambda z: z * jnp.exp(z / size) - 3 * size, jnp.array([guess * size]))
    exact = brentq(lambda x: x * np.exp(x) - 3, 0.0, 3.0, rtol=4 * EPS) * size
    if guess < 1e3:
        assert report.converged
        assert abs(z[0] - exact) <= 4 * EPS * exact
    else:  # exp(1000) is no number, and that is said
        assert not report.converged


@pytest.mark.parametrize("condition", [1e4, 1e6, 1e8, 1e9])
def test_where_solves_are_uncertain_what_is_left_of_the_equations_decides(condition):
    """R (z + z^2 / 10) = R (1, ..., 1), R of this condition: corrections end at its round-off, far above that of z."""
    rng = np.random.default_rng(0)
    (u, _), (v, _) = (np.linalg.qr(rng.normal(size=(12, 12))) for _ in range(2))
    rows = u * np.geomspace(1, 1 / condition, 12) @ v
    z, report = root(lambda z: rows @ (z + 0.1 * z**2) - rows @ np.ones(12), jnp.zeros(12))
    assert report.converged
    assert report.iterations < 20
    assert np.max(np.abs(z - 5 * (np.sqrt(1.4) - 1))) <= condition * EPS

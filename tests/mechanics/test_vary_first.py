"""Vary first, constrain after: SymPy's rolling disc, which by Lagrange's method with no-slip put in before varying
has d(u2)/dt = 0, and by Kane's -(2/3) u1 u3 (errata; sympy issue 27631)."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

M, R, G = 1.0, 1.0, 9.8
A, B = M * R**2 / 4, M * R**2 / 2  # a uniform disc


def disc_frame(q):
    """SymPy's frame: yaw q1, lean q2, own rotation q3; u1 along the lean axis, u2 along the axis, u3 in the disc.

    q2' = u1, q1' cos q2 = u3, q3' + q1' sin q2 = u2, then the velocity of the contact point, two components.
    """
    c, s = jnp.cos(q[1]), jnp.sin(q[1])
    ch, sh = jnp.cos(q[0]), jnp.sin(q[0])
    tan = s / c
    return jnp.array(
        [
            [0.0, 0.0, 1.0 / c, 0.0, 0.0],
            [1.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 1.0, -tan, 0.0, 0.0],
            [0.0, -R * ch, R * ch * tan, ch, -sh],
            [0.0, -R * sh, R * sh * tan, sh, ch],
        ]
    )


DISC = dh.systems.RollingDisk(M, R, A, B, G)
SWAP = jnp.array([1, 0, 2, 3, 4])  # the catalogue's order is lean, yaw, own rotation


def lagrangian(q, v):
    ours = q[SWAP]
    return DISC.lagrangian(ours, dh.quasivelocities(DISC, ours, v[SWAP]))


def constrained_before(q, u):
    """l_c: the no-slip condition substituted into the Lagrangian."""
    return lagrangian(jnp.pad(q, (0, 2)), disc_frame(q) @ jnp.pad(u, (0, 2)))


def shape_frame(q):
    return disc_frame(jnp.pad(q, (0, 2)))[:3, :3]


VARIED_FIRST = dh.from_velocities(lagrangian, disc_frame, 3)
CONSTRAINED_FIRST = dh.from_quasivelocities(constrained_before, shape_frame, 3)
RATES = jax.jit(lambda system, q, u: dh.vector_field(system, q, u)[1][:3])


@pytest.mark.parametrize("u", np.random.default_rng(7).uniform(-2, 2, (5, 3)).tolist())
@pytest.mark.parametrize("lean", [-0.4, 0.0, 0.7])
def test_rolling_disc(u, lean):
    q, u = jnp.array([0.3, lean, 0.1, 0.5, -0.2]), jnp.array(u)
    u1, u2, u3 = np.asarray(u)
    expected = [  # Kane's equations of SymPy's example, its signs of u3 and lean being those of this frame
        (4 * G * np.sin(lean) / R + 6 * u2 * u3 - u3**2 * np.tan(lean)) / 5,
        -2 * u1 * u3 / 3,
        -2 * u1 * u2 + u1 * u3 * np.tan(lean),
    ]
    assert np.asarray(RATES(VARIED_FIRST, q, u)) == pytest.approx(expected, rel=1e-10, abs=1e-10)
    wrong = np.asarray(RATES(CONSTRAINED_FIRST, q[:3], u))
    assert wrong == pytest.approx([expected[0], 0.0, expected[2] - 4 * u1 * u2], rel=1e-10, abs=1e-10)
    assert abs(expected[1]) > 1e-3


def test_both_conserve_energy_so_energy_does_not_tell():
    """Each is a mechanical system; only the constraint forces of one are those of rolling."""
    q, u = [0.3, 0.4, 0.1, 0.0, 0.0], [0.2, 3.0, 0.5]
    for system, start in ((VARIED_FIRST, q), (CONSTRAINED_FIRST, q[:3])):
        energy = dh.reference(system, start, u, t=[0.0, 0.5, 1.0]).energy
        assert np.max(np.abs(energy - energy[0])) < 1e-9

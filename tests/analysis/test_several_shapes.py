"""Several shape variables: flatness with the curvature of the transport, and hidden constants where it is zero."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import discrete_hamel as dh

S = dh.systems


def weight(q, bend):
    """g2 of the metric: by its change with r2 the transport gets its curvature."""
    return 1.0 + bend * q[1] ** 2


def lagrangian(q, v, bend):
    return 0.5 * (v[0] ** 2 + v[1] ** 2 + v[2] ** 2 + weight(q, bend) * v[3] ** 2)


def frame(q, bend):
    """d_r1, d_r2, gamma = d_s1 + r1 d_s2, d_s2; the constraint is s2' = r1 s1'."""
    return jnp.eye(4).at[3, 2].set(q[0])


def sliding(bend):
    return dh.from_velocities(lagrangian, frame, 3, params=bend)


SHIFTS = [2, 3]  # of s1 and s2
AT = [0.7, 0.4, 0.1, -0.2]


def test_the_curvature_of_the_transport_in_closed_form():
    """p' = tau p, tau = g2 r1 dr1 / (1 + g2 r1^2): d tau = r1 g2' / (1 + g2 r1^2)^2 dr2 ^ dr1, and no other fails."""
    found = dh.flatness(sliding(0.8), AT, symmetries=SHIFTS)
    r1, g2 = AT[0], 1 + 0.8 * AT[1] ** 2
    bent = r1 * 2 * 0.8 * AT[1] / (1 + g2 * r1**2) ** 2
    assert np.max(np.abs(found.vertical)) < 1e-14
    assert np.max(np.abs(found.horizontal)) < 1e-14
    assert np.max(np.abs(found.curvature)) == pytest.approx(bent, rel=1e-12)
    assert not found
    with pytest.raises(ValueError, match="is not flat: .* the curvature of the transport along its 2 shape variables"):
        dh.hidden_momenta(sliding(0.8), AT, symmetries=SHIFTS)


def test_without_curvature_there_is_a_constant():
    """g2 = 1: eta = gamma / sqrt(1 + r1^2), whatever r2 does; along gamma itself the momentum is none."""
    system = sliding(0.0)
    assert dh.flatness(system, AT, symmetries=SHIFTS)
    momenta = dh.hidden_momenta(system, AT, symmetries=SHIFTS)
    assert len(momenta) == 1
    run = dh.reference(system, AT, [0.5, -0.3, 0.8], t=np.linspace(0, 2, 5))
    kept = momenta.along(run)
    assert np.ptp(kept) < 1e-9
    assert abs(kept[0, 0]) == pytest.approx(0.8 * np.sqrt(1 + AT[0] ** 2), rel=1e-9)
    assert np.ptp(run.p[:, 2]) > 0.05
    fields = [momenta.fields(r)[2, 0] * np.sqrt(1 + r[0] ** 2) for r in ([0.7, 0.4], [-0.5, 2.0], [1.5, -1.0])]
    assert np.array(fields) == pytest.approx(float(fields[0]), rel=1e-9)


def test_the_chaplygin_spheres_vertical_momentum():
    """S is the turn about the vertical, H has two dimensions; C = e3 . W J omega is found.   [MD] 13.4"""
    sphere = S.ChaplyginSphere()
    q = [*Rotation.from_euler("ZXZ", [0.3, 1.1, 0.5]).as_matrix().ravel(), 0.1, 0.2]
    found = dh.flatness(sphere, q)
    assert found
    assert found.horizontal.shape == (1, 2, 2)
    momenta = dh.hidden_momenta(sphere, q)
    run = dh.reference(sphere, q, [0.4, -0.3, 0.5], t=np.linspace(0, 1, 4))
    kept = momenta.along(run)[:, 0]
    assert np.ptp(kept) < 1e-9
    moments = np.asarray(sphere.moments())
    rng, ratios = np.random.default_rng(0), []
    for omega in rng.normal(size=(3, 3)):
        turned = np.asarray(run.q[2])
        ratios.append(float(momenta(turned, omega)[0]) / (turned[6:9] @ moments @ omega))
    expected = float(kept[0] / (run.q[0][6:9] @ moments @ run.xi[0][:3]))
    assert np.array(ratios) == pytest.approx(expected, rel=1e-8)
    r = momenta.shape(jnp.asarray(run.q[2]))
    y, start = np.asarray(run.q[2])[6:9], np.asarray(q)[6:9]  # the field is that of turns: W^2 is its length, y . J y
    assert momenta.wronskian(r) == pytest.approx(np.sqrt((y @ moments @ y) / (start @ moments @ start)), rel=1e-8)


def test_the_snakeboard_is_not_flat():
    """Its momentum is driven by the squares of rotor and wheel rates, [ND]: the condition in H x H fails."""
    turn = np.zeros((5, 5))
    turn[1, 2], turn[2, 1] = -1.0, 1.0
    plane = {"x": "x", "y": "y", "turn": (turn, np.eye(5)[0])}
    found = dh.flatness(S.Snakeboard(), [0.3, 0.1, 0.2, 0.4, 0.5], symmetries=plane)
    assert not found
    assert np.max(np.abs(found.horizontal)) > 0.1
    assert found.horizontal[0] == pytest.approx(found.horizontal[0].T, abs=1e-12)


def test_sentences():
    with pytest.raises(ValueError, match="must return as many shape variables"):
        dh.flatness(sliding(0.0), AT, symmetries=SHIFTS, shape=lambda q: q[:1])
    with pytest.raises(ValueError, match="shape variables are not invariant"):
        dh.flatness(sliding(0.0), AT, symmetries=SHIFTS, shape=lambda q: q[1:3])
    with pytest.raises(ValueError, match="do not change independently"):
        dh.flatness(sliding(0.0), AT, symmetries=SHIFTS, shape=lambda q: jnp.stack([q[0], 2 * q[0]]))

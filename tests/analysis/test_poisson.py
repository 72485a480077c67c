"""The almost-Poisson bracket: its equations of motion, Jacobi's identity iff holonomic, degrees of nonholonomy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discrete_hamel as dh

S = dh.systems


def data(system):
    sample = system.sample()
    return sample["q"], sample["xi"]


@pytest.mark.parametrize("name", ["ChaplyginSleigh", "RollingDisk", "Suslov", "HeavyTop", "NonholonomicParticle"])
def test_the_bracket_gives_the_motion(name):
    """zdot = J grad H with H(q, p) by a Legendre transform of its own, against (H); J is skew and {q, q} = 0."""
    system = getattr(S, name)()
    q, xi = (jnp.asarray(part, float) for part in data(system))
    m = system.rank
    free = xi[:m]

    def hamiltonian(z):
        q, p = z[: len(q0)], z[len(q0) :]
        constrained = lambda v: system.lagrangian(q, jnp.concatenate([v, jnp.zeros(n - m)]))  # noqa: E731
        mass = jax.hessian(constrained)(jnp.zeros(m))
        v = jnp.linalg.solve(mass, p)
        return p @ v - constrained(v)

    q0, n = q, system.frame(q).shape[1]
    bracket = np.asarray(dh.bracket_matrix(system, q, xi))
    assert np.abs(bracket + bracket.T).max() < 1e-14
    p = dh.momentum(system, q, xi)[:m]
    zdot = bracket @ np.asarray(jax.grad(hamiltonian)(jnp.concatenate([q, p])))
    assert zdot[: len(q)] == pytest.approx(np.asarray(dh.velocities(system, q, free)), abs=1e-12)
    assert zdot[len(q) :] == pytest.approx(np.asarray(dh.hamel_force(system, q, free)), abs=1e-11)


def test_the_momenta_of_the_sleigh_bracket_to_minus_m_a_omega():
    """The almost-Poisson form of [ND] (19)."""
    sleigh = S.ChaplyginSleigh(mass=1.3, inertia=0.7, offset=0.4)
    bracket = dh.bracket_matrix(sleigh, [0.3, 0, 0], [1.5, -0.3])
    assert float(bracket[3, 4]) == pytest.approx(-1.3 * 0.4 * 1.5, abs=1e-14)


HOLONOMIC = ["SphericalPendulumCartesian", "SphericalPendulumAngles", "HeavyTop", "RigidBody", "ChargedParticle"]
NONHOLONOMIC = ["ChaplyginSleigh", "RollingDisk", "NonholonomicParticle", "Suslov", "Gearbox", "VerticalDisk"]


@pytest.mark.parametrize("name", [*HOLONOMIC, *NONHOLONOMIC])
def test_jacobi_holds_iff_the_constraint_is_holonomic(name):
    """van der Schaft & Maschke, at a generic state."""
    system = getattr(S, name)()
    q, xi = data(system)
    verdict = dh.integrable(system, q)
    assert bool(verdict) is (name in HOLONOMIC)
    defect = np.abs(dh.jacobiator(system, q, xi)).max()
    if verdict:
        assert defect < 1e-12
    else:
        assert defect > 1e-2


def row(q, extra):
    """exp(y) d(x^2 + sin y + z) + extra x dz, for which w ^ dw is extra exp(y) cos(y) dx dy dz."""
    dg = jnp.stack([2 * q[0], jnp.cos(q[1]), jnp.ones(())])
    return (jnp.exp(q[1]) * dg + extra * jnp.stack([0.0, 0.0, q[0]]))[None]


def free_particle(q, v, extra):
    return 0.5 * v @ v


@settings(max_examples=8)
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1), st.sampled_from([0.0, 0.3, -1.0]))
def test_a_constraint_that_is_holonomic_in_disguise_is_unmasked(x, y, z, extra):
    """w = f(q) dg is closed up to its factor; with one more term it is not. The frame is built by the library."""
    system = dh.from_constraints(free_particle, row, params=extra)
    verdict = dh.integrable(system, [x, y, z])
    assert verdict.holonomic is (extra == 0.0)
    assert verdict.growth == ((2,) if extra == 0.0 else (2, 3))


@pytest.mark.parametrize(
    ("name", "growth", "dimension"),
    [
        ("NonholonomicParticle", (2, 3), 3),  # a contact distribution
        ("RollingDisk", (3, 4, 5), 5),
        ("VerticalDisk", (2, 3, 4), 4),
        ("Car", (2, 3, 4), 4),
        ("Suslov", (2, 3), 3),
        ("ChaplyginSphere", (3, 5), 6),  # the height is kept: one row is holonomic
        ("BallOnSurface", (3, 5), 5),  # (2, 3, 5) has two fields; rolling balls have three
        ("EulerPoincareSuslov", (2, 3), 3),  # N = 0: the algebra's bracket alone
    ],
)
def test_degrees_of_nonholonomy(name, growth, dimension):
    found = dh.integrable(getattr(S, name)(), data(getattr(S, name)())[0])
    assert (found.growth, found.dimension) == (growth, dimension)
    assert found.degree == len(growth)


def test_a_singular_point_is_not_taken_for_a_leaf():
    """Martinet: D = span(d_x, d_y + x^2 d_z) pauses at x = 0, (2, 2, 3), and is (2, 3) beside it."""

    def frame(q):
        return jnp.array([[1.0, 0, 0], [0, 1.0, 0], [0, q[0] ** 2, 1.0]])

    martinet = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi, frame, 2)
    assert dh.integrable(martinet, [0.0, 0.2, 0.1]).growth == (2, 2, 3)
    assert dh.integrable(martinet, [0.5, 0.2, 0.1]).growth == (2, 3)
    assert repr(dh.integrable(martinet, [0.5, 0.0, 0.0])) == "nonholonomic: growth (2, 3) of 3, degree of nonholonomy 2"


def test_asked_without_a_point():
    """A system of the catalogue knows where; the user's own has to be told."""
    assert not dh.integrable(S.ChaplyginSleigh())
    own = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi, lambda q: jnp.eye(3), 2)
    with pytest.raises(ValueError, match="no sample.. that would say where to ask: give q"):
        dh.integrable(own)


def test_sentences():
    with pytest.raises(ValueError, match="integrability of D needs a constraint that is linear"):
        dh.integrable(S.DegenerateSleigh(), [0.0, 0, 0, 0])
    for function in (dh.bracket_matrix, dh.jacobiator):
        with pytest.raises(ValueError, match="affine one"):
            function(S.DegenerateSleigh(), [0.0, 0, 0, 0], [1.0])

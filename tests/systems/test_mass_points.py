"""dh.from_points: against Newton's law, the papers' two points, and systems written by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh


def bobs(q, p):
    """A double pendulum's, with lengths p."""
    first = p[0] * jnp.array([jnp.sin(q[0]), -jnp.cos(q[0])])
    return jnp.stack([first, first + p[1] * jnp.array([jnp.sin(q[1]), -jnp.cos(q[1])])])


def height(q, p):
    return 9.8 * (1.2 * bobs(q, p)[0, 1] + 0.7 * bobs(q, p)[1, 1])


def double(masses=(1.2, 0.7), lengths=(0.8, 1.1)):
    return dh.from_points(
        masses,
        bobs,
        potential=height,
        params=jnp.array(lengths),
        coordinates=("upper", "lower"),
        units={"upper": "rad"},
    )


def test_a_double_pendulum_is_the_textbooks():
    """Its two equations, solved by hand."""
    q, w, (m1, m2), (l1, l2), g = np.array([0.4, -0.9]), np.array([0.7, 1.3]), (1.2, 0.7), (0.8, 1.1), 9.8
    c, s = np.cos(q[0] - q[1]), np.sin(q[0] - q[1])
    mass = np.array([[(m1 + m2) * l1**2, m2 * l1 * l2 * c], [m2 * l1 * l2 * c, m2 * l2**2]])
    pull = [-m2 * l1 * l2 * s * w[1] ** 2 - (m1 + m2) * g * l1 * np.sin(q[0]), m2 * l1 * l2 * s * w[0] ** 2]
    expected = np.linalg.solve(mass, np.array(pull) - [0, m2 * g * l2 * np.sin(q[1])])
    np.testing.assert_allclose(dh.vector_field(double(), q, w)[1], expected, rtol=1e-12)
    assert double().units["upper"] == "rad"


def parallel(q, v):
    return [v[0] * v[3] - v[1] * v[2]]


def two(q):
    return q.reshape(2, 2)


def test_two_points_with_parallel_velocities():
    """[BE] 8.3.2, by another chart of the same constraint: the same motion."""
    spring = dh.from_points([1.0, 2.0], two, potential=lambda q: 0.5 * ((q[2:] - q[:2]) @ (q[2:] - q[:2])), C=parallel)
    q, v, t = [0.0, 0.3, 1.0, -0.2], [1.0, 0.5, 2.0, 1.0], np.array([0.0, 0.7])
    by_hand = dh.reference(dh.systems.TwoPointsParallelVelocities(), q, v=v, t=t)
    np.testing.assert_allclose(dh.reference(spring, q, v=v, t=t).q[-1], by_hand.q[-1], atol=1e-9)


def across(q):
    """Velocities across the line that joins them, [BE] 8.1: that of either point."""
    line = q[2:] - q[:2]
    return jnp.stack([jnp.concatenate([line, jnp.zeros(2)]), jnp.concatenate([jnp.zeros(2), line])])


def test_two_points_with_velocities_across_their_line():
    """The catalogue's, in its own coordinates; the length stays."""
    pair = dh.from_points([1.0, 2.0], two, potential=lambda q: -q[0] - 2 * q[2], A=across)
    run = dh.simulate(pair, [0.0, 0.0, 1.0, 0.0], v=[0.0, 0.4, 0.0, -0.3], h=0.001, steps=500)
    same = dh.systems.TwoPointsOrthogonalVelocities(mass1=1.0, mass2=2.0, gravity=1.0)
    exact = dh.reference(same, [0.0, 0.0, 0.0, 1.0], xi=[-0.4, -0.7], t=np.array([0.0, 0.5]))
    x, y, theta, rho = np.asarray(exact.q[-1])
    end = [x, y, x + rho * np.cos(theta), y + rho * np.sin(theta)]
    np.testing.assert_allclose(run.q[-1], end, atol=2e-6)
    assert run.report.path == "compiled"


def test_forces_are_on_the_points():
    """Stokes' drag on a bead of mass m on a parabola, against Newton's law along the tangent."""

    def bead(q):
        return jnp.array([[q[0], 0.5 * q[0] ** 2]])

    drag = dh.from_points(
        [2.0],
        bead,
        force=lambda q, v: -0.6 * jnp.array([[v[0], q[0] * v[0]]]),
        coordinates=("x",),
    )
    x, u = 0.7, 1.3
    rate = (-0.6 * (1 + x**2) * u - 2.0 * x * u**2) / (2.0 * (1 + x**2))
    assert dh.vector_field(drag, [x], [u])[1][0] == pytest.approx(rate, rel=1e-12)


def test_masses_are_parameters():
    """A gradient by them, and no second compilation for other ones."""

    def end(masses):
        return dh.simulate(double(masses), [0.3, 0.1], v=[0.0, 0.0], h=0.01, steps=30).q[-1, 0]

    slope = jax.grad(end)(jnp.array([1.2, 0.7]))
    difference = (end(jnp.array([1.2, 0.7 + 1e-5])) - end(jnp.array([1.2, 0.7 - 1e-5]))) / 2e-5
    assert slope[1] == pytest.approx(difference, rel=1e-6)
    assert jax.tree.structure(double()) == jax.tree.structure(double((3.0, 4.0)))


def test_what_is_refused():
    with pytest.raises(ValueError, match="name the coordinates"):
        dh.from_points([1.0], two)
    with pytest.raises(ValueError, match="put all rows into C"):
        dh.from_points([1.0, 1.0], two, A=across, C=parallel)
    with pytest.raises(ValueError, match="without A all of them are free"):
        dh.from_points([1.0, 1.0], two, C=parallel, free=(0,))
    with pytest.raises(ValueError, match="one number a point"):
        dh.from_points(2.0, two, A=across)
    wrong = dh.from_points([1.0, 1.0, 1.0], two, A=across)
    with pytest.raises(ValueError, match=r"a row for each of 3 masses; got shape \(2, 2\)"):
        dh.simulate(wrong, [0.0, 0, 1, 0], v=[0.0, 0, 0, 0], h=0.1, steps=1)
    flat = dh.from_points([1.0, 1.0], two, A=across, force=lambda q, v: v)
    with pytest.raises(ValueError, match=r"must be 2 x 2, a row a point; got shape \(4,\)"):
        dh.simulate(flat, [0.0, 0, 1, 0], v=[0.0, 0, 0, 0], h=0.1, steps=1)

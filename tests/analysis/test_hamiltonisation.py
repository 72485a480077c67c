"""Chaplygin's multiplier: found, Jacobi's identity with it, a symplectic run in the time tau, and back to t."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reduced_cases import quickly, sphere, tilts

import discrete_hamel as dh


class Knife(dh.System):
    """A particle with z' = y x', on the shapes (x, y): quasi-velocities x', y', z' - y x', the brackets by hand."""

    rank = 2
    coordinates = ("x", "y")

    def lagrangian(self, q, xi):
        potential = 0.3 * jnp.cos(q[0]) + 0.2 * q[1] ** 2
        return 0.5 * (xi[0] ** 2 + xi[1] ** 2 + (xi[2] + q[1] * xi[0]) ** 2) - potential

    def frame(self, q):  # noqa: ARG002
        return jnp.eye(2, 3)

    def structure(self, q):  # noqa: ARG002
        return jnp.zeros((3, 3, 3)).at[2, 0, 1].set(-1.0).at[2, 1, 0].set(1.0)


class Charged(Knife):
    """With a magnetic force beside it."""

    def force(self, q, xi):
        return (1 + q[0] ** 2) * jnp.array([xi[1], -xi[0], 0.0])


R, V = [0.3, 0.8], [0.5, -0.3]


def law(r, power):
    return (1 + r[1] ** 2) ** power


def test_the_multiplier_is_found_and_the_bracket_obeys_jacobi():
    made = dh.hamiltonise(Knife(), [0.1, 0.2])
    at = [float(made.factor(r)) * np.sqrt(1 + r[1] ** 2) for r in (R, [-0.4, -0.6], [0.1, 0.2])]
    assert at == pytest.approx([np.sqrt(1.04)] * 3, rel=1e-9)
    assert not made.bent
    assert np.max(np.abs(dh.jacobiator(Knife(), R, V))) > 0.1
    assert np.max(np.abs(dh.jacobiator(Knife(), R, V, factor=lambda r: law(r, -0.5)))) < 1e-12
    assert np.max(np.abs(dh.jacobiator(Knife(), R, V, factor=lambda r: law(r, -1.0)))) > 0.1


def test_symplectic_in_tau_and_back():
    """The midpoint rule in tau against the motion by `reference` at the times that come back, at order 2."""
    made = dh.hamiltonise(Knife(), R, factor=law, params=-0.5)
    w = np.asarray(V) / law(np.array(R), -0.5)
    errors = []
    for steps in (20, 40):
        run = dh.simulate(made, R, w, h=2.0 / steps, steps=steps)
        errors.append(np.max(np.abs(run.q - dh.reference(Knife(), R, V, t=made.times(run)).q)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)

    def step(x):
        state = dh.start(made, dh.DiscreteHamel(), x[:2], jnp.asarray(w), 0.1).replace(p=x[2:])
        after, _ = dh.step(made, dh.DiscreteHamel(), state, 0.1)
        return jnp.concatenate([after.q, after.p])

    slopes = np.asarray(jax.jit(jax.jacfwd(step))(jnp.array([*R, *run.p[0]])))
    omega = np.kron([[0, 1], [-1, 0]], np.eye(2))
    assert np.max(np.abs(slopes.T @ omega @ slopes - omega)) < 1e-13


def test_a_magnetic_force_has_its_potential():
    """v' = f d(f w)/dtau by the new system is that of the old one; without A it is not."""
    made = dh.hamiltonise(Charged(), R, factor=law, params=-0.5)
    assert made.bent

    def acceleration(made, r, v):
        w = v / made.factor(r)
        _, rate = dh.vector_field(made, r, w)
        factor, change = jax.jvp(made.factor, (r,), (w,))
        return factor * (change * w + factor * rate)

    r, v = jnp.array([-0.2, 0.5]), jnp.array(V)
    asked = jax.jit(acceleration, compiler_options={"xla_backend_optimization_level": 0})
    known = dh.vector_field(Charged(), r, v)[1][:2]
    assert np.max(np.abs(asked(made, r, v) - known)) < 1e-12
    assert np.max(np.abs(asked(made.replace(bent=False), r, v) - known)) > 0.1


def test_the_potential_is_the_same_with_the_multiplier_found():
    """Its integrals of f, up to each node of the ray, are those of the closed form."""
    by_law = dh.hamiltonise(Charged(), R, factor=lambda r: law(r, -0.5) * np.sqrt(1 + R[1] ** 2))
    r = jnp.array([-0.2, 0.5])
    expected, found = (
        np.asarray(jax.jit(type(by_law)._potential)(made, r)) for made in (by_law, by_law.replace(law=None))
    )
    assert found == pytest.approx(expected, rel=1e-9)
    assert np.max(np.abs(expected)) > 0.1


class Steeper(Knife):
    """z' = k y x'."""

    k: float = 1.3

    def lagrangian(self, q, xi):
        return 0.5 * (xi[0] ** 2 + xi[1] ** 2 + (xi[2] + self.k * q[1] * xi[0]) ** 2)

    def structure(self, q):
        return self.k * super().structure(q)


def test_derivatives_of_the_multiplier():
    """ln f = - ln(1 + k^2 y^2) / 2 + c, by y and by k."""
    k, y = 1.3, 0.8
    made = dh.hamiltonise(Steeper(), [0.0, 0.0])
    logarithm = lambda k, r: jnp.log(made.replace(system=Steeper(k=k)).factor(r))  # noqa: E731
    by_k, by_r = quickly(jax.grad(logarithm, (0, 1)), k, jnp.array([0.3, y]))
    assert np.asarray(by_r) == pytest.approx([0.0, -(k**2) * y / (1 + k**2 * y**2)], abs=1e-12)
    assert float(by_k) == pytest.approx(-k * y**2 / (1 + k**2 * y**2), rel=1e-9)


def test_runs_go_by_polynomials_on_a_box():
    """As by the closed form with f = 1 at the same place: the same map, compiled, where no A has a gauge."""
    made = dh.hamiltonise(Knife(), R)
    assert made.tables is not None
    closed = dh.hamiltonise(Knife(), R, factor=lambda r: law(r, -0.5) / law(np.array(R), -0.5))
    ours, theirs = (dh.simulate(one, R, V, h=0.05, steps=16) for one in (made, closed))
    assert ours.report.path == "compiled"
    assert np.max(np.abs(ours.q - theirs.q)) < 1e-11
    assert made.times(ours) == pytest.approx(closed.times(theirs), abs=1e-11)


def test_a_box_is_left_with_a_sentence_and_never_silently():
    made = dh.hamiltonise(Knife(), R, box=[0.2, 0.3])
    with pytest.raises(dh.NewtonFailed):
        dh.simulate(made, R, V, h=0.05, steps=40)
    with pytest.raises(ValueError, match="outside the box on which f was found"):
        dh.simulate(made, [R[0] + 0.21, R[1]], V, h=0.05, steps=1)
    with pytest.raises(ValueError, match="not resolved by polynomials on the box"):
        dh.hamiltonise(Knife(), R, box=3.0)
    with pytest.raises(ValueError, match="box is where"):
        dh.hamiltonise(Knife(), R, box=0.5, factor=law, params=-0.5)


def test_parameters_count_though_the_tables_know_nothing_of_them():
    made = dh.hamiltonise(Steeper(), R)
    r, w = jnp.array([0.4, 0.6]), jnp.array(V)

    def lagrangian(k, tables):
        return made.replace(system=Steeper(k=k), tables=tables).lagrangian(r, w)

    ours, exact = (quickly(jax.grad(lagrangian), 1.3, tables) for tables in (made.tables, None))
    assert float(ours) == pytest.approx(float(exact), rel=1e-12)
    assert abs(float(exact)) > 1e-3


@pytest.mark.slow
def test_the_sphere_of_chaplygin_in_its_time():
    """f = sqrt(1 - D (y, A y)) or its inverse, D = m R^2, A = (I + D)^-1, y the vertical, and order 2 in it."""
    reduced = sphere()
    ball, place, rate = reduced.system, np.array([0.3, 0.2]), np.array([0.5, -0.3])
    shapes = dh.on_shapes(reduced, lambda r, c: c * jnp.ones(1), params=0.4)
    made = dh.hamiltonise(shapes, place)
    assert made.tables is not None
    heavy = ball.mass * ball.radius**2

    def vertical(r):
        return np.asarray(tilts(r))[6:9]

    def known(r):
        y = vertical(r)
        return 1 - heavy * y @ np.linalg.solve(np.asarray(ball.moments()) + heavy * np.eye(3), y)

    at = [(float(made.factor(r)) ** 2, known(r) / known(place)) for r in ([0.6, -0.1], [-0.15, 0.65], [0.75, 0.6])]
    for square, ratio in at:
        assert min(abs(square - ratio), abs(square - 1 / ratio)) < 1e-10
    assert max(abs(ratio - 1) for _, ratio in at) > 0.01

    errors = []
    for steps in (25, 50):
        run = dh.simulate(made, place, rate, h=0.8 / steps, steps=steps)
        assert run.report.path == "compiled"
        whole = dh.reference(shapes, place, rate, t=made.times(run))
        errors.append(np.max(np.abs(run.q - whole.q)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


def test_of_a_system_that_was_reduced():
    def lagrangian(q, v):
        return 0.5 * v @ v - 0.3 * jnp.cos(q[0])

    whole = dh.from_velocities(lagrangian, lambda q: jnp.eye(3).at[2, 0].set(q[1]), 2, coordinates=("x", "y", "z"))
    made = dh.hamiltonise(dh.reduce(whole, ["z"], q=[0.0, 0.0, 0.0]))
    assert float(made.factor([0.3, 0.8])) == pytest.approx(1.64**-0.5, rel=1e-9)


def test_what_is_not_so_is_refused():
    with pytest.raises(ValueError, match="f M is not closed"):
        dh.hamiltonise(Knife(), R, factor=law, params=-1.0)
    with pytest.raises(ValueError, match="in two shapes or more"):
        dh.hamiltonise(dh.systems.ChaplyginSleigh(), [0.0, 0.0, 0.0])

    class Dragged(Knife):
        def force(self, q, xi):
            return -0.1 * xi + 0 * q[0]

    with pytest.raises(ValueError, match="not Hamiltonian"):
        dh.hamiltonise(Dragged(), R)

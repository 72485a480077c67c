"""One system, three ways in: the same trajectory."""

import cartesian
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import slopes
from problems import BODY, DISK, SE2, SLEIGH

import discrete_hamel as dh


def sleigh_in_quasivelocities(q, xi, params):
    m, j, a = params
    return 0.5 * ((j + m * a**2) * xi[0] ** 2 + m * (xi[1] ** 2 + xi[2] ** 2)) + m * a * xi[0] * xi[2]


BY_QUASIVELOCITIES = dh.from_quasivelocities(
    sleigh_in_quasivelocities, cartesian.sleigh_frame, 2, params=cartesian.SLEIGH
)
BY_VELOCITIES = dh.from_velocities(cartesian.sleigh, cartesian.sleigh_frame, 2, params=cartesian.SLEIGH)
BY_CONSTRAINTS = dh.from_constraints(cartesian.sleigh, cartesian.blade, params=cartesian.SLEIGH)
V0 = np.asarray(cartesian.sleigh_frame(jnp.array(SLEIGH.q)) @ jnp.array([1.5, -0.3, 0.0]))


@pytest.mark.parametrize("system", [BY_QUASIVELOCITIES, BY_VELOCITIES], ids=["quasivelocities", "velocities"])
def test_sleigh_with_its_frame_is_the_catalogues(system):
    catalogue, own = SLEIGH.run(), SLEIGH.run(system=system)
    for name in ("q", "p", "xi", "xi_mid"):
        assert np.max(np.abs(getattr(own, name) - getattr(catalogue, name))) < 1e-12, name
    assert np.max(np.abs(own.energy - catalogue.energy)) < 1e-13


def test_sleigh_from_constraints_is_the_catalogues():
    """No two of (theta', x', y') give the third all around, and yet the frame that follows the blade is the body's."""
    ours, theirs = SLEIGH.run(), SLEIGH.run(system=BY_CONSTRAINTS, xi=None, v=V0)
    assert np.max(np.abs(ours.q - theirs.q)) < 1e-11
    assert np.max(np.abs(ours.energy - theirs.energy)) < 1e-13
    sideways = [cartesian.blade(q) @ v for q, v in zip(theirs.q, theirs.v, strict=True)]
    assert np.max(np.abs(sideways)) < 1e-13


def test_disk_from_constraints_is_the_same():
    """Here (theta', phi', psi') give the rest all around: the same u_1, u_2, u_3, and D is all that (D) depends on."""
    system = dh.from_constraints(cartesian.disk, cartesian.rolling, params=cartesian.DISK)
    v = dh.velocities(DISK.system, DISK.q, DISK.xi)
    catalogue, own = DISK.run(200), DISK.run(200, system=system, xi=None, v=v)
    assert np.max(np.abs(own.q - catalogue.q)) < 1e-12
    assert np.max(np.abs(own.xi[:, :3] - catalogue.xi[:, :3])) < 1e-12
    assert np.max(np.abs(own.energy - catalogue.energy)) < 1e-12


def test_disk_from_velocities_is_the_same():
    system = dh.from_velocities(cartesian.disk, disk_frame, 3, params=cartesian.DISK)
    assert np.max(np.abs(DISK.run(200, system=system).q - DISK.run(200).q)) < 1e-12


def disk_frame(q, params):
    return DISK.system.replace(radius=params[1]).frame(q)


def drift(q, params=None):
    return jnp.array([0.4])


def unit(q, xi):
    return 0.5 * xi @ xi


def errors_at_the_end(system, exact, counts, **data) -> np.ndarray:
    q = exact(1.5)
    return np.array(
        [np.max(np.abs(dh.simulate(system, **data, h=1.5 / n, steps=n).q[-1] - q)) for n in map(int, counts)]
    )


COUNTS = np.array([50, 100, 200, 400])


def skate_adrift(t, theta=0.2, omega=1.3, v=0.7, b=0.4):
    """A skate that drifts sideways at b, l = |xi|^2 / 2: omega' = 0, v' = omega b, integrated by hand."""

    def place(t):
        angle, speed = theta + omega * t, v + omega * b * t
        c, s = np.cos(angle), np.sin(angle)
        return np.array([angle, (speed * s + 2 * b * c) / omega, (-speed * c + 2 * b * s) / omega])

    return place(t) - place(0.0) + np.array([theta, 0.0, 0.0])


@pytest.mark.parametrize(
    "system",
    [
        dh.from_quasivelocities(unit, cartesian.sleigh_frame, 2, slip=drift),
        dh.from_velocities(unit, cartesian.sleigh_frame, 2, slip=drift),
        dh.from_constraints(unit, cartesian.blade, b=drift),
    ],
    ids=["quasivelocities", "velocities", "constraints"],
)
def test_affine_constraint_with_a_known_solution(system):
    v = cartesian.sleigh_frame(jnp.array([0.2])) @ jnp.array([1.3, 0.7, 0.4])
    errors = errors_at_the_end(system, skate_adrift, COUNTS, q=[0.2, 0.0, 0.0], v=v)
    assert slopes(1 / COUNTS, errors) == pytest.approx(2.0, abs=0.05)


def drag_in_frame(q, xi):
    return -0.9 * xi


def drag_in_coordinates(q, v):
    return -0.9 * v


def skate_dragged(t, theta=0.2, omega=1.3, v=0.7, k=0.9):
    """Speed and turning fade alike, so that the path is a circle, run through ever more slowly."""
    angle = theta + omega * (1 - np.exp(-k * t)) / k
    r = v / omega
    return np.array([angle, r * (np.sin(angle) - np.sin(theta)), r * (np.cos(theta) - np.cos(angle))])


@pytest.mark.parametrize(
    "system",
    [
        dh.from_quasivelocities(unit, cartesian.sleigh_frame, 2, force=drag_in_frame),
        dh.from_velocities(unit, cartesian.sleigh_frame, 2, force=drag_in_coordinates),
        dh.from_constraints(unit, cartesian.blade, force=drag_in_coordinates),
    ],
    ids=["quasivelocities", "velocities", "constraints"],
)
def test_damped_motion_with_a_known_solution(system):
    v = cartesian.sleigh_frame(jnp.array([0.2])) @ jnp.array([1.3, 0.7, 0.0])
    errors = errors_at_the_end(system, skate_dragged, COUNTS, q=[0.2, 0.0, 0.0], v=v)
    assert slopes(1 / COUNTS, errors) == pytest.approx(2.0, abs=0.05)


def driven(q, xi):
    """x'' + x = cos(2 t); t is the second coordinate."""
    return 0.5 * (xi[0] ** 2 - q[0] ** 2) + q[0] * jnp.cos(2 * q[1])


def square(q):
    return jnp.eye(len(q))


def clock(q):
    return jnp.array([1.0])


def test_time_is_a_coordinate_whose_field_slips_at_one():
    system = dh.from_quasivelocities(driven, square, 1, slip=clock)

    def exact(t):  # x(0) = 1, x'(0) = 0
        return np.array([(4 * np.cos(t) - np.cos(2 * t)) / 3, t])

    errors = errors_at_the_end(system, exact, COUNTS, q=[1.0, 0.0], xi=[0.0])
    assert slopes(1 / COUNTS, errors) == pytest.approx(2.0, abs=0.05)


def heading_only(q):
    return jnp.array([[1.0, 0.0, 0.0]])


def se2(q, params=None):
    return jnp.asarray(SE2)


def test_reduced_system_with_fewer_coordinates_than_velocities():
    """Euler-Poincare-Suslov: the velocities do not need to know where the sleigh is."""
    system = dh.from_quasivelocities(
        sleigh_in_quasivelocities, lambda q, params: heading_only(q), 2, structure=se2, params=cartesian.SLEIGH
    )
    reduced, whole = SLEIGH.run(system=system, q=SLEIGH.q[:1]), SLEIGH.run()
    assert np.max(np.abs(reduced.xi - whole.xi)) < 1e-12
    assert np.max(np.abs(reduced.q[:, 0] - whole.q[:, 0])) < 1e-12


def quaternion_frame(q):
    """q' = q (0, omega) / 2."""
    w, x, y, z = q
    return 0.5 * jnp.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])


def free_body(q, xi):
    return BODY.system.lagrangian(q, xi)


def rotation(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_quaternions_keep_their_length_but_not_the_spatial_momentum():
    """Four redundant coordinates; the choice of them is physics: the Cayley map of the double cover is another one."""
    system = dh.from_quasivelocities(free_body, quaternion_frame, 3)
    worst = []
    for h in (0.05, 0.025):
        trajectory = BODY.run(int(50 / h), h=h, q=[1.0, 0, 0, 0], system=system)
        assert np.max(np.abs(np.linalg.norm(trajectory.q, axis=1) - 1)) < 1e-13
        assert np.max(np.abs(trajectory.energy - trajectory.energy[0])) < 1e-12
        same = BODY.run(int(50 / h), h=h)
        assert np.max(np.abs(trajectory.xi - same.xi)) < 1e-10
        space = np.array([rotation(q) @ p for q, p in zip(trajectory.q, trajectory.p, strict=True)])
        worst.append(np.max(np.abs(space - space[0])))
    assert worst[0] > 1e-4
    assert worst[0] / worst[1] == pytest.approx(4.0, abs=0.4)


def test_no_constraint_at_all_is_a_free_motion():
    def lagrangian(q, v):  # Kepler's
        return 0.5 * (v[0] ** 2 + q[0] ** 2 * v[1] ** 2) + 1 / q[0]

    none = dh.from_constraints(lagrangian, lambda q: jnp.zeros((0, 2)))
    free = dh.from_velocities(lagrangian, lambda q: jnp.eye(2), 2)
    for scheme in (dh.DiscreteHamel(), dh.Gauss(2)):
        runs = [dh.simulate(s, q=[1.0, 0.0], v=[0.1, 1.0], h=0.1, steps=20, scheme=scheme) for s in (none, free)]
        np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-13)
    assert dh.reactions(none, [1.0, 0.0], [0.0, 1.0]).shape == (0,)


@pytest.mark.parametrize("free", [None, ["x", "z"]])
def test_a_row_that_vanishes_but_for_round_off_is_refused(free):
    """cos(pi / 2) is 6e-17: a unit row made of it was round-off, or a constraint that no velocity had to meet."""

    def held(unit):
        def rows(q):
            return unit * jnp.cos(q[0]) * jnp.array([[0.0, 1.0, q[0]]])

        return dh.from_constraints(lambda q, v: 0.5 * v @ v, rows, free=free, coordinates=("x", "y", "z"))

    for unit in (1.0, 1e-14):  # in another unit it is no other row
        assert held(unit).at([1.0, 0.3, 0.0]).rank == 2
        with pytest.raises(dh.InputError, match="row 0 is, to .*e-1[67], zero"):
            held(unit).at([np.pi / 2, 0.3, 0.0])

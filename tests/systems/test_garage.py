"""The garage: what all must satisfy, each against multipliers without its frame, and what is known of single ones."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from carts import across, unit
from garages import BUILT
from multipliers import accelerations, assert_same, motion, orthogonal, together, turning_energy

import discrete_hamel as dh
from discrete_hamel.drawing.films import film_scene
from discrete_hamel.systems.mechanisms import rolling

garage = dh.systems.garage
STEPS = 400


@jax.jit
def facts(system, q, xi):
    """Rates of invariants with their sizes; of symmetries, the misfit in the frame and the changes of l and slips."""
    qdot, xidot = dh.vector_field(system, q, xi)
    rates = {}
    for label, invariant in system.invariants().items():
        by_q, by_xi = jax.grad(invariant.function, (0, 1))(q, xi)
        terms = jnp.concatenate([by_q * qdot, by_xi * xidot])
        rates[label] = jnp.sum(terms), jnp.sum(jnp.abs(terms))
    velocity = system.frame(q) @ xi
    generators, carried = jax.jvp(lambda q: jnp.stack([x(q) for x in system.symmetries().values()]), (q,), (velocity,))

    def change(generator, carried):
        psi, moved = jax.jvp(system.frame, (q,), (generator,))
        delta = jnp.linalg.lstsq(psi, carried - moved @ xi)[0]
        misfit = jnp.max(jnp.abs(psi @ delta - carried + moved @ xi))
        changed = jax.jvp(system.lagrangian, (q, xi), (generator, delta))[1]
        return misfit, changed, jnp.max(jnp.abs(delta[system.rank :]), initial=0.0)

    return rates, jax.vmap(change)(generators, carried), system.lagrangian(q, xi)


@pytest.mark.parametrize("name", garage.__all__)
def test_a_member_is_a_system_of_the_catalogue(name):
    """It says what it is; runs compiled; keeps what it declares; its symmetries are some; its film moves."""
    system = getattr(garage, name)()
    doc = inspect.getdoc(type(system))
    assert "oordinates" in doc
    assert "=" in doc
    assert set(vars(type(system)).get("__annotations__", ())) <= set(inspect.signature(type(system)).parameters)
    sample = system.sample()
    run = dh.simulate(system, **sample, steps=STEPS)
    assert run.report.reason == "", run.report.reason
    assert len(system.coordinates) == run.q.shape[1]
    assert len(set(system.velocities)) == run.xi.shape[1]
    values = run.invariants()
    for label, invariant in system.invariants().items():
        if invariant.kept == "exact":
            assert np.abs(values[label] - values[label][0]).max() < 1e-12 * STEPS**0.5 * max(1.0, abs(values[label][0]))
    rates, changes, size = facts(system, run.q[-1], run.xi[-1])
    for label, (rate, scale) in rates.items():
        assert abs(rate) < 1e-11 * max(1.0, scale), label
    for label, misfit, change, off in zip(system.symmetries(), *changes, strict=True):
        assert misfit < 1e-10, label
        assert abs(change) < 1e-10 * max(1.0, abs(size)), label
        assert off < 1e-10, label
    scene = film_scene.scene(run, np.array([0, STEPS // 2, STEPS]))
    first, last = scene.moving(0), scene.moving(2)
    assert any(
        a.points.shape != b.points.shape or np.any(a.points != b.points) for a, b in zip(first, last, strict=False)
    )


# Against multipliers: mechanisms know nothing of these frames, and the last ones not of mechanisms either.


@jax.jit
def by_multipliers(held, q, v):
    """Of a mechanism, by Lagrange's multipliers; and what its constraints make of v."""
    found, _ = accelerations(_of_held, _rows_of_held, q, v, held)
    return found, held.rows(q) @ v


def _of_held(q, v, held):
    return rolling.lagrangian(q, v, held)


def _rows_of_held(q, v, held):
    return rolling.one_forms(q, held) @ v


def state(system, rng):
    """Near the sample, any velocity."""
    q = np.array(system.sample()["q"], float)
    q = q + 0.3 * rng.normal(size=q.size)
    return q, rng.normal(size=system.rank)


@pytest.mark.parametrize("name", BUILT)
def test_a_member_is_a_mechanism(name):
    """In any place, at any velocity: the same accelerations, to 1e-10."""
    system = getattr(garage, name)()
    if name == "TwoWheeledBalancer":
        system = system.replace(tilt_gain=0.0, rate_gain=0.0, angle_gain=0.0, speed_gain=0.0)
    build, order = BUILT[name]
    mechanism = build(system)
    rng = np.random.default_rng(5)
    for _ in range(5):
        q, xi = state(system, rng)
        v, wanted = motion(system, jnp.asarray(q), jnp.asarray(xi))
        found, slips = by_multipliers(mechanism.params, q[order], np.asarray(v)[order])
        assert np.abs(slips).max() < 1e-11 * max(1.0, np.abs(v).max())
        assert_same(np.asarray(found), np.asarray(wanted)[order])


def train_lagrangian(q, v, s):
    """By the places of all mass centres."""

    def places(q):
        ends, angle = q[1:3], q[0]
        found = [ends + s.centre * unit(angle)]
        for heading in q[4:]:
            ends = ends - s.hook * unit(angle) - s.drawbar * unit(heading)
            angle = heading
            found.append(ends + s.trailer_centre * unit(angle))
        return jnp.stack(found)

    speeds = jax.jvp(places, (q,), (v,))[1]
    masses = jnp.array([s.mass, *(s.trailer_mass for _ in q[4:])])
    turning = s.inertia * v[0] ** 2 + s.steering_inertia * (v[0] + v[3]) ** 2 + s.trailer_inertia * v[4:] @ v[4:]
    return 0.5 * (masses @ jnp.sum(speeds**2, axis=1) + turning)


def train_skids(q, v, s):
    def axles(q):
        ends, angle = q[1:3], q[0]
        found = [ends, ends + s.wheelbase * unit(angle)]
        for heading in q[4:]:
            ends = ends - s.hook * unit(angle) - s.drawbar * unit(heading)
            angle = heading
            found.append(ends)
        return jnp.stack(found)

    sides = jnp.stack([across(a) for a in (q[0], q[0] + q[3], *q[4:])])
    return jnp.sum(jax.jvp(axles, (q,), (v,))[1] * sides, axis=1)


def snake_middles(q, s):
    steps = jnp.stack([unit(a) for a in q[2:]])
    back = -0.5 * s.length * (steps[1:] + steps[:-1])
    return q[None, :2] + jnp.concatenate([jnp.zeros((1, 2)), jnp.cumsum(back, axis=0)])


def snake_lagrangian(q, v, s):
    speeds = jax.jvp(lambda q: snake_middles(q, s), (q,), (v,))[1]
    return 0.5 * (s.mass * jnp.sum(speeds**2) + s.inertia * v[2:] @ v[2:])


def snake_skids(q, v, s):
    speeds = jax.jvp(lambda q: snake_middles(q, s), (q,), (v,))[1]
    return jnp.sum(speeds * jnp.stack([across(a) for a in q[2:]]), axis=1)


def omni_lagrangian(q, v, s):
    centre = jax.jvp(lambda q: q[1:3] + s.centre * unit(q[0]), (q,), (v,))[1]
    return 0.5 * (s.mass * centre @ centre + s.inertia * v[0] ** 2 + s.wheel_inertia * v[3:] @ v[3:])


def omni_rolls(q, v, s):
    """Each hub along its wheel goes as fast as the wheel turns."""
    slips = []
    for i, a in enumerate(np.pi / 3 * np.array([1, 3, 5])):
        hub = jax.jvp(lambda q, a=a: q[1:3] + s.reach * unit(q[0] + a), (q,), (v,))[1]
        slips.append(across(q[0] + a) @ hub - s.wheel_radius * v[3 + i])
    return jnp.stack(slips)


@pytest.mark.parametrize(
    ("system", "lagrangian", "rows"),
    [
        (garage.CarWithTrailers(trailers=3), train_lagrangian, train_skids),
        (garage.WheeledSnake(links=5), snake_lagrangian, snake_skids),
        (garage.OmniBase(), omni_lagrangian, omni_rolls),
    ],
    ids=["car", "snake", "three wheels"],
)
def test_on_the_plane_by_multipliers(system, lagrangian, rows):
    rng = np.random.default_rng(7)
    for _ in range(5):
        q, xi = (jnp.asarray(a) for a in state(system, rng))
        v, wanted = motion(system, q, xi)
        assert np.abs(rows(q, v, system)).max() < 1e-11
        assert_same(accelerations(lagrangian, rows, q, v, system)[0], wanted)


def whole(q, v):
    """A matrix of the coordinates, and its rate."""
    return q.reshape(3, 3), v.reshape(3, 3)


def in_space(r, rate):
    """omega in space of R and R'."""
    w = rate @ r.T
    return 0.5 * jnp.stack([w[2, 1] - w[1, 2], w[0, 2] - w[2, 0], w[1, 0] - w[0, 1]])


def robot_lagrangian(q, v, s):
    (r, rr), (shell, rs) = whole(q[:9], v[:9]), whole(q[9:18], v[9:18])
    of_shell = (rr @ shell + r @ rs).reshape(9)
    centre = jnp.append(v[19:21], 0.0) - s.depth * rr[:, 2]
    spin = r.T @ in_space(r, rr)
    turning = turning_energy(of_shell, s.shell_inertia * jnp.eye(3)) + turning_energy(
        v[:9], jnp.diag(jnp.stack([*s.moments]))
    )
    places = s.shell_mass * v[19:21] @ v[19:21] + s.mass * centre @ centre + s.wheel_inertia * (spin[1] + v[18]) ** 2
    return 0.5 * places + turning + s.mass * s.gravity * s.depth * r[2, 2]


def robot_rolls(q, v, s):
    """The shell's points on the ground stand still, those under the wheel go as its rim does."""
    (r, rr), (shell, rs) = whole(q[:9], v[:9]), whole(q[9:18], v[9:18])
    omega, carriage = in_space(r @ shell, rr @ shell + r @ rs), in_space(r, rr)
    ground = v[19:21] + jnp.cross(omega, jnp.array([0, 0, -s.radius]))[:2]
    below = -s.track * r[:, 2]
    hub = jnp.cross(carriage, -(s.track - s.wheel_radius) * r[:, 2])
    rim = hub + jnp.cross(carriage + v[18] * r[:, 1], -s.wheel_radius * r[:, 2])
    return jnp.concatenate([ground, (r.T @ (jnp.cross(omega, below) - rim))[:2]])


def balls_lagrangian(q, v, s):
    lower, upper = jnp.append(v[21:23], 0.0), jnp.append(v[21:23], 0.0) + (s.radius + s.upper_radius) * v[18:21]
    turning = turning_energy(v[:9], s.inertia * jnp.eye(3)) + turning_energy(v[9:18], s.upper_inertia * jnp.eye(3))
    places = 0.5 * (s.mass * lower @ lower + s.upper_mass * upper @ upper)
    return places + turning - s.upper_mass * s.gravity * (s.radius + s.upper_radius) * q[20]


def balls_roll(q, v, s):
    omega, nu = in_space(*whole(q[:9], v[:9])), in_space(*whole(q[9:18], v[9:18]))
    lower, n = jnp.append(v[21:23], 0.0), q[18:21]
    ground = lower + jnp.cross(omega, jnp.array([0, 0, -s.radius]))
    touching = lower + s.radius * jnp.cross(omega, n)
    other = lower + (s.radius + s.upper_radius) * v[18:21] - s.upper_radius * jnp.cross(nu, n)
    return jnp.concatenate([ground[:2], touching - other])  # the last also holds |n|


def top_lagrangian(q, v, s):
    """m z'^2 with z a function of R."""
    rise = s.offset * v[8]
    turning = turning_energy(v[:9], jnp.diag(s.moments()))
    return turning + 0.5 * s.mass * (v[9:] @ v[9:] + rise**2) - s.mass * s.gravity * (s.radius + s.offset * q[8])


def second(q, v, s):
    return orthogonal(q[9:18], v[9:18], s)


def attitudes(q, v, s):
    return jnp.concatenate([orthogonal(q, v, s), second(q, v, s)])


@pytest.mark.parametrize(
    ("system", "lagrangian", "rows"),
    [
        (garage.BallRobot(), robot_lagrangian, together(attitudes, robot_rolls)),
        (garage.BallOnBall(), balls_lagrangian, together(attitudes, balls_roll)),
    ],
    ids=["robot", "two balls"],
)
def test_balls_by_multipliers(system, lagrangian, rows):
    """In attitudes as matrices, held by R^T R = 1, without angular velocities but in the constraints."""
    rng = np.random.default_rng(9)
    q = jnp.asarray(system.sample()["q"])
    run = dh.simulate(system, q, 3.0 * rng.normal(size=system.rank), h=1e-3, steps=300)
    for k in (0, 150, 300):
        q, xi = jnp.asarray(run.q[k]), jnp.asarray(run.xi[k])
        v, wanted = motion(system, q, xi)
        assert np.abs(rows(q, v, system)).max() < 1e-11
        assert_same(accelerations(lagrangian, rows, q, v, system)[0], wanted)


def friction_on_top(q, v, s):
    """N law(s) at the contact, as a covector of v."""
    r = q[:9].reshape(3, 3)

    def slipping(v):
        omega = in_space(r, v[:9].reshape(3, 3))
        return v[9:] + jnp.cross(omega, -(s.offset * r[:, 2] + s.radius * jnp.array([0, 0, 1.0])))[:2]

    slip, back = jax.vjp(slipping, v)
    xi = jnp.concatenate([r.T @ in_space(r, v[:9].reshape(3, 3)), v[9:]])
    return back(s.contact_force(q, xi) * s.friction(slip, s.params))[0]


def test_the_slipping_top_by_multipliers_and_its_load_by_its_height():
    top = garage.SlippingTop(mass=1.0, inertia_across=0.7, inertia_axis=0.6, offset=-0.2, radius=0.5, params=(0.4, 0.1))
    sample = top.sample()
    q, xi = jnp.asarray(sample["q"]), jnp.array([0.7, -2.0, 4.0, 0.5, 0.3])
    v, wanted = motion(top, q, xi)
    found, _ = accelerations(top_lagrangian, orthogonal, q, v, top, force=friction_on_top)
    assert_same(found, wanted)
    np.testing.assert_allclose(top.contact_force(q, xi), 1.0 * (9.81 + top.offset * wanted[8]), rtol=1e-12)


def drag(slip, sizes):
    """A law that depends on direction too."""
    return -sizes * slip * jnp.array([1.0, 2.0])


@pytest.mark.parametrize("law", [(garage.slipping_top.coulomb, (0.3, 0.01)), (drag, 2.0)], ids=["Coulomb", "drag"])
def test_the_tippe_top_inverts_and_keeps_jelletts_integral(law):
    """Under any law of friction, to round-off; RouthTop's motion, which does not slip, cannot turn over."""
    top = garage.SlippingTop(friction=law[0], params=law[1])
    sample = top.sample()
    run = dh.simulate(top, **sample, steps=10_000)
    jellett = run.invariants()["Jellett"]
    assert np.abs(jellett / jellett[0] - 1).max() < 1e-12
    assert run.q[0, 8] > 0.99
    assert run.q[-1, 8] < -0.8
    load = jax.vmap(top.contact_force)(run.q, run.xi)
    assert load.min() > 0
    assert run.energy[-1] < 0.6 * run.energy[0]


def test_two_disks_on_a_slope_go_round_cycloids():
    """theta' constant, (m + 2 J_w / R^2) u' = m g sin(incline) cos(theta)."""
    axle = garage.RollingAxle()
    run = dh.reference(axle, [0.0] * 5, [-1.5, 1.5], t=3.0)
    rate = 0.2 * 3.0 / 0.6
    pull = 3.0 * 9.81 * np.sin(0.1) / (3.0 + 2 * 0.02 / 0.2**2)
    np.testing.assert_allclose(run.q[-1, 0], rate * 3.0, atol=1e-10)
    x = pull / rate**2 * (1 - np.cos(2 * rate * 3.0)) / 4
    y = pull / rate * (3.0 / 2 - np.sin(2 * rate * 3.0) / (4 * rate))
    np.testing.assert_allclose(run.q[-1, 1:3], [x, y], atol=1e-10)


def test_without_trailers_it_is_the_car():
    car, bare = dh.systems.Car(), garage.CarWithTrailers(trailers=0)
    q, xi = jnp.array([0.3, 1.0, -0.5, 0.4]), jnp.array([1.2, 0.3, 0.2, -0.4])
    np.testing.assert_allclose(bare.frame(q), car.frame(q), atol=1e-15)
    np.testing.assert_allclose(bare.lagrangian(q, xi), car.lagrangian(q, xi), atol=1e-15)


@pytest.mark.parametrize(
    ("system", "words"),
    [
        (garage.BallRobot(track=0.3), "the wheel is not inside the shell"),
        (garage.CarWithTrailers(trailers=-1), "trailers of CarWithTrailers must not be negative"),
        (garage.WheeledSnake(links=0), "links of WheeledSnake must be at least 1"),
        (garage.SlippingTop(inertia_axis=1e-5), "triangle inequality"),
        (garage.WhippleBicycle(rear_radius=0.0), "rear_radius of WhippleBicycle must be positive"),
    ],
)
def test_bad_parameters_get_a_sentence(system, words):
    with pytest.raises(ValueError, match=words):
        dh.simulate(system, **type(system)().sample(), steps=1)

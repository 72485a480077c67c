"""Positions constrained by g(q) = 0: the same motions as in coordinates without constraints, and no drift off g."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from checkers import slopes

import discrete_hamel as dh
from discrete_hamel.schemes.following import FollowingHamel

G = 9.8


def bobs(q, v):
    """Bobs of mass 1, 2, ... in a plane, y up."""
    masses = jnp.repeat(jnp.arange(1.0, 1 + len(q) / 2), 2)
    return 0.5 * v @ (masses * v) - G * masses[1::2] @ q[1::2]


def rods(q):
    at = jnp.concatenate([jnp.zeros((1, 2)), q.reshape(-1, 2)])
    return jnp.sum((at[1:] - at[:-1]) ** 2, axis=1) - 1.0


def hanging(angles):
    return jnp.cumsum(jnp.stack([jnp.sin(angles), -jnp.cos(angles)], axis=1), axis=0).ravel()


def bead(q, v):
    return 0.5 * v @ v - G * q[2]


def coil(s):
    return jnp.array([jnp.cos(s[0]), jnp.sin(s[0]), 0.3 * jnp.sin(3 * s[0])])


def on_coil(q):
    return [q[0] ** 2 + q[1] ** 2 - 1, q[2] - 0.9 * q[1] + 1.2 * q[1] ** 3]


def skate(q, v):
    """heading, x, y and the height z, on the surface z = sin(x) / 2 + y / 3"""
    return 0.5 * (0.2 * v[0] ** 2 + v[1:] @ v[1:]) - q[3]


def on_surface(q):
    return jnp.array([q[3] - jnp.sin(q[1]) / 2 - q[2] / 3])


def blade(q):
    return jnp.array([[0, -jnp.sin(q[0]), jnp.cos(q[0]), 0]])


def over_plane(q):
    return jnp.array([q[0], q[1], q[2], jnp.sin(q[1]) / 2 + q[2] / 3])


def linkage(q, v):
    """A crank, a coupler and a rocker by their angles: rods of lengths 1, 2 and 1.5 and masses 1, 2 and 1.5."""
    lengths = jnp.array([1.0, 2.0, 1.5])
    arms = lengths[:, None] * jnp.stack([jnp.cos(q), jnp.sin(q)], axis=1)
    turning = v[:, None] * lengths[:, None] * jnp.stack([-jnp.sin(q), jnp.cos(q)], axis=1)
    starts = jnp.stack([jnp.zeros(2), arms[0], jnp.array([2.2, 0.0])])
    moving = jnp.stack([jnp.zeros(2), turning[0], jnp.zeros(2)])
    speeds = jnp.sum((moving + turning / 2) ** 2, axis=1)
    energy = 0.5 * lengths @ (speeds + lengths**2 * v**2 / 12)
    return energy - G * lengths @ (starts + arms / 2)[:, 1]


def loop(q):
    """The same closed, written in three dimensions and twice: two of five rows count."""
    x = jnp.cos(q[0]) + 2 * jnp.cos(q[1]) - 2.2 - 1.5 * jnp.cos(q[2])
    y = jnp.sin(q[0]) + 2 * jnp.sin(q[1]) - 1.5 * jnp.sin(q[2])
    return jnp.stack([x, y, 0.0 * x, x + y, 3 * x])


def closed(crank):
    """The angles of the loop from the crank's, in closed form: the joint of coupler and rocker is on two circles."""
    a = jnp.array([jnp.cos(crank[0]), jnp.sin(crank[0])])
    d = jnp.array([2.2, 0.0]) - a
    r = jnp.linalg.norm(d)
    along = (4.0 - 2.25 + r**2) / (2 * r)
    joint = a + (along * d + jnp.sqrt(4.0 - along**2) * jnp.array([-d[1], d[0]])) / r
    rocker = joint - jnp.array([2.2, 0.0])
    return jnp.array([crank[0], jnp.arctan2(*(joint - a)[::-1]), jnp.arctan2(*rocker[::-1])])


def minimal(L, place, count, A=None):
    """The same system in coordinates s without positions to hold: q = place(s)."""

    def lagrangian(s, rate):
        return L(*jax.jvp(place, (s,), (rate,)))

    if A is None:
        return dh.from_velocities(lagrangian, lambda s: jnp.eye(count), count)
    return dh.from_constraints(lagrangian, lambda s: A(place(s)) @ jax.jacfwd(place)(s))


# L, g, A, place, s, s'
CASES = {
    "double pendulum": (bobs, rods, None, hanging, [1.0, -0.4], [0.3, 1.0]),
    "bead": (bead, on_coil, None, coil, [0.4], [2.0]),
    "linkage": (linkage, loop, None, closed, [1.1], [1.5]),
    "skate": (skate, on_surface, blade, over_plane, [0.3, 0.2, 0.1], [1.0, np.cos(0.3), np.sin(0.3)]),
}


def rows(g):
    return lambda q: jnp.stack(g(q)) if isinstance(g(q), list) else g(q)


def start(name):
    L, g, A, place, s, rate = CASES[name]
    q, v = jax.jvp(place, (jnp.array(s),), (jnp.array(rate),))
    return dh.from_holonomic(L, rows(g), A=A), q, v


@pytest.mark.parametrize("name", ["bead", "linkage", "skate"])
def test_second_order_beside_minimal_coordinates(name):
    L, g, A, place, s, rate = CASES[name]
    system, q, v = start(name)
    exact = place(dh.reference(minimal(L, place, len(s), A), q=s, v=rate, t=1.0).q[-1])
    counts = np.array([40, 80, 160])
    runs = [dh.simulate(system, q=q, v=v, h=1 / k, steps=int(k)) for k in counts]
    assert all(run.report.path == "compiled" for run in runs)
    assert slopes(1 / counts, [np.linalg.norm(run.q[-1] - exact) for run in runs]) == pytest.approx(2.0, abs=0.1)
    assert max(np.abs(jax.vmap(rows(g))(run.q)).max() for run in runs) < 4e-15 * 3
    velocities = jax.vmap(lambda q, v: jax.jvp(rows(g), (q,), (v,))[1])(runs[0].q, runs[0].v)
    assert np.abs(velocities).max() < 1e-12
    if A is not None:
        middles, chords = (runs[0].q[1:] + runs[0].q[:-1]) / 2, np.diff(runs[0].q, axis=0) * 40
        assert np.abs(jax.vmap(lambda q, v: A(q) @ v)(middles, chords)).max() < 1e-12


def test_no_drift_in_a_million_steps():
    system, q, v = start("double pendulum")
    run = dh.simulate(system, q=q, v=v, h=0.01, steps=10**6, save_every=1000)
    assert np.abs(jax.vmap(rods)(run.q)).max() < 4e-15
    off = np.abs(run.energy - run.energy[0])
    assert 1e-6 < off.max() < 0.1
    assert off[500:].max() < 1.5 * off[:500].max()
    bead, q, v = start("bead")
    following = dh.simulate(bead, q=q, v=v, h=0.01, steps=1000, scheme=FollowingHamel())
    assert np.abs(jax.vmap(rows(on_coil))(following.q)).max() > 1e-6  # velocities alone: off by O(h^2)


def test_it_is_the_principle_with_its_discrete_constraint():
    tau, (_, g, A, *_) = 0.2, CASES["skate"]
    system, q, v = start("skate")

    def allowed(system, q0, q1, h):
        middle = (1 - tau) * q0 + tau * q1
        return jnp.concatenate([g(q1), A(middle) @ (q1 - q0) / h])

    principle = dh.Principle(point=tau, variation="derived", constraint=allowed)
    how = {"q": q, "v": v, "h": 0.05, "steps": 30, "compiled": False}
    ours = dh.simulate(system, scheme=dh.DiscreteHamel(tau), **how)
    theirs = dh.simulate(system, scheme=principle, **how)
    assert np.abs(ours.q - theirs.q).max() < 1e-12
    assert np.abs(ours.p - theirs.p).max() < 1e-11


def in_angles(system, scheme, h):
    """The step as a map of (angles, their momenta), P_s = place'^T P for the P in D with E^T P = p."""

    def lifted(s):
        return jax.jacfwd(hanging)(s)

    def step(point):
        s, momentum = jnp.split(point, 2)
        q = hanging(s)
        tangent = lifted(s)
        rate = jnp.linalg.solve(tangent.T @ jnp.diag(jnp.array([1.0, 1, 2, 2])) @ tangent, momentum)
        free = system.components(q, tangent @ rate)
        state = dh.start(system, scheme, q, free, h)
        after, _ = dh.step(system, scheme, state, h)
        xi = dh.nodal_velocity(system, after.q, after.p)
        links = jnp.diff(jnp.concatenate([jnp.zeros((1, 2)), after.q.reshape(-1, 2)]), axis=0)
        s1 = jnp.arctan2(links[:, 0], -links[:, 1])
        covector = jnp.array([1.0, 1, 2, 2]) * (system.frame(after.q) @ xi)
        return jnp.concatenate([s1, lifted(s1).T @ covector])

    return step


def test_without_velocity_constraints_it_is_symplectic():
    system, q, _ = start("double pendulum")
    ready, h = system.at(q), 0.1
    turn = np.block([[np.zeros((2, 2)), np.eye(2)], [-np.eye(2), np.zeros((2, 2))]])
    point = jnp.array([1.0, -0.4, 1.3, 2.1])
    defects = {}
    for tau in (0.5, 0.3):
        slope = np.asarray(jax.jacfwd(in_angles(ready, dh.DiscreteHamel(tau).fitted(ready), h))(point))
        defects[tau] = np.abs(slope.T @ turn @ slope - turn).max()
    slope = np.asarray(jax.jacfwd(in_angles(ready, FollowingHamel(), h))(point))
    assert max(defects.values()) < 1e-12
    assert np.abs(slope.T @ turn @ slope - turn).max() > 1e-7  # the check sees what is not


def test_momentum_of_a_symmetry_is_exact_and_a_step_is_undone():
    system = dh.from_holonomic(bead, lambda q: q @ q - 1.0)
    q, v = jnp.array([0.6, 0.0, -0.8]), jnp.array([0.4, 1.0, 0.3])
    run = dh.simulate(system, q=q, v=v, h=0.1, steps=1000)
    momentum = run.q[:, 0] * run.v[:, 1] - run.q[:, 1] * run.v[:, 0]
    assert np.abs(momentum - momentum[0]).max() < 1e-12 * 1000**0.5
    assert np.ptp(run.energy) > 1e-4
    ready = system.at(q)
    for tau in (0.5, 0.2):
        scheme, mirrored = (dh.DiscreteHamel(t).fitted(ready) for t in (tau, 1 - tau))
        first = dh.start(ready, scheme, q, dh.quasivelocities(ready, q, v), h=0.1)
        there, _ = dh.step(ready, scheme, first, h=0.1)
        back, _ = dh.step(ready, mirrored, there, h=-0.1)
        assert np.abs(back.q - first.q).max() < 1e-13
        assert np.abs(back.p - first.p).max() < 1e-13


def test_rattle_has_the_same_positions_where_forces_are_constant():
    """Both are variational, and their discrete Lagrangians differ by where they evaluate V only."""
    system, q, v = start("bead")
    how = {"q": q, "v": v, "h": 0.05, "steps": 40, "compiled": False}
    ours, rattle = (dh.simulate(system, scheme=scheme, **how) for scheme in (dh.DiscreteHamel(), dh.Rattle()))
    assert np.abs(jax.vmap(rows(on_coil))(rattle.q)).max() < 1e-14
    assert np.abs(ours.q - rattle.q).max() < 1e-12


def test_forces_and_affine_constraints():
    """A damped bead, and one that a belt carries across the sphere, y' = 0.05."""
    drag = dh.from_holonomic(
        lambda q, v, c: bead(q, v), lambda q, c: q @ q - 1.0, force=lambda q, v, c: -c * v, params=0.3
    )
    damped = dh.simulate(drag, q=[0.6, 0.0, -0.8], v=[0.4, 1.0, 0.3], h=0.02, steps=400)
    assert damped.energy[-1] < damped.energy[0] - 1.0
    assert np.abs(np.sum(damped.q**2, axis=1) - 1).max() < 1e-14
    assert abs(dh.work(damped).forces[-1] - damped.energy[-1] + damped.energy[0]) < 1e-3
    free = dh.from_holonomic(bead, lambda q: q @ q - 1.0).at(jnp.array([0.6, 0.0, -0.8]))
    put_on = dh.forced(free, lambda q, xi: -0.3 * free.frame(q).T @ (free.frame(q) @ xi))
    same = dh.simulate(put_on, q=[0.6, 0.0, -0.8], v=[0.4, 1.0, 0.3], h=0.02, steps=400)
    assert np.abs(same.q - damped.q).max() < 1e-3
    belt = dh.from_holonomic(
        bead, lambda q: q @ q - 1.0, A=lambda q: jnp.array([[0.0, 1.0, 0.0]]), b=lambda q: jnp.array([0.05])
    )
    run = dh.simulate(belt, q=[0.6, 0.0, -0.8], v=[0.0, 0.05, 0.0], h=0.02, steps=400)
    assert np.abs(run.q[:, 1] - 0.05 * run.t).max() < 1e-13
    assert np.abs(np.sum(run.q**2, axis=1) - 1).max() < 1e-14


def test_gradients_by_differences():
    def L(q, v, c):
        return 0.5 * c["mass"] * v @ v - G * c["mass"] * q[1] - c["stiffness"] * q[0] ** 2

    params = {"mass": 1.3, "stiffness": 0.8, "length": 1.0}
    system = dh.from_holonomic(L, lambda q, c: q @ q - c["length"] ** 2, params=params).at(jnp.array([0.6, -0.8]))

    @jax.jit
    def end(stiffness, speed):
        ready = system.replace(params={**params, "stiffness": stiffness})
        v = speed * jnp.array([0.8, 0.6])
        return dh.simulate(ready, q=jnp.array([0.6, -0.8]), v=v, h=0.02, steps=50).q[-1, 0]

    slope, d = jax.grad(end, (0, 1))(0.8, 1.5), 1e-5
    numbers = (end(0.8 + d, 1.5) - end(0.8 - d, 1.5)) / (2 * d), (end(0.8, 1.5 + d) - end(0.8, 1.5 - d)) / (2 * d)
    assert np.abs(np.array(slope) - np.array(numbers)).max() < 1e-8


def test_inconsistent_data_are_refused_and_led_back():
    system, q, v = start("double pendulum")
    with pytest.raises(ValueError, match=r"off the holonomic constraints of .*FromHolonomic.* by .*dh\.project"):
        dh.simulate(system, q=q + 0.01, v=v, h=0.1, steps=1)
    with pytest.raises(ValueError, match=r"row 1 demands Dg\(q\) v = 0 and it is .*dh\.project\(system, q, v=v\)"):
        dh.simulate(system, q=q, v=v + np.array([0, 0, 0.2, 0.1]), h=0.1, steps=1)
    there, xi = dh.project(system, q + 0.01, v=v + 0.1)
    assert np.abs(rods(there)).max() < 1e-15
    assert np.linalg.norm(there - q) < 0.03
    run = dh.simulate(system, q=there, xi=xi, h=0.1, steps=1)
    assert np.abs(jax.jvp(rods, (there,), (jnp.array(run.v[0]),))[1]).max() < 1e-14
    # of two masses the nearest velocity in the sense of Gauss: what is left over is along A^T / masses
    left = jnp.array([1.0, 1, 2, 2]) * (v + 0.1 - run.v[0])
    assert np.abs(system.at(there).fields(there).T @ left).max() < 1e-12


def test_ranks_are_found_and_branches_that_meet_refused():
    assert start("linkage")[0].at(start("linkage")[1]).kept == (0, 1)
    cross = dh.from_holonomic(lambda q, v: 0.5 * v @ v, lambda q: q[0] * q[1])
    with pytest.raises(ValueError, match=r"singular at q = \[0\.0, 0\.0\]: its 1 rows have rank 0 there and 1 at"):
        dh.simulate(cross, q=[0.0, 0.0], v=[1.0, 0.0], h=0.1, steps=1)
    assert dh.simulate(cross, q=[0.3, 0.0], v=[1.0, 0.0], h=0.1, steps=3).q[-1].tolist() == pytest.approx([0.6, 0.0])


def test_what_it_is_given_is_checked():
    with pytest.raises(TypeError, match="takes g itself"):
        dh.from_holonomic(bead, rods, holonomic=rods)
    with pytest.raises(TypeError, match="give A"):
        dh.from_holonomic(bead, rods, b=rods)
    with pytest.raises(ValueError, match="one number a constraint"):
        dh.simulate(dh.from_holonomic(bead, lambda q: jnp.ones((2, 2))), [1.0, 0, 0], v=[0.0, 0, 0], h=0.1, steps=1)


def test_a_run_goes_round_past_the_point_where_its_fields_turn_about():
    """At (-1, 0) the reflection that makes the field at a node has no direction; a node lies 4e-5 from it. The field
    has four digits less there, and is still one: neither the run nor what it keeps minds."""
    pendulum = dh.from_holonomic(lambda q, v: 0.5 * v @ v - 9.8 * q[1], lambda q: q @ q - 1.0)
    run = dh.simulate(pendulum, q=[1.0, 0.0], v=[0.0, 0.5], h=0.01, steps=1000)
    near = np.min(np.hypot(run.q[:, 0] + 1.0, run.q[:, 1]))
    assert near < 1e-4
    assert np.max(np.abs(np.sum(run.q**2, axis=1) - 1.0)) < 1e-14
    angle = dh.from_velocities(lambda q, v: 0.5 * v @ v - 9.8 * jnp.sin(q[0]), lambda q: jnp.eye(1), 1)
    exact = dh.reference(angle, [0.0], [0.5], t=run.t[[0, 500]])
    assert abs(np.exp(1j * exact.q[-1, 0]) - complex(*run.q[500])) < 2e-3


def test_its_scheme_is_shown_as_it_would_be_written():
    q = hanging(jnp.array([0.3, 0.5]))
    run = dh.simulate(dh.from_holonomic(bobs, rods), q, v=np.zeros(4), h=0.01, steps=1)
    assert repr(run.scheme) == "HolonomicHamel(tau=0.5)"

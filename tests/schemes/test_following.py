"""The tau-rule in frames that follow the constraint: as good as a careful hand's, whatever the library's own fields."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import trailers
from checkers import slopes

import discrete_hamel as dh
from discrete_hamel.mechanics.adapted_frames import Graph, Nested, Reflections
from discrete_hamel.schemes import following

XI = np.array([1.2, 0.9])


def ends(system, q, steps, *, t=4.0, **how):
    v = trailers.drive_and_turn(jnp.array(q))[:, :2] @ XI
    return dh.simulate(system, q=q, v=v, h=t / steps, steps=steps, compiled=False, **how).q[-1]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_errors_are_at_most_twice_those_of_a_frame_by_hand(count):
    q, steps = trailers.start(count), np.array([40, 80])
    v = trailers.drive_and_turn(jnp.array(q))[:, :2] @ XI
    exact = dh.reference(trailers.by_hand(), q=q, v=v, t=4.0).q[-1]
    hand, ours = (
        [np.linalg.norm(ends(system, q, int(k)) - exact) for k in steps]
        for system in (trailers.by_hand(), trailers.from_wheels())
    )
    assert np.all(np.array(ours) < 2 * np.array(hand))
    assert slopes(1 / steps, ours) == pytest.approx(2.0, abs=0.1)


def without_the_turn(system, q, fields, x):
    middle = MIDDLE(system, q, fields, x)
    rows = following.rows_of(system)
    slope, _ = jax.grad(rows.in_velocities, (0, 1))(q, middle.velocity)
    return middle._replace(force=middle.fields.T @ slope)


def unequal_lengths(weights, at_node, in_middle):
    return jnp.linalg.solve((in_middle.T * weights[None]) @ at_node, (in_middle.T * weights[None]) @ in_middle)


MIDDLE = following._middle


@pytest.mark.parametrize(("name", "wrong"), [("_middle", without_the_turn), ("_transport", unequal_lengths)])
def test_a_wrong_balance_or_fields_that_stretch_are_noticed(name, wrong, monkeypatch):
    monkeypatch.setattr(following, name, wrong)
    jax.clear_caches()
    with pytest.raises(AssertionError):
        test_errors_are_at_most_twice_those_of_a_frame_by_hand(0)
    jax.clear_caches()


def test_the_step_does_not_depend_on_the_fields_at_the_nodes():
    q = trailers.start(1)
    ready = trailers.from_wheels().at(jnp.array(q))
    graph = Graph((0, 2), (1, 3))  # x' and the heading's rate, good while the car does not drive along y
    mirrors = Reflections((2, 3), (0, 1), (1.0, -1.0))
    a, b = (ends(ready.replace(choice=choice), q, 20, t=1.0) for choice in (graph, mirrors))
    assert np.max(np.abs(a - b)) < 1e-12


def belt(q):
    """The velocity of a ground that moves and turns."""
    return jnp.zeros_like(q).at[:2].set(jnp.array([0.2 - 0.1 * q[1], 0.1 * q[0]]))


@pytest.mark.parametrize("slip", [None, lambda q: trailers.wheels(q) @ belt(q)])
def test_rows_solved_one_by_one_are_the_same_rows(slip):
    q = trailers.start(3)
    ready = dh.from_constraints(trailers.lagrangian, trailers.wheels, b=slip).at(jnp.array(q))
    assert isinstance(ready.choice, Nested)
    mirrors = ready.replace(choice=Reflections((0, 1), (2, 3, 4, 5), (1.0, -1.0, -1.0, -1.0)))
    v = trailers.drive_and_turn(jnp.array(q))[:, :2] @ XI + (belt(jnp.array(q)) if slip else 0.0)
    a, b = (dh.simulate(system, q=q, v=v, h=0.05, steps=20, compiled=False) for system in (ready, mirrors))
    assert np.max(np.abs(a.q - b.q)) < 1e-12
    assert np.max(np.abs(a.v - b.v)) < 1e-11
    c = dh.simulate(ready, q=q, v=v, h=0.05, steps=20)
    assert c.report.path == "compiled"
    assert np.max(np.abs(a.q - c.q)) < 1e-13
    assert np.max(np.abs(a.p - c.p)) < 1e-13


def test_a_step_is_undone_by_the_mirrored_one():
    q = trailers.start(1)
    system = trailers.from_wheels().at(jnp.array(q))
    v = trailers.drive_and_turn(jnp.array(q))[:, :2] @ XI
    for tau in (0.5, 0.2):
        scheme, mirrored = (dh.DiscreteHamel(t).fitted(system) for t in (tau, 1 - tau))
        first = dh.start(system, scheme, q, dh.quasivelocities(system, q, v), h=0.1)
        there, _ = dh.step(system, scheme, first, h=0.1)
        back, _ = dh.step(system, mirrored, there, h=-0.1)
        assert np.max(np.abs(back.q - first.q)) < 1e-13
        assert np.max(np.abs(back.p - first.p)) < 1e-13


@pytest.mark.parametrize(("order", "steps"), [(4, (30, 60)), (6, (20, 40))])
def test_compositions_have_their_order_though_each_step_has_its_frame(order, steps):
    """The car drives three quarters around, so that the fields that a fixed frame would have are left."""
    q = trailers.start(1)
    system, scheme = trailers.from_wheels(), dh.Composed(dh.DiscreteHamel(), order=order)
    v = trailers.drive_and_turn(jnp.array(q))[:, :2] @ XI
    exact = dh.reference(trailers.by_hand(), q=q, v=v, t=4.0).q[-1]
    runs = [dh.simulate(system, q=q, v=v, h=4.0 / k, steps=k, scheme=scheme) for k in steps]
    assert {run.report.path for run in runs} == {"compiled"}
    errors = [np.linalg.norm(run.q[-1] - exact) for run in runs]
    assert slopes(1 / np.array(steps), errors) == pytest.approx(order, abs=0.2)


def test_a_motion_seen_turned_and_moved_is_the_same_motion():
    """Equivariance: rotations keep the weights, which are the masses."""
    q, angle = np.array(trailers.start(1)), 2.0
    c, s = np.cos(angle), np.sin(angle)
    turn = np.eye(4)
    turn[:2, :2] = [[c, -s], [s, c]]
    shift = np.array([0.3, -0.7, angle, angle])
    run = {"h": 0.05, "steps": 20, "compiled": False}
    v = np.asarray(trailers.drive_and_turn(jnp.array(q))[:, :2] @ XI)
    here = dh.simulate(trailers.from_wheels(), q=q, v=v, **run).q[-1]
    there = dh.simulate(trailers.from_wheels(), q=turn @ q + shift, v=turn @ v, **run).q[-1]
    assert np.max(np.abs(there - (turn @ here + shift))) < 1e-12


def test_units_do_not_matter():
    """Lengths in other units: weights are inertias, so the motion is the same one."""
    unit = jnp.array([100.0, 100.0, 1.0, 1.0])
    q = trailers.start(1)
    other = dh.from_constraints(
        lambda q, v: trailers.lagrangian(q / unit, v / unit), lambda q: trailers.wheels(q / unit) / unit[None]
    )
    v = trailers.drive_and_turn(jnp.array(q))[:, :2] @ XI
    scaled = dh.simulate(other, q=q * unit, v=v * unit, h=0.05, steps=20, compiled=False).q[-1]
    assert np.max(np.abs(scaled / unit - ends(trailers.from_wheels(), q, 20, t=1.0))) < 1e-11


SKATE = dh.from_constraints(lambda q, v: 0.5 * v @ v, lambda q: jnp.array([[0, -jnp.sin(q[0]), jnp.cos(q[0])]]))


def test_forces_put_on_enter_along_the_fields():
    """Drag on a skate that turns: speed and turning fade alike, at rate k, whatever the fields are called."""
    dragged = dh.damped(SKATE, lambda q, xi: 0.45 * xi @ xi)
    v = np.array([1.3, 0.7 * np.cos(0.2), 0.7 * np.sin(0.2)])
    run = dh.simulate(dragged, q=[0.2, 0, 0], v=v, h=0.01, steps=100, compiled=False)
    assert np.linalg.norm(run.v[-1]) == pytest.approx(np.linalg.norm(v) * np.exp(-0.9), rel=1e-4)


def test_headings_may_turn_as_often_as_they_like():
    """A skate on its circle, forty times around, past every heading at which a velocity cannot be solved for."""
    radius = 0.05 / np.sin(0.125)  # of the polygon with sides h v and corners h omega; 0.4 for the circle itself
    run = dh.simulate(SKATE, q=[0.0, 0.0, -radius], v=[2.5, 1.0, 0.0], h=0.1, steps=1000, compiled=False)
    assert run.q[-1, 0] == pytest.approx(250.0, abs=1e-10)
    assert np.max(np.abs(run.energy - run.energy[0])) < 1e-12
    assert np.max(np.abs(np.hypot(run.q[:, 1], run.q[:, 2]) - radius)) < 1e-12


def test_it_is_native_code():
    """A second definition of the velocity at nodes once put every system from constraints on the plain path."""
    for system in (SKATE, dh.damped(SKATE, lambda q, xi: 0.45 * xi @ xi), dh.with_potential(SKATE, lambda q: q[1])):
        how = {"q": [0.1, 0.0, 0.0], "v": [1.0, np.cos(0.1), np.sin(0.1)], "h": 0.1, "steps": 20}
        run, plain = dh.simulate(system, **how), dh.simulate(system, **how, compiled=False)
        assert run.report.path == "compiled"
        np.testing.assert_allclose(run.xi, plain.xi, atol=1e-13)
        np.testing.assert_allclose(run.p, plain.p, atol=1e-13)

"""The last correction of a step by the Jacobian of the one before: what it is, and when it is enough."""

import numpy as np
import pytest
from problems import DISK, PENDULUM
from test_native_runs import started

import discrete_hamel as dh
from discrete_hamel.compiler.graph.lowering import work
from discrete_hamel.compiler.graph.pytree_leaves import scalars
from discrete_hamel.compiler.step.root import SHOWS, near, not_enough
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.compiler.step.verification import values_of
from discrete_hamel.mechanics.newton import NEGLIGIBLE, finished, vanishing

SYSTEMS = (dh.systems.HeavyTop, dh.systems.NSpherePendulum, dh.systems.Snakeboard)


def at_start(given):
    """A stepper, and the values of its nodes that are given, with the guess a little off."""
    stepper = Stepper(*given, cost=work)  # of lanes: on the host its roundings would add up
    system, scheme, state, h = given
    pairs = zip([*stepper.parameters, *stepper.state], [*scalars((system, scheme, h)), *scalars(state)], strict=True)
    known = {node: float(x) for node, x in pairs}
    guess = values_of(stepper.graph, [stepper.guess[i] for i in stepper.root.places], known)
    return stepper, known, guess + 0.01


@pytest.mark.parametrize("problem", [PENDULUM, DISK], ids=["pendulum", "disk"])
def test_at_the_same_unknowns_it_is_newtons(problem):
    stepper, known, z = at_start(started(problem))
    graph, root = stepper.graph, stepper.root
    here = known | dict(zip(root.unknowns, z.tolist(), strict=True))
    kept = values_of(graph, list(root.again.kept), here)
    again = values_of(graph, root.again.correction, here | dict(zip(root.again.kept.values(), kept, strict=True)))
    newton = values_of(graph, root.correction, here)
    np.testing.assert_allclose(again, newton, rtol=1e-12)
    assert graph.operations(root.again.correction) < 0.7 * graph.operations(root.correction)


@pytest.mark.parametrize("problem", [PENDULUM, DISK], ids=["pendulum", "disk"])
def test_it_errs_by_no_more_than_was_expected(problem):
    """By twice the share of a correction that Newton's next one is, and far less than that one itself."""
    stepper, known, z = at_start(started(problem))
    graph, root = stepper.graph, stepper.root
    number = np.longdouble
    here = {node: number(x) for node, x in known.items()} | dict(zip(root.unknowns, z.astype(number), strict=True))
    kept = dict(zip(root.again.kept.values(), values_of(graph, list(root.again.kept), here), strict=True))
    first = values_of(graph, root.correction, here)
    after = here | dict(zip(root.unknowns, z + first, strict=True))
    second, again = values_of(graph, root.correction, after), values_of(graph, root.again.correction, after | kept)
    share = np.linalg.norm(second) / np.linalg.norm(first)
    assert 0 < share < 1e-3
    assert np.linalg.norm(again - second) < 2.5 * share * np.linalg.norm(second)


def test_it_ends_what_would_end_after_it():
    """Corrections c, K c^2, K (K c^2)^2: where the second is near, what is left after a third is negligible."""
    sizes = 10.0 ** np.arange(-1, 13)
    enough = []
    for size in sizes:
        for new in 10.0 ** np.arange(-1, 13):
            left = 2 * (new / size) ** 4 * new
            assert (
                near(size**2, new**2, NEGLIGIBLE) == (left <= NEGLIGIBLE * (1 + 1e-9)) or abs(left - NEGLIGIBLE) < 1e-9
            )
            if near(size**2, new**2, NEGLIGIBLE):
                enough.append(vanishing(size**2, new**2, NEGLIGIBLE))
                assert finished(size**2, new**2, NEGLIGIBLE) == enough[-1]  # nothing else ends it there
    assert any(enough)
    assert not all(enough)
    assert not near(np.nan, 4.0, NEGLIGIBLE)
    assert not near(1e40, 4.0, 0.0)


def test_what_it_leaves_is_seen_in_what_it_was():
    """By a share s of itself each, where corrections by one Jacobian shrink: 2 made^2 / size is what s says."""
    asked = []
    for size in 10.0 ** np.arange(2, 14):
        for share in 3 * 10.0 ** np.arange(-14.0, 0):
            made = size * share / 2
            shows, left = made / SHOWS, share * made / NEGLIGIBLE  # in units of what decides
            if max(1 / shows, 1 / left) < 0.5 or min(shows, left) < 0.9:
                asked.append(shows > 1 and left > 1)
                assert not_enough(size**2, made**2, NEGLIGIBLE) == asked[-1]
    assert any(asked)
    assert not all(asked)


def test_where_the_rate_of_another_direction_misled_there_is_one_more():
    """Of a free body that turns nearly about an axis the first correction has nearly none, what follows it has."""
    body = dh.systems.RigidBody()
    xi = np.array([1.08098092, 0.78906226, 0.21442825])
    run = dh.ensemble(body, np.eye(3).ravel(), np.tile(xi, (32, 1)), h=0.3, steps=1000, save_every=1, progress=False)
    p = run.p.values[0].astype(np.longdouble)
    inertia, h = np.array([1, 2, 3]), np.longdouble(0.3)
    omega = p[:-1] / inertia
    for _ in range(60):  # a contraction by h |omega| / 2
        torque = np.cross(inertia * omega, omega)
        omega = (p[:-1] + h / 2 * torque) / inertia
    off = np.array(p[1:] - (p[:-1] + h * torque), float) / np.spacing(float(np.linalg.norm(p[0])))
    assert np.abs(off).max() < 1


@pytest.mark.parametrize("cls", SYSTEMS)
def test_steps_that_end_by_it_are_those_of_the_plain_path(cls):
    system = cls()
    run, plain = (dh.simulate(system, **system.sample(), steps=40, compiled=c) for c in (True, False))
    assert (run.report.path, run.report.plain_steps) == ("compiled", 0)
    for name in ("q", "p", "xi"):
        ours, theirs = (np.asarray(getattr(one, name)) for one in (run, plain))
        assert np.abs(ours - theirs).max() < 1e-13 * np.abs(theirs).max()

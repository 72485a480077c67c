"""Frames built from constraint one-forms: adapted for every A, chosen once, and said to be lost where they are."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import discrete_hamel as dh
from discrete_hamel.mechanics.adapted_frames import Graph, Nested, Reflections, adapt

N, K = 4, 2


def free(q, v, weights):
    return 0.5 * v @ v


def wavy(q, weights):
    """A(q), 2 x 4, drawn by its weights: rows that turn with q."""
    constant, slopes = weights[:K], weights[K:].reshape(K, N, N)
    return constant + jnp.sin(jnp.einsum("anx,x->an", slopes, q))


WEIGHTS = st.integers(0, 2**31).map(lambda seed: jnp.array(np.random.default_rng(seed).normal(size=(K + K * N, N))))
SYSTEM = dh.from_constraints(free, wavy)
FRAME = jax.jit(lambda system, q: system.frame(q))


def is_adapted(psi, rows, tolerance: float) -> None:
    """A u_j = 0, A u_{m+a} = e_a, and the columns independent."""
    expected = np.hstack([np.zeros((K, N - K)), np.eye(K)])
    assert np.asarray(rows @ psi) == pytest.approx(expected, abs=tolerance)
    assert np.linalg.matrix_rank(np.asarray(psi)) == N


@settings(max_examples=40)
@given(WEIGHTS, st.lists(st.floats(-1.0, 1.0), min_size=N, max_size=N).map(jnp.array))
def test_frame_is_adapted_at_the_start_and_nearby(weights, q):
    try:
        system = SYSTEM.replace(params=weights).at(q)
    except ValueError as error:
        assume("dependent" not in str(error))
        raise
    assert system.rank == N - K
    for point in (q, q + 0.01):
        rows = wavy(point, weights)
        margin = abs(system.frame_margin(point))
        assume(margin > 1e-3 and np.linalg.cond(np.asarray(rows)) < 1e3)
        is_adapted(FRAME(system, point), rows, 1e-9)


ROWS = st.integers(0, 2**31).map(lambda seed: jnp.array(np.random.default_rng(seed).normal(size=(K, N))))
CHOICES = (
    Graph((0, 2), (1, 3)),
    Reflections((1, 2), (3, 0), (1.0, -1.0)),
    Nested((1,), (0,), Reflections((1, 2), (0,), (1.0,))),
    Nested((0,), (2,), Graph((0, 1), (2,))),
)
BUILD = jax.jit(lambda choice, rows: (choice.frame(rows), choice.margin(rows)))


@pytest.mark.parametrize("choice", CHOICES, ids=lambda choice: type(choice).__name__)
@settings(max_examples=40)
@given(rows=ROWS)
def test_both_constructions(choice, rows):
    psi, margin = BUILD(choice, rows)
    assume(abs(margin) > 1e-3 and np.linalg.cond(np.asarray(rows)) < 1e3)
    is_adapted(psi, rows, 1e-9)
    if isinstance(choice, Reflections):
        d = np.asarray(psi)[:, : N - K]
        assert d.T @ d == pytest.approx(np.eye(N - K), abs=1e-12)


@settings(max_examples=15)
@given(ROWS, st.floats(0.2, 5.0) | st.floats(-5.0, -0.2))
def test_distribution_does_not_depend_on_the_scale_of_a_row(rows, factor):
    scaled = rows.at[0].multiply(factor)
    for choice in CHOICES[:1]:
        (psi, margin), (other, _) = BUILD(choice, rows), BUILD(choice, scaled)
        assume(abs(margin) > 1e-3)
        assert np.asarray(other[:, : N - K]) == pytest.approx(np.asarray(psi[:, : N - K]), rel=1e-9, abs=1e-9)


def train(q):
    """Blades that turn with each heading; all but the first lie behind their pivot, so that their heading's rate
    counts, by a number.
    """
    across = np.stack([-np.sin(q[2:]), np.cos(q[2:])], axis=1)
    levers = np.tril(2.0 * across @ across.T, -1) + np.diag([0.0, *[-1.5] * (len(q) - 3)])
    return np.concatenate([across, levers], axis=1)


def test_rows_with_a_number_of_their_own_are_solved_for_it():
    """And the first, which turns, by a reflection of the three left; of two rows that would be no less."""
    points = np.random.default_rng(1).uniform(-3.2, 3.2, (33, 6))
    choice = adapt(np.stack([train(q) for q in points]))
    assert isinstance(choice, Nested)
    assert sorted(zip(choice.rows, choice.dependent, strict=True)) == [(1, 3), (2, 4), (3, 5)]
    assert isinstance(choice.inner, Reflections)
    assert isinstance(adapt(np.stack([train(q[:4]) for q in points])), Reflections)


def kinetic(q, v):
    return 0.5 * v @ v


def slow_blade(q):
    """sin(z/10) x' + cos(z/10) y' = 0: a blade whose heading turns slowly with z, the third coordinate."""
    return jnp.array([[jnp.sin(q[2] / 10), jnp.cos(q[2] / 10), 0.0]])


def along_the_blade(t, speed):
    """z = t; (x, y) moves at constant speed along (cos, -sin)(t/10)."""
    return np.array([10 * speed * np.sin(t / 10), 10 * speed * (np.cos(t / 10) - 1), t])


def test_a_frame_that_degenerates_says_so_and_one_goes_on():
    """y' is solved for from x', which is good for |z| < 5 pi: nothing near the start shows that it will not last.

    Gauss uses the fields between nodes, so that it has to stop there.
    """
    system = dh.from_constraints(kinetic, slow_blade)
    v = [2.0, 0.0, 1.0]
    how = {"h": 0.1, "steps": 400, "scheme": dh.Gauss(1), "compiled": False}
    with pytest.raises(dh.FrameDegenerates, match=r"before step 158 \(t = 15.8\).*degenerates.*traj.v\[k\]") as failure:
        dh.simulate(system, q=[0.0, 0, 0], v=v, **how)
    before = failure.value.trajectory
    assert before.t[100] == pytest.approx(10.0)
    assert before.q[100] == pytest.approx(along_the_blade(10.0, 2.0), abs=1e-2)
    after = dh.simulate(system, q=before.q[100], v=before.v[100], h=0.1, steps=100)  # a new frame is chosen
    assert after.q[-1] == pytest.approx(along_the_blade(20.0, 2.0), abs=2e-2)
    marked = dh.simulate(system, q=[0.0, 0, 0], v=v, on_failure="mark", **how)
    assert len(marked) == 401
    assert np.all(np.isfinite(marked.q[:158]))
    assert np.all(np.isnan(marked.q[158:]))
    assert not np.any(marked.report.converged[157:])


@pytest.mark.parametrize("free", [None, (0, 2), lambda q: jnp.array([[1.0, 0, 0], [0, 0, 1]])])
def test_a_run_goes_on_where_the_fields_at_the_nodes_degenerate(free):
    """The step depends on the constraint only: past z = 5 pi, 15 pi, ..., where x' does not say what y' is."""
    system = dh.from_constraints(kinetic, slow_blade, free=free)
    run = dh.simulate(system, q=[0.0, 0, 0], v=[2.0, 0.0, 1.0], h=0.1, steps=4000, compiled=False)
    margins = jax.vmap(run.system.frame_margin)(run.q)
    assert np.sum(np.diff(np.sign(margins)) != 0) == 13  # 400 = 127.3 pi: at 5 pi, 15 pi, ... 125 pi
    assert np.min(np.abs(margins)) < 1e-3
    assert np.max(np.abs(run.energy - run.energy[0])) < 1e-11  # constant speed, as a skate's
    radius = np.hypot(run.q[:, 0], run.q[:, 1] + 20.0)  # of the polygon with sides 0.2 and corners 0.01
    assert np.max(np.abs(radius - 0.1 / np.sin(0.005))) < 0.02
    assert np.ptp(radius) < 1e-3


def test_constraints_that_lose_rank_themselves_end_a_run():
    """Two rows that become one where z = 1, which the motion z' = 1 reaches at a node."""

    def scissors(q):
        return jnp.array([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0 - q[2], 0.0, 0.0]])

    system = dh.from_constraints(kinetic, scissors)
    with pytest.raises(dh.RunFailed):
        dh.simulate(system, q=[0.0, 0, 0, 0], v=[0.0, 0, 1.0, 0.5], h=0.125, steps=12, compiled=False)


def test_dependent_rows_are_refused_with_the_row():
    def twice(q):
        return jnp.array([[1.0, 0.0, q[0]], [2.0, 0.0, 2 * q[0]]])

    with pytest.raises(ValueError, match=r"2 constraint rows of A\(q\) are dependent.*row"):
        dh.simulate(dh.from_constraints(kinetic, twice), q=[0.3, 0, 0], v=[0.0, 1, 0], h=0.1, steps=1)


def test_as_many_constraints_as_coordinates_are_refused():
    with pytest.raises(ValueError, match="3 rows for 3 coordinates"):
        dh.from_constraints(kinetic, lambda q: jnp.eye(3)).at(jnp.zeros(3))


def test_single_precision_chooses_the_same_frame():
    rows = np.tile([[0.0, 1.0, 0.2]], (9, 1, 1))  # the first coordinate is in no row: its shares are all 0
    assert type(adapt(rows.astype(np.float32))) is type(adapt(rows))

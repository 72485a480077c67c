"""Many bodies on bodies: a step's work in proportion to them, and its numbers those of the plain path."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.native import object_code
from discrete_hamel.compiler.simplifying import residual_sums
from discrete_hamel.compiler.simplifying.elimination_table import BATCH, NOTHING
from discrete_hamel.compiler.step import root
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.compiler.step.verification import values_of
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.loop import first_state

m = dh.mechanisms
ROD = {"mass": 0.3, "inertia": np.diag([0.002, 0.003, 0.004]), "centre": (0.02, 0.01, -0.15)}


def hinges(axes, on, count):
    """Rods hinged about these axes in turn, each on the one that `on` says."""
    bodies = [m.Body("link0", m.Hinge(axes[0]), **ROD)]
    for k in range(1, count):
        where = {"on": f"link{on(k)}", "at": (0.05 * (-1) ** k, 0, -0.3)}
        bodies.append(m.Body(f"link{k}", m.Hinge(axes[k % len(axes)]), **ROD, **where))
    return m.mechanism(*bodies)


KINDS = {"chain in space": ("xyz", lambda k: k - 1), "tree": ("xy", lambda k: (k - 1) // 2 if k < 8 else k - 4)}


def data(system):
    random = np.random.default_rng(0)
    return 0.3 * random.normal(size=system.rank), 0.3 * random.normal(size=system.rank)


def stepper(system, h=0.002):
    system, q, xi = checks.initial_data(system, *data(system), None)
    system, scheme, h = checks.canonical(system), checks.canonical(dh.DiscreteHamel()), jnp.asarray(h)
    return Stepper(system, scheme, first_state(system, scheme, q, xi, h)[0], h)


@pytest.mark.parametrize("kind", KINDS)
def test_the_work_of_the_sparse_elimination_grows_with_the_bodies(kind, monkeypatch):
    """Of Newton's correction, where it is written out, and of the velocity at a node: a body more costs the same."""
    monkeypatch.setattr(root, "CHAIN", root.MANY)
    built = [stepper(hinges(*KINDS[kind], count)) for count in (12, 18, 24)]
    for roots in ([one.root for one in built], [one.node_velocity.root for one in built]):
        assert not any(one.directions for one in roots)
        first, second = np.diff([one.operations for one in roots])
        assert second < 1.25 * first


def by_table(monkeypatch):
    """As if these chains were long."""
    monkeypatch.setattr(root, "FEWEST", 1)
    monkeypatch.setattr(root, "LONG", 0)
    monkeypatch.setattr(root, "LINE", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_an_elimination_by_its_table_solves_the_equations(kind, monkeypatch):
    """NumPy's solution of the same rows, at the start and where no entry is what it was when pivots were chosen."""
    by_table(monkeypatch)
    one = stepper(hinges(*KINDS[kind], 12))
    table, graph, random = one.root.table, one.graph, np.random.default_rng(0)
    n, count = len(one.root.unknowns), len(table.steps)
    sums = residual_sums.variables(graph, one.root.rows, one.root.unknowns)
    rows = residual_sums.extended_jacobian(graph, one.root.rows, one.root.unknowns, sums)
    begin = np.array([graph.samples[node] for node, _ in table.entries])
    turned = {node: graph.samples[node] * random.uniform(0.7, 1.3) for node, _ in table.entries}
    for entries in (begin, np.array([turned[node] for node, _ in table.entries])):
        matrix = np.zeros((count, count))
        given = dict(zip((node for node, _ in table.entries), entries, strict=True))
        for i, row in enumerate(rows):
            for j, node in row.items():
                matrix[i, j] = given.get(node, graph.samples[node])
        after, (right, solved) = table.eliminate(entries.tolist()), one.root.solution
        held = {node: after[place] for place, node in one.root.factors.items()}
        b = random.normal(size=n)
        x = values_of(graph, solved, dict(zip(right, b, strict=True)) | held)
        expected = np.linalg.solve(matrix, np.concatenate([b, np.zeros(count - n)]))[:n]
        assert np.abs(x - expected).max() < 1e-10 * np.abs(expected).max()
    for k in range(0, len(table.lines), BATCH):  # nothing in a batch is read or written after it is written
        lines = [line for line in table.lines[k : k + BATCH].tolist() if line[0] != NOTHING]
        for at, (target, *_) in enumerate(lines):
            assert all(target not in line for other, line in enumerate(lines) if other != at)


@pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())
@pytest.mark.parametrize("most", [root.CHAIN, root.MANY, None], ids=["kept", "sparse", "table"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_compiled_step_of_many_bodies_is_the_plain_one(kind, most, monkeypatch):
    if most is None:
        by_table(monkeypatch)
    else:
        monkeypatch.setattr(root, "CHAIN", most)
    dh.clear_caches()
    system = hinges(*KINDS[kind], 12)
    q, xi = data(system)
    run, plain = (dh.simulate(system, q, xi, h=0.002, steps=4, compiled=compiled) for compiled in (True, False))
    assert (run.report.path, plain.report.path) == ("compiled", "plain")
    for name in ("q", "p", "xi"):
        a, b = getattr(run, name), getattr(plain, name)
        assert np.abs(a - b).max() < 1e-13 * np.abs(b).max(), name

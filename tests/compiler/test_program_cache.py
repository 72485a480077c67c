"""What passes made of a step is found again by another process, as what it is, and is verified all the same."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler import paths
from discrete_hamel.compiler.native import object_cache, object_code, program_cache
from discrete_hamel.compiler.step import stepper

pytestmark = pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())

START = {"q": [0.4, -0.7], "xi": [0.3, 0.2], "h": 0.05, "steps": 40}


def spring(stiffness, power=2):
    """A new one each time; the stiffness is a constant of the graph."""
    return dh.from_velocities(
        lambda q, v: 0.5 * v @ v - stiffness * jnp.sum(q**power), lambda q: jnp.array([[1.0, q[1]], [0.0, 1.0]]), 2
    )


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(object_cache.VARIABLE, str(tmp_path / "objects"))
    return tmp_path / "objects"


def run(system, **other):
    """By a process that has built nothing yet."""
    dh.clear_caches()
    traj = dh.simulate(system, **{**START, **other})
    assert traj.report.path == "compiled"
    return np.asarray(traj.q)


@pytest.fixture
def passes(monkeypatch):
    """How often the passes after the reading were run."""
    seen = []
    first, *rest = stepper.PASSES[len(stepper.READING) :]

    def counted(program):
        seen.append(1)
        return first(program)

    monkeypatch.setattr(stepper, "PASSES", (*stepper.READING, counted, *rest))
    return seen


@pytest.mark.parametrize("scheme", [None, dh.Composed(dh.DiscreteHamel(), 4)])
def test_another_process_runs_no_passes_and_has_the_same_bits(cache, passes, scheme):
    first = run(spring(1.0), scheme=scheme)
    assert (run(spring(1.0), scheme=scheme) == first).all()
    assert len(passes) == 1


@pytest.mark.parametrize("other", [{"stiffness": 1.1}, {"stiffness": 1.0, "power": 4}])
def test_another_function_is_another_program(cache, passes, other):
    run(spring(1.0))
    found = run(spring(**other))
    assert len(passes) == 2
    assert np.abs(found - dh.simulate(spring(**other), **START, compiled=False).q).max() < 1e-13


def heavy(where):
    """Four coordinates, of which one is heavy: pivots are chosen by size."""

    def lagrangian(q, v):
        mass = jnp.diag(1.0 + 100.0 * jnp.exp(-((q - 0.5) ** 2))) + 0.1 * jnp.outer(q, q) + 0.1
        return 0.5 * v @ mass @ v - 0.5 * q @ q

    q = [0.1, -1.2, 2.2, -3.1]
    return dh.from_velocities(lagrangian, lambda q: jnp.eye(4), 4), {
        "q": q[where:] + q[:where],
        "xi": [0.3, 0.1, 0.2, 0.4],
    }


@pytest.mark.parametrize(("where", "count"), [(0, 1), (1, 2), (3, 2)])
def test_another_start_takes_the_program_that_it_would_make(cache, passes, monkeypatch, where, count):
    system, start = heavy(0)
    run(system, **start)
    start = {**heavy(where)[1], "xi": [0.31, 0.11, 0.19, 0.4]}
    found = run(system, **start)
    assert len(passes) == count  # where another coordinate is heavy, others are pivots
    monkeypatch.setenv(object_cache.VARIABLE, "off")
    assert (run(system, **start) == found).all()
    assert len(passes) == count + 1


def test_programs_of_some_starts_are_kept_side_by_side(cache, passes):
    system, _ = heavy(0)
    for where in (0, 1, 0, 1):
        run(system, **heavy(where)[1])
    assert len(passes) == 2


def test_what_is_damaged_or_gone_is_made_anew(cache, passes):
    first = run(spring(1.0))
    for path in cache.iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert (run(spring(1.0)) == first).all()
    largest = max(cache.iterdir(), key=lambda path: path.stat().st_size)
    for path in cache.iterdir():  # the program is there, its object code is not
        if path != largest:
            path.unlink()
    assert (run(spring(1.0)) == first).all()
    assert len(passes) in (2, 3)


def test_a_program_of_another_system_under_this_name_is_refused(cache, monkeypatch):
    """As where a primitive is misread, and so gives the graph of what others wrote."""
    run(spring(1.0))
    kept = []
    monkeypatch.setattr(paths.program_cache, "keep", lambda graph, decisions, attributes: kept.append(dict(attributes)))
    run(spring(1.3))
    monkeypatch.setattr(paths.program_cache, "by_name", lambda graph, name: stepper.KeptProgram(graph, name, kept[0]))
    monkeypatch.setattr(paths.program_cache, "recall", lambda graph, serves: stepper.KeptProgram(graph, "", kept[0]))
    dh.clear_caches()
    with pytest.warns(dh.CompiledStepDiffers, match="residual"):
        assert dh.simulate(spring(1.0), **START).report.path == "plain"


def test_the_compilers_files_are_part_of_the_name(cache, monkeypatch):
    name = program_cache.keep("graph", [1, (0, 2)], {})
    assert name == program_cache.keep("graph", [1, (0, 2)], {})
    others = [program_cache.keep("graph", [1, (0, 3)], {}), program_cache.keep("another", [1, (0, 2)], {})]
    assert "expressions.py" in program_cache._files()
    monkeypatch.setattr(program_cache, "FILES", "others")
    assert program_cache.recall("graph", lambda made: True) is None
    assert len({name, *others, program_cache.keep("graph", [1, (0, 2)], {})}) == 4

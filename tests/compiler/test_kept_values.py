"""What the library's own functions give is found again by another process; of what a user wrote nothing is kept."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.native import kept_values, object_cache, object_code, program_cache
from discrete_hamel.compiler.reading import interpreter
from discrete_hamel.compiler.step import stepper
from discrete_hamel.mechanics import hamel

pytestmark = pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())

START = {"q": [0.1, 0.2, 0.3], "xi": [1.5, -0.3], "h": 0.01, "steps": 20}
AT = jnp.zeros(3), jnp.ones(2)
Sleigh = dh.systems.ChaplyginSleigh


class OwnSleigh(Sleigh):
    pass


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(object_cache.VARIABLE, str(tmp_path / "objects"))
    return tmp_path / "objects"


def run(system, path="compiled", **other):
    """By a process that has built nothing yet."""
    dh.clear_caches()
    traj = dh.simulate(system, **{**START, **other})
    assert traj.report.path == path
    return np.asarray(traj.q)


@pytest.fixture
def done(monkeypatch):
    """How many functions were interpreted, and how many steps read."""
    seen = {"functions": 0, "readings": 0}
    outcome, (read,) = interpreter.outcome, stepper.READING

    def interpreted(*given):
        seen["functions"] += 1
        return outcome(*given)

    def was_read(program):
        seen["readings"] += 1
        return read(program)

    monkeypatch.setattr(interpreter, "outcome", interpreted)
    monkeypatch.setattr(stepper, "READING", (was_read,))
    return seen


def test_another_process_traces_nothing_and_has_the_same_bits(cache, done):
    first = run(Sleigh())
    assert done["readings"] == 1
    assert (before := done["functions"]) > 0
    assert (run(Sleigh()) == first).all()
    assert done == {"functions": before, "readings": 1}


@pytest.mark.parametrize("other", [{"offset": 0.3}, {"q": [0.1, 0.2, 0.4]}, {"xi": [1.5, -0.2]}, {"h": 0.02}])
def test_other_numbers_are_another_value(cache, done, other):
    run(Sleigh())
    before = done["functions"]
    parameters = {name: value for name, value in other.items() if name not in START}
    rest = {name: value for name, value in other.items() if name in START}
    found = run(Sleigh(**parameters), **rest)
    assert done["functions"] > before
    plain = run(Sleigh(**parameters), path="plain", compiled=False, **rest)
    assert np.abs(found - plain).max() < 1e-13


def test_a_program_of_another_system_under_this_name_is_refused(cache, monkeypatch):
    """Its root is another, where no value of the definition is kept."""
    run(Sleigh())
    kept = []
    with monkeypatch.context() as patch:
        patch.setattr(program_cache, "keep", lambda graph, decisions, attributes: kept.append(dict(attributes)))
        lagrangian = Sleigh.lagrangian
        patch.setattr(Sleigh, "lagrangian", lambda self, q, xi: lagrangian(self, q, xi) + 0.1 * xi[0] ** 4)
        run(Sleigh())
    monkeypatch.setattr(program_cache, "by_name", lambda graph, name: stepper.KeptProgram(graph, name, kept[0]))
    dh.clear_caches()
    with pytest.warns(dh.CompiledStepDiffers, match="of .*Hamel's residual is"):
        assert dh.simulate(Sleigh(), **START).report.path == "plain"


def test_values_that_are_damaged_are_made_anew(cache, done):
    first = run(Sleigh())
    for damaged in (lambda content: content[:-1], lambda content: content[:-1] + bytes([content[-1] ^ 1])):
        before = dict(done)
        for path in cache.iterdir():
            path.write_bytes(damaged(path.read_bytes()))
        assert (run(Sleigh()) == first).all()
        assert done["functions"] > before["functions"]
        assert done["readings"] == before["readings"] + 1


def test_what_is_refused_is_refused_by_the_next_process_too(cache):
    for _ in range(2):
        dh.clear_caches()
        with pytest.raises(ValueError, match="the Lagrangian is not finite at the initial data"):
            dh.simulate(Sleigh(), **(START | {"xi": [1e200, 0.0]}))


def doubled(self, q, xi):
    return 2 * jnp.sum(xi**2)


@pytest.mark.parametrize(
    "made",
    [
        lambda patch: OwnSleigh(),
        lambda patch: patch.setattr(Sleigh, "lagrangian", doubled) or Sleigh(),
        lambda patch: patch.setattr(Sleigh, "lagrangian", lambda self, q, xi: xi @ xi) or Sleigh(),
        lambda patch: patch.setattr(Sleigh, "force", property(doubled), raising=False) or Sleigh(),
        lambda patch: dh.forced(Sleigh(), lambda q, xi: -xi),
        lambda patch: dh.from_velocities(lambda q, v: v @ v, lambda q: jnp.eye(3), 2),
        lambda patch: patch.setattr(dh.systems.sleighs, "ChaplyginSleigh", OwnSleigh) or Sleigh(),
    ],
)
def test_of_what_a_user_wrote_nothing_is_kept(cache, monkeypatch, made):
    assert kept_values.name_of(hamel.balance, Sleigh(), *AT) is not None
    assert kept_values.name_of(hamel.balance, made(monkeypatch), *AT) is None


def test_a_function_of_a_user_is_not_kept(cache):
    assert kept_values.name_of(doubled, Sleigh(), *AT) is None


def test_what_is_written_without_a_module_runs(cache):
    """As in `exec` with names of its own."""
    names = {"dh": dh, "jnp": jnp}
    exec("system = dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(3), 2)", names)
    assert names["system"].L_of.__module__ is None
    assert kept_values.name_of(hamel.balance, names["system"], *AT) is None
    run(names["system"])


def test_a_name_says_all_that_a_value_depends_on(cache, monkeypatch):
    def name(system=None, q=AT[0], of=hamel.balance):
        return kept_values.name_of(of, system or Sleigh(), q, AT[1])

    first = name()
    names = [first, name(of=hamel.energy), name(Sleigh(mass=2.0)), name(q=AT[0].at[2].set(1e-300))]
    names += [name(dh.systems.HeavyTop()), name(q=jnp.zeros(4))]
    with monkeypatch.context() as patch:
        patch.setattr(program_cache, "FILES", "others")
        names.append(name())
    with monkeypatch.context() as patch:
        patch.setattr(Sleigh, "lagrangian", dh.systems.HeavyTop.lagrangian)
        names.append(name())
    assert None not in names
    assert len(set(names)) == len(names)
    assert name() == first


def test_nothing_is_looked_for_where_the_cache_is_off(monkeypatch):
    monkeypatch.setenv(object_cache.VARIABLE, "off")
    assert kept_values.name_of(hamel.balance, Sleigh(), *AT) is None


def test_no_more_values_than_a_first_run_asks_for_are_kept(cache):
    kept = kept_values.keeping(hamel.energy)
    for mass in range(1, 9):
        kept(Sleigh(mass=float(mass)), *AT)
    assert len(list(cache.iterdir())) == kept_values.FIRST


def test_every_file_of_the_library_counts(tmp_path, monkeypatch):
    told = program_cache._files()
    for part in ("mechanics/hamel.py", "systems/sleighs.py", "schemes/discrete_hamel.py", "compiler/reading/jaxprs.py"):
        assert part in told

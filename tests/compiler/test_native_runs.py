"""Native runs: the same numbers as the plain path, the same bits however they are called, and object code on disk."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import DISK, PENDULUM, SLEIGH

import discrete_hamel as dh
from discrete_hamel.compiler import paths as choice
from discrete_hamel.compiler.native import circular, host, module, object_cache, object_code, run, section
from discrete_hamel.compiler.native.host import HostRun
from discrete_hamel.compiler.native.lanes import LaneRun
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.runs import loop
from discrete_hamel.runs import validation as checks

pytestmark = pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())


def started(problem, scheme=None, h=None):
    """System, scheme, state and step of a run."""
    system, q, xi = checks.initial_data(problem.system, problem.q, problem.xi, None)
    scheme, h = checks.canonical(scheme or dh.DiscreteHamel()), jnp.asarray(h or problem.h, float)
    return system, scheme, dh.start(system, scheme, q, xi, h), h


def built(problem, **how):
    given = started(problem, **how)
    stepper = Stepper(*given)
    return HostRun(stepper), given


def assert_same_as_plain(native, given):
    """Sixty steps, of which each third is kept, as the plain path has them."""
    _, done, failed, theirs, _ = loop.plain_chunk(*given, 20, 3)
    _, whole, good, saved = native(*given, 20, 3)
    assert (done, failed, whole, good) == (60, None, 20, True)
    for a, b in zip(saved[:4], theirs[:4], strict=True):
        assert np.abs(a - b).max() < 1e-13 * max(np.abs(b).max(), 1.0)


def bits_in_any_chunks(native, given, save_every):
    """What 24 rows of a run keep, held against the same rows in chunks of 1, 3 and 20, and the last state."""
    *made, state, h = given
    final, _, _, saved = native(*given, 24, save_every)
    pieces = []
    for count in (1, 3, 20):
        state, whole, good, part = native(*made, state, h, count, save_every)
        assert (whole, good) == (count, True)
        pieces.append(part)
    for k in range(4):
        assert np.concatenate([part[k] for part in pieces]).tobytes() == saved[k].tobytes()
    assert final.q.tobytes() == state.q.tobytes()
    return saved, state


def numbers(saved):
    """All that is kept of a run, in one array of bytes."""
    *arrays, report = saved
    return b"".join(np.ascontiguousarray(a).tobytes() for a in (*arrays, report.residual, report.iterations))


@pytest.mark.parametrize("problem", [SLEIGH, DISK, PENDULUM], ids=lambda p: p.name)
@pytest.mark.parametrize("scheme", [dh.DiscreteHamel(), dh.StaggeredHamel(), dh.EnergyExact()], ids=repr)
def test_a_native_run_is_the_run_of_the_plain_path(problem, scheme):
    assert_same_as_plain(*built(problem, scheme=scheme))


@pytest.mark.parametrize("scheme", [dh.DiscreteHamel(), dh.Composed(dh.DiscreteHamel())], ids=["one", "composed"])
def test_the_bits_are_the_same_at_any_level_and_in_any_chunks(scheme, monkeypatch):
    native, given = built(DISK, scheme=scheme)
    saved, _ = bits_in_any_chunks(native, given, 2)
    for level, inlined in ((1, 4000), (2, 4000), (1, 0)):
        monkeypatch.setattr(object_code, "level_for", lambda operations, level=level: level)
        monkeypatch.setattr(run, "INLINED", inlined)
        other = HostRun(native.stepper)  # of level 0 first
        assert numbers(other(*given, 24, 2)[3]) == numbers(saved)
        other.improve()
        assert numbers(other(*given, 24, 2)[3]) == numbers(saved)


def test_a_long_run_takes_better_code_which_another_process_finds(cache, monkeypatch):
    native, given = built(DISK)
    monkeypatch.setattr(host, "SHORT", 100)
    levels, assemble = [], object_code.assemble

    def assembled(text, level, inlined):
        levels.append(level)
        return assemble(text, level, inlined)

    monkeypatch.setattr(object_code, "assemble", assembled)
    ends = []
    for _ in range(2):  # a process each
        other = HostRun(native.stepper)
        first = other.library
        for length in range(1, 5):
            ends.append(numbers(other(*given, 24, 2)[3]))
            assert (other.library is first) == (48 * length <= 100)
    assert levels == [1]  # the first was made when the step was built
    assert len(set(ends)) == 1


def test_better_code_that_does_something_else_is_not_taken(monkeypatch):
    native, given = built(DISK)
    saved = numbers(native(*given, 24, 2)[3])
    other, first = HostRun(native.stepper), native.library.name

    def wrong(_, text, operations):
        return object_code.machine_code(text().replace(" fsub ", " fadd ", 1), operations)

    monkeypatch.setattr(host, "better_code", wrong)
    other.improve()
    assert other.library.name == first
    assert numbers(other(*given, 24, 2)[3]) == saved


def test_the_bits_are_the_same_with_memory_from_the_heap(monkeypatch):
    """As steps have it that pass on more than fits a stack: alone, from several threads, and side by side."""
    native, given = built(DISK)
    saved = numbers(native(*given, 24, 2)[3])
    monkeypatch.setattr(module, "MOST_ON_STACK", 0)
    heap = HostRun(native.stepper)
    assert heap.library is not native.library
    with ThreadPoolExecutor(4) as threads:
        done = threads.map(lambda _: numbers(heap(*given, 24, 2)[3]), range(40))
    assert set(done) == {saved}
    lanes = LaneRun(native.stepper, ())
    begin = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(given[2])])
    same = [np.repeat(begin[:, None], lanes.width, axis=1), np.ones(lanes.width)]
    common = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves((given[0], given[1], given[3]))])
    rows = np.repeat(common[:, None], lanes.width, axis=1)
    final = lanes(rows, *same, 24, 2)[0]
    assert np.array_equal(final[: len(given[2].q)], np.repeat(native(*given, 24, 2)[0].q[:, None], lanes.width, axis=1))


def test_a_step_in_many_functions_is_the_same_step(monkeypatch):
    native, given = built(DISK)
    monkeypatch.setattr(section, "LONGEST", 20)
    monkeypatch.setattr(run, "INLINED", 0)
    cut = HostRun(native.stepper)(*given, 12, 1)[3]
    for a, b in zip(cut[:4], native(*given, 12, 1)[3][:4], strict=True):
        assert np.abs(a - b).max() < 1e-14 * max(np.abs(b).max(), 1.0)


def test_angles_beyond_the_polynomials_reach_are_the_c_librarys(monkeypatch):
    native, given = built(DISK)
    monkeypatch.setattr(circular, "REACH", 0.25)
    _, whole, good, (*ours, _) = HostRun(native.stepper)(*given, 50, 1)
    assert (whole, good) == (50, True)
    assert np.abs(ours[0][:, 0]).max() > 0.25
    theirs = native(*given, 50, 1)[3][:4]
    assert 0 < max(np.abs(a - b).max() for a, b in zip(ours, theirs, strict=True)) < 1e-12


def test_a_step_that_fails_stops_the_run_where_it_is():
    system = dh.from_quasivelocities(
        lambda q, xi: 0.5 * xi @ xi + q[0] ** 3, lambda q: jnp.eye(2), rank=2
    )  # x'' = 3 x^2 leaves for infinity
    q, xi = jnp.array([1.0, 0.0]), jnp.array([1.0, 0.0])
    scheme, h = checks.canonical(dh.DiscreteHamel()), jnp.asarray(0.1)
    given = system, scheme, dh.start(system, scheme, q, xi, h), h
    native = HostRun(Stepper(*given))
    final, whole, good, (q, p, *_, report) = native(*given, 100, 1)
    assert not good
    assert 5 < whole < 100
    assert len(q) == len(report.iterations) == whole
    assert final.q.tobytes() == q[-1].tobytes()
    assert final.p.tobytes() == p[-1].tobytes()
    none, whole, good, _ = native(*given, 100, 50)
    assert (whole, good) == (0, False)
    assert np.asarray(none.q).tobytes() == np.asarray(given[2].q).tobytes()


def test_what_has_another_shape_never_reaches_native_code():
    native, (system, scheme, state, h) = built(DISK)
    with pytest.raises(ValueError, match="shapes"):
        native(system, scheme, state.replace(q=jnp.zeros(4)), h, 10, 1)
    with pytest.raises(ValueError, match="parameters"):
        native(SLEIGH.system, scheme, state, h, 10, 1)
    with pytest.raises(ValueError, match="intervals of 0 steps"):
        native(system, scheme, state, h, 10, 0)
    assert native(system, scheme, state, h, -3, 1)[1] == 0


def test_users_runs_are_native_and_say_so():
    dh.simulate(SLEIGH.system, q=SLEIGH.q, xi=SLEIGH.xi, h=0.05, steps=4)
    stepper = next(s for s in reversed(choice._steps.values()) if not isinstance(s, str))
    assert isinstance(stepper.run, HostRun)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv(object_cache.VARIABLE, str(tmp_path / "objects"))
    return tmp_path / "objects"


TEXT = "define double @f(double %x) {\n  ret double %x\n}\n"


def test_object_code_is_kept_for_its_user_alone_and_found_again(cache, monkeypatch):
    object_code.machine_code(TEXT, 1)
    (kept,) = cache.iterdir()
    assert cache.stat().st_mode & 0o077 == 0
    assert kept.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(object_code, "assemble", lambda *_: pytest.fail("compiled again"))
    assert object_code.machine_code(TEXT, 1).address("f")
    with pytest.raises(pytest.fail.Exception):
        object_code.machine_code(TEXT.replace("%x", "%y"), 1)


def others_may_write(kept):
    kept.chmod(0o666)


def others_may_write_the_folder(kept):
    kept.parent.chmod(0o777)


def put_for_another(kept):
    """Whole, and with the checksum that it was kept with: code of a module that answers something else."""
    object_code.machine_code(TEXT.replace("ret double %x", "ret double 1.0"), 1)
    (other,) = (path for path in kept.parent.iterdir() if path != kept)
    other.replace(kept)


def a_link(kept):
    kept.rename(kept.parent / "elsewhere")
    kept.symlink_to(kept.parent / "elsewhere")


DAMAGE = {
    "cut": lambda kept: kept.write_bytes(kept.read_bytes()[:-9]),
    "changed": lambda kept: kept.write_bytes(kept.read_bytes()[:-1] + bytes([kept.read_bytes()[-1] ^ 1])),
    "empty": lambda kept: kept.write_bytes(b""),
    **{f.__name__: f for f in (others_may_write, others_may_write_the_folder, put_for_another, a_link)},
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_object_code_that_may_not_be_trusted_is_made_anew(cache, damage):
    object_code.machine_code(TEXT, 1)
    (kept,) = cache.iterdir()
    DAMAGE[damage](kept)
    assert object_cache.read(kept.stem) is None
    assert object_code.machine_code(TEXT, 1).address("f")


def test_object_code_of_another_user_is_made_anew(cache, monkeypatch):
    object_code.machine_code(TEXT, 1)
    (kept,) = cache.iterdir()
    monkeypatch.setattr(os, "geteuid", lambda: kept.stat().st_uid + 1)
    assert object_cache.read(kept.stem) is None


def test_the_folder_of_object_code_is_bounded(cache, monkeypatch):
    monkeypatch.setattr(object_cache, "MOST_BYTES", 1000)
    for k in range(9):
        object_cache.keep(f"{k}", bytes(200))
        os.utime(cache / f"{k}.o", (k, k))
    assert {path.stem for path in cache.iterdir()} == {"5", "6", "7", "8"}


def test_the_cache_can_be_switched_off_and_a_folder_that_cannot_be_is_no_matter(tmp_path, monkeypatch):
    monkeypatch.setenv(object_cache.VARIABLE, "off")
    assert object_cache.folder() is None
    object_code.machine_code(TEXT, 1)
    (tmp_path / "file").touch()
    monkeypatch.setenv(object_cache.VARIABLE, str(tmp_path / "file"))
    assert object_code.machine_code(TEXT, 1).address("f")


def test_a_cache_below_the_users_home_may_be_named_by_its_tilde(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv(object_cache.VARIABLE, "~/objects")
    assert object_cache.folder() == tmp_path / "objects"


def test_a_user_without_a_home_has_no_cache_and_runs(monkeypatch):
    monkeypatch.setenv(object_cache.VARIABLE, "~nobody-of-that-name/objects")
    assert object_cache.folder() is None
    assert object_code.machine_code(TEXT, 1).address("f")


PROGRAM = """
import numpy as np, sys
from discrete_hamel.compiler.native import circular, module, object_cache, object_code, run, section
if sys.argv[1] == "again":
    object_code.assembled = None
import discrete_hamel as dh
traj = dh.simulate(dh.systems.SphericalPendulum(), q=(0.6, 0.0, 0.8), xi=(0.1, 0.2), h=0.1, steps=9)
print(traj.report.path, np.asarray(traj.q).tobytes().hex())
"""


def test_a_second_process_compiles_nothing_and_has_the_same_numbers(cache):
    def process(how):
        made = subprocess.run([sys.executable, "-c", PROGRAM, how], capture_output=True, text=True, check=True)
        return made.stdout

    assert process("first") == process("again")
    assert process("again").startswith("compiled ")

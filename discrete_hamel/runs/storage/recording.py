"""A run's record on disk: what `simulate(store=...)` fills chunk by chunk, and takes up again."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import cast

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PathLike, PyTree
from discrete_hamel._support.errors import PHYSICAL, InputError, RunFailed, StoreDamaged, StoreFailed
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.storage import layout
from discrete_hamel.runs.storage.lock import Lock
from discrete_hamel.runs.storage.manifest import differences, manifest, restore
from discrete_hamel.runs.storage.reading import Contents
from discrete_hamel.runs.storage.record import Checkpoint, Stopped
from discrete_hamel.runs.storage.schema import Manifest
from discrete_hamel.runs.storage.store_options import place, spacing
from discrete_hamel.runs.storage.table import Table
from discrete_hamel.runs.storage.writing import Growing
from discrete_hamel.runs.trajectory import RunReport, Trajectory
from discrete_hamel.schemes.scheme import Scheme, State

WAITING = 256  # files that may wait for a checkpoint at most


class Recording:
    """A store that takes a run's chunks, open and locked until it is closed."""

    lasting = True

    def __init__(
        self,
        path: PathLike,
        system: System,
        scheme: Scheme | None,
        q: Array,
        xi: Array,
        h: Array,
        save_every: int,
        nodes: int,
        checkpoint_every: object = None,
        resume: bool = False,
    ) -> None:
        self.system, self.scheme, self.h, self.save_every = system, scheme, h, save_every
        steps, self.seconds = spacing(checkpoint_every)
        self.intervals_between = None if steps is None else -(-steps // save_every)
        self.identity = manifest(system, scheme, q, xi, h, save_every)
        self.way: list[str] | None = None
        self.failure: RunFailed | None = None
        self.last, self.committed = time.monotonic(), 0
        self.path = place(path)
        self.contents: Contents | None = None
        if not os.path.lexists(self.path):
            self._create(q, xi, nodes)
        elif resume:
            self._open(nodes)
        else:
            raise FileExistsError(
                f"{self.path} exists already; save under another name, or remove it first"
                + ("." if scheme is None else "; or go on with its run: resume=True.")
            )

    def _create(self, q: Array, xi: Array, nodes: int) -> None:
        chunk = layout.chunk_of(nodes, len(q))
        if self.scheme is None:
            p = jax.ShapeDtypeStruct((self.system.rank,), q.dtype)
        else:
            p = jax.eval_shape(self.scheme.start, self.system, q, xi, self.h).p
        labels = layout.labels(self.system, len(q), len(xi), p.shape[0])
        along_time = Table(layout.node_columns(self.system, q, p, xi, chunk), layout.RUN, self._derive)
        self.store = Growing(
            self.path, along_time, Table(layout.interval_columns(xi, chunk) if self.scheme else []), labels
        )

    def _open(self, nodes: int) -> None:
        Contents(self.path)  # refuses what is no store of ours, before anything is written in it
        lock = Lock(self.path, self.path)
        try:
            contents = Contents(self.path)
            told = contents.manifest
            self._compare(told, nodes)
            contents.require_arrays()
            columns = contents.columns.values()
            along_time = Table([c for c in columns if c.dimensions[0] == "time"], layout.RUN, self._derive)
            along_intervals = Table([c for c in columns if c.dimensions[0] == "interval"])
            self.store = Growing.reopen(contents, lock, along_time, along_intervals)
        except BaseException:
            lock.release()
            raise
        self.committed, self.contents = told["finished"], contents

    def _compare(self, told: Manifest, nodes: int) -> None:
        differing = differences({key: told.get(key) for key in self.identity}, self.identity)
        if differing:
            raise InputError(
                f"{self.path} cannot be resumed: what is asked for differs from what made it (stored -> asked for).\n  "
                + "\n  ".join(differing)
                + "\nResume with what made it, or use another store."
            )
        if told["finished"] + 1 > nodes:
            raise InputError(
                f"{self.path} holds {told['finished'] * self.save_every} steps already, more than "
                f"steps = {(nodes - 1) * self.save_every}; load it (dh.load), or ask for more steps."
            )
        if told["state"] is None:
            raise InputError(f"{self.path} holds a run that ended between two saved nodes, so nothing can go on there.")

    # what loops.run asks of a Record

    def begin(self, state: State, first: tuple, path: tuple[str, str]) -> tuple[Checkpoint, tuple]:
        """The stored state of an earlier run; or the start, with which the store appears."""
        self.way = list(path)
        if self.contents is not None:
            return self._taken_up(self.contents, state, path)
        self.point = Checkpoint(state, 0, 0, 0)
        start = np.zeros(1, self.store.nodes.columns["time"].dtype)
        node = {name: np.asarray(a)[None] for name, a in zip(("q", "p", "xi"), first, strict=True)}
        self.store.nodes.extend({"time": start} | node)
        with self._appearing():
            self._checkpoint()
        return self.point, (start[0], np.asarray(first[0]), np.asarray(first[2]))

    def _taken_up(self, contents: Contents, state: State, path: tuple[str, str]) -> tuple[Checkpoint, tuple]:
        told = contents.manifest
        way = told["path"] or path
        if way[0] != path[0]:
            raise InputError(
                f"{self.path} cannot be resumed: it was made on the {way[0]} path, this run takes the "
                f"{path[0]} path ({path[1] or 'compiled=True'}), and they may differ in the last bit."
            )
        self.point = Checkpoint(
            _restore(told, state, self.path), told["finished"], told["plain_until"], told["plain_steps"]
        )
        if told["failure"]:
            kind = {failure.__name__: failure for failure in PHYSICAL}[told["failure"][0]]
            self.failure = kind(str(told["failure"][1]))
        return self.point, tuple(contents.arrays[name][-1] for name in ("time", "q", "xi"))

    def room(self, finished: int) -> int:
        """Intervals up to the next checkpoint by steps, if there is one."""
        between = self.intervals_between
        return 1 << 62 if between is None else between - finished % between

    def rows(self, finished: int, count: int) -> None:
        """No place: what is on disk is written column by column."""

    def add(self, t: np.ndarray, saved: tuple, point: Checkpoint) -> StoreFailed | None:
        """Append a chunk, and make a checkpoint where one is due; where that fails, the failure."""
        *nodes, xi_mid, report = saved
        self.store.nodes.extend({"time": t} | dict(zip(("q", "p", "xi"), nodes, strict=True)))
        self.store.intervals.extend({"xi_mid": xi_mid} | _solves(report))
        self.point = point
        return self._unwritten(self._write_due)

    def end(self, state: State, failure: Stopped) -> tuple[Trajectory, Stopped]:
        """The last checkpoint, of a whole run or of one that stopped; what is in the store then; what stopped it."""
        if not isinstance(failure, StoreFailed):
            self.failure = failure if isinstance(failure, PHYSICAL) else self.failure
            failure = self._unwritten(self._write_all) or failure or self.failure
        return stored_trajectory(Contents(self.path), self.system, self.scheme, self.h, state), failure

    def copy(self, trajectory: Trajectory, piece: int) -> None:
        """Take a whole trajectory, `piece` rows at a time."""
        with self._appearing():
            self._take(trajectory, piece)

    def _take(self, trajectory: Trajectory, piece: int) -> None:
        t, report = trajectory, trajectory.report
        self.way = None if report is None else [report.path, report.reason]
        for k in range(0, len(t), piece):
            rows = slice(k, k + piece)
            self.store.nodes.extend({"time": t.t[rows], "q": t.q[rows], "p": t.p[rows], "xi": t.xi[rows]})
            if report is not None:
                solves = {name: values[rows] for name, values in _solves(report).items()}
                self.store.intervals.extend({"xi_mid": t.xi_mid[rows]} | solves)
            self.store.write_full()
        self.point = Checkpoint(t.final, len(t) - 1, 0, 0 if report is None else int(report.plain_steps))
        self._write_all()

    @contextmanager
    def _appearing(self) -> Iterator[None]:
        """Of a store that has not appeared yet nothing is left where it cannot be written, and the disk is named."""
        try:
            yield
        except OSError as error:
            raise type(error)(
                f"no store can be made at {self.path}: {error.strerror}. Nothing of it is left; make room there, or "
                "give a place on another disk."
            ) from error

    def close(self) -> None:
        """Let others write."""
        self.store.close()

    def _derive(self, rows: dict[str, np.ndarray], length: int) -> dict[str, np.ndarray]:
        return layout.derive(self.system, rows["q"], rows["xi"], length)

    def _write_due(self) -> None:
        self.store.write_full()
        between, finished = self.intervals_between, self.point.finished
        due = between is not None and finished % between == 0 and finished > self.committed
        late = self.seconds is not None and time.monotonic() - self.last >= self.seconds
        if due or late or self.store.waiting > WAITING:
            self._checkpoint()

    def _write_all(self) -> None:
        self._checkpoint()
        self.store.each_metadata(self._manifest())

    def _checkpoint(self) -> None:
        self.store.checkpoint(self._manifest())
        self.last, self.committed = time.monotonic(), self.point.finished

    def _manifest(self) -> Manifest:
        """The manifest: what made the run, and all that going on depends on."""
        state, finished, plain_until, plain_steps = self.point
        leaves = None if state is None else [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(state)]
        failure = None if self.failure is None else [type(self.failure).__name__, str(self.failure)]
        how = {"path": self.way, "finished": finished, "plain_until": plain_until, "plain_steps": plain_steps}
        return cast(Manifest, {**self.identity, **how, "state": leaves, "failure": failure})

    def _unwritten(self, write: Callable[[], None]) -> StoreFailed | None:
        """Write; where that fails, say what is safe and how to go on."""
        try:
            write()
        except OSError as error:
            self.store.batch.drop()
            failure = StoreFailed(
                f"{self.path} cannot be written: {error.strerror}. It holds {self.committed * self.save_every} steps, "
                "all whole; make room, and go on with resume=True."
            )
            failure.__cause__ = error
            return failure
        return None


def _solves(report: RunReport) -> dict[str, np.ndarray]:
    return {name: getattr(report, name) for name in ("converged", "iterations", "residual")}


def stored_trajectory(
    contents: Contents, system: System, scheme: Scheme | None, h: Array | None, like: PyTree
) -> Trajectory:
    """The trajectory that a store holds; its arrays stay there until they are asked for. `like`: a state's shapes."""
    arrays, told = contents.arrays, contents.manifest
    t, q, p, xi = (arrays[name] for name in layout.RUN)
    if scheme is None:
        return Trajectory(t, q, p, xi, None, None, system, None, None, None, told["save_every"])  # type: ignore[arg-type]
    how = *told["path"], told["plain_steps"]  # type: ignore[misc]  # of a scheme, which has one
    report = RunReport(arrays["converged"], arrays["iterations"], arrays["residual"], *how)  # type: ignore[arg-type]
    final = None if told["state"] is None else _restore(told, like, contents.path)
    return Trajectory(t, q, p, xi, arrays["xi_mid"], report, system, scheme, h, final, told["save_every"])  # type: ignore[arg-type]


def _restore(told: Manifest, like: PyTree, path: PathLike) -> State:
    try:
        return restore(told["state"], like)  # type: ignore[arg-type]  # asked for where there is one
    except StoreDamaged as error:
        raise StoreDamaged(f"{path} is damaged: {error}") from None

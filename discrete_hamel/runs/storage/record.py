"""What a run fills while it goes on: the memory of this process here, a store on disk in `storage.recording`."""

from itertools import accumulate
from math import prod
from typing import NamedTuple, Protocol

import numpy as np
from jax import Array

from discrete_hamel._support.errors import RunFailed, RunInterrupted
from discrete_hamel.compiler.native.host import RunArrays
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import RunReport, Trajectory
from discrete_hamel.schemes.scheme import Scheme, State

Stopped = RunFailed | RunInterrupted | None


class Checkpoint(NamedTuple):
    """All that the rest of a run depends on: the scheme's state after so many saved intervals, and the interval up
    to which the plain path stands in for the compiled one; and how many steps of these intervals it took.
    """

    state: State
    finished: int
    plain_until: int
    plain_steps: int


class Rows(NamedTuple):
    """Where a chunk is to be written: t, q, p and xi of its nodes behind the one that it sets out from, whose row is
    the first and is known; and of its intervals xi, the most iterations, and the residual.
    """

    t: np.ndarray
    q: np.ndarray
    p: np.ndarray
    xi: np.ndarray
    xi_mid: np.ndarray
    converged: np.ndarray
    iterations: np.ndarray
    residual: np.ndarray

    def part(self, begin: int, count: int) -> "Rows":
        """The rows of `count` intervals from `begin` on."""
        if begin == 0 and count == len(self.xi_mid):
            return self
        nodes, intervals = slice(begin, begin + count + 1), slice(begin, begin + count)
        return Rows(*(a[nodes] for a in self[:4]), *(a[intervals] for a in self[4:]))

    def ahead(self) -> RunArrays:
        """What a native run writes of them: all but the node that it sets out from."""
        return RunArrays(self.q[1:], self.p[1:], self.xi[1:], self.xi_mid, self.residual, self.iterations)

    def take(self, t: np.ndarray, saved: tuple) -> None:
        """A chunk, of which what is in the same block of memory has been written here already."""
        q, p, xi, xi_mid, report = saved
        count, block = len(xi_mid), self.t.base
        chunk = (t, q, p, xi, xi_mid, report.converged, report.iterations, report.residual)
        for k, (rows, values) in enumerate(zip(self, chunk, strict=True)):
            if values.base is not block:
                first = k < 4  # the row of the node that it sets out from
                rows[first : count + first] = values


class Record(Protocol):
    """Takes a run's chunks in order; `failure`: what ended a run that is taken up again, and would end it again."""

    failure: RunFailed | None
    lasting: bool  # whether it outlives the process, and may be gone on with in another

    def begin(self, state: State, first: tuple, path: tuple[str, str]) -> tuple[Checkpoint, tuple]:
        """Take the first node, (q, p, xi); tell where to set out from, further on where a run is taken up again, and
        t, q and xi of the node there.
        """

    def room(self, finished: int) -> int:
        """How many intervals the next chunk may have at most."""

    def rows(self, finished: int, count: int) -> Rows | None:
        """Where the next so many intervals may be written at once."""

    def add(self, t: np.ndarray, saved: tuple, point: Checkpoint) -> RunFailed | None:
        """Take a chunk: times of its nodes, (q, p, xi at nodes, xi_mid, Report), and where it ended; or say why not."""

    def end(self, state: State, failure: Stopped) -> tuple[Trajectory, Stopped]:
        """All that was taken, with the state at its end, and what ended it before its time."""


def _in_one_piece(shapes: list[tuple[int, ...]], kinds: list[np.dtype]) -> list[np.ndarray]:
    """Room for so many values like each, next to each other: what is freed in one piece, the C library keeps at hand,
    where smaller ones go back to the system and cost the next run as much again as its steps.
    """
    sizes = [-(-prod(shape) * kind.itemsize // 64) * 64 for shape, kind in zip(shapes, kinds, strict=True)]
    *starts, end = accumulate(sizes, initial=0)
    block = np.empty(end, np.uint8)
    return [np.ndarray(shape, kind, block, at) for shape, kind, at in zip(shapes, kinds, starts, strict=True)]


class RunInMemory:
    """A run kept in memory."""

    lasting = False

    def __init__(self, system: System, scheme: Scheme, h: Array, save_every: int, nodes: int) -> None:
        self.made_by = system, scheme, h
        self.save_every, self.nodes, self.failure = save_every, nodes, None
        self.finished = self.plain_steps = 0

    def begin(self, state: State, first: tuple, path: tuple[str, str]) -> tuple[Checkpoint, tuple]:
        self.path, count = path, self.nodes - 1
        node, kind = [np.zeros((), self.made_by[2].dtype), *map(np.asarray, first)], np.asarray(first[2]).dtype
        shapes = [(count + 1, *a.shape) for a in node] + [(count, *node[3].shape), *3 * [(count,)]]
        kinds = [*(a.dtype for a in node), kind, np.dtype(bool), np.dtype(np.int64), kind]
        try:
            self.kept = Rows(*_in_one_piece(shapes, kinds))
        except (MemoryError, ValueError, OverflowError) as error:  # the latter of more than NumPy can count
            raise MemoryError(
                f"{count + 1} nodes are too many for the memory of this machine: {error}. Keep fewer of them "
                "(save_every=...), or keep them on disk (store='run.zarr')."
            ) from error
        for rows, value in zip(self.kept, node, strict=False):
            rows[0] = value
        return Checkpoint(state, 0, 0, 0), (node[0], node[1], node[3])

    def room(self, finished: int) -> int:  # noqa: ARG002  # the same whatever it is
        return 1 << 62

    def rows(self, finished: int, count: int) -> Rows:
        return self.kept.part(finished, count)

    def add(self, t: np.ndarray, saved: tuple, point: Checkpoint) -> None:  # noqa: ARG002  # in its rows already
        self.finished, self.plain_steps = point.finished, point.plain_steps

    def end(self, state: State, failure: Stopped) -> tuple[Trajectory, Stopped]:
        rows = self.kept
        if self.finished < self.nodes - 1:  # copied, so that the room for the rest is given back
            rows = Rows(*(a.copy() for a in rows.part(0, self.finished)))
        report = RunReport(rows.converged, rows.iterations, rows.residual, *self.path, self.plain_steps)
        return Trajectory(*rows[:5], report, *self.made_by, state, self.save_every), failure

"""What a run fills while it goes on: the memory of this process here, a store on disk in `storage.recording`."""

from typing import Any, NamedTuple, Protocol

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.errors import RunFailed, RunInterrupted
from discrete_hamel.mechanics.newton import Report
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.trajectory import RunReport, Trajectory, concatenated, times
from discrete_hamel.schemes.scheme import Scheme

Stopped = RunFailed | RunInterrupted | None


class Point(NamedTuple):
    """All that the rest of a run depends on: the scheme's state after so many saved intervals, and the interval up
    to which the plain path stands in for the compiled one.
    """

    state: Any
    finished: int
    plain_until: int


class Record(Protocol):
    """Takes a run's chunks in order; `failure`: what ended a run that is taken up again, and would end it again."""

    failure: RunFailed | None
    lasting: bool  # whether it outlives the process, and may be gone on with in another

    def begin(self, state: Any, first: tuple, path: tuple[str, str]) -> tuple[Point, tuple]:
        """Take the first node, (q, p, xi); tell where to set out from, further on where a run is taken up again, and
        t, q and xi of the node there.
        """

    def room(self, finished: int) -> int:
        """How many intervals the next chunk may have at most."""

    def add(self, t: Any, saved: tuple, point: Point) -> RunFailed | None:
        """Take a chunk: times of its nodes, (q, p, xi at nodes, xi_mid, Report), and where it ended; or say why not."""

    def ended(self, state: Any, failure: Stopped) -> tuple[Trajectory, Stopped]:
        """All that was taken, with the state at its end, and what ended it before its time."""


class Memory:
    """A run kept in memory."""

    lasting = False

    def __init__(self, system: System, scheme: Scheme, h: Array, save_every: int) -> None:
        self.made_by = system, scheme, h
        self.save_every, self.failure = save_every, None
        self.t: list[Any] = [np.asarray(times(h, save_every, 0, 1))]
        self.chunks: list[Any] = []

    def begin(self, state: Any, first: tuple, path: tuple[str, str]) -> tuple[Point, tuple]:
        self.first, self.path = first, path
        nothing = jax.tree.map(lambda leaf: np.asarray(leaf)[None][:0], (*first, first[2]))
        self.nothing = (*nothing, Report(*np.zeros((3, 0))))
        return Point(state, 0, 0), (self.t[0][0], np.asarray(first[0]), np.asarray(first[2]))

    def room(self, finished: int) -> int:  # noqa: ARG002  # the same whatever it is
        return 1 << 62

    def add(self, t: Any, saved: tuple, point: Point) -> None:  # noqa: ARG002
        self.t.append(t)
        self.chunks.append(saved)

    def ended(self, state: Any, failure: Stopped) -> tuple[Trajectory, Stopped]:
        *after, xi_mid, report = concatenated(self.chunks or [self.nothing])
        q, p, xi = (np.concatenate([np.asarray(a)[None], b]) for a, b in zip(self.first, after, strict=True))
        report = RunReport(
            report.converged.astype(bool, copy=False), report.iterations.astype(int), report.residual, *self.path
        )
        t = np.concatenate(self.t)
        return Trajectory(t, q, p, xi, xi_mid, report, *self.made_by, state, self.save_every), failure

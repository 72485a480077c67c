"""Which node is shown when: frames at a constant rate in time, whatever the step."""

from typing import NamedTuple

import numpy as np

from discrete_hamel._support.errors import InputError
from discrete_hamel.runs.trajectory import Trajectory

MOST = 20_000  # frames of a film: thirteen minutes, a gigabyte of pictures


class Frames(NamedTuple):
    """The nodes of a film, in order, each with how many frames it stays: where steps are long, more than one."""

    nodes: np.ndarray
    stay: np.ndarray
    rate: float  # frames a second

    @property
    def milliseconds(self) -> list[int]:
        """How long each node is shown, rounded so that the errors do not add up."""
        ends = np.rint(1000 / self.rate * np.append(0, np.cumsum(self.stay)))
        return [int(span) for span in np.diff(ends)]


def frames(trajectory: Trajectory, seconds: float | None = None, rate: float = 25.0) -> Frames:
    """The nodes nearest to times evenly spread over the motion, for a film of that length (default: in real time).

    >>> import discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> run = dh.simulate(sleigh, **sleigh.sample(), steps=100)           # one second, by steps of 0.01
    >>> found = frames(run)
    >>> len(found.nodes), found.nodes[:4].tolist(), sum(found.milliseconds)
    (26, [0, 4, 8, 12], 1040)
    """
    if np.ndim(trajectory.t) != 1:
        raise InputError("this is a bundle of trajectories; animate its members one by one.")
    if not rate > 0:
        raise InputError(f"frames a second must be more than 0; got {rate:g}.")
    known = np.flatnonzero(np.isfinite(trajectory.t) & np.all(np.isfinite(trajectory.q), axis=1))
    if len(known) < 2:
        raise InputError("this trajectory has fewer than two nodes, so nothing moves; run it for some steps.")
    t = np.abs(np.asarray(trajectory.t)[known] - trajectory.t[known[0]])
    length = t[-1] if seconds is None else float(seconds)
    if not length > 0:
        raise InputError(f"the film's length must be more than 0 seconds; got {length:g}.")
    refuse_length(length, rate)
    wanted = np.linspace(0.0, t[-1], max(2, 1 + round(length * rate)))
    right = np.clip(np.searchsorted(t, wanted), 1, len(t) - 1)
    nearest = np.where(wanted - t[right - 1] <= t[right] - wanted, right - 1, right)
    shown, stay = np.unique(nearest, return_counts=True)
    return Frames(known[shown], stay, rate)


def refuse_length(seconds: float, rate: float = 25.0) -> None:
    """Refuse a film that would not end, or not fit into memory, at a rate of so many frames a second.

    A motion longer than that is shown faster, with `seconds` for the film's own length.
    """
    if not seconds * rate <= MOST:
        raise InputError(
            f"a film of {seconds:g} seconds has {seconds * rate:.0f} frames, more than {MOST}; let it last "
            f"{np.floor(MOST / rate):g} seconds or less (`seconds`), which shows the motion faster."
        )

"""What is asked for of a store, in the forms that people write it: where it is, and when checkpoints are made."""

import datetime
import os
from pathlib import Path

import numpy as np

from discrete_hamel._support.arrays import PathLike
from discrete_hamel._support.errors import InputError

SECONDS = 10.0  # between checkpoints, where nothing else is asked for


def place(path: PathLike) -> Path:
    """A path for a store, or a sentence."""
    if not isinstance(path, str | os.PathLike) or not str(path) or "\0" in str(path):
        raise InputError(f"{path!r} is no path for a store; give a name such as 'run.zarr'.")
    return Path(path)


def spacing(checkpoint_every: object) -> tuple[int | None, float | None]:
    """Steps or seconds between checkpoints: an integer counts steps; a float, or a timedelta, is wall-clock time.

    >>> spacing(1000), spacing(30.0), spacing(datetime.timedelta(minutes=5)), spacing(None)
    ((1000, None), (None, 30.0), (None, 300.0), (None, 10.0))
    """
    if checkpoint_every is None:
        return None, SECONDS
    if isinstance(checkpoint_every, datetime.timedelta):
        checkpoint_every = checkpoint_every.total_seconds()
    if isinstance(checkpoint_every, float | np.floating) and 0 <= checkpoint_every < float("inf"):
        return None, float(checkpoint_every)
    if isinstance(checkpoint_every, int | np.integer) and checkpoint_every >= 1 and checkpoint_every is not True:
        return int(checkpoint_every), None
    raise InputError(
        f"checkpoint_every is {checkpoint_every!r}; it is a number of steps (an integer, at least 1) or of seconds "
        "(a float, or a datetime.timedelta)."
    )

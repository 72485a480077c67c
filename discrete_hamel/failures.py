"""What can go wrong in a run, as exceptions that lose no result."""

from typing import Any


class RunFailed(RuntimeError):
    """A run that stopped early; `.trajectory` holds all that was computed before."""

    def __init__(self, message: str, trajectory: Any = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory


class NewtonFailed(RunFailed):
    """A step whose equations Newton's method could not solve."""


class FrameDegenerates(RunFailed):
    """A frame built by the library that has become singular along the run."""

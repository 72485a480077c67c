"""What is refused before a run, and what can go wrong in one, as exceptions that lose no result."""

from typing import Any

PAGE = "errors.html"  # of the documentation: docs/errors.md has a heading for each class


class Explained(BaseException):
    """What has its place on the page of errors, `page`: a traceback ends with it, and so do the words of a warning."""

    page: str

    def __init_subclass__(cls) -> None:
        cls.page = f"{PAGE}#{cls.__name__.lower()}"

    def __init__(self, message: str, trajectory: Any = None, good: int | None = None) -> None:
        super().__init__(f"{message} ({self.page})" if isinstance(self, Warning) else message)
        self.add_note(f"More in the documentation: {self.page}")
        self.trajectory, self.good = trajectory, good  # of which so many intervals are good, if not all


class InputError(Explained, ValueError):
    """What was given cannot be used: the message says what, where, how far off, and what to do. It reaches the user as
    it is, also out of a system's own `check`, where any other exception is reported as a fault of that function."""


class InputTypeError(InputError, TypeError):
    """The same of a thing of the wrong kind."""


class RunFailed(Explained, RuntimeError):
    """A run that stopped early; `.trajectory` holds all that was computed before."""


class NewtonFailed(RunFailed):
    """A step whose equations Newton's method could not solve."""


class SingularState(RunFailed):
    """A state in which velocities that are nonlinear in z have no tangent space, as both speeds zero."""


class FrameDegenerates(RunFailed):
    """A frame built by the library that has become singular along the run."""


# What the equations do, at the same step whenever they are run; all else may go better another time.
PHYSICAL = (NewtonFailed, SingularState, FrameDegenerates)


class ContactLost(Explained, UserWarning):
    """A body on a surface whose contact would have to pull: a real one leaves, the computed one is held."""


class StoreFailed(RunFailed):
    """A run whose store could not be written any more, as on a full disk; it holds all up to its last checkpoint."""


class StoreBusy(Explained, OSError):
    """A store that another process is writing."""


class StoreDamaged(Explained, ValueError):
    """A file of a store that is missing, altered or no file; the message names it, and the rest can be read."""


class RunInterrupted(Explained, KeyboardInterrupt):
    """Ctrl-C during a run; `.trajectory` holds all that was computed before."""

"""A progress line with rate and time left, on standard error."""

import sys
import time
from types import TracebackType


class Progress:
    """Counts to `total`; silent unless `show` is set and standard error is a terminal."""

    def __init__(self, total: int, show: bool, unit: str = "steps") -> None:
        self.total, self.unit = total, unit
        self.show = show and sys.stderr.isatty()
        self.began = self.last = time.monotonic()

    def __enter__(self) -> "Progress":
        return self

    def at(self, done: int) -> None:
        """Draw the line, at most ten times a second."""
        now = time.monotonic()
        if not self.show or (now - self.last < 0.1 and done < self.total):
            return
        self.last = now
        rate = done / max(now - self.began, 1e-9)
        left = (self.total - done) / rate if rate else float("inf")
        share = done / max(self.total, 1)
        count = f"{done} of {self.total} {self.unit}, {rate:,.0f}/s, {left:.0f} s left"
        sys.stderr.write(f"\r{share:4.0%} |{'#' * int(30 * share):30}| {count} ")
        sys.stderr.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.show:
            sys.stderr.write("\n")

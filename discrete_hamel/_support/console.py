"""Whoever watches a run: a line with rate and time left where it takes longer than a second, and Ctrl-C."""

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SILENT = 1.0  # seconds before the first line
APART = 0.1  # seconds between lines
WIDTH = 24  # of the bar


class Terminal:
    """A terminal: the line is overwritten, and stays at the end."""

    def __init__(self) -> None:
        self.length = 0

    def show(self, line: str) -> None:
        sys.stderr.write("\r" + line.ljust(self.length))
        sys.stderr.flush()
        self.length = len(line)

    def end(self) -> None:
        sys.stderr.write("\n")
        sys.stderr.flush()


class Notebook:
    """A cell of a notebook: one output, which is updated."""

    def __init__(self, display: Callable) -> None:
        self.display, self.handle = display, None

    def show(self, line: str) -> None:
        shown = {"text/plain": line}
        if self.handle is None:
            self.handle = self.display(shown, raw=True, display_id=True)
        else:
            self.handle.update(shown, raw=True)

    def end(self) -> None:
        pass


def screen() -> Terminal | Notebook | None:
    """Where a person is watching: a notebook or a terminal; None for pipes, files and batch jobs."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if getattr(shell, "kernel", None) is not None:
        from IPython.display import display

        return Notebook(display)
    return Terminal() if sys.stderr is not None and sys.stderr.isatty() else None


class Progress:
    """Counts from `done` to `total`; `show=False`, a short run, and no one watching keep it silent."""

    def __init__(self, total: int, show: bool, done: int = 0, unit: str = "steps") -> None:
        self.total, self.unit, self.show, self.done = total, unit, show, done
        self.screen: Terminal | Notebook | None = None  # looked for when there is something to show
        self.began = time.monotonic()
        self.last = self.began + SILENT - APART
        self.warm: tuple[float, int] | None = None  # when the first report came, which includes compiling

    def __enter__(self) -> "Progress":
        return self

    def at(self, done: int) -> None:
        """Say how far it is, at most ten times a second."""
        now, self.done = time.monotonic(), done
        if self.warm is None:
            self.warm = (now, done)
        if not self.show or now - self.last < APART:
            return
        self.last, self.screen = now, self.screen or screen()
        if self.screen is not None:
            self.screen.show(self.line(now))

    def line(self, now: float) -> str:
        """Share, bar, count, and from the second report on the rate, and the time left at that rate."""
        share = self.done / max(self.total, 1)
        line = f"{share:4.0%} |{'#' * int(WIDTH * share):{WIDTH}}| {self.done:,} of {self.total:,} {self.unit}"
        since, from_there = self.warm or (now, self.done)
        if self.done <= from_there or now <= since:
            return line
        rate = (self.done - from_there) / (now - since)
        left = f", {span((self.total - self.done) / rate)} left" if self.done < self.total else ""
        return f"{line}, {rate:,.0f}/s{left}"

    def __exit__(self, *error: object) -> None:
        if self.screen is not None:
            now = time.monotonic()
            self.screen.show(f"{self.line(now)}, {span(now - self.began)} in all")
            self.screen.end()


def span(seconds: float) -> str:
    """A time as one says it.

    >>> span(7.3), span(125), span(9000), span(200_000)
    ('7 s', '2 min 05 s', '2 h 30 min', '2 d 7 h')
    """
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 86_400:
        return f"{whole // 3600} h {whole // 60 % 60:02d} min"
    return f"{whole // 86_400} d {whole // 3600 % 24} h"


@contextmanager
def stop_requests(wanted: bool = True) -> Iterator[list[int]]:
    """A list that Ctrl-C puts a number in, once, so that nothing is left half done; the second one interrupts as ever.

    If it is not `wanted`, where somebody else handles Ctrl-C, and in threads beside the main one nothing is changed.
    """
    stops: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()
    if not wanted or not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield stops
        return

    def note(number: int, frame: object) -> None:
        if stops:
            signal.default_int_handler(number, frame)  # type: ignore[arg-type]
        stops.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield stops
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)

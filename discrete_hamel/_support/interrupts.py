"""Ctrl-C during a run: noted, and looked at between chunks, so that nothing is left half done."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_requests() -> Iterator[list[int]]:
    """A list that Ctrl-C puts a number in, once; the second one interrupts as ever.

    Where somebody else handles Ctrl-C already, and in other threads than the main one, nothing is changed.
    """
    stops: list[int] = []
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield stops
        return

    def note(number: int, frame: Any) -> None:
        if stops:
            signal.default_int_handler(number, frame)
        stops.append(number)

    signal.signal(signal.SIGINT, note)
    try:
        yield stops
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)

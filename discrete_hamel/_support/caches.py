"""What has been built and compiled: kept for the next run of its kind, bounded, and freed.

Each function that XLA compiles keeps some memory mapped, of which Linux grants a process 65 530 pieces by default; past
that the next compilation fails. A system takes some 250, so that a process with many has to forget now and then.
"""

import gc
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import jax

MAPPINGS, LIMIT = Path("/proc/self/maps"), Path("/proc/sys/vm/max_map_count")
SHARE = 0.4  # of the mappings granted, from which on what is compiled is freed before more is
PAUSE = 5.0  # seconds between two looks at them, which take 25 ms where there are many; XLA then makes a few thousand
T = TypeVar("T")
_caches: list["Cache"] = []
_next_look = 0.0  # by `time.monotonic`


class StartReason(str):
    """A reason why nothing could be made that lies in where a run starts: another start may do, so it is not kept."""


class Cache(dict[Hashable, object]):
    """Values by key, the oldest forgotten where there are more than `most`.

    >>> squares = Cache(most=2)
    >>> [squares.fetch(k, lambda: k * k) for k in (1, 2, 3)], len(squares)
    ([1, 4, 9], 2)
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        _caches.append(self)

    def fetch(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made for this key before, or is now; a `StartReason` is not kept."""
        if (made := self.get(key, self)) is self:  # nothing, asked for once: another thread may forget all in between
            make_room()
            with garbage_kept():
                made = make()
            if isinstance(made, StartReason):
                return made  # type: ignore[return-value]  # why there is none
            while len(self) >= self.most:
                self.pop(next(iter(self), None), None)
            self[key] = made
        return made  # type: ignore[return-value]  # made for this key


@contextmanager
def garbage_kept() -> Iterator[None]:
    """No search for cycles, which would look at all of JAX again and again, for a twentieth of a second each time."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:  # not disabled else: another thread may have begun in between, and ends later
            gc.enable()


def clear_caches() -> None:
    """Forget all compiled steps, and what JAX has compiled, as `jax.clear_caches` does: memory for time.

    The next run of each kind is built and compiled again. Nothing else changes.

    >>> import discrete_hamel as dh
    >>> dh.clear_caches()
    """
    for cache in _caches:
        cache.clear()
    jax.clear_caches()
    gc.collect()


def make_room() -> None:
    """Forget what is compiled, but not what is built, if the process is near the number of mappings it is granted."""
    global _next_look
    if time.monotonic() < _next_look or not (MAPPINGS.exists() and LIMIT.exists()):
        return
    _next_look = time.monotonic() + PAUSE
    if _mappings() > SHARE * int(LIMIT.read_text()):
        jax.clear_caches()
        gc.collect()


def _mappings() -> int:
    with MAPPINGS.open("rb") as lines:
        return sum(1 for _ in lines)

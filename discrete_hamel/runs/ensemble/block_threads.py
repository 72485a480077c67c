"""Blocks by all cores of this process: whole as long as each core has one, the last ones in parts."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

import numpy as np

from discrete_hamel.compiler.native.lanes import LANES

Arrays = dict[str, np.ndarray]
TICK = 0.1  # seconds after which it is said how far it is


class Part(NamedTuple):
    """What a core takes: of block `number`, which has `length` members, those in `who`."""

    number: int
    who: range
    length: int


def cut(number: int, length: int, among: int) -> list[Part]:
    """A block in so many parts, or fewer, of whole lanes.

    >>> [part.who for part in cut(6, 200, among=2)]
    [range(0, 128), range(128, 200)]
    """
    size = -(-length // (among * LANES)) * LANES
    return [Part(number, range(begin, min(begin + size, length)), length) for begin in range(0, length, size)]


def parts(lengths: dict[int, int], workers: int) -> list[Part]:
    """All blocks, by number; those that are left when each core has had as many as the others are shared by all.

    >>> [(number, who) for number, who, _ in parts({4: 256, 5: 256, 6: 200}, workers=2)]
    [(4, range(0, 256)), (5, range(0, 256)), (6, range(0, 128)), (6, range(128, 200))]
    """
    left = len(lengths) % workers
    whole = len(lengths) - left
    return [
        part
        for place, (number, length) in enumerate(lengths.items())
        for part in cut(number, length, workers // left if place >= whole else 1)
    ]


def by_all_cores(
    block: Callable[[int, range], Arrays],
    jobs: Iterable[Part],
    workers: int,
    keep: Callable[[int, Arrays], None],
    tick: Callable[[], None],
) -> None:
    """Run parts, each taken when a core is free, and `keep(number, arrays)` each block; `tick()` now and then."""
    source, lock, over = iter(jobs), threading.Lock(), threading.Event()
    pieces: dict[int, dict[int, Arrays]] = defaultdict(dict)

    def work() -> None:
        while not over.is_set():
            with lock:
                part = next(source, None)
            if part is None:
                return
            arrays = block(part.number, part.who)
            with lock:
                pieces[part.number][part.who.start] = arrays
                if sum(len(piece["finished"]) for piece in pieces[part.number].values()) < part.length:
                    continue
                whole = _join(pieces.pop(part.number))
            keep(part.number, whole)

    with ThreadPoolExecutor(workers) as pool:
        waiting: set[Future] = {pool.submit(work) for _ in range(workers)}
        try:
            while waiting:
                done, waiting = wait(waiting, TICK, FIRST_EXCEPTION)
                for future in done:
                    future.result()
                tick()
        finally:
            over.set()


def _join(pieces: dict[int, Arrays]) -> Arrays:
    in_order: Sequence[Arrays] = [piece for _, piece in sorted(pieces.items())]
    if len(in_order) == 1:
        return in_order[0]
    return {name: np.concatenate([piece[name] for piece in in_order]) for name in in_order[0]}

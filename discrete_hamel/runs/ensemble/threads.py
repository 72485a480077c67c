"""The blocks of this process by all its cores: whole as long as each core has one, the last ones in parts."""

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from discrete_hamel.compiler.lanes.lanes import LANES
from discrete_hamel.runs.ensemble.placement import Blocks

Arrays = dict[str, np.ndarray]


def parts(lengths: dict[int, int], workers: int) -> list[tuple[int, range]]:
    """What cores take one by one: blocks, by number, and which of their members.

    The blocks that are left when each core has had as many as the others are shared by all.

    >>> parts({4: 256, 5: 256, 6: 200}, workers=2)
    [(4, range(0, 256)), (5, range(0, 256)), (6, range(0, 128)), (6, range(128, 200))]
    """
    left = len(lengths) % workers
    each = workers // left if left else 1
    taken = []
    for place, (number, length) in enumerate(lengths.items()):
        among = each if place >= len(lengths) - left else 1
        size = -(-length // (among * LANES)) * LANES
        taken += [(number, range(begin, min(begin + size, length))) for begin in range(0, length, size)]
    return taken


def by_all_cores(
    block: Callable[[int, range], Arrays],
    lengths: dict[int, int],
    workers: int,
    write: Callable[[int, Arrays], None] | None,
    told: Callable[[int], None],
) -> Blocks:
    """The blocks by number, or nothing if `write` takes them; `told` is given the members that a part had."""
    jobs, lock = parts(lengths, workers), threading.Lock()
    pieces: dict[int, dict[int, Arrays]] = defaultdict(dict)
    kept: Blocks = {}

    def work(number: int, part: range) -> int:
        arrays = block(number, part)
        with lock:
            pieces[number][part.start] = arrays
            if sum(len(piece["finished"]) for piece in pieces[number].values()) < lengths[number]:
                return len(part)
            whole = _joined(pieces.pop(number))
        if write is None:
            kept[number] = whole
        else:
            write(number, whole)
        return len(part)

    with ThreadPoolExecutor(workers) as pool:
        waiting: set[Future] = {pool.submit(work, *job) for job in jobs}
        try:
            while waiting:
                done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for future in done:
                    told(future.result())
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return kept


def _joined(pieces: dict[int, Any]) -> Arrays:
    in_order: Sequence[Arrays] = [piece for _, piece in sorted(pieces.items())]
    if len(in_order) == 1:
        return in_order[0]
    return {name: np.concatenate([piece[name] for piece in in_order]) for name in in_order[0]}

"""What processes that know of each other by `jax.distributed` share: blocks in turn, and results in memory.

Processes that share a store need none of this: see `claims`.
"""

from collections.abc import Sequence

import jax
import numpy as np

from discrete_hamel.runs.ensemble.ensemble_result import EnsembleLayout

Blocks = dict[int, dict[str, np.ndarray]]  # by number, of each array the rows of its members


def share(blocks: Sequence[int]) -> list[int]:
    """Of blocks whose data all processes have, those that this one runs."""
    return list(blocks[jax.process_index() :: jax.process_count()])


def sum_over_processes(numbers: np.ndarray) -> np.ndarray:
    """The sums over all processes of what each has."""
    from jax.experimental.multihost_utils import process_allgather

    return np.asarray(process_allgather(numbers)).reshape(-1, *numbers.shape).sum(axis=0, dtype=numbers.dtype)


def together(contents: EnsembleLayout, results: Blocks, members: int) -> dict[str, np.ndarray]:
    """The arrays of all members, from the blocks that each process has run of its `share`."""
    if jax.process_count() == 1:
        parts = {name: [results[k][name] for k in sorted(results)] for name in contents.columns}
        return {name: np.concatenate(blocks)[:members] for name, blocks in parts.items()}
    from jax.experimental.multihost_utils import process_allgather

    whole = {}
    for name, column in contents.columns.items():
        size = column.chunk
        blocks = range(-(-members // size))
        most = -(-len(blocks) // jax.process_count())
        local = np.zeros((most, size, *column.shape), column.dtype)
        for slot, number in enumerate(share(blocks)):
            rows = results[number][name]
            local[slot, : len(rows)] = rows
        shards = np.asarray(process_allgather(local))  # (processes, most, size, ...)
        in_order = np.swapaxes(shards, 0, 1).reshape(-1, *column.shape)
        whole[name] = in_order[:members]
    return whole

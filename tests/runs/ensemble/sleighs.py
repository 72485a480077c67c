"""A user's script for many processes, as `test_processes` starts it: sleighs.py HOW STORE SECONDS [PLACE COUNT RANK].

HOW is `whole` (data given to all processes), `sharded` (data on the devices of all) or both; STORE a path or `memory`;
each block takes SECONDS longer than it has to; with PLACE the processes know of each other, by `jax.distributed`.
Prints a line of JSON about each result: the blocks that this process ran, and what it has.
"""

import hashlib
import json
import sys
import time

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import discrete_hamel as dh
from discrete_hamel.runs.ensemble import block_claims, block_runs

MEMBERS, BLOCK = 1000, 128  # eight blocks, of which shards on four devices have two each, but for some rows
XI = np.stack([np.linspace(1, 2, MEMBERS), np.full(MEMBERS, -0.3)], axis=1)
XI[7] = np.nan
OFFSETS = np.linspace(0.1, 0.5, MEMBERS)
DATA = {"q": [0.1, 0, 0], "h": 0.02, "steps": 30, "save_every": 10}


def over_members(array, axes=("members",)):
    """The array with its rows spread over the devices of all processes."""
    mesh = jax.make_mesh((jax.device_count() // len(axes), *(len(axes),) * (len(axes) - 1)), axes)
    sharding = NamedSharding(mesh, PartitionSpec("members"))
    return jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])


def digest(rows):
    return hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest()


def told(runs):
    """What of a result is on this host: digests of q, by first and last member."""
    q = runs.q.data
    if not isinstance(q, jax.Array):
        return {f"0 {len(q)}": digest(runs.q.values)}
    rows = {shard.index[0].indices(MEMBERS)[:2]: np.asarray(shard.data) for shard in q.addressable_shards}
    return {f"{begin} {end}": digest(part) for (begin, end), part in rows.items()}


def watched(ran, seconds):
    """`Run.block`, slower, which notes the blocks that this process runs."""
    whole = block_runs.EnsembleRun.block

    def block(self, number, part):
        ran.append(number)
        time.sleep(seconds)
        return whole(self, number, part)

    return block


def main(how, store, seconds, *team):
    if team:
        place, count, rank = team
        jax.distributed.initialize(place, int(count), int(rank))
    ran, block_claims.BEAT = [], 0.25
    block_runs.BLOCK = BLOCK
    block_runs.EnsembleRun.block = watched(ran, float(seconds))
    where = {} if store == "memory" else {"store": store}
    if "whole" in how:
        result = dh.ensemble(dh.systems.ChaplyginSleigh(offset=OFFSETS), xi=XI, **DATA, **where)
        print(json.dumps([sorted(set(ran)), told(result)]), flush=True)
        ran.clear()
    if "sharded" in how:
        xi, offsets = over_members(XI), over_members(OFFSETS)
        result = dh.ensemble(dh.systems.ChaplyginSleigh(offset=offsets), xi=xi, **DATA, **where)
        if not where:
            assert result.q.data.sharding == xi.sharding
        print(json.dumps([sorted(set(ran)), told(result)]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

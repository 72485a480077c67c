"""Ensembles of data on four devices of one process, as `test_sharded` runs it: prints a line of JSON."""

import json

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec
from sleighs import BLOCK, DATA, MEMBERS, OFFSETS, XI, digest, over_members

import discrete_hamel as dh
from discrete_hamel.runs.ensemble import block_runs

LATE = np.where(np.arange(MEMBERS)[:, None] < 700, np.nan, XI)  # the first to start is on the third device
VELOCITIES = np.stack([XI[:, 0], XI[:, 1] * np.cos(0.1), XI[:, 1] * np.sin(0.1)], axis=1)
FARTHEST = dh.Reduction(
    start=lambda system, q, xi: {"farthest": q[1]},
    update=lambda kept, system, q, xi: {"farthest": jnp.maximum(kept["farthest"], q[1] + system.offset)},
)


def cases(place):
    """Calls of ensemble, whose data over members `place` puts somewhere."""
    sleighs, last = dh.systems.ChaplyginSleigh(offset=place(OFFSETS)), DATA | {"save_every": None}
    return {
        "a parameter and xi": (sleighs, {"xi": place(XI)} | DATA),
        "v, and a parameter on the host": (dh.systems.ChaplyginSleigh(offset=OFFSETS), {"v": place(VELOCITIES)} | last),
        "a parameter alone, and a reduction": (sleighs, {"xi": XI[0]} | DATA | {"reduction": FARTHEST}),
        "the first members cannot start": (sleighs, {"xi": place(LATE)} | DATA),
        "the plain path": (sleighs, {"xi": place(XI)} | last | {"compiled": False, "steps": 10}),
    }


def digests(result):
    """Of all arrays of a result, wherever they are."""
    return {name: digest(np.asarray(array.data)) for name, array in result.data_vars.items() if name != "reason"}


def refusal(xi, **more):
    try:
        dh.ensemble(dh.systems.ChaplyginSleigh(), xi=xi, **DATA, **more)
    except ValueError as error:
        return str(error)
    return None


def main():
    assert jax.device_count() == 4
    block_runs.BLOCK = BLOCK
    found = {}
    for name, (system, data) in cases(over_members).items():
        result = dh.ensemble(system, **data)
        found[name] = digests(result)
        array = result[next(iter(result.data_vars))].data
        assert array.sharding == over_members(XI).sharding, name
        assert len(array.addressable_shards) == 4, name
    over_two = over_members(XI, ("members", "copies"))
    result = dh.ensemble(dh.systems.ChaplyginSleigh(offset=OFFSETS), xi=over_two, **DATA)
    assert result.q.data.sharding == over_two.sharding
    found["copies"] = digests(result)
    lengthwise = NamedSharding(over_two.sharding.mesh, PartitionSpec(None, "members"))
    few = jax.make_mesh((2,), ("members",), devices=jax.devices()[:2])
    other = jax.device_put(XI[:, 0], NamedSharding(few, PartitionSpec("members")))
    found["refusals"] = [refusal(jax.device_put(XI, lengthwise)), refusal(over_two[:, 0]), None]
    two_meshes = dh.systems.ChaplyginSleigh(offset=other)
    try:
        dh.ensemble(two_meshes, xi=over_two, **DATA)
    except ValueError as error:
        found["refusals"][2] = str(error)
    print(json.dumps(found))


if __name__ == "__main__":
    main()

"""Trajectories as xarray datasets and as Zarr stores; loading never executes anything that a store contains."""

import json
from contextlib import closing
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from discrete_hamel import schemes
from discrete_hamel.failures import StoreDamaged
from discrete_hamel.stores.layout import names
from discrete_hamel.stores.manifest import described, rebuilt, rebuilt_system
from discrete_hamel.stores.reading import Contents
from discrete_hamel.stores.recording import Recording, stored_trajectory
from discrete_hamel.stores.requests import place
from discrete_hamel.system import System
from discrete_hamel.trajectory import Trajectory

PIECE = 1 << 14  # rows that are copied at once


def _xarray() -> Any:
    try:
        import xarray
    except ImportError:
        raise ImportError('this needs xarray: pip install "discrete_hamel[archive]".') from None
    return xarray


def dataset(trajectory: Trajectory) -> Any:
    """An xarray.Dataset: q, p, xi, v, energy and invariants over `time`; xi_mid and the report over `interval`."""
    xarray = _xarray()
    system = trajectory.system
    velocities = names(system.velocities, "xi", trajectory.xi.shape[1])
    nodes: dict[str, Any] = {
        "q": (("time", "coordinate"), trajectory.q),
        "p": (("time", "momentum"), trajectory.p),
        "xi": (("time", "velocity"), trajectory.xi),
        "v": (("time", "coordinate"), trajectory.v),
    }
    for name, values in trajectory.invariants().items():
        nodes[name] = (("time", *(f"{name} {axis}" for axis in range(1, values.ndim))), values)
    if trajectory.report is not None:
        report = trajectory.report
        nodes |= {
            "xi_mid": (("interval", "velocity"), trajectory.xi_mid),
            "converged": (("interval",), report.converged),
            "iterations": (("interval",), report.iterations),
            "residual": (("interval",), report.residual),
        }
    coordinates = {
        "time": trajectory.t,
        "coordinate": names(system.coordinates, "q", trajectory.q.shape[1]),
        "velocity": velocities,
        "momentum": velocities[: trajectory.p.shape[1]],
    }
    made_by = {"system": described(system), "scheme": described(trajectory.scheme)}
    h = None if trajectory.h is None else float(trajectory.h)
    return xarray.Dataset(nodes, coordinates, {"discrete_hamel": json.dumps(made_by | {"h": h})})


def save(trajectory: Trajectory, path: Any) -> None:
    """Write the trajectory to a new Zarr store, of the same form as one that grew with its run."""
    t = trajectory
    made_by = t.system, t.scheme, jnp.asarray(t.q[0]), jnp.asarray(t.xi[0]), t.h
    with closing(Recording(path, *made_by, t.save_every, len(t))) as record:
        record.copy(t, PIECE)


def load(path: Any, *, system: System | None = None) -> Trajectory:
    """The trajectory of a store written by `save` or `simulate(store=...)`; its arrays are read when asked for.

    A catalogue system is rebuilt with its parameters. A system of the user's own has to be given, since a store
    holds no code; it is compared with what the store says of it. A damaged file raises StoreDamaged, which names it,
    when something in it is asked for; all else can be read.
    """
    contents = Contents(place(path))
    told = contents.manifest
    missing = [name for name in ("time", "q", "p", "xi") if name not in contents.arrays]
    if missing:
        raise StoreDamaged(f"{path} has no array {missing[0]!r}.")
    start = jnp.asarray(told["start"]["q"]), jnp.asarray(told["start"]["xi"])
    ready = rebuilt_system(told["system"], system, np.asarray(start[0]), path)
    if told["scheme"] is None:
        return stored_trajectory(contents, ready, None, None, None)
    scheme, h = rebuilt(told["scheme"], schemes, "scheme", path), jnp.asarray(told["h"])
    like = jax.eval_shape(scheme.start, ready, *start, h)
    return stored_trajectory(contents, ready, scheme, h, like)

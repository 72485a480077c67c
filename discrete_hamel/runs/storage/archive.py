"""Trajectories as xarray datasets and as Zarr stores; loading never executes anything that a store contains."""

import json
from contextlib import closing
from types import ModuleType
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from discrete_hamel import schemes, systems
from discrete_hamel._support.arrays import PathLike
from discrete_hamel._support.errors import InputError, InputTypeError, StoreDamaged
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.storage.layout import names
from discrete_hamel.runs.storage.manifest import WORKED_OUT, agreeing, describe, rebuilt
from discrete_hamel.runs.storage.optional import xarray_module
from discrete_hamel.runs.storage.reading import Contents
from discrete_hamel.runs.storage.recording import Recording, stored_trajectory
from discrete_hamel.runs.storage.schema import Described, Manifest
from discrete_hamel.runs.storage.store_options import place
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.scheme import Scheme

if TYPE_CHECKING:
    from xarray import Dataset

PIECE = 1 << 14  # rows that are copied at once
SAME = 1e-12  # velocities that differ by less are of one frame


def dataset(trajectory: Trajectory) -> "Dataset":
    """An xarray.Dataset: q, p, xi, v, energy, invariants and contact force over `time`; the rest over `interval`."""
    xarray = xarray_module()
    system = trajectory.system
    velocities = names(system.velocities, "xi", trajectory.xi.shape[1])
    nodes: dict[str, tuple] = {
        "q": (("time", "coordinate"), trajectory.q),
        "p": (("time", "momentum"), trajectory.p),
        "xi": (("time", "velocity"), trajectory.xi),
        "v": (("time", "coordinate"), trajectory.v),
    }
    for name, values in trajectory.invariants().items():
        nodes[name] = (("time", *(f"{name} {axis}" for axis in range(1, values.ndim))), values)
    if (force := trajectory.contact_force) is not None:
        nodes["contact force"] = (("time",), force)
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
    made_by = {
        "system": describe(system),
        "scheme": None if trajectory.scheme is None else describe(trajectory.scheme),
    }
    h = None if trajectory.h is None else float(trajectory.h)
    return xarray.Dataset(nodes, coordinates, {"discrete_hamel": json.dumps(made_by | {"h": h})})


def save(trajectory: Trajectory, path: PathLike) -> None:
    """Write the trajectory to a new Zarr store, of the same form as one that grew with its run."""
    t = trajectory
    made_by = t.system, t.scheme, jnp.asarray(t.q[0]), jnp.asarray(t.xi[0]), t.h
    with closing(Recording(path, *made_by, t.save_every, len(t))) as record:
        record.copy(t, PIECE)


def load(path: PathLike, *, system: System | None = None, scheme: Scheme | None = None) -> Trajectory:
    """Returns the trajectory of a store written by `save` or `simulate(store=...)`; its arrays are read when asked for.

    A catalogue system or scheme is rebuilt with its parameters. One of the user's own, or of `dh.fields`, has to be
    given, since a store holds no code; it is compared with what the store says of it. A damaged file raises
    StoreDamaged, which names it, when something in it is asked for; all else can be read.
    """
    contents = Contents(place(path)).require_arrays()
    told = contents.manifest
    start = jnp.asarray(told["start"]["q"], float), jnp.asarray(told["start"]["xi"], float)
    ready, rule = _made_by(told, system, scheme, start[0], path)
    if WORKED_OUT & {*describe(ready)["leaves"]} - {*told["system"]["leaves"]}:
        _same_frame(contents, ready, *start)
    if rule is None:
        return stored_trajectory(contents, ready, None, None, None)
    h = jnp.asarray(told["h"], float)
    try:
        like = jax.eval_shape(rule.start, ready, *start, h)
    except Exception as error:
        if system is not None or scheme is not None:
            raise  # in the user's own code, which is to be seen
        raise StoreDamaged(f"{path} is damaged: its parts do not fit together ({type(error).__name__}).") from error
    if like.p.shape != contents.columns["p"].shape:
        raise StoreDamaged(f"{path} is damaged: 'p' is {contents.columns['p'].shape} a row, not {like.p.shape}.")
    return stored_trajectory(contents, ready, rule, h, like)


def _same_frame(contents: Contents, system: System, q: jax.Array, xi: jax.Array) -> None:
    """Refuse a system in whose frame the xi of the store are other velocities than the v that it holds."""
    stored = np.asarray(contents.arrays["v"][:1])[0]
    found = np.asarray(system.velocity(q, xi))
    if found.shape == stored.shape and np.max(np.abs(found - stored), initial=0.0) > SAME * np.max(np.abs(stored)):
        raise InputError(
            f"the frame of the system given is not the one of {contents.path}: its xi at the start, {xi}, are the "
            f"velocities {stored} there and {found} here."
        )


def _whole(described_as: Described, catalogue: ModuleType, path: PathLike) -> Any:
    """`rebuilt`, with parameters that the system or scheme itself would take."""
    try:
        found = rebuilt(described_as, catalogue)
        if isinstance(found, System | Scheme):
            checks.finite_parameters(found)
        if isinstance(found, System):
            found.check()
    except ValueError as error:
        raise StoreDamaged(f"{path} is damaged: {error}") from None
    return found


def _made_by(
    told: Manifest, system: System | None, scheme: Scheme | None, q: jax.Array, path: PathLike
) -> tuple[System, Scheme | None]:
    """The system and the scheme of a store: of the catalogue, or as given."""
    if scheme is not None and told["scheme"] is None:
        raise InputError(f"{path} holds a reference solution, which no scheme has made; leave out scheme=...")
    if not isinstance(system, System | None) or not isinstance(scheme, Scheme | None):
        raise InputTypeError(f"load takes a System and a Scheme (instances); got system={system!r}, scheme={scheme!r}.")
    ready = _whole(told["system"], systems, path) if system is None else checks.canonical(system).at(q, checks.by_numpy)
    rule = scheme
    if told["scheme"] is not None:
        rule = _whole(told["scheme"], schemes, path) if scheme is None else scheme
    lacking = {} if ready is not None else {"system": told["system"]["class"]}
    if rule is None and told["scheme"] is not None:
        lacking["scheme"] = told["scheme"]["class"]
    if lacking:
        who = " and ".join(f"the {kind} of {path}, {name}," for kind, name in lacking.items())
        raise InputError(
            f"{who} cannot be rebuilt from data alone; give {'it' if len(lacking) == 1 else 'them'}: "
            f"load(path, {', '.join(f'{kind}=...' for kind in lacking)}). "
            "The arrays alone can be read without: xarray.open_zarr(path)."
        )
    if system is not None:
        agreeing("system", ready, told["system"], path)
    if scheme is not None:
        own = checks.canonical(scheme.fitted(ready))
        rule = agreeing("scheme", own, told["scheme"], path)  # type: ignore[arg-type]
    return ready, rule

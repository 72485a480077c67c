"""Trajectories as xarray datasets and as Zarr stores; loading never executes anything that a store contains."""

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from discrete_hamel import checks, schemes, systems
from discrete_hamel.system import System
from discrete_hamel.trajectory import RunReport, Trajectory

FORMAT = 1


def _needs(module: str) -> Any:
    try:
        return __import__(module)
    except ImportError:
        raise ImportError(f'this needs {module}: pip install "discrete_hamel[archive]".') from None


def _names(given: tuple[str, ...], letter: str, count: int) -> list[str]:
    return [given[i] if i < len(given) else f"{letter}{i}" for i in range(count)]


def dataset(trajectory: Trajectory) -> Any:
    """An xarray.Dataset: q, p, xi, v, energy and invariants over `time`; xi_mid and the report over `interval`."""
    xarray = _needs("xarray")
    system = trajectory.system
    velocities = _names(system.velocities, "xi", trajectory.xi.shape[1])
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
        "coordinate": _names(system.coordinates, "q", trajectory.q.shape[1]),
        "velocity": velocities,
        "momentum": velocities[: trajectory.p.shape[1]],
    }
    return xarray.Dataset(nodes, coordinates, {"discrete_hamel": json.dumps(_manifest(trajectory))})


def _described(tree: Any) -> dict[str, Any] | None:
    """A pytree as plain data: its class, its leaves by name, and its structure as text, for comparison only."""
    if tree is None:
        return None
    leaves = {
        jax.tree_util.keystr(path).lstrip("."): np.asarray(leaf).tolist()
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    }
    return {"class": type(tree).__name__, "leaves": leaves, "structure": str(jax.tree.structure(tree))}


def _manifest(trajectory: Trajectory) -> dict[str, Any]:
    from discrete_hamel import __version__

    return {
        "format": FORMAT,
        "versions": {"discrete_hamel": __version__, "jax": jax.__version__, "numpy": np.__version__},
        "dtype": str(trajectory.q.dtype),
        "system": _described(trajectory.system),
        "scheme": _described(trajectory.scheme),
        "h": None if trajectory.h is None else float(trajectory.h),
        "save_every": trajectory.save_every,
        "path": None if trajectory.report is None else [trajectory.report.path, trajectory.report.reason],
        "final": _described(trajectory.final),
    }


def save(trajectory: Trajectory, path: Any) -> None:
    """Write the dataset and what is needed to rebuild the trajectory to a new Zarr store."""
    _needs("zarr")
    checks.new_store(path)
    # Format 2, because format 3 does not specify yet how names (fixed-length strings) are stored.
    dataset(trajectory).to_zarr(path, mode="w-", consolidated=False, zarr_format=2)


def load(path: Any, *, system: System | None = None) -> Trajectory:
    """The trajectory of a store written by `save` or `simulate(store=...)`.

    A catalogue system is rebuilt with its parameters. A system of the user's own has to be given, since a store
    holds no code; it is compared with what the store says of it.
    """
    xarray = _needs("xarray")
    _needs("zarr")
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no store at {path}.")
    with xarray.open_zarr(path, consolidated=False) as stored:
        contents = stored.load()
    if "discrete_hamel" not in contents.attrs:
        raise ValueError(f"{path} is a Zarr store, but not one that discrete_hamel wrote: it lacks its manifest.")
    manifest = json.loads(contents.attrs["discrete_hamel"])
    if manifest["format"] != FORMAT:
        raise ValueError(
            f"{path} has format {manifest['format']}, this version of discrete_hamel reads {FORMAT}; "
            f"it was written by {manifest['versions']['discrete_hamel']}."
        )
    ready = _rebuilt_system(manifest["system"], system, contents["q"].values[0], path)
    scheme = _rebuilt(manifest["scheme"], schemes, "scheme", path) if manifest["scheme"] else None
    values = {name: contents[name].values for name in ("time", "q", "p", "xi")}
    report = xi_mid = h = final = None
    if scheme is not None:
        report = RunReport(*(contents[n].values for n in ("converged", "iterations", "residual")), *manifest["path"])
        xi_mid, h = contents["xi_mid"].values, jnp.asarray(manifest["h"])
        example = jax.eval_shape(scheme.start, ready, values["q"][0], values["xi"][0], h)
        leaves = [jnp.asarray(leaf) for leaf in manifest["final"]["leaves"].values()]
        final = jax.tree.unflatten(jax.tree.structure(example), leaves)
    t, q, p, xi = values.values()
    return Trajectory(t, q, p, xi, xi_mid, report, ready, scheme, h, final, manifest["save_every"])


def _rebuilt_system(described: dict[str, Any], given: System | None, q: np.ndarray, path: Any) -> System:
    if given is None:
        return _rebuilt(described, systems, "system", path)
    ready = checks.canonical(given).at(jnp.asarray(q))
    mine = _described(ready) or {}
    if mine["class"] != described["class"]:
        raise ValueError(f"{path} holds a {described['class']}, the system given is a {mine['class']}.")
    differing = [k for k in described["leaves"] if mine["leaves"].get(k) != described["leaves"][k]]
    if differing or set(mine["leaves"]) != set(described["leaves"]):
        name = differing[0] if differing else sorted(set(mine["leaves"]) ^ set(described["leaves"]))[0]
        raise ValueError(
            f"the system given differs from the one in {path}: {name} is {mine['leaves'].get(name)}, "
            f"stored {described['leaves'].get(name)}."
        )
    return ready


def _rebuilt(described: dict[str, Any], catalogue: Any, kind: str, path: Any) -> Any:
    """An object of a class in the library's own catalogue, with the stored leaves."""
    name = described["class"]
    blank = None
    if name in catalogue.__all__:
        try:
            blank = checks.canonical(getattr(catalogue, name)())
        except TypeError:
            blank = None  # has fields without defaults
    if blank is None or str(jax.tree.structure(blank)) != described["structure"]:
        raise ValueError(
            f"the {kind} of {path}, {name}, cannot be rebuilt from data alone"
            + ("; give it: load(path, system=...)." if kind == "system" else ".")
        )
    return jax.tree.unflatten(jax.tree.structure(blank), [jnp.asarray(v) for v in described["leaves"].values()])

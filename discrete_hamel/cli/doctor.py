"""`discrete-hamel doctor`: versions, the path of runs here and why, cache, cores, and a short self-test."""

import argparse
import importlib.metadata
import os
import platform
import time

import jax
import numpy as np

import discrete_hamel as dh
from discrete_hamel.cli.printing import add_json, print_facts
from discrete_hamel.compiler.native import object_cache
from discrete_hamel.compiler.native.object_code import available
from discrete_hamel.runs.ensemble.block_runs import cores

HELP = "say what works here, and test it"
ABOUT = """Say what this installation has and can do: versions, whether runs are native code or plain and why, the
cache of object code, cores; and test it on a motion whose end is known, in some seconds. The exit status is 1 if that
fails."""
NEEDED = ("jax", "jaxlib", "numpy", "scipy", "llvmlite")
OPTIONAL = ("matplotlib", "xarray", "zarr", "mujoco", "sympy", "hypothesis")
END, NEAR = 4.0, 1e-4  # how far the self-test runs, and how near to the reference motion it has to end


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Print it; 1 if the self-test fails."""
    found: dict[str, object] = {
        "discrete_hamel": dh.__version__,
        "Python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        **{name: _version(name) for name in NEEDED},
        **{name: _version(name) or "not installed" for name in OPTIONAL},
        "64-bit": _doubles(),
        "device": f"{jax.default_backend()} ({jax.device_count()})",
        "native code": _native(),
        "cache": _cache(),
    }
    checked = _test()
    if options.json:
        print_facts({**found, **checked})
    else:
        for name, value in (found | checked).items():
            print(f"{name:<16} {value}")
    return 0 if checked["self-test"] == "passed" else 1


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _doubles() -> bool:
    return jax.numpy.result_type(float) == np.float64


def _native() -> str:
    if not _doubles():
        return "no: JAX runs in single precision (JAX_ENABLE_X64 is set and off); runs are plain"
    if jax.default_backend() != "cpu":
        return f"no: JAX runs on {jax.default_backend()}; runs are plain there"
    reason = available()
    return f"no: {reason}; runs are plain" if reason else "yes"


def _cache() -> str:
    place = object_cache.folder()
    if place is None:
        return f"off ({object_cache.VARIABLE})"
    if not place.exists():
        return f"{place}: empty so far"
    files = list(place.glob("*.o"))
    return f"{place}: {len(files)} functions, {sum(file.stat().st_size for file in files) / 1e6:.1f} MB"


def _test() -> dict[str, object]:
    """The README's first run against the reference motion, and against what a theorem keeps."""
    began = time.perf_counter()
    sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    q, xi, h = [0.1, 0.0, 0.0], [1.5, -0.3], 0.01
    try:
        run = dh.simulate(sleigh, q, xi, h=h, steps=round(END / h))
        exact = dh.reference(sleigh, q, xi, t=END)
    except Exception as error:  # whatever it is, it is what the doctor is asked for
        return {"self-test": f"FAILED: {type(error).__name__}: {error}"}
    off, energy = abs(run.q[-1] - exact.q[-1]).max(), abs(run.energy / run.energy[0] - 1).max()
    why = f" ({run.report.reason})" if run.report.reason else ""
    passed = off < NEAR and (energy < 1e-13 or not _doubles())
    return {
        "path of a run": run.report.path + why,
        "off a reference": f"{off:.1e} (below {NEAR:.0e})",
        "energy kept to": f"{energy:.1e}",
        "took": f"{time.perf_counter() - began:.1f} s, process {os.getpid()}",
        "self-test": "passed" if passed else "FAILED: the numbers above are too large",
    }

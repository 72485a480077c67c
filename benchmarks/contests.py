"""What benchmarks share: peers that may be missing, C programs, bars, and on which machine all this was."""

import ctypes
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np

import discrete_hamel as dh

C_PROGRAMS = Path(__file__).parent / "c"
C_OPTIONS = ("-O3", "-march=native", "-shared", "-fPIC")
DOUBLES = ctypes.POINTER(ctypes.c_double)


class Bar(NamedTuple):
    """A number that is to be at most `bar` (at least, for gains), and what would be better still."""

    what: str
    measured: float
    bar: float
    aim: float | None = None
    at_least: bool = False

    def reached(self, limit: float) -> bool:
        """NaN, for what could not be measured, reaches nothing."""
        return self.measured >= limit if self.at_least else self.measured <= limit

    def verdict(self) -> str:
        """In words.

        >>> Bar("x", 1.234, 1.3, 1.1).verdict()
        'reached, the aim missed'
        >>> Bar("x", 7.0, 10.0, 20.0, at_least=True).verdict()
        'MISSED by a factor of 1.43'
        """
        if np.isnan(self.measured):
            return "not measured"
        if not self.reached(self.bar):
            return f"MISSED by a factor of {max(self.measured / self.bar, self.bar / self.measured):.3g}"
        if self.aim is None:
            return "reached"
        return "reached, the aim too" if self.reached(self.aim) else "reached, the aim missed"


def installed(name: str) -> bool:
    """Whether a peer, a program or a package, is there."""
    return bool(shutil.which(name)) if name in ("gcc",) else importlib.util.find_spec(name) is not None


def in_c(name: str, folder: str, *defined: str) -> ctypes.CDLL:
    """A C program of benchmarks/c, compiled for this machine."""
    library = str(Path(folder) / f"{name}{''.join(defined)}.so")
    subprocess.run(["gcc", *C_OPTIONS, *defined, str(C_PROGRAMS / f"{name}.c"), "-o", library, "-lm"], check=True)
    return ctypes.CDLL(library)


def machine() -> dict[str, str]:
    """What the numbers depend on."""
    found = {"discrete_hamel": dh.__version__, "python": platform.python_version()}
    for name in ("jax", "numpy", "scipy", "diffrax", "heyoka"):
        if installed(name):
            found[name] = importlib.metadata.version(name)
    if installed("gcc"):
        told = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout
        found["gcc"] = told.splitlines()[0].split()[-1]
    model = platform.processor() or platform.machine()
    if (cpu := Path("/proc/cpuinfo")).exists():
        names = [line.partition(":")[2].strip() for line in cpu.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return found | {"machine": f"{model}, {threads} cores, {platform.system()}"}

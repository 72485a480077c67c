"""A run of native steps called from the host: NumPy arrays in and out, Python's lock free while it goes on."""

import ctypes
import math
import warnings
from itertools import accumulate, pairwise
from typing import NamedTuple

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.errors import Explained, InputError
from discrete_hamel.compiler.native.instructions import Kind
from discrete_hamel.compiler.native.object_code import Library, available, better_code, fused, kept_code, machine_code
from discrete_hamel.compiler.native.run import POINTERS, Run
from discrete_hamel.compiler.reading.cached_scalars import numbers_of
from discrete_hamel.compiler.step.collocation_step import StageStepper
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.mechanics.newton import Report
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State

CALL = 10**8  # operations, counted in one iteration: some tenths of a second, after which the host looks in
KINDS = [*[np.dtype(np.float64)] * 5, np.dtype(np.int64)]  # of RunArrays
SHORT = 20_000  # steps of all runs, beyond which code is made that is 1.5 times as fast; from 400 000 on it pays
FEW = 5  # steps by which it is compared
COUNTS, ENDED, DOUBLE = 3, 2, 8  # of whole numbers; bytes
FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(POINTERS))


def unusable(state: State) -> str:
    """Why runs from such a state cannot be native: they are in doubles, on this machine's processor."""
    kinds = {np.dtype(leaf.dtype).name for leaf in jax.tree.leaves(state)} - {"float64"}
    if kinds:
        return f"native code is in float64, and this run in {', '.join(sorted(kinds))}"
    return available() if jax.default_backend() == "cpu" else f"native code is not for a {jax.default_backend()}"


class RunArrays(NamedTuple):
    """What a run keeps of its intervals: q, p and xi at their ends, their xi, the residual's norm, the iterations."""

    q: np.ndarray
    p: np.ndarray
    xi: np.ndarray
    mid: np.ndarray
    residual: np.ndarray
    iterations: np.ndarray


class HostRun:
    """The machine code of a stepper's run."""

    def __init__(self, stepper: Stepper | StageStepper) -> None:
        self.stepper = stepper
        self.shapes = [leaf.shape for leaf in jax.tree.leaves(stepper.shape)]
        self.size = sum(map(math.prod, self.shapes))
        self.given = len(stepper.parameters) + stepper.composed
        q, p, _ = stepper.node_places()
        self.widths = [len(q), len(p), stepper.n, stepper.n]
        self.columns = list(accumulate([*self.widths, 1, 1], initial=0))
        self.room = np.zeros(COUNTS + self.size + ENDED)  # beside what is given: for the counts, `final`, and `ended`
        self.library, self.operations = _library(stepper)
        self.code = self.library.name, self.operations
        self.steps = max(1, CALL // max(self.operations, 1))  # that a call takes at most
        self.function = FUNCTION(self.library.address("run"))
        self.ahead: float = SHORT  # steps that are left to this code

    def __call__(
        self,
        system: System,
        scheme: Scheme,
        state: State,
        h: Array,
        intervals: int,
        every: int,
        into: RunArrays | None = None,
    ) -> tuple[State, int, bool, tuple]:
        """Up to `intervals` intervals of `every` steps: the state after the last whole one, how many are whole, whether
        these are all, and what is kept of them, written `into` arrays that are given. An interval in which a step
        fails here may still be done by the plain path.
        """
        count, (leaves, structure) = max(int(intervals), 0), jax.tree.flatten(state)
        part, steps = scheme.substeps(h) or (scheme, np.asarray(h)[None])
        lengths = np.asarray(steps, np.float64)
        whole_step = lengths if len(lengths) == 1 else lengths.sum()
        if (shapes := [leaf.shape for leaf in leaves]) != self.shapes:
            raise InputError(f"a state with leaves of shapes {shapes}, where the native run is of another kind.")
        numbers = numbers_of(system), numbers_of(part), whole_step
        given = np.concatenate([*numbers, lengths, *leaves, self.room], axis=None, dtype=np.float64)
        sizes = len(given) - len(lengths) - self.size - len(self.room), len(lengths), self.size, COUNTS, self.size
        if sizes[0] != self.given or not (self.stepper.composed or len(lengths) == 1):
            raise InputError(f"{sizes[0]} parameters, where the native run has {self.given}.")
        if every < 1:
            raise InputError(f"intervals of {every} steps.")
        self.ahead -= count * every
        if self.ahead < 0:
            self.improve()
        kept, places = self._room(count) if into is None else self._check(into, count)
        starts = list(accumulate(sizes, initial=0))
        given[starts[3] : starts[4]].view(np.int64)[:] = len(lengths), count, every
        first = given.ctypes.data  # one address: each that NumPy is asked for takes a microsecond
        addresses = [first + DOUBLE * k for k in starts]
        self.function(*addresses[:4], *places, *addresses[4:])  # as POINTERS names them
        final, (whole, good) = given[starts[4] : starts[5]], given[starts[5] :].view(np.int64).tolist()
        *nodes, residual, iterations = (a[:whole] for a in kept)
        parts = zip(self.stepper.places, shapes, strict=True)
        after = jax.tree.unflatten(structure, [final[at.start : at.stop].reshape(shape) for at, shape in parts])
        solves: tuple = np.ones(whole, bool), iterations, residual
        return after, whole, bool(good), (*nodes, Report(*solves))

    def improve(self) -> None:
        """Take the same function made at a higher level of LLVM's, once; that changes no bit of a few steps."""
        if self.ahead == math.inf:
            return
        self.ahead = math.inf
        verified, bits = (self.library, self.function), self._bits()
        self.library = better_code(self.library, lambda: Run(self.stepper, Kind(fused())).text(), self.operations)
        self.function = FUNCTION(self.library.address("run"))
        if self._bits() != bits:
            self.library, self.function = verified

    def _bits(self) -> bytes:
        """Of all that is kept of the first steps."""
        *arrays, report = self(*self.stepper.sample, FEW, 1)[3]
        return b"".join(np.asarray(a).tobytes() for a in (*arrays, report.residual, report.iterations))

    def _room(self, count: int) -> tuple[RunArrays, list[int]]:
        """New arrays, and their addresses."""
        block = np.empty(count * self.columns[-1])  # in one piece, which the C library then keeps at hand
        *rows, residual, iterations = [block[count * a : count * b] for a, b in pairwise(self.columns)]
        shaped = [a.reshape(count, width) for a, width in zip(rows, self.widths, strict=True)]
        first = block.ctypes.data
        arrays = RunArrays._make([*shaped, residual, iterations.view(np.int64)])
        return arrays, [first + DOUBLE * count * a for a in self.columns[:-1]]

    def _check(self, into: RunArrays, count: int) -> tuple[RunArrays, list[int]]:
        shapes = [(count, width) for width in self.widths] + [(count,), (count,)]
        alike = [a.shape for a in into] == shapes and [a.dtype for a in into] == KINDS
        if not alike or not all(a.flags.carray for a in into):  # in one piece, and writeable
            raise InputError(f"room of shapes {[a.shape for a in into]}, where the native run writes {shapes}.")
        return into, [_address(a) for a in into]


def _library(stepper: Stepper | StageStepper) -> tuple[Library, int]:
    """The code of a stepper's run, and its operations: what another process has kept, where the stepper is its."""
    if stepper.code is not None and (kept := kept_code(stepper.code[0])) is not None:
        return kept, stepper.code[1]
    run = Run(stepper, Kind(fused()))
    return machine_code(run.text(), run.operations, level=0), run.operations


def _address(array: np.ndarray) -> int:
    """Where an array begins; NumPy, asked for it, takes three times as long."""
    if not array.size:
        return array.ctypes.data
    return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]  # which it is


class SinglePrecision(Explained, UserWarning):
    """A run in single precision, because 64-bit JAX is off: what is exact to round-off holds to about 1e-7."""


_warned = False


def warn_of_single_precision(h: Array) -> None:
    """SinglePrecision, once a process, if that is what h has, and so the run."""
    global _warned
    if h.dtype != np.float64 and not _warned:
        _warned = True
        warnings.warn(
            f"64-bit JAX is off, so this run is in {h.dtype}: invariants will hold to about 1e-7 only, and there is no "
            "native code, so that a step takes some hundred times as long. "
            "Unset JAX_ENABLE_X64 or set it to 1 before importing discrete_hamel.",
            SinglePrecision,
            stacklevel=3,
        )

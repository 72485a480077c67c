"""ensemble: many members through one scheme, in blocks, by all cores and all processes."""

import os
import random
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, PathLike, Quasivelocities, Scalar, Velocities
from discrete_hamel._support.console import Progress
from discrete_hamel._support.errors import InputError, InputTypeError, RunInterrupted
from discrete_hamel.compiler.graph.pytree_leaves import scalars
from discrete_hamel.compiler.native.host import warn_of_single_precision
from discrete_hamel.compiler.paths import lanes_for
from discrete_hamel.compiler.reading.parts_of_schemes import check_scheme_at
from discrete_hamel.compiler.step.stepper import in_steps
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.ensemble import block_claims, plain
from discrete_hamel.runs.ensemble.batch import Batch, Task
from discrete_hamel.runs.ensemble.block_claims import Claims
from discrete_hamel.runs.ensemble.block_threads import Part, by_all_cores, cut, parts
from discrete_hamel.runs.ensemble.ensemble_members import Members, gather
from discrete_hamel.runs.ensemble.ensemble_result import EnsembleLayout, contents, dataset
from discrete_hamel.runs.ensemble.failure_codes import Why
from discrete_hamel.runs.ensemble.reduction import Fold, Reduction, kept_shapes
from discrete_hamel.runs.ensemble.shared_blocks import Blocks, share
from discrete_hamel.runs.ensemble.store import Shards, manifest
from discrete_hamel.runs.storage.optional import xarray_module
from discrete_hamel.schemes.nonlinear_midpoint import default_scheme
from discrete_hamel.schemes.scheme import Scheme

if TYPE_CHECKING:
    from xarray import Dataset

BLOCK = 2048  # members, at most, that one core takes at a time, and that a chunk of a store holds
CAPACITY = 64  # nodes that a call gives at most
FIRST_LOOK = 0.05  # seconds after which is first looked whether others have finished their blocks, then less often


def ensemble(
    system: System | Sequence[System],
    q: Coordinates,
    xi: Quasivelocities | None = None,
    *,
    v: Velocities | None = None,
    h: Scalar,
    steps: int,
    scheme: Scheme | None = None,
    save_every: int | None = None,
    reduction: Reduction | None = None,
    store: PathLike | None = None,
    workers: int | None = None,
    progress: bool = True,
    compiled: bool = True,
) -> "Dataset":
    """Many runs side by side, as an xarray.Dataset over `member`: over initial data, and the system's parameters.

    Whatever differs has a leading axis of members: q, xi (or v), and any of the system's parameters; or `system` is a
    list (which leaves no doubt: three masses of three members could also be one member's). Kept is the last node; with
    `save_every` the first and each so-many-th; with a `Reduction` what that makes of them. A member that fails does not
    stop the others: it has NaN from there on (a reduction keeps what it had), a `failure` and a `reason`.
    `progress` and `compiled` are as in `simulate`.

    The members are run in blocks, by `workers` threads (one a core if nothing is said). With `store`, the path of a
    Zarr store, each block is written when it is done, and those that are there are left out. Any number of processes,
    on all machines that see the store, may make the same call at once: each block is run by one of them, those of a
    process that dies by another, and all return the whole result. Data that are sharded over devices (jax.Arrays, over
    their first axis) are run where they are, and results come back sharded so.

    >>> import numpy as np, discrete_hamel as dh
    >>> sleighs = dh.systems.ChaplyginSleigh(offset=np.linspace(0.1, 0.5, 5))
    >>> runs = dh.ensemble(sleighs, q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=100)
    >>> runs.q.sel(coordinate="theta").shape, runs.reason.values.any()
    ((5, 1), np.False_)
    """
    xarray_module(stores=store is not None)  # what is returned is its Dataset: better missed now than after an hour
    scheme = default_scheme(system) if scheme is None else scheme
    if not isinstance(scheme, Scheme):
        raise InputTypeError(f"ensemble takes a Scheme (an instance: DiscreteHamel(), not the class); got {scheme!r}.")
    scheme = checks.canonical(scheme)
    steps = checks.count("steps", steps, 1)
    every = steps if save_every is None else checks.count("save_every", save_every, 1)
    if steps % every:
        raise InputError(f"steps = {steps} is not a multiple of save_every = {every}, so the last node would be lost.")
    h = checks.step_size(h)
    if checks.traced(system, scheme, q, xi, v, h):
        raise InputError("ensemble runs on the host; under jit, grad or vmap use jax.vmap of simulate.")
    warn_of_single_precision(h)
    workers = cores() if workers is None else checks.count("workers", workers, 1)
    members = gather(system, q, xi, v, BLOCK)
    scheme = checks.canonical(scheme.fitted(members.lead.system))
    run = EnsembleRun(members, scheme, h, steps, every, save_every is not None, reduction, workers, compiled)
    attributes = {"path": run.path, "path_reason": run.why_plain, "h": float(h), "scheme": repr(scheme)}
    if store is None:
        results = run.in_memory(progress and jax.process_index() == 0)
        return dataset(run.contents, members.place.together(run.contents, results), attributes)
    shards = Shards(store, run.contents, run.manifest(), len(members))
    run.into(shards, progress)
    return shards.open_result(attributes)


class EnsembleRun:
    """How an ensemble is run: its blocks, and what each gives."""

    def __init__(
        self,
        members: Members,
        scheme: Scheme,
        h: Array,
        steps: int,
        every: int,
        first_too: bool,
        reduction: Reduction | None,
        workers: int,
        compiled: bool,
    ) -> None:
        self.members, self.reduction, self.nodes, self.first_too = members, reduction, steps // every, first_too
        self.steps = steps
        self.workers, self.alone = workers, threading.Lock()
        self.size = members.place.size
        self.axes = members.axes
        sample, q, xi = members.lead
        kept = kept_shapes(reduction, sample, q, xi)
        check_scheme_at(sample, scheme, jnp.asarray(q))
        state = plain.first_states((None,) * len(self.axes), sample, scheme, h, q[None], xi[None])
        state = jax.tree.map(lambda leaf: leaf[0], state)
        capacity = min(CAPACITY, self.nodes) if self.nodes == 1 else CAPACITY
        leaves, common = jax.tree.leaves(sample), scalars(in_steps(scheme, h))
        varying = tuple(
            axis is not None for leaf, axis in zip(leaves, self.axes, strict=True) for _ in range(jnp.size(leaf))
        )
        varying += (False,) * len(common)
        lanes = lanes_for(sample, scheme, state, h, varying) if compiled else "asked for"
        self.widths = (state.q.shape[0], state.p.shape[0], len(xi))
        self.path, self.why_plain = ("plain", lanes) if isinstance(lanes, str) else ("lanes", "")
        self.task = Task(
            scheme, h, every, None if isinstance(lanes, str) else lanes, capacity, self.size, sum(self.widths)
        )
        saved = np.arange(0 if first_too else 1, self.nodes + 1) * every
        self.contents: EnsembleLayout = contents(sample, self.widths, saved, h, kept, self.size)

    def manifest(self) -> dict[str, object]:
        """What the results are made from."""
        return manifest(self.members, self.task, self.nodes, self.first_too, self.reduction)

    def blocks(self) -> dict[int, int]:
        """The numbers of all blocks, and how many members each has."""
        return {k: min(self.size, len(self.members) - k * self.size) for k in range(-(-len(self.members) // self.size))}

    def in_memory(self, progress: bool) -> Blocks:
        """The blocks that are this process's to run, by number."""
        lengths, own, results = self.blocks(), self.members.place.own, Blocks()
        mine = {k: lengths[k] for k in (share(list(lengths)) if own is None else own)}
        with self._progress(sum(mine.values()), progress) as bar:

            def count_done() -> int:
                return sum(mine[k] for k in list(results))

            def tick() -> None:
                bar.at(count_done() * self.steps)

            try:
                by_all_cores(self.block, parts(mine, self.workers), self.workers, results.__setitem__, tick)
            except KeyboardInterrupt:
                raise RunInterrupted(self._interruption(count_done(), "give store=... to keep them")) from None
        return results

    def into(self, shards: Shards, progress: bool) -> None:
        """Run what a store has not, beside all who work on it, until it has all blocks."""
        missing, pause = set(self.blocks()), FIRST_LOOK
        count = len(missing)

        def count_done() -> int:
            return min((count - len(missing)) * self.size, len(self.members))

        def tick() -> None:
            bar.at(count_done() * self.steps)

        with Claims(shards.path / block_claims.PLACE) as ours, self._progress(len(self.members), progress) as bar:

            def keep(number: int, block: dict[str, np.ndarray]) -> None:
                shards.write(number, block)
                ours.release(number)
                missing.discard(number)

            try:
                while True:
                    before, claimed = len(missing), self._claim(missing, shards, ours)
                    by_all_cores(self.block, claimed, self.workers, keep, tick)
                    if not missing:
                        break
                    pause = FIRST_LOOK if len(missing) < before else min(2 * pause, block_claims.BEAT)
                    time.sleep(pause)  # others are at what is left
            except KeyboardInterrupt:
                raise RunInterrupted(
                    self._interruption(count_done(), "finished blocks are in the store; the same call goes on")
                ) from None
        shards.clear()

    def _claim(self, missing: set[int], shards: Shards, ours: Claims) -> Iterator[Part]:
        """What nobody else has claimed of what is missing; what is there is taken from `missing`."""
        lengths, own, order = self.blocks(), self.members.place.own, sorted(missing)
        begin = 0 if shards.first else random.randrange(len(order))  # where others have not begun
        for place, number in enumerate(order[begin:] + order[:begin]):
            if shards.has(number):
                missing.discard(number)
            elif (own is None or number in own) and ours.take(number):
                if shards.has(number):  # since we looked
                    ours.release(number)
                    missing.discard(number)
                else:
                    yield from cut(number, lengths[number], max(1, self.workers // (len(order) - place)))

    def _progress(self, members: int, shown: bool) -> Progress:
        return Progress(members * self.steps, shown, unit="member-steps")

    def _interruption(self, done: int, remedy: str) -> str:
        return f"interrupted when {done} of {len(self.members)} members had been run; {remedy}."

    def block(self, number: int, part: range) -> dict[str, np.ndarray]:
        """The arrays of part of a block of members."""
        with self.alone:
            system, q, xi, why = self.members.block(number, part)
        batch = Batch(self.task, system, self.axes, q, xi, why)
        parts: list[np.ndarray] = []
        fold = None if self.reduction is None else Fold(self.reduction, self.axes, system, q, xi, self.size)
        if self.first_too and fold is None:
            first = np.concatenate([q, np.asarray(batch.states.p), xi], axis=1).T[None]
            parts.append(np.where(batch.why == Why.WELL, first, np.nan))
        for begin in range(0, self.nodes, self.task.capacity):
            rows = batch.nodes(min(self.task.capacity, self.nodes - begin))
            if fold is None:
                parts.append(rows)
            else:
                fold.take(
                    rows[:, : self.widths[0]], rows[:, -self.widths[2] :], batch.done - batch.begin, self.task.capacity
                )
        arrays = _split(np.concatenate(parts), self.widths) if fold is None else fold.arrays()
        return arrays | {
            "finished": np.ones(len(q), bool),
            "failure": batch.why,
            "residual": batch.residual,
            "steps_done": batch.steps,
            "iterations": batch.iterations,
            "plain_steps": batch.plain_steps,
        }


def _split(rows: np.ndarray, widths: Iterable[int]) -> dict[str, np.ndarray]:
    ends = np.cumsum(list(widths))[:-1]
    members = np.ascontiguousarray(rows.transpose(2, 0, 1))
    return dict(zip(("q", "p", "xi"), np.split(members, ends, axis=2), strict=True))


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""One ensemble by many processes, through JAX's own distributed runtime: who takes what, and what if one dies.

Nothing here computes. The processes agree on their shares through the coordination service that
`jax.distributed.initialize` starts (by `discrete_hamel.cli.launch`, so that the user's script stays as it is).
"""

import atexit
import itertools
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import jax
import numpy as np

PATIENCE = "DISCRETE_HAMEL_PATIENCE"  # environment: seconds of silence after which a process is taken for dead
SECONDS = 60.0
BEAT = 0.5  # seconds between signs of life, at least
LAST_BEAT = 5.0  # seconds that the end of a process waits for a sign of life on its way
UNHEARD = 5  # times the patience, with a process that has given no sign of life yet: it may still be starting


def patience() -> float:
    """Seconds of silence after which a process is taken for dead."""
    return float(os.environ.get(PATIENCE, SECONDS))


class ProcessLost(RuntimeError):
    """Another process of this run has died, or does not answer."""


@cache
def living(client: Any, rank: int) -> None:
    """From now on this process gives signs of life, whatever else it does."""

    over = threading.Event()

    def beat() -> None:
        for count in itertools.count():
            try:
                client.key_value_set(f"discrete_hamel/alive/{rank}", str(count), allow_overwrite=True)
            except Exception:
                return  # whoever waits next finds out and says so
            if over.wait(min(BEAT, patience() / 4)):
                return

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()

    @atexit.register
    def still() -> None:
        """Python ends threads the hard way, which C++ answers by ending the process."""
        over.set()
        thread.join(LAST_BEAT)


def ended(client: Any, rank: int, how: str) -> None:
    """Tell the others that this process ends before its time."""
    with suppress(Exception):
        client.key_value_set(f"discrete_hamel/ended/{rank}", how)


class Team:
    """The processes of a run: here, only this one."""

    first = True
    count = 1

    def exchange(self, what: str, text: str) -> list[str]:  # noqa: ARG002  # others need the name
        """What each process says of something, this one `text`."""
        return [text]

    def share(self, blocks: Sequence[int], own: Sequence[int] | None = None) -> list[int]:
        """Of these blocks, those that this process takes: those whose data it has, if not all have all."""
        return list(blocks) if own is None else [k for k in blocks if k in own]

    def attempt(self, action: Callable[[], None]) -> None:
        """Something that the first process does for all."""
        action()

    def await_first(self) -> None:
        """Wait until the first process has done it."""

    def all_done(self) -> None:
        """Wait until all have done their shares."""

    def together(self, contents: Any, results: dict[int, Any], members: int) -> dict[str, np.ndarray]:
        """The arrays of all members, from the blocks of all processes."""
        parts = {name: [results[k][name] for k in sorted(results)] for name in contents.columns}
        return {name: np.concatenate(blocks)[:members] for name, blocks in parts.items()}

    @contextmanager
    def computing(self) -> Iterator[None]:
        """What all processes compute together."""
        yield


class Several(Team):
    """Several processes, which meet at the coordination service; each run of an ensemble is a new meeting."""

    meetings = 0

    def __init__(self, client: Any, rank: int, count: int, remedy: str) -> None:
        Several.meetings += 1
        self.client, self.rank, self.count, self.first = client, rank, count, rank == 0
        self.room, self.remedy = f"discrete_hamel/{Several.meetings}", remedy
        self.patience, self.computations = patience(), 0
        living(client, rank)

    def _say(self, what: str, value: str) -> None:
        try:
            self.client.key_value_set(f"{self.room}/{what}", value)
        except Exception as error:
            raise self._lost_service(error) from None

    def _lost_service(self, error: Exception) -> ProcessLost:
        return ProcessLost(
            "the coordination service does not answer, so the machine of process 0 has died or is out of reach "
            f"({str(error).splitlines()[0][:100]}). {self.remedy}."
        )

    def _wait(self, what: str, of: int) -> str:
        """What process `of` says, or a sentence if it has ended, or falls silent, before."""
        beat, since = None, time.monotonic()
        while True:
            try:
                return self.client.blocking_key_value_get(f"{self.room}/{what}", int(1000 * BEAT))
            except Exception as error:
                trouble = None if "DEADLINE" in str(error) else error
            if how := self._read(f"ended/{of}"):
                raise ProcessLost(f"process {of} of {self.count} has ended with {how}. {self.remedy}.")
            now = self._read(f"alive/{of}")
            if now is not None and now != beat:
                beat, since = now, time.monotonic()
            silent, limit = time.monotonic() - since, self.patience * (1 if beat else UNHEARD)
            if trouble and silent > self.patience / 4:
                raise self._lost_service(trouble)
            if silent > limit:
                raise ProcessLost(
                    f"process {of} of {self.count} has given no sign of life for {silent:.0f} s: it has died, or its "
                    f"machine is out of reach. {self.remedy}."
                )
            if trouble:
                time.sleep(BEAT)

    def _read(self, what: str) -> str | None:
        try:
            return self.client.key_value_try_get(f"discrete_hamel/{what}")
        except Exception:
            return None

    def exchange(self, what: str, text: str) -> list[str]:
        self._say(f"{what}/{self.rank}", text)
        return [self._wait(f"{what}/{of}", of) for of in range(self.count)]

    def share(self, blocks: Sequence[int], own: Sequence[int] | None = None) -> list[int]:
        if self.first:
            self._say("blocks", json.dumps(list(blocks)))
        told = json.loads(self._wait("blocks", 0))
        return told[self.rank :: self.count] if own is None else [k for k in told if k in own]

    def attempt(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self._say("first", f"{type(error).__name__}: {error}")
            raise
        self._say("first", "")

    def await_first(self) -> None:
        if told := self._wait("first", 0):
            raise RuntimeError(f"the first process could not begin: {told}")

    def all_done(self) -> None:
        """Those who live finish their shares whoever has died; the first, whose service all may need, leaves last."""
        self._say(f"done/{self.rank}", "")
        if lost := self._lost("done"):
            self._say(f"left/{self.rank}", "")
            if self.first:
                self._lost("left")
                time.sleep(2 * BEAT)  # for what they still have to say
            raise lost

    def _lost(self, what: str) -> ProcessLost | None:
        """Wait for each process; the first that does not come."""
        lost = None
        for of in range(self.count):
            try:
                self._wait(f"{what}/{of}", of)
            except ProcessLost as error:
                lost = lost or error
        return lost

    @contextmanager
    def computing(self) -> Iterator[None]:
        self.computations += 1
        self.exchange(f"computing/{self.computations}", "")  # who is dead already has a sentence
        try:
            yield
        except jax.errors.JaxRuntimeError as error:
            words = str(error).splitlines()[0][:200]
            raise ProcessLost(
                f"what the {self.count} processes compute together broke off, so one of them has died or is out of "
                f"reach ({words}). {self.remedy}."
            ) from None

    def together(self, contents: Any, results: dict[int, Any], members: int) -> dict[str, np.ndarray]:
        """Each process has its own shard of an array over the processes' devices, of which all then get the whole."""
        from jax.experimental.multihost_utils import process_allgather

        self.all_done()
        whole = {}
        for name, column in contents.columns.items():
            size = column.chunk
            blocks = -(-members // size)
            most = -(-blocks // self.count)
            local = np.zeros((most, size, *column.shape), column.dtype)
            for slot, number in enumerate(range(self.rank, blocks, self.count)):
                rows = results[number][name]
                local[slot, : len(rows)] = rows
            with self.computing():
                shards = np.asarray(process_allgather(local))  # (processes, most, size, ...)
            in_order = np.swapaxes(shards, 0, 1).reshape(most * self.count * size, *column.shape)
            whole[name] = in_order[:members]
        return whole


NOTHING_KEPT = "Nothing is kept without a store: give store=... and resume=True, and launch again"


def team(store: Any = None) -> Team:
    """The processes that take part: those that jax.distributed knows of."""
    from jax._src.distributed import global_state  # the only way to the coordination service's client

    if global_state.client is None or global_state.num_processes == 1:
        return Team()
    kept = f"Finished blocks are in {store}; launch the same command again with resume=True to go on"
    remedy = NOTHING_KEPT if store is None else kept
    return Several(global_state.client, global_state.process_id, global_state.num_processes, remedy)

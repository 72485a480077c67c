"""One ensemble by many processes, through JAX's own distributed runtime: who takes what, and what if one dies.

Nothing here computes. The processes agree on their shares through the coordination service that
`jax.distributed.initialize` starts (by `discrete_hamel.launch`, so that the user's script stays as it is).
"""

import json
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

PATIENCE = "DISCRETE_HAMEL_PATIENCE"  # environment: seconds of silence after which a process is taken for dead
SECONDS = 60.0
BEAT = 0.5  # seconds between signs of life, at least


def patience() -> float:
    """Seconds of silence after which a process is taken for dead."""
    return float(os.environ.get(PATIENCE, SECONDS))


class ProcessLost(RuntimeError):
    """Another process of this run has died, or does not answer."""


class Team:
    """The processes of a run: here, only this one."""

    first = True
    count = 1

    def share(self, blocks: Sequence[int]) -> list[int]:
        """The blocks that this process takes."""
        return list(blocks)

    def attempt(self, action: Callable[[], None]) -> None:
        """Something that the first process does for all."""
        action()

    def await_first(self) -> None:
        """Wait until the first process has done it."""

    def all_done(self, remedy: str) -> None:
        """Wait until all have done their shares."""

    def together(self, contents: Any, results: dict[int, Any], members: int) -> dict[str, np.ndarray]:
        """The arrays of all members, from the blocks of all processes."""
        parts = {name: [results[k][name] for k in sorted(results)] for name in contents.columns}
        return {name: np.concatenate(blocks)[:members] for name, blocks in parts.items()}


class Several(Team):
    """Several processes, which meet at the coordination service; each run of an ensemble is a new meeting."""

    meetings = 0

    def __init__(self, client: Any, rank: int, count: int) -> None:
        Several.meetings += 1
        self.client, self.rank, self.count, self.first = client, rank, count, rank == 0
        self.room = f"discrete_hamel/{Several.meetings}"
        self.patience = patience()
        self.over = threading.Event()
        threading.Thread(target=self._live, daemon=True).start()

    def _live(self) -> None:
        beat = 0
        while not self.over.wait(min(BEAT, self.patience / 4)):
            beat += 1
            try:
                self.client.key_value_set(f"{self.room}/alive/{self.rank}", str(beat), allow_overwrite=True)
            except Exception:
                return  # whoever waits next finds out and says so

    def _say(self, what: str, value: str) -> None:
        self.client.key_value_set(f"{self.room}/{what}", value)

    def _wait(self, what: str, of: int, remedy: str) -> str:
        """What process `of` says, or a sentence if it falls silent before."""
        beat, since = None, time.monotonic()
        while True:
            try:
                return self.client.blocking_key_value_get(f"{self.room}/{what}", int(1000 * BEAT))
            except Exception as error:
                trouble = "" if "DEADLINE" in str(error) else " (its coordination service does not answer)"
            now = self._beat(of)
            if now is not None and now != beat:
                beat, since = now, time.monotonic()
            silent = time.monotonic() - since
            if silent > self.patience or trouble and silent > self.patience / 4:
                raise ProcessLost(
                    f"process {of} of {self.count} has given no sign of life for {silent:.0f} s{trouble}: it has died, "
                    f"or its machine is out of reach. {remedy}."
                ) from None
            if trouble:
                time.sleep(BEAT)

    def _beat(self, of: int) -> str | None:
        try:
            return self.client.key_value_try_get(f"{self.room}/alive/{of}")
        except Exception:
            return None

    def share(self, blocks: Sequence[int]) -> list[int]:
        if self.first:
            self._say("blocks", json.dumps(list(blocks)))
        told = json.loads(self._wait("blocks", 0, "Launch again"))
        return told[self.rank :: self.count]

    def attempt(self, action: Callable[[], None]) -> None:
        try:
            action()
        except Exception as error:
            self._say("first", f"{type(error).__name__}: {error}")
            raise
        self._say("first", "")

    def await_first(self) -> None:
        if told := self._wait("first", 0, "Launch again"):
            raise RuntimeError(f"the first process could not begin: {told}")

    def all_done(self, remedy: str) -> None:
        """Those who live finish their shares whoever has died; the first, whose service all need, leaves last."""
        self._say(f"done/{self.rank}", "")
        if lost := self._lost("done", remedy):
            self._say(f"left/{self.rank}", "")
            if self.first:
                self._lost("left", remedy)
                time.sleep(2 * BEAT)  # for what they still have to say
        self.over.set()
        if lost:
            raise lost

    def _lost(self, what: str, remedy: str) -> ProcessLost | None:
        """Wait for each process; the first that does not come."""
        lost = None
        for of in range(self.count):
            try:
                self._wait(f"{what}/{of}", of, remedy)
            except ProcessLost as error:
                lost = lost or error
        return lost

    def together(self, contents: Any, results: dict[int, Any], members: int) -> dict[str, np.ndarray]:
        """Each process has its own shard of an array over the processes' devices, of which all then get the whole."""
        from jax.experimental.multihost_utils import process_allgather

        self.all_done("Nothing is kept without a store: give store=... to keep finished blocks")
        whole = {}
        for name, column in contents.columns.items():
            size = column.chunk
            blocks = -(-members // size)
            most = -(-blocks // self.count)
            local = np.zeros((most, size, *column.shape), column.dtype)
            for slot, number in enumerate(range(self.rank, blocks, self.count)):
                rows = results[number][name]
                local[slot, : len(rows)] = rows
            shards = np.asarray(process_allgather(local))  # (processes, most, size, ...)
            in_order = np.swapaxes(shards, 0, 1).reshape(most * self.count * size, *column.shape)
            whole[name] = in_order[:members]
        return whole


def team() -> Team:
    """The processes that take part: those that jax.distributed knows of."""
    from jax._src.distributed import global_state  # the only way to the coordination service's client

    if global_state.client is None or global_state.num_processes == 1:
        return Team()
    return Several(global_state.client, global_state.process_id, global_state.num_processes)

"""Who runs which block of a store: claims, files with a heartbeat, of which any number of processes make their own.

A claim of block k is the file `k.0`. Creating it is exclusive, so one process has it, on any file system. While that
process lives, it sets the file's modification time every BEAT seconds. Who has watched a claim for STALE beats without
a new time takes it for void, and tries the next file, `k.1`: again creation decides who has it, and no file is ever
taken from one who may be alive. Only times of the same file are compared, and durations on one's own clock, so the
clocks of hosts and of the disk may differ.

Claims save work and decide nothing: a block that two processes run is the same to the last bit, and appears whole.
"""

import os
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from discrete_hamel._support.errors import StoreDamaged, StoreFailed

PLACE = "member/.claims"  # beside a label, where readers of Zarr do not look
BEAT = 5.0  # seconds between signs of life
STALE = 4  # beats without a sign of life after which a claim is void


class Claims:
    """The claims of this process in a folder that all see; they live while the context does.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Claims(Path(folder)) as ours, Claims(Path(folder)) as theirs:
    ...     ours.take(7), theirs.take(7), theirs.take(8)
    (True, False, True)
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held: dict[int, int] = {}  # block -> which of its files is ours
        self.watched: dict[Path, tuple[int, float]] = {}  # claims of others: their time, and when we saw it first
        self.lock, self.over = threading.Lock(), threading.Event()
        self.heart = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> "Claims":
        self.heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self.heart.join()
        for number in list(self.held):
            self.release(number)

    def take(self, number: int) -> bool:
        """Claim a block; False if another process has it, or may have it."""
        if self.folder.is_symlink():
            raise StoreDamaged(f"{self.folder} is a link; a store holds its own files.")
        turn = 0
        try:
            self.folder.mkdir(exist_ok=True)
            while not self._create(self._file(number, turn)):
                if not self._void(self._file(number, turn)):
                    return False
                turn += 1
        except OSError as error:
            raise StoreFailed(
                f"no block can be claimed in {self.folder}: {error.strerror}. Those in the store are whole; "
                "the same call goes on with the others."
            ) from error
        with self.lock:
            self.held[number] = turn
        return True

    def release(self, number: int) -> None:
        """Give a claim back, and remove those that had become void before it."""
        with self.lock:
            last = self.held.pop(number)
        for turn in range(last + 1):
            with suppress(OSError):  # on a disk that is gone it becomes void by itself
                self._file(number, turn).unlink()

    def _file(self, number: int, turn: int) -> Path:
        return self.folder / f"{number}.{turn}"

    def _create(self, path: Path) -> bool:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return False
        with open(handle, "wb", buffering=0) as file, suppress(OSError):  # a full disk has no room for it
            file.write(f"process {os.getpid()} on {socket.gethostname()}\n".encode())  # for people who look
        return True

    def _void(self, path: Path) -> bool:
        """Whether nobody has given this claim a sign of life for STALE beats of ours."""
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)  # opened, since NFS then asks the server for the time
        except OSError:
            return False  # given back meanwhile
        try:
            seen, now = os.fstat(handle).st_mtime_ns, time.monotonic()
        finally:
            os.close(handle)
        before, since = self.watched.get(path, (None, now))
        if seen != before:
            self.watched[path] = (seen, now)
            return False
        return now - since > STALE * BEAT

    def _beat(self) -> None:
        while not self.over.wait(BEAT):
            with self.lock:
                files = [self._file(number, turn) for number, turn in self.held.items()]
            for file in files:
                with suppress(OSError):  # at worst a block is run twice
                    os.utime(file, follow_symlinks=False)  # the disk's own now, where it has one

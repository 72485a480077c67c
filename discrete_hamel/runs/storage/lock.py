"""One writer a store: a lock that the operating system frees when its process dies, however it dies."""

import json
import os
import socket
from pathlib import Path

from discrete_hamel._support.errors import StoreBusy

PLACE = "time/.lock"  # beside chunks, where readers of Zarr do not look


class Lock:
    """Held from its making until `release`; a second one on the same store is refused, with who holds the first."""

    def __init__(self, store: Path, shown: Path, place: str = PLACE) -> None:
        import fcntl  # not on Windows, where only this part of the library is missing

        path = store / place
        path.parent.mkdir(exist_ok=True)
        self.handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _holder(self.handle)
            os.close(self.handle)
            raise StoreBusy(
                f"{shown} is being written by {holder}. Wait until that ends, or use another store."
            ) from None
        except OSError:
            os.close(self.handle)
            raise
        # What a process that died left here is out of date: the lock was free.
        os.ftruncate(self.handle, 0)
        os.pwrite(self.handle, json.dumps({"process": os.getpid(), "host": socket.gethostname()}).encode(), 0)

    def release(self) -> None:
        """Let others write."""
        os.close(self.handle)


def _holder(handle: int) -> str:
    try:
        told = json.loads(os.pread(handle, 4096, 0))
        return f"process {int(told['process'])} on {str(told['host'])!r}"
    except (ValueError, TypeError, KeyError):
        return "another process"

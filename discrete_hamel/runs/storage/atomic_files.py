"""Files that are whole or absent: written under another name, flushed to the disk, renamed, and that flushed too."""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from discrete_hamel._support.errors import StoreDamaged

PART = ".part"  # ends the name of a file that is being written
AT_ONCE = 16  # flushes under way at once: a journal serves them together


def flush(path: Path) -> None:
    """Have a file, or a folder's list of names, on the disk before this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _all_flushed(paths: Iterable[Path]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(flush, paths))


class WriteBatch:
    """Files that appear together: `put` writes them beside their names, `finish` flushes and renames them.

    Between the two, and after a kill in between, all files have their old contents or none. Where several processes may
    write the same file at once, each does so under names with a `mark` of its own.
    """

    def __init__(self, mark: str = "") -> None:
        self.waiting: dict[Path, Path] = {}
        self.ending = f".{mark}{PART}" if mark else PART

    def put(self, path: Path, parts: Iterable[bytes], *, aside: Path | None = None) -> None:
        """Write a file that will be `path`, for now under another name beside it or in another folder."""
        beside = path.with_name(path.name + self.ending) if aside is None else aside / f"above{path.name}{self.ending}"
        self.waiting[path] = beside
        # No link is followed: a store from elsewhere must not make us write outside of it.
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666)
        with open(handle, "wb") as file:
            file.writelines(parts)

    def finish(self) -> None:
        """Flush all files, give them their names, and flush these."""
        if not self.waiting:
            return
        _all_flushed(self.waiting.values())
        for path, beside in self.waiting.items():
            os.replace(beside, path)
        _all_flushed({path.parent for path in self.waiting})
        self.waiting.clear()

    def drop(self) -> None:
        """Remove what has been written and will not appear, as on a full disk."""
        for beside in self.waiting.values():
            beside.unlink(missing_ok=True)
        self.waiting.clear()


def write(path: Path, contents: bytes, *, aside: Path | None = None) -> None:
    """Replace one file, durably and at once."""
    batch = WriteBatch()
    try:
        batch.put(path, [contents], aside=aside)
        batch.finish()
    except OSError:
        batch.drop()
        raise


def read(path: Path) -> bytes:
    """A file's contents; links and other things that are no file are refused."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise StoreDamaged(f"{path} is missing.") from None
    except OSError as error:
        raise StoreDamaged(f"{path} cannot be read: {error.strerror}.") from None
    try:
        with open(handle, "rb") as file:
            return file.read()
    except OSError as error:
        raise StoreDamaged(f"{path} cannot be read: {error.strerror}.") from None

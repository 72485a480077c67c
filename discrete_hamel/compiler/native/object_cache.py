"""Object code kept on disk from one process to the next, in a folder that is the user's alone.

What is kept is asked for by a digest of all that it was made from: the text, the level, the processor and what it can
do, and the versions that made it. DISCRETE_HAMEL_CACHE names another folder, or is "off".

What is promised: code is run only from a file that this user owns and nobody else can write, in a folder of which the
same holds, and not through a link; a file that was cut, changed, or kept under another digest is passed over, as each
begins with the checksum of its digest and its code. Not promised: anything against who can write as this user. They
can change the library itself, and any key that it could sign with.
"""

import hashlib
import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 200_000_000  # of all files; beyond, those not used for longest go
VARIABLE = "DISCRETE_HAMEL_CACHE"
CHECKSUM = 32  # bytes


def folder() -> Path | None:
    """Where object code is kept; None if it is not."""
    asked = os.environ.get(VARIABLE, "")
    if asked.lower() in ("off", "0", "no", "false"):
        return None
    home = {"darwin": "~/Library/Caches", "win32": os.environ.get("LOCALAPPDATA", "~/AppData/Local")}
    base = os.environ.get("XDG_CACHE_HOME") or home.get(sys.platform, "~/.cache")
    try:
        return Path(asked or f"{base}/discrete_hamel").expanduser()
    except RuntimeError:  # there is no such home, as for a user that the system does not know
        return None


def digest(*parts: str) -> str:
    """What object code made from these parts is asked for by."""
    whole = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        whole.update(len(encoded).to_bytes(8, "little") + encoded)
    return whole.hexdigest()


def read(name: str) -> bytes | None:
    """The object code kept under a digest, if it is there and whole."""
    place = folder()
    if place is None:
        return None
    try:
        descriptor = os.open(
            place / f"{name}.o", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        )
        with os.fdopen(descriptor, "rb") as file:
            if not (_ours(os.fstat(file.fileno())) and _ours(place.stat())):
                return None
            content = file.read()
        os.utime(place / f"{name}.o")
    except OSError:
        return None
    code = content[CHECKSUM:]
    return code if code and _checksum(name, code) == content[:CHECKSUM] else None


def keep(name: str, code: bytes, small: bool = False) -> None:
    """Keep object code under its digest, where that is possible; nothing depends on it. For a `small` file, which comes
    with larger ones, no other has to go."""
    place = folder()
    if place is None:
        return
    with suppress(OSError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _ours(place.stat()):
            return
        descriptor, partial = tempfile.mkstemp(dir=place, suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_checksum(name, code) + code)
            os.replace(partial, place / f"{name}.o")
        except BaseException:
            os.unlink(partial)
            raise
        if not small:
            _trim(place)


def _checksum(name: str, code: bytes) -> bytes:
    return hashlib.sha256(name.encode() + code).digest()


def _ours(what: os.stat_result) -> bool:
    """Whether a file or folder belongs to this user, and nobody else can write to it."""
    if not hasattr(os, "geteuid"):
        return True  # the folder is the user's own by where it is
    return what.st_uid == os.geteuid() and not what.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _trim(place: Path) -> None:
    """Delete what has not been used for longest, beyond MOST_BYTES."""
    files = []
    for path in [*place.glob("*.o"), *place.glob("*.part")]:
        with suppress(OSError):
            found = path.stat()
            files.append((found.st_mtime, found.st_size, path))
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= MOST_BYTES:
            return
        with suppress(OSError):
            path.unlink()
            total -= size

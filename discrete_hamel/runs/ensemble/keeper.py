"""Beside each process of a run on many: a small one that outlives it, holds what all need, and says it when it died.

A process that dies cannot say so, and process 0 would take JAX's coordination service with it, without which JAX ends
all others at once. So the service lives here, and stays until the last of the others has left.
`discrete_hamel.cli.launch` starts this file as a program: it reads lines of JSON, and imports as little as it can.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

OVER, SAID = "over", "said"  # all is well; it ends early, and has said why
EMPTY = 5.0  # seconds without any connection after which nobody needs the service
LONGEST = 86400.0  # seconds that the service outlives process 0: a machine without power leaves its connections open
TABLES = ("/proc/net/tcp", "/proc/net/tcp6")  # of Linux; elsewhere the service stays for LONGEST
ESTABLISHED = "01"


class Keeper:
    """The process beside this one."""

    def __init__(self) -> None:
        program = [sys.executable, "-P", __file__]
        self.process = subprocess.Popen(
            program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True
        )

    def _tell(self, word: Any) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(word) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it is gone, and nobody is left to tell

    def service(self, *arguments: Any, **options: Any) -> "Keeper":
        """In place of `get_distributed_runtime_service`: the service with these arguments, there instead of here."""
        self._tell([arguments, options])
        return self

    def stands_by(self, who: str) -> None:
        """From now on it speaks for this process, should that end without a word."""
        self._tell(who)

    def shutdown(self) -> None:
        """What JAX asks of a service once all have left; `over` does it."""

    def said(self) -> None:
        """This process ends early and has told why."""
        self._tell(SAID)

    def over(self) -> None:
        """This process, and so all of them, has come to its end."""
        self._tell(OVER)
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(EMPTY)


def connected(port: int) -> bool:
    """Whether anybody has a connection with this port."""
    for table in map(Path, TABLES):
        if not table.exists():
            return True
        for line in table.read_text().splitlines()[1:]:
            _, here, _, status, *_ = line.split()
            if status == ESTABLISHED and int(here.rpartition(":")[2], 16) == port:
                return True
    return False


def linger(port: int) -> None:
    """Stay until nobody needs the service."""
    begin = used = time.monotonic()
    while (now := time.monotonic()) - used < EMPTY and now - begin < LONGEST:
        time.sleep(EMPTY / 10)
        if connected(port):
            used = time.monotonic()


def main() -> None:
    """Serve until the process beside this one has ended."""
    service, port, who = None, 0, None
    for line in sys.stdin:
        word = json.loads(line)
        if isinstance(word, list):
            from jaxlib import _jax

            arguments, options = word
            service, port = (
                _jax.get_distributed_runtime_service(*arguments, **options),
                int(arguments[0].split(":")[-1]),
            )
        else:
            who = word
    if who not in (OVER, SAID, None):
        print(
            f"{who} has ended without a word: it was killed (out of memory?), or JAX has ended it because the machine "
            "of process 0 is gone. What it had finished is in the store, if there is one; launch the same command "
            "again with resume=True to go on.",
            file=sys.stderr,
            flush=True,
        )
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())  # whoever reads it waits for the end of the process
    if service is not None:
        if who != OVER:
            linger(port)
        service.shutdown()


if __name__ == "__main__":
    main()

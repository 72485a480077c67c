"""Run a script by several processes of this machine: python -m discrete_hamel.cli.launch --local 4 script.py ...

Each runs the same script; `dh.ensemble(..., store=...)` in it shares the blocks of the store out. A process that dies
leaves its blocks to the others, so the launch succeeds if one of them comes to the end of the script. On a cluster
there is nothing to launch: start the script on every host, as tasks of one job or of many.
"""

import argparse
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO

GRACE = 30.0  # seconds that processes have to end after Ctrl-C
LOOK = 0.1  # seconds between looks at who has ended


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m discrete_hamel.cli.launch", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--local", type=int, metavar="P", required=True, help="start P processes on this machine")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    asked = parser.parse_args(arguments)
    if asked.local < 1:
        parser.error(f"--local takes a number of processes, at least 1; got {asked.local}")
    command = [sys.executable, asked.script, *asked.arguments]
    started = [subprocess.Popen(command)]  # it alone has the terminal, for its progress
    started += [_quiet(command) for _ in range(asked.local - 1)]
    try:
        return _watch(started)
    except KeyboardInterrupt:  # the processes have had it too, and have something to say
        for process in started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
        return 128 + signal.SIGINT
    finally:
        for process in started:
            process.kill()  # does nothing to those that have ended
            process.wait()


def _quiet(command: list[str]) -> subprocess.Popen:
    """A process that sees no terminal, whose errors are shown all the same."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    threading.Thread(target=_show, args=(process.stderr,)).start()
    return process


def _show(errors: IO[str]) -> None:
    with errors:
        for line in errors:
            print(line, end="", file=sys.stderr, flush=True)


def _watch(started: list[subprocess.Popen]) -> int:
    """0 if one has come to the end of the script, else the worst exit code; who fails is told at once."""
    running = dict(enumerate(started))
    while running:
        for k, process in list(running.items()):
            code = process.poll()
            if code is not None:
                del running[k]
            if code:
                how = f"been killed by signal {-code}" if code < 0 else f"ended with code {code}"
                rest = (
                    "its blocks go to the others" if running else "the same command goes on with what is in the store"
                )
                print(f"process {k} of {len(started)} has {how}; {rest}.", file=sys.stderr, flush=True)
        time.sleep(LOOK)
    codes = [abs(process.returncode) for process in started]
    return 0 if 0 in codes else max(codes)


if __name__ == "__main__":
    sys.exit(main())

"""Run a script by several processes: python -m discrete_hamel.launch [--local 4 | --processes P ...] script.py ...

Each process runs the same script; `dh.ensemble` in it shares the members out. On a cluster start it once a host and let
JAX find the others (Slurm, Open MPI, Kubernetes): srun python -m discrete_hamel.launch script.py. Where it cannot, say
--coordinator HOST:PORT --processes P --process I. With --local P it starts P processes on this machine.
"""

import argparse
import os
import runpy
import socket
import subprocess
import sys
import time
import traceback
from pathlib import Path

FOREVER = 10**6  # seconds: whether a process lives is watched by discrete_hamel.ensembles.processes, in sentences

GRACE = 30.0  # seconds, beside the patience of processes with each other


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m discrete_hamel.launch", description=__doc__.splitlines()[0])
    parser.add_argument("--local", type=int, metavar="P", help="start P processes on this machine")
    parser.add_argument("--coordinator", metavar="HOST:PORT", help="where process 0 listens")
    parser.add_argument("--processes", type=int, metavar="P", help="how many there are")
    parser.add_argument("--process", type=int, metavar="I", help="which this one is")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    told = parser.parse_args(arguments)
    if told.local is not None:
        return _here(told.local, [told.script, *told.arguments])
    return _one(told.coordinator, told.processes, told.process, told.script, told.arguments)


def _here(count: int, command: list[str]) -> int:
    if count < 1:
        print(f"--local takes a number of processes, at least 1; got {count}.", file=sys.stderr)
        return 2
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "discrete_hamel.launch", "--coordinator", place, "--processes", str(count),
             "--process", str(k), *command]
        )
        for k in range(count)
    ]  # fmt: skip
    try:
        return _watched(started)
    finally:
        for process in started:
            process.kill()  # does nothing to those that have ended
            process.wait()


def _watched(started: list[subprocess.Popen]) -> int:
    """The worst exit code. When one process has failed, the others have time to notice and say so, not for ever."""
    from discrete_hamel.ensembles.processes import patience

    failed_at = None
    while any(process.poll() is None for process in started):
        time.sleep(0.1)
        failed = [k for k, process in enumerate(started) if process.poll()]
        if failed_at is None and failed:
            failed_at = time.monotonic()
            print(
                f"process {failed[0]} of {len(started)} has ended with code {started[failed[0]].returncode}; "
                "what it had finished is in the store, if there is one, and a relaunch goes on from there.",
                file=sys.stderr,
            )
        if failed_at is not None and time.monotonic() - failed_at > 2 * patience() + GRACE:
            print("a process has failed and the others do not end by themselves: they are ended now.", file=sys.stderr)
            return 1
    return max(abs(process.returncode) for process in started)


def _one(coordinator: str | None, processes: int | None, process: int | None, script: str, rest: list[str]) -> int:
    import jax

    jax.distributed.initialize(coordinator, processes, process, heartbeat_timeout_seconds=FOREVER)
    import discrete_hamel  # noqa: F401  # before the script, which may make arrays first

    sys.argv = [script, *rest]
    sys.path.insert(0, str(Path(script).parent))
    try:
        runpy.run_path(script, run_name="__main__")
    except BaseException as error:
        _say(error, jax.process_index())
        _leave(error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1)
    jax.distributed.shutdown()
    return 0


def _say(error: BaseException, process: int) -> None:
    from discrete_hamel.ensembles.processes import ProcessLost

    if isinstance(error, ProcessLost):
        print(f"process {process}: {error}", file=sys.stderr)
    elif not isinstance(error, SystemExit):
        traceback.print_exception(error)


def _leave(code: int) -> None:
    """End now: JAX's own shutdown would wait for processes that are not there any more."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())

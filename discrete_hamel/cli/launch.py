"""Run a script by several processes: python -m discrete_hamel.cli.launch [--local 4 | --processes P ...] script.py ...

Each process runs the same script; `dh.ensemble` in it shares the members out. On a cluster start it once a host and let
JAX find the others (Slurm, Open MPI, Kubernetes): srun python -m discrete_hamel.cli.launch script.py. Where it cannot,
say --coordinator HOST:PORT --processes P --process I. With --local P it starts P processes on this machine.
"""

import argparse
import os
import runpy
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

FOREVER = 10**6  # seconds: whether a process lives is watched by discrete_hamel.runs.ensemble.processes, in sentences

GRACE = 30.0  # seconds, beside the patience of processes with each other


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m discrete_hamel.cli.launch", description=(__doc__ or "").partition("\n")[0]
    )
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
            [sys.executable, "-m", "discrete_hamel.cli.launch", "--coordinator", place, "--processes", str(count),
             "--process", str(k), *command]
        )
        for k in range(count)
    ]  # fmt: skip
    try:
        return _watched(started)
    except KeyboardInterrupt:  # the processes have had it too, and have something to say
        for process in started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
        return 128 + signal.SIGINT
    finally:
        for process in started:
            process.kill()  # does nothing to those that have ended
            process.wait()


def _watched(started: list[subprocess.Popen]) -> int:
    """The worst exit code. When one process has failed, the others have time to notice and say so, not for ever."""
    from discrete_hamel.runs.ensemble.processes import patience

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

    import discrete_hamel  # noqa: F401  # before the script, which may make arrays first
    from discrete_hamel.runs.ensemble.keeper import Keeper
    from discrete_hamel.runs.ensemble.processes import living, team

    keeper = Keeper()
    with _served_by(keeper) as distributed:
        jax.distributed.initialize(coordinator, processes, process, heartbeat_timeout_seconds=FOREVER)
    client, rank, count = distributed.client, distributed.process_id, distributed.num_processes
    keeper.stands_by(f"process {rank} of {count}")
    living(client, rank)
    sys.argv = [script, *rest]
    sys.path.insert(0, str(Path(script).parent))
    try:
        _run(script)
        team().all_done()
        jax.distributed.shutdown()
    except BaseException as error:
        _say(error, client, rank)
        keeper.said()
        _leave(error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else 1)
    keeper.over()
    return 0


def _run(script: str) -> None:
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code:
            raise


@contextmanager
def _served_by(keeper: Any) -> Iterator[Any]:
    """JAX's state of many processes; the service that it starts in process 0 lives with the keeper instead."""
    from jax._src import distributed

    name = "get_distributed_runtime_service"
    library = getattr(distributed, "_jax", None)
    plain = getattr(library, name, None)
    if plain is None:  # another version of JAX: then the service is in process 0, and dies with it
        yield distributed.global_state
        return
    setattr(library, name, keeper.service)
    try:
        yield distributed.global_state
    finally:
        setattr(library, name, plain)


def _say(error: BaseException, client: Any, process: int) -> None:
    from discrete_hamel.runs.ensemble.processes import ProcessLost, ended

    if isinstance(error, ProcessLost | KeyboardInterrupt):
        print(f"process {process}: {str(error) or 'interrupted.'}", file=sys.stderr)
    elif isinstance(error, SystemExit):
        print(f"process {process}: the script has ended with {error.code}", file=sys.stderr)
    else:
        traceback.print_exception(error)
    first_line = (str(error).splitlines() or [""])[0][:200]
    ended(client, process, f"{type(error).__name__}{': ' * bool(first_line)}{first_line}")


def _leave(code: int) -> None:
    """End now: JAX's own shutdown would wait for processes that are not there any more."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())

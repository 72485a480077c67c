"""The command line, `discrete-hamel COMMAND`: each command is a module with HELP, ABOUT, EXAMPLES, add and execute."""

import argparse
import difflib
import os
import re
import signal
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NoReturn

from jax.errors import JaxRuntimeError

import discrete_hamel as dh
from discrete_hamel.cli import audit, bench, compare, completion, doctor, figures, run, show, sweep, systems

INTERRUPTED = 128 + signal.SIGINT  # the exit status of what Ctrl-C ended, as in a shell
COMMANDS = (systems, run, sweep, show, compare, audit, figures, bench, doctor, completion)

EXAMPLES = """examples:
  discrete-hamel systems                                   what there is
  discrete-hamel systems ChaplyginSleigh                   one system: parameters, coordinates, equations
  discrete-hamel run ChaplyginSleigh                       its sample motion
  discrete-hamel run ChaplyginSleigh --set mass=2 --q 0 0 0 --xi 1.5 -0.3 --h 0.01 --steps 5000 --plot run.png
  discrete-hamel run RollingDisk --animate disk.gif        a film of it (.gif, .html, .mp4)
  discrete-hamel run RollingDisk --scheme "DiscreteHamel(tau=0.4)"
  discrete-hamel run skate.py --q 0 0 0 --xi 2 0           a system of your own, from a Python file
  discrete-hamel sweep ChaplyginSleigh --over offset=0.1:0.5:9 --store sleighs.zarr
  discrete-hamel show sleighs.zarr                         what a store holds
  discrete-hamel compare RollingDisk --schemes DiscreteHamel "Gauss(stages=2)"
  discrete-hamel audit SphericalPendulum                   what is kept, and on what ground
  discrete-hamel doctor                                    what works here
  discrete-hamel figures                                   the papers' figures, with their claims checked
  discrete-hamel bench --quick                             how fast it is here, beside C and other libraries

discrete-hamel COMMAND --help tells the options of a command.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status: 0 done, 1 a run or claim failed, 2 wrong arguments, 130 Ctrl-C."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    parser = _parser()
    if not words:
        parser.print_help(sys.stderr)
        return 2
    options = parser.parse_args([_space(word) for word in words])
    try:
        return options.command(options)
    except dh.RunFailed as failure:
        print(f"discrete-hamel: the run stopped. {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:  # a RunInterrupted says how far the run was
        print(f"discrete-hamel: {str(interrupt) or 'interrupted.'}", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # `| head`: nobody reads on, and Python's own last flush should not complain
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        print(
            "discrete-hamel: out of memory. Keep fewer nodes (--save-every N) or do fewer steps; from Python, "
            "dh.simulate(..., store=...) keeps a run on disk and not in memory.",
            file=sys.stderr,
        )
        return 1
    except JaxRuntimeError as error:  # what the machine refuses XLA: memory, mostly
        print(f"discrete-hamel: JAX could not go on: {(str(error).splitlines() or [''])[0]}", file=sys.stderr)
        return 1
    except (ValueError, TypeError, ImportError, OSError) as error:
        print(f"discrete-hamel: {error}", file=sys.stderr)
        return 2


class Parser(argparse.ArgumentParser):
    """Argparse that names the nearest of `words` where it meets one that it does not know."""

    words: tuple[str, ...] = ()

    def __init__(self, **options: object) -> None:
        super().__init__(**{"allow_abbrev": False} | options)  # type: ignore[arg-type]  # no mistyped run

    def error(self, message: str) -> NoReturn:
        """Refuse the line, with a hint."""
        unknown = re.search(r"COMMAND: invalid choice: '([^']*)'|unrecognized arguments: +(-[^ =]*)", message)
        word = (unknown.group(1) or unknown.group(2) or "") if unknown else ""
        near = difflib.get_close_matches(word, self.words, n=1, cutoff=0.5)
        if word in self.words:  # right, but elsewhere
            super().error(f"{message}: another command has it; COMMAND --help lists what this one has.")
        super().error(message + (f". Did you mean {near[0]}?" if near else ""))


def _parser() -> Parser:
    parser = Parser(
        prog="discrete-hamel",
        description="Simulate mechanical systems with velocity constraints by discrete Hamel schemes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"discrete_hamel {dh.__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        _add(commands, command)
    options = {
        word for command in commands.choices.values() for word in re.findall(r"--[a-z-]+", command.format_usage())
    }
    parser.words = (*commands.choices, *sorted(options))
    return parser


def _add(commands: "argparse._SubParsersAction[Parser]", command: ModuleType) -> None:
    parser = commands.add_parser(
        command.__name__.rpartition(".")[2],
        help=command.HELP,
        description=command.ABOUT,
        epilog=getattr(command, "EXAMPLES", None),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add(parser)
    parser.set_defaults(command=command.execute, commands=commands.choices)


def _space(word: str) -> str:
    """Negative numbers after a space, so that argparse does not take -1e-3 or -1,2 for an option."""
    return f" {word}" if re.fullmatch(r"-[\d.][\d.eE+,-]*", word) else word

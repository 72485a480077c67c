"""`discrete-hamel completion bash|zsh`: a script by which the shell completes commands, options and names."""

import argparse
import inspect

from discrete_hamel.cli import bench, figures
from discrete_hamel.cli.name_lookup import catalogue, schemes

HELP = "print a script for the shell's completion"
ABOUT = """Print a script that completes this command in your shell:
  bash:  eval "$(discrete-hamel completion bash)"     in ~/.bashrc
  zsh:   eval "$(discrete-hamel completion zsh)"      in ~/.zshrc, after compinit"""

SCRIPT = """_discrete_hamel() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" command="${{COMP_WORDS[1]}}" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    else
        case "$command" in
{cases}
        esac
    fi
    local IFS=$'\\n'
    COMPREPLY=($(compgen -W "${{words// /$IFS}}" -- "$word") $(compgen -f -- "$word"))
}}
complete -o filenames -F _discrete_hamel discrete-hamel
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n"
NAMED = ("run", "systems", "compare", "audit", "sweep")  # which take a system's name
SHELLS = ("bash", "zsh")


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    parser.add_argument("shell", choices=SHELLS)


def execute(options: argparse.Namespace) -> int:
    """Print the script."""
    commands = options.commands
    print(inspect.cleandoc(script(commands)) if options.shell == "bash" else ZSH + script(commands))
    return 0


def script(commands: "dict[str, argparse.ArgumentParser]") -> str:
    """The words that each command knows, as one function of the shell."""
    cases = [f'            {name}) words="{" ".join(_words(name, parser))}" ;;' for name, parser in commands.items()]
    return SCRIPT.format(commands=" ".join(commands), cases="\n".join(cases))


def _words(name: str, parser: argparse.ArgumentParser) -> list[str]:
    """Options, and the names that a command takes."""
    options = sorted(word for word in parser._option_string_actions if word.startswith("--"))
    taken = {"completion": SHELLS, "figures": figures.figure_names(), "bench": bench.benchmark_names()}.get(name, ())
    systems = catalogue() if name in NAMED else ()
    return [*options, *taken, *systems, *(schemes() if {"--scheme", "--schemes"} & {*options} else ())]

"""`discrete-hamel compare NAME --schemes ...`: what several schemes do with one motion, in one table."""

import argparse

import discrete_hamel as dh
from discrete_hamel.cli import motion_options
from discrete_hamel.cli.printing import add_json, print_facts

HELP = "compare schemes on one motion"
ABOUT = """Run one motion by several schemes: error against a reference at 1e-12, drift of energy, constraint, and
time a step.

What the line does not say is taken from the system's sample motion, as in discrete-hamel run."""

EXAMPLES = """examples:
  discrete-hamel compare ChaplyginSleigh --t-end 5 --schemes DiscreteHamel "Gauss(stages=2)" RungeKutta4
  discrete-hamel compare RollingDisk --h 0.02 --t-end 2 --equal-cost --schemes DiscreteHamel "Gauss(stages=3)"
"""
SCHEMES = ("DiscreteHamel", "Gauss(stages=2)", "RungeKutta4")


def add(parser: argparse.ArgumentParser) -> None:
    """Its options."""
    motion_options.add(parser)
    parser.add_argument("--t-end", type=float, metavar="T", help="until when (default: 100 steps)")
    parser.add_argument(
        "--schemes", nargs="+", default=SCHEMES, metavar="SCHEME", help=f"which (default: {', '.join(SCHEMES)})"
    )
    parser.add_argument("--equal-cost", action="store_true", help="as many steps each as cost the first one's time")
    parser.add_argument("--plot", metavar="FILE", help="draw errors against time (.png, .pdf, .svg)")
    add_json(parser)


def execute(options: argparse.Namespace) -> int:
    """Print the table; 1 if a scheme refused or failed."""
    system, q, xi, v, h = motion_options.motion_of(options)
    schemes = {text: motion_options.named_scheme(text) for text in options.schemes}
    if options.plot:
        from discrete_hamel.drawing import plots

        plots.writable(options.plot)
    end = 100 * h if options.t_end is None else options.t_end
    found = dh.compare(system, q, xi, v=v, h=h, schemes=schemes, t_end=end, equal_cost=options.equal_cost)
    if options.json:
        rows = [row._asdict() for row in found.rows]
        for row in rows:
            row["drift"] = {name: trend._asdict() for name, trend in row["drift"].items()}
            for along in ("t", "errors", "energies"):
                row.pop(along)
        print_facts({"system": found.system, "t_end": found.t_end, "rows": rows})
    else:
        print(found)
    if options.plot:
        plots.save(found.plot(), options.plot)
    return 1 if any(row.reason for row in found.rows) else 0

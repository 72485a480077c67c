"""Cost against size: the planar chain of 2 to 128 links

A step of DiscreteHamel with dense output (states, nodal and interval velocities, report), compiled and by the plain
path, which is our own definition of a step in ordinary JAX. From nine unknowns on the sums along the chain are unknowns
of the elimination too, so that the operations of a step grow with the number of links. Compilation is excluded, and
told apart; times are those after 20 000 steps, as a run of fewer has the code of the first call.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import discrete_hamel as dh
from benchmarks.contests import Bar
from discrete_hamel.compiler.native.host import SHORT
from paper_figures.speeds import compiled, interleaved, plain, start

ROUNDS, PLAIN_STEPS, PLAIN_UP_TO = 100, 64, 32
PEERS = ()
SIZES = (2, 3, 5, 6, 8, 12, 16, 24, 32, 64, 128)
FEW = (2, 6, 12)


def steps_of(links: int) -> int:
    """So many that what a call costs beside its steps does not count."""
    return max(256, 16384 // links)


def problem(links: int) -> tuple[Any, Any, Any, Any]:
    """The sample run."""
    system = dh.systems.PlanarChain(links=links)
    sample = system.sample()
    return start(system, dh.DiscreteHamel(), sample["q"], sample["xi"], sample["h"])


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    sizes = FEW if quick else SIZES
    runs: dict[Any, Callable[[], Any]] = {}
    built = {}
    for links in sizes:
        begin, begun = time.perf_counter(), problem(links)
        runs["compiled", links], stepper = compiled(begun, steps_of(links))
        built[links] = type(stepper).__name__, time.perf_counter() - begin
        if links <= (6 if quick else PLAIN_UP_TO):
            runs["plain", links] = plain(begun, PLAIN_STEPS)
    for (kind, links), run in runs.items():
        for _ in range(1 if kind == "plain" or quick else SHORT // steps_of(links) + 2):
            run()  # compiles, and from SHORT steps on compiles better
    best = interleaved(runs, rounds, patience=1.0 if quick else 2.0)
    for links in sizes:
        ours = 1e9 * best["compiled", links] / steps_of(links)
        theirs = 1e9 * best.get(("plain", links), float("nan")) / PLAIN_STEPS
        yield {
            "links": links,
            "compiled, ns a step": ours,
            "compiled, ns a link": ours / links,
            "plain, ns a step": theirs,
            "plain / compiled": theirs / ours,
            "stepper": built[links][0],
            "s to build": built[links][1],
        }


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    each = {row["links"]: row["compiled, ns a step"] for row in rows}
    some, more = (8, 32) if 32 in each else (6, 12)
    long = [Bar("chain: time of 128 links over time of 32", each[128] / each[32], 4.5)] if 128 in each else []
    gains = [row["plain / compiled"] for row in rows if row["plain / compiled"] > 0]
    return [
        Bar(f"chain: time of {more} links over time of {some}", each[more] / each[some], 1.5 * more / some),
        *long,
        Bar("chain: least gain over our plain path at any size", min(gains), 1, at_least=True),
    ]


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.drawing.plots import BLUE, GREY, VERMILLION
    from paper_figures.pictures import mosaic

    figure, axes = mosaic([["time"]], size=(4.6, 3.0))
    ax, links = axes["time"], [row["links"] for row in rows]
    for kind, colour, marker in (("compiled", BLUE, "o"), ("plain", VERMILLION, "s")):
        ax.loglog(links, [row[f"{kind}, ns a step"] for row in rows], marker=marker, color=colour, label=kind)
    last = rows[-1]["compiled, ns a step"]
    ax.loglog(links, [last * n / links[-1] for n in links], "--", color=GREY, label="proportional to the links")
    ax.set(xlabel="links", ylabel="time of a step [ns]", xticks=links, xticklabels=map(str, links))
    ax.minorticks_off()
    ax.legend()
    return figure

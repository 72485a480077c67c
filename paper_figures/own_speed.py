"""The compiled step: what it costs, beside the plain step that defines it

Time of a step of DiscreteHamel, every node saved, as measured where this figure was made: by the compiled path, and by
the plain path (ordinary JAX: Newton's iteration, autodiff's Jacobian, LAPACK). Left: systems with one to three free
velocities, on their sample motions. Right: the planar chain; its sums are unknowns of the elimination too, so that the
operations of a step grow with the number of links, where those of dense elimination grow with its cube.
"""

from typing import Any

import jax
import numpy as np

import discrete_hamel as dh
from discrete_hamel.drawing.plots import BLUE, GREY, VERMILLION, style

from .pictures import mosaic
from .speeds import compiled, interleaved, plain, start

PARAMETERS: dict[str, Any] = {
    "systems": ("ChaplyginSleigh", "SphericalPendulum", "RollingDisk"),
    "links": (2, 6, 12, 18),
    "plain up to": 6,  # links; more take long to compile
    "steps": 2048,
    "plain steps": 256,
    "compared": 32,  # nodes
}
ROUND_OFF = 1e-12  # between two ways to compute the same 32 steps, relative


def compute(fast: bool) -> dict[str, Any]:
    systems = [getattr(dh.systems, name)() for name in PARAMETERS["systems"]]
    chains = [dh.systems.PlanarChain(links=links) for links in PARAMETERS["links"]]
    runs, differences, operations = {}, [], []
    for i, system in enumerate([*systems, *chains]):
        sample = system.sample()
        begun = start(system, dh.DiscreteHamel(), sample["q"], sample["xi"], sample["h"])
        runs["compiled", i], stepper = compiled(begun, PARAMETERS["steps"])
        operations.append(stepper.root.operations)
        nodes = np.asarray(runs["compiled", i]()[0])[: PARAMETERS["compared"]]
        if i < len(systems) or PARAMETERS["links"][i - len(systems)] <= PARAMETERS["plain up to"]:
            runs["plain", i] = plain(begun, PARAMETERS["plain steps"])
            same = np.asarray(jax.block_until_ready(runs["plain", i]())[0])[: PARAMETERS["compared"]]
            differences.append(np.max(np.abs(nodes - same)) / np.max(np.abs(same)))
    best = interleaved(runs, 10 if fast else 100, patience=0.3 if fast else 2.0)
    count, steps = len(systems), {"compiled": PARAMETERS["steps"], "plain": PARAMETERS["plain steps"]}
    data: dict[str, Any] = {"differences": np.array(differences), "operations": np.array(operations)}
    for kind in ("compiled", "plain"):
        each = [1e9 * t / steps[kind] for (who, _), t in best.items() if who == kind]
        data |= {f"{kind}: systems": np.array(each[:count]), f"{kind}: chain": np.array(each[count:])}
    return data


def draw(data: dict[str, Any]) -> Any:
    names, links = PARAMETERS["systems"], np.array(PARAMETERS["links"])
    with style():
        drawing, axes = mosaic([["systems", "chain"]], size=(7.0, 2.8), width_ratios=(1, 1.1))
        ax = axes["systems"]
        for kind, colour, shift in (("compiled", BLUE, 0.12), ("plain", VERMILLION, -0.12)):
            values = data[f"{kind}: systems"]
            places = np.arange(len(names))[::-1] + shift
            ax.plot(values, places, "o", color=colour, label=kind, markersize=5)
            for x, y in zip(values, places, strict=True):
                ax.annotate(f"{x:,.0f}", (x, y), xytext=(6, 0), textcoords="offset points", va="center", fontsize=8)
        ax.set(xscale="log", xlabel="time of a step [ns]", xlim=(20, 20 * np.max(values)), ylim=(-0.5, 2.5))
        ax.set_yticks(range(len(names)), names[::-1])
        ax = axes["chain"]
        ax.loglog(links, data["compiled: chain"], "o-", color=BLUE, markersize=4)
        ax.loglog(links[: len(data["plain: chain"])], data["plain: chain"], "o-", color=VERMILLION, markersize=4)
        line = data["compiled: chain"][-1] * links / links[-1]
        ax.loglog(links, line, "--", color=GREY, linewidth=0.9, label="proportional to the links")
        ax.set(xlabel="links of the chain", ylabel="time of a step [ns]")
        ax.set_xticks(links, map(str, links))
        ax.minorticks_off()
        drawing.legend(loc="outside upper center", ncols=3)
    return drawing


def claims(data: dict[str, Any]) -> list[tuple[str, bool]]:
    apart = np.max(data["differences"])
    kinds = ("systems", "chain")
    gains = np.concatenate(
        [data[f"plain: {kind}"] / data[f"compiled: {kind}"][: len(data[f"plain: {kind}"])] for kind in kinds]
    )
    chain, links, nodes = data["compiled: chain"], PARAMETERS["links"], PARAMETERS["compared"]
    of_a_link = data["operations"][len(PARAMETERS["systems"]) :] / np.array(links)
    return [
        (f"both paths give the same {nodes} nodes within {ROUND_OFF:g} ({apart:.0e})", bool(apart < ROUND_OFF)),
        (f"compiled is nowhere slower than plain: at least {np.min(gains):.0f} times faster", bool(np.min(gains) > 1)),
        (
            f"from {links[1]} to {links[-1]} links the operations of an iteration grow "
            f"{of_a_link[-1] / of_a_link[1]:.2f} times as fast as the links (the time grew "
            f"{chain[-1] / chain[1]:.1f} times for {links[-1] // links[1]} times the links)",
            bool(of_a_link[-1] < 2 * of_a_link[1]),
        ),
    ]

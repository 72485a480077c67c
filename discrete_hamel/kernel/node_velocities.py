"""xi at all nodes of a run at once, where that takes no iteration: side by side, as vectors."""

from functools import reduce

import jax.numpy as jnp
from jax import Array

from discrete_hamel.kernel.pieces import over_lanes, spread
from discrete_hamel.kernel.stepper import Stepper


def velocities(stepper: Stepper, parameters: list[Array], rows: Array) -> tuple[Array, Array | None]:
    """xi, (n, rows), from rows that begin with states; and at which nodes it can be trusted (None: at all of them).

    Trusted is what no small pivot has spoiled; whether it is finite is looked at in any case (`loops.run`).
    """
    root, graph, length = stepper.velocity_root, stepper.legendre, len(rows)
    q, p, free = ([rows[:, i] for i in place] for place in stepper.node_places())
    known = dict(zip(stepper.at_node, parameters[: len(stepper.at_node)], strict=True))
    known |= dict(zip([*stepper.q, *stepper.p], [*q, *p], strict=True))
    guess = dict(zip(root.unknowns, (free[i] for i in root.places), strict=True))
    correction = over_lanes(graph, root.correction, {**known, **guess})
    known |= {node: g + c for (node, g), c in zip(guess.items(), correction, strict=True)}
    for unknown, formula in reversed(root.formulas):
        (known[unknown],) = over_lanes(graph, [formula], known)
    whole = [spread(x, length) for x in over_lanes(graph, stepper.whole, known)]
    guards = over_lanes(graph, stepper.legendre_guards, known)
    return jnp.stack(whole), reduce(jnp.bitwise_and, [guard > 0 for guard in guards]) if guards else None

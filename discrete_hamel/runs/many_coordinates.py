"""What is asked of initial data with many coordinates, of which no dense matrix is formed: fields of many points.

Frame and inertia are not looked at, so that fields dependent at q, or a motion without inertia, are found by the first
step only, whose equations are singular then.
"""

from functools import partial

import jax
import numpy as np
from jax import Array

from discrete_hamel.mechanics import frames, hamel
from discrete_hamel.mechanics.system import System


# It runs once, so that compiling is what it costs.
@partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})
def facts(system: System, q: Array, xi: Array) -> dict[str, Array]:
    """What has to be finite at (q, xi), by name: all by maps of vectors."""
    whole = hamel.full(system, q, xi[: system.rank])
    value, (gradient, mu) = jax.value_and_grad(system.lagrangian, (0, 1))(q, whole)
    return {
        "slip(q)": system.slip(q),
        "the velocity qdot = frame(q) xi": frames.moved(system, q, whole),
        "the Lagrangian": value,
        "dl/dxi": mu,
        "dl/dq": gradient,
        "force(q, xi)": system.force(q, whole),
    }


def refuse_not_finite(found: dict[str, np.ndarray]) -> None:
    """A sentence with the first component that is not finite; all of them would fill the screen."""
    for name, value in sorted(found.items(), key=lambda item: item[1].ndim):  # what is one number tells most
        bad = np.flatnonzero(~np.isfinite(value))
        if len(bad):
            which = f"component {bad[0]} of {name}" if value.ndim else name
            raise ValueError(
                f"{which} is {np.ravel(value)[bad[0]]} at the initial data, the first of {len(bad)} that are not "
                "finite. A pole of the coordinates, a division by zero or the root of a negative number are the usual "
                "causes."
            )

"""Where a mechanism starts: places at which its parts touch, and velocities at which nothing slips."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError

if TYPE_CHECKING:
    from discrete_hamel.systems.mechanisms.rolling import RollingMechanism
    from discrete_hamel.systems.mechanisms.tree import Mechanism

CLOSED = 1e-11  # m: gaps that are none
NEGLIGIBLE = 1e-7  # share of the steepest slope
HELD = 1e-9  # share of the rates given by which they may be missed
ONCE: dict[str, bool | int] = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def initial(
    system: "Mechanism | RollingMechanism",
    positions: Mapping[str, float] | None = None,
    rates: Mapping[str, float] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns (q, v) to start from: coordinates in `positions` and those in `rates` have the values given, the others
    follow.

    Coordinates not named stay where the mechanism was put together, but for what closes its gaps. Of all velocities at
    which nothing slips it is that of least kinetic energy. Names: `tree.coordinates`, and `tree.velocities` of a
    mechanism that rolls.

    >>> import discrete_hamel as dh
    >>> m = dh.mechanisms
    >>> hoop = m.mechanism(m.Body("hoop", m.Free(), shape=m.Hoop(0.5, axis="y", mass=1.0)), m.Wheel("hoop", 0.5))
    >>> q, v = m.initial(hoop, rates={"hoop omega y": 2.0})
    >>> round(float(v[0]), 12)                                               # x' = radius omega
    1.0
    """
    tree: Any = getattr(system, "tree", system)
    q = np.array(system.rest())
    given = {_index(system.coordinates, name): float(value) for name, value in (positions or {}).items()}
    q[list(given)] = list(given.values())
    q = together(_what_holds(system), q, tuple(given))
    wanted = {_index(tree.velocities, name): float(value) for name, value in (rates or {}).items()}
    mass, forms, of_rates = (np.asarray(a) for a in _velocity_facts(_what_holds(system), jnp.asarray(q)))
    chosen = of_rates[list(wanted)] if wanted else np.zeros((0, len(q)))
    rows = np.concatenate([forms, chosen])
    sides = np.concatenate([np.zeros(len(forms)), list(wanted.values())])
    zeros = np.zeros((len(rows), len(rows)))
    solution = np.linalg.lstsq(
        np.block([[mass, rows.T], [rows, zeros]]), np.append(np.zeros(len(q)), sides), rcond=1e-13
    )
    v = solution[0][: len(q)]
    off = np.abs(rows @ v - sides)
    if np.max(off, initial=0.0) > HELD * max(1.0, np.max(np.abs(sides), initial=0.0)):
        raise InputError(
            f"no velocity at which nothing slips has these rates: {dict(rates or {})}; they are missed by "
            f"{off.max():.3g}. Name fewer of them."
        )
    return q, v


def _index(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise InputError(f"there is no {name!r}; there are {', '.join(names)}.")
    return names.index(name)


def _what_holds(system: Any) -> Any:
    return system.params if hasattr(system, "tree") else system


@partial(jax.jit, compiler_options=ONCE)
def _velocity_facts(held: Any, q: Array) -> tuple[Array, Array, Array]:
    """Mass matrix in velocities, constraint rows, and the joints' rates as rows."""
    still = jnp.zeros_like(q)
    lagrangian = held.lagrangian if hasattr(held, "gap_slips") else held.in_velocities
    rows = held.rows if hasattr(held, "gap_slips") else jax.jacfwd(held.holonomic)
    rates = (lambda v: held.state(q, v)[1]) if hasattr(held, "gap_slips") else (lambda v: held.rates(q, v))
    return jax.hessian(lagrangian, 1)(q, still), rows(q), jax.jacfwd(rates)(still)


@partial(jax.jit, compiler_options=ONCE)
def _misses(held: Any, q: Array) -> tuple[Array, Array]:
    def g(q: Array) -> Array:
        return held.every_gap(q) if hasattr(held, "gap_slips") else held.holonomic(q)

    return g(q), jax.jacfwd(g)(q)


def together(held: Any, q: np.ndarray, fixed: tuple[int, ...] = ()) -> np.ndarray:
    """The place near q where everything touches, by Gauss' and Newton's iteration; some coordinates stay.

    Rotations become rotations first: gaps that are closed by the joints alone are so for these only, and off them would
    pull where there is nothing to pull.
    """
    moving = np.setdiff1d(np.arange(len(q)), np.array(fixed, int))
    gaps = len(held.gap_slips()) if hasattr(held, "gap_slips") else 0
    miss = np.zeros(0)
    for first in (gaps, 0):
        for _ in range(50):
            miss, slope = (np.asarray(a)[first:] for a in _misses(held, jnp.asarray(q)))
            if not miss.size or np.max(np.abs(miss)) < 1e-14:
                break
            q = q.copy()
            q[moving] -= np.linalg.lstsq(slope[:, moving], miss, rcond=NEGLIGIBLE)[0]
    if not miss.size or np.max(np.abs(miss)) < CLOSED:
        return q
    worst = int(np.argmax(np.abs(miss)))
    labels = [held.labels()[slip] for slip in held.gap_slips()] if hasattr(held, "gap_slips") else []
    what = f"the gap of {labels[worst]}" if worst < len(labels) else "the length of a rotation's coordinates"
    raise InputError(
        f"the mechanism cannot be put together: {what} stays {miss[worst]:.3g} wide. A wheel's middle must be its "
        "radius above the plane z = 0, and a loop long enough to close; start nearer, or change `at`."
        + " The positions given stay as they are: name fewer, so that a loop can close."
        * bool(fixed)
    )

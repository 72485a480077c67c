"""Which path a run takes: the compiled step where it can be built, else the plain one, with the reason."""

from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.kernel.graph import Unsupported
from discrete_hamel.kernel.loop import chunk
from discrete_hamel.kernel.stepper import Stepper
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

_steppers: dict[Any, Any] = {}  # what has been built, as jax.jit keeps what it has compiled
MOST = 200


def stepper_for(length: int, system: System, scheme: Scheme, state: Any, h: Array) -> Stepper | str:
    """The compiled step for this kind of system and scheme, for chunks of `length`, or the reason why there is none."""
    tree = (system, scheme, state, h)
    key = (length, jax.tree.structure(tree), tuple((leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves(tree)))
    if key not in _steppers:
        if len(_steppers) >= MOST:
            _steppers.pop(next(iter(_steppers)))
        built = _built(length, *tree)
        if isinstance(built, str) and "where the run starts" in built:
            return built  # another start may do
        _steppers[key] = built
    return _steppers[key]


def _built(length: int, system: System, scheme: Scheme, state: Any, h: Array) -> Stepper | str:
    try:
        stepper = Stepper(system, scheme, state, h)
        none = jnp.asarray(0)
        chunk(stepper, length, system, scheme, state, h, none, none + 1)  # compiles, or fails to
    except Unsupported as reason:
        return str(reason)
    except Exception as error:  # whatever it is, the plain path is the definition and takes over; the report says so
        return f"{type(error).__name__}: {error}"
    return stepper

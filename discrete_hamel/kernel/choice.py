"""Which path a run takes: the compiled step where it can be built, else the plain one, with the reason.

Measured (`benchmarks/middle_sizes.py`, `chain.py`; operations counted in one iteration): up to some 300 one fused
kernel is best (`stepper.FUSED`); from there to `stepper.LARGEST` the same kernel without XLA's fusion pass, some 1 ns
an operation, where fusion would cost up to fifteen times that, and where several kernels (parts that are not inlined)
are slower too. A chain is rolled up from six links on: its cost grows with the number of links, its compiling not at
all. What remains is plain.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel.kernel import loop, rolled_loop
from discrete_hamel.kernel.graph import Unsupported
from discrete_hamel.kernel.native.host import in_machine_code
from discrete_hamel.kernel.rolled import ChainStepper
from discrete_hamel.kernel.stages import PATIENCE, StageStepper
from discrete_hamel.kernel.stepper import Stepper
from discrete_hamel.schemes.gauss import Gauss
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.system import System

_steppers: dict[Any, Any] = {}  # what has been built, as jax.jit keeps what it has compiled
MOST = 200
MOST_UNKNOWNS = 48  # of a step that is unrolled: it would take seconds to find that more are too many


def stepper_for(
    length: int, system: System, scheme: Scheme, state: Any, h: Array, *, reproducible: bool = False
) -> Any:
    """The compiled step for this kind of system and scheme, for chunks of `length`, or the reason why there is none.

    The values it is built at decide on the order of elimination, and so on round-off. `reproducible` asks for one that
    was built at these: then no bit depends on what ran before.
    """
    run = system, scheme, state, h
    if type(scheme) is Gauss:
        sweeping = _kept(StageStepper, length, run, reproducible)
        if not isinstance(sweeping, str) and settles(sweeping, length, *run):
            return sweeping
    return _kept(_fitting, length, run, reproducible)


def _kept(fitting: Any, length: int, tree: Any, reproducible: bool) -> Any:
    """What was built of this kind before, or is now; or the reason why there is none."""
    key: tuple[Any, ...] = (
        fitting,
        length,
        jax.tree.structure(tree),
        tuple((leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves(tree)),
    )
    if reproducible:
        key += (b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)),)
    if key not in _steppers:
        if len(_steppers) >= MOST:
            _steppers.pop(next(iter(_steppers)))
        built = _built(fitting, length, *tree)
        if isinstance(built, str) and "where the run starts" in built:
            return built  # another start may do
        _steppers[key] = built
    return _steppers[key]


def _built(fitting: Any, length: int, system: System, scheme: Scheme, state: Any, h: Array) -> Any:
    try:
        stepper = fitting(system, scheme, state, h)
        none, one = jnp.asarray(0), jnp.asarray(1)
        chunk(stepper, length, system, scheme, state, h, none, one)  # compiles, or fails to
    except Unsupported as reason:
        return str(reason)
    except Exception as error:  # whatever it is, the plain path is the definition and takes over; the report says so
        return f"{type(error).__name__}: {error}"
    return stepper


def _fitting(system: System, scheme: Scheme, state: Any, h: Array) -> Stepper | ChainStepper:
    """Rolled up for a chain, which costs what it has links, and unrolled for all else that is small enough."""
    try:
        return ChainStepper(system, scheme, state, h)
    except Unsupported as reason:
        one_solve = type(scheme).step is Scheme.step
        unknowns = jax.eval_shape(scheme.guess, system, state, h).size if one_solve else 0
        if unknowns > MOST_UNKNOWNS:
            many = f"{unknowns} unknowns, of {MOST_UNKNOWNS} at most unless in a chain"
            raise Unsupported(f"{many}; not one, for {reason}") from None
        return in_machine_code(system, scheme, state, h)


def settles(stepper: StageStepper, length: int, system: System, scheme: Scheme, state: Any, h: Array) -> bool:
    """Whether sweeps over the stages settle, and soon enough, at the first step of this run.

    Where they would not (a stiff system, a large step) Newton's iteration does, for all of the run.
    """
    one = jnp.asarray(1)
    *_, good, (*_, report) = loop.chunk(stepper, length, system, scheme, state, h, one, one)
    return bool(good and report.iterations[0] <= PATIENCE)


def chunk(stepper: Stepper | StageStepper | ChainStepper, *run: Any) -> tuple[Any, Any, Any, tuple]:
    """What `loop.chunk` and `rolled_loop.chunk` return: up to some number of intervals by the compiled step."""
    if isinstance(stepper, ChainStepper):
        return rolled_loop.chunk(stepper, *run)
    return loop.chunk(stepper, *run)

"""Which path a run takes: the compiled step where it can be built, else the plain one, with the reason.

Measured (`benchmarks/middle_sizes.py`, `benchmarks/chain.py`; operations of one iteration): up to some 300 one fused
kernel is best (`stepper.FUSED`); from there to `stepper.LARGEST` the same kernel without XLA's fusion pass, some 1 ns
an operation, where fusion would cost up to fifteen times that, and where several kernels (parts that are not inlined)
are slower too. What remains is plain.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler.graph.expressions import Unsupported
from discrete_hamel.compiler.native.host import in_machine_code
from discrete_hamel.compiler.step.loop import chunk
from discrete_hamel.compiler.step.stages import PATIENCE, StageStepper
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.compiler.step.verification import STEPS, difference, refused
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.gauss import Gauss
from discrete_hamel.schemes.scheme import Scheme

_steppers = Cache(most=200)
MOST_UNKNOWNS = 72  # it would take seconds to find that the operations of more are too many


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
    return _steppers.kept(key, lambda: _built(fitting, length, *tree))


def _built(fitting: Any, length: int, system: System, scheme: Scheme, state: Any, h: Array) -> Any:
    try:
        stepper = fitting(system, scheme, state, h)
        few, one = jnp.asarray(min(STEPS, length)), jnp.asarray(1)
        _, done, _, (q, p, xi, xi_mid, _) = chunk(stepper, length, system, scheme, state, h, few, one)  # or fails to
        made = {"q": q[:done], "p": p[:done]}, xi[:done], xi_mid[:done]
        if unlike := difference(stepper, system, scheme, state, h, made):
            return refused(system, scheme, unlike)
    except Unsupported as reason:
        return str(reason)
    except Exception as error:  # whatever it is, the plain path is the definition and takes over; the report says so
        return f"{type(error).__name__}: {error}"
    return stepper


def _fitting(system: System, scheme: Scheme, state: Any, h: Array) -> Stepper:
    """The step unrolled, unless its size already says that it would be too large."""
    one_solve = type(scheme).step is Scheme.step
    unknowns = jax.eval_shape(scheme.guess, system, state, h).size if one_solve else 0
    if unknowns > MOST_UNKNOWNS:
        raise Unsupported(f"{unknowns} unknowns, of {MOST_UNKNOWNS} at most")
    return in_machine_code(system, scheme, state, h)


def settles(stepper: StageStepper, length: int, system: System, scheme: Scheme, state: Any, h: Array) -> bool:
    """Whether sweeps over the stages settle, and soon enough, at the first step of this run.

    Where they would not (a stiff system, a large step) Newton's iteration does, for all of the run.
    """
    one = jnp.asarray(1)
    *_, good, (*_, report) = chunk(stepper, length, system, scheme, state, h, one, one)
    return bool(good and report.iterations[0] <= PATIENCE)

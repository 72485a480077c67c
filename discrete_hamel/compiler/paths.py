"""Which path a run takes: the compiled step where it can be built, else the plain one, with the reason.

Native code has one bound, `graph.expressions.MOST_NODES`. Where XLA compiles the step (no llvmlite, single precision)
an iteration has `stepper.LARGEST` operations at most, from `stepper.FUSED` on without XLA's fusion pass, which would
make it up to fifteen times slower. What remains is plain.
"""

from collections.abc import Callable

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
from discrete_hamel.schemes.scheme import Scheme, State

_steppers = Cache(most=200)


def stepper_for(
    length: int, system: System, scheme: Scheme, state: State, h: Array, *, reproducible: bool = False
) -> Stepper | StageStepper | str:
    """The compiled step for this kind of system and scheme, for chunks of `length`, or the reason why there is none.

    The values it is built at decide on the order of elimination, and so on round-off. `reproducible` asks for one that
    was built at these: then no bit depends on what ran before.
    """
    run = system, scheme, state, h
    if type(scheme) is Gauss:
        sweeping = _kept(StageStepper, length, run, reproducible)
        if not isinstance(sweeping, str) and settles(sweeping, length, *run):  # type: ignore[arg-type]
            return sweeping
    return _kept(in_machine_code, length, run, reproducible)


def _kept(fitting: Callable, length: int, tree: tuple, reproducible: bool) -> Stepper | StageStepper | str:
    """What was built of this kind before, or is now; or the reason why there is none."""
    key: tuple = (
        fitting,
        length,
        jax.tree.structure(tree),
        tuple((leaf.shape, str(leaf.dtype)) for leaf in jax.tree.leaves(tree)),
    )
    if reproducible:
        key += (b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)),)
    return _steppers.kept(key, lambda: _built(fitting, length, *tree))


def _built(
    fitting: Callable, length: int, system: System, scheme: Scheme, state: State, h: Array
) -> Stepper | StageStepper | str:
    try:
        stepper = fitting(system, scheme, state, h)
        few, one = jnp.asarray(min(STEPS, length)), jnp.asarray(1)
        _, done, _, (q, p, xi, xi_mid, _) = chunk(stepper, length, system, scheme, state, h, few, one)  # or fails to
        made = {"q": q[:done], "p": p[:done]}, xi[:done], xi_mid[:done]
        if unlike := difference(stepper, system, scheme, state, h, made):
            return refused(system, scheme, unlike)
    except Unsupported as error:
        return error.reason
    except Exception as error:  # whatever it is, the plain path is the definition and takes over; the report says so
        return f"{type(error).__name__}: {error}"
    return stepper


def settles(stepper: StageStepper, length: int, system: System, scheme: Scheme, state: State, h: Array) -> bool:
    """Whether sweeps over the stages settle, and soon enough, at the first step of this run.

    Where they would not (a stiff system, a large step) Newton's iteration does, for all of the run.
    """
    one = jnp.asarray(1)
    *_, good, (*_, report) = chunk(stepper, length, system, scheme, state, h, one, one)
    return bool(good and report.iterations[0] <= PATIENCE)

"""The one door to compiled steps: what a run on the host, runs in lanes and a run under jit take, or why it is nothing.

Each is built once a kind (a tree structure, its shapes, and what it is compiled for), compared with the scheme's own
functions, and kept in one cache. `graph/size_limits.py` says what is too large. Whatever goes wrong on the
way is the reason for the plain path, which is the definition and takes over; the report of a run says it.
"""

import math
import time
import warnings
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeVar

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.caches import Cache, StartReason
from discrete_hamel._support.errors import Explained
from discrete_hamel.compiler.graph.expressions import Unsupported
from discrete_hamel.compiler.graph.lowering import work
from discrete_hamel.compiler.graph.pytree_leaves import scalars
from discrete_hamel.compiler.graph.size_limits import MOST_JIT, PATIENCE
from discrete_hamel.compiler.native import kept_values, program_cache
from discrete_hamel.compiler.native.host import HostRun, unusable
from discrete_hamel.compiler.native.lanes import LaneRun
from discrete_hamel.compiler.reading.cached_scalars import kind_of
from discrete_hamel.compiler.reading.sample_points import sample_points
from discrete_hamel.compiler.step.collocation_step import StageStepper
from discrete_hamel.compiler.step.program import graph_of, run_passes
from discrete_hamel.compiler.step.stepper import Stepper, in_steps
from discrete_hamel.compiler.step.verification import INTERPRETED, STEPS, Definitions, difference, refuse
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.gauss import Gauss
from discrete_hamel.schemes.scheme import Scheme, State

if TYPE_CHECKING:
    from discrete_hamel.compiler.gradients.differentiable import Compiled

Built = TypeVar("Built")
AnyStepper = Stepper | StageStepper


class SlowPath(Explained, UserWarning):
    """A run that takes more than a second on the plain path, by what its first steps take.

    >>> import warnings, discrete_hamel as dh
    >>> string = dh.fields.String(points=16)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", dh.SlowPath)  # as soon as it is known
    ...     try:
    ...         traj = dh.simulate(string, **string.sample(), steps=10**5)
    ...     except dh.SlowPath as said:
    ...         print("Give scheme=dh.fields.TridiagonalTension()" in str(said))
    True
    """


_steps = Cache(most=400)
KEPT = Definitions(*map(kept_values.keeping, INTERPRETED))  # what steps are judged by, for another process too
SLOW = 1.0  # seconds that a run's steps may take on the plain path without a word
TELLING = 0.02  # seconds of a piece of a run that tell how long the rest will take
ALL = 1 << 62  # intervals


def stepper_for(
    system: System, scheme: Scheme, state: State, h: Array, *, reproducible: bool = False
) -> AnyStepper | str:
    """The compiled step of a run on the host, or the reason why there is none.

    The values it is built at decide on the order of elimination, and so on round-off. `reproducible` asks for one that
    was built at these: then no bit depends on what ran before.
    """
    run = system, scheme, state, h
    values = b"".join(np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(run)) if reproducible else b""
    if type(scheme) is Gauss:
        sweeping = _from_cache(_sweeps, run, (values,))
        if not isinstance(sweeping, str) and settles(sweeping, *run):
            return sweeping
    return _from_cache(_step, run, (values,))


class Pace:
    """How fast a run on the plain path goes; SlowPath where it takes long, and something can be changed.

    Its pieces are short until one of them tells: in the first XLA compiles, and calls take time as well as steps.
    """

    def __init__(self, system: System, scheme: Scheme, how: AnyStepper | str | None, total: int) -> None:
        self.told = type(system).__name__, type(scheme).__name__, how, system.linear_cost
        best = not isinstance(how, str) or type(scheme).__name__ in system.linear_cost
        self.most = ALL if best else 1  # intervals of the next piece
        self.total, self.steps, self.last = total, 0, math.nan

    def at(self, steps: int) -> None:
        """A piece is over, after so many steps in all."""
        now = time.perf_counter()
        spent, made, self.last, self.steps = now - self.last, steps - self.steps, now, steps
        if self.most == ALL or math.isnan(spent):
            return
        self.most = ALL if spent >= TELLING else 2 * self.most
        if self.most == ALL and made and spent / made * self.total > SLOW:
            self.warn()

    def warn(self) -> None:
        """The words are the same for all runs of a kind, so that Python shows them once."""
        system, scheme, reason, at_linear_cost = self.told
        better = (
            f"Give scheme={at_linear_cost}, which takes the same step at linear cost"
            if at_linear_cost
            else "The page 'When it is slow' says what to change"
        )
        warnings.warn(
            f"{system} with {scheme} takes the plain path, where this run takes more than a second: {reason}. "
            f"{better}; dh.explain(system, q, xi, scheme=scheme) times a step.",
            SlowPath,
            stacklevel=5,
        )


def lanes_for(system: System, scheme: Scheme, state: State, h: Array, varying: tuple[bool, ...]) -> LaneRun | str:
    """The compiled step for lanes, from a sample member, or the reason why there is none.

    `varying` says which numbers among the parameters differ from lane to lane.
    """
    return _from_cache(_lanes, (system, scheme, state, h), (varying,))


def compiled_for(system: System, scheme: Scheme, q: Array, xi: Array, h: Array) -> "Compiled | str":
    """The compiled steps for runs under jit, whose values may be traced; or the reason why there are none."""
    return _from_cache(_under_jit, (system, scheme, q, xi, h), ())


def settles(stepper: StageStepper, system: System, scheme: Scheme, state: State, h: Array) -> bool:
    """Whether sweeps over the stages settle, and soon enough, at the first step of this run.

    Where they would not (a stiff system, a large step) Newton's iteration does, for all of the run.
    """
    *_, good, (*_, report) = stepper.run(system, scheme, state, h, 1, 1)
    return good and report.iterations[0] <= PATIENCE


def _from_cache(build: Callable[..., Built], run: tuple, form: tuple[Hashable, ...]) -> Built | str:
    """What was built of this kind and form before, or is now; or the reason why there is none."""
    return _steps.fetch((build, *map(kind_of, run), form), lambda: _build(build, run, form))


def _build(build: Callable[..., Built], run: tuple, form: tuple) -> Built | str:
    try:
        return build(*run, *form)
    except Unsupported as error:
        return error.reason
    except Exception as error:  # the plain path takes over, whatever it is
        return f"{type(error).__name__}: {error}"


def _step(system: System, scheme: Scheme, state: State, h: Array, values: bytes) -> Stepper:
    _native(state)
    run = system, scheme, state, h
    about = kept_values.name_of(graph_of, *run)
    there = None if about is None else kept_values.recall(about)
    known = program_cache.by_name(*there) if isinstance(there, tuple) else None
    stepper = Stepper(*run, like=values, recall=program_cache.recall, known=known)
    run_passes(stepper, [emit, verify_steps])
    if not stepper.found and stepper.kind is not None:  # as passes make it at these very values
        graph, _ = stepper.kind
        if stepper.name is None:
            stepper.name = program_cache.keep(graph, stepper.decisions(), {**vars(stepper), "code": stepper.run.code})
        if about is not None and there != (graph, stepper.name):
            kept_values.keep(about, (graph, stepper.name))
    return stepper


def _sweeps(system: System, scheme: Scheme, state: State, h: Array, _: bytes) -> StageStepper:
    _native(state)
    return run_passes(StageStepper(system, scheme, state, h), [emit, verify_steps])


def _lanes(system: System, scheme: Scheme, state: State, h: Array, varying: tuple[bool, ...]) -> LaneRun:
    _native(state)
    stepper = Stepper(system, scheme, state, h, cost=work)
    lanes, numbers = LaneRun(stepper, varying), np.array(scalars((system, *in_steps(scheme, h))), float)
    begin, active = np.array(scalars(state), float), np.ones(lanes.width)
    rows, begins = (np.repeat(a[:, None], lanes.width, axis=1) for a in (numbers, begin))
    _, done, _, _, nodes = lanes(rows, begins, active, 1, 1)
    q, p, xi = np.split(nodes[: int(done[0]), :, 0], [state.q.size, state.q.size + state.p.size], axis=1)
    verify(stepper, ({"q": q, "p": p}, xi, None))
    return lanes


def _native(state: State) -> None:
    if reason := unusable(state):
        raise Unsupported(reason)


def _under_jit(system: System, scheme: Scheme, q: Array, xi: Array, h: Array) -> "Compiled":
    """At the first point where it can be built."""
    lost = Unsupported("no regular point found, where the run starts", at_start=True)
    with jax.core.eval_context():  # not folding constants, for which XLA would compile
        for point in sample_points(system, scheme, q, xi, h):
            try:
                return _at_point(*point)
            except Unsupported as error:
                if not isinstance(error.reason, StartReason):
                    raise
                lost = error
    raise lost


def _at_point(system: System, scheme: Scheme, state: State, h: Array) -> "Compiled":
    if scheme.time(state) is not None:
        raise Unsupported(f"{type(scheme).__name__} keeps the time itself")
    _native(state)
    stepper = Stepper(system, scheme, state, h)
    if stepper.sample.scheme.explicit:  # it has no root to end a derivative at
        _limit(stepper.root.operations, MOST_JIT, "an iteration under jit")
    from discrete_hamel.compiler.gradients.differentiable import with_derivatives  # here: it loads jax.extend

    compiled = with_derivatives(stepper)
    verify(stepper)
    return compiled


def _limit(operations: int, most: int, where: str) -> None:
    if operations > most:
        raise Unsupported(f"{operations} operations {where}, of {most} at most")


def emit(stepper: AnyStepper) -> str:
    """The run as one native function."""
    if hasattr(stepper, "run"):
        return "as it was made of the same graph"
    stepper.run = HostRun(stepper)
    if isinstance(stepper, Stepper):
        stepper.keep()
    return "by LLVM"


def verify(stepper: AnyStepper, made: tuple | None = None) -> str:
    """The first steps against the scheme's own functions; a difference refuses the compiled ones."""
    if unlike := difference(stepper, *stepper.sample, made, KEPT):
        raise Unsupported(refuse(stepper.sample.system, stepper.sample.scheme, unlike))
    return f"{STEPS if made is None else len(made[1])} steps"


def verify_steps(stepper: AnyStepper) -> str:
    """The same of what the native function gives."""
    steps = STEPS if stepper.name is None else 1  # another process has verified all but the reading
    _, done, _, (q, p, xi, xi_mid, _) = stepper.run(*stepper.sample, steps, 1)
    return verify(stepper, ({"q": q[:done], "p": p[:done]}, xi[:done], xi_mid[:done]))

"""simulate: one verb that joins a System, a Scheme and initial data into a Trajectory."""

from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from datetime import timedelta

from jax import Array, lax

from discrete_hamel._support.arrays import Coordinates, PathLike, Quasivelocities, Scalar, Velocities
from discrete_hamel._support.errors import PHYSICAL, InputError, InputTypeError
from discrete_hamel._support.inputs import before_steps, explained
from discrete_hamel.compiler.native.host import warn_of_single_precision
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.reading.output_shapes import step_density
from discrete_hamel.compiler.reading.parts_of_schemes import check_scheme_at
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import traced_refusals
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.loop import run, trace
from discrete_hamel.runs.storage.record import RunInMemory
from discrete_hamel.runs.trajectory import Trajectory, mark_failed, warn_of_pull
from discrete_hamel.schemes.nonlinear_midpoint import default_scheme
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.schemes.varying_step import TimeTransformed


def simulate(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    *,
    v: Velocities | None = None,
    h: Scalar | Callable[[Array, Array], Scalar],
    steps: int,
    scheme: Scheme | None = None,
    save_every: int = 1,
    on_failure: str = "raise",
    progress: bool = True,
    store: PathLike | None = None,
    resume: bool = False,
    checkpoint_every: int | float | timedelta | None = None,
    compiled: bool = True,
    t0: float = 0.0,
) -> Trajectory:
    """The trajectory from (q, xi), or (q, v = qdot), over `steps` steps of size h.

    h may be a function h(q, xi) > 0 of where the motion is: the steps then follow it reversibly (`TimeTransformed`).

    `xi` has the m free components or all n. `save_every` keeps each so-many-th node and memory to what is kept.
    A step that cannot be solved raises NewtonFailed with the trajectory so far; `on_failure="mark"` returns instead,
    with NaN after that step and `report.converged` False. Under jit, grad and vmap, where nothing can be raised, the
    latter is what happens, and data that would be refused are marked: `report.refused`, `trajectory.refusal()`.
    `compiled=False` takes the plain path, by which the compiled one is defined; `report.path` says which ran.
    `t0` is the time at the first node. `prolong` goes on from a trajectory's end, `arcs` to events and through them.

    `store` is the path of a Zarr store that grows while the run goes on; the arrays of the trajectory stay there until
    they are asked for. After `checkpoint_every` steps (an integer) or seconds (a float, or a timedelta; 10.0 if nothing
    is said) what there is has become safe: whatever kills the run, `resume=True` goes on from there, bit for bit as if
    nothing had happened, or says what differs from what made the store. Ctrl-C raises RunInterrupted with the
    trajectory so far. `progress=False` silences the line that a terminal or notebook shows after a second. Where a
    contact would have to pull, ContactLost warns, with the time.

    >>> import discrete_hamel as dh
    >>> traj = dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=100)
    >>> bool(abs(traj.energy - traj.energy[0]).max() < 1e-13)
    True
    """
    scheme = default_scheme(system) if scheme is None else scheme
    steps, save_every = checks.count("steps", steps, 0), checks.count("save_every", save_every, 1)
    if steps % save_every:
        fewer = steps - steps % save_every
        raise InputError(
            f"steps = {steps} is not a multiple of save_every = {save_every}, so the last node would not be saved; "
            f"use steps = {fewer} or {fewer + save_every}."
        )
    if not isinstance(on_failure, str) or on_failure not in ("raise", "mark"):
        raise InputError(f"on_failure is {on_failure!r}; it is 'raise' or 'mark'.")
    if not isinstance(system, System) or not isinstance(scheme, Scheme):
        wanted = "simulate takes a System and a Scheme (an instance: DiscreteHamel(), not the class)"
        raise InputTypeError(f"{wanted}; got {system!r} and {scheme!r}.")
    scheme = scheme.fitted(system)
    density = h if callable(h) else None
    if density is not None:
        scheme, h = TimeTransformed(scheme, density), 1.0
    scheme, nodes = checks.canonical(scheme), steps // save_every + 1
    h, t0 = checks.step_size(h), float(checks.vector("t0", [t0])[0]) if t0 else 0.0
    warn_of_single_precision(h)
    with before_steps():
        system, q, xi = checks.ready(system, q, xi, v, lasting=store is not None)
    if density is not None:
        step_density(density, on_device(q), on_device(xi))
    if checks.traced(system, scheme, q, xi, h):
        if store is not None:
            raise InputError("store is not possible under jit, grad or vmap; save the trajectory outside.")
        system, q, xi = checks.canonical(system), on_device(q), on_device(xi)
        trajectory = trace(system, scheme, q, xi, h, steps // save_every, save_every, compiled)
        v, asked = None if v is None else checks.vector("v", v), traced_refusals.demands(system)
        refused = traced_refusals.marks(*lax.stop_gradient((system, scheme, q, xi, h, v, asked)))
        return trajectory.replace(t=t0 + trajectory.t, report=trajectory.report.replace(refused=on_device(refused)))
    checks.finite_parameters(scheme)
    with explained(f"what {type(scheme).__name__} checks before a run"):
        check_scheme_at(system, scheme, q)
    if store is not None and t0:
        raise InputError("times in a store are counted from its run's start, so t0 is 0 there.")
    if store is None and (resume or checkpoint_every is not None):
        raise InputError("resume and checkpoint_every are about a store; give its path: store='run.zarr'.")
    kept: AbstractContextManager = nullcontext(RunInMemory(system, scheme, h, save_every, nodes))
    if store is not None:
        from discrete_hamel.runs.storage.recording import Recording

        kept = closing(Recording(store, system, scheme, q, xi, h, save_every, nodes, checkpoint_every, resume))
    with kept as record:
        trajectory, failure = run(system, scheme, q, xi, h, nodes - 1, save_every, progress, compiled, record)
    trajectory = trajectory.replace(t=t0 + trajectory.t) if t0 else trajectory
    warn_of_pull(trajectory, stacklevel=2)
    if failure is None:
        return trajectory
    if t0:
        failure.add_note(f"Times in this sentence are counted from t0 = {t0:g}.")
    if on_failure == "mark" and isinstance(failure, PHYSICAL):
        return mark_failed(trajectory, nodes - 1, failure.good)
    failure.trajectory = trajectory
    raise failure

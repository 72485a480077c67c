"""What a scheme does with a system, found by computation: order, symmetry, invariants, relative equilibria."""

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Scalar
from discrete_hamel._support.errors import ContactLost, InputError
from discrete_hamel.analysis.equilibria.preservation import Preservation, structural_stability
from discrete_hamel.analysis.equilibria.relative_equilibria import RelativeEquilibrium, relative_equilibrium
from discrete_hamel.analysis.motion.off_constraint import constraint_residual
from discrete_hamel.analysis.motion.reference import reference
from discrete_hamel.analysis.motion.trend import trend
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.group_actions import Generator
from discrete_hamel.analysis.symmetry.invariance import components
from discrete_hamel.compiler.along import along
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.simulation import simulate
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.scheme import Scheme, State, start

STEPS = 200  # over which invariants are watched
FEWEST = 20  # steps that say something
MOST = 1280  # steps to the same time for the order
SEEN = 1e-10  # relative errors below which the reference says nothing of the order
NEAR = 0.2  # how near a slope is to the order it shows
ROUNDOFF = 1e-12  # of one step, relative; it adds up like a random walk
FALLING = 0.5  # the power of h with which it falls at least
CONTINUOUS = 1e-8  # relative change of a momentum over the reference that (H) keeps
NUMBERS = 1 << 16  # of a run, up to which NumPy is sooner done with its momenta than XLA with compiling them


class Kept(NamedTuple):
    """How far an invariant goes from where it was, relative to its size, and how that falls with the step."""

    off: float
    falls: float | None  # the power of h; None where it is round-off
    drifts: bool

    @property
    def exact(self) -> bool:
        """Whether there is nothing but round-off."""
        return self.falls is None

    def __str__(self) -> str:
        if self.falls is None:
            return f"exact, to {self.off:.1e}"
        falls = f"as h^{self.falls:.1f}" if self.falls > FALLING else "which does not fall with h"
        return f"off by {self.off:.1e}, {falls}, {'and drifts' if self.drifts else 'no drift seen'}"


class Properties(NamedTuple):
    """What was found of a scheme; it prints as a table."""

    scheme: str
    system: str
    h: float
    order: int | None  # None where the errors follow no power of h, or none is seen
    slopes: tuple[float, ...]
    undone: float  # how far a step with -h ends from where the step with h began, relative to (q, p)
    constraint: float | None  # largest velocity of a chord off the constraint; None without one
    kept: dict[str, Kept]  # energy, the system's invariants, momenta that (H) keeps, relations of coordinates
    equilibrium: Preservation | None  # of the nearest relative equilibrium; None where none was found

    @property
    def symmetric(self) -> bool:
        """Whether a step with -h undoes a step with h, to round-off."""
        return self.undone < 10 * ROUNDOFF

    @property
    def exact(self) -> tuple[str, ...]:
        """The names of what is kept to round-off."""
        return tuple(name for name, found in self.kept.items() if found.exact)

    def __repr__(self) -> str:
        order = "none" if self.order is None else str(self.order)
        slopes = ", ".join(f"{slope:.2f}" for slope in self.slopes) or "no error seen"
        lines = {"order": f"{order} (slopes {slopes})"}
        lines["symmetric"] = f"{'yes' if self.symmetric else 'no'}, off by {self.undone:.1e}"
        if self.constraint is not None:
            exact = self.constraint < ROUNDOFF * STEPS**0.5 / min(1.0, abs(self.h))
            lines["constraint"] = f"{'exact, to' if exact else 'chords off by'} {self.constraint:.1e}"
        lines |= {name: str(found) for name, found in self.kept.items()}
        lines["relative equilibrium"] = "none found" if self.equilibrium is None else _in_words(self.equilibrium)
        width = max(map(len, lines))
        table = [f"  {name.ljust(width)}  {words}" for name, words in lines.items()]
        return "\n".join([f"{self.scheme} on {self.system}, h = {self.h:.3g}: found", *table])


def _in_words(found: Preservation) -> str:
    if found.kept:
        return f"kept; its type {found.stability[0].name} is {'kept' if found.holds else 'not'}"
    falls = "" if found.slope is None else f", as h^{found.slope:.1f}"
    return (
        f"lost, off by {found.residual:.1e}{falls}" if found.seen_at == found.h else f"lost, seen at {found.seen_at:g}"
    )


def properties(
    scheme: Scheme,
    system: System,
    q: Coordinates | None = None,
    xi: Quasivelocities | None = None,
    *,
    h: Scalar | None = None,
    steady: tuple[Coordinates, Quasivelocities] | None = None,
) -> Properties:
    """Returns the order, symmetry, exact invariants and kept relative equilibria of a scheme, by computation.

    Nothing that a scheme declares is believed: errors are held against `dh.reference`; invariants (energy, the system's
    own, momenta of its symmetries that the reference keeps) are watched over 200 steps, fewer if one fails, from
    (q, xi) and from a motion nearby, with h and h/2; and a relative equilibrium is sought near `steady`, a pair
    (q, xi), else near the given one or with one of its velocities alone. Of one start, one step and one system that is
    a finding, not a theorem. Without (q, xi) those of `system.sample()` are taken, without h a fifth of the time in
    which the motion there changes.

    >>> import discrete_hamel as dh
    >>> found = dh.properties(dh.DiscreteHamel(), dh.systems.ChaplyginSleigh())
    >>> found.order, found.symmetric, found.exact, found.equilibrium.holds
    (2, True, ('energy',), True)
    """
    if q is None:
        sample = getattr(system, "sample", None)
        if sample is None:
            raise InputError(
                f"{type(system).__name__} has no sample(): give q and xi, where the scheme is to be asked."
            )
        q, xi = (sample()[name] for name in ("q", "xi"))
    system, q, xi = checks.initial_data(system, q, xi, None)
    scheme = scheme.fitted(system)
    size = checks.step_size(_fitting_step(system, q, xi) if h is None else h)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ContactLost)  # the map is asked, not the body
        order, slopes = _order(scheme, system, q, xi, size)
        undone = _return_gap(scheme, system, q, xi, size)
        runs = list(_runs(scheme, system, q, xi, size))
    constraint = max(constraint_residual(run) for run, _ in runs) if system.rank < runs[0][0].xi.shape[1] else None
    kept = _worse_of(runs, _momenta(system, q, xi, size))
    rest = _steady(system, q, xi) if steady is None else relative_equilibrium(system, *steady)
    found = None if rest is None else structural_stability(system, rest.q, rest.xi[: system.rank], scheme, size)
    return Properties(repr(scheme), type(system).__name__, float(size), order, slopes, undone, constraint, kept, found)


@jax.jit
def _slope(system: System, x: Array) -> Array:
    return jax.jacfwd(partial(phase_space.field, system))(x)


def _fitting_step(system: System, q: Array, xi: Array) -> float:
    """A fifth of the time in which the motion changes: of the fastest rate of its linearisation, or of xi."""
    linear = np.asarray(_slope(system, phase_space.join(system, q, xi)))
    rate = max(float(np.max(np.abs(np.linalg.eigvals(linear)), initial=0.0)), float(np.linalg.norm(xi)))
    return 0.2 / rate if np.isfinite(rate) and rate > 0 else 0.2


def _order(scheme: Scheme, system: System, q: Array, xi: Array, h: Array) -> tuple[int | None, tuple[float, ...]]:
    """The order that the last two slopes show, and all slopes: of the error at one time, with ever shorter steps."""
    t = 10 * float(h)
    exact = reference(system, q, xi, t=t)
    end = np.concatenate([exact.q[-1], exact.xi[-1]])
    size, errors, steps = 1 + float(np.max(np.abs(end))), [], 5
    while steps <= MOST:
        run = simulate(system, q, xi, h=t / steps, steps=steps, scheme=scheme, on_failure="mark")
        if np.all(run.report.converged) and len(run.t) == steps + 1:  # a long step may be too long
            errors.append(float(np.linalg.norm(np.concatenate([run.q[-1], run.xi[-1]]) - end)) / size)
            if errors[-1] < SEEN:
                break
            if len(errors) > 4 and abs(np.log2(errors[-2] / errors[-1]) - np.log2(errors[-3] / errors[-2])) < NEAR / 4:
                break
        steps *= 2
    seen = np.array([error for error in errors if error >= SEEN])
    slopes = tuple(float(slope) for slope in np.log2(seen[:-1] / seen[1:])[-3:])
    order = round(slopes[-1]) if slopes and abs(slopes[-1] - round(slopes[-1])) < NEAR else None
    return order, slopes


@interpret
def _next(system: System, scheme: Scheme, state: State, h: Array) -> State:
    return scheme.step(system, state, h)[0]


def _return_gap(scheme: Scheme, system: System, q: Array, xi: Array, h: Array) -> float:
    """A step with h and one with -h from a node of a run, not its first: how far apart in (q, p), relative."""
    before = _next(system, scheme, start(system, scheme, q, xi, h), h)
    back = _next(system, scheme, _next(system, scheme, before, h), -h)
    one, other = (np.concatenate([state.q, state.p]) for state in (before, back))
    return float(np.max(np.abs(one - other)) / (1 + np.max(np.abs(one))))


def _runs(scheme: Scheme, system: System, q: Array, xi: Array, h: Array) -> Iterator[tuple[Trajectory, Trajectory]]:
    """From (q, xi) and with another velocity, with h and with h/2, to the same time, or as far as steps are solved."""
    free = np.asarray(xi)[: system.rank]
    turned = free + 0.2 * np.max(np.abs(free), initial=0.0) * np.random.default_rng(0).normal(size=len(free))
    for velocity in (free, turned):
        whole = _before_failure(simulate(system, q, velocity, h=h, steps=STEPS, scheme=scheme, on_failure="mark"))
        count = 2 * (len(whole.t) - 1)
        half = _before_failure(simulate(system, q, velocity, h=h / 2, steps=count, scheme=scheme, on_failure="mark"))
        yield whole, half


def _before_failure(run: Trajectory) -> Trajectory:
    """What comes before a step that failed."""
    good = int(np.sum(np.cumprod(np.asarray(run.report.converged))))
    if good < FEWEST:
        raise InputError(
            f"{run.scheme!r} takes {good} steps with h = {float(run.h):g} from here, then its equations have no root "
            "that Newton's method finds: too few to say what is kept. Give a shorter step h."
        )
    nodes = {name: getattr(run, name)[: good + 1] for name in ("t", "q", "p", "xi")}
    return run.replace(**nodes, xi_mid=run.xi_mid[:good])


Momenta = Callable[[Trajectory], dict[str, np.ndarray]]


def _momenta(system: System, q: Array, xi: Array, h: Array) -> Momenta:
    """What gives, of a run, the momenta of those symmetries whose momentum the reference keeps, by name."""
    fields = phase_space.generators(system, None)
    if not fields:
        return lambda run: {}  # noqa: ARG005
    at = interpret(jax.vmap(partial(_momenta_at, tuple(fields.values())), (None, 0, 0)), most=NUMBERS)

    def of(run: Trajectory) -> dict[str, np.ndarray]:
        values = at(run.system, np.asarray(run.q), np.asarray(run.xi))
        return {f"momentum of {name}": value for name, value in zip(fields, values.T, strict=True)}

    exact = of(reference(system, q, xi, t=np.linspace(0, 20 * float(h), 21)))
    kept = {name for name, value in exact.items() if np.ptp(value) < CONTINUOUS * (1 + np.max(np.abs(value)))}
    return lambda run: {name: value for name, value in of(run).items() if name in kept}


def _momenta_at(moves: tuple[Generator, ...], system: System, q: Array, xi: Array) -> Array:
    """<mu, a>, X = Psi a, of each generator."""
    mu = jax.grad(system.lagrangian, 1)(q, hamel.full(system, q, xi))
    return jnp.stack([mu @ components(system, move, q) for move in moves])


def _relations(system: System, q: Array) -> Array:
    return jnp.linalg.norm(system.holonomic(q))


def _worse_of(runs: list[tuple[Trajectory, Trajectory]], momenta: Momenta) -> dict[str, Kept]:
    """Of every quantity the worse of the two motions."""
    found: dict[str, Kept] = {}
    for whole, half in runs:
        long, short = (_quantities(run, momenta) for run in (whole, half))
        for name, values in long.items():
            one = _one(whole.t, values, short[name])
            if name not in found or one.off > found[name].off:
                found[name] = one
    return found


def _quantities(run: Trajectory, momenta: Momenta) -> dict[str, np.ndarray]:
    values = {name: np.asarray(along) for name, along in run.invariants().items()}
    values |= momenta(run)
    if run.system.redundant:
        values["relations of coordinates"] = along(_relations, run.system, np.asarray(run.q))
    return values


def _one(t: np.ndarray, values: np.ndarray, shorter: np.ndarray) -> Kept:
    size = 1 + float(np.max(np.abs(values)))
    off, less = (float(np.max(np.abs(along - along[0]))) / size for along in (values, shorter))
    if off < ROUNDOFF * STEPS**0.5:
        return Kept(off, None, False)
    return Kept(off, float(np.log2(off / less)) if less else float("nan"), trend(t, values).significant)


def _steady(system: System, q: Array, xi: Array) -> RelativeEquilibrium | None:
    """One near (q, xi), or near q with one of the velocities alone, that moves; None where there is none."""
    free = xi[: system.rank]
    for velocity in (free, *(free * unit for unit in np.eye(len(free)))):
        try:
            found = relative_equilibrium(system, q, velocity)
        except ValueError:
            continue
        if np.max(np.abs(found.xi)) > NEAR * np.max(np.abs(velocity)) > 0:
            return found
    return None

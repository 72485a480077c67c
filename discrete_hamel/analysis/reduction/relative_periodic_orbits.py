"""What returns up to a motion of the group: relative periodic orbits, their shifts and multipliers, patterns."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities, Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.motion.events import section
from discrete_hamel.analysis.motion.partial_steps import Function
from discrete_hamel.analysis.reduction.reconstruction import body_velocity
from discrete_hamel.analysis.reduction.reduced_systems import ReducedSystem
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.scheme import Scheme

MOST = 30  # iterations of Newton's method
CLOSED = 1e-11  # how far a closed orbit may be from closed, relative to its size
CUT = 1e-12  # relative singular value below which nothing is told in the least squares
NEAR = 0.3  # size of (M - 1) v below which v may lead to a neighbouring orbit of a family
RESTS = 1e-3  # of the size of x: what moves less in a period rests
LARGEST, TERMS = 0.25, 10  # of a matrix and of its exponential's series: 0.25^11 / 11! is below round-off
AT_START = 1e-6  # of a step: a crossing so soon after the start is the start


class RelativePeriodicOrbit(NamedTuple):
    """A motion of D/G with a period, q(t + period) = h q(t); see `relative_periodic_orbit`."""

    reduced: ReducedSystem  # in which it is closed
    r: np.ndarray  # shapes at its start
    xi: np.ndarray
    period: float
    shift: np.ndarray  # h on (q, 1), for the motion that starts at sigma(r); of g sigma(r) it is g h g^-1
    multipliers: np.ndarray  # Floquet's, modulo the group: eigenvalues of the flow's derivative on D/G over a period
    off: float  # how far from closed

    def __repr__(self) -> str:
        turned = ", ".join(f"{a:.6g}" for a in self.angles) or "none"
        return f"RelativePeriodicOrbit: period {self.period:.12g}, angles of the shift: {turned}; off by {self.off:.1e}"

    @property
    def angles(self) -> np.ndarray:
        """By which the shift turns, in (0, pi]: the arguments of the eigenvalues of its linear part."""
        turned = np.angle(np.linalg.eigvals(self.shift[:-1, :-1]))
        return np.unique(np.round(turned[turned > 1e-9], 12))

    @property
    def v(self) -> np.ndarray:
        """q' of the whole system at sigma(r), where the orbit starts."""
        return _velocity(self.reduced, self.r, self.xi)

    @property
    def q(self) -> np.ndarray:
        """sigma(r), where the orbit starts."""
        return np.asarray(self.reduced.section(jnp.asarray(self.r)))

    @property
    def drift(self) -> np.ndarray:
        """zeta = log(h) / period, of the algebra: in axes that move with exp(t zeta) the motion is periodic."""
        found = scipy.linalg.logm(self.shift)
        if np.max(np.abs(np.imag(found))) > 1e-8 * (1 + np.max(np.abs(found))):
            raise InputError("the shift is no exponential of a real matrix (it reverses something): take two periods.")
        return np.real(found) / self.period


def relative_periodic_orbit(
    reduced: ReducedSystem, r: Coordinates, xi: Quasivelocities, *, period: float
) -> RelativePeriodicOrbit:
    """The motion of a `reduced` system near (r, xi) that returns after about this period, and the group's by then.

    Newton's method on x(T) - x = 0 for T and those parts of x that the flow tells from their return; the others, which
    lead to neighbouring orbits of a family, are touched only where it does not get on without. The flow, its derivative
    and (2.15) by DOP853 at 1e-13.

    >>> import discrete_hamel as dh
    >>> sleigh = dh.reduce(dh.systems.SleighOscillator())
    >>> orbit = dh.relative_periodic_orbit(sleigh, [0.0], [0.8, 0.3, 0.5], period=2.6)
    >>> orbit.off < 1e-10, orbit.angles.round(3).tolist()
    (True, [0.709])
    """
    _, r, xi = checks.initial_data(reduced, r, xi, None)
    s = len(r)
    x, time = np.concatenate([r, np.asarray(xi)[: reduced.rank]]), float(period)
    size, near, before, off = 1 + np.max(np.abs(x)), NEAR, np.inf, np.inf
    for _ in range(MOST):
        end, slope, shift = _flow(reduced, x, time)
        off = float(np.max(np.abs(end - x)))
        if off < CLOSED * size:
            break
        near, before = near if off < before / 2 else near / 10, off
        step = _correction(slope - np.eye(len(x)), np.asarray(_field(reduced, jnp.asarray(end))), x - end, near)
        step *= min(1.0, 0.3 * size / np.max(np.abs(step)))
        x, time = x + step[:-1], time + step[-1]
    moved = np.max(np.abs(np.asarray(_field(reduced, jnp.asarray(x))))) * abs(time)
    if not off < CLOSED * size or moved < RESTS * size or not 0.1 * period < time < 10 * period:
        rests = ", at rest" if moved < RESTS * size else ""
        raise InputError(
            f"no motion near r = {np.asarray(r).tolist()} closes after a time near {period:g}: Newton's method ended "
            f"at {time:g}, off by {off:.1e}{rests}. Give a nearer start and period."
        )
    return RelativePeriodicOrbit(reduced, x[:s], x[s:], time, shift, np.linalg.eigvals(slope), off)


def _correction(slope: np.ndarray, rate: np.ndarray, goal: np.ndarray, near: float) -> np.ndarray:
    """(dx, dT) with slope dx + rate dT = goal in the least squares; dx along what the flow tells from its return.

    Where (M - 1) v is small, v leads to a neighbouring orbit of a family, which energy and momenta number: not there.
    """
    unit = rate / np.linalg.norm(rate)
    _, sizes, right = np.linalg.svd(slope - np.outer(unit, unit @ slope))  # along the flow T makes good what is left
    told = right[sizes > near].T
    step = np.linalg.lstsq(np.column_stack([slope @ told, rate]), goal, rcond=CUT)[0]
    return np.append(told @ step[:-1], step[-1])


def _flow(reduced: ReducedSystem, x: np.ndarray, time: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x(T), its derivative by x, and g(T)."""
    d, n = len(x), reduced.actions.shape[1]
    y0 = np.concatenate([x, np.eye(d).ravel(), np.eye(n).ravel()])
    found = scipy.integrate.solve_ivp(
        lambda _, y: np.asarray(_rates(reduced, jnp.asarray(y))), (0.0, time), y0, "DOP853", rtol=1e-13, atol=1e-13
    )
    y = found.y[:, -1]
    if not found.success or not np.all(np.isfinite(y)):
        raise InputError(f"the motion could not be followed over {time:g}: {found.message}")
    return y[:d], y[d : d + d * d].reshape(d, d), y[d + d * d :].reshape(n, n)


@partial(interpret, often=OFTEN)
def _field(reduced: ReducedSystem, x: Array) -> Array:
    s = reduced.shapes_count
    velocity, acceleration = hamel.vector_field(reduced, x[:s], x[s:])
    return jnp.concatenate([velocity, acceleration[: reduced.rank]])


@interpret
def _velocity(reduced: ReducedSystem, r: Array, xi: Array) -> Array:
    return reduced.tangent(r) @ (reduced.transition(r) @ hamel.full(reduced, r, xi))


@partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})  # compiling takes longer than its calls
def _rates(reduced: ReducedSystem, y: Array) -> Array:
    s, d, n = reduced.shapes_count, reduced.shapes_count + reduced.rank, reduced.actions.shape[1]
    x, slope, g = y[:d], y[d : d + d * d].reshape(d, d), y[d + d * d :].reshape(n, n)
    value, along = jax.linearize(partial(_field, reduced), x)
    turn = g @ jnp.einsum("a,aij->ij", body_velocity(reduced, x[:s], x[s:]), reduced.actions)
    return jnp.concatenate([value, jax.vmap(along, 1, 1)(slope).ravel(), turn.ravel()])


class ReturnMap(NamedTuple):
    """(q, xi) -> (q, xi, t) at the next crossing of function(q, xi) = 0; see `return_map`."""

    system: System
    function: Function
    h: Scalar
    scheme: Scheme | None
    sense: int

    def __call__(self, q: Coordinates, xi: Quasivelocities) -> tuple[np.ndarray, np.ndarray, float]:
        """The next crossing after (q, xi), which may itself lie on the section."""
        least = AT_START * (1.0 if callable(self.h) else abs(float(self.h)))
        for count in (1, 2):  # the second where the first is the start; no more is waited for
            found = section(
                self.system, q, xi, self.function, h=self.h, count=count, scheme=self.scheme, sense=self.sense
            )
            if abs(found.t[-1]) > least:
                break
        return found.q[-1], found.xi[-1], float(found.t[-1])


def return_map(
    system: System, function: Function, *, h: Scalar, scheme: Scheme | None = None, sense: int = 1
) -> ReturnMap:
    """The return map of the section function(q, xi) = 0, crossed in one sense, by a scheme's own steps.

    >>> import discrete_hamel as dh
    >>> again = dh.return_map(dh.systems.SphericalPendulumAngles(), lambda q, xi: xi[0], h=0.1)
    >>> q, xi, t = again([0.3, 0.0], [0.0, 0.4])
    >>> bool(abs(xi[0]) < 1e-12), t > 0.1
    (True, True)
    """
    return ReturnMap(system, function, h if callable(h) else float(checks.step_size(h)), scheme, sense)


def rotation_number(angles: ArrayLike) -> float:
    """Turns per return, of `angles` at successive returns that go on beyond 2 pi: their weighted Birkhoff average.

    With the weights exp(-1 / (s (1 - s))) it converges, where the motion is quasi-periodic, faster than any power of
    the number of returns (Das, Sander and Yorke, 2017); the plain mean as its first power.

    >>> from discrete_hamel import rotation_number
    >>> import numpy as np
    >>> k = np.arange(2000)
    >>> round(rotation_number(0.7 * k + 0.2 * np.sin(0.7 * k)) * 2 * np.pi, 12)
    0.7
    """
    steps = np.diff(np.asarray(angles, float))
    if len(steps) < 2:
        raise InputError("a rotation number needs three returns or more.")
    s = np.arange(1, len(steps) + 1) / (len(steps) + 1)
    weights = np.exp(-1 / (s * (1 - s)))
    return float(weights @ steps / np.sum(weights) / (2 * np.pi))


def evoke(orbit: RelativePeriodicOrbit, trajectory: Trajectory, *, g: ArrayLike | None = None) -> Trajectory:
    """Returns the trajectory of the whole system seen from axes that move with exp(t zeta): there its pattern is
    closed.

        q -> g exp(-t zeta) g^-1 q,  zeta = log(h) / period                               [QS] 6.3, pattern evocation

    g is that of the first node, as `shape_of` gives it, if the orbit's start is not where the trajectory starts. Only q
    and t are of use in what comes back: to draw it, or to film it by its `animate`.

    >>> import discrete_hamel as dh, numpy as np
    >>> sleigh = dh.systems.SleighOscillator()
    >>> orbit = dh.relative_periodic_orbit(dh.reduce(sleigh), [0.0], [0.8, 0.3, 0.5], period=2.6)
    >>> T = orbit.period
    >>> run = dh.simulate(sleigh, orbit.q, v=orbit.v, h=T / 400, steps=800)
    >>> seen = dh.evoke(orbit, run)
    >>> bool(abs(seen.q[800] - seen.q[0]).max() < 1e-3 < abs(run.q[800] - run.q[0]).max())
    True
    """
    size = orbit.shift.shape[0]
    if np.shape(trajectory.q)[1] != size - 1:
        raise InputError(
            f"the trajectory is to be of the whole system, with {size - 1} coordinates: reconstruct first."
        )
    first = np.eye(size) if g is None else np.asarray(g, float)
    back = np.linalg.solve(first, np.column_stack([trajectory.q, np.ones(len(trajectory.q))]).T).T
    times, drift = np.asarray(trajectory.t) - float(trajectory.t[0]), orbit.drift
    moved = np.einsum("ab,kbc,kc->ka", first, _exponentials(-times[:, None, None] * drift), back)
    return trajectory.replace(q=moved[:, :-1])


def _exponentials(x: np.ndarray) -> np.ndarray:
    """exp of each matrix, (K, n, n): SciPy's takes one after another, a millisecond each."""
    size = np.max(np.linalg.norm(x, axis=(1, 2)), initial=0.0)
    halvings = max(0, int(np.ceil(np.log2(max(size, 1e-300) / LARGEST))))
    small = x / 2.0**halvings
    one, result = np.eye(x.shape[1]), np.zeros_like(x)
    for k in range(TERMS, 0, -1):
        result = small @ (one + result) / k  # what exp adds to 1, which halvings would round off
    for _ in range(halvings):
        result = 2 * result + result @ result
    return one + result

"""Motion along one shape variable: reduced energy, amended potential, turning points, period, reconstruction, shift."""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy  # whose parts are loaded when they are used
from jax import Array
from numpy.polynomial import chebyshev

from discrete_hamel._support.arrays import ArrayLike, Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.conserved_momenta import HiddenMomenta
from discrete_hamel.mechanics import hamel
from discrete_hamel.runs import validation as checks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

GRID = 2000  # intervals in which turning points are looked for
ROUNDOFF = 1e-12  # relative kinetic energy below which the shape rests


class Shift(NamedTuple):
    """After one period of the shape variable q(t + period) = h q(t): the affine map h, on (q, 1)."""

    period: float
    map: np.ndarray  # (N+1, N+1)

    def __call__(self, q: Coordinates, times: int = 1) -> np.ndarray:
        """q after so many periods, for a motion that starts on the section at a turning point."""
        return (np.linalg.matrix_power(self.map, times) @ np.append(np.asarray(q, float), 1.0))[:-1]


class Reduced(Pytree):
    """The system with one degree of freedom that is left when all hidden momenta have given values; see `reduced`."""

    constants: HiddenMomenta  # the momenta that are kept
    values: Array

    def __repr__(self) -> str:
        if checks.traced(self):
            return "Reduced, traced by jax"
        return f"Reduced motion with momenta {np.round(np.asarray(self.values), 6).tolist()} of {self.constants!r}"

    def inertia(self, r: ArrayLike) -> Array:
        """K(kappa, kappa), of the horizontal field with dr(kappa) = 1."""
        return _parts(self, jnp.asarray(r, float))[0]

    def potential(self, r: ArrayLike) -> Array:
        """U_c = U + c G^-1 c / 2, the amended potential, G_ab = K(eta_a, eta_b).   [MD] (8.11); [QS] 6.5"""
        return _parts(self, jnp.asarray(r, float))[1]

    def energy(self, r: ArrayLike, rate: ArrayLike) -> Array:
        """E = K(kappa, kappa) r'^2 / 2 + U_c: that of the whole system."""
        inertia, potential, *_ = _parts(self, jnp.asarray(r, float))
        return 0.5 * inertia * jnp.asarray(rate, float) ** 2 + potential

    def velocity(self, r: ArrayLike, rate: ArrayLike) -> Array:
        """xi^D of the motion where it crosses the section: r' kappa + Omega with K(Omega, eta_a) = c_a.   [MD] 7.4"""
        _, _, kappa, omega, _ = _parts(self, jnp.asarray(r, float))
        return jnp.asarray(rate, float) * kappa + omega

    def turning_points(self, energy: float, r: float | None = None) -> np.ndarray:
        """The r at which U_c(r) = E, in order: between two of them with U_c < E the motion runs to and fro.

        Looked for on 2001 points of the range, at the given r, and where U_c has an extremum between them, so that
        a narrow well or hill is not passed over.
        """
        low, high = (float(end) for end in self.constants.between)
        grid = np.linspace(low, high, GRID + 1)
        grid = grid if r is None else np.unique(np.append(grid, float(r)))

        def off(r: float) -> float:
            return float(_potentials(self, np.array([r]))[0]) - float(energy)

        above = _potentials(self, grid) - float(energy)
        grid = np.unique(np.append(grid, _extrema(off, grid, above)))
        above = _potentials(self, grid) - float(energy)
        crossings = np.flatnonzero(np.sign(above[:-1]) * np.sign(above[1:]) < 0)
        roots = [scipy.optimize.brentq(off, grid[i], grid[i + 1], xtol=1e-14, rtol=1e-14) for i in crossings]
        return np.sort(np.concatenate([roots, grid[above == 0.0]]))

    def oscillation(self, energy: float, r: float) -> tuple[float, float]:
        """The turning points between which a motion of this energy through r stays; both r where it rests there."""
        here, slope = (float(a) for a in jax.jvp(self.potential, (jnp.asarray(r, float),), (jnp.ones(()),)))
        size = ROUNDOFF * max(abs(here), abs(float(energy)), 1e-300)
        if here > energy + size:
            raise InputError(f"at r = {r:g} the amended potential {here:.6g} exceeds the energy {energy:.6g}.")
        low, high = (float(end) for end in self.constants.between)
        if abs(here - energy) <= size and abs(slope) * (high - low) <= np.sqrt(ROUNDOFF) * max(abs(here), 1e-300):
            return float(r), float(r)
        ends = self.turning_points(energy, r)
        below, above = ends[ends <= r], ends[ends >= r]
        if abs(here - energy) <= size:  # r itself is where it turns, to round-off: it goes to where U_c is less
            others = ends[np.abs(ends - r) > 2 * size / abs(slope)]
            below, above = (others[others < r], np.array([r])) if slope > 0 else (np.array([r]), others[others > r])
        if not len(below) or not len(above):
            raise InputError(
                f"a motion of energy {energy:.6g} through r = {r:g} leaves the range {low:g} to {high:g} that is known."
            )
        return float(below[-1]), float(above[0])

    def period(self, energy: float, r: float) -> float:
        """T = 2 int dr / r' between the turning points about r; where it rests, that of small oscillations.

        Infinite where one of the turning points is a maximum of U_c, which is reached in no time (a separatrix).
        """
        low, high = self.oscillation(energy, r)
        if low == high:
            inertia, _, curvature = (float(a[0]) for a in _curvature(self, jnp.asarray([low])))
            return 2 * np.pi * float(np.sqrt(inertia / curvature)) if curvature > 0 else float("inf")
        return period(lambda r: _curvature(self, jnp.asarray(r)), float(energy), low, high)

    def reconstruction(self, r: float, rate: float, t: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """r(t) from (r, r') at 0, and q(t) from `constants.point(r)`: no equation of the whole system is solved.

        I r'' = -U_c' - I' r'^2 / 2,  q = g point(r),  g' = g Omega(r)                                    [MD] M18
        """
        system, symmetries = self.constants.system, self.constants.symmetries
        size = len(self.constants.point(r))
        phase_space.require_affine(system, dict(phase_space.generators(system, symmetries)), self.constants.point(r))
        times = np.atleast_1d(np.asarray(t, float))
        y0 = np.concatenate([[r, rate], np.eye(size + 1).ravel()])
        found = scipy.integrate.solve_ivp(
            lambda _, y: np.asarray(_rate(self, y)),
            (0.0, times[-1]),
            y0,
            "DOP853",
            t_eval=times,
            rtol=1e-13,
            atol=1e-13,
        )
        if not found.success or not np.all(np.isfinite(found.y)):
            raise InputError(f"the reduced motion left the range of r that is known, before t = {times[-1]:g}.")
        places = np.asarray(_points(self, found.y[0]))
        maps = found.y[2:].T.reshape(-1, size + 1, size + 1)
        return found.y[0], np.einsum("tab,tb->ta", maps, np.concatenate([places, np.ones((len(places), 1))], axis=1))[
            :, :size
        ]

    def shift(self, energy: float, r: float) -> Shift:
        """The period of r about r and the motion h of the group with q(t + period) = h q(t), from a turning point."""
        low, _ = self.oscillation(energy, r)
        period = self.period(energy, r)
        if not np.isfinite(period):
            raise InputError(f"at energy {energy:.6g} the motion about r = {r:g} never comes back: it has no shift.")
        size = len(self.constants.point(low))
        y0 = np.concatenate([[low, 0.0], np.eye(size + 1).ravel()])
        found = scipy.integrate.solve_ivp(
            lambda _, y: np.asarray(_rate(self, y)), (0.0, period), y0, "DOP853", rtol=1e-13, atol=1e-13
        )
        return Shift(period, found.y[2:, -1].reshape(size + 1, size + 1))

    def plot(self, energy: float | None = None, *, ax: "Axes | None" = None) -> "FigureBase":
        """A figure of U_c over the range of r; with an energy its level, and where the motion turns (matplotlib)."""
        from discrete_hamel.drawing.plots.look import blank, style

        with style():
            figure = ax.figure if ax is not None else blank(5, 4)
            axes = figure.subplots() if ax is None else ax
            low, high = (float(end) for end in self.constants.between)
            r = np.linspace(low, high, GRID // 4 + 1)
            potential = _potentials(self, r)
            axes.plot(r, potential, label="amended potential")
            if energy is not None:
                ends = self.turning_points(energy)
                axes.axhline(energy, linewidth=0.8, color="black", label="energy")
                axes.plot(ends, np.full(len(ends), energy), "o", label="turning points")
                reach = 2.0 * (float(energy) - float(np.min(potential)))
                axes.set_ylim(float(np.min(potential)) - 0.1 * reach, float(np.min(potential)) + max(reach, 1e-300))
            axes.set(xlabel="shape variable r", ylabel="energy")
            axes.legend(fontsize="small")
        return figure


def reduced(constants: HiddenMomenta, values: ArrayLike) -> Reduced:
    """Returns the reduced motion in the shape variable when the hidden momenta have these values.   [MD] 8.4; [QS] 4.1

    >>> import discrete_hamel as dh
    >>> disk = dh.systems.RollingDisk()
    >>> constants = dh.hidden_momenta(disk, [0.0, 0, 0, 0, 0], between=(-1.2, 1.2))
    >>> q, xi = [0.3, 0, 0, 0, 0], [0.1, 0.6, 3.0, 0, 0]
    >>> lean = dh.reduced(constants, constants(q, xi))
    >>> bool(abs(lean.energy(0.3, 0.1) - dh.energy(disk, q, xi)) < 1e-9)
    True
    >>> lean.turning_points(dh.energy(disk, q, xi)).round(3).tolist()     # it leans to and fro between these
    [0.299, 0.746]
    """
    values = jnp.asarray(values, float)
    fields, dimension = constants.series.shape[-1], constants.series.shape[-2]
    if values.shape != (fields,):
        raise InputError(f"values must be the {fields} hidden momenta, constants(q, xi); got shape {values.shape}.")
    if fields != dimension - 1 or not np.all(np.isfinite(np.asarray(constants.logarithm))):
        raise InputError(
            f"the reduction to one degree of freedom needs as many hidden momenta along S as S has dimensions, "
            f"{dimension - 1}; {type(constants.system).__name__} gave {fields}."
        )
    return Reduced(constants, values)


@jax.jit
def _parts(motion: Reduced, r: Array) -> tuple[Array, Array, Array, Array, Array]:
    """K(kappa, kappa), U_c, kappa, Omega and the amounts of the generators that make up Omega."""
    found = motion.constants
    system = found.system
    q, eta = found.point(r), found.fields(r)
    metric = hamel.inertia(system, q, jnp.zeros(len(eta)))
    psi = system.frame(q)[:, : system.rank]
    dr = psi.T @ jax.grad(found.shape)(q)
    kappa = jnp.linalg.solve(metric, dr)
    inertia = 1 / (dr @ kappa)
    pull = jnp.linalg.solve(eta.T @ metric @ eta, motion.values)
    omega = eta @ pull
    potential = 0.5 * motion.values @ pull - system.lagrangian(q, hamel.full(system, q, jnp.zeros(len(eta))))
    moves = jnp.stack([move(q) for move in phase_space.generators(system, found.symmetries).values()], axis=1)
    return inertia, potential, kappa * inertia, omega, jnp.linalg.pinv(moves) @ psi @ omega


def _extrema(off: Callable[[float], float], grid: np.ndarray, above: np.ndarray) -> list[float]:
    """Where U_c - E has an extremum of the other sign between points of the grid at which it has one sign."""
    found = []
    for sign in (1.0, -1.0):
        values = sign * above
        peaks = np.flatnonzero((values[1:-1] >= values[:-2]) & (values[1:-1] >= values[2:]) & (values[1:-1] < 0)) + 1
        for i in peaks:
            ends = (grid[i - 1], grid[i + 1])
            place = scipy.optimize.minimize_scalar(lambda r, sign=sign: -sign * off(r), bounds=ends, method="bounded")
            found += [float(place.x)] if -place.fun > 0 else []
    return found


@jax.jit
def _curvature(motion: Reduced, r: Array) -> tuple[Array, Array, Array]:
    """I, U_c and U_c''."""

    def one(r: Array) -> tuple[Array, Array, Array]:
        inertia, potential = _parts(motion, r)[:2]
        slope = jax.grad(lambda r: _parts(motion, r)[1])
        return inertia, potential, jax.jvp(slope, (r,), (jnp.ones(()),))[1]

    return jax.vmap(one)(r)


@jax.jit
def _rate(motion: Reduced, y: Array) -> Array:
    r, rate = y[0], y[1]
    found = motion.constants
    place = found.point(r)
    size = len(place)
    (inertia, _, _, _, amounts), slopes = jax.jvp(lambda r: _parts(motion, r), (r,), (jnp.ones(()),))
    acceleration = -(slopes[1] + 0.5 * slopes[0] * rate**2) / inertia
    moves = phase_space.generators(found.system, found.symmetries).values()

    def combine(q: Array) -> Array:
        return sum((a * move(q) for a, move in zip(amounts, moves, strict=True)), jnp.zeros(size))

    zero = jnp.zeros(size)
    algebra = jnp.zeros((size + 1, size + 1)).at[:size, :size].set(jax.jacfwd(combine)(zero))
    algebra = algebra.at[:size, size].set(combine(zero))
    turned = y[2:].reshape(size + 1, size + 1) @ algebra
    return jnp.concatenate([jnp.stack([rate, acceleration]), turned.ravel()])


@jax.jit
def _along(motion: Reduced, r: Array) -> tuple[Array, Array]:
    return jax.vmap(lambda r: _parts(motion, r)[:2])(r)


def _potentials(motion: Reduced, r: np.ndarray) -> np.ndarray:
    return np.asarray(_along(motion, jnp.asarray(r))[1])


@jax.jit
def _points(motion: Reduced, r: Array) -> Array:
    return jax.vmap(motion.constants.point)(r)


FEWEST, DOUBLINGS = 16, 8  # nodes at first, and how often they are doubled
CONVERGED = 1e-11  # relative change at which doubling them ends
RESOLVED = 1e-2  # kinetic energy, relative to the potential, below which it is found from U''
RESTING = 1e-9  # g at a turning point, relative to its largest, at which a motion comes to rest and does not turn

Curved = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]  # r -> I, U, U'' at each


def period(curved: Curved, energy: float, low: float, high: float) -> float:
    """T = int_0^2pi sqrt(I / 2 g) dphi with r = mid + amp cos(phi) and E - U = (r - low)(high - r) g(r).

    g is smooth and positive, so that equal angles give T to round-off at once (a periodic integrand), unless a turning
    point is nearly a maximum of U: then g nearly vanishes there, and T grows like a logarithm.

    >>> round(period(lambda r: (1.0 + 0 * r, 0.5 * r**2, 1.0 + 0 * r), 0.5, -1.0, 1.0) / np.pi, 12)     # I r'' = -r
    2.0
    """
    last = float("nan")
    for doubling in range(DOUBLINGS):
        g, inertia, amplitude = _regularise(curved, energy, low, high, FEWEST << doubling)
        if np.all(g > 0):
            found = 2 * np.pi * float(np.mean(amplitude * np.sqrt(inertia / (2 * g))))
            if abs(found - last) <= CONVERGED * found:
                return found
            last = found
    if _rests_at_an_end(g, energy):
        return float("inf")
    raise InputError(
        f"the period at energy {energy:.9g} is not resolved by {len(g)} nodes between the turning points {low:.6g} and "
        f"{high:.6g}: the motion nearly rests on the way, close to a separatrix, or the potential has kinks."
    )


def _rests_at_an_end(g: np.ndarray, energy: float) -> bool:
    """Whether g, continued to one of the turning points, vanishes to round-off: U has a maximum there."""
    near, next_to = (1 - np.cos(np.pi * (k + 0.5) / len(g)) for k in (0, 1))
    ends = (one - (two - one) * near / (next_to - near) for one, two in ((g[0], g[1]), (g[-1], g[-2])))
    noise = 100 * np.finfo(float).eps * abs(energy) / near
    return bool(min(ends) <= RESTING * np.max(np.abs(g)) + noise)


def _regularise(
    curved: Curved, energy: float, low: float, high: float, nodes: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """g in units of amp^2, I, and amp, at so many equal angles."""
    angle = np.pi * (np.arange(nodes) + 0.5) / nodes
    amplitude = 0.5 * (high - low)
    at = 0.5 * (high + low) + amplitude * np.cos(angle)
    inertia, potential, curvature = (np.asarray(a) for a in curved(at))
    kinetic = energy - potential
    if np.max(kinetic) < RESOLVED * max(abs(energy), float(np.max(np.abs(potential)))):
        kinetic = _twice_integrated(amplitude**2 * curvature, np.cos(angle))  # the difference has too few digits left
    return kinetic / np.sin(angle) ** 2, inertia, amplitude


def _twice_integrated(curvature: np.ndarray, x: np.ndarray) -> np.ndarray:
    """-u at the Chebyshev points x, where u'' is given at them and u(-1) = u(1) = 0."""
    order = len(x) - 1
    coefficients = 2 / len(x) * chebyshev.chebvander(x, order).T @ curvature
    coefficients[0] /= 2
    u = chebyshev.chebint(coefficients, 2)
    left, right = chebyshev.chebval(np.array([-1.0, 1.0]), u)
    return 0.5 * (left + right) + 0.5 * (right - left) * x - chebyshev.chebval(x, u)

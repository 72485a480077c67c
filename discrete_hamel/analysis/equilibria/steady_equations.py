"""The equations of a relative equilibrium, of (H) and of a scheme's map, and what round-off leaves of them."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel.analysis.equilibria import discrete_maps
from discrete_hamel.analysis.equilibria.linearisation import Linearisation
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.analysis.symmetry.phase_space import Chosen
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme

SAMPLES, UNITS = 2, 4  # how often every number is rounded anew to see what that does, and by how many roundings
MORE = 8  # times that is round-off
SURELY = 20  # times that is none
EPS = np.finfo(float).eps
STEADY = 1e-8  # what may be left of the equations, relative to what they are made of, by numbers given to eight digits


T = TypeVar("T")


class SteadyEquations(NamedTuple):
    """E(y, group) = 0 at a point: value, derivatives by y and by the group's rates; and the velocity of a step."""

    value: np.ndarray
    by_point: np.ndarray
    by_group: np.ndarray
    velocity: np.ndarray  # xi^D of the step, empty for (H)
    velocity_by_point: np.ndarray


class Question(NamedTuple):
    """What is asked to be steady: the motion of (H), or with a scheme and h a step of its map; modulo what symmetry."""

    symmetries: Chosen
    system: System
    scheme: Scheme | None
    h: Array | None
    coordinates: int

    def at(self, y: np.ndarray, group: np.ndarray) -> SteadyEquations:
        """F(x) - group^a X_a(x), or for a scheme (exp(-h group^a X_a) Phi_h(y) - y) / h, and its derivatives."""
        point = np.asarray(y), np.asarray(group)
        if self.scheme is None:
            value, derivatives = _continuous(self.symmetries, self.system, *point)
        else:
            value, derivatives = _discrete(self.symmetries, self.coordinates, self.system, self.scheme, self.h, *point)
        value, by_point, by_group = (np.asarray(a) for a in (value, *derivatives))
        n = len(y)
        return SteadyEquations(value[:n], by_point[:n], by_group[:n], value[n:], by_point[n:])

    def rounding(self, y: np.ndarray, group: np.ndarray, at: SteadyEquations) -> SteadyEquations:
        """How much of each number of the equations is round-off: they are asked again with every number that goes into
        them, the system's parameters too, some units in the last place off."""
        draw = np.random.default_rng(0)

        def nearly(tree: T) -> T:
            def leaf(value: ArrayLike) -> ArrayLike:
                if not jnp.issubdtype(jnp.result_type(value), jnp.floating):
                    return value
                value = np.asarray(value)
                by = 1 + UNITS * jnp.finfo(value.dtype).eps * draw.choice([-1.0, 1.0], value.shape)
                return (value * by).astype(value.dtype)

            return jax.tree.map(leaf, tree)

        found = [self._replace(system=nearly(self.system)).at(nearly(y), nearly(group)) for _ in range(SAMPLES)]
        with np.errstate(invalid="ignore"):  # far from any solution they may be infinite
            changed = [np.max([np.abs(b - a) for b in others], axis=0) for a, *others in zip(at, *found, strict=True)]
        noise = SteadyEquations(*(MORE * change for change in changed))
        noise = noise._replace(by_point=np.maximum(noise.by_point, self._least(np.asarray(y))))
        return noise if self.h is None else self._with_differences(y, noise, float(self.h))

    def _least(self, y: np.ndarray) -> np.ndarray:
        """Round-off of derivatives that samples miss, where 1 + y^2 is the same number for all of them: that of xi in
        the rates of q by q and of xi by xi, of xi^2 in that of xi by q."""
        is_xi = np.arange(len(y)) >= self.coordinates
        swift = np.max(np.abs(y[is_xi][: self.system.rank]), initial=0.0)
        return MORE * EPS * swift ** (1.0 + is_xi[:, None] - is_xi)

    def _with_differences(self, y: np.ndarray, noise: SteadyEquations, h: float) -> SteadyEquations:
        """What a map rounds off besides: a change is the difference of two nodes, over h, one of them taken back by an
        exponential whose round-off is doubled by each squaring."""
        unit = 2**phase_space.SQUARINGS * np.finfo(float).eps / abs(h)
        q = np.arange(len(y)) < self.coordinates
        sizes = np.where(q, np.max(np.abs(y), where=q, initial=0.0), np.max(np.abs(y), where=~q, initial=0.0))
        alike = q[:, None] == q
        return noise._replace(value=noise.value + unit * sizes, by_point=noise.by_point + unit * alike)


@partial(interpret, static=1, often=OFTEN)
def _continuous(symmetries: Chosen, system: System, y: Array, group: Array) -> tuple[Array, tuple[Array, Array]]:
    def equations(y: Array, group: Array) -> Array:
        return phase_space.field(system, y) - phase_space.orbit(system, symmetries, y) @ group

    return _with_slopes(equations, y, group)


@partial(interpret, static=2, often=OFTEN)
def _discrete(
    symmetries: Chosen, coordinates: int, system: System, scheme: Scheme, h: Array, y: Array, group: Array
) -> tuple[Array, tuple[Array, Array]]:
    def equations(y: Array, group: Array) -> Array:
        stepped, velocity = discrete_maps.one_step(system, scheme, h, y, coordinates)
        node, memory = jnp.split(stepped, [coordinates + system.rank])
        back = phase_space.action(system, symmetries, -h * group, node)
        return jnp.concatenate([(jnp.concatenate([back, memory]) - y) / h, velocity])

    return _with_slopes(equations, y, group)


def _with_slopes(equations: Callable[[Array, Array], Array], y: Array, group: Array) -> tuple[Array, tuple]:
    """Their value and derivatives by both, traced once."""
    slopes, value = jax.jacfwd(lambda y, group: (equations(y, group),) * 2, (0, 1), has_aux=True)(y, group)
    return value, slopes


def nearest_group(symmetries: Chosen, system: System, x: np.ndarray) -> np.ndarray:
    """The group's rates that come nearest to the field of (H) at x."""
    field, lifts = phase_space.rates(system, x), phase_space.orbits(symmetries, system, x)
    return np.linalg.lstsq(lifts, field)[0] if lifts.shape[1] else np.zeros(0)


def fastest(at: SteadyEquations, noise: SteadyEquations, coordinates: int) -> float:
    """The fastest rate about a point: of q by q, of xi by xi, or of q by xi by q; it makes one unit of q and xi."""
    sure = np.where(np.abs(at.by_point) > noise.by_point, at.by_point, 0.0)
    q, xi = slice(0, coordinates), slice(coordinates, None)
    qq, qx, xq, xx = (np.linalg.norm(sure[block]) for block in ((q, q), (q, xi), (xi, q), (xi, xi)))
    return float(max(qq, xx, np.sqrt(qx * xq))) or 1.0


def left_over(
    at: SteadyEquations,
    noise: SteadyEquations,
    y: np.ndarray,
    group: np.ndarray,
    coordinates: int,
    least: float = STEADY,
) -> float:
    """The largest of what is left of E, relative to what it is made of, with round-off counted as `least`.

    What it is made of: the motion itself, and what a change of q by its size (and by one, in its units), and of xi by
    its own, would make; but no more than 1 + the size of the motion. Where nothing makes xi turn or grow that is
    nothing, and what xi at the fastest rate would round off is not left over.
    """
    rate = fastest(at, noise, coordinates)
    moving = np.abs(at.value - at.by_group @ group)
    swift = np.max(np.abs(y[coordinates:]), initial=0.0) + min(1.0, rate)
    reach = np.concatenate([np.abs(y[:coordinates]) + 1.0, np.full(len(y) - coordinates, swift)])
    terms, most, worst = np.abs(at.by_point) @ reach + moving, 1.0 + np.max(moving, initial=0.0), 0.0
    for part in (slice(0, coordinates), slice(coordinates, None)):
        floor = MORE * EPS * swift * rate if part.start else 0.0
        left = np.max(np.abs(at.value[part]) - floor, initial=0.0)
        rounded = np.max(noise.value[part], initial=0.0)
        size = min(np.max(terms[part], initial=0.0), most) + (rounded / least if left <= SURELY * rounded else 0.0)
        worst = max(worst, left / size if left else 0.0)
    return float(worst) if np.all(np.isfinite(at.value)) else np.inf


def modulo_symmetry(
    at: SteadyEquations,
    noise: SteadyEquations,
    basis: np.ndarray,
    orbits: np.ndarray,
    coordinates: int,
    h: float | None,
) -> Linearisation:
    """The linearised equations across the orbits, xi in units of the fastest rate, so that stiffness is no accident."""
    rate = fastest(at, noise, coordinates)
    unit = np.where(np.arange(len(at.value)) < coordinates, 1.0, rate)
    fit = basis.T / unit @ orbits
    across = basis @ phase_space.complement(fit)
    rough = (np.abs(across).T / unit) @ noise.by_point @ (unit[:, None] * np.abs(across))
    return Linearisation((across.T / unit) @ at.by_point @ (unit[:, None] * across), h, rough)

"""Lyapunov exponents of a scheme's map, through its tangent map."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Scalar
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.equilibria import discrete_maps
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.schemes.nonlinear_midpoint import default_scheme
from discrete_hamel.schemes.scheme import Scheme


class LyapunovExponents(NamedTuple):
    """Exponents per unit time, from the largest, and how their running means settled, (blocks, count)."""

    values: np.ndarray  # (count)
    history: np.ndarray  # (blocks, count)
    t: np.ndarray

    def __repr__(self) -> str:
        spread = np.ptp(self.history[-max(1, len(self.history) // 4) :], axis=0)
        shown = ", ".join(f"{value:+.4g} ({width:.0e})" for value, width in zip(self.values, spread, strict=True))
        return f"LyapunovExponents({shown}; t = {self.t[-1]:g}, in brackets how much the last quarter moved them)"


@jax.jit
def _blocks(
    system: System, scheme: Scheme, h: Array, y: Array, frame: Array, zeros: Array, every: Array
) -> tuple[Array, Array, Array]:
    """Growth of the frame's vectors block after block; the lengths of `zeros` are those of q and of the run."""
    coordinates = zeros.shape[1]

    def one(_: object, carry: tuple) -> tuple:
        y, frame = carry
        return jax.vmap(
            lambda v: jax.jvp(lambda y: discrete_maps.one_step(system, scheme, h, y, coordinates)[0], (y,), (v,)),
            in_axes=1,
            out_axes=(None, 1),
        )(frame)

    def tangential(y: Array, frame: Array) -> Array:
        """Round-off that leaves the range of Psi does not decay there; it would drown the vectors that do."""
        psi = system.frame(y[:coordinates])
        return frame.at[:coordinates].set(psi @ (jnp.linalg.pinv(psi, rtol=1e-9) @ frame[:coordinates]))

    def block(carry: tuple, _: object) -> tuple:
        y, frame = lax.fori_loop(0, every, one, carry)
        frame, triangle = jnp.linalg.qr(tangential(y, frame))
        return (y, frame), jnp.log(jnp.abs(jnp.diagonal(triangle)))

    growth: Array
    carried, growth = lax.scan(block, (y, frame), length=len(zeros))
    return *carried, growth


def lyapunov_exponents(
    system: System,
    q: Coordinates,
    xi: Quasivelocities,
    *,
    h: Scalar,
    steps: int,
    scheme: Scheme | None = None,
    count: int | None = None,
    discard: int = 0,
    every: int = 10,
) -> LyapunovExponents:
    """Returns the `count` largest Lyapunov exponents of the map, by its derivative and a QR factorisation each `every`
    steps.

    Perturbations are of (q, xi^D), those of q in the range of Psi, so that redundant coordinates bring no exponents of
    their own. The first `discard` steps only let the vectors turn to where they belong.

    >>> import discrete_hamel as dh, numpy as np
    >>> sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
    >>> found = dh.lyapunov_exponents(sleigh, [0, 0, 0], [0.0, 2.0], h=0.1, steps=400, discard=200)
    >>> bool(abs(found.values[-1] - np.log((1 - 0.1 * 0.8 / 1.72) / (1 + 0.1 * 0.8 / 1.72)) / 0.1) < 1e-6)
    True
    """
    steps, every = checks.count("steps", steps, 1), checks.count("every", every, 1)
    discard = checks.count("discard", discard, 0)
    if steps % every or discard % every:
        raise InputError(f"steps = {steps} and discard = {discard} must be multiples of every = {every}.")
    scheme = default_scheme(system) if scheme is None else scheme
    system, q, xi = checks.initial_data(system, q, xi, None)
    h = checks.step_size(h)
    y = discrete_maps.first_point(system, scheme, h, phase_space.join(system, q, xi))
    basis = phase_space.tangent(system, q, len(y) - len(q))
    count = basis.shape[1] if count is None else checks.count("count", count, 1)
    if count > basis.shape[1]:
        raise InputError(f"count = {count}, but the phase space of (q, xi) has {basis.shape[1]} dimensions.")
    mixed = np.linalg.qr(np.random.default_rng(0).normal(size=(basis.shape[1], count)))[0]
    frame = jnp.asarray(basis @ mixed)
    if discard:
        y, frame, _ = _blocks(system, scheme, h, y, frame, np.zeros((discard // every, len(q))), every)
    _, _, growth = _blocks(system, scheme, h, y, frame, np.zeros((steps // every, len(q))), every)
    if not np.all(np.isfinite(growth)):
        raise InputError(
            "the tangent map lost a direction or a step failed (an infinite exponent): a multiplier is zero at this h, "
            "or the motion itself stops; see dh.simulate from the same point, or take a smaller h."
        )
    t = float(h) * every * np.arange(1, steps // every + 1)
    means = np.cumsum(np.asarray(growth), axis=0) / t[:, None]
    order = np.argsort(-means[-1])
    return LyapunovExponents(means[-1][order], means[:, order], t)

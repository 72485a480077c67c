"""The linearised motion with inputs, of the flow and of a scheme's step: what a controller is designed by."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import ArrayLike, Coordinates, Quasivelocities, Scalar, Velocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.equilibria import discrete_maps
from discrete_hamel.analysis.equilibria.relative_equilibria import question_at
from discrete_hamel.analysis.symmetry import phase_space
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.schemes.scheme import Scheme
from discrete_hamel.systems.transformations.forces import forced


class Linearised(NamedTuple):
    """x' = rate + A (x - x_0) + B (u - u_0) of the flow, or x_{k+1} instead of x' of a step; x = (q, xi^D)."""

    A: np.ndarray
    B: np.ndarray
    rate: np.ndarray


def linearise(
    system: System,
    q: Coordinates,
    xi: Quasivelocities | None = None,
    *,
    v: Velocities | None = None,
    inputs: Callable | None = None,
    u: ArrayLike = (),
    scheme: Scheme | None = None,
    h: Scalar | None = None,
) -> Linearised:
    """Returns A and B of the motion about a state, in x = (q, xi^D); with a scheme and h those of its step, u held over
    it.

    `inputs(q, xi, u)` is a force in n components along the frame, as `forced` takes it, u a vector of numbers about
    which it is linearised. The state need not be an equilibrium: `rate` is x' there, or for a step the next x. Columns
    of q are of all coordinates: of redundant ones only changes along their manifold mean something. New values of q,
    xi, u and of parameters do not recompile.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> cart = dh.from_velocities(lambda q, v: v @ v - 2 * q @ q, lambda q: jnp.eye(1), 1)       # mass 2, stiffness 4
    >>> found = dh.linearise(cart, [0.0], [0.0], inputs=lambda q, xi, u: u, u=[0.0])
    >>> found.A.tolist(), found.B.tolist()
    ([[0.0, 1.0], [-2.0, 0.0]], [[0.0], [0.5]])
    """
    u = on_device(checks.vector("u", u))
    if inputs is None and len(u):
        raise InputError("u are numbers that inputs(q, xi, u) takes; give inputs.")
    system, q, xi = checks.initial_data(system, q, xi, v)
    if inputs is not None:
        system = forced(system, inputs, params=u)
    if scheme is None:
        found = _flow(system, phase_space.join(system, q, xi), u)
    else:
        question, y = question_at(system, q, xi, scheme, h, ())
        if discrete_maps.memory_names(scheme.fitted(system).start(system, q, xi, question.h)):  # type: ignore[arg-type]
            raise InputError(f"a step of {type(scheme).__name__} is no map of (q, xi): it remembers more.")
        found = _step(system, question.scheme, question.h, jnp.asarray(y), q, u)
    rate, (a, b) = found
    return Linearised(np.asarray(a), np.asarray(b), np.asarray(rate))


def _with(system: System, u: Array) -> System:
    return system.replace(params=u) if len(u) else system


@jax.jit
def _flow(system: System, x: Array, u: Array) -> tuple[Array, tuple[Array, Array]]:
    def rate(x: Array, u: Array) -> Array:
        return phase_space.field(_with(system, u), x)

    return rate(x, u), jax.jacfwd(rate, (0, 1))(x, u)


@jax.jit
def _step(system: System, scheme: Scheme, h: Array, x: Array, q: Array, u: Array) -> tuple[Array, tuple[Array, Array]]:
    def after(x: Array, u: Array) -> Array:
        return discrete_maps.one_step(_with(system, u), scheme, h, x, len(q))[0]

    return after(x, u), jax.jacfwd(after, (0, 1))(x, u)

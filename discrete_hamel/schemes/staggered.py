"""The staggered form of the discrete Hamel equations, as [HE] writes it for the spherical pendulum."""

import jax.numpy as jnp
from jax import Array

from discrete_hamel.mechanics.hamel import balance, full
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State


class StaggeredHamel(Scheme):
    """(S) mu' - mu = (h/2)(F + F'),  q' - q = h Psi((q + q')/2) (xi + xi')/2.   [HE] (6.6), (6.7)

    Both q and xi live on the same points, which [HE] takes for the midpoints of a mesh. For the spherical pendulum it
    is the map (D) of tau = 1/2 when started from the same (q, xi): only the times written at its points differ.
    """

    order = 2
    symmetric = True
    conserves = ("constraint", "relative equilibria")
    reference = "Zenkov, On Hamel's equations (2016), (6.6) and (6.7) with errata"

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        xi, q1 = z[: system.rank], z[system.rank :]
        _, force0 = balance(system, state.q, state.xi)
        mu1, force1 = balance(system, q1, xi)
        q = (state.q + q1) / 2
        mean = (full(system, state.q, state.xi) + full(system, q1, xi)) / 2
        return jnp.concatenate([mu1 - state.p - (h / 2) * (force0 + force1), q1 - state.q - h * system.frame(q) @ mean])

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        xi, q1 = z[: system.rank], z[system.rank :]
        mean = (full(system, state.q, state.xi) + full(system, q1, xi)) / 2
        return State(q1, balance(system, q1, xi)[0], xi), mean

"""The discrete Hamel scheme in nodal-momentum form."""

from typing import Any

import jax.numpy as jnp
from jax import Array

from discrete_hamel.hamel import balance, full
from discrete_hamel.schemes.scheme import Scheme, State
from discrete_hamel.system import System


class _AtHalf:
    """A property of the method that holds at tau = 1/2 and is another otherwise; the class shows the first."""

    def __init__(self, half: Any, otherwise: Any) -> None:
        self.half, self.otherwise = half, otherwise

    def __get__(self, scheme: Any, owner: type) -> Any:
        return self.half if scheme is None or scheme.tau == 0.5 else self.otherwise


class DiscreteHamel(Scheme):
    """The tau-rule for Hamel's equations: exact constraints, second order and symmetric at tau = 1/2.

    (D1) q_{k+tau} = (1-tau) q_k + tau q_{k+1},  q_{k+1} = q_k + h Psi(q_{k+tau}) xi_{k,k+1}
    (D2) p_k = mu_j - (1-tau) h F_j,  p_{k+1} = mu_j + tau h F_j,  both at (q_{k+tau}, xi_{k,k+1}), j = 1..m

    Eliminating p gives [HE] (5.6), (5.11) with l^d = h l.
    """

    tau: float = 0.5

    order = _AtHalf(2, otherwise=1)
    symmetric = _AtHalf(True, otherwise=False)
    conserves = _AtHalf(
        ("constraint", "relative equilibria", "quadratic energy", "spatial momentum", "angular momentum"),
        otherwise=("constraint", "relative equilibria", "spatial momentum", "angular momentum"),
    )
    reference = "Zenkov, On Hamel's equations (2016), (5.6) and (5.11)"

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        xi, q1 = z[: system.rank], z[system.rank :]
        q = (1 - self.tau) * state.q + self.tau * q1  # (D1)
        mu, force = balance(system, q, xi)
        momentum = mu - (1 - self.tau) * h * force - state.p  # (D2)
        return jnp.concatenate([momentum, q1 - state.q - h * system.frame(q) @ full(system, q, xi)])

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        xi, q1 = z[: system.rank], z[system.rank :]
        q = (1 - self.tau) * state.q + self.tau * q1
        mu, force = balance(system, q, xi)
        return State(q1, mu + self.tau * h * force, xi), full(system, q, xi)  # (D2)

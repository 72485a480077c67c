"""The discrete Hamel scheme at linear cost, for strings that follow their front."""

from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.fields.constrained_string import ConstrainedString
from discrete_hamel.fields.sleigh_string import SleighWithString
from discrete_hamel.mechanics.hamel import balance, full, momentum_on_d
from discrete_hamel.mechanics.newton import root
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Interval, Scheme, State

Following = ConstrainedString | SleighWithString


class LinkByLink(Scheme):
    """The map of `DiscreteHamel()`, tau = 1/2, for `ConstrainedString` and `SleighWithString`: O(points) a step.

    (D1) is solved from link to link, from the front on: `system.after`, a mirroring for each. What is left are the
    balances (D2) of the free velocities, one or two, by Newton's method:

        p_k = mu_j - (h/2) F_j,   p_{k+1} = mu_j + (h/2) F_j,   at (q_k + after(q_k, xi, h)) / 2,   j = 1..m

    with the brackets in F_j from maps of vectors. No matrix is formed but m x m.
    """

    order = 2
    symmetric = True
    conserves = ("constraint", "relative equilibria", "quadratic energy")
    reference = "Zenkov, On Hamel's equations (2016), (5.6) and (5.11), Examples 4.1 and 4.2"

    def check(self, system: System, q: Array) -> None:
        if not hasattr(system, "after"):
            raise InputError(
                f"LinkByLink is for strings that follow their front, ConstrainedString and SleighWithString; "
                f"{type(system).__name__} is for another scheme, DiscreteHamel() say."
            )

    def start(self, system: Following, q: Array, xi: Array, h: Array) -> State:
        free = xi[: system.rank]
        return State(q, momentum_on_d(system, q, free), free)

    def guess(self, system: Following, state: State, h: Array) -> Array:
        return state.xi

    def residual(self, system: Following, state: State, h: Array, z: Array) -> Array:
        mu, force, _ = _balances(system, state, h, z)
        return mu - 0.5 * h * force - state.p  # (D2)

    def advance(self, system: Following, state: State, h: Array, z: Array) -> tuple[State, Array]:
        mu, force, q1 = _balances(system, state, h, z)
        return State(q1, mu + 0.5 * h * force, z), full(system, 0.5 * (state.q + q1), z)

    def step(self, system: Following, state: State, h: Array) -> tuple[State, Interval]:
        z, report = root(lambda z: self.residual(system, state, h, z), self.guess(system, state, h))
        state, xi = self.advance(system, state, h, z)
        return state, Interval(xi, report)

    def velocity(self, system: Following, state: State) -> Array:
        free, _ = root(lambda free: momentum_on_d(system, state.q, free) - state.p, state.xi)
        return full(system, state.q, free)

    def equation(self, system: System, row: int) -> str:
        return f"the momentum balance along {system.velocities[row]}"


def _balances(system: Following, state: State, h: Array, free: Array) -> tuple[Array, Array, Array]:
    """mu_j and F_j, j = 1..m, in the middle of the interval, and the q at its end."""
    q1 = system.after(state.q, free, h)  # (D1)
    q = 0.5 * (state.q + q1)
    return *balance(system, q, free), q1

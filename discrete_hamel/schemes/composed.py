"""Higher order by composition: one step is a palindrome of steps of a symmetric scheme."""

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel._support.errors import InputError, InputTypeError
from discrete_hamel._support.pytrees import of
from discrete_hamel.mechanics.newton import Report
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.coefficients.weights import Weights, most_accurate
from discrete_hamel.schemes.scheme import Interval, Scheme, State, Wrapped


class Composed(Wrapped):
    """(C) Phi_h = S_{gamma_s h} o ... o S_{gamma_1 h}: order 4, 6 or 8 from a symmetric scheme S of order 2.

    It keeps whatever every step of S keeps. `weights` are by default the most accurate of that order; others are in
    `dh.schemes.weights`, and give their own order.   Hairer, Lubich & Wanner (2006) II.4, V.3

    >>> import discrete_hamel as dh
    >>> scheme = dh.Composed(dh.DiscreteHamel(), order=6)
    >>> scheme.order, len(scheme.weights)
    (6, 9)
    >>> dh.Composed(dh.DiscreteHamel(), weights=dh.schemes.weights.triple_jump(4)).order
    4
    """

    scheme: Scheme
    weights: Weights

    symmetric = True
    order = of("weights.order")
    reference = "Hairer, Lubich & Wanner, Geometric Numerical Integration (2006), II.4 and V.3"

    def __init__(self, scheme: Scheme, order: int | None = None, weights: Weights | None = None) -> None:
        if weights is None:
            weights = most_accurate(4 if order is None else order)
        _fit(scheme, order, weights)
        object.__setattr__(self, "scheme", scheme)
        object.__setattr__(self, "weights", weights)

    def substeps(self, h: Array) -> tuple[Scheme, Array]:
        return self.scheme, self.weights.gamma * h

    def step(self, system: System, state: State, h: Array) -> tuple[State, Interval]:
        def one(state: State, weight: Array) -> tuple[State, Interval]:
            return self.scheme.step(system, state, weight * h)

        gamma = self.weights.gamma
        state, intervals = lax.scan(one, state, gamma)
        solves = intervals.report
        report = Report(jnp.all(solves.converged), jnp.max(solves.iterations), jnp.max(solves.residual))
        return state, Interval(gamma @ intervals.xi, report)

    def unsolved(self, system: System, state: State, h: Array) -> tuple[Scheme, State, Array]:
        """The first of its steps that failed."""
        gamma = self.weights.gamma

        def one(carry: tuple, weight: Array) -> tuple[tuple, None]:
            state, at, well = carry
            new, interval = self.scheme.step(system, state, weight * h)
            now = well & interval.report.converged
            return (jax.tree.map(lambda a, b: jnp.where(now, a, b), new, state), jnp.where(well, weight, at), now), None

        (state, at, _), _ = lax.scan(one, (state, gamma[0], jnp.asarray(True)), gamma)
        return self.scheme.unsolved(system, state, at * h)


def _fit(scheme: Scheme, order: int | None, weights: Weights) -> None:
    """Refuse, with a sentence, what does not go together."""
    if not isinstance(scheme, Scheme):
        raise InputTypeError(f"Composed takes a Scheme (an instance: DiscreteHamel(), not the class); got {scheme!r}.")
    if not isinstance(weights, Weights):
        raise InputTypeError(f"weights come from dh.schemes.weights, suzuki(4) say; got {weights!r}.")
    if order not in (None, weights.order):
        raise InputError(f"order = {order}, but the weights ({weights.source}) give order {weights.order}.")
    if not scheme.symmetric:
        raise InputError(
            "Composed needs a symmetric scheme, one whose step with h is undone by its step with -h, because only then "
            f"do the weights cancel its error terms; {scheme!r} is not symmetric. DiscreteHamel() with tau = 1/2 is."
        )
    if scheme.order >= weights.order:
        raise InputError(f"{scheme!r} is of order {scheme.order} already; composing to {weights.order} gains nothing.")

"""Retractions: maps from the algebra to the group, as reconstructions of a discrete principle.

A retraction is tau with tau(0) = 1 and rate 1 there; it is symmetric where tau(-X) tau(X) = 1. As `reconstruction` of
`dh.Principle` it makes the step g_{k+1} = g_k tau(h xi) (left), tau(h xi) g_k (right):

    dh.simulate(system, q, xi, h=0.1, steps=100, scheme=dh.Principle(reconstruction=dh.groups.exponential))
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial
from typing import Any

import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.mechanics.system import System

HALVINGS = 3  # of h xi, so many times, before the series; undone by as many squarings
DEGREE = 12  # of the series: |h xi|^13 / (8^13 13!) is below round-off for |h xi| up to 2
FURTHEST = 2.0  # the norm of h xi, per step, up to which `exponential` is exact to round-off


def cay(x: Array) -> Array:
    """Returns (1 - X/2)^-1 (1 + X/2) - 1 = X (1 - X/2)^-1, X = x: what Cayley's map adds to 1."""
    one = jnp.eye(len(x))
    return jnp.linalg.solve((one - x / 2).T, x.T).T


def cay_se3(x: Array) -> Array:
    """Returns cay(X) over the numbers a + eps b, eps^2 = 0, over which se(3) is so(3): the tau with Ad_tau = cay(ad_X).

        omega turns by Cayley's map of so(3), v moves by (v + omega x v / 2) / (1 + |omega|^2 / 4)

    So the principle with Hamel's variations keeps energy and the whole momentum of a free body, where cay(X) and exp
    keep energy alone (docs/groups_and_reduction.md).

    >>> import jax.numpy as jnp
    >>> import discrete_hamel as dh
    >>> cay_se3 = dh.groups.cay_se3
    >>> x = jnp.zeros((4, 4)).at[0, 3].set(0.5)
    >>> cay_se3(x)[0, 3].item()                                          # a translation
    0.5
    """
    if x.shape != (4, 4):
        raise InputError(f"cay_se3 is on SE(3), matrices of 4 x 4; this group's are {x.shape[0]} x {x.shape[1]}.")
    turn, v = x[:3, :3], x[:3, 3]
    move = (v + turn @ v / 2) / (1 + jnp.sum(turn * turn) / 8)
    return jnp.zeros((4, 4)).at[:3, :3].set(cay(turn)).at[:3, 3].set(move)


def expm1(x: Array) -> Array:
    """Returns exp(X) - 1 by its series at X/8 and three squarings, (1 + Y)^2 - 1 = 2Y + Y^2: plain arithmetic,
    compiled.

    To round-off for |X| up to 2 (Frobenius' norm); beyond it the value is NaN, so that a run stops and says so.

    >>> import jax.numpy as jnp
    >>> import discrete_hamel as dh
    >>> expm1 = dh.groups.expm1
    >>> x = jnp.array([[0.0, -0.5], [0.5, 0.0]])
    >>> bool(jnp.allclose(expm1(x)[1, 0], jnp.sin(0.5), rtol=1e-15))
    True
    """
    small = x / 2**HALVINGS
    result = small / factorial(DEGREE)
    for power in range(DEGREE - 1, 0, -1):
        result = small @ result + small / factorial(power)
    for _ in range(HALVINGS):
        result = 2 * result + result @ result
    return jnp.where(jnp.sum(x * x) <= FURTHEST**2, result, jnp.nan)


@dataclass(frozen=True)
class Retraction:
    """Returns g_{k+1} - g_k tau(h xi), left, or g_{k+1} - tau(h xi) g_k, right: for `Principle(reconstruction=...)`.

    q0 and q1 are of g_k and g_{k+1}. `increment(X)` is tau(X) - 1, so that what is small is not rounded as if it were
    of size 1. In advected coordinates gamma = g^-1 a (left) it is tau(h xi) gamma_{k+1} - gamma_k, and gamma_{k+1} -
    tau(h xi) gamma_k for g a (right).

    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> ours = dh.groups.Retraction(lambda x: dh.groups.cay(x / 2) @ dh.groups.cay(x / 2) + 2 * dh.groups.cay(x / 2))
    >>> top = dh.groups.system(dh.groups.SO(3), jnp.array([1.0, 2.0, 3.0]))
    >>> scheme = dh.Principle(reconstruction=ours)                     # tau(X) = cay(X/2)^2
    >>> run = dh.simulate(top, top.group.identity, [0.1, 1.0, 0.1], h=0.1, steps=100, scheme=scheme)
    >>> top.group.off(top.group.matrix(run.q[-1])) < 1e-13
    True
    """

    increment: Callable[[Array], Array]
    name: str = ""  # which it prints as

    def __repr__(self) -> str:
        return self.name or getattr(self.increment, "__name__", "a retraction")

    @property
    def __name__(self) -> str:  # what Principle prints
        return repr(self)

    def __call__(self, system: System, q0: Array, q1: Array, xi: Array, h: Array) -> Array:
        return _on_group(system).missed_by(self.increment, q0, q1, xi, h)


cayley = Retraction(cay, "Cayley's map")
cayley_se3 = Retraction(cay_se3, "Cayley's map over dual numbers")
exponential = Retraction(expm1, "the exponential map")


def _on_group(system: System) -> Any:
    """The system on a group inside of what was put on it, forces say."""
    inner = system
    while not hasattr(inner, "missed_by"):
        if not hasattr(inner, "system"):
            raise InputError(
                f"a retraction reconstructs a motion on a group; {type(system).__name__} is on none: make it by "
                "dh.groups.system or dh.groups.advected."
            )
        inner = inner.system
    return inner

"""check_system: the axioms of a system, at states and parameters that Hypothesis draws."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.reading.output_shapes import nonlinear_shapes, refuse_shape, shapes
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.nonlinear import NonlinearSystem
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.runs.validation import canonical
from discrete_hamel.testing import axioms, strategies
from discrete_hamel.testing.failure_message import EXAMPLES, AxiomFailed, everywhere, numerals, signature

DEPENDENT = 1e-10  # ratio of a frame's singular values at which its fields are no longer independent


@partial(jax.jit, static_argnums=0)
def _offsets(
    reversible: Callable | bool | None, system: System, q: Array, xi: Array
) -> tuple[dict[str, Array], tuple[Array, Array]]:
    """off / size of each axiom, in rows; and where the fields are most dependent, if that is near."""
    at = axioms.state(system, q, xi)
    findings = {name: axiom.finding(at) for name, axiom in axioms.of_system(system, reversible).items()}
    worst = (q, jnp.ones(())) if isinstance(system, NonlinearSystem) else axioms.dependent(system, q)
    return {name: jnp.atleast_1d(off / size) for name, (off, size) in findings.items()}, worst


def check_system(
    system: System,
    q: Coordinates | None = None,
    *,
    reversible: Callable | bool | None = None,
    vary: bool = True,
    examples: int = EXAMPLES,
    near: float = strategies.NEAR,
    fast: float = strategies.FAST,
) -> None:
    """Holds a system against the axioms of `dh.testing.axioms`, at states near q and with other parameters.

    the fields are independent within `near` of q; values are finite, also at rest; the inertia is regular; the frame
    stays on `holonomic`; `structure` is the bracket of the fields and satisfies Jacobi's identity; energy changes by
    forces and by moving constraints only; the motion and the reactions are those of Lagrange's equations with
    multipliers, which know of no bracket; each declared invariant and each declared symmetry is one; and, if
    `reversible` is True or an involution (q, xi) -> (q', xi'), the motion run back is a motion (False: it must not be).

    What fails is raised as AxiomFailed with the smallest state that Hypothesis finds. `vary=False` keeps the
    parameters; `near` and `fast` bound how far from q, and how fast, states are.

    >>> import discrete_hamel as dh
    >>> dh.testing.check_system(dh.systems.ChaplyginSleigh(offset=0.4), reversible=True)
    >>> class Wrong(dh.systems.ChaplyginSleigh):
    ...     def structure(self, q):
    ...         return -super().structure(q)
    >>> dh.testing.check_system(Wrong())                                      # doctest: +ELLIPSIS
    Traceback (most recent call last):
    discrete_hamel.testing.failure_message.AxiomFailed: bracket: structure(q) is not the bracket of the fields...
    """
    place = jnp.asarray(strategies.where(system, q), float)
    _refuse_malformed(system, place)
    drawn = strategies.motions if vary else partial(_same_system, system)
    if not isinstance(system, NonlinearSystem):  # whose charts may end at rest
        _judge(reversible, place, near, (system, place, ()))
    everywhere(drawn(system, q, near=near, fast=fast), partial(_judge, reversible, place, near), examples)
    if reversible is False:
        try:
            check_system(system, q, reversible=True, vary=False, examples=examples, near=near, fast=fast)
        except AxiomFailed:
            return
        raise AxiomFailed(
            f"reversible: {signature(system)} is said not to be, and each of {examples} motions run back is."
        )


def _refuse_malformed(system: System, q: Array) -> None:
    """A sentence with what the system's functions, its invariants and its symmetries return, if that has no meaning."""
    system = canonical(system).at(q)
    if system.frameless:
        nonlinear_shapes(system, q)
        return
    n, _ = shapes(system, q)
    for name, invariant in system.invariants().items():
        if not isinstance(invariant, Invariant):
            raise InputError(f"invariants()[{name!r}] is no dh.Invariant: write dh.Invariant(function, kept).")
        refuse_shape(f"the invariant {name!r} of (q, xi)", (), "", invariant.function, q, jnp.zeros(n))
    for name, generator in system.symmetries().items():
        refuse_shape(f"the symmetry {name!r} of q", q.shape, f"N = {len(q)}", generator, q)


def _same_system(system: System, _: System, q: Coordinates | None, *, near: float, fast: float) -> strategies.Strategy:
    return strategies.states(system, q, near=near, fast=fast).map(lambda state: (system, *state))


def _judge(reversible: Callable | bool | None, place: Array, near: float, motion: tuple) -> None:
    system, q, xi = motion
    q = jnp.asarray(q, float)
    system = canonical(system).at(q)
    xi = hamel.full(system, q, jnp.zeros(system.rank) if not len(xi) else jnp.asarray(xi, float))
    values, (singular, ratio) = _offsets(reversible, system, q, xi)
    if ratio < DEPENDENT and np.max(np.abs(singular - place)) <= near:
        raise AxiomFailed(
            f"independent: the fields of frame(q) are dependent at q = {numerals(singular)}, within near = {near:g} of "
            f"q = {numerals(place)}: a velocity there has no xi, or many. Choose other fields or coordinates, or say "
            f"by near=... how far from q the system is good. Of {signature(system)}."
        )
    for name, axiom in axioms.of_system(system, reversible).items():
        for of, off in zip(axiom.names or ("",), np.asarray(values[name]), strict=True):
            if not off <= axiom.tolerance:
                said = f"{name} {of!r}" if of else name
                raise AxiomFailed(
                    f"{said}: {axiom.look}. Off by {off:.1e} of its size, allowed {axiom.tolerance:.0e}, at "
                    f"q = {numerals(q)}, xi = {numerals(xi)} of {signature(system)}."
                )

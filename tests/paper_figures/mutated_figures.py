"""Figures made with something broken: the systems and schemes that reach the library's functions, or what comes back.

A mutant is a function of a `pytest.MonkeyPatch` and a figure's module that breaks one thing; `caught` computes the
figure again and says which of its claims then do not hold.
"""

import dataclasses
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from test_mutants import Mutant

import discrete_hamel as dh

FUNCTIONS = ("simulate", "vector_field", "momentum", "hamel_force", "structure", "ensemble", "divergence", "energy")


@cache
def subclass(kind: type, change: Callable[[type], dict[str, Any]]) -> type:
    """A system's class with some methods changed; one for all uses, so that it is compiled once.

    It says of itself what the true one does: claims are about those invariants, and have to see that they fail.
    """
    said = inspect.unwrap(kind.invariants)
    return type(kind.__name__, (kind,), change(kind) | {"mutated": True, "invariants": lambda self: said(self)})


def with_methods(change: Callable[[type], dict[str, Any]]) -> Callable[[Any], Any]:
    def mutate(system: Any) -> Any:
        if getattr(system, "mutated", False):
            return system
        made = object.__new__(subclass(type(system), change))
        for field in dataclasses.fields(system):
            object.__setattr__(made, field.name, getattr(system, field.name))
        return made

    return mutate


class Maker:
    """A class of the catalogue that makes mutants."""

    def __init__(self, kind: type, mutate: Callable[[Any], Any]) -> None:
        self.kind, self.mutate = kind, mutate

    def __call__(self, *given: Any, **named: Any) -> Any:
        return self.mutate(self.kind(*given, **named))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kind, name)


def every_system(mutate: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    """The mutant that puts another system for each one: those that the module keeps, and those that it makes."""

    def apply(patch: Any, module: Any) -> None:
        for name, value in list(vars(module).items()):
            if isinstance(value, dh.System):
                patch.setattr(module, name, mutate(value))
        for name in dh.systems.__all__:
            kind = getattr(dh.systems, name)
            if isinstance(kind, type):
                patch.setattr(dh.systems, name, Maker(kind, mutate))
        for name in FUNCTIONS:
            true = getattr(dh, name)
            patch.setattr(dh, name, lambda system, *a, true=true, **k: true(mutate(system), *a, **k))

    return apply


def row_lost(patch: Any, module: Any) -> None:
    """A row of the constraint is gone: the first forbidden velocity is free, and starts at zero."""
    every_system(with_methods(one_row_less))(patch, module)
    true = dh.simulate

    def simulate(system: Any, q: Any, xi: Any, **asked: Any) -> Any:
        missing = system.rank + (not getattr(system, "mutated", False)) - len(xi)
        return true(system, q, np.concatenate([xi, np.zeros(max(missing, 0))]), **asked)

    patch.setattr(dh, "simulate", simulate)


def every_run(change: Callable[[dict[str, Any]], Any], after: Callable[[Any], Any] = lambda run: run) -> Any:
    """The mutant that changes what `simulate` is asked for, or what comes back."""

    def apply(patch: Any, _: Any) -> None:
        true = dh.simulate

        def simulate(system: Any, q: Any = None, xi: Any = None, **asked: Any) -> Any:
            given = asked | {"system": system, "q": q, "xi": xi}
            change(given)
            return after(true(**given))

        patch.setattr(dh, "simulate", simulate)

    return apply


def scaled_bracket(factor: float) -> Callable[[type], dict[str, Any]]:
    return lambda kind: {"structure": lambda self, q: factor * kind.structure(self, q)}


def turned_frame(kind: type) -> dict[str, Any]:
    """The blade's directions a hundredth of a radian off the heading, with the bracket of those that are not."""

    def frame(self: Any, q: Any) -> Any:
        return kind.frame(self, jnp.asarray(q).at[0].add(0.01))

    return {"frame": frame, "structure": kind.structure}


def scaled(**factors: float) -> Callable[[Any], Any]:
    """A system with parameters wrong by factors, where it has them."""

    def mutate(system: Any) -> Any:
        known = {name: factor for name, factor in factors.items() if hasattr(system, name)}
        if getattr(system, "mutated", False) or not known:
            return system
        changed = system.replace(**{name: factor * getattr(system, name) for name, factor in known.items()})
        return with_methods(_no_change)(changed)

    return mutate


def _no_change(_: type) -> dict[str, Any]:
    return {}


def one_row_less(kind: type) -> dict[str, Any]:
    return {"rank": kind.rank + 1}


def scheme(made: Any) -> Any:
    return every_run(lambda given: given.update(scheme=made))


def leaking(rate: float) -> Any:
    """A run that loses this part of its velocities, momenta and places in each step."""

    def after(run: Any) -> Any:
        lost = (1 - rate) ** np.arange(len(run.t))[:, None]
        return run.replace(q=run.q * lost, xi=run.xi * lost, p=run.p * lost)

    return every_run(lambda given: None, after)


def slower(given: dict[str, Any]) -> None:
    """A step that is not the one asked for."""
    given["h"] = 1.01 * given["h"]


def pushed(given: dict[str, Any]) -> None:
    """Other initial velocities than those asked for."""
    if given["xi"] is not None:
        given["xi"] = np.asarray(given["xi"], float) * 1.01 + 1e-3 * (np.arange(len(given["xi"])) == 0)


def accepting(patch: Any, module: Any) -> None:
    """Data off the constraint are projected without a word."""
    true = dh.simulate

    def simulate(system: Any, q: Any, xi: Any, **asked: Any) -> Any:
        return true(system, q, np.asarray(xi)[: system.rank], **asked)

    patch.setattr(dh, "simulate", simulate)


MUTANTS: dict[str, Callable[[Any, Any], None]] = {
    "bracket dropped": every_system(with_methods(scaled_bracket(0.0))),
    "bracket flipped": every_system(with_methods(scaled_bracket(-1.0))),
    "frame turned": every_system(with_methods(turned_frame)),
    "constraint row lost": row_lost,
    "mass wrong": every_system(scaled(mass=1.01)),
    "gravity wrong": every_system(scaled(gravity=1.01)),
    "gravity a tenth": every_system(scaled(gravity=0.1)),
    "ball too large": every_system(scaled(radius=1.6)),
    "hoop wrong": every_system(scaled(hoop=1.01)),
    "inertia wrong": every_system(scaled(inertia=1.01, inertia_axis=1.01, steering_inertia=1.01)),
    "offset wrong": every_system(scaled(offset=1.01)),
    "offset lost": every_system(scaled(offset=0.0)),
    "offset behind": every_system(scaled(offset=-1.0)),
    "radius wrong": every_system(scaled(radius=1.01, wheel_radius=1.01)),
    "tau = 0.45": scheme(dh.DiscreteHamel(tau=0.45)),
    "tau and 1 - tau swapped in (D1)": scheme(Mutant(0.55, 0.45, 0.55)),
    "dl/dq twice": scheme(Mutant(slope=2.0)),
    "tau = 1/2 whatever is asked": scheme(dh.DiscreteHamel()),
    "Runge-Kutta": scheme(dh.RungeKutta4()),
    "a step of another length": every_run(slower),
    "pushed": every_run(pushed),
    "nearly straight": every_run(lambda given: given.update(q=1e-3 * np.asarray(given["q"]), xi=[3.0, 0.0])),
    "leaking": leaking(1e-7),
    "off the constraint accepted": accepting,
}


def caught(module: Any, name: str, patch: Any) -> list[bool]:
    """Of each claim of the figure, whether it fails with this mutant."""
    MUTANTS[name](patch, module)
    if hasattr(module, "_slopes"):  # compiled once, of the true system
        patch.setattr(module, "_slopes", jax.jit(jax.jacfwd(module._rate)))
    with np.errstate(all="ignore"):
        return [not holds for _, holds in module.claims(module.compute(True))]

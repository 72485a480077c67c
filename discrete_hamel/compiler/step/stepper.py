"""The compiled step: a scheme's residual, Jacobian and update as scalar code around one Newton loop."""

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel.compiler.graph.lowering import cycles
from discrete_hamel.compiler.step.program import PASSES, Program, run_passes
from discrete_hamel.compiler.step.root import Cost
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State


def in_steps(scheme: Scheme, h: Array) -> tuple[Scheme, Array]:
    """The scheme whose steps make up a step, and their lengths."""
    return scheme.substeps(h) or (scheme, h[None])


class Stepper(Program):
    """A step of `scheme` for systems with the tree structure of the sample; hashed by identity, built once."""

    def __init__(self, system: System, scheme: Scheme, state: State, h: Array, cost: Cost = cycles) -> None:
        super().__init__(system, scheme, state, h, cost)
        run_passes(self, PASSES)

    def arguments(self, system: System, scheme: Scheme, h: Array) -> tuple[list[Array], Array]:
        """What a run is given: the numbers of its parameters, in an array for each leaf, and the lengths of the steps
        that a step consists of.

        Not in an array for each number: XLA would take a minute for the thousands that a network has.
        """
        scheme, lengths = in_steps(scheme, h)
        given = (system, scheme) if self.composed else (system, scheme, lengths[0])
        return [jnp.ravel(leaf) for leaf in jax.tree.leaves(given)], lengths

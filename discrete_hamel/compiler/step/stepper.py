"""The compiled step: a scheme's residual, Jacobian and update as scalar code around one Newton loop."""

from jax import Array

from discrete_hamel.compiler.graph.leaves import scalars
from discrete_hamel.compiler.graph.lowering import cycles
from discrete_hamel.compiler.step.program import PASSES, Program, run_passes
from discrete_hamel.compiler.step.root import Cost, Scalars
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

    def arguments(self, system: System, scheme: Scheme, h: Array) -> tuple[Scalars, Array]:
        """The numbers a run is given: parameters and step, and the lengths of the steps that a step consists of."""
        scheme, lengths = in_steps(scheme, h)
        return scalars((system, scheme, lengths[0])), lengths

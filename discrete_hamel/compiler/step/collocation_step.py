"""The compiled step of Gauss collocation: its stages side by side, put back into their equations until they settle.

Newton's iteration on all stages at once needs a Jacobian that grows with the square of their number. This one needs
none: a sweep finds where the slopes (qdot, F) of all stages lead, and the slopes there,

    (Q, P)_i = (q, p) + a_ij/b_j (h b_j K_j),   K_i = (Psi(Q_i) Xi_i, F(Q_i, Xi_i)),   mu(Q_i, Xi_i) = P_i

which leaves an error smaller by some h |dK| / 2s than before. The root is the same. Where a step does not settle it is
not trusted, and where a run would not (`settles`), Newton's iteration takes it.   Hairer, Lubich & Wanner (2006)
VIII.6.1
"""

import itertools

import jax
import numpy as np
from jax import Array

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.pytree_leaves import inputs_like
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.simplifying import hidden
from discrete_hamel.compiler.simplifying.regrouping import regroup_products
from discrete_hamel.compiler.step.node_velocities import NodeVelocity
from discrete_hamel.compiler.step.program import Done, NativeRun, Sample, run_passes
from discrete_hamel.compiler.step.root import Root
from discrete_hamel.mechanics.hamel import balance, full, velocities
from discrete_hamel.mechanics.newton import NEGLIGIBLE, SMALL, sane
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.gauss import Gauss
from discrete_hamel.schemes.scheme import Scheme, State

FEWEST = 3  # stages; for fewer Newton's iteration is as fast
NOISE = 1 / SMALL  # round-off units at which slopes that no longer settle are noise: of the largest numbers


class StageStepper:
    """A step of Gauss for systems with the tree structure of the sample; hashed by identity, built once.

    To those who run it, it is what a `Stepper` is; `native/gauss_stages.py` is its machine code.
    """

    graph: Graph
    parameters: list[int]  # of the system, of the scheme, and h
    length: list[int]
    state: list[int]  # q, p and xi^D
    node: list[int]  # q and p, and at a stage Q and P
    low: list[int]  # what these round off, where it is carried along
    unknowns: list[int]  # xi^D there
    rows: list[int]  # mu - p
    slopes: list[int]
    whole: list[int]  # xi
    guards: list[int]  # positive where pivots can be trusted
    node_velocity: NodeVelocity
    places: list[range]  # of the state's arrays among its numbers
    n: int
    operations: int  # of a sweep
    run: NativeRun  # once it is emitted
    code: tuple[str, int] | None = None  # as a `Stepper` has it
    name = None  # its passes run in each process

    def __init__(self, system: System, scheme: Scheme, state: State, h: Array) -> None:
        if type(scheme) is not Gauss or scheme.stages < FEWEST or system.frameless:
            raise Unsupported(f"{type(scheme).__name__} has no stages to sweep over")
        self.stages, self.rank, self.composed, self.changing_length = scheme.stages, system.rank, False, list[int]()
        self.shape = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), state)
        self.sample, self.graph, self.done = Sample(system, scheme, state, h), Graph(), list[Done]()
        run_passes(self, [read_stage, solve_stage, find_node_velocity])

    def node_places(self) -> tuple[range, range, range]:
        """Where in a state's numbers q, p and the free part of xi are."""
        leaves = jax.tree.unflatten(jax.tree.structure(self.shape), self.places)
        return leaves.q, leaves.p, leaves.xi


def read_stage(stepper: StageStepper) -> str:
    """mu and F, qdot and xi at a stage, as nodes of one graph."""
    system, scheme, state, h = stepper.sample
    graph = stepper.graph
    (mechanics, _), parameters = inputs_like(graph, (system, scheme))
    _, stepper.length = inputs_like(graph, h)
    stepper.parameters = [*parameters, *stepper.length]
    node, stepper.state = inputs_like(graph, state)
    q, p = node.q, node.p
    free, stepper.unknowns = inputs_like(graph, state.xi)
    momentum, force = to_graph(graph, balance, mechanics, q, free)
    (velocity,) = to_graph(graph, velocities, mechanics, q, free)
    (whole,) = to_graph(graph, full, mechanics, q, free)
    stepper.node, stepper.n, stepper.low = [*q, *p], len(whole), list(node.low) if scheme.compensated else []
    stepper.rows = [graph.sub(m, t) for m, t in zip(momentum, p, strict=True)]
    stepper.slopes, stepper.whole = [*velocity, *force], list(whole)
    ends = np.cumsum([0, *(leaf.size for leaf in jax.tree.leaves(stepper.shape))])
    stepper.places = [range(*pair) for pair in itertools.pairwise(ends)]
    return f"{len(stepper.unknowns)} unknowns at each of {stepper.stages} stages"


def solve_stage(stepper: StageStepper) -> str:
    """mu(Q, Xi)^D = P solved for Xi, put into the slopes, and products in order."""
    graph, levels = stepper.graph, (stepper.parameters, stepper.node)
    found = _solution(graph, stepper.rows, stepper.unknowns, levels)
    guards = hidden.guards(graph, [*stepper.rows, *stepper.slopes, *stepper.whole])
    outputs = regroup_products(graph, graph.substitute([*stepper.slopes, *stepper.whole, *guards], found), [*levels])
    ends = np.cumsum([len(stepper.node), stepper.n])
    stepper.slopes, stepper.whole, stepper.guards = (list(part) for part in np.split(outputs, ends))
    stepper.guards += graph.guards_of(found.values())
    stepper.operations = graph.operations([*stepper.slopes, *stepper.whole])
    return f"{stepper.operations} operations a sweep"


def find_node_velocity(stepper: StageStepper) -> str:
    """xi at the node from (q, p), as for any step."""
    system, scheme, state, _ = stepper.sample
    stepper.node_velocity = NodeVelocity(system, state, scheme)
    stepper.node_velocity.find_root()
    return stepper.node_velocity.said


def is_settled(size: Array, new: Array) -> Array:
    """Whether one sweep more is enough after slopes that moved by `new`, and by `size` before (NaN: none before).

    Both are squares, in units of round-off. Sweeps converge linearly: the next but one would move them by
    new (new / size)^2, which is to be negligible; or they have stopped settling at the level that round-off allows.
    """
    enough = (new * new * new <= NEGLIGIBLE**2 * (size * size)) & (new < 0.25 * size)
    return enough | ((new >= size) & (new < NOISE**2)) | (new == 0) | ~sane(new)


def _solution(
    graph: Graph, residual: list[int], unknowns: list[int], known: tuple[list[int], list[int]]
) -> dict[int, int]:
    """The nodes that solve a residual linear in the unknowns."""
    root = Root(graph, residual, unknowns, known)
    if not root.linear:
        raise Unsupported("momenta that are not linear in the velocities")
    zero = {unknown: graph.const(0.0) for unknown in unknowns}
    found = dict(zip(root.unknowns, graph.substitute(root.correction, zero), strict=True))
    for unknown, formula in reversed(root.formulas):
        (found[unknown],) = graph.substitute([formula], found)
    return found

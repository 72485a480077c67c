"""The compiler's passes: from the functions of a scheme to a step as scalar code, as a list that one function runs."""

import hashlib
import itertools
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, TypeVar

import jax
import numpy as np
from jax import Array

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.lowering import cycles
from discrete_hamel.compiler.graph.pytree_leaves import inputs_like
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.simplifying import hidden
from discrete_hamel.compiler.simplifying.angle_identities import without_idle_angles
from discrete_hamel.compiler.simplifying.regrouping import regroup_products
from discrete_hamel.compiler.step.near_angles import Angle, angles_met
from discrete_hamel.compiler.step.node_velocities import NodeVelocity
from discrete_hamel.compiler.step.root import Cost, Root
from discrete_hamel.compiler.step.rounding import terms
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Scheme, State


class Sample(NamedTuple):
    """The run that a program is built at: its values decide on the order of pivots, and on nothing else."""

    system: System
    scheme: Scheme
    state: State
    h: Array


class Done(NamedTuple):
    """A pass that was run: what it left, in words, the nodes of the graph after it, and its CPU seconds."""

    name: str
    left: str
    nodes: int
    seconds: float


class NativeRun(Protocol):
    """The machine code of a run."""

    steps: int  # that a call takes at most
    code: tuple[str, int]  # the name that it is kept under, and its operations

    def __call__(
        self, system: System, scheme: Scheme, state: State, h: Array, intervals: int, every: int, into: Any = None
    ) -> tuple[State, int, bool, tuple]: ...

    def improve(self) -> None: ...


class Program:
    """A step in a graph, with lists of the nodes that are given and made: what the passes read and write.

    Where a step consists of steps of another scheme, it is the step of that one, with its length among what changes.
    """

    graph: Graph
    parameters: list[int]  # given once a run
    changing_length: list[int]  # given with each step: its length, where it consists of several; and the state
    state: list[int]
    length: list[int]
    unknowns: list[int]  # of the scheme's residual
    guess: list[int]  # of the unknowns, and then what they are changes of
    rows: list[int]  # the residual
    root: Root
    made: list[int]  # the next state and the interval's xi, before they are put in order
    after: list[int]
    xi: list[int]
    left: list[int]  # of the residual at the root, and the sizes of its terms
    terms: list[int]
    guards: list[int]  # positive where pivots can be trusted
    angles: list[Angle]
    node_velocity: NodeVelocity
    places: list[range]  # of the state's arrays among its numbers
    n: int
    run: NativeRun  # once it is emitted

    def __init__(self, system: System, scheme: Scheme, state: State, h: Array, cost: Cost = cycles) -> None:
        self.sample, self.cost, self.done = Sample(system, scheme, state, h), cost, list[Done]()
        self.shape = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), state)
        parts = scheme.substeps(h)
        self.composed = parts is not None
        self.part = (scheme, h) if parts is None else (parts[0], parts[1][0])
        self.graph = Graph()

    def node_places(self) -> tuple[range, range, range]:
        """Where in a state's numbers q, p and the free part of xi are."""
        leaves = jax.tree.unflatten(jax.tree.structure(self.shape), self.places)
        return leaves.q, leaves.p, leaves.xi


class Passing(Protocol):
    """What passes can work on."""

    graph: Graph
    done: list[Done]


P = TypeVar("P", bound=Passing)


def run_passes(program: P, passes: Iterable[Callable[[P], str]], look: Callable[[str, P], None] | None = None) -> P:
    """The program after these passes, each of which returns what it left; `look` is called after each, with its name.

    >>> from types import SimpleNamespace
    >>> program = SimpleNamespace(graph=Graph(), done=[])
    >>> def read_two(program): return f"{program.graph.input('q', 1.0) + program.graph.input('p', 2.0)}"
    >>> [(one.name, one.nodes) for one in run_passes(program, [read_two]).done]
    [('read two', 2)]
    """
    for one in passes:
        begin, name = time.process_time(), one.__name__.strip("_").replace("_", " ")
        left = one(program)
        program.done.append(Done(name, left, len(program.graph.nodes), time.process_time() - begin))
        if look is not None:
            look(name, program)
    return program


def read(program: Program) -> str:
    """`guess`, `residual` and `advance` of the scheme as nodes of one graph; a node's velocity in one of its own."""
    graph, (system, _, state, _), (scheme, h) = program.graph, program.sample, program.part
    if type(scheme).step is not Scheme.step or type(scheme).velocity is not Scheme.velocity:
        raise Unsupported(f"{type(scheme).__name__} steps in a way of its own")
    (mechanics, rule), parameters = inputs_like(graph, (system, scheme))
    step, program.length = inputs_like(graph, h)
    node, program.state = inputs_like(graph, state)
    program.parameters = parameters if program.composed else [*parameters, *program.length]
    program.changing_length = program.length if program.composed else []
    (guess,) = to_graph(graph, lambda a, b, c, h: b.guess(a, c, h), mechanics, rule, node, step)
    unknown, program.unknowns = inputs_like(graph, np.array([graph.samples[g] for g in guess]))
    (residual,) = to_graph(graph, lambda a, b, c, h, z: b.residual(a, c, h, z), mechanics, rule, node, step, unknown)
    *after, xi = to_graph(
        graph,
        lambda a, b, c, h, z: jax.tree.leaves(b.advance(a, c, h, z)),
        mechanics, rule, node, step, unknown,
    )  # fmt: skip
    program.guess, program.rows, program.n = list(guess), list(residual), len(xi)
    program.guess += [number for name in scheme.changes for number in getattr(node, name).ravel()]
    program.made = [*(index for leaf in after for index in leaf.ravel()), *xi]
    ends = np.cumsum([0, *(leaf.size for leaf in jax.tree.leaves(program.shape))])
    program.places = [range(*pair) for pair in itertools.pairwise(ends)]
    program.node_velocity = NodeVelocity(system, state, scheme)
    return f"{len(program.unknowns)} unknowns, {len(program.state)} numbers of state"


def drop_idle_angles(program: Program) -> str:
    """Headings that only seem to occur in the residual, as sin^2 + cos^2."""
    program.rows = without_idle_angles(program.graph, program.rows)
    return f"{len(program.rows)} rows"


def regroup(program: Program) -> str:
    """Products by how often their factors change.

    The rows with the same constants as what follows from them: two roundings of h F add up over many steps.
    """
    program.rows = regroup_products(program.graph, program.rows, _levels(program))
    return f"{len(program.rows)} rows"


def eliminate(program: Program) -> str:
    """Newton's correction: rows linear in one unknown give it, sums as unknowns where that pays, and the solve."""
    system, _, state, _ = program.sample
    graph, width = program.graph, system.rank + len(state.q)
    places = [i for i in range(len(program.unknowns)) if i % width >= system.rank]
    seldom, often, unknowns = _levels(program)
    negligible = program.part[0].negligible
    known, kept = (seldom, often), program.cost is cycles
    program.root = root = Root(graph, program.rows, unknowns, known, places, negligible, program.cost, kept)
    numbers = len(program.unknowns)
    coordinates = {program.state[i] for i in program.node_places()[0]}
    for i in {*range(numbers)} - {*root.places}:
        program.guess[i] = _size_of(graph, program.guess[i], coordinates)
    how = ", once: linear" if root.linear else ""
    how += ", the Jacobian kept over a step" if root.directions else ""
    how += ", its sparse elimination kept over a step" if root.table else ""
    return f"{len(root.unknowns)} of {numbers} unknowns left, {root.operations} operations an iteration{how}"


def write_outputs(program: Program) -> str:
    """The next state, the interval's xi and what is left of the residual: idle angles dropped, products in order."""
    graph, root = program.graph, program.root
    made = without_idle_angles(graph, program.made)
    left = [program.rows[i] for i in root.places]  # the others hold to a rounding, by what is eliminated with them
    outputs = regroup_products(graph, [*made, *left, *(terms(graph, row) for row in left)], _levels(program))
    ends = np.cumsum([len(program.state), program.n, len(left)])
    program.after, program.xi, program.left, program.terms = (list(part) for part in np.split(outputs, ends))
    program.guards = hidden.guards(graph, [*program.guess, *program.rows, *made])
    return f"{len(outputs)} outputs, {len(program.guards)} guards"


def turn_angles(program: Program) -> str:
    """Sines at the root from those of the last iteration."""
    outputs = [*program.after, *program.xi, *program.left, *program.terms, *program.guards]
    program.angles = angles_met(program.graph, outputs, program.root)
    return f"{len(program.angles)} angles"


def find_node_velocity(program: Program) -> str:
    """xi at the node from (q, p)."""
    program.node_velocity.find_root()
    return program.node_velocity.said


READING = (read,)
PASSES = (*READING, find_node_velocity, drop_idle_angles, regroup, eliminate, write_outputs, turn_angles)


def graph_of(program: Program) -> str:
    """What decides, once it is read, on all that passes make of a program: its graphs, to the bit, and what is what.

    Functions that are other objects, as a lambda is each time that it is defined, have the same if they do the same.
    """
    node, (scheme, _), (system, *_) = program.node_velocity, program.part, program.sample
    told: list[object] = [program.shape, program.composed, program.n, system.rank, scheme.negligible]
    told += [program.cost.__name__]
    for graph in (program.graph, node.graph):
        told += [["input" if made[0] == "input" else made for made in graph.nodes], sorted(graph.guards.items())]
        told += [sorted(graph.hidden), sorted(graph.own_derivatives)]
    names = ["parameters", "changing_length", "state", "length", "unknowns", "guess", "rows", "made", "places"]
    told += [getattr(program, name) for name in names]
    told += [getattr(node, name) for name in ["parameters", "q", "p", "whole", "free", "difference"]]
    return hashlib.sha256(repr(told).encode()).hexdigest()


def _levels(program: Program) -> list[list[int]]:
    """The nodes that are given, by how often they change: once a run, once a step, with each iteration."""
    return [program.parameters, [*program.changing_length, *program.state], program.unknowns]


def _size_of(graph: Graph, guess: int, coordinates: set[int]) -> int:
    """For a guess q + h qdot of what is eliminated, of which only the size counts: q, which takes no sines."""
    operands = graph.operands(guess) if graph.nodes[guess][0] in ("add", "sub") else ()
    return next((q for q in operands if q in coordinates), guess)

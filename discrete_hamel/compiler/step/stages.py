"""The compiled step of Gauss collocation: its stages side by side, put back into their equations until they settle.

Newton's iteration on all stages at once needs a Jacobian that grows with the square of their number. This one needs
none: a sweep finds where the slopes (qdot, F) of all stages lead, and the slopes there,

    (Q, P)_i = (q, p) + h a_ij K_j,   K_i = (Psi(Q_i) Xi_i, F(Q_i, Xi_i)),   mu(Q_i, Xi_i) = P_i

which leaves an error smaller by some h |dK| / 2s than before. The root is the same. Where a step does not settle it is
not trusted, and where a run would not (`settles`), Newton's iteration takes it.   Hairer, Lubich & Wanner (2006)
VIII.6.1
"""

from collections.abc import Sequence
from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.graph.leaves import inputs_like, scalars
from discrete_hamel.compiler.graph.lowering import Packed, constants, lower, one_kernel_works
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.compiler.simplifying.regrouping import regroup_products
from discrete_hamel.compiler.step.node_velocities import NodeVelocity
from discrete_hamel.compiler.step.over_lanes import over_lanes, piece
from discrete_hamel.compiler.step.program import Done, Sample, run_passes
from discrete_hamel.compiler.step.roots import Root, Scalars
from discrete_hamel.compiler.step.rows import Row
from discrete_hamel.mechanics.hamel import balance, full, velocities
from discrete_hamel.mechanics.newton import MAX_ITERATIONS, NEGLIGIBLE, SMALL, sane, units
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.gauss import Gauss, collocation
from discrete_hamel.schemes.scheme import Scheme, State

FEWEST = 3  # stages; for fewer Newton's iteration is as fast
NOISE = 1 / SMALL  # round-off units at which slopes that no longer settle are noise: of the largest numbers


class StageStepper:
    """A step of Gauss for systems with the tree structure of the sample; hashed by identity, built once.

    What it can do, and what it returns, is what `Stepper` can and does.
    """

    composed, fused, run = False, True, None
    parameters: list[int]
    node: list[int]  # q and p
    unknowns: list[int]  # xi^D
    rows: list[int]  # mu - p
    slopes: list[int]
    whole: list[int]  # xi
    guards: list[int]  # positive where pivots can be trusted
    node_velocity: NodeVelocity
    row: Row
    n: int
    operations: int  # of a sweep

    def __init__(self, system: System, scheme: Scheme, state: State, h: Array) -> None:
        if type(scheme) is not Gauss or scheme.stages < FEWEST or system.frameless:
            raise Unsupported(f"{type(scheme).__name__} has no stages to sweep over")
        if not one_kernel_works():
            raise Unsupported("this machine or version of JAX does not make one kernel of a loop")
        self.native, self.stages, self.rank = True, scheme.stages, system.rank
        self.shape = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), state)
        self.sample, self.graph, self.done = Sample(system, scheme, state, h), Graph(), list[Done]()
        run_passes(self, [read_stage, solve_stage, find_node_velocity])

    def arguments(self, system: System, scheme: Scheme, h: Array) -> tuple[Scalars, tuple]:  # noqa: ARG002  # as there
        """The numbers a run is given: parameters; and the step, the columns of a_ij, and b."""
        a, b, _ = collocation(self.stages)
        weights = [w + 0 * h for w in (*a.T, b)]  # no constants: XLA cannot take arrays of those into one kernel
        return scalars(system), (h, weights[:-1], weights[-1])

    def prepare(self, parameters: Scalars) -> tuple[Packed, Packed]:
        """What depends on the parameters only, evaluated once for all steps."""
        outputs = [*self.slopes, *self.whole, *self.guards]
        fixed = constants(self.graph, outputs, self.parameters, self.node, parameters)
        return fixed, self.node_velocity.prepare(parameters)

    def node_places(self) -> tuple[range, range, range]:
        """Where in a state's numbers q, p and the free part of xi are."""
        ends = np.cumsum([0, len(self.node) - self.rank, self.rank, self.rank])
        q, p, xi = (range(*pair) for pair in zip(ends[:-1], ends[1:], strict=True))
        return q, p, xi

    def __call__(
        self, fixed: tuple[Packed, Packed], lengths: tuple, state: Scalars
    ) -> tuple[Scalars, Scalars, Array, Array]:
        """As `Stepper`: the next state, what is recorded of the step, whether it can be trusted, and the sweeps."""
        h, columns, b = lengths
        node, known = state[: len(self.node)], fixed[0].values()
        first = lower(self.graph, self.slopes)(known | dict(zip(self.node, node, strict=True)))
        sizes = [jnp.abs(x) + jnp.abs(h * slope) for x, slope in zip(node, first, strict=True)]
        weights = [h * units(size, sum(sizes[1:], start=sizes[0])) for size in sizes]

        def values(slopes: Sequence[Array]) -> dict[int, Array]:
            moved = [_move(x, h, columns, slope) for x, slope in zip(node, slopes, strict=True)]
            return known | dict(zip(self.node, moved, strict=True))

        def side_by_side(outputs: list[int], values: dict[int, Array]) -> list[Array]:
            found = over_lanes(self.graph, outputs, values)
            return [x if x.ndim else self._broadcast(o, x, b) for o, x in zip(outputs, found, strict=True)]

        def sweep(carry: tuple) -> tuple:
            slopes, size, _, count = carry
            new = side_by_side(self.slopes, values(slopes))
            shift = _shift(new, slopes, weights)
            return tuple(new), shift, _is_settled(size, shift), count + 1

        def unsettled(carry: tuple) -> Array:
            *_, done, count = carry
            return ~done & (count < MAX_ITERATIONS)

        begin = tuple(self._broadcast(o, slope, b) for o, slope in zip(self.slopes, first, strict=True))
        carry = (begin, jnp.full_like(h, jnp.nan), jnp.isnan(h), jnp.zeros_like(h, int))
        slopes, shift, done, count = lax.while_loop(unsettled, sweep, carry)
        end = side_by_side([*self.slopes, *self.whole, *self.guards], values(slopes))
        last, whole, guards = end[: len(node)], end[len(node) : len(node) + self.n], end[len(node) + self.n :]
        norm = jnp.sqrt(_shift(last, list(slopes), [h] * len(node)))
        after = [x + h * _mean(b, slope) for x, slope in zip(node, last, strict=True)]
        mean = [_mean(b, x) for x in whole]
        after = [*after, *mean[: self.rank]]
        # The equations hold to round-off at these stages: what is left of them, in its units, decides.
        well = done & sane(shift) & (_shift(last, list(slopes), weights) <= NOISE**2)
        good = reduce(lax.bitwise_and, [_least(guard) > 0 for guard in guards], well)
        nodal: Scalars = []
        if self.row.nodal:
            q, p, free = ([after[i] for i in place] for place in self.node_places())
            nodal, found, trusted = self.node_velocity.at(fixed[1].values(), q, p, free)
            good = reduce(lax.bitwise_and, [guard > 0 for guard in trusted], good & found)
        return after, [*mean, *nodal, norm], good, count + 2

    def _broadcast(self, output: int, number: Array, like: Array) -> Array:
        """A number for all stages."""
        value = self.graph.value(output)
        return piece(lambda x, b: x + 0 * b)(number, like) if value is None else _constant(value, like)


def read_stage(stepper: StageStepper) -> str:
    """mu and F, qdot and xi at a stage, as nodes of one graph."""
    system, _, state, _ = stepper.sample
    graph = stepper.graph
    mechanics, stepper.parameters = inputs_like(graph, system)
    q, position = inputs_like(graph, state.q)
    p, momenta = inputs_like(graph, state.p)
    free, stepper.unknowns = inputs_like(graph, state.xi)
    momentum, force = to_graph(graph, balance, mechanics, q, free)
    (velocity,) = to_graph(graph, velocities, mechanics, q, free)
    (whole,) = to_graph(graph, full, mechanics, q, free)
    stepper.node, stepper.n = [*position, *momenta], len(whole)
    stepper.rows = [graph.sub(m, t) for m, t in zip(momentum, p, strict=True)]
    stepper.slopes, stepper.whole = [*velocity, *force], list(whole)
    return f"{len(stepper.unknowns)} unknowns at each of {stepper.stages} stages"


def solve_stage(stepper: StageStepper) -> str:
    """mu(Q, Xi)^D = P solved for Xi, put into the slopes, and products in order."""
    graph, levels = stepper.graph, (stepper.parameters, stepper.node)
    found = _solution(graph, stepper.rows, stepper.unknowns, levels)
    guards = graph.guards_of([*stepper.rows, *stepper.slopes, *stepper.whole])
    outputs = regroup_products(graph, graph.substitute([*stepper.slopes, *stepper.whole, *guards], found), [*levels])
    ends = np.cumsum([len(stepper.node), stepper.n])
    stepper.slopes, stepper.whole, stepper.guards = (list(part) for part in np.split(outputs, ends))
    stepper.guards += graph.guards_of(found.values())
    stepper.operations = graph.operations([*stepper.slopes, *stepper.whole])
    return f"{stepper.operations} operations a sweep"


def find_node_velocity(stepper: StageStepper) -> str:
    """xi at the node from (q, p), as for any step; and with it the row that is kept of a step."""
    system, scheme, state, _ = stepper.sample
    stepper.node_velocity = node = NodeVelocity(system, state, scheme)
    size = len(stepper.node) + stepper.rank
    after = list(range(size + stepper.n - stepper.rank))  # the free part of the interval's xi is in the state as well
    stepper.row = Row(after[:size], after[len(stepper.node) :], False, not node.after_all)
    return node.said(not node.after_all)


def _constant(value: float, like: Array) -> Array:
    """A constant for all stages; not as an array or an operand, which XLA cannot take into one kernel."""
    return piece(lambda b: value + 0 * b)(like)


def _is_settled(size: Array, new: Array) -> Array:
    """Whether one sweep more is enough after slopes that moved by `new`, and by `size` before (NaN: none before).

    Both are squares, in units of round-off. Sweeps converge linearly: the next but one would move them by
    new (new / size)^2, which is to be negligible; or they have stopped settling at the level that round-off allows.
    """
    enough = (new * new * new <= NEGLIGIBLE**2 * (size * size)) & (new < 0.25 * size)
    return enough | ((new >= size) & (new < NOISE**2)) | (new == 0) | ~sane(new)


@piece
def _move(x: Array, h: Array, columns: list[Array], slope: Array) -> Array:
    """x + h a_ij K_j, for all stages i."""
    products = [column * slope[j] for j, column in enumerate(columns)]
    return x + h * sum(products[1:], start=products[0])


@piece
def _shift(new: list[Array], old: list[Array], weights: list[Array]) -> Array:
    """The squared size of a change of all slopes."""
    squares = [(w * (a - b)) ** 2 for a, b, w in zip(new, old, weights, strict=True)]
    sums = [jnp.sum(x) for x in squares]
    return sum(sums[1:], start=sums[0])


_mean = piece(lambda b, x: jnp.sum(b * x))
_least = piece(jnp.min)


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

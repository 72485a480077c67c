"""Many runs at once: blocks of lanes, each block through all its steps in one native kernel.

Each lane has its own Newton iteration, which stops when that lane has converged, and its own end: a lane whose step
fails stays at its last good state and does not spoil the others. Initial data and parameters may differ from lane to
lane; parameters that do not are numbers.
"""

from collections.abc import Callable
from functools import cache, partial, reduce
from itertools import accumulate

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.lowering import dependent, frontier, one_kernel
from discrete_hamel.compiler.lanes.lane_roots import STRANDED, Lanes, newton
from discrete_hamel.compiler.native.lanes import LaneRun
from discrete_hamel.compiler.step.over_lanes import broadcast, over_lanes, piece
from discrete_hamel.compiler.step.roots import Root, Values
from discrete_hamel.compiler.step.rounding import allowed
from discrete_hamel.compiler.step.stepper import Stepper

LANES = 128  # in a block: enough to fill vectors, few enough for the first-level cache
OF_AN_UNKNOWN = 10  # operations
TOGETHER = 64  # steps after which a lane's state is looked at: where one of them failed, all are taken again


def work(graph: Graph, outputs: list[int], variables: list[int]) -> float:
    """How much lanes have to do from variables to outputs; each variable costs its weight and its test as well."""
    return len(dependent(graph, outputs, variables)) + OF_AN_UNKNOWN * len(variables)


# Marks are the numbers 1 and 0: truth values, which are bytes in memory, would not be vectorised well.
_kept = piece(lambda take, new, old: jnp.where(take > 0, new, old))
_good = piece(lambda mark, stand: jnp.where((stand < 0) & (stand > -STRANDED), mark, 0.0))
_trusted = piece(lambda mark, guard: jnp.where(guard > 0, mark, 0.0))
_finite = piece(lambda mark, values: jnp.where(sum(x * 0 for x in values) == 0, mark, 0.0))
_more = piece(lambda total, mark: total + mark)
_most = piece(lambda most, stand: jnp.maximum(most, -stand))


def _allowed(mark: Array, residual: Array, size: Array, negligible: float) -> Array:
    return jnp.where(allowed(residual, size, negligible), mark, 0.0)


class Bundle:
    """A compiled step for lanes; `varying` says which of the parameters differ from lane to lane."""

    def __init__(self, stepper: Stepper, varying: tuple[bool, ...]) -> None:
        self.stepper, self.varying = stepper, varying
        leaves, tree = jax.tree.flatten(stepper.shape)
        ends = list(accumulate(leaf.size for leaf in leaves))
        self.places = jax.tree.unflatten(tree, [range(e - leaf.size, e) for e, leaf in zip(ends, leaves, strict=True)])
        self.native: LaneRun | None = None  # its machine code, where there is some
        self.width = len(stepper.node_velocity.q) + len(stepper.node_velocity.p) + stepper.n

    def prepare(self, parameters: Lanes) -> dict[int, Array]:
        """What depends on the parameters only."""
        stepper, graph = self.stepper, self.stepper.graph
        known = dict(zip(stepper.parameters, parameters, strict=False))  # without the lengths of composed steps
        formulas = [formula for _, formula in stepper.root.formulas]
        outputs = [*stepper.guess, *stepper.root.correction, *formulas, *stepper.after, *stepper.guards]
        outputs += [*stepper.left, *stepper.terms]
        varying = dependent(graph, outputs, [*stepper.changing_length, *stepper.state, *stepper.unknowns])
        fixed = frontier(graph, outputs, varying)
        return dict(zip(fixed, over_lanes(graph, fixed, known), strict=True))

    def step(self, fixed: Values, state: Lanes, active: Array) -> tuple[Lanes, Array, Array]:
        """The next state of each lane, whether it can be trusted, and its iterations."""
        stepper, graph = self.stepper, self.stepper.graph
        known = {**fixed, **dict(zip(stepper.state, state, strict=True))}
        z, stand = newton(stepper.root, known, over_lanes(graph, stepper.guess, known), active)
        known = _with_formulas(stepper.root, {**known, **dict(zip(stepper.root.unknowns, z, strict=True))})
        after = [broadcast(x, len(stand)) for x in over_lanes(graph, stepper.after, known)]
        good = reduce(_trusted, over_lanes(graph, stepper.guards, known), _good(active, stand))
        solved = piece(partial(_allowed, negligible=stepper.root.negligible))
        for residual, size in zip(*(over_lanes(graph, o, known) for o in (stepper.left, stepper.terms)), strict=True):
            good = solved(good, broadcast(residual, len(stand)), broadcast(size, len(stand)))
        return after, good, stand

    def velocity(self, parameters: Lanes, q: Lanes, p: Lanes, free: Lanes, active: Array) -> tuple[Lanes, Array]:
        """xi at a node of each lane, and whether it was found."""
        node, root = self.stepper.node_velocity, self.stepper.node_velocity.root
        known = dict(zip(node.parameters, parameters, strict=False))
        known |= dict(zip([*node.q, *node.p], [*q, *p], strict=True))
        z, stand = newton(root, known, free, active)
        known = _with_formulas(root, {**known, **dict(zip(root.unknowns, z, strict=True))})
        whole = [broadcast(x, len(stand)) for x in over_lanes(node.graph, node.whole, known)]
        good = reduce(_trusted, over_lanes(node.graph, node.guards, known), _good(active, stand))
        return whole, _finite(good, whole)


def _with_formulas(root: Root, known: dict[int, Array]) -> dict[int, Array]:
    for unknown, formula in reversed(root.formulas):
        (known[unknown],) = over_lanes(root.graph, [formula], known)
    return known


def _block(
    bundle: Bundle, common: Lanes, nodes: Array, every: Array, rows: Array, own: Array, begin: Array, active: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """One block from `begin`, (scalars of the state, lanes): the last states, the nodes done, the steps done, most
    iterations, and the nodes, put into `rows`, (capacity, N + m + n, lanes); `active` lanes are to reach `nodes` nodes.
    """
    lanes = begin.shape[1]
    numbers, different = iter(common), iter(own)
    parameters = [next(different) if varies else next(numbers) for varies in bundle.varying]
    fixed = bundle.prepare(parameters)
    places = bundle.places

    def part(length: Values, carry: tuple) -> tuple:
        state, most, alive = carry
        after, alive, stand = bundle.step({**fixed, **length}, list(state), alive)
        return tuple(after), _most(most, stand), alive

    def one(carry: tuple) -> tuple:
        k, inner = carry[0], carry[1:]
        if bundle.stepper.composed:
            (length,), lengths = bundle.stepper.changing_length, jnp.stack(parameters[len(bundle.stepper.parameters) :])
            inner = lax.fori_loop(0, len(lengths), lambda j, c: part({length: lengths[j]}, c), inner)
        else:
            inner = part({}, inner)
        return k + 1, *inner

    def some(carry: tuple) -> tuple:
        left, state, steps, most, alive = carry
        ahead = jnp.minimum(left, TOGETHER)
        begin = (jnp.zeros_like(left), state, most, alive)
        _, after, most, alive = lax.while_loop(lambda c: c[0] < ahead, one, begin)
        alive = _finite(alive, after)
        state = tuple(_kept(alive, new, old) for new, old in zip(after, state, strict=True))
        return left - ahead, state, _more(steps, alive * ahead.astype(alive.dtype)), most, alive

    def several(carry: tuple) -> tuple:
        j, state, done, steps, most, alive, rows = carry
        begin = (every, state, steps, most, alive)
        _, state, steps, most, alive = lax.while_loop(lambda c: c[0] > 0, some, begin)
        q, p, free = ([state[i] for i in place] for place in (places.q, places.p, places.xi))
        xi, alive = bundle.velocity(parameters, q, p, free, alive)
        row = jnp.stack([*q, *p, *xi])
        rows = lax.dynamic_update_slice(rows, row[None], (j, jnp.zeros_like(j), jnp.zeros_like(j)))
        return j + 1, state, _more(done, alive), steps, most, alive, rows

    count = jnp.zeros(lanes, begin.dtype)
    start = (jnp.zeros_like(nodes), tuple(begin), count, count, count, active, rows)
    _, state, done, steps, most, _, rows = lax.while_loop(
        lambda c: (c[0] < nodes) & (jnp.max(c[5]) > 0), several, start
    )
    return jnp.stack(state), done, steps, most, rows


@cache
def _options() -> dict[str, bool | int | str]:
    """Ask for vectors as wide as the machine has them, where this JAX knows the option."""
    wide: dict[str, bool | int | str] = {"xla_cpu_prefer_vector_width": 512}
    try:
        jax.jit(lambda x: x + 1, compiler_options=wide)(jnp.zeros(()))
    except Exception:
        return {}
    return wide


@cache
def _compile() -> Callable:
    return partial(jax.jit, static_argnums=(0, 1), compiler_options=_options())(_blocks)


def advance(
    bundle: Bundle,
    capacity: int,
    common: Lanes,
    nodes: Array,
    every: Array,
    own: Array | np.ndarray | Lanes,
    begin: Array | np.ndarray,
    active: Array | np.ndarray,
) -> tuple:
    """`_block` for all blocks, one after another: lanes are the last axis, a multiple of LANES.

    Several threads may call it at the same time, each for its part of the lanes.
    """
    if bundle.native is not None:
        numbers, different = iter(common), iter(np.asarray(own))
        lanes = np.shape(begin)[-1:]
        parameters = [next(different) if varies else np.broadcast_to(next(numbers), lanes) for varies in bundle.varying]
        rows = np.asarray(parameters).reshape(len(parameters), *lanes)
        return bundle.native(rows, np.asarray(begin), np.asarray(active), int(nodes), int(every), bundle.width)
    return _compile()(bundle, capacity, common, nodes, every, own, begin, active)


def _blocks(bundle: Bundle, capacity: int, common: Lanes, nodes: Array, every: Array, *lanes: Array) -> tuple:
    def split(x: Array) -> Array:
        return jnp.moveaxis(x.reshape(*x.shape[:-1], x.shape[-1] // LANES, LANES), -2, 0)

    def join(x: Array) -> Array:
        x = jnp.moveaxis(x, 0, -2)
        return x.reshape(*x.shape[:-2], x.shape[-2] * LANES)

    block: Callable = partial(_block, bundle)
    block = one_kernel(block) if bundle.stepper.native else block
    rows = jnp.zeros((capacity, bundle.width, LANES), lanes[-1].dtype)  # outside: see `one_kernel`
    return jax.tree.map(join, lax.map(lambda b: block(common, nodes, every, rows, *b), tuple(split(x) for x in lanes)))

"""What is compiled against what defines it: once a compilation, on the first steps of the run at hand.

Newton's iteration would not notice a function that is misread, or a kernel that is wrong: it would converge, to the
root of something else. So the root is found here once more, number by number, in the graph; there the scheme's own
`residual`, by JAX, has to vanish, and its `advance` has to give what the kernel gave.

What counts as equal: with eps the unit of round-off, numbers moved by a share eps^(1/3) tell the size of the terms, and
what is read rightly agrees to eps of that; the line is drawn at eps^(2/3), a third of the digits away from either. Two
roots found in different ways agree to eps times a condition number; there it is eps^(1/3).
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import Explained
from discrete_hamel.compiler.graph import decision
from discrete_hamel.compiler.graph.expressions import Graph
from discrete_hamel.compiler.graph.pytree_leaves import scalars
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.compiler.simplifying.elimination_table import EliminationTable
from discrete_hamel.compiler.step.collocation_step import StageStepper
from discrete_hamel.compiler.step.stepper import Stepper, in_steps
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.newton import MAX_ITERATIONS
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Interval, Scheme, State


class CompiledStepDiffers(Explained, RuntimeWarning):
    """A compiled step that is not the plain one: it is not used, and the run is right and slower."""


class Definitions(NamedTuple):
    """What compiled steps are judged by, of pytrees of numbers."""

    step: Callable  # the scheme's residual and advance
    node: Callable  # mu^D, and all of xi


STEPS = 3
NUMBERS: dict[str, Callable] = {
    **decision.NUMBERS,
    # Of two comparisons NumPy's sum is a truth, and of one it has no negative.
    "lt": lambda a, b: float(a < b), "le": lambda a, b: float(a <= b), "eq": lambda a, b: float(a == b),
    "gt": lambda a, b: float(a > b), "ge": lambda a, b: float(a >= b), "ne": lambda a, b: float(a != b),
}  # fmt: skip
QUICK: dict[str, int | bool] = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def program(graph: Graph, outputs: Sequence[int], given: Iterable[int]) -> Callable[[Mapping[int, float]], np.ndarray]:
    """The outputs by NumPy, as a function of the values of some nodes."""
    evaluate = _evaluation(graph, outputs, given)
    return lambda values: np.array(evaluate(values), float)


def _evaluation(graph: Graph, outputs: Sequence[int], given: Iterable[int]) -> Callable[[Mapping[int, Any]], list]:
    """The same one by one: numbers, or arrays where the values are."""
    known = set(given)
    order = [i for i in graph.dependencies(outputs, given=known) if i not in known]
    fixed = {i: number for i in order if (number := graph.value(i)) is not None}
    steps = [(i, NUMBERS[graph.nodes[i][0]], graph.operands(i)) for i in order if i not in fixed]

    def evaluate(values: Mapping[int, Any]) -> list:
        found = {**fixed, **values}
        with np.errstate(all="ignore"):
            for index, operation, operands in steps:
                found[index] = operation(*[found[a] for a in operands])
        return [found[o] for o in outputs]

    return evaluate


def values_of(graph: Graph, outputs: Sequence[int], given: Mapping[int, float]) -> np.ndarray:
    """The outputs by NumPy, from the values of some nodes."""
    return program(graph, outputs, given)(given)


def root_by(stepper: Stepper, known: list[int]) -> Callable[[Mapping[int, float]], np.ndarray | None]:
    """From the values of `known` the z at which the graph's rows vanish, in the order of the scheme's unknowns; None
    where Newton's method fails."""
    graph, root = stepper.graph, stepper.root
    guess, corrected = program(graph, [stepper.guess[i] for i in root.places], known), correction_of(stepper, known)
    formulas, have = list[tuple[int, Callable]](), [*known, *root.unknowns]
    for unknown, formula in reversed(root.formulas):
        formulas.append((unknown, program(graph, [formula], have)))
        have.append(unknown)

    def iterate(values: Mapping[int, float]) -> np.ndarray | None:
        z = guess(values)
        for _ in range(MAX_ITERATIONS):
            correction = corrected({**values, **dict(zip(root.unknowns, z.tolist(), strict=True))})
            z = z + correction
            if not np.all(np.isfinite(z)):
                return None
            if np.all(np.abs(correction) <= 8 * np.finfo(float).eps * np.sum(np.abs(z))):
                whole = {**values, **dict(zip(root.unknowns, z.tolist(), strict=True))}
                for unknown, formula in formulas:
                    whole[unknown] = float(formula(whole)[0])
                return np.array([whole[u] for u in stepper.unknowns])
        return None

    return iterate


def correction_of(stepper: Stepper, known: Iterable[int]) -> Callable[[Mapping[int, float]], np.ndarray]:
    """Newton's correction from the values of what is known and of the unknowns."""
    graph, root = stepper.graph, stepper.root
    if root.table is not None:
        return _by_table(stepper, root.table, known)
    if root.directions is None:
        return program(graph, root.correction, [*known, *root.unknowns])
    inputs, along = root.directions
    n = len(inputs)
    units = dict(zip(inputs, np.eye(n), strict=True))
    evaluate = _evaluation(graph, [*root.rows, *along], [*known, *root.unknowns, *inputs])

    def correct(values: Mapping[int, float]) -> np.ndarray:
        found = evaluate({**values, **units})
        try:
            return np.linalg.solve(np.stack([np.broadcast_to(a, n) for a in found[n:]]), -np.array(found[:n], float))
        except np.linalg.LinAlgError:
            return np.full(n, np.nan)

    return correct


def _by_table(
    stepper: Stepper, table: EliminationTable, known: Iterable[int]
) -> Callable[[Mapping[int, float]], np.ndarray]:
    graph, root = stepper.graph, stepper.root
    right, made = root.solution or ([], [])
    evaluate = program(graph, [*root.rows, *root.anew], [*known, *root.unknowns])
    solve = program(graph, made, [*right, *root.factors.values()])

    def correct(values: Mapping[int, float]) -> np.ndarray:
        rows, entries = np.split(evaluate(values), [len(root.rows)])
        after = table.eliminate(entries.tolist())
        held = {node: after[place] for place, node in root.factors.items()}
        return solve(dict(zip(right, (-rows).tolist(), strict=True)) | held)

    return correct


def difference(
    stepper: Stepper | StageStepper,
    system: System,
    scheme: Scheme,
    state: State,
    h: Array,
    made: Any = None,
    by: Definitions | None = None,
) -> str:
    """What differs in the first steps from `state` on; nothing if nothing does.

    `made` is what a kernel made of these steps, if it has run: q and p of the nodes, nodal xi, and the intervals' xi if
    it keeps that, all along the first axis. The definition is interpreted, unless `by` gives its values.
    """
    if isinstance(stepper, StageStepper):
        return _of_sweeps(system, scheme, state, h, made)
    by = INTERPRETED if by is None else by
    of_numpy: Any = np.asarray
    scheme, steps = in_steps(scheme, of_numpy(h))  # and all else by NumPy: XLA would compile each product
    lengths = of_numpy(steps)
    fixed = _values(stepper.parameters, (system, scheme, lengths[0]))
    root = root_by(stepper, [*fixed, *stepper.length, *stepper.state])
    for k in range(STEPS if made is None else len(made[1])):
        mean: Any = 0.0
        for length in lengths:
            z = root(fixed | _values([*stepper.length, *stepper.state], (length, state)))
            if z is None:
                return ""  # nothing to compare: the kernel fails here too, and the plain path takes the step
            unlike, state, xi, slack = _step(by, system, scheme, state, length, of_numpy(z, h.dtype))
            if unlike:
                return unlike
            mean = mean + length / np.sum(lengths) * xi
        if made is not None and (unlike := _unlike(made, k, state, mean, slack)):
            return f"{unlike} of step {k + 1}"
        if made is not None and not scheme.nodal and (unlike := _not_at_node(system, state, made[1][k], by)):
            return f"{unlike} at the end of step {k + 1}"
    return ""


def _values(nodes: Sequence[int], tree: PyTree) -> dict[int, float]:
    """The numbers in a pytree's leaves, by the nodes that they are values of."""
    return dict(zip(nodes, map(float, scalars(jax.tree.map(np.asarray, tree))), strict=False))


def _step(
    by: Definitions, system: System, scheme: Scheme, state: State, h: Array, z: Array
) -> tuple[str, State, Array, Array | None]:
    """What differs if z is no root of the scheme's residual; the next state, the interval's xi; how far both move."""
    residual, (after, xi) = by.step(system, scheme, state, h, z)
    scales: Any = 0.0
    slack: Array | None = None
    share = _third(z)
    for seed in (0, 1):  # with the state and without it: what moves alike may cancel
        random = np.random.default_rng(seed)
        (start,) = _perturb(random, share, state) if seed else (state,)
        moved, ends = by.step(system, scheme, start, h, *_perturb(random, share, z))
        scales = np.maximum(scales, np.abs(moved))
        apart = jax.tree.map(lambda a, b: np.max(np.abs(a - b), initial=0.0), ends, (after, xi))
        slack = jax.tree.map(np.maximum, slack, apart) if slack is not None else apart
    worst = np.argmax(np.abs(residual) - share * scales)
    if np.abs(residual[worst]) > share * scales[worst]:
        told = f"row {worst} of {type(scheme).__name__}'s residual is {residual[worst]:.1e} where the compiled one is 0"
        return told, after, xi, slack
    return "", after, xi, slack


def _definition(system: System, scheme: Scheme, state: State, h: Array, z: Array) -> tuple[Array, tuple]:
    return scheme.residual(system, state, h, z), scheme.advance(system, state, h, z)


def _third(like: Array | np.ndarray) -> float:
    return float(jnp.finfo(like.dtype).eps) ** (1 / 3)


def _perturb(random: np.random.Generator, share: float, *arrays: PyTree) -> list[PyTree]:
    """All numbers moved by a share of their size, or of a little of the others'."""

    def move(leaf: Array) -> np.ndarray:
        a = np.asarray(leaf)
        size = np.abs(a) + 1e-3 * (np.mean(np.abs(a)) or 1.0) if a.size else a
        return np.asarray(a + share * size * random.choice([-1.0, 1.0], a.shape), a.dtype)

    return [jax.tree.map(move, array) for array in arrays]


def _unlike(made: tuple, k: int, state: State, xi: Array, slack: Any) -> str:
    """What of a kernel's step is not what the scheme makes of it."""
    nodes, _, intervals = made
    pairs = [(name, nodes[name], getattr(state, name), getattr(slack[0], name)) for name in nodes]
    if intervals is not None:
        pairs.append(("the interval's xi", intervals, xi, slack[1]))
    for name, kernel, plain, moves in pairs:
        apart = np.max(np.abs(np.asarray(kernel)[k] - plain), initial=0.0)
        if not apart <= moves + _third(xi) ** 2 * np.max(np.abs(plain), initial=0.0):
            return f"{name} differs by {apart:.1e}"
    return ""


def _of_sweeps(system: System, scheme: Scheme, state: State, h: Array, made: Any) -> str:
    """The same of a kernel without a graph of the scheme's residual, against the scheme's own step."""
    for k in range(len(made[1])):
        state, interval = _plain_step(system, scheme, state, h)
        slack = jax.tree.map(lambda a: _third(h) * np.max(np.abs(a), initial=0.0), (state, interval.xi))
        if interval.report.converged and (unlike := _unlike(made, k, state, interval.xi, slack)):
            return f"{unlike} of step {k + 1}"
    return ""


def refuse(system: System, scheme: Scheme, unlike: str) -> str:
    """The reason for taking the plain path, said as a warning too."""
    reason = f"the compiled step differs from the plain one: {unlike}"
    warnings.warn(
        f"{type(system).__name__} with {type(scheme).__name__}: {reason}. The run takes the plain path, which is right "
        "and slower; please report this.",
        CompiledStepDiffers,
        stacklevel=2,
    )
    return reason


@partial(jax.jit, compiler_options=QUICK)
def _plain_step(system: System, scheme: Scheme, state: State, h: Array) -> tuple[State, Interval]:
    return scheme.step(system, state, h)


def _not_at_node(system: System, state: State, xi: Array, by: Definitions | None = None) -> str:
    """Whether mu(q, xi)^D = p does not hold at a node, or xi leaves D."""
    free, whole = xi[: system.rank], np.asarray(xi)
    at_node = (by or INTERPRETED).node
    momentum, full = at_node(system, state.q, free)
    share = _third(whole)
    (shifted,) = _perturb(np.random.default_rng(0), share, free)
    other, _ = at_node(system, state.q, shifted)
    scale = np.max(np.abs(other - momentum), initial=0.0) + share**2 * np.max(np.abs(state.p), initial=0.0)
    if not np.max(np.abs(momentum - state.p), initial=0.0) <= scale:
        return "mu(q, xi) differs from p"
    apart = np.max(np.abs(full - whole), initial=0.0)
    return "" if apart <= share * (1e-3 + np.max(np.abs(whole), initial=0.0)) else "xi is not in D"


def _at_node(system: System, q: Array, free: Array) -> tuple[Array, Array]:
    return hamel.balance(system, q, free)[0], hamel.full(system, q, free)


INTERPRETED = Definitions(interpret(_definition), interpret(_at_node))

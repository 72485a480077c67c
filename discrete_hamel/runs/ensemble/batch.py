"""A batch of members through its run: by lanes, and by the plain path where lanes failed, each from its own place."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel.compiler.native.lanes import LaneRun
from discrete_hamel.compiler.step.stepper import in_steps
from discrete_hamel.mechanics.newton import MAX_ITERATIONS
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs.ensemble import plain
from discrete_hamel.runs.ensemble.failure_codes import Why
from discrete_hamel.schemes.scheme import Scheme

TOGETHER = 64  # steps that the plain path takes of a member whose lane failed, before lanes go on


class Task(NamedTuple):
    """What all batches have in common."""

    scheme: Scheme
    h: Array
    every: int  # steps between nodes
    lanes: LaneRun | None  # None: the plain path
    capacity: int  # nodes that one call gives at most
    width: int  # members a call of the lanes
    row: int  # numbers of a node: q, p and xi


class Batch:
    """Members on their way: how far each has come, and what became of those who stopped."""

    def __init__(
        self, task: Task, system: System, axes: plain.Axes, q: np.ndarray, xi: np.ndarray, why: np.ndarray
    ) -> None:
        self.task, self.system, self.axes = task, system, axes
        self.count = len(q)
        self.states = self._by_plain(plain.first_states, q, xi)
        self.why, self.residual = np.array(why, int), np.full(self.count, np.nan)
        self.steps, self.done = np.zeros(self.count, int), np.zeros(self.count, int)
        self.iterations, self.plain_steps = np.zeros(self.count, int), np.zeros(self.count, int)

    def _of(self, who: np.ndarray) -> tuple[System, PyTree]:
        """The systems and states of some members."""
        system = jax.tree.unflatten(
            jax.tree.structure(self.system),
            [a if axis is None else a[who] for a, axis in zip(jax.tree.leaves(self.system), self.axes, strict=True)],
        )
        return system, jax.tree.map(lambda leaf: leaf[who], self.states)

    def _by_plain(self, function: Callable, *trees: PyTree, who: np.ndarray | slice = slice(None)) -> Any:
        """A function of `plain` for some members: it takes their systems and the trees."""
        task, leaves = self.task, jax.tree.leaves(self.system)
        different = [np.asarray(a)[who] for a, axis in zip(leaves, self.axes, strict=True) if axis is not None]

        def call(different: list, *trees: PyTree) -> Any:
            own = iter(different)
            parts = [a if axis is None else next(own) for a, axis in zip(leaves, self.axes, strict=True)]
            system = jax.tree.unflatten(jax.tree.structure(self.system), parts)
            more = () if function is plain.velocities else (task.h,)
            return function(self.axes, system, task.scheme, *more, *trees)

        count = len(jax.tree.leaves(trees)[0])
        width = task.width if function is plain.first_states else plain.WIDTH
        return plain.in_groups(call, width, count, different, *trees)

    def nodes(self, ask: int) -> np.ndarray:
        """The next `ask` nodes of all members, (ask, N + m + n, members): q, p and xi; NaN after a member's end."""
        self.begin = self.done.copy()
        late = self.why == Why.WELL
        rows = np.full((ask, self.task.row, self.count), np.nan)
        self.distrusted = np.full(self.count, self.task.lanes is None)
        while late.any():
            key = np.where(late, self.steps * 2 + (self.done - self.begin) / (ask + 1), np.inf)  # the hindmost
            group = np.flatnonzero(late & (key == key.min()))
            careful = group[self.distrusted[group]]
            if len(careful):
                self._carefully(careful, rows)
            else:
                self._by_lanes(group, ask, rows)
            late = (self.why == Why.WELL) & (self.done - self.begin < ask)
        return rows

    def _by_lanes(self, group: np.ndarray, ask: int, rows: np.ndarray) -> None:
        """As far as the lanes take members who are all at the same place."""
        task, first = self.task, group[0]
        assert task.lanes is not None
        slot, rest = self.done[first] - self.begin[first], (self.done[first] + 1) * task.every - self.steps[first]
        at_node = rest == task.every
        nodes, every = (min(ask - slot, task.capacity), task.every) if at_node else (1, rest)
        for part in np.split(group, range(task.width, len(group), task.width)):
            state, done, steps, most, new = self._call(part, nodes, every)
            self._put(part, state)
            whole = np.arange(nodes)[:, None] < done
            rows[slot : slot + nodes, :, part] = np.where(whole[:, None], new[:nodes], np.nan)
            self.steps[part] += steps
            self.done[part] += done
            self.iterations[part] = np.maximum(self.iterations[part], np.minimum(most, MAX_ITERATIONS))
            self.distrusted[part] = done < nodes

    def _call(self, part: np.ndarray, nodes: int, every: int) -> tuple[np.ndarray, ...]:
        task = self.task
        assert task.lanes is not None
        padded = np.concatenate([part, np.full(task.width - len(part), part[0])])
        system, states = self._of(padded)
        parameters = list(zip(jax.tree.leaves(system), self.axes, strict=True))
        parameters += [(leaf, None) for leaf in jax.tree.leaves(in_steps(task.scheme, task.h))]
        common = [x for leaf, axis in parameters if axis is None for x in jnp.ravel(leaf)]
        own = [np.asarray(leaf).reshape(task.width, -1).T for leaf, axis in parameters if axis is not None]
        own_rows = np.concatenate(own) if own else np.zeros((0, task.width))
        begin = np.concatenate([np.asarray(leaf).reshape(task.width, -1).T for leaf in jax.tree.leaves(states)])
        active = (np.arange(task.width) < len(part)).astype(begin.dtype)
        out = task.lanes.advance(common, own_rows, begin, active, nodes, every)
        state, done, steps, most, new = (a[..., : len(part)] for a in out)
        return state, done.astype(int), steps.astype(int), np.floor(most).astype(int), new

    def _put(self, who: np.ndarray, state: np.ndarray) -> None:
        first = 0
        for leaf in jax.tree.leaves(self.states):
            size = leaf[0].size
            leaf[who] = state[first : first + size].T.reshape(len(who), *leaf.shape[1:])
            first += size

    def _carefully(self, group: np.ndarray, rows: np.ndarray) -> None:
        """By the plain path, so far as lanes would look back; a member that fails here has failed."""
        rest = (self.done[group] + 1) * self.task.every - self.steps[group]
        todo = rest if self.task.lanes is None else np.minimum(rest, TOGETHER)
        states = jax.tree.map(lambda leaf: leaf[group], self.states)
        after, good, most, report = self._by_plain(plain.advance, states, todo, who=group)
        for leaf, new in zip(jax.tree.leaves(self.states), jax.tree.leaves(after), strict=True):
            leaf[group] = new
        self.steps[group] += good
        self.plain_steps[group] += good
        self.iterations[group] = np.maximum(self.iterations[group], most)
        self.why[group[good < todo]] = Why.NEWTON
        self.residual[group] = np.where(good < todo, report.residual, np.nan)
        at_node = group[(good == todo) & (rest == todo)]
        if len(at_node):
            self._arrive(at_node, rows)
        self.distrusted[group] = self.task.lanes is None

    def _arrive(self, group: np.ndarray, rows: np.ndarray) -> None:
        """Write the nodes that members of the plain path have reached."""
        states = jax.tree.map(lambda leaf: leaf[group], self.states)
        xi = self._by_plain(plain.velocities, states, who=group)
        found = np.isfinite(xi).all(axis=1)
        self.why[group[~found]] = Why.VELOCITY
        values = np.concatenate([states.q, states.p, xi], axis=1)
        rows[(self.done - self.begin)[group[found]], :, group[found]] = values[found]
        self.done[group[found]] += 1

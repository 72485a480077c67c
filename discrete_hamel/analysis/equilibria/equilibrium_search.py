"""Newton's method for relative equilibria: damped, on the leaf of the constraint, idle along the symmetry."""

from typing import NamedTuple

import numpy as np

from discrete_hamel.analysis.equilibria.held_quantities import Condition, held_values
from discrete_hamel.analysis.equilibria.reachable import Words, columns, flow
from discrete_hamel.analysis.equilibria.steady_equations import Question, SteadyEquations, fastest, left_over
from discrete_hamel.analysis.symmetry import phase_space

MAX_ITERATIONS = 40
SOLVED = 1e-12  # what is left of the equations, relative to what they are made of
RANK = 1e-10  # relative singular value below which a direction does not change the equations
SHORTEST = 2.0**-5  # share of a Newton step below which another way is better
CLOSEST = 2.0**-12  # share of the way from the given point below which there is no going on
PLACES = 60  # solved for on that way, at most


class Point(NamedTuple):
    """Somewhere: y = (q, xi^D, memory), the group's rates, and all that is known of the equations there."""

    y: np.ndarray
    group: np.ndarray
    at: SteadyEquations
    noise: SteadyEquations
    basis: np.ndarray  # of the directions in which y may move
    held: np.ndarray  # how far what is held is off
    slope: np.ndarray  # and its derivatives by y
    rate: float

    @property
    def missed(self) -> np.ndarray:
        """What is left of all equations."""
        return np.concatenate([self.at.value, self.held])


class Sought(NamedTuple):
    """The equations with what is held, and where their unknowns may move: without leaving a holonomic constraint."""

    question: Question
    conditions: list[Condition]
    words: Words

    def at(self, y: np.ndarray, group: np.ndarray, known: SteadyEquations | None = None) -> Point:
        """All that is known of a point, where the equations may have been asked before."""
        ask = self.question
        at = ask.at(y, group) if known is None else known
        noise = ask.rounding(y, group, at)
        basis = self.basis(y)
        held, slope = held_values(ask.system, self.conditions, y, ask.coordinates)
        return Point(y, group, at, noise, basis, held, slope, fastest(at, noise, ask.coordinates))

    def remainder(self, y: np.ndarray, group: np.ndarray) -> np.ndarray:
        """What is left of all equations at a point of which no more is asked."""
        ask = self.question
        return np.concatenate([ask.at(y, group).value, held_values(ask.system, self.conditions, y, ask.coordinates)[0]])

    def basis(self, y: np.ndarray) -> np.ndarray:
        """An orthonormal basis of the directions in which y may move."""
        ask = self.question
        fields = np.asarray(columns(self.words, ask.system, y[: ask.coordinates]))
        return phase_space.block(phase_space.independent(fields), len(y) - ask.coordinates)

    def move(self, y: np.ndarray, change: np.ndarray) -> np.ndarray:
        """y after a change, on the leaf of the constraint."""
        ask, q = self.question, y[: self.question.coordinates]
        fields = np.asarray(columns(self.words, ask.system, q))
        amounts = np.linalg.pinv(fields, rcond=phase_space.DEPENDENT) @ change[: len(q)]
        q = flow(self.words, ask.system, q, amounts)
        return np.concatenate([np.asarray(q), y[len(q) :] + change[len(q) :]])

    def distance(self, point: Point) -> float:
        """How far a point is from what is sought, relative to what the equations are made of; round-off is SOLVED."""
        off = left_over(point.at, point.noise, point.y, point.group, self.question.coordinates, SOLVED)
        reach = np.abs(point.slope) @ (np.abs(point.y) + 1.0) + 1e-300
        return max(off, float(np.max(np.abs(point.held) / reach, initial=0.0)))

    def units(self, point: Point) -> np.ndarray:
        """What each equation is measured in: xi in units of the fastest rate, what is held in its own."""
        of_y = np.where(np.arange(len(point.y)) < self.question.coordinates, 1.0, point.rate)
        return np.concatenate([of_y, np.linalg.norm(point.slope * of_y, axis=1) + 1e-300])

    def rows(self, point: Point) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Derivatives of all equations by all unknowns, in units in which they compare; both units; and the rank."""
        at, basis, units = point.at, point.basis, self.units(point)
        of_y = units[: len(point.y)]
        by_point = np.concatenate([at.by_point, point.slope]) / units[:, None] @ (of_y[:, None] * basis)
        by_group = np.concatenate([at.by_group, np.zeros((len(point.held), len(point.group)))]) / units[:, None]
        lengths = np.linalg.norm(by_group, axis=0)
        scale = np.concatenate([np.abs(basis.T) ** 2 @ of_y, 1 / np.where(lengths > 0, lengths, 1.0)])
        rows = np.concatenate([by_point, by_group * scale[basis.shape[1] :]], axis=1)
        sizes = np.linalg.svd(rows, compute_uv=False)
        rough = np.linalg.norm(point.noise.by_point / of_y[:, None] * of_y)
        return rows, scale, units, int(np.sum(sizes > max(RANK * np.max(sizes, initial=0.0), rough)))

    def correction(self, point: Point, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Newton's correction of (y, group) that takes `wanted` off the equations.

        Of all that do, it moves least along the orbits of the symmetry, and of these least at all.
        """
        rows, scale, units, rank = self.rows(point)
        n = point.basis.shape[1]
        left, sizes, right = np.linalg.svd(rows)
        change = scale * (right[:rank].T @ (left[:, :rank].T @ (wanted / units) / sizes[:rank]))
        free = scale[:, None] * right[rank:].T  # what does not change the equations
        for part in (phase_space.independent(point.basis.T @ self.orbits(point.y)).T, np.eye(n)):
            change, free = least(part, change, free)
        return point.basis @ change[:n], change[n:]

    def orbits(self, y: np.ndarray) -> np.ndarray:
        """The directions in which the group moves y."""
        ask = self.question
        nodes = ask.coordinates + ask.system.rank
        lifts = phase_space.orbits(ask.symmetries, ask.system, y[:nodes])
        return np.concatenate([lifts, np.zeros((len(y) - nodes, lifts.shape[1]))])

    def newton_step(self, point: Point, goal: np.ndarray | float = 0.0, shortest: float = SHORTEST) -> Point | None:
        """The point after a Newton step towards missed = goal, shortened until it comes nearer; None if it does not."""
        if not np.all(np.isfinite(point.missed)) or not np.all(np.isfinite(point.at.by_point)):
            return None
        units, share = self.units(point), 1.0
        before = np.linalg.norm((point.missed - goal) / units)
        if before == 0:
            return None
        change, turn = self.correction(point, goal - point.missed)
        while share >= shortest:
            y, group = self.move(point.y, share * change), point.group + share * turn
            if np.linalg.norm((self.remainder(y, group) - goal) / units) < (1 - 0.1 * share) * before:
                return self.at(y, group)
            share /= 2
        return None

    def solve(self, point: Point) -> Point | None:
        """The solution to which Newton's method leads; it goes on as long as more than round-off is gained."""
        for _ in range(MAX_ITERATIONS):
            done = self.distance(point) <= SOLVED
            new = self.newton_step(point, shortest=1.0 if done else SHORTEST)
            if new is None:
                return point if done else None
            point = new
        return point if self.distance(point) <= SOLVED else None

    def follow(self, point: Point) -> Point | None:
        """The solution at the end of a curve: of points at which a share of what is missed at the given one is left."""
        start, share, length = point.missed, 1.0, 0.25
        for _ in range(PLACES):
            if share == 0.0 or length < CLOSEST:
                break
            goal = max(share - length, 0.0)
            new = self._at_goal(point, goal * start)
            if new is None:
                length /= 2
            else:
                point, share, length = new, goal, 1.5 * length
        return self.solve(point) if share == 0.0 else None

    def _at_goal(self, point: Point, goal: np.ndarray) -> Point | None:
        first = np.linalg.norm((point.missed - goal) / self.units(point))
        for _ in range(8):
            new = self.newton_step(point, goal)
            if new is None or np.linalg.norm((new.missed - goal) / self.units(point)) < 1e-6 * first:
                return new
            point = new
        return None


def least(part: np.ndarray, change: np.ndarray, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The change with the smallest part, of those that differ by columns of `free`; and the columns still free then."""
    if not part.size or not free.size:
        return change, free
    seen = part @ free[: part.shape[1]]
    left, sizes, right = np.linalg.svd(seen)
    used = int(np.sum(sizes > phase_space.DEPENDENT * np.linalg.norm(free)))
    back = right[:used].T @ ((left[:, :used].T @ (part @ change[: part.shape[1]])) / sizes[:used])
    return change - free @ back, free @ right[used:].T

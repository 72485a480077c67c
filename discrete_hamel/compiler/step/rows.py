"""What a compiled run writes down of each interval: a row of numbers, none of them twice."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax


class Row:
    """A row: the state after the interval; the interval's xi, but not what is in the state already; the nodal xi, if
    `nodal`, which else is found for all rows at once; the norm of the residual; and the most iterations.
    """

    def __init__(self, after: list[int], xi: list[int], composed: bool, nodal: bool) -> None:
        self.nodal, self.n, size = nodal, len(xi), len(after)
        self.own = [k for k, node in enumerate(xi) if composed or node not in after]  # of the interval's xi
        at = {k: size + i for i, k in enumerate(self.own)}
        self.xi: list | slice = [at[k] if k in at else after.index(node) for k, node in enumerate(xi)]
        if self.xi == list(range(self.xi[0], self.xi[0] + self.n)):
            self.xi = slice(self.xi[0], self.xi[0] + self.n)  # a view instead of a copy
        self.rest = size + len(self.own)
        self.width = self.rest + nodal * self.n + 2

    def write(self, rows: Array, k: Array, new: list[Array], recorded: list[Array], most: Array) -> Array:
        """Rows with the k-th that of a step: `Stepper.__call__`'s state and record, and the most iterations so far.

        Number by number: a row put together first would go through memory once more.
        """
        own = [recorded[k] for k in self.own]
        for column, number in enumerate([*new, *own, *recorded[self.n :], most.astype(rows.dtype)]):
            rows = lax.dynamic_update_slice(rows, number[None, None], (k, jnp.full_like(k, column)))
        return rows

    def parts(self, rows: np.ndarray, shape: tuple[int, ...], nodal_xi: np.ndarray) -> tuple:
        """The nodes, and of the intervals: nodal xi, xi, the norm of the residual, the iterations."""
        leaves, structure = jax.tree.flatten(shape)
        first, nodes = 0, []
        for leaf in leaves:
            nodes.append(rows[:, first : first + leaf.size].reshape(len(rows), *leaf.shape))
            first += leaf.size
        inside = rows[:, self.rest : self.rest + self.n] if self.nodal else np.asarray(nodal_xi).T
        return jax.tree.unflatten(structure, nodes), inside, rows[:, self.xi], rows[:, -2], rows[:, -1]

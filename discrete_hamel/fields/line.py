"""What all fields on a line share: equally spaced points, with masses lumped at them."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Scalar


class Line:
    """`points` points, equally spaced along `length`."""

    points: int
    length: Any

    @property
    def spacing(self) -> Any:
        """ds, m."""
        return self.length / (self.points - 1)

    def lump(self, total: Scalar) -> Array:
        """A quantity spread evenly along the line, as shares of the points: half at the ends, by the trapezoidal rule.

        >>> line = Line()
        >>> line.points = 5
        >>> line.lump(8.0).tolist()
        [1.0, 2.0, 2.0, 2.0, 1.0]
        """
        parts = np.full(self.points, self.points - 1.0)
        parts[[0, -1]] *= 2
        return jnp.asarray(total) / parts  # no entry is set in an array of JAX's: compiled steps read that

"""Hypothesis strategies for random states and parameters of the catalogue."""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

few = settings(deadline=None, max_examples=25)


def numbers(low=-2.0, high=2.0):
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


def sizes(low=0.2, high=3.0):
    """Masses, lengths, moments: positive, of order one."""
    return numbers(low, high)


def vectors(n, low=-2.0, high=2.0):
    return st.lists(numbers(low, high), min_size=n, max_size=n).map(np.array)


def rotations():
    """Rotation matrices, 3 x 3, from quaternions."""

    def matrix(w):
        w = w / np.linalg.norm(w)
        a, b, c, d = w
        return np.array(
            [
                [a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)],
                [2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)],
                [2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d],
            ]
        )

    return vectors(4, -1.0, 1.0).filter(lambda w: np.linalg.norm(w) > 0.1).map(matrix)


def directions():
    """Unit vectors of R^3."""
    return vectors(3, -1.0, 1.0).filter(lambda a: np.linalg.norm(a) > 0.1).map(lambda a: a / np.linalg.norm(a))


def inertias():
    """Full inertia matrices of real bodies: positive second moments, principal axes anywhere."""

    def matrix(moments, turn):
        a, b, c = moments
        return turn @ np.diag([b + c, a + c, a + b]) @ turn.T

    return st.builds(matrix, vectors(3, 0.2, 2.0), rotations())


@st.composite
def bodies_of_revolution(draw):
    """Parameters of a body that rolls on a plane, J3 <= 2 J1."""
    j1 = draw(sizes())
    j3 = draw(numbers(0.1, 2.0)) * j1
    return {"mass": draw(sizes()), "inertia_across": j1, "inertia_axis": j3, "gravity": draw(numbers(0.0, 10.0))}

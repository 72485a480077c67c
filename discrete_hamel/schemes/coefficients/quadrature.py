"""Points, weights and polynomials on [0, 1], by NumPy: of Gauss and of Lobatto."""

import numpy as np
from numpy.polynomial import legendre


def gauss(points: int) -> tuple[np.ndarray, np.ndarray]:
    """(c, b) on [0, 1]: exact to degree 2 points - 1."""
    x, w = legendre.leggauss(points)
    return (1 + x) / 2, w / 2


def polynomials(stages: int, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """l_j(t) and their integrals from 0 to t, each (len(t), stages), of the l_j that are 1 at the j-th Gauss point.

    l_j = w_j sum_k (2k+1)/2 P_k(x_j) P_k, integrated term by term: the sum is over orthogonal polynomials, so no digits
    cancel for any number of stages.
    """
    x, w = legendre.leggauss(stages)
    own = (legendre.legvander(x, stages - 1) * w[:, None]).T  # own[k, j] = w_j P_k(x_j)
    p = legendre.legvander(2 * np.asarray(t) - 1, stages)
    integrals = np.empty((len(p), stages))  # of P_k from -1, times 2k + 1
    integrals[:, 0] = 2 * np.asarray(t)
    integrals[:, 1:] = p[:, 2:] - p[:, : stages - 1]
    return p[:, :stages] * (2 * np.arange(stages) + 1) / 2 @ own, integrals @ own / 4


def collocation(stages: int) -> tuple[np.ndarray, ...]:
    """(A / b, b, c) of Gauss collocation on [0, 1].

    a_ij / b_j and a_ji / b_i add up to 1 to the last digit: what is quadratic then stays, whatever b_j is rounded to
    (Antonana, Makazaga & Murua 2017).
    """
    c, b = gauss(stages)
    below = np.tril(polynomials(stages, c)[1] / b, -1)  # between 1/2 and 2, so that 1 less it has no rounding
    return below + np.triu(1 - below.T, 1) + np.eye(stages) / 2, b, c


def lobatto(points: int) -> tuple[np.ndarray, np.ndarray]:
    """(c, b) on [0, 1], the ends among the points: exact to degree 2 points - 3.

    >>> [x.tolist() for x in lobatto(3)]
    [[0.0, 0.5, 1.0], [0.16666666666666666, 0.6666666666666666, 0.16666666666666666]]
    """
    last = np.eye(points)[-1]
    x = np.concatenate([[-1.0], np.sort(legendre.legroots(legendre.legder(last))), [1.0]])
    x = (x - x[::-1]) / 2  # symmetric to the last digit
    return (1 + x) / 2, 1 / (points * (points - 1) * legendre.legval(x, last) ** 2)


def through_nodes(degree: int, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """M_k(c_i) and M_k'(c_i), each (len(c), degree + 1), of the M_k that are 1 at the k-th Lobatto point."""
    nodes, _ = lobatto(degree + 1)
    inverse = np.linalg.inv(legendre.legvander(2 * nodes - 1, degree))
    slopes = 2 * legendre.legvander(2 * c - 1, degree - 1) @ legendre.legder(np.eye(degree + 1))
    return legendre.legvander(2 * c - 1, degree) @ inverse, slopes @ inverse

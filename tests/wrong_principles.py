"""Parts of a discrete principle with one thing wrong: its tests have to notice."""

import discrete_hamel as dh


def without_bracket(system, q, xi, eta0, eta1, h):
    return (eta0 + eta1) / 2, (eta1 - eta0) / h


def of_the_wrong_sign(system, q, xi, eta0, eta1, h):
    mean = (eta0 + eta1) / 2
    return mean, (eta1 - eta0) / h - dh.bracket(system, q, xi, mean)


def of_left_node(system, q0, q1, xi, h):
    return q1 - q0 - h * system.frame(q0) @ xi

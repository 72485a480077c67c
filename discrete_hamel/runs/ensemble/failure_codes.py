"""Why a member stopped, as a number that a store can hold and as a sentence."""

from enum import IntEnum

import numpy as np


class Why(IntEnum):
    """What became of a member."""

    WELL = 0
    DATA = 1
    FUNCTIONS = 2
    DEGENERATE = 3
    CONSTRAINT = 4
    NEWTON = 5
    VELOCITY = 6
    PARAMETERS = 7
    POSITION = 8


SENTENCES = {
    Why.WELL: "",
    Why.DATA: "the initial data are not finite",
    Why.FUNCTIONS: "the Lagrangian, the frame or the force is not finite at the initial data",
    Why.DEGENERATE: "the Lagrangian is degenerate on the constraint at the initial data",
    Why.CONSTRAINT: "the initial velocity is off the constraint",
    Why.NEWTON: "step {step}: Newton's method left a residual of {residual:.1e}; try a smaller h",
    Why.VELOCITY: "after step {done} no velocity belongs to the momentum: d2l/dxi2 is singular there",
    Why.PARAMETERS: "the system refuses a parameter; simulate this member alone to read which",
    Why.POSITION: "the initial q is off holonomic(q) = 0; dh.project(system, q, xi) gives the nearest point on it",
}
MEANINGS = [SENTENCES[why].format(step="n", done="n", residual=0.0) for why in Why]


def sentences(why: np.ndarray, done: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """The reasons of all members, '' for those who did well."""
    told = {
        int(k): SENTENCES[Why(int(why[k]))].format(step=int(done[k]) + 1, done=int(done[k]), residual=residual[k])
        for k in np.flatnonzero(why)
    }
    words = np.full(len(why), "", f"<U{max(map(len, told.values()), default=1)}")
    for k, sentence in told.items():
        words[k] = sentence
    return words

"""States in which psi_z(q, z) loses rank: the velocities allowed have no tangent space of m dimensions.

No motion is determined there. They are refused at the start of a run, and found at and between its nodes.
"""

from collections.abc import Callable

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.errors import FrameDegenerates, InputError, RunFailed, SingularState
from discrete_hamel._support.inputs import combination, name_of
from discrete_hamel.mechanics.gibbs_appell import directions, inertia, slopes, vector_field
from discrete_hamel.mechanics.system import System

SINGULAR = 1e-12  # reciprocal condition below which psi_z is taken to have lost rank
MANY = 8  # columns
UNRESOLVED = 1e-3  # how near to a singular state, in steps, a run is taken to have met it
CLOSE = 0.02  # the same of a step that failed, whose way is only estimated
FOLD = 0.02  # margin of a chart of z that is used up
FEW_STEPS_LEFT = 0.2  # margin at which a step that failed has probably failed for it
INDEPENDENT = 1e-6  # gramian of m columns above which the square of their least singular value is > 1e-6 / (e m)
POINTS = np.linspace(0.0, 1.0, 65)
By = Callable[[Callable], Callable]  # as in `System.at`


def refuse_singular(system: System, q: Array, z: Array, by: By = jax.jit) -> None:
    """A sentence if psi_z, or the inertia on it, is singular at this state."""
    psi_z = np.asarray(by(_rank_matrix)(system, q, z))
    if (lost := lost_direction(psi_z)) is not None:
        raise InputError(f"the initial state is singular: {_sentence(system, psi_z, lost, q, z)}")
    if without_inertia(np.asarray(by(inertia)(system, q, z))) is not None:
        raise InputError(
            "the Lagrangian is degenerate on the constraint: psi_z^T L_vv psi_z is singular at q = "
            f"{np.asarray(q).tolist()}, z = {np.asarray(z).tolist()}, so zdot is not determined. Add the missing mass."
        )


def lost_direction(psi_z: np.ndarray) -> np.ndarray | None:
    """The change of z that moves no velocity, if there is one; columns are scaled, so units do not matter."""
    scale = np.sqrt((psi_z * psi_z).sum(axis=0))
    if not scale.all():
        return (scale == 0).astype(float)
    unit = psi_z / scale
    squares = unit.T @ unit
    # Of many columns the first is rare, and all singular values take long.
    if np.linalg.det(squares) > INDEPENDENT or len(squares) > MANY and np.linalg.eigvalsh(squares)[0] > 1e-9:
        return None
    _, sizes, right = np.linalg.svd(unit)
    return None if psi_z.shape[1] <= psi_z.shape[0] and sizes[-1] > SINGULAR * sizes[0] else right[-1] / scale


def without_inertia(mass: np.ndarray) -> np.ndarray | None:
    """The velocity that carries no inertia, if there is one; mass is scaled, so units do not matter."""
    scale = np.sqrt(np.abs(np.diag(mass)))
    scale[scale == 0] = 1.0
    lost = lost_direction(mass / np.outer(scale, scale))
    return None if lost is None else lost / scale


def _sentence(system: System, psi_z: np.ndarray, lost: np.ndarray, q: Array, z: Array) -> str:
    place = [np.array2string(np.asarray(a), precision=6, separator=", ") for a in (q, z)]
    if jax.eval_shape(system.rows, q, z).shape[0]:
        rows = combination(lost, "row {}".format, 1e-3)
        return (
            f"the slopes C_v of the constraint are dependent at q = {place[0]}, qdot = {place[1]}: {rows} = 0, so that "
            "the velocities allowed have no tangent there (branches may meet). Start at another state."
        )
    words = combination(lost, lambda i: name_of(system.velocities, "z", i), 1e-3)
    known = f" ({system.singular})" if system.singular else ""  # type: ignore[attr-defined]
    return (
        f"psi_z(q, z) has rank below m = {psi_z.shape[1]} at q = {place[0]}, z = {place[1]}{known}: a change of z "
        f"along {words} moves no velocity, so its rate is not determined. The constraint itself has no "
        "tangent there; start at another state, or choose other parameters z if only they are singular."
    )


def _rank_matrix(system: System, q: Array, z: Array) -> Array:
    """What has full rank wherever the velocities allowed have a tangent: psi_z, or the slopes of rows as columns."""
    k = slopes(system, q, z)
    return k.T if len(k) else directions(system, q, z)


_directions = jax.vmap(_rank_matrix, in_axes=(None, 0, 0))


def met_singular_state(
    system: System, q: np.ndarray, z: np.ndarray, t: np.ndarray, finished: int, save_every: int, by: By = jax.jit
) -> RunFailed | None:
    """A failure if the path through the nodes (q, z) meets a singular state at a node or between two of them.

    Between nodes z goes in a straight line, and an encounter nearer than a thousandth of the way is one: a run cannot
    tell it from a state that it hits. Of a run with save_every > 1 the saved nodes are looked at.
    """
    if not system.frameless or len(q) < 2:
        return None
    if getattr(system, "chart", None) is not None:
        return left_chart(system, q, z, t, finished, save_every, by)
    psi_z = np.asarray(by(_directions)(system, q, z))
    if not np.all(np.isfinite(psi_z)):
        return None  # a step has failed, and is told of as such
    scale = np.maximum(np.linalg.norm(psi_z[1:], axis=1), np.linalg.norm(psi_z[:-1], axis=1))
    scale = np.where(scale > 0, scale, 1.0)[:, None, :]
    least = np.linalg.svd(psi_z[:-1] / scale, compute_uv=False)[:, -1]
    change = np.linalg.norm((psi_z[1:] - psi_z[:-1]) / scale, axis=(1, 2))
    for k in np.flatnonzero(least <= 2 * change):
        if found := _encounter(system, ((q[k], z[k]), (q[k + 1], z[k + 1])), scale[k], UNRESOLVED, by):
            where, sentence = found
            return SingularState(
                f"in step {(finished + k) * save_every + 1} (t = {(1 - where) * t[k] + where * t[k + 1]:.6g}) the "
                f"motion meets a singular state, or passes it too closely for this step: {sentence} What is in "
                ".trajectory means nothing from there on.",
                good=finished + int(k),
            )
    return None


def _margins(system: System, q: Array, z: Array) -> Array:
    def margin(q: Array, z: Array) -> Array:
        return system.chart.margin(jax.jacfwd(system.constraint, 1)(q, system.velocity(q, z)))  # type: ignore[attr-defined]

    return jax.vmap(margin)(q, z)


def left_chart(
    system: System, q: np.ndarray, z: np.ndarray, t: np.ndarray, finished: int, save_every: int, by: By = jax.jit
) -> FrameDegenerates | None:
    """A failure where the coordinates z that the library chose come to a fold; singular states of C are there too."""
    margins = np.asarray(by(_margins)(system, q, z))
    margins = margins * np.sign(margins[0])
    lost = np.flatnonzero(~(margins > FOLD))
    if not len(lost):
        return None
    k = int(lost[0])
    where = f"step {(finished + k) * save_every} (t = {t[k]:.6g})"
    return FrameDegenerates(_CHART_ENDS.format(where, margins[k]), good=max(finished + k - 1, 0))


_CHART_ENDS = (
    "{}: the coordinates z on the constraint, chosen by around(q, v), end here (margin {:.1e}, there 1 at most), or "
    "the constraint itself is singular. Go on from an earlier node, simulate(system, q=traj.q[k], v=traj.v[k], ...) "
    "with traj = error.trajectory and the system as from_nonlinear_constraints made it, which has no such end."
)


def _encounter(system: System, ends: tuple, scale: np.ndarray, near: float, by: By) -> tuple[float, str] | None:
    """Where between two nodes the least singular value of psi_z, scaled, is smallest, and the sentence about the state
    there; None if that value is not below `near`.
    """
    low, high = 0.0, 1.0
    for _ in range(4):
        s = (low + (high - low) * POINTS)[:, None]
        q, z = ((1 - s) * a[None] + s * b[None] for a, b in zip(*ends, strict=True))
        sizes = np.linalg.svd(np.asarray(by(_directions)(system, q, z)) / scale, compute_uv=False)[:, -1]
        best = int(np.argmin(sizes))
        width = (high - low) / (len(POINTS) - 1)
        where = float(s[best, 0])
        low, high = max(0.0, where - width), min(1.0, where + width)
    if not sizes[best] < near:
        return None
    at_q, at_z = ((1 - where) * a + where * b for a, b in zip(*ends, strict=True))
    there = np.asarray(by(_rank_matrix)(system, at_q, at_z)) / scale
    return where, _sentence(system, there, np.linalg.svd(there)[2][-1] / scale[0], at_q, at_z)


def singular_reason(system: System, q: Array, z: Array, h: float, where: str) -> RunFailed | None:
    """The failure of a step that Newton's method could not solve, where a singular state or the chart is the reason."""
    if getattr(system, "chart", None) is not None:
        margin = abs(float(jax.jit(_margins)(system, q[None], z[None])[0]))
        return None if margin > FEW_STEPS_LEFT else FrameDegenerates(_CHART_ENDS.format(where, margin))
    qdot, zdot = (np.asarray(a) for a in jax.jit(vector_field)(system, q, z))
    if not np.all(np.isfinite(zdot)):
        return None
    # The step aimed about there; a state that is singular within twice that way is what it could not pass.
    start, end = (np.asarray(q), np.asarray(z)), (np.asarray(q) + 2 * h * qdot, np.asarray(z) + 2 * h * zdot)
    both = np.asarray(jax.jit(_directions)(system, *(np.stack(pair) for pair in zip(start, end, strict=True))))
    scale = np.max(np.linalg.norm(both, axis=1), axis=0)[None]
    scale = np.where(scale > 0, scale, 1.0)
    found = _encounter(system, (start, end), scale, CLOSE, jax.jit)
    return found and SingularState(
        f"{where} goes into a singular state, or too near to one for this step: {found[1]} What was computed is in "
        ".trajectory."
    )

"""Contact: the normal force along a run, and the warning when the surface would have to pull."""

import warnings
from typing import Any

import numpy as np

from discrete_hamel._support.errors import ContactLost
from discrete_hamel.compiler.along import along
from discrete_hamel.mechanics.system import contact_law
from discrete_hamel.runs.trajectory import Trajectory, contact_force_at

ROUNDOFF = 1e-9  # of the largest force: what at a contact without weight is zero


def pull(trajectory: Trajectory) -> tuple[float, int, float] | None:
    """The time at which the contact begins to pull, the first node at which it does, and the force there.

    The time is where the chord from the node before crosses zero. None where it never pulls, or nothing touches.
    """
    if contact_law(trajectory.system) is None:
        return None
    in_memory = isinstance(trajectory.q, np.ndarray)
    force: Any = (
        along(contact_force_at, trajectory.system, trajectory.q, trajectory.xi)
        if in_memory
        else (trajectory.contact_force)
    )
    size = np.nanmax(np.abs(force), initial=0.0)
    pulls = np.flatnonzero(force < -ROUNDOFF * size)
    if not len(pulls):
        return None
    k = int(pulls[0])
    t, after = trajectory.t, float(force[k])
    if not k:
        return float(t[0]), k, after
    before = max(float(force[k - 1]), 0.0)
    return float(t[k - 1] + (t[k] - t[k - 1]) * before / (before - after)), k, after


def warn_of_pull(trajectory: Trajectory, stacklevel: int) -> None:
    """ContactLost, with the time, if the contact pulls at any node."""
    found = pull(trajectory)
    if found is None:
        return
    t, k, force = found
    warnings.warn(
        f"from t = {t:.6g} on the contact of {type(trajectory.system).__name__} would have to pull: at node {k} the "
        f"normal force is {force:.3g}. A body that nothing holds leaves there, and what "
        "follows is the motion of one that is held. traj.contact_force has the force at each node.",
        ContactLost,
        stacklevel=stacklevel + 1,
    )

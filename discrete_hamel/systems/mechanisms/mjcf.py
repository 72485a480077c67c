"""Mechanisms read from MJCF by MuJoCo's own compiler: bodies, joints, springs, dampers; the rest is listed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

from discrete_hamel._support.arrays import ArrayLike, PathLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.systems.mechanisms.assembly import Body, tree_of
from discrete_hamel.systems.mechanisms.joints import Ball, Fixed, Free, Hinge, Joint, Slide
from discrete_hamel.systems.mechanisms.rotations import AXES
from discrete_hamel.systems.mechanisms.tree import Mechanism

if TYPE_CHECKING:
    import mujoco


def from_mjcf(source: "PathLike | mujoco.MjModel", leave_out: str | Sequence[str] = ()) -> Mechanism:
    """Returns the tree of rigid bodies that a MuJoCo model describes: `source` is a path, the XML itself, or an
    MjModel.

    q and xi are MuJoCo's qpos and qvel. What is not simulated here is refused with a list, unless it is named in
    `leave_out`, or that is "all": contacts, limits, friction, tendons, equalities, actuators and so on. Needs the
    package mujoco: pip install "discrete_hamel[mechanisms]".
    """
    model = _compile(source)
    beyond = _beyond(model)
    kept = {} if leave_out == "all" else {kind: what for kind, what in beyond.items() if kind not in leave_out}
    if kept:
        listed = "; ".join(f"{kind} ({what})" for kind, what in kept.items())
        raise InputError(
            f"this model has what discrete_hamel does not simulate: {listed}. Without them it is another system: "
            f"leave_out={tuple(kept)} reads it so."
        )
    return tree_of(_bodies(model), _gravity(model))


def _compile(source: "PathLike | mujoco.MjModel") -> "mujoco.MjModel":
    try:
        import mujoco
    except ImportError:
        raise ImportError('from_mjcf needs the package mujoco: pip install "discrete_hamel[mechanisms]".') from None
    if isinstance(source, mujoco.MjModel):
        return source
    if isinstance(source, str) and source.lstrip().startswith("<"):
        return mujoco.MjModel.from_xml_string(source)
    if not Path(source).is_file():
        raise FileNotFoundError(f"there is no MJCF file {str(source)!r}.")
    return mujoco.MjModel.from_xml_path(str(source))


def _gravity(model: "mujoco.MjModel") -> tuple:
    import mujoco

    off = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    return (0.0, 0.0, 0.0) if off else tuple(model.opt.gravity)


def _beyond(model: "mujoco.MjModel") -> dict[str, str]:
    """What of a model is not simulated, in words, by kind."""
    single = np.isin(model.jnt_type, (2, 3))  # slides and hinges
    of_single = single[model.dof_jntid]
    counts = {
        "contacts": (_contacts(model), "pairs of geoms that may touch"),
        "limits": (_some(model.jnt_limited), "joints"),
        "friction": (_some(model.dof_frictionloss), "joints with frictionloss"),
        "tendons": (model.ntendon, "in all"),
        "equalities": (model.neq, "constraints"),
        "actuators": (model.nu, "in all; torques are Hinge(torque=...) or dh.controlled"),
        "fluid": (_some([model.opt.density, model.opt.viscosity]), "density or viscosity"),
        "gravity compensation": (_some(model.body_gravcomp), "bodies"),
        "flexes": (model.nflex, "in all"),
        "plugins": (model.nplugin, "in all"),
        "mocap": (model.nmocap, "bodies"),
        "springs of balls": (_some(model.jnt_stiffness[~single]), "joints that are no hinge or slide"),
        "dampers of balls": (_some(model.dof_damping[~of_single]), "rates of joints that are no hinge or slide"),
        "armatures of balls": (_some(model.dof_armature[~of_single]), "rates of joints that are no hinge or slide"),
        "nonlinear springs": (_some(getattr(model, "jnt_stiffnesspoly", ())), "coefficients"),
        "nonlinear dampers": (_some(getattr(model, "dof_dampingpoly", ())), "coefficients"),
        "plasticity": (getattr(model, "nplastic", 0), "in all"),
    }
    return {kind: f"{count} {what}" for kind, (count, what) in counts.items() if count}


def _some(values: Sequence) -> int:
    return int(np.count_nonzero(np.asarray(values)))


def _contacts(model: "mujoco.MjModel") -> int:
    """Pairs of geoms that MuJoCo would test: by their bits, not on one body, nor on a body and its parent."""
    weld, parent = model.body_weldid[model.geom_bodyid], model.body_weldid[model.body_parentid]
    types, affine = model.geom_contype, model.geom_conaffinity
    bits = (types[:, None] & affine[None]) | (types[None] & affine[:, None])
    above = parent[weld]
    related = (weld[:, None] == above[None]) | (weld[None] == above[:, None])
    related &= (weld[:, None] != 0) & (weld[None] != 0)  # the world touches its children
    pairs = (bits != 0) & (weld[:, None] != weld[None]) & ~related
    return int(np.count_nonzero(np.triu(pairs, 1))) + model.npair


def _bodies(model: "mujoco.MjModel") -> list[Body]:
    """A link for each joint, and one for each body without any; massless but for the last of a body."""
    links: list[Body] = []
    taken: set[str] = set()
    homes = {0: ("", np.zeros(3))}  # by body: the link that it is, and where its origin is in that link's axes
    for b in range(1, model.nbody):
        on, origin = homes[int(model.body_parentid[b])]
        at, turn = origin + model.body_pos[b], rotation(model.body_quat[b])
        joints = range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b])
        placed = np.zeros(3)  # of the last link's origin, in the body's axes
        for j in joints:
            kind, slack = int(model.jnt_type[j]), 0.0 if model.jnt_type[j] < 2 else model.qpos0[model.jnt_qposadr[j]]
            if kind == 0:
                at, turn, place = np.zeros(3), np.eye(3), np.zeros(3)
            else:
                place = model.jnt_pos[j]
                at = at + turn @ (place - placed)
            axis = model.jnt_axis[j]
            if kind == 2:
                at = at - slack * turn @ axis
            if kind == 3:
                turn = turn @ np.asarray(Hinge.pose(axis, jnp.array([-slack]))[0])
            name = _name(model.joint(j).name or model.body(b).name or f"joint{j}", taken)
            links.append(Body(name, _joint(model, j), on=on, at=at, turn=_or_none(turn)))
            on, at, turn, placed = name, np.zeros(3), np.eye(3), place
        if not joints:
            name = _name(model.body(b).name or f"body{b}", taken)
            links.append(Body(name, Fixed(), on=on, at=at, turn=_or_none(turn)))
            on = name
        axes = rotation(model.body_iquat[b])
        links[-1] = links[-1].replace(
            mass=float(model.body_mass[b]),
            inertia=axes @ np.diag(model.body_inertia[b]) @ axes.T,
            centre=model.body_ipos[b] - placed,
        )
        homes[b] = (on, -placed)
    return links


def _joint(model: "mujoco.MjModel", j: int) -> Joint:
    kind = int(model.jnt_type[j])
    if kind < 2:
        return (Free, Ball)[kind]()
    dof, axis = model.jnt_dofadr[j], model.jnt_axis[j]
    letters = [letter for letter, unit in AXES.items() if np.array_equal(axis, unit)]
    return (Slide, Hinge)[kind - 2](
        axis=letters[0] if letters else tuple(axis),
        stiffness=float(model.jnt_stiffness[j]),
        unloaded=float(model.qpos_spring[model.jnt_qposadr[j]]),
        damping=float(model.dof_damping[dof]),
        rotor=float(model.dof_armature[dof]),
    )


def _name(wanted: str, taken: set[str]) -> str:
    name, k = wanted, 2
    while name in taken:
        name, k = f"{wanted} ({k})", k + 1
    taken.add(name)
    return name


def _or_none(turn: np.ndarray) -> np.ndarray | None:
    return None if np.array_equal(turn, np.eye(3)) else turn


def rotation(quaternion: ArrayLike) -> np.ndarray:
    """The rotation matrix of a unit quaternion (w, x, y, z)."""
    return np.asarray(Ball.pose(None, jnp.asarray(quaternion, float))[0])  # type: ignore[arg-type]  # it has no axis

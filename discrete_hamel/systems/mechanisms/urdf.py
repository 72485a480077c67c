"""Mechanisms read from URDF: links, joints, dampers, mimicking joints; the rest is listed.

By Python's own XML reader. MuJoCo's compiler reads URDF too, but wants every mesh file there, joins links that are
fixed to one another, and forgets the dampers' and mimics' names; what moves needs none of the meshes.
"""

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from discrete_hamel._support.arrays import ArrayLike, PathLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.systems.mechanisms.assembly import Body, mechanism
from discrete_hamel.systems.mechanisms.contacts import Contact, Gear
from discrete_hamel.systems.mechanisms.joints import Fixed, Free, Hinge, Joint, Planar, Slide
from discrete_hamel.systems.mechanisms.rolling import RollingMechanism
from discrete_hamel.systems.mechanisms.rotations import AXES
from discrete_hamel.systems.mechanisms.tree import Mechanism

JOINTS = {
    "revolute": Hinge,
    "continuous": Hinge,
    "prismatic": Slide,
    "fixed": Fixed,
    "floating": Free,
    "planar": Planar,
}


def from_urdf(
    source: PathLike,
    *parts: Contact,
    base: Joint | None = None,
    gravity: ArrayLike = 9.81,
    leave_out: str | Sequence[str] = (),
) -> Mechanism | RollingMechanism:
    """Returns the robot that a URDF file describes: `source` is a path or the XML itself, `gravity` as for `mechanism`.

    Bodies and coordinates have the names of the joints, fixed links their own. The root link is fixed to the ground, or
    moves on it by the joint `base`; further `parts`, such as Wheel("left_wheel_joint", 0.1), hold what the file does
    not say. Mimicking joints are gears. What is not simulated is refused with a list, unless it is named in
    `leave_out`, or that is "all": limits, friction, collisions, transmissions.

    >>> import discrete_hamel as dh
    >>> arm = dh.mechanisms.from_urdf('''<robot name="arm"><link name="base"/><link name="rod"><inertial>
    ...     <origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.01"/></inertial></link>
    ...     <joint name="swing" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
    ...     </robot>''')
    >>> arm.coordinates, round(float(dh.vector_field(arm, [0.3], [0.0])[1][0]), 6)
    (('swing',), -4.831755)
    """
    robot = _parse(source)
    joints, links = robot.findall("joint"), {_name(link): link for link in robot.findall("link")}
    if len(links) < len(robot.findall("link")):
        raise InputError("each link of a URDF needs a name of its own; two have the same.")
    _refuse_beyond(robot, joints, leave_out)
    bodies, names = _bodies(joints, links, Fixed() if base is None else base)
    gears = [_gear(joint, joint.find("mimic"), names) for joint in joints if joint.find("mimic") is not None]
    return mechanism(*bodies, *gears, *parts, gravity=gravity)


def _parse(source: PathLike) -> ElementTree.Element:
    text = str(source)
    if not (isinstance(source, str) and source.lstrip().startswith("<")):
        if not Path(source).is_file():
            raise FileNotFoundError(f"there is no URDF file {str(source)!r}.")
        text = Path(source).read_text(encoding="utf-8")
    try:
        robot = ElementTree.fromstring(text.strip())
    except ElementTree.ParseError as error:
        raise InputError(f"this is no XML: {error}.") from None
    if robot.tag != "robot":
        raise InputError(f"a URDF describes a <robot>; this describes a <{robot.tag}>. MJCF is read by from_mjcf.")
    if any("xacro" in element.tag for element in robot.iter()):
        raise InputError("this file has xacro macros in it: expand them first, by  xacro robot.xacro > robot.urdf")
    return robot


def _refuse_beyond(
    robot: ElementTree.Element, joints: list[ElementTree.Element], leave_out: str | Sequence[str]
) -> None:
    """What of a robot is not simulated, in words, by kind."""
    bounded = [joint for joint in joints if joint.get("type") in ("revolute", "prismatic") and _bounds(joint)]
    rubbing = [joint for joint in joints if _number(joint.find("dynamics"), "friction", 0.0)]
    counts = {
        "limits": (len(bounded), "joints"),
        "friction": (len(rubbing), "joints with friction"),
        "collisions": (len(robot.findall("link/collision")), "shapes that may touch"),
        "transmissions": (len(robot.findall("transmission")), "in all; torques are dh.controlled or dh.forced"),
    }
    kept = {kind: of for kind, of in counts.items() if of[0] and leave_out != "all" and kind not in leave_out}
    if kept:
        listed = "; ".join(f"{kind} ({count} {what})" for kind, (count, what) in kept.items())
        raise InputError(
            f"this robot has what discrete_hamel does not simulate: {listed}. Without them it is another system: "
            f"leave_out={tuple(kept)} reads it so."
        )


def _bounds(joint: ElementTree.Element) -> bool:
    limit = joint.find("limit")
    return limit is not None and (limit.get("lower") is not None or limit.get("upper") is not None)


def _bodies(
    joints: list[ElementTree.Element], links: dict[str, ElementTree.Element], base: Joint
) -> tuple[list[Body], dict[str, str]]:
    """Each link with the joint above it, parents first; and the body that each link and each joint is."""
    above: dict[str, ElementTree.Element] = {}
    for joint in joints:
        child = _link_of(joint, "child", links)
        _link_of(joint, "parent", links)
        if child in above:
            hung = f"{_name(above[child])!r} and {_name(joint)!r}"
            raise InputError(
                f"the link {child!r} hangs on two joints, {hung}; URDF describes trees. Close it by a Pin."
            )
        above[child] = joint
    roots = [name for name in links if name not in above]
    if len(roots) != 1:
        raise InputError(f"a robot has one link without a joint above it; this one has {', '.join(roots) or 'none'}.")
    bodies = [Body(roots[0], base, **_inertial(links[roots[0]]))]
    names = {roots[0]: roots[0]}
    waiting = dict(above)
    while waiting:
        ready = [child for child, joint in waiting.items() if _link_of(joint, "parent", links) in names]
        if not ready:
            raise InputError(f"the links {', '.join(waiting)} hang on one another, not on {roots[0]!r}.")
        for child in ready:
            joint = waiting.pop(child)
            names[child] = names[_name(joint)] = child if joint.get("type") == "fixed" else _name(joint)
            place, turn = _origin(joint)
            on = names[_link_of(joint, "parent", links)]
            bodies.append(Body(names[child], _joint(joint), on=on, at=place, turn=turn, **_inertial(links[child])))
    return bodies, names


def _joint(joint: ElementTree.Element) -> Joint:
    kind = JOINTS.get(joint.get("type", ""))
    if kind is None:
        raise InputError(f"the joint {_name(joint)!r} is {joint.get('type')!r}; there are {', '.join(JOINTS)}.")
    axis = _numbers(joint.find("axis"), "xyz", (1.0, 0.0, 0.0))
    if kind is Planar and not np.array_equal(axis, AXES["z"]):
        raise InputError(f"the planar joint {_name(joint)!r} moves across {axis}; only (0, 0, 1) can be read.")
    if kind not in (Hinge, Slide):
        return kind()
    letters = [letter for letter, unit in AXES.items() if np.array_equal(axis, unit)]
    damping = _number(joint.find("dynamics"), "damping", 0.0)
    return kind(axis=letters[0] if letters else tuple(axis), damping=damping)


def _gear(joint: ElementTree.Element, mimic: ElementTree.Element | None, names: dict[str, str]) -> Gear:
    leader = "" if mimic is None else mimic.get("joint", "")
    if leader not in names:
        raise InputError(f"the joint {_name(joint)!r} mimics {leader!r}, but there is no such joint.")
    ratio, shift = _number(mimic, "multiplier", 1.0), _number(mimic, "offset", 0.0)
    return Gear(names[_name(joint)], names[leader], ratio, shift)


def _inertial(link: ElementTree.Element) -> dict:
    """Mass, inertia about the mass centre, and that centre."""
    inertial = link.find("inertial")
    if inertial is None:
        return {}
    centre, turn = _origin(inertial)
    turn = np.eye(3) if turn is None else turn
    moments = inertial.find("inertia")
    xx, xy, xz, yy, yz, zz = (_number(moments, f"i{ab}", 0.0) for ab in ("xx", "xy", "xz", "yy", "yz", "zz"))
    inertia = turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T
    return {"mass": _number(inertial.find("mass"), "value", 0.0), "inertia": inertia, "centre": centre}


def _origin(element: ElementTree.Element) -> tuple[tuple[float, ...], np.ndarray | None]:
    """Place and rotation; None for no turn."""
    origin = element.find("origin")
    place, angles = _numbers(origin, "xyz", (0.0, 0.0, 0.0)), _numbers(origin, "rpy", (0.0, 0.0, 0.0))
    return place, rotation(*angles) if any(angles) else None


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """R_z(yaw) R_y(pitch) R_x(roll), as URDF turns.

    >>> (rotation(0.0, 0.0, np.pi / 2).round(12) + 0.0).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    (cr, cp, cy), (sr, sp, sy) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def _name(element: ElementTree.Element) -> str:
    return element.get("name", "")


def _link_of(joint: ElementTree.Element, end: str, links: dict[str, ElementTree.Element]) -> str:
    element = joint.find(end)
    link = "" if element is None else element.get("link", "")
    if link not in links:
        raise InputError(f"the {end} of the joint {_name(joint)!r} is the link {link!r}, but there is no such link.")
    return link


def _number(element: ElementTree.Element | None, name: str, default: float) -> float:
    return default if element is None else float(element.get(name, default))


def _numbers(element: ElementTree.Element | None, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    text = None if element is None else element.get(name)
    return default if text is None else tuple(float(number) for number in text.split())

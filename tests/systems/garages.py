"""The garage's vehicles built of bodies, joints and wheels, and what their coordinates are called there."""

import numpy as np

import discrete_hamel as dh

m = dh.mechanisms


def differential_drive(s):
    half, length = s.half_track, s.wheel_radius
    rim = (0.0, s.wheel_inertia, 0.0)
    return m.mechanism(
        m.Body("deck", m.Planar(), at=(0, 0, length), mass=s.mass, centre=(s.centre, 0, 0), inertia=(0, 0, s.inertia)),
        m.Body("left", m.Hinge("y"), on="deck", at=(0, half, 0), inertia=rim),
        m.Body("right", m.Hinge("y"), on="deck", at=(0, -half, 0), inertia=rim),
        m.Body("fork", m.Hinge("z"), on="deck", at=(-s.pivot, 0, 0), mass=s.fork_mass, inertia=(0, 0, s.fork_inertia)),
        m.Body("caster", m.Hinge("y"), on="fork", at=(-s.trail, 0, s.caster_radius - length), mass=s.caster_mass,
               inertia=(0, s.caster_inertia, 0)),
        m.Wheel("left", length), m.Wheel("right", length), m.Wheel("caster", s.caster_radius),
    )  # fmt: skip


def omni_base(s):
    wheels = []
    for i, angle in enumerate(np.pi / 3 * np.array([1, 3, 5])):
        place = s.reach * np.cos(angle), s.reach * np.sin(angle), 0.0
        # The axle points to the middle, so that phi grows with driving along (-sin, cos).
        turn = ("z", angle + np.pi / 2)
        wheels.append(
            m.Body(f"wheel{i}", m.Hinge("y"), on="deck", at=place, turn=turn, inertia=(0, s.wheel_inertia, 0))
        )
    deck = m.Body("deck", m.Planar(), at=(0, 0, s.wheel_radius), mass=s.mass, centre=(s.centre, 0, 0),
                  inertia=(0, 0, s.inertia))  # fmt: skip
    return m.mechanism(deck, *wheels, *(m.OmniWheel(f"wheel{i}", s.wheel_radius) for i in range(3)))


def balancer(s):
    wheels = [m.Body(name, m.Hinge("y"), on="body", at=(0, y, 0), mass=s.wheel_mass,
                     inertia=(s.wheel_diameter_inertia, s.wheel_inertia, s.wheel_diameter_inertia))
              for name, y in (("left", s.half_track), ("right", -s.half_track))]  # fmt: skip
    base = m.Body("base", m.Planar(), at=(0, 0, s.wheel_radius))
    body = m.Body("body", m.Hinge("y"), on="base", mass=s.mass, centre=(0, 0, s.height), inertia=s.moments)
    return m.mechanism(base, body, *wheels, m.Wheel("left", s.wheel_radius), m.Wheel("right", s.wheel_radius))


def on_one_wheel(s):
    across, axle = s.wheel_moments
    hub = (0, 0, s.wheel_radius)
    parts = [
        m.Body("base", m.Planar()),
        m.Body("lean", m.Hinge("x"), on="base"),
        m.Body("wheel", m.Hinge("y"), on="lean", at=hub, mass=s.wheel_mass, inertia=(across, axle, across)),
        m.Body("frame", m.Hinge("y"), on="lean", at=hub, mass=s.mass, centre=(0, 0, s.height), inertia=s.moments),
    ]
    if hasattr(s, "rotor_inertia"):
        parts.append(m.Body("rotor", m.Hinge("z"), on="frame", inertia=(0, 0, s.rotor_inertia)))
    down = getattr(s, "incline", 0.0)
    gravity = s.gravity * np.array([np.sin(down), 0, -np.cos(down)])
    return m.mechanism(*parts, m.Wheel("wheel", s.wheel_radius), gravity=gravity)


def bicycle(s):
    (bx, bz), (hx, hz), hub, foot = s.frame_centre, s.fork_centre, s.rear_radius, s.wheelbase + s.trail

    def full(xx, yy, zz, xz):
        return ((xx, 0, xz), (0, yy, 0), (xz, 0, zz))

    def of_wheel(across, axle):
        return (across, axle, across)

    axis = (np.sin(s.tilt), 0, -np.cos(s.tilt))
    return m.mechanism(
        m.Body("track", m.Planar()),
        m.Body("lean", m.Hinge("x"), on="track"),
        m.Body("frame", m.Hinge("y"), on="lean", at=(0, 0, hub), mass=s.frame_mass, centre=(bx, 0, bz - hub),
               inertia=full(*s.frame_inertia)),
        m.Body("rear", m.Hinge("y"), on="frame", mass=s.rear_mass, inertia=of_wheel(*s.rear_inertia)),
        m.Body("fork", m.Hinge(axis), on="frame", at=(foot, 0, -hub), mass=s.fork_mass, centre=(hx - foot, 0, hz),
               inertia=full(*s.fork_inertia)),
        m.Body("front", m.Hinge("y"), on="fork", at=(-s.trail, 0, s.front_radius), mass=s.front_mass,
               inertia=of_wheel(*s.front_inertia)),
        m.Wheel("rear", hub), m.Wheel("front", s.front_radius), gravity=s.gravity,
    )  # fmt: skip


# By name: the mechanism of a system, and the order in which its coordinates are the system's.
BUILT = {
    "DifferentialDrive": (differential_drive, [0, 1, 2, 3, 4, 5, 6]),
    "OmniBase": (omni_base, [0, 1, 2, 3, 4, 5]),
    "TwoWheeledBalancer": (balancer, [0, 1, 2, 3, 4, 5]),
    "Unicycle": (on_one_wheel, [0, 1, 2, 3, 4, 5, 6]),
    "Monocycle": (on_one_wheel, [0, 1, 2, 3, 4, 5]),
}

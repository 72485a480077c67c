"""Mechanisms: bodies, joints and wheels, in a roboticist's words, as a System like any other."""

from discrete_hamel.systems.mechanisms.assembly import Body, mechanism
from discrete_hamel.systems.mechanisms.contacts import Blade, Gear, OmniWheel, Pin, RollingBall, Wheel
from discrete_hamel.systems.mechanisms.joints import (
    Ball,
    BallByMatrix,
    Fixed,
    Free,
    FreeByMatrix,
    Hinge,
    Planar,
    Slide,
    Universal,
)
from discrete_hamel.systems.mechanisms.mjcf import from_mjcf
from discrete_hamel.systems.mechanisms.placing import initial
from discrete_hamel.systems.mechanisms.rolling import RollingMechanism
from discrete_hamel.systems.mechanisms.solids import Box, Cylinder, Hoop, Rod, Shell, Sphere
from discrete_hamel.systems.mechanisms.surfaces import BallOnSphere, BallOnSurface, WheelOnSphere
from discrete_hamel.systems.mechanisms.tree import Mechanism
from discrete_hamel.systems.mechanisms.urdf import from_urdf

__all__ = [
    "Ball",
    "BallByMatrix",
    "BallOnSphere",
    "BallOnSurface",
    "Blade",
    "Body",
    "Box",
    "Cylinder",
    "Fixed",
    "Free",
    "FreeByMatrix",
    "Gear",
    "Hinge",
    "Hoop",
    "Mechanism",
    "OmniWheel",
    "Pin",
    "Planar",
    "Rod",
    "RollingBall",
    "RollingMechanism",
    "Shell",
    "Slide",
    "Sphere",
    "Universal",
    "Wheel",
    "WheelOnSphere",
    "from_mjcf",
    "from_urdf",
    "initial",
    "mechanism",
]

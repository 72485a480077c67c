"""Mechanisms: bodies, joints and wheels, in a roboticist's words, as a System like any other."""

from discrete_hamel.systems.mechanisms.assembly import Body, mechanism
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
from discrete_hamel.systems.mechanisms.solids import Box, Cylinder, Hoop, Rod, Shell, Sphere
from discrete_hamel.systems.mechanisms.tree import Mechanism

__all__ = [
    "Ball",
    "BallByMatrix",
    "Body",
    "Box",
    "Cylinder",
    "Fixed",
    "Free",
    "FreeByMatrix",
    "Hinge",
    "Hoop",
    "Mechanism",
    "Planar",
    "Rod",
    "Shell",
    "Slide",
    "Sphere",
    "Universal",
    "mechanism",
]

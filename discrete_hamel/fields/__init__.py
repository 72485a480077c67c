"""Fields: strings and other continua, semi-discretised, so that the same schemes, analysis and archive apply."""

from discrete_hamel.fields.along_and_across import AlongAndAcross
from discrete_hamel.fields.beam import Beam
from discrete_hamel.fields.constrained_string import ConstrainedString
from discrete_hamel.fields.link_by_link import LinkByLink
from discrete_hamel.fields.neighbour_scheme import NeighbourHamel, equilibrium
from discrete_hamel.fields.neighbour_tension import NeighbourTension
from discrete_hamel.fields.sleigh_string import SleighWithString
from discrete_hamel.fields.sphere_field import SphereField
from discrete_hamel.fields.string import Driven, Fixed, Free, String
from discrete_hamel.fields.tension import TridiagonalTension, tension
from discrete_hamel.fields.torus_flow import TorusFlow

__all__ = [
    "AlongAndAcross",
    "Beam",
    "ConstrainedString",
    "Driven",
    "Fixed",
    "Free",
    "LinkByLink",
    "NeighbourHamel",
    "NeighbourTension",
    "SleighWithString",
    "SphereField",
    "String",
    "TorusFlow",
    "TridiagonalTension",
    "equilibrium",
    "tension",
]

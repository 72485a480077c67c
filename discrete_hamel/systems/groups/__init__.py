"""Matrix groups, systems on them and on their homogeneous spaces, and retractions that keep runs on them."""

from discrete_hamel.systems.groups.group_motion import OnGroup, advected, system
from discrete_hamel.systems.groups.matrix_groups import SE, SL, SO, Group, Heisenberg, matrix_group, product
from discrete_hamel.systems.groups.retraction import Retraction, cay, cay_se3, cayley, cayley_se3, expm1, exponential

__all__ = [
    "SE",
    "SL",
    "SO",
    "Group",
    "Heisenberg",
    "OnGroup",
    "Retraction",
    "advected",
    "cay",
    "cay_se3",
    "cayley",
    "cayley_se3",
    "expm1",
    "exponential",
    "matrix_group",
    "product",
    "system",
]

"""The catalogue: systems of the papers, one class each, ready to import."""

from discrete_hamel.systems.disks import RollingDisk
from discrete_hamel.systems.pendulums import SphericalPendulum
from discrete_hamel.systems.rigid_bodies import HeavyTop, RigidBody
from discrete_hamel.systems.sleighs import ChaplyginSleigh

__all__ = ["ChaplyginSleigh", "HeavyTop", "RigidBody", "RollingDisk", "SphericalPendulum"]

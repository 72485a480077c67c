"""The catalogue: systems of the papers, one class each, ready to import; vehicles and the like in `garage`."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from discrete_hamel.systems._blocks.lie_algebras import EulerPoincare, EulerPoincareSuslov
from discrete_hamel.systems.ball_on_turntable import BallOnTurntable
from discrete_hamel.systems.balls import BallOnSphere, ChaplyginSphere
from discrete_hamel.systems.balls_on_surfaces import BallInCylinder, BallOnSurface, BasketballOnHoop
from discrete_hamel.systems.carts import Car, ThreeWheelCart
from discrete_hamel.systems.charged_particles import ChargedNonholonomicParticle, ChargedParticle
from discrete_hamel.systems.disks import CoaxialDiscs, RollingDisk, RollingDiskOnRotations, VerticalDisk
from discrete_hamel.systems.oscillators import ContactOscillator, Gearbox
from discrete_hamel.systems.particles import (
    HeisenbergParticle,
    KnifeEdgeOnIncline,
    NonholonomicParticle,
    TranslationInvariantParticle,
)
from discrete_hamel.systems.pendulums import NSpherePendulum, PlanarChain, SphericalPendulum
from discrete_hamel.systems.pendulums_in_coordinates import SphericalPendulumAngles, SphericalPendulumCartesian
from discrete_hamel.systems.rattlebacks import ConvexBody, Rattleback
from discrete_hamel.systems.rigid_bodies import HeavyTop, LagrangeTop, RigidBody
from discrete_hamel.systems.roller_racers import DrivenRollerRacer, RollerRacer
from discrete_hamel.systems.rolling_bodies import RollingBody, RouthTop
from discrete_hamel.systems.rolling_bodies_in_angles import RollingBodyAngles
from discrete_hamel.systems.sleigh_oscillators import SleighOscillator, SleighOscillatorScaledFrame
from discrete_hamel.systems.sleighs import ChaplyginSleigh, ChaplyginSleighMomentumFrame, DegenerateSleigh
from discrete_hamel.systems.snakeboards import DrivenSnakeboard, Snakeboard
from discrete_hamel.systems.suslov import HeavySuslov, ReducedSuslov, Suslov
from discrete_hamel.systems.two_points import (
    SegmentParallelVelocities,
    TwoPointsOrthogonalVelocities,
    TwoPointsParallelVelocities,
)

if TYPE_CHECKING:
    from discrete_hamel.systems import garage as garage

__all__ = [
    "BallInCylinder",
    "BallOnSphere",
    "BallOnSurface",
    "BallOnTurntable",
    "BasketballOnHoop",
    "Car",
    "ChaplyginSleigh",
    "ChaplyginSleighMomentumFrame",
    "ChaplyginSphere",
    "ChargedNonholonomicParticle",
    "ChargedParticle",
    "CoaxialDiscs",
    "ContactOscillator",
    "ConvexBody",
    "DegenerateSleigh",
    "DrivenRollerRacer",
    "DrivenSnakeboard",
    "EulerPoincare",
    "EulerPoincareSuslov",
    "Gearbox",
    "HeavySuslov",
    "HeavyTop",
    "HeisenbergParticle",
    "KnifeEdgeOnIncline",
    "LagrangeTop",
    "NSpherePendulum",
    "NonholonomicParticle",
    "PlanarChain",
    "Rattleback",
    "ReducedSuslov",
    "RigidBody",
    "RollerRacer",
    "RollingBody",
    "RollingBodyAngles",
    "RollingDisk",
    "RollingDiskOnRotations",
    "RouthTop",
    "SegmentParallelVelocities",
    "SleighOscillator",
    "SleighOscillatorScaledFrame",
    "Snakeboard",
    "SphericalPendulum",
    "SphericalPendulumAngles",
    "SphericalPendulumCartesian",
    "Suslov",
    "ThreeWheelCart",
    "TranslationInvariantParticle",
    "TwoPointsOrthogonalVelocities",
    "TwoPointsParallelVelocities",
    "VerticalDisk",
]


def __getattr__(name: str) -> ModuleType:
    if name != "garage":  # which with the mechanisms that it is made of takes as long to load as all others
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.garage")

"""The garage: vehicles, balancers, balls and tops, each a system with a frame by hand, sample data and a film."""

from discrete_hamel.systems.garage.balancers import Monocycle, TwoWheeledBalancer, Unicycle
from discrete_hamel.systems.garage.balls import BallOnBall, BallRobot
from discrete_hamel.systems.garage.drives import DifferentialDrive, OmniBase, RollingAxle
from discrete_hamel.systems.garage.slipping_top import SlippingTop
from discrete_hamel.systems.garage.trains import CarWithTrailers, WheeledSnake
from discrete_hamel.systems.garage.whipple_bicycle import WhippleBicycle

__all__ = [
    "BallOnBall",
    "BallRobot",
    "CarWithTrailers",
    "DifferentialDrive",
    "Monocycle",
    "OmniBase",
    "RollingAxle",
    "SlippingTop",
    "TwoWheeledBalancer",
    "Unicycle",
    "WheeledSnake",
    "WhippleBicycle",
]

"""The schemes, one file a family; `scheme.py` is the contract."""

from discrete_hamel.schemes.coefficients import weights
from discrete_hamel.schemes.composed import Composed
from discrete_hamel.schemes.cortes_martinez import CortesMartinez
from discrete_hamel.schemes.discrete_hamel import DiscreteHamel, StaggeredHamel
from discrete_hamel.schemes.energy_exact import EnergyExact, Gonzalez, MeanValue, NonlinearEnergyExact
from discrete_hamel.schemes.following import FollowingHamel
from discrete_hamel.schemes.galerkin import Galerkin
from discrete_hamel.schemes.gauss import Gauss
from discrete_hamel.schemes.lagrangian import Leapfrog, Rattle, StormerVerlet
from discrete_hamel.schemes.nonlinear_midpoint import NonlinearMidpoint
from discrete_hamel.schemes.principle import Principle
from discrete_hamel.schemes.runge_kutta import RungeKutta4
from discrete_hamel.schemes.scheme import Interval, Scheme, State, start, step
from discrete_hamel.schemes.varying_step import TimeTransformed

__all__ = [
    "Composed", "CortesMartinez", "DiscreteHamel", "EnergyExact", "FollowingHamel", "Galerkin", "Gauss", "Gonzalez",
    "Interval", "Leapfrog", "MeanValue", "NonlinearEnergyExact", "NonlinearMidpoint", "Principle", "Rattle",
    "RungeKutta4", "Scheme", "StaggeredHamel", "State", "StormerVerlet", "TimeTransformed", "start", "step",
    "weights",
]  # fmt: skip

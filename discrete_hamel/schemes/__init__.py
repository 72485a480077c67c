"""The schemes, one file a family; `scheme.py` is the contract."""

from discrete_hamel.schemes.discrete_hamel import DiscreteHamel
from discrete_hamel.schemes.scheme import Interval, Scheme, State, start, step
from discrete_hamel.schemes.staggered import StaggeredHamel

__all__ = ["DiscreteHamel", "Interval", "Scheme", "StaggeredHamel", "State", "start", "step"]

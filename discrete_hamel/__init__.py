"""discrete_hamel: structure-preserving integrators for mechanical systems with velocity constraints, on JAX.

    import discrete_hamel as dh
    traj = dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=1000)

Importing it turns on 64-bit JAX, unless the environment sets JAX_ENABLE_X64, which is then respected.
"""

import os as _os

import jax as _jax

if "JAX_ENABLE_X64" not in _os.environ:
    _jax.config.update("jax_enable_x64", True)

from discrete_hamel import systems
from discrete_hamel.analysis import (
    audit,
    bracket_matrix,
    compare,
    crossings,
    divergence,
    flatness,
    hidden_momenta,
    integrable,
    jacobiator,
    keeps_measure,
    lyapunov_exponents,
    measure_condition,
    reduced,
    relative_equilibrium,
    section,
    spectrum,
    threshold,
    transported_density,
    volume_change,
)
from discrete_hamel.archive import load
from discrete_hamel.failures import FrameDegenerates, NewtonFailed, RunFailed
from discrete_hamel.hamel import (
    energy,
    hamel_force,
    momentum,
    quasivelocities,
    reactions,
    structure,
    vector_field,
    velocities,
)
from discrete_hamel.references import reference
from discrete_hamel.schemes import (
    Composed,
    CortesMartinez,
    DiscreteHamel,
    EnergyExact,
    Gauss,
    Gonzalez,
    Leapfrog,
    MeanValue,
    Rattle,
    RungeKutta4,
    StaggeredHamel,
    StormerVerlet,
    TimeTransformed,
    start,
    step,
)
from discrete_hamel.simulation import simulate
from discrete_hamel.system import Invariant, System, from_constraints, from_quasivelocities, from_velocities
from discrete_hamel.trajectory import Trajectory

__version__ = "0.1.0"

__all__ = [
    "Composed",
    "CortesMartinez",
    "DiscreteHamel",
    "EnergyExact",
    "FrameDegenerates",
    "Gauss",
    "Gonzalez",
    "Invariant",
    "Leapfrog",
    "MeanValue",
    "NewtonFailed",
    "Rattle",
    "RunFailed",
    "RungeKutta4",
    "StaggeredHamel",
    "StormerVerlet",
    "System",
    "TimeTransformed",
    "Trajectory",
    "audit",
    "bracket_matrix",
    "compare",
    "crossings",
    "divergence",
    "energy",
    "flatness",
    "from_constraints",
    "from_quasivelocities",
    "from_velocities",
    "hamel_force",
    "hidden_momenta",
    "integrable",
    "jacobiator",
    "keeps_measure",
    "load",
    "lyapunov_exponents",
    "measure_condition",
    "momentum",
    "quasivelocities",
    "reactions",
    "reduced",
    "reference",
    "relative_equilibrium",
    "section",
    "simulate",
    "spectrum",
    "start",
    "step",
    "structure",
    "systems",
    "threshold",
    "transported_density",
    "vector_field",
    "velocities",
    "volume_change",
]

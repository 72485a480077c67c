"""discrete_hamel: structure-preserving integrators for mechanical systems with velocity constraints, on JAX.

    import discrete_hamel as dh
    traj = dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=1000)

Importing it turns on 64-bit JAX, unless the environment sets JAX_ENABLE_X64, which is then respected.
"""

import os as _os

import jax as _jax

if "JAX_ENABLE_X64" not in _os.environ:
    _jax.config.update("jax_enable_x64", True)

from discrete_hamel import fields, systems
from discrete_hamel._support.caches import clear_caches
from discrete_hamel._support.errors import (
    ContactLost,
    FrameDegenerates,
    NewtonFailed,
    RunFailed,
    RunInterrupted,
    SingularState,
    StoreBusy,
    StoreDamaged,
    StoreFailed,
)
from discrete_hamel.analysis import (
    audit,
    bracket_matrix,
    branch,
    compare,
    crossings,
    divergence,
    family,
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
    structural_stability,
    threshold,
    transported_density,
    volume_change,
)
from discrete_hamel.analysis.motion.energy_balance import moving_energy, power, work
from discrete_hamel.control.optimal import optimal_control, optimal_path
from discrete_hamel.drawing import films as animate
from discrete_hamel.drawing import plots
from discrete_hamel.mechanics.as_linear import as_linear, linear_in_velocities
from discrete_hamel.mechanics.constructors import from_constraints, from_quasivelocities, from_velocities
from discrete_hamel.mechanics.forces import controlled, damped, forced, magnetic
from discrete_hamel.mechanics.hamel import (
    energy,
    hamel_force,
    momentum,
    nodal_velocity,
    quasivelocities,
    reactions,
    structure,
    vector_field,
    velocities,
)
from discrete_hamel.mechanics.manifold import project
from discrete_hamel.mechanics.nonlinear import NonlinearSystem, from_nonlinear_constraints, nonlinear
from discrete_hamel.mechanics.prescribed import prescribe, timed
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.runs.ensemble import Reduction, ensemble
from discrete_hamel.runs.reference import reference
from discrete_hamel.runs.simulation import simulate
from discrete_hamel.runs.storage.archive import load
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes import (
    Composed,
    CortesMartinez,
    DiscreteHamel,
    EnergyExact,
    Gauss,
    Gonzalez,
    Leapfrog,
    MeanValue,
    NonlinearMidpoint,
    Rattle,
    RungeKutta4,
    StaggeredHamel,
    StormerVerlet,
    TimeTransformed,
    start,
    step,
)

__version__ = "0.1.0"

__all__ = [
    "Composed",
    "ContactLost",
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
    "NonlinearMidpoint",
    "NonlinearSystem",
    "Rattle",
    "Reduction",
    "RunFailed",
    "RunInterrupted",
    "RungeKutta4",
    "SingularState",
    "StaggeredHamel",
    "StoreBusy",
    "StoreDamaged",
    "StoreFailed",
    "StormerVerlet",
    "System",
    "TimeTransformed",
    "Trajectory",
    "animate",
    "as_linear",
    "audit",
    "bracket_matrix",
    "branch",
    "clear_caches",
    "compare",
    "controlled",
    "crossings",
    "damped",
    "divergence",
    "energy",
    "ensemble",
    "family",
    "fields",
    "flatness",
    "forced",
    "from_constraints",
    "from_nonlinear_constraints",
    "from_quasivelocities",
    "from_velocities",
    "hamel_force",
    "hidden_momenta",
    "integrable",
    "jacobiator",
    "keeps_measure",
    "linear_in_velocities",
    "load",
    "lyapunov_exponents",
    "magnetic",
    "measure_condition",
    "momentum",
    "moving_energy",
    "nodal_velocity",
    "nonlinear",
    "optimal_control",
    "optimal_path",
    "plots",
    "power",
    "prescribe",
    "project",
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
    "structural_stability",
    "structure",
    "systems",
    "threshold",
    "timed",
    "transported_density",
    "vector_field",
    "velocities",
    "volume_change",
    "work",
]

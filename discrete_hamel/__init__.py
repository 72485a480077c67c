"""discrete_hamel: structure-preserving integrators for mechanical systems with velocity constraints, on JAX.

    import discrete_hamel as dh
    traj = dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=1000)

Importing it turns on 64-bit JAX, unless the environment sets JAX_ENABLE_X64, which is then respected.
"""

import os as _os

import jax as _jax

if "JAX_ENABLE_X64" not in _os.environ:
    _jax.config.update("jax_enable_x64", True)

from discrete_hamel import animate, fields, plots, systems
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
from discrete_hamel.archive import load
from discrete_hamel.balances import moving_energy, power, work
from discrete_hamel.constructors import from_constraints, from_quasivelocities, from_velocities
from discrete_hamel.control import optimal_control, optimal_path
from discrete_hamel.ensembles import Reduction, ensemble
from discrete_hamel.failures import (
    FrameDegenerates,
    NewtonFailed,
    RunFailed,
    RunInterrupted,
    SingularState,
    StoreBusy,
    StoreDamaged,
    StoreFailed,
)
from discrete_hamel.forces import controlled, damped, forced, magnetic
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
from discrete_hamel.kernel.caches import clear_caches
from discrete_hamel.linear_velocities import as_linear, linear_in_velocities
from discrete_hamel.nonlinear_systems import NonlinearSystem, from_nonlinear_constraints, nonlinear
from discrete_hamel.prescribed import prescribe, timed
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
    NonlinearMidpoint,
    Rattle,
    RungeKutta4,
    StaggeredHamel,
    StormerVerlet,
    TimeTransformed,
    start,
    step,
)
from discrete_hamel.simulation import simulate
from discrete_hamel.system import Invariant, System
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
    "nonlinear",
    "optimal_control",
    "optimal_path",
    "plots",
    "power",
    "prescribe",
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

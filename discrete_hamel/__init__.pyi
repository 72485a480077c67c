from collections.abc import Mapping

from discrete_hamel import analysis, fields, schemes, systems, testing
from discrete_hamel._support.caches import clear_caches
from discrete_hamel._support.errors import (
    ContactLost,
    FrameDegenerates,
    InputError,
    InputTypeError,
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
    coefficients,
    compare,
    crossings,
    divergence,
    evoke,
    family,
    flatness,
    hidden_momenta,
    integrable,
    jacobiator,
    keeps_measure,
    lyapunov_exponents,
    measure_condition,
    on_shapes,
    reconstruct,
    reduce,
    reduced,
    relative_equilibrium,
    relative_periodic_orbit,
    return_map,
    rotation_number,
    section,
    shape_of,
    spectrum,
    structural_stability,
    threshold,
    transported_density,
    volume_change,
)
from discrete_hamel.analysis.equations.equations import equations
from discrete_hamel.analysis.geometry.density import invariant_density, multiplier_residual, phase_divergence
from discrete_hamel.analysis.geometry.hamiltonisation import hamiltonise
from discrete_hamel.analysis.motion.action import action, action_variation, transpositional_defect
from discrete_hamel.analysis.motion.arcs import Event, arcs, join, prolong
from discrete_hamel.analysis.motion.discrete_noether import discrete_noether
from discrete_hamel.analysis.motion.energy_balance import moving_energy, power, work
from discrete_hamel.analysis.motion.explain import explain
from discrete_hamel.analysis.motion.least_compulsion import compulsion, gibbs_appell
from discrete_hamel.analysis.motion.linearise import linearise
from discrete_hamel.analysis.motion.reference import reference
from discrete_hamel.analysis.motion.scheme_properties import properties
from discrete_hamel.analysis.motion.vakonomic import vakonomic, vakonomic_between
from discrete_hamel.compiler.native.host import SinglePrecision
from discrete_hamel.compiler.paths import SlowPath
from discrete_hamel.compiler.step.verification import CompiledStepDiffers
from discrete_hamel.control.optimal import optimal_control, optimal_path
from discrete_hamel.drawing import films as animate
from discrete_hamel.drawing import plots
from discrete_hamel.mechanics.constructors import from_constraints, from_quasivelocities, from_velocities
from discrete_hamel.mechanics.hamel import (
    balance,
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
from discrete_hamel.mechanics.nonlinear import NonlinearSystem, nonlinear
from discrete_hamel.mechanics.system import Invariant, System
from discrete_hamel.runs.ensemble import Reduction, ensemble
from discrete_hamel.runs.simulation import simulate
from discrete_hamel.runs.storage.archive import load
from discrete_hamel.runs.trajectory import Trajectory
from discrete_hamel.schemes.composed import Composed
from discrete_hamel.schemes.cortes_martinez import CortesMartinez
from discrete_hamel.schemes.discrete_hamel import DiscreteHamel, StaggeredHamel
from discrete_hamel.schemes.energy_exact import EnergyExact, Gonzalez, MeanValue
from discrete_hamel.schemes.galerkin import Galerkin
from discrete_hamel.schemes.gauss import Gauss
from discrete_hamel.schemes.lagrangian import Leapfrog, Rattle, StormerVerlet
from discrete_hamel.schemes.nonlinear_midpoint import NonlinearMidpoint
from discrete_hamel.schemes.principle import Principle, bracket
from discrete_hamel.schemes.runge_kutta import RungeKutta4
from discrete_hamel.schemes.scheme import Interval, Scheme, State, start, step
from discrete_hamel.schemes.varying_step import TimeTransformed
from discrete_hamel.systems import groups, mechanisms
from discrete_hamel.systems.holonomic import from_holonomic
from discrete_hamel.systems.implicit_constraints import from_nonlinear_constraints
from discrete_hamel.systems.mass_points import from_points
from discrete_hamel.systems.transformations.as_linear import as_linear, linear_in_velocities
from discrete_hamel.systems.transformations.forces import controlled, damped, forced, magnetic
from discrete_hamel.systems.transformations.potential_and_frame import in_frame, with_potential
from discrete_hamel.systems.transformations.prescribed import prescribe, timed
from discrete_hamel.systems.transformations.with_constraints import with_constraints

THEMES: Mapping[str, Mapping[str, tuple[str, ...]]]
MODULES: Mapping[str, str]
__version__: str
__all__ = [
    "System",
    "Invariant",
    "from_quasivelocities",
    "from_velocities",
    "from_constraints",
    "NonlinearSystem",
    "nonlinear",
    "from_nonlinear_constraints",
    "as_linear",
    "linear_in_velocities",
    "from_points",
    "from_holonomic",
    "forced",
    "damped",
    "magnetic",
    "controlled",
    "prescribe",
    "timed",
    "with_potential",
    "in_frame",
    "with_constraints",
    "structure",
    "momentum",
    "hamel_force",
    "balance",
    "vector_field",
    "reactions",
    "energy",
    "velocities",
    "quasivelocities",
    "nodal_velocity",
    "project",
    "equations",
    "Scheme",
    "State",
    "Interval",
    "start",
    "step",
    "DiscreteHamel",
    "StaggeredHamel",
    "Principle",
    "Galerkin",
    "bracket",
    "Composed",
    "TimeTransformed",
    "EnergyExact",
    "Gonzalez",
    "MeanValue",
    "Gauss",
    "NonlinearMidpoint",
    "CortesMartinez",
    "Leapfrog",
    "Rattle",
    "StormerVerlet",
    "RungeKutta4",
    "simulate",
    "explain",
    "Trajectory",
    "reference",
    "prolong",
    "arcs",
    "join",
    "Event",
    "load",
    "ensemble",
    "Reduction",
    "clear_caches",
    "power",
    "work",
    "moving_energy",
    "linearise",
    "compulsion",
    "gibbs_appell",
    "properties",
    "vakonomic",
    "vakonomic_between",
    "phase_divergence",
    "invariant_density",
    "multiplier_residual",
    "hamiltonise",
    "action",
    "action_variation",
    "transpositional_defect",
    "discrete_noether",
    "audit",
    "compare",
    "crossings",
    "section",
    "lyapunov_exponents",
    "relative_equilibrium",
    "spectrum",
    "threshold",
    "branch",
    "family",
    "structural_stability",
    "reduced",
    "hidden_momenta",
    "flatness",
    "reduce",
    "coefficients",
    "on_shapes",
    "shape_of",
    "reconstruct",
    "relative_periodic_orbit",
    "return_map",
    "rotation_number",
    "evoke",
    "bracket_matrix",
    "jacobiator",
    "integrable",
    "divergence",
    "keeps_measure",
    "measure_condition",
    "transported_density",
    "volume_change",
    "optimal_control",
    "optimal_path",
    "InputError",
    "InputTypeError",
    "RunFailed",
    "NewtonFailed",
    "FrameDegenerates",
    "SingularState",
    "RunInterrupted",
    "ContactLost",
    "StoreFailed",
    "StoreBusy",
    "StoreDamaged",
    "SinglePrecision",
    "SlowPath",
    "CompiledStepDiffers",
    "systems",
    "mechanisms",
    "groups",
    "schemes",
    "fields",
    "analysis",
    "testing",
    "plots",
    "animate",
]

"""discrete_hamel: structure-preserving integrators for mechanical systems with velocity constraints, on JAX.

    import discrete_hamel as dh
    traj = dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=1000)

Importing it turns on 64-bit JAX, unless the environment sets JAX_ENABLE_X64, which is then respected. What is public is
in `THEMES`, and is loaded when it is first used: `dir(dh)` lists it, theme by theme in `dh.__all__`.
"""

import importlib as _importlib
import os as _os

import jax as _jax

if "JAX_ENABLE_X64" not in _os.environ:
    _jax.config.update("jax_enable_x64", True)

__version__ = "0.1.0"

THEMES: dict[str, dict[str, tuple[str, ...]]] = {
    "what moves": {
        "mechanics.system": ("System", "Invariant"),
        "mechanics.constructors": ("from_quasivelocities", "from_velocities", "from_constraints"),
        "mechanics.nonlinear": ("NonlinearSystem", "nonlinear"),
        "systems.implicit_constraints": ("from_nonlinear_constraints",),
        "systems.transformations.as_linear": ("as_linear", "linear_in_velocities"),
        "systems.mass_points": ("from_points",),
        "systems.holonomic": ("from_holonomic",),
        "systems.transformations.forces": ("forced", "damped", "magnetic", "controlled"),
        "systems.transformations.prescribed": ("prescribe", "timed"),
        "systems.transformations.potential_and_frame": ("with_potential", "in_frame"),
        "systems.transformations.with_constraints": ("with_constraints",),
    },
    "its equations": {
        "mechanics.hamel": (
            "structure", "momentum", "hamel_force", "balance", "vector_field", "reactions", "energy",
            "velocities", "quasivelocities", "nodal_velocity",
        ),
        "mechanics.manifold": ("project",),
        "analysis.equations.equations": ("equations",),
    },
    "one step": {
        "schemes.scheme": ("Scheme", "State", "Interval", "start", "step"),
        "schemes.discrete_hamel": ("DiscreteHamel", "StaggeredHamel"),
        "schemes.principle": ("Principle", "bracket"),
        "schemes.galerkin": ("Galerkin",),
        "schemes.composed": ("Composed",),
        "schemes.varying_step": ("TimeTransformed",),
        "schemes.energy_exact": ("EnergyExact", "Gonzalez", "MeanValue"),
        "schemes.gauss": ("Gauss",),
        "schemes.nonlinear_midpoint": ("NonlinearMidpoint",),
        "schemes.cortes_martinez": ("CortesMartinez",),
        "schemes.lagrangian": ("Leapfrog", "Rattle", "StormerVerlet"),
        "schemes.runge_kutta": ("RungeKutta4",),
    },
    "many steps": {
        "runs.simulation": ("simulate",),
        "analysis.motion.explain": ("explain",),
        "runs.trajectory": ("Trajectory",),
        "analysis.motion.reference": ("reference",),
        "analysis.motion.arcs": ("prolong", "arcs", "join", "Event"),
        "runs.storage.archive": ("load",),
        "runs.ensemble": ("ensemble", "Reduction"),
        "_support.caches": ("clear_caches",),
    },
    "what a motion keeps, and whether it is stable": {
        "analysis.motion.energy_balance": ("power", "work", "moving_energy"),
        "analysis.motion.linearise": ("linearise",),
        "analysis.motion.least_compulsion": ("compulsion", "gibbs_appell"),
        "analysis.motion.scheme_properties": ("properties",),
        "analysis.motion.vakonomic": ("vakonomic", "vakonomic_between"),
        "analysis.geometry.density": ("phase_divergence", "invariant_density", "multiplier_residual"),
        "analysis.geometry.hamiltonisation": ("hamiltonise",),
        "analysis.motion.action": ("action", "action_variation", "transpositional_defect"),
        "analysis.motion.discrete_noether": ("discrete_noether",),
        "analysis": (
            "audit", "compare", "crossings", "section", "lyapunov_exponents",
            "relative_equilibrium", "spectrum", "threshold", "branch", "family", "structural_stability",
            "reduced", "hidden_momenta", "flatness",
            "reduce", "coefficients", "on_shapes", "shape_of", "reconstruct",
            "relative_periodic_orbit", "return_map", "rotation_number", "evoke",
            "bracket_matrix", "jacobiator", "integrable",
            "divergence", "keeps_measure", "measure_condition", "transported_density", "volume_change",
        ),
    },
    "control": {"control.optimal": ("optimal_control", "optimal_path")},
    "what can go wrong": {
        "_support.errors": (
            "InputError", "InputTypeError", "RunFailed", "NewtonFailed", "FrameDegenerates", "SingularState",
            "RunInterrupted", "ContactLost", "StoreFailed", "StoreBusy", "StoreDamaged",
        ),
        "compiler.native.host": ("SinglePrecision",),
        "compiler.paths": ("SlowPath",),
        "compiler.step.verification": ("CompiledStepDiffers",),
    },
}  # fmt: skip
MODULES = {
    "systems": "systems", "mechanisms": "systems.mechanisms", "groups": "systems.groups", "schemes": "schemes",
    "fields": "fields", "analysis": "analysis", "testing": "testing", "plots": "drawing.plots",
    "animate": "drawing.films",
}  # fmt: skip

_HOME = {name: module for theme in THEMES.values() for module, names in theme.items() for name in names}

__all__ = [*_HOME, *MODULES]


def __getattr__(name: str) -> object:
    if name not in MODULES and name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from discrete_hamel._support.caches import garbage_kept

    with garbage_kept():
        module = _importlib.import_module(f"{__name__}.{MODULES.get(name) or _HOME[name]}")
    value = module if name in MODULES else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

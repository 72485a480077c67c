"""What to ask of a motion or of a scheme once it runs."""

from discrete_hamel.analysis.equilibria.branch import Branch, branch
from discrete_hamel.analysis.equilibria.linearisation import Linearisation, Stability
from discrete_hamel.analysis.equilibria.preservation import Preservation, structural_stability
from discrete_hamel.analysis.equilibria.relative_equilibria import RelativeEquilibrium, family, relative_equilibrium
from discrete_hamel.analysis.equilibria.spectra import Spectrum, spectrum, threshold
from discrete_hamel.analysis.geometry.distributions import Bundles, Connection, bundles, nonholonomic_connection
from discrete_hamel.analysis.geometry.hamiltonisation import Hamiltonised, hamiltonise
from discrete_hamel.analysis.geometry.invariant_measure import (
    divergence,
    keeps_measure,
    measure_condition,
    transported_density,
    volume_change,
)
from discrete_hamel.analysis.geometry.one_shape import Reduced, Shift, reduced
from discrete_hamel.analysis.geometry.poisson import Integrability, bracket_matrix, integrable, jacobiator
from discrete_hamel.analysis.geometry.wrong_ways import ConstrainedFirst, WithoutBracket, WrongWay, wrong_way
from discrete_hamel.analysis.motion.audit import Audit, Standing, audit, wandering
from discrete_hamel.analysis.motion.comparison import Comparison, compare
from discrete_hamel.analysis.motion.events import Crossings, crossings, section
from discrete_hamel.analysis.motion.lyapunov import LyapunovExponents, lyapunov_exponents
from discrete_hamel.analysis.motion.momenta import (
    Noether,
    gauge_term,
    horizontal,
    momentum_equation,
    momentum_residual,
    noether,
    nonholonomic_momentum,
)
from discrete_hamel.analysis.motion.trend import Trend, trend
from discrete_hamel.analysis.reduction.on_shapes import ShapeSystem, on_shapes
from discrete_hamel.analysis.reduction.reconstruction import reconstruct, shape_of
from discrete_hamel.analysis.reduction.reduced_equations import Coefficients, coefficients
from discrete_hamel.analysis.reduction.reduced_systems import ReducedSystem, reduce
from discrete_hamel.analysis.reduction.relative_periodic_orbits import (
    RelativePeriodicOrbit,
    evoke,
    relative_periodic_orbit,
    return_map,
    rotation_number,
)
from discrete_hamel.analysis.symmetry.conserved_momenta import HiddenMomenta
from discrete_hamel.analysis.symmetry.flat_systems import Flatness, flatness
from discrete_hamel.analysis.symmetry.group_actions import generator
from discrete_hamel.analysis.symmetry.hidden_constants import hidden_momenta
from discrete_hamel.analysis.symmetry.invariance import Invariance, cyclic_coordinates, invariance
from discrete_hamel.analysis.symmetry.several_shapes import ShapeMomenta

__all__ = [
    "Audit",
    "Branch",
    "Bundles",
    "Coefficients",
    "Comparison",
    "Connection",
    "ConstrainedFirst",
    "Crossings",
    "Flatness",
    "Hamiltonised",
    "HiddenMomenta",
    "Integrability",
    "Invariance",
    "Linearisation",
    "LyapunovExponents",
    "Noether",
    "Preservation",
    "Reduced",
    "ReducedSystem",
    "RelativeEquilibrium",
    "RelativePeriodicOrbit",
    "ShapeMomenta",
    "ShapeSystem",
    "Shift",
    "Spectrum",
    "Stability",
    "Standing",
    "Trend",
    "WithoutBracket",
    "WrongWay",
    "audit",
    "bracket_matrix",
    "branch",
    "bundles",
    "coefficients",
    "compare",
    "crossings",
    "cyclic_coordinates",
    "divergence",
    "evoke",
    "family",
    "flatness",
    "gauge_term",
    "generator",
    "hamiltonise",
    "hidden_momenta",
    "horizontal",
    "integrable",
    "invariance",
    "jacobiator",
    "keeps_measure",
    "lyapunov_exponents",
    "measure_condition",
    "momentum_equation",
    "momentum_residual",
    "noether",
    "nonholonomic_connection",
    "nonholonomic_momentum",
    "on_shapes",
    "reconstruct",
    "reduce",
    "reduced",
    "relative_equilibrium",
    "relative_periodic_orbit",
    "return_map",
    "rotation_number",
    "section",
    "shape_of",
    "spectrum",
    "structural_stability",
    "threshold",
    "transported_density",
    "trend",
    "volume_change",
    "wandering",
    "wrong_way",
]

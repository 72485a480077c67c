"""What to ask of a motion or of a scheme once it runs."""

from discrete_hamel.analysis.actions import generator
from discrete_hamel.analysis.audits import Audit, Standing, audit, wandering
from discrete_hamel.analysis.branches import Branch, branch
from discrete_hamel.analysis.comparison import Comparison, compare
from discrete_hamel.analysis.conserved_momenta import HiddenMomenta
from discrete_hamel.analysis.distributions import Bundles, Connection, bundles, nonholonomic_connection
from discrete_hamel.analysis.events import Crossings, crossings, section
from discrete_hamel.analysis.flat_systems import Flatness, flatness
from discrete_hamel.analysis.hidden_constants import hidden_momenta
from discrete_hamel.analysis.linearisations import Linearisation, Stability
from discrete_hamel.analysis.lyapunov import LyapunovExponents, lyapunov_exponents
from discrete_hamel.analysis.measures import (
    divergence,
    keeps_measure,
    measure_condition,
    transported_density,
    volume_change,
)
from discrete_hamel.analysis.momenta import (
    Noether,
    gauge_term,
    horizontal,
    momentum_equation,
    momentum_residual,
    noether,
    nonholonomic_momentum,
)
from discrete_hamel.analysis.poisson import Integrability, bracket_matrix, integrable, jacobiator
from discrete_hamel.analysis.preservation import Preservation, structural_stability
from discrete_hamel.analysis.reductions import Reduced, Shift, reduced
from discrete_hamel.analysis.relative_equilibria import RelativeEquilibrium, family, relative_equilibrium
from discrete_hamel.analysis.several_shapes import ShapeMomenta
from discrete_hamel.analysis.spectra import Spectrum, spectrum
from discrete_hamel.analysis.symmetries import Invariance, cyclic_coordinates, invariance
from discrete_hamel.analysis.thresholds import threshold
from discrete_hamel.analysis.trends import Trend, trend
from discrete_hamel.analysis.wrong_ways import ConstrainedFirst, WithoutBracket, WrongWay, wrong_way

__all__ = [
    "Audit",
    "Branch",
    "Bundles",
    "Comparison",
    "Connection",
    "ConstrainedFirst",
    "Crossings",
    "Flatness",
    "HiddenMomenta",
    "Integrability",
    "Invariance",
    "Linearisation",
    "LyapunovExponents",
    "Noether",
    "Preservation",
    "Reduced",
    "RelativeEquilibrium",
    "ShapeMomenta",
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
    "compare",
    "crossings",
    "cyclic_coordinates",
    "divergence",
    "family",
    "flatness",
    "gauge_term",
    "generator",
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
    "reduced",
    "relative_equilibrium",
    "section",
    "spectrum",
    "structural_stability",
    "threshold",
    "transported_density",
    "trend",
    "volume_change",
    "wandering",
    "wrong_way",
]

"""Many members at once: initial data and parameters side by side, on all cores and all machines."""

from discrete_hamel.runs.ensemble.block_runs import Reduction, ensemble

__all__ = ["Reduction", "ensemble"]

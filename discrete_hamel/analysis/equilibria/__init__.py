"""Relative equilibria, their spectra, branches and thresholds, and what a scheme keeps of them."""

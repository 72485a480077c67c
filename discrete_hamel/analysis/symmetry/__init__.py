"""Symmetries, the phase space they act on, and the momenta they keep."""

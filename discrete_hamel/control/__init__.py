"""Optimal control by the scheme's own equations."""

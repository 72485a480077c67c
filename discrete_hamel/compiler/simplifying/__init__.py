"""Passes from graph to graph: fewer angles, fewer unknowns, products in order, elimination."""

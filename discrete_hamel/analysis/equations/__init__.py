"""Equations in print: traced functions as rational expressions, Hamel's equations in names."""

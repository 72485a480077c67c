"""Measures, brackets, bundles and reduction."""

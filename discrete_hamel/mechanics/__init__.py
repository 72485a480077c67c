"""What moves, and its equations: System, frames and brackets, Hamel's equations (H), nonlinear constraints.

Pure functions of (system, q, xi). No step, no run and no compiler lives here.
"""

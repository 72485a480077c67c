"""What is too large to be compiled: one table for all ways in which a step is, with what was measured.

Native code, which LLVM makes of sections of bounded length, has no bound but the first; see `python -m
benchmarks.limits`.
"""

MOST_NODES = 700_000  # of a graph: what Python can build in some ten seconds
# Operations of an explicit step, up to which its derivative is native code, in CPU seconds of the first call: 384 take
# 7 s as the plain path does, 15641 97 s where that takes 7. And what XLA evaluates of a whole run's records in one go.
MOST_JIT = 2000
PATIENCE = 40  # sweeps a step; beyond, Newton's iteration is faster

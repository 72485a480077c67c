"""What is too large to be compiled: one table for all ways in which a step is, with what was measured.

Measured are CPU seconds of XLA for chains of links with unlike masses (`python -m benchmarks.limits`, JAX 0.10.2);
native code, which LLVM makes of sections of bounded length, has no bound but the first.
"""

MOST_NODES = 700_000  # of a graph: what Python can build in some ten seconds
# Operations of an iteration, where XLA compiles a run on the host: 1223 take 2.1 s, 2327 4.4 s, 4858 12 s, 7401 26 s.
MOST_HOST = 5000
# The same for lanes, each operation of which is a loop: 996 take 14 s, 1223 32 s, 2026 61 s, 2970 76 s.
MOST_LANES = 2000
MOST_SWEEP = 2000  # of a sweep over Gauss' stages, which only XLA compiles, as it does lanes
# Of an iteration under jit, with its gradient, where fusion cannot be left out: 503 take 4 s, 1223 10 s, 2026 22 s.
# And of an explicit step there, by LLVM too: 384 take 7 s as the plain path does, 15641 97 s where that takes 7.
MOST_JIT = 2000
# Up to which XLA fuses: at 503 a step takes 2.2 us with it and 0.74 us without, at 996 8.5 us and 1.4 us.
FUSED = 300
PATIENCE = 40  # sweeps a step; beyond, Newton's iteration is faster

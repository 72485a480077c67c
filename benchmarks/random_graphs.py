"""Random graphs as native code, against NumPy: a fault there would be a fault of the process.

    python -m benchmarks.random_graphs [GRAPHS [SEED]]

Operations that IEEE 754 defines are compared to the bit; products fused into sums up to the rounding that they save.
It needs the repository, whose tests make the graphs.
"""

import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "compiler"))

from random_graphs import exact_mismatches, rounding_mismatches

TOGETHER = 40  # graphs of one module
KINDS = {
    "to the bit": (exact_mismatches, {}),
    "to the bit, not optimised": (exact_mismatches, {"level": 0, "inline": False}),
    "products in sums": (rounding_mismatches, {}),
    "longer": (exact_mismatches, {"count": 400}),
}


def main() -> None:
    graphs, seed = (int(a) for a in (*sys.argv[1:3], *("10000", "0")[len(sys.argv) - 1 :]))
    total = 0
    for name, (mismatches, how) in KINDS.items():
        begin, wrong, seen = time.process_time(), 0, 0
        modules = -(-graphs // (len(KINDS) * TOGETHER))
        for k in range(modules):
            differ, outputs = mismatches(seed + k, TOGETHER, **how)
            wrong, seen = wrong + differ, seen + outputs
        total += wrong
        took = time.process_time() - begin
        print(f"{name}: {modules * TOGETHER} graphs, {seen} outputs, {wrong} wrong ({took:.0f} CPU s)", flush=True)
    sys.exit(bool(total))


if __name__ == "__main__":
    main()

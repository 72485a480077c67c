"""The plain path on the sleigh: microseconds a step (issue: <= 30) and seconds of a first call (issue: < 3).

python benchmarks/plain_path.py
"""

import subprocess
import sys
import time

RUN = """
import time
import discrete_hamel as dh

def seconds(steps):
    start = time.perf_counter()
    dh.simulate(dh.systems.ChaplyginSleigh(), q=[0.1, 0, 0], xi=[1.5, -0.3], h=0.01, steps=steps, compiled={compiled})
    return time.perf_counter() - start

first = seconds(10)
seconds(2000)
print(first, min((seconds(42_000) - seconds(2000)) / 40_000 for _ in range(5)))
"""


def main() -> None:
    for round_ in range(3):
        for name, compiled in (("plain", False), ("compiled", True)):
            out = subprocess.run(
                [sys.executable, "-c", RUN.format(compiled=compiled)], capture_output=True, text=True, check=True
            )
            first, step = map(float, out.stdout.split())
            print(f"round {round_}  {name:<9} first call {first:.2f} s, then {step * 1e6:.2f} us a step", flush=True)
        time.sleep(1)


if __name__ == "__main__":
    main()

"""One motion of the Whipple bicycle in three ways: python -m benchmarks.bicycle_three_ways.

From constraints and as a mechanism the step is that of FollowingHamel, on the same distribution with the same inertias:
the same motion. By hand it is DiscreteHamel's in another frame: O(h^2) away, as each is from the reference.
"""

import sys
from pathlib import Path

import numpy as np

import discrete_hamel as dh

sys.path.append(str(Path(__file__).parent.parent / "tests" / "systems"))
NAMES = ("x", "y", "yaw", "lean", "pitch", "steer", "rear", "front")
ORDER = [2, 0, 1, 3, 4, 6, 5, 7]  # of the mechanism's coordinates, in those
BACK = list(np.argsort(ORDER))


def main() -> None:
    import garages
    import whipple

    hand = dh.systems.garage.WhippleBicycle()
    given = dh.from_constraints(
        whipple.lagrangian, whipple.rows, params=hand, coordinates=NAMES, free=("lean", "steer", "rear")
    )
    built = garages.bicycle(hand)
    q = hand.standing(0.05, -0.03)
    v = np.asarray(dh.velocities(hand, q, [0.3, -0.2, 5.0 / 0.3]))
    end = dh.reference(hand, q, v=v, t=1.0).q[-1]
    before = None
    for h in (0.02, 0.01, 0.005):
        steps = round(1 / h)
        runs = {
            "constraints": dh.simulate(given, q, v=v, h=h, steps=steps).q[-1],
            "mechanism": dh.simulate(built, q[ORDER], v=v[ORDER], h=h, steps=steps).q[-1][BACK],
            "hand": dh.simulate(hand, q, v=v, h=h, steps=steps).q[-1],
        }
        apart = np.abs(runs["constraints"] - runs["mechanism"]).max()
        errors = {name: float(np.abs(run - end).max()) for name, run in runs.items()}
        between = float(np.abs(runs["hand"] - runs["mechanism"]).max())
        slope = "" if before is None else f", slope {np.log2(before / between):.2f}"
        print(f"h = {h}: constraints - mechanism {apart:.1e}; hand - mechanism {between:.1e}{slope}; errors {errors}")
        before = between


if __name__ == "__main__":
    main()

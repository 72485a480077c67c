"""One motion of the Whipple bicycle in three ways: python -m benchmarks.bicycle_three_ways.

From constraints and as a mechanism the step is that of FollowingHamel, on the same distribution with the same inertias:
the same motion. By hand it is DiscreteHamel's in another frame: O(h^2) away, as each is from the reference.
"""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh

sys.path.append(str(Path(__file__).parent.parent / "tests" / "systems"))
import whipple
from multipliers import accelerations

HAND = dh.systems.garage.WhippleBicycle()
NAMES = ("x", "y", "yaw", "lean", "pitch", "steer", "rear", "front")
ORDER = [2, 0, 1, 3, 4, 6, 5, 7]  # of the mechanism's coordinates, in those
BACK = list(np.argsort(ORDER))


@jax.jit
def from_constraints(speed):
    """The rates of (lean, steer, lean', steer') by the same, upright at a speed, of the Lagrangian and slips alone."""
    shape = jnp.array([3, 5])

    def rates(x):
        q = jnp.zeros(8).at[shape].set(x[:2])
        chosen = jnp.concatenate([whipple.rows(q, HAND), jnp.eye(8)[jnp.array([3, 5, 6])]])
        given = jnp.zeros(8).at[5:7].set(x[2:]).at[7].set(speed / HAND.rear_radius)
        found, _ = accelerations(whipple.lagrangian, whipple.slipping, q, jnp.linalg.solve(chosen, given), HAND)
        return jnp.concatenate([x[2:], found[shape]])

    return jax.jacfwd(rates)(jnp.zeros(4))


def off_the_table() -> float:
    """How far any eigenvalue in [Meijaard et al. 2007] table 2 is from one found."""
    off = 0.0
    for speed in (0, *whipple.TABLE):
        found = np.linalg.eigvals(np.asarray(from_constraints(float(speed))))
        off = max(off, *(np.min(np.abs(found - wanted)) for wanted in whipple.eigenvalues_at(speed)))
    return off


def main() -> None:
    import garages

    hand = HAND
    print(f"from constraints, farthest from the table: {off_the_table():.1e}")
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

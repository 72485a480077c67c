"""One motion of the Whipple bicycle in three ways: python -m benchmarks.bicycle_three_ways [table].

By hand (the catalogue's frame), from constraints (a Lagrangian and what may not slip), and as a mechanism (bodies,
joints, wheels), in the same eight coordinates. Where frames agree the steps are the same map: those of DiscreteHamel
in the frame of (lean', steer', rear'), and those of FollowingHamel, which depends on the distribution and the inertias
alone. Where they do not agree, and where HolonomicHamel holds the front wheel's height as a position, which is what
the mechanism takes by itself, they are O(h^2) apart, and so is each from the reference. With `table` also the
eigenvalues from constraints beside those of Meijaard et al.
"""

import sys
import time
from itertools import combinations
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel.schemes.following import FollowingHamel

sys.path.append(str(Path(__file__).parent.parent / "tests" / "systems"))
import garages
import whipple
from multipliers import accelerations

HAND = dh.systems.garage.WhippleBicycle()
GIVEN, BUILT = whipple.from_constraints(HAND), whipple.as_a_mechanism(HAND)
ORDER, BACK = whipple.ORDER, list(np.argsort(whipple.ORDER))
IN_THE_FRAME = dh.DiscreteHamel(compensated=True)  # the only form that systems from constraints take in a fixed frame
LONG = 1.0  # s


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


def ends(q, v, h: float) -> dict[str, np.ndarray]:
    """Where each way is after LONG, in the coordinates of the frame by hand."""
    steps = round(LONG / h)

    def end(system, scheme=None):
        here = system is BUILT or system is FREE
        order, back = (ORDER, BACK) if here else (slice(None), slice(None))
        return dh.simulate(system, q[order], v=v[order], h=h, steps=steps, scheme=scheme, save_every=steps).q[-1][back]

    return {
        "hand": end(HAND, IN_THE_FRAME),
        "constraints": end(GIVEN, IN_THE_FRAME),
        "mechanism": end(BUILT, IN_THE_FRAME),
        "constraints, following": end(GIVEN, FollowingHamel()),
        "mechanism, following": end(BUILT, FollowingHamel()),
        "mechanism, height held": end(FREE),
    }


FREE = garages.bicycle(HAND)  # as a user builds it, with nothing chosen
SAME = ("hand", "constraints", "mechanism"), ("constraints, following", "mechanism, following")


def main(table: str = "") -> None:
    if table:
        print(f"from constraints, farthest from the table: {off_the_table():.1e}")
    began = time.process_time()
    q = HAND.standing(0.05, -0.03)
    v = np.asarray(dh.velocities(HAND, q, [0.3, -0.2, 5.0 / 0.3]))
    reference = dh.reference(HAND, q, v=v, t=LONG).q[-1]
    before: dict[str, float] = {}
    for h in (0.02, 0.01, 0.005):
        found = ends(q, v, h)
        for group in SAME:
            apart = max(np.abs(found[a] - found[b]).max() for a, b in combinations(group, 2))
            print(f"h = {h}: {' = '.join(group)}: {apart:.1e}")
        across = combinations(("hand", "constraints, following", "mechanism, height held"), 2)
        off = {f"{a} - {b}": float(np.abs(found[a] - found[b]).max()) for a, b in across}
        off |= {f"{a} - reference": float(np.abs(found[a] - reference).max()) for a in found}
        for words, size in off.items():
            slope = f", slope {np.log2(before[words] / size):.3f}" if before else ""
            print(f"h = {h}: {words}: {size:.1e}{slope}")
        before = off
    print(f"{time.process_time() - began:.0f} CPU s")


if __name__ == "__main__":
    main(*sys.argv[1:])

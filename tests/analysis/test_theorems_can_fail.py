"""Each theorem's test notices a wrong variation, bracket, reconstruction and connection; what other files have is said.

| | variation | bracket | reconstruction | connection |
|---|---|---|---|---|
| Theorem 3.1 | here (constrained first) | here | no part of it | has none |
| Theorems 5.1, 5.2 | `test_variations.py` | `test_variations.py` | `test_variations.py`, by itself | has none |
| Theorem 5.3 | here | here | here | has none |
| discrete Noether | `test_discrete_noether.py` | `test_discrete_noether.py` | here | has none |
| (4.6)-(4.11), (2.15) | `test_reduce.py` | `test_reduce.py` | here | `test_reduce.py`, here |
"""

import jax.numpy as jnp
import numpy as np
import pytest
from reduced_cases import sleigh
from test_reduce import FIELDS
from wrong_principles import of_left_node, without_bracket

import discrete_hamel as dh
from discrete_hamel.analysis import ConstrainedFirst, WithoutBracket, structural_stability
from discrete_hamel.analysis.reduction.reduced_systems import ReducedSystem

SLEIGH = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4)
TOP = dh.systems.HeavyTop()


def backwards(system, q0, q1, xi, h):
    return q1 - q0 + h * system.frame((q0 + q1) / 2) @ xi


def stationary(system):
    """How far a motion of `system` is from stationary for the sleigh's action, along D."""
    motion = dh.reference(system, [0.1, 0.0, 0.0], [1.5, -0.3], t=np.linspace(0, 1, 101)).replace(system=SLEIGH)
    weights = jnp.array([0.7, -0.4])
    return abs(dh.action_variation(motion, lambda t: (t * (1 - t)) ** 2 * weights))


@pytest.mark.parametrize("wrong", [ConstrainedFirst, WithoutBracket])
def test_of_theorem_3_1(wrong):
    assert stationary(SLEIGH) < 1e-9
    assert stationary(wrong(SLEIGH)) > 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        {"variation": without_bracket},
        {"variation": lambda system, q, xi, eta0, eta1, h: (eta0, (eta1 - eta0) / h)},
        {"reconstruction": backwards},
    ],
    ids=["bracket", "variation", "reconstruction"],
)
def test_of_theorem_5_3(wrong):
    """On the sleigh's glide, and, for the reconstruction, which has no part in that, a spring that goes the other way.

    `test_theorem_5_3.py` shows that both are kept.
    """
    spring = dh.from_velocities(lambda q, v: 0.5 * v @ v - 0.5 * q[0] ** 2, lambda q: jnp.eye(2), 2)
    drift = {"drift": lambda q: jnp.array([0.0, 1.0])}
    where = (spring, [0.0, 0.0], [0.0, 0.4]) if "reconstruction" in wrong else (SLEIGH, [0, 0, 0], [0.0, 2.0])
    options = {"symmetries": drift} if "reconstruction" in wrong else {}
    assert not structural_stability(*where, dh.Principle(**wrong), 0.1, **options).holds


def test_of_discrete_noether():
    sample = TOP.sample()
    turn = TOP.symmetries()["rotation about z"]

    def lost(scheme):
        run = dh.simulate(TOP, sample["q"], sample["xi"], h=0.05, steps=30, scheme=scheme)
        found = dh.discrete_noether(run, turn).momentum
        return np.max(np.abs(found - found[0]))

    assert lost(dh.Principle()) < 1e-12
    assert lost(dh.Principle(reconstruction=of_left_node)) > 1e-4


class OtherConnection(ReducedSystem):
    """Omega = xi - A r'."""

    def connection(self, r):
        return -ReducedSystem.connection(self, r)


class OtherBasis(ReducedSystem):
    """e(r) with its first field the other way."""

    def basis(self, r):
        return ReducedSystem.basis(self, r).at[:, 0].multiply(-1.0)


def test_of_the_way_back():
    good, q, xi = sleigh(), [0.2, 0.3, 1.0, 2.0], [0.8, 0.3, 0.5]
    r, free, g = dh.shape_of(good, q, xi)
    run = dh.simulate(good, r, free[: good.rank], h=0.02, steps=25)
    known = dh.reference(good.system, q, xi, t=0.5).q[-1]

    def off(trajectory, first=g):
        return np.max(np.abs(dh.reconstruct(trajectory, first)[-1] - known))

    assert off(run) < 1e-3
    for mutant in (OtherConnection, OtherBasis):
        assert off(run.replace(system=mutant(**{name: getattr(good, name) for name in FIELDS}))) > 1e-2
    elements = dh.reconstruct(run, elements=True)
    other_side = (elements[-1] @ g @ np.append(good.section(run.q[-1]), 1.0))[:-1]  # g_k g instead of g g_k
    assert np.max(np.abs(other_side - known)) > 1e-2

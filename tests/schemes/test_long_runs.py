"""10^6 steps: errors of exact invariants grow no faster than a random walk. benchmarks/long_runs.py makes 10^7.

Roundings are biased: a multiplication by h = 0.2, nearly 1/5, rounds to one side by up to a tenth of a unit. No bias
adds up only where both halves of a step round alike. What breaks that, by one unit, is noticed here.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from problems import BODY, PENDULUM, SLEIGH

import discrete_hamel as dh
from discrete_hamel.compiler.native import object_code
from discrete_hamel.mechanics.hamel import balance, full
from discrete_hamel.runs.trajectory import invariants_at
from discrete_hamel.schemes import State

STEPS, SAVED, DATA = {"sleigh": 1_000_000, "pendulum": 1_000_000, "rigid body": 250_000}, 1000, 8
# In lanes; of the body's energy 32 walks, but not 8, show a bias of 4 to 8 % of a change's spread, on the host too.
MEMBERS = {"sleigh": 32, "pendulum": 32, "rigid body": DATA}
PROBLEMS = {problem.name: problem for problem in (SLEIGH, PENDULUM, BODY)}
EPS = np.finfo(float).eps


def data(problem, count=DATA):
    """The problem's own data, and seven or more of its kind, with decimal steps."""
    random = np.random.default_rng(0)
    yield problem.q, problem.xi, 0.2
    for k in range(1, count):
        q = random.normal(size=3) if problem is PENDULUM else np.array(problem.q)
        q = q / np.linalg.norm(q) if problem is PENDULUM else q
        yield q, 0.6 * random.normal(size=len(problem.xi)), (0.2, 0.1, 0.3)[k % 3]


@functools.cache
def wandering_side_by_side(name, h):
    """The same of runs in lanes, with one step for all."""
    problem, steps = PROBLEMS[name], STEPS[name]
    q, xi, _ = (np.array(some, float) for some in zip(*data(problem, MEMBERS[name]), strict=True))
    runs = dh.ensemble(problem.system, q, xi, h=h, steps=steps, save_every=steps // SAVED, progress=False)
    assert runs.attrs["path"] == "lanes"
    kept = jax.vmap(jax.vmap(lambda q, xi: invariants_at(problem.system, q, xi)))(runs.q.values, runs.xi.values)
    values = {invariant: np.asarray(kept[invariant]) for invariant in problem.exact}
    return {which: np.diff(v, axis=1) / np.maximum(1.0, np.abs(v[:, :1])) for which, v in values.items()}


@functools.cache
def wandering(name, scheme):
    """For each exact invariant, its changes over a thousandth of the run, [data, part], in units of its size."""
    problem, steps = PROBLEMS[name], STEPS[name]
    changes = {invariant: [] for invariant in problem.exact}
    for q, xi, h in data(problem):
        run = problem.run(steps, q=q, xi=xi, h=h, save_every=steps // SAVED, scheme=scheme)
        for invariant in problem.exact:
            values = run.invariants()[invariant]
            changes[invariant].append(np.diff(values) / max(1.0, abs(values[0])))
    return {invariant: np.array(some) for invariant, some in changes.items()}


def is_at_most_a_random_walk(changes):
    """The sum over the data of end^2 / variance: for Gaussian walks chi-squared, beyond the bound one time in 10^5.

    The variance at the end is a thousand times that of a change, at least that of a unit of round-off in every one.
    A bias that is a share b of a change's spread makes end^2 / variance 1000 b^2.
    """
    ends = np.sum(changes, axis=1)
    variances = changes.shape[1] * np.maximum(np.mean(changes**2, axis=1), EPS**2)
    total = np.sum(ends**2 / variances)
    bound = scipy.stats.chi2(len(changes)).isf(1e-5)
    assert total <= bound, f"sum of end^2 / variance is {total:.0f}, bound {bound:.0f}"


@pytest.mark.slow
@pytest.mark.parametrize("compensated", [False, True], ids=["plain", "compensated"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_exact_invariants_wander_at_most(name, compensated):
    for changes in wandering(name, dh.DiscreteHamel(compensated=compensated)).values():
        is_at_most_a_random_walk(changes)
        assert np.max(np.abs(np.cumsum(changes, axis=1))) < 1e-12 * STEPS[name] ** 0.5


@pytest.mark.slow
@pytest.mark.skipif(bool(object_code.available()), reason=object_code.available())
@pytest.mark.parametrize("h", [0.2, 0.1, 0.3])
@pytest.mark.parametrize("name", PROBLEMS)
def test_exact_invariants_wander_at_most_in_lanes(name, h):
    for changes in wandering_side_by_side(name, h).values():
        is_at_most_a_random_walk(changes)
        assert np.max(np.abs(np.cumsum(changes, axis=1))) < 1e-12 * STEPS[name] ** 0.5


@pytest.mark.slow
def test_compensation_pays():
    """What a rounding of q or p costs is left out: a walk of sums of 1/2 unit becomes one of roundings of changes."""
    plain, better = (wandering("pendulum", dh.DiscreteHamel(compensated=c)) for c in (False, True))
    length = [np.max(np.abs(np.cumsum(some["length of gamma"], axis=1))) for some in (plain, better)]
    assert length[1] <= 2 * EPS < length[0]  # to the rounding of gamma itself, all the time
    spread = [np.sqrt(np.mean(some["energy"] ** 2)) for some in (plain, better)]
    assert spread[1] < spread[0] / 2


class TwoRoundings(dh.DiscreteHamel):
    """h F in (D2) once as it is, and once with the last digit of h another: what two groupings of a product do."""

    def advance(self, system, state, h, z):
        after, xi = super().advance(system, state, h, z)
        return after.replace(p=state.p + (1 + EPS) * (after.p - state.p)), xi


class Halves(dh.DiscreteHamel):
    """p_{k+1} = mu + tau h F, as (D2) is written."""

    def advance(self, system, state, h, z):
        xi, q1 = z[: system.rank], z[system.rank :]
        mu, force = balance(system, (1 - self.tau) * state.q + self.tau * q1, xi)
        return State(q1, mu + self.tau * h * force, xi), full(system, jnp.asarray(q1), xi)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "scheme"), [("pendulum", TwoRoundings()), ("rigid body", Halves())])
def test_a_unit_of_round_off_to_one_side_is_noticed(name, scheme):
    with pytest.raises(AssertionError, match="variance"):
        is_at_most_a_random_walk(wandering(name, scheme)["energy"])


def test_a_scheme_that_drifts_is_noticed():
    run = dh.simulate(PENDULUM.system, PENDULUM.q, PENDULUM.xi, h=0.2, steps=10_000, scheme=dh.RungeKutta4())
    with pytest.raises(AssertionError):
        is_at_most_a_random_walk(np.diff(run.energy[::10] / run.energy[0])[None])

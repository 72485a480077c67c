"""The action sum and its variation: [HE] Theorems 3.1, 5.1 and 5.2, both ways, and Remark 5.1 as a number."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from wrong_principles import of_left_node, of_the_wrong_sign, without_bracket

import discrete_hamel as dh
from discrete_hamel.analysis.motion.action import principle_of
from discrete_hamel.mechanics.hamel import full

S = dh.systems
IDENTITY = tuple(np.eye(3).ravel())
BLADE = dh.from_velocities(  # on a moving floor, with drag
    lambda q, v: 0.5 * v @ v + 0.4 * v[0] * (v[2] * jnp.cos(q[0]) - v[1] * jnp.sin(q[0])) - 0.2 * q[1] ** 2,
    S.ChaplyginSleigh().frame,
    2,
    slip=lambda q: jnp.array([0.2 * jnp.sin(q[0])]),
    force=lambda q, v: -0.3 * v,
)
CASES = {
    "sleigh": (S.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=0.4), (0.1, 0.0, 0.0), (1.5, -0.3)),
    "disk": (S.RollingDisk(), (0.3, 0.2, 0.0, 0.0, 0.0), (0.1, 0.6, 3.0)),
    "body": (S.RigidBody(inertia=(1.0, 2.0, 3.0)), IDENTITY, (0.4, 1.0, 0.3)),
    "Suslov": (S.Suslov(), IDENTITY, (0.8, -0.9)),
    "pendulum": (S.SphericalPendulum(), tuple(S.SphericalPendulum().sample()["q"]), (0.6, 0.2)),
    "blade": (BLADE, (0.1, 0.3, 0.0), (1.0, 0.7)),
}
CONSTRAINED = ("sleigh", "disk", "Suslov", "blade")
SCHEMES = [
    *(dh.DiscreteHamel(tau) for tau in (0.5, 0.0, 0.3, 1.0)),
    dh.StaggeredHamel(),
    dh.CortesMartinez(),
    dh.CortesMartinez(0.3, 0.6),
]
STEPS, H = 40, 0.02
REACTIONS = jax.jit(jax.vmap(dh.reactions, (None, 0, 0)))


def run(name, scheme, h=H, steps=STEPS):
    system, q, xi = CASES[name]
    return dh.simulate(system, list(q), list(xi), h=h, steps=steps, scheme=scheme)


def random_eta(trajectory, components, rows=None, seed=0):
    """Of no smoothness, zero at both ends."""
    eta = np.random.default_rng(seed).normal(size=(len(trajectory.t) if rows is None else rows, components))
    eta[[0, -1]] = 0
    return eta


def rows_of(trajectory):
    return len(trajectory.t) + isinstance(trajectory.scheme, dh.StaggeredHamel)


def size(trajectory):
    """Of the terms of delta s, which cancel: round-off is eps times this."""
    return (1 + np.max(np.abs(trajectory.p))) * len(trajectory.t)


# --- Theorems 5.1 and 5.2 ---


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@pytest.mark.parametrize("name", CASES)
def test_the_action_is_stationary_on_runs_and_along_d_only(name, scheme):
    if name == "pendulum" and isinstance(scheme, dh.CortesMartinez):
        pytest.skip("dependent fields")
    trajectory = run(name, scheme)
    m, n = trajectory.system.rank, trajectory.xi.shape[1]
    for seed in range(3):
        eta = random_eta(trajectory, m, rows_of(trajectory), seed)
        assert abs(dh.action_variation(trajectory, eta)) < 1e-14 * size(trajectory)
        off = trajectory.replace(xi_mid=trajectory.xi_mid * 1.05, xi=trajectory.xi * 1.05)
        if not isinstance(scheme, dh.CortesMartinez) or scheme.lagrangian_at == scheme.constraint_at:
            assert abs(dh.action_variation(off, eta)) > 1e-14 * size(trajectory) * 1e6
    if name in CONSTRAINED:
        across = random_eta(trajectory, n, rows_of(trajectory))
        across[:, :m] = 0
        assert abs(dh.action_variation(trajectory, across)) > 1e-4


def test_the_runs_of_one_principle_are_not_those_of_another():
    """Every pair on the sleigh: only its own principle finds a run stationary."""
    schemes = [scheme for scheme in SCHEMES if scheme is not SCHEMES[4]]
    for scheme in schemes:
        trajectory = run("sleigh", scheme, h=0.1)
        eta = random_eta(trajectory, 2)
        for other in schemes:
            found = abs(dh.action_variation(trajectory, eta, principle=principle_of(other)))
            assert found < 1e-12 if other is scheme else found > 1e-5, (scheme, other)


@pytest.mark.parametrize("name", CASES)
def test_what_is_left_at_the_ends_are_the_momenta(name):
    for scheme in (dh.DiscreteHamel(), dh.DiscreteHamel(0.2)):
        trajectory = run(name, scheme)
        eta = np.random.default_rng(1).normal(size=(len(trajectory.t), trajectory.system.rank))
        expected = trajectory.p[-1] @ eta[-1] - trajectory.p[0] @ eta[0]
        assert dh.action_variation(trajectory, eta) == pytest.approx(expected, abs=1e-13 * size(trajectory))


# --- mutants ---


def at_one_end(system, q, xi, eta0, eta1, h):
    return eta0, (eta1 - eta0) / h + dh.bracket(system, q, xi, eta0)


@pytest.mark.parametrize("variation", [without_bracket, of_the_wrong_sign, at_one_end])
@pytest.mark.parametrize("name", ["sleigh", "disk", "body"])
def test_a_wrong_variation_is_caught(name, variation):
    """Its runs are stationary by itself, and by Hamel's principle they are not; nor are Hamel's by it."""
    wrong = dh.Principle(variation=variation)
    trajectory = run(name, wrong)
    eta = random_eta(trajectory, trajectory.system.rank)
    assert abs(dh.action_variation(trajectory, eta)) < 1e-14 * size(trajectory)
    assert abs(dh.action_variation(trajectory, eta, principle=dh.Principle())) > 1e-5
    assert abs(dh.action_variation(run(name, dh.DiscreteHamel()), eta, principle=wrong)) > 1e-5


def test_a_wrong_reconstruction_is_caught_by_itself():
    """The theorem is about (q_bar, xi): with another rho the sum is stationary too, but rho is off."""
    trajectory = run("sleigh", dh.Principle(reconstruction=of_left_node))
    eta = random_eta(trajectory, 2)
    assert abs(dh.action_variation(trajectory, eta, principle=dh.Principle())) < 1e-14 * size(trajectory)

    def missed(run):
        parts = zip(run.q[:-1], run.q[1:], run.xi_mid, strict=True)
        return max(np.max(np.abs(dh.Principle().reconstruction_gap(run.system, *part, H))) for part in parts)

    assert missed(run("sleigh", dh.DiscreteHamel())) < 1e-15
    assert missed(trajectory) > 1e-5


# --- derived variations are those of paths ---


def action_of_path(scheme, system, q, h):
    """s^d of nodes alone, xi^all from rho by a solve: what derived variations are the slope of."""
    total = 0.0
    for q0, q1 in zip(q[:-1], q[1:], strict=True):
        middle = (1 - scheme.point) * q0 + scheme.point * q1
        total = total + h * system.lagrangian(middle, jnp.linalg.solve(system.frame(middle), (q1 - q0) / h))
    return total


@pytest.mark.parametrize("name", ["sleigh", "disk"])
def test_derived_variations_are_the_slope_of_the_action_of_paths(name):
    """Against the action of whole paths of nodes, differentiated by them; Hamel's differ, by the sum of the defects."""
    trajectory = run(name, dh.DiscreteHamel(), steps=6)
    system, q = trajectory.system, jnp.asarray(trajectory.q)
    eta = random_eta(trajectory, trajectory.xi.shape[1])
    derived = dh.Principle(variation="derived")
    slope = jax.grad(lambda q: action_of_path(derived, system, q, H))(q)
    by_paths = sum(g @ (system.frame(p) @ e) for g, p, e in zip(slope, q, eta, strict=True))
    found = dh.action_variation(trajectory, eta, principle=derived)
    assert found == pytest.approx(float(by_paths), abs=1e-12)
    assert dh.action(trajectory) == pytest.approx(float(action_of_path(derived, system, q, H)), rel=1e-12)
    defect = dh.transpositional_defect(trajectory)
    mean, rate = (eta[:-1] + eta[1:]) / 2, np.diff(eta, axis=0) / H
    total = np.einsum("ki,ki->", defect[:, 0], mean) + np.einsum("ki,ki->", defect[:, 1], rate)
    hamel = dh.action_variation(trajectory, eta)
    assert hamel - found == pytest.approx(total, abs=1e-12)
    assert abs(total) > 1e-7


# --- Remark 5.1 ---


@pytest.mark.parametrize(("tau", "order"), [(0.5, 3), (0.3, 2)])
@pytest.mark.parametrize("name", ["sleigh", "disk", "body"])
def test_order_of_the_defect(name, tau, order):
    """A step at the start; and it does not vanish."""
    sizes = [
        np.max(np.abs(dh.transpositional_defect(run(name, dh.DiscreteHamel(tau), h, 1)))) for h in (0.02, 0.01, 0.005)
    ]
    assert min(sizes) > 1e-10
    assert np.log2(np.array(sizes[:-1]) / sizes[1:]) == pytest.approx(order, abs=0.15)


def test_the_defect_vanishes_where_the_fields_commute():
    """Translations: and those principles are then one."""
    oscillator = dh.from_quasivelocities(
        lambda q, xi: 0.5 * xi @ xi * (1 + q[0] ** 2) - jnp.sin(q[1]), lambda q: jnp.array([[1.0, 2.0], [0.0, 1.0]]), 2
    )
    for tau in (0.5, 0.3):
        trajectory = dh.simulate(oscillator, [0.3, 0.1], [1.0, 0.4], h=0.1, steps=10, scheme=dh.DiscreteHamel(tau))
        assert np.max(np.abs(dh.transpositional_defect(trajectory))) < 1e-15
        other = dh.simulate(
            oscillator, [0.3, 0.1], [1.0, 0.4], h=0.1, steps=10, scheme=dh.Principle(point=tau, variation="derived")
        )
        assert np.max(np.abs(other.q - trajectory.q)) < 1e-13


# --- Theorem 3.1 ---


@pytest.mark.parametrize("name", CASES)
def test_the_action_integral_is_stationary_on_motions(name):
    """With the reactions across D, for eta given as a function and as values."""
    system, q, xi = CASES[name]
    exact = dh.reference(system, list(q), list(xi), t=np.linspace(0, 1, 201))
    m, n = system.rank, exact.xi.shape[1]
    weights = jnp.asarray(np.random.default_rng(3).normal(size=n))

    def eta(t):
        return (t * (1 - t)) ** 2 * weights * jnp.cos(3 * t + jnp.arange(n))

    def along(t):
        return eta(t)[:m]

    assert abs(dh.action_variation(exact, along)) < 1e-9
    assert abs(dh.action_variation(exact, jax.vmap(along)(exact.t))) < 1e-7
    assert abs(dh.action_variation(exact.replace(xi=exact.xi * 1.05), along)) > 1e-4
    if name in CONSTRAINED:
        reaction = REACTIONS(exact.system, exact.q, exact.xi)
        work = np.sum(reaction * np.asarray(jax.vmap(eta)(exact.t))[:, m:], axis=1)
        assert dh.action_variation(exact, eta) == pytest.approx(-np.trapezoid(work, exact.t), abs=1e-6)
        assert abs(np.trapezoid(work, exact.t)) > 1e-4


@pytest.mark.parametrize(
    "scheme", [dh.DiscreteHamel(), dh.StaggeredHamel(), dh.CortesMartinez(), dh.CortesMartinez(0.5, 0.5)]
)
def test_the_action_sum_tends_to_the_integral(scheme):
    system, q, xi = CASES["disk"]
    exact = dh.action(dh.reference(system, list(q), list(xi), t=np.linspace(0, 0.8, 401)))
    off = []
    for steps in (40, 80, 160):
        found = run("disk", scheme, 0.8 / steps, steps)
        ends = 0.0
        if isinstance(scheme, dh.StaggeredHamel):  # a sum over points: the trapezoidal rule has half of both ends
            first, last = (system.lagrangian(found.q[k], found.xi[k]) for k in (0, -1))
            ends = 0.4 / steps * (first + last)
        off.append(abs(dh.action(found) - ends - exact))
    assert np.log2(np.array(off[:-1]) / off[1:]) == pytest.approx(2, abs=0.1)


# --- use ---


def test_traced_and_differentiated():
    system, q, xi = CASES["sleigh"]

    def of_run(xi):
        return dh.action(dh.simulate(system, list(q), xi, h=0.05, steps=10))

    xi = jnp.array(xi)
    slope, step = jax.grad(of_run)(xi), 1e-5
    differences = [(of_run(xi + step * e) - of_run(xi - step * e)) / (2 * step) for e in np.eye(2)]
    assert np.asarray(slope) == pytest.approx(np.array(differences), abs=1e-8)


def test_what_has_no_action_says_so():
    start = list(CASES["sleigh"][1]), list(CASES["sleigh"][2])
    system = CASES["sleigh"][0]
    with pytest.raises(ValueError, match="Gauss comes from no discrete principle"):
        dh.action(dh.simulate(system, *start, h=0.1, steps=4, scheme=dh.Gauss()))
    with pytest.raises(ValueError, match="save_every"):
        dh.action(dh.simulate(system, *start, h=0.1, steps=4, save_every=2))
    with pytest.raises(ValueError, match=r"shape \(5, 1\)"):
        dh.action_variation(dh.simulate(system, *start, h=0.1, steps=4), np.zeros((5, 1)))
    with pytest.raises(ValueError, match="defect"):
        dh.transpositional_defect(dh.simulate(system, *start, h=0.1, steps=4, scheme=dh.StaggeredHamel()))
    with pytest.raises(ValueError, match="quasi-velocities"):
        dh.transpositional_defect(run("pendulum", dh.DiscreteHamel()))
    assert dh.action(dh.simulate(system, *start, h=0.1, steps=0)) == 0.0


def test_rest_has_no_defect_and_no_action():
    still = dh.simulate(CASES["sleigh"][0], [0.0, 0, 0], [0.0, 0], h=0.1, steps=4)
    assert dh.action(still) == 0.0
    assert not np.any(dh.transpositional_defect(still))
    assert full(still.system, still.q[0], still.xi[0, :2]).shape == (3,)

"""`reduce`: the reduced equations are those of the whole system, and those that the papers print; the way back."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from reduced_cases import CASES, held_against, quickly, sleigh, sphere, tilt

import discrete_hamel as dh
from discrete_hamel.analysis.reduction.reduced_systems import ReducedSystem

FIELDS = [field.name for field in dataclasses.fields(ReducedSystem)]


def state(reduced):
    """A shape off the one at which the frame was chosen, and a velocity."""
    s, m = reduced.shapes_count, reduced.rank
    return reduced.start + 0.2 * jnp.arange(1, s + 1), 0.7 * jnp.cos(1.0 + jnp.arange(m))


@pytest.mark.parametrize("name", ["disk", "Chaplygin sphere"])  # benchmarks/reduction.py has five
def test_reduced_motion_is_the_whole_one(name):
    """Accelerations agree, and with them Hamel's equations of D/G; these are (4.9) and (4.10) with (4.11)."""
    reduced = CASES[name]()
    whole, brought, velocity, force, printed, at = quickly(held_against, reduced, *state(reduced))
    size = 1 + np.max(np.abs(whole)) + np.max(np.abs(force))
    assert np.max(np.abs(velocity)) > 0.1
    assert np.max(np.abs(whole - brought)) < 1e-10 * size
    assert np.max(np.abs(force - printed)) < 1e-10 * size
    m = reduced.rank - reduced.shapes_count
    lift = np.concatenate([np.eye(reduced.shapes_count), -at.A])  # u_alpha = d/dr - A e, orthogonal to S
    mixed = at.coupling[:m] + at.locked_inertia[:m] @ lift[reduced.shapes_count :]
    assert np.max(np.abs(mixed)) < 1e-10 * np.max(np.abs(at.locked_inertia))


def test_there_and_back():
    """shape_of and reconstruct against the whole motion by `reference`, to 1e-10; by the scheme, at its order."""
    reduced, q, xi, t = sleigh(), [0.2, 0.3, 1.0, 2.0], [0.8, 0.3, 0.5], 1.0
    r, free, g = dh.shape_of(reduced, q, xi)
    assert np.allclose((g @ [*reduced.section(r), 1])[:-1], q, atol=1e-14)
    exact = dh.reference(reduced.system, q, xi, t=t).q[-1]
    known = dh.reference(reduced, r, free[: reduced.rank], t=t)
    assert np.max(np.abs(dh.reconstruct(known, g)[-1] - exact)) < 1e-10
    runs = [dh.simulate(reduced, r, free[: reduced.rank], h=h, steps=int(t / h)) for h in (0.02, 0.01)]
    errors = [np.max(np.abs(dh.reconstruct(run, g)[-1] - exact)) for run in runs]
    assert 1.95 < np.log2(errors[0] / errors[1]) < 2.05
    assert runs[0].report.path == "compiled"
    cayley = dh.reconstruct(runs[0], g, retraction=dh.groups.cay)
    assert 1e-9 < np.max(np.abs(cayley - dh.reconstruct(runs[0], g))) < 1e-4
    # it commutes: the frame is invariant, the group only translates what it depends on, and e(r) is constant
    whole = dh.simulate(reduced.system, q, xi, h=0.02, steps=50)
    assert np.max(np.abs(whole.q[:, :1] - runs[0].q)) < 1e-13


def test_chaplygins_sphere_has_a_term_beyond_the_magnetic_one():
    """[MD] (8.11) upstairs, against the formula of what Proposition 8.4.1 lacks: m r^2 (y.w) y.(w_i x w)."""

    def asked(reduced, r, rate, c):
        shapes = dh.analysis.ShapeSystem(reduced, lambda r, c: c[None], c)
        lifts = (reduced.upstairs(r) @ reduced.horizontal(r))[:3]
        return shapes.magnetic(r), shapes.beyond(r, rate), lifts, reduced.section(r)[6:9]

    r, rate = jnp.array([0.35, -0.1]), jnp.array([0.7, 0.4])
    for moments, vanishes in (((0.7, 0.5, 0.3), False), ((0.5, 0.5, 0.5), True)):
        reduced = sphere(inertia=moments)
        magnetic, beyond, lifts, y = quickly(asked, reduced, r, rate, jnp.asarray(0.36))
        mass, radius, w = float(reduced.system.mass), float(reduced.system.radius), lifts @ rate
        known = [mass * radius**2 * (y @ w) * y @ np.cross(lift, w) for lift in np.asarray(lifts).T]
        assert np.max(np.abs(magnetic + magnetic.T)) < 1e-12 < np.max(np.abs(magnetic))
        assert np.max(np.abs(beyond - np.asarray(known))) < 1e-11
        assert (np.max(np.abs(beyond)) < 1e-11) == vanishes
    for c in (0.36, 0.0):  # C about the vertical is constant
        dh.on_shapes(reduced, lambda r, c: c[None], params=jnp.asarray(c))
    with pytest.raises(ValueError, match="does not solve the momentum equation"):
        dh.on_shapes(reduced, lambda r: jnp.cos(r[:1]))


def test_what_is_on_shapes_moves_as_what_it_was_made_of():
    """A particle with Omega = C / sqrt(1 + y^2): p depends on r, so that dp_b/dr Omega^b counts."""
    reduced = dh.reduce(dh.systems.NonholonomicParticle(), q=[0.0, 0.4, 0.0])
    locked = lambda r: dh.coefficients(reduced, r).locked_inertia[0, 0]  # noqa: E731
    line = dh.on_shapes(reduced, lambda r: 1.5 * jnp.sqrt(locked(r)))
    spin = np.asarray(line.spin(jnp.array([0.4])))
    run = dh.simulate(line, [0.4], [0.3], h=0.02, steps=50)
    whole = dh.simulate(reduced, [0.4], [0.3, *spin], h=0.02, steps=50)
    assert run.report.path == "compiled"
    assert np.max(np.abs(run.q - whole.q)) < 1e-3 < np.ptp(run.q)


# --- mutants: each breaks one thing ---


class OfTheWrongCurvature(ReducedSystem):
    """The bracket of the algebra with the other sign."""

    def _before(self, r):
        return -ReducedSystem._before(self, r)


class NotOrthogonal(ReducedSystem):
    """Lifts in D that are not orthogonal to S."""

    def horizontal(self, r):
        return ReducedSystem.horizontal(self, r) + (self._of_d(r) @ self.allowed)[:, :1]


class OffTheConstraint(ReducedSystem):
    """Lifts that leave D."""

    def horizontal(self, r):
        lift = ReducedSystem.horizontal(self, r)
        return lift.at[self.shapes_count :].add(0.1 * self.other[:, :1])


class ConstantBasis(ReducedSystem):
    """S as it is at the start."""

    def basis(self, r):  # noqa: ARG002
        return ReducedSystem.basis(self, self.start)


@pytest.mark.parametrize("mutant", [OfTheWrongCurvature, NotOrthogonal, OffTheConstraint, ConstantBasis])
def test_each_mutant_is_noticed(mutant):
    good = dh.reduce(dh.systems.NonholonomicParticle()) if mutant is ConstantBasis else sleigh()
    wrong = mutant(**{name: getattr(good, name) for name in FIELDS})
    whole, brought, _, force, printed, at = quickly(held_against, wrong, *state(wrong))
    m = wrong.rank - wrong.shapes_count
    mixed = at.coupling[:m] - at.locked_inertia[:m] @ at.A
    off = max(np.max(np.abs(part), initial=0.0) for part in (whole - brought, force - printed, mixed))
    assert off > 1e-4


def test_refusals():
    ball = dh.systems.ChaplyginSphere()
    with pytest.raises(ValueError, match="3 shapes and 3 symmetries for 5 directions"):
        dh.reduce(ball)
    with pytest.raises(ValueError, match="with a section give r"):
        dh.reduce(ball, section=tilt)
    with pytest.raises(ValueError, match="do not make up the motions"):
        dh.reduce(ball, section=tilt, r=0.3)
    with pytest.raises(ValueError, match="is no symmetry of ChaplyginSphere"):
        dh.reduce(dh.systems.ChaplyginSphere(), dh.systems.RouthTop().symmetries(), section=tilt, r=0.3)
    with pytest.raises(ValueError, match="declares no symmetries"):
        dh.reduce(dh.systems.Gearbox())
    with pytest.raises(ValueError, match="runs of dh.reduce's systems"):
        dh.reconstruct(dh.simulate(ball, **ball.sample(), steps=1))


def test_a_basis_of_ones_own():
    """[QS] 6.3: in the scaled frame r' leaves the momentum equation."""
    body = dh.systems.SleighOscillatorScaledFrame()

    def scaled(r):  # of (translations along x and y, rotation)
        return jnp.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]).at[2, 0].set(body.scale(r[0]))

    reduced = dh.reduce(dh.systems.SleighOscillator(), basis=scaled)
    at, plain = (dh.coefficients(one, [0.4]) for one in (reduced, sleigh()))
    assert np.max(np.abs(at.D)) < 1e-12 < np.max(np.abs(plain.D))
    assert isinstance(hash(jax.tree.structure(reduced)), int)


def test_a_section_that_meets_an_orbit_along_it_ends_a_run():
    """A point on a spring, reduced by turns on the line y = 1, which touches the circle there at r = 0. Nearer than 1
    there is no r; the run went on as if there were, with energy off by 5e4."""
    plane = dh.from_velocities(
        lambda q, v: 0.5 * v @ v - 2 * q @ q,
        lambda q: jnp.eye(2),
        2,
        symmetries={"turn": lambda q: jnp.array([-q[1], q[0]])},
    )
    reduced = dh.reduce(plane, section=lambda r: jnp.array([r[0], 1.0]), r=[-0.8])
    margin = [float(reduced.frame_margin(jnp.array([r]))) for r in (-0.8, 0.0, 0.8)]
    assert margin[1] == 0
    assert margin[0] * margin[2] < 0
    start = {"q": [-0.8], "xi": [0.0, 0.3], "h": 0.02, "steps": 200}
    with pytest.raises(dh.FrameDegenerates, match=r"by reduction, degenerates .* or reduce about that r"):
        dh.simulate(reduced, **start)
    marked = dh.simulate(reduced, **start, on_failure="mark")
    assert not np.all(marked.report.converged)
    assert np.ptp(marked.energy[np.isfinite(marked.energy)]) < 0.2  # of 3.3, to the last node before
    away = dh.simulate(reduced, [-0.8], [0.0, 2.5], h=0.02, steps=200)  # that does not come near
    assert np.all(away.report.converged)


@pytest.mark.parametrize("off_d", [False, True])
def test_a_motion_that_is_not_invariant_is_refused_though_l_is_on_d(off_d):
    """A sleigh that a force pulls back along x, or with a term of l that is zero on D; drag is the same everywhere."""

    def lagrangian(q, xi):
        return 0.5 * xi @ xi + 0.2 * xi[0] * xi[2] + (0.8 * q[1] * xi[2] if off_d else 0.0)

    def frame(q):
        c, s, z = jnp.cos(q[0]), jnp.sin(q[0]), jnp.zeros_like(q[0])
        return jnp.stack([jnp.stack([z + 1, z, z]), jnp.stack([z, c, s]), jnp.stack([z, -s, c])], 1)

    def made(force):
        return dh.from_quasivelocities(lagrangian, frame, 2, force=force, coordinates=("theta", "x", "y"))

    spring = None if off_d else lambda q, xi: -q[1] * jnp.stack([0 * q[0], jnp.cos(q[0]), -jnp.sin(q[0])])
    with pytest.raises(ValueError, match="it changes what the force, or the Lagrangian off D, does to the motion"):
        dh.reduce(made(spring), ["x", "y"], q=[0.1, 0.0, 0.0])
    if not off_d:
        drag = made(lambda q, xi: -0.3 * xi * jnp.abs(xi))
        assert dh.reduce(drag, ["x", "y"], q=[0.1, 0.0, 0.0]).rank == 2


def test_a_slip_that_is_zero_at_the_start_alone_is_refused():
    slipping = dh.from_quasivelocities(
        lambda q, xi: 0.5 * xi @ xi,
        lambda q: jnp.eye(3),
        2,
        slip=lambda q: jnp.sin(q[:1]),
        coordinates=("a", "x", "y"),
    )
    with pytest.raises(ValueError, match="for constraints without slip"):
        dh.reduce(slipping, ["x", "y"], q=[0.0, 0.0, 0.0])

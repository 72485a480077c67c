"""check_system: it accepts what is right, and each axiom is seen broken, with its name and a small state."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.testing import AxiomFailed, axioms, check_system


class Skate(dh.System):
    """A skate in a well, written as a user would."""

    mass: float = 1.0
    inertia: float = 0.4
    stiffness: float = 0.3

    rank = 2
    coordinates = ("theta", "x", "y")

    def lagrangian(self, q, xi):
        kinetic = self.inertia * xi[0] ** 2 + self.mass * (xi[1] ** 2 + xi[2] ** 2)
        return 0.5 * kinetic - 0.5 * self.stiffness * (q[1] ** 2 + q[2] ** 2)

    def frame(self, q):
        c, s = jnp.cos(q[0]), jnp.sin(q[0])
        return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])

    def symmetries(self):
        return {"rotation": lambda q: jnp.array([1.0, -q[2], q[1]])}

    def invariants(self):
        return {"energy": dh.Invariant(lambda q, xi: dh.energy(self, q, xi), "bounded")}


class Bracketed(Skate):
    """The bracket by hand."""

    def structure(self, q):
        c = np.zeros((3, 3, 3))
        c[2, 0, 1], c[2, 1, 0], c[1, 0, 2], c[1, 2, 0] = 1.0, -1.0, -1.0, 1.0
        return jnp.array(c) + 0 * q[0]


class TurnedBack(Bracketed):
    def structure(self, q):
        return -Bracketed.structure(self, q)


class NoAlgebra(dh.systems.EulerPoincare):
    """Brackets without coordinates that no Lie algebra has."""

    def structure(self, q):
        c = super().structure(q)
        return c.at[0, 0, 1].add(1.0).at[0, 1, 0].add(-1.0)


class Leaving(dh.systems.SphericalPendulum):
    """gamma' = gamma x xi, and a little outward."""

    structure = dh.systems.SphericalPendulum.structure

    def frame(self, q):
        return super().frame(q) + 0.1 * q[:, None] * jnp.ones((1, 3))


class Unknown(Skate):
    def invariants(self):
        return {"speed": dh.Invariant(lambda q, xi: xi[1], "exact")}


class Turned(Skate):
    def symmetries(self):
        return {"translation": lambda q: jnp.array([0.0, 1.0, 0.0])}


class Massless(Skate):
    def lagrangian(self, q, xi):
        return super().lagrangian(q, xi) - 0.5 * self.mass * xi[1] ** 2


class Normed(Skate):
    """Its gradient is NaN at rest, and nowhere else."""

    def lagrangian(self, q, xi):
        return super().lagrangian(q, xi) + 0.1 * jnp.linalg.norm(xi) ** 3 / (1.0 + jnp.linalg.norm(xi))


def singular(scale):
    """A particle in a frame that is good where it is looked at, and singular where scale(q) is zero."""
    frame = lambda q: jnp.stack([jnp.stack([scale(q), 0.1 * scale(q)]), jnp.array([0.3, 1.0])], axis=1)  # noqa: E731
    return dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi - 0.1 * q @ q, frame, 2)


@pytest.mark.parametrize(
    ("scale", "there"),
    [
        (lambda q: q[0] - 0.3, [0.3]),
        (lambda q: (q[0] - 0.3) ** 2, [0.3]),  # det touches zero, and changes no sign
        (lambda q: (q[0] - 0.3) ** 2 + (q[1] + 0.2) ** 2, [0.3, -0.2]),  # at one point
    ],
    ids=["changes sign", "touches", "a point"],
)
def test_fields_dependent_away_from_the_place_are_found(scale, there):
    with pytest.raises(AxiomFailed, match="independent: the fields of frame") as failed:
        check_system(singular(scale), [0.0, 0.0])
    shown = re.search(r"dependent at q = \[(.*?)\]", str(failed.value))[1].split(", ")
    assert [float(value) for value in shown][: len(there)] == pytest.approx(there, abs=1e-5)


def test_fields_that_all_vanish_at_a_point_are_found():
    """Their condition is 1 on the way there."""
    fields = lambda q: jnp.array([[q[0] - 0.2, 0.1 - q[1]], [q[1] - 0.1, q[0] - 0.2]])  # noqa: E731
    with pytest.raises(AxiomFailed, match=r"dependent at q = \[0.2, 0.1\]"):
        check_system(dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi - 0.1 * q @ q, fields, 2), [0.0, 0.0])


def test_fields_dependent_further_away_are_not_asked():
    check_system(singular(lambda q: q[0] - 0.9), [0.0, 0.0], examples=3)
    check_system(singular(lambda q: 1.0 + (q[0] - 0.3) ** 2), [0.0, 0.0], examples=3)


class Aimed(Skate):
    """Its constraint depends on x in the frame but not in a bracket given by hand."""

    def frame(self, q):
        return super().frame(q.at[0].add(0.3 * q[1]))

    def structure(self, q):
        return Bracketed.structure(self, q)


MUTANTS = {
    "bracket": TurnedBack(),
    "bracket ": Aimed(),
    "Jacobi": NoAlgebra(),
    "tangent": Leaving(),
    "invariant 'speed'": Unknown(),
    "symmetry 'translation'": Turned(),
    "regular": Massless(),
    "finite": Normed(),
}
PLACES = {"Jacobi": [], "tangent": None}


@pytest.mark.parametrize("system", [Skate(), Bracketed()])
def test_what_is_right_passes(system):
    check_system(system, [0.1, 0.0, 0.0], reversible=True)
    with pytest.raises(AxiomFailed, match="is said not to be"):
        check_system(system, [0.1, 0.0, 0.0], reversible=False, examples=3)


@pytest.mark.parametrize("axiom", MUTANTS)
def test_each_axiom_is_seen_broken(axiom):
    with pytest.raises(AxiomFailed) as failed:
        check_system(MUTANTS[axiom], PLACES.get(axiom, [0.0, 0.0, 0.0]))
    assert str(failed.value).startswith(axiom.strip() + ":")


def test_the_state_shown_is_small():
    """x only enters Unknown's failure: heading, place and turning shrink to what the start was."""
    with pytest.raises(AxiomFailed) as failed:
        check_system(Unknown(), [0.0, 0.0, 0.0])
    q, xi = (re.search(rf"{name} = \[(.*?)\]", str(failed.value))[1].split(", ") for name in ("q", "xi"))
    assert sum(float(value) != 0 for value in (*q, *xi)) == 1
    assert "Unknown(mass=1, inertia=0.4, stiffness=0.3)" in str(failed.value)


def test_forces_and_slips_are_no_reversals():
    dragged = dh.damped(Skate(), lambda q, xi: 0.1 * xi @ xi)
    check_system(dragged, [0.0, 0.0, 0.0], reversible=False)
    with pytest.raises(AxiomFailed, match="reversible: the motion run back is no motion"):
        check_system(dragged, [0.0, 0.0, 0.0], reversible=True)


def test_an_involution_of_ones_own():
    """The skate seen in a mirror along x, run back."""

    def mirrored(q, xi):
        return q * jnp.array([-1.0, 1.0, -1.0]), xi * jnp.array([1.0, -1.0, 1.0])

    check_system(Skate(), [0.0, 0.0, 0.0], reversible=mirrored)
    with pytest.raises(AxiomFailed, match="reversible"):
        check_system(Skate(), [0.0, 0.0, 0.0], reversible=lambda q, xi: (q, xi))


class LostSign(dh.systems.ChaplyginSleigh):
    """Hamel's bracket term with the wrong sign, while the frame's bracket is right."""

    def coadjoint(self, q, xi, mu):
        return -super().coadjoint(q, xi, mu)


def test_multipliers_know_of_no_bracket():
    """A sign lost in Hamel's bracket term is found by Lagrange's equations with multipliers, which have none."""
    q, xi = jnp.array([0.3, 0.1, 0.2]), jnp.array([1.0, 0.7, 0.0])
    good, size = axioms.multipliers(axioms.state(dh.systems.ChaplyginSleigh(offset=0.4), q, xi))
    assert good < 1e-14 * size
    off, size = axioms.multipliers(axioms.state(LostSign(offset=0.4), q, xi))
    assert off > 0.1 * size


def test_constructors_and_traced_parameters():
    def L(q, v, p):
        return 0.5 * (p["inertia"] * v[0] ** 2 + v[1] ** 2 + v[2] ** 2) - p["weight"] * q[2]

    def A(q, p):
        return jnp.array([[0, -jnp.sin(q[0]), jnp.cos(q[0])]])

    system = dh.from_constraints(L, A, params={"inertia": 0.3, "weight": 2.0})
    check_system(system, [0.1, 0.0, 0.0], examples=10, reversible=True)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(system))


def test_where_must_be_said():
    with pytest.raises(ValueError, match=r"say where it is to be looked at, q=\[...\]"):
        check_system(Skate())


MALFORMED = {
    "force": (lambda self, q, xi: -0.1 * xi[:2], r"force\(q, xi\) must return shape \(3,\)"),
    "structure": (lambda self, q: jnp.zeros((3, 3)), r"structure\(q\) must return shape \(3, 3, 3\)"),
    "lagrangian": (lambda self, q, xi: 0.5 * xi * xi, "must return a scalar"),
    "slip": (lambda self, q: jnp.zeros(2), r"slip\(q\) must return shape \(1,\)"),
    "rank": (4, "rank is 4; it counts the free quasi-velocities and must be 1 to n = 3"),
    "symmetries": (lambda self: {"x": lambda q: q[:2]}, r"the symmetry 'x' of q must return shape \(3,\)"),
    "invariants": (lambda self: {"spin": lambda q, xi: xi[0]}, "is no dh.Invariant"),
}


@pytest.mark.parametrize("part", MALFORMED)
def test_what_has_a_wrong_shape_is_refused_in_a_sentence(part):
    wrong, said = MALFORMED[part]
    with pytest.raises(ValueError, match=said):
        check_system(type("Malformed", (Skate,), {part: wrong})(), [0.0, 0.0, 0.0])


def test_an_invariant_is_one_number_of_q_and_xi():
    for function, said in ((lambda q, xi: xi, "must return a scalar"), (lambda q: q[0], "positional argument")):
        declared = {"spin": dh.Invariant(function, "exact")}
        wrong = type("Malformed", (Skate,), {"invariants": lambda self, declared=declared: declared})
        with pytest.raises(ValueError, match=said):
            check_system(wrong(), [0.0, 0.0, 0.0])


def test_a_class_for_an_instance_is_refused():
    with pytest.raises(dh.InputTypeError, match=r"an instance: ChaplyginSleigh\(\), not the class"):
        dh.testing.check_system(dh.systems.ChaplyginSleigh)

"""A newcomer's mistakes with a skate: each is answered in terms of what was written, L, A, names and v."""

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

NAMES = ("x", "y", "heading")
Q, V = [0.0, 0.0, 0.3], [np.cos(0.3), np.sin(0.3), 0.5]


def L(q, v):
    return 0.5 * v @ v


def A(q):
    return jnp.array([[jnp.sin(q[2]), -jnp.cos(q[2]), 0.0]])


def without_turning(q, v):
    return 0.5 * (v[0] ** 2 + v[1] ** 2)


def forgetful(q, v):
    0.5 * v @ v  # and no return


def skate(L=L, A=A, **given):
    return lambda: dh.simulate(dh.from_constraints(L, A, **given), q=Q, v=V, h=0.1, steps=1)


def framed(L=L, frame=lambda q: jnp.eye(3), rank=3, **given):
    return lambda: dh.simulate(dh.from_velocities(L, frame, rank, **given), q=Q, v=V, h=0.1, steps=1)


MISTAKES = {
    "force too short": (skate(force=lambda q, v: -v[:2]), r"force\(q, qdot\) must return shape \(3,\).*shape \(2,\)"),
    "force in a frame too short": (framed(force=lambda q, v: -v[:2]), r"force\(q, qdot\) must return shape \(3,\)"),
    "force of one number": (skate(force=lambda q, v: -0.1), r"force\(q, qdot\) must return shape \(3,\).*shape \(\)"),
    "rows that demand too much": (skate(A=lambda q: jnp.eye(3)), r"A\(q\) has 3 rows for 3 coordinates.*no motion"),
    "rows twice": (skate(A=lambda q: jnp.concatenate([A(q), A(q)])), r"row [01] is, to .*, 1 row [01].*redundant"),
    "A flat": (skate(A=lambda q: A(q)[0]), r"A\(q\) must be k x 3, one row a constraint.*got \(3,\)"),
    "A transposed": (skate(A=lambda q: A(q).T), r"A\(q\) must be k x 3, one row a constraint.*got \(3, 1\)"),
    "b too long": (skate(b=lambda q: jnp.zeros(2)), r"b\(q\) must have shape \(1,\), one number a row of A\(q\)"),
    "free unknown": (skate(coordinates=NAMES, free=("x", "yaw")), r"free asks for .*'yaw'.*are x, y, heading"),
    "free unnamed": (skate(free=("x", "yaw")), r"free asks for the velocity of 'x', and no coordinates= are named"),
    "free too few": (skate(coordinates=NAMES, free=("x",)), r"must name 2 different coordinates"),
    "free tied": (skate(coordinates=NAMES, free=("x", "y")), r"velocity of x\) \+ .*velocity of y\) .*row 0 of A\(q\)"),
    "free one string": (skate(coordinates=NAMES, free="x"), r"free is a tuple of names or indices"),
    "L without v_2": (skate(L=without_turning), r"motion along 1 q\[2\]' carries no inertia"),
    "L without heading'": (skate(L=without_turning, coordinates=NAMES), r"motion along 1 heading' carries no inertia"),
    "the same in a frame": (framed(without_turning, coordinates=NAMES), r"motion along 1 heading' carries no inertia"),
    "L a vector": (skate(L=lambda q, v: 0.5 * v * v), r"^L\(q, qdot\) must return a scalar.* got shape \(3,\)"),
    "L without return": (skate(L=forgetful), r"forgetful returns None: is its return missing"),
    "L of q alone": (skate(L=lambda q: q @ q), r"function of \(q\) is called with 2 arguments .*L and force"),
    "params forgotten": (skate(L=lambda q, v, mass: 0.5 * mass * v @ v), r"required argument: 'mass'.*params"),
    "L and A exchanged": (skate(L=A, A=L), r"function of \(q, v\) is called with 1 arguments"),
    "names too few": (skate(coordinates=("x", "y")), r"q has 3 components; .* has 2: x, y"),
    "velocities too few": (skate(velocities=("go",)), r"1 velocities are named \(go\); xi has 2 free ones, 3 in all"),
    "velocities too many": (skate(velocities=tuple("abcd")), r"4 velocities are named .* 2 free ones, 3 in all"),
    "the same in a frame, all free": (framed(velocities=("go",)), r"1 velocities are named .* 3 free ones, 3 in all"),
    "a unit of no name": (skate(coordinates=NAMES, units={"z": "m"}), r"units has 'z', and the names are energy, head"),
    "names twice": (skate(coordinates=("x", "x", "y")), r"tuples of names, each of its own"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_answer_is_in_the_words_of_who_asked(mistake):
    go, sentence = MISTAKES[mistake]
    with pytest.raises(dh.InputError, match=sentence) as refused:
        go()
    assert not any(word in str(refused.value) for word in ("xi[", "u_1", "Traceback", "jaxpr"))


def test_units_of_rates_momenta_and_invariants_are_no_mistakes():
    units = {"t": "s", "x": "m", "x'": "m/s", "p x'": "kg m/s", "energy": "J", "speed": "m/s"}
    named = dh.from_constraints(L, A, coordinates=NAMES, units=units, invariants={"speed": lambda q, xi: xi[0]})
    assert named.units == units


def test_names_of_a_nonlinear_system_are_as_many_as_what_they_name():
    for names in ({"coordinates": ("x",)}, {"velocities": ("turn", "go")}):
        point = dh.nonlinear(L, lambda q, z: jnp.array([jnp.cos(z[0]), jnp.sin(z[0])]), 1, **names)
        with pytest.raises(dh.InputError, match=r"[qz] has [12] components, and [12] are named"):
            dh.simulate(point, q=[0.0, 0.0], xi=[0.5], h=0.1, steps=1)


def test_a_velocity_off_a_row_names_the_row():
    system = dh.from_constraints(L, A)
    for given in ({"v": [1.0, 1.0, 0.0]}, {"xi": [1.0, 0.0, 0.5]}):
        with pytest.raises(dh.InputError, match=r"row 0 demands A\(q\) v = 0 and it is"):
            dh.simulate(system, q=Q, **given, h=0.1, steps=1)


def test_a_symmetry_of_another_length_is_refused_where_it_is_used():
    system = dh.from_constraints(L, A, symmetries={"shift": lambda q: jnp.array([1.0, 0.0])})
    with pytest.raises(dh.InputError, match=r"the symmetry 'shift' must return shape \(3,\)"):
        dh.relative_equilibrium(system, q=Q, v=V)

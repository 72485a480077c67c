"""Data of another length or shape than the system has is refused by each function in the words of `simulate`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh

SLEIGH = dh.systems.ChaplyginSleigh()
UNNAMED = dh.from_quasivelocities(lambda q, xi: 0.5 * xi @ xi, SLEIGH.frame, 2)
SKATE = dh.from_constraints(lambda q, v: 0.5 * v @ v, lambda q: jnp.array([[0, -jnp.sin(q[0]), jnp.cos(q[0])]]))
STEADY = dh.nonlinear(lambda q, v: 0.5 * v @ v, lambda q, z: jnp.array([jnp.cos(z[0]), jnp.sin(z[0])]), 1)
Q, XI, H = [0.1, 0.0, 0.0], [1.5, -0.3], 0.1
SCHEME = dh.DiscreteHamel()
OF_XI = (dh.momentum, dh.energy, dh.balance, dh.hamel_force, dh.vector_field, dh.reactions, dh.velocities, dh.project)
OF_XI += (dh.power, dh.moving_energy, lambda system, q, xi: dh.start(system, SCHEME, q, xi, H))
WRONG = {
    "q short": ((Q[:2], XI), r"^q has 2 components; ChaplyginSleigh has 3: theta, x, y\."),
    "q long": (([*Q, 0.0], XI), r"^q has 4 components; ChaplyginSleigh has 3: theta, x, y\."),
    "many q": (([Q, Q], XI), r"^q must be one-dimensional, got shape \(2, 3\); for many .* use jax\.vmap\."),
    "q a word": (("abc", XI), r"^q must be real numbers, as one list or array; got 'abc'\."),
    "q masked": ((np.ma.array(Q, mask=[0, 1, 0]), XI), r"^q must be real numbers, as one .* got masked_array"),
    "xi short": ((Q, XI[:1]), r"^xi has 1 components; it needs the 2 free ones .* or all 3: omega, v1, v2\."),
    "xi long": ((Q, [*XI, 0.0, 0.0]), r"^xi has 4 components; it needs the 2 free ones .* or all 3: omega, v1, v2\."),
    "many xi": ((Q, [XI, XI]), r"^xi must be one-dimensional, got shape \(2, 2\); for many .* use jax\.vmap\."),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("function", OF_XI)
def test_each_function_refuses_what_simulate_refuses_in_its_words(function, wrong):
    given, sentence = WRONG[wrong]
    with pytest.raises(dh.InputError, match=sentence) as refused:
        function(SLEIGH, *given)
    with pytest.raises(dh.InputError) as of_simulate:
        dh.simulate(SLEIGH, *given, h=H, steps=1)
    assert str(refused.value) == str(of_simulate.value)


@pytest.mark.parametrize("function", OF_XI)
def test_what_has_the_right_length_is_taken_by_place_or_name_as_list_or_array(function):
    by_place = function(SLEIGH, Q, [*XI, 0.0])
    for again in (function(SLEIGH, np.array(Q), XI), function(SLEIGH, jnp.array(Q), xi=tuple(XI))):
        jax.tree.map(np.testing.assert_array_equal, again, by_place)


@pytest.mark.parametrize("function", [dh.momentum, dh.energy, dh.vector_field])
def test_under_jit_too(function):
    with pytest.raises(dh.InputError, match="q has 2 components; ChaplyginSleigh has 3"):
        jax.jit(function)(SLEIGH, jnp.array(Q[:2]), jnp.array(XI))


STATE = dh.start(SLEIGH, SCHEME, Q, XI, H)
OTHERS = {
    "v": (lambda: dh.quasivelocities(SLEIGH, Q, XI), r"^v has 2 components, q has 3; v is qdot"),
    "v projected": (lambda: dh.project(SLEIGH, Q, v=XI), r"^v has 2 components, q has 3; v is qdot"),
    "p": (lambda: dh.nodal_velocity(SLEIGH, Q, XI[:1]), r"^p has 1 components; it needs m = 2: omega, v1\."),
    "guess": (lambda: dh.nodal_velocity(SLEIGH, Q, XI, [0.0]), r"^guess has 1 components; it needs the 2 free"),
    "z": (lambda: dh.momentum(STEADY, [0.0, 0.0], [0.1, 0.2]), r"^z \(given as xi\) has 2 components; it needs m = 1"),
    "structure": (lambda: dh.structure(SLEIGH, Q[:1]), r"^q has 1 components; ChaplyginSleigh has 3"),
    "no names, q short": (lambda: dh.energy(UNNAMED, Q[:2], XI), r"^q has 2 components; FromQ.* has 3\."),
    "no names, q long": (lambda: dh.energy(UNNAMED, [*Q, 0.0], XI), r"^q has 4 components; FromQ.* has 3\."),
    "constraints": (lambda: dh.momentum(SKATE, Q[:2], XI), r"^A\(q\) must be k x 2, .*q of length 2; got"),
    "constraints, xi": (lambda: dh.momentum(SKATE, Q, XI[:1]), r"^xi has 1 components; it needs the 2 free ones"),
    "h of start": (lambda: dh.start(SLEIGH, SCHEME, Q, XI, [H, H]), r"^h must be one number, got shape \(2,\)"),
    "h of step": (lambda: dh.step(SLEIGH, SCHEME, STATE, jnp.array([H, H])), r"^h must be one number, got shape"),
    "q of step": (lambda: dh.step(SLEIGH, SCHEME, STATE.replace(q=STATE.q[:2]), H), r"^q has 2 components; Chaplygin"),
    "p of step": (lambda: dh.step(SLEIGH, SCHEME, STATE.replace(p=STATE.p[:1]), H), r"^p has 1 components; it needs"),
    "another scheme's state": (
        lambda: dh.step(SLEIGH, dh.DiscreteHamel(compensated=True), STATE, H), r"^a step from this state, .* cannot",
    ),
    "xi of step": (lambda: dh.step(SLEIGH, SCHEME, STATE.replace(xi=STATE.xi[:1]), H), r"^xi has 1 components; it"),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_whatever_else_is_given_has_its_length_or_a_sentence(name):
    call, sentence = OTHERS[name]
    with pytest.raises(dh.InputError, match=sentence):
        call()


WITH_CONTACT = sorted(name for name in dh.systems.__all__ if hasattr(getattr(dh.systems, name), "contact_force"))


@pytest.mark.parametrize("name", WITH_CONTACT)
def test_contact_forces_of_data_as_simulate_takes_it(name):
    system = getattr(dh.systems, name)()
    q, xi = (list(system.sample()[key]) for key in ("q", "xi"))
    assert np.shape(system.contact_force(q, xi)) == ()
    for wrong in ((q[:-1], xi), ([*q, 0.0], xi), (q, xi[:-1]), (q, [*xi, *[0.0] * 20]), ([q, q], xi)):
        with pytest.raises(dh.InputError, match=r"components; |one-dimensional"):
            system.contact_force(*wrong)

"""What a run asks of its system and scheme is found once, of trees that nobody can change; and found anew otherwise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.compiler.reading import cached_scalars
from discrete_hamel.compiler.reading.cached_scalars import kind_of, known, numbers_of, once, settle
from discrete_hamel.compiler.reading.parameters import canonical, finite_parameters


def pendulum(**given):
    return dh.systems.SphericalPendulum(**given)


def test_the_same_numbers_make_the_same_tree():
    first = canonical(pendulum(mass=1.25))
    assert canonical(pendulum(mass=1.25)) is first is canonical(first)
    assert canonical(pendulum(mass=1.5)) is not first
    assert canonical(dh.DiscreteHamel(tau=0.0)) is not canonical(dh.DiscreteHamel(tau=-0.0))
    assert canonical(dh.DiscreteHamel(tau=0.5)) is not canonical(dh.DiscreteHamel(tau=0.5, compensated=True))
    assert numbers_of(first).tolist() == [1.25, *[float(leaf) for leaf in jax.tree.leaves(first)[1:]]]
    assert kind_of(first) == kind_of(canonical(pendulum(mass=1.5))) == kind_of(first.replace(mass=jnp.asarray(2.0)))


def test_arrays_are_known_by_identity_not_by_value():
    array = jnp.asarray([1.0, 2.0])
    assert settle((array,)) is settle((array,))
    assert settle((array,)) is not settle((jnp.asarray([1.0, 2.0]),))
    assert settle((np.array([1.0, 2.0]),)) is None  # its owner may change it


def test_what_was_given_away_is_made_again():
    tree = settle((0.987,))
    tree[0].delete()
    assert not known(tree)
    assert settle((0.987,))[0] == 0.987


def test_what_is_made_under_jit_is_not_kept():
    seen = []
    jax.jit(lambda x: seen.append(settle((x, 0.4321))))(jnp.ones(()))
    assert seen[0] is not None
    assert not known(seen[0])
    assert known(settle((0.4321,)))
    assert not isinstance(settle((0.4321,))[0], jax.core.Tracer)


def test_what_is_not_here_or_too_much_is_not_kept(monkeypatch):
    """Here: an array of three stands for one whose numbers other processes have."""
    here = property(lambda array: array.shape != (3,))
    monkeypatch.setattr(type(jnp.zeros(3)), "is_fully_addressable", here)
    for size in (3, cached_scalars.LARGEST + 1):
        tree = settle((jnp.arange(float(size)),))
        assert tree is not None
        assert not known(tree)
    assert known(settle((jnp.arange(float(cached_scalars.LARGEST)),)))


def test_it_is_bounded_and_freed():
    for k in range(3 * cached_scalars._found.most):
        last = settle((float(k), 2.0))
    assert known(last)
    assert len(cached_scalars._found) <= cached_scalars._found.most
    assert len(cached_scalars._settled) <= cached_scalars._settled.most
    dh.clear_caches()
    assert not cached_scalars._found
    assert not known(last)
    assert once(len, last) == 2  # asked for whatever is known


def test_a_refusal_is_no_answer():
    for _ in range(3):
        with pytest.raises(ValueError, match="mass of SphericalPendulum must be positive"):
            dh.simulate(pendulum(mass=-1.0), q=[0.6, 0.0, -0.8], xi=[0.3, -0.2], h=0.01, steps=1)
        with pytest.raises(ValueError, match="mass"):
            finite_parameters(canonical(pendulum(mass=np.inf)))
        with pytest.raises(ValueError, match="tau is 1.5"):
            dh.simulate(pendulum(), [0.6, 0.0, -0.8], [0.3, -0.2], h=0.01, steps=1, scheme=dh.DiscreteHamel(tau=1.5))


class Watched(dh.systems.SphericalPendulum):
    """Its check looks at more than its parameters."""

    allowed = [True]

    def check(self):
        if not self.allowed[0]:
            raise ValueError("not today")


def test_a_check_of_the_users_own_is_asked_each_time():
    run = {"q": [0.6, 0.0, -0.8], "xi": [0.3, -0.2], "h": 0.01, "steps": 1}
    dh.simulate(Watched(), **run)
    Watched.allowed[0] = False
    try:
        with pytest.raises(ValueError, match="not today"):
            dh.simulate(Watched(), **run)
        with pytest.raises(ValueError, match="not today"):
            dh.simulate(dh.forced(Watched(), lambda q, xi: -0.1 * xi), **run)
    finally:
        Watched.allowed[0] = True


def test_new_numbers_are_never_those_of_before():
    """Of parameters, scheme, place and velocity: each alone changes what comes out, also where all are known."""
    usual = {"q": [0.6, 0.0, -0.8], "xi": [0.3, -0.2], "h": 0.1, "steps": 7}
    for _ in range(4):
        first = dh.simulate(pendulum(), **usual).q[-1]
    others = [
        dh.simulate(pendulum(gravity=9.0), **usual),
        dh.simulate(pendulum(), **usual | {"q": [0.0, 0.6, -0.8]}),
        dh.simulate(pendulum(), **usual | {"xi": [0.3, -0.1]}),
        dh.simulate(pendulum(), **usual | {"h": 0.11}),
        dh.simulate(pendulum(), **usual, scheme=dh.DiscreteHamel(tau=0.4)),
    ]
    assert all(abs(traj.q[-1] - first).max() > 1e-4 for traj in others)
    assert np.array_equal(dh.simulate(pendulum(), **usual).q[-1], first)

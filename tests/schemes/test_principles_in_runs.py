"""Principles and several points, with parts of one's own: every way to run, from a store, resumed, differentiated."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cases import SLEIGH

import discrete_hamel as dh

Q, XI, H, STEPS = np.array(SLEIGH.q), np.array(SLEIGH.xi), 0.05, 20


def between(q0, q1, tau):
    return (1 - tau) * q0 + tau * q1


def weighed(system, q, xi, eta0, eta1, h, tau):
    mean = (1 - tau) * eta0 + tau * eta1
    return mean, (eta1 - eta0) / h + dh.bracket(system, q, xi, mean)


def by_both_ends(system, q0, q1, xi, h):
    return q1 - q0 - h * (system.frame(q0) + system.frame(q1)) @ xi / 2


def on_chord(system, q0, q1, h, tau):
    q = between(q0, q1, tau)
    return h * system.lagrangian(q, jnp.linalg.solve(system.frame(q), (q1 - q0) / h))


def blade(system, q0, q1, h, tau):
    heading = between(q0, q1, tau)[0]
    return jnp.cos(heading) * (q1[2] - q0[2]) - jnp.sin(heading) * (q1[1] - q0[1])


def written_out(system, q, xi, eta, rate):
    return rate + dh.bracket(system, q, xi, eta)


SCHEMES = {
    "point and variation": dh.Principle(point=between, variation=weighed, params=0.4),
    "reconstruction": dh.Principle(reconstruction=by_both_ends, variation="derived"),
    "two points, a constraint": dh.Principle(two_point=on_chord, constraint=blade, point=between, params=0.4),
    "staggered": dh.Principle(staggered=True),
    "Galerkin, a variation": dh.Galerkin(2, variation=written_out),
    "Galerkin, derived": dh.Galerkin(2, quadrature="lobatto", variation="derived"),
}


def run(name, xi=XI, steps=STEPS, scheme=None, h=H, **options):
    scheme = SCHEMES[name] if scheme is None else scheme
    return dh.simulate(SLEIGH.system, Q, xi, h=h, steps=steps, scheme=scheme, **options)


@pytest.mark.parametrize("name", ["two points, a constraint", "Galerkin, a variation"])
def test_every_way_to_run_is_the_same_run(name):
    """`test_principle.py` has the plain path."""
    many = np.stack([XI, 1.1 * XI])
    ours = run(name)
    assert ours.report.path == "compiled"
    one_after_another = [ours.q, run(name, many[1]).q]
    traced = jax.jit(jax.vmap(lambda xi: run(name, xi).q))(many)
    members = dh.ensemble(SLEIGH.system, [Q] * 2, many, h=H, steps=STEPS, scheme=SCHEMES[name])
    for k in (0, 1):
        assert np.max(np.abs(traced[k] - one_after_another[k])) < 1e-12
        assert np.max(np.abs(np.asarray(members.q)[k, -1] - one_after_another[k][-1])) < 1e-12
    assert np.max(np.abs(traced[1] - traced[0])) > 1e-3


@pytest.mark.parametrize("name", SCHEMES)
def test_a_store_is_loaded_and_gone_on_with(tmp_path, name):
    store = tmp_path / "run.zarr"
    run(name, steps=8, store=store)
    again, whole = run(name, store=store, resume=True), run(name)
    for part in ("t", "q", "p", "xi", "xi_mid"):
        assert np.array_equal(getattr(again, part), getattr(whole, part)), part
    loaded = dh.load(store, scheme=SCHEMES[name])
    assert np.array_equal(loaded.q, whole.q)
    assert repr(loaded.scheme) == repr(SCHEMES[name])


@pytest.mark.parametrize("name", ["point and variation", "Galerkin, derived"])
def test_gradients_are_those_of_the_run(name):
    """By the start, the step and the principle's own parameter, against differences of runs."""

    def end(speed, h, tau):
        scheme = SCHEMES[name] if name.startswith("Galerkin") else SCHEMES[name].replace(params=tau)
        return jnp.sum(run(name, XI * speed, h=h, scheme=scheme).q[-1] ** 2)

    at = np.array([1.0, H, 0.4])
    slopes = np.array(jax.jit(jax.grad(end, (0, 1, 2)))(*at))
    for k, d in enumerate(1e-5 * np.eye(3)):
        expected = (end(*(at + d)) - end(*(at - d))) / 2e-5
        assert slopes[k] == pytest.approx(float(expected), rel=1e-6, abs=1e-8), k


def test_a_part_of_ones_own_that_has_changed_is_noticed(tmp_path):
    """The library's schemes change with its version; the user's functions within them do not."""

    def flattened(system, q, xi, eta0, eta1, h, tau):
        mean, change = weighed(system, q, xi, eta0, eta1, h, tau)
        return mean, change - 0.1 * dh.bracket(system, q, xi, mean)

    flattened.__name__, flattened.__qualname__ = "weighed", "weighed"
    store, edited = tmp_path / "run.zarr", SCHEMES["point and variation"].replace(variation=flattened)
    run("point and variation", steps=8, store=store)
    with pytest.raises(ValueError, match="the code of the scheme's step has changed"):
        run("point and variation", scheme=edited, store=store, resume=True)

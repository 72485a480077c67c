"""Every catalogue system from rest, at the origin and at its sample: under jit, vmap and grad what the host has."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel.runs import validation as checks

STEPS = 3


@pytest.mark.slow
@pytest.mark.parametrize("name", dh.systems.__all__)
def test_traced_as_on_the_host(name):
    """To 1e-12 of its size, and its derivative to what differences over 1e-5 know; or refused with the same sentence,
    or failing at the same step."""
    system = getattr(dh.systems, name)()
    data = system.sample()
    ready, q, xi = checks.initial_data(system, data["q"], data.get("xi"), data.get("v"))
    z, h = np.asarray(xi)[: ready.rank], data["h"]
    starts = [(q, z), (q, 0 * z), (0 * q, z)]

    def run(q, z):
        return dh.simulate(system, q, z, h=h, steps=STEPS)

    traced = jax.jit(jax.vmap(run))(*(jnp.stack([jnp.asarray(s[i]) for s in starts]) for i in range(2)))
    alone = jax.jit(run)(*map(jnp.asarray, starts[1]))
    for k, (q, z) in enumerate(starts):
        of_batch = jax.tree.map(lambda leaf, k=k: np.asarray(leaf)[k], traced)
        try:
            host = dh.simulate(system, q, z, h=h, steps=STEPS, on_failure="mark")
        except ValueError as refused:
            assert of_batch.refusal() == str(refused)  # noqa: PT017  # the same sentence
            continue
        for traj in (of_batch, alone) if k == 1 else (of_batch,):
            assert np.array_equal(traj.report.converged, host.report.converged)
            for quantity in ("q", "p", "xi", "xi_mid"):
                a, b = (np.asarray(getattr(x, quantity)) for x in (traj, host))
                size = np.max(np.abs(b), where=np.isfinite(b), initial=1e-300)
                assert np.array_equal(np.isnan(a), np.isnan(b))
                assert np.max(np.abs(a - b), where=np.isfinite(b), initial=0.0) <= 1e-12 * max(size, 1.0)

    def end(s):
        traj = run(jnp.asarray(q0), s * jnp.asarray(z0))
        return jnp.sum(traj.xi[-1] ** 2)

    q0, z0 = starts[0]
    slope = jax.jit(jax.grad(end))(1.0)
    host = [float(np.sum(run(q0, s * z0).xi[-1] ** 2)) for s in (1.00001, 0.99999)]
    assert abs(slope - (host[0] - host[1]) / 2e-5) <= 1e-6 * max(1.0, abs(slope), abs(host[0]))

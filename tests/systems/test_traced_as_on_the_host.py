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
    """To 1e-12 of its size, and its derivatives to what differences over 1e-5 know; or refused with the same sentence,
    or failing at the same step."""
    system = getattr(dh.systems, name)()
    data = system.sample()
    ready, q, xi = checks.initial_data(system, data["q"], data.get("xi"), data.get("v"))
    z, h = np.asarray(xi)[: ready.rank], data["h"]
    starts = [(jnp.asarray(q), jnp.asarray(z)) for q, z in ((q, z), (q, 0 * z), (0 * q, z))]

    def run(q, z):
        return dh.simulate(system, q, z, h=h, steps=STEPS)

    traced = jax.jit(jax.vmap(run))(*map(jnp.stack, zip(*starts, strict=True)))
    alone, ran = jax.jit(run)(*starts[1]), []
    for k, (q, z) in enumerate(starts):
        of_batch = jax.tree.map(lambda leaf, k=k: np.asarray(leaf)[k], traced)
        try:
            host = dh.simulate(system, q, z, h=h, steps=STEPS, on_failure="mark")
        except ValueError as refused:
            assert of_batch.refusal() == str(refused)  # noqa: PT017  # the same sentence
            continue
        if np.all(host.report.converged):
            ran.append(k)
        for traj in (of_batch, alone) if k == 1 else (of_batch,):
            assert np.array_equal(traj.report.converged, host.report.converged)
            for quantity in ("q", "p", "xi", "xi_mid"):
                a, b = (np.asarray(getattr(x, quantity)) for x in (traj, host))
                size = np.max(np.abs(b), where=np.isfinite(b), initial=1e-300)
                assert np.array_equal(np.isnan(a), np.isnan(b))
                assert np.max(np.abs(a - b), where=np.isfinite(b), initial=0.0) <= 1e-12 * max(size, 1.0)

    # The derivative along the sample's velocity, and a little of every coordinate.
    q0, z0 = starts[0]
    along = 1e-2 * jnp.cos(jnp.arange(len(q0))) if not len(system.holonomic(q0)) else 0 * q0

    def end(s, q, z):
        traj = run(q + s * along, z + s * z0)
        return jnp.sum(traj.xi[-1] ** 2) + jnp.sum(jnp.sin(traj.q[-1]))

    slopes = jax.jit(jax.vmap(jax.grad(end), (None, 0, 0)))(0.0, *map(jnp.stack, zip(*starts, strict=True)))
    for k in ran:
        ahead, behind = (float(end(s, *starts[k])) for s in (1e-5, -1e-5))
        assert abs(slopes[k] - (ahead - behind) / 2e-5) <= 1e-6 * max(1.0, abs(slopes[k]), abs(ahead))

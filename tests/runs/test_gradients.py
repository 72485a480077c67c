"""Derivatives through simulate by initial data, parameters and h, against differences and each other."""

import os
import subprocess
import sys

import cartesian
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from problems import DISK, PENDULUM, SLEIGH

import discrete_hamel as dh

STEPS = 20


def sleigh_end(z):
    """z = (q, xi, mass, inertia, offset, h)."""
    system = dh.systems.ChaplyginSleigh(*z[5:8])
    end = dh.simulate(system, q=z[:3], xi=z[3:5], h=z[8], steps=STEPS)
    return end.q[-1] @ jnp.array([1.0, 2.0, -1.0]) + end.energy[-1] + end.xi[-1, 0] * end.p[-1, 1]


def disk_end(z):
    """z = (q, xi, five parameters, h)."""
    end = dh.simulate(dh.systems.RollingDisk(*z[8:13]), q=z[:5], xi=z[5:8], h=z[13], steps=STEPS)
    return jnp.sin(end.q[-1]).sum() + end.xi[-1, 0]


def pendulum_end(z):
    end = dh.simulate(dh.systems.SphericalPendulum(*z[5:8]), q=z[:3], xi=z[3:5], h=z[8], steps=STEPS)
    return end.q[-1] @ jnp.array([1.0, 2.0, -1.0]) + end.xi[-1, 0]


CONSTRAINED = dh.from_constraints(cartesian.sleigh, cartesian.blade, params=cartesian.SLEIGH).at(SLEIGH.q)


def constrained_end(z):
    """The same sleigh from its constraint; z as in sleigh_end."""
    end = dh.simulate(CONSTRAINED.replace(params=z[5:8]), q=z[:3], xi=z[3:5], h=z[8], steps=STEPS)
    return end.q[-1] @ jnp.array([1.0, 2.0, -1.0])


POINTS = {
    sleigh_end: [*SLEIGH.q, *SLEIGH.xi, 1.0, 0.7, 0.4, 0.05],
    constrained_end: [*SLEIGH.q, 0.5, -0.3, 1.0, 0.7, 0.4, 0.05],
    disk_end: [*DISK.q, *DISK.xi, 1.0, 1.0, 0.25, 0.5, 9.8, 0.02],
    pendulum_end: [*PENDULUM.q, *PENDULUM.xi, 1.0, 9.8, 9.8, 0.1],
}
COMPILED = {end: jax.jit(jax.vmap(end)) for end in POINTS}
GRADIENTS = {end: jax.jit(jax.vmap(jax.grad(end))) for end in POINTS}


def central_differences(batched, point) -> np.ndarray:
    """Fourth-order central differences in every direction at once: error about 1e-12 from either side."""
    eps = 1e-3 * np.maximum(1.0, np.abs(point)) * np.where(np.abs(point) < 0.2, 0.1, 1.0)
    shifts = np.concatenate([k * np.diag(eps) for k in (-2, -1, 1, 2)])
    below2, below, above, above2 = np.split(np.asarray(batched(jnp.asarray(point + shifts))), 4)
    slope = (below2 - 8 * below + 8 * above - above2) / 12
    return slope / (eps if slope.ndim == 1 else eps[:, None])


@pytest.mark.parametrize("end", POINTS, ids=lambda end: end.__name__)
def test_gradient_by_data_parameters_and_step(end):
    point = np.array(POINTS[end])
    gradient = np.asarray(GRADIENTS[end](jnp.asarray(point[None])))[0]
    expected = central_differences(COMPILED[end], point)
    assert gradient == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert np.all(np.abs(gradient[-1]) > 1e-3)  # the step matters


def test_forward_mode_is_reverse_mode():
    point = jnp.array(POINTS[sleigh_end])
    forward = jax.jit(jax.jacfwd(sleigh_end))(point)
    assert np.asarray(forward) == pytest.approx(np.asarray(GRADIENTS[sleigh_end](point[None]))[0], rel=1e-10, abs=1e-11)


def test_second_derivative():
    point = np.array(POINTS[sleigh_end])
    hessian = np.asarray(jax.jit(jax.jacfwd(jax.grad(sleigh_end)))(jnp.asarray(point)))
    assert hessian == pytest.approx(hessian.T, rel=1e-9, abs=1e-9)
    assert hessian == pytest.approx(central_differences(GRADIENTS[sleigh_end], point), rel=1e-6, abs=1e-6)


def test_jit_and_vmap_are_the_run_itself():
    """What is traced is the same scheme: the host loop, one after the other, and vmap agree to round-off."""
    point = np.array(POINTS[sleigh_end])
    points = point + 0.01 * np.arange(3)[:, None]
    one_by_one = [float(sleigh_end(jnp.asarray(z))) for z in points]
    plain = [
        dh.simulate(dh.systems.ChaplyginSleigh(*z[5:8]), q=z[:3], xi=z[3:5], h=z[8], steps=STEPS).q[-1] for z in points
    ]
    batched = COMPILED[sleigh_end](jnp.asarray(points))
    assert np.asarray(batched) == pytest.approx(one_by_one, rel=1e-12)
    traced = jax.vmap(
        lambda z: dh.simulate(dh.systems.ChaplyginSleigh(*z[5:8]), q=z[:3], xi=z[3:5], h=z[8], steps=STEPS).q[-1]
    )
    assert np.asarray(jax.jit(traced)(jnp.asarray(points))) == pytest.approx(np.array(plain), rel=1e-12, abs=1e-13)


def test_gradient_with_saved_nodes_only():
    def end(h):
        trajectory = dh.simulate(SLEIGH.system, q=SLEIGH.q, xi=SLEIGH.xi, h=h, steps=STEPS, save_every=5)
        return trajectory.q[-1] @ jnp.array([1.0, 2.0, -1.0])

    both = jax.jit(jax.value_and_grad(end))
    slope = (both(0.05001)[0] - both(0.04999)[0]) / 2e-5
    assert float(both(0.05)[1]) == pytest.approx(float(slope), rel=1e-6)


def test_gradient_of_the_reference_formulas():
    """The formalism itself is differentiable: d(energy)/d(xi) = M xi for the sleigh."""
    gradient = jax.grad(lambda xi: dh.energy(SLEIGH.system, SLEIGH.q, xi))(jnp.array(SLEIGH.xi))
    assert np.asarray(gradient) == pytest.approx(np.asarray(dh.momentum(SLEIGH.system, SLEIGH.q, SLEIGH.xi))[:2])


WITHOUT_COORDINATES = """
import sys, warnings
import jax, jax.numpy as jnp
import discrete_hamel as dh

warnings.simplefilter("ignore")
for name in ("EulerPoincare", "EulerPoincareSuslov", "ReducedSuslov"):
    system = getattr(dh.systems, name)()
    data = system.sample()

    def end(xi, h):
        traj = dh.simulate(system, q=data["q"], xi=xi, h=h, steps=4)
        return jnp.sum(traj.xi[-1] ** 2) + jnp.sum(jnp.sin(traj.p[-1])) + traj.energy[-1]

    slopes = jax.grad(end, (0, 1))(jnp.asarray(data["xi"]), jnp.asarray(0.05))
    print(*(slope.dtype for slope in slopes), *slopes[0].tolist(), float(slopes[1]))
"""


def test_without_coordinates_and_in_single_precision_there_are_gradients_too():
    """The same as in double precision, to single precision's round-off."""
    lines = []
    for double in ("1", "0"):
        environment = os.environ | {"JAX_ENABLE_X64": double}
        command = [sys.executable, "-c", WITHOUT_COORDINATES]
        out = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        lines.append([line.split() for line in out.stdout.splitlines()])
    for double, single in zip(*lines, strict=True):
        assert (double[:2], single[:2]) == (["float64"] * 2, ["float32"] * 2)
        assert np.array(single[2:], float) == pytest.approx(np.array(double[2:], float), rel=1e-4, abs=1e-4)

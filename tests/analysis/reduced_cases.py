"""Systems with symmetry, reduced: what the tests of reduction share."""

import jax
import jax.numpy as jnp

import discrete_hamel as dh
from discrete_hamel.mechanics import hamel


def about(axis, angle):
    c, s = jnp.cos(angle), jnp.sin(angle)
    if axis == 0:
        return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])
    return jnp.array([[c, 0, s], [0, 1.0, 0], [-s, 0, c]])


def tilt(r):
    """A body of revolution leaning by r."""
    return jnp.concatenate([about(0, r[0]).reshape(9), jnp.zeros(2)])


def tilts(r):
    """A body leaning by two angles, above the origin."""
    return jnp.concatenate([(about(0, r[0]) @ about(1, r[1])).reshape(9), jnp.zeros(2)])


def disk():
    return dh.reduce(dh.systems.RollingDisk())


def sleigh():
    return dh.reduce(dh.systems.SleighOscillator())


def top():
    return dh.reduce(dh.systems.RouthTop(), section=tilt, r=0.9, names=("theta",))


def sphere(**parameters):
    turn_first = lambda r: jnp.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])  # noqa: E731  # S is the turn
    return dh.reduce(dh.systems.ChaplyginSphere(**parameters), section=tilts, r=[0.3, 0.2], basis=turn_first)


def rattleback():
    return dh.reduce(dh.systems.Rattleback(), section=tilts, r=[0.0, 0.0])


CASES = {
    "disk": disk,
    "sleigh-oscillator": sleigh,
    "Routh top": top,
    "Chaplygin sphere": sphere,
    "rattleback": rattleback,
}


def accelerations(reduced, r, xi):
    """q'' at sigma(r), by the whole system and by the reduced one, and q'.

    q' = g T w, w = transition(r) (r', Omega), g' = g xi: q'' = xi T w + T' w + T w' at g = 1.
    """
    system, s = reduced.system, reduced.shapes_count
    q, xi = reduced.section(r), hamel.full(reduced, r, xi)
    turn = lambda r, xi: reduced.transition(r) @ xi  # noqa: E731
    w = turn(r, xi)
    z = reduced.upstairs(r) @ w
    velocity, acceleration = hamel.vector_field(system, q, z)
    _, whole = jax.jvp(lambda q, z: system.frame(q) @ z, (q, z), (velocity, acceleration))
    rate, change = hamel.vector_field(reduced, r, xi)
    _, brought = jax.jvp(lambda r, xi: reduced.tangent(r) @ turn(r, xi), (r, xi), (rate, change))
    linear = jnp.einsum("a,aij->ij", w[s:], reduced.actions)[:-1, :-1]
    return whole, brought + linear @ velocity, velocity


def held_against(reduced, r, xi):
    """The same, and (4.9), (4.10) beside the balances of the reduced system; all in one compilation."""
    s, m = reduced.shapes_count, reduced.rank
    whole, brought, velocity = accelerations(reduced, r, xi)
    momentum, force = hamel.balance(reduced, r, xi)
    slope = jax.grad(reduced.constrained_lagrangian)(r, xi)
    at = dh.coefficients(reduced, r)
    p, rate = momentum[s:m], xi[:s]
    printed = jnp.concatenate([at.shape_force(p, rate) + slope, at.momentum_rate(p, rate)])
    return whole, brought, velocity, force, printed, at


def quickly(function, *arguments):
    """Compiled without optimisation: it runs once."""
    return jax.jit(function, compiler_options={"xla_backend_optimization_level": 0})(*arguments)

"""A hunt: programs as a new user would write them, each against something independent of the path that it takes.

    python -m benchmarks.hunt [words of names ...]

Each program returns how far off it is, and is held to a bound from theory: round-off against `compiled=False` and
closed forms, a slope against `dh.reference`, the square root of round-off against finite differences.
"""

# ruff: noqa: ARG002, ARG005  # Lagrangians and frames keep their signature whatever they use of it

import copy
import pickle
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

import discrete_hamel as dh

ROUND_OFF = 1e-11  # of some hundred steps at scale 1


class Program(NamedTuple):
    """What is run, what it is compared with, and how far off it may be."""

    run: Callable[[], Any]
    against: str
    bound: float


PROGRAMS: dict[str, Program] = {}


def program(against: str, bound: float = ROUND_OFF) -> Callable:
    """Enter a function into `PROGRAMS` under its name."""

    def enter(run: Callable) -> Callable:
        PROGRAMS[run.__name__] = Program(run, against, bound)
        return run

    return enter


def off(found: Any, expected: Any) -> float:
    """The largest difference, relative to the size of what is expected where that is above 1; inf where one is NaN."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    if found.shape != expected.shape:
        return np.inf
    gap = np.max(np.abs(found - expected), initial=0.0) / max(1.0, np.max(np.abs(expected), initial=0.0))
    return float(gap) if np.isfinite(gap) else np.inf


def paths(system: Any, **run: Any) -> float:
    """The run by whatever path it takes against the plain one: q, p and xi at the nodes, xi between them."""
    fast, plain = dh.simulate(system, **run), dh.simulate(system, **run, compiled=False)
    return max(off(getattr(fast, a), getattr(plain, a)) for a in ("q", "p", "xi", "xi_mid"))


def refused(run: Callable, *words: str) -> float:
    """0 where the run is refused in words that contain these, 1 where it runs, 2 where something else is raised."""
    try:
        run()
    except (ValueError, TypeError, dh.RunFailed) as error:
        return 0.0 if all(word in str(error) for word in words) else 2.0
    return 1.0


def slope(system: Any, q: Any, xi: Any, order: int, h: float = 0.05, **how: Any) -> float:
    """How far the order observed against `dh.reference` is below the order claimed; 0 at round-off."""
    exact = dh.reference(system, q, xi, t=1.0).q[-1]
    errors = [off(dh.simulate(system, q, xi, h=a, steps=round(1 / a), **how).q[-1], exact) for a in (h, h / 2)]
    return 0.0 if errors[1] < 1e-11 else max(0.0, order - float(np.log2(errors[0] / errors[1])))


def eye(n: int) -> Callable:
    return lambda q: jnp.eye(n)


def natural(potential: Callable, n: int, **more: Any) -> Any:
    """L = v.v / 2 - U(q) in n coordinates."""
    return dh.from_velocities(lambda q, v: 0.5 * v @ v - potential(q), eye(n), n, **more)


def blade(q: Any) -> Any:
    c, s = jnp.cos(q[0]), jnp.sin(q[0])
    return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def sideways(q: Any) -> Any:
    return jnp.array([[0.0, -jnp.sin(q[0]), jnp.cos(q[0])]])


def skate_energy(q: Any, v: Any) -> Any:
    return 0.5 * (0.1 * v[0] ** 2 + v[1] ** 2 + v[2] ** 2) + q[1]


def skate(**more: Any) -> Any:
    return dh.from_velocities(skate_energy, blade, 2, **more)


def sine(n: int) -> np.ndarray:
    return np.sin(np.arange(n) / 2)


def chain(potential: Callable, n: int, **run: Any) -> float:
    run = {"q": sine(n), "xi": 0.1 * np.cos(np.arange(n)), "h": 0.05, "steps": 100} | run
    return paths(natural(potential, n), **run)


PLAIN = "compiled=False"


# Chains: array operations along the coordinates (review 26).


@program(PLAIN)
def second_differences() -> float:
    return chain(lambda q: 0.5 * jnp.sum(jnp.diff(q, 2) ** 2), 12, steps=400)


@program(PLAIN)
def third_differences_of_forty() -> float:
    return chain(lambda q: 0.5 * jnp.sum(jnp.diff(q, 3) ** 2) + 0.1 * q @ q, 40)


@program(PLAIN)
def sums_along_a_chain() -> float:
    return chain(lambda q: -jnp.sum(jnp.cos(jnp.cumsum(q))), 9)


@program(PLAIN)
def sums_and_choices_along_a_chain() -> float:
    return chain(lambda q: jnp.sum(jnp.where(jnp.cumsum(q) > 1.0, 2 * q**2, q**2) + jnp.cumsum(q) ** 2 / 8), 14)


@program(PLAIN)
def springs_that_only_pull() -> float:
    return chain(lambda q: jnp.sum(jnp.where(jnp.diff(q) > 0.1, (jnp.diff(q) - 0.1) ** 2, 0.0)), 16)


@program(PLAIN)
def a_ring_by_roll() -> float:
    return chain(lambda q: jnp.sum(1 - jnp.cos(jnp.roll(q, 1) - q)), 11)


@program(PLAIN)
def reversed_and_strided() -> float:
    return chain(lambda q: 0.5 * jnp.sum((q[::2] - q[::-2]) ** 2) + 0.5 * jnp.sum(q[::-1][:4] * q[:4]) + q @ q, 10)


@program(PLAIN)
def sorted_and_largest() -> float:
    return chain(lambda q: 0.5 * jnp.sum(jnp.sort(q) * jnp.arange(8)) + 0.5 * q @ q + 0.1 * jnp.max(q), 8, steps=25)


@program(PLAIN)
def a_convolution() -> float:
    return chain(lambda q: 0.5 * jnp.sum(jnp.convolve(q, jnp.array([1.0, -2.0, 1.0]), mode="same") ** 2), 12)


@program(PLAIN)
def energy_in_modes_by_fft() -> float:
    return chain(lambda q: 0.5 * jnp.sum(jnp.abs(jnp.fft.rfft(q)) ** 2 * jnp.arange(5.0)) / 8, 8)


@program(PLAIN)
def all_pairs() -> float:
    def gravity(q: Any) -> Any:
        x = q.reshape(5, 2)
        r2 = jnp.sum((x[:, None] - x[None]) ** 2, axis=2) + jnp.eye(5)
        return -jnp.sum(jnp.where(jnp.eye(5, dtype=bool), 0.0, 1 / jnp.sqrt(r2)))

    return chain(gravity, 10, q=3 * np.arange(10.0) * np.tile([1, -1], 5), h=0.05)


@program(PLAIN)
def a_loop_by_scan_within_the_potential() -> float:
    def energy(q: Any) -> Any:
        angle, each = jax.lax.scan(lambda a, x: (a + x, jnp.cos(a + x)), 0.0, q)
        return -jnp.sum(each) + 0.01 * angle**2

    return chain(energy, 6)


@program(PLAIN)
def fori_cond_and_switch() -> float:
    def energy(q: Any) -> Any:
        total = jax.lax.fori_loop(0, 3, lambda i, a: a + q[i] ** 2 * (i + 1.0), 0.0)
        return total + jax.lax.cond(q[0] > 0, lambda: q[0] ** 2, lambda: 3 * q[0] ** 2)

    return chain(energy, 3)


@program(PLAIN)
def floor_mod_interp() -> float:
    def energy(q: Any) -> Any:
        table = jnp.interp(q[0], jnp.linspace(-3.0, 3.0, 13), jnp.linspace(-3.0, 3.0, 13) ** 2)
        return table + 0.1 * jnp.mod(q[1] + 10, 20.0) ** 2 / 4 + 0.0 * jnp.floor(q[1])

    return chain(energy, 2, q=[0.3, 0.4], xi=[0.05, 0.1], steps=40)


@program(PLAIN)
def custom_derivative() -> float:
    @jax.custom_jvp
    def well(x: Any) -> Any:
        return x**4 / 4

    well.defjvp(lambda x, dx: (well(x[0]), x[0] ** 3 * dx[0]))
    return chain(lambda q: well(q[0]) + q[1] ** 2 * q[0] ** 2, 2, q=[1.0, 0.5], xi=[0.0, 0.3])


@program(PLAIN)
def a_mass_matrix_that_is_inverted() -> float:
    def lagrangian(q: Any, v: Any) -> Any:
        m = jnp.eye(4) * 3 + jnp.outer(jnp.sin(q), jnp.sin(q))
        return 0.5 * v @ jnp.linalg.inv(m) @ v + jnp.linalg.slogdet(m)[1]

    return paths(dh.from_velocities(lagrangian, eye(4), 4), q=sine(4), xi=np.ones(4), h=0.05, steps=100)


@program(PLAIN)
def a_net_as_potential() -> float:
    layers = [
        (np.cos(np.arange(16 * 3)).reshape(16, 3), np.zeros(16)),
        (np.sin(np.arange(16.0)).reshape(1, 16), np.full(1, 0.1)),
    ]
    layers = jax.tree.map(jnp.asarray, layers)

    def energy(q: Any, v: Any, p: Any) -> Any:
        (a, b), (c, d) = p["layers"]
        return 0.5 * v @ v - (c @ jnp.tanh(a @ q + b) + d)[0] - q @ q

    net = dh.from_velocities(energy, lambda q, p: jnp.eye(3), 3, params={"layers": layers, "unused": np.ones((2, 2))})
    return paths(net, q=[0.1, 0.2, -0.3], xi=[1.0, 0, 0], h=0.05, steps=100)


# Parameters, forces, derivatives that the user overrides (review 27, 34).


@program(PLAIN)
def unused_array_parameter() -> float:
    params = {"s": 1.0, "unused": np.array([0.8, 1.1])}
    system = dh.from_velocities(
        lambda q, v, p: 0.5 * v @ v - 0.5 * p["s"] * q @ q, lambda q, p: jnp.eye(7), 7, params=params
    )
    return paths(system, q=sine(7), xi=np.zeros(7), h=0.05, steps=100)


@program(PLAIN)
def integer_boolean_and_missing_parameters() -> float:
    params = (2, {"on": True, "none": None, "k": np.arange(1, 4)})

    def energy(q: Any, v: Any, p: Any) -> Any:
        return 0.5 * p[0] * v @ v - 0.5 * jnp.where(p[1]["on"], q @ (p[1]["k"] * q), 0.0)

    system = dh.from_velocities(energy, lambda q, p: jnp.eye(3), 3, params=params)
    return paths(system, q=[1, 0, 2], xi=[0, 1, 0], h=0.05, steps=100)


@program(PLAIN)
def stopped_gradient_in_the_drag() -> float:
    system = natural(lambda q: 0.5 * q @ q, 2, force=lambda q, v: -0.7 * jax.lax.stop_gradient(v))
    return paths(system, q=[1.0, 0], xi=[0, 1.0], h=0.05, steps=200)


@program(PLAIN)
def dry_friction_by_a_smooth_sign() -> float:
    system = natural(lambda q: 0.5 * q @ q, 2, force=lambda q, v: -0.1 * jnp.tanh(50 * v))
    return paths(system, q=[1.0, 0.5], xi=[0, 1.0], h=0.01, steps=300)


@program(PLAIN)
def dry_friction_by_sign_while_it_slides() -> float:
    system = natural(lambda q: 0.0 * q[0], 1, force=lambda q, v: -0.3 * jnp.sign(v))
    return paths(system, q=[0.0], xi=[1.0], h=0.01, steps=300)


@program("closed form")
def braking_by_sign() -> float:
    run = dh.simulate(
        natural(lambda q: 0.0 * q[0], 1, force=lambda q, v: -0.3 * jnp.sign(v)), [0.0], [1.0], h=0.01, steps=300
    )
    return off(run.q[:, 0], run.t - 0.15 * run.t**2)


@program(PLAIN)
def forces_upon_forces() -> float:
    car = dh.damped(dh.forced(skate(), lambda q, xi: jnp.array([jnp.sin(q[0]), 0.2, 0])), lambda q, xi: 0.1 * xi @ xi)
    system = dh.magnetic(car, lambda q: jnp.array([[0, 0, 0], [0, 0, 1.0], [0, -1.0, 0]]))
    return paths(system, q=[0.0, 0, 0], xi=[1.0, 0.5], h=0.05, steps=200)


# Scales, rest, symmetry axes.


@program("the same motion at mass 1", 1e-9)
def a_picogram() -> float:
    def at(mass: float) -> Any:
        system = dh.from_velocities(lambda q, v, m: m * skate_energy(q, v), lambda q, m: blade(q), 2, params=mass)
        return dh.simulate(system, [0.1, 0, 0], [2.0, 0.3], h=0.01, steps=300)

    return off(at(1e-12).q, at(1.0).q)


@program("the same motion at the origin", 1e-8)
def a_million_metres_away() -> float:
    system = dh.from_velocities(lambda q, v: skate_energy(q, v) - q[1], blade, 2)
    near, far = (dh.simulate(system, [0.1, x, -x], [2.0, 0.3], h=0.01, steps=300).q for x in (0.0, 1e6))
    return off(far - far[0], near - near[0])


@program("the same motion in metres", 1e-9)
def megametres_and_nanoseconds() -> float:
    def at(length: float, t: float) -> Any:
        system = natural(lambda q: -(length**3 / t**2) / jnp.sqrt(q @ q), 2)
        return dh.simulate(system, [length, 0.0], [0.0, 1.2 * length / t], h=0.02 * t, steps=300).q / length

    return max(off(at(1e6, 1e-9), at(1.0, 1.0)), off(at(1e-9, 1e3), at(1.0, 1.0)))


@program("the host")
def from_rest_under_jit_and_vmap() -> float:
    system = dh.forced(skate(), lambda q, xi: jnp.array([0.0, 0.5, 0.0]))
    run = partial(dh.simulate, system, h=0.1, steps=20)
    host = run(np.zeros(3), np.zeros(2)).q
    jitted = jax.jit(lambda q: run(q, jnp.zeros(2)).q)(jnp.zeros(3))
    lanes = jax.vmap(lambda q: run(q, jnp.zeros(2)).q)(jnp.zeros((3, 3)))
    return max(off(jitted, host), off(lanes[2], host))


@program("finite differences", 1e-6)
def gradient_from_rest() -> float:
    def end(force: Any) -> Any:
        system = dh.forced(skate(), lambda q, xi, f: jnp.array([0.1 * f, f, 0.0]), params=force)
        return dh.simulate(system, jnp.zeros(3), jnp.zeros(2), h=0.1, steps=20).q[-1] @ jnp.array([1.0, 2.0, 3.0])

    return off(jax.grad(end)(0.5), (end(0.5 + 1e-6) - end(0.5 - 1e-6)) / 2e-6)


@program("it stays at rest, exactly", 0.0)
def nothing_moves() -> float:
    run = dh.simulate(natural(lambda q: jnp.sum(1 - jnp.cos(q)), 5), np.zeros(5), np.zeros(5), h=0.1, steps=300)
    return off(run.q, np.zeros((301, 5)))


@program(PLAIN)
def through_the_axis() -> float:
    return chain(lambda q: 0.5 * q @ q, 2, q=[1.0, 0.0], xi=[0.0, 0.0], steps=200)


@program("the reason is said, or compiled=False", 1e-9)
def a_norm_at_zero() -> float:
    system = natural(lambda q: 0.5 * (jnp.linalg.norm(q) - 1) ** 2, 2)
    try:
        return off(dh.simulate(system, [0.0, 0.0], [1.0, 0.0], h=0.05, steps=40).q[-1, 1], 0.0)
    except (dh.RunFailed, ValueError) as error:
        return 0.0 if len(str(error)) > 40 else 2.0


# Classes.


class Well(dh.systems.NonholonomicParticle):
    """A subclass that adds a potential."""

    depth: float = 1.0

    def lagrangian(self, q: Any, xi: Any) -> Any:
        return super().lagrangian(q, xi) - 0.5 * self.depth * q[:2] @ q[:2]


class Deeper(Well):
    """A subclass of the subclass, with a force."""

    drag: float = 0.2

    def force(self, q: Any, xi: Any) -> Any:
        return -self.drag * xi


@program("the trajectory's own energy", 1e-12)
def subclass_of_subclass() -> float:
    run = dh.simulate(Deeper(), q=[0.5, 0.2, 0.1], xi=[0.3, 0.4], h=0.02, steps=200)
    claims = [it for name, it in Deeper().invariants().items() if it.kept == "exact"]
    worst = max(
        (off(run.invariants()[name], run.invariants()[name][:1].repeat(201)) for name in Deeper().invariants()),
        default=0.0,
    )
    return max(worst, paths(Deeper(), q=[0.5, 0.2, 0.1], xi=[0.3, 0.4], h=0.02, steps=200)) if claims or worst else 0.0


@program("slope 2 against dh.reference", 0.1)
def subclass_against_reference() -> float:
    return slope(Deeper(), [0.5, 0.2, 0.1], [0.3, 0.4], 2)


# Systems from constraints: FollowingHamel.


@program("the same by a frame by hand, both of order 2", 3e-5)
def a_blade_that_turns_many_times() -> float:
    start = {"q": [0, 0, 0], "v": [30.0, 0, 0], "h": 0.0005, "steps": 4000}
    free, by_hand = dh.simulate(dh.from_constraints(skate_energy, sideways), **start), dh.simulate(skate(), **start)
    return off(free.q[-1, 1:], by_hand.q[-1, 1:])


@program("slope 2 against dh.reference", 0.15)
def constraint_against_reference() -> float:
    q, v = [0.3, 0, 0], np.array([1.0, np.cos(0.3), np.sin(0.3)])
    system = dh.from_constraints(skate_energy, sideways)
    exact = dh.reference(system, q, v=v, t=1.0).q[-1]
    errors = [off(dh.simulate(system, q, v=v, h=a, steps=round(1 / a)).q[-1], exact) for a in (0.05, 0.025)]
    return max(0.0, 2 - float(np.log2(errors[0] / errors[1])))


@program(PLAIN)
def constraint_compiled() -> float:
    system = dh.from_constraints(skate_energy, sideways, force=lambda q, v: -0.1 * v)
    return paths(system, q=[0.0, 0, 0], v=[2.0, 0, 0], h=0.01, steps=300)


@program("closed form: a bead on a turning wire", 1e-4)
def constraint_that_depends_on_time() -> float:
    def rows(q: Any) -> Any:  # (x, y) along the wire at angle t; t' = 1
        c, s = jnp.cos(q[2]), jnp.sin(q[2])
        return jnp.array([[-s, c, -q[0] * c - q[1] * s], [0, 0, 1.0]])

    bead = dh.from_constraints(lambda q, v: 0.5 * (v[0] ** 2 + v[1] ** 2), rows, b=lambda q: jnp.array([0.0, 1.0]))
    run = dh.simulate(bead, q=[1.0, 0, 0], v=[0.0, 1.0, 1.0], h=0.005, steps=400)
    return off(np.hypot(run.q[:, 0], run.q[:, 1]), np.cosh(run.t))


@program("refused in words", 0.0)
def redundant_rows() -> float:
    rows = lambda q: jnp.concatenate([sideways(q), 2 * sideways(q)])  # noqa: E731
    return refused(
        lambda: dh.simulate(dh.from_constraints(skate_energy, rows), q=[0.0, 0, 0], v=[1.0, 1, 0], h=0.01, steps=5)
    )


@program("the wheel's angle is x / r", 1e-9)
def a_massless_wheel() -> float:
    def energy(q: Any, v: Any) -> Any:  # the wheel's angle q[1] has no inertia
        return 0.5 * v[0] ** 2 - 0.5 * q[0] ** 2

    wheel = dh.from_constraints(energy, lambda q: jnp.array([[1.0, -0.2]]))
    run = dh.simulate(wheel, q=[1.0, 0.0], v=[0.0, 0.0], h=0.01, steps=300)
    return max(
        off(run.q[:, 0] - 1, 0.2 * run.q[:, 1]),
        off(run.q[:, 0], dh.simulate(natural(lambda q: 0.5 * q[0] ** 2, 1), [1.0], [0.0], h=0.01, steps=300).q[:, 0]),
    )


@program("the same in other units", 1e-8)
def weights_cancel_units() -> float:
    def at(mm: float) -> Any:
        system = dh.from_constraints(
            lambda q, v: skate_energy(q * jnp.array([1, 1 / mm, 1 / mm]), v * jnp.array([1, 1 / mm, 1 / mm])), sideways
        )
        return dh.simulate(
            system, q=[0.1, 0, 0], v=[2.0, mm * np.cos(0.1), mm * np.sin(0.1)], h=0.01, steps=300
        ).q / np.array([1, mm, mm])

    return max(off(at(1e3), at(1.0)), off(at(1e-6), at(1.0)))


@program("finite differences", 1e-6)
def gradient_of_a_constrained_run() -> float:
    start = dh.from_constraints(lambda q, v, p: skate_energy(q, v) * p + q[2], lambda q, p: sideways(q), params=1.3).at(
        jnp.zeros(3)
    )

    def end(p: Any) -> Any:
        run = dh.simulate(start.replace(params=p), jnp.zeros(3), v=jnp.array([2.0, 0, 0]), h=0.02, steps=50)
        return run.q[-1, 1]

    return off(jax.grad(end)(1.3), (end(1.3 + 1e-6) - end(1.3 - 1e-6)) / 2e-6)


@program("the force as the constructor takes it", 1e-9)
def a_force_put_on_constraints() -> float:
    given = dh.from_constraints(skate_energy, sideways, force=lambda q, v: -0.3 * v)

    def put(q: Any, xi: Any) -> Any:
        psi = system.frame(q)
        return psi.T @ (-0.3 * psi @ xi)

    system = dh.from_constraints(skate_energy, sideways).at(jnp.zeros(3))
    start = {"q": [0.0, 0, 0], "v": [2.0, 0.5, 0], "h": 0.02, "steps": 100}
    return off(dh.simulate(dh.forced(system, put), **start).q, dh.simulate(given, **start).q)


# Schemes on a user's system.


def pendulum_on_cart() -> Any:
    def lagrangian(q: Any, v: Any) -> Any:
        return 0.5 * (2 * v[0] ** 2 + v[1] ** 2 + 2 * jnp.cos(q[1]) * v[0] * v[1]) + jnp.cos(q[1]) - 0.5 * q[0] ** 2

    return dh.from_velocities(lagrangian, eye(2), 2)


CART = {"q": [0.3, 0.8], "xi": [0.1, -0.2]}


@program("slope 4 against dh.reference", 0.3)
def composed_of_order_four() -> float:
    return slope(pendulum_on_cart(), order=4, h=0.2, scheme=dh.Composed(dh.DiscreteHamel(), order=4), **CART)


@program("slope 6 against dh.reference", 0.6)
def gauss_of_three_stages() -> float:
    return slope(pendulum_on_cart(), order=6, h=0.2, scheme=dh.Gauss(3), **CART)


@program("slope 2 against dh.reference", 0.1)
def leapfrog_with_a_constraint() -> float:
    return slope(skate(), [0.1, 0, 0], [2.0, 0.3], 2, scheme=dh.Leapfrog())


@program("slope 2 against dh.reference", 0.1)
def staggered_with_a_constraint() -> float:
    return slope(skate(), [0.1, 0, 0], [2.0, 0.3], 2, scheme=dh.StaggeredHamel())


@program("slope 4 against dh.reference", 0.3)
def runge_kutta_with_a_constraint() -> float:
    return slope(skate(), [0.1, 0, 0], [2.0, 0.3], 4, scheme=dh.RungeKutta4())


@program("the energy at the start", 1e-11)
def energy_exact_on_a_cart() -> float:
    run = dh.simulate(pendulum_on_cart(), h=0.1, steps=300, scheme=dh.EnergyExact(), **CART)
    return off(run.energy, np.full(301, run.energy[0]))


@program(PLAIN)
def every_scheme_by_both_paths() -> float:
    schemes = [dh.DiscreteHamel(0.25), dh.Gauss(2), dh.Composed(dh.DiscreteHamel()), dh.EnergyExact(), dh.Leapfrog()]
    return max(paths(skate(), q=[0.1, 0, 0], xi=[2.0, 0.3], h=0.02, steps=60, save_every=3, scheme=s) for s in schemes)


@program("the start", 1e-11)
def there_and_back() -> float:
    out = dh.simulate(skate(), [0.1, 0, 0], [2.0, 0.3], h=0.02, steps=200)
    back = dh.simulate(skate(), out.q[-1], out.xi[-1], h=-0.02, steps=200)
    return off(back.q[-1], [0.1, 0, 0])


@program("slope 2 against dh.reference", 0.2)
def steps_that_follow_the_motion() -> float:
    kepler = natural(lambda q: -1 / jnp.sqrt(q @ q), 2)
    errors = []
    for h in (0.02, 0.01):
        run = dh.simulate(kepler, [1.0, 0.0], [0.0, 0.7], h=lambda q, xi, h=h: h * (q @ q), steps=round(4 / h))
        errors.append(off(run.q[-1], dh.reference(kepler, [1.0, 0.0], [0.0, 0.7], t=float(run.t[-1])).q[-1]))
    return max(0.0, 2 - float(np.log2(errors[0] / errors[1])))


# Transformations, nested.


def oscillator(k: Any) -> Any:
    return dh.from_velocities(
        lambda q, v, k: 0.5 * v @ v - 0.5 * k * q @ q - 0.1 * q[0] ** 4, lambda q, k: jnp.eye(2), 2, params=k
    )


def landing(k: Any, h: Any = 0.1) -> Any:
    return dh.simulate(oscillator(k), jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0]), h=h, steps=20).q[-1] @ jnp.array(
        [1.0, 2.0]
    )


@program("finite differences", 1e-7)
def jit_of_vmap_of_grad() -> float:
    k = np.array([0.5, 1.0, 3.0])
    found = jax.jit(jax.vmap(jax.grad(landing)))(jnp.asarray(k))
    return off(found, [(landing(a + 1e-5) - landing(a - 1e-5)) / 2e-5 for a in k])


@program("finite differences", 1e-7)
def jit_of_grad_of_vmap() -> float:
    total = lambda k: jnp.sum(jax.vmap(landing)(k) ** 2)  # noqa: E731
    k = jnp.array([0.5, 1.0, 3.0])
    steps = 1e-5 * np.eye(3)
    return off(jax.jit(jax.grad(total))(k), [(total(k + d) - total(k - d)) / 2e-5 for d in steps])


@program("finite differences", 1e-5)
def second_derivative() -> float:
    d = 1e-3
    return off(jax.hessian(landing)(1.0), (landing(1 + d) - 2 * landing(1.0) + landing(1 - d)) / d**2)


@program("finite differences", 1e-7)
def derivative_by_the_step_forward_and_back() -> float:
    by_h = (landing(1.0, 0.1 + 1e-6) - landing(1.0, 0.1 - 1e-6)) / 2e-6
    return max(off(jax.jacfwd(landing, 1)(1.0, 0.1), by_h), off(jax.jacrev(landing, 1)(1.0, 0.1), by_h))


@program("the host's runs, one by one", 1e-12)
def vmap_over_step_and_parameter() -> float:
    k, h = np.array([0.5, 2.0]), np.array([0.1, 0.05])
    return off(jax.jit(jax.vmap(landing))(k, h), [landing(a, b) for a, b in zip(k, h, strict=True)])


@program("one run", 1e-12)
def scan_over_runs() -> float:
    def piece(carry: Any, _: Any) -> Any:
        run = dh.simulate(oscillator(1.0), carry[0], carry[1], h=0.1, steps=5)
        return (run.q[-1], run.xi[-1]), run.q[-1]

    _, q = jax.lax.scan(piece, (jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])), length=6)
    return off(q, dh.simulate(oscillator(1.0), [1.0, 0.0], [0.0, 1.0], h=0.1, steps=30).q[5::5])


@program("dh.simulate", 1e-12)
def a_loop_of_steps() -> float:
    system, scheme = skate(), dh.DiscreteHamel()
    state = dh.start(system, scheme, jnp.array([0.1, 0, 0]), jnp.array([2.0, 0.3]), 0.02)
    step = jax.jit(lambda s: dh.step(system, scheme, s, 0.02)[0])
    for _ in range(50):
        state = step(state)
    return off(state.q, dh.simulate(system, [0.1, 0, 0], [2.0, 0.3], h=0.02, steps=50).q[-1])


@program("finite differences", 1e-6)
def gradient_with_save_every_and_initial_data() -> float:
    def end(q: Any) -> Any:
        return jnp.sum(dh.simulate(skate(), q, jnp.array([2.0, 0.3]), h=0.02, steps=60, save_every=20).q[:, 1] ** 2)

    q, d = jnp.array([0.1, 0.2, 0.3]), 1e-5 * np.eye(3)
    return off(jax.grad(end)(q), [(end(q + a) - end(q - a)) / 2e-5 for a in d])


@program("refused on the host, marked under jit", 0.0)
def jit_marks_what_the_host_refuses() -> float:
    run = jax.jit(lambda h: dh.simulate(skate(), jnp.zeros(3), jnp.zeros(2), h=h, steps=3))
    return 0.0 if run(0.0).refusal() and not run(0.1).refusal() else 1.0


# What simulate takes.


@program("each node of a run that keeps all", 0.0)
def save_every_seventh() -> float:
    run = partial(dh.simulate, skate(), [0.1, 0, 0], [2.0, 0.3], h=0.02, steps=70_000)
    some, every = run(save_every=7), run()
    return max(
        off(some.q, every.q[::7]),
        off(some.xi, every.xi[::7]),
        off(some.p, every.p[::7]),
        off(some.xi_mid, every.xi_mid[6::7]),
    )


@program("the same numbers as floats", 0.0)
def integers_lists_and_arrays() -> float:
    base = dh.simulate(skate(), [0.0, 0.0, 0.0], [2.0, 1.0], h=1.0, steps=5).q
    others = [
        dh.simulate(skate(), np.zeros(3, int), np.array([2, 1], np.int8), h=1, steps=np.int64(5)).q,
        dh.simulate(skate(), (0, 0, 0), [2, 1, 0], h=np.array(1.0), steps=5).q,
        dh.simulate(skate(), jnp.zeros(3), jnp.array([2.0, 1.0]), h=jnp.asarray(1.0), steps=5).q,
        dh.simulate(skate(), np.zeros(6)[::2], np.array([2.0, 1.0, 0.0])[:2], h=np.float32(1), steps=5).q,
    ]
    return max(off(a, base) for a in others)


@program("the start alone", 0.0)
def no_steps() -> float:
    run = dh.simulate(skate(), [0.1, 0, 0], [2.0, 0.3], h=0.02, steps=0)
    return max(off(run.q, [[0.1, 0, 0]]), off(run.xi, [[2.0, 0.3, 0]]), float(len(run.xi_mid)))


@program("refused in words", 0.0)
def wrong_shapes_and_numbers() -> float:
    good = {"q": [0.1, 0, 0], "xi": [2.0, 0.3], "h": 0.02, "steps": 5}
    bad = [
        {"h": np.array([0.1])},
        {"h": 0.0},
        {"h": np.nan},
        {"q": [0.1, 0]},
        {"q": [np.nan, 0, 0]},
        {"xi": [1.0, 2, 3, 4]},
    ]
    bad += [
        {"xi": [1.0, 2, 3]},
        {"steps": -1},
        {"steps": 2.5},
        {"save_every": 0},
        {"save_every": 3},
        {"q": [[0.1, 0, 0]]},
    ]
    return max(refused(lambda one=one: dh.simulate(skate(), **(good | one))) for one in bad)


@program("refused in words", 0.0)
def parameters_that_are_no_numbers() -> float:
    return max(
        refused(lambda k=k: dh.simulate(oscillator(k), [1.0, 0], [0, 1.0], h=0.1, steps=3)) for k in (np.nan, np.inf)
    )


@program("what the plain path says")
def huge_steps() -> float:
    worst = 0.0
    for h in (3.0, 100.0, 1e6, 1e150):
        ends = []
        for compiled in (True, False):
            run = dh.simulate(skate(), [0.1, 0, 0], [2.0, 0.3], h=h, steps=4, compiled=compiled, on_failure="mark")
            ends.append((run.report.converged.sum(), run.q[np.isfinite(run.q).all(axis=1)]))
        worst = max(worst, float(abs(ends[0][0] - ends[1][0])), off(ends[0][1][:1], ends[1][1][:1]))
    return worst


@program("marked from there on, exactly")
def a_run_into_a_wall() -> float:
    system = natural(lambda q: -jnp.log(1 - q[0]) * 1e-3 + 0.5 * q[1] ** 2, 2)
    runs = [
        dh.simulate(system, [0.0, 1.0], [1.0, 0], h=0.3, steps=40, save_every=2, on_failure="mark", compiled=c)
        for c in (True, False)
    ]
    return max(
        off(np.nan_to_num(runs[0].q), np.nan_to_num(runs[1].q)),
        float((runs[0].report.converged != runs[1].report.converged).sum()),
    )


@program("one run, bit for bit", 0.0)
def stored_broken_off_and_resumed() -> float:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.zarr"
        how = {"q": [0.1, 0, 0], "xi": [2.0, 0.3], "h": 0.02}
        dh.simulate(skate(), **how, steps=3000, save_every=3, store=path)
        more = dh.simulate(skate(), **how, steps=9000, save_every=3, store=path, resume=True)
        whole = dh.simulate(skate(), **how, steps=9000, save_every=3, store=Path(folder) / "whole.zarr")
        return max(off(more.q, whole.q), off(dh.load(path, system=skate()).xi, whole.xi))


@program("the runs one by one", 1e-12)
def an_ensemble_with_refused_members() -> float:
    q = np.array([[0.1, 0, 0], [np.nan, 0, 0], [0.3, 0, 0], [0.0, 1, 0]])
    found = dh.ensemble(skate(), q=q, xi=np.tile([2.0, 0.3], (4, 1)), h=0.02, steps=100, progress=False)
    alone = [dh.simulate(skate(), one, [2.0, 0.3], h=0.02, steps=100).q[-1] for one in q[[0, 2, 3]]]
    ends = np.asarray(found.q)[..., -1, :] if found.q.ndim == 3 else np.asarray(found.q)
    return max(off(ends[[0, 2, 3]], alone), float(not np.isnan(ends[1]).all()))


@program("the same alone", 0.0)
def two_threads() -> float:
    systems = [skate(), pendulum_on_cart(), natural(lambda q: jnp.sum(q**4), 5), natural(lambda q: q @ q, 3)]
    start = [([0.1, 0, 0], [2.0, 0.3]), ([0.3, 0.8], [0.1, -0.2]), (np.ones(5), np.zeros(5)), (np.ones(3), np.zeros(3))]
    found: dict[int, Any] = {}

    def work(i: int) -> None:
        found[i] = dh.simulate(systems[i % 4], *start[i % 4], h=0.01, steps=5000, progress=False).q

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return max(off(found[i], dh.simulate(systems[i % 4], *start[i % 4], h=0.01, steps=5000).q) for i in range(8))


@program("closed form", 1e-4)
def a_force_that_depends_on_time() -> float:
    system = dh.controlled(natural(lambda q: 0.0 * q[0], 1), lambda t, q, xi: jnp.array([jnp.cos(t)]))
    run = dh.simulate(system, [0.0, 0.0], [0.0], h=0.01, steps=300)
    return off(run.q[:, 0], 1 - np.cos(run.t))


@program("closed form: u = 1 - cos 2t over its mode", 1e-4)
def a_moved_support() -> float:
    spring = natural(lambda q: 0.5 * (q[1] - q[0]) ** 2, 2)
    run = dh.simulate(
        dh.prescribe(spring, {0: lambda t, a: a * jnp.sin(2 * t)}, params=1.0), [0.0, 0.0], [0.0], h=0.01, steps=300
    )
    t = np.asarray(run.t)  # y'' + y = sin 2t
    return off(run.q[:, 0], (2 * np.sin(t) - np.sin(2 * t)) / 3)


@program("closed form", 1e-4)
def a_charge_in_a_magnetic_field() -> float:
    system = dh.magnetic(natural(lambda q: 0.0 * q[0], 2), lambda q: jnp.array([[0.0, 1.0], [-1.0, 0.0]]))
    run = dh.simulate(system, [0.0, 0.0], [1.0, 0.0], h=0.01, steps=300)
    return max(off(run.q[:, 0], np.sin(run.t)), off(run.q[:, 1], np.cos(run.t) - 1))


class Rod(dh.System):
    """A point at distance 1 from the origin, in the plane, in redundant coordinates."""

    gravity: float = 1.0
    rank = 1

    def lagrangian(self, q: Any, xi: Any) -> Any:
        return 0.5 * xi @ xi - self.gravity * q[1]

    def frame(self, q: Any) -> Any:
        return jnp.array([[-q[1]], [q[0]]])

    def structure(self, q: Any) -> Any:
        return jnp.zeros((1, 1, 1))

    def holonomic(self, q: Any) -> Any:
        return jnp.array([q @ q - 1])


@program("the angle's run; data off it refused, projected", 1e-4)
def redundant_coordinates() -> float:
    run = dh.simulate(Rod(), [1.0, 0.0], [0.0], h=0.01, steps=300)
    angle = dh.simulate(natural(lambda q: jnp.sin(q[0]), 1), [0.0], [0.0], h=0.01, steps=300).q[:, 0]
    q, _ = dh.project(Rod(), [3.0, 4.0], [0.2])
    bad = refused(lambda: dh.simulate(Rod(), [1.1, 0.0], [0.0], h=0.01, steps=3))
    return max(off(run.q[:, 0], np.cos(angle)), off(q, [0.6, 0.8]), off(np.hypot(*run.q.T), np.ones(301)), bad)


@program("sqrt of the eigenvalues", 1e-9)
def spectrum_of_oscillators() -> float:
    k = np.array([1.0, 4.0, 9.0, 1e4])
    system = natural(lambda q: 0.5 * q @ (jnp.asarray(k) * q), 4)
    found = dh.spectrum(system, np.zeros(4), np.zeros(4))
    return off(np.sort(np.abs(np.imag(found.rates)))[::2], np.sqrt(k))


@program("the period of a circle", 1e-9)
def a_relative_equilibrium_by_symmetry() -> float:
    orbit = dh.from_quasivelocities(
        lambda q, xi: 0.5 * (xi[0] ** 2 + q[0] ** 2 * xi[1] ** 2) + 1 / q[0], lambda q: jnp.eye(2), 2
    )
    found = dh.relative_equilibrium(orbit, [1.1, 0.0], [0.0, 1.0], symmetries={"turn": lambda q: jnp.array([0.0, 1.0])})
    r, w = float(found.q[0]), float(found.xi[1])
    return max(off(r**3 * w**2, 1.0), off(found.xi[0], 0.0))


@program("2 pi", 1e-3)
def crossings_of_an_oscillator() -> float:
    run = dh.simulate(natural(lambda q: 0.5 * q @ q, 1), [1.0], [0.0], h=0.02, steps=2000)
    return off(np.diff(dh.crossings(run, lambda q, xi: q[0], sense=1).t), np.full(5, 2 * np.pi))


@program("the speed is kept", 1e-10)
def a_constraint_on_the_speed() -> float:
    system = dh.from_nonlinear_constraints(lambda q, v: 0.5 * v @ v - q[1], lambda q, v: jnp.array([v @ v - 1.0]))
    run = dh.simulate(system, [0.0, 0.0], v=[0.6, 0.8], h=0.01, steps=50)
    return off(np.linalg.norm(run.v, axis=1), np.ones(51)) if len(run.v) == 51 else np.inf


@program("a warning with the time", 0.0)
def a_ball_that_leaves() -> float:
    system = dh.systems.BallOnSphere()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        run = dh.simulate(system, system.sample()["q"], np.zeros(3), h=0.002, steps=250, on_failure="mark")
    pulls = bool((np.asarray(run.contact_force) < 0).any())
    return float(not pulls or not any(issubclass(one.category, dh.ContactLost) for one in seen))


# Hostile ones: what is changed in between, turned into another type, nested, or nothing at all.


@program("the run with the new value", 1e-12)
def a_number_that_changes_between_runs() -> float:
    box, many = {"k": 1.0}, np.array([1.0, 1.0])
    system = natural(lambda q: 0.5 * box["k"] * q @ (jnp.asarray(many) * q), 2)
    run = partial(dh.simulate, q=[1.0, 0.5], xi=[0.0, 1.0], h=0.1, steps=20)
    run(system)
    box["k"], many[0] = 4.0, 2.0
    return off(run(system).q, run(natural(lambda q: 2 * q @ (jnp.array([2.0, 1.0]) * q), 2)).q)


@program("closed over a number, as the host; by grad a sentence", 1e-12)
def a_lagrangian_that_closes_over_a_traced_value() -> float:
    def end(k: Any) -> Any:
        system = natural(lambda q: 0.5 * k * q @ q + 0.1 * k**2 * q[0] ** 4, 2)
        return dh.simulate(system, [1.0, 0.5], [0.0, 1.0], h=0.1, steps=20).q[-1]

    return max(off(jax.jit(end)(0.5), end(0.5)), refused(lambda: jax.jacrev(end)(0.5), "params="))


@program(PLAIN)
def random_numbers_within_the_potential() -> float:
    def energy(q: Any) -> Any:
        keys = jax.random.split(jax.random.key(1), 3)
        return q @ (jax.vmap(jax.random.uniform)(keys) * q) + jax.random.normal(jax.random.PRNGKey(0), (3,)) @ jnp.cos(
            q
        )

    return chain(energy, 3)


@program("finite differences, member by member", 1e-6)
def vmap_of_grad_by_a_tree_of_parameters() -> float:
    def energy(q: Any, v: Any, p: Any) -> Any:
        wells = (a * jnp.exp(-jnp.sum((q[:2] - c) ** 2)) for a, c in zip(p["depth"], p["at"], strict=True))
        return 0.5 * v @ v - sum(wells) - p["more"][0]["k"] * q[2] ** 2

    p = {"depth": np.array([-1.0, -0.5]), "at": np.array([[0.3, 0.1], [-0.5, 0.2]]), "more": ({"k": 0.7},)}
    p, many = jax.tree.map(jnp.asarray, p), jnp.array([[0.1, 0.2, 0.0], [0.0, 0.0, 0.0]])
    system = dh.from_constraints(energy, lambda q, p: jnp.array([[-q[1], 0 * q[0], 1.0]]), params=p).at(np.zeros(3))

    def end(p: Any, q: Any) -> Any:
        v = jnp.stack([0.3, 0.2, 0.3 * q[1]])
        return jnp.sum(jnp.sin(dh.simulate(system.replace(params=p), q, v=v, h=0.05, steps=20).q[-1]))

    flat, back = ravel_pytree(p)
    found = jax.jit(jax.vmap(jax.grad(lambda flat, q: end(back(flat), q)), (None, 0)))(flat, many)
    steps = 1e-5 * np.eye(len(flat))
    slopes = [[(end(back(flat + d), q) - end(back(flat - d), q)) / 2e-5 for d in steps] for q in many]
    return off(found, slopes)


@program("double precision, and float32 comes out", 1e-4)
def single_precision_under_jit_and_vmap() -> float:
    start = np.array([0.1, 0, 0]), np.array([2.0, 0.3])
    exact = dh.simulate(skate(), *start, h=0.02, steps=100).q[-1]
    jax.config.update("jax_enable_x64", False)
    try:
        run = partial(dh.simulate, skate(), xi=jnp.array([2.0, 0.3]), h=0.02, steps=100)
        q = jnp.array([0.1, 0, 0])
        found = [jax.jit(run)(q).q[-1], run(start[0]).q[-1], jax.vmap(run)(q[None]).q[0, -1]]
    finally:
        jax.config.update("jax_enable_x64", True)
    return max(off(one, exact) if one.dtype == np.float32 else np.inf for one in found)


@program("finite differences", 1e-6)
def gradient_through_a_scan_of_steps_of_many_sizes() -> float:
    def end(x: Any) -> Any:
        system, scheme = skate(), dh.DiscreteHamel()
        state = dh.start(system, scheme, x[:3], x[3:5], x[5])
        sizes = x[5] * (1 + 0.3 * jnp.sin(jnp.arange(15.0)))
        state, q = jax.lax.scan(lambda s, h: (dh.step(system, scheme, s, h)[0], s.q), state, sizes)
        return jnp.sum(q**2) + state.p @ jnp.array([1.0, 2.0])

    x, steps = jnp.array([0.1, 0.2, -0.1, 2.0, 0.3, 0.05]), 1e-5 * np.eye(6)
    return off(jax.jit(jax.grad(end))(x), [(end(x + d) - end(x - d)) / 2e-5 for d in steps])


@program("closed form, in the order of the run", 1e-6)
def crossings_backward_in_time() -> float:
    system = natural(lambda q: 0.5 * q @ q, 1)
    there = dh.simulate(system, [1.0], [0.0], h=-0.002, steps=15000, scheme=dh.Gauss(2))
    found = dh.crossings(there, lambda q, xi: q[0], sense=1).t
    return off(found, -np.pi * (1.5 + 2 * np.arange(5)))


@program("refused in words", 0.0)
def holonomic_at_a_singular_point() -> float:
    cone = dh.from_holonomic(lambda q, v: 0.5 * v @ v, lambda q: q[0] ** 2 + q[1] ** 2 - q[2] ** 2)
    data = {"q": np.zeros(3), "v": np.array([1.0, 0.0, 1.0])}
    alone = refused(lambda: dh.ensemble(skate(), q=np.zeros((0, 3)), xi=[2.0, 0.3], h=0.02, steps=10), "one member")
    another = dh.start(skate(), dh.DiscreteHamel(), [0.1, 0, 0], [2.0, 0.3], 0.1)
    return max(
        refused(lambda: dh.simulate(cone, **data, h=0.01, steps=5)),
        refused(lambda: dh.project(cone, **data)),
        alone,
        refused(lambda: dh.step(skate(), dh.DiscreteHamel(compensated=True), another, 0.1), "dh.start"),
    )


@program("units of 1", 1e-9)
def awkward_scales_by_every_scheme() -> float:
    def at(scheme: Any, length: float, time: float, mass: float) -> Any:
        def energy(q: Any, v: Any, p: Any) -> Any:
            x, y = q / p[2]
            return 0.5 * p[0] * v @ v - p[1] * (1 - jnp.cos(x) + y**4 * (1 + jnp.sin(x) ** 2))

        params = jnp.array([mass, mass * length**2 / time**2, length])
        system = dh.from_velocities(energy, lambda q, p: jnp.eye(2), 2, params=params)
        q, xi = length * np.array([1, 0.5]), length / time * np.array([0.3, -0.2])
        return dh.simulate(system, q, xi, h=0.05 * time, steps=60, scheme=scheme).q / length

    schemes = (dh.DiscreteHamel(compensated=True), dh.Gauss(2), dh.Leapfrog(), dh.EnergyExact(), dh.RungeKutta4())
    scales = ((1e-9, 1e-9, 1e9), (1e9, 1e9, 1e-9), (1e9, 1e-9, 1.0), (1e-9, 1e9, 1.0))
    return max(off(at(scheme, *one), at(scheme, 1.0, 1.0, 1.0)) for scheme in schemes for one in scales)


@program("the original, bit for bit; the host's choice", 1e-12)
def copied_pickled_and_in_a_loop() -> float:
    def end(q: Any) -> Any:
        return dh.simulate(skate(), q, jnp.array([2.0, 0.3]), h=0.05, steps=10).q[-1]

    q = jnp.array([0.1, 0, 0])
    thrice = jax.lax.while_loop(lambda c: c[1] < 3, lambda c: (end(c[0]), c[1] + 1), (q, 0))[0]
    chosen = jax.jit(lambda q, which: jax.lax.cond(which, end, lambda q: 2 * q, q))(q, True)
    integers = jax.jit(end)(jnp.array([1, 0, 2]))
    run = dh.simulate(dh.systems.ChaplyginSleigh(), q, [1.5, -0.3], h=0.05, steps=30)
    again = [copy.deepcopy(run), pickle.loads(pickle.dumps(run))]
    again += [dh.simulate(pickle.loads(pickle.dumps(run.system)), q, [1.5, -0.3], h=0.05, steps=30)]
    exact = 0.0 if all(np.array_equal(one.q, run.q) for one in again) else 1.0
    return max(exact, off(thrice, end(end(end(q)))), off(chosen, end(q)), off(integers, end([1, 0, 2])))


# Subclasses that change one thing of a catalogue system; what JAX lets pass.


class Uphill(dh.systems.garage.RollingAxle):
    """A vehicle, whose base gives L(q, v) too."""

    def lagrangian(self, q: Any, xi: Any) -> Any:
        return super().lagrangian(q, xi) - 2.0 * q[1]


class Doubled(dh.systems.Suslov):
    """Suslov's motion in a frame twice as long, where his gives its brackets."""

    def lagrangian(self, q: Any, xi: Any) -> Any:
        return super().lagrangian(q, 2 * xi)

    def frame(self, q: Any) -> Any:
        return 2 * super().frame(q)


class Valley(dh.systems.ChaplyginSleigh):
    """A sleigh that keeps one of the three symmetries that its base declares."""

    def lagrangian(self, q: Any, xi: Any) -> Any:
        return super().lagrangian(q, xi) - 5 * (1 - jnp.cos(q[1]))


class Free(dh.systems.SphericalPendulumCartesian):
    """A pendulum whose rod has been cut."""

    rank = 3


@program("the same by with_potential, and in the base's own frame", 1e-11)
def subclasses_with_a_lagrangian_or_frame_of_their_own() -> float:
    axle, suslov = dh.systems.garage.RollingAxle(), dh.systems.Suslov().sample()
    start = {name: axle.sample()[name] for name in ("q", "xi")} | {"h": 0.02, "steps": 50}
    by_hand = dh.with_potential(axle, lambda q: 2.0 * q[1])
    whole = dh.simulate(dh.systems.Suslov(), suslov["q"], suslov["xi"], h=0.02, steps=50)
    half = dh.simulate(Doubled(), suslov["q"], np.asarray(suslov["xi"]) / 2, h=0.02, steps=50)
    return max(off(dh.simulate(Uphill(), **start).q, dh.simulate(by_hand, **start).q), off(half.q, whole.q))


@program("refused in words; nothing claimed", 0.0)
def subclasses_that_break_what_their_base_declares() -> float:
    across = [0.0, 0.0, 0.0], [0.0, 1.0]
    words = "'translation along x'", "no symmetry"
    kept = refused(lambda: dh.spectrum(Valley(), *across), *words)
    return max(
        kept, refused(lambda: dh.relative_equilibrium(Valley(), *across), *words), "length" in Free().invariants()
    )


@program("refused in words", 0.0)
def places_beyond_the_end_masked_and_complex_numbers() -> float:
    def run(potential: Callable = lambda q: q @ q, **more: Any) -> Any:
        return dh.simulate(natural(potential, 2), **{"q": [0.3, 0.2], "xi": [1.0, 0], "h": 0.1, "steps": 3, **more})

    read, written = lambda q: q[2] ** 2, lambda q: jnp.sum(jnp.zeros(2).at[2].set(q[0]))
    beyond = [refused(lambda one=one: run(one), "place [2]", "(2,)") for one in (read, written, jax.jit(read))]
    legal = run(lambda q: q[-2] ** 2 + jnp.sum(jnp.take(q, jnp.array([1, 7]), mode="clip")))
    masked = refused(lambda: run(q=np.ma.array([0.3, 0.2], mask=[0, 1])), "q must be real numbers")
    complex_mass = refused(lambda: dh.simulate(oscillator(2 + 0j), [1.0, 0], [0, 1.0], h=0.1, steps=3), "complex128")
    return max(*beyond, masked, complex_mass, float(not legal.report.converged.all()))


def main() -> None:
    """Run the programs whose names contain one of the words; all, if none is given."""
    words, failed = sys.argv[1:], []
    chosen = {name: one for name, one in PROGRAMS.items() if not words or any(word in name for word in words)}
    for name, one in chosen.items():
        began = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                amount = float(one.run())
            said = ""
        except Exception as error:  # any at all is a find
            amount, said = np.inf, f"  {type(error).__name__}: {error}"[:300]
        well = amount <= one.bound
        failed += [] if well else [name]
        took = time.perf_counter() - began
        figures = f"{amount:8.1e} <= {one.bound:.0e}  {took:5.1f} s"
        print(f"{'ok ' if well else 'OFF'}  {name:<42} {figures}  {one.against}{said}", flush=True)
    print(f"{len(chosen) - len(failed)} of {len(chosen)} as they should be", *failed)
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()

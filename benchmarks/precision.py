"""Work against precision, beside diffrax, heyoka and SciPy

The spherical pendulum for T = 1000 s, the rolling disk for T = 100 s, the sleigh for T = 20 s; only the end is saved.
The error is the largest of all coordinates and free velocities there, against 80-bit numbers. Peers are given explicit
equations y' = f(y) written by hand in the same coordinates, with no constraint left; ours finds its own from the
Lagrangian and the frame. Everything is compiled and run once before it is timed; ours is the compiled call as in the
benchmark "trajectory" with a fixed step, and beside it what dh.simulate takes with all its checks.

diffrax: PIDController(rtol=tol, atol=tol), first step chosen by it, SaveAt(t1=True), max_steps=None, compiled ahead of
time by jax.jit; "as one kernel" is the same under the attribute by which XLA makes one native kernel of a loop.
heyoka: taylor_adaptive(tol=tol), propagate_until. SciPy: solve_ivp(rtol=tol, atol=tol), f in plain Python numbers,
which are faster there than arrays.

What it costs, in counts: for an error of 1e-8 on the pendulum Dopri8 takes 8576 steps of 13 evaluations of f, heyoka
4400 steps with 12 Taylor coefficients each, and Gauss(10), of order 20, 625 steps of some 27 sweeps over 10 stages:
1.5 times Dopri8's evaluations, but those of all stages go through the vector unit side by side. Order 8 by composition
takes some 6000 steps, each of 17 nonlinear systems solved in three iterations.
"""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from scipy.integrate import solve_ivp

import discrete_hamel as dh
from benchmarks.contests import Bar, installed
from benchmarks.problems import PROBLEMS, Problem
from paper_figures.speeds import compiled, interleaved, start

ROUNDS = 20
PEERS = ("diffrax", "heyoka", "scipy")
Run = Callable[[], Any]
MIDPOINT = dh.DiscreteHamel()
SCHEMES: dict[str, tuple[dh.schemes.scheme.Scheme, dict[str, tuple[float, ...]]]] = {
    "DiscreteHamel": (MIDPOINT, {"pendulum": (0.1, 0.01), "disk": (0.02, 0.002), "sleigh": (0.04, 0.004)}),
    "Composed, order 6": (
        dh.Composed(MIDPOINT, order=6),
        {"pendulum": (0.4, 0.2, 0.1), "disk": (0.1, 0.05, 0.02), "sleigh": (0.2, 0.1, 0.05)},
    ),
    "Composed, order 8": (
        dh.Composed(MIDPOINT, order=8),
        {"pendulum": (0.4, 0.25, 0.2, 0.1), "disk": (0.1, 0.05, 0.025), "sleigh": (0.4, 0.2, 0.1)},
    ),
    "Composed, order 8, compensated": (  # the sums of 17 steps carried to the last digit, for errors near round-off
        dh.Composed(dh.DiscreteHamel(compensated=True), order=8),
        {"pendulum": (0.2, 0.1, 0.05)},
    ),
    "Gauss(4)": (
        dh.Gauss(stages=4),
        {"pendulum": (0.5, 0.25, 0.2, 0.1), "disk": (0.1, 0.05, 0.025), "sleigh": (0.4, 0.2, 0.1)},
    ),
    "Gauss(8)": (
        dh.Gauss(stages=8),
        {"pendulum": (1.25, 1.0, 0.8, 0.65, 0.6), "disk": (0.25, 0.2, 0.125), "sleigh": (1.0,)},
    ),
    "Gauss(8), compensated": (  # the sums of stages carried to the last digit
        dh.Gauss(stages=8, compensated=True),
        {"pendulum": (0.8, 0.65, 0.6, 0.5)},
    ),
    "Gauss(10)": (
        dh.Gauss(stages=10),
        {"pendulum": (2.0, 1.6, 1.25, 1.0, 0.8), "disk": (0.5, 0.4, 0.25, 0.2), "sleigh": (2.0, 1.0)},
    ),
}
EXPLICIT = (1e-9, 1e-11, 1e-12, 1e-13)
IMPLICIT = (1e-6, 1e-8)
TAYLOR = (1e-6, 1e-9, 1e-12, 2.2e-16)


def measure(rounds: int, quick: bool) -> Iterator[dict[str, Any]]:
    for name, problem in list(PROBLEMS.items())[: 1 if quick else None]:
        runs = {**ours(name, problem), **peers(problem, quick)}
        errors = {key: float(np.max(np.abs(ended(run) - problem.end))) for key, run in runs.items()}
        best = interleaved(runs, -(-rounds // 4) if quick else rounds, patience=0.5 if quick else 1.5)
        for method, setting in runs:
            if method.endswith(WITH_CHECKS):
                continue
            yield {
                "problem": name,
                "method": method,
                "setting": setting,
                "error": errors[method, setting],
                "ms": 1e3 * best[method, setting],
                "ms by dh.simulate": 1e3 * best.get((method + WITH_CHECKS, setting), float("nan")),
            }


WITH_CHECKS = " by dh.simulate"


def ended(run: Run) -> np.ndarray:
    return np.asarray(run(), float)


def ours(name: str, problem: Problem) -> dict[tuple[str, str], Run]:
    """The compiled call, and the public one, for each scheme and step."""
    runs: dict[tuple[str, str], Run] = {}
    for label, (scheme, sizes) in SCHEMES.items():
        for h in sizes.get(name, ()):
            steps = round(problem.time / h)
            begun = start(problem.system, scheme, problem.q, problem.xi, problem.time / steps)
            try:
                call, _ = compiled(begun, steps, every=steps)
            except RuntimeError as reason:
                print(f"  {reason}: skipped")
                break
            runs[f"ours, {label}", f"h = {h:g}"] = partial(end_of, call, problem.system.rank)
            runs[f"ours, {label}{WITH_CHECKS}", f"h = {h:g}"] = partial(public, problem, scheme, steps)
    return runs


def end_of(call: Run, rank: int) -> np.ndarray:
    q, _, xi, *_ = call()
    return np.concatenate([q[0], xi[0, :rank]])


def public(problem: Problem, scheme: Any, steps: int) -> np.ndarray:
    traj = dh.simulate(
        problem.system,
        problem.q,
        problem.xi,
        h=problem.time / steps,
        steps=steps,
        save_every=steps,
        scheme=scheme,
        progress=False,
    )
    return np.concatenate([traj.q[-1], traj.xi[-1, : problem.system.rank]])


def peers(problem: Problem, quick: bool) -> dict[tuple[str, str], Run]:
    """Whoever is installed; the implicit ones take long, so not if it is to be quick."""
    implicit = IMPLICIT[:0] if quick else IMPLICIT
    runs: dict[tuple[str, str], Run] = {}
    if installed("diffrax"):
        for tolerance in EXPLICIT:
            runs["diffrax Dopri8", f"tol {tolerance:g}"] = by_diffrax(problem, "Dopri8", tolerance)
            runs["diffrax Dopri8 as one kernel", f"tol {tolerance:g}"] = by_diffrax(problem, "Dopri8", tolerance, True)
        for tolerance in implicit:
            runs["diffrax Kvaerno5", f"tol {tolerance:g}"] = by_diffrax(problem, "Kvaerno5", tolerance)
    if installed("heyoka"):
        for tolerance in TAYLOR:
            runs["heyoka Taylor", f"tol {tolerance:g}"] = by_heyoka(problem, tolerance)
    for method, tolerances in (("DOP853", (*EXPLICIT, 2.3e-14)), ("Radau", implicit)):
        for tolerance in tolerances[:: 3 if quick else 1]:
            runs[f"SciPy {method}", f"tol {tolerance:g}"] = partial(by_scipy, problem, method, tolerance)
    return runs


def by_diffrax(problem: Problem, solver: str, tolerance: float, native: bool = False) -> Run:
    import diffrax

    term = diffrax.ODETerm(lambda _t, y, _a: jnp.stack(problem.right(y, jnp.sin, jnp.cos)))

    def end(y: jax.Array) -> jax.Array:
        return diffrax.diffeqsolve(
            term,
            getattr(diffrax, solver)(),
            0.0,
            problem.time,
            None,
            y,
            stepsize_controller=diffrax.PIDController(rtol=tolerance, atol=tolerance),
            saveat=diffrax.SaveAt(t1=True),
            max_steps=None,
            throw=False,
        ).ys[-1]

    start = jnp.array(problem.start)
    return partial(jax.jit(one_kernel(end) if native else end).lower(start).compile(), start)


def one_kernel(function: Callable) -> Callable:
    """The function, marked so that XLA on the CPU emits it as one native kernel instead of many small ones."""
    from jax.experimental.xla_metadata import set_xla_metadata

    inner = jax.jit(function)

    def marked(*arguments: jax.Array) -> jax.Array:
        with set_xla_metadata(xla_cpu_small_call="true", inlineable="false"):
            return inner(*arguments)

    return marked


def by_heyoka(problem: Problem, tolerance: float) -> Run:
    import heyoka

    names = heyoka.make_vars(*(f"y{i}" for i in range(len(problem.start))))
    equations = list(zip(names, problem.right(names, heyoka.sin, heyoka.cos), strict=True))
    solver = heyoka.taylor_adaptive(equations, list(problem.start), tol=tolerance)

    def run() -> np.ndarray:
        solver.time, solver.state[:] = 0.0, problem.start
        solver.propagate_until(problem.time)
        return solver.state.copy()

    return run


def by_scipy(problem: Problem, method: str, tolerance: float) -> np.ndarray:
    def right(_t: float, y: np.ndarray) -> list:
        return problem.right(y.tolist(), math.sin, math.cos)

    with np.errstate(over="ignore"):  # in Radau's choice of differences
        run = solve_ivp(right, (0, problem.time), problem.start, method, rtol=tolerance, atol=tolerance)
    return run.y[:, -1]


def time_at(rows: list[dict[str, Any]], error: float) -> float:
    """What the method of these rows takes for that error: on the logarithmic line from setting to setting.

    >>> round(time_at([{"error": 1e-6, "ms": 1.0}, {"error": 1e-10, "ms": 100.0}], 1e-8), 9)
    10.0
    >>> time_at([{"error": 1e-6, "ms": 1.0}], 1e-8)
    nan
    """
    found = sorted((row["error"], row["ms"]) for row in rows)
    if not found or found[0][0] > error:
        return float("nan")
    errors, times = np.log(np.array(found)).T
    return float(np.exp(np.interp(np.log(error), errors, times)))


def bars(rows: list[dict[str, Any]]) -> list[Bar]:
    methods: dict[str, list] = {}
    for row in rows:
        if row["problem"] == "pendulum":
            methods.setdefault(row["method"], []).append(row)

    def of(start: str, error: float) -> float:
        times = [time_at(found, error) for name, found in methods.items() if name.startswith(start)]
        return min((t for t in times if not np.isnan(t)), default=float("nan"))

    dopri = time_at(methods.get("diffrax Dopri8", []), 1e-8)
    return [
        Bar(
            "pendulum, T = 1000, error 1e-8: times faster than diffrax Dopri8",
            *(dopri / of("ours", 1e-8), 40, 60),
            at_least=True,
        ),
        Bar("pendulum, T = 1000, error 1e-12: time over heyoka's", of("ours", 1e-12) / of("heyoka", 1e-12), 1.2, 0.8),
    ]


def draw(rows: list[dict[str, Any]]) -> Any:
    from discrete_hamel.drawing.plots import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
    from paper_figures.pictures import mosaic

    names = list(dict.fromkeys(row["problem"] for row in rows))
    looks = {
        "ours, DiscreteHamel": (SKY, "o", "-"),
        "ours, Composed, order 6": (SKY, "^", "-"),
        "ours, Composed, order 8": (BLUE, "s", "-"),
        "ours, Composed, order 8, compensated": (BLUE, "s", ":"),
        "ours, Gauss(4)": (BLUE, "D", "-"),
        "ours, Gauss(8)": (BLACK, "o", "-"),
        "ours, Gauss(8), compensated": (BLACK, "o", ":"),
        "ours, Gauss(10)": (BLACK, "D", "-"),
        "diffrax Dopri8": (VERMILLION, "o", "--"),
        "diffrax Dopri8 as one kernel": (VERMILLION, "^", ":"),
        "diffrax Kvaerno5": (ORANGE, "s", "--"),
        "heyoka Taylor": (GREEN, "o", "--"),
        "SciPy DOP853": (PURPLE, "o", "--"),
        "SciPy Radau": (GREY, "s", "--"),
    }
    figure, axes = mosaic([names], size=(2.9 * len(names) + 0.6, 4.2), sharey=True)
    for name in names:
        ax = axes[name]
        for method, (colour, marker, line) in looks.items():
            found = sorted((r["error"], r["ms"]) for r in rows if (r["problem"], r["method"]) == (name, method))
            if found:
                ax.loglog(*zip(*found, strict=True), line, marker=marker, markersize=3.5, color=colour, label=method)
        ax.set(xlabel="error at the end", title=f"{name}, T = {PROBLEMS[name].time:g} s")
        ax.invert_xaxis()
    axes[names[0]].set_ylabel("time [ms]")
    handles = {h.get_label(): h for name in names for h in axes[name].lines}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=4)
    return figure

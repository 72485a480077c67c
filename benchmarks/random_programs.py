"""Random programs on both paths: python -m benchmarks.random_programs [programs] [first seed] [kinds]

A program is a system whose Lagrangian, frame and force are random array operations along 1 to 40 coordinates (slices,
differences, sums, scans, reversals, selections, rolls, small linear algebra), with a random pytree of parameters, some
of them unused, and a random scheme. Of each `kind` it must be the plain one to 1e-12, or refused with a reason:

    read    in the graph, Newton's correction and what follows from the root are those of the scheme's own `residual`
            and `advance`, which NumPy evaluates (a quarter of a CPU second each)
    xla     the same, evaluated by XLA (a second each)
    host    a run by `simulate`
    jit     the same under jax.jit, with data and parameters traced
    lanes   three members of `ensemble`
    runs    the last three against Newton's method with the scheme's functions in NumPy

Of `read`, seeds 0 to 9999 have been run: none is wrong any more, and a dozen at most are plain (more than
700 000 operations). 10 000 take some 30 CPU minutes.

Of the kinds that run: `host` 225, `jit` 185, `runs` 194, `lanes` 167 programs, none wrong, five of `lanes` plain; the
last of them (25 to 46 each from seeds 20100, 20200, 21100, 21200, 22100, 22200, 23100, 23200) at c2100426, and
28 of `runs` from seed 24100 at dc8f364.

Programs run in child processes, some dozens in each, so that one that ends its process is seen, named, and left behind.
"""

# ruff: noqa: ARG001, ARG005  # operations, and functions of a system, keep their signature

import gc
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import discrete_hamel as dh
from benchmarks import jaxprs_by_numpy, newton_by_numpy
from discrete_hamel.compiler.graph.expressions import Unsupported
from discrete_hamel.compiler.step.stepper import Stepper
from discrete_hamel.compiler.step.verification import QUICK, correction_of, values_of
from discrete_hamel.mechanics.hamel import balance
from discrete_hamel.runs import validation as checks

KINDS = {
    "read": 250,
    "xla": 25,
    "host": 25,
    "jit": 25,
    "lanes": 25,
    "runs": 50,
}  # and how many programs a process takes
STEPS = 4
TOLERANCE = 1e-12
SIZES = np.array((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 16, 20, 25, 31, 40))  # drawn as often as they are quick
SMALL_SIZES = 10  # up to which a program is run and not only read
SECONDS = 300  # a program
BETWEEN_COLLECTIONS = 20  # programs
MANY_UNKNOWNS = 16


def recursion(x: Any) -> Any:
    return lax.scan(lambda c, a: (0.5 * c + a, 0.5 * c + a), jnp.zeros(()), x)[1]


def mixed(random: np.random.Generator, x: Any) -> Any:
    return jnp.asarray(random.normal(size=(x.size, x.size)) / x.size) @ x


def solved(random: np.random.Generator, x: Any) -> Any:
    size = min(3, x.size)
    matrix = jnp.asarray(4 * np.eye(size) + random.normal(size=(size, size)))
    turned = matrix.at[0, 0].add(0.2 * jnp.tanh(x[-1]))
    return x.at[:size].set(jnp.linalg.solve(turned, x[:size]))


def moved(random: np.random.Generator, x: Any) -> Any:
    return jnp.roll(x, int(random.integers(-3, 4)))


def chosen(random: np.random.Generator, x: Any) -> Any:
    return x[jnp.asarray(random.integers(0, x.size, size=int(random.integers(1, x.size + 2))))]


def by_place(random: np.random.Generator, x: Any) -> Any:
    return jnp.where(jnp.arange(x.size) % int(random.integers(2, 4)) == 0, x, x * x)


def by_sign(random: np.random.Generator, x: Any) -> Any:
    return jnp.where(x > float(random.normal()), x, x - 0.3 * jnp.sin(x))


def weighted(random: np.random.Generator, x: Any) -> Any:
    return x * jnp.asarray(random.uniform(0.3, 1.5, size=x.size))


def put(random: np.random.Generator, x: Any) -> Any:
    at = int(random.integers(x.size))
    return x.at[at].add(x[-1] ** 2) if random.random() < 0.5 else x.at[at].set(0.3)


def in_rows(random: np.random.Generator, x: Any) -> Any:
    if x.size % 2:
        return jnp.append(x, x[0])
    rows = x.reshape(2, -1) if random.random() < 0.5 else x.reshape(-1, 2)
    return jnp.sum(jnp.cumsum(rows, axis=int(random.integers(2))), axis=int(random.integers(2)))


def outer(random: np.random.Generator, x: Any) -> Any:
    return jnp.einsum("i,j->i", x, x[:2]) / x.size


def padded(random: np.random.Generator, x: Any) -> Any:
    return jnp.pad(x, tuple(random.integers(0, 3, size=2).tolist()), constant_values=float(random.choice([0, 0.5])))


def looped(random: np.random.Generator, x: Any) -> Any:
    return lax.fori_loop(0, 3, lambda i, y: y + 0.1 * jnp.roll(y, 1) * (i + 1), x)


def cut(random: np.random.Generator, x: Any) -> Any:
    size = int(random.integers(1, x.size + 1))
    return lax.dynamic_slice(x, (int(random.integers(0, x.size)),), (size,))


def windows(random: np.random.Generator, x: Any) -> Any:
    return jax.vmap(lambda i: jnp.sum(lax.dynamic_slice(x, (i,), (min(3, x.size),))))(jnp.arange(x.size))


Operation = Callable[[np.random.Generator, Any], Any]
OPERATIONS: tuple[Operation, ...] = (
    *(mixed, solved, moved, chosen, by_place, by_sign, weighted, put, in_rows, outer, padded, looped, cut, windows),
    lambda r, x: x[1:] if x.size > 1 else x,
    lambda r, x: x[:-1] if x.size > 1 else x,
    lambda r, x: x[::2],
    lambda r, x: x[::-1],
    lambda r, x: jnp.diff(x, int(r.integers(1, 3))) if x.size > 2 else x,
    lambda r, x: jnp.gradient(x) if x.size > 1 else x,
    lambda r, x: jnp.cumsum(x),
    lambda r, x: lax.cumsum(x, reverse=True),
    lambda r, x: jnp.cumprod(1 + 0.1 * jnp.sin(x)),
    lambda r, x: recursion(x),
    lambda r, x: jnp.sin(x),
    lambda r, x: jnp.tanh(x),
    lambda r, x: x * x,
    lambda r, x: x / jnp.sqrt(1 + x @ x),
    lambda r, x: jnp.concatenate([x[:1], x]),
    lambda r, x: jnp.concatenate([jnp.zeros(1), x[1:], jnp.cos(x[:1])]),
    lambda r, x: jnp.mean(x) + x,
    lambda r, x: jnp.maximum(x, -0.7),
    lambda r, x: jnp.stack([x, x[::-1]], axis=1).ravel(),
    lambda r, x: jnp.repeat(x, 2)[: x.size + 1],
    lambda r, x: jnp.tile(x, 2)[1:],
    lambda r, x: jnp.take(x, jnp.arange(x.size)[::-1]),
    lambda r, x: (x[:, None] * jnp.eye(x.size)) @ x,
    lambda r, x: jnp.kron(x[:2], jnp.ones(2)),
    lambda r, x: jnp.clip(x, -2.0, 2.0),
    lambda r, x: jnp.split(x, [x.size // 2])[1],
)


class Program:
    """One random system with its scheme and data, the same for the same seed."""

    def __init__(self, seed: int, largest: int = max(SIZES)) -> None:
        random = np.random.default_rng(seed)
        sizes = SIZES[largest >= SIZES]
        self.n = n = int(random.choice(sizes, p=1 / sizes / np.sum(1 / sizes)))
        self.rank = n - 1 if n > 1 and random.random() < 0.3 else n
        terms = [self._names(random) for _ in range(int(random.integers(1, 4)))]
        self.names = [[OPERATIONS.index(operation) for operation, _ in term] for term in terms]
        kinetic, pushed = random.random() < 0.4, random.random() < 0.3
        coupling, frame_term = self._names(random), self._names(random)
        mass, strength = random.uniform(0.5, 2.0, size=n), float(random.uniform(0.1, 0.6))
        unused = self._unused(random)
        shaped = random.random() < 0.3

        def lagrangian(q: Any, v: Any, p: Any) -> Any:
            total = 0.5 * jnp.sum(p["mass"] * v * v) - 0.5 * p["k"] * q @ q
            for term in terms:
                total = total - p["strength"] * jnp.sum(jnp.sin(_through(term, q)))
            if kinetic:
                total = total + 0.05 * jnp.sum(jnp.cos(_through(coupling, q))) / n * jnp.sum(jnp.cumsum(v) ** 2) / n**2
            return total

        def frame(q: Any, p: Any) -> Any:
            turning = 0.1 * jnp.sin(jnp.sum(_through(frame_term, q))) if shaped else 0.0
            columns = jnp.eye(n)[:, : self.rank]
            return columns.at[-1, 0].add(turning + (0.5 * q[0] if self.rank < n else 0.0))

        def force(q: Any, v: Any, p: Any) -> Any:
            return -0.2 * v + 0.1 * jnp.roll(q, 1)

        params = {"mass": jnp.asarray(mass), "k": 1.0, "strength": strength / n, **unused}
        self.system = dh.from_velocities(lagrangian, frame, self.rank, force=force if pushed else None, params=params)
        self.scheme = SCHEMES[int(random.choice(len(SCHEMES), p=(0.5, 0.15, 0.1, 0.1, 0.1, 0.05)))]
        self.data = {"q": random.uniform(-1, 1, size=n), "xi": random.uniform(-1, 1, size=self.rank), "h": 0.05}

    @staticmethod
    def _names(random: np.random.Generator) -> list[tuple[Operation, int]]:
        count = int(random.integers(1, 5))
        return [(OPERATIONS[i], int(random.integers(2**31))) for i in random.integers(len(OPERATIONS), size=count)]

    @staticmethod
    def _unused(random: np.random.Generator) -> dict[str, Any]:
        kinds = (
            {}, {"unused": 0.5}, {"unused": np.array([0.8, 1.1])}, {"unused": (np.ones((2, 3)), {"deep": 2.0})},
            {"a": np.arange(1.0, 6.0), "unused": []},
        )  # fmt: skip
        return dict(kinds[int(random.integers(len(kinds)))])


def by_numpy(residual: Callable, advance: Callable, z: Any) -> list[np.ndarray]:
    """The residual's Jacobian, the residual, and the leaves of `advance`."""
    traced = jax.make_jaxpr(residual)(z)

    def again(z: Any) -> Any:
        return jax.core.eval_jaxpr(traced.jaxpr, traced.consts, z)[0]

    def number(function: Callable, *arguments: Any) -> list[np.ndarray]:
        closed = jax.make_jaxpr(function)(*arguments)
        return jaxprs_by_numpy.evaluated(closed.jaxpr, closed.consts, *arguments)

    if len(z) > MANY_UNKNOWNS:
        (jacobian,) = number(jax.jacfwd(again), z)
    else:  # columns one by one, of a tenth of the equations to trace
        along = jax.make_jaxpr(lambda z, d: jax.jvp(again, (z,), (d,))[1])(z, z)
        columns = [jaxprs_by_numpy.evaluated(along.jaxpr, along.consts, z, d)[0] for d in np.eye(len(z))]
        jacobian = np.stack(columns, axis=1)
    return [jacobian, *jaxprs_by_numpy.evaluated(traced.jaxpr, traced.consts, z), *number(advance, z)]


SCHEMES: tuple[Any, ...] = (
    dh.DiscreteHamel(), dh.DiscreteHamel(tau=0.25), dh.StaggeredHamel(), dh.Gauss(stages=2),
    dh.DiscreteHamel(compensated=True), dh.Composed(dh.DiscreteHamel(), order=4),
)  # fmt: skip


def _through(term: list[tuple[Operation, int]], x: Any) -> Any:
    for operation, seed in term:
        x = operation(np.random.default_rng(seed), x)
    return x


_states: dict[Any, Any] = {}  # the shapes of a scheme's state


def read(program: Program, evaluate: Callable = by_numpy) -> str:
    """The graph against the functions that it was read from, at a state that is as random as the program."""
    system, scheme = checks.canonical(program.system), checks.canonical(program.scheme)
    h, random = jnp.asarray(program.data["h"]), np.random.default_rng(program.n)
    if scheme.substeps(h) is not None:
        scheme = scheme.substeps(h)[0]
    q, xi = (jnp.asarray(program.data[name]) for name in ("q", "xi"))
    key = jax.tree.structure(scheme), q.shape, xi.shape
    if key not in _states:
        _states[key] = jax.eval_shape(lambda q, xi, h: dh.start(system, scheme, q, xi, h), q, xi, h)
    state = jax.tree.map(lambda leaf: jnp.asarray(random.uniform(-1, 1, size=leaf.shape)), _states[key])
    try:
        stepper = Stepper(system, scheme, state, h)
    except Unsupported as reason:
        return f"plain: {reason}"
    graph, root = stepper.graph, stepper.root
    values = {k: graph.samples[k] for k, node in enumerate(graph.nodes) if node[0] == "input"}
    for unknown, formula in reversed(root.formulas):  # what is eliminated is where its rows hold, not at the guess
        values[unknown] = float(values_of(graph, [formula], values)[0])
    z = jnp.asarray([values[u] for u in stepper.unknowns])

    jacobian, residual, *after = evaluate(
        lambda z: scheme.residual(system, state, h, z), lambda z: scheme.advance(system, state, h, z), z
    )
    made = values_of(graph, [*stepper.after, *stepper.xi], values)
    apart = np.abs(np.concatenate([np.ravel(leaf) for leaf in after]) - made) / (1 + np.abs(made).max())
    if not np.all(apart <= TOLERANCE):
        return f"WRONG: what follows from the root, by {apart.max():.1e}"
    expected = np.linalg.solve(jacobian, -residual)[root.places]
    found = correction_of(stepper, values)(values)
    scale = np.abs(residual).max() + np.abs(z).max()
    bound = TOLERANCE * np.linalg.cond(jacobian) * max(np.abs(expected).max(), 1e-3 * scale)
    error = np.abs(found - expected).max()
    return "equal" if error <= bound else f"WRONG by {error:.1e} of {np.abs(expected).max():.1e}"


def xla(program: Program) -> str:
    """The same with XLA's numbers."""

    def compiled(residual: Callable, advance: Callable, z: Any) -> list[np.ndarray]:
        def all_three(z: Any) -> Any:
            return jax.jacfwd(residual)(z), residual(z), advance(z)

        return list(map(np.asarray, jax.tree.leaves(jax.jit(all_three, compiler_options=QUICK)(z))))

    return read(program, compiled)


def _apart(runs: list[Any]) -> str:
    """The largest difference, relative to what a run has of that kind."""
    worst = 0.0
    for name in ("q", "p", "xi"):
        a, b = (np.asarray(getattr(run, name)) for run in runs)
        worst = max(worst, float(np.abs(a - b).max() / (np.abs(b).max() + 1e-3)))
    return "equal" if worst <= TOLERANCE else f"WRONG by {worst:.1e}"


def host(program: Program) -> str:
    ran = []
    for compiled in (True, False):
        try:
            data = {**program.data, "scheme": program.scheme, "steps": STEPS, "progress": False}
            ran.append(dh.simulate(program.system, **data, compiled=compiled))
        except dh.RunFailed as failure:
            ran.append(failure.trajectory)
    if ran[0].report.path == "plain":
        return f"plain: {ran[0].report.reason}"
    if len(ran[0].q) != len(ran[1].q):
        return f"WRONG: {len(ran[0].q)} nodes, plain {len(ran[1].q)}"
    return _apart(ran)


def jit(program: Program) -> str:
    ran, path = [], ""
    for compiled in (True, False):

        def run(system: Any, q: Any, xi: Any, compiled: bool = compiled) -> Any:
            data = {"h": program.data["h"], "scheme": program.scheme, "steps": STEPS, "compiled": compiled}
            return dh.simulate(system, q=q, xi=xi, **data)

        system, q, xi = checks.initial_data(program.system, program.data["q"], program.data["xi"], None)
        ran.append(jax.jit(run)(checks.canonical(system), q, xi))
        path = path or ran[0].report.path
    return f"plain: {ran[0].report.reason}" if path == "plain" else _apart(ran)


def lanes(program: Program) -> str:
    ran = []
    data = {**program.data, "scheme": program.scheme, "steps": STEPS, "progress": False}
    data["q"] = np.stack([program.data["q"] * factor for factor in (1.0, 0.9, 0.8)])
    for compiled in (True, False):
        ran.append(dh.ensemble(program.system, **data, compiled=compiled))
    return f"plain: {ran[0].attrs['path_reason']}" if ran[0].attrs["path"] == "plain" else _apart(ran)


def runs(program: Program) -> str:
    """`host`, `jit` and `lanes` against `newton_by_numpy`, and xi at the nodes against its definition mu(q, xi) = p."""
    factors = (1.0, 0.9, 0.8)
    system, scheme = checks.canonical(program.system), checks.canonical(program.scheme)
    xi, h = program.data["xi"], jnp.asarray(program.data["h"])
    expected = [newton_by_numpy.nodes(system, scheme, factor * program.data["q"], xi, h, STEPS) for factor in factors]
    data, rank = {**program.data, "scheme": program.scheme, "steps": STEPS}, program.rank
    on_host = dh.simulate(program.system, **data, progress=False)
    if on_host.report.path == "plain":
        return f"plain: {on_host.report.reason}"

    def traced(system: Any, q: Any, xi: Any) -> Any:
        return dh.simulate(system, **{**data, "q": q, "xi": xi})

    under_jit = jax.jit(traced)(*checks.initial_data(system, data["q"], data["xi"], None))
    many = np.stack([factor * data["q"] for factor in factors])
    in_lanes = dh.ensemble(program.system, **{**data, "q": many}, progress=False)
    found = [("host", on_host, expected[0]), ("jit", under_jit, expected[0])]
    found += [("lanes", in_lanes.isel(member=k), each) for k, each in enumerate(expected)]
    worst = {}
    momentum = jax.make_jaxpr(lambda q, xi: balance(system, q, xi)[0])(data["q"], data["xi"])
    for name, run, (q, p) in found:
        made_q, made_p, xi = (np.asarray(getattr(run, field)) for field in ("q", "p", "xi"))
        q, p = q[-len(made_q) :], p[-len(made_q) :]  # an ensemble keeps the last node
        mu = [
            jaxprs_by_numpy.evaluated(momentum.jaxpr, momentum.consts, *each)[0]
            for each in zip(q, xi[:, :rank], strict=True)
        ]
        gaps = [np.abs(a - b).max() / (np.abs(b).max() + 1e-3) for a, b in ((made_q, q), (made_p, p), (mu, p))]
        worst[name] = max(worst.get(name, 0.0), *map(float, gaps))
    if len(in_lanes.q) and max(worst.values()) <= TOLERANCE:
        return f"equal, {under_jit.report.path} under jit, {in_lanes.attrs['path']} in lanes"
    return f"WRONG by {worst}"


def outcomes(kind: str, seeds: Any) -> Iterator[tuple[int, str]]:
    """What became of each program."""
    gc.disable()  # a fifth of the time: tracing makes many objects that refer to each other
    for count, seed in enumerate(seeds):
        if count % BETWEEN_COLLECTIONS == 0:
            gc.collect()
        program = Program(seed, max(SIZES) if kind in ("read", "xla") else SMALL_SIZES)
        try:
            yield (
                seed,
                {"read": read, "xla": xla, "host": host, "jit": jit, "lanes": lanes, "runs": runs}[kind](program),
            )
        except Exception as error:
            yield seed, f"WRONG: {type(error).__name__}: {error}"


def campaign(kind: str, seeds: range) -> dict[str, list[str]]:
    """All programs by outcome, in child processes."""
    found: dict[str, list[str]] = {"equal": [], "plain": [], "WRONG": [], "ended the process": []}
    left = list(seeds)
    while left:
        batch = left[: KINDS[kind]]
        command = [sys.executable, "-m", "benchmarks.random_programs", "--child", kind, *map(str, batch)]
        child = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS * len(batch))
        told = [line.split(" ", 1) for line in child.stdout.splitlines() if line[:1].isdigit()]
        for seed, outcome in told:
            name = next((name for name in found if outcome.startswith(name)), "WRONG")
            found[name].append(f"{seed} {outcome}")
        if len(told) < len(batch):
            found["ended the process"].append(f"{batch[len(told)]} signal {-child.returncode}: {child.stderr[:200]}")
        left = left[len(told) + (len(told) < len(batch)) :]
    return found


def main() -> None:
    if "--child" in sys.argv:
        kind, *numbers = sys.argv[2:]
        for seed, outcome in outcomes(kind, map(int, numbers)):
            print(seed, outcome.splitlines()[0][:200], flush=True)
        return
    asked = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    asked.add_argument("programs", type=int, nargs="?", default=100, help="how many; 100 unless given")
    asked.add_argument("first", type=int, nargs="?", default=0, help="the seed of the first; 0 unless given")
    asked.add_argument("kinds", nargs="*", metavar="kind", help=f"of {', '.join(KINDS)}; all unless given")
    wanted = asked.parse_args()
    if unknown := {*wanted.kinds} - {*KINDS}:
        asked.error(f"no such kind: {', '.join(sorted(unknown))}; there are {', '.join(KINDS)}")
    for kind in wanted.kinds or KINDS:
        begin = time.time()
        found = campaign(kind, range(wanted.first, wanted.first + wanted.programs))
        counts = ", ".join(f"{len(each)} {name}" for name, each in found.items())
        print(f"{kind}: {counts} ({time.time() - begin:.0f} s)", flush=True)
        for name in ("WRONG", "ended the process"):
            print(*(f"  {line}" for line in found[name]), sep="\n", end="\n" if found[name] else "")


if __name__ == "__main__":
    main()

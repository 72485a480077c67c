"""The equations that the library integrates, in the user's names: read from the traced functions themselves."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates
from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.graph.expressions import Graph, Unsupported
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.reading.jaxprs import to_graph
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.nonlinear import NonlinearSystem
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation

if TYPE_CHECKING:
    from sympy import Expr

LINEAR = 1e-9  # relative change of d mu/d xi with xi that counts as none
MOST = 4000  # operations beyond which nothing would be read

PARTS = {  # heading, and how a left side is written from its name
    "lagrangian": ("the Lagrangian", "{}"),
    "structure": ("brackets of the fields, [HE] 2.3", "{}"),
    "kinematics": ("reconstruction, qdot = Psi xi", "{}'"),
    "momenta": ("momenta on D, mu = dl/dxi, [HE] (5.5)", "{}"),
    "velocities": ("velocities from momenta", "{}"),
    "balance": ("Hamel's equations in velocities, [HE] (4.4)", "{}'"),
    "momentum_equations": ("Hamel's equations in momenta", "{}'"),
    "accelerations": ("solved for the accelerations", "{}'"),
    "reactions": ("constraint reactions, [HE] 2.4", "{}"),
}


class Equations(NamedTuple):
    """Formulas by the name of their left side, in SymPy; it prints as text, and as LaTeX in notebooks."""

    system: str
    lagrangian: "dict[str, Expr]"  # {"l": ...}, xi with all n components
    structure: "dict[str, Expr]"  # "[u_i, u_j]" by the fields' velocities, i < j, as a combination of fields
    kinematics: "dict[str, Expr]"
    momenta: "dict[str, Expr]"  # p_j of (q, xi^D)
    velocities: "dict[str, Expr]"  # xi^D of (q, p); empty where mu is not linear in xi
    balance: "dict[str, Expr]"  # p_j' of (q, xi^D)
    momentum_equations: "dict[str, Expr]"  # p_j' of (q, p); empty where mu is not linear in xi
    accelerations: "dict[str, Expr]"  # xi_j' of (q, xi^D)
    reactions: "dict[str, Expr]"  # lambda_a of (q, xi^D)

    @property
    def reduced(self) -> "dict[str, Expr]":
        """The equations that close: of the momenta, and of the coordinates that occur in them."""
        start = self.momentum_equations or self.accelerations
        rates = {name: self._in_momenta(value) for name, value in self.kinematics.items()}
        found = dict(start)
        while True:
            occurring = {str(symbol) for value in found.values() for symbol in value.free_symbols}
            more = {name: value for name, value in rates.items() if name in occurring and name not in found}
            if not more:
                return found
            found |= more

    def _in_momenta(self, value: "Expr") -> "Expr":
        by_name = {str(symbol): symbol for symbol in value.free_symbols}
        known = {by_name[name]: of for name, of in self.velocities.items() if name in by_name}
        return value.xreplace(known)

    def __str__(self) -> str:
        lines = [f"Equations of {self.system}"]
        for part, (heading, left) in PARTS.items():
            if getattr(self, part):
                lines.append(f"{heading}:")
                lines += [f"  {left.format(name)} = {value}" for name, value in getattr(self, part).items()]
        return "\n".join(lines)

    def latex(self, part: str = "reduced") -> str:
        r"""The equations of one part, or the closed set, as an aligned block of LaTeX."""
        from sympy import latex

        _, left = PARTS.get(part, ("", "{}'"))
        rows = []
        for name, value in getattr(self, part).items():
            letters = {symbol: _typeset(str(symbol)) for symbol in value.free_symbols}
            written = _typeset(name)
            words = any("mathrm" in letter for letter in letters.values())  # which nothing else would keep apart
            right = latex(value, symbol_names=letters, mul_symbol=r" \, " if words else None)
            rows.append(rf"{_rate_of(written) if left.endswith(chr(39)) else written} &= {right}")
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


def _typeset(name: str) -> str:
    r"""p_{\Omega_{1}} of p_Omega1, and [u_{\phi'}, u_{v}] of [u_phi', u_v]; words stand upright."""
    from sympy import Symbol, latex

    if name.startswith("["):
        return f"[{', '.join(map(_typeset, name[1:-1].split(', ')))}]"
    head, mark, index = name.partition("_")
    word = head.rstrip("'")
    letter = latex(Symbol(word))
    if len(word.rstrip("0123456789")) > 1 and not letter.startswith("\\"):
        letter = rf"\mathrm{{{word}}}"
    primed = letter + head[len(word) :]
    return rf"{primed}_{{{_typeset(index)}}}" if mark else primed


def _rate_of(written: str) -> str:
    r"""\dot over the letter, not over its index; what has a prime or stands upright gets d/dt."""
    head, mark, index = written.partition("_")
    if "'" in written or "mathrm" in head:
        return rf"\tfrac{{d}}{{dt}} {written}"
    return rf"\dot{{{head}}}{mark}{index}"


def equations(system: System, q: Coordinates | None = None, *, names: Mapping[str, str] | None = None) -> Equations:
    """Returns what the library integrates, as SymPy expressions: read from the functions that it integrates, when
    traced.

    Structure functions, momenta, Hamel's equations in velocities and in momenta, accelerations and reactions, in the
    names of the system's coordinates, velocities and parameters; momenta are p_ and the name of the velocity. `names`
    gives other ones: {"inertia": "J", "p_omega": "p1"}; a parameter x beside a coordinate x is parameter_x. `.reduced`
    is what closes by itself. q is a place in the neighbourhood of which they hold, where frames are chosen and pivots
    taken; by default `system.sample()`'s. What is
    zero is found by the normal form of `rational.py`, not by search. It needs SymPy, the extra `sympy`.

    >>> import discrete_hamel as dh
    >>> letters = {"inertia": "J", "mass": "m", "offset": "a", "p_omega": "p1", "p_v1": "p2"}
    >>> found = dh.equations(dh.systems.ChaplyginSleigh(), names=letters)
    >>> found.momentum_equations["p1"], found.momentum_equations["p2"]                          # [QS] (6.1)
    (-a*p1*p2/(J + a**2*m), a*m*p1**2/(J + a**2*m)**2)
    """
    try:
        import sympy  # noqa: F401
    except ImportError:
        raise ImportError('dh.equations needs SymPy: pip install "discrete_hamel[sympy]".') from None
    reader = _Reader(system, q, dict(names or {}))
    return reader.equations()


class _Reader:
    """The inputs of the graph, by name, and what is read with them."""

    def __init__(self, system: System, q: Coordinates | None, names: dict[str, str]) -> None:
        if q is None:
            sample = getattr(system, "sample", None)
            if sample is None:
                raise InputError(f"{type(system).__name__} has no sample(): say near which q the equations hold.")
            q = sample()["q"]
        self.names = names
        self.plain = validation.canonical(system)
        self.place = on_device(validation.vector("q", q))
        self.system = self.plain.at(self.place)
        self.graph = Graph()
        self.taken: set[str] = set()
        self.rank = int(self.system.rank)
        self.across = np.shape(self.system.slip(self.place))[0]
        draw = np.random.default_rng(0).uniform(0.5, 1.5, 2 * self.rank + self.across)  # not where terms vanish
        self.q = self._inputs(self._of("coordinates", "q", len(self.place)), self.place + 0.1)
        every = self._of("velocities", "xi", self.rank + self.across)
        self.xi = self._inputs(every, draw[: self.rank + self.across])
        self.free = self.xi[: self.rank]
        self.p = self._inputs([self._name_for(f"p_{name}") for name in every[: self.rank]], draw[-self.rank :])
        self.reactions = [self._name_for(f"lambda_{name}") for name in every[self.rank :]]
        self.parameters = self._parameters()

    def _name_for(self, name: str) -> str:
        return self.names.get(name, name)

    def _of(self, kind: str, letter: str, count: int) -> list[str]:
        known = tuple(getattr(self.system, kind))  # of velocities the free ones alone may have names
        known += tuple(f"{letter}{k + 1}" for k in range(len(known), count))
        return [self._name_for(name) for name in known[:count]]

    def _inputs(self, names: list[str], samples: Array | np.ndarray) -> np.ndarray:
        nodes = [self._symbol(name, float(sample)) for name, sample in zip(names, samples, strict=True)]
        return np.array(nodes, dtype=object)

    def _symbol(self, name: str, sample: float) -> int:
        """A node of the graph that nothing else has the name of: one name would make one quantity of two."""
        if name in self.taken:
            raise InputError(f"two quantities would be called {name!r}: give one another name by names={{...}}.")
        self.taken.add(name)
        return self.graph.input(name, sample)

    def _parameters(self) -> System:
        """The system with nodes for its leaves: symbols for the user's, numbers for what the library chose."""
        users = {id(leaf) for leaf in jax.tree.leaves(self.plain)}
        leaves, tree = jax.tree_util.tree_flatten_with_path(self.system)
        last, states = [_last(path) for path, _ in leaves], frozenset(self.taken)
        nodes = []
        for name, (path, leaf) in zip(last, leaves, strict=True):
            own = name if last.count(name) == 1 else jax.tree_util.keystr(path).lstrip(".")
            own = f"parameter_{own}" if self._name_for(own) in states else own
            values = np.asarray(leaf)
            array = np.empty(values.shape, dtype=object)
            symbolic = id(leaf) in users and values.dtype.kind == "f"
            for index in np.ndindex(values.shape):
                label = self._name_for(own + "".join(f"_{k + 1}" for k in index))
                value = float(values[index])
                array[index] = self._symbol(label, value) if symbolic else self.graph.const(value)
            nodes.append(array)
        return jax.tree.unflatten(tree, nodes)

    def read(self, function: Callable, *arguments: np.ndarray, state: np.ndarray | None = None) -> "list[Expr]":
        """The outputs of function(system, ...), flat, as sums over monomials of `state`, or as quotients."""
        from sympy import Symbol

        from discrete_hamel.analysis.equations.rational import Formulas

        try:
            (result,) = to_graph(self.graph, function, cast(np.ndarray, self.parameters), *arguments)
        except Unsupported as why:
            raise InputError(f"the equations of {type(self.system).__name__} cannot be printed: {why}.") from None
        nodes = [int(node) for node in np.ravel(result)]
        if self.graph.operations(nodes) > MOST:
            raise InputError(
                f"the equations of {type(self.system).__name__} take {self.graph.operations(nodes)} operations, "
                f"and nobody reads more than {MOST}."
            )
        formulas = Formulas(self.graph, nodes, lambda name: Symbol(name, real=True))
        chosen = () if state is None else [Symbol(self.graph.nodes[node][1], real=True) for node in state]
        return [formulas.expression(formulas.of[node], chosen) for node in nodes]

    def of(self, part: np.ndarray) -> list[str]:
        """The names of inputs."""
        return [self.graph.nodes[node][1] for node in part]

    # --- the parts ---

    def equations(self) -> Equations:
        name, nonlinear = type(self.system).__name__, isinstance(self.system, NonlinearSystem)
        read, free, momenta = partial(self.read, state=self.free), self.of(self.free), self.of(self.p)
        q, coordinates = self.q, self.of(self.q)
        kinematics = dict(zip(coordinates, read(hamel.velocities, q, self.free), strict=True))
        field = dict(zip(free, read(_accelerations, q, self.free), strict=True))
        if nonlinear:
            return Equations(name, {}, {}, kinematics, {}, {}, {}, {}, field, {})
        energy = dict(l=self.read(_lagrangian, q, self.xi, state=self.xi)[0])
        mu, force = (dict(zip(momenta, read(partial(_side, k), q, self.free), strict=True)) for k in (0, 1))
        solved, in_p = {}, {}
        if self._linear():
            solved = dict(zip(free, self.read(_velocities_of, q, self.p, state=self.p), strict=True))
            in_p = dict(zip(momenta, self.read(_force_of, q, self.p, state=self.p), strict=True))
        pulls = dict(zip(self.reactions, read(hamel.reactions, q, self.free), strict=True)) if self.across else {}
        return Equations(name, energy, self._brackets(), kinematics, mu, solved, force, in_p, field, pulls)

    def _brackets(self) -> "dict[str, Expr]":
        from sympy import Symbol

        n, every = self.rank + self.across, self.of(self.xi)
        c = np.array(self.read(lambda system, q: system.structure(q), self.q), dtype=object).reshape(n, n, n)
        found = {}
        for i in range(n):
            for j in range(i + 1, n):
                combination = sum(c[k, i, j] * Symbol(f"u_{every[k]}") for k in range(n))
                if combination != 0:
                    found[f"[u_{every[i]}, u_{every[j]}]"] = combination
        return found

    def _linear(self) -> bool:
        """Whether mu is linear in xi, at the place."""
        points = np.random.default_rng(1).normal(size=(2, self.rank))
        one, other = (np.asarray(hamel.inertia(self.system, self.place, point)) for point in points)
        return bool(np.max(np.abs(one - other), initial=0.0) <= LINEAR * np.max(np.abs(one), initial=1e-300))


def _last(path: tuple) -> str:
    """The name of a leaf: the last key of its path that is a name, and the places behind it, counted from 1."""
    name = ""
    for key in path:
        if isinstance(key, jax.tree_util.SequenceKey):
            name = f"{name or 'parameter'}_{key.idx + 1}"
        else:
            name = str(getattr(key, "name", getattr(key, "key", "parameter")))
    return name or "parameter"


def _lagrangian(system: System, q: Array, xi: Array) -> Array:
    return system.lagrangian(q, xi)


def _side(k: int, system: System, q: Array, free: Array) -> Array:
    return hamel.balance(system, q, free)[k]


def _accelerations(system: System, q: Array, free: Array) -> Array:
    return hamel.vector_field(system, q, free)[1][: system.rank]


def _velocities_of(system: System, q: Array, p: Array) -> Array:
    """xi^D with mu = p, for mu linear in xi."""
    zero = jnp.zeros_like(p)
    mass = jax.jacfwd(partial(hamel.momentum_on_d, system, q))(zero)
    return jnp.linalg.solve(mass, p - hamel.momentum_on_d(system, q, zero))


def _force_of(system: System, q: Array, p: Array) -> Array:
    return hamel.balance(system, q, _velocities_of(system, q, p))[1]

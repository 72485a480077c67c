"""The discrete Hamel principle as an object: a discrete Lagrangian, a point, a reconstruction and a variation."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.frames import left_inverse
from discrete_hamel.mechanics.hamel import balance, full
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.cortes_martinez import CortesMartinez
from discrete_hamel.schemes.discrete_hamel import DiscreteHamel, StaggeredHamel
from discrete_hamel.schemes.lagrangian import need_independent, refuse_dependent
from discrete_hamel.schemes.scheme import Scheme, State


def bracket(system: System, q: Array, xi: Array, eta: Array) -> Array:
    """Returns [xi, eta]^k = c^k_ij xi^i eta^j, n components.   [HE] 2.3, (5.8)

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> dh.bracket(sleigh, jnp.zeros(3), jnp.array([1.0, 0, 0]), jnp.array([0, 1.0, 0])).tolist()
    [0.0, 0.0, 1.0]
    """
    return jnp.einsum("kij,i,j->k", system.structure(q), xi, eta)


class Principle(Scheme):
    """(P) delta s^d + the work of forces = 0 for all eta in D that vanish at the ends, with the reconstruction.

        s^d = sum l^d(q_bar, xi),  q_bar = point(q_k, q_{k+1}),  rho(q_k, q_{k+1}, xi) = 0,  xi^U = b(q_bar)
        <dl^d, (Psi eta_bar, delta xi)> + h <f, eta_bar> = -<p_k, eta_k> + <p_{k+1}, eta_{k+1}>,  eta_k in D

    That is [HE] Theorems 5.1 and 5.2 with momenta at the nodes. Each part is a JAX function, the system its first
    argument (and `params`, a pytree, its last where given); what is not given is that of the tau-rule, tau = `point`:

    lagrangian       l^d(system, q_bar, xi, h); else h l
    point            a number tau, (1-tau) q0 + tau q1; or q_bar(q0, q1) with q_bar(q, q) = q
    reconstruction   rho(system, q0, q1, xi, h), N rows; else q1 - q0 - h Psi(q_bar) xi
    variation        "hamel": (5.7), (5.8), eta_bar = (1-tau) eta0 + tau eta1, delta xi = (eta1-eta0)/h + [xi, eta_bar];
                     "derived": what rho makes of delta q_k = Psi(q_k) eta_k; or one's own linear
                     (system, q_bar, xi, eta0, eta1, h) -> (eta_bar, delta xi), delta q_bar = Psi eta_bar
    two_point        L^d(system, q0, q1, h) instead of l^d, which has derived variations       [HE] 5.1, 5.3
    constraint       D^d: n - m functions (system, q0, q1, h), zero for the pairs that are allowed, instead of xi^U = b
    staggered        (q, xi) live on the points themselves, rho takes their mean xi, eta lives between    [HE] (6.6)

    DiscreteHamel(tau), StaggeredHamel() and CortesMartinez(a, b) are instances. The frame is always the system's own,
    also where constraints built it; DiscreteHamel has one there that follows the motion. Derived variations without
    constraints make the scheme variational in the strict sense, with constraints that of the discrete principle of
    Lagrange and d'Alembert ([HE] 5.3); Hamel's differ from them by the `transpositional_defect`. What a principle of
    one's own keeps is not declared but found: `properties`; a part with another limit as h goes to 0 is refused.

    >>> import discrete_hamel as dh
    >>> ours = dh.Principle(variation="derived")
    >>> dh.simulate(dh.systems.ChaplyginSleigh(), [0.1, 0, 0], [1.5, -0.3], h=0.1, steps=5, scheme=ours).q.shape
    (6, 3)
    """

    lagrangian: Callable | None = static(default=None)
    point: float = 0.5  # type: ignore[misc]  # of every Scheme; a number here too
    reconstruction: Callable | None = static(default=None)
    variation: Callable | str = static(default="hamel")
    two_point: Callable | None = static(default=None)
    constraint: Callable | None = static(default=None)
    staggered: bool = False
    params: PyTree = None
    own_point: Callable | None = static(default=None)  # `point` where it is a function; then the number is 1/2

    order = property(lambda self: getattr(self.instance, "order", None))
    symmetric = property(lambda self: getattr(self.instance, "symmetric", None))
    conserves = property(lambda self: getattr(self.instance, "conserves", ()))
    reference = "Zenkov, On Hamel's equations (2016), section 5"

    def __post_init__(self) -> None:
        if callable(self.point):
            object.__setattr__(self, "own_point", self.point)
            object.__setattr__(self, "point", 0.5)
        if self.two_point is not None:
            if self.lagrangian is not None or self.staggered or self.variation not in ("hamel", "derived"):
                raise InputError("two_point is a discrete Lagrangian with derived variations: give it alone.")
            object.__setattr__(self, "variation", "derived")
        if not callable(self.variation) and self.variation not in ("hamel", "derived"):
            raise InputError(f'variation is {self.variation!r}; it is "hamel", "derived" or a function.')
        if self.staggered and (self.variation == "derived" or self.constraint is not None):
            raise InputError("a staggered principle has variations between its points: no derived ones, and no D^d.")

    def __repr__(self) -> str:
        names = ("lagrangian", "reconstruction", "variation", "two_point", "constraint", "staggered")
        said = {"point": self.own_point or self.point} | {name: getattr(self, name) for name in names}
        kept = {name: value for name, value in said.items() if value not in (None, "hamel", False) or name == "point"}
        words = (f"{name}={getattr(value, '__name__', value)}" for name, value in kept.items())
        return f"Principle({', '.join(words)})"

    @property
    def instance(self) -> Scheme | None:
        """The scheme of the library that this principle is, where none of its parts is one's own."""
        parts = (self.lagrangian, self.own_point, self.reconstruction, self.two_point, self.constraint)
        if any(part is not None for part in parts) or callable(self.variation):
            return None
        if self.staggered:
            return StaggeredHamel() if self.point == 0.5 else None
        return CortesMartinez(self.point, self.point) if self.variation == "derived" else DiscreteHamel(self.point)

    def check(self, system: System, q: Array) -> None:
        if (middle := np.asarray(self.at(q, q))).shape != q.shape or not np.allclose(middle, q, 1e-9, 1e-9):
            raise InputError(f"point(q, q) is {middle}, q is {q}: the point between a node and itself is that node.")
        if self.variation == "derived":
            refuse_dependent(system, q, "A principle with derived variations")

    def start(self, system: System, q: Array, xi: Array, h: Array) -> State:
        if self.variation == "derived":
            need_independent(system, q, "A principle with derived variations")
        self.refuse_shape("reconstruction", self.reconstruction_gap(system, q, q, xi, h), len(q))
        if self.constraint is not None:
            rows = jnp.atleast_1d(self.call(self.constraint, system, q, q, h))
            self.refuse_shape("constraint", rows, len(xi) - system.rank)
        return Scheme.start(self, system, q, xi, h)

    def refuse_shape(self, part: str, rows: Array, length: int) -> None:
        """Refuse what has not so many rows."""
        if rows.shape != (length,):
            raise InputError(f"{part} gives an array of shape {rows.shape}; it has {length} rows here.")

    # --- the four functions ---

    def call(self, part: Callable, *arguments: PyTree) -> Array:
        """What a part gives, with `params` as its last argument where there are any."""
        return part(*arguments) if self.params is None else part(*arguments, self.params)

    def at(self, q0: Array, q1: Array) -> Array:
        """q_bar."""
        if self.own_point is None:
            return (1 - self.point) * q0 + self.point * q1
        return self.call(self.own_point, q0, q1)

    def action(self, system: System, q0: Array, q1: Array, xi: Array, h: Array) -> Array:
        """l^d, or L^d, of an interval."""
        if self.two_point is not None:
            return self.call(self.two_point, system, q0, q1, h)
        return self.density(system, self.at(q0, q1), xi, h)

    def density(self, system: System, q: Array, xi: Array, h: Array) -> Array:
        """l^d."""
        if self.lagrangian is None:
            return h * system.lagrangian(q, xi)
        return self.call(self.lagrangian, system, q, xi, h)

    def reconstruction_gap(self, system: System, q0: Array, q1: Array, xi: Array, h: Array) -> Array:
        """rho: by how much the nodes and xi miss the reconstruction."""
        if self.reconstruction is None:
            return q1 - q0 - h * (system.frame(self.at(q0, q1)) @ xi)
        return self.call(self.reconstruction, system, q0, q1, xi, h)

    def vary(self, system: System, q0: Array, q1: Array, xi: Array, h: Array, eta0: Array, eta1: Array) -> Array:
        """<dl^d, (delta q_bar, delta xi)> + h <f, eta_bar>, linear in eta0 and eta1, which have n components."""
        if self.variation == "derived":
            return self._varied_at_nodes(system, q0, q1, xi, h, eta0, eta1)
        q = self.at(q0, q1)
        slope, momentum = jax.grad(partial(self.density, system), (0, 1))(q, xi, h)
        if callable(self.variation):
            mean, change = self.call(self.variation, system, q, xi, eta0, eta1, h)
            gain = momentum @ change
        else:
            mean = (1 - self.point) * eta0 + self.point * eta1  # (5.4)
            gain = momentum @ ((eta1 - eta0) / h) + system.coadjoint(q, xi, momentum) @ mean  # (5.8)
        return slope @ (system.frame(q) @ mean) + gain + h * (system.force(q, xi) @ mean)  # (5.7)

    def _varied_at_nodes(self, system: System, q0: Array, q1: Array, xi: Array, h: Array, *eta: Array) -> Array:
        """The same for delta q_k = Psi(q_k) eta_k and delta xi with delta rho = 0."""
        nodes, moves = (q0, q1), (system.frame(q0) @ eta[0], system.frame(q1) @ eta[1])
        q, moved = jax.jvp(self.at, nodes, moves)
        if self.two_point is not None:
            velocity = left_inverse(system.frame(q), (q1 - q0) / h)
            _, gain = jax.jvp(lambda a, b: self.call(self.two_point, system, a, b, h), nodes, moves)  # type: ignore[arg-type]
        else:
            velocity = xi
            _, off = jax.jvp(lambda a, b: self.reconstruction_gap(system, a, b, xi, h), nodes, moves)
            by_xi = jax.jacfwd(lambda xi: self.reconstruction_gap(system, q0, q1, xi, h))(xi)
            slope, momentum = jax.grad(partial(self.density, system), (0, 1))(q, xi, h)
            gain = slope @ moved - momentum @ left_inverse(by_xi, off)
        return gain + h * (system.force(q, velocity) @ left_inverse(system.frame(q), moved))

    # --- the step ---

    def _on_d(self, system: System, q0: Array, q1: Array, xi: Array, h: Array) -> tuple[Array, Array]:
        """-p_k, and p_{k+1} - p_k, in which what is common to both cancels before it is rounded."""
        along = partial(self.vary, system, q0, q1, xi, h)
        basis = jnp.eye(len(xi))[: system.rank]
        return jax.vmap(lambda e: along(e, jnp.zeros_like(e)))(basis), jax.vmap(lambda e: along(e, e))(basis)

    def guess(self, system: System, state: State, h: Array) -> Array:
        """z = (xi^D, q_{k+1}), and xi^U where D^d is given."""
        z = Scheme.guess(self, system, state, h)
        return z if self.constraint is None else jnp.concatenate([z, system.slip(state.q)])

    def _unknowns(self, system: System, state: State, z: Array) -> tuple[Array, Array]:
        """q_{k+1} and xi, n components; staggered, xi at the point q_{k+1}."""
        m, end = system.rank, system.rank + len(state.q)
        q1 = z[m:end]
        if self.constraint is not None:
            return q1, jnp.concatenate([z[:m], z[end:]])
        return q1, full(system, q1 if self.staggered else self.at(state.q, q1), z[:m])

    def residual(self, system: System, state: State, h: Array, z: Array) -> Array:
        q1, xi = self._unknowns(system, state, z)
        if self.staggered:
            before = full(system, state.q, state.xi)
            back, gain = self._on_d(system, state.q, state.q, before, h)
            p, (start, _) = gain - back, self._on_d(system, q1, q1, xi, h)
            return jnp.concatenate([-start - p, self.reconstruction_gap(system, state.q, q1, (before + xi) / 2, h)])
        start, _ = self._on_d(system, state.q, q1, xi, h)
        rows = [-start - state.p, self.reconstruction_gap(system, state.q, q1, xi, h)]
        if self.constraint is not None:
            rows.append(jnp.atleast_1d(self.call(self.constraint, system, state.q, q1, h)))
        return jnp.concatenate(rows)

    def advance(self, system: System, state: State, h: Array, z: Array) -> tuple[State, Array]:
        q1, xi = self._unknowns(system, state, z)
        free = z[: system.rank]
        if self.staggered:
            return State(q1, balance(system, q1, free)[0], free), (full(system, state.q, state.xi) + xi) / 2
        return State(q1, state.p + self._on_d(system, state.q, q1, xi, h)[1], free), xi

    def equation(self, system: System, row: int) -> str:
        of_constraint = row - system.rank - len(system.coordinates)
        if self.constraint is not None and system.coordinates and of_constraint >= 0:
            return f"the discrete constraint {of_constraint}"
        return Scheme.equation(self, system, row)

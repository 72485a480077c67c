"""Chaplygin's reducing multiplier: a change of time after which a reduced nonholonomic system is Hamiltonian."""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from jax.custom_derivatives import SymbolicZero

from discrete_hamel._support.arrays import ArrayLike, Coordinates, PyTree
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.analysis.geometry.multiplier_tables import Tables, tables_on
from discrete_hamel.analysis.symmetry import hypotheses
from discrete_hamel.analysis.symmetry.phase_space import nearby
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.description import call
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.trajectory import Trajectory

OFF = 1e-8  # of the conditions, relative, from which they do not hold
RESOLVED = 1e-10  # of accelerations by the tables
HALVES = 0.5, 0.25, 0.125  # of the box, tried one after another
NODES = 12  # of the quadratures along a ray

AT, WEIGHTS = (np.polynomial.legendre.leggauss(NODES) * np.array([[0.5], [0.5]])) + np.array([[0.5], [0.0]])
_LEGENDRE = [np.polynomial.Legendre.basis(k, domain=(0.0, 1.0)) for k in range(NODES)]
UP_TO = np.stack([k.integ(lbnd=0)(AT) for k in _LEGENDRE], 1) @ np.linalg.inv(np.stack([k(AT) for k in _LEGENDRE], 1))


class Hamiltonised(System):
    """See `hamiltonise`. Coordinates r, velocities w = dr/dtau; no constraint and no force."""

    system: System
    place: Array  # where f = 1, and where the rays of the quadratures begin
    law: Callable | None = static()  # f(r), one's own
    params: PyTree
    bent: bool = static()  # whether there is a magnetic term
    tables: Tables | None = None  # the same on a box, as polynomials; by them the steps go

    @property
    def rank(self) -> int:
        return len(self.place)

    @property
    def coordinates(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.system.coordinates

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"d{name}/dtau" for name in self.coordinates)

    def factor(self, r: ArrayLike) -> Array:
        """f(r) = dtau/dt."""
        r = jnp.asarray(r, float)
        return call(self.law, self.params, r) if self.law is not None else _factor(self.system, self.place, r)

    def _potential(self, r: Array) -> Array:
        """A with dA = f M: of the homotopy along rays, A_b = int s B_ab (r - place)^a ds."""
        x, (slopes, _, magnetic) = _along_ray(self.system, self.place, r)
        if self.law is None:  # f(x_i), by integrals up to s_i of the polynomial through all slopes
            factors = jnp.exp(jnp.asarray(UP_TO) @ (slopes @ (r - self.place)))
        else:
            factors = jax.vmap(self.factor)(x)
        return jnp.einsum("s,s,a,sab->b", jnp.asarray(WEIGHTS * AT), factors, r - self.place, magnetic)

    def lagrangian(self, q: Array, xi: Array) -> Array:
        if self.tables is not None:
            return _by_tables(self, q, xi)
        return self.exactly(q, xi)

    def exactly(self, q: Array, xi: Array) -> Array:
        """The Lagrangian by the system itself and quadratures; with A in another gauge than by the tables."""
        found = _lagrangian_on_d(self.system, q, self.factor(q) * xi)
        return found + self._potential(q) @ xi if self.bent else found

    def frame(self, q: Array) -> Array:
        return jnp.eye(len(q))

    def structure(self, q: Array) -> Array:
        return jnp.zeros((len(q),) * 3)

    def times(self, run: Trajectory) -> np.ndarray:
        """t at the nodes of a run in tau: the integral of dtau / f, by the trapezoidal rule with its ends corrected."""
        q, w = jnp.asarray(run.q), jnp.asarray(run.xi)
        rate, slope = (np.asarray(a) for a in _pace(self, q, w))
        h = np.diff(np.asarray(run.t))
        steps = h / 2 * (rate[:-1] + rate[1:]) + h**2 / 12 * (slope[:-1] - slope[1:])
        return np.concatenate([[0.0], np.cumsum(steps)])

    def check(self) -> None:
        self.system.check()

    def check_start(self, q: Array) -> None:
        if self.tables is not None and not bool(self.tables.inside(jnp.asarray(q))):
            low, high = (np.asarray(self.place + side * self.tables.half).tolist() for side in (-1, 1))
            raise InputError(
                f"r = {np.asarray(q).tolist()} lies outside the box on which f was found, {low} to {high}: call "
                "hamiltonise about this shape, or with another box."
            )

    def shapes(self, q: Array) -> list[np.ndarray]:  # noqa: ARG002  # where it is has been reduced away
        """Nothing; `reconstruct` brings back what can be drawn."""
        return []


@jax.custom_jvp
def _by_tables(made: Hamiltonised, r: Array, w: Array) -> Array:
    return made.tables.lagrangian(r, w)  # type: ignore[union-attr]  # asked for where there are any


@partial(_by_tables.defjvp, symbolic_zeros=True)
def _by_tables_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    """Along (r, w) by the tables; by parameters, which these know nothing of, by what they were made from."""
    (made, r, w), (of_made, *moves) = primals, tangents
    moves = [np.zeros(t.shape, t.dtype) if _still(t) else t for t in moves]
    change = jax.jvp(made.tables.lagrangian, (r, w), tuple(moves))[1]
    leaves, kind = jax.tree.flatten(of_made.replace(tables=None), is_leaf=_still)
    if not all(map(_still, leaves)):
        rates = jax.tree.unflatten(kind, [np.zeros(t.shape, t.dtype) if _still(t) else t for t in leaves])
        change += jax.jvp(lambda made: made.exactly(r, w), (made.replace(tables=None),), (rates,))[1]
    return _by_tables(*primals), change


@partial(interpret, most=10**7)
def _on_grid(system: System, rows: Array) -> tuple[Array, ...]:
    """d ln f, M, G and -U at rows of shapes."""

    def at(r: Array) -> tuple[Array, ...]:
        slope, _, magnetic = log_slope(system, r)
        along, rest = partial(_lagrangian_on_d, system, r), jnp.zeros(len(r))
        return slope, magnetic, jax.hessian(along)(rest), along(rest)

    return jax.vmap(at)(rows)


@interpret
def _accelerations(made: Hamiltonised, rows: Array, rates: Array) -> tuple[Array, Array]:
    """v' by the system, and by what was made of it: f d(f w)/dtau, v = f w."""

    def of(r: Array, v: Array) -> tuple[Array, Array]:
        factor = jnp.exp(made.tables.values(r)[0])  # type: ignore[union-attr]  # asked for where there are any
        slope = jax.grad(lambda r: made.tables.values(r)[0])(r)  # type: ignore[union-attr]
        _, rate = hamel.vector_field(made, r, v / factor)
        return hamel.vector_field(made.system, r, v)[1][: len(r)], factor**2 * rate + (slope @ v) * v

    return jax.vmap(of)(rows, rates)


def _with_tables(made: Hamiltonised, box: ArrayLike | None) -> Hamiltonised:
    """With the tables on a box on which they are resolved: one's own, or the largest of those that are tried."""
    place = np.asarray(made.place)
    rng = np.random.default_rng(0)
    beside, rates = rng.uniform(-1, 1, (2, 4, len(place)))
    for half in HALVES if box is None else [np.broadcast_to(np.asarray(box, float), place.shape)]:
        tables = tables_on(partial(_on_grid, made.system), place, half * np.ones(len(place)), box is not None)
        if tables is None:
            continue
        table_made = made.replace(tables=tables)
        wanted, found = _accelerations(table_made, place + half * beside, rates)
        if np.max(np.abs(found - wanted)) <= RESOLVED * (1 + np.max(np.abs(wanted))):
            return table_made
    if box is not None:
        raise InputError(
            f"f and the Lagrangian are not resolved by polynomials on the box {place.tolist()} +- "
            f"{np.asarray(box).tolist()}: take a smaller one, or none, by which the largest that is resolved is sought."
        )
    return made


@interpret
def _pace(made: Hamiltonised, q: Array, w: Array) -> tuple[Array, Array]:
    """1/f and its rate along tau."""
    factor = made.factor if made.tables is None else lambda q: jnp.exp(made.tables.values(q)[0])
    return jax.vmap(lambda q, w: jax.jvp(lambda q: 1 / factor(q), (q,), (w,)))(q, w)


def _lagrangian_on_d(system: System, r: Array, velocity: Array) -> Array:
    return system.lagrangian(r, hamel.full(system, r, velocity))


def _gyroscopic(system: System, r: Array, mass: Array) -> tuple[Array, Array, Array]:
    """G of d/dt dl_c/dv - dl_c/dr = G(r, v), what keeps the equations from being Lagrange's: c^k_ij v^i mu_k + f_j.

    As G_j(0), its part G_ja linear in v, and the quadratic one, G_jab. `mass` is d mu_k / d xi^l.
    """
    m = len(r)
    one, pairs = jnp.eye(m), np.triu_indices(m, 1)
    force = jax.vmap(lambda v: system.force(r, hamel.full(system, r, v))[:m])
    rest = force(jnp.zeros((1, m)))
    plus, minus, both = (force(v) - rest for v in (one, -one, one[pairs[0]] + one[pairs[1]]))
    mixed = jnp.zeros((m, m, m)).at[:, *pairs].set((both - plus[pairs[0]] - plus[pairs[1]]).T / 2)
    squares = (plus + minus).T[:, :, None] / 2 * one[None]
    turned = jnp.einsum("kaj,kb->jab", system.structure(r)[:, :m, :m], mass[:, :m])
    quadratic = (turned + turned.swapaxes(1, 2)) / 2 + mixed + mixed.swapaxes(1, 2) + squares
    return rest[0], (plus - minus).T / 2, quadratic


@jax.jit
def log_slope(system: System, r: Array) -> tuple[Array, Array, Array]:
    """d ln f, by how much it misses G = (p.v) d ln f - p (v . d ln f) + M v relative to its terms, and M_ab."""
    m, one = len(r), jnp.eye(len(r))
    inertia = jax.hessian(system.lagrangian, 1)(r, hamel.full(system, r, jnp.zeros(m)))
    rest, linear, quadratic = _gyroscopic(system, r, inertia)
    mass = inertia[:m, :m]
    half = jnp.einsum("ab,cd->abcd", mass, one) / 2
    rows = jnp.einsum("bc,ad->abcd", mass, one) - half - half.swapaxes(1, 2)
    rows, wanted = rows.reshape(-1, m), quadratic.ravel()
    slope = jnp.linalg.solve(rows.T @ rows, rows.T @ wanted)
    size = jnp.max(jnp.abs(mass)) + jnp.max(jnp.abs(wanted))
    others = jnp.max(jnp.abs(linear + linear.T)) + jnp.max(jnp.abs(rest))
    return slope, (jnp.max(jnp.abs(rows @ slope - wanted)) + others) / size, linear


def _along_ray(system: System, place: Array, r: Array) -> tuple[Array, tuple[Array, Array, Array]]:
    """The nodes between place and r, and `log_slope` at each."""
    x = place[None] + jnp.outer(jnp.asarray(AT), r - place)
    return x, jax.vmap(partial(log_slope, system))(x)


def _by_quadrature(system: System, place: Array, r: Array) -> Array:
    _, (slopes, _, _) = _along_ray(system, place, r)
    return jnp.asarray(WEIGHTS) @ (slopes @ (r - place))


@jax.custom_jvp
def _logarithm(system: System, place: Array, r: Array) -> Array:
    """ln f(r), zero at place."""
    return _by_quadrature(system, place, r)


@partial(_logarithm.defjvp, symbolic_zeros=True)
def _logarithm_jvp(primals: tuple, tangents: tuple) -> tuple[Array, Array]:
    """Along r by d ln f itself, as it is closed: the quadrature is differentiated by parameters and place only."""
    (system, place, r), (*of_rest, dr) = primals, tangents
    leaves, kind = jax.tree.flatten(tuple(of_rest), is_leaf=_still)
    change = jnp.zeros(()) if _still(dr) else log_slope(system, r)[0] @ dr
    if not all(map(_still, leaves)):
        rates = jax.tree.unflatten(kind, [np.zeros(t.shape, t.dtype) if _still(t) else t for t in leaves])
        change += jax.jvp(partial(_by_quadrature, r=r), (system, place), rates)[1]
    return _logarithm(*primals), change


@partial(interpret, often=OFTEN)
def _factor(system: System, place: Array, r: Array) -> Array:
    return jnp.exp(_logarithm(system, place, r))


def _still(tangent: object) -> bool:
    return isinstance(tangent, SymbolicZero)


@interpret
def _conditions(made: Hamiltonised, r: Array) -> tuple[Array, Array, Array]:
    """By how much f misses its equations, and its differential and f M are not closed; the size of M."""
    slope, off, magnetic = log_slope(made.system, r)
    bent, turned = jax.jacfwd(lambda r: log_slope(made.system, r)[::2])(r)
    closed = jnp.max(jnp.abs(bent - bent.T))
    if made.law is not None:
        closed += jnp.max(jnp.abs(jax.grad(lambda r: jnp.log(made.factor(r)))(r) - slope))
    if len(r) > 2:
        turned = turned + jnp.einsum("ab,c->abc", magnetic, slope)  # d(f M) / f
        closed += jnp.max(jnp.abs(turned + turned.transpose(1, 2, 0) + turned.transpose(2, 0, 1)))
    size = 1 + jnp.max(jnp.abs(slope)) + jnp.max(jnp.abs(bent))
    return off, closed / size, jnp.max(jnp.abs(magnetic))


def hamiltonise(
    system: System,
    r: Coordinates | None = None,
    *,
    factor: Callable | None = None,
    params: PyTree = None,
    box: ArrayLike | None = None,
) -> Hamiltonised:
    """Returns the system in the time tau, dtau = f(r) dt, in which its equations are Hamilton's, if there is such an f.

        d/dt dl_c/dv - dl_c/dr = (p.v) d ln f - p (v . d ln f) + M v,  p = dl_c/dv      Chaplygin's condition on f
        L(r, w) = l_c(r, f w) + <A, w>,  w = dr/dtau,  dA = f M:  then Lagrange's equations, with P = f p canonical

    `system` is one on shapes alone, as `reduce` gives it where S = 0 and `on_shapes` where the momenta along S are
    functions of r: as many velocities as coordinates, kinetic minus potential energy. ln f is found from the equations
    themselves, at r and at points nearby where it has to be closed, and is then an integral along rays from r; or give
    `factor`, f(r) in closed form (params last), which is held against them. Where f is sought, runs go by polynomials
    of f^2 G, U and A on a `box` r +- its half widths (a number, or one a shape), found here once and resolved to
    round-off: without one the largest half width of 1/2, 1/4, 1/8 that is. Where a run leaves it, it ends.

    What comes back is a System without constraint or force, with canonical momenta: `DiscreteHamel()` there is the
    midpoint rule, symplectic, and `Galerkin(s, variation="derived")` is of order 2 s. `times(run)` is t at its nodes,
    and v = f w the velocity.
    With two shapes f^(m-1) = f is an invariant density, and f exists where that does.   Chaplygin 1911; Borisov &
    Mamaev 2001; `jacobiator(reduced, r, v, factor=made.factor)` shows the identity that the bracket then obeys.

    >>> import discrete_hamel as dh, jax.numpy as jnp
    >>> along = lambda q, xi: 0.5 * (xi[0] ** 2 + xi[1] ** 2 + (xi[2] + q[1] * xi[0]) ** 2)      # z' = y x', on (x, y)
    >>> bracket = lambda q: jnp.zeros((3, 3, 3)).at[2, 0, 1].set(-1.0).at[2, 1, 0].set(1.0)
    >>> particle = dh.from_quasivelocities(along, lambda q: jnp.eye(2, 3), 2, structure=bracket)
    >>> made = dh.hamiltonise(particle, [0.0, 0.0])
    >>> bool(abs(made.factor([0.3, 0.8]) * jnp.sqrt(1 + 0.8**2) - 1) < 1e-10)                  # f = 1/sqrt(1 + y^2)
    True
    """
    if r is None:
        r = getattr(system, "start", None)
        if r is None:
            raise InputError("give r, a shape about which f is looked for.")
    if factor is not None and box is not None:
        raise InputError("box is where an f that is sought is put down; with factor=, which gives it, leave it out.")
    place = on_device(checks.vector("r", r))
    system, name = checks.canonical(system).at(place), type(system).__name__
    psi = np.asarray(system.frame(place))
    if system.rank != len(place) or np.max(np.abs(psi[:, : system.rank] - np.eye(len(place)))) > 0 or len(place) < 2:
        raise InputError(
            f"hamiltonise is for systems in two shapes or more whose quasi-velocities are their rates; {name} has "
            f"{len(place)} coordinates and rank {system.rank}. Reduce it first: dh.reduce, dh.on_shapes."
        )
    hypotheses.no_slip(system, place, "a change of time")
    hypotheses.natural(system, place, "a change of time")
    made = Hamiltonised(system, place, factor, params, bent=False)
    found = [_conditions(made, point) for point in [place, *nearby(system, place, psi.shape[1])]]
    off, closed, magnetic = np.max(np.asarray(found), axis=0)
    for what, size in (("no d ln f solves Chaplygin's condition", off), ("d ln f or f M is not closed", closed)):
        if not size < OFF:
            raise InputError(f"{name} is not Hamiltonian after a change of time f(r): {what}, off by {size:.1e}.")
    made = made.replace(bent=bool(magnetic > OFF))
    return made if factor is not None else _with_tables(made, box)

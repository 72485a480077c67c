"""The string at a cost linear in its points: the tension is the multiplier, from a tridiagonal solve."""

import jax
import jax.numpy as jnp
from jax import Array, lax

from discrete_hamel._support.arrays import Coordinates, Quasivelocities
from discrete_hamel._support.errors import InputError
from discrete_hamel.fields import banded
from discrete_hamel.fields.string import Free, String
from discrete_hamel.mechanics.system import System
from discrete_hamel.schemes.scheme import Interval, Scheme, State


class TridiagonalTension(Scheme[String, State]):
    """The discrete Hamel scheme (tau = 1/2) for a String, without its dense frame: O(points) a step.

    With N_k, the momentum of all that is beyond link k, the balance (D2) along the link's turning is local, and what it
    leaves open, the part of N_k along the link, is the impulse of the tension:

        N_k = e_k (i (p_k + (h/2) f_k) / ds + n_k),   v_k = (N_k - N_{k+1}) / m_k
        e_k' = e_k + (h / ds) (v_k - v_{k-1}),   |e_k'| = 1            n - 1 equations for n_k, tridiagonal
        p_k' = ds Im(conj(e_k') N_k) + (h/2) f_k'

    Without gravity and stiffness this is the map of `DiscreteHamel()`, to round-off; these forces f enter at the nodes
    instead of at the midpoints, which differs by O(h^2), so bending limits the step, h < ds^2 sqrt(m / (4 L B)).
    Tension does too, under both schemes: its waves must not pass more than a link a step. Symplectic (it is SHAKE).
    """

    order = 2
    symmetric = True
    conserves = ("length", "linear momentum", "angular momentum")
    reference = "Zenkov, On Hamel's equations (2016), Example 3.2; Ryckaert, Ciccotti and Berendsen (1977)"

    def check(self, system: System, q: Array) -> None:
        if not isinstance(system, String):
            raise InputError(
                f"TridiagonalTension is for an inextensible String; {type(system).__name__} is for DiscreteHamel()."
            )

    def start(self, system: String, q: Array, xi: Array, h: Array) -> State:
        p = _along_frame(system, system.links(q), _beyond(system.masses() * system.point_velocities(q, xi)))
        return State(q, p, xi[: system.rank])

    def guess(self, system: String, state: State, h: Array) -> Array:
        """n_k of the last interval's velocity."""
        xi = jnp.concatenate([state.xi, system.slip(state.q)])
        beyond = _beyond(system.masses() * system.point_velocities(state.q, xi))[1:]
        return (jnp.conj(system.links(state.q)) * beyond).real

    def residual(self, system: String, state: State, h: Array, z: Array) -> Array:
        """(|e_k'|^2 - 1) / 2."""
        links, _, _ = self._motion(system, state, h, z)
        return 0.5 * (links.real**2 + links.imag**2 - 1.0)

    def _motion(self, system: String, state: State, h: Array, z: Array) -> tuple[Array, Array, Array]:
        """e_k', N_k and z_0' of the interval."""
        links = system.links(state.q)
        first, turning = _parts(system, state.p + 0.5 * h * forces(system, state.q))
        beyond = links * lax.complex(z, turning / system.spacing)
        velocities = _velocities(system, first, beyond, _hand(system, state.q, 0.5 * h))
        return links + (h / system.spacing) * jnp.diff(velocities), beyond, velocities[0]

    def advance(self, system: String, state: State, h: Array, z: Array) -> tuple[State, Array]:
        before = system.links(state.q)
        links, beyond, front = self._motion(system, state, h, z)
        middle = 0.5 * (before + links)
        omega = (jnp.conj(middle) * (links - before)).imag / (h * (middle.real**2 + middle.imag**2))
        end = jnp.stack([front.real, front.imag])
        flat = jnp.stack([links.real, links.imag], axis=1).ravel()
        q = jnp.concatenate([state.q[:2] + h * end, flat, state.q[2 * system.points :] + h])
        first, _ = _parts(system, state.p + 0.5 * h * forces(system, state.q))
        p = _along_frame(system, links, jnp.concatenate([first[None], beyond])) + 0.5 * h * forces(system, q)
        xi = self._all(system, end, omega, system.slip(q))
        return State(q, p, xi[: system.rank]), xi

    def step(self, system: String, state: State, h: Array) -> tuple[State, Interval]:
        guess = self.guess(system, state, h)[:, None]
        # Round-off of a length, 1, is that much of an impulse; where the string is slack n_k is no larger.
        sizes = jnp.max(jnp.abs(guess)) + system.spacing * jnp.max(system.masses()) / jnp.abs(h)
        z, report = banded.root(lambda z: self.residual(system, state, h, z[:, 0])[:, None], guess, sizes[None])
        state, xi = self.advance(system, state, h, z[:, 0])
        return state, Interval(xi, report)

    def velocity(self, system: String, state: State) -> Array:
        """xi at the node: the n_k that keep the links' lengths there, a linear tridiagonal solve."""
        links = system.links(state.q)
        first, turning = _parts(system, state.p)
        normal = links * lax.complex(jnp.zeros_like(turning), turning / system.spacing)
        hand = _hand(system, state.q, jnp.zeros_like(state.q[0]))
        apart = jnp.diff(_velocities(system, first, normal, hand))
        along = _tensions(system, links, (jnp.conj(links) * apart).real)
        velocities = _velocities(system, first, normal - along * links, hand)
        omega = (jnp.conj(links) * jnp.diff(velocities)).imag / system.spacing
        end = jnp.stack([velocities[0].real, velocities[0].imag])
        return self._all(system, end, omega, system.slip(state.q))

    def _all(self, system: String, end: Array, omega: Array, slip: Array) -> Array:
        """xi from z_0', the links' rates and the slip (which holds z_0' again where the front is held)."""
        if _ends_free(system):
            return jnp.concatenate([end, omega, slip])
        inner = omega[1:-1] if system.hung else omega
        return jnp.concatenate([inner, end, slip[2:]])

    def equation(self, system: System, row: int) -> str:
        return f"the length of link {row + 1}"


def forces(system: String, q: Array) -> Array:
    """f_j = -u_j[V] along the free velocities: the front's, then the links' turning. O(points)."""
    return _along_frame(system, system.links(q), _beyond(outer_forces(system, system.places(q))))


def outer_forces(system: String, z: Array) -> Array:
    """-dV/dz_k of gravity and stiffness (complex), N: of a point's neighbours, and theirs, only."""
    pull = jax.grad(lambda pairs: -_potential(system, pairs))(_pairs(z))
    return lax.complex(pull[:, 0], pull[:, 1])


def tension(system: String, q: Coordinates, xi: Quasivelocities) -> Array:
    """Returns lambda_k, N, of the links of a String at (q, xi): positive where the string is taut.   [HE] Example 3.2

        (1/m_{k-1} + 1/m_k) lambda_k - (e_k . e_{k-1}) lambda_{k-1} / m_{k-1} - (e_k . e_{k+1}) lambda_{k+1} / m_k
            = ds |e_k'|^2 + e_k . (F_k / m_k - F_{k-1} / m_{k-1})

    the discrete form of lambda_ss - kappa^2 lambda = -|z_st|^2, solved as a tridiagonal system.

    >>> import discrete_hamel as dh
    >>> string = dh.fields.String(points=3, front=dh.fields.Fixed(), gravity=10.0)     # at rest, hanging
    >>> start = string.laid(lambda s: -1.5707963267948966)
    >>> [round(a, 9) for a in dh.fields.tension(string, **start).tolist()]
    [7.5, 2.5]
    """
    q, xi = jnp.asarray(q, float), jnp.asarray(xi, float)
    if len(xi) == system.rank:
        xi = jnp.concatenate([xi, system.slip(q)])
    return _solve(*tension_rows(system, q, xi))


def tension_rows(system: String, q: Array, xi: Array) -> tuple[Array, Array, Array, Array]:
    """The equations of `tension`: what lies below, on and above the diagonal, and the right side."""
    links = system.links(q)
    _, omega, _ = system.split(q, xi)
    drift = outer_forces(system, system.places(q)) * _mobilities(system)
    if system.clock:
        _, change = jax.jvp(system.hand, (q[-1],), (jnp.ones_like(q[-1]),))
        drift = drift.at[0].set(lax.complex(change[0], change[1]))
    right = system.spacing * omega**2 + (jnp.conj(links) * jnp.diff(drift)).real
    return (*_coupling(system, links), right)


def _ends_free(system: String) -> bool:
    return isinstance(system.front, Free)


def _potential(system: String, z: Array) -> Array:
    links = jnp.diff(z, axis=0) / system.spacing
    bending = 0.5 * system.stiffness / system.spacing * jnp.sum(jnp.diff(links, axis=0) ** 2)
    return system.gravity * system.masses() @ z[:, 1] + bending


def _pairs(z: Array) -> Array:
    return jnp.stack([z.real, z.imag], axis=1)


def _beyond(momenta: Array) -> Array:
    """Of all that lies from each point on, to the free end."""
    return jnp.cumsum(momenta[::-1])[::-1]


def _along_frame(system: String, links: Array, beyond: Array) -> Array:
    """The components along the free velocities of what acts on the points, given as sums N_k."""
    turning = system.spacing * (jnp.conj(links) * beyond[1:]).imag
    if _ends_free(system):
        return jnp.concatenate([_pairs(beyond[:1])[0], turning])
    if not system.hung:
        return turning
    # The back end's reaction adds a constant to all N_k: the one that leaves no component along the ends' links.
    parallel = (jnp.conj(links[-1]) * links[0]).imag
    reaction = (turning[0] * links[-1] - turning[-1] * links[0]) / (parallel * system.spacing)
    return (turning + system.spacing * (jnp.conj(links) * reaction).imag)[1:-1]


def _parts(system: String, p: Array) -> tuple[Array, Array]:
    """The front's momentum (0 where it is held) and those of the links' turning."""
    if _ends_free(system):
        return lax.complex(p[0], p[1]), p[2:]
    return jnp.zeros((), jnp.result_type(p, jnp.complex64)), jnp.pad(p, 1) if system.hung else p


def _mobilities(system: String) -> Array:
    """1 / m_k, and 0 for an end that is held, however it is pulled."""
    inverse = 1 / system.masses()
    if not _ends_free(system):
        inverse = inverse.at[0].set(0.0)
    return inverse.at[-1].set(0.0) if system.hung else inverse


def _hand(system: String, q: Array, ahead: Array) -> Array:
    """The held front's velocity, so much time ahead of q."""
    if not system.clock:
        return jnp.zeros((), jnp.result_type(q, jnp.complex64))
    x, y = system.hand(q[-1] + ahead)
    return lax.complex(x, y)


def _velocities(system: String, first: Array, beyond: Array, hand: Array) -> Array:
    """z_k' = (N_k - N_{k+1}) / m_k, and the hand's at a held front."""
    momenta = -jnp.diff(jnp.concatenate([first[None], beyond, jnp.zeros_like(beyond[:1])]))
    return (_mobilities(system) * momenta).at[0].add(hand)


def _tensions(system: String, links: Array, right: Array) -> Array:
    """x with e_k . (difference over link k of (x_{k+1} e_{k+1} - x_k e_k) / m) = -right_k: tridiagonal."""
    return _solve(*_coupling(system, links), right)


def _coupling(system: String, links: Array) -> tuple[Array, Array, Array]:
    free = _mobilities(system)
    aligned = (jnp.conj(links[1:]) * links[:-1]).real * free[1:-1]
    return jnp.concatenate([jnp.zeros(1), -aligned]), free[1:] + free[:-1], jnp.concatenate([-aligned, jnp.zeros(1)])


def _solve(lower: Array, main: Array, upper: Array, right: Array) -> Array:
    return lax.linalg.tridiagonal_solve(lower, main, upper, right[:, None])[:, 0]

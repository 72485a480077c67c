"""The contract of a scheme, and `step`, the Newton solve, written once.

To add a scheme: subclass Scheme with its numbers as fields (leaves: `tau`), set `order`, `symmetric`, `conserves` and
`reference`, and write `residual` and `advance`; `start` and `guess` have defaults for states (q, p, xi). The unknown
z may have any length. A scheme whose step is not one solve (explicit, or made of other steps) overrides `step`.
"""

from functools import partial
from typing import Any, ClassVar, Generic, TypeVar

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.arrays import Coordinates, Quasivelocities, Scalar
from discrete_hamel._support.inputs import array_of, explained, name_of
from discrete_hamel._support.pytrees import Pytree, of
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.manifold import refuse_off_manifold
from discrete_hamel.mechanics.newton import NEGLIGIBLE, Report, root
from discrete_hamel.mechanics.system import System

T = TypeVar("T")
Held = TypeVar("Held", bound="State")  # between steps: q, p, xi, and what else the scheme remembers
Moving = TypeVar("Moving", bound=System)  # what a scheme is for; a bare `Scheme` is for whatever there is


class State(Pytree):
    """What the next step needs: q and p at a node, and the last interval's xi^D, where Newton starts.

    So xi is h/2 older than q and p: the velocity at the node is `nodal_velocity(system, q, p)`.
    """

    q: Array
    p: Array
    xi: Array


class CompensatedState(State):
    """State, with the part of what is summed that the sums themselves are too short to hold.

    A coordinate that turns steadily grows by nearly the same amount at every step, and so is rounded to the same side:
    that adds up unless what is rounded off is carried along (Kahan's summation, Higham, ASNA (2002) 4.3).
    """

    low: Array


def compensate(sum: Array, low: Array, change: Array) -> tuple[Array, Array]:
    """sum + low + change in two parts: what the sum holds, and what it rounds off.

    >>> compensate(jnp.asarray(1.0), jnp.asarray(0.0), jnp.asarray(1e-17))[1].item()
    1e-17
    """
    new = sum + change
    grown = new - sum
    low = low + ((sum - (new - grown)) + (change - grown))
    total = new + low
    return total, low - (total - new)


class AtHalf(Generic[T]):
    """A property of the method that holds where these parameters are 1/2, else another; the class shows the first."""

    def __init__(self, half: T, otherwise: T, parameters: tuple[str, ...] = ("tau",)) -> None:
        self.half, self.otherwise, self.parameters = half, otherwise, parameters

    def __get__(self, scheme: object, owner: type) -> T:
        at_half = scheme is None or all(getattr(scheme, name) == 0.5 for name in self.parameters)
        return self.half if at_half else self.otherwise


class Interval(Pytree):
    """What happened between two nodes: its quasi-velocity xi (n components) and the Report of its solve."""

    xi: Array
    report: Report


class Scheme(Pytree, Generic[Moving, Held]):
    """A rule for one step: the root z of `residual`, from which `advance` makes the next state."""

    order: ClassVar[Any] = None
    symmetric: ClassVar[bool | AtHalf[bool] | None] = None  # step(h) is undone by step(-h)
    # What theorems give, in the words of docs and tests. "relative equilibria": where the frame is invariant and the
    # group only translates the coordinates on which l, Psi and c depend; see DiscreteHamel.
    conserves: ClassVar[tuple[str, ...] | AtHalf[tuple[str, ...]]] = ()
    reference: ClassVar[str] = ""
    frameless: ClassVar[bool] = False  # it takes systems that have no frame, qdot = psi(q, z)
    compensated = False  # it carries along what q and p round off: its states are CompensatedState
    nodal: ClassVar[bool] = False  # state.xi is the velocity at the node, which need not be found from p
    explicit: ClassVar[bool] = False  # the guess is the root: nothing is solved
    at_nodes: ClassVar[bool] = False  # it uses the fields at nodes only, which may degenerate between them
    negligible: ClassVar[float] = NEGLIGIBLE  # what Newton may leave out of a step, in units of round-off
    point: ClassVar[float] = 0.5  # where on the chord from q_k to q_{k+1} an interval's equations and xi are those of
    changes: ClassVar[tuple[str, ...]] = ()  # of the state, of which z has only changes: z may vanish, these do not

    def fitted(self, system: Moving) -> "Scheme":
        """The form of this scheme for systems of this kind: itself, unless it has another one, or refuses them."""
        if system.frameless and not self.frameless:
            system.frame(jnp.zeros(0))  # refuses
        return self

    def check(self, system: Moving, q: Array) -> None:
        """Refuse, with a sentence, what only concrete values show to be outside the hypotheses; before a run."""

    def start(self, system: Moving, q: Array, xi: Array, h: Array) -> Held:
        """p_0 = mu(q_0, xi_0) on D: one-step and self-starting."""
        free = xi[: system.rank]
        state = q, hamel.balance(system, q, free)[0], free
        low = jnp.zeros(len(q) + len(free))
        return CompensatedState(*state, low) if self.compensated else State(*state)  # type: ignore[return-value]

    def guess(self, system: Moving, state: Held, h: Array) -> Array:
        """z = (xi^D, q_{k+1}) of an explicit Euler step with the last interval's velocity."""
        return jnp.concatenate([state.xi, state.q + h * system.frame(state.q) @ hamel.full(system, state.q, state.xi)])

    def residual(self, system: Moving, state: Held, h: Array, z: Array) -> Array:
        """The scheme's equations; zero at the unknowns z of the step."""
        raise NotImplementedError

    def advance(self, system: Moving, state: Held, h: Array, z: Array) -> tuple[Held, Array]:
        """The state at the next node and the interval's xi (n components), from the root z."""
        raise NotImplementedError

    def step(self, system: Moving, state: Held, h: Array) -> tuple[Held, Interval]:
        """One step: the root of `residual`, found by Newton's method from `guess`, and what `advance` makes of it."""
        equations, guess = partial(self.residual, system, state, h), self.guess(system, state, h)
        z, report = guess, Report(jnp.all(jnp.isfinite(guess)), jnp.asarray(0), jnp.zeros((), guess.dtype))
        if not self.explicit:
            z, report = root(equations, guess, self.negligible, self.beside(state))
        state, xi = self.advance(system, state, h, z)
        return state, Interval(xi, report)

    def beside(self, state: Held) -> Array | float:
        """The size of what z are changes of."""
        return sum(jnp.sum(jnp.abs(getattr(state, name))) for name in self.changes)

    def substeps(self, h: Array) -> tuple["Scheme", Array] | None:
        """For a step that is nothing but steps of another scheme: that scheme, and the lengths of these steps."""
        return None

    def unsolved(self, system: Moving, state: Held, h: Array) -> tuple["Scheme", Held, Array]:
        """The solve at fault in a step that failed, as (scheme, state, h): for a step made of others, one of those."""
        return self, state, h

    def time(self, state: Held) -> Array | None:
        """The time at the node, where the scheme keeps it; None where every step is h, so that t_k = k h."""
        return None

    def equation(self, system: Moving, row: int) -> str:
        """What a row of the residual is, for messages."""
        if row < system.rank:
            return f"the momentum balance along {name_of(system.velocities, 'xi', row)}"
        return f"the reconstruction of {name_of(system.coordinates, 'q', row - system.rank)}"

    def velocity(self, system: Moving, state: Held) -> Array:
        """xi at the node (n components): mu(q_k, xi_k) = p_k on D."""
        if self.nodal:
            return hamel.full(system, state.q, state.xi)
        if system.frameless:
            return state.p  # z
        xi, _ = root(partial(self.missed_momentum, system, state.q, state.p), state.xi[: system.rank])
        return hamel.full(system, state.q, xi)

    def missed_momentum(self, system: Moving, q: Array, p: Array, free: Array) -> Array:
        """By how much xi^D misses the momentum at a node: m equations, which Newton solves; mu(q, xi) - p on D."""
        return hamel.momentum_on_d(system, q, free) - p


class Wrapped(Scheme):
    """A scheme whose steps are made of steps of the one in its field `scheme`: what it does not say is that one's."""

    order, symmetric, point = of("scheme.order"), of("scheme.symmetric"), of("scheme.point")
    conserves = of("scheme.conserves")  # in every step, so in whatever is made of them
    frameless, at_nodes, nodal = of("scheme.frameless"), of("scheme.at_nodes"), of("scheme.nodal")
    check, start, time, equation = (of(f"scheme.{name}") for name in ("check", "start", "time", "equation"))
    velocity, missed_momentum = of("scheme.velocity"), of("scheme.missed_momentum")
    _inner = of("scheme")

    def fitted(self, system: System) -> Scheme:
        fitted = self._inner.fitted(system)
        return self if fitted is self._inner else self.replace(scheme=fitted)


def start(system: System, scheme: Scheme, q: Coordinates, xi: Quasivelocities, h: Scalar) -> State:
    """Returns the state from which `step` sets out: q_0, p_0 = mu(q_0, xi_0), and xi_0 as a first guess.

    After a step `state.xi` is an interval's velocity, not the node's: `nodal_velocity` gives that from (q, p).
    q off `System.holonomic` is refused.
    """
    system, (q, xi) = hamel.arguments(system, q, xi=xi)
    if not any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((system, q))):
        refuse_off_manifold(system, q)
    return scheme.fitted(system).start(system, q, xi, jnp.asarray(array_of("h", h, 0)))


@jax.jit
def step(system: System, scheme: Scheme, state: State, h: Scalar) -> tuple[State, Interval]:
    """One step, for a loop of one's own: the next state, and the interval's velocity and report.

    `state.q` and `state.p` are at the node. `state.xi` and `interval.xi` are the velocity of the interval behind it,
    xi_{k,k+1}, h/2 earlier, which is where the next solve starts; a feedback of it is late by h/2. The velocity at the
    node is `nodal_velocity(system, state.q, state.p)`:

    >>> import discrete_hamel as dh, jax, jax.numpy as jnp
    >>> brake = lambda q, xi, gain: -gain * xi
    >>> def controlled(state, _):
    ...     xi = dh.nodal_velocity(sleigh, state.q, state.p)                    # what a sensor shows at this node
    ...     braked = dh.forced(sleigh, brake, params=jnp.where(xi[1] > 1.0, 0.5, 0.0))      # the gain, one for a step
    ...     return dh.step(braked, scheme, state, h=0.01)[0], xi
    >>> sleigh, scheme = dh.systems.ChaplyginSleigh(), dh.DiscreteHamel()
    >>> state = dh.start(sleigh, scheme, [0.1, 0, 0], [1.5, 2.0], h=0.01)
    >>> _, xi = jax.jit(lambda state: jax.lax.scan(controlled, state, length=100))(state)
    >>> xi.shape
    (100, 3)

    That is a loop on JAX's side. One in Python, one call of `step` after another, costs a hundred times as much a step.
    Faster than both is to put what acts on the system into it (a force of (q, xi) by `forced`, of t by `controlled`,
    motions by `prescribe`) and to call `simulate`, which takes the compiled step: for a command held over n steps a
    scan over `simulate(..., steps=n)`, which starts from the q[-1] and xi[-1] (both at the node) of the one before.
    """
    for name in ("q", "p", "xi"):
        hamel.refuse_length(system, state.q, name, getattr(state, name))
    with explained("a step from this state, which has to be one that dh.start(system, scheme, ...) made,"):
        return scheme.fitted(system).step(system, state, array_of("h", h, 0))

"""What moves: System, the contract of all systems, and Wrapper, for systems made of another one."""

import dataclasses
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.caches import Cache
from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import Pytree, of
from discrete_hamel.mechanics import frames


@dataclasses.dataclass(frozen=True)
class Invariant:
    """A function of (q, xi) that the continuous motion keeps, and how the default scheme keeps it.

    `kept` is "exact" (to round-off), "bounded" (oscillates, no drift) or "continuous" (nothing is claimed
    of the discrete motion). `assumes` names the methods and attributes on which it rests, None for all: a subclass that
    has its own in the place of one of them does not inherit the invariant; see `System.invariants`.
    """

    function: Callable[[Array, Array], Array]
    kept: str
    assumes: tuple[str, ...] | None = None

    def __call__(self, q: Array, xi: Array) -> Array:
        return self.function(q, xi)


# What a subclass may have of its own without touching the motion: it describes, checks or draws.
DESCRIPTION = frozenset(
    ("coordinates", "velocities", "units", "invariants", "symmetries", "check", "check_start", "check_shape", "sample")
    + ("shapes", "scenery", "normals", "rim", "contact_force", "singular", "holonomic", "redundant", "frame_margin")
)


def overridden(system_class: type, base: type) -> set[str]:
    """What of `base` the classes between it and `system_class` have replaced by their own, parameters and what only
    describes apart."""
    between = system_class.__mro__[: system_class.__mro__.index(base)]
    own = {name for one in between for name in vars(one) if not name.startswith("__") and hasattr(base, name)}
    return own - DESCRIPTION - {field.name for field in dataclasses.fields(base)}


# Who says one of the names on the right anew loses what its base had said of the one on the left.
MAPS = {"velocity": "frame", "quasivelocity": "frame velocity", "coadjoint": "frame velocity structure"}
MAPS |= {"in_velocities": "lagrangian", "structure": "frame"}


def _inherit(declare: Callable, base: type) -> Callable:
    """`declare`, the method `invariants` of `base`, without what a subclass's own methods make untrue."""

    @wraps(declare)
    def invariants(self: System) -> dict[str, Invariant]:
        changed = overridden(type(self), base)

        def holds(declared: Callable) -> bool:
            assumes = getattr(declared, "assumes", None)  # a plain function says nothing: it assumes everything
            return not (changed if assumes is None else changed & {*assumes})

        return {name: declared for name, declared in declare(self).items() if holds(declared)}

    return invariants


_frame_shapes = Cache(most=500)  # by the structure and the shapes of a system and q


def frame_shape(system: "System", q: Array) -> tuple[int, int]:
    """(N, n) of Psi(q), for which it is traced once a kind of system."""
    kind = jax.tree.structure(system), *map(jnp.shape, jax.tree.leaves((system, q)))
    return _frame_shapes.fetch(kind, lambda: jax.eval_shape(system.frame, q).shape)


class System(Pytree):
    """A mechanical system: Lagrangian l(q, xi), frame qdot = Psi(q) xi, and the rank m of D = span(u_1..u_m).

    Subclass it with float fields (its physical parameters: leaves, so that new values never recompile), `rank`,
    `lagrangian` and `frame`. `structure`, `slip` and `force` have defaults: the bracket of the frame by autodiff,
    no slip, no force. Override `structure` where the fields are dependent as vectors and the bracket is that of an
    algebra (advected coordinates) or where N < n (reduced systems); who has another `frame` says it anew.

    >>> import jax.numpy as jnp, discrete_hamel as dh
    >>> class KnifeEdge(dh.System):
    ...     mass: float = 1.0
    ...     rank = 2
    ...     velocities = ("omega", "forward", "sideways")
    ...     def lagrangian(self, q, xi):
    ...         return 0.5 * self.mass * (xi @ xi)
    ...     def frame(self, q):
    ...         c, s = jnp.cos(q[0]), jnp.sin(q[0])
    ...         return jnp.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])
    >>> dh.simulate(KnifeEdge(mass=2.0), q=[0.0, 0, 0], xi=[1.0, 0.5], h=0.1, steps=10).q.shape
    (11, 3)
    """

    rank: ClassVar[Any]  # an int, as class attribute or, where it varies, as static field
    coordinates: ClassVar[tuple[str, ...]] = ()  # names of q, for messages, plots and tables
    velocities: ClassVar[tuple[str, ...]] = ()  # names of xi
    units: ClassVar[Mapping[str, str]] = {}  # by name: of coordinates, velocities, parameters, invariants; see units.py
    in_velocities: ClassVar[Any] = None  # L(q, v), where the Lagrangian is given so: then no frame has to be inverted
    frameless: ClassVar[bool] = False  # qdot = psi(q, z), z in the place of xi, by the formulas of gibbs_appell.py
    clock: ClassVar[int | None] = None  # index of the coordinate that is time, t' = 1, if there is one
    linear_cost: ClassVar[str] = ""  # the scheme, as one writes it, that takes DiscreteHamel()'s step at linear cost

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        for name, behind in MAPS.items():
            newest = next(one for one in cls.__mro__ if {name, *behind.split()} & vars(one).keys())
            if name not in vars(newest) and getattr(cls, name) is not getattr(System, name):
                setattr(cls, name, getattr(System, name))
        if "invariants" in vars(cls):
            cls.invariants = _inherit(cls.invariants, cls)  # type: ignore[method-assign]

    def lagrangian(self, q: Array, xi: Array) -> Array:
        """l(q, xi), xi with all n components: vary first, constrain after."""
        raise NotImplementedError(f"{type(self).__name__} needs a method lagrangian(self, q, xi)")

    def frame(self, q: Array) -> Array:
        """Psi(q), N x n, whose columns are the fields u_1..u_n."""
        raise NotImplementedError(f"{type(self).__name__} needs a method frame(self, q)")

    # The frame as a linear map: a system of many points says all three itself, and no matrix is formed.

    def velocity(self, q: Array, xi: Array) -> Array:
        """qdot = Psi(q) xi, xi with all n components."""
        return self.frame(q) @ xi

    def quasivelocity(self, q: Array, v: Array) -> Array:
        """xi with Psi(q) xi = v, n components; `hamel.quasivelocities` says which where v does not determine it."""
        if self.frame_is_a_map:
            raise InputError(
                f"v determines xi by frame(q) xi = v, a dense solve with {len(v)} rows, which a system that gives its "
                f"velocity(q, xi) as a map is to do without. Give xi; or give {type(self).__name__} a method "
                "quasivelocity(q, v), the inverse of velocity."
            )
        psi = self.frame(q)
        if self.brackets_by_autodiff:
            return frames.left_inverse(psi, v)
        m, slip = self.rank, self.slip(q)  # of dependent fields (advected coordinates) xi with xi^U = b(q) is meant
        return jnp.concatenate([frames.left_inverse(psi[:, :m], v - psi[:, m:] @ slip), slip])

    def coadjoint(self, q: Array, xi: Array, mu: Array) -> Array:
        """[xi, mu]*_j = c^k_ij xi^i mu_k, n components.   [HE] (5.6)"""
        if not self.brackets_by_autodiff:
            return jnp.einsum("kij,i,k->j", self.structure(q), xi, mu)
        if self.frame_is_a_map and type(self).quasivelocity is not System.quasivelocity:
            return frames.coadjoint_by_maps(self.velocity, self.quasivelocity, q, xi, mu)
        return frames.coadjoint(self.frame, q, xi, mu)

    @property
    def frame_is_a_map(self) -> bool:
        """Whether `velocity` is said by the system itself, so that nothing need form the frame's matrix."""
        return type(self).velocity is not System.velocity

    def structure(self, q: Array) -> Array:
        """c[k, i, j] of [u_i, u_j] = c^k_ij u_k."""
        return frames.structure_functions(self.frame, q)

    def slip(self, q: Array) -> Array:
        """b(q) of the affine constraint xi^U = b(q), n - m components."""
        return jnp.zeros(frame_shape(self, q)[1] - self.rank)

    def force(self, q: Array, xi: Array) -> Array:
        """Non-conservative force, as the n-covector of its components along u_1..u_n."""
        return jnp.zeros_like(xi)

    def holonomic(self, q: Array) -> Array:
        """g(q), whose zeros are the positions where q has more numbers than there are directions to move in.

        |gamma|^2 - 1 of a direction, R^T R - 1 of a rotation: one row a relation, independent, each of the size of the
        relative error of q. The frame moves along g = 0. Runs start there (`dh.project` leads there); none: no rows.
        """
        return jnp.zeros(0)

    def invariants(self) -> dict[str, Invariant]:
        """What the continuous motion keeps, by name; see Invariant.

        A subclass that overrides a method on which an inherited invariant rests loses that invariant, also through
        `super().invariants()`: with another Lagrangian another energy is kept (`traj.energy` is always that of the
        system at hand), and a momentum of the old one perhaps not at all. Declare what is kept anew.
        """
        return {}

    def symmetries(self) -> dict[str, Callable[[Array], Array]]:
        """Infinitesimal symmetries by name, each a generator q -> N-vector that keeps the Lagrangian and D."""
        return {}

    def check(self) -> None:
        """Refuse impossible parameters with a sentence; called before a run, with concrete values."""

    def rows(self, q: Array, z: Array) -> Array:
        """What vanishes of (q, z) on the constraint, where not all z are allowed; of systems that have no frame."""
        return jnp.zeros(0)

    def check_state(self, q: Array, z: Array) -> None:
        """Refuse a state of a system without a frame with a sentence, with concrete values."""

    def check_start(self, q: Array) -> None:
        """Refuse a place to start from with a sentence; called after `check`, with concrete values."""

    def check_shape(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> None:
        """Refuse a shape that cannot roll about q, by its derivatives there, with a sentence; `by` as in `at`."""

    @property
    def brackets_by_autodiff(self) -> bool:
        """Whether `structure` is the default, so that contractions with it need not form it."""
        return type(self).structure is System.structure

    @property
    def redundant(self) -> bool:
        """Whether `holonomic` says what some of the coordinates satisfy."""
        return type(self).holonomic is not System.holonomic

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> "System":
        """The system ready for a run that starts at q; itself, unless its frame is yet to be chosen, by numbers: `by`
        makes of a function one that gives them. Runs hand down an interpreter, for XLA would compile for a second."""
        return self

    def frame_margin(self, q: Array) -> Array:
        """How far from degenerate a frame built by the library is at q: 0 there, and of the other sign beyond; at most
        1. The user's own frames are the user's: 1."""
        return jnp.ones(())


class Wrapper(System):
    """A System made of the one in its field `system`, which says whatever a subclass does not say itself.

    Invariants and symmetries are not handed on: what a subclass changes may not have them.
    """

    _inner = of("system")
    rank = of("system.rank")
    coordinates = of("system.coordinates")
    velocities = of("system.velocities")
    units = of("system.units")
    clock = of("system.clock")
    redundant = of("system.redundant")
    frameless = of("system.frameless")
    z_of = of("system.z_of")  # this and the next of those without a frame
    rows = of("system.rows")
    check_state = of("system.check_state")
    singular = of("system.singular")
    lagrangian = of("system.lagrangian")
    frame = of("system.frame")
    structure = of("system.structure")
    velocity = of("system.velocity")
    quasivelocity = of("system.quasivelocity")
    coadjoint = of("system.coadjoint")
    slip = of("system.slip")
    force = of("system.force")
    holonomic = of("system.holonomic")
    check = of("system.check")
    check_start = of("system.check_start")
    check_shape = of("system.check_shape")
    frame_margin = of("system.frame_margin")
    shapes = of("system.shapes")  # what is drawn of it
    scenery = of("system.scenery")

    @property
    def same_motion(self) -> bool:
        """Whether coordinates, fields and Lagrangian are those of the system within: forces may be more."""
        names = ("frame", "lagrangian", "slip", "structure")
        return all(getattr(type(self), name) is getattr(Wrapper, name) for name in names)

    @property
    def in_velocities(self) -> Any:
        return self._inner.in_velocities if self.same_motion else None

    @property
    def brackets_by_autodiff(self) -> bool:
        return type(self).structure is Wrapper.structure and self._inner.brackets_by_autodiff

    @property
    def frame_is_a_map(self) -> bool:
        return type(self).velocity is not System.velocity and self._inner.frame_is_a_map

    def at(self, q: Array, by: Callable[[Callable], Callable] = jax.jit) -> System:
        ready = self._inner.at(q, by)
        return self if ready is self._inner else self.replace(system=ready)

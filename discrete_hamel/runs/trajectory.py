"""What came out: Trajectory, which says where each quantity lives (nodes or intervals)."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Float, K, N, PathLike, m, n, nodes
from discrete_hamel._support.errors import ContactLost
from discrete_hamel._support.pytrees import Pytree, static
from discrete_hamel.compiler.along import along
from discrete_hamel.compiler.reading.cached_scalars import once
from discrete_hamel.mechanics import hamel
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import traced_refusals
from discrete_hamel.systems._blocks.contact_laws import contact_law

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase
    from xarray import Dataset

ROUNDOFF = 1e-9  # of the largest force: what at a contact without weight is zero
PIECE = 1 << 16  # nodes at which energy and invariants are evaluated at once


def _known(array: object) -> bool:
    """Whether an array's numbers are in memory or in a store, rather than traced by jax or on its devices."""
    return not isinstance(array, jax.Array) and hasattr(array, "__array__")


class RunReport(Pytree):
    """How the solves went, one entry an interval between saved nodes, and which path ran."""

    converged: Float[np.ndarray, K]  # (K,) all steps of the interval
    iterations: Float[np.ndarray, K]  # (K,) most of any step
    residual: Float[np.ndarray, K]  # (K,) norm left by its last step
    path: str = "plain"
    reason: str = ""
    plain_steps: Any = 0  # how many the plain path took: all, or from where a compiled one failed
    refused: Array | None = None  # of a traced run: codes of `refusals`, 0 where nothing would be refused outside jit

    def refusals(self) -> tuple[str, ...]:
        """Why the data of a run under jit would be refused outside it, in sentences; of one run of a batch."""
        return () if self.refused is None else traced_refusals.sentences(int(self.refused))

    def _path(self) -> str:
        astray = self.path != "plain" and not isinstance(self.plain_steps, jax.core.Tracer) and np.any(self.plain_steps)
        told = f", of which {np.sum(self.plain_steps)} steps plain, where the compiled one failed" if astray else ""
        return repr(self.path) + told + (f", reason={self.reason!r}" if self.reason else "")

    def __repr__(self) -> str:
        if isinstance(self.converged, jax.core.Tracer) or np.ndim(self.converged) != 1:
            return f"RunReport(converged={self.converged}, path={self._path()})"
        if not len(self.converged):
            return f"RunReport(no steps, path={self._path()})"
        failed = int(np.sum(~np.asarray(self.converged)))
        counts = f"{len(self.converged) - failed} converged, {failed} failed"
        iterations = f"iterations {int(np.min(self.iterations))} to {int(np.max(self.iterations))}"
        left = np.asarray(self.residual)
        residual = f"residual <= {np.max(left, where=np.isfinite(left), initial=0.0):.1e}"
        refused = f", refused: {'; '.join(self.refusals())}" if self.refused is not None and self.refusals() else ""
        return f"RunReport({counts}, {iterations}, {residual}, path={self._path()}{refused})"


@partial(jax.jit, static_argnums=0)
def _along(function: Callable, system: System, q: Array, xi: Array) -> Any:
    return jax.vmap(partial(function, system))(q, xi)


def invariants_at(system: System, q: Array, xi: Array) -> dict[str, Array]:
    """Energy and the system's own invariants at one node, by name."""
    values = {"energy": hamel.energy(system, q, xi)}
    return values | {name: function(q, xi) for name, function in system.invariants().items()}


def contact_force_at(system: Any, q: Array, xi: Array) -> Array:
    """The normal force at one node, of a system that has a contact."""
    return system.contact_force(q, xi)


class Trajectory(Pytree):
    """A computed motion: q, p, xi at K + 1 nodes, xi_mid and the report on the K intervals between them.

    `final` is the scheme's state at the last node, from which a run can be continued; `system`, `scheme` and `h` are
    what made it. For trajectories of `dh.reference`, which has no steps, scheme, h, xi_mid, report and final are None.
    """

    t: Float[np.ndarray, nodes]  # times of the nodes
    q: Float[np.ndarray, nodes, N]  # coordinates at the nodes
    p: Float[np.ndarray, nodes, m]  # momenta at the nodes, along the fields that span D
    xi: Float[np.ndarray, nodes, n]  # quasi-velocities at the nodes, all n
    xi_mid: Float[np.ndarray, K, n]  # quasi-velocities of the intervals, all n
    report: Any  # a RunReport: how the solves went, which path ran, and why
    system: System  # what moved, ready at the start
    scheme: Any  # by which scheme
    h: Any  # the step
    final: Any  # the scheme's State at the last node
    save_every: int = static(default=1)  # steps from node to node

    def _evaluate(self, function: Callable) -> Any:
        if not _known(self.q):
            return _along(function, self.system, self.q, self.xi)
        # In pieces, so that memory does not grow with what is read from a store, and padded to a power of two, so that
        # trajectories of many lengths share few compilations.
        return concatenate([self._piece(function, k) for k in range(0, len(self.q), PIECE)])

    def _piece(self, function: Callable, begin: int) -> Any:
        q, xi = self.q[begin : begin + PIECE], self.xi[begin : begin + PIECE]
        nodes = len(q)
        more = (1 << (nodes - 1).bit_length()) - nodes
        q, xi = (np.pad(a, ((0, more), (0, 0)), mode="edge") for a in (q, xi))
        return jax.tree.map(lambda leaf: np.asarray(leaf)[:nodes], _along(function, self.system, q, xi))

    @property
    def v(self) -> Float[np.ndarray, nodes, N]:
        """Coordinate velocities qdot = Psi xi at the nodes, (K+1, N)."""
        return self._evaluate(hamel.velocities)

    @property
    def energy(self) -> Float[np.ndarray, nodes]:
        """Energy at the nodes, (K+1,)."""
        return self._evaluate(hamel.energy)

    @property
    def contact_force(self) -> Float[np.ndarray, nodes] | None:
        """The normal force at the nodes, (K+1,), positive where the surface pushes; None without a surface."""
        return None if contact_law(self.system) is None else self._evaluate(contact_force_at)

    def invariants(self) -> dict[str, Float[np.ndarray, nodes]]:
        """Energy and the system's own invariants at the nodes, by name."""
        return self._evaluate(invariants_at)

    def refusal(self) -> str:
        """What `simulate` refuses this run's system, start or step with, where values are known; nothing if it does
        not. For a run made under jit, which can only mark that (`report.refused`).
        """
        from discrete_hamel.compiler.reading.parts_of_schemes import check_scheme_at
        from discrete_hamel.runs import validation as checks

        try:
            checks.step_size(self.h)
            system, q, _ = checks.initial_data(self.system, self.q[0], self.xi[0], None)
            check_scheme_at(system, self.scheme, q)
        except ValueError as error:
            return str(error)
        return ""

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        if not _known(self.t) or self.t.ndim != 1:
            return f"Trajectory of {type(self.system).__name__}, traced by jax"
        scheme = "reference" if self.scheme is None else f"{type(self.scheme).__name__}, h = {float(self.h):g}"
        return (
            f"Trajectory of {type(self.system).__name__}: {len(self)} nodes, t = {self.t[0]:g} to {self.t[-1]:g} "
            f"({scheme})" + (f"\n{self.report!r}" if self.report is not None else "")
        )

    def to_xarray(self) -> "Dataset":
        """An xarray.Dataset with named coordinates, velocities and invariants (needs xarray: the extra `archive`)."""
        from discrete_hamel.runs.storage.archive import dataset

        return dataset(self)

    def save(self, path: PathLike) -> None:
        """Write to a Zarr store that opens with `dh.load`, and in xarray (with the extra `archive`)."""
        from discrete_hamel.runs.storage.archive import save

        save(self, path)

    def animate(self, path: PathLike, *, seconds: float | None = None, frames_a_second: float = 25.0) -> PathLike:
        """Write a film of the body to `path` (.gif, .html or .mp4), in real time or within `seconds`; returns the path.

        Frames come at a constant rate, whatever the step. GIF and MP4 need matplotlib (the extra `plots`), MP4 also
        ffmpeg or the package imageio-ffmpeg, HTML needs nothing.
        """
        from discrete_hamel.drawing.films import film

        return film(self, path, seconds=seconds, frames_a_second=frames_a_second)

    def plot(self, draw: Callable | None = None, *, ax: "Axes | None" = None, **options: object) -> "FigureBase | Axes":
        """A figure of the path, the velocities and the invariants, which `dh.plots.save` writes (extra: `plots`).

        `draw` is another function of `dh.plots`, with its options: traj.plot(dh.plots.power_spectrum, of="theta").
        """
        from discrete_hamel.drawing.plots.trajectory_curves import drawing

        return drawing(draw)(self, ax=ax, **options)


def concatenate(parts: list) -> Any:
    """Chunks of equal trees joined along the first axis, as NumPy arrays; a single one as it is."""
    if len(parts) == 1:
        return jax.tree.map(np.asarray, parts[0])
    return jax.tree.map(lambda *leaves: np.concatenate([np.asarray(leaf) for leaf in leaves]), *parts)


def times(h: Array, save_every: int, first: int, nodes: int, into: np.ndarray | None = None) -> np.ndarray:
    """t_k = (k save_every) h, k = first, ..., from the index: nothing is accumulated; `into` room that is given.

    By NumPy where h is known: JAX would compile these few products for each new number of nodes.
    """
    if isinstance(h, jax.core.Tracer):
        return np.arange(first, first + nodes) * save_every * h
    t = np.arange(first * save_every, (first + nodes) * save_every, save_every, dtype=float)  # exact up to 2^53
    return np.multiply(t, h, out=t if into is None else into).astype(h.dtype, copy=False)


def mark_failed(trajectory: Trajectory, intervals: int, good: int | None) -> Trajectory:
    """The trajectory at its full length: NaN after the failed step, and `report.converged` False there."""
    done, good = len(trajectory.xi_mid), len(trajectory.xi_mid) if good is None else good

    def fill(value: float) -> Callable[[np.ndarray], np.ndarray]:
        return lambda leaf: np.concatenate(
            [leaf[: len(leaf) - done + good], np.full((intervals - good, *leaf.shape[1:]), value, leaf.dtype)]
        )

    q, p, xi, xi_mid = map(fill(np.nan), (trajectory.q, trajectory.p, trajectory.xi, trajectory.xi_mid))
    report, failed = trajectory.report, {"converged": False, "iterations": 0, "residual": np.nan}
    report = report.replace(**{name: fill(value)(getattr(report, name)) for name, value in failed.items()})
    if trajectory.scheme.time(trajectory.final) is None:
        t = trajectory.t[0] + np.asarray(times(trajectory.h, trajectory.save_every, 0, intervals + 1))
    else:
        t = fill(np.nan)(trajectory.t)
    return trajectory.replace(t=t, q=q, p=p, xi=xi, xi_mid=xi_mid, report=report)


def pull(trajectory: Trajectory) -> tuple[float, int, float] | None:
    """When (by the chord across zero) and at which node the contact begins to pull, and the force there; or None."""
    if once(contact_law, trajectory.system) is None:
        return None
    at = trajectory.system, trajectory.q, trajectory.xi
    force: Any = along(contact_force_at, *at) if isinstance(trajectory.q, np.ndarray) else trajectory.contact_force
    pulls = np.flatnonzero(force < -ROUNDOFF * np.nanmax(np.abs(force), initial=0.0))
    if not len(pulls):
        return None
    k = int(pulls[0])
    t, after = trajectory.t, float(force[k])
    if not k:
        return float(t[0]), k, after
    before = max(float(force[k - 1]), 0.0)
    return float(t[k - 1] + (t[k] - t[k - 1]) * before / (before - after)), k, after


def warn_of_pull(trajectory: Trajectory, stacklevel: int) -> None:
    """ContactLost, with the time, if the contact pulls at any node."""
    found = pull(trajectory)
    if found is None:
        return
    t, k, force = found
    warnings.warn(
        f"from t = {t:.6g} on the contact of {type(trajectory.system).__name__} would have to pull: at node {k} the "
        f"normal force is {force:.3g}. A body that nothing holds leaves there, and what "
        "follows is the motion of one that is held. traj.contact_force has the force at each node.",
        ContactLost,
        stacklevel=stacklevel + 1,
    )

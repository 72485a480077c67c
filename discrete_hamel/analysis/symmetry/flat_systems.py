"""The flatness conditions: when the momenta along S obey linear equations in the shape variables."""

from functools import partial
from typing import NamedTuple

import jax
import numpy as np
from jax import Array

from discrete_hamel._support.arrays import Coordinates
from discrete_hamel.analysis.symmetry import hypotheses, phase_space, shape_variables
from discrete_hamel.analysis.symmetry.adjoint_equation import Adjoint, Shape, adjoint, basis_of_s
from discrete_hamel.analysis.symmetry.phase_space import Chosen, Symmetries
from discrete_hamel.analysis.symmetry.several_shapes import curvature_at, several_bases, transport_at
from discrete_hamel.compiler.reading.cached_scalars import on_device
from discrete_hamel.compiler.reading.output_shapes import shapes
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks

FLAT = 1e-8  # residual, relative to the terms it is made of, that counts as zero


class Flatness(NamedTuple):
    """The residuals of the flatness conditions in a basis of S and a unit field of H, orthonormal in the metric.

    `vertical` [i, j, k] is K([g_i, g_j], g_k) + K(g_j, [g_i, g_k]), over 2, symmetric in (j, k);      [MD] (7.2)
    `horizontal` [i] is K([g_i, kappa], kappa).                                                       [MD] (7.3)

    With several shape variables `horizontal` [i, j, k] is the same with kappa_j and kappa_k, over 2, and `curvature`
    [j, k] is that of the transport of the fields along them, [QS] Theorem 4.4 (i), which has to be zero too.
    """

    vertical: np.ndarray
    horizontal: np.ndarray
    scale: float  # of the terms that have to cancel
    curvature: np.ndarray = np.zeros(0)
    curvature_scale: float = 1.0  # of the terms that have to cancel in `curvature`

    @property
    def residual(self) -> float:
        """The largest of both."""
        return float(max(np.max(np.abs(self.vertical), initial=0.0), np.max(np.abs(self.horizontal), initial=0.0)))

    def __bool__(self) -> bool:
        bent = float(np.max(np.abs(self.curvature), initial=0.0))
        return self.residual <= FLAT * self.scale and bent <= FLAT * self.curvature_scale


def flatness(system: System, q: Coordinates, *, symmetries: Symmetries = None, shape: Shape | None = None) -> Flatness:
    """Returns the conditions at q under which the momenta along S obey linear equations in the shape variable; zero iff
    flat.

    `symmetries` by name, those of the system by default; `shape` is the shape variable r(q), found if it is linear, or
    where the shape space has more dimensions as many invariant functions.

    >>> import discrete_hamel as dh
    >>> bool(dh.flatness(dh.systems.RollingDisk(), [0.3, 0, 0, 0, 0]))
    True
    >>> cart = dh.flatness(dh.systems.ThreeWheelCart(), [0.0, 0, 0, 0, 0, 0, 0.4])
    >>> bool(cart), cart.residual > 0.01
    (False, True)
    """
    system, q, group, shape, several = prepare(system, q, symmetries, shape)
    if several:
        return flatness_of_several(system, group, shape, q)
    at = jax.tree.map(np.asarray, adjoint_at(group, shape, system, q))
    basis = basis_of_s(at)
    vertical = np.einsum("sab,si,aj,bk->ijk", at.growth, basis, basis, basis)
    horizontal = (at.turn + at.dr @ at.rate) @ basis
    unit = np.linalg.inv(np.linalg.cholesky(at.inertia)).T
    sizes = np.einsum("sab,si,aj,bk->ijk", at.growth, unit, unit, unit)
    parts = [np.abs(sizes).max(), np.abs(at.turn @ basis).max(initial=0.0)]
    return Flatness(vertical, horizontal, max(*map(float, parts), 1e-12))


def flatness_of_several(system: System, symmetries: Chosen, shape: Shape, q: Array) -> Flatness:
    at = jax.tree.map(np.asarray, transport_at(symmetries, shape, system, q))
    curvature, size = (np.asarray(a) for a in curvature_at(symmetries, shape, system, q))
    unit = np.linalg.inv(np.linalg.cholesky(at.inertia)).T
    s, h = several_bases(at)
    across = h.T @ at.inertia @ at.kappa  # of kappa_j in the orthonormal basis of H
    back = np.linalg.inv(across)
    vertical = np.einsum("sab,si,aj,bk->ijk", at.growth, s, s, s)
    horizontal = np.einsum("sjk,si,jx,ky->ixy", at.across, s, back, back)
    scale = float(np.abs(np.einsum("sab,si,aj,bk->ijk", at.growth, unit, unit, unit)).max(initial=0.0))
    return Flatness(vertical, horizontal, max(scale, 1e-12), curvature, max(float(size), 1e-12))


@partial(jax.jit, static_argnums=(0, 1))
def adjoint_at(symmetries: Chosen, shape: Shape, system: System, q: Array) -> Adjoint:
    return adjoint(system, symmetries, shape, q)


def prepare(
    system: System, q: Coordinates, symmetries: Symmetries, shape: Shape | None
) -> tuple[System, Array, Chosen, Shape, bool]:
    q = on_device(checks.vector("q", q))
    system = checks.canonical(system).at(q)
    shapes(system, q)
    what = "a hidden momentum"
    for hypothesis in (hypotheses.no_slip, hypotheses.natural, hypotheses.force_free):
        hypothesis(system, q, what)
    chosen = phase_space.static_generators(system, symmetries, q)
    shape_variables.require_symmetry(system, chosen, q)
    count = shape_variables.shape_dimension(system, chosen, q)
    if count > 1:
        several = shape_variables.linear_chart(system, chosen, q, count) if shape is None else shape
        shape_variables.require_chart(system, chosen, several, q, count)
        return system, q, chosen, several, True
    one = shape_variables.linear_shape(system, chosen, q) if shape is None else shape
    shape_variables.require_shape(system, chosen, one, q)
    return system, q, chosen, one, False

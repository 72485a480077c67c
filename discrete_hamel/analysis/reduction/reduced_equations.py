"""The coefficients of the reduced equations in closed form, [QS] (2.16), (4.5)-(4.11), and the equations themselves."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.arrays import ArrayLike
from discrete_hamel._support.errors import InputError
from discrete_hamel.analysis.reduction.reduced_systems import ReducedSystem
from discrete_hamel.compiler.reading.interpreter import OFTEN, interpret
from discrete_hamel.mechanics import hamel


class Coefficients(NamedTuple):
    """At one r, in the basis e(r): a, b, c along S, a', b', c' along U, A, B, C along both, alpha, beta, gamma of r."""

    A: Array  # A[A, alpha]: the nonholonomic connection A^nhc
    C: Array  # C[C, A, B]: [e_A, e_B] = C^C_AB e_C, at this r
    gamma: Array  # gamma[B, A, alpha]: de_A/dr^alpha = gamma^B_A,alpha e_B          (2.16)
    curvature: Array  # B[C, alpha, beta]: [u_alpha, u_beta] = B^C_alpha,beta u_C       (4.11)
    locked_inertia: Array  # I[A, B] = <<e_A, e_B>>                                          (4.5)
    coupling: Array  # K[A, alpha] = <<e_A, d/dr^alpha>>                                    (4.5)
    shape_inertia: Array  # G_c[alpha, beta] = <<u_alpha, u_beta>>
    inverse_s: Array  # of the locked inertia on S: I_S^ab
    Lambda: Array  # Lambda[a', alpha] = K_U - I_US A^S - I_U A^U                              (4.7)
    D: Array  # D[c, b, alpha], which is tau: <p, i_r' tau>_b = D^c_b,alpha p_c r'^alpha        (4.7), (4.11)
    D2: Array  # D[b, alpha, beta]                                                                (4.11)
    K3: Array  # K[alpha, beta, gamma] = Lambda_c',gamma B^c'_alpha,beta                            (4.11)
    across: Array  # I^U_c'a' I^a'c, [c', c]                                                          (4.9)

    @property
    def constrained_locked_inertia(self) -> Array:
        """I_S."""
        s = len(self.inverse_s)
        return self.locked_inertia[:s, :s]

    def momentum_rate(self, p: ArrayLike, rate: ArrayLike) -> Array:
        """p'_a of (4.10), p = dl_c/dOmega^S, at the shape's rate r'."""
        p, v = jnp.asarray(p, float), jnp.asarray(rate, float)
        m = len(p)
        whole = self.C[:m, :m, :m] - jnp.einsum("xba,xc->cba", self.C[m:, :m, :m], self.across)
        spin = jnp.einsum("cba,b,c->a", whole, self.inverse_s @ p, p)
        return spin + jnp.einsum("cax,c,x->a", self.D, p, v) + jnp.einsum("axy,x,y->a", self.D2, v, v)

    def shape_force(self, p: ArrayLike, rate: ArrayLike) -> Array:
        """The right-hand side of (4.9): d/dt dl_c/dr' - dl_c/dr, the latter at fixed Omega^S.

        Its last coefficient is D_b,alpha,beta, as Theorem 4.1 gives it; with the printed D_b,beta,alpha Chaplygin's
        sphere, whose two shapes tell them apart, does not obey it.
        """
        p, v = jnp.asarray(p, float), jnp.asarray(rate, float)
        m = len(p)
        bent = self.curvature[:m] - jnp.einsum("xab,xc->cab", self.curvature[m:], self.across)
        bent = bent + jnp.einsum("bay,bc->cay", self.D2, self.inverse_s)  # D_b,alpha,beta; printed D_b,beta,alpha
        spin = jnp.einsum("cbx,b,c->x", self.D, self.inverse_s @ p, p)
        return -spin - jnp.einsum("xyz,y,z->x", self.K3, v, v) - jnp.einsum("cxy,c,y->x", bent, p, v)


def coefficients(reduced: ReducedSystem, r: ArrayLike) -> Coefficients:
    """Returns the coefficients of [QS] (4.9), (4.10) at r, of a system that `reduce` made: `reduced`, with l = K - U.

    B has the sign that (4.11) prints: B^C = dA^C_a/dr^b - dA^C_b/dr^a + C^C_AB A^A_a A^B_b + gamma A - A gamma.

    >>> import discrete_hamel as dh
    >>> disk = dh.systems.RollingDisk()
    >>> at = dh.coefficients(dh.reduce(disk), [0.3])
    >>> at.A.shape, at.D.shape, bool(abs(at.D2).max() < 1e-12)     # nothing quadratic in theta' in p'
    ((4, 1), (2, 2, 1), True)
    """
    if not isinstance(reduced, ReducedSystem):
        raise InputError(f"coefficients is for systems that dh.reduce makes, not for {type(reduced).__name__}.")
    return _coefficients(reduced, jnp.atleast_1d(jnp.asarray(r, float)))


@partial(interpret, often=OFTEN)
def _coefficients(reduced: ReducedSystem, r: Array) -> Coefficients:
    s, m = reduced.shapes_count, reduced.rank - reduced.shapes_count
    e = reduced.basis(r)

    def components(place: Array) -> Array:
        return jnp.linalg.solve(reduced.basis(place), reduced.connection(place))

    def before(velocity: Array) -> Array:
        return reduced.system.lagrangian(reduced.section(r), reduced.upstairs(r) @ velocity)

    a, slopes = components(r), jax.jacfwd(components)(r)  # slopes[A, alpha, beta] = dA_alpha/dr^beta
    gamma = jnp.linalg.solve(e, jax.jacfwd(reduced.basis)(r).reshape(len(e), -1)).reshape(len(e), len(e), s)
    c = jnp.linalg.solve(e, jnp.einsum("cab,ax,by->cxy", reduced.algebra, e, e).reshape(len(e), -1))
    c = c.reshape(len(e), len(e), len(e))
    turned = jnp.einsum("Cab,aA->CAb", gamma, a)  # gamma^C_A,beta A^A_alpha
    curvature = slopes - slopes.swapaxes(1, 2) + jnp.einsum("CAB,Ax,By->Cxy", c, a, a) + turned - turned.swapaxes(1, 2)
    metric = jax.hessian(before)(jnp.zeros(s + len(e)))
    locked, coupling = e.T @ metric[s:, s:] @ e, e.T @ metric[s:, :s]
    lift = reduced.horizontal(r)
    inverse_s, inverse = jnp.linalg.inv(locked[:m, :m]), jnp.linalg.inv(locked)
    across = jnp.linalg.solve(inverse[m:, m:], inverse[m:, :m])
    bound = coupling[m:] - locked[m:, :m] @ a[:m] - locked[m:, m:] @ a[m:]
    mixed = gamma[:, :m] - jnp.einsum("CAb,Ax->Cbx", c[:, :, :m], a)  # E^C_alpha,b = gamma - ad_A   (2.18)
    first = mixed[:m] - jnp.einsum("Xbx,Xc->cbx", mixed[m:], across)
    first = first + jnp.einsum("Xab,Xx,ac->cbx", c[m:, :m, :m], bound, inverse_s)
    second = jnp.einsum("Xy,Xbx->bxy", bound, mixed[m:])
    third = jnp.einsum("Xz,Xxy->xyz", bound, curvature[m:])
    inertia = lift.T @ metric @ lift
    return Coefficients(
        a, c, gamma, curvature, locked, coupling, inertia, inverse_s, bound, first, second, third, across
    )


def momentum(reduced: ReducedSystem, r: ArrayLike, xi: ArrayLike) -> Array:
    """p = dl_c/dOmega^S, the nonholonomic momentum relative to the body frame.   [QS] 4.2"""
    return hamel.momentum(reduced, jnp.atleast_1d(jnp.asarray(r, float)), xi)[reduced.shapes_count : reduced.rank]

"""An ideal fluid on the torus in finitely many modes, which keeps what Euler's equations keep."""

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel._support.pytrees import static
from discrete_hamel.mechanics.system import Invariant, System


class TorusFlow(System):
    """Euler's equations for an ideal fluid on the torus (2 pi x 2 pi), truncated to su(N), N odd.   [HE] Example 3.1

    The stream function psi and the vorticity w = -Lap psi = sum_n w_n exp(i n.x) of the velocity (psi_y, -psi_x), with
    |n_1|, |n_2| <= (N - 1) / 2, as a Lie-Poisson system whose bracket is that of N x N matrices T_n instead of
    functions: the sines of n x m become those of Zeitlin,

        [T_n, T_m] = -(N / 2 pi) sin(2 pi (n x m) / N) T_{n+m mod N}  ->  -(n x m) T_{n+m} = {e^in.x, e^im.x}
        w' = {psi, w}:   p' = [xi, p]* with c = -{ , },   l = sum_n |xi_n|^2 |n|^2 / 2,   p_n = |n|^2 xi_n = w_n

    (reduced: q is empty). The sign of c is that of right-invariant fields, as a fluid's are: the symmetry is that its
    parts may be named anew. Vortices of positive w turn counter-clockwise, and two of them about each other so.

    Quasi-velocities: real amplitudes of cos(n.x) and sin(n.x) of the stream function, n in a half plane. Energy and the
    enstrophy sum |w_n|^2 are exact; tr W^3, .., tr W^N, W = sum w_n T_n, are constants of the motion that the scheme
    keeps to second order. Truncated without the sines only energy and enstrophy would be left.
    Reference: Zeitlin (1991); Fairlie, Fletcher and Zachos (1989).
    """

    size: int = static(default=5)  # N

    coordinates = ()

    @property
    def rank(self) -> int:
        return self.size**2 - 1

    @property
    def velocities(self) -> tuple[str, ...]:  # type: ignore[override]
        return tuple(f"{kind}({a},{b})" for a, b in waves(self.size).tolist() for kind in ("cos", "sin"))

    def lagrangian(self, q: Array, xi: Array) -> Array:
        return 0.5 * jnp.repeat(np.sum(waves(self.size) ** 2, axis=1).astype(float), 2) @ xi**2

    def frame(self, q: Array) -> Array:
        return jnp.zeros((0, self.rank))

    def structure(self, q: Array) -> Array:
        return -jnp.asarray(sine_bracket(self.size))

    def matrix(self, p: Array) -> Array:
        """W of the momentum p, the vorticity."""
        return jnp.einsum("i,iab->ab", p, jnp.asarray(matrices(self.size)))

    def casimir(self, power: int) -> Callable[[Array, Array], Array]:
        """(q, xi) -> tr (i W)^power / N, real."""

        def trace(_: Array, xi: Array) -> Array:
            p = xi * jnp.repeat(np.sum(waves(self.size) ** 2, axis=1).astype(float), 2)
            w = 1j * self.matrix(p)
            return jnp.trace(jnp.linalg.matrix_power(w, power)).real / self.size

        return trace

    def invariants(self) -> dict[str, Invariant]:
        found = {"energy": Invariant(self.lagrangian, "exact"), "enstrophy": Invariant(self.casimir(2), "exact")}
        return found | {f"tr W^{k}": Invariant(self.casimir(k), "continuous") for k in range(3, self.size + 1)}

    def check(self) -> None:
        if self.size < 3 or self.size % 2 == 0:
            raise InputError(f"size is {self.size}; su(N) approximates the torus for odd N >= 3.")

    def sample(self) -> dict:
        """A shear flow, disturbed."""
        xi = 0.1 * np.cos(np.arange(self.rank))
        xi[0] = 1.0
        return {"q": (), "xi": xi, "h": 0.05}

    def shapes(self, q: Array) -> list[np.ndarray]:
        """Nothing: where the fluid's parts are has been reduced away."""
        return []


@cache
def waves(size: int) -> np.ndarray:
    """The wave vectors n of a half plane, one of each pair n, -n."""
    half = size // 2
    every = [(a, b) for a in range(-half, half + 1) for b in range(-half, half + 1)]
    return np.array([n for n in every if n > (0, 0)])


@cache
def matrices(size: int) -> np.ndarray:
    """The basis of su(N), (N^2 - 1, N, N), anti-Hermitian: those of cos(n.x) and sin(n.x) for each wave.

    cos(n.x) = (T_n + T_-n) / 2 and so on, T_n = (N / 4 pi i) w^(n_1 n_2 / 2) C^n_1 S^n_2 with the clock C, the shift S
    and w = exp(4 pi i / N), a root of w^N = 1 as its square root exp(2 pi i / N) is, N being odd.
    """
    root = np.exp(2j * np.pi / size)
    clock, shift = np.diag(root ** (2 * np.arange(size))), np.roll(np.eye(size), 1, axis=1)

    def t(n: np.ndarray) -> np.ndarray:
        power = np.linalg.matrix_power
        a, b = (int(c) % size for c in n)
        return size / (4j * np.pi) * root ** (int(n[0]) * int(n[1])) * power(clock, a) @ power(shift, b)

    return np.array([half for n in waves(size) for half in ((t(n) + t(-n)) / 2, (t(n) - t(-n)) / 2j)])


@cache
def sine_bracket(size: int) -> np.ndarray:
    """c[k, i, j] of [e_i, e_j] = c^k_ij e_k in the basis `matrices`.   Zeitlin (1991)"""
    e = matrices(size)
    products = np.einsum("iab,jbc->ijac", e, e)
    brackets = products - products.swapaxes(0, 1)
    norms = np.einsum("iab,iba->i", e, e.conj().swapaxes(1, 2)).real
    c = np.einsum("ijab,kab->kij", brackets, e.conj()).real / norms[:, None, None]
    return np.where(np.abs(c) > 1e-12, c, 0.0)

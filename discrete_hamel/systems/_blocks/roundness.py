"""What the shapes of rolling things must satisfy, asked at sampled points before a run: convexity, arc length, room.

`by` is as in `System.at`: a run hands down an interpreter, since what is asked once is not worth compiling.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.errors import InputError

By = Callable[[Callable], Callable]

ROUNDOFF = 1e-9  # relative: how far below zero a radius of curvature may come out, at an edge or a point
BY_ARC_LENGTH = 1e-6  # how far from 1 the speed of a profile may be: some are tables


def convex_of_revolution(body: Any, by: By) -> None:
    """h(c) is the support function of a convex body: both radii of curvature are nowhere negative.

    h - c h' + (1 - c^2) h'' along the meridian, h - c h' around the axis.
    """
    theta = np.linspace(0.02, np.pi - 0.02, 256)
    h, *radii = (np.asarray(a) for a in by(_radii)(body, np.cos(theta)))
    for radius, where in zip(radii, ("along the meridian", "around the axis"), strict=True):
        low = np.where(np.isfinite(radius), radius, np.inf)  # what is undefined there is not reached
        worst = int(np.argmin(low))
        if low[worst] < -ROUNDOFF * np.max(np.abs(h), where=np.isfinite(h), initial=0.0):
            raise InputError(
                f"the support function of {type(body).__name__} is not that of a convex body: at theta = "
                f"{theta[worst]:.3g}, c = {np.cos(theta[worst]):.3g}, its radius of curvature {where} would be "
                f"{low[worst]:.3g}. Over a hollow a body rolls on its convex hull: give the hull's support function."
            )


def _radii(body: Any, c: Array) -> tuple[Array, Array, Array]:
    slope = jax.grad(body.height_at)
    h, rise, bend = jax.vmap(body.height_at)(c), jax.vmap(slope)(c), jax.vmap(jax.grad(slope))(c)
    return h, h - c * rise + (1 - c**2) * bend, h - c * rise


def convex(body: Any, by: By) -> None:
    """H(n) is the support function of a convex body: H(s n) = s H(n), and its second derivative is nowhere negative."""
    turn = np.arange(200) + 0.5  # evenly over the sphere
    z, around = 1 - turn / 100, np.pi * (1 + 5**0.5) * turn
    normals = np.stack([np.sqrt(1 - z**2) * np.cos(around), np.sqrt(1 - z**2) * np.sin(around), z], axis=1)
    reach, twice, bends = (np.asarray(a) for a in by(_bends)(body, normals))
    size = np.max(np.abs(reach), where=np.isfinite(reach), initial=0.0)
    uneven = np.where(np.isfinite(twice), np.abs(twice - 2 * reach), 0.0)
    if np.max(uneven) > ROUNDOFF * size:
        n = int(np.argmax(uneven))
        raise InputError(
            f"the support function of {type(body).__name__} must satisfy H(s n) = s H(n) for s > 0: at n = "
            f"{np.round(normals[n], 3).tolist()}, H(2 n) = {twice[n]:.6g} and 2 H(n) = {2 * reach[n]:.6g}."
        )
    inside = np.isfinite(bends).all(axis=(1, 2))
    radii = np.full(len(normals), np.inf)
    radii[inside] = np.linalg.eigvalsh(bends[inside])[:, 0]
    n = int(np.argmin(radii))
    if radii[n] < -ROUNDOFF * size:
        raise InputError(
            f"the support function of {type(body).__name__} is not that of a convex body: at the normal n = "
            f"{np.round(normals[n], 3).tolist()} its radius of curvature would be {radii[n]:.3g}. Over a hollow a body "
            "rolls on its convex hull: give the hull's support function."
        )


def _bends(body: Any, normals: Array) -> tuple[Array, Array, Array]:
    return tuple(jax.vmap(f)(normals) for f in (body.reach, lambda n: body.reach(2 * n), jax.hessian(body.reach)))


def rollable(surface: Any, s: Any, by: By) -> None:
    """The profile is by arc length, and the ball has room on its side of the surface, about the start at s.

    The surface lies at the ball's radius r from the curve of its centre. It is smooth there where 1 + r phi' > 0,
    phi' = a' z'' - z' a'', and does not reach through the axis where a (a + r z') > 0.
    """
    name, r, s = type(surface).__name__, float(surface.radius), float(s)
    at = s + r * np.linspace(-4, 4, 33)
    a, z, da, dz, bend = np.asarray(by(_profile_bends)(surface, at)).T
    speed = np.hypot(da, dz)
    defined = np.isfinite(a + z + speed) & (speed > 0)  # beyond its ends a table stands still
    defined[len(at) // 2] = True
    off = np.where(defined, np.abs(speed - 1), 0.0)
    k = int(np.argmax(off))
    if off[k] > BY_ARC_LENGTH:
        raise InputError(
            f"the profile of {name} is not by arc length: at s = {at[k]:.6g} its speed |(a', z')| is "
            f"{speed[k]:.6g}, not 1. Give the curve of the ball's centre as a function of its length."
        )
    room = np.where(defined & np.isfinite(bend) & (np.abs(at - s) <= r), 1 + r * bend, 1.0)
    k = int(np.argmin(room))
    if room[k] <= 0:
        raise InputError(
            f"the ball of {name} cannot roll on that side: its radius is {r:g}, and at s = {at[k]:.6g} the curve of "
            f"its centre bends around the surface with the radius {-1 / bend[k]:.6g} only, so that the surface at that "
            "distance has an edge. Take a smaller ball, or turn s round to change sides."
        )
    k = len(at) // 2
    if a[k] * (a[k] + r * dz[k]) <= 0 and np.isfinite(a[k] * dz[k]) and a[k] != 0:
        raise InputError(
            f"the ball of {name} reaches through the axis: its centre is {abs(a[k]):.6g} from it at s = {at[k]:.6g}, "
            f"and its contact, at the radius {r:g}, lies beyond. Take a smaller ball, or turn s round to change sides."
        )


def _profile_bends(surface: Any, s: Array) -> Array:
    def at(s: Array) -> Array:
        (da, dz), (dda, ddz) = jax.jvp(surface.slope, (s,), (jnp.ones_like(s),))
        return jnp.concatenate([surface.curve(s), jnp.stack([da, dz, da * ddz - dz * dda])])

    return jax.vmap(at)(s)

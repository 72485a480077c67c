"""What is demanded of a scheme, once: the tests ask it of the library, test_mutants.py of schemes broken on purpose."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from problems import Problem

import discrete_hamel as dh

REFERENCES: dict[str, np.ndarray] = {}


def end_of(trajectory: dh.Trajectory, rank: int) -> np.ndarray:
    """(q, xi^D) at the end."""
    return np.concatenate([trajectory.q[-1], trajectory.xi[-1][:rank]])


def reference_end(problem: Problem) -> np.ndarray:
    if problem.name not in REFERENCES:
        exact = dh.reference(problem.system, problem.q, problem.xi, t=problem.time)
        REFERENCES[problem.name] = end_of(exact, problem.system.rank)
    return REFERENCES[problem.name]


def errors(problem: Problem, counts: Any, **run: Any) -> np.ndarray:
    """Euclidean norm of the error in (q, xi^D) at the final time, for several numbers of steps."""
    end, rank = reference_end(problem), problem.system.rank
    return np.array([np.linalg.norm(end_of(problem.run(int(n), **run), rank) - end) for n in counts])


def slopes(sizes: Any, values: Any) -> np.ndarray:
    """d log(value) / d log(size) between neighbours."""
    return np.diff(np.log(np.asarray(values))) / np.diff(np.log(np.asarray(sizes, float)))


def falls(errors: Any, counts: Any, order: float, within: float | None = None, above: float = 0.0) -> None:
    """Errors of runs with these counts of steps fall with this power of h, on both sides, all of them above round-off.

    Within 0.1 if nothing else is said, 0.3 above order 6."""
    measured = slopes(1 / np.asarray(counts, float), errors)
    within = (0.1 if order <= 6 else 0.3) if within is None else within
    assert np.all(np.asarray(errors) > above), f"errors {errors} are not above {above}"
    assert np.all(np.abs(measured - order) <= within), f"slopes {measured}, not {order}; errors {errors}"


def has_order(problem: Problem, order: float, within: float, counts: Any = (400, 800, 1600), **run: Any) -> None:
    """The error falls with the declared power of h, on both sides."""
    falls(errors(problem, counts, **run), counts, order, within)


def keeps(trajectory: dh.Trajectory, names: Any, tolerance: float) -> None:
    """Invariants constant to `tolerance`, absolutely or relative to their size, whichever is the weaker."""
    values = trajectory.invariants()
    for name in names:
        drift = np.max(np.abs(values[name] - values[name][0]))
        assert drift <= tolerance * max(1.0, abs(values[name][0])), f"{name} drifts by {drift:.1e}"


def exact_invariants(problem: Problem, steps: int = 1000, **run: Any) -> None:
    """What theorems make exact is kept to 1e-12 sqrt(steps); a system may have been replaced, its invariants not."""
    trajectory = problem.run(steps, **run).replace(system=problem.system)
    keeps(trajectory, problem.exact, 1e-12 * steps**0.5)


def respects_constraint(problem: Problem, trajectory: dh.Trajectory, tau: float, tolerance: float = 1e-12) -> None:
    """A(q_{k+tau}) (q_{k+1} - q_k) = 0, A written by hand; and the step is Psi(q_{k+tau}) xi_{k,k+1}."""
    q, h = trajectory.q, float(trajectory.h)
    middle = (1 - tau) * q[:-1] + tau * q[1:]
    for point, change, xi in zip(middle, np.diff(q, axis=0), trajectory.xi_mid, strict=True):
        off = problem.one_forms(point) @ change
        assert np.all(np.abs(off) <= tolerance), f"off the constraint by {off}"
        miss = change - h * np.asarray(problem.system.frame(point)) @ xi
        assert np.all(np.abs(miss) <= tolerance), f"the step misses h Psi xi by {miss}"


def dense_terms(problem: Problem, q: Any, xi: Any) -> tuple[np.ndarray, np.ndarray]:
    """mu_j and the right side c^k_ij xi^i mu_k + u_j[l] of [HE] (2.2), all n components, with the structure by hand."""
    gradient, mu = (np.asarray(a) for a in GRADIENTS(problem.system, jnp.asarray(q), jnp.asarray(xi)))
    n = len(mu)
    right = np.asarray(problem.system.frame(jnp.asarray(q))).T @ gradient
    for j in range(n):
        right[j] += sum(problem.structure[k, i, j] * xi[i] * mu[k] for i in range(n) for k in range(n))
    return mu, right


GRADIENTS = jax.jit(lambda system, q, xi: jax.grad(system.lagrangian, (0, 1))(q, xi))


def satisfies_5_11(problem: Problem, trajectory: dh.Trajectory, tau: float, tolerance: float = 1e-12) -> None:
    """The two-step equation [HE] (5.11), with l^d = h l divided out, on (q_{k+tau}, xi_{k,k+1}) of the trajectory.

    (mu_{k-1,k} - mu_{k,k+1})/h + tau F_{k-1+tau} + (1-tau) F_{k+tau} = 0 on D; times h, so that round-off shows.
    """
    h, m = float(trajectory.h), problem.system.rank
    middle = (1 - tau) * trajectory.q[:-1] + tau * trajectory.q[1:]
    terms = [dense_terms(problem, q, xi) for q, xi in zip(middle, trajectory.xi_mid, strict=True)]
    for (mu0, f0), (mu1, f1) in zip(terms[:-1], terms[1:], strict=True):
        residual = (mu0 - mu1 + h * (tau * f0 + (1 - tau) * f1))[:m]
        size = max(1.0, float(np.max(np.abs(mu1))))
        assert np.all(np.abs(residual) <= tolerance * size), f"(5.11) is off by {residual}"


def is_undone(system: dh.System, scheme: Any, inverse: Any, state: Any, h: float, tolerance: float = 1e-12) -> None:
    """inverse(-h) after scheme(h) is the identity on (q, p)."""
    there, one = STEP(system, scheme, state, h)
    back, two = STEP(system, inverse, there, -h)
    assert one.report.converged
    assert two.report.converged
    size = max(1.0, float(jnp.max(jnp.abs(state.q))), float(jnp.max(jnp.abs(state.p))))
    gap = max(float(jnp.max(jnp.abs(back.q - state.q))), float(jnp.max(jnp.abs(back.p - state.p))))
    assert gap <= tolerance * size, f"not undone: off by {gap:.1e}"


STEP = jax.jit(dh.step)

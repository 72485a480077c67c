"""Every public function of the analysis: an example in its docstring, and a sentence outside its hypotheses."""

import inspect
import re

import jax.numpy as jnp
import numpy as np
import pytest

import discrete_hamel as dh
from discrete_hamel import analysis

S = dh.systems
FUNCTIONS = sorted(name for name in analysis.__all__ if inspect.isfunction(getattr(analysis, name)))
DISK, SLEIGH, AFFINE = S.RollingDisk(), S.ChaplyginSleigh(), S.DegenerateSleigh()
AT, RUNNING = [0.3, 0, 0, 0, 0], ([0.1, 0, 0], [1.5, -0.3])
STILL = [0.0, 0, 0, 0]  # of the affine system
SPARSE = dh.simulate(SLEIGH, *RUNNING, h=0.1, steps=4, save_every=2)


def unit(j):
    return lambda q: jnp.eye(3)[j]


def cubic(q, xi):
    return 0.5 * xi @ xi + 0.1 * xi[0] ** 4


QUARTIC = dh.from_quasivelocities(cubic, lambda q: jnp.eye(2), 2)


# For each function a call outside its hypotheses, and what the sentence says. Where the answer is itself about a
# hypothesis (is this a symmetry? is it integrable?) the sentence is what the answer prints.
OUTSIDE = {
    "audit": (lambda: dh.audit(dh.reference(SLEIGH, *RUNNING, t=0.1)), "a reference motion has none"),
    "bracket_matrix": (lambda: dh.bracket_matrix(AFFINE, STILL, [1.0]), "needs a constraint that is linear"),
    "branch": (
        lambda: analysis.branch(SLEIGH, [0, 0, 0], [0.0, 2.0], "v1", hold=["v1"], length=0.1, count=1),
        "are no curve: they are isolated",
    ),
    "bundles": (
        lambda: analysis.bundles(S.SphericalPendulum(), S.SphericalPendulum().sample()["q"]),
        "declares no symmetries, so it has no vertical directions",
    ),
    "coefficients": (lambda: dh.coefficients(DISK, [0.3]), "is for systems that dh.reduce makes"),
    "compare": (
        lambda: dh.compare(SLEIGH, *RUNNING, schemes=[dh.DiscreteHamel()], h=0.3, t_end=1.0),
        "is not a whole number of steps",
    ),
    "crossings": (lambda: dh.crossings(SPARSE, lambda q, xi: q[0]), "need every node"),
    "cyclic_coordinates": (
        lambda: analysis.cyclic_coordinates(DISK, [0.3, 0.1]),
        "q has 2 components; RollingDisk has 5",
    ),
    "divergence": (lambda: dh.divergence(DISK, AT, [0.1, 0.6, 3.0]), "is for Euler-Poincare(-Suslov) systems"),
    "evoke": (
        lambda: dh.evoke(analysis.RelativePeriodicOrbit(None, None, None, 1.0, np.eye(3), None, 0.0), SPARSE),
        "reconstruct first",
    ),
    "family": (
        lambda: analysis.family(S.KnifeEdgeOnIncline(), [0.3, 0, 0], [0.0, 1.0], "theta", [0.3]),
        "no relative equilibrium of KnifeEdgeOnIncline was found",
    ),
    "flatness": (lambda: dh.flatness(AFFINE, STILL), "needs a constraint that is linear"),
    "generator": (lambda: analysis.generator(DISK, lambda s, q: q + 1.0 + s, AT), "is no action of a group"),
    "gauge_term": (lambda: analysis.gauge_term(S.SphericalPendulum(), 2, [0.6, 0, -0.8]), "that are independent"),
    "hamiltonise": (lambda: dh.hamiltonise(SLEIGH, RUNNING[0]), "Reduce it first"),
    "hidden_momenta": (
        lambda: dh.hidden_momenta(SLEIGH, [0.0, 0, 0], symmetries=["x", "y"], between=(-0.1, 0.1)),
        "ChaplyginSleigh is not flat",
    ),
    "horizontal": (
        lambda: analysis.momentum_equation(SLEIGH, analysis.horizontal(SLEIGH, "x"), *RUNNING),
        "the field is not in D at this q",
    ),
    "integrable": (lambda: dh.integrable(AFFINE), "needs a constraint that is linear"),
    "invariance": (lambda: str(analysis.invariance(DISK, "theta", AT)), "no symmetry: the Lagrangian changes"),
    "jacobiator": (lambda: dh.jacobiator(AFFINE, STILL, [1.0]), "needs a constraint that is linear"),
    "keeps_measure": (lambda: dh.keeps_measure(DISK, AT), "is for Euler-Poincare(-Suslov) systems"),
    "lyapunov_exponents": (
        lambda: dh.lyapunov_exponents(
            SLEIGH, *RUNNING, h=0.1, steps=10, scheme=dh.TimeTransformed(dh.DiscreteHamel(), lambda q, xi: 1.0)
        ),
        "is no map of (q, xi) with a fixed h",
    ),
    "measure_condition": (lambda: dh.measure_condition(QUARTIC, [0.0, 0.0]), "needs a Lagrangian K(xi, xi)/2 - U(q)"),
    "momentum_equation": (lambda: analysis.momentum_equation(SLEIGH, unit(2), *RUNNING), "the field is not in D"),
    "momentum_residual": (lambda: analysis.momentum_residual(SPARSE, unit(0)), "relates neighbouring nodes"),
    "noether": (
        lambda: str(analysis.noether(SLEIGH, "x", *RUNNING)),
        "no conservation law: the generator is not in D, so reactions do work along it",
    ),
    "nonholonomic_connection": (
        lambda: analysis.nonholonomic_connection(QUARTIC, [0.0, 0.0], symmetries=[0]),
        "needs a Lagrangian K(xi, xi)/2 - U(q)",
    ),
    "nonholonomic_momentum": (lambda: analysis.nonholonomic_momentum(SLEIGH, unit(2), *RUNNING), "is not in D"),
    "reduced": (
        lambda: dh.reduced(dh.hidden_momenta(S.NonholonomicParticle(), [0.0, 0, 0], between=(-0.1, 0.1)), [1.0, 2.0]),
        "values must be the 1 hidden momenta",
    ),
    "relative_equilibrium": (
        lambda: dh.relative_equilibrium(S.KnifeEdgeOnIncline(), [0.3, 0, 0], [0.0, 1.0], hold=["theta"]),
        "no relative equilibrium of KnifeEdgeOnIncline was found",
    ),
    "section": (
        lambda: dh.section(SLEIGH, *RUNNING, lambda q, xi: q, h=0.1, count=1),
        "must return one number",
    ),
    "spectrum": (lambda: dh.spectrum(SLEIGH, [0, 0, 0], [1.0, 2.0]), "is not a relative equilibrium"),
    "structural_stability": (
        lambda: analysis.structural_stability(SLEIGH, [0, 0, 0], [1.0, 2.0], dh.DiscreteHamel(), 0.1),
        "is not a relative equilibrium of ChaplyginSleigh",
    ),
    "threshold": (
        lambda: dh.threshold(lambda v: dh.spectrum(SLEIGH, [0, 0, 0], [0.0, v]), 1.0, 2.0),
        "it is stable both at 1",
    ),
    "transported_density": (lambda: dh.transported_density(DISK, AT, [0.1, 0.6, 3.0], 1.0), "is for Euler-Poincare"),
    "trend": (lambda: analysis.trend(np.arange(3.0), np.arange(3.0)), "needs 4 values at least"),
    "volume_change": (
        lambda: dh.volume_change(SLEIGH, *RUNNING, h=0.1, scheme=dh.Leapfrog()),
        "is no map of (q, p) alone",
    ),
    "wandering": (lambda: analysis.wandering(np.ones(100)), "not all alike at any lag"),
    "wrong_way": (
        lambda: analysis.wrong_way(SLEIGH, *RUNNING, equations=[1.0]),
        "must give xidot along D, 2 components",
    ),
    "on_shapes": (lambda: dh.on_shapes(dh.reduce(DISK), lambda r: r), "2 components here, along S"),
    "reconstruct": (lambda: dh.reconstruct(SPARSE), "is for runs of dh.reduce's systems"),
    "reduce": (lambda: dh.reduce(SLEIGH), "move all of its coordinates"),
    "relative_periodic_orbit": (
        lambda: dh.relative_periodic_orbit(dh.reduce(DISK), AT, [0.1, 0.6, 3.0], period=1.0),
        "q has 5 components",
    ),
    "return_map": (lambda: dh.return_map(DISK, lambda q, xi: q[0], h=0.0), "must be finite and not zero"),
    "rotation_number": (lambda: dh.rotation_number([0.0, 1.0]), "needs three returns"),
    "shape_of": (lambda: dh.shape_of(dh.reduce(DISK), [0.3, 0.1], [0.1, 0.6, 3.0]), "q has 2 components"),
}


def test_the_table_is_complete():
    assert sorted(OUTSIDE) == FUNCTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_example_runs(name):
    """Doctests run with the suite; here, that there is one, and that it calls the function."""
    example = inspect.getdoc(getattr(analysis, name)).partition(">>>")[2]
    assert re.search(rf"\b{name}\(", example), f"{name} has no example that calls it"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_outside_its_hypotheses_it_says_so(name):
    call, words = OUTSIDE[name]
    try:
        said = call()
    except ValueError as refusal:
        said = str(refusal)
    assert isinstance(said, str)
    assert words in said
    assert len(said.split()) >= 6  # a sentence, not a code

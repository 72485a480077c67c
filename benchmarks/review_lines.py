"""The first review's thirty-four lines, each by its own short program: python -m benchmarks.review_lines [number ...]

Prints the line's number, what was seen on the reviewed code (89392dd), and what is seen now; exits with 1 if one is as
it was, or has ended in an exception. What takes long says so: `--long` runs it too.
"""

# ruff: noqa: ARG005  # Lagrangians and frames keep their signature whatever they use of it

import functools
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import discrete_hamel as dh
from discrete_hamel import analysis, fields
from discrete_hamel.fields import torus_flow

S = dh.systems
ROOT = Path(__file__).parent.parent
Seen = tuple[str, bool]


class Line(NamedTuple):
    """What was seen, the program, and whether it takes minutes."""

    before: str
    run: Callable[[], Seen]
    long: bool


LINES: dict[int, Line] = {}


def line(number: int, before: str, long: bool = False) -> Callable:
    """Enter a function into `LINES`: it says what is seen now, and whether that is right."""

    def enter(run: Callable[[], Seen]) -> Callable:
        LINES[number] = Line(before, run, long)
        return run

    return enter


def refused(run: Callable, *words: str) -> Seen:
    """Refused in a sentence with these words."""
    try:
        run()
    except (ValueError, TypeError, dh.RunFailed) as error:
        return f"refused: {str(error)[:90]}", all(word in str(error) for word in words)
    return "runs", False


def claimed(figure: str, *words: str) -> Seen:
    """A figure's claims: those with these words hold, and so do all."""
    module = __import__(f"paper_figures.{figure}", fromlist=["claims"])
    told = module.claims(module.compute(True))
    chosen = [sentence for sentence, _ in told if all(word in sentence for word in words)]
    return f"{len(told)} claims, {chosen[:1]}", bool(chosen) and all(holds for _, holds in told)


def oscillators(k: Any) -> Any:
    stiffness = jnp.asarray(k)
    return dh.from_velocities(lambda q, v: 0.5 * v @ v - 0.5 * q @ (stiffness * q), lambda q: jnp.eye(len(k)), len(k))


@functools.cache
def tilted_disk() -> tuple[Any, Any]:
    """Steady rolling of the disk on rotations, on the frame that does not spin."""
    disk = S.RollingDiskOnRotations()
    start = disk.sample()
    found = dh.relative_equilibrium(disk, start["q"], start["xi"])
    return disk, found


@line(1, "[nan nan 0] under jit, [0 1 0] on the host")
def rest_under_jit() -> Seen:
    pushed = dh.forced(S.ChaplyginSleigh(offset=0.0), lambda q, xi, f: jnp.array([0.0, f, 0.0]), params=0.5)

    def end(q: Any, xi: Any) -> Any:
        return dh.simulate(pushed, q=q, xi=xi, h=0.1, steps=20).xi[-1]

    host, traced = end(np.zeros(3), np.zeros(2)), jax.jit(end)(jnp.zeros(3), jnp.zeros(2))
    return f"host {np.asarray(host)}, jit {np.asarray(traced)}", bool(np.abs(host - traced).max() < 1e-12)


@line(2, "a push, damping and a magnetic form: 'conserved', rates 0.5, -0.6, 0.3")
def noether_with_forces() -> Seen:
    forces = {
        "push": lambda q, v: jnp.array([0.5, 0.0]),
        "damping": lambda q, v: -0.6 * v,
        "magnetic": lambda q, v: 0.3 * jnp.stack([v[1], -v[0]]),
    }
    found = {}
    for name, force in forces.items():
        free = dh.from_velocities(lambda q, v: 0.5 * v @ v, lambda q: jnp.eye(2), 2, force=force)
        found[name] = analysis.noether(free, 0, [0.2, -0.1], [1.0, 1.0])
    said = ", ".join(f"{name}: conserved {one.conserved}, rate {float(one.rate):.1f}" for name, one in found.items())
    return said, not any(one.conserved for one in found.values())


def radial(q: Any) -> Any:
    return jnp.stack([q / jnp.sqrt(q @ q), jnp.stack([-q[1], q[0]])], axis=1)


@line(3, "'exact for every tau'; lost by 3.7e-3, 9.3e-4, 2.3e-4 at h = .4, .2, .1")
def kepler_in_the_plane() -> Seen:
    cartesian = dh.from_velocities(lambda q, v: 0.5 * v @ v + 1 / jnp.sqrt(q @ q), radial, 2)
    polar = dh.from_velocities(lambda q, v: 0.5 * (v[0] ** 2 + (q[0] * v[1]) ** 2) + 1 / q[0], lambda q: jnp.eye(2), 2)
    lost = [
        float(np.ptp(np.hypot(*dh.simulate(cartesian, [1.0, 0.0], [0.0, 1.0], h=h, steps=40).q.T)))
        for h in (0.4, 0.2, 0.1)
    ]
    kept = float(np.ptp(dh.simulate(polar, [1.0, 0.0], [0.0, 1.0], h=0.4, steps=40).q[:, 0]))
    texts = [p.read_text() for p in (ROOT / "README.md", *(ROOT / "notebooks").glob("*.*"))]
    false = sum("exact for every tau" in text for text in texts)
    sizes = ", ".join(f"{one:.1e}" for one in lost)
    return f"Cartesian lost by {sizes}, polar {kept:.0e}; texts that say so: {false}", kept < 1e-12 and not false


@line(4, "2.1e-2 for five schemes alike; true departures 2.7e-2 to 1.3e-7; dimensions (2, -2)")
def structural_stability() -> Seen:
    disk, at = tilted_disk()
    found = [
        analysis.structural_stability(disk, at.q, at.xi, scheme, 0.1)
        for scheme in (dh.DiscreteHamel(), dh.RungeKutta4(), dh.Gauss(2), dh.Gauss(3))
    ]
    residuals = [one.residual for one in found]
    right = not any(one.kept for one in found) and all(one.dimensions[0] >= 0 for one in found)
    apart = residuals[0] > 100 * residuals[1] and residuals[1] > 2 * residuals[2] > 1000 * residuals[3]
    words = refused(lambda: analysis.structural_stability(disk, at.q, at.xi, dh.CortesMartinez(), 0.1))
    sizes = ", ".join(f"{one:.0e}" for one in residuals)
    return f"residuals {sizes}, none keeps it: {right}; CortesMartinez {words[0]}", right and apart and words[1]


@line(5, "steady rolling on rotations is lost (departure 2.7e-2)")
def steady_rolling() -> Seen:
    disk = S.RollingDiskOnRotations()
    angles, *_ = S.RollingBodyAngles.of(disk, disk.sample()["q"], disk.sample()["xi"])
    run = dh.simulate(angles, [1.2, 0.3, 0.0, 0.0, 0.0], np.asarray(angles.steady(1.2, -0.7)), h=0.1, steps=1000)
    lost = float(np.ptp(run.q[:, 0]))
    words = "RollingBodyAngles" in S.RollingBody.__doc__
    return f"RollingBodyAngles keeps the tilt to {lost:.0e} in 1000 steps; RollingBody says so: {words}", lost < 1e-11


@line(6, "period 9.6e137 (true 1.85623)")
def periods() -> Seen:
    disk = S.RollingDisk()
    momenta = dh.hidden_momenta(disk, disk.sample()["q"], between=(0, 1))
    steady = dh.relative_equilibrium(disk, [0.3, 0, 0, 0, 0], [0.0, 0.6, 3.0], hold=["theta", "psi'"])
    xi = np.asarray(steady.xi) + np.eye(len(steady.xi))[0] * 1e-3
    motion, energy = dh.reduced(momenta, momenta(steady.q, xi)), float(dh.energy(disk, steady.q, xi))
    period = float(motion.period(energy, float(steady.q[0])))
    back = dh.reference(disk, steady.q, xi, t=period).q[-1, 0] - steady.q[0]
    return f"period {period:.5f}; the reference is back to {abs(back):.0e}", abs(back) < 1e-8


@line(7, "|gamma| = 1.3 runs (period 2.006 instead of 2.287), and so do three more")
def off_the_manifold() -> Seen:
    top = S.LagrangeTop()
    cases = (
        (S.SphericalPendulum(), 1.3 * np.array([0.3, 0.2, -((1 - 0.13) ** 0.5)]), (0.6, 0.0)),
        (S.SphericalPendulumCartesian(length=1.3), (0.6, 0.0, -0.8), (0.0, 0.5)),
        (S.BallOnSphere(sphere=0.4), S.BallOnSphere().sample()["q"], (20.0, 5.0, 150.0)),
        (top, 1.1 * np.array(top.sample()["q"]), (0.0, 0.0, 12.0)),
    )
    said = [refused(lambda s=s, q=q, xi=xi: dh.simulate(s, q, xi, h=0.01, steps=1), "holonomic") for s, q, xi in cases]
    return f"{sum(well for _, well in said)} of 4 refused: {said[0][0]}", all(well for _, well in said)


class Well(S.NonholonomicParticle):
    """The particle in a well."""

    def lagrangian(self, q: Any, xi: Any) -> Any:
        return super().lagrangian(q, xi) - 2.0 * q @ q


@line(8, "invariants()['energy'] moves by 2.0 and is called a theorem")
def subclasses() -> Seen:
    run = dh.simulate(Well(), q=[0.5, 0.2, 0.1], xi=[1.0, 0.5], h=0.02, steps=400)
    moved = {name: float(np.ptp(values)) for name, values in run.invariants().items()}
    broken = "BROKEN" in str(dh.audit(run))
    return f"invariants vary by {moved}; audit says BROKEN: {broken}", not broken and max([0.0, *moved.values()]) < 1e-2


@line(9, "Leapfrog 'drifts' on the gearbox, -4.8e-8 at 8 sigma", long=True)
def a_trend() -> Seen:
    gearbox = S.Gearbox(epsilon=0.3)
    start = gearbox.sample()
    run = dh.simulate(gearbox, start["q"], start["xi"], h=0.1, steps=200_000, scheme=dh.Leapfrog())
    energy = next(values for name, values in run.invariants().items() if name.startswith("energy of the driven"))
    found = analysis.trend(run.t, energy)
    return f"t = 20 000: {found}, significant: {found.significant}", not found.significant


@line(10, "the gearbox is called non-reversible; it returns under v -> -v to 9e-12")
def reversibility() -> Seen:
    gearbox = S.Gearbox()
    start = gearbox.sample()
    there = dh.simulate(gearbox, start["q"], start["xi"], h=0.05, steps=200)
    back = dh.simulate(gearbox, there.q[-1], -there.xi[-1], h=0.05, steps=200)
    gap = float(np.abs(back.q[-1] - start["q"]).max())
    words = sum(
        "non-reversible" in p.read_text()
        for folder in ("discrete_hamel", "paper_figures", "docs", "notebooks")
        for p in (ROOT / folder).rglob("*.*")
        if p.suffix in (".py", ".md", ".ipynb") and "_build" not in p.parts and p.stem != "review_lines"
    )
    return f"returns to {gap:.0e}; files that say non-reversible: {words}", gap < 1e-9 and not words


@line(11, "w' = -{psi, w}: like-signed vortices turn clockwise; curvature and across of opposite sign")
def signs() -> Seen:
    order, xi = [tuple(n) for n in torus_flow.waves(9).tolist()], np.zeros(80)
    xi[2 * order.index((0, 1))], xi[2 * order.index((2, 0))] = 1.0, 1e-3  # psi = cos y + 1e-3 cos 2x
    rate = np.asarray(dh.hamel_force(fields.TorusFlow(9), [], xi)).reshape(-1, 2)[order.index((2, 1)), 0]
    euler = 3e-3 * np.sin(4 * np.pi / 9) / (4 * np.pi / 9)  # of w' = +{psi, w}, with the sines of N = 9
    return f"cos(2x + y) grows at {rate:+.2e}, Euler {euler:+.2e}", abs(rate - euler) < 1e-9


@line(12, "dim R = 1 for rolling bodies and Chaplygin's sphere ([MD]: 0)")
def bundles() -> Seen:
    sizes = {
        type(s).__name__: analysis.bundles(s, s.sample()["q"]).R.shape[1]
        for s in (S.ChaplyginSphere(), S.RouthTop(), S.RollingBody())
    }
    return f"dim R: {sizes}", not any(sizes.values())


@line(13, "figures 14, 15 show a relative equilibrium (d = 3), 24/25 the opposite of the text")
def the_plane_figures() -> Seen:
    from paper_figures.be_cases import BY_FIGURE, POINTED, TRAVELLING

    motions = {figure: BY_FIGURE[figure].motion for figure in (14, 15, 24, 25)}
    wanted = {14: POINTED, 15: TRAVELLING, 24: TRAVELLING, 25: POINTED}
    return f"by their integrals {motions}", motions == wanted


@line(14, "43 PDFs with Type 3 fonts, PNGs at 120 dpi")
def fonts() -> Seen:
    from paper_figures import gallery

    with tempfile.TemporaryDirectory() as folder:
        gallery.write("he_5a", Path(folder), fast=True)
        pdf, png = (Path(folder, f"he_5a.{kind}").read_bytes() for kind in ("pdf", "png"))
    kinds = sorted({kind.decode() for kind in re.findall(rb"/Subtype /(Type3|TrueType|CIDFontType2)", pdf)})
    at = png.index(b"pHYs") + 4
    dots = round(0.0254 * int.from_bytes(png[at : at + 4], "big"))
    return f"fonts {kinds}, {dots} dpi", "Type3" not in kinds and dots == 200


@line(15, "he_5b: energy 'follows' the length of gamma, correlation -0.90; md_11_1: C2 without its unit")
def claims() -> Seen:
    said, well = claimed("he_5b", "against the length of gamma")
    unit = "rad/(s cm)" in (ROOT / "paper_figures/md_11_1.py").read_text()
    return f"he_5b: {said}; md_11_1 says rad/(s cm): {unit}", well and unit


@line(16, "jax 0.6.0, the declared minimum, aborts (signal 6)")
def minimum_versions() -> Seen:
    declared = re.findall(r'"(jax|llvmlite|numpy|scipy)>=([\d.]+)"', (ROOT / "pyproject.toml").read_text())
    return f"declared {dict(declared)}; .ci/minimum runs the core there", dict(declared)["jax"] == "0.9"


@line(17, "a profile not by arc length, a waisted body and a ball that has left (-23 N) run without a word")
def shapes_and_contact() -> Seen:
    wrong = S.BallOnSurface(lambda s, p: jnp.stack([2 * p * jnp.sin(s / p), 2 * p * jnp.cos(s / p)]), 1.0, radius=0.1)
    arc = refused(lambda: dh.simulate(wrong, (*np.eye(3).ravel(), 0.3, 0.0), (0.1, 0.2, 0.3), h=1e-3, steps=1), "arc")
    ball = S.BallOnSphere()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        run = dh.simulate(ball, ball.sample()["q"], np.zeros(3), h=0.002, steps=250, on_failure="mark")
    told = [str(one.message)[:50] for one in seen if issubclass(one.category, dh.ContactLost)]
    return f"profile {arc[0]}; ball down to {run.contact_force.min():.0f} N: {told}", arc[1] and bool(told)


class Unknown(dh.DiscreteHamel):
    """A scheme that audit does not know."""


@line(18, "audit: 'met at every stage' of any scheme unknown to it; ensemble returns float64 from float32")
def audit_and_precision() -> Seen:
    run = dh.simulate(S.RollingDisk(), **S.RollingDisk().sample(), steps=20, scheme=Unknown())
    words = "met at every stage" in str(dh.audit(run))
    program = (
        "import jax; jax.config.update('jax_enable_x64', False); import discrete_hamel as dh, numpy as np\n"
        "jax.config.update('jax_enable_x64', False); s = dh.systems.ChaplyginSleigh()\n"
        "e = dh.ensemble(s, np.zeros((2, 3)), np.ones(2), h=.01, steps=3); print(e.q.dtype)"
    )
    out = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    dtype = out.stdout.strip() or out.stderr[-80:]
    return f"'met at every stage': {words}; float32 ensemble: {dtype}", not words and dtype == "float32"


@line(19, "the whole call over the same C: pendulum 6.2, disk 3.3 at 10^4 steps; 3.6, 3.1 at 10^6", long=True)
def whole_calls() -> Seen:
    from benchmarks import trajectory

    rows = [(row["system"], row["steps"], row["dh.simulate / C"]) for row in trajectory.measure(60, False)]
    said = ", ".join(f"{name}, {steps} steps: {ratio:.2f}" for name, steps, ratio in rows)
    return f"{said} (bar 1.5)", all(ratio <= 1.5 for *_, ratio in rows)


@line(20, "state.xi of dh.step is late by h/2; no public xi(q, p); a loop of one's own is 90 times slower")
def own_loops() -> Seen:
    disk = S.RollingDisk()
    start = disk.sample()
    run = dh.simulate(disk, **start, steps=5)
    off = max(
        float(np.abs(dh.nodal_velocity(disk, q, p) - xi).max()) for q, p, xi in zip(run.q, run.p, run.xi, strict=True)
    )
    return f"dh.nodal_velocity(system, q, p) is xi at the nodes to {off:.0e}", off < 1e-10


@line(21, "chain of 12: UNSTABLE, growth 0.60; beam: 295; k = (-1, 1, 2, 3, 1e6): NEUTRAL; threshold 6e-6")
def spread_rates() -> Seen:
    chain, k = S.PlanarChain(links=12), np.array([-1.0, 1, 2, 3, 1e6])
    hanging = dh.spectrum(chain, *_hanging(chain))
    five = dh.spectrum(oscillators(k), np.zeros(5), np.zeros(5))
    right = hanging.stability.name == "NEUTRAL" and abs(five.growth - 1) < 1e-6
    return f"chain {hanging.stability.name}, growth {hanging.growth:.1e}; five: growth {five.growth:.6f}", right


def _hanging(chain: Any) -> tuple:
    start = chain.sample()
    q = dh.relative_equilibrium(chain, 0 * np.asarray(start["q"]), 0 * np.asarray(start["xi"]))
    return q.q, q.xi


@line(22, "refused: 'not a relative equilibrium ... 2.4e-8'")
def a_stiff_body_at_rest() -> Seen:
    beam = fields.Beam(points=41, stretching=1e5)
    start = beam.sample() if hasattr(beam, "sample") else None
    found = dh.spectrum(beam, *_straight(beam, start))
    return f"{len(found.rates)} rates, {found.stability.name}", found.stability.name != "UNSTABLE"


def _straight(beam: Any, start: Any) -> tuple:
    q = np.asarray(start["q"]) if start else beam.straight()
    return q, np.zeros(beam.rank)


@line(23, "a clamped beam is un-clamped; drift along symmetries")
def clamps() -> Seen:
    held = dh.from_velocities(
        lambda q, v: 0.5 * v @ v - 0.5 * (q[1] - q[0] - 1) ** 2, lambda q: jnp.array([[0.0], [1.0]]), 1
    )
    found = dh.relative_equilibrium(held, [0.3, 1.1], [0.0])
    return f"the held coordinate stays at {found.q[0]:.3f}, the free goes to {found.q[1]:.6f}", bool(
        abs(found.q[0] - 0.3) < 1e-14 and abs(found.q[1] - 1.3) < 1e-9
    )


@line(24, 'hold=["x"]: "it has ." (an empty list); no v')
def empty_lists() -> Seen:
    system = oscillators(np.ones(2))
    said = refused(lambda: dh.relative_equilibrium(system, np.zeros(2), np.zeros(2), hold=["x"]), "x")
    with_v = dh.spectrum(system, np.zeros(2), v=np.zeros(2))
    return f"{said[0]}; spectrum(v=...): {with_v.stability.name}", said[1] and "it has ." not in said[0]


@line(25, "Rattleback(inertia=<3 x 3>) dies in a matmul")
def a_full_inertia() -> Seen:
    moments, tilt = (2e-4, 1.6e-3, 1.7e-3), 0.014
    turn = np.array([[np.cos(tilt), -np.sin(tilt), 0], [np.sin(tilt), np.cos(tilt), 0], [0, 0, 1]])
    stone, full = (
        S.Rattleback(inertia=moments, tilt=tilt),
        S.Rattleback(inertia=turn @ np.diag(moments) @ turn.T),
    )
    start = stone.sample()
    run = [dh.simulate(one, **start, steps=20).q[-1] for one in (stone, full)]
    return f"runs; the same as by its axes to {np.abs(run[0] - run[1]).max():.0e}", np.abs(
        run[0] - run[1]
    ).max() < 1e-10


def both(system: Any, **run: Any) -> Seen:
    fast, plain = (dh.simulate(system, **run, compiled=compiled) for compiled in (True, False))
    off = float(np.abs(fast.q - plain.q).max())
    return f"{fast.report.path}, off by {off:.0e}, {str(fast.report)[:80]}", off < 1e-12 and fast.report.path != "plain"


@line(26, "off by 1.59, '400 converged, residual <= 1.3e-16'; cumsum and where end the process")
def second_differences() -> Seen:
    rod = dh.from_velocities(lambda q, v: 0.5 * v @ v - 0.5 * jnp.sum(jnp.diff(q, 2) ** 2), lambda q: jnp.eye(12), 12)
    sums = dh.from_velocities(
        lambda q, v: 0.5 * v @ v - jnp.sum(jnp.where(jnp.cumsum(q) > 1, 2 * q**2, q**2)), lambda q: jnp.eye(9), 9
    )
    said = both(rod, q=np.sin(np.arange(12) / 2), xi=np.zeros(12), h=0.05, steps=400)
    more = both(sums, q=np.sin(np.arange(9) / 2), xi=np.zeros(9), h=0.05, steps=40)
    return f"{said[0]}; sums {more[0][:28]}", said[1] and more[1]


@line(27, "'converged, iterations 1' beside a residual of 7.9e-4; q off by 1.4e-4")
def stopped_gradients() -> Seen:
    damped = dh.from_velocities(
        lambda q, v: 0.5 * v @ v - 0.5 * q @ q, lambda q: jnp.eye(2), 2,
        force=lambda q, v: -0.7 * jax.lax.stop_gradient(v),
    )  # fmt: skip
    fast, plain = (dh.simulate(damped, [1.0, 0.0], [0.0, 1.0], h=0.1, steps=100, compiled=one) for one in (True, False))
    off = float(np.abs(fast.q - plain.q).max())
    return f"off by {off:.0e}; {str(fast.report)[:90]}", off < 1e-12


@line(28, "21 of 49 systems abort at jax 0.6.0", long=True)
def all_systems_at_the_minimum() -> Seen:
    """Each in a process of its own, by the Python of `MINIMUM_PYTHON`, which has the lowest versions."""
    python = os.environ.get("MINIMUM_PYTHON")
    if python is None:
        return "not run: MINIMUM_PYTHON names no Python that has the lowest versions", False
    ended = {name: subprocess.run([python, "-c", FEW_STEPS, name], capture_output=True) for name in S.__all__}
    bad = {name: run.returncode for name, run in ended.items() if run.returncode}
    versions = subprocess.run([python, "-c", VERSIONS], capture_output=True, text=True).stdout.strip()
    return f"{len(ended) - len(bad)} of {len(ended)} run at {versions}; ended otherwise: {bad}", not bad


VERSIONS = "import jax, numpy, scipy, llvmlite; print(*(m.__version__ for m in (jax, numpy, scipy, llvmlite)))"
FEW_STEPS = """
import sys, discrete_hamel as dh
system = getattr(dh.systems, sys.argv[1])()
data = system.sample()
h = data["h"]
velocity = {name: data[name] for name in ("xi", "v") if name in data}
assert dh.simulate(system, data["q"], **velocity, h=h, steps=3, progress=False).report.converged.all()
"""


@line(29, "LLVM: 'Cannot allocate memory' after some forty systems", long=True)
def mappings() -> Seen:
    def mapped() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    counts = []
    for k in range(120):
        dh.simulate(oscillators(np.arange(1.0, 3 + k % 5) + k), np.ones(2 + k % 5), np.zeros(2 + k % 5), h=0.1, steps=3)
        counts.append(mapped())
    return f"120 systems compiled; mappings {counts[20]}, {counts[60]}, {counts[-1]}", counts[-1] < 20_000


@line(30, "an xi or v off the constraint, h = 0 and mass < 0 run under jit without a mark")
def marks_under_jit() -> Seen:
    def run(mass: Any, h: Any) -> Any:
        return dh.simulate(S.ChaplyginSleigh(mass=mass), np.zeros(3), np.ones(2), h=h, steps=3)

    said = [str(jax.jit(run)(mass, h).refusal()) for mass, h in ((-1.0, 0.1), (1.0, 0.0))]
    return "; ".join(one[:70] for one in said), all(one != "None" and one for one in said)


@line(31, "some fifty edits of a manifest end in raw errors; <i8 for <f8 loads other numbers")
def edited_stores() -> Seen:
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "run.zarr"
        dh.simulate(S.ChaplyginSleigh(), np.zeros(3), np.ones(2), h=0.1, steps=5, store=store)
        good, outcomes = (store / ".zmetadata").read_text(), {}
        for wrong in ('"<i8"', '"<f4"', "null", "-1", "[]", "{}", '"x"'):
            for place in ('"dtype": "<f8"', '"format": 1', '"h": 0.1', '"steps": 5'):
                edited = good.replace(place, f"{place.split(':')[0]}: {wrong}", 1)
                if edited == good:
                    continue
                (store / ".zmetadata").write_text(edited)
                try:
                    dh.load(store)
                    name = "loaded"
                except Exception as error:
                    name = type(error).__name__
                outcomes[name] = outcomes.get(name, 0) + 1
    return f"{outcomes}", bool(outcomes) and set(outcomes) <= {"StoreDamaged"}


@line(32, "RecursionError, ZeroDivisionError and a failed assertion as tracebacks")
def command_line() -> Seen:
    calls = (
        ["run", "ChaplyginSleigh", "--set", "mass=" + "-" * 5000 + "1"],
        ["run", "NSpherePendulum", "--set", "dimension=1"],
    )
    ended = [
        subprocess.run([sys.executable, "-m", "discrete_hamel", *call], capture_output=True, text=True, cwd=ROOT)
        for call in calls
    ]
    quiet = subprocess.run(
        [sys.executable, "-OO", "-m", "discrete_hamel", "figures", "--list"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    traced = sum("Traceback" in one.stderr for one in (*ended, quiet))
    said = [one.stderr.strip()[-60:] for one in ended]
    return f"tracebacks: {traced}; {said}", not traced and quiet.returncode == 0


@line(33, "jax.grad in float32 fails; a debug.print takes the plain path for 'IndexError'")
def single_precision() -> Seen:
    system = S.EulerPoincare()
    start = system.sample()

    def end(xi: Any) -> Any:
        return jnp.sum(dh.simulate(system, np.asarray(start["q"], np.float32), xi, h=0.01, steps=5).xi[-1] ** 2)

    single = jax.grad(end)(jnp.asarray(start["xi"], jnp.float32))
    double = jax.grad(lambda xi: jnp.sum(dh.simulate(system, start["q"], xi, h=0.01, steps=5).xi[-1] ** 2))(
        jnp.asarray(start["xi"], float)
    )
    off = float(np.abs(single - double).max() / np.abs(double).max())
    return f"{single.dtype} off by {off:.0e}", off < 1e-5


@line(34, "signal 6 inside XLA")
def a_parameter_that_nobody_uses() -> Seen:
    program = (
        "import discrete_hamel as dh, numpy as np, jax.numpy as jnp\n"
        "s = dh.from_velocities(lambda q, v, p: 0.5 * v @ v - 0.5 * p['s'] * q @ q, lambda q, p: jnp.eye(7), 7,"
        " params={'s': 1.0, 'unused': np.array([0.8, 1.1])})\n"
        "print(dh.simulate(s, np.ones(7), np.zeros(7), h=.1, steps=10).report.path)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return f"{out.stdout.strip()} path, ended with {out.returncode}", out.returncode == 0


def main() -> None:
    """The lines whose numbers are given, or all."""
    numbers = [int(one) for one in sys.argv[1:] if one.isdigit()] or sorted(LINES)
    wrong = []
    for number in numbers:
        before, run, long = LINES[number]
        if long and "--long" not in sys.argv and len(numbers) > 1:
            print(f"{number:2}  {'long':4}  before: {before}", flush=True)
            continue
        began = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                after, well = run()
        except Exception as error:
            after, well = f"{type(error).__name__}: {error}"[:300], False
        wrong += [] if well else [number]
        spent = time.process_time() - began
        print(
            f"{number:2}  {'ok' if well else 'NO':4}  before: {before}\n{'':10}now: {after}  ({spent:.0f} s)",
            flush=True,
        )
    print(f"{len(numbers) - len(wrong)} of {len(numbers)} not as they were", *wrong)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

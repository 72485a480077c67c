"""Pages on which the reader changes a number: closed sets of runs, computed by the library when the site is made."""

import json
from pathlib import Path

import films
import numpy as np

import discrete_hamel as dh

OFFSETS = tuple(round(x, 3) for x in np.linspace(-0.4, 0.4, 9))  # m
TURNS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0)  # rad/s, at the start
PUSH, STEP, STEPS, EVERY = -1.0, 0.01, 1500, 10  # m/s backward; 15 s; nodes shown


def sleighs() -> dict:
    """The sleigh's motion for each offset and turning rate: x, y in mm, theta in mrad, and what there is to say."""
    runs = []
    for offset in OFFSETS:
        sleigh = dh.systems.ChaplyginSleigh(mass=1.0, inertia=0.7, offset=float(offset))
        for turn in TURNS:
            run = dh.simulate(
                sleigh, [0.0, 0.0, 0.0], [turn, PUSH], h=STEP, steps=STEPS, save_every=EVERY, progress=False
            )
            q, energy = np.asarray(run.q), np.asarray(run.energy)
            runs.append(
                {
                    "path": np.rint(1000 * q[:, [1, 2, 0]]).astype(int).ravel().tolist(),
                    "end": [float(f"{x:.4g}") for x in run.xi[-1, :2]],
                    "energy": float(f"{abs(energy / energy[0] - 1).max():.1e}"),
                }
            )
    return {"offsets": OFFSETS, "turns": TURNS, "seconds": STEP * STEPS, "runs": runs}


def write_sleighs(folder: Path) -> None:
    """The numbers of the sleigh's page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sleighs.js").write_text(f"showSleighs({json.dumps(sleighs(), separators=(',', ':'))});\n")


def disks() -> tuple[list[dict], dict]:
    """A rolling disk for several tilts at one spin: from upright to nearly flat."""
    disk = dh.systems.RollingDisk()
    tilts = (0.05, 0.2, 0.4, 0.6, 0.8)
    runs = [_run(disk, [tilt, 0.0, 0.0, 0.0, 0.0], [0.0, -0.5, 3.0], 0.01, 600) for tilt in tilts]
    return runs, {"name": "tilt at the start, rad,", "values": tilts, "first": 2}


def pendulums() -> tuple[list[dict], dict]:
    """A spherical pendulum for several pushes aside: from a plane swing to a circle and beyond."""
    pendulum = dh.systems.SphericalPendulum()
    pushes = (0.0, 0.2, 0.4, 0.6, 0.8)
    q = np.array([0.6, 0.0, -0.8])
    runs = [_run(pendulum, q, [push, 0.0], 0.02, 600) for push in pushes]
    return runs, {"name": "push aside, rad/s,", "values": pushes, "first": 1}


def _run(system: dh.System, q: object, xi: object, h: float, steps: int) -> dict:
    run = dh.simulate(system, q, xi, h=h, steps=steps, save_every=max(1, steps // 40), progress=False)
    return films.film(run)


SETS = {
    "disk_by_tilt": (disks, "A disk that rolls on a plane and leans, with the trace of its contact"),
    "pendulum_by_push": (pendulums, "A spherical pendulum with the trace of its bob"),
}


def write_sets(folder: Path) -> str:
    """The films with a slider each; the HTML of their figures."""
    parts = []
    for name, (runs, words) in SETS.items():
        films.write(folder, name, *runs_and(runs, words))
        parts.append(f"<h2>{words.partition(',')[0]}</h2>{films.figure(name, '../', words)}")
    return "\n".join(parts)


def runs_and(runs: object, words: str) -> tuple[list[dict], str, dict]:
    """What `films.write` takes."""
    found, parameter = runs()  # type: ignore[operator]
    return found, words, parameter


PAGE = """<div class="sleigh" data-source="../films/sleighs.js">
<canvas width="1400" height="900" tabindex="0" role="img" aria-label="The path of the sleigh, from above"></canvas>
<div class="film-controls"><button type="button">Play</button>
<label>offset of the mass centre <input type="range" name="offset"><output></output></label>
<label>turning rate at the start <input type="range" name="turn"><output></output></label></div>
<p class="told" aria-live="polite"></p>
</div>
<noscript><p>This page needs JavaScript; <a href="../how_to/my_system.html">Python</a> does not.</p></noscript>"""

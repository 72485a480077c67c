"""Pictures of a trajectory: `overview`, and functions that draw one thing, each into axes of yours (`ax=`) or new ones.

    traj.plot()                                                        # the overview
    traj.plot(dh.plots.momenta)                                        # one thing
    dh.plots.phase_portrait([one, other], of=("theta", "p omega"))     # a name, or a function of (q, xi)
    dh.plots.power_spectrum(traj, of="theta")
    dh.plots.section(traj, where="r", of=("theta", "p omega"))         # a Poincare section, crossings to round-off
    dh.plots.eigenvalues(dh.spectrum(...))
    dh.plots.save(traj.plot(), "run.pdf")                              # fonts that can be printed, 200 dots an inch

Matplotlib is imported when something is drawn, never before. Axes name the quantity and, where the system's class says
it in `units`, its unit: all mechanical systems of the catalogue do, those that are written without dimensions do not.
"""

from discrete_hamel.drawing.plots.look import (
    BLACK,
    BLUE,
    CYCLE,
    GREEN,
    GREY,
    MANY,
    ORANGE,
    PURPLE,
    SKY,
    STYLE,
    VERMILLION,
    YELLOW,
    save,
    style,
    writable,
)
from discrete_hamel.drawing.plots.named_quantity import plane_coordinates
from discrete_hamel.drawing.plots.phase_portraits import phase_portrait, section
from discrete_hamel.drawing.plots.spectra import eigenvalues, power_density, power_spectrum
from discrete_hamel.drawing.plots.trajectory_curves import coordinates, invariants, momenta, overview, path, velocities

__all__ = [
    "BLACK",
    "BLUE",
    "CYCLE",
    "GREEN",
    "GREY",
    "MANY",
    "ORANGE",
    "PURPLE",
    "SKY",
    "STYLE",
    "VERMILLION",
    "YELLOW",
    "coordinates",
    "eigenvalues",
    "invariants",
    "momenta",
    "overview",
    "path",
    "phase_portrait",
    "plane_coordinates",
    "power_density",
    "power_spectrum",
    "save",
    "section",
    "style",
    "velocities",
    "writable",
]

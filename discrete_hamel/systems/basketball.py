"""The basketball on its hoop.   [MD] chapter 11"""

import numpy as np
from jax import Array

from discrete_hamel.systems._blocks import parameters
from discrete_hamel.systems._blocks.units import cgs
from discrete_hamel.systems.balls import fits
from discrete_hamel.systems.balls_on_surfaces import OnSurface, hoop


class BasketballOnHoop(OnSurface):
    """A basketball that rolls on the rim of its hoop: lengths in cm, mass 1, as in the thesis.

    Coordinates, quasi-velocities and l are those of `BallOnSurface` with the profile `hoop`, u = hoop + wire and
    v = radius + wire, and J = 2 m r^2 / 3 (a shell). With psi = s/v + pi/2, from the inner horizontal position:

        dOmega1/dpsi = u Omega2,  d(a^2 Omega2)/dpsi = -J a Omega1 / (J + m r^2)                   [MD] (11.1)
        U = m g z + {J Omega1^2 + (J + m r^2) a^2 Omega2^2} / 2,  E = (J + m r^2) v^2 psi'^2 / (2 r^2) + U

    The ball stays on the hoop while v psi'^2 < a theta'^2 cos(psi) + g sin(psi), which is
    `contact_force` > 0; the sample's is held there from t = 0.15 on. Energy is bounded. Reference: [MD] 11.
    """

    mass: float = 1.0  # g; the motion is the same for any
    radius: float = 12.127606663602425  # cm: 30 inches around
    hoop: float = 22.86  # cm, inner radius of the hoop: 9 inches
    wire: float = 0.9525  # cm, radius of the hoop's wire: 3/8 inch
    gravity: float = 980.66  # cm/s^2

    units = cgs(OnSurface.units)

    def curve(self, s: Array) -> Array:
        return hoop(s, (self.hoop + self.wire, self.radius + self.wire))

    def moment(self) -> Array | float:
        return 2 * self.mass * self.radius**2 / 3

    def check(self) -> None:
        parameters.positive(self, "mass", "radius", "hoop", "wire")
        parameters.not_negative(self, "gravity")
        fits(self, "hoop")  # type: ignore[arg-type]

    def sample(self) -> dict:
        """Down over the top of the rim, spinning: C1 = -40, C2 = 1 at the inner horizontal, which it never reaches."""
        s = (self.radius + self.wire) * (0.4 - 0.5) * np.pi
        return {"q": (1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0, float(s), 0.0), "xi": (0.0, -20.0, 0.5), "h": 0.001}

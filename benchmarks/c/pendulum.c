/* The spherical pendulum by the discrete Hamel scheme at tau = 1/2, by hand: the same map as dh.DiscreteHamel().
   gamma at the midpoint is eliminated by the Cayley transform, so that Newton has two unknowns, the angular velocity;
   its Jacobian is written out and its 2 x 2 system solved by Cramer's rule, to a correction below 1e-14. */
#include <math.h>

static const double length = 9.8, gravity = 9.8, h = 0.2;

static int step(double y[5]) { /* y = (gamma, xi at the midpoint before, as momenta / length^2) */
    const double c = h * gravity / (2 * length), e = h / 2;
    const double g1 = y[0], g2 = y[1], g3 = y[2], x1 = y[3], x2 = y[4];
    double w1 = x1, w2 = x2, z1 = g1, z2 = g2, z3 = g3;
    int iterations = 0;
    while (iterations < 25) {
        const double u1 = e * w1, u2 = e * w2, d = 1 / (1 + u1 * u1 + u2 * u2), ug = u1 * g1 + u2 * g2;
        z1 = (g1 + ug * u1 - g3 * u2) * d;
        z2 = (g2 + ug * u2 + g3 * u1) * d;
        const double f1 = w1 - x1 - c * z2, f2 = w2 - x2 + c * z1;
        const double z1u1 = ((g1 * u1 + ug) - 2 * u1 * z1) * d, z1u2 = ((g2 * u1 - g3) - 2 * u2 * z1) * d;
        const double z2u1 = ((g1 * u2 + g3) - 2 * u1 * z2) * d, z2u2 = ((g2 * u2 + ug) - 2 * u2 * z2) * d;
        const double a11 = 1 - c * e * z2u1, a12 = -c * e * z2u2, a21 = c * e * z1u1, a22 = 1 + c * e * z1u2;
        const double r = 1 / (a11 * a22 - a12 * a21);
        const double d1 = (a22 * f1 - a12 * f2) * r, d2 = (a11 * f2 - a21 * f1) * r;
        w1 -= d1;
        w2 -= d2;
        iterations++;
        if (fabs(d1) < 1e-14 && fabs(d2) < 1e-14) break;
    }
    const double u1 = e * w1, u2 = e * w2, d = 1 / (1 + u1 * u1 + u2 * u2), ug = u1 * g1 + u2 * g2;
    z1 = (g1 + ug * u1 - g3 * u2) * d;
    z2 = (g2 + ug * u2 + g3 * u1) * d;
    z3 = (g3 + g1 * u2 - g2 * u1) * d;
    y[0] = 2 * z1 - g1, y[1] = 2 * z2 - g2, y[2] = 2 * z3 - g3;
    y[3] = x1 + 2 * c * z2, y[4] = x2 - 2 * c * z1;
    return iterations;
}

long run(double *y, double *rows, long steps) {
    long iterations = 0;
    for (long k = 0; k < steps; k++) {
        iterations += step(y);
        for (int i = 0; i < 5; i++) rows[5 * k + i] = y[i];
    }
    return iterations;
}

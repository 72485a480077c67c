/* Many spherical pendulums by the discrete Hamel scheme at tau = 1/2, by hand: pendulum.c with lanes. Blocks of LANES
   pendulums run through all steps in cache; each plain loop over them is vectorised by the compiler. As in pendulum.c
   a lane stops when its correction is below 1e-14, and the block when all its lanes have; `fixed` > 0 makes so many
   iterations without any test instead (nobody then knows whether they converged). */
#include <math.h>

#ifndef LANES
#define LANES 16
#endif

static const double length = 9.8, gravity = 9.8, h = 0.2;

static inline void correction(double w1, double w2, double g1, double g2, double g3, double x1, double x2, double *d1,
                              double *d2) {
    const double c = h * gravity / (2 * length), e = h / 2;
    const double u1 = e * w1, u2 = e * w2, d = 1 / (1 + u1 * u1 + u2 * u2), ug = u1 * g1 + u2 * g2;
    const double z1 = (g1 + ug * u1 - g3 * u2) * d, z2 = (g2 + ug * u2 + g3 * u1) * d;
    const double f1 = w1 - x1 - c * z2, f2 = w2 - x2 + c * z1;
    const double z1u1 = ((g1 * u1 + ug) - 2 * u1 * z1) * d, z1u2 = ((g2 * u1 - g3) - 2 * u2 * z1) * d;
    const double z2u1 = ((g1 * u2 + g3) - 2 * u1 * z2) * d, z2u2 = ((g2 * u2 + ug) - 2 * u2 * z2) * d;
    const double a11 = 1 - c * e * z2u1, a12 = -c * e * z2u2, a21 = c * e * z1u1, a22 = 1 + c * e * z1u2;
    const double r = 1 / (a11 * a22 - a12 * a21);
    *d1 = (a22 * f1 - a12 * f2) * r;
    *d2 = (a11 * f2 - a21 * f1) * r;
}

/* y: five rows of n numbers (gamma, xi at the midpoint before), n a multiple of LANES; counts: iterations a lane. */
void run(double *restrict y, double *restrict counts, long n, long steps, long fixed) {
    const double c = h * gravity / (2 * length), e = h / 2;
    for (long b = 0; b < n; b += LANES) {
        double g1[LANES], g2[LANES], g3[LANES], x1[LANES], x2[LANES], w1[LANES], w2[LANES], going[LANES], k[LANES];
        for (int i = 0; i < LANES; i++) {
            g1[i] = y[b + i], g2[i] = y[n + b + i], g3[i] = y[2 * n + b + i], x1[i] = y[3 * n + b + i];
            x2[i] = y[4 * n + b + i], k[i] = 0;
        }
        for (long s = 0; s < steps; s++) {
            if (fixed) {
                for (int i = 0; i < LANES; i++) {
                    double v1 = x1[i], v2 = x2[i], d1, d2;
                    for (int it = 0; it < 3; it++) {
                        correction(v1, v2, g1[i], g2[i], g3[i], x1[i], x2[i], &d1, &d2);
                        v1 -= d1, v2 -= d2;
                    }
                    w1[i] = v1, w2[i] = v2;
                }
            } else {
                double left = 1;
                for (int i = 0; i < LANES; i++) w1[i] = x1[i], w2[i] = x2[i], going[i] = 1;
                for (int it = 0; it < 25 && left > 0; it++) {
                    left = 0;
                    for (int i = 0; i < LANES; i++) {
                        double d1, d2;
                        correction(w1[i], w2[i], g1[i], g2[i], g3[i], x1[i], x2[i], &d1, &d2);
                        w1[i] -= going[i] * d1, w2[i] -= going[i] * d2;
                        k[i] += going[i];
                        going[i] = (fabs(d1) < 1e-14) & (fabs(d2) < 1e-14) ? 0 : going[i];
                    }
                    for (int i = 0; i < LANES; i++) left = going[i] > left ? going[i] : left;
                }
            }
            for (int i = 0; i < LANES; i++) {
                const double u1 = e * w1[i], u2 = e * w2[i], d = 1 / (1 + u1 * u1 + u2 * u2);
                const double ug = u1 * g1[i] + u2 * g2[i];
                const double z1 = (g1[i] + ug * u1 - g3[i] * u2) * d, z2 = (g2[i] + ug * u2 + g3[i] * u1) * d;
                const double z3 = (g3[i] + g1[i] * u2 - g2[i] * u1) * d;
                g1[i] = 2 * z1 - g1[i], g2[i] = 2 * z2 - g2[i], g3[i] = 2 * z3 - g3[i];
                x1[i] += 2 * c * z2, x2[i] -= 2 * c * z1;
            }
        }
        for (int i = 0; i < LANES; i++) {
            y[b + i] = g1[i], y[n + b + i] = g2[i], y[2 * n + b + i] = g3[i], y[3 * n + b + i] = x1[i];
            y[4 * n + b + i] = x2[i], counts[b + i] = k[i];
        }
    }
}

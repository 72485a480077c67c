/* The rolling disk by the discrete Hamel scheme at tau = 1/2, by hand: the same map as dh.DiscreteHamel().
   q_{k+1} is eliminated, so that Newton has three unknowns; Jacobian written out, 3 x 3 system by Cramer's rule. */
#include <math.h>

static const double m = 1, R = 1, g = 9.8, I = 0.5, J = 0.25, h = 0.01;

static int step(double *y) { /* y = (theta, phi, psi, x, y; p1, p2, p3; xi1, xi2, xi3) */
    const double A = m * R * R + I, B = m * R * R + J, e = h / 2;
    double td = y[8], pd = y[9], sd = y[10], F1, F2, F3, s, c;
    int iterations = 0;
    while (iterations < 25) {
        const double theta = y[0] + e * td;
        s = sin(theta), c = cos(theta);
        const double sx = e * c, cx = -e * s, w = pd * s + sd, w1 = pd * sx;
        const double p5 = m * R * c * td, p51 = m * R * (cx * td + c);
        F1 = A * w * pd * c - J * pd * pd * c * s + m * g * R * s, F2 = R * sd * p5, F3 = -R * pd * p5;
        const double r1 = B * td - e * F1 - y[5], r2 = A * s * w + J * c * c * pd - e * F2 - y[6];
        const double r3 = A * w - e * F3 - y[7];
        const double a11 = B - e * (A * pd * (w1 * c + w * cx) - J * pd * pd * (cx * s + c * sx) + m * g * R * sx);
        const double a12 = -e * (A * c * (s * pd + w) - 2 * J * pd * c * s), a13 = -e * A * pd * c;
        const double a21 = A * (sx * w + s * w1) + 2 * J * c * cx * pd - e * R * sd * p51, a22 = A * s * s + J * c * c;
        const double a23 = A * s - e * R * p5, a31 = A * w1 + e * R * pd * p51, a32 = A * s + e * R * p5, a33 = A;
        const double m1 = a22 * a33 - a23 * a32, m2 = a23 * a31 - a21 * a33, m3 = a21 * a32 - a22 * a31;
        const double d = 1 / (a11 * m1 + a12 * m2 + a13 * m3);
        const double d1 = (m1 * r1 + (a13 * a32 - a12 * a33) * r2 + (a12 * a23 - a13 * a22) * r3) * d;
        const double d2 = (m2 * r1 + (a11 * a33 - a13 * a31) * r2 + (a13 * a21 - a11 * a23) * r3) * d;
        const double d3 = (m3 * r1 + (a12 * a31 - a11 * a32) * r2 + (a11 * a22 - a12 * a21) * r3) * d;
        td -= d1, pd -= d2, sd -= d3;
        iterations++;
        if (fabs(d1) < 1e-13 && fabs(d2) < 1e-13 && fabs(d3) < 1e-13) break;
    }
    const double theta = y[0] + e * td, phi = y[1] + e * pd, sp = sin(phi), cp = cos(phi);
    s = sin(theta), c = cos(theta);
    const double w = pd * s + sd, p5 = m * R * c * td;
    F1 = A * w * pd * c - J * pd * pd * c * s + m * g * R * s, F2 = R * sd * p5, F3 = -R * pd * p5;
    y[0] += h * td, y[1] += h * pd, y[2] += h * sd, y[3] -= h * R * cp * sd, y[4] -= h * R * sp * sd;
    y[5] = B * td + e * F1, y[6] = A * s * w + J * c * c * pd + e * F2, y[7] = A * w + e * F3;
    y[8] = td, y[9] = pd, y[10] = sd;
    return iterations;
}

long run(double *y, double *rows, long steps) {
    long iterations = 0;
    for (long k = 0; k < steps; k++) {
        iterations += step(y);
        for (int i = 0; i < 11; i++) rows[11 * k + i] = y[i];
    }
    return iterations;
}

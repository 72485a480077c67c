/* Many rolling disks by the discrete Hamel scheme at tau = 1/2, by hand: disk.c with lanes, as pendulum_lanes.c. Sine and
   cosine of one angle at once by Cody and Waite's reduction and fdlibm's kernels, which the compiler can vectorise. */
#include <math.h>

#ifndef LANES
#define LANES 16
#endif

static const double m = 1, R = 1, g = 9.8, I = 0.5, J = 0.25, h = 0.01;

static inline void circular(double x, double *sine, double *cosine) {
    const double shifted = x * 0.63661977236758134308 + 0x1.8p52, k = shifted - 0x1.8p52;
    double r = x - k * 1.57079632673412561417e+00;
    r -= k * 6.07710050630396597660e-11, r -= k * 2.02226624879595063154e-21;
    const double z = r * r, zz = z * z;
    const double p = (-1.66666666666666324348e-01 + z * 8.33333333332248946124e-03) +
                     zz * ((-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06) +
                           zz * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10));
    const double q = (4.16666666666666019037e-02 - z * 1.38888888888741095749e-03) +
                     zz * ((2.48015872894767294178e-05 - z * 2.75573143513906633035e-07) +
                           zz * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11));
    const double s = r + r * z * p, near = 1 - 0.5 * z, c = near + (((1 - near) - 0.5 * z) + zz * q);
    const long quadrant = (long)k;
    const double a = quadrant & 1 ? c : s, b = quadrant & 1 ? s : c;
    *sine = quadrant & 2 ? -a : a;
    *cosine = (quadrant + 1) & 2 ? -b : b;
}

/* y: eleven rows of n numbers (theta, phi, psi, x, y; p1, p2, p3; xi at the midpoint before), n a multiple of LANES;
   counts: iterations a lane; `fixed` is there for the same arguments as pendulum_lanes.c has, and does nothing. */
void run(double *restrict y, double *restrict counts, long n, long steps, long fixed) {
    const double A = m * R * R + I, B = m * R * R + J, e = h / 2;
    (void)fixed;
    for (long b = 0; b < n; b += LANES) {
        double v[11][LANES], going[LANES], count[LANES];
        for (int j = 0; j < 11; j++)
            for (int i = 0; i < LANES; i++) v[j][i] = y[j * n + b + i];
        for (int i = 0; i < LANES; i++) count[i] = 0;
        for (long k = 0; k < steps; k++) {
            double left = 1;
            for (int i = 0; i < LANES; i++) going[i] = 1;
            for (int it = 0; it < 25 && left > 0; it++) {
                left = 0;
                for (int i = 0; i < LANES; i++) {
                    const double td = v[8][i], pd = v[9][i], sd = v[10][i];
                    double s, c;
                    circular(v[0][i] + e * td, &s, &c);
                    const double sx = e * c, cx = -e * s, w = pd * s + sd, w1 = pd * sx;
                    const double p5 = m * R * c * td, p51 = m * R * (cx * td + c);
                    const double F1 = A * w * pd * c - J * pd * pd * c * s + m * g * R * s;
                    const double F2 = R * sd * p5, F3 = -R * pd * p5;
                    const double r1 = B * td - e * F1 - v[5][i], r2 = A * s * w + J * c * c * pd - e * F2 - v[6][i];
                    const double r3 = A * w - e * F3 - v[7][i], along = A * pd * (w1 * c + w * cx);
                    const double a11 = B - e * (along - J * pd * pd * (cx * s + c * sx) + m * g * R * sx);
                    const double a12 = -e * (A * c * (s * pd + w) - 2 * J * pd * c * s), a13 = -e * A * pd * c;
                    const double a21 = A * (sx * w + s * w1) + 2 * J * c * cx * pd - e * R * sd * p51;
                    const double a22 = A * s * s + J * c * c, a23 = A * s - e * R * p5;
                    const double a31 = A * w1 + e * R * pd * p51, a32 = A * s + e * R * p5, a33 = A;
                    const double m1 = a22 * a33 - a23 * a32, m2 = a23 * a31 - a21 * a33, m3 = a21 * a32 - a22 * a31;
                    const double d = 1 / (a11 * m1 + a12 * m2 + a13 * m3);
                    const double d1 = (m1 * r1 + (a13 * a32 - a12 * a33) * r2 + (a12 * a23 - a13 * a22) * r3) * d;
                    const double d2 = (m2 * r1 + (a11 * a33 - a13 * a31) * r2 + (a13 * a21 - a11 * a23) * r3) * d;
                    const double d3 = (m3 * r1 + (a12 * a31 - a11 * a32) * r2 + (a11 * a22 - a12 * a21) * r3) * d;
                    v[8][i] -= going[i] * d1, v[9][i] -= going[i] * d2, v[10][i] -= going[i] * d3;
                    count[i] += going[i];
                    going[i] = (fabs(d1) < 1e-13) & (fabs(d2) < 1e-13) & (fabs(d3) < 1e-13) ? 0 : going[i];
                }
                for (int i = 0; i < LANES; i++) left = going[i] > left ? going[i] : left;
            }
            for (int i = 0; i < LANES; i++) {
                const double td = v[8][i], pd = v[9][i], sd = v[10][i];
                double s, c, sp, cp;
                circular(v[0][i] + e * td, &s, &c);
                circular(v[1][i] + e * pd, &sp, &cp);
                const double w = pd * s + sd, p5 = m * R * c * td;
                const double F1 = A * w * pd * c - J * pd * pd * c * s + m * g * R * s;
                v[0][i] += h * td, v[1][i] += h * pd, v[2][i] += h * sd;
                v[3][i] -= h * R * cp * sd, v[4][i] -= h * R * sp * sd;
                v[5][i] = B * td + e * F1, v[6][i] = A * s * w + J * c * c * pd + e * (R * sd * p5);
                v[7][i] = A * w - e * (R * pd * p5);
            }
        }
        for (int j = 0; j < 11; j++)
            for (int i = 0; i < LANES; i++) y[j * n + b + i] = v[j][i];
        for (int i = 0; i < LANES; i++) counts[b + i] = count[i];
    }
}

"""The numbers of schemes: weights of compositions, points and polynomials of quadratures."""

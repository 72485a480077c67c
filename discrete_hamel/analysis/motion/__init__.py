"""What one motion tells: events, audits, comparisons, energy balance, trends, Lyapunov exponents."""

"""Systems on D/G, their coefficients, the way back to Q, and what returns up to a motion of the group."""

"""The scalar graph: expressions, operations, derivatives, and the way back to JAX."""

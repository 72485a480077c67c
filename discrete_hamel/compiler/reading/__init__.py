"""From what JAX traces to the scalar graph."""

"""A run under jit, grad and vmap, with its tangents and adjoints."""

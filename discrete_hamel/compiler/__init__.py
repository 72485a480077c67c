"""A step as native code: a scheme's equations read as a scalar graph, simplified, solved and run.

The plain path defines the numbers; whatever is built here has to equal it. The shelves are
in order: each knows those before it.
"""

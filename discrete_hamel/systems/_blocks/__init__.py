"""What several families of the catalogue are built of: parameters, outlines, units, algebras.

No system of the papers lives here.
"""

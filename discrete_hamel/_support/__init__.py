"""What every room stands on and knows no mechanics: frozen pytrees, errors, the console.

Nothing here knows a system or a scheme.
"""

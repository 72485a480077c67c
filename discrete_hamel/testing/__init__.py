"""Property tests for systems and schemes of one's own: Hypothesis draws the states, the library's axioms judge them.

`check_system`, `check_scheme` and `check_conserved` are one line of a test each; `dh.testing.strategies` is what they
draw from. It needs Hypothesis (`pip install "discrete_hamel[testing]"`), which nothing else of the library imports.
"""

import importlib as _importlib

_HOME = {
    "AxiomFailed": "failure_message",
    "check_conserved": "conserved",
    "check_scheme": "schemes",
    "check_system": "systems",
    "axioms": "axioms",
    "schemes": "schemes",
    "strategies": "strategies",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = _importlib.import_module(f"{__name__}.{_HOME[name]}")
    except ModuleNotFoundError as missing:
        if missing.name != "hypothesis":
            raise
        raise ImportError(f'dh.testing.{name} needs Hypothesis: pip install "discrete_hamel[testing]".') from missing
    value = module if _HOME[name] == name else getattr(module, name)
    globals()[name] = value
    return value

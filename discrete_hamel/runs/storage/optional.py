"""xarray, which the extra `archive` brings: asked for where it is needed, and said where it is not there."""

from types import ModuleType


def xarray_module() -> ModuleType:
    """xarray itself, or a sentence on how to have it."""
    try:
        import xarray
    except ImportError:
        raise ImportError('this needs xarray: pip install "discrete_hamel[archive]".') from None
    return xarray

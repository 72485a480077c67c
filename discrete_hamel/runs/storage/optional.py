"""xarray and Zarr, which the extra `archive` brings: asked for where they are needed, in words where they are missing.

Runs are written, read and gone on with without them; Datasets are xarray's, and xarray reads stores by Zarr.
"""

import importlib
from types import ModuleType


def xarray_module(stores: bool = False) -> ModuleType:
    """xarray itself, with what it reads `stores` by, or a sentence on how to have it."""
    try:
        import xarray

        if stores:
            importlib.import_module("zarr")
    except ImportError as missing:
        raise ImportError(f'this needs {missing.name}: pip install "discrete_hamel[archive]".') from None
    return xarray

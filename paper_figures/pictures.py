"""Empty figures at print size."""

from typing import Any


def mosaic(layout: Any, size: tuple[float, float], **ratios: Any) -> tuple[Any, dict[str, Any]]:
    """A figure (inches) outside pyplot, so that nothing has to be closed, and its axes by name."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=size)
    return drawing, drawing.subplot_mosaic(layout, **ratios)

"""Empty figures at print size, and a drawn figure made to fit one column."""

from typing import Any

COLUMN = 3.4  # inches: the width of a column of a journal


def mosaic(layout: Any, size: tuple[float, float], **ratios: Any) -> tuple[Any, dict[str, Any]]:
    """A figure (inches) outside pyplot, so that nothing has to be closed, and its axes by name."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=size)
    return drawing, drawing.subplot_mosaic(layout, **ratios)


def column(drawing: Any) -> Any:
    """The figure as wide as a column, its letters as large as before; panels beside each other go below each other.

    Of several rows, or of panels that span some, each keeps its place, and the height stays: such a figure fits a
    column if its panels are legible at half their width. Legends of the figure go two names to a row.
    """
    wide, high = drawing.get_size_inches()
    panels = [ax for ax in drawing.axes if ax.get_subplotspec() is not None]
    spans = [ax.get_subplotspec() for ax in panels]
    grid = spans[0].get_gridspec()
    if grid.nrows == 1 and len(panels) == grid.ncols > 1 and all(span.get_gridspec() is grid for span in spans):
        parts = grid.get_width_ratios()
        heights = [high * COLUMN / (wide * part / sum(parts)) for part in parts]
        heights = [min(height, COLUMN) for height in heights]
        below = drawing.add_gridspec(len(panels), 1, height_ratios=heights)
        for ax, span in zip(panels, spans, strict=True):
            ax.set_subplotspec(below[span.colspan.start, 0])
        high = sum(heights)
    elif len(panels) == 1:
        high *= COLUMN / wide
    drawing.set_size_inches(COLUMN, high)
    for legend in drawing.legends:
        legend.set_ncols(min(legend._ncols, 2))
    return drawing

"""The one style of all pictures: colours, sizes, axes and legends."""

from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from discrete_hamel._support.arrays import PathLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

from discrete_hamel._support.errors import InputError

# Okabe and Ito's colours, told apart by colour-blind readers and in grey print.
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, YELLOW, BLACK = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#F0E442",
    "#000000",
)
GREY = "#8c8c8c"
CYCLE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK)
MANY = 12  # more curves than this get no legend and one colour scale

STYLE = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 9,
    "figure.constrained_layout.use": True,
    "figure.dpi": 120,
    "font.family": "STIXGeneral",
    "font.size": 9,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.2,
    "mathtext.fontset": "stix",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "savefig.dpi": 200,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}


def pyplot() -> ModuleType:
    """Matplotlib, or a sentence that says how to get it."""
    try:
        import matplotlib.pyplot
    except ImportError:
        raise ImportError('drawing needs matplotlib: pip install "discrete_hamel[plots]"') from None
    return matplotlib.pyplot


def style() -> AbstractContextManager:
    """Returns the one style, as a context: `with style(): ...`."""
    plt = pyplot()
    plt.draw_if_interactive()  # loads the backend: a notebook's sets a flag that the context would unset
    return plt.rc_context(STYLE | {"axes.prop_cycle": plt.cycler(color=CYCLE)})


def save(figure: "Figure", path: PathLike, title: str = "") -> None:
    """Write a figure as the style has it: TrueType fonts (Type 42), 200 dots an inch, no date; `title` as its own.

    `figure.savefig` asks Matplotlib's settings when it writes, not when it draws: outside `style()` it would embed
    Type 3 fonts, which publishers refuse, at another resolution, and set formulas and late ticks in other fonts.

    >>> import tempfile, discrete_hamel as dh
    >>> sleigh = dh.systems.ChaplyginSleigh()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dh.plots.save(dh.simulate(sleigh, **sleigh.sample(), steps=20).plot(), f"{folder}/sleigh.pdf")
    """
    path = Path(path)
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(path.suffix.lower(), {})
    titled = {"Title": title} if title and path.suffix.lower() in (".pdf", ".svg", ".png") else {}
    with style():
        figure.savefig(path, metadata=(undated | titled) or None)


def writable(path: PathLike) -> None:
    """Refuse a picture that Matplotlib could not write, or that has no folder, before it is computed."""
    pyplot()
    from matplotlib.figure import Figure

    path, known = Path(path), Figure().canvas.get_supported_filetypes()
    if path.suffix[1:].lower() not in known:
        raise InputError(f"a picture is a file .{', .'.join(sorted(known))}; {path.name!r} is none of these.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"there is no folder {path.absolute().parent} to write {path.name} in.")


def blank(width: float, height: float) -> "Figure":
    """An empty figure, in inches, that pyplot does not keep."""
    pyplot()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def axes(ax: "Axes | None") -> "Axes":
    """The axes given, or new ones."""
    return pyplot().subplots()[1] if ax is None else ax


def legend(ax: "Axes") -> None:
    """Above the axes, where it hides no curve, in as many columns as the names allow."""
    if not ax.get_legend_handles_labels()[1]:
        return
    longest = max(len(label) for label in ax.get_legend_handles_labels()[1])
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        borderaxespad=0.1,
        ncols=max(1, min(6, 60 // (longest + 6))),
        handlelength=1.2,
        columnspacing=1.2,
    )

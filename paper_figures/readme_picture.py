"""The README's picture: the figure of the sleigh's path. `python -m paper_figures.readme_picture FILE`"""

import sys

from discrete_hamel import plots

from . import sleigh_path


def main(where: str) -> None:
    plots.save(sleigh_path.draw(sleigh_path.compute(fast=True)), where)


if __name__ == "__main__":
    main(sys.argv[1])

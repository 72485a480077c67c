"""The README's picture: the figure of the sleigh's path, small. `python -m paper_figures.readme_picture FILE`"""

import sys

from paper_figures import sleigh_path


def main(where: str) -> None:
    sleigh_path.draw(sleigh_path.compute(fast=True)).savefig(where, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1])

"""The papers whose figures are here, by their tags, in the order of the page; CITATION.cff has them in full."""

import re
from typing import NamedTuple


class Paper(NamedTuple):
    """A paper's tag, title, authors and place."""

    tag: str
    title: str
    authors: str
    where: str


PAPERS = (
    Paper("HE", "On Hamel's equations", "D. V. Zenkov", "Theoretical and Applied Mechanics 43 (2016), 191-220"),
    Paper(
        "QS",
        "Quasivelocities and symmetries in non-holonomic systems",
        "A. M. Bloch, J. E. Marsden, D. V. Zenkov",
        "Dynamical Systems 24 (2009), 187-222",
    ),
    Paper(
        "ND",
        "Nonholonomic dynamics",
        "A. M. Bloch, J. E. Marsden, D. V. Zenkov",
        "Notices of the American Mathematical Society 52 (2005), 324-333",
    ),
    Paper(
        "BE",
        "A general method for writing the dynamical equations of nonholonomic systems with ideal constraints",
        "S. Benenti",
        "Regular and Chaotic Dynamics 13 (2008), 283-315",
    ),
    Paper(
        "MD",
        "A family of nonholonomic systems with symmetry",
        "C. G. MacDonnell",
        "thesis, The University of Calgary, 1997",
    ),
)
OWN = Paper("own", "This library's own figures", "", "What no paper shows: orders, energies, drift, work and time")
TAG = re.compile(rf"\[({'|'.join(paper.tag for paper in PAPERS)})\]")


def paper_of(title: str) -> Paper:
    """The paper whose tag a figure's title has first.

    >>> paper_of("The sleigh's path: one cusp, then straight on ([QS] 6.2)").authors
    'A. M. Bloch, J. E. Marsden, D. V. Zenkov'
    """
    found = TAG.search(title)
    return next((paper for paper in PAPERS if found and paper.tag == found[1]), OWN)

"""The papers' figures, one module each, with their claims checked; `discrete-hamel figures` writes them.

A figure is a module whose docstring is its title (first line) and caption, with

    PARAMETERS                            what it is computed from, plain numbers, stored with the data
    compute(fast) -> dict of arrays       all the computing; `fast` may shorten what is checked, not what is shown
    draw(data) -> Figure                  all the drawing, from the data alone
    claims(data) -> [(sentence, bool)]    what the figure shows, in words, and whether it is so

To add one, write the module and name it in FIGURES, in the order of the page.
"""

FIGURES = (
    *("he_1", "he_2", "he_3", "he_4a", "he_4b", "he_5a", "he_5b"),
    *("qs_6_2", "sleigh_path"),
    *("be_plane", "be_a", "be_b", "be_c", "be_d"),
)

"""The papers' figures, one module each, with their claims checked; `discrete-hamel figures` writes them.

A figure is a module whose docstring is its title (first line) and caption, with

    PARAMETERS                            what it is computed from, plain numbers, stored with the data
    compute(fast) -> dict of arrays       all the computing; `fast` may shorten what is checked, not what is shown
    draw(data) -> Figure                  all the drawing, from the data alone
    claims(data) -> [(sentence, bool)]    what the figure shows, in words, and whether it is so
    COLUMN = True                         if it is also to be written for one column (pictures.column), 3.4 inch wide

To add one, write the module and name it in FIGURES, in the order of the page.
"""

FIGURES = (
    *("he_1", "he_2", "he_3", "he_4a", "he_4b", "he_5a", "he_5b", "he_comparison", "he_stability"),
    *("qs_6_1", "qs_6_2", "qs_6_3", "qs_6_4", "qs_6_5", "sleigh_path"),
    *("nd_2", "nd_3", "nd_4", "nd_5"),
    *("be_1", "be_2", "be_3", "be_plane", "be_9", "be_a", "be_b", "be_c", "be_d", "be_33", "be_35"),
    *("md_9_1", "md_9_2", "md_10_1", "md_10_2", "md_11_1", "md_11_2", "md_11_3", "md_11_4", "md_11_5", "md_11_6"),
    *("md_11_7", "md_11_8", "md_12_1"),
    *("own_orders", "own_energy", "own_drift", "own_work_precision", "own_speed"),
)

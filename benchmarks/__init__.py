"""What the speed of discrete_hamel is measured by, one module each; `discrete-hamel bench` runs them.

A benchmark is a module whose docstring is its title (first line) and what was set (the rest), with

    ROUNDS                                how often all contestants take their turn, unless --rounds says otherwise
    PEERS                                 what it compares with, programs or packages; who is missing is left out
    measure(rounds, quick) -> rows        dicts of text and numbers with the same keys, each yielded once it is known
    bars(rows) -> [Bar]                   what the project asks of these numbers
    draw(rows) -> Figure                  all the drawing, from the rows alone

To add one, write the module and name it in BENCHMARKS, in the order of the page. A wheel
has this folder inside the package. The other scripts here are no contests: they run by themselves and say how.
"""

BENCHMARKS = ("trajectory", "lanes", "precision", "chain", "gradient", "first_calls", "larger_systems", "networks")

"""What holds an end of a string: nothing, a nail, or a hand that moves as given."""

from collections.abc import Callable

from discrete_hamel._support.pytrees import Pytree, static


class Free(Pytree):
    """An end that nothing holds: the tension vanishes there.   [HE] (3.13)"""


class Fixed(Pytree):
    """An end nailed to where it is at the start."""


class Driven(Pytree):
    """An end moved along with the velocity of `path`, a function of time whose values are (x, y)."""

    path: Callable = static()

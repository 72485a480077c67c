"""Values and schemes written as text on the command line; nothing is evaluated but numbers and known names."""

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from discrete_hamel._support.errors import InputError
from discrete_hamel.schemes.scheme import Scheme

Value = float | str | Sequence["Value"]  # as written: a number, or several
Chooser = Callable[[str, Mapping[str, object], str], str]
# What Python's parser raises: the last two where signs or brackets are nested too deeply.
UNREADABLE = (ValueError, TypeError, SyntaxError, RecursionError, MemoryError)
LONGEST = 60  # characters of a word in a message


def value(text: str) -> Value:
    """A number, or several: "2", "1,2,3", "[[1,0],[0,1]]".

    >>> value("1,2,3")
    (1, 2, 3)
    """
    try:
        return ast.literal_eval(text.strip())
    except UNREADABLE:
        raise InputError(f"{shorten(text)!r} is not a number, nor numbers separated by commas.") from None


def setting(text: str) -> tuple[str, Value]:
    """The name and the value of NAME=VALUE.

    >>> setting("mass=2")
    ('mass', 2)
    """
    name, equals, written = text.partition("=")
    if not equals:
        raise InputError(f"--set takes NAME=VALUE, such as mass=2; got {text!r}.")
    try:
        return name, value(written)
    except ValueError as error:
        raise InputError(f"--set {shorten(text)}: {error}") from None


def shorten(text: str) -> str:
    """What was written, cut off where it is long.

    >>> shorten("x" * 100)[-5:]
    'xx...'
    """
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def numbers(option: str, words: Sequence[str]) -> list[float]:
    """Numbers separated by blanks or commas.

    >>> numbers("--q", ["0.1", "-1e-3,2"])
    [0.1, -0.001, 2.0]
    """
    try:
        return [float(part) for word in words for part in word.split(",") if part.strip()]
    except ValueError:
        raise InputError(f"{option} takes numbers, such as {option} 0.1 0 -2; got {' '.join(words)!r}.") from None


def plain(item: object) -> str:
    """A parameter as one writes it on the line.

    >>> plain((1.0, 0, 0.25))
    '1,0,0.25'
    """
    if callable(item):
        return "a function (from Python only)"
    array = np.asarray(item)
    if array.dtype.kind not in "iuf":
        return str(item)
    return (
        ",".join(f"{number:g}" for number in array.ravel()) if array.ndim <= 1 else str(array.tolist()).replace(" ", "")
    )


def scheme(text: str, known: Mapping[str, type], chosen: Chooser) -> Scheme:
    """The scheme of a name or a call: "DiscreteHamel", "DiscreteHamel(tau=0.4)", "Composed(DiscreteHamel(), order=4)".

    `choose(name, known names, what)` returns the name meant or raises.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except UNREADABLE:
        raise InputError(
            f'{shorten(text)!r} is not a scheme; write a name or a call, such as "DiscreteHamel(tau=0.4)".'
        ) from None
    try:
        return _scheme(tree, known, chosen)
    except RecursionError:
        raise InputError(f"{shorten(text)!r} is nested too deeply for a scheme.") from None


def _scheme(tree: ast.expr, known: Mapping[str, type], chosen: Chooser) -> Scheme:
    call = tree if isinstance(tree, ast.Call) else ast.Call(tree, [], [])
    if not isinstance(call.func, ast.Name):
        raise InputError(f"{ast.unparse(tree)!r} is not the name of a scheme.")
    kind = known[chosen(call.func.id, known, "scheme")]
    fields = inspect.signature(kind).parameters
    keywords = {
        chosen(str(word.arg), fields, f"parameter of {kind.__name__}"): _argument(word.value, known, chosen)
        for word in call.keywords
    }
    try:
        return kind(*(_argument(item, known, chosen) for item in call.args), **keywords)
    except TypeError as error:
        raise InputError(f"{kind.__name__} cannot be made from {ast.unparse(call)!r}: {error}.") from None


def _argument(tree: ast.expr, known: Mapping[str, type], chosen: Chooser) -> Scheme | Value:
    if isinstance(tree, ast.Call | ast.Name):
        return _scheme(tree, known, chosen)
    return value(ast.unparse(tree))

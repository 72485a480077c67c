"""What people write, as arrays; and what their functions raise, as a sentence that says which function it was."""

import numbers
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel._support.caches import garbage_kept
from discrete_hamel._support.errors import InputError, RunInterrupted

LONGEST = 80  # characters of a value in a message


def short(value: object) -> str:
    """A value as a message shows it."""
    try:
        text = repr(value)
    except Exception:
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def name_of(names: Sequence[str], letter: str, index: int) -> str:
    """How a message calls a component: by its name, or q[2] where it has none."""
    return names[index] if index < len(names) else f"{letter}[{index}]"


def combination(weights: np.ndarray, name: Callable[[int], str], least: float = 1e-9) -> str:
    """A sum as a message shows it, its largest weight made 1."""
    weights = weights / weights[np.argmax(np.abs(weights))]
    return " + ".join(f"{w:.3g} {name(i)}" for i, w in enumerate(weights) if abs(w) > least)


def floats(name: str, value: object) -> Array:
    """Real numbers as a float array, of NumPy's (JAX's take long to make) unless JAX traces them; or a sentence."""
    try:
        leaves = () if type(value) is np.ndarray else jax.tree.leaves(value)
        if any([isinstance(leaf, jax.core.Tracer) for leaf in leaves]):
            return jnp.asarray(value, float)
        array = np.asarray(value)
        real = array.dtype.kind in "biuf" or (
            array.dtype.kind == "O" and array.size > 0 and all(isinstance(a, numbers.Real) for a in array.flat)
        )
        if (real or not array.size) and not np.ma.is_masked(value):
            return array.astype(jax.dtypes.canonicalize_dtype(float))  # type: ignore[return-value]  # NumPy's
    except (TypeError, ValueError, OverflowError):
        pass  # ragged, of strange objects, too large for a float
    raise InputError(f"{name} must be real numbers, as one list or array; got {short(value)}.")


def array_of(name: str, value: object, axes: int = 1) -> Array:
    """The same with so many axes: a vector, or a number."""
    array = floats(name, value)
    if array.ndim != axes:
        right, many = ("one-dimensional", "; for many initial conditions use jax.vmap") if axes else ("one number", "")
        raise InputError(f"{name} must be {right}, got shape {array.shape}{many}.")
    return array


class explained:  # a context manager of these few lines: contextlib's takes as long as twenty steps
    """Turn what a function of the user's raises into a sentence that names it; an InputError says enough itself."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if not isinstance(error, Exception) or isinstance(error, InputError):
            return
        hint = ""
        if isinstance(error, jax.errors.JAXTypeError | jax.errors.JAXIndexError):
            hint = (
                " JAX traces the functions of a system, so their values are not known in them: use jax.numpy for NumPy "
                "and math, jnp.where for if."
            )
        raise InputError(f"{self.what} cannot be evaluated: {in_short(error)}.{hint}") from error


@contextmanager
def before_steps() -> Iterator[None]:
    """Around what is done before a run's first step: Ctrl-C there says so, as there is nothing yet to hand back.

    What a first run builds is no garbage: to search it for cycles, and all of JAX with it, is left for afterwards.
    """
    try:
        with garbage_kept():
            yield
    except KeyboardInterrupt:
        raise RunInterrupted("interrupted before the first step, while it was built: nothing was computed.") from None


def in_short(error: Exception) -> str:
    """An exception in one line; of one raised in a callback, which jax hands on with its traceback, the last."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    if "Traceback" in lines[0]:
        of_callback = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Interrupt|Exit)\b", line)]
        return (of_callback or lines)[-1][:300].rstrip(".")
    return f"{type(error).__name__}: {lines[0]}"[:300].rstrip(".")

"""What the library's own functions give at the start of a run, kept on disk: another process need not trace them again.

They are pure functions of pytrees, so that a value is known by the function, by its arguments, to the bit, and by all
that defines both: the library's files, the versions of Python, NumPy and JAX, and the processor. That can be said of
systems and schemes whose classes are the library's, as they stand in its files. Where a user has written any part, a
class, a function in a field, or a method put in the place of another, nothing is kept and nothing is looked for.
"""

import pickle
import sys
from collections.abc import Callable, Iterator
from functools import wraps
from types import FunctionType
from typing import ParamSpec, TypeVar

import jax
import jaxlib
import numpy as np

from discrete_hamel._support.caches import Cache
from discrete_hamel.compiler.native import object_cache, program_cache
from discrete_hamel.compiler.native.object_code import available, digest_of
from discrete_hamel.compiler.reading.interpreter import interpret
from discrete_hamel.compiler.reading.tape import Repeated

FIRST = 3  # calls of a function in a process whose values are kept, or looked for: those of a first run
LIBRARY = __name__.partition(".")[0] + "."
PLAIN = (bool, int, float, complex, str, bytes, type(None))
P = ParamSpec("P")
T = TypeVar("T")


def interpreted_once(function: Callable) -> Callable:
    """The function by NumPy (`interpret`), whose values are kept for another process."""
    return keeping(interpret(function))


def once_a_run(function: Callable[P, T]) -> Repeated[P, T]:
    """A function that each run asks for once (`Repeated`), whose first values are kept for another process."""
    return Repeated(function, by=interpreted_once)


class _Others(Exception):
    """Something that is not the library's."""


def keeping(function: Callable[P, T]) -> Callable[P, T]:
    """The function, whose values are kept for another process; it has no effects, and returns arrays or numbers."""
    calls = Cache(most=500)

    @wraps(function)
    def value_of(*arguments: P.args, **named: P.kwargs) -> T:
        kind = jax.tree.structure(arguments)
        count: int = calls.fetch(kind, lambda: 0)
        calls[kind] = count + 1
        name = None if named or count >= FIRST else name_of(function, *arguments)
        if name is None:
            return function(*arguments, **named)
        if (known := recall(name)) is not None:
            return known  # type: ignore[return-value]  # the function's
        keep(name, value := function(*arguments, **named))
        return value

    return value_of


def recall(name: str) -> object:
    """The value kept under this name, or None."""
    content = object_cache.read(name)
    return None if content is None else pickle.loads(content)


def keep(name: str, value: object) -> None:
    object_cache.keep(name, pickle.dumps(value, pickle.HIGHEST_PROTOCOL), small=True)


def name_of(function: Callable, *arguments: object) -> str | None:
    """What a function's value is kept under; None where a part of it is not the library's, or nothing is kept."""
    leaves, structure = jax.tree.flatten(arguments)
    if object_cache.folder() is None or available() or any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        return None
    if not _is_own(function) or "<" in function.__qualname__:
        return None
    try:
        told = [function.__module__, function.__qualname__, *_of_structure(structure)]
        arrays = [np.asarray(leaf) for leaf in leaves]
    except (_Others, TypeError):
        return None
    told += [(array.shape, array.dtype.str, array.tobytes().hex()) for array in arrays]
    told += [jax.__version__, jaxlib.__version__, jax.config.jax_enable_x64]  # type: ignore[attr-defined]
    return digest_of(f"value {told!r} {program_cache.FILES}", 0)


def _of_structure(structure: jax.tree_util.PyTreeDef) -> Iterator[object]:
    """A pytree's nodes: what they are, and what they have beside leaves."""
    node = structure.node_data()
    if node is None:
        yield "leaf"
        return
    kind, beside = node
    yield from (kind.__name__, len(structure.children()))
    yield from () if kind in (tuple, list, dict, type(None)) else _of_class(kind)
    yield from _of_value(beside)
    for child in structure.children():
        yield from _of_structure(child)


def _of_value(value: object) -> Iterator[object]:
    if type(value) in PLAIN:
        yield value
    elif type(value) in (tuple, list):
        yield "("
        for one in value:  # type: ignore[attr-defined]  # of a tuple
            yield from _of_value(one)
        yield ")"
    elif isinstance(value, type | FunctionType):
        yield _own(value, value.__qualname__)
    else:
        raise _Others


def _of_class(owner: type) -> Iterator[object]:
    """A class with all that it inherits: as it stands in the library's files, and nothing else in its place."""
    _own(owner, owner.__qualname__)
    for one in owner.__mro__:
        if _is_own(one):
            for name, value in vars(one).items():
                yield from _of_method(name, value)
        elif one.__module__ not in ("builtins", "typing", "abc"):
            raise _Others


def _of_method(name: str, value: object) -> Iterator[object]:
    """What stands under a name in a class; what a dataclass makes of itself follows from the class."""
    value = getattr(value, "fget", None) or getattr(value, "__func__", value)
    value = getattr(value, "__wrapped__", value)
    if isinstance(value, FunctionType) and value.__code__.co_filename != "<string>":
        yield name, value.__qualname__, value.__code__.co_firstlineno
        if not _is_own(value):
            raise _Others
    elif type(value) in PLAIN:
        yield name, value


def _is_own(value: Callable) -> bool:
    """Whether it says that it is the library's; what is executed without a module says nothing."""
    return (value.__module__ or "").startswith(LIBRARY)


def _own(value: type | FunctionType, path: str) -> str:
    """The name by which the library has it, and no other of this name."""
    found: object = sys.modules.get(value.__module__) if _is_own(value) else None
    for part in path.split("."):
        found = getattr(found, part, None)
    if found is not value:
        raise _Others
    return f"{value.__module__}.{path}"

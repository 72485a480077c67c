"""Frozen pytrees: the one mechanism behind System, Scheme, State and Trajectory."""

import dataclasses
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Self, dataclass_transform

import jax

_STATIC_TYPES: tuple[object, ...] = (int, bool, str, Callable)
_STATIC_NAMES = ("int", "bool", "str", "Callable")


def of(path: str) -> Any:
    """A property or method that is another object's: with `rank = of("system.rank")` in its class `self.rank` is that.

    Where that object has none, neither has this one.
    """
    return property(attrgetter(path))


def static(**options: Any) -> Any:
    """A field that is part of the pytree's structure, not a leaf: a callable, a size, a name."""
    return dataclasses.field(metadata={"static": True}, **options)


def is_static(field: dataclasses.Field) -> bool:
    """Whether a field is part of the pytree's structure."""
    if field.metadata.get("static"):
        return True
    if isinstance(field.type, str):
        return field.type.partition("[")[0].strip() in _STATIC_NAMES
    return field.type in _STATIC_TYPES


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(static, dataclasses.field))
class Pytree:
    """Base whose subclasses become frozen dataclasses and JAX pytrees.

    Fields annotated `int`, `bool`, `str` or `Callable`, and those made with `static()`, belong to the
    structure and take part in JAX's compilation key; every other field is a leaf, so that a new value
    never recompiles.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclasses.dataclass(frozen=True, eq=False)(cls)
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # made a dataclass by the line above
        leaves = tuple(f.name for f in fields if not is_static(f))
        structure = tuple(f.name for f in fields if is_static(f))

        def with_keys(self: Pytree) -> tuple:
            keyed = tuple((jax.tree_util.GetAttrKey(name), getattr(self, name)) for name in leaves)
            return keyed, tuple(getattr(self, name) for name in structure)

        def flatten(self: Pytree) -> tuple:
            return [getattr(self, name) for name in leaves], tuple([getattr(self, name) for name in structure])

        def unflatten(aux: tuple, children: Iterable[object]) -> Pytree:
            # Not through __init__: JAX passes tracers and placeholders, which no validation should see.
            self = object.__new__(cls)
            for name, value in (*zip(leaves, children, strict=True), *zip(structure, aux, strict=True)):
                object.__setattr__(self, name, value)
            return self

        jax.tree_util.register_pytree_with_keys(cls, with_keys, unflatten, flatten)

    def replace(self, **changes: object) -> Self:
        """The same object with some fields changed."""
        return dataclasses.replace(self, **changes)  # type: ignore[type-var]  # subclasses are dataclasses

"""What made a run, as plain data: written into its store, compared on resuming, and read back without executing it."""

import dataclasses
import hashlib
import platform
import re
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from discrete_hamel import schemes
from discrete_hamel._support.arrays import PathLike, PyTree, Scalar
from discrete_hamel._support.caches import Cache
from discrete_hamel._support.errors import InputError, StoreDamaged
from discrete_hamel._support.pytrees import is_static
from discrete_hamel.mechanics.constructors import unwrap
from discrete_hamel.mechanics.system import System
from discrete_hamel.runs import validation as checks
from discrete_hamel.runs.storage.schema import Described, MadeFrom, Numbers
from discrete_hamel.schemes.scheme import Scheme

FORMAT = 2
NOWHERE = re.compile(r" at 0x[0-9a-f]+")  # addresses, which differ from process to process
LARGEST = 10_000  # size that is believed, so that no store can have us fill the memory
LONGEST = 60  # characters of a value in a message
WORKED_OUT = {"weights"}  # leaves that a constructor finds at q and older stores lack: `archive` compares frames


def describe(tree: object) -> Described:
    """A pytree as plain data: its class, its leaves by name, and its structure as text, for comparison only."""
    leaves = {
        jax.tree_util.keystr(path).lstrip("."): np.asarray(leaf).tolist()
        for path, leaf in jax.tree_util.tree_leaves_with_path(tree)
    }
    structure = NOWHERE.sub("", str(jax.tree.structure(tree)))
    return {"class": type(tree).__name__, "fields": _plain(tree), "leaves": leaves, "structure": structure}


def _plain(tree: object) -> dict[str, object]:
    """The fields that are plain data and part of the structure (sizes, switches, names), and what schemes consist of:
    other schemes, and what else `schemes` has.
    """
    if not dataclasses.is_dataclass(tree):
        return {}
    values = {field.name: getattr(tree, field.name) for field in dataclasses.fields(tree) if is_static(field)}
    plain = {name: value for name, value in values.items() if isinstance(value, bool | int | str)}
    within = {field.name: getattr(tree, field.name) for field in dataclasses.fields(tree) if not is_static(field)}
    parts = schemes.__all__ if isinstance(tree, Scheme) else ()
    return plain | {name: describe(value) for name, value in within.items() if type(value).__name__ in parts}


_digests = Cache(most=256)  # keyed as jax.jit keys what it has compiled, and forgotten with it


def _digest(name: str, structure: object, shapes: tuple) -> str:
    """Of a method's operations and constants, by which a change in a user's code is noticed.

    `structure` and `shapes` are those of (the object, the arguments).
    """
    thing, *given = jax.tree.unflatten(structure, [jax.ShapeDtypeStruct(*shape) for shape in shapes])
    return digest(lambda thing, *given: getattr(thing, name)(*given), thing, *given)


def digest(function: Callable, *given: PyTree) -> str:
    """Of a function's operations and constants, traced with arguments of these shapes."""
    closed = jax.make_jaxpr(function)(*given)
    text = NOWHERE.sub("", str(closed.jaxpr)).encode()
    for constant in closed.consts:
        text += np.asarray(constant).tobytes()
    return hashlib.sha256(text).hexdigest()[:16]


def _digest_of_trace(name: str, *thing_and_arguments: PyTree) -> str:
    leaves, structure = jax.tree.flatten(thing_and_arguments)
    key = name, structure, tuple((leaf.shape, leaf.dtype) for leaf in leaves)
    return _digests.fetch(key, lambda: _digest(*key))


def _functions(system: System, q: Array, xi: Array) -> dict[str, tuple]:
    """What makes a system: its functions, and arguments to trace them with."""
    if system.frameless:
        curved: dict[str, tuple] = {"lagrangian": (q, q), "velocity": (q, xi), "force": (q, q)}
        return curved | ({"rows": (q, xi)} if jax.eval_shape(system.rows, q, xi).shape[0] else {})
    rows = unwrap(system)
    held: dict[str, tuple] = {"holonomic": (q,)} if rows is not None and rows.held_rows else {}
    return {"lagrangian": (q, xi), "frame": (q,), "structure": (q,), "slip": (q,), "force": (q, xi)} | held


def versions() -> dict[str, str]:
    """Whatever may change the last bit of a result."""
    from discrete_hamel import __version__

    machine = f"{jax.default_backend()}, {platform.machine()}"
    return {"discrete_hamel": __version__, "jax": jax.__version__, "numpy": np.__version__, "machine": machine}


def _is_of_the_user(scheme: Scheme) -> bool:
    """Whether a scheme's steps may change while the library's version does not: it is, or holds, code of the user's.

    Tracing a step takes a while, so that of the others is not looked at.
    """
    parts = [getattr(scheme, field.name) for field in dataclasses.fields(scheme)]
    held = any(_is_of_the_user(part) if isinstance(part, Scheme) else callable(part) for part in parts)
    return held or not type(scheme).__module__.startswith("discrete_hamel.")


def manifest(system: System, scheme: Scheme | None, q: Array, xi: Array, h: Scalar, save_every: int) -> MadeFrom:
    """What a run is made from: two runs whose manifests are equal have equal steps, bit for bit."""
    equations = {name: _digest_of_trace(name, system, *given) for name, given in _functions(system, q, xi).items()}
    if scheme is not None and _is_of_the_user(scheme):
        start = jax.eval_shape(scheme.start, system, q, xi, h)
        equations["the scheme's step"] = _digest_of_trace("step", scheme, system, start, h)
    return {
        "format": FORMAT,
        "versions": versions(),
        "dtype": str(q.dtype),
        "system": describe(system),
        "equations": equations,
        "scheme": None if scheme is None else describe(scheme),
        "h": None if h is None else float(h),
        "save_every": save_every,
        "start": {"q": np.asarray(q).tolist(), "xi": np.asarray(xi).tolist()},
    }


def _flat(tree: object, name: str = "") -> dict[str, object]:
    if not isinstance(tree, dict):
        return {name: tree}
    return {key: value for k, v in tree.items() for key, value in _flat(v, f"{name}.{k}".lstrip(".")).items()}


def differences(stored: Mapping[str, object], mine: Mapping[str, object]) -> list[str]:
    """What differs between two manifests, each as "name: old -> new"."""
    old, new = _flat(stored), _flat(mine)
    names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    told = [
        f"the code of {name.removeprefix('equations.')} has changed"
        if name.startswith("equations.")
        else f"{name.replace('.leaves', '')}: {_short(old.get(name))} -> {_short(new.get(name))}"
        for name in names
        if not name.endswith(".structure")
    ]
    # The structure says all of a class in one long line, so it is told only where nothing shorter says it.
    return told or [f"{name}: {old.get(name)} -> {new.get(name)}" for name in names]


def _short(value: object) -> str:
    text = "absent" if value is None else str(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def agreeing(kind: str, given: PyTree, described_as: Described, path: PathLike) -> Any:
    """The system or scheme given, which has to agree with what the store says of it."""
    mine = describe(given)
    if mine["class"] != described_as["class"]:
        raise InputError(f"{path} holds a {described_as['class']}, the {kind} given is a {mine['class']}.")
    for part in ("fields", "leaves"):
        ours, stored = mine[part], described_as[part]
        for name in sorted({**ours, **stored} if part == "fields" else {*ours, *stored} - (WORKED_OUT - {*stored})):
            if ours.get(name) != stored.get(name):
                raise InputError(
                    f"the {kind} given differs from the one in {path}: {name} is {_short(ours.get(name))}, "
                    f"stored {_short(stored.get(name))}."
                )
    return given


def rebuilt(described_as: Described, catalogue: ModuleType) -> Any:
    """An object of a class in the library's own catalogue, with the stored leaves; nothing else is ever called.

    None if it cannot be made from data alone.
    """
    kind = getattr(catalogue, described_as["class"], None) if described_as["class"] in catalogue.__all__ else None
    if not isinstance(kind, type):
        return None
    try:
        blank = checks.canonical(kind(**_trust(described_as["fields"])))
    except StoreDamaged:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError):
        return None  # has fields without defaults, or has never been made like this
    if NOWHERE.sub("", str(jax.tree.structure(blank))) != described_as["structure"]:
        return None
    return jax.tree.unflatten(jax.tree.structure(blank), _leaves(blank, described_as))


FITTING = {"f": "fiu", "i": "iu", "u": "iu", "b": "b"}  # kinds of stored numbers that may stand for a kind


def _leaves(blank: PyTree, described_as: Described) -> list[Array]:
    """The stored leaves in the order of an object of the same class, each a number where that has one."""
    like = {
        jax.tree_util.keystr(path).lstrip("."): np.asarray(leaf)
        for path, leaf in jax.tree_util.tree_leaves_with_path(blank)
    }
    stored = {name: np.asarray(value) for name, value in described_as["leaves"].items()}
    if set(like) != set(stored):
        raise StoreDamaged(f"its {described_as['class']} has the parameters {sorted(stored)}, not {sorted(like)}.")
    for name, leaf in like.items():
        shaped = stored[name].shape == leaf.shape or not isinstance(blank, Scheme)  # a system's may be many
        if not shaped or stored[name].dtype.kind not in FITTING.get(leaf.dtype.kind, ""):
            raise StoreDamaged(f"the parameter {name!r} of its {described_as['class']} is {stored[name].tolist()}.")
    return [jnp.asarray(stored[name].astype(leaf.dtype)) for name, leaf in like.items()]


def _trust(fields: dict[str, object]) -> dict[str, object]:
    """Of what a store says of an object's fields, what may go into its making."""
    within = {k: rebuilt(cast(Described, v), schemes) for k, v in fields.items() if isinstance(v, dict)}
    if None in within.values():
        raise InputError("a scheme within cannot be rebuilt.")
    return within | {
        k: v for k, v in fields.items() if isinstance(v, bool | str) or (isinstance(v, int) and v < LARGEST)
    }


def restore(leaves: list[Numbers], like: PyTree) -> Any:
    """A pytree like `like` (shapes and types) from its leaves as plain data."""
    shapes = jax.tree.leaves(like)
    if len(leaves) != len(shapes):
        raise StoreDamaged(f"its state has {len(leaves)} parts, the scheme's has {len(shapes)}.")
    arrays = [jnp.asarray(np.asarray(leaf, shape.dtype)) for leaf, shape in zip(leaves, shapes, strict=True)]
    for array, shape in zip(arrays, shapes, strict=True):
        if array.shape != shape.shape:
            raise StoreDamaged(f"a part of its state has shape {array.shape}, the scheme's has {shape.shape}.")
    return jax.tree.unflatten(jax.tree.structure(like), arrays)

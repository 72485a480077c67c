"""Native functions inside what JAX compiles: registered with XLA through JAX's documented foreign function interface.

The handler that XLA calls is LLVM's code too, so that no C compiler is needed. Its layout is that of XLA's
ffi/api/c_api.h (in `jax.ffi.include_dir()`), whose older versions XLA keeps for at least a year. What is registered
stays until the process ends, as compiled programs may.
"""

import ctypes

import jax
import jax.numpy as jnp
from jax import Array

from discrete_hamel._support.errors import InputError
from discrete_hamel.compiler.native.object_code import Library, digest_of, machine_code

Shape = tuple[int, ...]
_registered: dict[str, Library] = {}

ARGUMENTS, RESULTS = 72, 112  # bytes from the start of a call's frame to its arrays of buffers
DATA = 24  # from the start of a buffer to its address


def handler(arguments: int, results: int) -> str:
    """The function @handler, which calls @run with the addresses of all buffers.

    Asked for its metadata (an extension of the frame) it answers with the version of the interface that asks.
    """
    lines, addresses = [], []
    for name, place, count in (("arg", ARGUMENTS, arguments), ("ret", RESULTS, results)):
        lines += [f"  %{name}p = getelementptr i8, ptr %frame, i64 {place}", f"  %{name} = load ptr, ptr %{name}p"]
        for k in range(count):
            one = f"%{name}{k}"
            lines += [
                f"  {one}p = getelementptr ptr, ptr %{name}, i64 {k}",
                f"  {one}b = load ptr, ptr {one}p",
                f"  {one}d = getelementptr i8, ptr {one}b, i64 {DATA}",
                f"  {one} = load ptr, ptr {one}d",
            ]
            addresses.append(f"ptr {one}")
    return METADATA_OR_RUN + "\n".join(lines) + f"\n  call void @run({', '.join(addresses)})\n  ret ptr null\n}}\n"


METADATA_OR_RUN = """define ptr @handler(ptr %frame) nounwind {
  %e = getelementptr i8, ptr %frame, i64 8
  %extension = load ptr, ptr %e
  %asked = icmp ne ptr %extension, null
  br i1 %asked, label %metadata, label %go
metadata:
  %api_at = getelementptr i8, ptr %frame, i64 16
  %api = load ptr, ptr %api_at
  %vp = getelementptr i8, ptr %api, i64 32
  %version = load i64, ptr %vp
  %mp = getelementptr i8, ptr %extension, i64 24
  %data = load ptr, ptr %mp
  %mv = getelementptr i8, ptr %data, i64 24
  store i64 %version, ptr %mv
  %mt = getelementptr i8, ptr %data, i64 32
  store i32 0, ptr %mt
  ret ptr null
go:
"""


class Foreign:
    """A function of arrays, whose text defines @run with as many pointers as it has arguments and results."""

    def __init__(self, text: str, operations: int, arguments: int, results: int) -> None:
        whole = text + handler(arguments, results)
        self.arguments, self.results = arguments, results
        self.name = f"discrete_hamel_{digest_of(whole, operations)}"
        if self.name not in _registered:
            library = machine_code(whole, operations)
            capsule = ctypes.pythonapi.PyCapsule_New
            capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
            jax.ffi.register_ffi_target(self.name, capsule(library.address("handler"), None, None), platform="cpu")
            _registered[self.name] = library

    def __call__(self, shapes: dict[str, tuple[Array, Shape]], results: list[Shape]) -> list[Array]:
        """The results, all of them doubles, for arguments that have the shapes that native code takes them to have."""
        for name, (array, shape) in shapes.items():
            if array.shape != shape or array.dtype not in (jnp.float64, jnp.int64):
                raise InputError(f"{name} is {array.dtype}{array.shape}, where native code takes {shape} of doubles.")
        if (len(shapes), len(results)) != (self.arguments, self.results):
            raise InputError(f"{len(shapes)} arguments and {len(results)} results of {self.arguments}, {self.results}.")
        kinds = [jax.ShapeDtypeStruct(shape, jnp.float64) for shape in results]
        call = jax.ffi.ffi_call(self.name, kinds, vmap_method="sequential")
        return list(call(*(array for array, _ in shapes.values())))

"""From LLVM's text to machine code in this process, by llvmlite."""

import ctypes
import ctypes.util
import sys
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

from discrete_hamel.compiler.native import object_cache
from discrete_hamel.compiler.native.instructions import SYMBOLS

if TYPE_CHECKING:
    from llvmlite.binding import TargetMachine

INLINED = 4000  # operations of all functions of a module up to which they become one
HEAP = ("malloc", "free")  # of the C library, which that of its functions has with it
MANY = 100_000  # operations up to which LLVM's first level is worth its time; its second never is


@cache
def available() -> str:
    """Nothing where native code can be made, or why it cannot."""
    if sys.byteorder != "little" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return "native code is for machines of 64 bits, little end first"
    try:
        _machine(0)
        library = ctypes.CDLL(ctypes.util.find_library("m"))
        llvm = _llvm()
        for name in (*SYMBOLS, *HEAP):
            llvm.add_symbol(name, ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    except Exception as error:  # no llvmlite, or one that does not know this machine
        return f"no native code: {type(error).__name__}: {error}"
    return ""


@cache
def _llvm() -> ModuleType:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def processor() -> tuple[str, str]:
    """Its name, and what it can do, in LLVM's words."""
    llvm = _llvm()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def architecture() -> str:
    """The processor's family, in LLVM's word."""
    family: str = _llvm().get_process_triple().split("-")[0]
    return "aarch64" if family in ("arm64", "aarch64") else family


@cache
def fused() -> bool:
    """Whether x y + z is one operation of this processor."""
    return "+fma" in processor()[1].split(",") or architecture() == "aarch64"


@cache
def _machine(level: int) -> "TargetMachine":
    name, features = processor()
    target = _llvm().Target.from_default_triple()
    return target.create_target_machine(cpu=name, features=features, opt=level, jit=True)


def level_for(operations: int) -> int:
    """LLVM's level of optimisation for code of so many operations."""
    return 1 if operations <= MANY else 0


def digest_of(text: str, level: int) -> str:
    """The digest of all that machine code is made from."""
    import llvmlite

    versions = f"{llvmlite.__version__} {_llvm().llvm_version_info}"
    return object_cache.digest(text, str(level), *processor(), versions)


def machine_code(text: str, operations: int, level: int | None = None) -> "Library":
    """The functions of a module of so many operations, made anew or as they were kept on disk."""
    level = level_for(operations) if level is None else level
    name = digest_of(text, level)
    code = object_cache.read(name)
    if code is None:
        code = assemble(text, level, operations <= INLINED)
        object_cache.keep(name, code)
    return Library(code, name)


def better_code(first: "Library", text: Callable[[], str], operations: int) -> "Library":
    """The functions of `first`, which were made at LLVM's level 0, at the level for so many operations: made of their
    text, or as they were kept on disk."""
    name = digest_of(f"better than {first.name}", level_for(operations))
    code = object_cache.read(name)
    if code is None:
        code = assemble(text(), level_for(operations), operations <= INLINED)
        object_cache.keep(name, code)
    return Library(code, name)


def kept_code(name: str) -> "Library | None":
    """The functions that are kept on disk under this digest."""
    code = object_cache.read(name)
    return None if code is None else Library(code, name)


def assemble(text: str, level: int, inlined: bool = True) -> bytes:
    """The object code of a module.

    What is one function has its memory turned into registers; of the others LLVM's passes over instructions find
    nothing that the graph has not found, and a seventh of the time goes into their looking.
    """
    llvm, machine = _llvm(), _machine(level)
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=level if inlined else 0)
    options.loop_unrolling = options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)


class Library:
    """Object code in memory; it stays as long as this object does."""

    def __init__(self, code: bytes, name: str = "") -> None:
        self.name = name
        llvm = _llvm()
        empty = llvm.parse_assembly("")
        self.engine = llvm.create_mcjit_compiler(
            empty, _llvm().Target.from_default_triple().create_target_machine(jit=True)
        )
        self.engine.add_object_file(llvm.object_file.ObjectFileRef.from_data(code))
        self.engine.finalize_object()

    def address(self, name: str) -> int:
        found = self.engine.get_function_address(name)
        if not found:
            raise RuntimeError(f"object code without {name}")
        return found

"""Compile C and link, with the system's C compiler."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ....runtime.errors import Error
from ....runtime.files import mapped, writing
from ..build.settings import Settings, key_of
from .processes import Finished, run
from .stage_files import scratch_folder, write
from .tool_paths import Blas, c_compiler, tool

C_FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-ffunction-sections", "-pthread")
LINK_FLAGS = (
    *("-shared", "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-Wl,--no-undefined"),
    "-Wl,-z,nodelete",  # its threads stay
)
OBJECT_FLAGS = ("-r", "-nostdlib")

SUPPORT = "runtime_support.c"
"""Functions that compiled code calls, for every library."""
PRODUCTS = "blas.c"
"""Functions of products, for kernels that call a library."""
VARIABLE = "variable.c"
"""A function that reads a variable of the environment, for files that include it."""

SYMBOLS = "symbols"
"""The file that says which symbols others see."""

OUTPUT = "output"


def c_file(name: str) -> str:
    """Return a C file of the folder `c`."""
    return (Path(__file__).parents[1] / "c" / name).read_text(encoding="utf-8")


@dataclass(frozen=True)
class Inputs:
    """Inputs of the linker: objects, and C sources by file name."""

    objects: Sequence[bytes]
    sources: Mapping[str, str]
    """Sources that depend on nothing else; the cache has their objects."""
    including: Mapping[str, str] = field(default_factory=dict[str, str])
    """Sources that include `files`."""
    files: Mapping[str, Path] = field(default_factory=dict[str, Path])
    flags: Sequence[str] = ()
    """Further flags for the C compiler."""
    blas: Blas | None = None
    """The library that `objects` call for products."""

    @property
    def independent(self) -> Mapping[str, str]:
        """All C sources that depend on nothing else."""
        if self.blas is None:
            return self.sources
        define = f"#define OPENBLAS(name) {self.blas.prefix}##name\n"
        return {**self.sources, PRODUCTS: define + c_file(PRODUCTS)}

    def write(self, folder: Path, settings: Settings) -> list[str]:
        """Write everything into `folder`; return the names of what is given to the compiler."""
        for name, path in self.files.items():
            with writing(folder / name):
                (folder / name).symlink_to(path)
        for name, text in (*self.independent.items(), *self.including.items()):
            settings.saved.save(name, text)
            write(folder / name, text)
        compiled = [_object(name, self, settings, folder) for name in self.independent]
        names = list(self.including)
        for number, code in enumerate((*compiled, *self.objects)):
            write(folder / f"{number}.o", code)
            names.append(f"{number}.o")
        return names


def linked_library(
    inputs: Inputs, settings: Settings, name: str, exports: Sequence[str] = ()
) -> memoryview:
    """
    Return a shared library with the file name `name`; it is mapped, not read.

    Programs see the symbols `exports`, in which `*` stands for anything; by default all that the
    inputs show. Raises `Error`.
    """
    with scratch_folder("link") as folder:
        command = [*LINK_FLAGS, f"-Wl,-soname,{name}"]
        if exports:
            visible = "".join(f"{symbol};" for symbol in exports)
            write(folder / SYMBOLS, f"{{ global: {visible} local: *; }};")
            command.append(f"-Wl,--version-script={SYMBOLS}")
        libraries = [*(inputs.blas.flags if inputs.blas else ()), "-lm"]
        return _linked(inputs, settings, folder, command, libraries)


def merged_object(inputs: Inputs, settings: Settings, exports: Sequence[str]) -> memoryview:
    """
    Return one object with all of `inputs`, to link into a program.

    Others see the symbols `exports`, as in `linked_library`. Raises `Error`.
    """
    with scratch_folder("link") as folder:
        _linked(inputs, settings, folder, OBJECT_FLAGS, ())
        write(folder / SYMBOLS, "".join(f"{symbol}\n" for symbol in exports))
        flags = ["--wildcard", f"--keep-global-symbols={SYMBOLS}", OUTPUT]
        run("llvm-objcopy", [tool("llvm-objcopy"), *flags], folder=folder)
        return mapped(folder / OUTPUT)


def _linked(
    inputs: Inputs, settings: Settings, folder: Path, flags: Sequence[str], libraries: Sequence[str]
) -> memoryview:
    """Compile and link in `folder`; return the file `OUTPUT`."""
    machine = settings.machine
    if not machine.is_host and settings.compiler is None:
        raise Error(
            f"target={machine.triple} needs a C compiler for it: give it as cc=COMMAND, such as "
            f"cc={machine.architecture}-linux-gnu-gcc"
        )
    names = inputs.write(folder, settings)
    given = [*C_FLAGS, *flags, *names, "-o", OUTPUT, *inputs.flags, *libraries]
    _compile(c_compiler(settings.compiler), given, folder)
    return mapped(folder / OUTPUT)


def _object(source: str, inputs: Inputs, settings: Settings, folder: Path) -> bytes:
    """Return the object of a C source of `inputs`, which is in `folder`."""
    compiler = c_compiler(settings.compiler)
    flags = [*C_FLAGS, *inputs.flags]
    key = key_of("C", _version(*compiler), *flags, inputs.independent[source])

    def compiled() -> bytes:
        _compile(compiler, [*flags, "-c", source, "-o", OUTPUT], folder)
        return bytes(mapped(folder / OUTPUT))

    return settings.cache.get_or(key, compiled)


@cache
def _version(*compiler: str) -> str:
    """Return the command of a compiler, and what it says of its version."""
    said = _compile(compiler, ["--version"]).output
    return " ".join((*compiler, said.decode(errors="replace")))


def _compile(
    compiler: Sequence[str], arguments: Sequence[str], folder: Path | None = None
) -> Finished:
    """Run the C compiler; errors name its command."""
    called = f"the C compiler '{shlex.join(compiler)}'"
    return run("the C compiler", [*compiler, *arguments], folder=folder, called=called)

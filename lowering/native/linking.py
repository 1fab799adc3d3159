"""Compile C and link, with the system's C compiler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ...runtime.files import replace
from .machine import Machine
from .processes import ProcessFailed, run
from .saved_stages import SavedStages
from .settings import Settings
from .tool_messages import error_of
from .toolchain import c_compiler

C_FLAGS = ("-std=c11", "-O2", "-fPIC", "-fvisibility=hidden", "-ffunction-sections")
LINK_FLAGS = ("-shared", "-Wl,--gc-sections", "-Wl,-z,noexecstack", "-Wl,--no-undefined")

SUPPORT = "runtime_support.c"
"""Functions that compiled code calls, for every library."""
STANDALONE = "standalone.c"
"""Memory and failures for a library that is called without the entries of `aot-lower-main`."""


def c_file(name: str) -> str:
    """Return a C file of this package."""
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def link_library(
    path: Path,
    objects: Iterable[bytes],
    sources: Mapping[str, str],
    settings: Settings,
    *,
    flags: Sequence[str] = (),
) -> None:
    """
    Write the shared library of `objects` and C `sources`, by file name, at `path`.

    `flags` are further ones for the C compiler, such as libraries. The file is written as a whole,
    or not at all. Raises `Error`.
    """
    with TemporaryDirectory(prefix="xrelay-link-") as scratch:
        folder = Path(scratch)
        inputs = _written(folder, objects, sources, settings.saved)
        command = [*c_compiler(settings.compiler), *_for(settings.machine), *C_FLAGS, *LINK_FLAGS]
        command += [f"-Wl,-soname,{path.name}", *inputs, "-o", "library.so", *flags, "-lm"]
        _compile(command, folder)
        replace(path, [(folder / "library.so").read_bytes()])
    path.chmod(path.stat().st_mode | (path.stat().st_mode & 0o444) >> 2)


def _written(
    folder: Path, objects: Iterable[bytes], sources: Mapping[str, str], saved: SavedStages
) -> list[str]:
    """Write the inputs of the linker into `folder`; return their names."""
    names: list[str] = []
    for name, text in sources.items():
        saved.save(name, text)
        (folder / name).write_text(text, encoding="utf-8")
        names.append(name)
    for number, code in enumerate(objects):
        (folder / f"{number}.o").write_bytes(code)
        names.append(f"{number}.o")
    return names


def _for(machine: Machine) -> list[str]:
    """Return the flag for the machine, if it is not the oldest of its architecture."""
    return [f"-march={machine.cpu}"] if machine.cpu and machine.architecture == "x86_64" else []


def _compile(command: Sequence[str], folder: Path) -> None:
    try:
        run("the C compiler", command, folder=folder)
    except ProcessFailed as failed:
        raise error_of(failed) from failed

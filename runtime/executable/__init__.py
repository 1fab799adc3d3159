"""
Executable files (`.xrx`): compiled programs that are loaded without a compiler.

    write_executable("model.xrx", executable_of(program, "model.safetensors"))

    executable = read_executable("model.xrx")
    machine = Machine(executable.program, load_weights(executable, "model.safetensors"))

A file is not trusted: reading checks every length and index, and runs nothing. The format is
described in docs/executable.md.
"""

from ..program.planned_memory import PlannedMemory
from ..weights.late_bound import executable_of, load_weights
from .content import Checksums, ExecutableFile
from .executable_files import read_executable, write_executable
from .layout import MAGIC, VERSION, ExecutableError, Layout, Section

__all__ = [
    "MAGIC",
    "VERSION",
    "Checksums",
    "ExecutableError",
    "ExecutableFile",
    "Layout",
    "PlannedMemory",
    "Section",
    "executable_of",
    "load_weights",
    "read_executable",
    "write_executable",
]

"""
The command `xrelay-run`: run a program, and print its outputs.

    xrelay-run model.onnx --random-seed 0 --stats
    xrelay-run model.xrx --inputs x.npz --outputs y.npz

The file is an executable, or what is first compiled to bytecode: IR text of any level, an ONNX
model, a Relay program. Inputs come from an `.npz` file or a seed, parameters from the program's
weights file, another one, or a seed. With `--evaluate` nothing is compiled: the reference evaluator
runs the program as it is. The compiler is imported only where it is used.
"""

import sys
from collections.abc import Sequence

from ...runtime.errors import MachineError
from ..commands import guarded
from ..errors import CommandLineError, exit_status
from .run_options import Options, parse_arguments

EXTENSION = ".xrx"
"""The extension of executables."""

ELF = b"\x7fELF"
"""The first bytes of a library on Linux."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xrelay-run` with `argv` (default: the process's); return the exit status."""
    return guarded("xrelay-run", lambda: _main(sys.argv[1:] if argv is None else argv))


def _main(argv: Sequence[str]) -> int:
    try:
        options = parse_arguments(argv)
    except CommandLineError as error:
        print(f"xrelay-run: error: {error}", file=sys.stderr)
        return exit_status(error)
    from ...runtime.files import contents, is_stream, limit_input

    limit_input(options.max_input)
    try:
        data = contents(options.file) if is_stream(options.file) else None
    except MachineError as error:
        print(f"{options.file}: error: {error.message}", file=sys.stderr)
        return exit_status(error)
    if _first_bytes(options.file, data, len(ELF)) == ELF:
        text = "a library is called by programs: xrelay.load, or C (docs/aot.md)"
        print(f"{options.file}: error: {text}", file=sys.stderr)
        return 1
    if _is_executable(options, data):
        from .run_executable import run_executable

        return run_executable(options, data)
    from .run_program import run_program

    return run_program(options, data)


def _is_executable(options: Options, data: memoryview | None) -> bool:
    """Test whether the file is an executable: by its extension, or its first bytes."""
    if options.frontend is not None:
        return False
    if options.file.endswith(EXTENSION):
        return True
    from ...runtime.executable.layout import MAGIC

    return _first_bytes(options.file, data, len(MAGIC)) == MAGIC


def _first_bytes(path: str, data: memoryview | None, count: int) -> bytes:
    """
    Return the first bytes of `data`, or of a file or stdin, which can be read again; none if it
    cannot.
    """
    if data is not None:
        return bytes(data[:count])
    if path == "-":
        peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
        return b"" if peek is None else peek(count)[:count]
    try:
        with open(path, "rb") as file:
            return file.read(count)
    except (OSError, ValueError):
        return b""  # the error is reported where the file is read


if __name__ == "__main__":
    sys.exit(main())

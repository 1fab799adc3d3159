"""
The command `xrelay-run`: run a program, and print its outputs.

    xrelay-run model.onnx --random-seed 0 --stats
    xrelay-run model.xrx --inputs x.npz --outputs y.npz

The file is an executable, or what is first compiled to bytecode: IR text of any level, an ONNX
model, a Relay program. Inputs come from an `.npz` file or a seed, parameters from the program's
weights file, another one, or a seed. With `--evaluate` nothing is compiled: the reference evaluator
runs the program as it is. The compiler is imported only where it is used.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..commands import guarded, warnings_passed_to
from ..errors import UsageError, compiled, reported
from .run_options import Options, parse_arguments

if TYPE_CHECKING:
    from ..messages import Reporter

EXTENSION = ".xrx"
"""The extension of executables."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xrelay-run` with `argv` (default: the process's); return the exit status."""
    given = sys.argv[1:] if argv is None else argv
    return guarded(lambda: reported(lambda: _main(given)))


def _main(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    name = "<stdin>" if options.file == "-" else options.file
    from ...runtime.files import limit_input

    limit_input(options.max_input)
    return reported(lambda: _run(options, name), name, traceback=options.traceback)


def _run(options: Options, name: str) -> int:
    from ...runtime.files import CODE, contents, is_stream, kind_of
    from ..api.plugin_files import load_files

    load_files(options.load)
    data = contents(options.file) if is_stream(options.file) else None
    kind = kind_of(_first_bytes(options.file, data))
    if kind == CODE:
        if data is not None or options.file == "-":
            raise UsageError("a library must be a file: the system loads it")
        from .run_executable import run_library

        run_library(options)
        return 0
    is_executable = options.file.endswith(EXTENSION) or kind == "an executable"
    if is_executable and options.frontend is None:
        from .run_executable import run_executable

        with warnings_passed_to(lambda text: print(f"warning: {text}", file=sys.stderr)):
            run_executable(options, data)
        return 0

    def run(reporter: Reporter) -> int:
        from .run_program import run_program

        run_program(options, reporter, data)
        return 0

    instead = "xrelay-run FILE.xrx runs compiled programs"
    return compiled(run, instead, name, traceback=options.traceback)


def _first_bytes(path: str, data: memoryview | None) -> bytes:
    """
    Return the first bytes of `data`, or of a file or stdin, which can be read again; none if it
    cannot.
    """
    from ...runtime.files import START

    if data is not None:
        return bytes(data[:START])
    if path == "-":
        peek = getattr(getattr(sys.stdin, "buffer", None), "peek", None)
        return b"" if peek is None else peek(START)[:START]
    try:
        with open(path, "rb") as file:
            return file.read(START)
    except (OSError, ValueError):
        return b""  # the error is reported where the file is read


if __name__ == "__main__":
    sys.exit(main())

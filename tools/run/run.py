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
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from ..commands import guarded, warnings_passed_to
from ..error_report import reported
from ..errors import UsageError, require_compiler
from ..progress import Progress
from .run_options import Options, parse_arguments

Reported: TypeAlias = Callable[..., int]
"""Runs a function, and reports its error with the name of the file."""

EXTENSION = ".xrx"
"""The extension of executables."""

ELF = b"\x7fELF"
"""The first bytes of a library on Linux."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `xrelay-run` with `argv` (default: the process's); return the exit status."""
    given = sys.argv[1:] if argv is None else argv
    return guarded("xrelay-run", lambda: reported(lambda: _main(given), "xrelay-run"))


def _main(argv: Sequence[str]) -> int:
    options = parse_arguments(argv)
    name = "<stdin>" if options.file == "-" else options.file
    from ...runtime.files import limit_input

    limit_input(options.max_input)
    report_of_name = partial(reported, name=name, traceback=options.traceback)
    return report_of_name(lambda: _run(options, report_of_name))


def _run(options: Options, reported_here: Reported) -> int:
    from ...runtime.files import contents, is_stream

    data = contents(options.file) if is_stream(options.file) else None
    if _first_bytes(options.file, data, len(ELF)) == ELF:
        raise UsageError("a library is called by programs: xrelay.load, or C (docs/aot.md)")
    if _is_executable(options, data):
        from .run_executable import run_executable

        with warnings_passed_to(lambda text: print(f"warning: {text}", file=sys.stderr)):
            run_executable(options, data)
        return 0
    require_compiler("xrelay-run FILE.xrx runs compiled programs")
    from ..messages import Reporter, warnings_shown
    from ..pass_run.process import settings

    reporter = Reporter(progress=Progress())

    def run() -> int:
        from .run_program import run_program

        with warnings_shown(reporter):
            run_program(options, reporter, data)
        return 0

    with settings():
        return reported_here(run, reporter=reporter)


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

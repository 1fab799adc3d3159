"""The `mlir-opt` of the extra `native`, as a tool of the lit format: it reads stdin."""

import sys
from collections.abc import Sequence

from ...lowering.native.toolchain.processes import ProcessFailed, run
from ...lowering.native.toolchain.tool_paths import tool

SECONDS = 60.0
"""The time limit of a call."""


def main(arguments: Sequence[str]) -> int:
    """Run `mlir-opt` with `arguments`; print what it prints."""
    command = [tool("mlir-opt"), *arguments]
    try:
        finished = run("mlir-opt", command, sys.stdin.read().encode(), seconds=SECONDS)
    except ProcessFailed as failed:
        sys.stderr.write(failed.errors or str(failed))
        return 1
    sys.stdout.write(finished.output.decode())
    sys.stderr.write(finished.errors)
    return 0

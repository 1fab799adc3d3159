"""The error for files that cannot be read or written."""

from ..errors import MachineError


class ExecutableError(MachineError):
    """A file that is not an executable, is damaged, or does not fit its weights."""

    __module__ = "xrelay"  # the name that tracebacks show


def damaged(section: str, offset: int, fault: str) -> ExecutableError:
    """Return the error for a `fault` at byte `offset` of the file, in `section`."""
    return ExecutableError(f"section '{section}', byte {offset}: {fault}")

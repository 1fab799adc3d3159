"""An install without the compiler: NumPy and this package, without xDSL."""

from importlib.util import find_spec

from .errors import UsageError


def require_compiler(instead: str) -> None:
    """Raise `UsageError` if xDSL is not installed; `instead` says what works without it."""
    if find_spec("xdsl") is None:
        raise UsageError(
            "the compiler is not installed here, only what runs compiled programs: pip install "
            f"xrelay installs it with xDSL; {instead}"
        )

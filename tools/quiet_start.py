"""
Let Ctrl-C end a command without a traceback while it only imports.

Imported before anything else of the package. `tools.start` handles Ctrl-C from then on.
"""

import sys

COMMANDS = ("xrelay-opt", "xrelay-run", "xrelay-plan", "xrelay-objdump")
"""The commands, as the system starts them."""


def _is_command(path: str) -> bool:
    return path.replace("\\", "/").rpartition("/")[2].removesuffix(".exe") in COMMANDS


if any(map(_is_command, sys.argv[:1])):
    import signal  # not for those who import the package, for fast start-up

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is not to be ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)

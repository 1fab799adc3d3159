"""
The entry points of `xrelay-opt` and `xrelay-run`.

Nothing else of ours is imported before the command is guarded, so that Ctrl-C is quiet.
"""

from .commands import guarded


def opt() -> int:
    """Run `xrelay-opt`."""

    def start() -> int:
        from .opt import main

        return main()

    return guarded("xrelay-opt", start)


def run() -> int:
    """Run `xrelay-run`."""

    def start() -> int:
        from .run import main

        return main()

    return guarded("xrelay-run", start)

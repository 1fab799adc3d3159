"""
The commands as `python -m xrelay COMMAND …`.

    python -m xrelay opt model.onnx -o model.xrx        as xrelay-opt model.onnx -o model.xrx
"""

import sys

from .tools import start

COMMANDS = {name: getattr(start, name) for name in ("opt", "run", "plan", "objdump")}


def main() -> int:
    """Run the command that is named; return its exit status."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    command = COMMANDS.get(name.removeprefix("xrelay-"))
    if command is not None:
        sys.argv[:2] = [f"xrelay-{name.removeprefix('xrelay-')}"]
        return command()
    usage = f"usage: python -m xrelay {{{','.join(COMMANDS)}}} …, each with --help"
    if name in ("-h", "--help"):
        print(usage)
        return 0
    if name in ("-v", "--version"):
        sys.argv = ["xrelay", "--version"]
        return start.opt()
    fault = f"unknown command '{name}'" if name else "expected a command"
    print(f"error: {fault}\n{usage}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

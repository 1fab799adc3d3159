"""TVM in a process of its own."""

import json
import subprocess
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

SERVER = Path(__file__).with_name("server.py")


class Tvm:
    """A server that answers requests about programs; it is restarted if it crashes."""

    def __init__(self, python: str) -> None:
        self._python = python
        self._process = self._start()

    def _start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [self._python, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def ask(self, do: str, text: str, **more: Any) -> dict[str, Any]:
        """Return the answer to a request; a failure is under "error"."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, "text": text, **more}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._process = self._start()
            return {"error": "the process ended"}
        return json.loads(line)


def arguments(description: str) -> ArgumentParser:
    """Return a parser with the option `--tvm`."""
    parser = ArgumentParser(description=description)
    parser.add_argument("--tvm", required=True, help="a Python interpreter that has TVM")
    return parser

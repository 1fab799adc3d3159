"""
Run the journeys of `docs/journeys.md` as new users would: in a new environment, and a new folder.

    python tests/journeys.py            all of them
    python tests/journeys.py onnx       those whose titles have this in them

pip installs the package, with `onnx`, from this repository. Fails at the first command that does.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "journeys.md"


def journeys() -> dict[str, str]:
    """Return the commands of each journey by its title."""
    _, *parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.M)
    return {
        title: "\n".join(re.findall(r"```sh\n(.*?)```", text, re.S))
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


def walk(commands: str, folder: Path, scripts: str) -> str:
    """Run commands in a folder, with `scripts` first on the path; return what they print."""
    path = os.pathsep.join((scripts, os.environ["PATH"]))
    environment = {"XDG_CACHE_HOME": str(folder / "cache"), **os.environ, "PATH": path}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(f"status {done.returncode}: {commands}\n{done.stdout}")
    return done.stdout


SHIPPED = "An ONNX model, small and shipped"

SHOWN = {
    SHIPPED: ("as expected: 1 output", "one call    min ", "(1, 1000"),
    "A student of compilers": ("27_manifest-alloc.mlir", "remark: 5 ops", "tensor<2x4xf32, #cpu0>"),
    "A program of Relay": ("as expected: 1 output", "memory of @main on cuda:0"),
}
"""Parts of the output of the commands of each journey."""


def check(title: str, folder: Path, scripts: str) -> None:
    """Walk a journey; raise an error if what it shows is not printed."""
    printed = walk(journeys()[title], folder, scripts)
    if missing := [text for text in SHOWN[title] if text not in printed]:
        raise RuntimeError(f"{title}: {missing} are not in\n{printed}")


def main() -> None:
    """Walk the journeys that the command line names."""
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        install = f"{sys.executable} -m venv new && new/bin/pip install -q '{ROOT}[onnx]'"
        walk(install, folder, "")
        for title, commands in journeys().items():
            if part.lower() in title.lower():
                print(f"== {title}", flush=True)
                (folder / title).mkdir()
                print(walk(commands, folder / title, str(folder / "new" / "bin")))


if __name__ == "__main__":
    main()

"""
Write the documentation that is generated.

That is `docs/reference/`, and the dumps in `docs/native.md`.

    python tests/write_documentation.py
"""

import sys
from pathlib import Path

from helpers.documentation.kernel_ways import with_ways
from helpers.documentation.reference_pages import pages

ROOT = Path(__file__).parent.parent


def write(root: Path) -> None:
    """Write the pages in the repository at `root`."""
    folder = root / "docs" / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
    native = root / "docs" / "native.md"
    native.write_text(with_ways(native.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(write(ROOT))

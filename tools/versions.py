"""The versions of the package and of what it stands on, for `--version`; the commit if known."""

import json
import subprocess
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT_FROM = ROOT / "commit.txt"
"""The file in which a wheel has the commit that it was built from."""


def versions() -> str:
    """Return the versions in a line: `0.1.0 (commit 1a2b3c4), xdsl 0.74.0`."""
    commit = _commit()
    shown = version("xrelay") + (f" (commit {commit})" if commit else "")
    return ", ".join((shown, *_installed("xdsl", "numpy")))


def _installed(*names: str) -> list[str]:
    lines: list[str] = []
    for name in names:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"no {name}")
    return lines


def _commit() -> str | None:
    """Return the commit of the checkout, or that which was installed; None if nothing says it."""
    if (ROOT / ".git").exists():
        command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip() or None
    if BUILT_FROM.exists():
        return BUILT_FROM.read_text().strip() or None
    text = distribution("xrelay").read_text("direct_url.json")
    commit: str | None = json.loads(text or "{}").get("vcs_info", {}).get("commit_id")
    return commit and commit[:8]

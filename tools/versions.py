"""The versions of the package and of what it stands on, for `--version`; the commit if known."""

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
        return _head(ROOT / ".git")
    if BUILT_FROM.exists():
        return BUILT_FROM.read_text().strip() or None
    import json  # takes a tenth of the start

    text = distribution("xrelay").read_text("direct_url.json")
    commit: str | None = json.loads(text or "{}").get("vcs_info", {}).get("commit_id")
    return commit and commit[:8]


def _head(git: Path) -> str | None:
    """Return the current commit of a repository: starting git takes longer than all else."""
    try:
        if git.is_file():  # of a worktree
            git = git.parent / git.read_text().removeprefix("gitdir:").strip()
        common = git / "commondir"
        shared = git / common.read_text().strip() if common.exists() else git
        head = (git / "HEAD").read_text().strip()
        if head.startswith("ref: "):
            name = head.removeprefix("ref: ")
            loose = next((at / name for at in (git, shared) if (at / name).is_file()), None)
            packed = "" if loose is not None else (shared / "packed-refs").read_text()
            refs = (line.partition(" ") for line in packed.splitlines())
            commits = (commit for commit, _, ref in refs if ref == name)
            head = next(commits, "") if loose is None else loose.read_text().strip()
    except OSError:
        return None
    return head[:8] or None

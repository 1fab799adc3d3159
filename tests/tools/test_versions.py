"""The commit of a checkout is what git says, however it is stored."""

import subprocess
from pathlib import Path

import pytest

from xrelay.tools import versions


def git(where: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    command = ["git", "-C", str(where), *identity, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_the_commit_is_that_of_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    root, tree = tmp_path / "root", tmp_path / "tree"
    root.mkdir()
    git(root, "init", "-q")
    monkeypatch.setattr(versions, "ROOT", root)
    assert " (commit" not in versions.versions()  # there is none yet
    git(root, "commit", "-q", "--allow-empty", "-m", "one")
    git(root, "worktree", "add", "-q", "-b", "other", str(tree))
    git(tree, "commit", "-q", "--allow-empty", "-m", "two")
    steps = ((), ("pack-refs", "--all"), ("checkout", "-q", "--detach"))
    for step in steps:
        for where in (root, tree):
            if step:
                git(where, *step)
            monkeypatch.setattr(versions, "ROOT", where)
            head = git(where, "rev-parse", "HEAD")[:8]
            assert f"(commit {head})" in versions.versions()

"""
Bring back faults that were mended, one at a time, and say which tests catch them.

    python tests/mutants
    python tests/mutants prelu-infinite swaps-share

All is done in a copy of the files that git knows, with a cache of kernels of its own.
"""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from resource import RLIMIT_AS, setrlimit
from shutil import copy2
from time import monotonic
from typing import NamedTuple

sys.path[0] = str(Path(__file__).parents[1])  # for the tests' helper modules

ROOT = Path(__file__).parents[2]
SECONDS = 120
"""Limit on the time of a net; one that takes longer has caught the mutant."""
MEMORY = 4 << 30
"""Limit on the address space of a process, as some of the faults take all there is."""


class Outcome(NamedTuple):
    """The result of running a net."""

    what: str
    """pytest's summary, such as "1 failed, 3 passed"."""
    status: int | None
    """The exit status; None if the time was over."""
    seconds: float

    @property
    def passed(self) -> bool:
        """True if there were tests, and all passed."""
        return self.status == 0

    @property
    def caught(self) -> bool:
        """True if tests failed; a net that cannot be collected has caught nothing."""
        return self.status in (None, 1)


def copy_tree(target: Path) -> None:
    """Copy the files that git knows, as they are now, to `target`; links stay links."""
    listed = subprocess.check_output(["git", "ls-files", "-z", "--cached"], cwd=ROOT, text=True)
    for name in filter(None, listed.split("\0")):
        source, copy = ROOT / name, target / name
        if source.is_symlink() or source.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy2(source, copy, follow_symlinks=False)


def limit_memory() -> None:
    """Bound the memory of this process and of those that it starts."""
    setrlimit(RLIMIT_AS, (MEMORY, MEMORY))


def run(net: str, tree: Path) -> Outcome:
    """Run the tests of `net` in `tree`."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--tb=no", "-p", "no:cacheprovider"]
    cache = str(tree.parent / "cache")
    process = subprocess.Popen(
        [*command, *shlex.split(net)],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": cache},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=limit_memory,
    )
    start = monotonic()
    try:
        lines = process.communicate(timeout=SECONDS)[0].splitlines()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return Outcome("took too long", None, monotonic() - start)
    summary = lines[-1].partition(" in ")[0] if lines else ""
    return Outcome(summary, process.returncode, monotonic() - start)


def main() -> int:
    """Run the command; return 1 if a net did not catch a mutant, 2 if one fails without."""
    from mutants.table import MUTANTS

    names = [mutant.name for mutant in MUTANTS]
    parser = ArgumentParser(prog="python tests/mutants", description=main.__doc__)
    parser.add_argument("name", nargs="*", choices=[[], *names], help="mutants (all)")
    chosen = parser.parse_args().name or names
    mutants = [mutant for mutant in MUTANTS if mutant.name in chosen]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        copy_tree(tree)
        for net in dict.fromkeys(net for mutant in mutants for net in mutant.nets):
            outcome = run(net, tree)
            if not outcome.passed:
                print(f"without a mutant, {net}: {outcome.what}", file=sys.stderr)
                return 2
        print("| mutant | caught by | tests | s |\n|---|---|---|---|")
        for mutant in mutants:
            place = tree / mutant.file
            text = place.read_text(encoding="utf-8")
            place.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
            name = f"`{mutant.name}`: {mutant.fault}"
            for net in mutant.nets:
                outcome = run(net, tree)
                shown = f"`{net}`" if outcome.caught else f"**not** `{net}`"
                print(f"| {name} | {shown} | {outcome.what} | {outcome.seconds:.0f} |", flush=True)
                missed += not outcome.caught
                name = ""
            place.write_text(text, encoding="utf-8")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

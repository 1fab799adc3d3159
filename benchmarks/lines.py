"""
Lines by room: the product's, the tests' helpers, and sets of files that an issue is about.

    python benchmarks/lines.py [--files SET]

Counts the lines of sources that git tracks as `wc -l` does. A set is a list of glob patterns, so
that it is easy to change when files move: a pattern that matches nothing is an error.
"""

import subprocess
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("*.py", "*.c", "*.h", "*.mlir", "*.relay", "*.css", "*.js")
"""Patterns of source files; data and documents are not sources."""

ROOMS = {
    **{
        room: (f"{room}/*",)
        for room in ("operators", "dialects", "passes", "planning", "lowering", "runtime")
    },
    "frontends": ("frontends/*",),
    "tools": ("tools/*",),
    "the package": ("xrelay/__init__.py",),
}
"""The rooms of the product, each with its patterns; `*` also matches `/`."""

TESTS = {
    "tests": ("tests/*test_*.py",),
    "tests' helpers": ("tests/*", "!tests/*test_*.py", "!tests/data/*"),
    "tests' data": ("tests/data/*",),
    "golden tests": ("lit_tests/*",),
}
"""Everything under `tests/` and `lit_tests/`."""

SETS = {
    "memory floor": (
        *("passes/sizes/*", "passes/bytes/*", "passes/workspaces/*", "passes/plan_check/*"),
        *("passes/memory_report/*", "passes/analysis/*"),
        *("dialects/memory/*", "planning/*"),
        *("passes/*_memory.py", "passes/*_memory_plan.py", "passes/*_storage.py"),
        *("passes/layout_slices.py", "passes/manifest_*.py", "passes/pass_workspaces.py"),
        *("passes/reuse_in_place.py", "passes/remove_dead_writes.py"),
        *("passes/create_shape_functions.py", "passes/simplify_shapes.py"),
    ),
    "checker": ("passes/plan_check/*", "passes/buffer_check/*", "passes/verify_memory_plan.py"),
    "programs on memrefs": (
        *("passes/plan_memref.py", "passes/pack_buffers.py", "passes/lower_buffers.py"),
        "passes/bytes/buffer_*.py",
    ),
    "sizes": (
        *("passes/sizes/*", "operators/sizes/*", "!operators/sizes/rule_sizes.py"),
        *("!operators/sizes/__init__.py", "passes/memory_report/formulas.py"),
        "passes/memory_report/loads.py",
    ),
    "device planning": (
        *("passes/devices/*", "passes/*_devices.py", "passes/*_device_copies.py"),
        "passes/sink_device_hints.py",
    ),
    "Relay text": (
        *("frontends/relay_text/*", "dialects/relay/unification.py"),
        *("passes/functions/unify_types.py", "passes/rename_written_tensors.py"),
        "passes/make_kernels.py",
    ),
    "entries, buffers, machine code": (
        *("lowering/native/*", "lowering/entries/*", "lowering/memref/*"),
        *("lowering/aot_lower_main.py", "lowering/upstream_sizes/checked_*"),
    ),
    "native code": ("lowering/native/*", "lowering/entries/*", "runtime/native/*"),
    "records and commands": (
        *("runtime/executable/*", "runtime/native/*", "tools/*", "xrelay/__init__.py"),
        *("runtime/codec/*", "runtime/weights/late_bound.py"),
    ),
}
"""Named parts of the product; a pattern that begins with `!` takes files away."""


def tracked(root: Path = ROOT) -> list[str]:
    """Return the paths of the sources that git tracks, or of all without git."""
    command = ["git", "-C", str(root), "ls-files", "-z"]
    try:
        listed = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        paths = [path for path in listed.split("\0") if (root / path).is_file()]
    except (FileNotFoundError, subprocess.CalledProcessError):
        everything = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
        paths = [path.as_posix() for path in everything if not path.parts[0].startswith(".")]
    return sorted(
        path
        for path in paths
        if any(fnmatchcase(path, source) for source in SOURCES) and not _is_linked(root, path)
    )


def _is_linked(root: Path, path: str) -> bool:
    """Test whether a path leads through a link, and so is the second of its file."""
    return (root / path).resolve() != root.resolve() / path


def members(patterns: Sequence[str], paths: Iterable[str]) -> list[str]:
    """Return the paths that a pattern matches and no pattern with `!` does."""
    listed = list(paths)
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    if stale := [p for p in wanted if not any(fnmatchcase(path, p) for path in listed)]:
        raise SystemExit(f"error: no source matches {', '.join(stale)}: change benchmarks/lines.py")
    others = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    return [
        path
        for path in listed
        if any(fnmatchcase(path, pattern) for pattern in wanted)
        and not any(fnmatchcase(path, pattern) for pattern in others)
    ]


def lines(root: Path, path: str) -> int:
    """Return the number of line ends in a file."""
    return (root / path).read_bytes().count(b"\n")


def table(title: str, parts: Mapping[str, Sequence[str]], root: Path, *, total: bool) -> str:
    """Return the files and lines of each part, and of all if they are `total`."""
    paths = tracked(root)
    of_parts = {name: members(patterns, paths) for name, patterns in parts.items()}
    rows = [
        (name, len(files), sum(lines(root, f) for f in files)) for name, files in of_parts.items()
    ]
    if total:
        rows.append(("**all**", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    texts = (f"| {name} | {files:,} | {count:,} |" for name, files, count in rows)
    return "\n".join([f"| {title} | files | lines |", "|---|---|---|", *texts])


def main() -> None:
    """Print three tables, or the files of one set with their lines."""
    parser = ArgumentParser(description=main.__doc__)
    parser.add_argument("--files", choices=[*ROOMS, *TESTS, *SETS], help="list the files of a part")
    parser.add_argument("--root", type=Path, default=ROOT, help="the folder of a checkout")
    options = parser.parse_args()
    if options.files is not None:
        patterns = {**ROOMS, **TESTS, **SETS}[options.files]
        for path in members(patterns, tracked(options.root)):
            print(f"{lines(options.root, path):7,} {path}")
        return
    print(table("room", ROOMS, options.root, total=True), end="\n\n")
    print(table("tests", TESTS, options.root, total=True), end="\n\n")
    print(table("set", SETS, options.root, total=False))


if __name__ == "__main__":
    main()

"""
Regenerate the CHECK lines of lit tests from what their RUN lines print.

    python -m xrelay.tools.testing.update_checks lit_tests/passes/fuse-ops/*.mlir

The checks of `func.func @f …` are placed right before `func.func @f` in the input, under a
CHECK-LABEL; those of an op that is not in the input, after those of the op printed before it.
Old CHECK lines of the same prefix are removed, other comments stay. A test that uses other
directives (-DAG, -NOT, -COUNT, …) was written by hand and is left alone unless `--force` is
given. Every test that was written is run; status 1 if one fails or was left alone.
"""

import argparse
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..api.source import SPLIT_MARK
from . import lit_format
from .lit_discovery import execute, find_tests

VALUE = re.compile(r"%([A-Za-z0-9_$.-]+)")
SYMBOL = re.compile(r'^\s*"?[A-Za-z_][\w.$]*"?[^%@{}]*@([\w$.-]+)')
SPECIAL = re.compile(r"\[\[|\{\{")
ALIAS = re.compile(r"[#!][\w$.-]+ = ")
GENERIC_SYMBOL = re.compile(r'^\s*"[\w.]+"\(\) <\{.*?sym_name = "([^"]+)"')
MODULES = (("builtin.module {", "}"), ('"builtin.module"() ({', "}) : () -> ()"))
"""The printed form of a module that the parser made because the input has none."""


@dataclass(frozen=True)
class Block:
    """The lines of one top-level op, and the symbol that it defines, if any."""

    symbol: str | None
    lines: tuple[str, ...]


def blocks(text: str, implicit_module: bool) -> list[Block]:
    """
    Return the top-level ops of a printed module; definitions of aliases are not checked.

    With `implicit_module`, when the input has no module op, these are the ops in the module.
    """
    lines = [line for line in text.split("\n") if line.strip() and not ALIAS.match(line)]
    indent = 0
    if implicit_module and lines and (lines[0], lines[-1]) in MODULES:
        lines, indent = lines[1:-1], 2
    groups: list[list[str]] = []
    for line in lines:
        starts = not line[indent:].startswith((" ", "}", "^"))
        if starts or not groups:
            groups.append([])
        groups[-1].append(line[indent:])
    return list(_merged(Block(_symbol(lines[0]), tuple(lines)) for lines in groups))


def _symbol(line: str) -> str | None:
    match = GENERIC_SYMBOL.match(line) or SYMBOL.match(line)
    return match[1] if match else None


def _merged(found: Iterator[Block]) -> Iterator[Block]:
    """Merge neighbours without symbols into one block, so that they share captures."""
    loose: list[str] = []
    for block in found:
        if block.symbol is None:
            loose += block.lines
            continue
        if loose:
            yield Block(None, tuple(loose))
            loose = []
        yield block
    if loose:
        yield Block(None, tuple(loose))


def check_lines(block: Block, prefix: str) -> list[str]:
    """Return the comment lines that check `block`."""
    captures: dict[str, str] = {}
    width = len(f"// {prefix}-LABEL:   ")
    checks: list[str] = []

    def add(suffix: str, text: str) -> None:
        directive = f"// {prefix}{suffix}:"
        checks.append(f"{directive:<{width}}{_with_captures(text, captures)}".rstrip())

    first, *rest = block.lines
    if block.symbol is None:
        add("", first)
    else:
        name = re.escape(block.symbol)
        match = re.search(rf'@{name}\(?|sym_name = "{name}"', first)
        assert match is not None, "a block starts with the op that defines its symbol"
        end = match.end()
        add("-LABEL", first[:end])
        if first[end:].strip():
            add("-SAME", f"  {first[end:].strip()}")
    for line in rest:
        add("-NEXT", line)
    return checks


def _with_captures(text: str, captures: dict[str, str]) -> str:
    """Replace names of values by captures, and escape FileCheck's own syntax."""
    parts: list[str] = []
    end = 0
    for match in VALUE.finditer(text):
        parts.append(escaped(text[end : match.start()]))
        name, end = match[1].rstrip(".-"), match.start() + 1 + len(match[1].rstrip(".-"))
        known = captures.get(name)
        if known is None:
            captures[name] = _capture_name(name, captures.values())
            parts.append(f"%[[{captures[name]}:.*]]")
        else:
            parts.append(f"%[[{known}]]")
    return "".join(parts) + escaped(text[end:])


def escaped(text: str) -> str:
    """Write FileCheck's brackets and braces in `text` as regular expressions."""
    return SPECIAL.sub(lambda m: "{{" + "".join(f"\\{c}" for c in m[0]) + "}}", text)


def _capture_name(name: str, taken: Collection[str]) -> str:
    """Return a FileCheck variable for the value `name`: `%x_1` is X_1, `%0` is V0."""
    base = re.sub(r"\W", "_", name).upper()
    if base[0].isdigit():
        base = f"V{base}"
    count = 2
    wanted = base
    while wanted in taken:
        wanted, count = f"{base}_{count}", count + 1
    return wanted


PREFIX = re.compile(r"--?check-prefix(?:es)?")
DESCRIPTION = "Regenerate the CHECK lines of lit tests."
SIMPLE = frozenset(("", "-LABEL", "-SAME", "-NEXT"))
"""The suffixes of the prefix in generated lines."""


class LeftAlone(Exception):
    """The reason why a test cannot be regenerated."""


@dataclass(frozen=True)
class Printed:
    """The output of one RUN line, and the prefix that checks it."""

    prefix: str
    text: str


def update(path: Path, force: bool = False) -> bool:
    """
    Rewrite the checks of the test at `path`; return whether the file changed.

    Raises `LeftAlone` when they cannot be generated.
    """
    original = path.read_text(encoding="utf-8")
    for _ in range(3):  # messages have line numbers, which the new lines shift
        before = path.read_text(encoding="utf-8")
        runs = list(_printed(_find_test(path)))
        after = updated(before, runs, str(path.resolve()), force)
        if after == before:
            break
        path.write_text(after, encoding="utf-8")
        force = True
    return path.read_text(encoding="utf-8") != original


def updated(text: str, runs: Sequence[Printed], path: str, force: bool = False) -> str:
    """Return the text of a test whose RUN lines print `runs`."""
    outputs: dict[str, str] = {}
    for run in runs:
        if outputs.setdefault(run.prefix, run.text) != run.text:
            raise LeftAlone(f"two RUN lines print different text for {run.prefix}")
    lines = text.split("\n")
    for prefix, output in outputs.items():
        directive = re.compile(rf"^\s*//\s*{re.escape(prefix)}(-[A-Z]+)?(?:\{{.*\}})?:")
        others = {m[1] or "" for line in lines if (m := directive.match(line))} - SIMPLE
        if others and not force:
            raise LeftAlone(f"it uses {prefix}{min(others)}")
        first = next((i for i, line in enumerate(lines) if directive.match(line)), None)
        lines = [line for line in lines if not directive.match(line)]
        if re.match(r'(?:[#!]\S+ = .*\n)*"?builtin\.module\b', output):
            lines = _place_modules(lines, output, prefix)
        else:
            shown = escaped(output).replace(path, "{{.*}}" + Path(path).name).rstrip("\n")
            checks = _plain_lines(shown, prefix)
            at = _after_runs(lines) if first is None else first
            lines[at:at] = checks
    return "\n".join(lines)


def _plain_lines(text: str, prefix: str) -> Iterator[str]:
    """Yield checks for output that is not a module, such as messages, line by line."""
    width = len(f"// {prefix}-NEXT: ")
    for i, line in enumerate(text.split("\n")):
        directive = f"// {prefix}{'-NEXT' if i else ''}:"
        if line.strip():
            yield f"{directive:<{width}}{line}"


def _after_runs(lines: Sequence[str]) -> int:
    """Return the number of the line after the last RUN line."""
    runs = [i for i, line in enumerate(lines) if "RUN:" in line]
    return runs[-1] + 1 if runs else 0


def _place_modules(lines: list[str], output: str, prefix: str) -> list[str]:
    """Put the checks of every part of the output into its part of the input."""
    mark = re.compile(rf"^{SPLIT_MARK}[ \t]*$", re.MULTILINE)
    sources = mark.split("\n".join(lines))
    printed = mark.split(output)
    if len(printed) == 1:
        sources = ["\n".join(lines)]
    if len(sources) != len(printed):
        raise LeftAlone(f"{len(sources)} parts are read, but {len(printed)} are printed")
    parts = [
        "\n".join(_place(source.split("\n"), text, prefix))
        for source, text in zip(sources, printed, strict=True)
    ]
    return SPLIT_MARK.join(parts).split("\n")


def _place(lines: list[str], output: str, prefix: str) -> list[str]:
    """Put the checks of `output` before the ops of `lines` that they are about."""
    implicit = not any(re.match(r'^\s*"?(builtin\.)?module\b', line) for line in lines)
    at: dict[int, list[Block]] = {}
    last = _start(lines)
    for block in blocks(output, implicit):
        last = _line_of(lines, block.symbol, last)
        at.setdefault(last, []).append(block)
    placed: list[str] = []
    for i in range(len(lines) + 1):
        for block in at.get(i, ()):
            placed += check_lines(block, prefix)
        placed += lines[i : i + 1]
    return placed


def _start(lines: Sequence[str]) -> int:
    """Return the number of the first line that is neither empty nor a comment."""
    for i, line in enumerate(lines):
        if line.strip() and not line.lstrip().startswith("//"):
            return i
    return len(lines)


def _line_of(lines: Sequence[str], symbol: str | None, otherwise: int) -> int:
    """Return the number of the line that defines `symbol`."""
    if symbol is None:
        return otherwise
    definition = re.compile(rf'^\s*"?[\w.]+"?[^%@]*@"?{re.escape(symbol)}"?(?![\w$.-])')
    generic = re.compile(rf'\bsym_name = "{re.escape(symbol)}"')
    for i, line in enumerate(lines):
        if line.lstrip().startswith("//"):
            continue
        if definition.match(line) or generic.search(line):
            return i
    return otherwise


def _find_test(path: Path) -> Any:
    """Return the lit test at `path`, with the settings of its suite."""
    tests = find_tests(path)
    if len(tests) != 1:
        raise LeftAlone("it is not a test of a lit suite")
    return tests[0]


def _printed(test: Any) -> Iterator[Printed]:
    """Yield the input of filecheck for each RUN line that ends in filecheck."""
    try:
        pipelines = [lit_format.parse(line, True) for line in lit_format.run_lines(test)]
    except lit_format.NotOurs:
        raise LeftAlone("its RUN lines need a shell") from None
    checked = 0
    with lit_format.directory_of(test):
        for pipeline in pipelines:
            *calls, last = pipeline.calls
            if last.tool != "filecheck" or not calls or last.negated:
                lit_format.run(pipeline)  # it may write what a later line reads
                continue
            checked += 1
            pipeline.calls = calls
            done = lit_format.run(pipeline)
            if done.status:
                log = done.log.getvalue().decode(errors="replace")
                raise LeftAlone(f"a RUN line fails:\n{log}")
            yield Printed(_prefix(last.arguments), done.out.decode())
    if not checked:
        raise LeftAlone("none of its RUN lines ends in filecheck")


def _prefix(arguments: Sequence[str]) -> str:
    words = [word for argument in arguments for word in argument.split("=", 1)]
    for option, value in pairwise(words):
        if PREFIX.fullmatch(option):
            return value.split(",")[0]
    return "CHECK"


def main(argv: Sequence[str] | None = None) -> int:
    """Update the tests that `argv` names; return the exit status."""
    parser = argparse.ArgumentParser("update_checks", description=DESCRIPTION)
    parser.add_argument("tests", nargs="+", type=Path, help="the files of the tests")
    parser.add_argument(
        "--force", action="store_true", help="drop checks that are not generated, too"
    )
    args = parser.parse_args(argv)
    status = 0
    for path in args.tests:
        try:
            changed = update(path, args.force)
            test = _find_test(path)
            result = execute(test)
        except (LeftAlone, OSError) as error:
            print(f"{path}: left alone: {error}", file=sys.stderr)
            status = 1
            continue
        if result.code.isFailure:
            print(f"{path}: the new checks fail:\n{result.output}", file=sys.stderr)
            status = 1
        elif changed:
            print(f"{path}: updated")
    return status


if __name__ == "__main__":
    sys.exit(main())

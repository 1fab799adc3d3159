"""
Printed IR as FileCheck lines, with captures for the names of values.

    func.func @f(%a: i32) {             // CHECK-LABEL:   func.func @f(
      %x = arith.addi %a, %a : i32  ->  // CHECK-SAME:      %[[A:.*]]: i32) {
    }                                   // CHECK-NEXT:      %[[X:.*]] = arith.addi %[[A]], …

A name is captured at its first occurrence in a block of lines, and referred to from there on.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

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
    found: list[list[str]] = []
    for line in lines:
        starts = not line[indent:].startswith((" ", "}", "^"))
        if starts or not found:
            found.append([])
        found[-1].append(line[indent:])
    return list(_merged(Block(_symbol(lines[0]), tuple(lines)) for lines in found))


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
        found = re.search(rf'@{name}\(?|sym_name = "{name}"', first)
        assert found is not None, "a block starts with the op that defines its symbol"
        end = found.end()
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

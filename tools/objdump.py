"""
The command `xrelay-objdump`: show what is in an executable, without running it.

    xrelay-objdump model.xrx
    xrelay-objdump model.xrx --section code --section memory
    xrelay-objdump model.xrx --json

Exit status 0: the file is intact; 1: it cannot be read or is damaged; 2: wrong usage.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Any

from ..operators.records import record
from ..runtime.executable import ExecutableFile, read_executable
from ..runtime.files import limit_input
from ..runtime.plain_text import human, printable, table
from ..runtime.program.listing import function_lines, kernel_lines
from ..runtime.program.planned_memory import storages_of
from ..runtime.program.program import Constant, Kernel, Late, spec_of
from ..runtime.python.call_signature import signature_of
from .commands import read_stdin
from .errors import reported
from .option_types import Common, Parser

SHOWN = 40
"""The number of bytes of a plug-in's section that are shown as text."""


@record
class Shown:
    """A part of an executable: as lines of text, and as JSON."""

    facts: Callable[[ExecutableFile], Any]
    """Returns what is printed as JSON."""
    lines: Callable[[Any], Iterable[str]]
    """Returns the text of these facts, or of the file if it is `of_file`."""
    of_file: bool = False


# The file.


def _file_facts(file: ExecutableFile) -> dict[str, Any]:
    assert file.layout is not None, "it was read from a file"
    sections = [
        {
            "name": s.name,
            "offset": s.offset,
            "bytes": s.length,
            "crc32": f"{s.checksum:08x}" if s.has_checksum else None,
            "optional": s.is_optional,
        }
        for s in file.layout.sections
    ]
    return {
        "version": list(file.layout.version),
        "producer": file.producer,
        "weights": file.weights_file,
        "sections": sections,
    }


def _file_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    version = ".".join(map(str, facts["version"]))
    yield f"executable, format {version}, made by {facts['producer'] or 'an unknown program'}"
    if facts["weights"]:
        yield f"weights in {facts['weights']}"
    rows = [["section", "offset", "bytes", "", "crc32", ""]]
    for s in facts["sections"]:
        sum = s["crc32"] or "by constant"
        optional = "optional" if s["optional"] else ""
        size = s["bytes"]
        rows.append([s["name"], str(s["offset"]), f"{size:,}", human(size), sum, optional])
    yield from table(rows, "<>>>><", "  ")


# Devices and functions.


FUNCTION = "function {signature}: {instructions} instructions, {registers} registers"


def _function_facts(file: ExecutableFile) -> list[dict[str, Any]]:
    return [
        {
            "name": function.name,
            "signature": str(signature_of(function, file.program)),
            "instructions": len(function.instructions),
            "registers": function.register_count,
        }
        for function in file.program.functions
    ]


# Constants.


def _constant(constant: Constant, file: ExecutableFile) -> dict[str, Any]:
    if not isinstance(constant, Late):
        return {"type": str(spec_of(constant)), "bytes": constant.nbytes}
    spec, sums = constant.spec, file.checksums.get(constant.name)
    return {
        "type": str(spec),
        "bytes": spec.size if spec.is_static else None,
        "name": constant.name,
        "sha256": None if sums is None else sums.sha256.hex(),
    }


def _constant_lines(facts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    late = [fact for fact in facts if "name" in fact]
    sizes = [sum(fact["bytes"] or 0 for fact in part) for part in (facts, late)]
    yield (
        f"{len(facts)} constants of {sizes[0]:,} bytes, of them {len(late)} late-bound "
        f"of {sizes[1]:,} bytes"
    )
    rows: list[list[str]] = []
    for number, fact in enumerate(facts):
        size = "" if fact["bytes"] is None else f"{fact['bytes']:,}"
        name = f"'{fact['name']}'" if "name" in fact else ""
        digest = f"sha256 {fact['sha256'][:16]}…" if fact.get("sha256") else ""
        rows.append([f"constant {number}:", fact["type"], size, name, digest])
    if rows:
        yield from table(rows, "<<><<", "  ")


# Code.


def _kernel(kernel: Kernel) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "inputs": [str(spec) for spec in kernel.ins],
        "outputs": [str(spec) for spec in kernel.outs],
        "operators": [step.op for step in kernel.steps],
        "constants": sum(array.nbytes for array in kernel.constants),
    }


def _code(file: ExecutableFile) -> list[list[str]]:
    return [list(function_lines(function, file.program)) for function in file.program.functions]


# Memory.


def _memory_facts(file: ExecutableFile) -> list[dict[str, Any]]:
    """Return the plan that is recorded, or what the instructions allocate."""
    counts, amounts = ("tensors", "allocations"), ("sum", "lower_bound", "planned")
    return [
        {name: getattr(plan, name) for name in ("function", "device", *counts)}
        | {name: dict(zip(("bytes", "formula"), getattr(plan, name))) for name in amounts}
        for plan in file.memory or storages_of(file.program)
    ]


def _memory_lines(facts: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    rows = [["planned memory", "device", "bytes", "at least", "sum", "tensors", "allocations"]]
    for fact in facts:
        counts = [f"{fact[name]:,}" if fact[name] else "" for name in ("tensors", "allocations")]
        amounts = (fact[name] for name in ("planned", "lower_bound", "sum"))
        sizes = [a["formula"] if a["bytes"] is None else f"{a['bytes']:,}" for a in amounts]
        rows.append([fact["function"], fact["device"], *sizes, *counts])
    yield from table(rows, "<<>>>>>", "")


# Weights by formula, and what was added.


def _weight_lines(file: ExecutableFile) -> Iterator[str]:
    for function in file.weights:
        yield f"weight {function.name} of {', '.join(function.names)}:"
        yield from list(kernel_lines(function.kernel))[1:]


def _added_lines(file: ExecutableFile) -> Iterator[str]:
    for name, content in file.added.items():
        start = bytes(content[:SHOWN])
        more = "…" if len(content) > SHOWN else ""
        yield f"section '{name}' of a plug-in: {len(content):,} bytes: {start!r}{more}"


SECTIONS: Mapping[str, Shown] = {
    "file": Shown(_file_facts, _file_lines),
    "devices": Shown(
        lambda file: list(file.program.devices),
        lambda names: (f"device {i}: {d}{' (host)' * (not i)}" for i, d in enumerate(names)),
    ),
    "functions": Shown(_function_facts, lambda facts: map(FUNCTION.format_map, facts)),
    "constants": Shown(
        lambda file: [_constant(constant, file) for constant in file.program.constants],
        _constant_lines,
    ),
    "memory": Shown(_memory_facts, _memory_lines),
    "kernels": Shown(
        lambda file: list(map(_kernel, file.program.kernels)),
        lambda file: chain.from_iterable(map(kernel_lines, file.program.kernels)),
        of_file=True,
    ),
    "code": Shown(
        lambda file: {f.name: c[1:] for f, c in zip(file.program.functions, _code(file))},
        lambda file: chain.from_iterable(_code(file)),
        of_file=True,
    ),
    "weights": Shown(
        lambda file: [
            {"name": function.name, "weights": function.names, "kernel": _kernel(function.kernel)}
            for function in file.weights
        ],
        _weight_lines,
        of_file=True,
    ),
    "metadata": Shown(
        lambda file: dict(file.metadata),
        lambda texts: (f"{name}: {text}" for name, text in texts.items()),
    ),
    "plug-ins": Shown(
        lambda file: {name: bytes(c).hex() for name, c in file.added.items()},
        _added_lines,
        of_file=True,
    ),
}
"""The parts that can be shown, in order."""


class Options(Common, Namespace):
    """The command line."""

    file: Annotated[str, "file  an executable (.xrx); '-' is stdin"]
    section: Annotated[
        list[str], "show only this; repeat for others (default: everything)", (*SECTIONS,)
    ]
    json: Annotated[bool, "print JSON"]
    verify_constants: Annotated[
        bool, "check every byte of the constants (default: all of small ones, samples of others)"
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command on `argv` (without the program's name) and return the exit status."""
    return reported(lambda: _main(argv))


def _main(argv: Sequence[str] | None) -> int:
    parser = Parser("xrelay-objdump", "Show what is in an executable, without running it.")
    parser.declare("", Options, Common)
    options = parser.parse(argv, Options())
    limit_input(options.max_input)
    name = "<stdin>" if options.file == "-" else options.file
    return reported(lambda: _dump(options), name, traceback=options.traceback)


def _dump(options: Options) -> int:
    source = read_stdin() if options.file == "-" else options.file
    file = read_executable(source, verify=options.verify_constants)
    sections = list(dict.fromkeys(options.section)) or list(SECTIONS)
    if options.json:
        import json  # imported on demand, for fast start-up

        print(json.dumps({name: SECTIONS[name].facts(file) for name in sections}, indent=2))
        return 0
    shown = (SECTIONS[section] for section in sections)
    lines = (part.lines(file if part.of_file else part.facts(file)) for part in shown)
    texts = ["\n".join(map(printable, part)) for part in lines]
    print("\n\n".join(text for text in texts if text))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""
The command `xrelay-objdump`: show what is in an executable, without running it.

    xrelay-objdump model.xrx
    xrelay-objdump model.xrx --section code --section memory
    xrelay-objdump model.xrx --json

Exit status 0: the file is intact; 1: it cannot be read or is damaged; 2: wrong usage.
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from ..runtime.executable import ExecutableFile, read_executable
from ..runtime.files import limit_input
from ..runtime.plain_text import human, printable, table
from ..runtime.program.listing import function_lines, kernel_lines
from ..runtime.program.planned_memory import PlannedMemory, storages_of
from ..runtime.program.program import Constant, Kernel, Late, spec_of
from ..runtime.python.call_signature import signature_of
from .commands import read_stdin
from .errors import reported
from .option_types import Common, Parser

SHOWN = 40
"""The number of bytes of a plug-in's section that are shown as text."""


@dataclass(frozen=True)
class Shown:
    """A part of an executable: as lines of text, and as JSON."""

    lines: Callable[[ExecutableFile], Iterator[str]]
    facts: Callable[[ExecutableFile], Any]


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


def _file_lines(file: ExecutableFile) -> Iterator[str]:
    facts = _file_facts(file)
    version = ".".join(map(str, facts["version"]))
    yield f"executable, format {version}, made by {file.producer or 'an unknown program'}"
    if file.weights_file:
        yield f"weights in {file.weights_file}"
    rows = [["section", "offset", "bytes", "", "crc32", ""]]
    for s in facts["sections"]:
        sum = s["crc32"] or "by constant"
        optional = "optional" if s["optional"] else ""
        size = s["bytes"]
        rows.append([s["name"], str(s["offset"]), f"{size:,}", human(size), sum, optional])
    yield from table(rows, "<>>>><", "  ")


# Devices and functions.


def _device_lines(file: ExecutableFile) -> Iterator[str]:
    for number, device in enumerate(file.program.devices):
        yield f"device {number}: {device}{' (host)' * (not number)}"


def _function_lines(file: ExecutableFile) -> Iterator[str]:
    for function in file.program.functions:
        count = len(function.instructions)
        yield (
            f"function {signature_of(function, file.program)}: "
            f"{count} instructions, {function.register_count} registers"
        )


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


def _constant_facts(file: ExecutableFile) -> list[dict[str, Any]]:
    return [_constant(constant, file) for constant in file.program.constants]


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


def _constant_lines(file: ExecutableFile) -> Iterator[str]:
    facts = _constant_facts(file)
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


def _kernel_lines(file: ExecutableFile) -> Iterator[str]:
    for kernel in file.program.kernels:
        yield from kernel_lines(kernel)


def _kernel(kernel: Kernel) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "inputs": [str(spec) for spec in kernel.ins],
        "outputs": [str(spec) for spec in kernel.outs],
        "operators": [step.op for step in kernel.steps],
        "constants": sum(array.nbytes for array in kernel.constants),
    }


def _code_lines(file: ExecutableFile) -> Iterator[str]:
    for function in file.program.functions:
        yield from function_lines(function, file.program)


def _code_facts(file: ExecutableFile) -> dict[str, list[str]]:
    program = file.program
    return {f.name: list(function_lines(f, program))[1:] for f in program.functions}


# Memory.


def _plans(file: ExecutableFile) -> list[PlannedMemory]:
    """Return the plan that is recorded, or what the instructions allocate."""
    return list(file.memory or storages_of(file.program))


def _memory_lines(file: ExecutableFile) -> Iterator[str]:
    rows = [["planned memory", "device", "bytes", "at least", "sum", "tensors", "allocations"]]
    for plan in _plans(file):
        counts = [f"{n:,}" if n else "" for n in (plan.tensors, plan.allocations)]
        amounts = [_amount(a) for a in (plan.planned, plan.lower_bound, plan.sum)]
        rows.append([plan.function, plan.device, *amounts, *counts])
    yield from table(rows, "<<>>>>>", "")


def _amount(amount: tuple[int | None, str]) -> str:
    size, formula = amount
    return formula if size is None else f"{size:,}"


def _memory_facts(file: ExecutableFile) -> list[dict[str, Any]]:
    return [
        {
            "function": plan.function,
            "device": plan.device,
            "tensors": plan.tensors,
            "allocations": plan.allocations,
            **{
                name: {"bytes": size, "formula": formula}
                for name, (size, formula) in (
                    ("sum", plan.sum),
                    ("lower_bound", plan.lower_bound),
                    ("planned", plan.planned),
                )
            },
        }
        for plan in _plans(file)
    ]


# Weights by formula, and what was added.


def _weight_lines(file: ExecutableFile) -> Iterator[str]:
    for function in file.weights:
        yield f"weight {function.name} of {', '.join(function.names)}:"
        yield from list(kernel_lines(function.kernel))[1:]


def _metadata_lines(file: ExecutableFile) -> Iterator[str]:
    for name, text in file.metadata.items():
        yield f"{name}: {text}"


def _added_lines(file: ExecutableFile) -> Iterator[str]:
    for name, content in file.added.items():
        start = bytes(content[:SHOWN])
        more = "…" if len(content) > SHOWN else ""
        yield f"section '{name}' of a plug-in: {len(content):,} bytes: {start!r}{more}"


SECTIONS: Mapping[str, Shown] = {
    "file": Shown(_file_lines, _file_facts),
    "devices": Shown(_device_lines, lambda file: list(file.program.devices)),
    "functions": Shown(_function_lines, _function_facts),
    "constants": Shown(_constant_lines, _constant_facts),
    "memory": Shown(_memory_lines, _memory_facts),
    "kernels": Shown(_kernel_lines, lambda file: list(map(_kernel, file.program.kernels))),
    "code": Shown(_code_lines, _code_facts),
    "weights": Shown(
        _weight_lines,
        lambda file: [
            {"name": function.name, "weights": function.names, "kernel": _kernel(function.kernel)}
            for function in file.weights
        ],
    ),
    "metadata": Shown(_metadata_lines, lambda file: dict(file.metadata)),
    "plug-ins": Shown(
        _added_lines, lambda file: {name: bytes(c).hex() for name, c in file.added.items()}
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
    texts = ["\n".join(map(printable, SECTIONS[section].lines(file))) for section in sections]
    print("\n\n".join(text for text in texts if text))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""
Plan the programs of a folder, such as xDSL's filecheck inputs: what is read, planned, left alone.

    pip download --no-deps --no-binary xdsl xdsl==0.74.0 && tar xf xdsl-0.74.0.tar.gz
    python benchmarks/memref_corpus.py xdsl-0.74.0/tests/filecheck

Every part of a file that mentions memrefs counts; one that is not read is named, unless its RUN
line expects errors. Each plan is proved, and `mlir-opt` accepts it if it accepts the program.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError, VerifyException

from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.native.toolchain.stages import module_text
from xrelay.lowering.native.toolchain.tool_paths import tool
from xrelay.passes.plan_memref import PlanMemrefPass
from xrelay.passes.support.diagnostics import Message, ReportingContext
from xrelay.tools.pass_run.process import settings
from xrelay.tools.registry import UNIVERSE
from xrelay.tools.text.parser import LocatingParser
from xrelay.tools.text.resources import with_own_resources

counts, reasons, unread = Counter[str](), Counter[str](), list[str]()


def is_upstream(module: ModuleOp) -> bool:
    """Test whether `mlir-opt` accepts a module."""
    command = [tool("mlir-opt"), "-o", "/dev/null"]
    text = module_text(module)
    return subprocess.run(command, input=text, text=True, capture_output=True).returncode == 0


def allocations(module: ModuleOp) -> list[memref.AllocOp]:
    return [op for op in walk(module) if isinstance(op, memref.AllocOp)]


def is_in_function(op: memref.AllocOp) -> bool:
    around = op.parent_op()
    while around is not None and not isinstance(around, func.FuncOp):
        around = around.parent_op()
    return around is not None


def plan(text: str, name: str, unregistered: bool, expects_errors: bool) -> None:
    """Plan a part of a file."""
    left = list[Message]()
    ctx = ReportingContext(allow_unregistered=unregistered, handler=left.append, remarks=True)
    for dialect, factory in UNIVERSE.get_multiverse().all_dialects.items():
        ctx.register_dialect(dialect, with_own_resources(factory))
    try:
        module = LocatingParser(ctx, text, name, 0).parse_module()
        module.verify()
    except (ParseError, VerifyException) as error:
        counts["refused, as expected" if expects_errors else "not read"] += 1
        if not expects_errors:
            unread.append(f"{name}: {error}".strip().split("\n")[-1])
        return
    allocs = allocations(module)
    counts["read"] += 1
    counts["allocations"] += len(allocs)
    counts["in functions"] += sum(map(is_in_function, allocs))
    was_upstream = bool(allocs) and is_upstream(module)
    PlanMemrefPass().apply(ctx, module)
    module.verify()
    if was_upstream:
        counts["planned parts that mlir-opt accepts"] += 1
        assert is_upstream(module), name
    for message in left:
        if "left alone" in message.message:
            reasons[message.message.partition(": ")[2]] += 1


@settings()
def main() -> None:
    for path in sorted(Path(sys.argv[1]).rglob("*.mlir")):
        text = path.read_text()
        parts = re.split(r"(?m)^// -----.*$", text)
        counts["files"] += "memref" in text
        unregistered = "--allow-unregistered-dialect" in text
        for part in parts:
            if "memref" in part:
                plan(part, path.name, unregistered, "-diagnostics" in text)
    planned = counts["allocations"] - sum(reasons.values())
    for what, count in {**counts, "planned": planned}.items():
        print(f"{count:6} {what}")
    for why, count in reasons.most_common():
        print(f"{count:6} left alone: {why}")
    print(*unread, sep="\n")


if __name__ == "__main__":
    main()

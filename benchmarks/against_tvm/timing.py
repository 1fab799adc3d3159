"""
Compare the times of TVM and of ours to read, print and plan, on the same machine.

    python benchmarks/against_tvm/timing.py --tvm PYTHON

CPU time, µs per operator, the minimum of five runs. The networks are those of
`tests/data/relay_text`; an operator is a graph binding. The planned program is the chain of
`benchmarks/plan_devices.py`, with a hint after every tenth addition.
"""

import gc
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from ours import plan, read
from tvm_process import Tvm, arguments
from tvm_programs import DEVICES, METADATA
from xdsl.dialects.builtin import ModuleOp

from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.tools.pass_run.process import settings

DATA = Path(__file__).parents[2] / "tests" / "data" / "relay_text"
NETWORKS = ("squeezenet", "inception_v1", "resnet50")
REPEATS = 5
T = TypeVar("T")


def chain(count: int) -> str:
    """Write additions; every tenth has a hint for the device that all are on."""
    lines = ["  %0 = add(%x, %y);"]
    for i in range(1, count):
        added = f"add(%{i - 1}, %y)"
        hinted = f"on_device({added}, virtual_device={DEVICES[1]})" if i % 10 == 0 else added
        lines.append(f"  %{i} = {hinted};")
    body = "\n".join([*lines, f"  %{count - 1}"])
    type = "Tensor[(4), float32]"
    return f'#[version = "0.0.5"]\ndef @main(%x: {type}, %y: {type}) {{\n{body}\n}}\n{METADATA}'


def least(prepare: Callable[[], T], step: Callable[[T], object]) -> float:
    """Return the CPU seconds of `step` on the result of `prepare`."""
    best = float("inf")
    for _ in range(REPEATS):
        subject = prepare()
        gc.collect()
        start = time.process_time()
        step(subject)
        best = min(best, time.process_time() - start)
    return best


def _same(module: ModuleOp) -> ModuleOp:
    return module


def main() -> None:
    """Measure, and print JSON."""
    tvm = Tvm(arguments("Time reading, printing and planning in TVM and here.").parse_args().tvm)
    found: dict[str, dict[str, float]] = {}

    def row(name: str, count: int, ours: dict[str, float], text: str) -> None:
        print(f"{name} …", file=sys.stderr)
        answer = tvm.ask("measure", text, steps=list(ours), repeats=REPEATS)
        theirs: dict[str, float] = answer.get("seconds", {})
        for step, seconds in ours.items():
            found[f"{name}, {step}"] = {
                "ours": round(seconds / count * 1e6, 1),
                **({"tvm": round(theirs[step] / count * 1e6, 1)} if step in theirs else {}),
            }

    with settings():
        for name in NETWORKS:
            text = (DATA / f"{name}.relay").read_text()
            count = sum(line.lstrip().startswith("%") for line in text.split("\n"))
            module = read(text)
            ours = {
                "read": least(partial(str, text), read),
                "print": least(partial(_same, module), module_text),
            }
            row(name, count, ours, text)
        for count in (1_000, 3_000):
            text = chain(count)
            ours = {"plan": least(partial(read, text), plan)}
            row(f"chain of {count}", count, ours, text)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()

"""
Arithmetic on sizes: Python's integers, or an error where these do not fit in 64 bits.

In the evaluator, the machine, and machine code.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import compiled, machine_of
from helpers.native.native_programs import NativeBatch
from helpers.programs.programs import parse

from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.diagnostics import PassError
from xrelay.runtime.errors import MachineError

MIN, MAX = -(1 << 63), (1 << 63) - 1
EDGES = (MIN, MIN + 1, MIN // 2, -(1 << 32), -7, -2, -1, 0, 1, 2, 3, 7, 1 << 31, MAX // 2, MAX)


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATIONS: Mapping[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "floordivsi": lambda a, b: a // b,
    "ceildivsi": lambda a, b: -(-a // b),
    "divsi": truncated,
    "remsi": lambda a, b: a - b * truncated(a, b),
    "maxsi": max,
    "minsi": min,
}

PROGRAM = """func.func @main(%x: tensor<2xi64>) -> tensor<1xi64> {{
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %a = tensor.extract %x[%i0] : tensor<2xi64>
  %b = tensor.extract %x[%i1] : tensor<2xi64>
  %y = arith.{} %a, %b : i64
  %r = tensor.from_elements %y : tensor<1xi64>
  func.return %r : tensor<1xi64>
}}"""


def exact(name: str, a: int, b: int) -> int | None:
    """Return the number; None if there is none of 64 bits."""
    if b == 0 and ("div" in name or "rem" in name):
        return None
    y = OPERATIONS[name](a, b)
    return y if MIN <= y <= MAX else None


def outcome(call: Callable[..., Any], *args: Any) -> int | None:
    """Return the number that `call` returns on `args`, None for an error or its message."""
    try:
        found = call(*args)
    except (MachineError, PassError):
        return None
    return None if isinstance(found, str) else int(np.asarray(found).reshape(()))


def test_equal_at_every_level(tmp_path: Path):
    batch = NativeBatch()
    numbers: dict[str, int] = {}
    for name in OPERATIONS:
        number = batch.add(parse(PROGRAM.format(name)), "eliminate-dead-code")
        assert number is not None
        numbers[name] = number
    batch.build(tmp_path)
    faults: list[str] = []
    for name, number in numbers.items():
        module = parse(PROGRAM.format(name))
        machine = machine_of(compiled(module.clone()))
        for a, b in product(EDGES, EDGES):
            x, wanted = np.array([a, b]), exact(name, a, b)
            found = {
                "evaluator": outcome(evaluate, module, [x]),
                "machine": outcome(machine.run, "main", x),
                "native": outcome(batch.run, number, [x]),
            }
            faults += [
                f"{name} of {a} and {b} is {y} ({level}), not {wanted}"
                for level, y in found.items()
                if y != wanted
            ]
    assert not faults, f"{len(faults)} faults:\n" + "\n".join(faults[:30])


@pytest.mark.ci
def test_a_line_of_the_table_is_an_operation_of_the_evaluator_and_the_machine():
    """In a process of its own: what they compute is read from the table when they are imported."""
    code = f"""
from xrelay.operators.sizes.size_table import OPERATIONS, Operation

OPERATIONS["shl"] = Operation(int.__lshift__, arith="arith.shli")

import numpy as np
from helpers.machine.in_machine import compiled, machine_of
from helpers.programs.programs import parse
from xrelay.passes.evaluation.evaluator import evaluate

module, x = parse('''{PROGRAM.format("shli")}'''), np.array([5, 3])
assert evaluate(module, [x])[0] == 40
assert np.asarray(machine_of(compiled(module)).run("main", x)).reshape(()) == 40
"""
    folder = Path(__file__).parent.parent
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env=environment)

"""
Sizes that do not fit are found before a kernel reads past them, in machine code too.

Kernels are compiled for the shapes that the program declares: one that reads an operand of a dim
that is not what it should be would read memory that is not its own. The references are the
programs' evaluation, in which NumPy's arrays know their shapes.
"""

import faulthandler
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
from helpers.native import linalg_programs
from helpers.native.native_programs import NativeBatch
from helpers.programs.agreement import evaluated
from helpers.programs.programs import parse

from xrelay.lowering.pipelines import AotPipeline

Array = Any
TO_PLAN = AotPipeline().text.split(",plan-memory")[0]
MIN, MAX = -(1 << 63), (1 << 63) - 1


def program(operator: str, params: str, result: str, attributes: str = "") -> str:
    """Return a program of one operator."""
    types = params.split()
    names = [f"%p{i}" for i in range(len(types))]
    listed = ", ".join(f"{n}: tensor<{t}>" for n, t in zip(names, types, strict=True))
    inputs = ", ".join(f"tensor<{t}>" for t in types)
    return f"""
    func.func @main({listed}) -> tensor<{result}> {{
      %r = relay.{operator} {", ".join(names)} {attributes} : ({inputs}) -> tensor<{result}>
      func.return %r : tensor<{result}>
    }}"""


def sizes(*values: int) -> Array:
    return np.array(values, np.int64)


def data(*shape: int) -> Array:
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


SLICE = "1xi64 1xi64 1xi64"
ONE = np.float32(1)
AXIS = "{axis = 1 : i64}"

CASES: list[tuple[str, list[list[Array]]]] = [
    # The results of these are static: nothing needs to compute their shapes, but for the checks.
    (program("nn.dense", "2x?xf32 4x?xf32", "2x4xf32"), [[data(2, 3), data(4, 3)]] * 1
     + [[data(2, 3), data(4, 2)], [data(2, 2), data(4, 3)]]),
    (program("add", "?xf32 4xf32", "4xf32"), [[data(4), data(4)], [data(1), data(4)],
                                              [data(3), data(4)], [data(0), data(4)]]),
    (program("nn.bias_add", "3x4xf32 ?xf32", "3x4xf32", AXIS),
     [[data(3, 4), data(4)], [data(3, 4), data(1)], [data(3, 4), data(3)]]),
    (program("nn.relu", "?xf32", "4xf32"), [[data(4)], [data(1)], [data(5)]]),
    (program("dyn.tile", "3xf32 1xi64", "9xf32"), [[data(3), sizes(3)], [data(3), sizes(0)],
                                                   [data(3), sizes(1 << 62)]]),
    (program("dyn.strided_slice", f"3xf32 {SLICE}", "9xf32"),
     [[data(3), sizes(0), sizes(3), sizes(1)]]),
    (program("dyn.full", "f32 1xi64", "9xf32"), [[ONE, sizes(9)], [ONE, sizes(3)]]),
    (program("dyn.nn.pad", "3xf32 1x2xi64 f32", "9xf32"),
     [[data(3), sizes(0, 6).reshape(1, 2), ONE], [data(3), sizes(0, 2).reshape(1, 2), ONE],
      [data(3), sizes(-1, 7).reshape(1, 2), ONE]]),
    (program("dyn.squeeze", "?x?xf32 2xi64", "f32"),
     [[data(1, 1), sizes(0, 1)], [data(0, 1), sizes(0, 1)], [data(2, 1), sizes(1, 0)]]),
    # Those of these are not.
    (program("nn.bias_add", "?x?xf32 ?xf32", "?x?xf32", AXIS),
     [[data(2, 3), data(3)], [data(2, 3), data(2)], [data(2, 3), data(1)]]),
    (program("nn.prelu", "?x?xf32 ?xf32", "?x?xf32", AXIS),
     [[data(2, 3), data(3)], [data(2, 3), data(2)]]),
    (program("nn.dense", "?x?xf32 ?x?xf32", "?x?xf32"),
     [[data(2, 3), data(4, 3)], [data(2, 3), data(4, 2)]]),
    (program("squeeze", "?x?xf32", "?xf32", "{axis = array<i64: 1>}"),
     [[data(3, 1)], [data(3, 2)], [data(3, 0)]]),
    (program("dyn.squeeze", "?x?xf32 1xi64", "?xf32"),
     [[data(3, 1), sizes(1)], [data(3, 2), sizes(1)], [data(3, 1), sizes(7)],
      [data(3, 1), sizes(MIN)]]),
    (program("dyn.expand_dims", "?xf32 i64", "?x?xf32", "{num_newaxis = 1 : i64}"),
     [[data(3), np.int64(0)], [data(3), np.int64(-1)], [data(3), np.int64(2)],
      [data(3), np.int64(MAX)]]),
    (program("dyn.reshape", "?xf32 2xi64", "?x?xf32"),
     [[data(6), sizes(2, 3)], [data(6), sizes(2, -1)], [data(6), sizes(1 << 32, 1 << 32)],
      [data(6), sizes(-1, -1)], [data(6), sizes(3, 3)], [data(6), sizes(MIN, MIN)]]),
    (program("dyn.tile", "?xf32 1xi64", "?xf32"),
     [[data(3), sizes(2)], [data(3), sizes(-1)], [data(3), sizes(1 << 62)]]),
    (program("dyn.nn.pad", "?xf32 1x2xi64 f32", "?xf32"),
     [[data(3), sizes(0, 6).reshape(1, 2), ONE], [data(3), sizes(-2, 7).reshape(1, 2), ONE],
      [data(3), sizes(1 << 62, 1 << 62).reshape(1, 2), ONE]]),
    (program("dyn.strided_slice", f"?xf32 {SLICE}", "?xf32"),
     [[data(5), sizes(0), sizes(3), sizes(1)], [data(5), sizes(-1), sizes(-9), sizes(-2)],
      [data(5), sizes(MIN), sizes(MAX), sizes(MAX)], [data(5), sizes(MAX), sizes(MIN), sizes(MIN)],
      [data(5), sizes(0), sizes(3), sizes(0)]]),
]  # fmt: skip


def check(found: Any, wanted: Any, what: object) -> None:
    """Check that two results are equal."""
    assert found.shape == wanted.shape, what
    np.testing.assert_allclose(found, wanted, rtol=1e-6, err_msg=str(what))


def test_native(tmp_path: Path):
    batch = NativeBatch()
    passes = f"{TO_PLAN},plan-memory,verify-stage{{stage=memory-planned}}"
    numbers = [batch.add(parse(text), passes) for text, _ in CASES]
    assert not batch.callbacks
    batch.build(tmp_path)
    for number, (text, calls) in zip(numbers, CASES, strict=True):
        assert number is not None
        for args in calls:
            found, wanted = batch.run(number, args), evaluated(parse(text), args)
            if isinstance(found, str) or isinstance(wanted, str):
                assert isinstance(found, str), (text, args, wanted)
                assert isinstance(wanted, str), (text, args, found)
            else:
                check(found[0], wanted[0], (text, args))


def stopped(programs: linalg_programs.Programs, number: int, args: list[Array]) -> bool:
    """Run a program in a process of its own; return whether it was stopped by an assertion."""
    child = os.fork()
    if not child:
        faulthandler.disable()
        os.close(2)
        programs.run(number, args)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGABRT


def test_linalg(tmp_path: Path):
    programs = linalg_programs.compiled([parse(text) for text, _ in CASES], tmp_path)
    for number, (text, calls) in enumerate(CASES):
        for args in calls:
            wanted = evaluated(parse(text), args)
            if isinstance(wanted, str):
                assert stopped(programs, number, args), (text, args)
            else:
                check(programs.run(number, args)[0], wanted[0], (text, args))

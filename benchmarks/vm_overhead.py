"""
Measure the machine's overhead: its time per executed operator against plain NumPy calls.

    python benchmarks/vm_overhead.py [-o vm_overhead.json]

A program runs one operator a thousand times on tensors of 16 elements, each time into a new tensor,
with its storage and kill. For comparison, a Python loop makes the NumPy calls that one would write
by hand for the operator, into as many buffers. Both are timed in turns, the best of several rounds;
the fixed cost of a call (copying arguments and results) is spread over the thousand operators.
It is measured apart, by calls of a single addition: also with a place for the result, and of two
functions in turns.
Progress goes to stderr, JSON to stdout or the file.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from time import perf_counter, process_time
from typing import Any

import numpy as np

from xrelay.dialects.attributes import plain_attributes
from xrelay.dialects.relay import OPERATORS
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import (
    AttrValue,
    Function,
    Kernel,
    Param,
    Program,
    Step,
    TensorSpec,
)

COUNT = 1000
"""Operators per program."""
Plain = Callable[..., object]
DEFAULTS = {op.name: plain_attributes(op.create()) for op in OPERATORS}
"""The attributes of each operator with a default."""


@dataclass(frozen=True)
class Case:
    """An operator, its operand shapes, and the equivalent plain calls: `plain(*ins, out)`."""

    op: str
    shapes: Sequence[tuple[int, ...]]
    out: tuple[int, ...]
    plain: Plain
    attrs: Mapping[str, AttrValue] = field(default_factory=dict[str, AttrValue])
    ufunc: bool = False


def _sigmoid(x: Any, out: Any) -> None:
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, 1, out)
    np.reciprocal(out, out)


def _softmax(x: Any, out: Any) -> None:
    np.subtract(x, np.max(x, -1, keepdims=True), out)
    np.exp(out, out)
    np.divide(out, np.sum(out, -1, keepdims=True), out)


def _layer_norm(x: Any, gamma: Any, beta: Any, out: Any) -> None:
    np.subtract(x, np.mean(x, -1, keepdims=True), out)
    np.divide(out, np.sqrt(np.mean(out * out, -1, keepdims=True) + 1e-5), out)
    np.multiply(out, gamma, out)
    np.add(out, beta, out)


def _conv(x: Any, w: Any, out: Any) -> None:
    view = np.lib.stride_tricks.as_strided(x, (1, 2, 2, 3, 3), (0, *x.strides[2:], *x.strides[2:]))
    np.matmul(w.reshape(1, 4), view.reshape(4, 9), out.reshape(1, 9))


CASES = [
    Case("add", [(16,), (16,)], (16,), np.add, ufunc=True),
    Case("multiply", [(4, 4), (4,)], (4, 4), np.multiply, ufunc=True),
    Case("exp", [(16,)], (16,), np.exp, ufunc=True),
    Case("tanh", [(16,)], (16,), np.tanh, ufunc=True),
    Case("maximum", [(16,), (16,)], (16,), lambda a, b, out: np.maximum(a, b, out=out), ufunc=True),
    Case("nn.relu", [(16,)], (16,), lambda x, out: np.maximum(x, 0, out=out), ufunc=True),
    Case("sigmoid", [(16,)], (16,), _sigmoid),
    Case("sum", [(4, 4)], (4,), lambda x, out: np.sum(x, 1, out=out), {"axis": (1,)}),
    Case("nn.softmax", [(4, 4)], (4, 4), _softmax),
    Case("nn.layer_norm", [(4, 4), (4,), (4,)], (4, 4), _layer_norm),
    Case("nn.dense", [(4, 4), (4, 4)], (4, 4), lambda x, w, out: np.matmul(x, w.T, out)),
    Case("nn.conv2d", [(1, 1, 4, 4), (1, 1, 2, 2)], (1, 1, 3, 3), _conv),
    Case("transpose", [(2, 8)], (8, 2), lambda x, out: np.copyto(out, x.T), {"axes": (1, 0)}),
    Case(
        "concatenate",
        [(8,), (8,)],
        (16,),
        lambda a, b, out: np.concatenate((a, b), 0, out),
    ),
    Case(
        "reshape",
        [(16,)],
        (4, 4),
        lambda x, out: np.copyto(out, x.reshape(4, 4)),
        {"newshape": (4, 4)},
    ),
    Case(
        "strided_slice",
        [(6, 8)],
        (4, 4),
        lambda x, out: np.copyto(out, x[1:5, ::2]),
        {"begin": (1, 0), "end": (5, 8), "strides": (1, 2)},
    ),
    Case(
        "nn.max_pool2d",
        [(1, 1, 4, 4)],
        (1, 1, 2, 2),
        lambda x, out: np.max(x.reshape(1, 1, 2, 2, 2, 2), (3, 5), out),
        {"pool_size": (2, 2), "strides": (2, 2)},
    ),
]


def program(case: Case, count: int = COUNT) -> Program:
    """Return the program that applies the operator of `case` `count` times to its arguments."""
    specs = tuple(TensorSpec("float32", shape) for shape in case.shapes)
    n = len(specs)
    out = TensorSpec("float32", case.out)
    attrs = {**DEFAULTS[f"relay.{case.op}"], **case.attrs}
    step = Step(f"relay.{case.op}", attrs, tuple(range(n)), (n,))
    kernel = Kernel(case.op, specs, (), (out,), (step,), (n,))
    code: list[vm.Instruction] = []
    size = 4 * int(np.prod(case.out))
    for i in range(count):
        storage, tensor = n + 2 * i, n + 2 * i + 1
        code += [
            vm.AllocStorage(storage, size, 64),
            vm.AllocTensor(tensor, storage, 0, case.out, "float32"),
            vm.InvokePacked(0, tuple(range(n)), (tensor,)),
            vm.KillRegister(storage),
        ]
    last = n + 2 * count - 1
    code.append(vm.Ret(last))
    params = tuple(Param(f"x{i}", spec) for i, spec in enumerate(specs))
    return Program((Function("main", params, last + 1, tuple(code)),), (), (kernel,))


def _loop(plain: Plain, ins: Sequence[Any], outs: Sequence[Any]) -> Callable[[], None]:
    """Call `plain` for each of `outs`, without building argument lists."""
    a, b, c = (*ins, None, None)[:3]

    def one() -> None:
        for out in outs:
            plain(a, out)

    def two() -> None:
        for out in outs:
            plain(a, b, out)

    def three() -> None:
        for out in outs:
            plain(a, b, c, out)

    return (one, two, three)[len(ins) - 1]


def measure(case: Case, rounds: int) -> dict[str, object]:
    """Measure the µs per operator of the machine and of plain calls, and their difference."""
    random = np.random.default_rng(0)
    ins = [random.standard_normal(shape).astype(np.float32) for shape in case.shapes]
    machine = Machine(program(case))
    outs = [np.empty(case.out, np.float32) for _ in range(COUNT)]
    by_hand = _loop(case.plain, ins, outs)

    best_machine = best_plain = float("inf")
    machine.run("main", *ins)
    for _ in range(rounds):
        start = perf_counter()
        machine.run("main", *ins)
        best_machine = min(best_machine, perf_counter() - start)
        start = perf_counter()
        by_hand()
        best_plain = min(best_plain, perf_counter() - start)
    machine_us, plain_us = best_machine / COUNT * 1e6, best_plain / COUNT * 1e6
    return row(case.op, "ufunc" if case.ufunc else "other", machine_us, plain_us)


def row(op: str, kind: str, machine_us: float, plain_us: float) -> dict[str, object]:
    """Return the figures of one operator, or of one kind of call."""
    return {
        "op": op,
        "kind": kind,
        "machine_us": round(machine_us, 3),
        "numpy_us": round(plain_us, 3),
        "ratio": round(machine_us / plain_us, 2),
        "more_us": round(machine_us - plain_us, 3),
    }


def measure_calls(rounds: int) -> Iterator[dict[str, object]]:
    """Measure the µs of a call of one add on two arrays of 16 elements, and of NumPy's."""
    case = CASES[0]
    x, y, out = (np.ones(16, np.float32) for _ in range(3))
    one = program(case, 1)
    (function,) = one.functions
    machine = Machine(replace(one, functions=(function, replace(function, name="other"))))

    def alternately() -> None:
        """Call two functions in turns: what is prepared for one is not what ran last."""
        machine.evaluate("main", x, y)
        machine.evaluate("other", x, y)

    calls: dict[str, tuple[Callable[[], object], int]] = {
        "one call": (lambda: machine.evaluate("main", x, y), 1),
        "with out=": (lambda: machine.evaluate("main", x, y, out=out), 1),
        "in turns": (alternately, 2),
    }
    for name, (call, number) in calls.items():
        machine_us, plain_us = float("inf"), float("inf")
        for _ in range(rounds):
            for _ in range(2):
                start = process_time()
                for _ in range(COUNT):
                    call()
                machine_us = min(machine_us, (process_time() - start) / COUNT / number * 1e6)
            start = process_time()
            for _ in range(COUNT):
                np.add(x, y)
            plain_us = min(plain_us, (process_time() - start) / COUNT * 1e6)
        yield row(name, "call", machine_us, plain_us)


def main() -> None:
    parser = argparse.ArgumentParser(description="The machine's time against plain NumPy calls.")
    parser.add_argument("-o", "--output", help="the JSON file (default: stdout)")
    parser.add_argument("--rounds", type=int, default=50)
    options = parser.parse_args()
    rows: list[dict[str, object]] = []
    measured = (measure(case, options.rounds) for case in CASES)
    for found in chain(measured, measure_calls(options.rounds)):
        rows.append(found)
        print(
            "{op:>14}: {machine_us:6} µs, NumPy {numpy_us:6} µs".format(**rows[-1]), file=sys.stderr
        )
    text = json.dumps({"numpy": np.__version__, "operators": COUNT, "rows": rows}, indent=1)
    if options.output is None:
        print(text)
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text + "\n")


if __name__ == "__main__":
    main()

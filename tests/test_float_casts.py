"""
Casts of floats to integers, at every level: they truncate, saturate, and turn NaN into 0.

The expected values are computed with Python's integers. Lengths are those of whole vectors and
of their remainders, so that vector code and what follows it both meet every number.
"""

from collections.abc import Sequence
from itertools import product
from math import inf, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import compiled as machine_program
from helpers.machine.in_machine import machine_of
from helpers.native.check_kernels import run
from helpers.native.linalg_programs import compiled as linalg_programs
from helpers.native.native_programs import NativeBatch
from helpers.native.scheduled_kernels import kernel_on, scheduled
from helpers.operators.kernel_references import saturated
from helpers.operators.operator_cases import FLOATS, SIGNED, UNSIGNED
from helpers.programs.programs import parse
from helpers.programs.random_settings import share
from xdsl.dialects.builtin import TensorType

from xrelay.dialects.attributes import ELEMENT_TYPES
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.target_machine import Machine
from xrelay.lowering.pipelines import AotPipeline
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.conversions import BLOCK

Array = Any
INTEGERS = (*SIGNED, *UNSIGNED)
PAIRS = list(product(FLOATS, INTEGERS))
LENGTHS = (*range(1, 20), 31, 32, 33, 63, 64, 65, 67)


def edges(source: str, target: str) -> Array:
    """Return the floats next to the bounds of `target`, and those that have no integer."""
    info = np.iinfo(target)
    numbers = [0.0, -0.0, 0.5, -0.5, 0.99, -0.99, 1.5, -1.5, 100.7, -100.7, inf, -inf, nan]
    numbers += [65504.0, -65504.0, 3.4e38, -3.4e38, 1.7e308, -1.7e308]
    with np.errstate(over="ignore"):
        for bound in (int(info.min), int(info.min) - 1, int(info.max), int(info.max) + 1):
            at = np.array(float(bound)).astype(source)
            around = [
                at,
                np.nextafter(at, at.dtype.type(inf)),
                np.nextafter(at, at.dtype.type(-inf)),
            ]
            numbers += [bound + 0.5, bound - 0.5, *(float(x) for x in around)]
        return np.array(numbers).astype(source)


def numbers(source: str, target: str, length: int) -> Array:
    """Return `length` of the edges, the first another one for each length."""
    return np.resize(np.roll(edges(source, target), length), length)


def expected(x: Array, target: str) -> list[int]:
    return [saturated(number, target) for number in x.tolist()]


def cast_by_kernel(x: Array, y: Array) -> None:
    with np.errstate(all="ignore"):
        KERNELS["relay.cast"]({"dtype": y.dtype.name}, [x], [y])()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_in_the_machine_at_every_length(source: str, target: str):
    for length in LENGTHS:
        x = numbers(source, target, length)
        y = np.empty(length, target)
        cast_by_kernel(x, y)
        assert y.tolist() == expected(x, target)
        if x.dtype.itemsize == y.dtype.itemsize:  # in place
            cast_by_kernel(x, x.view(target))
            assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_in_the_machine_by_blocks(source: str, target: str):
    """Some blocks are in range, some are not, and the last one is not full."""
    for value in (nan, inf, -inf, 1e30):
        x = np.ones(2 * BLOCK + 5).astype(source)
        with np.errstate(over="ignore"):
            x[[BLOCK - 1, 2 * BLOCK + 1]] = value
        y = np.empty(x.shape, target)
        cast_by_kernel(x, y)
        (wanted,) = expected(x[BLOCK - 1 : BLOCK], target)
        assert y[[BLOCK - 1, 2 * BLOCK + 1]].tolist() == [wanted] * 2
        assert np.count_nonzero(y == 1) == x.size - 2


def program(pairs: Sequence[tuple[str, str]], length: int, clip: str = "") -> str:
    """Return a program that casts a tensor for each of `pairs`, clipped by `clip` before."""
    params, results, lines = list[str](), list[str](), list[str]()
    for i, (source, target) in enumerate(pairs):
        x, y = (f"tensor<{length}x{ELEMENT_TYPES[dtype]}>" for dtype in (source, target))
        params.append(f"%x{i}: {x}")
        results.append(y)
        if clip:
            lines.append(f"%c{i} = relay.clip %x{i} {{{clip}}} : ({x}) -> {x}")
        operand = f"%{'c' if clip else 'x'}{i}"
        attribute = f"{{dtype = {ELEMENT_TYPES[target]}}}"
        lines.append(f"%y{i} = relay.cast {operand} {attribute} : ({x}) -> {y}")
    returned = ", ".join(f"%y{i}" for i in range(len(pairs)))
    types = ", ".join(results)
    return (
        f"func.func @main({', '.join(params)}) -> ({types}) {{\n"
        + "\n".join(lines)
        + f"\nfunc.return {returned} : {types}\n}}"
    )


@pytest.mark.ci
def test_in_programs(tmp_path: Path):
    """By the evaluator, the machine, and linalg compiled by upstream passes alone."""
    lengths = (1, 15, 70)
    texts = [program(PAIRS, length) for length in lengths]
    linalg = linalg_programs([parse(text) for text in texts], tmp_path)
    for number, (length, text) in enumerate(zip(lengths, texts, strict=True)):
        args = [numbers(*pair, length) for pair in PAIRS]
        wanted = [expected(x, target) for x, (_, target) in zip(args, PAIRS, strict=True)]
        evaluated = evaluate(parse(text), args)
        assert [y.tolist() for y in evaluated] == wanted
        in_machine: Any = machine_of(machine_program(parse(text))).run("main", *args)
        assert [y.tolist() for y in in_machine] == wanted
        as_linalg = linalg.run(number, args)
        signed = [y.view(target) for y, (_, target) in zip(as_linalg, PAIRS, strict=True)]
        assert [y.tolist() for y in signed] == wanted


CLIPS = {
    "int8": (-128.0, 127.0),
    "uint8": (0.0, 255.0),
    "int16": (-32768.0, 32767.0),
    "uint16": (0.0, 65535.0),
    "int32": (-2147483648.0, 2147483647.0),
    "uint32": (0.0, 4294967295.0),
    "int64": (-9.3e18, 9.3e18),
    "uint64": (0.0, 1.9e19),
}


@pytest.mark.parametrize(
    "settings",
    [Settings(level=1), Settings(Machine(cpu="native"))],
    ids=["plain", "scheduled"],
)
def test_in_native_kernels(settings: Settings, tmp_path: Path):
    """Of any numbers, after `clip`, and after `clip` and `round`."""
    kernels: list[Any] = []
    calls: list[tuple[str, Array, str, bool]] = []
    lengths = (1, 7, 70, 4099)
    pairs = [(pair, lengths[(i + n) % 4]) for i, pair in enumerate(PAIRS) for n in range(4)]
    for (source, target), length in share(pairs, 8):
        for chain in ("", "clip", "clip round"):
            if chain and length != 70:
                continue

            def write(body: Any, args: Any, chain: str = chain, target: str = target) -> Any:
                (x,) = args
                low, high = CLIPS[target]
                for name in chain.split():
                    bounds = {"a_min": low, "a_max": high} if name == "clip" else {}
                    x = body.add(name, x, **bounds)
                return body.add("cast", x, dtype=target)

            name = f"k{len(kernels)}"
            type = TensorType(ELEMENT_TYPES[source], [length])
            kernels.append(kernel_on(name, [type], write))
            calls.append((name, numbers(source, target, length), target, "round" in chain))
    library = scheduled(kernels, tmp_path, settings)
    for name, x, target, rounds in calls:
        y = np.empty(x.shape, target)
        run(library, name, [x], [y])
        assert y.tolist() == expected(np.rint(x) if rounds else x, target), (name, x.dtype, target)


UP_TO_PLANS = AotPipeline().text.partition(",plan-memory")[0] + ",plan-memory"

SIZES = """
func.func @main(%n: tensor<2xf32>) -> tensor<?x?xf32> {
  %shape = relay.cast %n {dtype = i64} : (tensor<2xf32>) -> tensor<2xi64>
  %y = relay.dyn.zeros %shape {dtype = f32} : (tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}"""


def test_in_the_evaluation_of_shapes(tmp_path: Path):
    batch = NativeBatch()
    number = batch.add(parse(SIZES), UP_TO_PLANS)
    assert number is not None
    batch.build(tmp_path)
    machine = machine_of(machine_program(parse(SIZES)))
    for sizes, shape in (((2.9, 3.1), (2, 3)), ((nan, 3), (0, 3)), ((2, -0.9), (2, 0))):
        n = np.array(sizes, np.float32)
        found = evaluate(parse(SIZES), [n]), machine.run("main", n), batch.run(number, [n])
        assert [np.shape(y) for (y,) in found] == [shape] * 3

"""
Measures as machine code: equal to `operators.measures` at the edges, errors where these are.

The functions of `operators.measures` compute with Python's integers and ranges.
"""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.native import linalg_programs
from helpers.native.native_programs import NativeBatch
from helpers.programs.programs import parse
from helpers.programs.random_settings import share

from xrelay.operators.measures import MEASURES

Array = Any
MIN, MAX = -(1 << 63), (1 << 63) - 1
EDGES = (MIN, MIN + 1, -7, -2, -1, 0, 1, 2, 3, 7, MAX - 1, MAX)
SIZES = (0, 1, 2, 5, 1 << 40, MAX)


class Program:
    """A measure of the elements of a tensor `dtype`, some of its arguments constants."""

    def __init__(self, name: str, constants: Sequence[int], count: int, dtype: str = "i64"):
        self.name, self.constants, self.count, self.dtype = name, constants, count, dtype

    @property
    def text(self) -> str:
        """Constants come first, but for `expanded_dim`, whose second argument is computed."""
        lines = list[str]()
        for i, value in enumerate(self.constants):
            lines.append(f"%k{i} = arith.constant {value} : i64")
        for i in range(self.count):
            lines.append(f"%i{i} = arith.constant {i} : index")
            type = f"tensor<{self.count}x{self.dtype}>"
            lines.append(f"%a{i} = tensor.extract %x[%i{i}] : {type}")
        args = [(f"%k{i}", "i64") for i in range(len(self.constants))]
        args += [(f"%a{i}", self.dtype) for i in range(self.count)]
        args = self.ordered(args)
        names, types = (", ".join(column) for column in zip(*args, strict=True))
        lines.append(f'%m = relay.measure "{self.name}"({names}) : ({types}) -> i64')
        lines.append("%r = tensor.from_elements %m : tensor<1xi64>")
        body = "\n".join(lines)
        header = f"func.func @main(%x: tensor<{self.count}x{self.dtype}>) -> tensor<1xi64>"
        return f"{header} {{\n{body}\nfunc.return %r : tensor<1xi64>\n}}"

    def ordered(self, args: list[Any]) -> list[Any]:
        if self.name == "expanded_dim":
            return [args[0], args[2], args[1], *args[3:]]
        return args

    def array(self, values: Sequence[float]) -> Array:
        letter = {"f": "float", "i": "int", "u": "uint"}[self.dtype[0]]
        return np.array(values, f"{letter}{self.dtype.lstrip('fui')}")

    def wanted(self, values: Array) -> int | None:
        """Return the measure; None if there is none, or it does not fit in 64 bits."""
        args = self.ordered([*self.constants, *(value.item() for value in values)])
        try:
            found = MEASURES[self.name](*args)
        except (ValueError, OverflowError):
            return None
        return found if MIN <= found <= MAX else None


def cases() -> list[tuple[Program, list[Any]]]:
    """Return programs, each with the elements to run it on."""
    rng = Random(0)

    def some(count: int, *choices: Sequence[Any]) -> list[Any]:
        found = list(product(*choices))
        return found if len(found) <= count else rng.sample(found, count)

    small = (-3, -2, -1, 0, 1, 2, 3, 4, 6)
    shapes = [(2, 3), (0, 3), (1, 1), (6, 1), (1 << 40, 1 << 20), (0, 0)]
    huge = (*small, 1 << 32, 1 << 40, 1 << 60, MAX, MIN)
    made: list[tuple[Program, list[Any]]] = [
        (Program("slice_length", (), 4), some(1500, SIZES, EDGES, EDGES, EDGES)),
        (Program("sized_slice_length", (), 3), some(800, SIZES, EDGES, EDGES)),
        (Program("topk_length", (), 2), some(100, EDGES, SIZES)),
        (Program("arange_length", (), 3), some(800, EDGES, EDGES, EDGES)),
        *(
            (Program("arange_length", (), 3, dtype), some(200, *[values] * 3))
            for dtype, values in (
                ("f64", (-1e30, -2.5, -0.0, 0.1, 1.0, 1e18, 1e19, np.inf, np.nan)),
                ("f32", (-2.5, 0.0, 0.1, 1.0, 1e30, np.inf, np.nan)),
                ("ui8", (0, 1, 3, 128, 255)),
                ("i8", (-128, -1, 0, 1, 127)),
            )
        ),
        *(
            (Program("as_size", (), 1, dtype), [(value,) for value in values])
            for dtype, values in (
                ("ui8", (0, 127, 128, 255)),
                ("ui32", (0, 1 << 31, (1 << 32) - 1)),
                ("ui64", (0, MAX, MAX + 1, (1 << 64) - 1)),
                ("i32", (-(1 << 31), -1, 0)),
                ("f32", (-1.0, -0.5, -0.0, 0.9, 2.5, 1e18, 1e30, np.inf, np.nan)),
            )
        ),
    ]
    for axis, zero, wanted in share([*product(range(3), range(2), (1, 2, 3))]):
        entries = some(150, shapes, *[huge] * wanted)
        values = [(*shape, *rest) for shape, *rest in entries]
        made.append((Program("reshaped_dim", (axis, zero, 2), 2 + wanted), values))
    ones = (0, 1, 2, MAX)
    for axis, count in product(range(3), (1, 2)):
        axes = [(-4, -3, -2, -1, 0, 1, 2, 3, MIN, MAX)] * count
        entries = some(200, ones, (1,), ones, *axes)
        made.append((Program("squeezed_dim", (axis, 3), 3 + count), entries))
    for axis, count in product(range(4), (1, 2)):
        entries = some(100, EDGES, ones, (3, 5))
        made.append((Program("expanded_dim", (axis, count), 3), entries))
    return made


def test_equal_to_definitions(tmp_path: Path):
    batch = NativeBatch()
    checked = [
        (batch.add(parse(p.text), "eliminate-dead-code"), p, values) for p, values in cases()
    ]
    batch.build(tmp_path)
    failed = 0
    for number, program, values in checked:
        assert number is not None
        for row in values:
            given = program.array(row)
            wanted, found = program.wanted(given), batch.run(number, [given])
            if isinstance(found, str):
                assert wanted is None, (program.text, row, found)
                failed += 1
            else:
                assert wanted == found[0].item(), (program.text, row, wanted, found)
    assert failed > 100


@pytest.mark.ci
def test_whole_program(tmp_path: Path):
    """A program of linalg computes the same; it stops at errors, which are not tried here."""
    every = [(p, [p.array(row) for row in values]) for p, values in cases()[::3]]
    programs = linalg_programs.compiled(
        [parse(p.text) for p, _ in every], tmp_path, "convert-program-to-linalg"
    )
    for number, (program, values) in enumerate(every):
        for given in values[::10]:
            wanted = program.wanted(given)
            if wanted is not None:
                (found,) = programs.run(number, [given])
                assert wanted == found.item(), (program.text, given)

"""Programs on narrow types: the numbers of `ml_dtypes`, bfloat16 in machine code too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xrelay
from xrelay.operators.element_types import ELEMENT_TABLE, ElementType

BF16 = np.dtype(ml_dtypes.bfloat16)
TEXT = """func.func @main(%x: tensor<2x3xbf16>, %y: tensor<3xf64>, %n: tensor<2x3xi32>)
    -> (tensor<2x3xbf16>, tensor<6x2xbf16>, tensor<2x2xbf16>, tensor<3x2xi8>, tensor<2x3xbf16>) {
  %c = relay.constant dense<[1.0, -1.5, 3.0e38]> : tensor<3xbf16>
  %0 = relay.cast %y {dtype = bf16} : (tensor<3xf64>) -> tensor<3xbf16>
  %1 = relay.add %x, %0 : (tensor<2x3xbf16>, tensor<3xbf16>) -> tensor<2x3xbf16>
  %2 = relay.reshape %1 {newshape = array<i64: 3, 2>} : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
  %3 = relay.tanh %2 : (tensor<3x2xbf16>) -> tensor<3x2xbf16>
  %4 = relay.concatenate %2, %3 : (tensor<3x2xbf16>, tensor<3x2xbf16>) -> tensor<6x2xbf16>
  %5 = relay.nn.dense %x, %x : (tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x2xbf16>
  %6 = relay.cast %2 {dtype = i8} : (tensor<3x2xbf16>) -> tensor<3x2xi8>
  %7 = relay.cast %n {dtype = bf16} : (tensor<2x3xi32>) -> tensor<2x3xbf16>
  %8 = relay.minimum %7, %c : (tensor<2x3xbf16>, tensor<3xbf16>) -> tensor<2x3xbf16>
  func.return %1, %4, %5, %6, %8
    : tensor<2x3xbf16>, tensor<6x2xbf16>, tensor<2x2xbf16>, tensor<3x2xi8>, tensor<2x3xbf16>
}
"""


def arguments() -> list[Any]:
    x = np.array([[1.0078125, -3.25, 1e15], [0.1, -200.0, 7.0]], BF16)
    y = np.array([1.00390625, 2.0**-9, 1.0])  # a tie, and a number that rounding loses
    n = np.array([[257, -259, 2**31 - 1], [0, 3, -(2**31)]], np.int32)
    return [x, y, n]


def expected(x: Any, y: Any, n: Any) -> list[Any]:
    total = x + y.astype(BF16)
    flat = total.reshape(3, 2)
    wide = x.astype(np.float32)
    whole = np.nan_to_num(flat.astype(np.float32), posinf=1e9).clip(-128, 127).astype(np.int8)
    least = np.minimum(n.astype(BF16), np.array([1, -1.5, 3e38], BF16))
    return [
        total,
        np.concatenate([flat, np.tanh(flat)]),
        (wide @ wide.T).astype(BF16),
        whole,
        least,
    ]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.mlir"
    path.write_text(TEXT, encoding="utf-8")
    return path


@pytest.mark.ci
@pytest.mark.parametrize("target", ["machine", "native"])
def test_results_are_rounded_once(program: Path, target: str) -> None:
    results = xrelay.compile(program, target=target)(*arguments())
    for found, wanted in zip(results, expected(*arguments()), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("target", ["machine", "native"])
def test_a_conversion_there_and_back_in_one_kernel(tmp_path: Path, target: str) -> None:
    text = """func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
      %a = relay.cast %x {dtype = bf16} : (tensor<64xf32>) -> tensor<64xbf16>
      %y = relay.cast %a {dtype = f32} : (tensor<64xbf16>) -> tensor<64xf32>
      func.return %y : tensor<64xf32>
    }"""
    (tmp_path / "p.mlir").write_text(text, encoding="utf-8")
    x = np.linspace(-3, 5, 64, dtype=np.float32)
    found = xrelay.compile(tmp_path / "p.mlir", target=target)(x)
    assert np.array_equal(found, x.astype(BF16).astype(np.float32))


def test_a_saved_program_has_constants_of_bfloat16(program: Path, tmp_path: Path) -> None:
    xrelay.compile(program).save(tmp_path / "program.xrx")
    results = xrelay.load(tmp_path / "program.xrx")(*arguments())
    assert np.array_equal(results[4], expected(*arguments())[4])


NARROW = [row for row in ELEMENT_TABLE.values() if row.package and row.dtype != "bfloat16"]


def moved(row: ElementType) -> str:
    return f"""func.func @main(%x: tensor<6xf32>, %y: tensor<6x{row.mlir}>)
        -> (tensor<3x2x{row.mlir}>, tensor<6xf16>, tensor<6x{row.mlir}>) {{
      %0 = relay.cast %x {{dtype = {row.mlir}}} : (tensor<6xf32>) -> tensor<6x{row.mlir}>
      %1 = relay.reshape %0 {{newshape = array<i64: 3, 2>}}
        : (tensor<6x{row.mlir}>) -> tensor<3x2x{row.mlir}>
      %2 = relay.cast %y {{dtype = f16}} : (tensor<6x{row.mlir}>) -> tensor<6xf16>
      %3 = relay.maximum %y, %0 : (tensor<6x{row.mlir}>, tensor<6x{row.mlir}>)
        -> tensor<6x{row.mlir}>
      func.return %1, %2, %3 : tensor<3x2x{row.mlir}>, tensor<6xf16>, tensor<6x{row.mlir}>
    }}"""


@pytest.mark.parametrize("row", NARROW, ids=lambda row: row.dtype)
def test_narrow_types_are_stored_and_converted(row: ElementType, tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(moved(row), encoding="utf-8")
    dtype = np.dtype(getattr(ml_dtypes, row.dtype))
    x, y = np.array([0.9, 1.25, 3.0, 1.4, 1, 0.6], np.float32), np.ones(6, dtype)
    program = xrelay.compile(tmp_path / "p.mlir")
    program.save(tmp_path / "p.xrx")
    runs: list[Any] = [program, xrelay.load(tmp_path / "p.xrx")]
    if row.dtype in ("int4", "float8_e5m2"):  # calls the machine's kernels to convert them
        runs.append(xrelay.compile(tmp_path / "p.mlir", target="native"))
    for run in runs:
        a, b, c = run(x, y)
        limited = x if row.precision else x.clip(max=ml_dtypes.iinfo(dtype).max)  # pyright: ignore[reportUnknownMemberType]
        narrow = limited.astype(dtype)
        assert np.array_equal(a, narrow.reshape(3, 2))
        assert a.dtype == c.dtype == dtype
        assert np.array_equal(b, np.ones(6, np.float16))
        assert np.array_equal(c.astype(np.float32), np.maximum(narrow.astype(np.float32), 1))


def test_without_the_package_the_error_says_what_to_install(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from xrelay.runtime.program import dtypes

    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    monkeypatch.delitem(dtypes._TYPES, "bfloat16", raising=False)  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(xrelay.Error) as error:
        xrelay.compile(program)
    message = "element type bfloat16 needs the package ml_dtypes: pip install 'xrelay[narrow]'"
    assert message in str(error.value)
    assert "program.mlir:3:8: error" in str(error.value)

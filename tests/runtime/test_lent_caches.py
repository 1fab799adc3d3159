"""Results in the buffers of arguments, in the machine and natively."""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xrelay

PROGRAM = """
func.func @main(%past: tensor<1x3x?x4xf32> {relay.dims = [1, 3, "past", 4], relay.cache = {axis = 2, maximum = 12}},
                %x: tensor<1x?x3x4xf32> {relay.dims = [1, "t", 3, 4]},
                %keys: tensor<?x4xf32> {relay.dims = ["past", 4]}) -> (tensor<1x3x4x?xf32>, tensor<1x3x?x4xf32>, tensor<?x4xf32>) {
  %new = relay.transpose %x {axes = array<i64: 0, 2, 1, 3>} : (tensor<1x?x3x4xf32>) -> tensor<1x3x?x4xf32>
  %all = relay.concatenate %past, %new {axis = 2} : (tensor<1x3x?x4xf32>, tensor<1x3x?x4xf32>) -> tensor<1x3x?x4xf32>
  %turned = relay.transpose %all {axes = array<i64: 0, 1, 3, 2>} : (tensor<1x3x?x4xf32>) -> tensor<1x3x4x?xf32>
  %sums = relay.sum %x {axis = array<i64: 0, 2>} : (tensor<1x?x3x4xf32>) -> tensor<?x4xf32>
  %more = relay.concatenate %keys, %sums {axis = 0} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %turned, %all, %more : tensor<1x3x4x?xf32>, tensor<1x3x?x4xf32>, tensor<?x4xf32>
}
"""  # noqa: E501
CACHES = '{caches="keys=64"}'

Array = np.ndarray[Any, np.dtype[Any]]


@pytest.fixture(scope="module", params=["machine", "sanitized", "native"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    source = tmp_path_factory.mktemp("caches") / "grow.mlir"
    source.write_text(PROGRAM)
    if request.param == "native":
        return xrelay.compile(source, target="native", pipeline=f"aot{CACHES}")
    return xrelay.compile(
        source, pipeline=f"vm{CACHES}", sanitize=True if request.param == "sanitized" else False
    )


def buffers(rows: int) -> tuple[Array, Array]:
    """Return buffers of so many rows, which were not written."""
    return np.full((rows, 1, 3, 4), np.nan, np.float32), np.full((rows, 4), np.nan, np.float32)


def test_rows_are_appended_in_the_buffer(program: Any):
    """Results are more rows of the buffers, for any number of rows; no other is written."""
    rng = np.random.default_rng(0)
    for _ in range(3):
        past, keys = buffers(11)
        expected = np.empty((1, 3, 0, 4), np.float32)
        a, b = past[:0], keys[:0]
        for t in (3, 1, 1, 2, 1):
            x = rng.standard_normal((1, t, 3, 4)).astype(np.float32)
            expected = np.concatenate([expected, x.transpose(0, 2, 1, 3)], 2)
            turned, a, b = program(a, x, keys=b)
            assert np.shares_memory(a, past)
            assert len(a) == expected.shape[2]
            assert np.shares_memory(b, keys)
            np.testing.assert_array_equal(turned, expected.swapaxes(2, 3))
            np.testing.assert_array_equal(past[: len(a)], expected.transpose(2, 0, 1, 3))
            np.testing.assert_allclose(keys[: len(b)], expected[0].sum(0), rtol=1e-6)
            assert np.isnan(past[len(a) :]).all()
            assert np.isnan(keys[len(b) :]).all()


def test_out_has_a_copy(program: Any):
    """The arrays of `out` get the results, and may be parts of the buffers."""
    past, keys = buffers(6)
    x = np.ones((1, 2, 3, 4), np.float32)
    out = (np.empty((1, 3, 4, 2), np.float32), past[:2], np.empty((2, 4), np.float32))
    assert program(past[:0], x, keys[:0], out=out) is out
    assert (past[:2] == 1).all()
    assert (out[2] == keys[:2]).all()
    assert (keys[:2] == 3).all()


BAD: list[tuple[str, Callable[[Array, Array], tuple[Array, Array]], str]] = [
    (
        "too small",
        lambda past, keys: (past[:2].copy(), keys[:2]),
        "'past' of main is a cache, and the result in its memory has 5 rows, but its buffer has "
        "room for 2",
    ),
    (
        "too long",
        lambda past, keys: (past[:10], keys[:10]),
        "'past' of main is a cache of at most 12 rows, but the result has 13",
    ),
    (
        "read-only",
        lambda past, keys: (
            np.frombuffer(bytes(9 * 48), np.float32).reshape(9, 1, 3, 4)[:2],
            keys[:2],
        ),
        "'past' of main is a cache, but its buffer is read-only",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "message"), BAD)
def test_buffers_that_cannot_be_used(program: Any, name: str, arguments: Any, message: str):
    """An error has the number of rows and its bound, and nothing is written."""
    past, keys = buffers(20)
    a, b = arguments(past, keys)
    with pytest.raises(xrelay.MachineError) as error:
        program(a, np.ones((1, 3, 3, 4), np.float32), b)
    assert message in str(error.value), name
    assert np.isnan(keys).all()


def test_caches_that_grow_into_each_other_are_refused(program: Any):
    past, keys = buffers(20)
    other = np.ndarray((2, *keys.shape[1:]), keys.dtype, past.data, past[0].nbytes)
    with pytest.raises(xrelay.MachineError, match=r"have one buffer|overlaps 'keys'"):
        program(past[:2], np.ones((1, 3, 3, 4), np.float32), other)
    assert np.isnan(past).all()


def test_c_callers_may_lend(tmp_path: Path):
    """In C a result in the memory of its cache gets new rows; in other memory, all of them."""
    source, library = tmp_path / "grow.mlir", tmp_path / "libgrow.so"
    source.write_text(PROGRAM)
    net = xrelay.compile(source, target="native", pipeline="aot")
    net.save(library)
    net.save(tmp_path / "grow.h")
    header = (tmp_path / "grow.h").read_text()
    assert "float32[?, 1, 3, 4]; of at most 12 rows; its memory may be that of past" in header
    code = ctypes.CDLL(str(library))
    code.grow_last_error.restype = ctypes.c_char_p
    past, _ = buffers(16)
    past[:2] = 7
    x, more = np.ones((1, 1, 3, 4), np.float32), np.zeros((3, 4), np.float32)

    def call(result: Array, rows: int) -> int:
        dims = (ctypes.c_int64 * 3)(rows, 1, rows)
        turned = np.empty((1, 3, 4, rows + 1), np.float32)
        arrays = past, x, np.zeros((rows, 4), np.float32), turned, result, more
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]
        return code.grow_main(*pointers, dims, None)

    other = np.empty((3, 1, 3, 4), np.float32)
    assert call(other, 2) == 0
    assert (other[:2] == 7).all()
    assert (other[2:] == 1).all()
    assert np.isnan(past[2:]).all()
    assert call(past, 2) == 0
    assert (past[:2] == 7).all()
    assert (past[2] == 1).all()
    assert np.isnan(past[3:]).all()
    more = np.zeros((13, 4), np.float32)
    assert call(past, 12) == 1
    assert b"cache of at most 12 rows, but the result has 13" in code.grow_last_error()
    more = np.zeros((3, 4), np.float32)
    assert call(past[1:], 2) == 1
    assert b"overlaps" in code.grow_last_error()

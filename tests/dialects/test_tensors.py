"""Sizes, names and alignments of tensors and their elements."""

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import DYNAMIC_INDEX, Builtin, TensorType, f32, i32
from xdsl.ir import Attribute
from xdsl.parser import Parser

from xrelay.dialects.tensors import (
    as_tensor,
    bits_of,
    dtype_name,
    element_size,
    is_static,
    storage_alignment,
    tensor_size,
)


def element(text: str) -> Attribute:
    ctx = Context()
    ctx.load_dialect(Builtin)
    return Parser(ctx, text).parse_type()


@pytest.mark.parametrize(
    ("text", "bits", "size", "name"),
    [
        ("i1", 1, 1, "bool"),
        ("i4", 4, 1, "int4"),
        ("ui4", 4, 1, "uint4"),
        ("i8", 8, 1, "int8"),
        ("si8", 8, 1, "int8"),
        ("ui8", 8, 1, "uint8"),
        ("i12", 12, 2, "int12"),
        ("i16", 16, 2, "int16"),
        ("i32", 32, 4, "int32"),
        ("ui32", 32, 4, "uint32"),
        ("i64", 64, 8, "int64"),
        ("ui64", 64, 8, "uint64"),
        ("i128", 128, 16, "int128"),
        ("index", 64, 8, "int64"),
        ("f16", 16, 2, "float16"),
        ("bf16", 16, 2, "bfloat16"),
        ("f32", 32, 4, "float32"),
        ("f64", 64, 8, "float64"),
    ],
)
def test_element_types(text: str, bits: int, size: int, name: str):
    type = element(text)
    assert bits_of(type) == bits
    assert element_size(type) == size
    assert dtype_name(type) == name


@pytest.mark.parametrize("text", ["none", "complex<f32>", "tensor<2xf32>", "f80", "f128"])
def test_what_has_no_size(text: str):
    type = element(text)
    assert bits_of(type) is None
    assert dtype_name(type) is None
    with pytest.raises(AssertionError, match="is not an element type with a size"):
        element_size(type)
    with pytest.raises(AssertionError, match="is not an element type with a size"):
        storage_alignment(type)


def test_alignment_is_at_least_64_bytes():
    for text in ("i1", "i4", "f16", "bf16", "f32", "f64", "index", "i128", "i512"):
        assert storage_alignment(element(text)) == 64
    assert storage_alignment(element("i1024")) == 128


def test_sizes_of_tensors():
    assert tensor_size(TensorType(f32, [5, 7])) == 140
    assert tensor_size(TensorType(f32, [])) == 4
    assert tensor_size(TensorType(f32, [3, 0])) == 0
    assert tensor_size(TensorType(element("i1"), [9])) == 9
    assert tensor_size(TensorType(element("i4"), [9])) == 9
    assert tensor_size(TensorType(element("bf16"), [2, 3])) == 12
    assert tensor_size(TensorType(element("index"), [2])) == 16


def test_static_and_dynamic_shapes():
    dynamic = TensorType(f32, [2, DYNAMIC_INDEX])
    assert is_static(TensorType(f32, [2, 3]))
    assert is_static(TensorType(f32, []))
    assert not is_static(dynamic)
    with pytest.raises(AssertionError, match="has no static size"):
        tensor_size(dynamic)


def test_as_tensor():
    ranked = TensorType(i32, [2])
    assert as_tensor(ranked) is ranked
    assert as_tensor(i32) is None
    assert as_tensor(element("tensor<*xf32>")) is None
    assert as_tensor(element("memref<2xf32>")) is None

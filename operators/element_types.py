"""
The element types, and the name or number of each in every format that we read or write.

    ELEMENT_TABLE["float32"]      its row: f32 in MLIR, F32 in safetensors, 1 in ONNX, …
    NUMBER_TYPES                  the rows of the types that can be computed with

Executables and Relay text say NumPy's name, so neither has a column of its own. Every room reads
this table: none has another keyed by names of element types.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple


class ElementKind(Enum):
    BOOL = auto()
    INTEGER = auto()
    """An integer of two bits or more, signed or unsigned, or an index."""
    FLOAT = auto()
    OPAQUE = auto()
    """Anything else: elements that can be moved, but not computed with."""


class ElementType(NamedTuple):
    """A row of the table; `None` where a format lacks the type."""

    dtype: str
    """Its name in NumPy, Relay text, executables and listings ("float32")."""
    mlir: str
    """Its name in MLIR ("f32", "ui8"); xDSL's class of a float has this name, too."""
    kind: ElementKind
    bits: int
    """Its width; elements of fewer than eight bits occupy a byte each, also in other formats."""
    struct: str | None
    """Its code in the module `struct`, None for types that only move; NumPy has the others."""
    dlpack: int
    """The type code of DLPack, and with 1 for bools, of TVM: 0 int, 1 uint, 2 float, …"""
    onnx: int
    """The number of ONNX's `TensorProto.DataType`."""
    safetensors: str | None
    c: str
    """The type in C of its bits: that of an integer where C lacks the type."""
    precision: int = 0
    """The number of bits up to which every integer is a float of the type, otherwise 0."""
    package: str | None = None
    """The package, an extra, that has NumPy's type; without one it is NumPy's own or none."""


_BOOL, _INT, _FLOAT = ElementKind.BOOL, ElementKind.INTEGER, ElementKind.FLOAT
_EXTRA = "ml_dtypes"

ELEMENT_TABLE: Mapping[str, ElementType] = {
    row.dtype: row
    for row in (
        ElementType("bool", "i1", _BOOL, 1, "?", 6, 9, "BOOL", "uint8_t"),
        ElementType("int2", "i2", _INT, 2, None, 0, 26, None, "int8_t", 0, _EXTRA),
        ElementType("int4", "i4", _INT, 4, None, 0, 22, None, "int8_t", 0, _EXTRA),
        ElementType("int8", "i8", _INT, 8, "b", 0, 3, "I8", "int8_t"),
        ElementType("int16", "i16", _INT, 16, "h", 0, 5, "I16", "int16_t"),
        ElementType("int32", "i32", _INT, 32, "i", 0, 6, "I32", "int32_t"),
        ElementType("int64", "i64", _INT, 64, "q", 0, 7, "I64", "int64_t"),
        ElementType("uint2", "ui2", _INT, 2, None, 1, 25, None, "uint8_t", 0, _EXTRA),
        ElementType("uint4", "ui4", _INT, 4, None, 1, 21, None, "uint8_t", 0, _EXTRA),
        ElementType("uint8", "ui8", _INT, 8, "B", 1, 2, "U8", "uint8_t"),
        ElementType("uint16", "ui16", _INT, 16, "H", 1, 4, "U16", "uint16_t"),
        ElementType("uint32", "ui32", _INT, 32, "I", 1, 12, "U32", "uint32_t"),
        ElementType("uint64", "ui64", _INT, 64, "Q", 1, 13, "U64", "uint64_t"),
        *(
            ElementType(dtype, mlir, _FLOAT, bits, None, dlpack, onnx, stored, "uint8_t", p, _EXTRA)
            for dtype, mlir, bits, dlpack, onnx, stored, p in (
                ("float4_e2m1fn", "f4E2M1FN", 4, 17, 23, None, 2),
                ("float8_e4m3fn", "f8E4M3FN", 8, 10, 17, "F8_E4M3", 4),
                ("float8_e4m3fnuz", "f8E4M3FNUZ", 8, 11, 18, None, 4),
                ("float8_e5m2", "f8E5M2", 8, 12, 19, "F8_E5M2", 3),
                ("float8_e5m2fnuz", "f8E5M2FNUZ", 8, 13, 20, None, 3),
                ("float8_e8m0fnu", "f8E8M0FNU", 8, 14, 24, "F8_E8M0", 1),
            )
        ),
        ElementType("float16", "f16", _FLOAT, 16, "e", 2, 10, "F16", "uint16_t", 11),
        ElementType("bfloat16", "bf16", _FLOAT, 16, None, 4, 16, "BF16", "uint16_t", 8, _EXTRA),
        ElementType("float32", "f32", _FLOAT, 32, "f", 2, 1, "F32", "float", 24),
        ElementType("float64", "f64", _FLOAT, 64, "d", 2, 11, "F64", "double", 53),
    )
}
"""All element types, by name."""

NUMBER_TYPES: Mapping[str, ElementType] = {
    name: row for name, row in ELEMENT_TABLE.items() if row.struct is not None
}
"""The element types that can be computed with, which are those that NumPy has."""


def wide_dtype(dtype: str) -> str:
    """Return the type in which elements that are only stored and moved are computed with."""
    row = ELEMENT_TABLE[dtype]
    if row.struct is not None:
        return dtype
    return "float32" if row.precision else "uint8" if row.dlpack else "int8"


ONNX_DTYPES: Mapping[int, str] = {
    row.onnx: name for name, row in sorted(ELEMENT_TABLE.items(), key=lambda item: item[1].onnx)
}
"""The names of the types by ONNX's numbers."""

"""The table of element types: against each format's own library, and against second tables."""

import ast
import ctypes
import re
import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import pytest
from helpers.documentation.sources import syntax
from onnx import TensorProto
from xdsl.dialects.builtin import f32

from xrelay.dialects.attributes import ELEMENT_TYPES
from xrelay.dialects.tensors import bits_of, dtype_name
from xrelay.operators.element_types import ELEMENT_TABLE, NUMBER_TYPES, ElementKind, ElementType

ROOT = Path(__file__).parents[2]
TABLE = Path("operators/element_types.py")
MODULES = [
    path.relative_to(ROOT)
    for room in (
        *("operators", "dialects", "planning", "passes"),
        *("lowering", "runtime", "frontends", "tools"),
    )
    for path in sorted((ROOT / room).rglob("*.py"))
]
COLUMNS = ("dtype", "mlir", "safetensors", "c")
NAMES = {getattr(row, column) for row in ELEMENT_TABLE.values() for column in COLUMNS}
CLASSES = {type(each).__name__ for each in ELEMENT_TYPES.values()} - {"IntegerType"}
PREFIXES = {name.rstrip("0123456789") for name in ELEMENT_TABLE} | {"i", "ui", "si", "f", "F"}

WORD = re.compile(r"\w+")
FAMILY = re.compile(rf"(?:{'|'.join(PREFIXES)})\{{")


def name_of(key: ast.AST) -> str | None:
    """The element type that `key` names: as text, as a variable, or as a class of xDSL's."""
    match key:
        case ast.Constant(value=str(text)) if text in NAMES:
            return text
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.MatchClass(cls=ast.Name(id=name)):
            return name if name in NAMES | CLASSES else None
        case ast.Call(func=function):
            return name_of(function)
        case ast.MatchValue(value=value):
            return name_of(value)
        case _:
            return None


def is_family(key: ast.AST | None) -> bool:
    """Test whether `key` is computed as the name of several element types: `f"int{bits}"`."""
    match key:
        case ast.JoinedStr(values=[*_, ast.Constant(value=str(text)), ast.FormattedValue()]):
            return text in PREFIXES
        case _:
            return False


def tables(tree: ast.AST) -> Iterator[int]:
    """The lines of dicts, matches, sequences of pairs with three or more element types as keys."""
    for node in ast.walk(tree):
        match node:
            case ast.Dict():
                keys = [[key for key in node.keys if key], node.values]
            case ast.DictComp():
                keys = [[node.key], [node.value]]
            case ast.Match():
                patterns = [p for case in node.cases for p in ast.walk(case.pattern)]
                keys = [patterns]
            case ast.List() | ast.Tuple() | ast.Set():
                pairs = [each.elts for each in node.elts if isinstance(each, ast.Tuple)]
                keys = [[pair[i] for pair in pairs if len(pair) > i] for i in range(2)]
            case _:
                continue
        for column in keys:
            names = {name for key in column if (name := name_of(key)) is not None}
            if len(names) >= 3 or any(is_family(key) for key in column):
                yield node.lineno
                break


def may_have_a_table(text: str) -> bool:
    """Test whether the text of a module names so many types, which it takes long to parse."""
    return len((NAMES | CLASSES) & {*WORD.findall(text)}) >= 3 or FAMILY.search(text) is not None


@pytest.mark.parametrize(
    "second",
    [
        'T = {"int8": 1, "int16": 2, "float16": 2}',
        'T = {1: "float32", 2: "uint8", 3: "int8"}',
        "T = {Float16Type: 16, BFloat16Type: 16, Float32Type: 32}",
        "T = {f16: 16, f32: 32, f64: 64}",
        'T = {f"int{n}": n for n in (8, 16, 32)}',
        'T = {n: f"F{n}" for n in (8, 16, 32)}',
        'T = (("float16", 2), ("float32", 4), ("float64", 8))',
        'match t:\n  case "f16": 1\n  case "f32": 2\n  case "f64": 3',
        "match t:\n  case Float16Type(): 1\n  case Float32Type(): 2\n  case Float64Type(): 3",
    ],
)
def test_second_tables_are_seen(second: str):
    assert may_have_a_table(second)
    assert [*tables(ast.parse(second))]


def test_conditions_on_element_types_are_not_tables():
    assert not [*tables(ast.parse('dtype in ("int8", "int16", "int32")\n{"float16": "float32"}'))]


@pytest.mark.ci
def test_no_second_table():
    found = [
        f"{module}:{line}"
        for module in MODULES
        if module != TABLE
        if may_have_a_table((ROOT / module).read_text(encoding="utf-8"))
        for line in tables(syntax(ROOT / module))
    ]
    assert found == []


each_row = pytest.mark.parametrize("row", ELEMENT_TABLE.values(), ids=str)
each_number = pytest.mark.parametrize("row", NUMBER_TYPES.values(), ids=str)


@each_row
def test_xdsl_has_the_names_and_widths(row: ElementType):
    type = ELEMENT_TYPES[row.dtype]
    assert (str(type), dtype_name(type), bits_of(type)) == (row.mlir, row.dtype, row.bits)


@each_row
def test_onnx_has_the_numbers(row: ElementType):
    name = {"float32": "FLOAT", "float64": "DOUBLE"}.get(row.dtype, row.dtype.upper())
    plain = name.replace("_", "").replace("E8M0FNU", "E8M0").replace("E2M1FN", "E2M1")
    assert TensorProto.DataType.Name(row.onnx) == plain


@each_number
def test_numpy_computes_with_numbers(row: ElementType):
    dtype = np.dtype(row.dtype)
    kinds = {"b": ElementKind.BOOL, "f": ElementKind.FLOAT}
    assert kinds.get(dtype.kind, ElementKind.INTEGER) is row.kind
    assert dtype.itemsize == -(-row.bits // 8)
    assert onnx.helper.np_dtype_to_tensor_dtype(dtype) == row.onnx
    assert row.struct is not None
    assert np.dtype(f"<{row.struct}").newbyteorder("=") == dtype
    assert struct.calcsize(f"<{row.struct}") == dtype.itemsize
    if row.kind is ElementKind.FLOAT:
        assert row.precision == np.finfo(row.dtype).nmant + 1


@each_number
def test_dlpack_has_the_codes(row: ElementType):
    """A capsule's `DLTensor` begins with pointer, device, rank; then come code and bits."""
    capsule = np.zeros(1, row.dtype).__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    address = pointer(capsule, b"dltensor")
    assert isinstance(address, int)
    code, bits = (ctypes.c_uint8.from_address(address + at).value for at in (20, 21))
    assert (code, bits) == (row.dlpack, max(8, row.bits))


@each_number
def test_c_has_types_of_the_widths(row: ElementType):
    types = {"float": ctypes.c_float, "double": ctypes.c_double}
    type = types.get(row.c) or getattr(ctypes, f"c_{row.c.removesuffix('_t')}")
    assert ctypes.sizeof(type) == np.dtype(row.dtype).itemsize


def test_packages_have_the_types_that_only_move():
    for row in ELEMENT_TABLE.values():
        if row.package:
            dtype = np.dtype(getattr(import_module(row.package), row.dtype))
            assert (dtype.name, 8 * dtype.itemsize) == (row.dtype, max(8, row.bits))
            if row.kind is ElementKind.FLOAT:
                assert row.precision == int(ml_dtypes.finfo(dtype).nmant) + 1  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
            assert onnx.helper.np_dtype_to_tensor_dtype(dtype) == row.onnx


@pytest.mark.ci
def test_types_that_only_move_have_no_numbers():
    assert set(ELEMENT_TABLE) - set(NUMBER_TYPES) == {
        row.dtype for row in ELEMENT_TABLE.values() if row.package
    }
    assert str(f32) == ELEMENT_TABLE["float32"].mlir

"""Printing Relay text: a round trip preserves the program and the text."""

import json
import math
import struct
from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    ModuleOp,
    TensorType,
    f32,
    f64,
)
from xdsl.dialects.func import Func

from xrelay.dialects.device import VirtualDeviceAttr
from xrelay.dialects.memory import Memory
from xrelay.dialects.relay import Relay
from xrelay.dialects.vm import Vm
from xrelay.frontends.relay_text import parse_module
from xrelay.frontends.relay_text.literals import (
    attribute_float,
    float_text,
    literal,
    number,
    string_text,
)
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.frontends.relay_text.print.printer_body import LocalNames
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.verifier import verify

NETWORKS = Path(__file__).parents[2] / "data" / "relay_text"
PROGRAMS = Path(__file__).parent / "programs"
DEVICES = [
    VirtualDeviceAttr("cpu", 0),
    VirtualDeviceAttr("cuda", 0),
    VirtualDeviceAttr("cuda", 1, "llvm", "global"),
]


def context() -> Context:
    made = Context(allow_unregistered=True)
    for dialect in (Builtin, Func, Relay, Vm, Memory):
        made.load_dialect(dialect)
    return made


def read(text: str) -> ModuleOp:
    module = parse_module(context(), text, "program.relay", {"VirtualDevice": DEVICES})
    verify(module)
    return module


def planned(module: ModuleOp) -> ModuleOp:
    PlanDevicesPass(default="cuda:0", host="cpu:0").apply(context(), module)
    verify(module)
    return module


FILES = [*sorted(NETWORKS.glob("*.relay")), *sorted(PROGRAMS.glob("*.relay"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_text_to_ir_to_text_to_ir(file: Path):
    module = read(file.read_text())
    text = module_text(module)
    again = read(text)
    assert module.is_structurally_equivalent(again)
    assert module_text(again) == text


def test_there_are_files():
    assert len(FILES) >= 7


def replanned(module: ModuleOp) -> ModuleOp:
    """Replan the text of a planned module; the text must not change."""
    text = module_text(module)
    again = planned(parse_module(context(), text, "planned.relay"))
    assert module_text(again) == text
    return again


def test_planned_text_is_planned_as_it_was():
    """A planned program is read back with annotations, which planning follows."""
    module = planned(read((PROGRAMS / "two_devices.relay").read_text()))
    assert "device_copy" in module_text(module)
    assert module.is_structurally_equivalent(replanned(module))


@pytest.mark.ci
@pytest.mark.parametrize("statement", ["%{} = ", "let %a{} = "])
def test_long_programs(statement: str):
    """2,000 bindings in a chain do not need deep recursion."""
    lines, before = ['#[version = "0.0.5"]', "def @main(%x: Tensor[(4), float32]) {"], "%x"
    for i in range(2_000):
        bound = statement.format(i)
        lines.append(f"  {bound}negative({before});")
        before = bound.removeprefix("let ").removesuffix(" = ")
    text = module_text(read("\n".join([*lines, f"  {before}", "}"])))
    assert text.count("negative") == 2_000
    assert "  %1998 = negative(%1997);\n  negative(%1998)\n}\n" in text


# ------------------------------------------------------------------- literals


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0f"),
        (-0.0, "-0f"),
        (1.0, "1f"),
        (2.5, "2.5f"),
        (1e-5, "1e-05f"),
        (0.70710678, "0.70710677f"),
        (3.4028235e38, "3.4028235e+38f"),
        (math.inf, "inff"),
        (-math.inf, "-inff"),
        (math.nan, None),
    ],
)
def test_float_literals(value: float, text: str | None):
    assert float_text(float(np.float32(value))) == text


def test_float_literals_read_back_to_the_same_value():
    random = np.random.default_rng(1)
    bits = random.integers(0, 2**32, 2000, dtype=np.uint64)
    for value in (struct.unpack("<f", struct.pack("<I", int(b)))[0] for b in bits):
        text = float_text(value)
        if text is not None and math.isfinite(value):
            sign = text.startswith("-")
            assert number(text.removeprefix("-"), sign) == (value, "float32")


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "0.1f64"), (0.5, "0.5f"), (1e300, "1e+300f64"), (math.nan, None)]
)
def test_attributes_are_as_wide_as_they_need(value: float, text: str | None):
    assert attribute_float(value) == text


def test_strings_are_escaped():
    assert string_text("plain") == '"plain"'
    assert string_text('a"b\\c\nd\te\r') == '"a\\"b\\\\c\\nd\\te\\r"'
    assert string_text("ü\0") == '"\\xc3\\xbc\\x00"'


def test_only_scalars_are_literals():
    scalar = DenseIntOrFPElementsAttr(TensorType(f64, []), BytesAttr(struct.pack("<d", 0.1)))
    assert literal(scalar) == "0.1f64"
    vector = DenseIntOrFPElementsAttr(TensorType(f32, [1]), BytesAttr(struct.pack("<f", 1)))
    assert literal(vector) is None


# ---------------------------------------------------------------------- names


def test_names_are_unique_and_legal():
    names = LocalNames()
    assert [names.local(n) for n in ("x", "x", "x", "a.b", "0", None, None)] == [
        *("x", "x1", "x2", "a_b", "v0", "v", "v1")
    ]


def test_names_of_params_are_kept_where_they_can_be_read():
    names = LocalNames()
    assert names.param("conv1/7x7_w-0") == "conv1/7x7_w-0"
    assert names.param("gpu:0") == "gpu:0"
    assert names.param("a b") == "a_b"
    assert names.param("x.0") == "x.0"
    assert names.param("x") == "x1"  # %x.0 would be field 0 of %x
    assert names.param("y") == "y"
    assert names.param("y.0") == "y_0"
    assert names.param(None) == "p0"
    assert names.param(None) == "p1"


# ------------------------------------------------------------------- metadata


def test_metadata_is_json_with_tvms_nodes():
    text = module_text(read((NETWORKS / "meta_small.relay").read_text()))
    document = json.loads(text.partition("#[metadata]")[2])
    nodes = document["nodes"]
    assert nodes[0] == {"type_key": ""}
    assert document["root"] == 1
    assert nodes[1]["type_key"] == "Map"
    assert nodes[1]["keys"] == ["relay.Constant"]
    (array,) = nodes[1]["data"]
    constants = [nodes[i] for i in nodes[array]["data"]]
    assert [c["type_key"] for c in constants] == ["relay.Constant"] * 3
    first = nodes[int(constants[0]["attrs"]["_checked_type_"])]["attrs"]
    dims = [nodes[i]["attrs"]["value"] for i in nodes[int(first["shape"])]["data"]]
    assert (first["dtype"], dims) == ("float32", ["3", "4"])


def test_arrays_are_those_that_tvm_wrote():
    source = (NETWORKS / "meta_small.relay").read_text()
    written = json.loads(source.partition("#[metadata]")[2])["b64ndarrays"]
    printed = json.loads(module_text(read(source)).partition("#[metadata]")[2])["b64ndarrays"]
    assert printed == written


def test_devices_of_every_kind_are_read_again():
    devices = [
        VirtualDeviceAttr("cuda", 3, "cuda -arch=sm_80", "texture"),
        VirtualDeviceAttr("hexagon"),
        VirtualDeviceAttr(None, None, None, "global"),
        VirtualDeviceAttr("dev77", 1),
    ]
    params = ", ".join(
        f"%x{i} {{virtual_device=meta[VirtualDevice][{i}]}}: int32" for i in range(len(devices))
    )
    text = f'#[version = "0.0.5"]\ndef @main({params}) {{ %x0 }}'
    module = parse_module(context(), text, "program.relay", {"VirtualDevice": devices})
    again = parse_module(context(), module_text(module), "program.relay")
    assert module.is_structurally_equivalent(again)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float64"])
def test_constants_of_every_dtype_are_read_again(dtype: str):
    array = np.array([[0, 1, 1], [1, 0, 1]], dtype)
    text = '#[version = "0.0.5"]\ndef @main() { meta[relay.Constant][0] }'
    module = parse_module(context(), text, "program.relay", {"relay.Constant": [array]})
    again = parse_module(context(), module_text(module), "program.relay")
    assert module.is_structurally_equivalent(again)

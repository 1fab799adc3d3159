"""Constants and other entries of the metadata section, and modules saved as JSON."""

import base64
import json
import struct
from typing import Any

import numpy as np
import pytest
from helpers.relay.relay_programs import DATA, body_of, context, error_of, read
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from xrelay.dialects.device import VirtualDeviceAttr
from xrelay.frontends.relay_text import RelayTextError, load_module, parse_json
from xrelay.frontends.relay_text.json.saved_arrays import MAGIC, ArrayError, decode
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.verifier import verify


def blob(kind: int, bits: int, lanes: int, shape: tuple[int, ...], data: bytes, **more: int) -> str:
    """An array as TVM saves it, in base64."""
    head = struct.pack(
        "<QQiiiBBH", more.get("magic", MAGIC), 0, 1, 0, len(shape), kind, bits, lanes
    )
    sizes = struct.pack(f"<{len(shape) + 1}q", *shape, more.get("size", len(data)))
    return base64.b64encode(head + sizes + data).decode()


def test_the_small_program_is_the_same_as_text_and_as_json() -> None:
    text = read((DATA / "meta_small.relay").read_text())
    saved = parse_json(context(), (DATA / "meta_small.json").read_text(), "meta_small.json")
    verify(saved)
    assert text.is_structurally_equivalent(saved)


def test_the_small_program_computes_what_numpy_does() -> None:
    module = read((DATA / "meta_small.relay").read_text())
    constants = [op.properties["value"] for op in module.walk() if op.name == "relay.constant"]
    assert all(isinstance(c, DenseIntOrFPElementsAttr) for c in constants)
    document = json.loads((DATA / "meta_small.relay").read_text().partition("#[metadata]")[2])
    raw = [base64.b64decode(b) for b in document["b64ndarrays"]]
    a = np.frombuffer(raw[0][-48:], np.float32).reshape(3, 4)
    w = np.frombuffer(raw[1][-80:], np.float32).reshape(5, 4)
    i = np.frombuffer(raw[2][-12:], np.int32)
    x = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)
    (found,) = evaluate(module, [x])
    np.testing.assert_allclose(np.asarray(found), ((x + a) @ w.T)[i] * np.float32(2.5), rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (blob(0, 32, 1, (2,), struct.pack("<2i", 1, -2)), "dense<[1, -2]> : tensor<2xi32>"),
        (blob(1, 8, 1, (1, 2), b"\x01\xff"), "dense<[[1, 255]]> : tensor<1x2xui8>"),
        (blob(1, 1, 1, (3,), b"\x01\x00\x01"), "dense<[true, false, true]> : tensor<3xi1>"),
        (blob(2, 64, 1, (), struct.pack("<d", 0.5)), "dense<5.000000e-01> : tensor<f64>"),
        (blob(2, 16, 1, (1,), struct.pack("<e", 1.5)), "dense<1.500000e+00> : tensor<1xf16>"),
        (blob(4, 16, 1, (1,), b"\x80\x3f"), "dense<1.000000e+00> : tensor<1xbf16>"),
    ],
)
def test_arrays(text: str, expected: str) -> None:
    assert str(decode(text)) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("§", "an array is not valid base64"),
        ("AAAA", "an array needs a header of 32 bytes, but has 3 bytes"),
        (blob(0, 32, 1, (1,), b"1234", magic=7), "an array must start with 0xdd5e40f096b4a13f"),
        (blob(3, 32, 1, (1,), b"1234"), "an array has 1 lanes of elements of kind 3; supported"),
        (blob(2, 32, 4, (1,), b"1234"), "an array has 4 lanes of elements of kind 2; supported"),
        (blob(2, 24, 1, (1,), b"123"), "elements of dtype float24 are not supported"),
        (blob(0, 32, 1, (-1,), b""), "the dims of an array must be at least 0, but are [-1]"),
        (blob(0, 32, 1, (2,), b"1234"), "int32 elements of shape [2] need 8 bytes, but"),
        (blob(0, 32, 1, (1,), b"1234", size=8), "an array declares 8 bytes, but 4 follow"),
        (blob(0, 32, 1, (1,) * 99, b"1234"), "the rank of an array must be in [0, 64], but is 99"),
    ],
)
def test_damaged_arrays(text: str, message: str) -> None:
    with pytest.raises(ArrayError) as caught:
        decode(text)
    assert str(caught.value).startswith(message)


def test_entries_from_outside_follow_those_of_the_file() -> None:
    text = (DATA / "meta_small.relay").read_text().replace("2.5f", "meta[relay.Constant][3]")
    module = read(text, {"relay.Constant": [np.asarray(4.0, np.float32)]})
    x = np.ones((3, 4), np.float32)
    (half,) = evaluate(read((DATA / "meta_small.relay").read_text()), [x])
    (found,) = evaluate(module, [x])
    assert isinstance(half, np.ndarray)
    np.testing.assert_allclose(found, half * np.float32(1.6), rtol=1e-6)


def test_outside_entries_without_a_section() -> None:
    table: dict[str, list[Any]] = {
        "relay.Constant": [np.array([True, False])],
        "VirtualDevice": [VirtualDeviceAttr("cpu", 0)],
    }
    text = """
      def @main() {
        on_device(meta[relay.Constant][0], virtual_device=meta[VirtualDevice][0])
      }
    """
    assert body_of(text, table).split("\n")[:2] == [
        "%0 = relay.constant dense<[true, false]> : tensor<2xi1>",
        "%1 = relay.on_device %0, #relay.device<cpu:0> {constrain_result = true} : "
        "(tensor<2xi1>) -> tensor<2xi1>",
    ]


def test_constants_of_the_wrong_kind() -> None:
    text = "def @main() { meta[relay.Constant][0] }"
    message = error_of(text, {"relay.Constant": [3]})
    assert message == (
        "1:15: meta[relay.Constant][0]: a relay.Constant must be a NumPy array or a dense "
        "attribute, but is 3"
    )
    assert error_of(text, {"relay.Constant": [np.array(["a"])]}).startswith(
        "1:15: meta[relay.Constant][0]: elements of dtype str"
    )


def test_attributes_as_an_object() -> None:
    nodes: list[dict[str, Any]] = [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["relay.attrs.ReduceAttrs"], "data": [2]},
        {"type_key": "Array", "data": [3]},
        {
            "type_key": "relay.attrs.ReduceAttrs",
            "attrs": {"axis": "4", "exclude": "0", "keepdims": "1"},
        },
        {"type_key": "Array", "data": [5]},
        {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "1"}},
    ]
    section = json.dumps({"root": 1, "nodes": nodes})
    text = (
        "def @main(%x: Tensor[(2, 3), float32]) { sum(%x, meta[relay.attrs.ReduceAttrs][0]) }"
        f"\n#[metadata]\n{section}"
    )
    assert body_of(text).split("\n")[0] == (
        "%0 = relay.sum %x {axis = array<i64: 1>, keepdims = true} : "
        "(tensor<2x3xf32>) -> tensor<2x1xf32>"
    )


def section(*nodes: dict[str, Any], **entries: list[int]) -> str:
    """The metadata section with `nodes`, numbered from 1, and the `entries` by key."""
    first = len(nodes) + 1
    arrays = [{"type_key": "Array", "data": numbers} for numbers in entries.values()]
    numbers = list(range(first, first + len(entries)))
    keys = [key.replace("__", ".") for key in entries]
    root = {"type_key": "Map", "keys": keys, "data": numbers}
    every = [{"type_key": ""}, *nodes, *arrays, root]
    return f"\n#[metadata]\n{json.dumps({'root': len(every) - 1, 'nodes': every})}"


def test_attributes_that_repeat_operands_may_be_expressions() -> None:
    text = (
        "def @main(%n: int64) { arange(0i64, %n, 1i64, start=meta[relay.Call][0], "
        'stop=meta[relay.Var][0], dtype="int64") }'
    )
    nodes: list[dict[str, Any]] = [
        {"type_key": "relay.Var", "attrs": {}},
        {"type_key": "relay.Call", "attrs": {}},
    ]
    metadata = section(*nodes, relay__Var=[1], relay__Call=[2])
    assert body_of(text + metadata).split("\n")[2].startswith("%2 = relay.arange %0, %n, %1 ")
    other = "def @main(%x: int32) { reshape(%x, newshape=[meta[relay.Var][0]]) }"
    assert error_of(other + metadata) == (
        "1:24: reshape: newshape must be a value, but is an expression"
    )
    other = "def @main(%x: int32) { meta[relay.Var][0] }"
    assert error_of(other + metadata).startswith("1:24: expected an expression, such as")


def test_symbolic_dims_are_open() -> None:
    text = "def @main(%x: Tensor[(meta[tir.Var][0], 3, meta[tir.Mul][0]), float32]) { nn.relu(%x) }"
    nodes: list[dict[str, Any]] = [
        {"type_key": "tir.Var", "attrs": {}},
        {"type_key": "tir.Mul", "attrs": {}},
    ]
    metadata = section(*nodes, tir__Var=[1], tir__Mul=[2])
    assert "relay.nn.relu %x : (tensor<?x3x?xf32>)" in body_of(text + metadata)
    other = "def @main(%x: Tensor[(meta[relay.Var][0]), float32]) { %x }"
    metadata = section({"type_key": "relay.Var", "attrs": {}}, relay__Var=[1])
    assert error_of(other + metadata).startswith("1:23: expected a dim")


def test_incomplete_types_are_inferred() -> None:
    text = (
        "def @main(%x: int32) -> meta[IncompleteType][0] "
        "{ fn (%y: meta[IncompleteType][0]) { %y }(%x) }"
    )
    nodes: list[dict[str, Any]] = [
        {"type_key": "IncompleteType", "attrs": {}},
        {"type_key": "tir.Any", "attrs": {}},
    ]
    metadata = section(*nodes, IncompleteType=[1], tir__Any=[2])
    assert body_of(text + metadata).split("\n")[-1] == "func.return %1 : tensor<i32>"
    other = text.replace("-> meta[IncompleteType]", "-> meta[tir.Any]")
    assert error_of(other + metadata) == "1:25: expected a type, but got 'meta[tir.Any][0]'"


def test_a_threshold_that_is_an_operand_is_no_attribute() -> None:
    text = (
        "def @main(%x: Tensor[(1, ?, 5), float32]) "
        "{ vision.get_valid_counts(%x, 0.5f, meta[relay.attrs.GetValidCountsAttrs][0]) }"
    )
    attrs = {"id_index": "0", "score_index": "2", "score_threshold": "0"}
    node = {"type_key": "relay.attrs.GetValidCountsAttrs", "attrs": attrs}
    lines = body_of(text + section(node, relay__attrs__GetValidCountsAttrs=[1]))
    assert "relay.vision.get_valid_counts %x, %0 {score_index = 2 : i64}" in lines


def test_a_map_of_functions_is_an_attribute() -> None:
    text = "def @main(%x: int32, hooks=meta[Map][0]) { %x }"
    nodes: list[dict[str, Any]] = [
        {"type_key": "runtime.String", "repr_str": "main"},
        {"type_key": "GlobalVar", "attrs": {"name_hint": "1"}},
        {"type_key": "runtime.String", "repr_str": "hook"},
        {"type_key": "Map", "data": [2, 3]},
    ]
    module = read(text + section(*nodes, Map=[4]))
    assert 'relay.attrs = {hooks = {main = "hook"}}' in str(module)
    printed = module_text(module)
    assert 'hooks={"main"="hook"}' in printed
    assert read(printed).is_structurally_equivalent(module)


def test_large_constants_are_weights() -> None:

    values = np.arange(300, dtype=np.float32)
    section = json.dumps(
        {
            "root": 1,
            "nodes": [
                {"type_key": ""},
                {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
                {"type_key": "Array", "data": [3]},
                {"type_key": "relay.Constant", "attrs": {"data": "0"}},
            ],
            "b64ndarrays": [blob(2, 32, 1, (300,), values.tobytes())],
        }
    )
    text = (
        f'#[version = "0.0.5"]\ndef @main() {{ meta[relay.Constant][0] }}\n#[metadata]\n{section}'
    )
    converted = load_module(context(), text, "test.relay")
    module = converted.module
    verify(module)
    assert 'relay.param "meta[relay.Constant][0]" : tensor<300xf32>' in str(module)
    np.testing.assert_array_equal(converted.params["meta[relay.Constant][0]"], values)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("[]", "1:1: expected a JSON object"),
        ("{", "1:2: invalid JSON: Expecting property name"),
        ('{\n  "root": 0,\n  nodes', "3:3: invalid JSON: Expecting property name"),
        ('{"nodes": []}', "1:1: root must be the number of a node, but is None"),
        ('{"root": 5, "nodes": [{"type_key": ""}]}', "1:1: root must be a node number in [0, 1)"),
        ('{"root": 0, "nodes": [{}]}', "1:1: node 0 has no type_key"),
        ('{"root": 0, "nodes": [{"type_key": "X"}]}', "1:1: the root must be an IRModule, but is"),
        (
            '{"root": 0, "nodes": [{"type_key": "IRModule", "attrs": {}}]}',
            "1:1: node 0 (IRModule) has no field type_definitions",
        ),
    ],
)
def test_damaged_json(document: str, message: str) -> None:
    with pytest.raises(RelayTextError) as caught:
        parse_json(context(), document, "t.json")
    at = caught.value.location
    assert f"{at.line.data}:{at.column.data}: {caught.value.message}".startswith(message)


def test_a_node_that_contains_itself() -> None:
    document = json.loads((DATA / "meta_small.json").read_text())
    call = next(i for i, n in enumerate(document["nodes"]) if n["type_key"] == "relay.Call")
    args = int(document["nodes"][call]["attrs"]["args"])
    document["nodes"][args]["data"][0] = call
    with pytest.raises(RelayTextError) as caught:
        parse_json(context(), json.dumps(document), "t.json")
    assert caught.value.message == f"node {call} contains itself"


def test_a_saved_module_says_the_type_of_an_unknown_operator() -> None:
    text = (DATA / "meta_small.json").read_text().replace('"take"', '"nn.fancy"')
    saved = parse_json(context(allow_unregistered=True), text, "t.json")
    verify(saved)
    assert (
        'relay.call_opaque "nn.fancy"(%3, %4) {axis = 0 : i64, batch_dims = 0 : i64, '
        'mode = "clip"} : (tensor<3x5xf32>, tensor<3xi32>) -> tensor<3x5xf32>'
    ) in str(saved)
    untyped = json.loads(text)
    for node in untyped["nodes"]:
        if node["type_key"] == "relay.Call":
            node["attrs"]["_checked_type_"] = "0"
    with pytest.raises(RelayTextError) as caught:
        parse_json(context(allow_unregistered=True), json.dumps(untyped), "t.json")
    assert caught.value.message.startswith("cannot infer the result type of nn.fancy")


def test_devices_are_attributes_of_unknown_operators_too() -> None:
    device = VirtualDeviceAttr("cuda", 1)
    text = "def @main(%x: int8) { let %y: int8 = f(%x, device=meta[VirtualDevice][0]); %y }"
    line = body_of(text, {"VirtualDevice": [device]}, opaque=True).split("\n")[0]
    assert line == (
        '%y = relay.call_opaque "f"(%x) {device = #relay.device<cuda:1>} : '
        "(tensor<i8>) -> tensor<i8>"
    )

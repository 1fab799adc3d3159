"""Targets of devices: their text, their parts, and their nodes in metadata."""

import pytest
from helpers.relay.relay_programs import context, ir_of
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from xrelay.frontends.relay_text import parse_module
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.frontends.relay_text.tvm_devices import TargetParts, target_parts

# The layout of nodes is that of TVM 0.16's planner.
SAVED = """#[version = "0.0.5"]
def @main(%x {virtual_device=meta[VirtualDevice][0]}: int32) { %x }
#[metadata]
{"root": 1, "nodes": [
  {"type_key": ""},
  {"type_key": "Map", "keys": ["VirtualDevice"], "data": [2]},
  {"type_key": "Array", "data": [3]},
  {"type_key": "VirtualDevice", "attrs": {
    "device_type_int": "2", "memory_scope": "8", "target": "4", "virtual_device_id": "0"}},
  {"type_key": "Target", "attrs": {
    "attrs": "10", "features": "13", "host": "14", "keys": "7", "kind": "5", "tag": "8"}},
  {"type_key": "TargetKind", "attrs": {
    "default_device_type": "2", "default_keys": "7", "name": "6"}},
  {"type_key": "runtime.String", "repr_str": "cuda"},
  {"type_key": "Array", "data": [6, 9]},
  {"type_key": "runtime.String"},
  {"type_key": "runtime.String", "repr_str": "gpu"},
  {"type_key": "Map", "keys": ["max_num_threads", "arch"], "data": [11, 12]},
  {"type_key": "IntImm", "attrs": {"dtype": "int32", "span": "0", "value": "1024"}},
  {"type_key": "runtime.String", "repr_str": "sm_50"},
  {"type_key": "Map"},
  {"type_key": "Target", "attrs": {
    "attrs": "13", "features": "13", "host": "0", "keys": "16", "kind": "15", "tag": "8"}},
  {"type_key": "TargetKind", "attrs": {
    "default_device_type": "1", "default_keys": "16", "name": "17"}},
  {"type_key": "Array"},
  {"type_key": "runtime.String", "repr_str": "llvm"}
], "b64ndarrays": []}
"""


TARGET = "cuda -keys=cuda,gpu -arch=sm_50 -max_num_threads=1024 -host='llvm'"


def test_a_saved_target_is_its_text():
    assert f'target = "{TARGET}"' in ir_of(SAVED)


def test_the_host_of_a_target_is_one():
    parts = target_parts("cuda -keys=gpu -host='llvm -keys=cpu'")
    assert parts == TargetParts("cuda", ["gpu"], host="llvm -keys=cpu")


def test_a_target_has_parts():
    parts = target_parts("cuda -keys=cuda,gpu -arch=sm_50 -max_num_threads=1024")
    assert parts == TargetParts("cuda", ["cuda", "gpu"], {"arch": "sm_50", "max_num_threads": 1024})


@pytest.mark.parametrize(
    "text",
    ["a -b=1 -a=2", "two words", "-keys=x", "x  -y=1", "x -y", ""],
)
def test_a_text_in_another_form_is_a_kind(text: str):
    parts = target_parts(text)
    assert parts.text == text
    assert parts == TargetParts(text)


@given(st.text(alphabet="ab1-=, ", max_size=20))
def test_nothing_of_a_text_is_lost(text: str):
    assert target_parts(text).text == text


@pytest.mark.parametrize(
    "target",
    [
        *("llvm", "llvm -keys=arm,cpu -mcpu=a72 -num-cores=4", "a b=c", "a b=c -host='llvm'"),
        "cuda -keys=gpu -host='llvm -keys=cpu -mcpu=a72'",
    ],
)
def test_devices_with_targets_are_read_again(target: str):
    saved = SAVED.replace("%x }", "on_device(%x, virtual_device=meta[VirtualDevice][0]) }")
    module = parse_module(context(), saved, "saved.relay")
    text = str(module).replace(TARGET, target)
    ctx = context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Func)
    module = Parser(ctx, text).parse_module()
    again = parse_module(context(), module_text(module), "again.relay")
    assert f'target = "{target}"' in str(again)
    assert str(again) == str(module)

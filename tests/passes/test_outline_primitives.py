"""Deduplication of kernels, and names of their functions."""

import pytest
from helpers.programs.programs import parse

from xrelay.dialects import relay
from xrelay.dialects.device import plain_types
from xrelay.dialects.relay.language.primitive import NAME_LIMIT, kernel_symbol
from xrelay.passes.analysis.structural_keys import Key, StructuralKeys
from xrelay.passes.functions.symbols import SymbolNames

T = "tensor<4xf32>"
KEYS = StructuralKeys(plain_types())


def primitive(body: str, device: str = "") -> relay.PrimitiveOp:
    type = f"tensor<4xf32{device}>"
    module = parse(
        f"""func.func @f(%x: {type}, %y: {type}) {{
        %r = relay.primitive(%a = %x : {type}, %b = %y : {type}) -> ({type}) {{
        {body.replace(T, type)}
        }}
        func.return
        }}"""
    )
    return next(op for op in module.walk() if isinstance(op, relay.PrimitiveOp))


def key(body: str, device: str = "") -> Key:
    return KEYS.key(primitive(body, device).body.block)


CLIP = f"""%0 = relay.clip %a {{a_min = 0.0, a_max = 6.0}} : ({T}) -> {T}
%1 = relay.add %0, %b : ({T}, {T}) -> {T}
relay.yield %1 : {T}"""


def test_equal_but_for_names_and_devices():
    renamed = CLIP.replace("%0", "%p").replace("%1", "%q")
    assert key(CLIP) == key(renamed) == key(CLIP, ", #relay.device<cuda:0>")
    assert hash(key(CLIP)) == hash(key(renamed))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("6.0", "5.0"),
        ("relay.add %0, %b", "relay.add %b, %0"),
        ("relay.add %0, %b", "relay.add %0, %a"),
        ("relay.add", "relay.subtract"),
        ("yield %1", "yield %0"),
        ("a_max = 6.0}", "a_max = 6.0, note}"),
    ],
)
def test_different(old: str, new: str):
    assert old in CLIP
    assert key(CLIP) != key(CLIP.replace(old, new))


def test_names_are_those_of_the_operators():
    assert kernel_symbol(primitive(CLIP).body.block.ops) == "fused_clip_add"


def test_long_names_are_cut_and_stay_unique():
    lines = [f"%{i + 1} = relay.exp %{i or 'a'} : ({T}) -> {T}" for i in range(60)]
    name = kernel_symbol(primitive("\n".join([*lines, f"relay.yield %60 : {T}"])).body.block.ops)
    assert len(name) == NAME_LIMIT
    names = SymbolNames({name, f"{name}_2"})
    assert [names.unique(name) for _ in range(3)] == [f"{name}_1", f"{name}_3", f"{name}_4"]

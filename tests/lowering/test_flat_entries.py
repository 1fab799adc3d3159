"""The plan of a flat entry says what the function will be, and changes nothing."""

from dataclasses import replace

import pytest
from helpers.machine.in_machine import run_passes
from helpers.programs.programs import parse
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.lowering.entries.descriptions import described
from xrelay.lowering.entries.flat_entries import NAME, Interface, flatten_entry, plan_entry
from xrelay.passes.support.diagnostics import PassError
from xrelay.runtime.native.interface import FORMS

PROGRAM = """
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = relay.nn.softmax %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = relay.nn.softmax %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = relay.add %b, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %s, %y : tensor<4x8xf32>, tensor<4x8xf32>
}"""

DEVICES = ["cpu:0"]
INTERFACE = Interface(DEVICES, (), FORMS)


def before_entries() -> tuple[ModuleOp, FuncOp]:
    """Return the program as `aot-lower-main` gets it, and its function."""
    module = parse(PROGRAM)
    passes = "infer-types,plan-devices,fuse-ops,outline-primitives,manifest-alloc"
    run_passes(module, f"{passes},plan-memory{{lend-entries=true}}")
    run_passes(module, "convert-relay-to-linalg,describe-entries,convert-memory-to-memref")
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    assert function.sym_name.data == "main"
    return module, function


def test_planning_changes_nothing():
    module, function = before_entries()
    before = str(module)
    plan = plan_entry(function, described(function, DEVICES), "net_main", INTERFACE)
    assert str(module) == before
    names = [param.name for param in plan.parameters]
    assert names == ["x", "y", "output_0", "output_1", "workspace"]
    assert [pool.symbol for pool in plan.entry.pools] == ["workspace"]
    assert plan.entry.io == 4 * 4 * 4 * 8


def test_the_function_becomes_what_was_planned():
    module, function = before_entries()
    plan = plan_entry(function, described(function, DEVICES), "net_main", INTERFACE)
    flatten_entry(function, plan)
    module.verify()
    assert function.sym_name.data == "net_main_flat"
    assert list(function.function_type.inputs) == [param.type for param in plan.parameters]
    assert list(function.function_type.outputs) == []
    assert function.arg_attrs is not None
    written = [attrs.data.get(NAME) for attrs in function.arg_attrs]
    assert written[:2] == [StringAttr("x"), StringAttr("y")]


def test_tensors_that_cannot_be_addressed_are_an_error():
    module, function = before_entries()
    before, entry = str(module), described(function, DEVICES)
    (x, y), rows = entry.function.params, 1 << 60
    assert x.spec is not None
    huge = replace(entry.function, params=(replace(x, spec=replace(x.spec, shape=(rows, 8))), y))
    with pytest.raises(PassError, match=r"must have fewer than 2\^63"):
        plan_entry(function, replace(entry, function=huge), "net_main", INTERFACE)
    assert str(module) == before

"""Ops unknown to the planner are planned by their traits alone."""

from collections.abc import Iterable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, SymbolRefAttr
from xdsl.dialects.func import Func, FuncOp
from xdsl.ir import Dialect, Operation
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.traits import IsTerminator

from xrelay.dialects.device import VirtualDeviceAttr, device_of
from xrelay.dialects.interfaces import (
    CalleeDevices,
    DeviceConstraint,
    DeviceRule,
    FunctionDeviceConstraint,
    FunctionDeviceRule,
    FunctionParameter,
    Lookup,
    Operand,
    PartPinned,
    PartsMatch,
    SameDomain,
)
from xrelay.dialects.relay import ConstantOp, DeviceCopyOp, Relay
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.diagnostics import PassError, ReportingContext
from xrelay.passes.support.verifier import verify

CPU, GPU = VirtualDeviceAttr("cpu", 0), VirtualDeviceAttr("cuda", 0)
T = "tensor<4xf32>"


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """A direct call, as a plug-in might define it."""

    name = "plug.launch"

    callee = prop_def(SymbolRefAttr)
    args = var_operand_def(AnyAttr())
    outputs = var_result_def(AnyAttr())
    traits = traits_def(CalleeDevices())


class SpawnDevices(FunctionDeviceRule):
    """Operand 0 is on the device of parameter 0 of the function value, operand 2 on cuda:0."""

    def constraints(self, op: Operation, lookup: Lookup) -> Iterable[FunctionDeviceConstraint]:
        assert isinstance(lookup("target"), FuncOp)
        yield PartsMatch(Operand(0), FunctionParameter(op.operands[1], 0), "it is passed on")
        yield PartPinned(Operand(2), GPU, "it is read by the device")
        yield PartsMatch(Operand(0), FunctionParameter("not there", 0), "no such function")


@irdl_op_definition
class SpawnOp(IRDLOperation):
    """A call of a function value with a rule of its own."""

    name = "plug.spawn"

    value = operand_def(AnyAttr())
    function = operand_def(AnyAttr())
    other = operand_def(AnyAttr())
    traits = traits_def(SpawnDevices())


@irdl_op_definition
class LeaveOp(IRDLOperation):
    """The terminator of the regions of `plug.do`."""

    name = "plug.leave"

    values = var_operand_def(AnyAttr())
    traits = traits_def(IsTerminator())


class DoDevices(DeviceRule):
    """The result is on the device of the value that the region yields."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        last = op.regions[0].block.last_op
        assert last is not None
        yield SameDomain((op.results[0], *last.operands), "the region yields the result")


@irdl_op_definition
class DoOp(IRDLOperation):
    """An op with a region that yields by `plug.leave`."""

    name = "plug.do"

    result = result_def(AnyAttr())
    body = region_def("single_block")
    traits = traits_def(DoDevices())


Plug = Dialect("plug", [LaunchOp, SpawnOp, LeaveOp, DoOp], [])


def planned(text: str, plan: PlanDevicesPass) -> ModuleOp:
    ctx: Context = ReportingContext(handler=lambda message: None)
    for dialect in (Builtin, Func, Relay, Plug):
        ctx.load_dialect(dialect)
    module = Parser(ctx, text).parse_module()
    for step in plan.steps():  # the module verifies after each pass
        step.apply(ctx, module)
        verify(module)
    return module


def function(module: ModuleOp, name: str) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)


TARGET = f"func.func @target(%a: {T} {{relay.device = #relay.device<cpu:0>}}, %b: {T}) -> {T} {{\
 func.return %a : {T} }}"


def test_a_call_binds_arguments_and_results():
    module = planned(
        f"""{TARGET}
        func.func @main(%x: {T}, %y: {T}) -> {T} {{
          %r = "plug.launch"(%x, %y) <{{callee = @target}}> : ({T}, {T}) -> {T}
          func.return %r : {T}
        }}""",
        PlanDevicesPass(),
    )
    main = function(module, "main")
    types = (*main.function_type.inputs, *main.function_type.outputs)
    assert [device_of(type) for type in types] == [CPU, CPU, CPU]


def test_a_constant_may_be_several_operands_of_a_call():
    """Parameter 1 of @target is on cuda:0, so one constant needs two devices."""
    module = planned(
        f"""func.func @target(%a: {T} {{relay.device = #relay.device<cpu:0>}},
                              %b: {T} {{relay.device = #relay.device<cuda:0>}}) {{ func.return }}
        func.func @main() {{
          %c = relay.constant dense<1.0> : {T}
          "plug.launch"(%c, %c) <{{callee = @target}}> : ({T}, {T}) -> ()
          func.return
        }}""",
        PlanDevicesPass(),
    )
    (launch,) = (op for op in module.walk() if isinstance(op, LaunchOp))
    assert [device_of(operand.type) for operand in launch.operands] == [CPU, GPU]
    assert all(isinstance(operand.owner, ConstantOp) for operand in launch.operands)


CONFLICT = f"""{TARGET}
func.func @main(%x: {T} {{relay.device = #relay.device<cuda:0>}}) -> {T} {{
  %r = "plug.launch"(%x, %x) <{{callee = @target}}> : ({T}, {T}) -> {T}
  func.return %r : {T}
}}"""


def test_a_conflict_at_a_call_is_explained():
    with pytest.raises(PassError) as error:
        planned(CONFLICT, PlanDevicesPass())
    notes = [note.message for note in error.value.notes]
    assert "argument 0 is where parameter 0 of @target is" in notes


def test_a_conflict_at_a_call_is_repaired():
    module = planned(CONFLICT, PlanDevicesPass(repair=True))
    (launch,) = (op for op in module.walk() if isinstance(op, LaunchOp))
    first, second = launch.operands
    assert device_of(first.type) == CPU
    assert isinstance(first.owner, DeviceCopyOp)
    assert second is function(module, "main").args[0]


def test_a_rule_of_its_own_binds_parts_of_a_function_value():
    module = planned(
        f"""{TARGET}
        func.func @main(%x: {T}, %z: {T}) {{
          %f = relay.global @target : ({T}, {T}) -> {T}
          "plug.spawn"(%x, %f, %z) : ({T}, ({T}, {T}) -> {T}, {T}) -> ()
          func.return
        }}""",
        PlanDevicesPass(default="cuda:1"),
    )
    assert [device_of(type) for type in function(module, "main").function_type.inputs] == [CPU, GPU]


def test_what_a_region_yields_is_used_by_the_enclosing_op():
    """A yielded constant is on the device that the enclosing op's rule determines."""
    module = planned(
        f"""func.func @main(%x: {T}) -> ({T} {{relay.device = #relay.device<cuda:0>}}) {{
          %r = "plug.do"() ({{
            %c = relay.constant dense<1.0> : {T}
            "plug.leave"(%c) : ({T}) -> ()
          }}) : () -> {T}
          func.return %r : {T}
        }}""",
        PlanDevicesPass(),
    )
    (constant,) = (op for op in module.walk() if isinstance(op, ConstantOp))
    assert device_of(constant.result.type) == GPU

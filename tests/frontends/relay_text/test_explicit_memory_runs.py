"""Programs with kernels and explicit memory agree with NumPy, at every level and when printed."""

# ruff: noqa: E501 (programs)

from random import Random
from typing import Any

import numpy as np
import pytest
from helpers.programs.hinted_programs import Program, inputs
from helpers.programs.random_settings import exactly
from helpers.relay.relay_programs import VERSION
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from xrelay.dialects.device import VirtualDeviceAttr
from xrelay.dialects.memory import Memory
from xrelay.dialects.relay import Relay
from xrelay.dialects.vm import Vm
from xrelay.frontends.relay_text import parse_module
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.lower_to_bytecode import LowerToBytecodePass
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.fuse_ops import FuseOpsPass
from xrelay.passes.manifest_alloc import ManifestAllocPass
from xrelay.passes.outline_primitives import OutlinePrimitivesPass
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.diagnostics import PassError, ReportingContext
from xrelay.passes.support.verifier import verify
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory as MachineMemory

META: dict[str, Any] = {
    "relay.Constant": [np.array([5, 7], np.int64), np.array([35], np.int64)],
    "VirtualDevice": [VirtualDeviceAttr("cpu", 0), VirtualDeviceAttr("cuda", 0)],
}
CPU, GPU = "meta[VirtualDevice][0]", "meta[VirtualDevice][1]"
T, SHAPE = "Tensor[(5, 7), float32]", "meta[relay.Constant][0]"

STATIC = f"""{VERSION}
def @main(%x: {T}, %y: {T}, %c: bool) {{
  let %s = memory.alloc_storage(280i64, 64i64, virtual_device={GPU});
  let %a = memory.alloc_tensor(%s, 0i64, {SHAPE}, const_shape={SHAPE}, assert_shape=[]);
  let %b = memory.alloc_tensor(%s, 140i64, {SHAPE}, const_shape={SHAPE}, assert_shape=[]);
  vm.invoke_tvm_op(@both, (%x, (%y, %x)), (%a, %b));
  memory.kill(%y);
  let %r = if (%c) {{
    let %u = memory.alloc_storage(140i64, 64i64);
    let %d = memory.alloc_tensor(%u, 0i64, {SHAPE}, assert_shape=[5, 7]);
    vm.invoke_tvm_op(fn (%p: {T}, Primitive=1) {{ nn.relu(exp(%p)) }}, (%b,), (%d,));
    %d
  }} else {{
    %a
  }};
  let %v = call_lowered(@both, (%r, (%a, %b))).1;
  (vm.reshape_tensor(%v, meta[relay.Constant][1], newshape=[35]), negative(on_device(%a, virtual_device={GPU})))
}}
def @both(%p: {T}, %q: ({T}, {T}), Primitive=1) {{ (add(%p, %q.0), multiply(%p, %q.1)) }}
"""

DYNAMIC = f"""{VERSION}
def @main(%x: Tensor[(?, 2), float32], %at: int64) {{
  let %shape_storage = memory.alloc_storage(16i64, 64i64);
  let %shape = memory.alloc_tensor(%shape_storage, 0i64, meta[relay.Constant][2], dtype="int64", assert_shape=[2]);
  vm.shape_func(@double, (vm.shape_of(%x),), (%shape,), is_input=[0]);
  let %s = memory.alloc_storage(add(prod(%shape) * 4i64, %at), 64i64, virtual_device={GPU});
  let %t = memory.alloc_tensor(%s, %at, %shape, assert_shape=[?, 2]);
  vm.invoke_tvm_op(@twice, (%x,), (%t,));
  (%t, vm.reshape_tensor(%t, meta[relay.Constant][3], newshape=[?, 4]), on_device(%shape, virtual_device={CPU}))
}}
def @double(%s: Tensor[(2), int64], Primitive=1) {{ multiply(%s, meta[relay.Constant][4]) }}
def @twice(%x: Tensor[(?, 2), float32], Primitive=1) -> Tensor[(?, 2), float32] {{ concatenate((%x, %x)) }}
"""


def context() -> ReportingContext:
    made = ReportingContext(handler=lambda message: None)
    for dialect in (Builtin, Func, Relay, Memory, Vm):
        made.load_dialect(dialect)
    return made


def read(text: str, meta: dict[str, Any] | None = None) -> ModuleOp:
    module = parse_module(context(), text, "program.relay", meta)
    verify(module)
    return module


def planned(module: ModuleOp, default: str = "cpu:0") -> ModuleOp:
    PlanDevicesPass(default=default).apply(context(), module)
    verify(module)
    return module


@pytest.mark.parametrize("condition", [True, False])
def test_static_memory(condition: bool) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((2, 5, 7), np.float32)
    a, b = x + y, x * x
    wanted = [((np.exp(b) if condition else a) * b).reshape(35), -a]
    args = [x, y, np.array(condition)]
    module = read(STATIC, META)
    for level in (lambda: module, lambda: read(module_text(module)), lambda: planned(module)):
        for found, expected in zip(evaluate(level(), args)[0], wanted, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("condition", [True, False])
def test_static_memory_in_the_machine(condition: bool) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.random((2, 5, 7), np.float32)
    module = planned(read(STATIC, META), "cuda:0")
    args = [x, y, np.array(condition)]
    wanted = evaluate(module, args)
    for step in (FuseOpsPass(), OutlinePrimitivesPass(), ManifestAllocPass()):
        step.apply(context(), module)
        verify(module)
    LowerToBytecodePass().apply(context(), module)
    machine = Machine(assemble(module), memory=MachineMemory(poison=True))
    for _ in range(2):  # the second run uses the prepared path
        for found, expected in zip(machine.run("main", *args), wanted[0], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("default", ["cpu:0", "cuda:0"])
def test_dynamic_memory(rows: int, default: str) -> None:
    constants = [*META["relay.Constant"], *(np.array(c, np.int64) for c in ([2], [-1, 4], [2, 1]))]
    constants[3] = np.array([rows, 4], np.int64)
    x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)
    args = [x, np.array(8)]
    module = read(DYNAMIC, META | {"relay.Constant": constants})
    for level in (
        lambda: module,
        lambda: read(module_text(module)),
        lambda: planned(module, default),
    ):
        whole, view, shape = evaluate(level(), args)[0]
        np.testing.assert_array_equal(whole, np.concatenate([x, x]))
        np.testing.assert_array_equal(view, np.concatenate([x, x]).reshape(rows, 4))
        np.testing.assert_array_equal(shape, [2 * rows, 2])


def test_what_does_not_fit_is_an_error() -> None:
    text = f"""{VERSION}
def @main(%n: int64, %x: Tensor[(2), float32]) {{
  let %s = memory.alloc_storage(%n, 64i64);
  let %t = memory.alloc_tensor(%s, 0i64, meta[relay.Constant][0], assert_shape=[2]);
  vm.invoke_tvm_op(fn (%a, Primitive=1) {{ negative(%a) }}, (%x,), (%t,));
  %t
}}"""
    module = read(text, {"relay.Constant": [np.array([2], np.int64)]})
    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(evaluate(module, [np.array(8), x])[0], -x)
    with pytest.raises(PassError, match="8 bytes at offset 0 does not fit in a storage of 7 bytes"):
        evaluate(module, [np.array(7), x])


@given(st.randoms(use_true_random=False), st.integers(1, 20), st.booleans())
@exactly(15)
def test_lowered_programs_are_read_as_they_were(rng: Random, size: int, manifest: bool) -> None:
    """Yield programs on two devices after `outline-primitives`, on one after `manifest-alloc`."""
    text = Program(rng, size, closures=False).text()
    ctx = context()
    module = Parser(ctx, text).parse_module()
    wanted = evaluate(module, inputs())
    if manifest:
        text = text.replace("cuda:0", "cpu:0").replace("cuda:1", "cpu:0")
        module = Parser(ctx, text).parse_module()
    PlanDevicesPass(default="cpu:0" if manifest else "cuda:0", repair=True).apply(ctx, module)
    passes = [FuseOpsPass(), OutlinePrimitivesPass(), ManifestAllocPass()]
    for step in passes if manifest else passes[:2]:
        step.apply(ctx, module)
    printed = module_text(module)
    again = planned(read(printed), "cuda:3")
    assert module_text(again) == printed
    np.testing.assert_array_equal(evaluate(again, inputs()), wanted)

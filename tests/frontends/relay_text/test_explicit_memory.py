"""Storages, tensors in them, kernels that write: accepted and rejected programs."""

# ruff: noqa: E501 (programs)

import base64
import json
import struct
from typing import Any

import numpy as np
import pytest
from helpers.relay.relay_json import Nodes
from helpers.relay.relay_programs import body_of, context, error_of, ir_of, read
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.device import VirtualDeviceAttr
from xrelay.dialects.relay import PrimFuncOp
from xrelay.frontends.relay_text import parse_json
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.support.verifier import verify

SHAPE = np.array([4], np.int64)
META: dict[str, Any] = {
    "relay.Constant": [SHAPE, np.array([], np.int64), np.array([2, 2], np.int64), np.array([4.0])],
    "VirtualDevice": [VirtualDeviceAttr("cpu", 0), VirtualDeviceAttr("cuda", 1)],
}
S = "meta[relay.Constant][0]"
D = "meta[VirtualDevice][1]"
ALLOC = f"let %s = memory.alloc_storage(16i64, 64i64);\nlet %t = memory.alloc_tensor(%s, 0i64, {S}, assert_shape=[4]);\n"
KERNELS = """
def @neg(%a: Tensor[(4), float32], Primitive=1) { negative(%a) }
def @two(%a: Tensor[(4), float32], %p: (Tensor[(4), float32], Tensor[(4), float32]), Primitive=1) { (add(%a, %p.0), add(%a, %p.1)) }
def @plain(%a: Tensor[(4), float32]) { negative(%a) }
def @gen[A](%a: A, Primitive=1) { %a }
"""


def main(body: str, params: str = "%x: Tensor[(4), float32]") -> str:
    return f"def @main({params}) {{\n{body} }}\n{KERNELS}"


# ---------------------------------------------------------------- storage


@pytest.mark.parametrize(
    ("call", "op"),
    [
        ("memory.alloc_storage(140i64, 64i64)", "memory.alloc_storage 140 align 64"),
        ("memory.alloc_storage(140, 64)", "memory.alloc_storage 140 align 64"),
        (f"memory.alloc_storage(140i64, {S}, 64i64)", "memory.alloc_storage 140 align 64"),
        (
            'memory.alloc_storage(cast(140, dtype="int64"), cast(64, dtype="int64"))',
            "memory.alloc_storage 140 align 64",
        ),
        ('memory.alloc_storage(140i64, 64i64, dtype="int8")', "memory.alloc_storage 140 align 64"),
        (
            f"memory.alloc_storage(140i64, 64i64, virtual_device={D})",
            "memory.alloc_storage 140 align 64 on #relay.device<cuda:1>",
        ),
        (
            f"memory.alloc_storage(on_device(140i64, virtual_device={D}, constrain_result=True), 64i64)",
            "memory.alloc_storage 140 align 64",
        ),
    ],
)
def test_storage(call: str, op: str) -> None:
    lines = body_of(f"def @main() {{ let %s = {call}; %s }}", META).split("\n")
    assert lines == [f"%s = {op} : !memory.storage", "func.return %s : !memory.storage"]


def test_a_dynamic_size_is_an_element_of_its_tensor() -> None:
    text = "def @main(%n: int64) { let %s = memory.alloc_storage(%n * 4i64, 64i64); %s }"
    assert body_of(text).split("\n")[2:4] == [
        "%2 = tensor.extract %1[] : tensor<i64>",
        "%s = memory.alloc_storage %2 align 64 : !memory.storage",
    ]


def test_a_constant_that_is_used_elsewhere_too_stays() -> None:
    text = "def @main() { let %n = 8i64; let %s = memory.alloc_storage(%n, %n); (%s, %n) }"
    assert body_of(text).split("\n")[:2] == [
        "%n = relay.constant dense<8> : tensor<i64>",
        "%s = memory.alloc_storage 8 align 8 : !memory.storage",
    ]


def test_storage_is_a_type() -> None:
    signature = "func.func @main(%s: !memory.storage, %f: (!memory.storage) -> !memory.storage)"
    assert signature in ir_of(
        "extern type Storage\ndef @main(%s: Storage[], %f: fn (Storage) -> Storage) { %f(%s) }"
    )


def test_a_program_may_have_a_data_type_of_that_name() -> None:
    text = "type Storage { Box(int32) }\ndef @main(%s: Storage) { match (%s) { Box(%n) => %n } }"
    assert "func.func @main(%s: !relay.adt<@Storage, []>)" in ir_of(text)


# ---------------------------------------------------------------- tensors


@pytest.mark.parametrize(
    ("call", "op"),
    [
        (f"memory.alloc_tensor(%s, 0i64, {S}, assert_shape=[4])", "%s[0] : tensor<4xf32>"),
        (
            f"memory.alloc_tensor(%s, 64i64, {S}, const_shape={S}, assert_shape=[])",
            "%s[64] : tensor<4xf32>",
        ),
        (
            f'memory.alloc_tensor(%s, 8i64, {S}, const_shape={S}, assert_shape=[4], dtype="int64")',
            "%s[8] : tensor<4xi64>",
        ),
        (
            "memory.alloc_tensor(%s, 0i64, meta[relay.Constant][1], assert_shape=[])",
            "%s[0] : tensor<f32>",
        ),
        (
            "memory.alloc_tensor(%s, 0i64, meta[relay.Constant][1], const_shape=meta[relay.Constant][1], assert_shape=None)",
            "%s[0] : tensor<f32>",
        ),
        (
            "memory.alloc_tensor(%s, 0i64, %dims, assert_shape=[?, 4])",
            "%s[0] shape %dims : tensor<2xi64> -> tensor<?x4xf32>",
        ),
        ("memory.alloc_tensor(%s, 0i64, %dims, assert_shape=[2, 4])", "%s[0] : tensor<2x4xf32>"),
    ],
)
def test_tensor(call: str, op: str) -> None:
    text = f"def @main(%s: Storage[], %dims: Tensor[(2), int64]) {{ let %t = {call}; () }}"
    assert body_of(text, META).split("\n")[0] == f"%t = memory.alloc_tensor {op}"


def test_a_dynamic_offset_is_an_element_of_its_tensor() -> None:
    text = f"def @main(%s: Storage[], %at: int64) {{ memory.alloc_tensor(%s, %at, {S}, assert_shape=[4]); 1 }}"
    assert body_of(text, META).split("\n")[:2] == [
        "%0 = tensor.extract %at[] : tensor<i64>",
        "%1 = memory.alloc_tensor %s[%0] : tensor<4xf32>",
    ]


@pytest.mark.parametrize(
    ("call", "op"),
    [
        (
            "vm.reshape_tensor(%x, meta[relay.Constant][2], newshape=[2, 2])",
            "%x : (tensor<4xf32>) -> tensor<2x2xf32>",
        ),
        (
            "vm.reshape_tensor(%x, %d, newshape=[?, 2])",
            "%x shape %d : (tensor<4xf32>, tensor<2xi64>) -> tensor<?x2xf32>",
        ),
        (
            "vm.reshape_tensor(%x, %d, newshape=[2, 2])",
            "%x shape %d : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>",
        ),
    ],
)
def test_view(call: str, op: str) -> None:
    text = f"def @main(%x: Tensor[(4), float32], %d: Tensor[(2), int64]) {{ {call} }}"
    assert body_of(text, META).split("\n")[0] == f"%0 = vm.reshape_tensor {op}"


# ---------------------------------------------------------------- kernels


def test_what_is_read_is_what_was_written() -> None:
    text = main(ALLOC + "vm.invoke_tvm_op(@neg, (%x,), (%t,));\nmemory.kill(%s);\nadd(%t, %x)")
    assert ir_of(text, META).split("\n")[1:6] == [
        "  %s = memory.alloc_storage 16 align 64 : !memory.storage",
        "  %t = memory.alloc_tensor %s[0] : tensor<4xf32>",
        "  %t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>",
        "  memory.kill %s : !memory.storage",
        "  %0 = relay.add %t_1, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "let %u = %t;\nvm.invoke_tvm_op(@neg, (%x,), (%u,));\n%t",
        "let %o = (%t,);\nvm.invoke_tvm_op(@neg, (%x,), %o);\n%o.0",
        "%0 = (%t, %x);\n%1 = (%0.0,);\nvm.invoke_tvm_op(@neg, (%x,), %1);\n%0.0",
        "let %o = ((%t,), %x);\nlet %i = %o.0;\nvm.invoke_tvm_op(@neg, (%x,), %i);\n%o.0.0",
        "let %f = fn (%a: Tensor[(4), float32], Primitive=1) { negative(%a) };\nvm.invoke_tvm_op(%f, (%x,), (%t,));\n%t",
        'vm.invoke_tvm_op(fn (%a, Primitive=1) { negative(%a) }, (%x,), (%t,), hash="abc");\n%t',
        "%0 = fn (%a, Primitive=1) { negative(%a) };\n%1 = vm.invoke_tvm_op(%0, (%x,), (%t,));\n%1;\n%t",
    ],
)
def test_ways_to_write(body: str) -> None:
    module = read(main(ALLOC + body), META)
    x = np.arange(4, dtype=np.float32)
    (found,) = evaluate(module, [x])
    np.testing.assert_array_equal(found, -x)
    assert str(module).count("memory.alloc_tensor") == 1
    assert_same_when_printed(module)


def test_a_tuple_of_tensors_is_made_when_they_are_written() -> None:
    text = main(ALLOC + "let %o = (%t, %x);\nvm.invoke_tvm_op(@neg, (%x,), (%t,));\n%o")
    assert "relay.tuple %t_1, %x" in ir_of(text, META)


def test_the_tuple_of_all_that_a_kernel_writes() -> None:
    body = f"""{ALLOC}let %u = memory.alloc_tensor(memory.alloc_storage(16i64, 64i64), 0i64, {S}, assert_shape=[4]);
%0 = (%t, %u);
vm.invoke_tvm_op(@two, (%x, (%x, %x)), %0);
(%0, %x)"""
    module = read(main(body), META)
    ((a, b), _) = evaluate(module, [np.ones(4, np.float32)])[0]
    np.testing.assert_array_equal([a, b], np.full((2, 4), 2.0))
    assert_same_when_printed(module)


def test_a_literal_that_is_called_as_a_closure_too() -> None:
    body = "let %f = fn (%a: Tensor[(4), float32], Primitive=1) { negative(%a) };\nvm.invoke_tvm_op(%f, (%x,), (%t,));\n%f(%t)"
    module = read(main(ALLOC + body), META)
    x = np.arange(4, dtype=np.float32)
    (found,) = evaluate(module, [x])
    np.testing.assert_array_equal(found, x)
    assert "relay.fn" in str(module)
    assert "relay.prim_func @fused_negative" in str(module)
    assert_same_when_printed(module)


def test_kernels_take_tuples_apart() -> None:
    text = main("call_lowered(@two, (%x, (%x, %x))).1")
    assert body_lines(text)[0] == (
        "%0, %1 = relay.call_lowered @two(%x, %x, %x) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) "
        "-> (tensor<4xf32>, tensor<4xf32>)"
    )
    assert (
        "relay.prim_func @two(%a: tensor<4xf32>, %p.0: tensor<4xf32>, %p.1: tensor<4xf32>) "
        "-> (tensor<4xf32>, tensor<4xf32>)"
    ) in ir_of(text, META)


def test_the_tuple_that_a_kernel_gives() -> None:
    lines = body_lines(main("%0 = call_lowered(@two, (%x, (%x, %x)));\n(%0, %0.1)"))
    assert lines[1:3] == [
        "%2 = relay.tuple %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<4xf32>>",
        "%3 = relay.tuple %2, %1 : (tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>) -> tuple<tuple<tensor<4xf32>, tensor<4xf32>>, tensor<4xf32>>",
    ]


def test_the_metadata_of_a_lowered_call() -> None:
    text = main(
        'call_lowered(@neg, (%x,), metadata={"relay_attrs"={__dict__={"Primitive"=1, '
        '"relay.reshape_only"=1}}, "all_prim_fn_vars"=[\'neg\', \'other\'], "n"=[1, -2f]})'
    )
    assert body_lines(text)[0].endswith(
        "@neg(%x) {reshape_only} : (tensor<4xf32>) -> tensor<4xf32>"
    )


def test_shape_functions() -> None:
    body = f"""let %s = memory.alloc_storage(8i64, 64i64);
let %t = memory.alloc_tensor(%s, 0i64, {S}, dtype="int64", assert_shape=[1]);
vm.shape_func(fn (%n: Tensor[(1), int64], %d, Primitive=1) {{ add(%n, %d) }}, (vm.shape_of(%x), vm.shape_of(%x)), (%t,), is_input=[0, True]);
%t"""
    module = read(main(body), META | {"relay.Constant": [np.array([1], np.int64)]})
    assert "{is_input = array<i64: 0, 1>}" in str(module)
    (found,) = evaluate(module, [np.zeros(4, np.float32)])
    np.testing.assert_array_equal(found, [8])
    assert_same_when_printed(module)


def test_a_parameter_may_be_written_into() -> None:
    text = main(
        "vm.invoke_tvm_op(@neg, (%x,), (%out,));\n%out",
        "%x: Tensor[(4), float32], %out: Tensor[(4), float32]",
    )
    module = read(text, META)
    x, out = np.arange(4, dtype=np.float32), np.zeros(4, np.float32)
    (found,) = evaluate(module, [x, out])
    np.testing.assert_array_equal(found, -x)
    np.testing.assert_array_equal(out, -x)


def test_the_unit_that_a_call_gives_is_made_where_it_is_needed() -> None:
    body = ALLOC + "let %u = vm.invoke_tvm_op(@neg, (%x,), (%t,));\nlet %k: () = memory.kill(%x);\n"
    assert "relay.tuple :" not in ir_of(main(body + "%t"), META)
    assert ir_of(main(body + "(%t, %u)"), META).count("relay.tuple :") == 1


def test_hints_on_what_has_no_contents() -> None:
    """TVM's planner wraps each call in a hint; a hint on a tensor applies to its storage."""
    fixed = f"virtual_device={D}, constrain_result=True"
    text = main(
        f"let %s = on_device(memory.alloc_storage(16i64, 64i64, virtual_device={D}), {fixed});\n"
        f"let %t = on_device(memory.alloc_tensor(%s, on_device(0i64, {fixed}), {S}, assert_shape=[4]), {fixed});\n"
        f"let %_ = on_device(vm.invoke_tvm_op(@neg, (%x,), (%t,)), {fixed});\n"
        f"let %_ = on_device(memory.kill(%x), {fixed});\n"
        "%t"
    )
    hint = "#relay.device<cuda:1> {constrain_result = true}"
    assert body_lines(text) == [
        "%0 = memory.alloc_storage 16 align 64 on #relay.device<cuda:1> : !memory.storage",
        f"%s = relay.on_device %0, {hint} : (!memory.storage) -> !memory.storage",
        f"%1 = relay.on_device %s, {hint} : (!memory.storage) -> !memory.storage",
        "%t = memory.alloc_tensor %1[0] : tensor<4xf32>",
        "%t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>",
        f"%2 = relay.on_device %t_1, {hint} : (tensor<4xf32>) -> tensor<4xf32>",
        "memory.kill %x : tensor<4xf32>",
        "func.return %2 : tensor<4xf32>",
    ]


def body_lines(text: str) -> list[str]:
    """The lines of the body of the first function in the IR of `text`."""
    lines = ir_of(text, META).split("\n")
    return [line[2:] for line in lines[1 : lines.index("}")]]


def assert_same_when_printed(module: ModuleOp) -> None:
    text = module_text(module)
    again = read(text)
    assert module.is_structurally_equivalent(again)
    assert module_text(again) == text


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("memory.alloc_storage(1i64)", "1: memory.alloc_storage expects 2 or 3 arguments, but got 1"),
        ("memory.alloc_storage(%x, 64i64)", "1: memory.alloc_storage: the size must be an int64 scalar, but is of type Tensor[(4), float32]"),
        ("memory.alloc_storage(8i64, vm.shape_of(%x))", "1: memory.alloc_storage: the alignment must be a constant, as it is part of the instruction"),
        ("memory.alloc_storage(8i64, 48i64)", "1: memory.alloc_storage: alignment must be a power of two, but is 48"),
        ("memory.alloc_storage(-8i64, 64i64)", "1: memory.alloc_storage: the size must be at least 0, but is -8"),
        ('memory.alloc_storage(8i64, 64i64, dtype="float33")', '1: memory.alloc_storage: unknown dtype "float33"'),
        ("memory.alloc_storage(8i64, 64i64, virtual_device=1)", "1: memory.alloc_storage: virtual_device must be a meta[VirtualDevice] entry"),
        ("memory.alloc_storage(8i64, 64i64, size=1)", "1: memory.alloc_storage has no attribute size (its attributes: dtype, virtual_device)"),
        (f"memory.alloc_tensor(%x, 0i64, {S}, assert_shape=[4])", "21: the storage must be of type Storage[], but is of type Tensor[(4), float32]"),
        (f"let %t = memory.alloc_tensor(memory.alloc_storage(8i64, 64i64), 0i64, {S}, assert_shape=[4]); 1", "10: memory.alloc_tensor: a tensor of 16 bytes at offset 0 does not fit in a storage of 8 bytes"),
        (f"let %t = memory.alloc_tensor(memory.alloc_storage(64i64, 64i64), 2i64, {S}, assert_shape=[4]); 1", "10: memory.alloc_tensor: the offset must be a multiple of the element size, 4, but is 2"),
        (f"memory.alloc_tensor(memory.alloc_storage(8i64, 64i64), 0i64, {S})", "1: memory.alloc_tensor: const_shape or assert_shape is required"),
        (f"memory.alloc_tensor(memory.alloc_storage(8i64, 64i64), 0i64, {S}, assert_shape=[5])", "1: memory.alloc_tensor: the shape must be [5], but the argument is [4]"),
        (f"memory.alloc_tensor(memory.alloc_storage(8i64, 64i64), 0i64, {S}, const_shape={S}, assert_shape=[5])", "1: memory.alloc_tensor: const_shape and assert_shape must be equal, but differ"),
        (f"memory.alloc_tensor(memory.alloc_storage(8i64, 64i64), 0i64, {S}, assert_shape=[-1])", "1: memory.alloc_tensor: a dim must be at least 0 and below 2^63, but is -1"),
        (f"memory.alloc_tensor(memory.alloc_storage(8i64, 64i64), 0i64, {S}, const_shape=meta[relay.Constant][3])", "1: memory.alloc_tensor: const_shape must be a list of integers in the metadata"),
        ("memory.alloc_tensor(memory.alloc_storage(8i64, 64i64), 0i64, %x, assert_shape=[?])", "1: memory.alloc_tensor: the shape must be of type Tensor[(1), int64], but is of type Tensor[(4), float32]"),
        (f"vm.reshape_tensor(%x, {S})", "1: vm.reshape_tensor: newshape must be a list of dims"),
        ("vm.reshape_tensor(%x, meta[relay.Constant][2], newshape=[2, 3])", "1: vm.reshape_tensor: the shape must be [2, 3], but the argument is [2, 2]"),
        (f"vm.reshape_tensor((%x,), {S}, newshape=[4])", "1: vm.reshape_tensor: expected a tensor, but got a value of type (Tensor[(4), float32])"),
        ("vm.reshape_tensor(%x, vm.shape_of(%x), newshape=[5])", "1: vm.reshape_tensor: a view keeps its elements, but tensor<4xf32> has 4 and tensor<5xf32> has 5"),
        ("memory.kill()", "1: memory.kill expects 1 argument, but got 0"),
        ("memory.alloc_storage", "1: memory.alloc_storage can only be called, not used as a value"),
        ("call_lowered", "1: call_lowered can only be called, not used as a value"),
        ("memory.alloc(1)", "1: unknown operator or constructor memory.alloc; did you mean"),
    ],
)  # fmt: skip
def test_wrong_arguments(body: str, message: str) -> None:
    assert error_of(main(body), META).startswith(f"2:{message}")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("call_lowered(@neg, (%x, %x))", "1:1: call_lowered: @neg expects 1 arguments, but got 2"),
        ("call_lowered(@neg, %x)", "1:1: call_lowered: argument 1 must be a tuple, but is of type Tensor[(4), float32]"),
        ("call_lowered(@neg, (vm.shape_of(%x),))", "1:20: argument 0 of @neg must be of type Tensor[(4), float32], but is of type Tensor[(1), int64]"),
        (ALLOC + "vm.invoke_tvm_op(@plain, (%x,), (%t,))", "3:1: vm.invoke_tvm_op: @plain is not a kernel; add the attribute Primitive=1"),
        ("call_lowered(@gen, (%x,))", "1:1: call_lowered: a kernel cannot be generic, but @gen is"),
        ("call_lowered(@non, (%x,))", "1:14: unknown function @non"),
        ("call_lowered(%x, (%x,))", "1:1: call_lowered: the callee must be a global kernel, or a function literal with Primitive=1, given here or bound to a variable"),
        ("call_lowered(negative(%x), (%x,))", "1:1: call_lowered: the callee must be a global kernel"),
        ("call_lowered(fn (%a) { %a }, (%x,))", "1:1: call_lowered: the function is not a kernel; add the attribute Primitive=1"),
        ("call_lowered(fn (%a, Primitive=1) { add(%a, %x) }, (%x,))", "1:14: a kernel can only use its parameters, but this one uses %x"),
        ("call_lowered(fn (%a: Tensor[(4), float32], Primitive=1) { fn () { %a } }, (%x,))", "1:59: a kernel accepts and returns tensors only, but its result is of type fn () -> Tensor[(4), float32]"),
        ("call_lowered(fn (%a: fn () -> int32, Primitive=1) { %a() }, (fn () { 1 },))", "1:53: a kernel accepts and returns tensors only, but parameter %a is of type fn () -> int32"),
        ("add(call_lowered(@neg, (%x,)), @neg(%x))", "1:5: @neg is called as a kernel here, but used as a function elsewhere"),
        ("call_lowered(@neg, (%x,), meta=1)", "1:1: call_lowered has no attribute meta (its attributes: metadata)"),
        ("vm.invoke_tvm_op(@neg, (%x,))", "1:1: vm.invoke_tvm_op expects 3 arguments, but got 2"),
        ("vm.invoke_tvm_op(@neg, (%x,), (%x, %x)); %x", "3:51: the result of @neg must be of type (Tensor[(4), float32], Tensor[(4), float32]), but is of type Tensor[(4), float32]"),
        ("vm.invoke_tvm_op(@neg, (%x,), (negative(%x),)); %x", "1:1: a kernel must write into a memory.alloc_tensor or a parameter, but the tensor is defined by relay.negative"),
        ("vm.shape_func(@neg, (%x,), (%x,), is_input=[2]); %x", "1:1: vm.shape_func: is_input must be a list of 0 and 1"),
        (ALLOC + "vm.shape_func(@neg, (%x,), (%t,), is_input=[]); %t", "3:1: vm.shape_func: is_input needs a 0 or 1 for each of 1 operands, but is ()"),
        (ALLOC + "%t", "3:1: %t is used before a kernel has written it"),
        (ALLOC + "vm.invoke_tvm_op(@two, (%x, (%x, %x)), (%t,));\n%t", "7:101: the result of @two must be of type Tensor[(4), float32], but"),
        (ALLOC + "negative(%t)", "3:1: %t is used before a kernel has written it"),
        (ALLOC + "let %y = negative(%t);\nvm.invoke_tvm_op(@neg, (%x,), (%t,));\n%y", "3:10: %t is used before a kernel has written it"),
        (ALLOC + "vm.invoke_tvm_op(@neg, (%t,), (%t,));\n%t", "3:1: %t is used before a kernel has written it"),
        (ALLOC + "vm.invoke_tvm_op(@neg, (%x,), (%t,));\nvm.invoke_tvm_op(@neg, (%x,), (%t,));\n%t", "4:1: %t is written twice"),
        (ALLOC + "vm.invoke_tvm_op(@two, (%x, (%x, %x)), (%t, %t));\n%t", "3:1: %t is written twice"),
        (ALLOC + "vm.invoke_tvm_op(@neg, (%x,), (%t,));\nmemory.kill(%t);\n%t", "5:1: %t is used after its memory.kill"),
        (ALLOC + "memory.kill(%t);\nvm.invoke_tvm_op(@neg, (%x,), (%t,));\n1", "4:1: %t is used after its memory.kill"),
        (ALLOC + "memory.kill(%x);\nmemory.kill(%x);\n1", "4:1: %x is used after its memory.kill"),
        (ALLOC + "if (True) { vm.invoke_tvm_op(@neg, (%x,), (%t,)) } else { () };\n%t", "4:1: %t is written in a branch and undefined outside it: return it from the branches"),
        (ALLOC + "if (True) { vm.invoke_tvm_op(@neg, (%x,), (%t,)) } else { () };\nvm.invoke_tvm_op(@neg, (%x,), (%t,));\n%t", "4:1: %t is written twice"),
        (ALLOC + "let %f = fn () { vm.invoke_tvm_op(@neg, (%x,), (%t,)) };\n%f()", "3:18: a closure cannot write %t, which it does not own: it may be called several times"),
        (ALLOC + "let %y = negative(%x);\nvm.invoke_tvm_op(@neg, (%t,), (%x,));\n%t", "3:10: %x is used before a kernel has written it"),
        ("match (Cons(%x, Nil)) { Cons(%t, _) => { vm.invoke_tvm_op(@neg, (%x,), (%t,)); %t }, Nil => %x }", "1:42: a kernel must write into a memory.alloc_tensor or a parameter, but %t is defined by a pattern"),
        ("vm.invoke_tvm_op(@neg, (%x,), (%x,));\n%x", "1:1: %x is used before a kernel has written it; a parameter that a kernel writes has no contents before"),
        (ALLOC + "let %r = ref(%t);\nvm.invoke_tvm_op(@neg, (%x,), (%t,));\n1", "3:10: %t is used before a kernel has written it"),
        ("let %f = fn [A](%a: A, Primitive=1) { %a };\ncall_lowered(%f, (%x,))", "2:1: call_lowered: the callee must be a global kernel"),
    ],
)  # fmt: skip
def test_wrong_kernels(body: str, message: str) -> None:
    line, _, rest = message.partition(":")
    assert error_of(main(body), META).startswith(f"{int(line) + 1}:{rest}")


def test_kernels_are_called_with_the_types_that_they_have() -> None:
    text = "def @main(%x: Tensor[(4), float32]) { call_lowered(@k, (%x,)) }\ndef @k(%a: Tensor[(?), float32], Primitive=1) { %a }"
    assert error_of(text).startswith(
        "1:39: argument 0 of the kernel @k must be of type Tensor[(?), float32], but is of type Tensor[(4), float32]"
    )


def test_a_kernel_that_writes_is_on_no_device() -> None:
    text = f"def @main(%x: Tensor[(4), float32]) {{ {ALLOC} vm.invoke_tvm_op(@k, (%x,), (%t,)); %t }}\ndef @k(%a {{virtual_device={D}}}: Tensor[(4), float32], Primitive=1) {{ %a }}"
    found = error_of(text, META)
    assert "@k is a kernel, which runs on the device of its caller" in found


def test_the_devices_of_a_lowered_function_are_those_of_its_calls() -> None:
    text = f"def @main(%x: int32) {{ call_lowered(@k, (%x,)) }}\ndef @k(%a {{virtual_device={D}}}: int32, virtual_device={D}) {{ %a }}"
    module = read(text, META)
    assert str(module).count("relay.on_device %") == 2
    assert str(module).count("#relay.device<cuda:1> {constrain_result = true}") == 2
    assert_same_when_printed(module)


def test_a_lowered_call_makes_any_function_a_kernel() -> None:
    text = "def @main(%x: int32) { (call_lowered(@k, (%x,)), call_lowered(@k, (%x,))) }\ndef @k(%a: int32, Extern=1) { negative(%a) }"
    module = read(text, META)
    (kernel,) = (op for op in module.ops if isinstance(op, PrimFuncOp))
    assert kernel.sym_name.data == "k"
    assert_same_when_printed(module)


def test_the_memory_scopes_of_a_kernel() -> None:
    texture = "virtual_device=meta[VirtualDevice][0]"
    meta = {"VirtualDevice": [VirtualDeviceAttr(scope="texture")]}
    k = f"def @k(%a {{{texture}}}: Tensor[(4), float32], %p {{{texture}}}: (Tensor[(4), float32], Tensor[(4), float32]), %b: Tensor[(4), float32], Primitive=1, {texture}) {{ (%a + %p.0, %b) }}"
    module = read(
        f"{k}\ndef @main(%x: Tensor[(4), float32]) {{ call_lowered(@k, (%x, (%x, %x), %x)) }}", meta
    )
    scopes = '["texture", "texture", "texture", "", "texture", "texture"]'
    assert f"attributes {{scopes = {scopes}}}" in str(module)
    assert_same_when_printed(module)
    literal = f"fn (%a {{{texture}}}: int32, Primitive=1, {texture}) {{ %a }}"
    module = read(f"def @main(%x: int32) {{ call_lowered({literal}, (%x,)) }}", meta)
    assert 'attributes {scopes = ["texture", "texture"]}' in str(module)
    assert_same_when_printed(module)


def test_both_branches_may_write() -> None:
    write = "{ vm.invoke_tvm_op(@neg, (%x,), (%t,)); %t }"
    module = read(main(ALLOC + f"if (True) {write} else {write}"), META)
    x = np.arange(4, dtype=np.float32)
    (found,) = evaluate(module, [x])
    np.testing.assert_array_equal(found, -x)
    assert_same_when_printed(module)


def test_a_kernel_with_other_dims_has_no_function_type_in_the_text() -> None:
    """A function that is never called as a kernel remains a function, whatever its attributes."""
    text = "def @main(%x: int32) { @k(%x) }\ndef @k(%a: int32, Primitive=1) { %a }"
    assert "func.func @k(%a: tensor<i32>)" in ir_of(text)


# ---------------------------------------------------------------- JSON


def saved() -> dict[str, Any]:
    """`@main(%x)` with a `vm.invoke_tvm_op` and a `call_lowered` of `@neg`, as saved by `tvm.ir.save_json`."""
    n = Nodes()
    four = n.add("IntImm", dtype="int32", span=0, value=4)
    one = n.add("IntImm", dtype="int32", span=0, value=1)
    tensor = n.add("relay.TensorType", dtype="float32", shape=n.array(four))
    size, align, zero, shape = (n.add("relay.Constant", data=i) for i in range(4))
    nowhere = n.add(
        "VirtualDevice", device_type_int=2, virtual_device_id=0, target=0, memory_scope=n.word("")
    )
    storage_attrs = n.add("relay.attrs.AllocStorageAttrs", dtype="float32", virtual_device=nowhere)
    tensor_attrs = n.add(
        "relay.attrs.AllocTensorAttrs", dtype="float32", const_shape=shape, assert_shape=n.array()
    )
    primitive = n.add("DictAttrs", __dict__=n.array(one, keys=["Primitive"]))
    a = n.var("a", tensor)
    kernel = n.function(n.call(n.word("negative", "Op"), a), a, attrs=primitive)
    neg = n.add("GlobalVar", name_hint=n.word("neg"))
    x, s, t, done = n.var("x", tensor), n.var("s"), n.var("t"), n.var("_")
    tuples = [n.add("relay.Tuple", fields=n.array(v)) for v in (x, t)]
    metadata = n.array(primitive, n.array(neg), keys=["relay_attrs", "all_prim_fn_vars"])
    lowered_attrs = n.add("relay.attrs.CallLoweredAttrs", metadata=metadata)
    result = n.call(n.word("call_lowered", "Op"), neg, tuples[1], attrs=lowered_attrs)
    body = n.let(
        s,
        n.call(n.word("memory.alloc_storage", "Op"), size, align, attrs=storage_attrs),
        n.let(
            t,
            n.call(n.word("memory.alloc_tensor", "Op"), s, zero, shape, attrs=tensor_attrs),
            n.let(
                done,
                n.call(n.word("vm.invoke_tvm_op", "Op"), neg, *tuples, attrs=primitive),
                result,
            ),
        ),
    )
    main = n.add("GlobalVar", name_hint=n.word("main"))
    module = n.module(n.map(), n.map(main, n.function(body, x), neg, kernel))
    numbers = (16, 64, 0, [4])
    module["b64ndarrays"] = [blob(np.array(number, np.int64)) for number in numbers]
    return module


def blob(array: np.ndarray[Any, Any]) -> str:
    """An int64 array as TVM saves it."""
    head = struct.pack("<QQiiiBBH", 0xDD5E40F096B4A13F, 0, 1, 0, array.ndim, 0, 64, 1)
    dims = struct.pack(f"<{array.ndim + 1}q", *array.shape, array.nbytes)
    return base64.b64encode(head + dims + array.tobytes()).decode()


def test_modules_saved_as_json() -> None:
    module = parse_json(context(), json.dumps(saved()), "saved.json")
    verify(module)
    lines = [line.strip() for line in str(module).split("\n")]
    assert lines[2:6] == [
        "%s = memory.alloc_storage 16 align 64 on #relay.device<cuda:0> : !memory.storage",
        "%t = memory.alloc_tensor %s[0] : tensor<4xf32>",
        "%t_1 = vm.invoke_tvm_op @neg ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>",
        "%0 = relay.call_lowered @neg(%t_1) : (tensor<4xf32>) -> tensor<4xf32>",
    ]
    assert_same_when_printed(module)

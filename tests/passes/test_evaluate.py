"""Reference evaluation on handwritten examples, one per kind of op, and its errors."""

from typing import Any

import numpy as np
import pytest
from helpers.programs.programs import parse
from helpers.programs.shallow_stack import LEVELS, shallow_stack
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr

from xrelay.dialects import relay
from xrelay.passes.evaluation.evaluated_values import RefValue
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.evaluation.kernel_calls import OperatorEvaluator
from xrelay.passes.support.diagnostics import PassError
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.memory.limits import Memory

DEV = "#relay.device<cpu:0>"
X = np.array([-1.0, 2.0, -3.0, 4.0], np.float32)
KERNEL = """
relay.prim_func @relu(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.nn.relu %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}"""


def run(body: str, *args: Any, params: str = "%x: tensor<4xf32>") -> list[Any]:
    """Evaluate a function with `body`; its type is not verified."""
    return evaluate(parse(f"func.func @main({params}) {{\n{body}\n}}{KERNEL}"), args)


def test_operators_and_constants():
    (y,) = run(
        """%c = relay.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
        %y = relay.multiply %x, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        func.return %y : tensor<4xf32>""",
        X,
    )
    np.testing.assert_array_equal(y, [-1, 2, -6, 8])


def test_params_tuples_hints_and_copies():
    pair = "tuple<tensor<4xf32>, tensor<2xf32>>"
    module = parse(
        f"""func.func @main(%x: tensor<4xf32>) {{
        %w = relay.param "w" : tensor<2xf32>
        %t = relay.tuple %x, %w : (tensor<4xf32>, tensor<2xf32>) -> {pair}
        %u = relay.tuple_get_item %t[1] : ({pair}) -> tensor<2xf32>
        %h = relay.on_device %u, {DEV} : (tensor<2xf32>) -> tensor<2xf32>
        %d = relay.device_copy %h : tensor<2xf32> to tensor<2xf32, {DEV}>
        func.return %t, %d : {pair}, tensor<2xf32, {DEV}>
        }}"""
    )
    y, w = evaluate(module, [X], {"w": np.ones(2, np.float32)})
    assert isinstance(y, tuple)
    np.testing.assert_array_equal(w, [1, 1])


@pytest.mark.parametrize(("condition", "wanted"), [(True, [-1, 2, -3, 4]), (False, [0, 2, 0, 4])])
def test_branches(condition: bool, wanted: list[int]):
    (y,) = run(
        """%y = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
          relay.yield %x : tensor<4xf32>
        } else {
          %z = relay.call_lowered @relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
          relay.yield %z : tensor<4xf32>
        }
        func.return %y : tensor<4xf32>""",
        np.array(condition),
        X,
        params="%c: tensor<i1>, %x: tensor<4xf32>",
    )
    np.testing.assert_array_equal(y, wanted)


def test_recursion_is_as_deep_as_it_must_be():
    with shallow_stack():
        (n,) = run(
            """%zero = relay.constant dense<0> : tensor<i64>
        %one = relay.constant dense<1> : tensor<i64>
        %more = relay.greater %n, %zero : (tensor<i64>, tensor<i64>) -> tensor<i1>
        %r = relay.if %more : tensor<i1> -> (tensor<i64>) {
          %less = relay.subtract %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
          %s = func.call @main(%less) : (tensor<i64>) -> tensor<i64>
          %t = relay.add %s, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
          relay.yield %t : tensor<i64>
        } else {
          relay.yield %zero : tensor<i64>
        }
        func.return %r : tensor<i64>""",
            np.array(LEVELS),
            params="%n: tensor<i64>",
        )
    assert n == LEVELS


T = f"tensor<4xf32, {DEV}>"
MEMORY = f"""%s = memory.alloc_storage 32 align 64 : !memory.storage<{DEV}>
%t = memory.alloc_tensor %s[0] : tensor<4xf32, {DEV}>
%y = vm.invoke_tvm_op @relu ins(%x : tensor<4xf32>) outs(%t : {T}) -> {T}
%u = memory.alloc_tensor %s[{{offset}}] : tensor<4xf32, {DEV}>
%z = memory.copy ins(%x : tensor<4xf32>) outs(%u : tensor<4xf32, {DEV}>) -> tensor<4xf32, {DEV}>
%v = vm.reshape_tensor %y : (tensor<4xf32, {DEV}>) -> tensor<2x2xf32, {DEV}>
func.return %v, %z : tensor<2x2xf32, {DEV}>, tensor<4xf32, {DEV}>"""


def test_memory_is_taken_at_its_word():
    v, z = run(MEMORY.format(offset=16), X)
    np.testing.assert_array_equal(v, [[0, 2], [0, 4]])
    np.testing.assert_array_equal(z, X)


def test_a_wrong_plan_gives_wrong_numbers():
    v, _ = run(MEMORY.format(offset=8), X)
    np.testing.assert_array_equal(v, [[0, 2], [-1, 2]])


def test_rows_are_where_their_tensor_is():
    body = """%n = arith.constant 1 : i64
    %s = vm.shape_of %x : (tensor<4xf32>) -> tensor<1xi64>
    %a = vm.slice_tensor %x[1] : (tensor<4xf32>) -> tensor<2xf32>
    %b = vm.slice_tensor %a[%n] : (tensor<2xf32>) -> tensor<1xf32>
    %c = vm.slice_tensor %x[0] shape %s : (tensor<4xf32>, tensor<1xi64>) -> tensor<?xf32>
    func.return %a, %b, %c : tensor<2xf32>, tensor<1xf32>, tensor<?xf32>"""
    a, b, c = run(body, X)
    np.testing.assert_array_equal(a, X[1:3])
    np.testing.assert_array_equal(b, X[2:3])
    np.testing.assert_array_equal(c, X)
    with pytest.raises(PassError, match=r"has no rows of shape \[1\] from 2 on"):
        run(body.replace("constant 1", "constant 2"), X)


def test_shapes():
    (s,) = run(
        """%s = vm.shape_of %x : (tensor<4xf32>) -> tensor<1xi64>
        func.return %s : tensor<1xi64>""",
        X,
    )
    np.testing.assert_array_equal(s, [4])
    assert s.dtype == np.int64


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('%w = relay.param "w" : tensor<2xf32>', 'param "w" has no value'),
        ('%w = relay.param "v" : tensor<2xf32>', 'param "v" is float32[3], but is declared as'),
        ("%y = func.call @g(%x) : (tensor<4xf32>) -> tensor<4xf32>", "@g has no body"),
        ("%y = func.call @main() : () -> tensor<4xf32>", "@main expects 1 arguments, but got 0"),
        ('%y = "test.op"() : () -> tensor<4xf32>', "test.op has no kernel"),
        (
            "%c = relay.constant dense<1> : tensor<i3>",
            "tensor<i3> cannot be evaluated: unsupported element type int3",
        ),
    ],
)
def test_errors(body: str, message: str):
    with pytest.raises(PassError) as raised:
        evaluate(
            parse(f"func.func @main(%x: tensor<4xf32>) {{\n{body}\nfunc.return\n}}"),
            [X],
            {"v": np.zeros(3, np.float32)},
        )
    assert message in str(raised.value)
    assert raised.value.op is not None


def test_another_function():
    module = parse(f"func.func @main() {{\nfunc.return\n}}{KERNEL}")
    assert evaluate(module, []) == []
    (y,) = evaluate(module, [X], function="relu")
    np.testing.assert_array_equal(y, [0, 2, 0, 4])


UNWRITTEN = parse(
    f"""func.func @main() -> tensor<4xf32, {DEV}> {{
    %s = memory.alloc_storage 160 align 64 : !memory.storage<{DEV}>
    %t = memory.alloc_tensor %s[0] : tensor<4xf32, {DEV}>
    func.return %t : tensor<4xf32, {DEV}>
    }}"""
)


def test_bytes_that_nothing_wrote_are_zero_or_poison():
    assert evaluate(UNWRITTEN, [])[0].tolist() == [0, 0, 0, 0]
    assert np.isnan(evaluate(UNWRITTEN, [], memory=Memory(poison=True))[0]).all()


def test_a_value_that_shares_parts_and_contains_itself_is_killed():
    """Unfolded, it would have 2 ** 60 arrays, and no end."""
    array = X.copy()
    value: Any = RefValue(array)
    value.value = (array, value)
    for _ in range(60):
        value = (value, value)
    tensor = f"tensor<4xf32, {DEV}>"
    module = parse(f"func.func @main(%x: {tensor}) {{\nmemory.kill %x : {tensor}\nfunc.return\n}}")
    assert evaluate(module, [value], memory=Memory(poison=True)) == []
    assert np.isnan(array).all()


def test_memory_is_limited():
    with pytest.raises(PassError, match="a storage needs 160 bytes, but 0 are in use") as caught:
        evaluate(UNWRITTEN, [], memory=Memory(159))
    assert caught.value.op is not None
    assert len(evaluate(UNWRITTEN, [], memory=Memory(160))) == 1
    splat = parse(
        """func.func @main() -> tensor<4096xf32> {
        %c = relay.constant dense<1.0> : tensor<4096xf32>
        %y = relay.nn.relu %c : (tensor<4096xf32>) -> tensor<4096xf32>
        func.return %y : tensor<4096xf32>
        }"""
    )
    constant = next(op for op in splat.walk() if isinstance(op, relay.ConstantOp))
    once = DenseIntOrFPElementsAttr(constant.value.type, BytesAttr(constant.value.data.data[:4]))
    constant.value = once
    with pytest.raises(PassError, match="relu is out of memory: an operand needs 16384 bytes"):
        evaluate(splat, [], memory=Memory(20_000))
    memory = Memory(40_000)
    (result,) = evaluate(splat, [], memory=memory)
    assert memory.used >= result.nbytes
    del result
    assert memory.used < 16384


def test_ops_are_limited():
    module = parse(
        """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
        %y = relay.nn.relu %x : (tensor<4xf32>) -> tensor<4xf32>
        %z = relay.nn.relu %y : (tensor<4xf32>) -> tensor<4xf32>
        func.return %z : tensor<4xf32>
        }"""
    )
    assert len(evaluate(module, [X], max_ops=2)) == 1
    with pytest.raises(PassError, match="more than 1 ops were evaluated"):
        evaluate(module, [X], max_ops=1)


def test_operands_are_checked_each_time():
    """The cache of an operator's first application does not bypass the check of later operands."""
    module = parse(KERNEL)
    relu = next(op for op in module.walk() if op.name == "relay.nn.relu")
    operators = OperatorEvaluator(KERNELS)
    for _ in range(2):
        np.testing.assert_array_equal(operators.apply(relu, [X])[0], [0, 2, 0, 4])
    with pytest.raises(PassError, match=r"an operand is declared as .* but its shape is 3"):
        operators.apply(relu, [X[:3]])
    with pytest.raises(ValueError, match="is declared as tensor<4xf32>"):
        operators.apply(relu, [X.astype(np.float64)])
    np.testing.assert_array_equal(operators.apply(relu, [-X])[0], [1, 0, 3, 0])

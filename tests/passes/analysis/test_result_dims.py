"""Names of the dims of results."""

import pytest
from helpers.programs.programs import parse
from xdsl.dialects.func import FuncOp

from xrelay.passes.sizes.result_dims import dims_of_results

X = '%x: tensor<?x?xf32> {relay.dims = ["n", "m"]}'


@pytest.mark.parametrize(
    ("body", "type", "names"),
    [
        ("%y = relay.exp %x : (tensor<?x?xf32>) -> T", "tensor<?x?xf32>", ("n", "m")),
        ("%y = relay.transpose %x : (tensor<?x?xf32>) -> T", "tensor<?x?xf32>", ("m", "n")),
        (
            "%y = relay.sum %x {axis = array<i64: 1>, keepdims = true} : (tensor<?x?xf32>) -> T",
            "tensor<?x1xf32>",
            ("n", ""),
        ),
        (
            "%y = relay.concatenate %x, %x {axis = 1 : i64}"
            " : (tensor<?x?xf32>, tensor<?x?xf32>) -> T",
            "tensor<?x?xf32>",
            ("n", ""),
        ),
        ("%y = relay.argwhere %x : (tensor<?x?xf32>) -> T", "tensor<?x2xi64>", ()),
        (
            '%c = "test.op"() : () -> tensor<i1>\n'
            "%y = relay.if %c : tensor<i1> -> (T) {\n relay.yield %x : T\n} else {\n"
            " %t = relay.transpose %x : (T) -> T\n relay.yield %t : T\n}",
            "tensor<?x?xf32>",
            (),
        ),
        ("%y = relay.tuple %x : (tensor<?x?xf32>) -> T", "tuple<tensor<?x?xf32>>", ()),
    ],
    ids=["same", "permuted", "reduced", "sum", "data", "branch", "tuple"],
)
def test_dims_of_a_result(body: str, type: str, names: tuple[str, ...]):
    text = f"func.func @f({X}) -> T {{\n{body}\nfunc.return %y : T\n}}"
    module = parse(text.replace("T", type))
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    assert dims_of_results(function) == [names]


def test_a_function_without_names_has_none():
    module = parse(
        "func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {func.return %x : tensor<?xf32>}"
    )
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    assert dims_of_results(function) == [()]

"""Programs over lines have the same results over images, and no operator over lines stays."""

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.programs.programs import parse
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.rewriter import Rewriter

from xrelay.dialects.interfaces import InferTypes, ReadsElementwise
from xrelay.dialects.relay.incomplete import AnyTensor
from xrelay.dialects.relay.operator import Operator
from xrelay.dialects.tensors import tensor_of
from xrelay.passes.evaluation.evaluator import evaluate

FIRST = """
func.func @main(%x: tensor<2x6x9xf32>, %w: tensor<4x3x3xf32>, %b: tensor<4xf32>,
                %r: tensor<2x4x5xf32>, %s: tensor<4x1xf32>, %o: tensor<5xf32>)
    -> (tensor<2x4x5xf32>, tensor<2x4x2xf32>) {
  %0 = relay.nn.conv1d %x, %w
    {strides = array<i64: 2>, padding = array<i64: 1, 2>, groups = 2}
    : (tensor<2x6x9xf32>, tensor<4x3x3xf32>) -> tensor<2x4x5xf32>
  %1 = relay.nn.bias_add %0, %b : (tensor<2x4x5xf32>, tensor<4xf32>) -> tensor<2x4x5xf32>
  %2 = relay.add %1, %r : (tensor<2x4x5xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %3 = relay.multiply %s, %2 : (tensor<4x1xf32>, tensor<2x4x5xf32>) -> tensor<2x4x5xf32>
  %4 = relay.subtract %3, %o : (tensor<2x4x5xf32>, tensor<5xf32>) -> tensor<2x4x5xf32>
  %5 = relay.nn.prelu %4, %b {axis = -2} : (tensor<2x4x5xf32>, tensor<4xf32>) -> tensor<2x4x5xf32>
  %6 = relay.nn.max_pool1d %5
    {pool_size = array<i64: 3>, strides = array<i64: 2>, padding = array<i64: 0, 1>}
    : (tensor<2x4x5xf32>) -> tensor<2x4x2xf32>
  func.return %5, %6 : tensor<2x4x5xf32>, tensor<2x4x2xf32>
}"""

LAST = """
func.func @main(%x: tensor<?x9x6xf32>, %w: tensor<3x6x4xf32>, %b: tensor<4xf32>,
                %r: tensor<9x1xf32>) -> tensor<?x3x4xf32> {
  %0 = relay.nn.conv1d %x, %w {padding = array<i64: 2, 2>, dilation = array<i64: 2>,
     data_layout = "NWC", kernel_layout = "WIO"}
    : (tensor<?x9x6xf32>, tensor<3x6x4xf32>) -> tensor<?x9x4xf32>
  %1 = relay.nn.bias_add %0, %b {axis = 2} : (tensor<?x9x4xf32>, tensor<4xf32>) -> tensor<?x9x4xf32>
  %2 = relay.add %1, %r : (tensor<?x9x4xf32>, tensor<9x1xf32>) -> tensor<?x9x4xf32>
  %3 = relay.nn.avg_pool1d %2 {pool_size = array<i64: 4>, strides = array<i64: 3>,
     padding = array<i64: 1, 1>, layout = "NWC"} : (tensor<?x9x4xf32>) -> tensor<?x3x4xf32>
  func.return %3 : tensor<?x3x4xf32>
}"""

TRANSPOSED = """
func.func @main(%x: tensor<2x4x5xf32>, %w: tensor<4x3x3xf32>) -> tensor<2x3x10xf32> {
  %0 = relay.nn.conv1d_transpose %x, %w {strides = array<i64: 2>, padding = array<i64: 1, 1>,
     output_padding = array<i64: 1>} : (tensor<2x4x5xf32>, tensor<4x3x3xf32>) -> tensor<2x3x10xf32>
  %1 = relay.sigmoid %0 : (tensor<2x3x10xf32>) -> tensor<2x3x10xf32>
  func.return %1 : tensor<2x3x10xf32>
}"""


@irdl_op_definition
class TwiceOp(Operator):
    """An operator of a plug-in, which reads by element."""

    name = "demo.twice"
    data = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(InferTypes(lambda op: op.operand_types), ReadsElementwise())


def test_operators_of_plugins_are_on_images():
    module = parse(TRANSPOSED)
    (sigmoid,) = (op for op in module.walk() if op.name == "relay.sigmoid")
    Rewriter.replace_op(sigmoid, twice := TwiceOp.on([sigmoid.operands[0]]))
    assert tensor_of(twice.result).get_num_dims() == 3
    run_passes(module, "expand-lines")
    (twice,) = (op for op in module.walk() if op.name == "demo.twice")
    assert tensor_of(twice.results[0]).get_num_dims() == 4


@pytest.mark.parametrize(
    ("text", "shapes", "rows"),
    [
        (FIRST, [(2, 6, 9), (4, 3, 3), (4,), (2, 4, 5), (4, 1), (5,)], 2),
        (LAST, [(2, 9, 6), (3, 6, 4), (4,), (9, 1)], 1),
        (TRANSPOSED, [(2, 4, 5), (4, 3, 3)], 1),
    ],
    ids=["first", "last", "transposed"],
)
def test_images_have_the_results_of_lines(text: str, shapes: list[tuple[int, ...]], rows: int):
    module, random = parse(text), np.random.default_rng(0)
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    lines = evaluate(module, inputs)
    run_passes(module, "expand-lines")
    names = [op.name for op in module.walk()]
    assert not any("1d" in name for name in names)
    reshapes = [op for op in module.walk() if op.name in ("relay.reshape", "relay.squeeze")]
    assert sum(tensor_of(op.operands[0]).get_num_dims() == 4 for op in reshapes) == rows
    for image, line in zip(evaluate(module, inputs), lines, strict=True):
        np.testing.assert_allclose(np.asarray(image), np.asarray(line), rtol=1e-5, atol=1e-6)

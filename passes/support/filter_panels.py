"""Filters in panels, for passes that change how the weights of convolutions are stored."""

from xdsl.ir import SSAValue

from ...dialects.relay import convolution
from ...dialects.tensors import Tensor, as_tensor, tensor_of
from .operator_steps import OperatorSteps, dtype_of, is_weight, reshaped, transposed


def plain_filters(op: convolution.Conv2dOp) -> Tensor | None:
    """Return the type of the weights of a convolution that may get another layout."""
    layouts = op.data_layout.data, op.kernel_layout.data
    if layouts != ("NHWC", "HWIO") or op.groups.value.data != 1 or not is_weight(op.weight):
        return None
    return as_tensor(op.weight.type)


def in_panels(steps: OperatorSteps, weight: SSAValue, width: int) -> SSAValue:
    """Put the filters, or columns, along the last axis into panels."""
    *others, columns = tensor_of(weight).get_shape()
    last, panels = len(others), -(-columns // width)
    if columns % width:
        widths = (0, 0) * last + (0, panels * width - columns)
        zero = steps.numbers(0, dtype_of(weight))
        weight = steps.apply("nn.pad", weight, zero, pad_width=widths)
    split = steps.add(reshaped(weight, (*others, panels, width)))
    return steps.add(transposed(split, (last, *range(last), last + 1)))

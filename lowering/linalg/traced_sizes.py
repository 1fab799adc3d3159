"""
The dims of an operator's results, by its own shape rule, where they are known at run time only.

What the rule requires is not checked here: whoever allocates the results has done so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, i64
from xdsl.ir import Operation, SSAValue

from ...dialects import relay
from ...dialects.tensors import has_dynamic, is_unsigned
from ...dialects.type_rules import element_of, operand_of
from ...operators.signature import Elements, Tensor
from ...operators.sizes.size_expressions import DIM, Symbol
from ...passes.sizes.rule_code import RuleCode
from ...passes.sizes.rule_reader import RuleDim, as_expr
from ...passes.support.diagnostics import PassError
from ..upstream_sizes.arith_measures import write_measure
from ..upstream_sizes.checked_code import CheckedCode
from .builder import INDEX, Builder, Size, Unsupported, element_type, tensor_of
from .moving import mapped


def result_sizes(
    b: Builder, op: Operation, operands: Sequence[SSAValue]
) -> Sequence[Sequence[Size]]:
    """
    Return the dims of each result of `op`, computed from `operands` where they are dynamic.

    Raises `Unsupported` if that needs more than arithmetic.
    """
    if not any(has_dynamic(result.type) for result in op.results):
        return [list(tensor_of(result).get_shape()) for result in op.results]
    return _Sizes(b, op, operands).sizes_of(op)


class _Sizes(RuleCode):
    """The sizes of the results of one op."""

    def __init__(self, b: Builder, op: Operation, operands: Sequence[SSAValue]):
        super().__init__()
        self.b, self.values = b, dict(zip(op.operands, operands, strict=True))
        self.known: dict[RuleDim, Size] = {}

    def sizes_of(self, op: Operation) -> Sequence[Sequence[Size]]:
        """Return the dims of the results, and insert what computes them."""
        try:
            tensors = self.results(op)
        except PassError as error:
            for made in self.ops:
                made.drop_all_references()
            raise Unsupported(str(error)) from error
        values = [
            [
                self._wanted(computed) if dim == DYNAMIC_INDEX else dim
                for dim, computed in zip(tensor_of(result).get_shape(), tensor.dims, strict=True)
            ]
            for result, tensor in zip(op.results, tensors, strict=True)
        ]
        needed, used = {value for row in values for value in row}, list[Operation]()
        for made in reversed(self.ops):  # what is required is checked elsewhere
            if any(result.uses or result in needed for result in made.results):
                used.append(made)
            else:
                made.erase()
        measured: dict[SSAValue, SSAValue] = {}
        for made in reversed(used):
            made.operands = [measured.get(value, value) for value in made.operands]
            if isinstance(made, relay.MeasureOp):
                measured[made.size] = self._measure(made)
            else:
                self.b.insert(made)
        return [
            [v if isinstance(v, int) else self._index(measured.get(v, v)) for v in row]
            for row in values
        ]

    def _measure(self, op: relay.MeasureOp) -> SSAValue:
        """Insert what `op` computes, without its checks."""

        def ignore(ok: SSAValue, message: str, values: Sequence[SSAValue]) -> None:
            pass

        return write_measure(CheckedCode(self.b.insert_all, ignore), op, op.args, op.args.types)

    def operand(self, value: SSAValue) -> Tensor:
        known = operand_of(value.type)
        assert isinstance(known, Tensor), "operands of operators are tensors"
        dims = [
            dim if isinstance(dim, int) else self._dim(self.values[value], axis)
            for axis, dim in enumerate(known.dims)
        ]
        return Tensor(known.element, tuple(dims))

    def _dim(self, value: SSAValue, axis: int) -> RuleDim | int:
        size = self.b.dim(value, axis)
        if isinstance(size, int):
            return size
        dim = self.dim(self.read(DIM, size))
        self.known[dim] = size
        return dim

    def leaf(self, symbol: Symbol) -> SSAValue:
        if symbol.kind == DIM:
            (size,) = cast("tuple[SSAValue]", symbol.args)
            return self.emit(arith.IndexCastOp(size, i64))
        return super().leaf(symbol)

    def shape_of(self, value: SSAValue) -> SSAValue:
        raise AssertionError("each dim is read on its own")

    def elements_of(self, op: Operation, index: int) -> Elements:
        return self.data_elements(op, index)

    def data_of(self, value: SSAValue) -> SSAValue:
        data = self.values[value]
        if not is_unsigned(element_type(value)):
            return data
        element = element_of(element_type(value))
        return mapped(self.b, data, i64, lambda x: x.reinterpreted(element))

    def _wanted(self, dim: object) -> Size:
        assert isinstance(dim, int | RuleDim)
        if isinstance(dim, int):
            return dim
        return self.known[dim] if dim in self.known else self.write(as_expr(dim))

    def _index(self, value: SSAValue) -> SSAValue:
        return value if value.type == INDEX else self.b.insert(arith.IndexCastOp(value, INDEX))

"""
The dims of an operator's results, by its own shape rule, where they are known at run time only.

What the rule requires is not checked here: whoever allocates the results has done so.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects import arith
from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from ...dialects import relay
from ...dialects.tensors import has_dynamic, is_unsigned
from ...dialects.type_rules import data_operands, operand_of
from ...operators.signature import Tensor
from ...passes.sizes.rule_code import RuleCode
from ...passes.sizes.rule_reader import RuleDim, as_expr
from ...passes.support.diagnostics import PassError
from ..upstream_sizes.arith_measures import write_measure
from ..upstream_sizes.checked_code import CheckedCode
from .builder import INDEX, Builder, Size, Unsupported, element_type, tensor_of
from .moving import mapped
from .scalars import resized


def result_sizes(
    b: Builder, op: Operation, operands: Sequence[SSAValue]
) -> Sequence[Sequence[Size]]:
    """
    Return the dims of each result of `op`, computed from `operands` where they are dynamic.

    Raises `Unsupported` if that needs more than arithmetic.
    """
    if not any(has_dynamic(result.type) for result in op.results):
        return [list(tensor_of(result).get_shape()) for result in op.results]
    return _Sizes(b, op, operands).results()


class _Sizes:
    """The sizes of the results of one op."""

    def __init__(self, b: Builder, op: Operation, operands: Sequence[SSAValue]):
        self.b, self.op, self.operands = b, op, operands
        self.rules = RuleCode()
        self.known: dict[RuleDim, Size] = {}

    def results(self) -> Sequence[Sequence[Size]]:
        tensors = [self._operand(i) for i in range(len(self.operands))]
        elements = {
            i: self.rules.elements(tensors[i], self.operands[i], partial(self._data, i))
            for i in data_operands(self.op)
        }
        try:
            found = self.rules.results(self.op, tensors, elements)
        except PassError as error:
            self._drop()
            raise Unsupported(str(error)) from error
        values = [[self._wanted(dim) for dim in tensor.dims] for tensor in found]
        measured: dict[SSAValue, SSAValue] = {}
        for op in self.rules.ops:
            op.operands = [measured.get(value, value) for value in op.operands]
            if isinstance(op, relay.RequireOp):
                op.erase()
            elif isinstance(op, relay.MeasureOp):
                measured[op.size] = self._measure(op)
            else:
                self.b.insert(op)
        rows = [
            [value if isinstance(value, int) else measured.get(value, value) for value in row]
            for row in values
        ]
        return [[self._index(value) for value in row] for row in rows]

    def _measure(self, op: relay.MeasureOp) -> SSAValue:
        """Insert what `op` computes, without its checks."""

        def ignore(ok: SSAValue, message: str, values: Sequence[SSAValue]) -> None:
            pass

        return write_measure(CheckedCode(self.b.insert_all, ignore), op, op.args, op.args.types)

    def _drop(self) -> None:
        """Let the ops that were not inserted use nothing."""
        for op in self.rules.ops:
            op.drop_all_references()

    def _operand(self, number: int) -> Tensor:
        known = operand_of(self.op.operands[number].type)
        assert isinstance(known, Tensor), "operands of operators are tensors"
        dims = [
            dim if isinstance(dim, int) else self._dim(self.operands[number], axis)
            for axis, dim in enumerate(known.dims)
        ]
        return Tensor(known.element, tuple(dims))

    def _dim(self, value: SSAValue, axis: int) -> RuleDim | int:
        size = self.b.dim(value, axis)
        if isinstance(size, int):
            return size
        cast = partial(arith.IndexCastOp, size, i64)
        dim = self.rules.dim(self.rules.once(("dim", size), lambda: self.rules.emit(cast())))
        self.known[dim] = size
        return dim

    def _data(self, number: int) -> SSAValue:
        operand = self.operands[number]
        if not is_unsigned(element_type(self.op.operands[number])):
            return operand
        return mapped(self.b, [operand], i64, lambda b, x: resized(b, x[0], i64, unsigned=True))

    def _wanted(self, dim: object) -> Size:
        assert isinstance(dim, int | RuleDim)
        if isinstance(dim, int):
            return dim
        return self.known[dim] if dim in self.known else self.rules.write(as_expr(dim))

    def _index(self, value: Size) -> Size:
        if isinstance(value, int) or value.type == INDEX:
            return value
        return self.b.insert(arith.IndexCastOp(value, INDEX))

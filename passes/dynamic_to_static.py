"""
Turn tensors that only hold sizes into sizes, and the operators that read them into static forms.

    %s = relay.shape_of %x {dtype = i64} : (tensor<?x?x768xf32>) -> tensor<3xi64>
    %b = relay.take %s, %c0 : …
    %n = relay.take %s, %c1 : …
    %t = relay.concatenate %b, %n, %heads : … -> tensor<4xi64>
    %y = relay.dyn.reshape %x, %t : (tensor<?x?x768xf32>, tensor<4xi64>) -> tensor<?x?x?x?xf32>
    ->
    %y = relay.reshape %x {newshape = array<i64: 0, 0, 12, 64>}
      : (tensor<?x?x768xf32>) -> tensor<?x?x?x?xf32>

The elements of small integer tensors are followed through the program as polynomials of dims
(`sizes.shape_tensors`). If those that an operator reads are integers, it becomes the operator that
has them as attributes; a reshape does so if one entry at most is neither an integer nor the dim at
its index, or if it splits or merges the first dims alone. A broadcast to the tensor's own shape is
a view. Other operators read a `tensor.from_elements` of `arith` on dims. What is unused then is
removed. Sizes that depend on data, and integers that may wrap, stay as they are. Result types stay
as they are declared: run `infer-types` after. Level `relay`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import BoolAttr, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.traits import ConstantLike, is_side_effect_free

from ..dialects import relay
from ..dialects.device import device_of, tensor_type
from ..dialects.interfaces import ReadsOnlySizes
from ..dialects.relay.creation import ShapeOfOp
from ..dialects.relay.dynamic import (
    STATIC_FORMS,
    DynBroadcastToOp,
    DynReshapeOp,
    StaticForm,
)
from ..dialects.relay.operator import Operator, RelayOperator
from ..dialects.relay.properties import ints
from ..dialects.relay.reshape import ReshapeOp
from ..dialects.tensors import as_tensor
from ..dialects.type_rules import rule_of
from ..operators.sizes import SizeOp
from ..operators.sizes.size_expressions import Dims, Expr
from .analysis.arrays import dense_of, numpy_dtype
from .sizes.reader import Sizes
from .sizes.scoped_code import ScopedCode
from .support.changes import ReportingPass
from .support.levels import Level
from .support.rewriting import apply_patterns, erase_unused
from .support.walk import outside_primitives


def integers(dims: Dims | None) -> list[int] | None:
    """Return `dims` if all of them are integers."""
    known = None if dims is None else [dim.constant for dim in dims]
    return None if known is None or None in known else cast("list[int]", known)


def product(sizes: Sizes, dims: Sequence[Expr]) -> Expr:
    result = Expr.of(1)
    for dim in dims:
        result = sizes.algebra.apply(SizeOp.MUL, result, dim)
    return result


def newshape(sizes: Sizes, dims: Dims, entries: Dims, allowzero: bool) -> list[int] | None:
    """
    Return the `newshape` that reshapes a tensor of `dims` to `entries`; None if there is none.

    An entry that is the dim at its index is 0. One other entry may be -1, if the product of all
    is that of `dims` whatever their values.
    """
    known = integers(entries)
    if known is not None:
        return None if min(known, default=0) < -1 else known
    if (ends := newshape_before_equal_dims(sizes, dims, entries)) is not None:
        return ends
    constants: list[int] = []
    inferred = [axis for axis, entry in enumerate(entries) if entry.constant == -1]
    for axis, entry in enumerate(entries):
        constant = entry.constant
        if constant is not None and (constant or not allowzero):
            constants.append(constant)
        elif constant is None and axis < len(dims) and entry == dims[axis] and not allowzero:
            constants.append(0)
        elif constant is None and not inferred and product(sizes, entries) == product(sizes, dims):
            inferred.append(axis)
            constants.append(-1)
        else:
            return None
    return constants


def newshape_before_equal_dims(sizes: Sizes, dims: Dims, entries: Dims) -> list[int] | None:
    """
    Return the `newshape` that splits or merges the first dims, and copies the others.

        (4*b, n, n) -> (b, 4, n, n)    -4, -1, 4, -2        (b, 4, n, 8) -> (4*b, n, 8)    -3, -2
    """
    for before, after in ((1, 2), (2, 1)):
        first, split = dims[:before], [entry.constant for entry in entries[:after]]
        if dims[before:] != entries[after:] or len(dims) <= before:
            continue
        if product(sizes, first) != product(sizes, entries[:after]):
            continue
        if before == 2:
            return [-3, -2]
        if split.count(None) < 2 and 0 not in split:
            return [-4, *(-1 if size is None else size for size in split), -2]
    return None


def static_attributes(sizes: Sizes, op: Operation, form: StaticForm) -> dict[str, Attribute] | None:
    """Return the attributes that `op` reads from its operands; None unless all are integers."""
    attributes: dict[str, Attribute] = {}
    for name, index in form.read.items():
        known = integers(sizes.elements(op.operands[index]))
        if known is None:
            return None
        attributes[name] = IntegerAttr(known[0], i64) if name in form.scalars else ints(known)
    return attributes


def carried(
    op: Operation, to: type[Operator], given: Mapping[str, Attribute]
) -> dict[str, Attribute]:
    """Return the properties of the operator `to`: those `given`, and those that `op` has."""
    known = {**op.properties, **given}
    names = to.get_irdl_definition().properties
    return {name: known[name] for name in names if name in known}


def replace(op: Operation, by: Operation, sizes: Sizes, rewriter: PatternRewriter) -> None:
    """Replace `op` by an op that computes the same."""
    for old, new in zip(op.results, by.results, strict=True):
        sizes.replace(old, new)
    rewriter.replace(op, by)


@dataclass(frozen=True)
class ReadAttributes(RewritePattern):
    """Replace an operator that reads integers from operands by the one with attributes."""

    sizes: Sizes

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        form = STATIC_FORMS.get(op.name)
        attributes = None if form is None else static_attributes(self.sizes, op, form)
        if form is None or attributes is None:
            return
        operator = relay.BY_NAME[form.operator]
        static = operator.create(
            operands=[op.operands[i] for i in form.operands],
            properties=carried(op, operator, attributes),
            attributes=op.attributes,
            result_types=op.result_types,
        )
        replace(op, static, self.sizes, rewriter)


@dataclass(frozen=True)
class ReadNewshape(RewritePattern):
    """Replace a reshape to sizes by one with a `newshape`."""

    sizes: Sizes

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op, DynReshapeOp):
            return
        entries = self.sizes.elements(op.shape)
        if entries is None:
            return
        allowzero = bool(op.allowzero.value.data)
        shape = newshape(self.sizes, self.sizes.dims(op.data), entries, allowzero)
        if shape is None:
            return
        zero = BoolAttr.from_bool(allowzero and min(shape, default=0) >= -1)
        static = ReshapeOp.to(op.data, shape, op.results[0].type, zero)
        static.attributes |= op.attributes
        replace(op, static, self.sizes, rewriter)


@dataclass(frozen=True)
class RemoveBroadcast(RewritePattern):
    """Replace a broadcast to the tensor's own shape by a view of it."""

    sizes: Sizes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DynBroadcastToOp, rewriter: PatternRewriter, /) -> None:
        dims = self.sizes.dims(op.data)
        if dims and self.sizes.elements(op.shape) == dims:
            same = BoolAttr.from_bool(False)
            view = ReshapeOp.to(op.data, [0] * len(dims), op.results[0].type, same)
            replace(op, view, self.sizes, rewriter)


@dataclass(frozen=True)
class WidenShapeOf(RewritePattern):
    """Take shapes as i64 and convert them, so that none needs a kernel where the data is."""

    sizes: Sizes

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ShapeOfOp, rewriter: PatternRewriter, /) -> None:
        (result,) = op.results
        type = as_tensor(result.type)
        if type is None or type.element_type == i64 or integers(self.sizes.elements(result)):
            return
        wide = ShapeOfOp.create(
            operands=op.operands,
            properties={"dtype": i64},
            result_types=[tensor_type(i64, list(type.get_shape()), device_of(type))],
        )
        cast = relay.BY_NAME["cast"].create(
            operands=wide.results,
            properties={"dtype": type.element_type},
            result_types=[result.type],
        )
        self.sizes.replace(result, cast.results[0])
        rewriter.replace(op, [wide, cast])


@dataclass(frozen=True)
class MakeShapeTensor(RewritePattern):
    """Replace an operator that computes sizes by a constant, or a tensor made of i64 sizes."""

    sizes: Sizes
    code: ScopedCode

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if len(op.results) != 1 or not isinstance(op, RelayOperator):
            return
        (result,) = op.results
        dims, type = self.sizes.elements(result), as_tensor(result.type)
        if dims is None or type is None:
            return
        known, dtype = integers(dims), numpy_dtype(type)
        if known is not None and dtype is not None:
            array = np.array(known, dtype).reshape(type.get_shape())
            replace(
                op, relay.ConstantOp(dense_of(array, type), device_of(type)), self.sizes, rewriter
            )
        elif type.element_type == i64:
            self.code.enter(op)
            rank = type.get_num_dims()
            vector = type if rank < 2 else tensor_type(i64, [len(dims)], device_of(type))
            made = self.code.shape_at(dims, vector, op, rewriter)
            if rank < 2:
                rewriter.replace(op, [], [made])
            else:
                rewriter.replace(op, ReshapeOp.to(made, type.get_shape(), type))


def only_computes_sizes(op: Operation, sizes: Sizes) -> bool:
    """Test whether `op` computed sizes, and nothing else."""
    if not is_side_effect_free(op):
        return False
    if isinstance(op, RelayOperator):
        return all(sizes.elements(result) is not None for result in op.results)
    sized = op.name.startswith(("arith.", "tensor.")) or op.has_trait(ReadsOnlySizes)
    return sized or op.has_trait(ConstantLike)


def makes_sizes(op: Operation) -> bool:
    """Test whether `op` reads sizes from a tensor, or a shape."""
    if op.has_trait(ReadsOnlySizes):
        return True
    rule = rule_of(op)
    return rule is not None and bool(rule.data_operands)


@dataclass(frozen=True)
class DynamicToStaticPass(ReportingPass):
    """Turn tensors that only hold sizes into sizes, and their readers into static forms."""

    name = "dynamic-to-static"
    accepts: ClassVar[Level] = "relay"

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        ops = list(outside_primitives(op.body))
        if not any(map(makes_sizes, ops)):
            return False
        sizes = Sizes()
        sizes.read(op)
        code = ScopedCode(None, sizes)
        apply_patterns(
            op,
            WidenShapeOf(sizes),
            MakeShapeTensor(sizes, code),
            ReadNewshape(sizes),
            RemoveBroadcast(sizes),
            ReadAttributes(sizes),
            only=ops,
        )
        erase_unused(outside_primitives(op.body), lambda o: only_computes_sizes(o, sizes))
        return True

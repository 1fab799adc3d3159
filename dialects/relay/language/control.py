"""Control flow: `relay.if`, and the terminator of all regions of this dialect."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import IntegerType
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import (
    ParsingState,
    RegionVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.traits import (
    IsTerminator,
    Pure,
    RecursivelySpeculatable,
    RecursiveMemoryEffect,
    ReturnLike,
)
from xdsl.utils.exceptions import VerifyException

from ...dense import elements
from ...device import with_device
from ...interfaces import (
    AnyDevice,
    ChoosesRegion,
    DeviceConstraint,
    DeviceRule,
    Equation,
    Fresh,
    InferTypes,
    Lookup,
    SameDomain,
    TypeEquations,
)
from ...tensors import as_tensor
from ...xdsl_extras.formats import OneBlock
from ...xdsl_extras.trait_patterns import Patterns
from ...xdsl_extras.xdsl_internals import operands_of
from ..constants import ConstantOp
from ..incomplete import AnyTensor, is_incomplete, join, refine


@irdl_op_definition
class YieldOp(IRDLOperation):
    """
    Terminate a region, passing `values` to the enclosing op.

    ```mlir
    relay.yield %y : tensor<4xf32>
    ```
    """

    name = "relay.yield"

    values = var_operand_def(AnyAttr())

    traits = traits_def(Pure(), IsTerminator(), ReturnLike(), AnyDevice())
    assembly_format = "($values^ `:` type($values))? attr-dict"

    def __init__(self, *values: SSAValue):
        super().__init__(operands=[values])


def yielded(region: Region) -> Sequence[SSAValue]:
    """The operands of the `relay.yield` that terminates `region`; none if there is no such op."""
    block = region.blocks.first
    last = None if block is None else block.last_op
    return last.operands if isinstance(last, YieldOp) else ()


def verify_yielded(op: Operation, region: Region, types: Sequence[Attribute], what: str) -> None:
    """Check that `region` yields values of these types, ignoring devices."""
    block = region.first_block
    last = None if block is None else block.last_op
    if not isinstance(last, YieldOp):
        raise VerifyException(f"{what} of {op.name} must end in relay.yield")
    values = operands_of(last)
    if len(values) != len(types):
        raise VerifyException(
            f"{what} of {op.name} yields {len(values)} values, but {len(types)} are declared"
        )
    for i, (value, type) in enumerate(zip(values, types, strict=True)):
        if (
            value.type is type
            or value.type == type
            or is_incomplete(value.type)
            or is_incomplete(type)
        ):
            continue
        if refine(type, value.type) is None:
            raise VerifyException(
                f"{what} of {op.name} yields {value.type} as value {i}, but {type} is declared"
            )


def common_yields(op: Operation) -> Sequence[Attribute]:
    """
    The joined types of the values that the regions of `op` yield.

    Dims that conflict are an error, unless the declared type leaves them open.
    """
    types: list[Attribute] | None = None
    for region in op.regions:
        yields = [with_device(value.type, None) for value in yielded(region)]
        if types is None:
            types = yields
            continue
        if len(yields) != len(types):
            raise VerifyException(
                f"the branches of {op.name} must yield the same number of values, but yield "
                f"{len(types)} and {len(yields)}"
            )
        for i, (a, b) in enumerate(zip(types, yields, strict=True)):
            joined = join(a, b) or _declared(op, i, (a, b))
            if joined is None:
                raise VerifyException(
                    f"the branches of {op.name} yield different types: {a} and {b}"
                )
            types[i] = joined
    return types or []


def _declared(op: Operation, i: int, yields: Iterable[Attribute]) -> Attribute | None:
    """The declared type of result `i`, if it is complete and fits all `yields`."""
    if i >= len(op.results) or is_incomplete(op.results[i].type):
        return None
    type = with_device(op.results[i].type, None)
    return type if all(refine(type, other) is not None for other in yields) else None


def yield_equations(op: Operation, lookup: Lookup, fresh: Fresh) -> Iterable[Equation]:
    """The equations between the values that the regions of `op` yield and its results."""
    for i, region in enumerate(op.regions):
        for value, result in zip(yielded(region), op.results, strict=False):
            yield Equation(value.type, result.type, f"the value of region {i}")


class YieldsAlias(ChoosesRegion):
    """
    Each result is the value that the executed region yields.

    A region's arguments, the variables of a pattern, alias operand 0.
    """

    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]:
        for region in op.regions:
            yield from zip(op.results, yielded(region), strict=False)

    def entering(self, op: Operation) -> Iterable[tuple[BlockArgument, SSAValue]]:
        for region in op.regions:
            for argument in region.block.args:
                yield argument, op.operands[0]


class IfDevices(DeviceRule):
    """The condition, the yielded values and the results are on the same device (as in Relay)."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        for i, result in enumerate(op.results):
            values = [r[i] for r in map(yielded, op.regions) if i < len(r)]
            yield SameDomain(
                (result, op.operands[0], *values),
                "condition, branches and result of relay.if share a device",
            )


@irdl_custom_directive
class Branch(OneBlock):
    """A region whose `relay.yield` may be omitted if it is empty."""

    region: RegionVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        super().parse(parser, state)
        for region in state.regions[self.region.index] or ():
            if region.blocks[0].last_op is None:
                region.blocks[0].add_op(YieldOp())


@irdl_op_definition
class IfOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """
    Execute the first region if `condition` is not 0, the second otherwise.

    ```mlir
    %r = relay.if %c : tensor<i1> -> (tensor<4xf32>) {
      relay.yield %a : tensor<4xf32>
    } else {
      relay.yield %b : tensor<4xf32>
    }
    ```

    `condition` is a tensor of rank 0, of integers or bools. Both regions may use values from above.
    """

    name = "relay.if"

    condition = operand_def(AnyTensor)
    outputs = var_result_def(AnyAttr())
    then_region = region_def("single_block")
    else_region = region_def("single_block")

    traits = traits_def(
        RecursiveMemoryEffect(),
        RecursivelySpeculatable(),
        YieldsAlias(),
        IfDevices(),
        InferTypes(common_yields),
        TypeEquations(yield_equations),
    )
    custom_directives = (Branch,)
    assembly_format = (
        "$condition `:` type($condition) (`->` `(` type($outputs)^ `)`)? "
        "custom<Branch>($then_region) `else` custom<Branch>($else_region) attr-dict"
    )

    def __init__(
        self,
        condition: SSAValue,
        result_types: Sequence[Attribute],
        then_region: Region,
        else_region: Region,
    ):
        super().__init__(
            operands=[condition], result_types=[result_types], regions=[then_region, else_region]
        )

    @classmethod
    def get_canonicalization_patterns(cls) -> Patterns:
        return (FoldBranch(),)

    def verify_(self) -> None:
        type = as_tensor(self.condition.type)
        if type is not None and not (
            type.get_num_dims() == 0 and isinstance(type.element_type, IntegerType)
        ):
            raise VerifyException(
                "the condition must be a tensor of rank 0 of integers or bools, "
                f"but is {self.condition.type}"
            )
        types = [r.type for r in self.results]
        verify_yielded(self, self.then_region, types, "the first region")
        verify_yielded(self, self.else_region, types, "the second region")


class FoldBranch(RewritePattern):
    """Replace a branch on a constant by the branch taken."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: IfOp, rewriter: PatternRewriter, /) -> None:
        if not isinstance(condition := op.condition.owner, ConstantOp):
            return
        taken = op.then_region if any(elements(condition.value)) else op.else_region
        values, block = [*yielded(taken)], taken.block
        assert block.last_op is not None, "verified: a region ends in relay.yield"
        rewriter.erase(block.last_op)
        rewriter.inline_block(block, InsertPoint.before(op))
        rewriter.replace(op, [], values)

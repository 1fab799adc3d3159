"""Sizes are read by what ops declare, not by which ops they are."""

from collections.abc import Iterable

from helpers.programs.programs import parse
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, f32
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    region_def,
    result_def,
    traits_def,
)
from xdsl.utils.test_value import create_ssa_value

from xrelay.dialects import memory, relay
from xrelay.dialects.device import tensor_type
from xrelay.dialects.interfaces import ChoosesRegion
from xrelay.passes.sizes.reader import Sizes


def first(module: ModuleOp, kind: type[Operation]) -> Operation:
    return next(op for op in module.walk() if isinstance(op, kind))


MATCH = """
func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4 : i64]}, %d: tensor<i32>)
    -> tensor<?x8xf32> {
  %y = relay.match %d : tensor<i32> -> (tensor<?x8xf32>) {
    case _ {
      %a = relay.concatenate %x, %x {axis = 1 : i64}
        : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
      relay.yield %a : tensor<?x8xf32>
    }
    case _ {
      %b = relay.concatenate %x, %x {axis = 1 : i64}
        : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
      relay.yield %b : tensor<?x8xf32>
    }
  }
  func.return %y : tensor<?x8xf32>
}
"""


def test_results_of_a_match_have_the_dims_that_all_cases_yield():
    module = parse(MATCH)
    match = first(module, relay.MatchOp)
    sizes = Sizes()
    assert [str(dim) for dim in sizes.dims(match.results[0])] == ["n", "8"]
    last = match.regions[1].block.last_op
    assert last is not None
    sizes = Sizes()
    sizes.know_dims(
        last.operands[0], (sizes.algebra.symbol("k"), sizes.algebra.symbol("k") * 0 + 8)
    )
    dim, _ = sizes.dims(match.results[0])
    assert dim.symbol is not None
    assert dim.symbol.args == (match.results[0], 0)


class EitherOf(ChoosesRegion):
    """What an op of a plug-in declares."""

    def aliases(self, op: Operation) -> Iterable[tuple[OpResult, SSAValue]]:
        for region in op.regions:
            last = region.block.last_op
            assert last is not None
            yield from zip(op.results, last.operands, strict=True)

    def entering(self, op: Operation) -> Iterable[tuple[BlockArgument, SSAValue]]:
        return ()


@irdl_op_definition
class EitherOp(IRDLOperation):
    name = "plugin.either"
    output = result_def()
    first = region_def()
    other = region_def()
    traits = traits_def(EitherOf())


def test_results_of_an_op_of_a_plug_in_keep_their_dims():
    x = create_ssa_value(tensor_type(f32, [DYNAMIC_INDEX]))
    regions = [Region(Block([relay.YieldOp.create(operands=[x])])) for _ in range(2)]
    either = EitherOp.create(result_types=[x.type], regions=regions)
    sizes = Sizes()
    assert sizes.dims(either.output) == sizes.dims(x)


WORKSPACE = """
func.func private @f(%x: tensor<?x4xf32> {relay.dims = ["n", 4 : i64]},
    %w: !memory.storage {memory.workspace = array<i64: 0>}) {
  %i = arith.constant 0 : index
  %c16 = arith.constant 16 : i64
  %s = vm.shape_of %x : (tensor<?x4xf32>) -> tensor<2xi64>
  %n = tensor.extract %s[%i] : tensor<2xi64>
  %b = arith.muli %n, %c16 : i64
  %pack = memory.pack align 64 within %w : !memory.storage -> !memory.pack
  %o = memory.slice %pack [0, 2) %b
  %total = memory.total %pack
  func.return
}
func.func @main(%y: tensor<?x4xf32> {relay.dims = ["m", 4 : i64]}) -> i64 {
  %s = vm.shape_of %y : (tensor<?x4xf32>) -> tensor<2xi64>
  %bytes = memory.workspace_size @f[1](%s : tensor<2xi64>)
  func.return %bytes : i64
}
"""


def test_the_size_of_a_workspace_is_what_the_callee_needs_for_the_dims_of_the_call():
    module = parse(WORKSPACE)
    size = first(module, memory.WorkspaceSizeOp)
    assert str(Sizes().size(size.results[0])) == "16*m"


def test_the_size_of_a_workspace_that_is_not_laid_out_is_unknown():
    module = parse(WORKSPACE.replace("[0, 2) %b", "[0, 2) %b\n  %p = memory.slice %pack [1, 3) %n"))
    size = Sizes().size(first(module, memory.WorkspaceSizeOp).results[0])
    assert size.symbol is not None
    assert size.symbol.kind == "value"
    assert size.is_natural

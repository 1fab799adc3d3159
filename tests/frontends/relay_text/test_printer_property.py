"""Random programs: a round trip preserves the ops and their order."""

from collections.abc import Sequence

from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    Builtin,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    f32,
    i1,
    i64,
)
from xdsl.dialects.func import Func
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from xrelay.dialects import relay
from xrelay.dialects.device import VirtualDeviceAttr
from xrelay.dialects.relay.elementwise import ExpOp, NegativeOp
from xrelay.frontends.relay_text import parse_module
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.passes.support.verifier import verify

FLOAT = TensorType(f32, [4])
BOOL = TensorType(i1, [])
SPLIT = {"indices_or_sections": IntegerAttr(2, i64)}


class Maker:
    """Builds ops from the choices of one Hypothesis example; every choice is valid."""

    def __init__(self, choose: st.DataObject):
        self.choose = choose
        self.condition: SSAValue
        self.cells: list[SSAValue] = []
        self.closures: list[SSAValue] = []

    def number(self, most: int) -> int:
        return self.choose.draw(st.integers(0, most))

    def pick(self, values: Sequence[SSAValue]) -> SSAValue:
        return values[-1 - self.number(len(values) - 1)]

    def block(self, block: Block, seen: list[SSAValue], depth: int) -> SSAValue:
        """Fill `block` with ops on values of `seen`; return the block's result."""
        mark = len(self.cells), len(self.closures)
        seen = list(seen)
        for _ in range(self.number(6)):
            self.op(block, seen, depth)
        del self.cells[mark[0] :]
        del self.closures[mark[1] :]
        return self.pick(seen)

    def add(self, block: Block, op: Operation, name: str | None = None) -> OpResult:
        block.add_op(op)
        if name is not None and self.number(1):
            op.results[0].name_hint = name
        return op.results[0]

    def op(self, block: Block, seen: list[SSAValue], depth: int) -> None:
        kind = self.number(12 if depth else 10)
        match kind:
            case 0 | 1:
                cls = (ExpOp, NegativeOp)[kind]
                seen.append(self.add(block, cls.on([self.pick(seen)]), "x"))
            case 2 | 3:
                operands = [self.pick(seen), self.pick(seen)]
                cls = relay.broadcast.AddOp if kind == 2 else relay.broadcast.SubtractOp
                seen.append(self.add(block, cls.on(operands), "a.b"))
            case 4:
                value = DenseIntOrFPElementsAttr.from_list(FLOAT, [float(self.number(2))] * 4)
                seen.append(self.add(block, relay.ConstantOp(value), "c_0"))
            case 5:
                split = relay.rearrange.SplitOp.on([self.pick(seen)], SPLIT)
                block.add_op(split)
                order = [split.results[i] for i in ((0, 1), (1, 0))[self.number(1)]]
                seen.append(self.add(block, relay.rearrange.ConcatenateOp.on(order)))
            case 6:
                fields = [self.pick(seen) for _ in range(1 + self.number(2))]
                tuple = self.add(block, relay.TupleOp(fields), "t")
                seen.append(self.add(block, relay.TupleGetItemOp(tuple, 0)))
            case 7:
                self.cells.append(self.add(block, relay.RefCreateOp(self.pick(seen)), "r"))
                seen.append(self.add(block, relay.RefReadOp(self.cells[-1])))
            case 8 if self.cells:
                block.add_op(relay.RefWriteOp(self.pick(self.cells), self.pick(seen)))
            case 9 if self.closures:
                call = relay.CallOp(self.pick(self.closures), [self.pick(seen)])
                seen.append(self.add(block, call))
            case 10:
                seen.append(self.opaque(block, seen))
            case 11:
                seen.append(self.add(block, self.choice(seen, depth - 1)))
            case 12:
                self.closures.append(self.add(block, self.closure(seen, depth - 1), "f"))
            case _:
                hint = relay.OnDeviceOp(
                    self.pick(seen),
                    VirtualDeviceAttr("cuda", self.number(1)),
                    constrain_result=bool(self.number(1)),
                )
                seen.append(self.add(block, hint))

    def opaque(self, block: Block, seen: list[SSAValue]) -> OpResult:
        """A call of an unknown operator, on tensors and tuples, with one or several results."""
        args = [
            [self.pick(seen) for _ in range(self.number(2))] if self.number(1) else self.pick(seen)
            for _ in range(self.number(2))
        ]
        types = [FLOAT] * (1 + self.number(2))
        op = relay.CallOpaqueOp("nn.fancy", args, types, {"depth": IntegerAttr(3, i64)})
        block.add_op(op)
        return op.results[self.number(len(types) - 1)]

    def choice(self, seen: list[SSAValue], depth: int) -> relay.IfOp:
        regions: list[Region] = []
        for _ in range(2):
            block = Block()
            block.add_op(relay.YieldOp(self.block(block, seen, depth)))
            regions.append(Region(block))
        return relay.IfOp(self.condition, [FLOAT], *regions)

    def closure(self, seen: list[SSAValue], depth: int) -> relay.FnOp:
        block = Block(arg_types=[FLOAT])
        block.add_op(relay.YieldOp(self.block(block, [*seen, block.args[0]], depth)))
        return relay.FnOp([FLOAT], FLOAT, Region(block))

    def module(self) -> ModuleOp:
        block = Block(arg_types=[FLOAT, FLOAT, BOOL])
        a, b, self.condition = block.args
        block.add_op(func.ReturnOp(self.block(block, [a, b], 3)))
        type = FunctionType.from_lists([FLOAT, FLOAT, BOOL], [FLOAT])
        return ModuleOp([func.FuncOp("main", type, Region(block))])


def read(text: str) -> ModuleOp:
    context = Context(allow_unregistered=True)
    for dialect in (Builtin, Func, relay.Relay):
        context.load_dialect(dialect)
    return parse_module(context, text, "program.relay")


@exactly(35)
@given(st.data())
def test_reading_what_is_printed_gives_the_same_program(data: st.DataObject):
    module = Maker(data).module()
    verify(module)
    text = module_text(module)
    again = read(text)
    verify(again)
    assert module.is_structurally_equivalent(again), f"{text}\n{module}\n{again}"
    assert module_text(again) == text

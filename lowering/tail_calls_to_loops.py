"""
Turn tail-recursive functions into loops, which need constant stack and memory.

    func.func @f(%n: memref<i32>, %x: memref<?xf32>, %w: memref<4xf32>) -> memref<?xf32> {
      …
      %r = scf.if %c -> (memref<?xf32>) {
        %z = func.call @f(%m, %y, %w) : …
        memref.dealloc %m : memref<i32>
        memref.dealloc %y : memref<?xf32>
        scf.yield %z
      } else {
        scf.yield %copy
      }
      func.return %r
    }
    ->
    func.func @f(%n: memref<i32>, %x: memref<?xf32>, %w: memref<4xf32>) -> memref<?xf32> {
      %n' = copy of %n
      %first = copy of %x
      %last, %r = scf.while (%x' = %first) : … {
        …
        %result, %again, %next = scf.if %c -> (memref<?xf32>, i1, memref<?xf32>) {
          "memref.copy"(%m, %n')
          memref.dealloc %m
          memref.dealloc %x'
          %none = ub.poison
          scf.yield %none, %true, %y
        } else {
          memref.dealloc %x'
          %none = ub.poison
          scf.yield %copy, %false, %none
        }
        scf.condition(%again) %next, %result
      } do {
      ^bb0(%next, %result):
        scf.yield %next
      }
      memref.dealloc %n'
      func.return %r
    }

A parameter that all tail calls pass on unchanged stays as it is. One of static shape gets a buffer
for the whole loop, into which each iteration copies its next value. One of dynamic shape is a
buffer that the iteration owns and frees: the one that the previous iteration allocated for the
call, or a copy. Other calls stay recursive; `merge-tail-cycles` merges functions that call each
other. Level `memref`, which stays.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf, ub
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, ModuleOp, i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint, Rewriter

from ..dialects.xdsl_extras.walking import walk
from ..passes.support.changes import LevelPass
from ..passes.support.rewriting import apply_patterns
from .memref.deallocation import base_of, copied, freed, with_results
from .memref.memref_types import as_memref
from .memref.tail_positions import BRANCHES, calls_itself, tail_calls, tail_of, unchanged


@dataclass
class Iteration:
    """The values, in an iteration, of the parameters that change, by their numbers."""

    calls: set[func.CallOp]
    fixed: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    """The buffer of each parameter of static shape, the same in all iterations."""
    carried: dict[int, BlockArgument] = field(default_factory=dict[int, BlockArgument])
    """The value of each other parameter in this iteration."""

    def end(self, block: Block) -> list[SSAValue]:
        """End the iteration with `block`; return whether another follows, and its values."""
        tail, end = tail_of(block), block.last_op
        assert end is not None
        if isinstance(tail, BRANCHES) and self.has_calls(tail):
            for region in tail.regions:
                last = region.block.last_op
                values = self.end(region.block)
                assert last is not None
                last.operands = [*last.operands, *values]
            count = len(tail.results)
            types = [i1, *(value.type for value in self.carried.values())]
            return [*with_results(tail, types).results[count:]]
        if isinstance(tail, func.CallOp) and tail in self.calls:
            return self.again(tail, end)
        self.free(self.carried.values(), end)
        return [flag(False, end), *(poison(v.type, end) for v in self.carried.values())]

    def has_calls(self, tail: scf.IfOp | scf.IndexSwitchOp) -> bool:
        blocks = (region.block for region in tail.regions)
        return any(call in self.calls for block in blocks for call in tail_calls(block))

    def again(self, call: func.CallOp, end: Operation) -> list[SSAValue]:
        """Replace `call` by the values of the next iteration."""
        values = [self.next_value(call, i) for i in self.carried]
        self.write_fixed(call)
        for result in call.results:
            result.replace_all_uses_with(poison(result.type, call))
        Rewriter.erase_op(call)
        self.free([value for value in self.carried.values() if value not in values], end)
        return [flag(True, end), *values]

    def next_value(self, call: func.CallOp, number: int) -> SSAValue:
        """Return the value of a parameter in the next iteration, which owns its memory."""
        argument = call.arguments[number]
        if not is_memory(argument.type) or argument is self.carried[number]:
            return argument
        base = base_of(argument)
        is_shared = [*map(base_of, call.arguments)].count(base) > 1
        free = None if is_shared else free_after(call, base)
        if free is None:
            return copied(argument, call)
        Rewriter.erase_op(free)
        return argument

    def write_fixed(self, call: func.CallOp) -> None:
        """Copy the next values of parameters of static shape; first those that lie in others."""
        written = {i: v for i, to in self.fixed.items() if (v := call.arguments[i]) is not to}
        kept = {i: copied(value, call) for i, value in written.items() if not self.is_apart(value)}
        copies = [memref.CopyOp(v, self.fixed[i]) for i, v in {**written, **kept}.items()]
        frees = map(memref.DeallocOp.get, kept.values())
        Rewriter.insert_op([*copies, *frees], InsertPoint.before(call))

    def is_apart(self, value: SSAValue) -> bool:
        """Test whether `value` is certainly not in memory of a parameter."""
        base = base_of(value)
        is_fresh = isinstance(base.owner, memref.AllocOp | memref.GetGlobalOp)
        return is_fresh and base not in self.fixed.values()

    def free(self, values: Iterable[SSAValue], end: Operation) -> None:
        for value in values:
            if is_memory(value.type):
                Rewriter.insert_op(freed(value), InsertPoint.before(end))


def free_after(call: func.CallOp, base: SSAValue) -> memref.DeallocOp | None:
    """Return the op that frees the allocation `base` after `call`, if there is one."""
    op = call.next_op if isinstance(base.owner, memref.AllocOp) else None
    while op is not None and not (isinstance(op, memref.DeallocOp) and op.memref is base):
        op = op.next_op
    return op


def flag(value: bool, before: Operation) -> SSAValue:
    constant = arith.ConstantOp(IntegerAttr(int(value), i1))
    Rewriter.insert_op(constant, InsertPoint.before(before))
    return constant.result


def poison(type: Attribute, before: Operation) -> SSAValue:
    """Return a value of `type` that nothing reads."""
    op = ub.PoisonOp.create(result_types=[type], properties={"value": ub.PoisonAttr()})
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.result


def is_memory(type: Attribute) -> bool:
    return isinstance(type, MemRefType)


def is_fixed(type: Attribute) -> bool:
    return is_memory(type) and DYNAMIC_INDEX not in as_memref(type).get_shape()


@dataclass(frozen=True)
class MakeLoop(RewritePattern):
    """Turn a function that calls itself in tail position into a loop."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        calls = calls_itself(op)
        if not calls:
            return
        same = unchanged(op, calls)
        args = op.body.block.args
        uses = {param: [*param.uses] for param in args if not same[param.index]}
        outside, inside = op.body.block, Block()
        for inner in [*outside.ops]:
            inner.detach()
            inside.add_op(inner)
        outside.add_op(end := func.ReturnOp())
        iteration, first = Iteration(set(calls)), list[SSAValue]()
        for param, users in uses.items():
            type = param.type
            value = copied(param, end) if is_memory(type) else param
            if is_fixed(type):
                iteration.fixed[param.index] = value
            else:
                first.append(value)
                value = inside.insert_arg(type, len(inside.args))
                iteration.carried[param.index] = value
            value.name_hint = param.name_hint
            for use in users:
                use.operation.operands[use.index] = value
        again, *values = iteration.end(inside)
        last = inside.last_op
        assert last is not None
        condition = scf.ConditionOp(again, *values, *last.operands)
        rewriter.replace(last, condition)
        for alloca in [inner for inner in walk(inside) if isinstance(inner, memref.AllocaOp)]:
            alloca.detach()  # else each iteration would use more stack
            rewriter.insert(alloca, InsertPoint.before(end))
        after = Block(arg_types=[value.type for value in condition.args])
        after.add_op(scf.YieldOp(*after.args[: len(values)]))
        loop = scf.WhileOp(first, after.arg_types, Region(inside), Region(after))
        frees = [free for value in iteration.fixed.values() for free in freed(value)]
        rewriter.insert([loop, *frees], InsertPoint.before(end))
        rewriter.replace(end, func.ReturnOp(*loop.res[len(values) :]))


class TailCallsToLoopsPass(LevelPass):
    """Turn tail recursion into loops, in constant stack and memory."""

    name = "tail-calls-to-loops"
    accepts = "memref"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [f for f in op.ops if isinstance(f, func.FuncOp)]
        apply_patterns(op, MakeLoop(), only=functions)

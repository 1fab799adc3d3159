"""
Reference evaluation of programs at every level from `relay` to `memory-planned`.

    evaluate(module, [x], params={"w": w})  ->  [y]

Ops are evaluated one at a time, in program order, with the NumPy kernels of `runtime.kernels`.
Memory is taken literally: an `alloc_tensor` is a view of its storage's bytes and a kernel writes
into it, so a wrong plan computes wrong numbers here. Control flow runs on an explicit stack of
generators: only memory bounds the depth of recursion, and a limit bounds memory. `op_rules` says
what each op computes; tensor operators are in `kernel_calls`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence, Set
from functools import cached_property
from math import inf
from typing import Any, TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import memory, relay
from ...dialects.relay.language.closures import captures
from ...dialects.relay.language.dims_attributes import dim_names, named_dims_fault
from ...runtime.kernels.bind import Bind
from ...runtime.kernels.loading import load_kernels
from ...runtime.memory.limits import Memory, OutOfMemory, Stack
from ...runtime.memory.regions import Region
from ...runtime.memory.scratch import Workspace
from ..analysis.arrays import Array
from ..functions.symbols import symbols_of
from ..sizes.reader import Sizes
from ..support.diagnostics import Note, PassError, location_of
from ..support.walk import only_block
from ..workspaces.caller_sizes import origin_of
from ..workspaces.workspace_sizes import SizesAtCall
from .evaluated_values import Enter, Value
from .kernel_calls import OperatorEvaluator
from .op_rules import RULES, At

Run: TypeAlias = Generator[Enter, Sequence[Value], Sequence[Value]]


BLOCK_SIZE = 2048
"""The approximate size in bytes of an open block without its values …"""
VALUE_SIZE = 256
"""… and of each value in it."""
STACK_SIZE = 1 << 20
"""The stack of open blocks grows by so many bytes at a time."""


class Evaluator:
    """
    The evaluation of one module; `params` has the tensors that `relay.param` names.

    It allocates from `memory`, applies operators by `kernels` (by default those of the runtime),
    and ends with an error after `max_ops` ops.
    """

    def __init__(
        self,
        module: ModuleOp,
        params: Mapping[str, Array],
        memory: Memory | None = None,
        max_ops: int | None = None,
        kernels: Mapping[str, Bind] | None = None,
    ):
        self.module = module
        self.params = params
        self.memory = Memory() if memory is None else memory
        kernels = load_kernels() if kernels is None else kernels
        self._operators = OperatorEvaluator(kernels, Workspace(Region(self.memory)))
        self.max_ops = max_ops
        self._left = inf if max_ops is None else max_ops
        self._stack, self._depth = Stack(self.memory), 0
        self._sizes: dict[Block, int] = {}
        self._size_blocks: dict[Operation, Block] = {}
        self.symbols = symbols_of(module)

    def call(self, function: str, args: Sequence[Value]) -> Sequence[Value]:
        """Return the results of `function` on `args`."""
        return self._run(self.enter(function, args))

    def enter(self, function: str, args: Sequence[Value]) -> Enter:
        """Return the request to evaluate a function of the module in a frame of its own."""
        op = self.symbols.get(function)
        if op is None:
            raise PassError(f"@{function} has no body in this module", self.module)
        block = only_block(op)
        if len(block.args) != len(args):
            raise PassError(
                f"@{function} expects {len(block.args)} arguments, but got {len(args)}", op
            )
        if op in self._with_named_dims:
            assert isinstance(op, func.FuncOp)
            fault = named_dims_fault(op, [getattr(arg, "shape", None) for arg in args])
            if fault is not None:
                raise PassError(f"@{function}: {fault}", op)
        return Enter(block, args, {})

    def size_block(self, op: memory.WorkspaceSizeOp) -> Block:
        """Return the block that computes the size of a workspace from shapes."""
        block = self._size_blocks.get(op)
        if block is None:
            function = self.symbols.get(op.function.string_value())
            block = self._size_blocks[op] = size_block(op, function)
        return block

    @cached_property
    def _with_named_dims(self) -> Set[Operation]:
        functions = (op for op in self.symbols.values() if isinstance(op, func.FuncOp))
        return {op for op in functions if any(map(any, dim_names(op)))}

    def captured_by(self, function: relay.FnOp) -> Sequence[SSAValue]:
        """Return the values that a closure captures."""
        return self._captures[function]

    @cached_property
    def _captures(self) -> Mapping[relay.FnOp, Sequence[SSAValue]]:
        """Computed when the first closure is made."""
        return captures(self.module)

    def _run(self, first: Enter) -> Sequence[Value]:
        """Evaluate a block, and all blocks that it enters on the way."""
        stack = [(first, self._block(first))]
        answer: Sequence[Value] | None = None
        while True:
            try:
                request = stack[-1][1].send(cast(Any, answer))
            except StopIteration as stop:
                stack.pop()
                answer = cast(Sequence[Value], stop.value)
                if not stack:
                    return answer
            except PassError as error:
                caller = stack[-1][0].caller
                if caller is not None and location_of(caller) != error.location:
                    error.notes += (
                        Note("its shape is computed for this call", location_of(caller)),
                    )
                raise
            else:
                stack.append((request, self._block(request)))
                answer = None

    def _grow(self, block: Block) -> int:
        """Reserve the memory to enter `block`; return its size."""
        size = self._sizes.get(block)
        if size is None:
            values = len(block.args) + sum(len(op.results) for op in block.ops)
            size = self._sizes[block] = BLOCK_SIZE + VALUE_SIZE * values
        self._depth += size
        if self._depth > self._stack.size:
            self._stack.reserve(max(size, STACK_SIZE), "the stack of nested calls")
        return size

    def _block(self, enter: Enter) -> Run:
        frame = enter.frame
        frame.update(zip(enter.block.args, enter.args, strict=True))
        following = enter.block.first_op
        turn = 0
        """That of the loop that runs, if one does."""
        while following is not None:
            op, following = following, following.next_op
            args = [frame[operand] for operand in op.operands]
            if isinstance(op, relay.YieldOp | func.ReturnOp):
                return args
            self._left -= 1
            if self._left < 0:
                raise PassError(
                    f"more than {self.max_ops} ops were evaluated (--max-instructions)", op
                )
            if isinstance(op, relay.EndLoopOp):
                start = op.start
                if turn + 1 < start.turns(args[-1].shape):
                    turn += 1
                    frame.update(zip(start.results, args, strict=True))
                    following = start.next_op
                    continue
                turn = 0
            rule = RULES.get(type(op))
            if rule is None:
                results = self._operators.apply(op, args)
            else:
                try:
                    results = rule(op, At(self, args, frame, turn))
                    size = self._grow(results.block) if isinstance(results, Enter) else 0
                except OutOfMemory as error:
                    raise PassError(str(error), op) from error
                if isinstance(results, Enter):
                    then = results.then
                    results = yield results
                    self._depth -= size
                    if then is not None:
                        results = then(results)
            frame.update(zip(op.results, results, strict=True))
        return []


def evaluate(
    module: ModuleOp,
    args: Sequence[Value],
    params: Mapping[str, Array] | None = None,
    function: str = "main",
    memory: Memory | None = None,
    max_ops: int | None = None,
) -> list[Value]:
    """
    Return the results of `function` on `args`.

    `args` are arrays of the parameters' shapes and dtypes, tuples, or `DataValue`s for data types.

    Raises `PassError` where the program cannot be evaluated (an op without a kernel, a param
    without a value, a match without a case that fits), where it needs more than `memory` has (by
    default half of what is available), and after `max_ops` ops.
    """
    return list(Evaluator(module, params or {}, memory, max_ops).call(function, args))


def size_block(op: memory.WorkspaceSizeOp, function: Operation | None) -> Block:
    """Return a block that yields what `op` computes for `function`, on the same operands."""
    name, index = op.function.string_value(), op.param.value.data
    if not isinstance(function, func.FuncOp):
        raise PassError(f"@{name} has no body in this module", op)
    body = only_block(function)
    param, shapes = body.args[index], dict(op.shapes_by_parameter(function))
    block = Block(arg_types=[shape.type for shape in op.shapes])
    inside: dict[SSAValue, SSAValue] = {}
    inner = dict(zip(op.shapes, block.args, strict=True))
    sizes_of = {i: [inner[value] for value in values] for i, values in shapes.items()}
    sizes = Sizes()
    code = SizesAtCall(block.add_op, sizes, lambda param: sizes_of[param.index])
    packs = [memory.Packing(pack) for pack in packs_within(param)]
    orders = {packing.orders for packing in packs}
    known = memory.parameter_attributes(function, index).get(memory.SIZE)
    copied = packs[0].op.clone() if packs else memory.PackOp(1)
    if copied.workspace is not None:
        copied.operands = []
    block.add_op(copied)
    for packing in packs:
        inside[packing.op.pack] = copied.pack
        for slice in packing.slices:
            if slice.dynamic_size is not None and slice.dynamic_size not in inside:
                origin = origin_of(slice.dynamic_size, body, sizes)
                if origin is None or not all(param.index in sizes_of for param in origin.params):
                    raise PassError("this size depends on more than the shapes that are given", op)
                inside[slice.dynamic_size] = code.write(origin.dims[0])
            block.add_op(slice.clone(inside))
    if isinstance(known, IntegerAttr):
        block.add_op(memory.SliceOp(copied.pack, memory.Slice(0, 1, known.value.data)))
    if len(orders) != 1 or isinstance(known, IntegerAttr):
        copied.orders = None
    block.add_ops(
        [total := memory.TotalOp(copied.pack), relay.YieldOp.create(operands=[total.total])]
    )
    return block


def packs_within(workspace: SSAValue) -> list[memory.PackOp]:
    """Return the packs that lay out `workspace`."""
    return [use.operation for use in workspace.uses if isinstance(use.operation, memory.PackOp)]

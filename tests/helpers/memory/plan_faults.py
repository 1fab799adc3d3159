"""
Random faults in memory plans, and random programs to plan.

A fault is another offset, size, alignment, order, or time of a kill in a plan that is right, of a
program with branches, calls, data and dynamic sizes.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

import numpy as np
from helpers.machine.in_machine import run_passes
from helpers.programs.agreement import Array, quiet
from helpers.programs.dynamic_programs import DynamicProgram, arguments, dynamic_programs, inferred
from helpers.programs.hinted_relay_programs import RelayProgram
from helpers.programs.random_settings import OTHER, exactly
from helpers.relay.relay_programs import read
from hypothesis import Phase, given
from hypothesis import strategies as st
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import memory
from xrelay.dialects.integers import i64_array
from xrelay.dialects.interfaces import DestinationPassing
from xrelay.lowering.pipelines import VmPipeline
from xrelay.operators.orders import OrderError
from xrelay.passes.infer_types import InferTypesPass
from xrelay.passes.support.diagnostics import PassError

VM = VmPipeline("none").text.split(",")
TO_MANIFEST = ",".join(VM[: VM.index("manifest-alloc") + 1]).replace(
    "plan-devices", "plan-devices{default=cuda:0 repair=true}"
)
PLANS = (
    "pass-workspaces{entries=main},pack-storage,layout-slices,manifest-lifetimes",
    "pack-storage,layout-slices",
    "pack-storage,layout-slices,manifest-lifetimes",
    "coalesce-storage,layout-slices,manifest-lifetimes",
    "manifest-lifetimes",
)

Fault = Callable[[Random, Sequence[Operation]], bool]
"""Changes one of the ops of a module; returns False if there is nothing to change."""

Calls = Sequence[Sequence[Array]]
Check = Callable[[ModuleOp, str, Random, Calls, Counter[str]], None]
"""Plans a program by one of `PLANS`, tries faults on its calls, and counts what came of them."""


def check_program_with_data(rng: Random, check: Check) -> Counter[str]:
    """Check faults in a random program with data and functions; some cannot be compiled."""
    count = Counter[str]()
    module = read(RelayProgram(rng, True).text)
    try:
        InferTypesPass().apply(quiet(), module)
        run_passes(module, TO_MANIFEST)
    except PassError:  # shapes that do not fit, or devices
        return count
    calls = [
        [np.array(flag), *arguments([(n,), (m,)])]
        for flag, n, m in ((True, 4, 4), (False, 3, 5), (True, 1, 2))
    ]
    check(module, rng.choice(PLANS), rng, calls, count)
    return count


def check_programs_of_tensors(check: Check) -> Counter[str]:
    """Check faults in 20 random programs of tensors, or as many others as `random_settings` say."""
    count = Counter[str]()

    @exactly(20, phases=[Phase.generate])
    @given(dynamic_programs(), st.integers(0, 2**32))
    def each(program: DynamicProgram, seed: int) -> None:
        rng, module = Random(seed), inferred(program)
        try:
            run_passes(module, TO_MANIFEST)
        except (PassError, VerifyException):
            return
        calls = [arguments(shapes) for shapes in program.calls]
        check(module, rng.choice(PLANS), rng, calls, count)

    each()
    if OTHER:
        print(dict(sorted(count.items())))
    return count


def chosen(rng: Random, ops: Sequence[Operation], *kinds: type[Operation]) -> Operation | None:
    found = [op for op in ops if isinstance(op, kinds)]
    return rng.choice(found) if found else None


def move_tensor(rng: Random, ops: Sequence[Operation]) -> bool:
    """Give a tensor the static or dynamic offset of another one, or move it by some bytes."""
    op, other = (chosen(rng, ops, memory.AllocTensorOp) for _ in "12")
    if not isinstance(op, memory.AllocTensorOp) or not isinstance(other, memory.AllocTensorOp):
        return False
    if op.offset is not None and other.offset is not None:
        by = rng.choice([other.offset.value.data - op.offset.value.data, -64, -4, 4, 64])
        op.offset = IntegerAttr(max(0, op.offset.value.data + by), i64)
    elif op.dynamic_offset is not None and other.dynamic_offset is not None:
        op.operands[1] = other.dynamic_offset
    elif op.dynamic_offset is not None:
        return shift(rng, op, 1)
    return True


def shift(rng: Random, op: Operation, index: int) -> bool:
    """Add some bytes to an operand."""
    by = arith.ConstantOp.from_int_and_width(rng.choice([-64, -4, 4, 64]), i64)
    total = arith.AddiOp(op.operands[index], by.result)
    Rewriter.insert_op([by, total], InsertPoint.before(op))
    op.operands[index] = total.result
    return True


def resize_storage(rng: Random, ops: Sequence[Operation]) -> bool:
    op = chosen(rng, ops, memory.AllocStorageOp)
    if not isinstance(op, memory.AllocStorageOp):
        return False
    if op.size is None:
        return shift(rng, op, 0)
    op.size = IntegerAttr(max(0, op.size.value.data + rng.choice([-64, -4, -1])), i64)
    return True


def realign_storage(rng: Random, ops: Sequence[Operation]) -> bool:
    op = chosen(rng, ops, memory.AllocStorageOp)
    if not isinstance(op, memory.AllocStorageOp):
        return False
    op.alignment = IntegerAttr(rng.choice([1, 2, 32]), i64)
    return True


def share_storage(rng: Random, ops: Sequence[Operation]) -> bool:
    """Allocate a tensor in another storage of the same type."""
    op = chosen(rng, ops, memory.AllocTensorOp)
    if not isinstance(op, memory.AllocTensorOp):
        return False
    others = [
        other.storage
        for other in ops
        if isinstance(other, memory.AllocStorageOp)
        and other.storage.type == op.storage.type
        and other.storage is not op.storage
        and other.parent is op.parent
        and other.is_before_in_block(op)
    ]
    if not others:
        return False
    op.operands[0] = rng.choice(others)
    return True


def move_op(rng: Random, ops: Sequence[Operation]) -> bool:
    """Move a kill, or an op that writes tensors, up or down over ops that it does not need."""
    found = [op for op in ops if isinstance(op, memory.KillOp) or op.has_trait(DestinationPassing)]
    if not found:
        return False
    op = rng.choice(found)
    up, has_moved = rng.random() < 0.6, False
    for _ in range(rng.randint(1, 6)):
        other = op.prev_op if up else op.next_op
        if other is None or other.next_op is None:
            break
        first, last = (other, op) if up else (op, other)
        if any(value in last.operands for value in first.results) or other.regions:
            break
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(other) if up else InsertPoint.after(other))
        has_moved = True
    return has_moved


def repeat_kill(rng: Random, ops: Sequence[Operation]) -> bool:
    op = chosen(rng, ops, memory.KillOp)
    if op is None:
        return False
    Rewriter.insert_op(op.clone(), InsertPoint.after(op))
    return True


def only_of_plan(op: Operation) -> bool:
    """Test whether all that `op` computes are offsets and sizes of storages."""
    pending, seen = [op], {op}
    while pending:
        for result in pending.pop().results:
            for use in result.uses:
                user = use.operation
                if isinstance(user, memory.AllocStorageOp | memory.AllocTensorOp):
                    continue
                if user.dialect_name() != "arith":
                    return False
                if user not in seen:
                    seen.add(user)
                    pending.append(user)
    return True


def change_arithmetic(rng: Random, ops: Sequence[Operation]) -> bool:
    """Change how offsets or sizes of storages are computed."""
    kinds = (arith.AddiOp, arith.MaxSIOp, arith.SelectOp, arith.AndIOp, arith.CmpiOp)
    found = [op for op in ops if isinstance(op, kinds) and only_of_plan(op)]
    if not found:
        return False
    op = rng.choice(found)
    operands: list[SSAValue] = list(op.operands)
    if isinstance(op, arith.SelectOp):
        op.operands[1], op.operands[2] = operands[2], operands[1]
        return True
    if isinstance(op, arith.CmpiOp):
        op.operands[0], op.operands[1] = operands[1], operands[0]
        return True
    new = arith.MinSIOp(operands[0], operands[1]) if isinstance(op, arith.MaxSIOp) else None
    kept = rng.choice(operands) if new is None else new.result
    if new is not None:
        Rewriter.insert_op(new, InsertPoint.before(op))
    op.results[0].replace_all_uses_with(kept)
    return True


def ordered_pack(rng: Random, ops: Sequence[Operation]) -> memory.Packing | None:
    found = [op for op in ops if isinstance(op, memory.PackOp) and op.orders is not None]
    return memory.Packing(rng.choice(found)) if found else None


def drop_edge(rng: Random, ops: Sequence[Operation]) -> bool:
    """Let a slice not lie on one of the slices below it, or turn that round."""
    packing = ordered_pack(rng, ops)
    if packing is None or packing.orders is None:
        return False
    orders = [[[*below] for below in on] for on in packing.orders.on]
    edges = [(on, i, j) for on in orders for i, below in enumerate(on) for j in below]
    if not edges:
        return False
    on, i, j = rng.choice(edges)
    on[i].remove(j)
    if rng.random() < 0.3:
        on[j].append(i)
    try:
        packing.order([tuple(map(tuple, on)) for on in orders])
    except OrderError:  # a cycle: no text says that
        return False
    return True


def swap_slices(rng: Random, ops: Sequence[Operation]) -> bool:
    """Let what lies in two slices change places."""
    packing = ordered_pack(rng, ops)
    if packing is None or len(packing.slices) < 2:
        return False
    one, other = (op.offset for op in rng.sample(packing.slices, 2))
    uses = [(use.operation, use.index, other) for use in one.uses]
    uses += [(use.operation, use.index, one) for use in other.uses]
    for user, index, value in uses:
        if not isinstance(user, memory.SliceOp):
            user.operands[index] = value
    return True


def edit_lifetime(rng: Random, ops: Sequence[Operation]) -> bool:
    """Change the lifetime of a slice, which is no evidence."""
    packing = ordered_pack(rng, ops)
    if packing is None:
        return False
    end = max(stop for op in packing.slices for _, stop in op.life.times)
    start = rng.randrange(end)
    rng.choice(packing.slices).lifetime = i64_array([start, rng.randint(start + 1, end + 1)])
    return True


def shrink_slice(rng: Random, ops: Sequence[Operation]) -> bool:
    """Make a slice smaller, or as large as another."""
    packing = ordered_pack(rng, ops)
    if packing is None:
        return False
    op = rng.choice(packing.slices)
    if op.static_size is not None:
        size = op.static_size.value.data
        op.static_size = IntegerAttr(max(0, size - rng.choice([1, 4])), i64)
        return size > 0
    if rng.random() < 0.5:
        return shift(rng, op, 1)
    others = [size for size in packing.sizes if isinstance(size, SSAValue)]
    op.operands[1] = rng.choice(others)
    return True


def drop_kill(rng: Random, ops: Sequence[Operation]) -> bool:
    op = chosen(rng, ops, memory.KillOp)
    if op is None:
        return False
    Rewriter.erase_op(op)
    return True


PACK_FAULTS: dict[str, Fault] = {
    "edge": drop_edge,
    "slices": swap_slices,
    "lifetime": edit_lifetime,
    "shrink": shrink_slice,
    "no kill": drop_kill,
}
"""The faults of ordered packs."""

FAULTS: dict[str, Fault] = {
    "move": move_tensor,
    "resize": resize_storage,
    "realign": realign_storage,
    "share": share_storage,
    "order": move_op,
    "kill": repeat_kill,
    "arithmetic": change_arithmetic,
}

"""`verify-memory-plan` on plans of random programs, right ones and ones with a planted fault."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import machine_of, run_passes
from helpers.programs.programs import context, parameter_types, parse, programs
from helpers.programs.random_settings import exactly
from hypothesis import assume, given
from hypothesis import strategies as st
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure

from xrelay.dialects import memory
from xrelay.dialects.interfaces import Part, ViewsOperand
from xrelay.dialects.memory import StorageType
from xrelay.dialects.tensors import as_tensor, tensor_size
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.plan_check.held import Held
from xrelay.passes.plan_check.slots import Slot
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass
from xrelay.runtime.memory.limits import Memory

VM = VmPipeline("none").text.split(",")
TO_MANIFEST = ",".join(VM[: VM.index("manifest-alloc") + 1])
TO_LIFETIMES = ",".join(VM[VM.index("simplify-shapes") : VM.index("manifest-lifetimes") + 1])


def is_accepted(module: ModuleOp) -> bool:
    try:
        VerifyMemoryPlanPass().apply(context(), module)
    except PassError:
        return False
    return True


# ----------------------------------------------------------- a planner of the test


@dataclass
class Placed:
    """A tensor of an arena, alive from op `start` to op `stop` of its block, both included."""

    op: memory.AllocTensorOp
    size: int
    start: int
    stop: int
    offset: int = 0

    def lives_with(self, other: "Placed") -> bool:
        return self.start <= other.stop and other.start <= self.stop

    def overlaps(self, other: "Placed") -> bool:
        return self.offset < other.offset + other.size and other.offset < self.offset + self.size

    def conflicts(self, other: "Placed") -> bool:
        return self is not other and self.lives_with(other) and self.overlaps(other)


def position(block: Block, op: Operation, positions: dict[Operation, int]) -> int:
    found = block.find_ancestor_op_in_block(op)
    assert found is not None
    return positions[found]


def lifetime(op: memory.AllocTensorOp, positions: dict[Operation, int]) -> tuple[int, int] | None:
    """The first write and the last use of all that is computed from its tensors and tuples."""
    block = op.parent
    assert block is not None
    at: list[int] = []
    seen: set[SSAValue] = set()
    pending: list[SSAValue] = [op.tensor]
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            at.append(position(block, user, positions))
            names: list[SSAValue] = []
            if user.name in ("vm.reshape_tensor", "relay.tuple", "relay.tuple_get_item"):
                names += user.results
            elif user.name in ("vm.invoke_tvm_op", "memory.copy"):
                index = use.index - (len(user.operands) - len(user.results))
                names += [user.results[index]] if index >= 0 else []
            elif user.name == "relay.yield":
                choice = user.parent_op()
                assert choice is not None
                names.append(choice.results[use.index])
            pending += [name for name in names if name not in seen]
            seen.update(names)
    return (min(at), max(at)) if at else None


@dataclass
class Arenas:
    """The arenas of a block, one a device, and the tensors in each."""

    tensors: dict[StorageType, list[Placed]] = field(
        default_factory=dict[StorageType, "list[Placed]"]
    )

    def __iter__(self) -> Iterator[list[Placed]]:
        return iter(self.tensors.values())


def merge_storages(module: ModuleOp) -> Arenas:
    """Put the tensors of `main`'s block into one storage a device, first-fit by lifetime."""
    main = next(op for op in module.ops if isinstance(op, func.FuncOp))
    block = main.body.block
    positions = {op: i for i, op in enumerate(block.ops)}
    arenas = Arenas()
    for op in list(block.ops):
        if not isinstance(op, memory.AllocTensorOp) or op.shape is not None:
            continue
        alive = lifetime(op, positions)
        type, storage = as_tensor(op.tensor.type), op.storage.type
        if alive is None or type is None or not isinstance(storage, StorageType):
            continue
        tensor = Placed(op, tensor_size(type), *alive)
        others = arenas.tensors.setdefault(storage, [])
        while clash := next((other for other in others if tensor.conflicts(other)), None):
            tensor.offset = -(-(clash.offset + clash.size) // 64) * 64
        others.append(tensor)
    for storage, tensors in arenas.tensors.items():
        total = max(t.offset + t.size for t in tensors) + 4096
        arena = memory.AllocStorageOp(total, 64, storage.carried_device)
        first = block.first_op
        assert first is not None
        Rewriter.insert_op(arena, InsertPoint.before(first))
        for tensor in tensors:
            old = tensor.op.storage.owner
            tensor.op.operands[0] = arena.storage
            place(tensor, tensor.offset)
            if isinstance(old, memory.AllocStorageOp) and not list(old.storage.uses):
                old.detach()
                old.erase()
    return arenas


def place(tensor: Placed, offset: int) -> None:
    tensor.offset = offset
    tensor.op.offset = IntegerAttr(offset, i64)


def compiled(text: str) -> ModuleOp:
    module = parse(text)
    run_passes(module, TO_MANIFEST)
    run_passes(module, TO_LIFETIMES)
    return module


def inputs(module: ModuleOp) -> list[Any]:
    rng = np.random.default_rng(1)
    return [
        rng.uniform(-2, 2, type.get_shape()).astype(np.float32) for type in parameter_types(module)
    ]


# ------------------------------------------------------------------ right plans


@exactly(10)
@given(programs())
def test_plans_are_accepted_and_compute_the_same(text: str):
    module = compiled(text)
    assert is_accepted(module)
    args = inputs(module)
    wanted = evaluate(module, args)
    merge_storages(module)
    verify(module)
    assert is_accepted(module)
    np.testing.assert_equal(evaluate(module, args, memory=Memory(poison=True)), wanted)
    run_passes(module, "lower-to-bytecode")
    machine = machine_of(assemble(module))
    for _ in range(2):
        np.testing.assert_equal(machine.run("main", *args), wanted)


# --------------------------------------------------------------- planted faults


@exactly(10)
@given(programs(), st.data())
def test_a_moved_tensor_is_rejected_if_it_overlaps_a_live_one(text: str, data: st.DataObject):
    module = compiled(text)
    args = inputs(module)
    wanted = evaluate(module, args)
    arenas = [tensors for tensors in merge_storages(module) if len(tensors) > 1]
    assume(arenas)
    tensors = data.draw(st.sampled_from(arenas))
    moved, onto = (data.draw(st.sampled_from(tensors)) for _ in "12")
    place(moved, onto.offset)
    if any(moved.conflicts(other) for other in tensors):
        assert not is_accepted(module)
    else:
        assert is_accepted(module)
        np.testing.assert_equal(evaluate(module, args, memory=Memory(poison=True)), wanted)


@exactly(10)
@given(programs(), st.data())
def test_what_is_accepted_computes_the_same(text: str, data: st.DataObject):
    """Any offset, and kills anywhere: whatever the pass does not reject must be right."""
    module = compiled(text)
    args = inputs(module)
    wanted = evaluate(module, args)
    arenas = list(merge_storages(module))
    assume(arenas)
    for _ in range(data.draw(st.integers(1, 3))):
        moved = data.draw(st.sampled_from(data.draw(st.sampled_from(arenas))))
        place(moved, 64 * data.draw(st.integers(0, 4)))
    kills = [op for op in module.walk() if isinstance(op, memory.KillOp)]
    if kills and data.draw(st.booleans()):
        kill = data.draw(st.sampled_from(kills))
        for _ in range(data.draw(st.integers(1, 6))):
            after = kill.next_op
            if after is not None and after.next_op is not None:
                kill.detach()
                Rewriter.insert_op(kill, InsertPoint.after(after))
    verify(module)
    if is_accepted(module):
        np.testing.assert_equal(evaluate(module, args, memory=Memory(poison=True)), wanted)


@exactly(10)
@given(programs(), st.data())
def test_a_kill_before_the_last_use_is_rejected(text: str, data: st.DataObject):
    module = compiled(text)
    kills = [op for op in module.walk() if isinstance(op, memory.KillOp)]
    assume(kills)
    kill = data.draw(st.sampled_from(kills))
    block = kill.parent
    assert block is not None
    before = [
        op
        for op in block.ops
        if op is not kill
        and any(use.operation is op for use in kill.value.uses)
        and op.is_before_in_block(kill)
    ]
    assume(before)
    kill.detach()
    Rewriter.insert_op(kill, InsertPoint.before(data.draw(st.sampled_from(before))))
    assert not is_accepted(module)


@exactly(10)
@given(programs(), st.data())
def test_a_second_kill_is_rejected(text: str, data: st.DataObject):
    module = compiled(text)
    kills = [op for op in module.walk() if isinstance(op, memory.KillOp)]
    assume(kills)
    kill = data.draw(st.sampled_from(kills))
    Rewriter.insert_op(kill.clone(), InsertPoint.after(kill))
    assert not is_accepted(module)


@exactly(10)
@given(programs(), st.data())
def test_a_storage_that_is_too_small_or_badly_aligned_is_rejected(text: str, data: st.DataObject):
    module = compiled(text)
    arenas = [tensors for tensors in merge_storages(module) if any(t.size for t in tensors)]
    assume(arenas)
    tensors = data.draw(st.sampled_from(arenas))
    storage = tensors[0].op.storage.owner
    assert isinstance(storage, memory.AllocStorageOp)
    needed = max(tensor.offset + tensor.size for tensor in tensors)
    storage.size = IntegerAttr(needed, i64)
    assert is_accepted(module)
    storage.size = IntegerAttr(needed - 1, i64)
    assert not is_accepted(module)
    storage.size, storage.alignment = IntegerAttr(needed, i64), IntegerAttr(32, i64)
    assert not is_accepted(module)


@pytest.mark.parametrize(("kill", "compared"), [("memory.kill %1 : tensor<32xf32>\n", 0), ("", 1)])
def test_only_bytes_that_are_alive_are_compared(
    kill: str, compared: int, monkeypatch: pytest.MonkeyPatch
):
    """What was killed is not looked at again."""
    pairs: list[tuple[Slot, Slot]] = []
    near = Held.near

    def recorded(held: Held, slot: Slot) -> list[tuple[Slot, bool, int]]:
        found = near(held, slot)
        pairs.extend((slot, other) for other, _, _ in found)
        return found

    monkeypatch.setattr(Held, "near", recorded)
    module = parse(f"""
        func.func @main(%x: tensor<32xf32>) {{
          %s = memory.alloc_storage 256 align 64 : !memory.storage
          %0 = memory.alloc_tensor %s[0] : tensor<32xf32>
          %1 = memory.copy ins(%x : tensor<32xf32>) outs(%0 : tensor<32xf32>) -> tensor<32xf32>
          {kill}%2 = memory.alloc_tensor %s[64] : tensor<32xf32>
          %3 = memory.copy ins(%x : tensor<32xf32>) outs(%2 : tensor<32xf32>) -> tensor<32xf32>
          func.return
        }}""")
    assert is_accepted(module)
    assert len(pairs) == compared


# ------------------------------------------------- parts of storages, by a plug-in's op


class LastBytes(ViewsOperand):
    def part(self, op: Operation) -> Part:
        return Part(64, 64, 64)


@irdl_op_definition
class LastBytesOp(IRDLOperation):
    """The bytes [64, 128) of a storage."""

    name = "plugin.last_bytes"

    storage = operand_def(memory.StorageType)
    part = result_def(memory.StorageType)
    traits = traits_def(Pure(), LastBytes())


@pytest.mark.parametrize(("offset", "is_right"), [(0, True), (64, False)])
def test_a_part_of_a_storage_is_one_by_its_trait(offset: int, is_right: bool):
    """Two tensors are alive together; one is in a part of the storage that a plug-in's op cuts."""
    ctx = context()
    ctx.load_op(LastBytesOp)
    module = Parser(
        ctx,
        f"""
        func.func @f(%x: tensor<16xf32>) {{
          %s = memory.alloc_storage 128 align 64 : !memory.storage
          %p = "plugin.last_bytes"(%s) : (!memory.storage) -> !memory.storage
          %t = memory.alloc_tensor %p[0] : tensor<16xf32>
          %u = memory.alloc_tensor %s[{offset}] : tensor<16xf32>
          %a = memory.copy ins(%x : tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
          %b = memory.copy ins(%x : tensor<16xf32>) outs(%u : tensor<16xf32>) -> tensor<16xf32>
          "test.op"(%a, %b) : (tensor<16xf32>, tensor<16xf32>) -> ()
          func.return
        }}
        """,
    ).parse_module()
    assert is_accepted(module) is is_right

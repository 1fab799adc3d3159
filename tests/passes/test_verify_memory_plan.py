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
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects import memory
from xrelay.dialects.memory import StorageType
from xrelay.dialects.tensors import as_tensor, tensor_size
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.lowering.pipelines import VmPipeline
from xrelay.operators.sizes import SizeOp
from xrelay.operators.sizes.algebra import Algebra
from xrelay.operators.sizes.size_expressions import Expr
from xrelay.operators.sizes.size_table import SELECT
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.plan_check.proofs import Proofs
from xrelay.passes.plan_check.slots import Relation, Slot, Slots
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


# ----------------------------------------------------------------------- proofs

NAMES: tuple[str, ...] = ("a", "b", "c")


def sizes(algebra: Algebra) -> st.SearchStrategy[Expr]:
    """Sizes of three dims: sums, products, maxima, minima and quotients."""
    leaves = st.one_of(
        st.integers(0, 9).map(Expr.of),
        st.sampled_from(NAMES).map(algebra.symbol),
    )
    ops = (SizeOp.ADD, SizeOp.SUB, SizeOp.MUL, SizeOp.MAX, SizeOp.MAX, SizeOp.MIN)

    def grow(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        binary = st.builds(algebra.binary, st.sampled_from(ops), inner, inner)
        quotient = st.builds(
            algebra.binary, st.just(SizeOp.FLOORDIV), inner, st.integers(1, 8).map(Expr.of)
        )
        selection = st.builds(algebra.select_less, inner, inner, inner, inner)
        return st.one_of(binary, quotient, selection)

    return st.recursive(leaves, grow, max_leaves=8)


def value_of(size: Expr, dims: dict[str, int]) -> int:
    """The value of a size, computed from the symbols' definitions."""
    total = 0
    for monomial, coefficient in size.terms:
        term = coefficient
        for symbol in monomial:
            if symbol.kind == "symbol":
                term *= dims[symbol.name]
                continue
            args = [value_of(a, dims) for a in symbol.args if isinstance(a, Expr)]
            if symbol.kind == SELECT:
                term *= args[2] if args[0] < args[1] else args[3]
                continue
            left, right = args
            term *= {
                SizeOp.ADD: left + right,
                SizeOp.SUB: left - right,
                SizeOp.MUL: left * right,
                SizeOp.MAX: max(left, right),
                SizeOp.MIN: min(left, right),
                SizeOp.FLOORDIV: left // right if right else 0,
            }[SizeOp(symbol.kind)]
        total += term
    return total


@exactly(25)
@given(st.data())
def test_what_is_shown_holds_for_all_dims(data: st.DataObject):
    algebra, proofs = Algebra(), Proofs()
    left, right, fact = (data.draw(sizes(algebra)) for _ in "123")
    proofs.open([fact])
    shown = proofs.at_least(left, right)
    of = data.draw(st.sampled_from([2, 4, 64]))
    is_multiple = proofs.is_multiple(left, of)
    for dims in data.draw(st.lists(st.tuples(*[st.integers(0, 40)] * 3), min_size=20)):
        values = dict(zip(NAMES, dims, strict=True))
        if shown and value_of(fact, values) >= 0:
            assert value_of(left, values) >= value_of(right, values)
        if is_multiple:
            assert value_of(left, values) % of == 0


def test_no_dim_of_a_tensor_is_negative():
    """Of a tensor with `n - 1` rows, the bytes are at least 0, in the block that allocates it."""
    algebra, proofs = Algebra(), Proofs()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    size = n * m * 4 - m * 4
    assert not proofs.at_least(size, Expr.of(0))
    assert proofs.open([n - 1])
    assert proofs.at_least(size, Expr.of(0))
    assert not proofs.open([m, n - 1]), "nothing new"
    proofs.close()
    assert not proofs.at_least(size, Expr.of(0))


def test_both_cases_of_a_selection_are_shown():
    """The smaller of two arenas holds what the order of slices that belongs to it puts there."""
    algebra, proofs = Algebra(), Proofs()
    n, m = algebra.symbol("n"), algebra.symbol("m")
    one, other = n + m * 2, n * 2 + m
    total = algebra.select_less(one, other, one, other)
    offset = algebra.select_less(one, other, m * 2, n + m)
    assert proofs.at_least(total, offset + n)
    assert not proofs.at_least(total, offset + n + 1)
    assert not proofs.at_least(total, algebra.select_less(other, one, m * 2, n + m) + n)


@pytest.mark.parametrize("count", [2, 10, 40])
def test_a_stack_of_maxima_is_shown_to_be_apart(count: int):
    """Each offset is above a random earlier one, and those that are not related by it are not."""
    algebra, proofs, rng = Algebra(), Proofs(), np.random.default_rng(count)
    dims = [algebra.symbol(f"n{i}") for i in range(4)]
    offsets, above = [Expr.of(0)], [set[int]()]
    sizes = [dims[int(rng.integers(4))] * 64 for _ in range(count)]
    for i in range(1, count):
        chosen = {int(rng.integers(i)) for _ in range(2)}
        offset = Expr.of(0)
        for j in sorted(chosen):
            offset = algebra.binary(SizeOp.MAX, offset, offsets[j] + sizes[j])
        offsets.append(offset)
        above.append(chosen.union(*(above[j] for j in chosen)))
        for j in above[i]:
            assert proofs.at_least(offsets[i], offsets[j] + sizes[j])
        assert proofs.is_multiple(offset, 64)
        assert not proofs.at_least(offsets[i], offset + 1)


@pytest.mark.parametrize(("kill", "compared"), [("memory.kill %1 : tensor<32xf32>\n", 0), ("", 1)])
def test_only_bytes_that_are_alive_are_compared(
    kill: str, compared: int, monkeypatch: pytest.MonkeyPatch
):
    """Proofs for dynamic sizes are long: none is needed for bytes that were killed."""
    pairs: list[tuple[Slot, Slot]] = []
    relation = Slots.relation

    def recorded(self: Slots, one: Slot, other: Slot) -> Relation:
        pairs.append((one, other))
        return relation(self, one, other)

    monkeypatch.setattr(Slots, "relation", recorded)
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

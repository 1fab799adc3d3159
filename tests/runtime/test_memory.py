"""The memory limit of a program, and reads of unwritten memory."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from helpers.machine.reference_machine import ReferenceMachine
from helpers.programs.machine_programs import call, f32, function, kernel, program, tensor

from xrelay.runtime.calls.random_inputs import random_inputs, random_parameters
from xrelay.runtime.errors import Location, MachineError
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory import limits as memory_module
from xrelay.runtime.memory.limits import Memory, OutOfMemory, Owner
from xrelay.runtime.memory.scratch import scratch
from xrelay.runtime.program.instructions import (
    AllocADT,
    AllocClosure,
    AllocStorage,
    AllocTensor,
    DeviceCopy,
    GetField,
    Goto,
    If,
    Instruction,
    Invoke,
    InvokeClosure,
    InvokePacked,
    KillRegister,
    KillStorage,
    Reg,
    Ret,
    SliceStorage,
)
from xrelay.runtime.program.program import Function, Kernel, Late, Param, Program, Step, TensorSpec

ADD = kernel("add", [f32(2), f32(2)], f32(2))
X = np.array([1, 2], np.float32)
MIB = 1 << 20


# ------------------------------------------------------------------- the limit itself


def test_fresh_bytes_are_zero_or_poison():
    assert Memory(100).fresh(100).tolist() == [0] * 100
    assert np.isnan(Memory(100, poison=True).array((5,), np.float32)).all()
    assert (Memory(100, poison=True).array((5,), np.int16) == -1).all()


def test_what_an_owner_took_is_free_when_it_dies():
    memory = Memory(100)
    owner = Owner(memory)
    owner.reserve(60)
    with pytest.raises(OutOfMemory) as caught:
        memory.reserve(41, "a thing")
    assert str(caught.value) == (
        "a thing needs 41 bytes, but 60 are in use and the memory limit is 100 (--memory-limit)"
    )
    del owner
    memory.reserve(100)
    assert memory.used == 100


def test_an_array_is_free_when_its_last_view_dies():
    memory = Memory(100)
    view = memory.array((4, 5), np.float32)[1:2]
    assert memory.used == 80
    del view
    assert memory.used == 0


def test_what_can_be_freed_is_freed_first():
    memory = Memory(100)
    memory.reserve(100)
    memory.reclaim = partial(memory.give_back, 50)
    memory.reserve(50)
    assert memory.used == 100


def test_the_default_is_a_share_of_the_least_bound(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(memory_module, "memory_bounds", lambda: iter([300, 100, 0, 200]))
    assert memory_module.default_limit.__wrapped__() == 50
    monkeypatch.undo()
    assert 0 < Memory().limit <= min(memory_module.memory_bounds())


# ------------------------------------------------------------- bytes that nothing wrote


def fault(*functions: Function, kernels: Sequence[Kernel] = (ADD,), **how: Any) -> str:
    with pytest.raises(MachineError) as caught:
        Machine(program(*functions, kernels=kernels), **how).run("main", X)
    return str(caught.value)


HALF = AllocTensor(4, 3, 4, (1,), "float32")
WHOLE: list[Instruction] = [AllocStorage(3, 8, 64), AllocTensor(2, 3, 0, (2,), "float32")]
SCALAR: list[Instruction] = [AllocStorage(3, 8, 64), AllocTensor(2, 3, 0, (), "int64")]
UNWRITTEN = "reads unwritten bytes of a tensor "


@pytest.mark.parametrize(
    ("code", "where", "spec"),
    [
        ([*WHOLE, Ret(2)], "main[2] ret", "float32[2]"),
        ([*WHOLE, AllocADT(5, 0, (0, 2)), Ret(5)], "main[3] ret", "float32[2]"),
        ([*WHOLE, *call(0, [0, 2], 6, 2), Ret(6)], "main[4] invoke_packed", "float32[2]"),
        ([*WHOLE, DeviceCopy(2, 0, 0, 0), Ret(0)], "main[2] device_copy", "float32[2]"),
        ([*SCALAR, If(2, None, 1, 1), Ret(0)], "main[2] if", "int64[]"),
        ([*SCALAR, AllocStorage(5, Reg(2), 64), Ret(0)], "main[2] alloc_storage", "int64[]"),
        ([*WHOLE, Invoke(5, 1, (2,)), Ret(5)], "main[2] invoke", "float32[2]"),
        (
            [*WHOLE, AllocClosure(5, 1, (2,)), InvokeClosure(6, 5, ()), Ret(6)],
            "main[3] invoke_closure",
            "float32[2]",
        ),
    ],
)
def test_unwritten_bytes_are_not_read(code: list[Instruction], where: str, spec: str):
    identity = function([None], Ret(0), name="identity")
    assert fault(function([f32(2)], *code), identity) == f"{where}: {UNWRITTEN}{spec}"


def test_a_part_is_not_enough():
    ones = Kernel("one", (), (np.ones(1, np.float32),), (), (), (0,))
    code = [*WHOLE, HALF, InvokePacked(0, (), (4,)), Ret(2)]
    assert fault(function([f32(2)], *code), kernels=[ones]).startswith(
        "main[4] ret: reads unwritten bytes"
    )
    other = AllocTensor(5, 3, 0, (1,), "float32")
    code = [*code[:-1], other, InvokePacked(0, (), (5,)), Ret(2)]
    machine = Machine(program(function([f32(2)], *code), kernels=[ones]))
    assert machine.run("main", X)[0].tolist() == [1, 1]


def test_a_branch_that_does_not_write_is_found():
    code = [*WHOLE, If(1, None, 1, 2), InvokePacked(0, (0, 0), (2,)), Ret(2)]
    main = function([f32(2), TensorSpec("bool", ())], *code)
    machine = Machine(program(main, kernels=[ADD]))
    assert machine.run("main", X, True)[0].tolist() == [2, 4]
    with pytest.raises(MachineError, match=r"main\[4\] ret: reads unwritten bytes"):
        machine.run("main", X, False)


@pytest.mark.parametrize("poison", [False, True])
def test_a_storage_handed_over_shows_nothing_of_the_past(poison: bool):
    """The callee's view refers to a block that previously held a sum."""
    view = function(
        [None], GetField(2, 0, 0), AllocTensor(1, 2, 0, (2,), "float32"), Ret(1), name="view"
    )
    code = [*call(0, [0, 0], 2, 2), KillRegister(2), KillRegister(3)]
    code += [AllocStorage(4, 8, 64), AllocADT(5, 0, (4,)), Invoke(6, 1, (5,)), Ret(6)]
    machine = Machine(
        program(function([f32(2)], *code), view, kernels=[ADD]), memory=Memory(poison=poison)
    )
    for _ in range(2):
        assert str(machine.run("main", X)[0].tolist()) == ("[nan, nan]" if poison else "[0.0, 0.0]")


LENT = function([None], AllocTensor(1, 0, 0, (2,), "float32"), Ret(1), name="lent")


def test_a_storage_that_is_lent_is_not_cleared():
    """The callee may not read what nobody has written there."""
    code = [AllocStorage(4, 8, 64), Invoke(6, 1, (4,)), Ret(6)]
    assert fault(function([f32(2)], *code), LENT) == f"lent[1] ret: {UNWRITTEN}float32[2]"


def test_a_callee_reads_what_the_caller_wrote_in_a_storage():
    code = [*call(0, [0, 0], 2, 2), Invoke(6, 1, (3,)), Ret(6)]
    machine = Machine(program(function([f32(2)], *code), LENT, kernels=[ADD]))
    for _ in range(2):
        assert machine.run("main", X)[0].tolist() == [2, 4]


TWICE = function(
    [f32(2), None],
    AllocTensor(2, 1, 0, (2,), "float32"),
    InvokePacked(0, (0, 0), (2,)),
    AllocADT(3, 0, (2, 0)),
    Ret(3),
    name="twice",
)
SLICED: list[Instruction] = [
    AllocStorage(1, 128, 64),
    SliceStorage(2, 1, 64, 8, 64),
    Invoke(3, 1, (0, 2)),
]


@pytest.mark.parametrize("poison", [False, True])
def test_a_result_in_a_slice_that_was_lent(poison: bool):
    """The slice keeps the storage alive, and the caller may read what the callee wrote there."""
    code = [*SLICED, KillRegister(1), KillRegister(2), *call(0, [0, 0], 7, 2), GetField(4, 3, 0)]
    made = program(function([f32(2)], *code, Ret(4)), TWICE, kernels=[ADD])
    machine = Machine(made, memory=Memory(poison=poison))
    for x in (X, 2 * X):
        assert machine.run("main", x)[0].tolist() == (2 * x).tolist()
    counters = machine.counters
    assert counters.allocations == {0: 4}  # two in each run: slices are not counted
    assert counters.peak == {0: 128 + 8}


ENDED: list[Instruction] = [
    AllocStorage(1, 128, 64),
    SliceStorage(2, 1, 64, 8, 64),
    AllocTensor(3, 1, 0, (2,), "float32"),
    InvokePacked(0, (0, 0), (3,)),
    AllocTensor(4, 2, 0, (2,), "float32"),
    InvokePacked(0, (3, 0), (4,)),
    *call(0, [3, 4], 5, 2),
    KillStorage(2),
]


def test_a_storage_ends_with_all_that_is_in_it():
    """Its bytes are free, its slices and tensors are cleared, and those of others stay."""
    machine = Machine(
        program(function([f32(2)], *ENDED, AllocStorage(7, 128, 64), Ret(5)), kernels=[ADD])
    )
    assert machine.run("main", X)[0].tolist() == (5 * X).tolist()
    assert machine.counters.peak == {0: 128 + 8}
    for register in range(1, 5):
        ended = program(function([f32(2)], *ENDED, Ret(register)), kernels=[ADD])
        for other in (Machine(ended), ReferenceMachine(ended)):
            killed = f"register r{register} is read after instruction {len(ENDED) - 1} killed it"
            with pytest.raises(MachineError, match=killed):
                other.run("main", X)


def test_what_a_callee_has_not_written_stays_unwritten():
    code = [*SLICED, AllocTensor(4, 1, 60, (1,), "float32"), Ret(4)]
    assert fault(function([f32(2)], *code), TWICE, kernels=[ADD]) == (
        f"main[4] ret: {UNWRITTEN}float32[1]"
    )


def test_a_slice_that_is_returned_is_cleared():
    give = function([None], Ret(0), name="give")
    code = [*SLICED[:2], Invoke(3, 1, (2,)), AllocTensor(4, 3, 0, (2,), "float32"), Ret(4)]
    assert Machine(program(function([f32(2)], *code), give)).run("main", X)[0].tolist() == [0, 0]
    other = [*SLICED[:2], Invoke(3, 1, (2,)), AllocTensor(4, 1, 0, (2,), "float32"), Ret(4)]
    assert UNWRITTEN in fault(function([f32(2)], *other), give)


def lazy(attrs: Mapping[str, Any], ins: Sequence[Any], outs: Sequence[Any]) -> Any:
    """A kernel that assumes zeroed scratch memory and writes only half of its output."""
    work = scratch((1,), np.float32)

    def run() -> None:
        outs[0][0] = work[0]
        work[0] = 7

    return run


@pytest.mark.parametrize(("poison", "want"), [(False, ["0.0", "0.0"]), (True, ["nan", "nan"])])
def test_poison_shows_kernels_that_do_not_write(poison: bool, want: list[str]):
    lazy_kernel = Kernel("lazy", (), (), (f32(2),), (Step("my.lazy", {}, (), (0,)),), (0,))
    code = [*tensor(2, 2), InvokePacked(0, (), (2,)), Ret(2)]
    made = program(function([], *code), kernels=[lazy_kernel])
    machine = Machine(made, kernels={"my.lazy": lazy}, memory=Memory(poison=poison))
    assert list(map(str, machine.run("main")[0].tolist())) == want
    if poison:
        assert np.isnan(machine.run("main")[0]).all()


# ----------------------------------------------------------------------- what is limited


def located(made: Function) -> Function:
    places = tuple(Location("f.mlir", pc + 1, 3) for pc in range(len(made.instructions)))
    return Function(made.name, made.params, made.register_count, made.instructions, places)


def test_endless_recursion_ends_at_the_limit():
    made = Program((located(function([f32(2)], Invoke(1, 0, (0,)), Ret(0))),))
    machine = Machine(made, memory=Memory(8 * MIB))
    for _ in range(2):  # all memory is freed
        with pytest.raises(MachineError) as caught:
            machine.run("main", X)
        text = str(caught.value)
        assert text.startswith("main[0] invoke: the stack of ")
        assert text.endswith("in use and the memory limit is 8388608 (--memory-limit)")
        assert caught.value.location == ("f.mlir", 1, 3)
        del caught


def test_recursion_that_takes_storages_ends_at_the_limit():
    code = [*call(0, [0, 0], 2, 2), AllocStorage(4, MIB, 64), Invoke(5, 0, (2,)), Ret(2)]
    text = fault(function([f32(2)], *code), memory=Memory(5 * MIB))
    assert text.startswith("main[3] alloc_storage: a storage of 1048576 bytes on cpu:0 needs ")


def test_frames_kept_for_later_make_room():
    machine = Machine(program(function([f32(None)], Ret(0))), memory=Memory(3 * MIB))
    for count in (MIB // 4, MIB // 4 + 1, MIB // 4 + 2):  # arguments and results of a MiB
        assert len(machine.run("main", np.zeros(count, np.float32))[0]) == count


def test_arguments_and_results_count():
    machine = Machine(program(function([f32(None)], Ret(0))), memory=Memory(3 * MIB))
    with pytest.raises(MachineError, match=r"^the arguments of main: float32\[1048576\] "):
        machine.run("main", np.zeros(MIB, np.float32))
    with pytest.raises(MachineError, match=r"^the result of main: float32\[524288\] needs"):
        machine.run("main", np.zeros(MIB // 2, np.float32))


def test_a_splat_is_expanded_within_the_limit():
    code = [*call(0, [0, 0], 2, 2), Ret(2)]
    wide = f32(MIB)
    splat = np.broadcast_to(np.float32(1), (MIB,))
    keep = Kernel("keep", (f32(2), f32(2)), (splat,), (wide,), (), (2,))
    made = program(function([f32(2)], *code), kernels=[keep])
    with pytest.raises(MachineError, match=r"a constant float32\[1048576\] needs 4194304"):
        Machine(made, memory=Memory(MIB)).run("main", X)


def test_a_loop_ends_after_so_many_instructions():
    code = [*call(0, [0, 0], 2, 2), Goto(-3), Ret(2)]
    made = program(located(function([f32(2)], *code)), kernels=[ADD])
    machine = Machine(made, max_instructions=1000)
    with pytest.raises(MachineError) as caught:
        machine.run("main", X)
    assert str(caught.value) == (
        "main[3] goto: exceeded the limit of 1000 instructions (--max-instructions)"
    )
    assert caught.value.location == ("f.mlir", 4, 3)
    assert 1000 < machine.counters.instructions.total() <= 1004


def test_exactly_so_many_instructions_are_no_mistake():
    made = program(function([f32(2)], *call(0, [0, 0], 2, 2), Ret(2)), kernels=[ADD])
    assert Machine(made, max_instructions=4).run("main", X)[0].tolist() == [2, 4]
    with pytest.raises(MachineError, match="exceeded the limit of 3 instructions"):
        Machine(made, max_instructions=3).run("main", X)


def test_random_values_are_drawn_within_the_limit():
    huge = TensorSpec("float32", (10**9, 10**9))
    with pytest.raises(MachineError, match=r"drawing 'x', float32\[1000000000, 1000000000\]"):
        random_inputs([Param("x", huge)], 0, Memory(MIB))
    with pytest.raises(MachineError, match="drawing 'w'"):
        random_parameters([Late("w", huge)], 0, Memory(MIB))
    memory = Memory(MIB)
    random_inputs([Param("x", f32(100))], 0, memory)
    assert memory.used == 400


def test_a_wrong_instruction_has_its_place():
    with pytest.raises(
        MachineError, match=r"main\[1\] ret: register r70 is out of range"
    ) as caught:
        Machine(program(located(function([f32(2)], KillRegister(0), Ret(70)))))
    assert caught.value.location == ("f.mlir", 2, 3)

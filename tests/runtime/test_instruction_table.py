"""Facts about instructions that follow from their classes."""

import dataclasses
import re

import pytest

from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.instruction_table import (
    Field,
    fields_of,
    jumps,
    pieces_of,
    reads,
    writes,
)
from xrelay.runtime.program.instructions import Kind, Reg


def test_mnemonics():
    assert [kind.mnemonic for kind in (vm.If, vm.AllocADT, vm.AllocTensorReg, vm.LoadConsti)] == [
        *("if", "alloc_adt", "alloc_tensor_reg", "load_consti")
    ]
    assert all(kind.mnemonic == name for name, kind in vm.INSTRUCTIONS.items())


def test_fields():
    assert fields_of(vm.If) == (
        Field("test", Kind.READ, False),
        Field("target", Kind.READ, True),
        Field("true_offset", Kind.JUMP, False),
        Field("false_offset", Kind.JUMP, False),
    )
    assert [field.absent for field in fields_of(vm.Pack) if field.optional] == [()]


@pytest.mark.parametrize("kind", vm.INSTRUCTIONS.values())
def test_a_syntax_has_each_field_once(kind: type[vm.Instruction]):
    shown = [piece.field for piece in pieces_of(kind) if piece.field is not None]
    assert sorted(shown) == sorted(fields_of(kind))
    assert re.findall(r"\$(\w+)", kind.SYNTAX) == [field.name for field in shown]


CASES: list[tuple[vm.Instruction, tuple[int, ...], tuple[int, ...]]] = [
    (vm.Move(1, 2), (2,), (1,)),
    (vm.InvokePacked(9, (1, 2), (3,)), (1, 2, 3), ()),
    (vm.AllocTensor(1, 2, 8, (7, 7), "int8"), (2,), (1,)),
    (vm.AllocTensor(1, 2, Reg(8), (7, 7), "int8"), (2, 8), (1,)),
    (vm.AllocTensorReg(1, 2, 8, 3, "int8"), (2, 3), (1,)),
    (vm.If(1, None, 5, 6), (1,), ()),
    (vm.If(1, 2, 5, 6), (1, 2), ()),
    (vm.ReshapeTensor(1, 2, (5, 6)), (2,), (1,)),
    (vm.ReshapeTensor(1, 2, Reg(6)), (2, 6), (1,)),
    (vm.SliceTensor(1, 2, 3, (5, 6)), (2,), (1,)),
    (vm.SliceTensor(1, 2, Reg(3), Reg(6)), (2, 3, 6), (1,)),
    (vm.JoinTensors(1, (2, 3), (5, 6)), (2, 3), (1,)),
    (vm.JoinTensors(1, (2, 3), Reg(6)), (2, 3, 6), (1,)),
    (vm.Pack(1, (2, 3), 64, (0, 4, 2, 5), (Reg(6), 64), ()), (6,), (1, 2, 3)),
    (vm.KillRegister(1), (), (1,)),
    (vm.KillStorage(1), (1,), ()),
    (vm.TakeRows(1, 2, Reg(3), 4, Reg(5), 0, (2,), "float32"), (2, 3, 4, 5), (1,)),
    (vm.LoadConst(1, 7, 2), (), (1,)),
    (vm.Fatal(), (), ()),
]


@pytest.mark.parametrize(("instruction", "read", "written"), CASES)
def test_registers(instruction: vm.Instruction, read: tuple[int, ...], written: tuple[int, ...]):
    assert (reads(instruction), writes(instruction)) == (read, written)


def test_jumps():
    choice = vm.If(1, None, 5, 6)
    assert jumps(choice) == (5, 6)
    assert jumps(vm.Ret(0)) == ()


def test_instructions_are_values():
    assert vm.Move(1, 2) == vm.Move(1, 2) != vm.Move(2, 1)
    assert dataclasses.astuple(vm.LoadConst(1, 2)) == (1, 2, 0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        vm.Move(1, 2).dst = 3  # pyright: ignore[reportAttributeAccessIssue]

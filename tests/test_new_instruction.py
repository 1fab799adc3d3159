"""An instruction is added in three places: its class, and what each machine does."""

from typing import Any

import pytest
from helpers.programs.machine_programs import function, program
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.parser import Parser

from xrelay.dialects.bytecode.function_ops import FuncOp
from xrelay.dialects.bytecode.instruction_ops import op_of
from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.recording import Recorder, method_of
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.checking import check_program
from xrelay.runtime.program.instruction_table import reads, writes
from xrelay.runtime.program.listing import listing


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class of an instruction that is not in the table otherwise."""
    monkeypatch.setattr(vm, "INSTRUCTIONS", dict(vm.INSTRUCTIONS))

    @vm.instruction("$dst, $function $args by $step(? else $other)")
    class CallABC(vm.Instruction):
        """Call a function and step on."""

        dst: vm.Dst
        function: vm.FunctionIndex
        args: vm.RegistersOrInts
        step: vm.RegisterOrInt
        other: vm.OptionalRegister = None

    return CallABC


TEXT = "call_abc r1, @main (r2, 3) by r4 else r3"


def test_the_machine_knows_it(added: Any):
    assert vm.INSTRUCTIONS["call_abc"] is added
    made = added(1, 0, (vm.Reg(2), 3), vm.Reg(4), 3)
    assert (reads(made), writes(made)) == ((2, 4, 3), (1,))
    assert f"    0: {TEXT}\n" in listing(program(function([], made, vm.Fatal())))
    with pytest.raises(MachineError, match=r"main\[0\] call_abc: function 7 is out of range"):
        check_program(program(function([], added(1, 7, (), 0, 1), vm.Fatal())))
    with pytest.raises(MachineError, match=r"call_abc: register r99 is out of range"):
        check_program(program(function([], added(1, 0, (vm.Reg(99),), 0, 1), vm.Fatal())))


def test_it_is_an_op(added: Any):
    context = Context()
    context.load_dialect(Builtin)
    op_class = op_of(added)
    context.load_op(op_class)
    context.load_op(FuncOp)
    text = f"bytecode.func @main () registers 5 {{\n  bytecode.{TEXT}\n}}"
    (func,) = Parser(context, text).parse_module().ops
    assert isinstance(func, FuncOp)
    (op,) = func.body.block.ops
    assert isinstance(op, op_class)
    assert str(op) == f"bytecode.{TEXT}"
    op.verify()
    assert op.for_machine(lambda kind, value: 0) == added(1, 0, (vm.Reg(2), 3), vm.Reg(4), 3)
    assert op.reads == [2, 4, 3]
    assert op_class.__doc__ == "Call a function and step on."


def test_each_instruction_has_a_method_that_records_it(added: Any):
    with pytest.raises(AttributeError, match="call_abc"):
        method_of(added)
    assert method_of(vm.If) is Recorder.if_

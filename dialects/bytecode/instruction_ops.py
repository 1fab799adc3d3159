"""
The instructions of the virtual machine as ops: one for each class of
`runtime.program.instructions`, with its name, docstring and syntax. The fields of the class are the
properties of the op.
"""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, traits_def
from xdsl.traits import HasParent

from ...runtime.program import instructions as vm
from ...runtime.program.instruction_table import JUMP_KINDS, READ_KINDS, WRITE_KINDS, fields_of
from .fields import FORMS
from .function_ops import FuncOp
from .instruction import Instruction


def op_of(kind: type[vm.Instruction]) -> type[Instruction]:
    """Define the op of an instruction of the machine."""
    members: dict[str, Any] = {
        "__doc__": kind.__doc__,
        "__module__": __name__,
        "__annotations__": dict.fromkeys(
            ("INSTRUCTION", "SYNTAX", "READS", "WRITES", "JUMPS"), ClassVar[Any]
        ),
        "name": f"bytecode.{kind.mnemonic}",
        "INSTRUCTION": kind,
        "SYNTAX": kind.SYNTAX,
        "READS": [field.name for field in fields_of(kind) if field.kind in READ_KINDS],
        "WRITES": [field.name for field in fields_of(kind) if field.kind in WRITE_KINDS],
        "JUMPS": [field.name for field in fields_of(kind) if field.kind in JUMP_KINDS],
        "traits": traits_def(HasParent(FuncOp)),
    }
    for field in fields_of(kind):
        define = opt_prop_def if field.optional else prop_def
        members[field.name] = define(FORMS[field.kind].constraint)
    return irdl_op_definition(type(f"{kind.__name__}Op", (Instruction,), members))


INSTRUCTIONS: dict[type[vm.Instruction], type[Instruction]] = {
    kind: op_of(kind) for kind in vm.INSTRUCTIONS.values()
}
"""The op class of each instruction of the machine."""

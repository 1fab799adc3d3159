"""
The `bytecode` dialect: the virtual machine's instructions as ops on registers.

Registers are numbers, not SSA values, and a function is a flat list of instructions; jump offsets
count from the instruction itself. The ops of instructions follow from the classes in
`runtime.program.instructions`: `bytecode.MoveOp` is the op of `Move`, and its fields are its
properties.
"""

from xdsl.ir import Dialect

from ..xdsl_extras.late_definitions import late_definitions

with late_definitions():
    from .fields import Dims as Dims
    from .fields import ObjectType as ObjectType
    from .fields import RegisterAttr as RegisterAttr
    from .function_ops import ConstantOp as ConstantOp
    from .function_ops import FuncOp as FuncOp
    from .function_ops import LateConstantOp as LateConstantOp
    from .instruction import Instruction as Instruction
    from .instruction_ops import INSTRUCTIONS as INSTRUCTIONS
    from .kernel_ops import KernelConstantOp as KernelConstantOp
    from .kernel_ops import KernelOp as KernelOp
    from .kernel_ops import StepOp as StepOp

DEVICES = "bytecode.devices"
"""The name of the module attribute that lists its devices, host first."""

Bytecode = Dialect(
    "bytecode",
    [
        *(ConstantOp, LateConstantOp, KernelOp, KernelConstantOp, StepOp, FuncOp),
        *INSTRUCTIONS.values(),
    ],
    [RegisterAttr, ObjectType],
)

_OPS = {op.__name__: op for op in INSTRUCTIONS.values()}


def __getattr__(name: str) -> type[Instruction]:
    """Return the op of an instruction by its name, such as `MoveOp`."""
    if name not in _OPS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _OPS[name]

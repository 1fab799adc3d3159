"""
The instructions of the virtual machine: those of TVM's register machine.

A register is a number; a register operand that may also be an immediate is `int | Reg`. Registers
hold a tensor, a storage, data (tag and fields; a tuple is data of tag 0), a closure, or nothing.
Jump offsets are relative to the instruction itself. Device operands are indexes into
`Program.devices`; device 0 is the host.

Unlike TVM's, `DeviceCopy` writes into an allocated tensor (so a copy's memory can be planned),
sizes, offsets and shapes may be immediates, and `If` compares whole values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reg:
    """A register, where an immediate could stand as well."""

    index: int

    def __str__(self) -> str:
        return f"${self.index}"


@dataclass(frozen=True, slots=True)
class Move:
    """Let `dst` refer to what `src` refers to."""

    dst: int
    src: int


@dataclass(frozen=True, slots=True)
class Ret:
    """Return `result` to the caller."""

    result: int


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call the function with index `function`; its result goes to `dst`."""

    dst: int
    function: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InvokeClosure:
    """Call the closure in `closure` with its captured values followed by `args`."""

    dst: int
    closure: int
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class InvokePacked:
    """Run the kernel with index `kernel` on the tensors `ins`, writing the tensors `outs`."""

    kernel: int
    ins: tuple[int, ...]
    outs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AllocTensor:
    """View `shape` elements of `dtype` at byte `offset` of `storage` (offset: int64 scalar)."""

    dst: int
    storage: int
    offset: int | Reg
    shape: Shape
    dtype: str


@dataclass(frozen=True, slots=True)
class AllocTensorReg:
    """As `AllocTensor`, with the shape in a register: a rank-1 int32 or int64 tensor."""

    dst: int
    storage: int
    offset: int | Reg
    shape: int
    dtype: str


@dataclass(frozen=True, slots=True)
class AllocADT:
    """Build data of constructor `tag` from `fields`; a tuple has tag 0."""

    dst: int
    tag: int
    fields: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AllocClosure:
    """Build a closure of function `function` that captures `captured`."""

    dst: int
    function: int
    captured: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GetField:
    """Field `field` of the data in `data`."""

    dst: int
    data: int
    field: int


@dataclass(frozen=True, slots=True)
class If:
    """
    Jump by `true_offset` when the scalar in `test` equals the one in `target`, else by
    `false_offset`; with no `target`, when `test` is not 0.
    """

    test: int
    target: int | None
    true_offset: int
    false_offset: int


@dataclass(frozen=True, slots=True)
class LoadConst:
    """Constant `constant` of the program, on `device`; never written to."""

    dst: int
    constant: int
    device: int = 0


@dataclass(frozen=True, slots=True)
class Goto:
    """Jump by `offset`."""

    offset: int


@dataclass(frozen=True, slots=True)
class GetTag:
    """The constructor tag of `data`, an int32 scalar on the host."""

    dst: int
    data: int


@dataclass(frozen=True, slots=True)
class LoadConsti:
    """The int64 scalar `value` on the host."""

    dst: int
    value: int


@dataclass(frozen=True, slots=True)
class Fatal:
    """Stop with an error: no clause of a match applies."""


@dataclass(frozen=True, slots=True)
class AllocStorage:
    """Allocate `size` bytes (int64 scalar when in a register) on `device`."""

    dst: int
    size: int | Reg
    alignment: int
    device: int = 0


@dataclass(frozen=True, slots=True)
class ShapeOf:
    """The shape of `tensor`, an int64 tensor of rank 1 on the host."""

    dst: int
    tensor: int


@dataclass(frozen=True, slots=True)
class ReshapeTensor:
    """View `tensor` with another shape of as many elements (a register: rank-1 int64)."""

    dst: int
    tensor: int
    shape: Shape | Reg


@dataclass(frozen=True, slots=True)
class DeviceCopy:
    """Copy tensor `src`, which lives on `src_device`, into tensor `out` of `dst_device`."""

    src: int
    out: int
    src_device: int
    dst_device: int


@dataclass(frozen=True, slots=True)
class KillRegister:
    """Make `register` refer to nothing; memory that nothing refers to is freed."""

    register: int


Instruction: TypeAlias = (
    Move
    | Ret
    | Invoke
    | InvokeClosure
    | InvokePacked
    | AllocTensor
    | AllocTensorReg
    | AllocADT
    | AllocClosure
    | GetField
    | If
    | LoadConst
    | Goto
    | GetTag
    | LoadConsti
    | Fatal
    | AllocStorage
    | ShapeOf
    | ReshapeTensor
    | DeviceCopy
    | KillRegister
)

MNEMONICS: dict[type[Instruction], str] = {
    Move: "move",
    Ret: "ret",
    Invoke: "invoke",
    InvokeClosure: "invoke_closure",
    InvokePacked: "invoke_packed",
    AllocTensor: "alloc_tensor",
    AllocTensorReg: "alloc_tensor_reg",
    AllocADT: "alloc_adt",
    AllocClosure: "alloc_closure",
    GetField: "get_field",
    If: "if",
    LoadConst: "load_const",
    Goto: "goto",
    GetTag: "get_tag",
    LoadConsti: "load_consti",
    Fatal: "fatal",
    AllocStorage: "alloc_storage",
    ShapeOf: "shape_of",
    ReshapeTensor: "reshape_tensor",
    DeviceCopy: "device_copy",
    KillRegister: "kill_register",
}
"""The instructions' names in listings and statistics."""


def mnemonic(instruction: Instruction) -> str:
    """The instruction's name in listings and statistics."""
    return MNEMONICS[type(instruction)]

"""
The instructions of the virtual machine: those of TVM's register machine.

Registers are numbered; an operand that is either an immediate or a register is `int | Reg`.
A register holds a tensor, a storage, data (a tag and fields; a tuple is data of tag 0), a closure,
a reference, or nothing. Jump offsets are relative to the instruction itself. Device operands are
indices into `Program.devices`; device 0 is the host.

Sizes are int64 scalars and shapes int64 vectors, both on the host; `Compute` is their arithmetic.
`Pack` plans the memory of storages whose sizes are known only when the program runs.

Differences from TVM: `DeviceCopy` writes into an allocated tensor, so that the memory of copies
can be planned; sizes, offsets and shapes may be immediates; `If` compares whole values; sizes are
computed by `Compute` and checked by `Require`, where TVM runs kernels. References (`AllocRef`,
`ReadRef`, `WriteRef`), slices of storages (`SliceStorage`), which callers lend to functions, and
`Pack` are additions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reg:
    """A register in an operand that may also be an immediate."""

    index: int

    def __str__(self) -> str:
        return f"${self.index}"


@dataclass(frozen=True, slots=True)
class Move:
    """Make `dst` refer to the object in `src`."""

    dst: int
    src: int


@dataclass(frozen=True, slots=True)
class Ret:
    """Return `result` to the caller."""

    result: int


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call the function with index `function` and write its result to `dst`."""

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
    """Like `AllocTensor`, with the shape in a register: a rank-1 int32 or int64 tensor."""

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
class AllocRef:
    """Create a reference: a mutable cell that holds the object in `src`."""

    dst: int
    src: int


@dataclass(frozen=True, slots=True)
class ReadRef:
    """Read the object that the reference in `ref` holds."""

    dst: int
    ref: int


@dataclass(frozen=True, slots=True)
class WriteRef:
    """Let the reference in `ref` hold the object in `src`."""

    ref: int
    src: int


@dataclass(frozen=True, slots=True)
class GetField:
    """Read field `field` of the data in `data`."""

    dst: int
    data: int
    field: int


@dataclass(frozen=True, slots=True)
class If:
    """
    Jump by `true_offset` if the scalar in `test` equals the one in `target` (without a
    `target`: if it is not 0), by `false_offset` otherwise.
    """

    test: int
    target: int | None
    true_offset: int
    false_offset: int


@dataclass(frozen=True, slots=True)
class LoadConst:
    """Load constant `constant` of the program on `device`; it is read-only."""

    dst: int
    constant: int
    device: int = 0


@dataclass(frozen=True, slots=True)
class Goto:
    """Jump by `offset`."""

    offset: int


@dataclass(frozen=True, slots=True)
class GetTag:
    """Read the constructor tag of `data`, as an int32 scalar on the host."""

    dst: int
    data: int


@dataclass(frozen=True, slots=True)
class LoadConsti:
    """Load the int64 scalar `value` on the host."""

    dst: int
    value: int


@dataclass(frozen=True, slots=True)
class Fatal:
    """Stop with an error: no clause of a match applies."""


@dataclass(frozen=True, slots=True)
class AllocStorage:
    """Allocate `size` bytes on `device` (a `size` in a register is an int64 scalar)."""

    dst: int
    size: int | Reg
    alignment: int
    device: int = 0


@dataclass(frozen=True, slots=True)
class SliceStorage:
    """Use `size` bytes of `storage` from byte `offset` on as a storage (int64 scalars)."""

    dst: int
    storage: int
    offset: int | Reg
    size: int | Reg
    alignment: int


@dataclass(frozen=True, slots=True)
class ShapeOf:
    """Read the shape of `tensor`, as a rank-1 int64 tensor on the host."""

    dst: int
    tensor: int


@dataclass(frozen=True, slots=True)
class Compute:
    """Apply `operation` of `scalars.SCALARS` to `args`, sizes and tensors on the host."""

    dst: int
    operation: str
    args: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Require:
    """
    Stop with `message` unless the sizes `lhs` and `rhs` are in the relation `check`.

    In the message `{0}` stands for `lhs`, `{1}` for `rhs`, `{2}` for the first of `values`, ….
    """

    check: str
    lhs: int
    rhs: int
    message: str
    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Pack:
    """
    Choose an offset for each slice of `sizes` so that slices alive together do not overlap.

    `lifetimes` are the start and the end of each slice, `arms` triples of a slice, a branch and its
    arm: slices in different arms of a branch are never alive together. Offsets are multiples of
    `alignment`. `total` receives the size of the arena, `offsets` the offsets: int64 scalars.
    """

    total: int
    offsets: tuple[int, ...]
    alignment: int
    lifetimes: tuple[int, ...]
    sizes: tuple[int | Reg, ...]
    arms: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReshapeTensor:
    """View `tensor` with a shape of equal size (in a register: a rank-1 int64 tensor)."""

    dst: int
    tensor: int
    shape: Shape | Reg


@dataclass(frozen=True, slots=True)
class DeviceCopy:
    """Copy tensor `src` on `src_device` into tensor `out` on `dst_device`."""

    src: int
    out: int
    src_device: int
    dst_device: int


@dataclass(frozen=True, slots=True)
class KillRegister:
    """Clear `register`; memory without references is freed."""

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
    | AllocRef
    | ReadRef
    | WriteRef
    | GetField
    | If
    | LoadConst
    | Goto
    | GetTag
    | LoadConsti
    | Fatal
    | AllocStorage
    | SliceStorage
    | ShapeOf
    | Compute
    | Require
    | Pack
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
    AllocRef: "alloc_ref",
    ReadRef: "read_ref",
    WriteRef: "write_ref",
    GetField: "get_field",
    If: "if",
    LoadConst: "load_const",
    Goto: "goto",
    GetTag: "get_tag",
    LoadConsti: "load_consti",
    Fatal: "fatal",
    AllocStorage: "alloc_storage",
    SliceStorage: "slice_storage",
    ShapeOf: "shape_of",
    Compute: "compute",
    Require: "require",
    Pack: "pack",
    ReshapeTensor: "reshape_tensor",
    DeviceCopy: "device_copy",
    KillRegister: "kill_register",
}
"""The names of the instructions in listings and statistics."""


def mnemonic(instruction: Instruction) -> str:
    """Return the instruction's name in listings and statistics."""
    return MNEMONICS[type(instruction)]

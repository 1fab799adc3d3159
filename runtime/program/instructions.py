"""
The instructions of the virtual machine: those of TVM's register machine.

This is the only table of them. Checks, listings, the `bytecode` dialect, assembler and disassembler
follow from each class: from its name, its fields' kinds (`Kind`, in their annotations) and its
syntax. `instruction_table` reads them.

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

import re
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Annotated, ClassVar, TypeAlias, TypeVar, dataclass_transform

from ...operators.records import record
from ...operators.sizes import Check, placeholders

MAX_ALIGNMENT = 1 << 20
"""The greatest alignment of a storage, in bytes."""

MAX_TIME = 1 << 62
"""Lifetimes end before this."""


class Kind(Enum):
    """The kinds of fields of instructions; the annotated types below hold them."""

    READ = auto()
    """A register that the instruction reads."""
    READS = auto()
    """Registers that it reads."""
    WRITE = auto()
    """A register that it writes or clears."""
    WRITES = auto()
    """Registers that it writes."""
    READ_OR_INTEGER = auto()
    READS_OR_INTEGERS = auto()
    READ_OR_DIMS = auto()
    """A register or a list of integers."""
    FUNCTION = auto()
    """The index of a function."""
    KERNEL = auto()
    CONSTANT = auto()
    DEVICE = auto()
    JUMP = auto()
    """An offset to jump by."""
    INTEGER = auto()
    INTEGERS = auto()
    SHAPE = auto()
    """The dims of a tensor type, before its element type."""
    DTYPE = auto()
    """An element type, by NumPy's name."""
    TEXT = auto()


@record
class Reg:
    """A register in an operand that may also be an immediate."""

    index: int

    def __str__(self) -> str:
        return f"r{self.index}"


Register: TypeAlias = Annotated[int, Kind.READ]
OptionalRegister: TypeAlias = Annotated[int | None, Kind.READ]
Registers: TypeAlias = Annotated[tuple[int, ...], Kind.READS]
Dst: TypeAlias = Annotated[int, Kind.WRITE]
Dsts: TypeAlias = Annotated[tuple[int, ...], Kind.WRITES]
RegisterOrInt: TypeAlias = Annotated[int | Reg, Kind.READ_OR_INTEGER]
RegistersOrInts: TypeAlias = Annotated[tuple[int | Reg, ...], Kind.READS_OR_INTEGERS]
RegisterOrDims: TypeAlias = Annotated[tuple[int, ...] | Reg, Kind.READ_OR_DIMS]
FunctionIndex: TypeAlias = Annotated[int, Kind.FUNCTION]
KernelIndex: TypeAlias = Annotated[int, Kind.KERNEL]
ConstantIndex: TypeAlias = Annotated[int, Kind.CONSTANT]
DeviceIndex: TypeAlias = Annotated[int, Kind.DEVICE]
Offset: TypeAlias = Annotated[int, Kind.JUMP]
Int: TypeAlias = Annotated[int, Kind.INTEGER]
Ints: TypeAlias = Annotated[tuple[int, ...], Kind.INTEGERS]
Shape: TypeAlias = Annotated[tuple[int, ...], Kind.SHAPE]
Dtype: TypeAlias = Annotated[str, Kind.DTYPE]
Text: TypeAlias = Annotated[str, Kind.TEXT]


class Instruction:
    """An instruction of the virtual machine."""

    __slots__ = ()

    mnemonic: ClassVar[str]
    """The class's name in snake case: the instruction's name in text and statistics."""
    SYNTAX: ClassVar[str]
    """
    The instruction in text, after its mnemonic: literal words and `$fields`; `(? …)` encloses a
    part that is omitted if its field is None or empty.
    """

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the immediates, whatever the program."""
        yield from ()


INSTRUCTIONS: dict[str, type[Instruction]] = {}
"""The class of each instruction, by its mnemonic."""

_Class = TypeVar("_Class", bound=type[Instruction])


@dataclass_transform(frozen_default=True)
def instruction(syntax: str) -> Callable[[_Class], _Class]:
    """Make a class of annotated fields an instruction with this `SYNTAX`."""

    def define(cls: _Class) -> _Class:
        made = record(cls)
        words = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls.__name__)
        made.mnemonic, made.SYNTAX = words.lower(), syntax
        INSTRUCTIONS[made.mnemonic] = made
        return made

    return define


def _alignment_faults(alignment: int) -> Iterator[str]:
    if not 0 < alignment <= MAX_ALIGNMENT or alignment & (alignment - 1):
        yield f"alignment must be a power of two up to {MAX_ALIGNMENT}, but is {alignment}"


@instruction("$dst, $src")
class Move(Instruction):
    """
    Make `dst` refer to the object in `src`.

    ```mlir
    bytecode.move r3, r1
    ```
    """

    dst: Dst
    src: Register


@instruction("$result")
class Ret(Instruction):
    """
    Return `result` to the caller.

    ```mlir
    bytecode.ret r3
    ```
    """

    result: Register


@instruction("$dst, $function$args")
class Invoke(Instruction):
    """
    Call `function` and write its result to `dst`.

    ```mlir
    bytecode.invoke r4, @f(r0, r1)
    ```
    """

    dst: Dst
    function: FunctionIndex
    args: Registers


@instruction("$dst, $closure$args")
class InvokeClosure(Instruction):
    """
    Call the closure in `closure` with its captured values followed by `args`.

    ```mlir
    bytecode.invoke_closure r4, r2(r0, r1)
    ```
    """

    dst: Dst
    closure: Register
    args: Registers


@instruction("$kernel$ins -> $outs(? turn $turn in $turns)")
class InvokePacked(Instruction):
    """
    Run `kernel` on the tensors `ins`, writing the tensors `outs`.

    ```mlir
    bytecode.invoke_packed @k(r0) -> (r2)
    bytecode.invoke_packed @k(r0) -> (r2) turn r3 in [1, 4]
    ```

    The registers `outs` are read: they hold the tensors to write. Operands may be tuples of
    tensors. Inputs and outputs are on one device, but for the kernel's inputs on the host.

    In a loop whose `turn` (int64 scalar) is less than the first of `turns`, or not less than the
    second, the kernel does not run: the elements of `outs` are unspecified, but written.
    """

    kernel: KernelIndex
    ins: Registers
    outs: Registers
    turn: OptionalRegister = None
    turns: Ints = ()

    def faults(self) -> Iterator[str]:
        if self.turn is None and not self.turns:
            return
        if self.turn is None or len(self.turns) != 2 or not 0 <= self.turns[0] < self.turns[1]:
            yield f"turns must be [first, stop], 0 <= first < stop, of a turn, but are {self.turns}"


@instruction("$dst, $storage[$offset] : tensor<$shape$dtype>")
class AllocTensor(Instruction):
    """
    View `shape` elements of `dtype` at byte `offset` of `storage` (offset: int64 scalar).

    ```mlir
    bytecode.alloc_tensor r2, r1[0] : tensor<4x4xf32>
    ```
    """

    dst: Dst
    storage: Register
    offset: RegisterOrInt
    shape: Shape
    dtype: Dtype


@instruction("$dst, $storage[$offset] shape $shape : $dtype")
class AllocTensorReg(Instruction):
    """
    View a storage like `alloc_tensor`, with the shape in a register: a rank-1 int32 or int64
    tensor.

    ```mlir
    bytecode.alloc_tensor_reg r2, r1[0] shape r5 : f32
    ```
    """

    dst: Dst
    storage: Register
    offset: RegisterOrInt
    shape: Register
    dtype: Dtype


@instruction("$dst, $tag$fields")
class AllocADT(Instruction):
    """
    Build data of constructor `tag` from `fields`; a tuple has tag 0.

    ```mlir
    bytecode.alloc_adt r3, 0(r1, r2)
    ```
    """

    dst: Dst
    tag: Int
    fields: Registers


@instruction("$dst, $function$captured")
class AllocClosure(Instruction):
    """
    Build a closure of `function` that captures `captured`.

    ```mlir
    bytecode.alloc_closure r3, @f(r1)
    ```
    """

    dst: Dst
    function: FunctionIndex
    captured: Registers


@instruction("$dst, $src")
class AllocRef(Instruction):
    """
    Create a reference: a mutable cell that holds the object in `src`.

    ```mlir
    bytecode.alloc_ref r3, r1
    ```
    """

    dst: Dst
    src: Register


@instruction("$dst, $ref")
class ReadRef(Instruction):
    """
    Read the object that the reference in `ref` holds.

    ```mlir
    bytecode.read_ref r4, r3
    ```
    """

    dst: Dst
    ref: Register


@instruction("$ref, $src")
class WriteRef(Instruction):
    """
    Let the reference in `ref` hold the object in `src`.

    ```mlir
    bytecode.write_ref r3, r2
    ```
    """

    ref: Register
    src: Register


@instruction("$dst, $data[$field]")
class GetField(Instruction):
    """
    Read field `field` of the data in `data`.

    ```mlir
    bytecode.get_field r4, r3[1]
    ```
    """

    dst: Dst
    data: Register
    field: Int

    def faults(self) -> Iterator[str]:
        if self.field < 0:
            yield f"field must be at least 0, but is {self.field}"


@instruction("$test(? eq $target) $true_offset, $false_offset")
class If(Instruction):
    """
    Jump by `true_offset` if the scalar in `test` equals the one in `target` (without a
    `target`: if it is not 0), by `false_offset` otherwise.

    ```mlir
    bytecode.if r1 1, 4
    bytecode.if r1 eq r2 1, 4
    ```
    """

    test: Register
    target: OptionalRegister
    true_offset: Offset
    false_offset: Offset


@instruction("$offset")
class Goto(Instruction):
    """
    Jump by `offset`.

    ```mlir
    bytecode.goto 3
    ```
    """

    offset: Offset


@instruction("$dst, $constant on $device")
class LoadConst(Instruction):
    """
    Load constant `constant` of the program on `device`; it is read-only.

    ```mlir
    bytecode.load_const r1, @c on #relay.device<cpu:0>
    ```
    """

    dst: Dst
    constant: ConstantIndex
    device: DeviceIndex = 0


@instruction("$dst, $value")
class LoadConsti(Instruction):
    """
    Load the int64 scalar `value` on the host.

    ```mlir
    bytecode.load_consti r1, 7
    ```
    """

    dst: Dst
    value: Int

    def faults(self) -> Iterator[str]:
        if not -(1 << 63) <= self.value < 1 << 63:
            yield f"value must be a 64-bit integer, but is {self.value}"


@instruction("$dst, $data")
class GetTag(Instruction):
    """
    Read the constructor tag of `data`, as an int32 scalar on the host.

    ```mlir
    bytecode.get_tag r4, r3
    ```
    """

    dst: Dst
    data: Register


@instruction("")
class Fatal(Instruction):
    """
    Stop with an error: no clause of a match applies.

    ```mlir
    bytecode.fatal
    ```
    """


@instruction("$dst, $size align $alignment on $device")
class AllocStorage(Instruction):
    """
    Allocate `size` bytes on `device` (a `size` in a register is an int64 scalar).

    ```mlir
    bytecode.alloc_storage r1, 140 align 64 on #relay.device<cpu:0>
    ```
    """

    dst: Dst
    size: RegisterOrInt
    alignment: Int
    device: DeviceIndex = 0

    def faults(self) -> Iterator[str]:
        yield from _alignment_faults(self.alignment)


@instruction("$dst, $storage[$offset] size $size align $alignment")
class SliceStorage(Instruction):
    """
    Use `size` bytes of `storage` from byte `offset` on as a storage (int64 scalars).

    ```mlir
    bytecode.slice_storage r2, r1[64] size 128 align 64
    bytecode.slice_storage r2, r1[r3] size r4 align 64
    ```

    The bytes must be in the storage, and the offset a multiple of the alignment, which is at most
    that of the storage.
    """

    dst: Dst
    storage: Register
    offset: RegisterOrInt
    size: RegisterOrInt
    alignment: Int

    def faults(self) -> Iterator[str]:
        yield from _alignment_faults(self.alignment)


@instruction("$dst, $tensor")
class ShapeOf(Instruction):
    """
    Read the shape of `tensor`, as a rank-1 int64 tensor on the host.

    ```mlir
    bytecode.shape_of r2, r1
    ```
    """

    dst: Dst
    tensor: Register


@instruction("$dst, $operation$args")
class Compute(Instruction):
    """
    Apply `operation`, an op of `arith`, `extract`, `from_elements` or a measure, to sizes and
    tensors on the host.

    ```mlir
    bytecode.compute r3, "muli"(r1, r2)
    bytecode.compute r4, "extract"(r0, r1)
    bytecode.compute r5, "slice_length"(r1, r2, r3, r4)
    ```

    The operations are those of `runtime.program.size_operations`. A result that does not fit in 64
    bits stops the program.
    """

    dst: Dst
    operation: Text
    args: Registers


@instruction("$check $lhs, $rhs, $message$values")
class Require(Instruction):
    """
    Stop with `message` unless the sizes `lhs` and `rhs` are in the relation `check`.

    ```mlir
    bytecode.require "eq" r1, r2, "relay.nn.dense: {0} and {1} of {2}"(r3)
    ```

    The relations and the message are those of `relay.require`: in the message `{0}` stands for
    `lhs`, `{1}` for `rhs`, `{2}` for the first of `values`, ….
    """

    check: Text
    lhs: Register
    rhs: Register
    message: Text
    values: Registers = ()

    def faults(self) -> Iterator[str]:
        if self.check not in list(Check):
            yield f"check must be one of {', '.join(Check)}, but is {self.check!r}"
        count = 2 + len(self.values)
        for number in placeholders(self.message):
            if number >= count:
                yield f"the message has {{{number}}}, but there are {count} operands"


@instruction("$total, $offsets align $alignment lifetimes $lifetimes sizes $sizes(? arms $arms)")
class Pack(Instruction):
    """
    Choose an offset for each slice of `sizes` so that slices alive together do not overlap.

    ```mlir
    bytecode.pack r4, (r5, r6, r7) align 64 lifetimes [0, 2, 1, 4, 1, 3] sizes (r1, 4096, r2)
    bytecode.pack r4, (r5, r6) align 64 lifetimes [0, 2, 0, 2] sizes (r1, 8) arms [0, 0, 0, 1, 0, 1]
    ```

    `lifetimes` are the start and the end of each slice, `arms` triples of a slice, a branch and its
    arm: slices in different arms of a branch are never alive together. Offsets are multiples of
    `alignment`. `total` receives the size of the arena, `offsets` the offsets: int64 scalars. The
    machine plans when it knows the sizes, once for equal ones.
    """

    total: Dst
    offsets: Dsts
    alignment: Int
    lifetimes: Ints
    sizes: RegistersOrInts
    arms: Ints = ()

    @property
    def intervals(self) -> Iterator[tuple[int, int]]:
        """The start and the end of each slice's life."""
        return zip(self.lifetimes[::2], self.lifetimes[1::2], strict=True)

    def faults(self) -> Iterator[str]:
        count = len(self.sizes)
        if len(self.offsets) != count or len(self.lifetimes) != 2 * count:
            yield (
                f"{count} slices need {count} offsets and {2 * count} lifetime bounds, "
                f"but there are {len(self.offsets)} and {len(self.lifetimes)}"
            )
            return
        yield from _alignment_faults(self.alignment)
        for number, (start, stop) in enumerate(self.intervals):
            if not 0 <= start < stop < MAX_TIME:
                yield f"the lifetime of slice {number} must not be empty, but is [{start}, {stop})"
        for number, size in enumerate(self.sizes):
            if isinstance(size, int) and size < 0:
                yield f"slice {number} must have at least 0 bytes, but has {size}"
        if len(self.arms) % 3:
            yield f"arms must be triples of a slice, a branch and an arm, but are {len(self.arms)}"
            return
        counts = Counter(zip(self.arms[::3], self.arms[1::3], strict=True))
        for (number, branch), times in counts.items():
            if not 0 <= number < count:
                yield f"slice {number} is out of range [0, {count})"
            if times > 1:
                yield f"slice {number} can be in one arm of branch {branch} only"


@instruction("$dst, $tensor to $shape")
class ReshapeTensor(Instruction):
    """
    View `tensor` with a shape of equal size (in a register: a rank-1 int64 tensor).

    ```mlir
    bytecode.reshape_tensor r2, r1 to [2, 2]
    bytecode.reshape_tensor r2, r1 to r5
    ```
    """

    dst: Dst
    tensor: Register
    shape: RegisterOrDims


@instruction("$src -> $out from $src_device to $dst_device")
class DeviceCopy(Instruction):
    """
    Copy tensor `src` on `src_device` into tensor `out` on `dst_device`.

    ```mlir
    bytecode.device_copy r1 -> r2 from #relay.device<cpu:0> to #relay.device<cuda:0>
    ```

    The register `out` is read: it holds the tensor to write.
    """

    src: Register
    out: Register
    src_device: DeviceIndex
    dst_device: DeviceIndex


@instruction("$register")
class KillRegister(Instruction):
    """
    Clear `register`; memory without references is freed.

    ```mlir
    bytecode.kill_register r2
    ```
    """

    register: Dst


@instruction("$storage")
class KillStorage(Instruction):
    """
    Clear `storage`, or what it is a slice of, and all registers that hold a tensor or slice of it.

    ```mlir
    bytecode.kill_storage r2
    ```
    """

    storage: Register


@instruction("$dst, $tensor[$start] axis $axis to $shape")
class SliceTensor(Instruction):
    """
    View rows of `tensor` along `axis` from `start` on (int64 scalar) as `shape` (a rank-1 int64
    tensor). The dims before the axis are 1.

    ```mlir
    bytecode.slice_tensor r2, r1[3] axis 1 to [1, 2, 4]
    bytecode.slice_tensor r2, r1[r3] axis 0 to r5
    ```
    """

    dst: Dst
    tensor: Register
    start: RegisterOrInt
    shape: RegisterOrDims
    axis: Int = 0


@instruction("$dst, $parts to $shape")
class JoinTensors(Instruction):
    """
    View `parts`, tensors that lie side by side in one storage, as one of `shape`.

    ```mlir
    bytecode.join_tensors r3, (r1, r2) to [2, 4]
    bytecode.join_tensors r3, (r1, r2) to r5
    ```

    A part without elements may be anywhere.
    """

    dst: Dst
    parts: Registers
    shape: RegisterOrDims


@instruction("$src[$start] -> $out[$out_start] axis $axis rows $rows")
class CopyRows(Instruction):
    """
    Copy `rows` rows of tensor `src` along `axis`, from `start` on, over those of `out` from
    `out_start` on (int64 scalars). If `src` is a scalar, it is written over all elements of these.

    ```mlir
    bytecode.copy_rows r1[3] -> r2[0] axis 1 rows 2
    bytecode.copy_rows r1[0] -> r2[r3] axis 1 rows r4
    ```

    The register `out` is read: it holds the tensor to write. Rows of `out` besides these must be
    written, unless `rows` is 0.
    """

    src: Register
    start: RegisterOrInt
    out: Register
    out_start: RegisterOrInt
    axis: Int
    rows: RegisterOrInt


@instruction("$dst, $storage[$offset], $src[$start] axis $axis : tensor<$shape$dtype>")
class TakeRows(Instruction):
    """
    Copy rows of tensor `src` along `axis`, from `start` on, into a new one: `alloc_tensor` and
    `copy_rows`.

    ```mlir
    bytecode.take_rows r3, r2[64], r1[4] axis 1 : tensor<1x2x58xf32>
    bytecode.take_rows r3, r2[64], r1[r4] axis 1 : tensor<1x2x58xf32>
    ```
    """

    dst: Dst
    storage: Register
    offset: RegisterOrInt
    src: Register
    start: RegisterOrInt
    axis: Int
    shape: Shape
    dtype: Dtype


@instruction("$src[$start] -> $out axis $axis fill $fill")
class ReadRows(Instruction):
    """
    Copy rows of tensor `src` along `axis`, from `start` on (int64 scalar), over all of `out`. Those
    that `src` does not have are `fill`, a scalar.

    ```mlir
    bytecode.read_rows r1[-2] -> r2 axis 1 fill r3
    bytecode.read_rows r1[r4] -> r2 axis 1 fill r3
    ```
    """

    src: Register
    start: RegisterOrInt
    out: Register
    axis: Int
    fill: Register


@instruction("$src[$source] -> $out[$start] axis $axis rows $rows")
class WriteRows(Instruction):
    """
    Copy `rows` rows of tensor `src` along `axis`, from `source` on, over those of `out` from
    `start` on (int64 scalar). Those that `out` does not have are not copied.

    ```mlir
    bytecode.write_rows r1[0] -> r2[r3] axis 1 rows 4
    ```
    """

    src: Register
    source: Int
    out: Register
    start: RegisterOrInt
    axis: Int
    rows: Int


@instruction("$fill -> $out[$start] axis $axis bound $bound")
class FillRows(Instruction):
    """
    Write the scalar `fill` over those rows of `out` along `axis` that a tensor of `bound` rows does
    not have, if its row `start` is the first of `out` (int64 scalars).

    ```mlir
    bytecode.fill_rows r1 -> r2[r3] axis 1 bound 14
    bytecode.fill_rows r1 -> r2[-2] axis 1 bound r4
    ```
    """

    fill: Register
    out: Register
    start: RegisterOrInt
    axis: Int
    bound: RegisterOrInt

"""
Turn a function on buffers into a flat entry.

    func.func @main(%x: memref<4xf32>, %r: memref<?xi8> {memory.result = 0}, %w: memref<?xi8> {…},
                    %constants: memref<?xi8>) {
      %y = memref.view %r[%c0][] : memref<?xi8> to memref<4xf32>
      …
    ->
    func.func @model_main_flat(%x: memref<4xf32>, %y: memref<4xf32>, %constants: memref<?xi8>,
                          %workspace: memref<?xi8>) attributes {llvm.emit_c_interface}

Parameters are the inputs, the outputs, the pool of constants if the function reads it, a workspace
for each device, that of the host first, and the contexts of devices. An output is a tensor, or
bytes if the function uses its storage as more than that tensor. A result that is not in a storage
of the caller is written to its output right away, or copied there, each time that it is returned.
Only an output whose size is known after the run is returned as it is: the caller frees it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from ...dialects import memory
from ...passes.support.diagnostics import PassError
from ...runtime.native.interface import ALIGNMENT, FLAT, Entry, Form, Pool, spec_of
from ...runtime.program.program import Param
from ..memref.memref_types import as_memref
from .c_names import sanitized, unique_names
from .constant_pool import POOL
from .descriptions import ENTRY, Described
from .lent_storages import memref_of, type_of_views, verify_room

NAME = "xrelay.name"
"""The name of the input or output that a parameter is."""
OUTPUT = "xrelay.output"
"""The number of the output that a parameter is."""
WORKSPACE = "xrelay.workspace"
"""The device whose workspace a parameter is."""
CONTEXT = "xrelay.device_context"
"""The device whose context a parameter is."""
IO_MEMORY = "xrelay.io_used_memory"
"""The bytes of inputs and outputs, if dims do not matter."""
WORKSPACE_MEMORY = "xrelay.workspace_memory"
"""The bytes of all workspaces, if dims do not matter."""
C_INTERFACE = "llvm.emit_c_interface"


def space_name(value: SSAValue) -> str | None:
    """Return the name of the memory space of a memref; None for the default one."""
    space = as_memref(value.type).memory_space
    return space.data if isinstance(space, StringAttr) else None


def total_bytes(params: Sequence[Param]) -> int | None:
    """Return the bytes of tensors; None if they depend on dims."""
    specs = [spec_of(param) for param in params]
    return sum(spec.size for spec in specs) if all(s.is_static for s in specs) else None


@dataclass
class Lent:
    """The parameters of a function, by what they are."""

    results: Mapping[int, BlockArgument]
    workspaces: Mapping[str | None, BlockArgument]
    """By memory space."""
    constants: BlockArgument | None


def lent_to(function: func.FuncOp) -> Lent:
    results: dict[int, BlockArgument] = {}
    workspaces: dict[str | None, BlockArgument] = {}
    constants: BlockArgument | None = None
    for i, param in enumerate(function.body.block.args):
        attrs = memory.parameter_attributes(function, i)
        number = memory.result_in_parameter(function, i)
        if number is not None:
            results[number] = param
        elif POOL in attrs:
            constants = param
        elif memory.WORKSPACE in attrs:
            workspaces[space_name(param)] = param
    return Lent(results, workspaces, constants)


@dataclass
class Parameters:
    """The new parameters of a function, after the old ones, and their attributes."""

    function: func.FuncOp
    rewriter: PatternRewriter
    attrs: list[DictionaryAttr] = field(default_factory=list[DictionaryAttr])

    def add(
        self,
        type: Attribute,
        name: str,
        attrs: Mapping[str, Attribute],
        old: SSAValue | None = None,
    ) -> BlockArgument:
        """Add a parameter, in place of `old` if there is one."""
        block = self.function.body.block
        made = self.rewriter.insert_block_argument(block, len(block.args), type)
        made.name_hint = name
        if old is not None:
            old.replace_all_uses_with(made)
        self.attrs.append(DictionaryAttr(attrs))
        return made


@dataclass
class FlattenEntry(RewritePattern):
    """Give a function the parameters of a flat entry."""

    described: Described
    devices: Sequence[str]
    symbol: str
    contexts: tuple[int, ...]
    forms: tuple[Form, ...]
    entry: Entry | None = None
    """The entry that was made."""
    storages: int = 0
    """The number of storages that the function was lent."""
    size_of_pool: tuple[int | None, ...] = ()
    """Of each workspace the number of its storage; None if it has 0 bytes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        old, lent = list(op.body.block.args), lent_to(op)
        function, allocated = self.described.function, self.described.allocated
        inputs, results = function.params, function.results or ()
        workspaces = [name_for("workspace", i, d) for i, d in enumerate(self.devices)]
        contexts = [f"device_context_{sanitized(device)}" for device in self.devices]
        texts = [param.name for param in (*inputs, *results)]
        names = unique_names(texts, [*workspaces, *contexts, self.symbol])
        params = Parameters(op, rewriter)
        for param, old_one, name in zip(inputs, old, names, strict=False):
            params.add(old_one.type, name, {NAME: StringAttr(param.name)}, old_one)
        outputs: dict[int, BlockArgument] = {}
        types: list[Attribute] = []
        returned = (type for type in op.function_type.outputs if not isinstance(type, IndexType))
        for i, (result, name) in enumerate(zip(results, names[len(inputs) :], strict=True)):
            storage = lent.results.get(i)
            if i in allocated:
                types.append(next(returned))
                continue
            type = memref_of(spec_of(result)) if storage is not None else next(returned)
            outputs[i] = self.add_output(params, result, i, name, storage, type)
        typed = tuple(i not in outputs or not is_bytes(outputs[i]) for i in range(len(results)))
        returned_to = [outputs.get(i) for i in range(len(results)) if i not in lent.results]
        write_outputs(op, returned_to, rewriter)
        if lent.constants is not None:
            params.add(lent.constants.type, "constants", {POOL: UnitAttr()}, lent.constants)
        pools = [
            self.add_pool(params, device, name, lent.workspaces)
            for device, name in enumerate(workspaces)
            if not device or self.devices[device] in lent.workspaces
        ]
        for device in self.contexts:
            attrs = {CONTEXT: StringAttr(self.devices[device])}
            params.add(llvm.LLVMPointerType(), contexts[device], attrs)
        self.storages = len(lent.results) + len(lent.workspaces)
        found = [lent.workspaces.get(space_of_device(self.devices, p.device)) for p in pools]
        numbers = [None if param is None else old.index(param) for param in found]
        self.size_of_pool = tuple(None if n is None else n - len(inputs) for n in numbers)
        for param in old:
            rewriter.erase_block_argument(param)
        op.function_type = FunctionType.from_lists(op.body.block.arg_types, types)
        op.arg_attrs, op.res_attrs = ArrayAttr(params.attrs), None
        op.sym_name = StringAttr(self.symbol + FLAT)
        op.sym_visibility = StringAttr("public")
        op.attributes.pop(ENTRY, None)
        op.attributes[C_INTERFACE] = UnitAttr()
        self.entry = Entry(
            function,
            self.symbol,
            tuple(names),
            typed,
            tuple(i in allocated for i in range(len(results))),
            tuple(pools),
            lent.constants is not None,
            self.contexts,
            self.forms,
            total_bytes((*inputs, *results)),
            structure=self.described.structure,
        )
        for attr, bytes in ((IO_MEMORY, self.entry.io), (WORKSPACE_MEMORY, self.entry.workspace)):
            if bytes is not None:
                if bytes >= 1 << 63:
                    what = f"the tensors of @{function.name} have {bytes} bytes"
                    raise PassError(f"{what}, but must have fewer than 2^63", op)
                op.attributes[attr] = IntegerAttr(bytes, i64)
        rewriter.notify_op_modified(op)

    def add_output(
        self,
        params: Parameters,
        result: Param,
        number: int,
        name: str,
        storage: BlockArgument | None,
        returned: Attribute,
    ) -> BlockArgument:
        """Make an output a parameter: a tensor, or the bytes of its storage."""
        attrs: dict[str, Attribute] = {
            NAME: StringAttr(result.name),
            OUTPUT: IntegerAttr(number, i64),
        }
        if storage is None:
            return params.add(returned, name, attrs)
        type = type_of_views(storage, spec_of(result))
        if type is None:
            spec = spec_of(result)
            room = spec.size if spec.is_static else 0
            verify_room(params.function, storage, f"the storage of result '{result.name}'", room)
            return params.add(storage.type, name, attrs, storage)
        made = params.add(type, name, attrs)
        for use in list(storage.uses):
            params.rewriter.replace(use.operation, [], [made])
        return made

    def add_pool(
        self,
        params: Parameters,
        device: int,
        name: str,
        workspaces: Mapping[str | None, BlockArgument],
    ) -> Pool:
        """Make the workspace on a device a parameter; one that is not there has 0 bytes."""
        old = workspaces.get(self.devices[device] if device else None)
        size, alignment = (0, 1) if old is None else workspace_of(params.function, old)
        alignment = max(alignment, ALIGNMENT)
        if old is not None and size is not None:
            verify_room(params.function, old, f"the workspace on {self.devices[device]}", size)
        attrs: dict[str, Attribute] = {
            WORKSPACE: StringAttr(self.devices[device]),
            memory.ALIGNMENT: IntegerAttr(alignment, i64),
        }
        if size is not None:
            attrs[memory.SIZE] = IntegerAttr(size, i64)
        type = MemRefType(i8, [DYNAMIC_INDEX]) if old is None else old.type
        params.add(type, name, attrs, old)
        return Pool(name, device, size, alignment)


def space_of_device(devices: Sequence[str], device: int) -> str | None:
    """Return the name of the memory space of a device: none for the host."""
    return devices[device] if device else None


def is_bytes(output: BlockArgument) -> bool:
    """Test whether an output is the bytes of its storage."""
    type = as_memref(output.type)
    return type.element_type == i8 and type.get_shape() == (DYNAMIC_INDEX,)


def workspace_of(function: func.FuncOp, param: BlockArgument) -> tuple[int | None, int]:
    """Return the bytes of a workspace, None if they depend on dims, and its alignment."""
    size = memory.parameter_attributes(function, param.index).get(memory.SIZE)
    known = size.value.data if isinstance(size, IntegerAttr) else None
    known = 0 if known is None and not param.uses else known
    return known, memory.alignment_of_parameter(function, param.index)


def name_for(what: str, number: int, device: str) -> str:
    return what if not number else f"{what}_{sanitized(device)}"


def write_outputs(
    function: func.FuncOp, outputs: Sequence[SSAValue | None], rewriter: PatternRewriter
) -> None:
    """
    Write the results that are returned to `outputs`; those without an output are still returned.

    What it allocated for a result and did not need is freed when the call ends.
    """
    end = function.body.block.last_op
    assert isinstance(end, func.ReturnOp), "a function returns"
    values = [value for value in end.arguments if not isinstance(value.type, IndexType)]
    pairs = list(zip(values, outputs, strict=True))
    rewriter.replace(end, func.ReturnOp(*(value for value, output in pairs if output is None)))
    end = function.body.block.last_op
    assert end is not None
    for value, output in pairs:
        if output is None:
            continue
        allocation = value.owner
        is_alone = value.type == output.type and values.count(value) == 1
        if is_alone and isinstance(allocation, memref.AllocOp):
            rewriter.replace(allocation, [], [output])
        else:
            rewriter.insert(memref.CopyOp(value, output), InsertPoint.before(end))

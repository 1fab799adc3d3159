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
from dataclasses import dataclass

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
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import memory
from ...passes.support.diagnostics import PassError
from ...runtime.native.interface import ALIGNMENT, FLAT, Entry, Form, Pool, spec_of
from ...runtime.program.program import Param
from ..memref.memref_types import as_memref
from .c_names import sanitized, unique_names
from .constant_pool import POOL
from .descriptions import ENTRY, Described
from .lent_storages import type_of_views, verify_room

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

BYTES = MemRefType(i8, [DYNAMIC_INDEX])
"""The type of memory that a caller lends."""


def space_name(value: SSAValue) -> str | None:
    """Return the name of the memory space of a memref; None for the default one."""
    space = as_memref(value.type).memory_space
    return space.data if isinstance(space, StringAttr) else None


def total_bytes(params: Sequence[Param]) -> int | None:
    """Return the bytes of tensors; None if they depend on dims."""
    specs = [spec_of(param) for param in params]
    return sum(spec.size for spec in specs) if all(s.is_static for s in specs) else None


@dataclass(frozen=True)
class Lent:
    """The parameters of a function, by what they are."""

    results: Mapping[int, BlockArgument]
    workspaces: Mapping[str | None, BlockArgument]
    """By memory space."""
    constants: BlockArgument | None


def lent_to(function: func.FuncOp) -> Lent:
    """Return the parameters of `function` in which a caller lends memory."""
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


@dataclass(frozen=True)
class Parameter:
    """A parameter of a flat entry."""

    name: str
    type: Attribute
    attrs: Mapping[str, Attribute]
    old: BlockArgument | None = None
    """The parameter whose place it takes; None if there was none."""
    replaces_views: bool = False
    """True if it takes the place of all views of `old`, False if of `old` itself."""


@dataclass(frozen=True)
class EntryPlan:
    """A flat entry, and the parameters that a function needs to be one."""

    entry: Entry
    parameters: Sequence[Parameter]
    outputs: Sequence[int | None]
    """By returned tensor, the number of the parameter to write it to; None to return it."""
    workspaces: Sequence[int | None]
    """By workspace, the number of the storage that it was lent as; None if it has 0 bytes."""
    storages: int
    """The number of storages that the function was lent."""


@dataclass(frozen=True)
class Interface:
    """All entries of a library have these in common."""

    devices: Sequence[str]
    contexts: tuple[int, ...]
    """The devices that get a context."""
    forms: tuple[Form, ...]


def plan_entry(
    function: func.FuncOp, described: Described, symbol: str, interface: Interface
) -> EntryPlan:
    """
    Return the flat entry that `function` is to be; nothing is changed.

    `symbol` is the prefix of its names in C. Raises `PassError` if the function uses more of a
    storage than a caller lends.
    """
    lent, devices, allocated = lent_to(function), interface.devices, described.allocated
    old = list(function.body.block.args)
    inputs, results = described.function.params, described.function.results or ()
    spaces = ["workspace", *(f"workspace_{sanitized(device)}" for device in devices[1:])]
    contexts = [f"device_context_{sanitized(device)}" for device in devices]
    texts = [param.name for param in (*inputs, *results)]
    names = unique_names(texts, [*spaces, *contexts, symbol])
    parameters = [
        Parameter(name, param.type, {NAME: StringAttr(of.name)}, param)
        for of, param, name in zip(inputs, old, names, strict=False)
    ]
    returned = (t for t in function.function_type.outputs if not isinstance(t, IndexType))
    targets: dict[int, int] = {}
    for i, (result, name) in enumerate(zip(results, names[len(inputs) :], strict=True)):
        storage = lent.results.get(i)
        type = next(returned) if storage is None else None
        if i not in allocated:
            targets[i] = len(parameters)
            parameters.append(_output(function, result, i, name, storage, type))
    if lent.constants is not None:
        type, attrs = lent.constants.type, {POOL: UnitAttr()}
        parameters.append(Parameter("constants", type, attrs, lent.constants))
    typed = tuple(
        i not in targets or not _is_bytes(parameters[targets[i]].type) for i in range(len(results))
    )
    pools: list[Pool] = []
    numbers: list[int | None] = []
    for device, name in enumerate(spaces):
        workspace = lent.workspaces.get(devices[device] if device else None)
        if device and workspace is None:
            continue
        pool = _pool(function, device, name, devices[device], workspace)
        pools.append(pool)
        numbers.append(None if workspace is None else old.index(workspace) - len(inputs))
        parameters.append(_workspace(pool, devices[device], workspace))
    parameters += [
        Parameter(contexts[d], llvm.LLVMPointerType(), {CONTEXT: StringAttr(devices[d])})
        for d in interface.contexts
    ]
    entry = Entry(
        described.function,
        symbol,
        tuple(names),
        typed,
        tuple(i in allocated for i in range(len(results))),
        tuple(pools),
        lent.constants is not None,
        interface.contexts,
        interface.forms,
        total_bytes((*inputs, *results)),
        structure=described.structure,
    )
    for bytes in (entry.io, entry.workspace):
        if bytes is not None and bytes >= 1 << 63:
            what = f"the tensors of @{described.function.name} have {bytes} bytes"
            raise PassError(f"{what}, but must have fewer than 2^63", function)
    outputs = [targets.get(i) for i in range(len(results)) if i not in lent.results]
    return EntryPlan(entry, parameters, outputs, numbers, len(lent.results) + len(lent.workspaces))


def _output(
    function: func.FuncOp,
    result: Param,
    number: int,
    name: str,
    storage: BlockArgument | None,
    returned: Attribute | None,
) -> Parameter:
    """Return the parameter of an output: a tensor, or the bytes of its storage."""
    attrs = {NAME: StringAttr(result.name), OUTPUT: IntegerAttr(number, i64)}
    spec = spec_of(result)
    if storage is None:
        assert returned is not None, "a result that is not in a storage is returned"
        return Parameter(name, returned, attrs)
    type = type_of_views(storage, spec)
    if type is not None:
        return Parameter(name, type, attrs, storage, replaces_views=True)
    room = spec.size if spec.is_static else 0
    verify_room(function, storage, f"the storage of result '{result.name}'", room)
    return Parameter(name, storage.type, attrs, storage)


def _pool(
    function: func.FuncOp, device: int, name: str, device_name: str, old: BlockArgument | None
) -> Pool:
    """Return the workspace on a device; one that is not there has 0 bytes."""
    if old is None:
        return Pool(name, device, 0, ALIGNMENT)
    attribute = memory.parameter_attributes(function, old.index).get(memory.SIZE)
    size = 0 if not old.uses else None
    if isinstance(attribute, IntegerAttr):
        size = attribute.value.data
    if size is not None:
        verify_room(function, old, f"the workspace on {device_name}", size)
    alignment = max(memory.alignment_of_parameter(function, old.index), ALIGNMENT)
    return Pool(name, device, size, alignment)


def _workspace(pool: Pool, device: str, old: BlockArgument | None) -> Parameter:
    """Return the parameter of a workspace."""
    attrs: dict[str, Attribute] = {
        WORKSPACE: StringAttr(device),
        memory.ALIGNMENT: IntegerAttr(pool.alignment, i64),
    }
    if pool.size is not None:
        attrs[memory.SIZE] = IntegerAttr(pool.size, i64)
    return Parameter(pool.symbol, BYTES if old is None else old.type, attrs, old)


def flatten_entry(function: func.FuncOp, plan: EntryPlan) -> None:
    """Give `function` the parameters of the flat entry that it is to be."""
    block, entry = function.body.block, plan.entry
    old = list(block.args)
    new = [_add_parameter(block, param) for param in plan.parameters]
    write_outputs(function, [None if number is None else new[number] for number in plan.outputs])
    for param in old:
        block.erase_arg(param)
    end = block.last_op
    assert isinstance(end, func.ReturnOp), "a function returns"
    function.function_type = FunctionType.from_lists(block.arg_types, end.arguments.types)
    function.arg_attrs = ArrayAttr(DictionaryAttr(param.attrs) for param in plan.parameters)
    function.res_attrs = None
    function.sym_name = StringAttr(entry.symbol + FLAT)
    function.sym_visibility = StringAttr("public")
    function.attributes.pop(ENTRY, None)
    function.attributes[C_INTERFACE] = UnitAttr()
    for attr, bytes in ((IO_MEMORY, entry.io), (WORKSPACE_MEMORY, entry.workspace)):
        if bytes is not None:
            function.attributes[attr] = IntegerAttr(bytes, i64)


def _add_parameter(block: Block, param: Parameter) -> BlockArgument:
    """Add a parameter of a function, whose body is `block`, in place of the old one."""
    argument = block.insert_arg(param.type, len(block.args))
    argument.name_hint = param.name
    if param.old is not None and param.replaces_views:
        for use in list(param.old.uses):
            Rewriter.replace_op(use.operation, [], [argument])
    elif param.old is not None:
        param.old.replace_all_uses_with(argument)
    return argument


def _is_bytes(output: Attribute) -> bool:
    """Test whether an output of this type is the bytes of its storage."""
    type = as_memref(output)
    return type.element_type == i8 and type.get_shape() == (DYNAMIC_INDEX,)


def write_outputs(function: func.FuncOp, outputs: Sequence[SSAValue | None]) -> None:
    """
    Write the results that are returned to `outputs`; those without an output are still returned.

    What it allocated for a result and did not need is freed when the call ends.
    """
    end = function.body.block.last_op
    assert isinstance(end, func.ReturnOp), "a function returns"
    values = [value for value in end.arguments if not isinstance(value.type, IndexType)]
    pairs = list(zip(values, outputs, strict=True))
    end.operands = [value for value, output in pairs if output is None]
    for value, output in pairs:
        if output is None:
            continue
        allocation = value.owner
        is_alone = value.type == output.type and values.count(value) == 1
        if is_alone and isinstance(allocation, memref.AllocOp):
            Rewriter.replace_op(allocation, [], [output])
        else:
            copy = memref.CopyOp(value, output)
            copy.location = end.location
            Rewriter.insert_op(copy, InsertPoint.before(end))

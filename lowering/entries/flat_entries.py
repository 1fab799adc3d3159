"""
Turn a function on buffers into a flat entry, and its function of sizes into one in memory.

    func.func @main(%x: memref<4xf32>, %r: memref<?xi8> {memory.result = 0}, %w: memref<?xi8> {…},
                    %constants: memref<?xi8>) {
      %y = memref.view %r[%c0][] : memref<?xi8> to memref<4xf32>
      …
    func.func @main.sizes(%n: i64) -> (i64, i64, i64) attributes {memory.sizes_of = @main}
    ->
    func.func @model_main_flat(%x: memref<4xf32>, %y: memref<4xf32>, %constants: memref<?xi8>,
                          %workspace: memref<?xi8>) attributes {llvm.emit_c_interface}
    func.func @model_main_sizes(%dims: memref<?xi64>, %sizes: memref<?xi64>)

Parameters are the inputs, the outputs, the pools of constants if the function reads any, a
workspace for each device, that of the host first, and the contexts of devices. An output is a
tensor, or bytes if the function uses its storage as more than that tensor. A result that is not in
a storage of the caller is written to its output right away, or copied there, each time that it is
returned.
Only an output whose size is known after the run is returned as it is: the caller frees it.

The sizes are the bytes of each workspace of the entry, in order, and the dynamic dims of each
output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import NamedTuple

from xdsl.dialects import func, llvm, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    i8,
    i64,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import SymbolTable

from ...dialects import memory
from ...dialects.dense import integer
from ...dialects.tensors import element_size
from ...passes.functions.signatures import erase_parameters, insert_parameters
from ...passes.sizes.size_code import SizeCode
from ...passes.support.diagnostics import PassError
from ...runtime.native.interface import ALIGNMENT, FLAT, Entry, Form, Pool, spec_of
from ...runtime.program.dtypes import element_type
from ...runtime.program.program import Param, TensorSpec
from ..memref.memref_types import as_memref
from .c_names import sanitized, unique_names
from .constant_pool import POOL
from .descriptions import ENTRY, Described

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
NUMBERS = MemRefType(i64, [DYNAMIC_INDEX])


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
    pools: Mapping[str, memory.PoolAttr] = field(default_factory=dict[str, memory.PoolAttr])
    """The pools of devices, by their places."""

    def spaces(self) -> Iterator[Space]:
        """Yield where workspaces may be: each device, followed by its pools."""
        for number, device in enumerate(self.devices):
            name = f"workspace_{sanitized(device)}" if number else "workspace"
            yield Space(number, device, name)
            for place in self.pools:
                home, slash, scope = place.partition("/")
                if slash and home == device:
                    yield Space(number, place, f"{name}_{sanitized(scope)}")


class Space(NamedTuple):
    """A device, by number and name, or a pool of one, and the name of the workspace there."""

    device: int
    place: str
    symbol: str


# ------------------------------------------------------------------------- analysis


def plan_entry(
    function: func.FuncOp, described: Described, symbol: str, interface: Interface
) -> EntryPlan:
    """
    Return the flat entry that `function` is to be; nothing is changed.

    `symbol` is the prefix of its names in C. Raises `PassError` if the function uses more of a
    storage than a caller lends.
    """
    devices, allocated = interface.devices, described.allocated
    old = list(function.body.block.args)
    lent = {memory.result_in_parameter(function, arg.index): arg for arg in old}
    lent.pop(None, None)
    spaces = [*interface.spaces()]
    workspaces = {
        _place(function, arg) or devices[0]: arg
        for arg in old
        if _has(function, arg, memory.WORKSPACE)
    }
    constants = [arg for arg in old if _has(function, arg, POOL)]
    inputs, results = described.function.params, described.function.results or ()
    contexts = [f"device_context_{sanitized(device)}" for device in devices]
    texts = [param.name for param in (*inputs, *results)]
    names = unique_names(texts, [*(space.symbol for space in spaces), *contexts, symbol])
    parameters = [
        Parameter(name, param.type, {NAME: StringAttr(of.name)}, param)
        for of, param, name in zip(inputs, old, names, strict=False)
    ]
    returned = (t for t in function.function_type.outputs if not isinstance(t, IndexType))
    targets: dict[int, int] = {}
    for i, (result, name) in enumerate(zip(results, names[len(inputs) :], strict=True)):
        place = lent.get(i) or next(returned)
        if i not in allocated:
            targets[i] = len(parameters)
            parameters.append(_output(function, result, i, name, place))
    for arg in constants:
        mark = {POOL: memory.parameter_attributes(function, arg.index)[POOL]}
        parameters.append(Parameter(arg.name_hint or "constants", arg.type, mark, arg))
    pools: list[Pool] = []
    numbers: list[int | None] = []
    in_pools = any(space.place in interface.pools and not space.device for space in spaces)
    for space in spaces:
        old_space = workspaces.get(space.place)
        pool = interface.pools.get(space.place)
        if old_space is None and pool is None and (space.device or in_pools):
            continue
        pools.append(_pool(function, space, pool, old_space))
        numbers.append(None if old_space is None else old.index(old_space) - len(inputs))
        parameters.append(_workspace(pools[-1], space.place, old_space))
    parameters += [
        Parameter(contexts[d], llvm.LLVMPointerType(), {CONTEXT: StringAttr(devices[d])})
        for d in interface.contexts
    ]
    specs = [spec_of(param) for param in (*inputs, *results)]
    entry = Entry(
        described.function,
        symbol,
        tuple(names),
        tuple(
            i not in targets or not _is_bytes(parameters[targets[i]]) for i in range(len(results))
        ),
        tuple(i in allocated for i in range(len(results))),
        tuple(pools),
        bool(constants),
        interface.contexts,
        interface.forms,
        sum(spec.size for spec in specs) if all(spec.is_static for spec in specs) else None,
        structure=described.structure,
    )
    for bytes in (entry.io, entry.workspace):
        if bytes is not None and bytes >= 1 << 63:
            what = f"the tensors of @{described.function.name} have {bytes} bytes"
            raise PassError(f"{what}, but must have fewer than 2^63", function)
    outputs = [targets.get(i) for i in range(len(results)) if i not in lent]
    return EntryPlan(entry, parameters, outputs, numbers, len(lent) + len(workspaces))


def _has(function: func.FuncOp, param: BlockArgument, attribute: str) -> bool:
    return attribute in memory.parameter_attributes(function, param.index)


def _is_bytes(output: Parameter) -> bool:
    """Test whether an output is the bytes of its storage."""
    type = as_memref(output.type)
    return (type.element_type, type.shape) == (BYTES.element_type, BYTES.shape)


def _place(function: func.FuncOp, value: BlockArgument) -> str | None:
    """Return the pool or the device of a workspace; None for the default memory space."""
    pool = memory.parameter_attributes(function, value.index).get(memory.POOL)
    space = pool or as_memref(value.type).memory_space
    return space.data if isinstance(space, StringAttr) else None


def _output(
    function: func.FuncOp, result: Param, number: int, name: str, place: SSAValue | Attribute
) -> Parameter:
    """Return the parameter of an output: a tensor, which is returned, or in a storage; or bytes."""
    attrs = {NAME: StringAttr(result.name), OUTPUT: IntegerAttr(number, i64)}
    if not isinstance(place, BlockArgument):
        assert isinstance(place, Attribute), "the type of what is returned"
        return Parameter(name, place, attrs)
    spec = spec_of(result)
    type = _type_of_views(place, spec)
    if type is not None:
        return Parameter(name, type, attrs, place, replaces_views=True)
    room = spec.size if spec.is_static else 0
    _verify_room(function, place, f"the storage of result '{result.name}'", room)
    return Parameter(name, place.type, attrs, place)


def _pool(
    function: func.FuncOp, space: Space, pool: memory.PoolAttr | None, old: BlockArgument | None
) -> Pool:
    """Return the workspace on a device or in a pool; one that is not there has 0 bytes."""
    device, place, name = space
    where = ("", None) if pool is None else (place, pool.capacity)
    if old is None:
        return Pool(name, device, 0, ALIGNMENT, *where)
    attribute = memory.parameter_attributes(function, old.index).get(memory.SIZE)
    size = 0 if not old.uses else None
    if isinstance(attribute, IntegerAttr):
        size = attribute.value.data
    if size is not None:
        _verify_room(function, old, f"the workspace on {place}", size)
    alignment = max(memory.alignment_of_parameter(function, old.index), ALIGNMENT)
    return Pool(name, device, size, alignment, *where)


def _workspace(pool: Pool, device: str, old: BlockArgument | None) -> Parameter:
    """Return the parameter of a workspace."""
    attrs: dict[str, Attribute] = {
        WORKSPACE: StringAttr(device),
        memory.ALIGNMENT: IntegerAttr(pool.alignment, i64),
    }
    if pool.size is not None:
        attrs[memory.SIZE] = IntegerAttr(pool.size, i64)
    return Parameter(pool.symbol, BYTES if old is None else old.type, attrs, old)


def _type_of_views(storage: SSAValue, spec: TensorSpec) -> Attribute | None:
    """Return the type of `spec` as which all uses of `storage` view its start; None if not all."""
    types: set[Attribute] = set()
    shape = tuple(DYNAMIC_INDEX if size is None else size for size in spec.shape)
    item_size = element_type(spec.dtype).itemsize
    for use in storage.uses:
        view = use.operation
        if not isinstance(view, memref.ViewOp) or integer(view.byte_shift) != 0:
            return None
        type = as_memref(view.result.type)
        if type.get_shape() != shape or element_size(type.element_type) != item_size:
            return None
        types.add(type)
    return types.pop() if len(types) == 1 else None


def _verify_room(function: func.FuncOp, storage: SSAValue, what: str, room: int) -> None:
    """
    Raise `PassError` if more than the first `room` bytes of `storage`, which is `what`, are used.

    Ends that are not static are checked when the program runs.
    """
    pending, seen = [storage], {storage}
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, func.CallOp):
                callee = SymbolTable.lookup_symbol(function, op.callee)
                assert isinstance(callee, func.FuncOp), "verified: calls are of functions"
                param = callee.body.block.args[use.index] if callee.body.blocks else storage
                if param not in seen:
                    seen.add(param)
                    pending.append(param)
            end = _static_end(op) if isinstance(op, memref.ViewOp) else None
            if end is not None and end > room:
                raise PassError(
                    f"@{function.sym_name.data} uses {end} bytes of {what}, but a caller may have "
                    f"{room}: plan-memory{{lend-entries}} makes storages that fit",
                    op,
                )


def _static_end(view: memref.ViewOp) -> int | None:
    """Return the byte at which a view ends, if it is known."""
    type, start = as_memref(view.result.type), integer(view.byte_shift)
    if start is None or DYNAMIC_INDEX in type.get_shape():
        return None
    return start + prod(type.get_shape()) * element_size(type.element_type)


# ------------------------------------------------------------------------- rewrite


def flatten_entry(function: func.FuncOp, plan: EntryPlan) -> None:
    """Give `function` the parameters of the flat entry that it is to be."""
    block, entry = function.body.block, plan.entry
    count = len(block.args)
    attrs = [DictionaryAttr(param.attrs) for param in plan.parameters]
    new = insert_parameters(function, count, [param.type for param in plan.parameters], attrs)
    for param, argument in zip(plan.parameters, new, strict=True):
        argument.name_hint = param.name
        if param.old is not None and param.replaces_views:
            for use in list(param.old.uses):
                Rewriter.replace_op(use.operation, [], [argument])
        elif param.old is not None:
            param.old.replace_all_uses_with(argument)
    _write_outputs(function, [None if number is None else new[number] for number in plan.outputs])
    erase_parameters(function, range(count))
    function.sym_visibility = StringAttr("public")
    function.attributes.pop(ENTRY, None)
    _name(function, entry.symbol + FLAT)
    for attr, bytes in ((IO_MEMORY, entry.io), (WORKSPACE_MEMORY, entry.workspace)):
        if bytes is not None:
            function.attributes[attr] = IntegerAttr(bytes, i64)


def _name(function: func.FuncOp, symbol: str) -> None:
    """Make `function`, whose body is done, a function of the interface in C."""
    function.update_function_type()
    function.res_attrs = None
    function.sym_name = StringAttr(symbol)
    function.attributes[C_INTERFACE] = UnitAttr()


def _write_outputs(function: func.FuncOp, outputs: Sequence[SSAValue | None]) -> None:
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


def flatten_sizes(function: func.FuncOp, plan: EntryPlan) -> None:
    """Let the function of sizes for the entry of `plan` read dims from memory, and write there."""
    block = function.body.block
    old, end = list(block.args), block.last_op
    assert end is not None, "a function returns"
    dims, sizes = insert_parameters(function, len(old), [NUMBERS] * 2)
    dims.name_hint, sizes.name_hint = "dims", "sizes"
    loads, stores = list[Operation](), list[Operation]()
    code = SizeCode(loads.append)
    for i, param in enumerate(old):
        load = memref.LoadOp.get(dims, [code.index(i)])
        param.replace_all_uses_with(code.emit(load, param.name_hint))
    erase_parameters(function, range(len(old)))
    bytes = (0 if number is None else end.operands[number] for number in plan.workspaces)
    code = SizeCode(stores.append)
    for i, value in enumerate((*bytes, *end.operands[plan.storages :])):
        code.insert(memref.StoreOp.get(code.value(value), sizes, [code.index(i)]))
    end.operands = []
    Rewriter.insert_op(stores, InsertPoint.before(end))
    Rewriter.insert_op(loads, InsertPoint.at_start(block))
    for op in (*loads, *stores):
        op.location = function.location
    function.arg_attrs = None
    function.attributes = {}
    _name(function, f"{plan.entry.symbol}_sizes")

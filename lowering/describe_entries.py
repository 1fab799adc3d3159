"""
Describe functions for callers from outside, before their types become memory.

    func.func @main(%x: tensor<?x8xui8, #cpu0> {relay.name = "x:0", relay.dims = ["n", 8]}, …)
    ->
    … attributes {xrelay.entry = {function = {
        name = "main",
        params = [{name = "x:0", spec = {dtype = "uint8", shape = [-1, 8]}, dims = ["n", ""]}],
        dim_bounds = {n = [1, 64]}, results = […]}, allocated = [0]}}

`allocated` lists the outputs whose size is known only after the run: the function allocates them.
`structure` is the function's `relay.structure`, if `flatten-tuples` left one.

A kernel that keeps operators of `relay` gets `xrelay.steps`: its operators, for a runtime
that supplies it. The module gets `xrelay.params`, the element types of its params, and
`xrelay.devices`. `aot-lower-main` reads all of them. Level `memory-planned`, which stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import memory, relay
from ..dialects.device import device_of
from ..dialects.relay.cache_attributes import cached_results
from ..dialects.relay.language.annotations import STRUCTURE
from ..dialects.relay.language.dims_attributes import (
    dim_bounds,
    dim_names,
    parameter_names,
    result_names,
)
from ..dialects.tensors import as_tensor
from ..dialects.xdsl_extras.walking import walk
from ..passes.devices.options import device_option
from ..passes.sizes.result_dims import dims_of_results
from ..passes.support.changes import LevelPass
from ..passes.support.diagnostics import PassError
from ..passes.support.rewriting import apply_patterns
from ..passes.workspaces.lending import is_entry
from ..runtime.native.interface import Structure
from ..runtime.program.named_results import unique_names
from ..runtime.program.program import Cache, Function, Kernel, Param
from .bytecode.assemble import assemble_kernel, spec_of
from .entries.descriptions import (
    DEVICES,
    ENTRY,
    PARAMS,
    STEPS,
    Described,
    attribute_of,
    record_attribute,
    record_of,
)
from .lower_to_bytecode import kernel_steps


@dataclass(frozen=True)
class DescribeEntry(RewritePattern):
    """Describe a function that is called from outside."""

    devices: Sequence[str]
    """The devices of the module, the host first."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        function = self.function_of(op)
        allocated, structure = allocated_results(op), None
        if (nested := op.attributes.pop(STRUCTURE, None)) is not None:
            structure = record_of(Structure, nested, op, f"{STRUCTURE} must be a structure")
        described = Described(function, allocated, structure)
        op.attributes[ENTRY] = record_attribute(Described, described)
        rewriter.notify_op_modified(op)

    def function_of(self, op: func.FuncOp) -> Function:
        named = [*dim_names(op), *((),) * len(op.args)]
        params = tuple(
            self.param(op, name.data, arg.type, tuple(dim or "" for dim in dims))
            for arg, name, dims in zip(op.args, parameter_names(op), named, strict=False)
            if not isinstance(arg.type, memory.StorageType)
        )
        names = unique_names(result_names(op))
        outputs = zip(names, op.function_type.outputs, dims_of_results(op), strict=True)
        results = [self.param(op, name, type, dims) for name, type, dims in outputs]
        bounds = dim_bounds(op)
        name = op.sym_name.data
        caches = tuple(Cache(*cached) for cached in cached_results(op))
        return Function(
            name, params, 0, (), dim_bounds=bounds, results=tuple(results), caches=caches
        )

    def param(self, op: func.FuncOp, name: str, type: Attribute, dims: tuple[str, ...]) -> Param:
        if as_tensor(type) is None:
            cure = (
                "run flatten-tuples first"
                if isinstance(type, TupleType)
                else "run the program by the machine (xrelay-opt -p vm, xrelay-run)"
            )
            raise PassError(
                f"'{name}' of @{op.sym_name.data} is a {type}, but native code takes and returns "
                f"tensors only: {cure}",
                op,
            )
        device = device_of(type)
        spec = self.devices[0] if device is None else device.spec
        return Param(name, spec_of(type, op), self.devices.index(spec), dims if any(dims) else ())


def allocated_results(op: func.FuncOp) -> tuple[int, ...]:
    """Return the results that a function allocates, as their size is known after it ran."""
    attrs = () if op.res_attrs is None else op.res_attrs.data
    return tuple(i for i, attributes in enumerate(attrs) if memory.ALLOCATED in attributes.data)


class DescribeKernel(RewritePattern):
    """Describe a kernel whose operators native code does not have."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: relay.PrimFuncOp, rewriter: PatternRewriter, /) -> None:
        if not op.has_operators:
            return
        kernel = assemble_kernel(kernel_steps(op), located=False)
        op.attributes[STEPS] = record_attribute(Kernel, kernel)
        rewriter.notify_op_modified(op)


def devices_used_by(module: ModuleOp, host: str) -> list[str]:
    """Return the devices of all values: the host first, the others by name and number."""
    devices: set[str] = set()
    for op in walk(module):
        args = (arg for region in op.regions for block in region.blocks for arg in block.args)
        for value in (*op.results, *args):
            device = device_of(value.type)
            if device is not None:
                devices.add(device.spec)
    others = devices - {host}
    return [host, *sorted(others, key=lambda spec: (spec.partition(":")[0], len(spec), spec))]


def params_in(module: ModuleOp) -> dict[str, str]:
    """Return the element type of each param, by name."""
    return {
        op.param.data: spec_of(op.result.type, op).dtype
        for op in walk(module)
        if isinstance(op, relay.ParamOp)
    }


@dataclass(frozen=True)
class DescribeEntriesPass(LevelPass):
    name = "describe-entries"
    accepts = "memory-planned"

    entries: tuple[str, ...] = ()
    """The functions that are called from outside; if none is given, all that are not private."""

    host: str = "cpu:0"
    """The device on which sizes and shapes are computed."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        devices = devices_used_by(op, device_option(self.host, "host").spec)
        entries = [
            function
            for function in op.ops
            if isinstance(function, func.FuncOp)
            and function.body.blocks
            and is_entry(function, self.entries)
            and memory.SIZES_OF not in function.attributes
        ]
        kernels: Sequence[relay.PrimFuncOp] = [
            kernel for kernel in op.ops if isinstance(kernel, relay.PrimFuncOp)
        ]
        apply_patterns(op, DescribeEntry(devices), DescribeKernel(), only=[*entries, *kernels])
        op.attributes[DEVICES] = attribute_of(devices)
        params = params_in(op)
        if params:
            op.attributes[PARAMS] = attribute_of(params)

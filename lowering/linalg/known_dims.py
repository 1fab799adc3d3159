"""
The dims of a kernel's parameters that are equal in all its calls, or always differ by as much.

    func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4]},
                    %y: tensor<?x4xf32> {relay.dims = ["n", 4]}) {
      %z = vm.invoke_tvm_op @add ins(%x, %y : …) outs(%t : …)
    relay.prim_func @add(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>)       dims 0 of %a and %b

Then neither is broadcast to the other, and loops over both are plain. An image that was padded has
dims that are so much larger than those of a convolution's result. Dims of one name are equal, as
are those that were computed from the same sizes, and those that a `relay.require` before the
call compares: a program that goes on has met it.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import Block, Operation

from ...dialects import relay, vm
from ...dialects.tensors import as_tensor
from ...operators.sizes import Check
from ...operators.sizes.holds import holds
from ...operators.sizes.size_expressions import DIM, Expr
from ...passes.functions.symbols import CallGraph
from ...passes.sizes.reader import Sizes

Position: TypeAlias = tuple[int, int]
"""A parameter and an axis of it."""

Related: TypeAlias = Mapping[Position, int]
"""Dims that differ by known numbers: how much larger each is than one size of all."""


@dataclass
class Facts:
    """The sizes that are known to be equal."""

    others: ChainMap[Expr, Expr] = field(default_factory=ChainMap[Expr, Expr])
    """For a size another one that is equal to it."""

    def standing_for(self, size: Expr) -> Expr:
        """Return one size for all that are equal to `size`."""
        while size in self.others:
            size = self.others[size]
        return size

    def equate(self, one: Expr, other: Expr) -> None:
        one, other = self.standing_for(one), self.standing_for(other)
        if one != other:
            self.others[one] = other


def related_dims(module: ModuleOp) -> dict[str, list[Related]]:
    """Return the dynamic dims of parameters of each kernel that are related in all its calls."""
    kernels = [op for op in module.ops if isinstance(op, relay.PrimFuncOp)]
    dynamic = {k.sym_name.data: places for k in kernels if len(places := dynamic_dims(k)) > 1}
    if not dynamic:
        return {}
    sizes = Sizes()
    related: dict[str, list[Sequence[Expr]]] = {name: [] for name in dynamic}
    for function in module.ops:
        if isinstance(function, func.FuncOp) and function.body.blocks:
            sizes.read(function)
            for call, known in calls_in(function.body.block, Facts(), sizes):
                name = call.callee.string_value()
                dims = [sizes.dims(call.operands[i])[axis] for i, axis in dynamic.get(name, ())]
                related.setdefault(name, []).append([*map(known.standing_for, dims)])
    users = CallGraph.of(module).users
    return {
        name: classes
        for name, places in dynamic.items()
        if len(users[name]) == len(related[name])
        and (classes := related_in_all(places, related[name]))
    }


def dynamic_dims(kernel: relay.PrimFuncOp) -> list[Position]:
    """Return the dynamic dims of the parameters of `kernel`."""
    positions: list[Position] = []
    for i, type in enumerate(kernel.function_type.inputs):
        tensor = as_tensor(type)
        shape = () if tensor is None else tensor.get_shape()
        positions += [(i, axis) for axis, size in enumerate(shape) if size == DYNAMIC_INDEX]
    return positions


def calls_in(block: Block, known: Facts, sizes: Sizes) -> Iterator[tuple[vm.InvokeTvmOp, Facts]]:
    """Yield the calls of kernels in `block`, each with what is required before it."""
    for op in block.ops:
        if isinstance(op, relay.RequireOp) and op.check.data == Check.EQUAL:
            known.equate(sizes.size(op.lhs), sizes.size(op.rhs))
        elif isinstance(op, vm.InvokeTvmOp):
            yield op, known
        for region in op.regions:
            for inner in region.blocks:
                yield from calls_in(inner, Facts(known.others.new_child()), sizes)


def related_in_all(places: Sequence[Position], calls: Sequence[Sequence[Expr]]) -> list[Related]:
    """Return the classes of `places` that are related in the same way in each of `calls`."""
    classes: dict[tuple[Expr, ...], dict[Position, int]] = {}
    for place, dims in zip(places, zip(*calls, strict=True), strict=bool(calls)):
        offset = dims[0].offset
        classes.setdefault(tuple(dim - offset for dim in dims), {})[place] = offset
    return [related for related in classes.values() if len(related) > 1]


class KernelSizes(Sizes):
    """Reads the operators of a kernel, and notes the dims that they require to be equal."""

    def __init__(self, kernel: relay.PrimFuncOp, related: Sequence[Related]):
        super().__init__()
        self.pairs: list[tuple[Expr, Expr]] = []
        first = {place: next(iter(dims.items())) for dims in related for place in dims}
        offsets = {place: offset for dims in related for place, offset in dims.items()}
        params = kernel.body.block.args
        for i, param in enumerate(params):
            dims = list(self.dims(param))
            for axis, dim in enumerate(dims):
                (number, place), offset = first.get((i, axis), ((i, axis), 0))
                if dim.constant is None:
                    hint = params[number].name_hint
                    name = f"dim {place} of {f'%{hint}' if hint else f'parameter {number}'}"
                    more = offsets.get((i, axis), 0) - offset
                    dims[axis] = self.algebra.symbol(name, DIM, (number, place)) + more
            self.know_dims(param, tuple(dims))

    def require(self, check: Check, left: Expr, right: Expr, message: str) -> None:
        super().require(check, left, right, message)
        if check in (Check.EQUAL, Check.BROADCAST) and holds(Check.EQUAL, left, right) is None:
            self.pairs.append((left, right))


def unequal_dims(
    kernel: relay.PrimFuncOp, related: Sequence[Related]
) -> Iterator[tuple[Operation, str]]:
    """
    Yield each operator whose dims are not shown equal, and a message that names two of them.

    One of them may be 1 and broadcast, so its loops read each operand by an index of its own. Equal
    names in `relay.dims`, or a size that both are computed from, would show it.
    """
    sizes = KernelSizes(kernel, related)
    for op in kernel.body.block.ops:
        sizes.pairs.clear()
        for result in op.results:
            sizes.dims(result)
        for left, right in sizes.pairs[:1]:
            yield op, f"{left} and {right} are not shown to be equal, so one may be broadcast"

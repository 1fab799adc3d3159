"""
Convert a whole program to linalg on tensors, with upstream dialects only.

    func.func @main(%c: tensor<i32>, %x: tensor<4xui8>) -> tensor<4xui8> {
      %r = relay.if %c : tensor<i32> -> (tensor<4xui8>) {
        %y = relay.add %x, %x : …
        relay.yield %y : tensor<4xui8>
      } else {
        relay.yield %x : tensor<4xui8>
      }
      func.return %r : tensor<4xui8>
    }
    ->
    func.func @main(%c: tensor<i32>, %x: tensor<4xi8>) -> tensor<4xi8> {
      %0 = tensor.extract %c[] : tensor<i32>
      %1 = arith.cmpi ne, %0, %c0 : i32
      %r = scf.if %1 -> (tensor<4xi8>) {
        %y = linalg.generic … ins(%x, %x : …) …
        scf.yield %y : tensor<4xi8>
      } else {
        scf.yield %x : tensor<4xi8>
      }
      func.return %r : tensor<4xi8>
    }

An operator becomes what its rule in `lowering.linalg` writes, the structure of the program what
those of `lowering.linalg.structural_rules` do. Integers are signless, and types name no device.
Sizes that must be equal are checked by `cf.assert`. What the upstream dialects have no words for
(function values, data types, references, operators without a rule) is an error. From level `relay`,
without tuples, to `linalg`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerType,
    ModuleOp,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from ..dialects import relay
from ..dialects.device import DEVICE, device_of, upstream_type
from ..dialects.relay.language.annotations import ATTRS, INLINE, STRUCTURE, TYPE_PARAMS
from ..dialects.relay.language.control import yielded
from ..dialects.relay.language.dims_attributes import dim_bounds, dim_names, parameter_names
from ..dialects.tensors import as_tensor
from ..dialects.xdsl_extras.walking import walk
from ..passes.remove_unused_functions import is_public
from ..passes.support.changes import LevelPass
from ..passes.support.diagnostics import PassError, emit_warning
from ..passes.support.rewriting import apply_patterns
from ..passes.support.walk import only_block
from .linalg import structural_rules
from .linalg.builder import Builder, Rule, Unsupported
from .linalg.rule_registry import rules_of
from .linalg.structural_rules import assert_that


def check_entry(b: Builder, function: FuncOp, arguments: Sequence[SSAValue]) -> None:
    """Assert that dims of one name are equal in `arguments`, and within their bounds."""
    bounds = dim_bounds(function)
    first: dict[str, tuple[SSAValue, str]] = {}
    parameters = zip(parameter_names(function), dim_names(function), arguments, strict=True)
    for parameter, dims, value in parameters:
        for axis, dim in enumerate(dims):
            if not dim:
                continue
            size, here = b.index(b.dim(value, axis)), f"dim {axis} ({dim}) of '{parameter.data}'"
            if dim in first:
                known, there = first[dim]
                same = b.insert(arith.CmpiOp(size, known, "eq"))
                assert_that(b, same, f"{here} must be equal to {there}")
                continue
            first[dim] = size, here
            limits = bounds.get(dim)
            if limits is None:
                continue
            if limits.low > 0:
                enough = b.insert(arith.CmpiOp(size, b.index(limits.low), "sge"))
                assert_that(b, enough, f"{here} must be {limits}")
            if limits.high is not None:
                fits = b.insert(arith.CmpiOp(size, b.index(limits.high), "sle"))
                assert_that(b, fits, f"{here} must be {limits}")


RUN_IT = "xrelay-run can run the program: its machine has all of Relay"

DROPPED = (DEVICE, ATTRS, INLINE, STRUCTURE)
"""The attributes of functions, parameters and results that mean nothing to other compilers."""


def kept(attrs: DictionaryAttr) -> DictionaryAttr:
    """Return the attributes of a parameter or result that stay."""
    return DictionaryAttr({name: a for name, a in attrs.data.items() if name not in DROPPED})


def kept_all(attrs: ArrayAttr[DictionaryAttr] | None) -> ArrayAttr[DictionaryAttr] | None:
    """Return the attributes of all parameters or results that stay."""
    return None if attrs is None else ArrayAttr(map(kept, attrs))


def upstream_types(types: Sequence[Attribute], op: Operation) -> list[Attribute]:
    """Return the types of values of `op` upstream; an error if one is not of a tensor."""
    upstream: list[Attribute] = []
    for type in types:
        is_size = isinstance(type, IntegerType | IndexType)
        if as_tensor(type) is None and not is_size:
            raise PassError(
                f"a value of type {type} cannot be written in linalg, which has tensors only; "
                f"{RUN_IT}",
                op,
            )
        upstream.append(upstream_type(cast(Attribute, type)))
    return upstream


@dataclass(frozen=True)
class Conversion:
    """Converts the body of a function, op by op, with `rules`."""

    rules: Mapping[str, Rule]
    signatures: Mapping[str, FunctionType]
    """The types of the functions of the module, upstream."""
    values: dict[SSAValue, SSAValue]
    """The converted values, by those that they replace."""

    def block(self, old: Block, new: Builder) -> None:
        """Append to `new` what the ops of `old` are, without its terminator."""
        for op in old.ops:
            new.location = op.location
            if op is old.last_op:
                return
            if isinstance(op, relay.IfOp):
                results = self._if(op, new)
            elif isinstance(op, func.CallOp | relay.InvokeOp):
                results = self._call(op, new)
            else:
                results = self._apply(op, new)
            for before, after in zip(op.results, results, strict=True):
                after.name_hint = after.name_hint or before.name_hint
                self.values[before] = after

    def _apply(self, op: Operation, b: Builder) -> Sequence[SSAValue]:
        operands = [self.values[operand] for operand in op.operands]
        rule = self.rules.get(op.name)
        if rule is None:
            raise PassError(f"{op.name} has no linalg; {RUN_IT}", op)
        try:
            results = rule(b, op, operands)
        except Unsupported as error:
            raise PassError(f"{op.name} has no linalg here: {error}; {RUN_IT}", op) from error
        return [self._cast(b, v, old) for v, old in zip(results, op.results, strict=True)]

    def _call(self, op: func.CallOp | relay.InvokeOp, b: Builder) -> Sequence[SSAValue]:
        name = op.callee.string_value()
        operands = [self.values[operand] for operand in op.operands]
        results = structural_rules.call(b, name, self.signatures[name], operands)
        types = upstream_types(op.result_types, op)
        what = f"the result of @{name}"
        return [
            structural_rules.checked_cast(b, value, type, what)
            for value, type in zip(results, types, strict=True)
        ]

    def _if(self, op: relay.IfOp, b: Builder) -> Sequence[SSAValue]:
        types = upstream_types([result.type for result in op.results], op)
        regions: list[Region] = []
        for region in op.regions:
            inside = Block()
            inner = Builder(inside, b)
            self.block(region.block, inner)
            inner.insert_all(
                structural_rules.yield_of(self.returned(inner, yielded(region), types))
            )
            regions.append(Region(inside))
        b.location = op.location
        return structural_rules.branch(b, self.values[op.condition], types, regions)

    def returned(
        self, b: Builder, values: Sequence[SSAValue], types: Sequence[Attribute]
    ) -> list[SSAValue]:
        """Return what `values` are now, as values of `types`."""
        return [
            self._cast_to(b, self.values[value], type)
            for value, type in zip(values, types, strict=True)
        ]

    def _cast(self, b: Builder, value: SSAValue, old: SSAValue) -> SSAValue:
        return self._cast_to(b, value, upstream_type(old.type))

    def _cast_to(self, b: Builder, value: SSAValue, type: Attribute) -> SSAValue:
        tensor = as_tensor(type)
        return value if tensor is None else b.cast(value, tensor)


@dataclass(frozen=True)
class ConvertFunction(RewritePattern):
    """Convert a function."""

    rules: Mapping[str, Rule]
    signatures: Mapping[str, FunctionType]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: func.FuncOp, rewriter: PatternRewriter, /) -> None:
        type = self.signatures[op.sym_name.data]
        body = Region()
        if op.body.blocks:
            body.add_block(self._body(op, type))
        new = func.FuncOp(
            op.sym_name.data,
            type,
            body,
            op.sym_visibility,
            arg_attrs=kept_all(op.arg_attrs),
            res_attrs=kept_all(op.res_attrs),
        )
        new.attributes = {**kept(DictionaryAttr(op.attributes)).data}
        rewriter.replace(op, new)

    def _body(self, op: func.FuncOp, type: FunctionType) -> Block:
        old, new = only_block(op), Block(arg_types=type.inputs)
        b = Builder(new)
        b.location = op.location
        values = dict[SSAValue, SSAValue](zip(old.args, new.args, strict=True))
        conversion = Conversion(self.rules, self.signatures, values)
        for before, after in zip(old.args, new.args, strict=True):
            after.name_hint, after.location = before.name_hint, before.location
        if is_public(op):
            check_entry(b, op, new.args)
        conversion.block(old, b)
        last = old.last_op
        assert isinstance(last, func.ReturnOp), "verified: a function ends in func.return"
        b.insert_all(func.ReturnOp(*conversion.returned(b, last.operands, type.outputs.data)))
        return new


def signature(function: func.FuncOp) -> FunctionType:
    """Return the type of `function` upstream."""
    if TYPE_PARAMS in function.attributes:
        raise PassError(
            f"@{function.sym_name.data} is generic, and cannot be written in linalg; {RUN_IT}",
            function,
        )
    type = function.function_type
    return FunctionType.from_lists(
        upstream_types(type.inputs.data, function), upstream_types(type.outputs.data, function)
    )


def require_tensors(tops: Sequence[Operation]) -> None:
    """Raise an error at the first value that is not a tensor, in the entries if they have one."""
    functions = [op for op in tops if isinstance(op, func.FuncOp)]
    for function in sorted(functions, key=lambda f: not is_public(f)):
        for op in walk(function):
            if isinstance(op, func.FuncOp):
                upstream_types(op.function_type.inputs.data, op)
            elif op.name.startswith("relay."):
                upstream_types(op.result_types, op)


def warn_of_devices(ctx: Context, module: ModuleOp) -> None:
    """Warn, at the first hint or copy that names another device, that the text names none."""
    first: str | None = None
    for op in walk(module):
        if not isinstance(op, relay.OnDeviceOp | relay.DeviceCopyOp):
            continue
        device = op.device if isinstance(op, relay.OnDeviceOp) else device_of(op.result.type)
        if device is None or device.spec == first:
            continue
        if first is not None:
            emit_warning(
                ctx,
                op,
                f"the program uses {first} and {device.spec}, but linalg on tensors has no "
                "devices: which one computes what is lost",
            )
            return
        first = device.spec


class RejectOther(RewritePattern):
    """Raise an error for what is not a function."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        if not isinstance(op, func.FuncOp):
            raise PassError(f"{op.name} has no linalg; {RUN_IT}", op)


class ConvertProgramToLinalgPass(LevelPass):
    name = "convert-program-to-linalg"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        operators = {inner.name for inner in walk(op) if isinstance(inner, relay.Operator)}
        rules = {**rules_of(operators), **structural_rules.RULES}
        tops = list(op.ops)
        require_tensors(tops)
        warn_of_devices(ctx, op)
        signatures = {f.sym_name.data: signature(f) for f in tops if isinstance(f, func.FuncOp)}
        apply_patterns(op, RejectOther(), ConvertFunction(rules, signatures), only=tops)

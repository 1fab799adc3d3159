"""
Syntax to IR: expressions, statements, graph bindings, constants.

Types are inferred while ops are written (`solver.py`, `writer.py`). A graph binding is written
where it is first needed; bindings that an expression needs are collected on a stack of our own,
so that chains of any length can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntegerAttr,
    TupleType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir import Region as IrRegion

from ...dialects.dense import Dense, scalar
from ...dialects.device import tensor_type
from ...dialects.relay.constants import ConstantOp, ParamOp
from ...dialects.relay.control import IfOp, YieldOp
from ...dialects.relay.language_types import AdtType, RefType, TypeVarType
from ...dialects.relay.references import RefCreateOp, RefReadOp, RefWriteOp
from ...dialects.relay.tuples import TupleGetItemOp, TupleOp
from ...dialects.type_algebra import parts, rebuild
from . import calls, functions, generics, matches
from . import syntax as ast
from .errors import nearest
from .explicit_memory import ExplicitMemory, Nothing
from .names import ssa_name
from .placement import is_within, settle
from .program import Generic, Program, Signature
from .refinement import refined
from .type_text import type_text
from .weights import belongs_in_file
from .writer import Several, Value, Writer

SCALAR_BOOL = tensor_type(i1, [])


@dataclass(eq=False, repr=False)
class Emitter(Writer):
    """Writes the ops of one program."""

    source: str = ""
    """The text of the program."""
    program: Program = field(default_factory=Program)
    prepared: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """Operators with their attributes, converted once."""
    separate: bool = False
    """Whether constants too large for the text become `relay.param`s."""
    params: dict[str, Dense] = field(default_factory=dict[str, Dense])
    """What the `relay.param`s written name."""
    function: ast.Function | None = None
    """The definition at hand."""
    signature: Signature | None = None
    """The global function whose body is being written."""
    generics: dict[str, Generic] = field(default_factory=dict[str, Generic])
    """The functions with type parameters that are not definitions, by their names in the IR."""
    region: ast.Region | None = None
    """The region at hand."""
    type_args: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    """What the type parameters of the closures around stand for."""
    single_types: list[tuple[str, Attribute, FileLineColLoc]] = field(
        default_factory=list[tuple[str, Attribute, FileLineColLoc]]
    )
    """The type parameters of closures, which stand for one type each, and where these are."""
    calls: list[tuple[Operation, Signature]] = field(
        default_factory=list[tuple[Operation, Signature]]
    )
    """The calls of global functions, whose types may turn out to differ in dims."""
    explicit: ExplicitMemory = field(default_factory=ExplicitMemory)
    """Calls of kernels, and what they write into."""
    completions: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """What is left to do once all types are known."""
    _scalars: dict[tuple[int | float, str, bool], Dense] = field(default_factory=dict[Any, Any])

    # ------------------------------------------------------------------- types

    def annotation(self, type: Attribute | None) -> Attribute:
        """A type as it is written in the program, with unknowns for what it leaves open."""
        type = self.solver.annotation(type)
        return self._instance(type) if self.type_args else type

    def _instance(self, type: Attribute) -> Attribute:
        if isinstance(type, TypeVarType):
            return self.type_args.get(type.parameter.data, type)
        return rebuild(type, [self._instance(part) for part in parts(type)])

    # ------------------------------------------------------------- expressions

    def emit(self, expr: ast.Expr) -> Value:
        """The value of `expr`; the bindings that it needs are written already."""
        return _EMIT[expr.__class__](self, expr)

    def emit_ssa(self, expr: ast.Expr) -> SSAValue:
        """The value of `expr`, a tuple written as one."""
        value = _EMIT[expr.__class__](self, expr)
        return value if isinstance(value, SSAValue) else self.ssa(value)

    def use(self, use: ast.Use) -> Value:
        value = self.meaning(use)
        return generics.value(self, value, use.at) if isinstance(value, Generic) else value

    def meaning(self, use: ast.Use) -> Value | Generic:
        """What a variable stands for."""
        local = use.local
        if local.region is not self.region and not self._is_in_scope(local):
            raise self.places.error(
                f"%{local.name} is needed where it is not known: the graph binding that uses it "
                f"is used outside of the scope of %{local.name}",
                use.at,
                len(local.name) + 1,
                [(f"%{local.name} is bound here", local.at)],
            )
        if local.value is None:
            raise self.error(
                f"%{local.name} is what this let binds: only a function can use itself",
                use.at,
                len(local.name) + 1,
            )
        return local.value

    def _is_in_scope(self, local: ast.Local) -> bool:
        return local.region is None or is_within(self.region, local.region)

    def node(self, node: ast.Node) -> Value:
        value = self.result_of(node.binding)
        return generics.value(self, value, node.at) if isinstance(value, Generic) else value

    def result_of(self, binding: ast.Binding) -> Value | Generic:
        """What a graph binding stands for; it is written, if it is not yet."""
        if binding.result is None:
            self.compute([binding])
        assert binding.result is not None
        return binding.result

    def scalar(self, scalar: ast.Scalar) -> Value:
        return self.value(ConstantOp(self._dense_scalar(scalar.value, scalar.dtype)), scalar.at)

    def _dense_scalar(self, value: int | float, dtype: str) -> Dense:
        key = (value, dtype, str(value).startswith("-"))
        dense = self._scalars.get(key)
        if dense is None:
            dense = scalar(value, dtype)
            assert dense is not None, f"literals are not of dtype {dtype}"
            self._scalars[key] = dense
        return dense

    def dense(self, constant: ast.Dense) -> Value:
        if self.separate and belongs_in_file(constant.value.type):
            self.params.setdefault(constant.name, constant.value)
            return self.value(ParamOp(constant.name, constant.value.type), constant.at)
        return self.value(ConstantOp(constant.value), constant.at)

    def tuple(self, tuple: ast.Tuple) -> Value:
        fields = [self.emit_ssa(f) for f in tuple.fields]
        if not fields:
            return self.value(TupleOp([]), tuple.at)
        return self.several(fields, tuple.at, results=False)

    def projection(self, projection: ast.Projection) -> Value:
        spine = [projection]
        inner = projection.tuple
        while isinstance(inner, ast.Projection):
            spine.append(inner)
            inner = inner.tuple
        value = self.emit(inner)
        for each in reversed(spine):
            value = self.projected(value, each.index, each.at)
        return value

    def projected(self, value: Value, index: int, at: int) -> Value:
        """Field `index` of `value`."""
        if isinstance(value, Several) and value.results and index < len(value.values):
            return value.values[index]
        tuple = self.ssa(value)
        return self.when_known([tuple], lambda: self._field(tuple, index, at), at, shallow=True)

    def _field(self, tuple: SSAValue, index: int, at: int) -> Value:
        type = self.solver.shallow(tuple.type)
        if not isinstance(type, TupleType):
            given = self.text(type)
            raise self.error(f"only a tuple has fields, but this is of type {given}", at)
        size = len(type.types)
        if index >= size:
            raise self.error(f"the tuple has {size} fields: there is no field {index}", at)
        op = TupleGetItemOp.create(
            operands=[tuple],
            properties={"index": IntegerAttr(index, i64)},
            result_types=[type.types.data[index]],
        )
        return self.value(op, at)

    # ---------------------------------------------------------- graph bindings

    def compute(self, bindings: Sequence[ast.Binding]) -> None:
        """Write those of `bindings`, and what they need, that are not written yet."""
        stack = [b for b in reversed(bindings) if b.result is None]
        while stack:
            binding = stack[-1]
            if binding.result is not None:
                stack.pop()
                continue
            missing = [ref for ref in reversed(binding.refs) if ref.result is None]
            if missing:
                stack += missing
                continue
            stack.pop()
            self._compute_binding(binding)

    def _compute_binding(self, binding: ast.Binding) -> None:
        assert binding.value is not None
        place = binding.place
        if place is None or place is self.region:
            binding.result = generics.bound(self, binding) or self.emit(binding.value)
            return
        assert place.block is not None, "a binding is needed inside its place"
        region, self.region = self.region, place
        with self.writing(place.block):
            binding.result = generics.bound(self, binding) or self.emit(binding.value)
        self.region = region

    # ------------------------------------------------------------------ bodies

    def body(self, body: ast.Body) -> Value:
        """The statements of `body` in their order, then its result."""
        for statement in body.statements:
            if isinstance(statement, ast.Statement) and statement.local is not None:
                statement.value = calls.fixed_hint(statement.value)
        for statement in body.statements:
            if isinstance(statement, ast.Binding):
                if statement.pure and statement.place is self.region:
                    self.compute([statement])
                continue
            if statement.refs:
                self.compute(statement.refs)
            self._statement(statement)
        if body.refs:
            self.compute(body.refs)
        return self.emit(body.result)

    def _statement(self, statement: ast.Statement) -> None:
        local = statement.local
        if local is None:
            value = self.emit(statement.value)
            if not isinstance(value, Nothing):
                self.ssa(value)
            return
        generic = generics.let(self, statement)
        if generic is not None:
            local.value = generic
            return
        annotation = None if local.type is None else self.annotation(local.type)
        value = functions.let_value(self, statement, annotation)
        if annotation is not None:
            type = value.type if isinstance(value, SSAValue) else TupleType(())
            self.require(type, annotation, f"%{local.name}", local.at)
            if isinstance(value, SSAValue):
                value = refined(self, value, annotation, local.at)
        if isinstance(value, SSAValue) and value.name_hint is None:
            value.name_hint = ssa_name(local.name)
        local.value = value

    def region_body(self, region: ast.Region, body: ast.Body, block: Block) -> SSAValue:
        """The value of `body`, written into `block` for `region`."""
        assert self.function is not None
        settle(region, self.function.region)
        region.block = block
        outer, self.region = self.region, region
        self.reached = body.at
        with self.writing(block):
            value = self.ssa(self.body(body))
        self.region = outer
        return value

    def branch(self, region: ast.Region, body: ast.Body, block: Block) -> SSAValue:
        """As `region_body`, and end the block with a `relay.yield`; what it yields."""
        value = self.region_body(region, body, block)
        with self.writing(block):
            self.add(YieldOp(value), body.result.at)
        return value

    def if_(self, expr: ast.If) -> Value:
        condition = self.emit_ssa(expr.condition)
        self.require(condition.type, SCALAR_BOOL, "the condition", expr.condition.at)
        then, other = Block(), Block()
        value = self.branch(expr.then_region, expr.then, then)
        otherwise = self.branch(expr.other_region, expr.other, other)
        if not self.solver.unify(value.type, otherwise.type):
            raise self.error(
                f"both branches must give one type, but the first gives "
                f"{self.text(value.type)} and the second {self.text(otherwise.type)}",
                expr.at,
                2,
            )
        type = self.solver.join(value.type, otherwise.type)
        regions = [IrRegion(then), IrRegion(other)]
        return self.value(
            IfOp.create(operands=[condition], result_types=[type], regions=regions), expr.at
        )

    # ------------------------------------------------------------------- cells

    def ref_create(self, expr: ast.RefCreate) -> Value:
        return self.value(RefCreateOp(self.emit_ssa(expr.value)), expr.at)

    def ref_read(self, expr: ast.RefRead) -> Value:
        ref, contents = self._cell(expr.ref)
        return self.value(RefReadOp.create(operands=[ref], result_types=[contents]), expr.at)

    def ref_write(self, expr: ast.RefWrite) -> Value:
        ref, contents = self._cell(expr.ref)
        value = self.emit_ssa(expr.value)
        self.require(value.type, contents, "what is written", expr.value.at)
        return self.value(RefWriteOp(ref, value), expr.at)

    def _cell(self, expr: ast.Expr) -> tuple[SSAValue, Attribute]:
        ref = self.emit_ssa(expr)
        type = self.solver.shallow(ref.type)
        if isinstance(type, RefType):
            return ref, type.contents
        contents = self.solver.fresh()
        self.require(type, RefType(contents), "this", expr.at)
        return ref, contents

    # ------------------------------------------------------------------- names

    def unknown_name(self, name: str, at: int) -> Exception:
        """The error about a name that is neither an operator nor a constructor."""
        known = [*calls.known_operators(), *self.program.constructors]
        return self.error(
            f"there is no operator or constructor {name}{nearest(name, known)}", at, len(name)
        )


_EMIT: dict[type, Callable[[Emitter, Any], Value]] = {
    ast.Use: Emitter.use,
    ast.Node: Emitter.node,
    ast.Global: functions.global_value,
    ast.Scalar: Emitter.scalar,
    ast.Dense: Emitter.dense,
    ast.Name: calls.name_value,
    ast.Call: calls.call,
    ast.Tuple: Emitter.tuple,
    ast.Projection: Emitter.projection,
    ast.Body: Emitter.body,
    ast.If: Emitter.if_,
    ast.Function: functions.closure_value,
    ast.Match: matches.match,
    ast.RefCreate: Emitter.ref_create,
    ast.RefRead: Emitter.ref_read,
    ast.RefWrite: Emitter.ref_write,
}

__all__ = ["AdtType", "Emitter", "type_text"]

"""
Build IR from syntax: expressions, statements, graph bindings, constants.

Types are inferred while ops are built (`solver.py`, `ir_builder.py`). A graph binding is built
where it is first needed. The bindings that an expression needs are collected on an explicit
stack, so chains can have any length.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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

from ....dialects.dense import Dense, scalar
from ....dialects.device import tensor_type
from ....dialects.relay.constants import ConstantOp, ParamOp
from ....dialects.relay.language.control import IfOp, YieldOp
from ....dialects.relay.language.language_types import RefType, TypeVarType
from ....dialects.relay.language.references import RefCreateOp, RefReadOp, RefWriteOp
from ....dialects.relay.language.tuples import TupleGetItemOp, TupleOp
from ....dialects.type_algebra import parts, rebuild
from ..errors import nearest
from ..infer.declared_dims import refine_dims
from ..infer.weight_types import Weights
from ..outline import type_parameters
from ..text import syntax as ast
from . import calls_of_operators, matches, relay_functions
from .binding_scopes import is_within, settle
from .definitions_of_program import Generic, Program, Signature
from .explicit_memory import ExplicitMemory, UnitResult
from .ir_builder import IRBuilder, TupleValue, Value, ssa_name
from .large_constants import belongs_in_file

SCALAR_BOOL = tensor_type(i1, [])


@dataclass(eq=False, repr=False)
class ModuleBuilder(IRBuilder):
    """Builds the ops of one program."""

    source: str = ""
    """The text of the program."""
    program: Program = field(default_factory=Program)
    weights: list[Weights] = field(default_factory=list[Weights])
    """Weights whose types were unknown when they were used."""
    prepared: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """Cache of operators with converted attributes."""
    separate: bool = False
    """True if constants too large for the text become `relay.param`s."""
    params: dict[str, Dense] = field(default_factory=dict[str, Dense])
    """The constants that the `relay.param`s name."""
    function: ast.Function | None = None
    """The current definition."""
    signature: Signature | None = None
    """The global function whose body is being built."""
    generics: dict[str, Generic] = field(default_factory=dict[str, Generic])
    """Lifted functions with type parameters, by their names in the IR."""
    region: ast.Region | None = None
    """The current region."""
    type_args: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    """The types that replace the type parameters of the enclosing closures."""
    single_types: list[tuple[str, Attribute, FileLineColLoc]] = field(
        default_factory=list[tuple[str, Attribute, FileLineColLoc]]
    )
    """The type parameters of closures, each with its one type and its location."""
    calls: list[tuple[Operation, Signature]] = field(
        default_factory=list[tuple[Operation, Signature]]
    )
    """Calls of global functions, whose types may turn out to differ in dims."""
    explicit: ExplicitMemory = field(default_factory=ExplicitMemory)
    """Calls of kernels, and the tensors they write into."""
    completions: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """Work to do once all types are known."""
    _scalars: dict[tuple[int | float, str, bool], Dense] = field(default_factory=dict[Any, Any])

    # ------------------------------------------------------------------- types

    def annotation(self, type: Attribute | None) -> Attribute:
        """Return a type of the program, with unknowns for what it omits."""
        type = self.solver.annotation(type)
        return self._instance(type) if self.type_args else type

    def _instance(self, type: Attribute) -> Attribute:
        if isinstance(type, TypeVarType):
            return self.type_args.get(type.parameter.data, type)
        return rebuild(type, [self._instance(part) for part in parts(type)])

    def refined(self, value: SSAValue, declared: Attribute, at: int) -> SSAValue:
        return refine_dims(self, value, declared, at)

    def operator(
        self, name: str, args: Sequence[Value], attrs: Mapping[str, Any], at: int
    ) -> Value:
        return calls_of_operators.operator(self, name, args, attrs, at)

    # ------------------------------------------------------------- expressions

    def emit(self, expr: ast.Expr) -> Value:
        """Build `expr`, the bindings that it needs being built already."""
        return _EMIT[expr.__class__](self, expr)

    def emit_ssa(self, expr: ast.Expr) -> SSAValue:
        """Build `expr` as one SSA value, a tuple included."""
        value = _EMIT[expr.__class__](self, expr)
        return value if isinstance(value, SSAValue) else self.ssa(value)

    def use(self, use: ast.Use) -> Value:
        value = self.lookup(use)
        return (
            type_parameters.value(self, value, use.offset) if isinstance(value, Generic) else value
        )

    def lookup(self, use: ast.Use) -> Value | Generic:
        """Return the value that a variable is bound to."""
        local = use.local
        if local.region is not self.region and not self._is_in_scope(local):
            raise self.source_map.error(
                f"%{local.name} is not in scope: the graph binding that uses it is itself used "
                f"outside the scope of %{local.name}",
                use.offset,
                len(local.name) + 1,
                [(f"%{local.name} is bound here", local.offset)],
            )
        if local.value is None:
            raise self.error(
                f"%{local.name} is used in its own definition: only a function can use itself",
                use.offset,
                len(local.name) + 1,
            )
        return local.value

    def _is_in_scope(self, local: ast.Local) -> bool:
        return local.region is None or is_within(self.region, local.region)

    def node(self, node: ast.Node) -> Value:
        value = self.result_of(node.binding)
        return (
            type_parameters.value(self, value, node.offset) if isinstance(value, Generic) else value
        )

    def result_of(self, binding: ast.Binding) -> Value | Generic:
        """Return the value of a graph binding, building it first if necessary."""
        if binding.result is None:
            self.compute([binding])
        assert binding.result is not None
        return binding.result

    def scalar(self, scalar: ast.Scalar) -> Value:
        return self.value(ConstantOp(self._dense_scalar(scalar.value, scalar.dtype)), scalar.offset)

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
            return self.value(ParamOp(constant.name, constant.value.type), constant.offset)
        return self.value(ConstantOp(constant.value), constant.offset)

    def tuple(self, tuple: ast.Tuple) -> Value:
        fields = [self.emit_ssa(f) for f in tuple.fields]
        if not fields:
            return self.value(TupleOp([]), tuple.offset)
        return self.tuple_value(fields, tuple.offset, from_operator=False)

    def projection(self, projection: ast.Projection) -> Value:
        spine = [projection]
        inner = projection.tuple
        while isinstance(inner, ast.Projection):
            spine.append(inner)
            inner = inner.tuple
        value = self.emit(inner)
        for each in reversed(spine):
            value = self.project_value(value, each.index, each.offset)
        return value

    def project_value(self, value: Value, index: int, at: int) -> Value:
        """Build field `index` of `value`."""
        if isinstance(value, TupleValue) and value.from_operator and index < len(value.values):
            return value.values[index]
        tuple = self.ssa(value)
        return self.defer_until_known(
            [tuple], lambda: self._field(tuple, index, at), at, shallow=True
        )

    def _field(self, tuple: SSAValue, index: int, at: int) -> Value:
        type = self.solver.shallow(tuple.type)
        if not isinstance(type, TupleType):
            given = self.text(type)
            raise self.error(f"expected a tuple, but got a value of type {given}", at)
        size = len(type.types)
        if index >= size:
            raise self.error(f"the tuple has {size} fields, but field {index} is used", at)
        op = TupleGetItemOp.create(
            operands=[tuple],
            properties={"index": IntegerAttr(index, i64)},
            result_types=[type.types.data[index]],
        )
        return self.value(op, at)

    # ---------------------------------------------------------- graph bindings

    def compute(self, bindings: Sequence[ast.Binding]) -> None:
        """Build those of `bindings`, and what they need, that are not built yet."""
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
            binding.result = type_parameters.bound(self, binding) or self.emit(binding.value)
            return
        assert place.block is not None, "a binding is used inside the region that computes it"
        region, self.region = self.region, place
        with self.writing(place.block):
            binding.result = type_parameters.bound(self, binding) or self.emit(binding.value)
        self.region = region

    # ------------------------------------------------------------------ bodies

    def body(self, body: ast.Body) -> Value:
        """Build the statements of `body` in order, then its result."""
        for statement in body.statements:
            if isinstance(statement, ast.Statement) and statement.local is not None:
                statement.value = calls_of_operators.fix_hint(statement.value)
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
            if not isinstance(value, UnitResult):
                self.ssa(value)
            return
        generic = type_parameters.let(self, statement)
        if generic is not None:
            local.value = generic
            return
        annotation = None if local.type is None else self.annotation(local.type)
        value = relay_functions.let_value(self, statement, annotation)
        if annotation is not None:
            type = value.type if isinstance(value, SSAValue) else TupleType(())
            self.require(type, annotation, f"%{local.name}", local.offset)
            if isinstance(value, SSAValue):
                value = self.refined(value, annotation, local.offset)
        if isinstance(value, SSAValue) and value.name_hint is None:
            value.name_hint = ssa_name(local.name)
        local.value = value

    def region_body(self, region: ast.Region, body: ast.Body, block: Block) -> SSAValue:
        """Build `body` into `block` for `region`; return its value."""
        assert self.function is not None
        settle(region, self.function.region)
        region.block = block
        outer, self.region = self.region, region
        self.reached = body.offset
        with self.writing(block):
            value = self.ssa(self.body(body))
        self.region = outer
        return value

    def branch(self, region: ast.Region, body: ast.Body, block: Block) -> SSAValue:
        """
        Build `body` as `region_body` does and end the block with a `relay.yield`; return its value.
        """
        value = self.region_body(region, body, block)
        with self.writing(block):
            self.add(YieldOp(value), body.result.offset)
        return value

    def if_(self, expr: ast.If) -> Value:
        condition = self.emit_ssa(expr.condition)
        self.require(condition.type, SCALAR_BOOL, "the condition", expr.condition.offset)
        then, other = Block(), Block()
        value = self.branch(expr.then_region, expr.then, then)
        otherwise = self.branch(expr.other_region, expr.other, other)
        if not self.solver.unify(value.type, otherwise.type):
            raise self.error(
                f"both branches must have the same type, but the first is of type "
                f"{self.text(value.type)} and the second of {self.text(otherwise.type)}",
                expr.offset,
                2,
            )
        type = self.solver.join(value.type, otherwise.type)
        regions = [IrRegion(then), IrRegion(other)]
        return self.value(
            IfOp.create(operands=[condition], result_types=[type], regions=regions), expr.offset
        )

    # ------------------------------------------------------------------- cells

    def ref_create(self, expr: ast.RefCreate) -> Value:
        return self.value(RefCreateOp(self.emit_ssa(expr.value)), expr.offset)

    def ref_read(self, expr: ast.RefRead) -> Value:
        ref, contents = self._cell(expr.ref)
        return self.value(RefReadOp.create(operands=[ref], result_types=[contents]), expr.offset)

    def ref_write(self, expr: ast.RefWrite) -> Value:
        ref, contents = self._cell(expr.ref)
        value = self.emit_ssa(expr.value)
        self.require(value.type, contents, "the value written", expr.value.offset)
        return self.value(RefWriteOp(ref, value), expr.offset)

    def _cell(self, expr: ast.Expr) -> tuple[SSAValue, Attribute]:
        ref = self.emit_ssa(expr)
        type = self.solver.shallow(ref.type)
        if isinstance(type, RefType):
            return ref, type.contents
        contents = self.solver.fresh()
        self.require(type, RefType(contents), "this", expr.offset)
        return ref, contents

    # ------------------------------------------------------------------- names

    def unknown_name(self, name: str, at: int) -> Exception:
        """Return the error about a name that is neither an operator nor a constructor."""
        known = [*calls_of_operators.known_operators(), *self.program.constructors]
        return self.error(
            f"unknown operator or constructor {name}{nearest(name, known)}", at, len(name)
        )


_EMIT: dict[type, Callable[[ModuleBuilder, Any], Value]] = {
    ast.Use: ModuleBuilder.use,
    ast.Node: ModuleBuilder.node,
    ast.Global: relay_functions.global_value,
    ast.Scalar: ModuleBuilder.scalar,
    ast.Dense: ModuleBuilder.dense,
    ast.Name: calls_of_operators.name_value,
    ast.Call: calls_of_operators.call,
    ast.Tuple: ModuleBuilder.tuple,
    ast.Projection: ModuleBuilder.projection,
    ast.Body: ModuleBuilder.body,
    ast.If: ModuleBuilder.if_,
    ast.Function: relay_functions.closure_value,
    ast.Match: matches.match,
    ast.RefCreate: ModuleBuilder.ref_create,
    ast.RefRead: ModuleBuilder.ref_read,
    ast.RefWrite: ModuleBuilder.ref_write,
}

"""
The state of building: the insertion point, what is bound, what is known of types.

    value = context.emit(expr)        the rule for the class of `expr`, out of `RULES`
    context.add(op, expr.offset)      at the insertion point, with the location of the text

Everything that is known of a node of the tree is in a table by node here. Rules are functions of
the context and a node; the context knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from xdsl.context import Context as XdslContext
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FunctionType,
    NoneType,
    TensorType,
)
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import AnyAttr, IRDLOperation, irdl_op_definition, result_def, var_operand_def

from ....dialects import relay
from ....dialects.attributes import attribute_of as plain_attribute
from ....dialects.dense import Dense
from ....dialects.relay.incomplete import is_incomplete
from ....dialects.relay.language.language_types import substituted
from ....dialects.relay.unification import Unifier
from ....dialects.type_algebra import tuple_of
from ....dialects.xdsl_extras.xdsl_internals import set_type
from ....passes.functions.symbols import SymbolNames
from ..errors import RelayTextError, SourceMap
from ..text import syntax as ast
from ..tvm_weights import Weight
from ..type_texts import type_text
from .binding_scopes import Region, Scopes, is_within
from .constraints import Instance, Notes, Requirement
from .fixed_hints import FixedHints


@dataclass(eq=False, repr=False)
class Signature:
    """A global function: its definition, its type, and the block of its body."""

    definition: ast.Definition
    source_map: SourceMap
    type: FunctionType
    block: Block
    type_params: Sequence[str]


@dataclass(eq=False, repr=False)
class Generic:
    """A closure with type parameters that a variable names."""

    name: str
    own: Sequence[str]
    """Its type parameters."""
    hint: ast.Call | None
    """The `on_device` that wraps it."""
    value: SSAValue = field(init=False)
    """The closure, or inside of it the closure itself."""

    @property
    def type(self) -> FunctionType:
        """The type, in which the type parameters are variables."""
        assert isinstance(self.value.type, FunctionType)
        return self.value.type


@dataclass(eq=False, repr=False)
class Program:
    """All definitions, by name."""

    types: dict[str, relay.TypeDataOp] = field(default_factory=dict[str, relay.TypeDataOp])
    constructors: dict[str, tuple[relay.TypeDataOp, FileLineColLoc]] = field(
        default_factory=lambda: {}
    )
    """The data type of each constructor, and the place of the constructor."""
    functions: dict[str, Signature] = field(default_factory=dict[str, Signature])


@irdl_op_definition
class DeferredOp(IRDLOperation):
    """Placeholder for ops that cannot be built until the types of `args` are known."""

    name = "relay_text.deferred"

    args = var_operand_def(AnyAttr())
    result = result_def(AnyAttr())


Rule: TypeAlias = "Callable[[Context, Any], SSAValue | Generic]"
"""Builds a node of the tree."""


Completion: TypeAlias = "tuple[Callable[..., None], Operation, tuple[Any, ...]]"
"""A rule that completes an op, the op, and the rule's other arguments after the context."""


WeightsOfCall: TypeAlias = tuple[Weight, Sequence[SSAValue], Mapping[str, Any]]
"""The weights of an operator, and the operands and attributes of a call of it."""


@dataclass(eq=False, repr=False)
class ExplicitMemory:
    """Operations on explicit memory and calls of kernels, completed at the end of reading."""

    has_calls: bool = False
    """True if kernels are called."""
    calls_of_literals: list[tuple[Operation, relay.FnOp]] = field(default_factory=lambda: [])
    """Calls of kernels that are function literals, which are named at the end."""
    ops: list[Operation] = field(default_factory=list[Operation])
    """The other ops of `memory` and `vm`, which remain to be verified."""
    folded: list[Operation] = field(default_factory=list[Operation])
    """Ops that are erased if nothing uses them: arguments that became attributes; users first."""


@dataclass(eq=False, repr=False)
class Context:
    """Builds the ops of one program."""

    xdsl: XdslContext
    source_map: SourceMap
    rules: Mapping[type, Rule]
    """The rule for each class of expressions."""
    noted_type: Callable[[ast.Call], Attribute | None]
    """Returns the type that the program notes beside a call."""
    separate: bool = False
    """True if constants too large for the text become `relay.param`s."""
    types: Unifier = field(default_factory=Unifier)
    block: Block = field(default_factory=Block)
    before: Operation | None = None
    """Insert before this op; None to append to `block`."""
    reached: int = 0
    """The offset of the op built last."""
    open_values: list[SSAValue] = field(default_factory=list[SSAValue])
    """Values whose types had unknown parts when they were built."""
    program: Program = field(default_factory=Program)
    params: dict[str, Dense] = field(default_factory=dict[str, Dense])
    """The constants that the `relay.param`s name."""
    signature: Signature | None = None
    """The global function whose body is being built."""
    scopes: Scopes = field(default_factory=Scopes)
    """Those of the current definition."""
    region: Region | None = None
    """The current region."""
    blocks: dict[Region, Block] = field(default_factory=dict[Region, Block])
    values: dict[ast.Local | ast.Binding, SSAValue | Generic] = field(default_factory=lambda: {})
    """The values of variables and graph bindings."""
    tuples: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    """
    Tuples that no variable names, whose fields are used directly; whether an operator's results
    are one, so that a projection is one of these.
    """
    units: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])
    """The ops without results, by their unit results."""
    names: SymbolNames = field(default_factory=lambda: SymbolNames(set()))
    """The names of the program's functions and data types, and of functions added to these."""
    has_generics: bool = False
    """True if there are closures with type parameters."""
    type_args: dict[str, Attribute] = field(default_factory=dict[str, Attribute])
    """The types that replace the type parameters of the enclosing closures."""
    single_types: list[tuple[str, Attribute, FileLineColLoc]] = field(default_factory=lambda: [])
    """The type parameters of closures, each with its one type and its location."""
    calls: list[tuple[FuncCallOp, Signature]] = field(default_factory=lambda: [])
    """Calls of global functions, whose types may turn out to differ in dims."""
    weights: list[WeightsOfCall] = field(default_factory=list["WeightsOfCall"])
    """Calls with weights whose types were unknown when they were used."""
    explicit: ExplicitMemory = field(default_factory=ExplicitMemory)
    """Calls of kernels, and the tensors they write into."""
    completions: list[Completion] = field(default_factory=list["Completion"])
    """Ops to complete once all types are known."""
    caches: dict[Any, Any] = field(default_factory=dict[Any, Any])
    """The caches of rules, each with keys of its own."""

    def __post_init__(self) -> None:
        self.hints = FixedHints(self.scopes)

    def enter(self, signature: Signature) -> None:
        """Begin the definition of `signature`."""
        self.source_map, self.signature = signature.source_map, signature
        self.scopes = Scopes()
        self.hints = FixedHints(self.scopes)
        self.scopes.collect(signature.definition.function)

    # ------------------------------------------------------------- expressions

    def emit(self, expr: ast.Expr) -> SSAValue:
        """Build `expr`, the bindings that it needs being built already."""
        value = self.rules[expr.__class__](self, expr)
        assert not isinstance(value, Generic), "a rule instantiates a generic function"
        return value

    def lookup(self, use: ast.Use) -> SSAValue | Generic:
        """Return the value that a variable is bound to."""
        local = use.local
        region = self.scopes.home[local]
        if region is not self.region and not is_within(self.region, region):
            raise self.source_map.error(
                f"%{local.name} is not in scope: the graph binding that uses it is itself used "
                f"outside the scope of %{local.name}",
                use.offset,
                len(local.name) + 1,
                [(f"%{local.name} is bound here", local.offset)],
            )
        value = self.values.get(local)
        if value is None:
            raise self.error(
                f"%{local.name} is used in its own definition: only a function can use itself",
                use.offset,
                len(local.name) + 1,
            )
        return value

    # ---------------------------------------------------------- graph bindings

    def result_of(self, binding: ast.Binding) -> SSAValue | Generic:
        """Return the value of a graph binding, building it first if necessary."""
        if binding not in self.values:
            self.compute([binding])
        return self.values[binding]

    def compute(self, bindings: Sequence[ast.Binding]) -> None:
        """
        Build those of `bindings`, and what they need, that are not built yet.

        What is needed is collected on an explicit stack, so chains can have any length.
        """
        values, refs = self.values, self.scopes.refs
        stack = [b for b in reversed(bindings) if b not in values]
        while stack:
            binding = stack[-1]
            if binding in values:
                stack.pop()
                continue
            missing = [ref for ref in reversed(refs[binding]) if ref not in values]
            if missing:
                stack += missing
                continue
            stack.pop()
            self._compute(binding)

    def _compute(self, binding: ast.Binding) -> None:
        place = self.scopes.place.get(binding)
        rule = self.rules[ast.Binding]
        if place is None or place is self.region:
            self.values[binding] = rule(self, binding)
            return
        assert place in self.blocks, "a binding is used inside the region that computes it"
        region, self.region = self.region, place
        with self.writing(self.blocks[place]):
            self.values[binding] = rule(self, binding)
        self.region = region

    # ------------------------------------------------------------------- types

    def annotation(self, type: Attribute | None) -> Attribute:
        """Return a type of the program, with unknowns for what it omits."""
        type = self.types.annotation(type)
        return substituted(type, self.type_args) if self.type_args else type

    # ------------------------------------------------------------------ errors

    def error(self, message: str, at: int, width: int = 1) -> RelayTextError:
        return self.source_map.error(message, at, width)

    def text(self, type: Attribute) -> str:
        """Return `type` in Relay's notation, for a message."""
        return type_text(self.types.resolved(type))

    def require(
        self,
        given: Attribute,
        wanted: Attribute,
        what: str,
        at: int,
        notes: Callable[[], Notes] = tuple,
    ) -> None:
        """Require that `given`, the type of `what`, agrees with `wanted`."""
        if given is not wanted:
            text = f"{what} must be of type <wanted>, but is of type <given>"
            self.constrain(Requirement(wanted, given, text, self.source_map, at, notes=notes))

    def constrain(self, required: Requirement) -> None:
        """Add a requirement on unknown types; one on types that are known is checked."""
        if is_incomplete(required.wanted) or is_incomplete(required.given):
            self.types.steps.append(required)
        else:
            required.take(self.types)

    def common(
        self, wanted: Attribute, given: Attribute, text: str, at: int, width: int
    ) -> Attribute:
        """Return the type of a value that is of one type or the other; they must agree."""
        required = Requirement(wanted, given, text, self.source_map, at, width)
        if is_incomplete(wanted) or is_incomplete(given):
            required.common = self.types.fresh()
        self.constrain(required)
        return required.common or self.types.join(wanted, given)

    def instantiated(self, of: FunctionType, type_args: Mapping[str, Attribute]) -> FunctionType:
        """Return a generic type with types in place of its parameters."""

        def instance(type: Attribute) -> Attribute:
            return self.types.fresh() if is_incomplete(type) else substituted(type, type_args)

        inputs, outputs = (map(instance, types.data) for types in (of.inputs, of.outputs))
        type = FunctionType.from_lists([*inputs], [*outputs])
        if is_incomplete(of):
            self.types.steps.append(Instance(of, type_args, type))
        return type

    def attributes(self, attrs: Mapping[str, Any], at: int) -> DictionaryAttr | None:
        """Convert the attributes of a function or of a call of one; None if there are none."""
        if not attrs:
            return None
        properties = {name: attribute_of(value) for name, value in attrs.items()}
        supported = {name: attr for name, attr in properties.items() if attr is not None}
        wrong = next((name for name in properties if name not in supported), None)
        if wrong is not None:
            raise self.error(f"the function attribute {wrong} has an unsupported value", at)
        return DictionaryAttr(supported)

    # --------------------------------------------------------------------- ops

    @contextmanager
    def writing(self, block: Block, before: Operation | None = None) -> Generator[None]:
        """Insert into `block` within the context."""
        saved = self.block, self.before
        self.block, self.before = block, before
        yield
        self.block, self.before = saved

    def add(self, op: Operation, at: int) -> Operation:
        """Insert `op`, which is at the offset `at` of the text."""
        op.location = self.source_map.location(at)
        self.reached = at
        if self.before is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self.before)
        for result in op.results:
            if result.type.__class__ is not TensorType:
                self.note(result)
        return op

    def value(self, op: Operation, at: int) -> SSAValue:
        """Insert `op` and return its result."""
        return self.add(op, at).results[0]

    def note(self, value: SSAValue) -> None:
        """Record `value` if its type is not completely known."""
        set_type(value, self.types.resolved(value.type))
        if self.types.first_unknown(value.type) is not None:
            self.open_values.append(value)

    def packed(self, fields: Sequence[SSAValue], at: int, from_operator: bool = False) -> SSAValue:
        """Insert the tuple of `fields`, which is erased if nothing uses it in the end."""
        type = tuple_of([field.type for field in fields])
        value = self.value(relay.TupleOp.create(operands=fields, result_types=[type]), at)
        self.tuples[value] = from_operator
        return value

    def fields(self, value: SSAValue) -> Sequence[SSAValue] | None:
        """Return the fields of a tuple that no variable names; None for any other value."""
        owner = value.owner
        return owner.operands if value in self.tuples and isinstance(owner, relay.TupleOp) else None

    def named(self, value: SSAValue) -> SSAValue:
        """Return `value`, which a statement holds: a tuple then stays one, except unit."""
        if value not in self.units:
            self.tuples.pop(value, None)
        return value

    def erase_unused_tuples(self) -> None:
        """Erase the tuples of which only the fields are used."""
        for value in reversed(self.tuples):
            op = value.owner
            if value.first_use is None and isinstance(op, relay.TupleOp) and op.parent is not None:
                op.parent.erase_op(op)


# ----------------------------------------------------------------------- text


def attribute_of(value: Any) -> Attribute | None:
    """Convert a function attribute's value to the IR; None if it has no form there."""
    match value:
        case None:
            return NoneType()
        case Attribute():
            return value
        case tuple():
            parts = [attribute_of(part) for part in cast("tuple[Any, ...]", value)]
            return None if None in parts else ArrayAttr(cast("list[Attribute]", parts))
        case dict():
            entries = {
                key: attribute_of(part) for key, part in cast("dict[str, Any]", value).items()
            }
            lacks = None in entries.values()
            return None if lacks else DictionaryAttr(cast("dict[str, Attribute]", entries))
        case _:
            return plain_attribute(value)


def called(value: SSAValue, default: str = "this") -> str:
    """Return the name of a value for a message."""
    return f"%{value.name_hint}" if value.name_hint else default

"""
The rules of `convert-memory-to-memref`, and their state: types, symbols, constants, messages.

    @converts(memory.KillOp)
    def erase_kill(op: memory.KillOp, w: Writer) -> None: …
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.rewriter import InsertPoint

from ...dialects import relay
from ...dialects.dense import Dense, integer
from ...dialects.device import tensor_type
from ...dialects.tensors import MIN_ALIGNMENT, as_tensor
from ...passes.functions.symbols import SymbolNames
from ...passes.support.diagnostics import PassError
from ..upstream_sizes.checked_functions import FUNCTIONS, REQUIRE, checked_function
from .memref_types import MemRef, MemRefTypes, as_memref

MESSAGES = "xrelay.messages"
"""The module attribute that lists the messages of failures at run time."""

PREFIX = "xrelay."
"""Attributes with this prefix are kept."""

OpT = TypeVar("OpT", bound=Operation)

_PLACEHOLDER = re.compile(r"\{(\d+)\}")


def kept(op: Operation) -> dict[str, Attribute]:
    """Return the attributes of `op` that say something to later passes."""
    return {name: value for name, value in op.attributes.items() if name.startswith(PREFIX)}


@dataclass
class Conversion:
    """The state of a conversion of `module`."""

    module: ModuleOp
    types: MemRefTypes
    names: SymbolNames
    functions: Mapping[str, func.FuncOp]
    lent: Mapping[str, Mapping[int, int]]
    """By function, the results that lie in a storage of the caller, and the parameter of each."""
    measured: Mapping[relay.MeasureOp, Sequence[Attribute]]
    """The types of the arguments of measures before the conversion: signed integers, or not."""
    messages: dict[str, int] = field(default_factory=dict[str, int])
    """The number of each message."""
    helpers: dict[str, str] = field(default_factory=dict[str, str])
    """The symbols of the functions of `checked_functions` that are used, and of the runtime's."""
    globals: dict[Attribute, memref.GlobalOp] = field(
        default_factory=dict[Attribute, memref.GlobalOp]
    )
    """By value, or by name and type of a param."""
    _numbers: dict[tuple[Block, Attribute, int], SSAValue] = field(
        default_factory=dict[tuple[Block, Attribute, int], SSAValue]
    )

    def number(self, value: int, type: Attribute, at: Operation) -> SSAValue:
        """Return the integer `value` of `type`, defined at the start of the block of `at`."""
        block = at.parent
        assert block is not None
        key = block, type, value
        constant_value = self._numbers.get(key)
        if constant_value is None:
            number = cast("IntegerType | IndexType", type)
            constant = arith.ConstantOp(IntegerAttr(value, number))
            constant.result.name_hint = f"c{value}" if value >= 0 else f"cm{-value}"
            first = block.first_op
            assert first is not None
            block.insert_op_before(constant, first)
            constant_value = self._numbers[key] = constant.result
        return constant_value

    def message(self, text: str, values: Sequence[SSAValue]) -> tuple[int, list[SSAValue]]:
        """
        Return the number of a message, and the values that it shows.

        `{i}` in the text stands for `values[i]`, an i64. The runtime shows two numbers that are
        computed; constants become text, and further numbers a question mark.
        """
        shown: list[SSAValue] = []

        def placeholder(found: re.Match[str]) -> str:
            value = values[int(found[1])]
            known = integer(value)
            if known is not None:
                return str(known)
            if value not in shown:
                if len(shown) == 2:
                    return "?"
                shown.append(value)
            return f"{{{shown.index(value)}}}"

        text = _PLACEHOLDER.sub(placeholder, text)
        return self.messages.setdefault(text, len(self.messages)), shown

    def helper(self, name: str) -> str:
        """Return the symbol of a function of `checked_functions`, or of the runtime."""
        if name not in self.helpers:
            is_runtime = name not in FUNCTIONS
            self.helpers[name] = name if is_runtime else self.names.unique(f"xrelay.{name}")
            if not is_runtime:
                self.helper(REQUIRE)
        return self.helpers[name]

    def constant(self, value: Dense, type: Attribute) -> memref.GlobalOp:
        """Return the global that holds `value`, of `type`."""
        converted = as_memref(type)
        tensor: Any = tensor_type(converted.element_type, list(converted.get_shape()))
        contents = DenseIntOrFPElementsAttr(tensor, value.data)
        return self._global("constant", type, value, contents, constant=UnitAttr())

    def param(self, op: relay.ParamOp, type: Attribute) -> memref.GlobalOp:
        """Return the global for a param, whose contents come from elsewhere; it has its place."""
        made = self._global(op.param.data, type, op.param, UnitAttr())
        made.attributes |= {"xrelay.param": op.param, **op.attributes}
        return made

    def _global(
        self, name: str, type: Attribute, key: Attribute, contents: Attribute, **more: Attribute
    ) -> memref.GlobalOp:
        key = ArrayAttr([key, type])
        if key not in self.globals:
            self.globals[key] = memref.GlobalOp.create(
                properties={
                    "sym_name": StringAttr(self.names.unique(name)),
                    "type": type,
                    "initial_value": contents,
                    "sym_visibility": StringAttr("private"),
                    **more,
                    "alignment": IntegerAttr(MIN_ALIGNMENT, i64),
                }
            )
        return self.globals[key]

    def finish(self) -> None:
        """Add the globals, the functions used and the messages to the module."""
        functions = [
            checked_function(name, symbol, self.message) for name, symbol in self.helpers.items()
        ]
        block = self.module.body.block
        first = block.first_op
        if first is None:
            block.add_ops(self.globals.values())
        else:
            block.insert_ops_before(list(self.globals.values()), first)
        block.add_ops(functions)
        if self.messages:
            self.module.attributes[MESSAGES] = ArrayAttr(map(StringAttr, self.messages))


@dataclass(frozen=True)
class Writer:
    """Writes code before the op `at`."""

    state: Conversion
    rewriter: PatternRewriter
    at: Operation

    def __call__(self, op: OpT) -> OpT:
        """Insert `op`; return it."""
        self.rewriter.insert(op, InsertPoint.before(self.at))
        return op

    def value(self, op: Operation) -> SSAValue:
        """Insert `op`; return its result."""
        return self(op).results[0]

    def before(self, op: Operation) -> Writer:
        """Return a writer of code before `op`."""
        return replace(self, at=op)

    def replace(self, *values: SSAValue) -> None:
        """Replace the results of the op by `values`."""
        self.rewriter.replace(self.at, [], values)

    def replace_by(self, op: Operation) -> None:
        """Replace the op by `op`, which keeps what says something to later passes."""
        op.attributes |= kept(self.at)
        self.rewriter.replace(self.at, op)

    def type_of(self, value: SSAValue) -> MemRef:
        """Return the type of a tensor as a memref."""
        return as_memref(self.state.types.of(value))

    def index(self, value: int) -> SSAValue:
        return self.state.number(value, IndexType(), self.at)

    def number64(self, value: int) -> SSAValue:
        return self.state.number(value, i64, self.at)

    def load(self, buffer: SSAValue, *indices: SSAValue) -> SSAValue:
        """Read an element."""
        type = as_memref(buffer.type).element_type
        return self.value(memref.LoadOp.create(operands=[buffer, *indices], result_types=[type]))

    def dynamic_dims(self, value: SSAValue) -> list[SSAValue]:
        """Read the dims of `value`, a memref, that are not static."""
        dims = enumerate(as_memref(value.type).get_shape())
        return [self.dim(value, i) for i, dim in dims if dim == DYNAMIC_INDEX]

    def dim(self, value: SSAValue, axis: int) -> SSAValue:
        """Read a dim of a memref, an index."""
        return self.value(memref.DimOp(value, self.index(axis)))

    def as_number(self, index: SSAValue) -> SSAValue:
        """Return an index as an i64."""
        return self.value(arith.IndexCastOp(index, i64))

    def cast_to(self, value: SSAValue, type: Attribute) -> SSAValue:
        """Return `value` as a memref of `type`, which knows more or fewer dims."""
        if value.type == type or not isinstance(type, MemRefType):
            return value
        return self.value(memref.CastOp.get(value, cast(MemRef, type)))

    def call(self, name: str, *args: SSAValue) -> Sequence[SSAValue]:
        """Call a function of `checked_functions`, or of the runtime; return its results."""
        types = FUNCTIONS[name].results if name in FUNCTIONS else ()
        return self(func.CallOp(self.state.helper(name), args, types)).results

    def require(self, ok: SSAValue, message: str, values: Sequence[SSAValue]) -> None:
        """Stop the program with `message`, as `Conversion.message` has it, unless `ok`."""
        code, shown = self.state.message(message, values)
        numbers = [*shown, *[self.number64(0)] * (2 - len(shown))]
        self.call(REQUIRE, ok, self.number64(code), *numbers)


Rule: TypeAlias = Callable[[Any, Writer], None]
"""Converts an op, before which code is written."""

RULES: dict[type[Operation], Rule] = {}
"""By class of ops, which may be a base class."""

RuleT = TypeVar("RuleT", bound=Rule)


def converts(*kinds: type[Operation]) -> Callable[[RuleT], RuleT]:
    """Make a function the rule of ops of `kinds`."""

    def register(rule: RuleT) -> RuleT:
        RULES.update(dict.fromkeys(kinds, rule))
        return rule

    return register


@cache
def _rule_of(kind: type[Operation]) -> Rule | None:
    return next((RULES[base] for base in kind.__mro__ if base in RULES), None)


@dataclass(frozen=True)
class ConvertOp(RewritePattern):
    """Convert an op by the rule of its class, or as arithmetic on sizes."""

    state: Conversion

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        rule = _rule_of(type(op))
        if rule is not None:
            rule(op, Writer(self.state, rewriter, op))
        elif any(as_tensor(type) is not None for type in op.result_types):
            raise PassError(f"{op.name} has no form on memrefs", op)

"""The state of `convert-memory-to-memref`: types, symbols, constants, messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    Builtin,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from ...dialects.dense import Dense
from ...dialects.device import tensor_type
from ...dialects.tensors import MIN_ALIGNMENT
from ...passes.functions.symbol_names import SymbolNames
from ..upstream_sizes import checked_functions
from .memref_types import MemRefTypes, as_memref

MESSAGES = "xrelay.messages"
"""The module attribute that lists the messages of failures at run time."""

PREFIX = "xrelay."
"""Attributes with this prefix are kept."""

OpT = TypeVar("OpT", bound=Operation)


def kept(op: Operation) -> dict[str, Attribute]:
    """Return the attributes of `op` that say something to later passes."""
    return {name: value for name, value in op.attributes.items() if name.startswith(PREFIX)}


@dataclass
class Inserter:
    """Inserts ops before `place`."""

    rewriter: PatternRewriter
    place: InsertPoint

    def __call__(self, op: OpT) -> OpT:
        self.rewriter.insert(op, self.place)
        return op

    def value(self, op: Operation) -> SSAValue:
        """Insert `op`; return its result."""
        self.rewriter.insert(op, self.place)
        return op.results[0]


@dataclass
class Conversion:
    """The state of a conversion of `module`."""

    module: ModuleOp
    types: MemRefTypes
    names: SymbolNames
    messages: dict[str, int] = field(default_factory=dict[str, int])
    """The number of each message."""
    helpers: dict[str, str] = field(default_factory=dict[str, str])
    """The symbols of the functions of `checked` that are used, and of those of the runtime."""
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
        found = self._numbers.get(key)
        if found is None:
            number = cast("IntegerType | IndexType", type)
            constant = arith.ConstantOp(IntegerAttr(value, number))
            constant.result.name_hint = f"c{value}" if value >= 0 else f"cm{-value}"
            first = block.first_op
            assert first is not None
            block.insert_op_before(constant, first)
            found = self._numbers[key] = constant.result
        return found

    def index(self, value: int, at: Operation) -> SSAValue:
        return self.number(value, IndexType(), at)

    def number64(self, value: int, at: Operation) -> SSAValue:
        return self.number(value, i64, at)

    def code(self, message: str) -> int:
        """Return the number of `message`."""
        return self.messages.setdefault(message, len(self.messages))

    def helper(self, name: str) -> str:
        """Return the symbol of the function `name` of `checked`."""
        if name not in self.helpers:
            if name in checked_functions.DECLARATIONS:
                self.helpers[name] = name
            else:
                self.helpers[name] = self.names.unique(f"xrelay.{name}")
                self.helper(checked_functions.REQUIRE)
        return self.helpers[name]

    def call_helper(
        self, name: str, args: Sequence[SSAValue], type: Attribute | None = i64
    ) -> func.CallOp:
        """Build a call of the function `name` of `checked`, with a result of `type`."""
        return func.CallOp(self.helper(name), args, [] if type is None else [type])

    def constant(self, value: Dense, type: Attribute) -> memref.GlobalOp:
        """Return the global that holds `value`, of `type`."""
        key = ArrayAttr([value, type])
        if key not in self.globals:
            converted = as_memref(type)
            tensor: Any = tensor_type(converted.element_type, list(converted.get_shape()))
            self.globals[key] = memref.GlobalOp.create(
                properties={
                    "sym_name": StringAttr(self.names.unique("constant")),
                    "type": type,
                    "initial_value": DenseIntOrFPElementsAttr(tensor, value.data),
                    "sym_visibility": StringAttr("private"),
                    "constant": UnitAttr(),
                    "alignment": IntegerAttr(MIN_ALIGNMENT, i64),
                }
            )
        return self.globals[key]

    def param(self, name: StringAttr, type: Attribute) -> memref.GlobalOp:
        """Return the global for the param `name`, whose contents come from elsewhere."""
        key = ArrayAttr([name, type])
        if key not in self.globals:
            self.globals[key] = memref.GlobalOp.create(
                properties={
                    "sym_name": StringAttr(self.names.unique(name.data)),
                    "type": type,
                    "initial_value": UnitAttr(),
                    "sym_visibility": StringAttr("private"),
                    "alignment": IntegerAttr(MIN_ALIGNMENT, i64),
                },
                attributes={"xrelay.param": name},
            )
        return self.globals[key]

    def finish(self, ctx: Context) -> None:
        """Add the globals, the functions used and the messages to the module."""
        texts = [
            checked_functions.DECLARATIONS[name]
            if name in checked_functions.DECLARATIONS
            else checked_functions.FUNCTIONS[name](symbol, self.code)
            for name, symbol in self.helpers.items()
        ]
        functions = parse_functions(texts)
        block = self.module.body.block
        first = block.first_op
        if first is None:
            block.add_ops(self.globals.values())
        else:
            block.insert_ops_before(list(self.globals.values()), first)
        block.add_ops(functions)
        if self.messages:
            self.module.attributes[MESSAGES] = ArrayAttr(map(StringAttr, self.messages))


def parse_functions(texts: Sequence[str]) -> list[Operation]:
    """Return the functions in `texts`, of `func` and `arith`."""
    if not texts:
        return []
    ctx = Context()
    for dialect in (Builtin, arith.Arith, func.Func):
        ctx.load_dialect(dialect)
    module = Parser(ctx, "\n".join(texts)).parse_module()
    functions = list(module.body.block.ops)
    for function in functions:
        function.detach()
    return functions

"""
Print the bodies of functions.

Each op that is not a leaf gets a line, `%3 = nn.relu(%2);` or `let %x = @f(%2);`, as in TVM's
printer; the result of a block has no name. Graph bindings are numbered through the module.
`printer_order` decides which op is which, `printer_expressions` prints the op itself.

In a planned function, a value that is not where a reader of TVM's form would assume it (on the
device of the op that uses it, or of the block for a `let`) is wrapped in a fixed `on_device`.

Names of locals are those of the IR, made legal and unique in their function. A parameter keeps any
name that the reader accepts (`%conv1/w-0`, which TVM's printer writes too); other names have
letters, digits and `_` only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.tensor import ExtractOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ....dialects import relay
from ....dialects.device import VirtualDeviceAttr
from ....dialects.type_algebra import parts
from ....dialects.vm import DestinationCall
from ..errors import unprintable
from ..literals import literal
from ..text.lexer import GLOBAL, LOCAL, WORD
from ..type_texts import TypeTexts, place_of, tuple_text
from .printer_metadata import MetadataTable
from .printer_operators import OperatorTexts, attribute_text
from .printer_order import Form, Order, is_declared, order_of, source_of

_READABLE, _GLOBAL, _WORD = (re.compile(name, re.ASCII) for name in (LOCAL, GLOBAL, WORD))
_OTHER = re.compile(r"[^A-Za-z0-9_]", re.ASCII)
_PROJECTION = re.compile(r"(.*?)(?:\.[0-9]+)+", re.DOTALL)


def is_global_name(name: str) -> bool:
    """Return whether `@name` can be read."""
    return _GLOBAL.fullmatch(name) is not None


def is_word(name: str) -> bool:
    """Return whether `name` can name a type, a constructor or a type parameter."""
    return _WORD.fullmatch(name) is not None


class LocalNames:
    """Allocates the names of one function."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._next: dict[str, int] = {}

    def param(self, name: str | None) -> str:
        """Return a unique name for a parameter called `name`."""
        if name is None or name in self._taken or not _READABLE.fullmatch(name):
            return self.local(name, "p0")
        projection = _PROJECTION.fullmatch(name)
        if projection is not None:  # %x.0 could be field 0 of %x
            if projection[1] in self._taken:
                return self.local(name, "p0")
            self._taken.add(projection[1])
        self._taken.add(name)
        return name

    def local(self, name: str | None, default: str = "v") -> str:
        """Return a unique name for a value called `name`, if anything."""
        word = _OTHER.sub("_", name) if name else default
        if word[0].isdigit():
            word = f"v{word}"
        if word not in self._taken:
            self._taken.add(word)
            return word
        base = word.rstrip("0123456789") if name is None else word
        number = self._next.get(base, 1)
        while f"{base}{number}" in self._taken:
            number += 1
        self._next[base] = number + 1
        self._taken.add(f"{base}{number}")
        return f"{base}{number}"


@dataclass(frozen=True)
class Expressions:
    """The printing of expressions: `printer_expressions`."""

    head: Callable[[Body, Operation], str]
    """Returns the text of an op up to the body of its first region."""
    closing: Callable[[Body, Operation], None]
    """Prints the regions of an op, and what follows."""


@dataclass(eq=False)
class Shared:
    """State shared by the functions of a module."""

    expressions: Expressions
    table: MetadataTable = field(default_factory=MetadataTable)
    types: TypeTexts = field(default_factory=TypeTexts)
    numbered: int = 0
    """The number of graph bindings so far."""

    def __post_init__(self) -> None:
        self.operators = OperatorTexts(self.table)


class Body:
    """Prints the ops of one function to `out`."""

    def __init__(self, shared: Shared, out: list[str]):
        self.shared = shared
        self.out = out
        self.names = LocalNames()
        self.order = Order()
        self.placed = False
        """True if types carry devices."""
        self.lexical: VirtualDeviceAttr | None = None
        """The device that a reader assumes for the values of the block."""
        self.variables: set[SSAValue] = set()
        """The values that are variables in the text."""
        self.indent = "  "
        self._texts: dict[SSAValue, str] = {}
        self._tuples: dict[Operation, str] = {}
        """The text of an op with several results, as a tuple."""
        self._fixed: dict[SSAValue, str] = {}

    # ------------------------------------------------------------------ values

    def place(self, op: Operation) -> VirtualDeviceAttr | None:
        """Return the device that a reader assumes for the operands of `op`."""
        if not self.placed or not op.results:
            return self.lexical
        return place_of(op.results[0].type) or self.lexical

    def bind(self, value: SSAValue, name: str) -> None:
        """Make `value` a variable called `name`."""
        self._texts[value] = f"%{name}"
        self.variables.add(value)

    def texts(self, values: Sequence[SSAValue], place: VirtualDeviceAttr | None) -> list[str]:
        """Return the texts of `values` in an expression on `place`."""
        return [self.text(value, place) for value in values]

    def operands(self, op: Operation) -> list[str]:
        """Return the texts of the operands of `op`."""
        return self.texts(op.operands, self.place(op))

    def attributes(self, attrs: Mapping[str, Attribute], op: Operation) -> list[str]:
        """Return `name="f"` for each attribute."""
        table = self.shared.table
        return [f"{key}={attribute_text(value, table, op)}" for key, value in attrs.items()]

    def text(self, value: SSAValue, place: VirtualDeviceAttr | None) -> str:
        """Return the text of `value` where a reader assumes it on `place`."""
        text = self._texts.get(value)
        if text is None:
            assert isinstance(value, OpResult), "block arguments have names"
            text = self.leaf(value.op)
        if not self.placed or value in self.variables or not self._is_elsewhere(value, place):
            return text
        fixed = self._fixed.get(value)
        if fixed is None:
            fixed = self._fixed[value] = self.bound(self._on_device(text, value))
        return fixed

    def _is_elsewhere(self, value: SSAValue, place: VirtualDeviceAttr | None) -> bool:
        """Return whether a reader would assume the wrong device for `value`."""
        if isinstance(value.owner, relay.FnOp | relay.GlobalOp | relay.ClosureOp):
            return False
        own = place_of(value.type)
        return own is not None and own != place

    def _on_device(self, text: str, value: SSAValue) -> str:
        device, op = place_of(value.type), value.owner
        assert device is not None, "a moved value has a device"
        assert isinstance(op, Operation), "block arguments are variables"
        reference = self.shared.table.device(device, op)
        return f"on_device({text}, virtual_device={reference}, constrain_result=True)"

    def leaf(self, op: Operation) -> str:
        """Return the text of a constant or a function, which is printed where it is used."""
        if isinstance(op, relay.GlobalOp):
            return f"@{op.callee.string_value()}"
        if isinstance(op, relay.InstantiateOp):
            return self.text(op.function, None)
        if isinstance(op, ExtractOp):
            raise unprintable("numbers other than sizes and offsets", op)
        assert isinstance(op, relay.ConstantOp), f"{op.name} is not a leaf"
        value = cast(Any, op.value)
        return literal(value) or self.shared.table.constant(value, op)

    # ------------------------------------------------------------------- lines

    def line(self, text: str) -> None:
        self.out.append(f"{self.indent}{text}\n")

    def bound(self, text: str) -> str:
        """Print a new graph binding of `text` and return its number."""
        number = f"%{self.shared.numbered}"
        self.shared.numbered += 1
        self.line(f"{number} = {text};")
        return number

    def _write(self, before: str, op: Operation, after: str) -> None:
        """Print the expression of `op` on lines of its own, after what it needs."""
        text = self.shared.expressions.head(self, op)
        if not op.regions:
            self.out.append(f"{self.indent}{before}{text}{after}\n")
            return
        if before and isinstance(op, relay.MatchOp):  # a bare one is a statement to TVM's parser
            before, after = f"{before}(", f"){after}"
        self.line(f"{before}{text}")
        self.shared.expressions.closing(self, op)
        self.line(f"}}{after}")

    def nested(self, block: Block, lexical: VirtualDeviceAttr | None) -> None:
        """Print a nested block whose values a reader assumes on `lexical`."""
        outer, self.lexical = self.lexical, lexical
        known = len(self._fixed)
        with self.indented():
            self._block(block)
        while len(self._fixed) > known:  # bound in the block, and undefined after it
            self._fixed.popitem()
        self.lexical = outer

    @contextmanager
    def indented(self) -> Generator[None]:
        """Indent the lines printed in the context."""
        outer = self.indent
        self.indent += "  "
        yield
        self.indent = outer

    # ------------------------------------------------------------------ blocks

    def function(self, block: Block) -> None:
        """Print the body of a global function, whose parameters are named already."""
        self.order = order_of(block)
        self._block(block)

    def _block(self, block: Block) -> None:
        """Print the statements of `block`, then its result."""
        last = block.last_op
        assert last is not None, "a block ends in a terminator"
        result = self._result_op(last)
        for op in block.ops:
            if op is result or op is last:
                break
            match self.order.form(op):
                case Form.NODE:
                    self._node(op)
                case Form.LET:
                    if not isinstance(op, relay.ParamOp):
                        self._let(op)
                case Form.HINT:
                    self._node(op)
                    name = self.names.local(op.results[0].name_hint)
                    self.line(f"let %{name} = {self._texts[op.results[0]]};")
                case Form.PART:
                    source = source_of(op)
                    if source is not None:
                        self._texts[op.results[0]] = self._tuples[source]
                case Form.LEAF:
                    pass
        if result is not None:
            self._write("", result, "")
            return
        fields = self.texts(last.operands, self.lexical)
        self.line(fields[0] if len(fields) == 1 else tuple_text(fields))

    def _result_op(self, last: Operation) -> Operation | None:
        """Return the op to print as the block's result: the one just before the terminator."""
        op = last.prev_op
        if op is None or len(last.operands) != 1 or last.operands[0] not in op.results:
            return None
        if not op.results[0].has_one_use() or self._is_moved(op):
            return None
        form = self.order.form(op)
        if form is Form.NODE:
            return op if len(op.results) == 1 else None
        source = source_of(op) if form is Form.PART else None
        if source is not None and all(r.has_one_use() for r in source.results):
            return source
        return None

    def _is_moved(self, op: Operation) -> bool:
        return self.placed and self._is_elsewhere(op.results[0], self.lexical)

    def _node(self, op: Operation) -> None:
        """Print a graph binding."""
        if op.regions:
            number = f"%{self.shared.numbered}"
            self.shared.numbered += 1
            self._write(f"{number} = ", op, ";")
        else:
            number = self.bound(self.shared.expressions.head(self, op))
        self._take_results(op, number)

    def _take_results(self, op: Operation, text: str) -> None:
        """Let the results of `op` be printed as `text`, or as its fields."""
        if len(op.results) == 1:
            self._texts[op.results[0]] = text
            return
        self._tuples[op] = text
        for i, result in enumerate(op.results):
            if any(source_of(use.operation) is not op for use in result.uses):
                self._texts[result] = self.bound(f"{text}.{i}")

    def _write_into(self, op: DestinationCall) -> None:
        """Print a call that returns unit; what it writes is called by the names of its outs."""
        text = self.shared.expressions.head(self, op)
        if op.results and self._is_moved(op):
            text = self._on_device(text, op.results[0])
        self.line(f"let %_ = {text};")
        for out, result in zip(op.outs, op.results, strict=True):
            self._texts[result] = self._texts[out]
            if out in self.variables:
                self.variables.add(result)

    def _let(self, op: Operation) -> None:
        """Print a statement that binds a variable."""
        if isinstance(op, DestinationCall):
            self._write_into(op)
            return
        source = source_of(op)
        if source is not None and source in self._tuples:
            self._name(op.results[0], self._tuples[source])
            return
        if len(op.results) > 1 and any(result.first_use for result in op.results):
            self._anchored(op)
            return
        written = op if source is None else source
        if not any(result.first_use for result in op.results):
            if isinstance(op, relay.OnDeviceOp) and op.constrain_body and not op.constrain_result:
                self._write("", op, ";")  # in a `let` it would constrain its result too
                return
            hint = op.results[0].name_hint if op.results else None
            name = "_" if hint in (None, "_") else self.names.local(hint)
        else:
            name = self.names.local(op.results[0].name_hint)
        if isinstance(op, relay.FnOp) and op.recursive is not None:
            self.bind(op.body.block.args[0], name)
        before = f"let %{name}{self._annotation(op)} = "
        if op.results and self._is_moved(op):
            self._node(written)
            result = op.results[0]
            text = self._tuples[written] if len(written.results) > 1 else self._texts[result]
            self.line(f"{before}{self._on_device(text, result)};")
        else:
            self._write(before, written, ";")
        if op.results:
            self.bind(op.results[0], name)

    def _anchored(self, op: Operation) -> None:
        """Print an op with several results, kept in its place by a `let` of one of them."""
        self._node(op)
        result = next(r for r in op.results if r in self._texts)
        self._name(result, self._texts[result])

    def _name(self, result: OpResult, text: str) -> None:
        """Print a statement that binds a variable to `text`, which is already computed."""
        name = self.names.local(result.name_hint)
        if self.placed and self._is_elsewhere(result, self.lexical):
            text = self._on_device(text, result)
        self.line(f"let %{name} = {text};")
        self.bind(result, name)

    # -------------------------------------------------------------- annotations

    def _annotation(self, op: Operation) -> str:
        """Return the annotation `: T` where a reader could not infer the type."""
        if isinstance(op, relay.GlobalOp):
            written = bool(op.type_args.data)
        else:
            is_alone = not isinstance(op, relay.Operator) and len(op.results) == 1
            written = is_declared(op) or (is_alone and _has_arguments(op.results[0].type))
        if not written:
            return ""
        return f": {self.shared.types.text(op.results[0].type, op)}"


def _has_arguments(type: Attribute) -> bool:
    """Return whether `type` contains type arguments of a data type, outside functions."""
    if isinstance(type, FunctionType):
        return False
    inner = parts(type)
    return any(map(_has_arguments, inner)) or (isinstance(type, relay.AdtType) and bool(inner))

"""
Print a module as Relay text 0.0.5.

    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {      #[version = "0.0.5"]
      %y = relay.nn.relu %x : …                                def @main(%x: Tensor[(4), float32])
      func.return %y : tensor<4xf32>                      ->       -> Tensor[(4), float32] {
    }                                                            nn.relu(%x)
                                                               }

Levels: `relay`, `planned`, `lowered`, `manifest`. Reading the text back gives the same IR, except
that several results become a tuple, names may differ, and a `relay.param` becomes a parameter of
its function, after the others (Relay text has no names for tensors outside it).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.target import Target

from ....dialects import relay
from ....dialects.attributes import ELEMENT_TYPES
from ....dialects.device import DEVICE, VirtualDeviceAttr
from ....dialects.relay.language.annotations import ATTRS, NAME, type_params_of
from ....dialects.xdsl_extras.walking import walk
from ..errors import PrintingError
from ..text.lexer import VERSION
from ..tvm_operators import BY_NAME
from ..type_texts import STORAGE, is_storage, place_of
from .printer_body import Body, Expressions, Shared, is_global_name, is_word
from .printer_expressions import closing, function_attributes, head, no_form, params
from .printer_memory import kernel_attributes, kernel_devices

HEADER = f'#[version = "{VERSION}"]\n'


def module_text(module: ModuleOp) -> str:
    """
    Return `module` as Relay text, with the metadata section that it refers to.

    Raises `PrintingError`, with the op and its location, for what has no form as Relay text.
    """
    return _Module(module).text()


@dataclass(frozen=True)
class RelayTextTarget(Target):
    """Prints a module at level `relay`, `planned`, `lowered` or `manifest` as Relay text 0.0.5."""

    name: ClassVar[str] = "relay-text"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(module_text(module))


class _Module:
    def __init__(self, module: ModuleOp):
        self.module = module
        self.shared = Shared(Expressions(head, closing))
        self.called: dict[str, Operation] = {}
        """For each global function that is used, an op that calls or names it."""

    def text(self) -> str:
        types = [op for op in self.module.ops if isinstance(op, relay.TypeDataOp)]
        functions: list[FuncOp | relay.PrimFuncOp] = []
        for op in self.module.ops:
            if isinstance(op, FuncOp | relay.PrimFuncOp):
                functions.append(op)
            elif not isinstance(op, relay.TypeDataOp):
                raise no_form(op)
        self._check_types(types)
        for op in walk(self.module):
            if isinstance(callee := op.properties.get("callee"), SymbolRefAttr):
                self.called.setdefault(callee.string_value(), op)
        parts = [self._type_data(op) for op in types]
        for op in functions:
            parts.append(
                self._kernel(op) if isinstance(op, relay.PrimFuncOp) else self._function(op)
            )
        if self.shared.types.mention_storage:
            own = next((op for op in types if op.sym_name.data == STORAGE), None)
            if own is None:
                parts.append(f"extern type {STORAGE}\n")  # it ends the definitions for TVM 0.16
            elif not is_storage(own):
                raise PrintingError("Relay text reserves the type name Storage for memory", own)
        return HEADER + "\n".join(parts) + self.shared.table.text()

    # -------------------------------------------------------------- data types

    def _check_types(self, types: list[relay.TypeDataOp]) -> None:
        """Require that the names of types and constructors can be read back."""
        makers: dict[str, str] = {}
        for op in types:
            name = op.sym_name.data
            taken = name in ELEMENT_TYPES or name in ("Tensor", "ref", "fn")
            if not is_word(name) or taken:
                raise PrintingError(f"Relay text cannot have a data type called {name}", op)
            for constructor in op.constructors:
                made = constructor.constructor.data
                if not is_word(made) or made in BY_NAME:
                    raise PrintingError(f"Relay text cannot have a constructor called {made}", op)
                if made in makers:
                    raise PrintingError(
                        f"Relay text cannot have a constructor {made} of both {makers[made]} "
                        f"and {name}",
                        op,
                    )
                makers[made] = name

    def _type_data(self, op: relay.TypeDataOp) -> str:
        head = f"type {op.sym_name.data}{_type_params([p.data for p in op.params], op)}"
        if op.extern is not None:
            return f"extern {head}\n"
        lines = [f"{head} {{\n"]
        for constructor in op.constructors:
            fields = ", ".join(self.shared.types.text(t, op) for t in constructor.fields)
            fields = f"({fields})" if fields else ""
            lines.append(f"  {constructor.constructor.data}{fields},\n")
        return "".join([*lines, "}\n"])

    # --------------------------------------------------------------- functions

    def _function(self, op: FuncOp) -> str:
        symbol = op.sym_name.data
        block = _only_block(op)
        if not is_global_name(symbol):
            raise PrintingError(f"Relay text cannot have a function called @{symbol}", op)
        out: list[str] = []
        body = Body(self.shared, out)
        type = op.function_type
        places = [place_of(t) for t in (*type.inputs, *type.outputs)]
        body.placed = any(p is not None for p in places)
        body.lexical = _place_of_result(op)
        entries = _entries(op.arg_attrs) or [{}] * len(block.args)
        for value, entry in zip(block.args, entries, strict=True):
            name = entry.get(NAME)
            name = name.data if isinstance(name, StringAttr) else value.name_hint
            body.bind(value, body.names.param(name))
        shown = params(body, op, block.args, [entry.get(DEVICE) for entry in entries])
        shown += self._weights(op, body)
        device = next((d[DEVICE] for d in _entries(op.res_attrs) if DEVICE in d), None)
        shown += function_attributes(body, op, _relay_attributes(op), type, device)
        head = f"def @{symbol}{_type_params(type_params_of(op), op)}({', '.join(shown)})"
        body.function(block)
        return f"{head} -> {self.shared.types.result(type, op)} {{\n{''.join(out)}}}\n"

    def _kernel(self, op: relay.PrimFuncOp) -> str:
        name, type = op.sym_name.data, op.function_type
        if not is_global_name(name):
            raise PrintingError(f"Relay text cannot have a function called @{name}", op)
        if name not in self.called:
            raise PrintingError(
                f"Relay text has no form for the kernel @{name}, which is never called: it would "
                "be read as a function",
                op,
            )
        out: list[str] = []
        body = Body(self.shared, out)
        block = op.body.block
        for value in block.args:
            body.bind(value, body.names.param(value.name_hint))
        shown = params(body, op, block.args, kernel_devices(op))
        shown += kernel_attributes(body, op)
        body.function(block)
        result = self.shared.types.result(type, op)
        return f"def @{name}({', '.join(shown)}) -> {result} {{\n{''.join(out)}}}\n"

    def _weights(self, op: FuncOp, body: Body) -> Iterator[str]:
        """Yield a parameter for each `relay.param` of the function, after the others."""
        known: dict[tuple[str, Attribute], SSAValue] = {}
        for inner in walk(op.body):
            if not isinstance(inner, relay.ParamOp):
                continue
            user = self.called.get(op.sym_name.data)
            if user is not None:
                raise PrintingError(
                    f'Relay text has no form for relay.param "{inner.param.data}" in a function '
                    f"that is called: it would add a parameter to @{op.sym_name.data}",
                    inner,
                )
            key = (inner.param.data, inner.result.type)
            first = known.setdefault(key, inner.result)
            if first is inner.result:
                body.bind(first, body.names.param(inner.param.data))
                yield from params(body, inner, [first], [None])
            else:
                body.bind(inner.result, body.text(first, None).removeprefix("%"))


def _place_of_result(op: FuncOp) -> VirtualDeviceAttr | None:
    """
    Return the device of a planned function's result; several results form a tuple on one device.
    """
    places = [p for t in op.function_type.outputs if (p := place_of(t)) is not None]
    other = next((p for p in places if p != places[0]), None)
    if other is not None:
        raise PrintingError(
            f"Relay text has no form for the results of @{op.sym_name.data} on {places[0].spec} "
            f"and {other.spec}: they form one tuple, which is on one device",
            op,
        )
    return places[0] if places else None


def _only_block(op: FuncOp) -> Block:
    """Return the only block of a function's body, which ends in `func.return`."""
    block = op.body.first_block
    if block is None:
        raise PrintingError(
            f"Relay text has no form for @{op.sym_name.data}, a function without a body", op
        )
    last = block.last_op
    if block.next_block is not None or not isinstance(last, ReturnOp):
        raise PrintingError(
            f"Relay text has no form for @{op.sym_name.data}: its body must be one block that "
            "ends in func.return",
            op,
        )
    return block


def _entries(attrs: ArrayAttr[DictionaryAttr] | None) -> list[Mapping[str, Attribute]]:
    return [] if attrs is None else [entry.data for entry in attrs]


def _relay_attributes(op: FuncOp) -> Mapping[str, Attribute]:
    attrs = op.attributes.get(ATTRS)
    return attrs.data if isinstance(attrs, DictionaryAttr) else {}


def _type_params(names: Sequence[str], op: Operation) -> str:
    wrong = next((n for n in names if not is_word(n) or n in ELEMENT_TYPES), None)
    if wrong is not None:
        raise PrintingError(f"Relay text cannot have a type parameter called {wrong}", op)
    return f"[{', '.join(names)}]" if names else ""

"""The expression of each op in Relay text: a dict from op to rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DictionaryAttr, FunctionType
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects import relay
from ....dialects.device import VirtualDeviceAttr, with_device
from ....dialects.memory import CopyOp
from ....dialects.relay.incomplete import join
from ....dialects.relay.language.annotations import ATTRS
from ....dialects.relay.language.control import yielded
from ..errors import PrintingError, unprintable
from ..text.lexer import KEYWORDS
from ..tvm_operators import BY_NAME, is_variadic, returns_tuple, tuples_of
from ..type_texts import place_of, tuple_text
from .printer_body import Body
from .printer_memory import HEADS

Head: TypeAlias = Callable[[Body, Any], str]


def head(body: Body, op: Operation) -> str:
    """Return the text of `op` up to its first region; what it needs is printed first."""
    rule = _HEADS.get(type(op))
    if rule is not None:
        return rule(body, op)
    name = op.name.removeprefix("relay.")
    if BY_NAME.get(name) is type(op):
        return operator(body, op, name)
    raise no_form(op)


def no_form(op: Operation) -> PrintingError:
    """Return the error about an op that has no form in Relay text."""
    dialect = op.name.partition(".")[0]
    if isinstance(op, CopyOp):
        why = "device_copy allocates its result there; print the module before manifest-alloc"
    elif dialect in ("memory", "vm", "bytecode"):
        why = "it belongs to a level that does not exist in Relay"
    elif isinstance(op, relay.PrimitiveOp):
        why = "print the module before its operators are fused, or after outline-primitives"
    else:
        why = "Relay has no such operator"
    return PrintingError(f"Relay text has no form for {op.name}: {why}", op)


# ------------------------------------------------------------------ operators


def operator(body: Body, op: Operation, name: str) -> str:
    """Return `nn.dense(%x, %w, units=4)`; a variadic operator gets one tuple."""
    args = body.operands(op)
    if is_variadic(name):
        args = tuples_of(name, args, lambda fields: body.bound(tuple_text(fields)))
    args += body.shared.operators.attributes(op, name)
    text = f"{name}({', '.join(args)})"
    is_tuple = len(op.results) == 1 and returns_tuple(name, 1)
    return f"({text}).0" if is_tuple else text


def opaque(body: Body, op: relay.CallOpaqueOp) -> str:
    """Return a call of an operator known by name only, with its type as a comment."""
    name, where = op.operator.data, body.place(op)
    if name in BY_NAME or name in KEYWORDS:
        why = "means another operator" if name in BY_NAME else "is a keyword"
        raise PrintingError(f'Relay text cannot call "{name}" by its name: it {why} there', op)
    args: list[str] = []
    for arg in op.arguments:
        if isinstance(arg, SSAValue):
            args.append(body.text(arg, where))
        else:
            args.append(body.bound(tuple_text(body.texts(arg, where))))
    args += body.attributes(op.given, op)
    types = [body.shared.types.text(type, op) for type in op.outputs.types]
    type = types[0] if len(types) == 1 else tuple_text(types)
    return f"{name}({', '.join(args)}) /* ty={type} */"


# -------------------------------------------------------------------- devices


def on_device(body: Body, op: relay.OnDeviceOp) -> str:
    """Return the text of a hint."""
    shown = body.operands(op)
    if not op.device.is_unconstrained:
        shown.append(f"virtual_device={body.shared.table.device(op.device, op)}")
    if op.constrain_result:
        shown.append("constrain_result=True")
    if not op.constrain_body:
        shown.append("constrain_body=False")
    return f"on_device({', '.join(shown)})"


def device_copy(body: Body, op: relay.DeviceCopyOp) -> str:
    """Return the text of a copy, with both devices."""
    source, destination = place_of(op.value.type), place_of(op.result.type)
    assert source is not None, "a copy names devices"
    assert destination is not None, "a copy names devices"
    device = body.shared.table.device
    text = body.text(op.value, destination)
    return (
        f"device_copy({text}, src_virtual_device={device(source, op)}, "
        f"dst_virtual_device={device(destination, op)})"
    )


# ---------------------------------------------------------------------- calls


def call(body: Body, op: Operation, callee: str, args: Sequence[str]) -> str:
    """Return a call of a function, with its attributes, as in `name="f"`."""
    attrs = op.attributes.get(ATTRS)
    shown = body.attributes(attrs.data, op) if isinstance(attrs, DictionaryAttr) else []
    return f"{callee}({', '.join([*args, *shown])})"


def call_value(body: Body, op: relay.CallOp) -> str:
    callee, *args = body.operands(op)
    return call(body, op, callee, args)


def call_symbol(body: Body, op: FuncCallOp | relay.InvokeOp) -> str:
    return call(body, op, f"@{op.callee.string_value()}", body.operands(op))


def construct(body: Body, op: relay.ConstructOp) -> str:
    args = body.operands(op)
    return f"{op.constructor.data}({', '.join(args)})" if args else op.constructor.data


def cell(word: str) -> Head:
    return lambda body, op: f"{word}({', '.join(body.operands(op))})"


# -------------------------------------------------------------------- regions


def require_joined(op: relay.IfOp | relay.MatchOp) -> None:
    """Check that the types that the branches of `op` yield have a common one, as TVM infers it."""
    for values in zip(*map(yielded, op.regions), strict=True):
        common, *others = (with_device(value.type, None) for value in values)
        for type in others:
            joined = join(common, type)
            if joined is None:
                raise unprintable("branches whose results have different dims", op)
            common = joined


def choose(body: Body, op: relay.IfOp) -> str:
    require_joined(op)
    return f"if ({body.text(op.condition, body.place(op))}) {{"


def match(body: Body, op: relay.MatchOp) -> str:
    require_joined(op)
    word = "match" if op.partial is None else "match?"
    text = f"{word} ({body.text(op.data, body.place(op))}) {{"
    return text if op.cases else f"({text}}})"


def fn(body: Body, op: relay.FnOp) -> str:
    type = op.result.type
    assert isinstance(type, FunctionType), "the types of the program are known"
    devices: Sequence[Attribute | None] = [None] * len(op.params)
    if op.param_devices is not None:
        devices = op.param_devices.data
    shown = params(body, op, op.params, devices)
    attrs: Mapping[str, Attribute] = {} if op.attrs is None else op.attrs.data
    shown += function_attributes(body, op, attrs, type, op.result_device)
    own = f"[{', '.join(op.own_type_params)}] " if op.type_params else ""
    return f"fn {own}({', '.join(shown)}) -> {body.shared.types.result(type, op)} {{"


def closure(body: Body, op: relay.ClosureOp) -> str:
    """Return a function literal that calls the global function."""
    type = op.result.type
    assert isinstance(type, FunctionType)
    names = [f"%{body.names.local(None, 'p0')}" for _ in type.inputs]
    shown: list[str] = []
    for name, input in zip(names, type.inputs, strict=True):
        note = _annotation(body, op, place_of(input))
        note = f" {{{note}}}" if note else ""
        shown.append(f"{name}{note}: {body.shared.types.text(input, op)}")
    shown += function_attributes(body, op, {}, type, None)
    args = [*body.texts(op.captured, place_of(type)), *names]
    result = body.shared.types.result(type, op)
    call = f"@{op.callee.string_value()}({', '.join(args)})"
    value, indent = f"%{body.names.local(None, 'v')}", body.indent
    lines = (f"let {value} = {call};", value)
    inner = "".join(f"{indent}  {line}\n" for line in lines)
    return f"fn ({', '.join(shown)}) -> {result} {{\n{inner}{indent}}}"


def params(
    body: Body, op: Operation, values: Sequence[SSAValue], devices: Sequence[Attribute | None]
) -> list[str]:
    """Return `%a {virtual_device=…}: T` for each parameter; a planned type states its device."""
    shown: list[str] = []
    for value, device in zip(values, devices, strict=True):
        if value not in body.variables:
            body.bind(value, body.names.local(value.name_hint, "p0"))
        note = _annotation(body, op, place_of(value.type) or device)
        note = f" {{{note}}}" if note else ""
        type = body.shared.types.text(value.type, op)
        shown.append(f"{body.text(value, None)}{note}: {type}")
    return shown


def function_attributes(
    body: Body,
    op: Operation,
    attrs: Mapping[str, Attribute],
    type: FunctionType,
    device: Attribute | None,
) -> list[str]:
    """Return the attributes between the last parameter and the bracket."""
    shown = body.attributes(attrs, op)
    places = (place_of(t) for t in type.outputs)
    note = _annotation(body, op, next((p for p in places if p is not None), device))
    return [*shown, note] if note else shown


def _annotation(body: Body, op: Operation, device: Attribute | None) -> str:
    if not isinstance(device, VirtualDeviceAttr) or device.is_unconstrained:
        return ""
    return f"virtual_device={body.shared.table.device(device, op)}"


def closing(body: Body, op: Operation) -> None:
    """Print the regions of `op`, without the last bracket."""
    match op:
        case relay.FnOp():
            type = op.result.type
            assert isinstance(type, FunctionType)
            body.nested(op.body.block, place_of(type) if body.placed else None)
        case relay.IfOp():
            lexical = body.place(op)
            body.nested(op.then_region.block, lexical)
            body.line("} else {")
            body.nested(op.else_region.block, lexical)
        case relay.MatchOp():
            cases(body, op)
        case _:
            raise no_form(op)


def cases(body: Body, op: relay.MatchOp) -> None:
    """Print `Cons(%h, _) => { … },` for each case."""
    lexical = body.place(op)
    for pattern, region in zip(op.patterns, op.cases, strict=True):
        variables = iter(region.block.args)
        text = pattern_text(body, pattern, variables)
        with body.indented():
            body.line(f"{text} => {{")
            body.nested(region.block, lexical)
            body.line("},")


def pattern_text(body: Body, pattern: Attribute, variables: Any) -> str:
    """Return the text of a pattern; its variables are named."""
    match pattern:
        case relay.WildcardPattern():
            return "_"
        case relay.VarPattern():
            value = next(variables)
            body.bind(value, body.names.local(value.name_hint, "p0"))
            return body.text(value, None)
        case relay.ConstructorPattern():
            fields = [pattern_text(body, p, variables) for p in pattern.fields]
            name = pattern.constructor.data
            return f"{name}({', '.join(fields)})" if fields else name
        case relay.TuplePattern():
            return f"({', '.join(pattern_text(body, p, variables) for p in pattern.fields)})"
        case _:
            raise AssertionError(f"not a pattern: {pattern}")


_HEADS: dict[type[Operation], Head] = {
    relay.ConstantOp: lambda body, op: body.leaf(op),
    relay.GlobalOp: lambda body, op: body.leaf(op),
    relay.OnDeviceOp: on_device,
    relay.DeviceCopyOp: device_copy,
    relay.CallOp: call_value,
    relay.CallOpaqueOp: opaque,
    relay.InvokeOp: call_symbol,
    FuncCallOp: call_symbol,
    relay.ConstructOp: construct,
    relay.TupleOp: lambda body, op: tuple_text(body.operands(op)),
    relay.TupleGetItemOp: lambda body, op: (
        f"{body.text(op.tuple, body.place(op))}.{op.index.value.data}"
    ),
    relay.RefCreateOp: cell("ref"),
    relay.RefReadOp: cell("ref_read"),
    relay.RefWriteOp: cell("ref_write"),
    relay.IfOp: choose,
    relay.MatchOp: match,
    relay.FnOp: fn,
    relay.ClosureOp: closure,
    **HEADS,
}
"""The rule for each op that is not an operator."""

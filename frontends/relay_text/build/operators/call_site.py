"""
Calls of operators: those of the dialect, and what rules for the others share.

    nn.conv2d(%x, %w, groups=4)    ->    relay.nn.conv2d %x, %w {groups = 4 : i64}

An operator of the dialect is built by TVM's name and attributes on operands of known types.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, SSAValues
from xdsl.irdl import OptPropertyDef
from xdsl.utils.exceptions import VerifyException

from .....dialects.attributes import properties_of
from .....dialects.dense import scalar
from .....dialects.device import VirtualDeviceAttr
from .....dialects.interfaces import InferTypes
from .....dialects.relay import ConstantOp, OnDeviceOp
from .....dialects.relay.operator import Operator
from .....dialects.tensors import Tensor, as_tensor, dtype_name
from .....passes.support.diagnostics import emit_remark, wants_remarks
from ...text import syntax as ast
from ...tvm_operators import (
    BY_NAME,
    InvalidAttribute,
    Values,
    convert_attributes,
    is_variadic,
    operand_count,
    returns_tuple,
    verify_repeated,
)
from ..build_context import Context
from ..constraints import Requirement
from ..deferred import when_known
from ..tuple_rules import project


def call_operator(context: Context, call: ast.Call, args: Sequence[SSAValue]) -> SSAValue:
    """Build a call of an operator of the dialect, as soon as the types of `args` are known."""
    name, count = call.name, operand_count(call.name)
    prepare(context, name, call.attrs, call.offset)
    if len(args) != count:
        wanted = f"{count} argument{'' if count == 1 else 's'}"
        wanted = "one tuple" if count == 1 and is_variadic(name) else wanted
        raise context.error(f"{name} expects {wanted}, but got {len(args)}", call.offset, len(name))
    return when_known(context, _on_known, call, args)


def _on_known(context: Context, call: ast.Call, args: Sequence[SSAValue]) -> SSAValue:
    return operator(context, call.name, args, call.attrs, call.offset)


def operator(
    context: Context, name: str, args: Sequence[SSAValue], attrs: Mapping[str, Any], at: int
) -> SSAValue:
    """Build operator `name` on `args`, whose types are known; several results become a tuple."""
    cls, properties, dropped = prepare(context, name, attrs, at)
    operands = args
    if is_variadic(name) and len(args) == operand_count(name):
        operands = [part for arg in args for part in _parts(context, name, arg, at)]
    op = cls.create(operands=operands, properties=properties)
    try:
        if dropped:
            _verify_redundant(name, dropped, operands)
        infer = op.get_trait(InferTypes)
        assert infer is not None, f"{name} has a type rule"
        types = infer.rule(op)
    except (VerifyException, InvalidAttribute) as error:
        raise _wrong_call(context, name, error, at) from None
    op.results = SSAValues(OpResult(type, op, i) for i, type in enumerate(types))
    context.add(op, at)
    if returns_tuple(name, len(op.results)):
        return context.packed(op.results, at, from_operator=True)
    return op.results[0]


def _wrong_call(context: Context, name: str, error: Exception, at: int) -> Exception:
    """Return `error` about a call of operator `name`, which it begins with."""
    text = str(error).replace("relay.", "")
    return context.error(text if text.startswith(f"{name} ") else f"{name}: {text}", at, len(name))


def _parts(context: Context, name: str, arg: SSAValue, at: int) -> Sequence[SSAValue]:
    """Return the fields of a tuple, and a tensor as it is, if not all operands are tuples."""
    if operand_count(name) > 1 and as_tensor(arg.type) is not None:
        return [arg]
    return fields_of(context, name, arg, at)


def fields_of(context: Context, name: str, arg: SSAValue, at: int) -> Sequence[SSAValue]:
    """Return the fields of the one tuple that a variadic operator takes."""
    fields, type = context.fields(arg), arg.type
    if fields is not None:
        return fields
    if not isinstance(type, TupleType):
        text = context.text(type)
        raise context.error(f"{name} expects a tuple, but got a value of type {text}", at)
    return [project(context, arg, i, at) for i in range(len(type.types))]


def prepare(
    context: Context, name: str, attrs: Mapping[str, Any], at: int
) -> tuple[type[Operator], dict[str, Attribute], Values]:
    """Return the class of operator `name`, its properties, and attributes to be checked only."""
    key = (name, *attrs.items())
    try:
        prepared = context.caches.get(key)
    except TypeError:  # an attribute that is not hashable
        prepared = None
    if prepared is not None:
        return prepared
    cls = BY_NAME[name]
    try:
        values, dropped = convert_attributes(name, attrs)
        properties = properties_of(cls, values)
        wanted = [n for n, d in cls.get_irdl_definition().properties.items() if _must_be_given(d)]
        missing = next((n for n in wanted if n not in properties), None)
        if missing is not None:
            raise InvalidAttribute(f"{missing} is required")
    except (VerifyException, InvalidAttribute) as error:
        raise _wrong_call(context, name, error, at) from None
    operator = cls, properties, dropped
    context.caches[key] = operator
    return operator


def _must_be_given(definition: Any) -> bool:
    return not isinstance(definition, OptPropertyDef) and definition.default_value is None


def _verify_redundant(name: str, dropped: Values, operands: Sequence[SSAValue]) -> None:
    tensors: list[Tensor] = []
    for operand in operands:
        tensor = as_tensor(operand.type)
        if tensor is None:
            return  # the type rule reports it
        tensors.append(tensor)
    verify_repeated(name, dropped, tensors)


Attrs: TypeAlias = dict[str, Any]
"""Attributes of TVM's text, as Python values."""


@dataclass(frozen=True, eq=False, repr=False)
class Site:
    """A call with its arguments; ops are inserted where the context inserts them."""

    context: Context
    call: ast.Call
    args: Sequence[SSAValue] = ()
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The attributes, with the defaults of `by_formula`."""

    @property
    def name(self) -> str:
        """The name of the operator that is called."""
        return self.call.name

    # ------------------------------------------------------------------ errors

    def error(self, message: str) -> Exception:
        """Return an error about the call."""
        return self.context.error(message, self.call.offset, len(self.name))

    def problem(self, message: str) -> Exception:
        """Return an error about the call that begins with its name."""
        return self.error(f"{self.name}: {message}")

    def require(self, wanted: Attribute, value: SSAValue, message: str) -> None:
        """Require a type of an argument; `message` has `<wanted>` and `<given>` for the types."""
        place = self.context.source_map, self.call.offset, len(self.name)
        text = f"{self.name}: {message}"
        self.context.constrain(Requirement(wanted, value.type, text, *place))

    def not_a_tensor(self, value: SSAValue) -> Exception:
        """Return the error that the call expects a tensor but got `value`."""
        given = self.context.text(value.type)
        return self.problem(f"expected a tensor, but got a value of type {given}")

    def remark(self, message: str) -> None:
        """Report what is done at the call, if remarks are wanted."""
        if wants_remarks(self.context.xdsl):
            place = ModuleOp([])  # not in the program: it has a location
            place.location = self.context.source_map.location(self.call.offset)
            emit_remark(self.context.xdsl, place, message)

    # --------------------------------------------------- arguments, attributes

    def require_count(self, given: int, *counts: int) -> None:
        """Require that the call has as many arguments as one of `counts`."""
        if given not in counts:
            wanted = f"{' or '.join(map(str, counts))} argument{'' if counts == (1,) else 's'}"
            raise self.error(f"{self.name} expects {wanted}, but got {given}")

    def values(self, *counts: int) -> list[SSAValue]:
        """Return the arguments as SSA values; there must be as many as one of `counts`."""
        self.require_count(len(self.args), *counts)
        return [*self.args]

    def tensor(self, value: SSAValue) -> Tensor:
        """Return the type of `value`, which must be a tensor."""
        type = as_tensor(value.type)
        if type is None:
            raise self.not_a_tensor(value)
        return type

    def text(self, value: SSAValue) -> str:
        """Return the type of `value` in the text."""
        return self.context.text(value.type)

    def __getitem__(self, name: str) -> Any:
        """Return an attribute; a default is that of `attributes`."""
        return self.given.get(name)

    def attributes(self, **defaults: Any) -> Attrs:
        """Return the attributes, with defaults for those omitted; reject any others."""
        for given in self.call.attrs:
            if given not in defaults:
                known = ", ".join(defaults) or "none"
                raise self.error(f"{self.name} has no attribute {given} (its attributes: {known})")
        return {**defaults, **self.call.attrs}

    def choice(self, name: str, *choices: str) -> str:
        """Return an attribute that must be one of `choices`."""
        value = self[name]
        if value not in choices:
            known = " or ".join(f'"{choice}"' for choice in choices)
            raise self.problem(f"{name} must be {known}, but is {value!r}")
        return value

    def number(self, name: str) -> float:
        """Return an attribute that must be a number."""
        (value,) = self.numbers(name, 1)
        return value

    def numbers(self, name: str, count: int | None = None) -> list[float]:
        """Return an attribute that must be a list of `count` numbers; one stands for a list."""
        values = self._listed(name)
        wrong = next((value for value in values if not isinstance(value, int | float)), None)
        if wrong is not None:
            raise self.problem(f"{name} must be a number, but is {wrong!r}")
        if count not in (None, len(values)):
            raise self.problem(f"{name} must have {count} entries, but has {len(values)}")
        return [float(value) for value in values]

    def _listed(self, name: str) -> tuple[Any, ...]:
        value = self[name]
        return cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)

    def integers(self, name: str, count: int | None = None) -> tuple[int, ...]:
        """Return an attribute that must be a list of `count` integers; one stands for a list."""
        value, values = self[name], self._listed(name)
        if (count is None or len(values) == count) and all(type(n) is int for n in values):
            return values
        shown = list(values) if isinstance(value, tuple) else repr(value)
        wanted = "an integer" if count == 1 else f"{count or 'a list of'} integers"
        raise self.problem(f"{name} must be {wanted}, but is {shown}")

    def axis(self, name: str, rank: int) -> int:
        """Return an attribute that must be an axis; a negative one counts from the back."""
        (axis,) = self.axes(name, rank, 1)
        return axis

    def axes(self, name: str, rank: int, count: int | None = None) -> list[int]:
        """Return an attribute that must be a list of `count` axes; one stands for a list."""
        for value in (axes := self.integers(name, count)):
            if not -rank <= value < rank:
                raise self.problem(f"{name} must be in [{-rank}, {rank}), but is {value!r}")
        return [axis % rank for axis in axes]

    # --------------------------------------------------------------------- ops

    def add(self, op: Operation) -> SSAValue:
        """Insert `op` and return its result."""
        return self.context.value(op, self.call.offset)

    def build(self, name: str, args: Sequence[SSAValue], attrs: Mapping[str, Any]) -> SSAValue:
        """Build an operator of the dialect, by its name and attributes in TVM's text."""
        return operator(self.context, name, args, attrs, self.call.offset)

    def value(self, name: str, /, *args: SSAValue, **attrs: Any) -> SSAValue:
        """Build an operator and return its result, as one value."""
        return self.build(name, args, attrs)

    def scalar(self, number: float, dtype: Any) -> SSAValue:
        """Build a scalar constant."""
        constant = scalar(number, str(dtype))
        if constant is None:
            raise self.problem(f'unknown dtype "{dtype}"')
        return self.add(ConstantOp(constant))

    def cast(self, value: SSAValue, dtype: Any) -> SSAValue:
        """Return `value`, a tensor, cast if it is not of `dtype`."""
        return value if dtype_of(value) == dtype else self.value("cast", value, dtype=dtype)

    def hint(
        self, value: SSAValue, device: VirtualDeviceAttr, body: bool = True, result: bool = True
    ) -> SSAValue:
        """Build a hint that constrains the operand (`body`), the result or both."""
        return self.add(OnDeviceOp(value, device, body, result))


Rule: TypeAlias = Callable[[Site], SSAValue]
"""Builds a call."""


def dtype_of(value: SSAValue) -> str:
    """Return the dtype of a tensor; "" for any other value."""
    type = as_tensor(value.type)
    return "" if type is None else dtype_name(type.element_type) or ""

"""The call of an operator that has a rule of its own, and what such rules share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from .....dialects.dense import scalar
from .....dialects.device import VirtualDeviceAttr
from .....dialects.relay import ConstantOp, OnDeviceOp
from .....dialects.tensors import Tensor, as_tensor, dtype_name
from .....passes.support.diagnostics import emit_remark, wants_remarks
from ...text import syntax as ast
from ..build_context import Context
from ..constraints import Requirement
from .relay_operators import operator

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
        assert isinstance(self.call.callee, ast.Name)
        return self.call.callee.name

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

"""Kernels that check the rule of their operator before they are bound."""

from collections.abc import Sequence
from enum import Enum, auto
from functools import partial
from typing import Any

import numpy as np

from ...operators.all_rules import RULES
from ...operators.measures import MEASURES
from ...operators.records import record
from ...operators.rules import Rule
from ...operators.signature import (
    ALL_ELEMENTS,
    UNKNOWN,
    Call,
    Data,
    Element,
    Elements,
    Signature,
    SignatureError,
    Size,
    Tensor,
    check,
)
from ...operators.sizes import Dim, measure
from ..program.dtypes import element_type, type_name
from ..program.program import Array, TensorSpec, spec_of
from .bind import Attrs, Bind, Thunk, sequence


def _element(name: str) -> Element:
    element = ALL_ELEMENTS.get(name)
    if element is None:
        raise SignatureError(
            f"element type must be one of {', '.join(ALL_ELEMENTS)}, but is {name}"
        )
    return element


def tensor_of(spec: TensorSpec) -> Tensor:
    """Return `spec` as a rule's tensor; `SignatureError` for unsupported elements."""
    return Tensor(_element(spec.dtype), tuple(UNKNOWN if d is None else d for d in spec.shape))


def _shape_of(array: Array) -> Tensor:
    return Tensor(_element(type_name(array.dtype)), array.shape)


@record
class ArrayElements(Elements):
    """The elements of an operand that is an array."""

    array: Array

    def sizes(self, count: int) -> Sequence[Size]:
        return [int(number) for number in self.array.reshape(-1)]

    def measure(self, name: str, args: Sequence[Data | Size]) -> Size:
        values: list[Any] = []
        for arg in args:
            elements = arg.elements if isinstance(arg, Data) else arg
            array = elements.array if isinstance(elements, ArrayElements) else np.asarray(elements)
            values.append(array if array.ndim else array.item())
        if any(isinstance(arg, Dim) for arg in args):
            return measure(name, *values)
        try:
            return MEASURES[name](*values)
        except ValueError as error:
            raise SignatureError(str(error)) from error


def elements_read(name: str, ins: Sequence[Array]) -> dict[int, Elements]:
    """Return the elements of `ins` that the rule of operator `name` reads, by operand."""
    rule = RULES.get(name)
    wanted = () if rule is None else rule.data_operands
    return {i: ArrayElements(np.asarray(ins[i])) for i in wanted if i < len(ins)}


def call_on(name: str, attrs: Attrs, ins: Sequence[Array]) -> Call:
    """Return the call of operator `name` on `ins`, whose elements its rule may read."""
    return Call(name, attrs, [_shape_of(array) for array in ins], elements_read(name, ins))


@record
class SizeChecked:
    """
    The kernel `bind` of operator `name`, some of whose operands are sizes.

    Its results were allocated before the sizes are read: it checks them whenever it runs, and
    raises `SignatureError` if they now require other dims. Where they are the same in every run,
    one `check` is enough, and `bind` alone is bound.
    """

    name: str
    rule: Rule
    bind: Bind

    def check(self, attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> None:
        """Raise `SignatureError` unless the elements of `ins` require results like `outs`."""
        check(self.rule, call_on(self.name, attrs, ins), [_shape_of(array) for array in outs])

    def __call__(self, attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        return sequence(partial(self.check, attrs, ins, outs), self.bind(attrs, ins, outs))


class Reuse(Enum):
    """Permission of a kernel to write its result over an operand."""

    NONE = auto()
    """The result never overlaps an operand."""
    ELEMENTWISE = auto()
    """
    The one result may be an operand of equal shape and element type: the kernel writes no
    element before the last time that it reads this element of any operand.
    """
    SAME_SIZE = auto()
    """As `ELEMENTWISE`, but the element types may be different ones of the same size."""
    RESHAPE = auto()
    """
    The result is a copy of the first operand's bytes; other operands are sizes. In the same memory,
    nothing has to run if there are none.
    """

    def overwrites(self, operand: TensorSpec, result: TensorSpec) -> bool:
        """Test whether an elementwise kernel may write `result` to the memory of `operand`."""
        if self is Reuse.SAME_SIZE and operand.shape == result.shape:
            sizes = (element_type(spec.dtype).itemsize for spec in (operand, result))
            return len(set(sizes)) == 1
        return self in (Reuse.ELEMENTWISE, Reuse.SAME_SIZE) and operand == result


@record
class CheckedKernel:
    """
    The kernel `bind` of operator `name`, bound only to what `signature` accepts.

        KERNELS = {"demo.as_rows": CheckedKernel("demo.as_rows", rows_of, as_rows, Reuse.RESHAPE)}

    Raises `SignatureError` when bound to attributes, operands or results that do not fit.
    `reuse` is a property of the kernel, not of a program: no program can run it in place
    unless the kernel allows it.
    """

    name: str
    signature: Signature
    bind: Bind
    reuse: Reuse = Reuse.NONE

    def check(self, attrs: Attrs, ins: Sequence[TensorSpec], outs: Sequence[TensorSpec]) -> None:
        """Raise `SignatureError` unless the operator computes `outs` from `ins`."""
        call = Call(self.name, attrs, [tensor_of(spec) for spec in ins])
        check(self.signature, call, [tensor_of(spec) for spec in outs])

    @property
    def unchecked(self) -> Bind:
        """The kernel, of which only operands that are sizes are checked, whenever it runs."""
        rule = RULES.get(self.name)
        if rule is None or not rule.size_operands:
            return self.bind
        return SizeChecked(self.name, rule, self.bind)

    def __call__(self, attrs: Attrs, ins: Sequence[Array], outs: Sequence[Array]) -> Thunk:
        self.check(attrs, [spec_of(array) for array in ins], [spec_of(array) for array in outs])
        return self.unchecked(attrs, ins, outs)


def reuse_of(bind: Bind | None) -> Reuse:
    """Return what the registration of a kernel says; kernels that are not checked say nothing."""
    return bind.reuse if isinstance(bind, CheckedKernel) else Reuse.NONE

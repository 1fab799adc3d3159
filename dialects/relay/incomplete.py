"""Types that are still to be inferred, and how two types of one value are merged."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntAttr, NoneAttr, TensorType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ..device import device_of, equal_but_for_devices, tensor_type
from ..tensors import Tensor, as_tensor
from ..type_algebra import CompositeType, folded, pairs, parts, rebuild
from ..xdsl_extras.described_constraints import Described, of
from ..xdsl_extras.identity import new_cache


@irdl_attr_definition
class IncompleteType(ParametrizedAttribute, TypeAttribute):
    """
    A type to be inferred by `infer-types` (Relay's `IncompleteType`).

    ```mlir
    %y = relay.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> !relay.incomplete
    %f = relay.fn (%x: !relay.incomplete<0>) -> !relay.incomplete<0> {…}
    ```

    Those with the same number are one type; without a number, each is a type of its own.
    """

    name = "relay.incomplete"

    number: IntAttr | NoneAttr

    def __init__(self, number: int | None = None):
        super().__init__(NoneAttr() if number is None else IntAttr(number))

    @property
    def index(self) -> int | None:
        """The number, if there is one."""
        return self.number.data if isinstance(self.number, IntAttr) else None

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        if parser.parse_optional_punctuation("<") is None:
            return [NoneAttr()]
        number = parser.parse_integer(allow_boolean=False, allow_negative=False)
        parser.parse_punctuation(">")
        return [IntAttr(number)]

    def print_parameters(self, printer: Printer) -> None:
        if self.index is not None:
            printer.print_string(f"<{self.index}>")


AnyTensor = Described[Tensor | IncompleteType](
    "a ranked tensor", (of(TensorType), of(IncompleteType))
)
"""The type of an operator's operands and results: a ranked tensor, or one still to be inferred."""


_INCOMPLETE = new_cache()


def is_incomplete(type: Attribute) -> bool:
    """Test whether `type`, or a part of it, is still to be inferred."""
    if type.__class__ is TensorType:
        return False
    return folded(
        type, _INCOMPLETE, parts, lambda part, inner: part.__class__ is IncompleteType or any(inner)
    )


def refine(declared: Attribute, inferred: Attribute) -> Attribute | None:
    """
    `declared` completed from `inferred`; None if they contradict each other.

    An incomplete part or dynamic dim of `declared` is taken from `inferred`. The devices of
    `declared` are kept, and so are its dims that `inferred` does not know.
    """
    return _merge(declared, inferred, _refine_dim)


def join(a: Attribute, b: Attribute) -> Attribute | None:
    """
    The type of a value that is either an `a` or a `b`; None if they contradict each other.

    A dim is known where both know it (TVM: unification gives `Any` where either side has it).
    """
    return _merge(a, b, _join_dim)


_MergeDim: TypeAlias = Callable[[int, int], int | None]
"""Merges two dims; None if they contradict each other."""


def _refine_dim(declared: int, inferred: int) -> int | None:
    if declared == DYNAMIC_INDEX:
        return inferred
    return declared if inferred in (declared, DYNAMIC_INDEX) else None


def _join_dim(a: int, b: int) -> int | None:
    if DYNAMIC_INDEX in (a, b):
        return DYNAMIC_INDEX
    return a if a == b else None


def _same_dim(a: int, b: int) -> int | None:
    return a if a == b else None


def _merge(a: Attribute, b: Attribute, merge_dim: _MergeDim) -> Attribute | None:
    """
    Merge two types: incomplete parts are taken from the other type, devices from `a`.

    Inside references and data types dims must be equal: others may read and write these values.
    """
    if a is b or isinstance(b, IncompleteType):
        return a
    if isinstance(a, IncompleteType):
        return b
    mine, theirs = as_tensor(a), as_tensor(b)
    if mine is not None and theirs is not None:
        return _merge_tensors(mine, theirs, merge_dim)
    if isinstance(a, CompositeType):
        merge_dim = _same_dim
    merged: list[Attribute] = []
    for one, other in pairs(a, b) or ():
        part = _merge(one, other, merge_dim)
        if part is None:
            return None
        merged.append(part)
    if merged:
        return rebuild(a, merged)
    return a if a == b or equal_but_for_devices(a, b) else None


def _merge_tensors(a: Tensor, b: Tensor, merge_dim: _MergeDim) -> Attribute | None:
    if a.element_type != b.element_type:
        return None
    if a.shape == b.shape:
        return a
    mine, theirs = a.get_shape(), b.get_shape()
    if len(mine) != len(theirs):
        return None
    dims: list[int] = []
    for one, other in zip(mine, theirs, strict=True):
        dim = merge_dim(one, other)
        if dim is None:
            return None
        dims.append(dim)
    return tensor_type(a.element_type, dims, device_of(a))

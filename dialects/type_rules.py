"""
Type rules of ops, from the rules over sizes in `xrelay.operators`.

    infer(op)                  the rule of the trait `InferTypes`, for ops of `relay`
    InferTypes(typed(rule))    the same for a plug-in's operator and rule
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.traits import ConstantLike
from xdsl.utils.exceptions import VerifyException

from ..operators.all_rules import RULES
from ..operators.measures import MEASURES
from ..operators.rules import Rule
from ..operators.signature import (
    ELEMENTS,
    Call,
    Data,
    Element,
    ElementKind,
    Elements,
    Signature,
    Tensor,
    check,
    element,
)
from ..operators.sizes import UNKNOWN, SignatureError, Size
from .attributes import ELEMENT_TYPES, plain_value
from .dense import Dense, numbers
from .device import tensor_type
from .interfaces import InferTypes
from .tensors import Tensor as TensorType
from .tensors import as_tensor, bits_of
from .xdsl_extras.identity import by_identity, new_cache

_TYPES: dict[Element, Attribute] = {ELEMENTS[name]: ELEMENT_TYPES[name] for name in ELEMENTS}
"""The type of each element seen so far, and of those that rules introduce."""


@cache
def element_of(type: Attribute) -> Element:
    """The element type `type` as rules see it."""
    bits = bits_of(type)
    if bits is None:
        kind = ElementKind.OPAQUE
    elif bits == 1:
        kind = ElementKind.BOOL
    else:
        integer = isinstance(type, IntegerType | IndexType)
        kind = ElementKind.INTEGER if integer else ElementKind.FLOAT
    found = element(str(type), kind)
    _TYPES.setdefault(found, type)
    return found


_MADE: dict[Tensor, TensorType] = new_cache()


def _type_of(tensor: Tensor) -> TensorType:
    found = _MADE.get(tensor)
    if found is None:
        dims = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in tensor.dims]
        found = _MADE[tensor] = tensor_type(_TYPES[tensor.element], dims)
    return found


@by_identity
def operand_of(type: Attribute) -> Tensor | str:
    """The operand of a rule that a value of `type` is; a type in words if it is not a tensor."""
    tensor = as_tensor(type)
    if tensor is None:
        return str(type)
    dims = tuple(UNKNOWN if dim == DYNAMIC_INDEX else dim for dim in tensor.get_shape())
    return Tensor(element_of(tensor.element_type), dims)


@by_identity
def _attribute(attr: Attribute) -> object:
    value = plain_value(attr)
    if value is not None:
        return value
    return element_of(attr) if isinstance(attr, TypeAttribute) else attr


@dataclass(frozen=True)
class ConstantElements(Elements):
    """The elements of a constant operand."""

    value: Dense

    def sizes(self, count: int) -> Sequence[Size]:
        found = [int(number) for number in numbers(self.value)] or [UNKNOWN]
        return found if len(found) == count else found * count

    def measure(self, name: str, args: Sequence[Data]) -> Size:
        """Return the measure of scalars; that of larger constants is not computed."""
        values: list[float] = []
        for arg in args:
            if not isinstance(arg.elements, ConstantElements) or arg.rank:
                return UNKNOWN
            values += numbers(arg.elements.value)
        try:
            return MEASURES[name](*values)
        except ValueError as error:
            raise SignatureError(str(error)) from error


@dataclass(frozen=True)
class MadeElements(Elements):
    """The elements of a tensor made of sizes, of which some are constants."""

    values: Sequence[SSAValue]

    def sizes(self, count: int) -> Sequence[Size]:
        return [_size_of(value) for value in self.values]

    def measure(self, name: str, args: Sequence[Data]) -> Size:
        return UNKNOWN


def _size_of(value: SSAValue) -> Size:
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    return UNKNOWN


def constant_elements(operands: Sequence[SSAValue], wanted: Iterable[int]) -> dict[int, Elements]:
    """Return the elements of those operands among `wanted` that are constants, all or some."""
    found: dict[int, Elements] = {}
    for i in wanted:
        if i < len(operands) and isinstance(op := operands[i].owner, Operation):
            value = op.properties.get("value")
            if op.has_trait(ConstantLike) and isinstance(value, DenseIntOrFPElementsAttr):
                found[i] = ConstantElements(cast(Dense, value))
            elif isinstance(op, tensor.FromElementsOp):
                found[i] = MadeElements(op.elements)
    return found


def call_of(
    name: str, attributes: Mapping[str, Attribute], operand_types: Iterable[Attribute]
) -> Call:
    """Return the call of an operator on operands of these types."""
    plain = {key: _attribute(attr) for key, attr in attributes.items()}
    return Call(name, plain, [operand_of(type) for type in operand_types])


def result_types(
    rule: Signature,
    op: Operation,
    operand_types: Iterable[Attribute],
    elements: Mapping[int, Elements],
) -> Sequence[Attribute]:
    """Infer the result types of `op` on operands of these types and `elements`."""
    call = call_of(op.name, op.properties, operand_types)
    if elements:
        call = call._replace(elements=elements)
    try:
        return [_type_of(tensor) for tensor in rule(call)]
    except SignatureError as error:
        raise VerifyException(str(error)) from error


_RESULTS: dict[tuple[object, ...], tuple[object, Sequence[Attribute]]] = new_cache()
"""Results by rule, operand types and properties, all by identity: equal layers share theirs."""


def _results(rule: Signature, op: Operation) -> Sequence[Attribute]:
    types, properties = [operand.type for operand in op.operands], op.properties
    if isinstance(rule, Rule) and rule.data_operands:
        elements = constant_elements(op.operands, rule.data_operands)
        return result_types(rule, op, types, elements)
    attributes = tuple(properties.values())
    key = (rule, *map(id, types), *properties, *map(id, attributes))
    found = _RESULTS.get(key)
    if found is None:
        results = result_types(rule, op, types, {})
        if len(_RESULTS) >= 4096:
            _RESULTS.clear()
        found = _RESULTS[key] = (types, attributes), results
    return found[1]


def infer(op: Operation) -> Sequence[Attribute]:
    """Infer the result types of an operator of `relay` from its rule in `xrelay.operators`."""
    return _results(RULES[op.name], op)


@dataclass(frozen=True)
class Typed:
    """The type rule defined by `rule`."""

    rule: Signature

    def __call__(self, op: Operation) -> Sequence[Attribute]:
        return _results(self.rule, op)


def typed(rule: Signature) -> Callable[[Operation], Sequence[Attribute]]:
    """The type rule defined by `rule`."""
    return Typed(rule)


def rule_of(op: Operation | type[Operation]) -> Rule | None:
    """Return the rule over sizes that defines the result types of `op`, if it has one."""
    trait = op.get_trait(InferTypes)
    if trait is None:
        return None
    if isinstance(trait.rule, Typed):
        found = trait.rule.rule
    else:
        found = RULES.get(op.name) if trait.rule is infer else None
    return found if isinstance(found, Rule) else None


def data_operands(op: Operation | type[Operation]) -> Sequence[int]:
    """
    Return the operands of `op` whose elements the shapes of its results depend on.

    The shapes of all other operators depend on shapes alone. (TVM: `TShapeDataDependent`.)
    """
    rule = rule_of(op)
    return () if rule is None else rule.data_operands


def infers_from_types(kind: type[Operation]) -> bool:
    """Test whether types and properties alone decide the result types of ops of class `kind`."""
    trait = kind.get_trait(InferTypes)
    is_rule = trait is not None and (trait.rule is infer or isinstance(trait.rule, Typed))
    return is_rule and not data_operands(kind)


def check_call(
    name: str,
    attributes: Mapping[str, Attribute],
    operand_types: Sequence[Attribute],
    result_types: Sequence[Attribute],
) -> None:
    """
    Raise `VerifyException` unless the operator `name` of `relay` accepts these types.

    Operators without a rule are not checked.
    """
    rule = RULES.get(name)
    if rule is None:
        return
    results: list[Tensor] = []
    for type in result_types:
        result = operand_of(type)
        if isinstance(result, str):
            raise VerifyException(f"a result of {name} must be a tensor, but is {result}")
        results.append(result)
    try:
        check(rule, call_of(name, attributes, operand_types), results)
    except SignatureError as error:
        raise VerifyException(str(error)) from error

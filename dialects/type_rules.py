"""
Type rules of ops, from the rules over sizes in `xrelay.operators`.

    infer(op)                  the rule of the trait `InferTypes`, for ops of `relay`
    InferTypes(typed(rule))    the same for a plug-in's operator and rule
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.utils.exceptions import VerifyException

from ..operators.all_rules import RULES
from ..operators.rules import Rule
from ..operators.signature import (
    ELEMENTS,
    Call,
    Element,
    ElementKind,
    Elements,
    ReadElements,
    Signature,
    Tensor,
    check,
    element,
)
from ..operators.sizes import UNKNOWN, SignatureError
from .attributes import ELEMENT_TYPES, plain_value
from .dense import Dense, constant_tensor, integer, integers, numbers
from .device import tensor_type
from .interfaces import InferTypes
from .tensors import Tensor as TensorType
from .tensors import as_tensor, bits_of
from .xdsl_extras.identity import Lasting, by_identity, new_cache

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
    kind_of = element(str(type), kind)
    _TYPES.setdefault(kind_of, type)
    return kind_of


_MADE: dict[Tensor, TensorType] = new_cache()


def _type_of(tensor: Tensor) -> TensorType:
    type = _MADE.get(tensor)
    if type is None:
        dims = [dim if isinstance(dim, int) else DYNAMIC_INDEX for dim in tensor.dims]
        type = _MADE[tensor] = tensor_type(_TYPES[tensor.element], dims)
    return type


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


def elements_of(value: SSAValue) -> ReadElements | None:
    """Return the elements of a constant, or of a tensor made of sizes, some of them constants."""
    if (constant := constant_tensor(value)) is not None:
        known = constant
        return ReadElements(lambda n: integers(known, n) or [UNKNOWN] * n, lambda: number_of(known))
    op = value.owner
    if not isinstance(op, tensor.FromElementsOp):
        return None
    values = op.elements
    sizes = [UNKNOWN if (size := integer(value)) is None else size for value in values]
    return ReadElements(lambda count: sizes, lambda: None)


def number_of(value: Dense) -> float | None:
    """Return the number that a constant of rank 0 is."""
    known = as_tensor(value.type)
    return numbers(value)[0] if known is not None and not known.get_num_dims() else None


def constant_elements(operands: Sequence[SSAValue], wanted: Iterable[int]) -> dict[int, Elements]:
    """Return the elements of those operands among `wanted` that are constants, all or some."""
    read = ((i, elements_of(operands[i])) for i in wanted if i < len(operands))
    return {i: elements for i, elements in read if elements is not None}


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


_RESULTS: Lasting[Sequence[Attribute]] = Lasting()
"""
Results by rule, operand types and properties: equal layers share theirs, and an op that none
changed is verified again without its rule.
"""


def _results(rule: Signature, op: Operation) -> Sequence[Attribute]:
    types, properties = [operand.type for operand in op.operands], op.properties
    if isinstance(rule, Rule) and rule.data_operands:
        elements = constant_elements(op.operands, rule.data_operands)
        return result_types(rule, op, types, elements)
    attributes = tuple(properties.values())
    key = (rule, *map(id, types), *properties, *map(id, attributes))
    results = _RESULTS.get(key)
    if results is None:
        results = _RESULTS.put(key, result_types(rule, op, types, {}), (types, attributes))
    return results


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
        rule = trait.rule.rule
    else:
        rule = RULES.get(op.name) if trait.rule is infer else None
    return rule if isinstance(rule, Rule) else None


def data_operands(op: Operation | type[Operation]) -> Sequence[int]:
    """
    Return the operands of `op` whose elements the shapes of its results depend on.

    The shapes of all other operators depend on shapes alone. (TVM: `TShapeDataDependent`.)
    """
    rule = rule_of(op)
    return () if rule is None else rule.data_operands


@cache
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

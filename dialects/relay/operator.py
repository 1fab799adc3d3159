"""
Base classes of tensor operators, and inference of their result types.

An operator is an op class with results and the traits of `dialects.interfaces`; its rule is in
`operators/`, its kernel in `runtime/kernels`. Operands and properties are those of the rule: its
class declares only what Python code reads. A plug-in's operators may derive from `Operator` too.

A family of operators has a base class: pure, on one device, and fused in the same way.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue, SSAValues
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarResultDef,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...operators.all_rules import RULES
from ..interfaces import (
    DeviceConstraint,
    DeviceRule,
    Fusible,
    FusionKind,
    InferTypes,
    OnHost,
    SameDomain,
)
from ..turns import TURNS, verify_turns
from ..type_algebra import MAX_PARTS, has_more_parts
from ..type_rules import infer, infers_from_types
from ..xdsl_extras.identity import Lasting
from ..xdsl_extras.xdsl_internals import operands_of
from .incomplete import AnyTensor, IncompleteType, is_incomplete, refine
from .properties import prop_of


def is_in_kernel(op: Operation) -> bool:
    """Test whether `op` is an operator of a kernel, which must keep one."""
    parent = op.parent_op()
    return parent is not None and parent.name in ("relay.primitive", "relay.prim_func")


@cache
def _inference_of(kind: type[Operation]) -> InferTypes | None:
    return kind.get_trait(InferTypes)


def infer_result_types(op: Operation) -> Sequence[Attribute] | None:
    """
    The inferred result types of `op`, without devices; None if it has no type rule or an operand's
    type is still incomplete. Raises `VerifyException` if operands or properties are invalid.
    """
    inference = _inference_of(type(op))
    if inference is None or any(is_incomplete(o.type) for o in op.operands):
        return None
    types = inference.rule(op)
    if any(not isinstance(type, TensorType) and has_more_parts(type, MAX_PARTS) for type in types):
        raise VerifyException(f"a result of {op.name} has a type of more than {MAX_PARTS} parts")
    return types


def stands_for_tuple(op: Operation) -> bool:
    """
    Test whether the one result of `op`, of unknown type, may be a tuple of results.

    It is so where the number of an operator's results follows from the types of its operands.
    """
    if len(op.results) != 1 or not isinstance(op.results[0].type, IncompleteType):
        return False
    definition = op.get_irdl_definition() if isinstance(op, IRDLOperation) else None
    results = () if definition is None else definition.results
    return any(isinstance(result, VarResultDef) for _, result in results)


def refined_result_types(op: Operation) -> list[Attribute] | None:
    """
    The result types of `op`, completed by inference; None if nothing can be inferred.

    Raises `VerifyException`, naming both types, if a declared type contradicts the inferred one.
    """
    inferred = infer_result_types(op)
    if inferred is None:
        return None
    if len(inferred) != len(op.results):
        if stands_for_tuple(op):
            return None
        raise VerifyException(
            f"{op.name} has {len(inferred)} results, but {len(op.results)} are declared"
        )
    types: list[Attribute] = []
    for i, (result, type) in enumerate(zip(op.results, inferred, strict=True)):
        refined = refine(result.type, type)
        if refined is None:
            which = f"result {i}" if len(inferred) > 1 else "the result"
            raise VerifyException(
                f"{which} of {op.name} is {type}, but is declared as {result.type}"
            )
        types.append(refined)
    return types


_OPERAND, _PROPERTY = type(operand_def()), type(prop_def())
"""The classes of declarations, before an op is defined."""


class Operator(IRDLOperation, ABC):
    """
    A tensor operator: its declared result types must agree with its type rule.

    Discardable attributes must be prefixed with a dialect's name and a dot, so that a misspelled
    property is not taken for one.

    ```mlir
    %y = relay.nn.leaky_relu %x {alpha = 0.01} : (tensor<4xf32>) -> tensor<4xf32>
    ```
    """

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format: ClassVar[str | None] = (
        "operands attr-dict `:` functional-type(operands, results)"
    )

    @classmethod
    def late_fields(cls) -> Mapping[str, Any]:
        """Return the operands and properties of the rule that the class does not declare."""
        rule = RULES.get(cls.name)
        if rule is None:
            return {}
        given, fields = rule.parameters, dict[str, Any]()
        declared = [vars(base) for base in cls.__mro__]
        if not any(isinstance(field, _OPERAND) for each in declared for field in each.values()):
            fields |= {name: operand_def(AnyTensor) for name in given.operands}
            if given.variadic:
                fields[given.operands[-1]] = var_operand_def(AnyTensor)
        for name, annotation in given.types.items():
            if not any(isinstance(each.get(name), _PROPERTY) for each in declared[1:]):
                own = vars(cls).get(name)
                fields[name] = own or prop_of(annotation, given.defaults.get(name))
        return fields

    @classmethod
    def on(
        cls, operands: Sequence[SSAValue], properties: Mapping[str, Attribute] | None = None
    ) -> Self:
        """
        Build the operator on `operands`, inferring its result types.

        The operands' types must be complete; raises `VerifyException` if they are invalid.
        """
        op = cls.create(operands=operands, properties=properties or {})
        types = infer_result_types(op)
        assert types is not None, f"{cls.name} needs operands of known types"
        op.results = SSAValues(OpResult(type, op, i) for i, type in enumerate(types))
        return op

    def verify_(self) -> None:
        for name in self.attributes:
            if "." not in name:
                known = ", ".join(self.get_irdl_definition().properties) or "none"
                raise VerifyException(
                    f"{self.name} has no attribute {name} (its attributes: {known})"
                )
        verify_turns(self, self.attributes.get(TURNS))
        if not infers_from_types(type(self)):
            refined_result_types(self)
            return
        types = [value.type for value in (*operands_of(self), *self.results)]
        properties = self.properties
        named = *types, *properties.values()
        key = (type(self), len(self.results), *properties, *map(id, named))
        if _VALID.get(key) is None:
            refined_result_types(self)
            _VALID.put(key, True, named)


_VALID: Lasting[bool] = Lasting()
"""True for each class with the types and properties of a valid operator."""

_Operator = TypeVar("_Operator", bound=Operator)


def operator(name: str) -> Callable[[type[_Operator]], type[_Operator]]:
    """
    Define the decorated class as the operator called `name`.

        @operator("relay.abs")
        class AbsOp(Elementwise): ...
    """

    def define(kind: type[_Operator]) -> type[_Operator]:
        kind.name = name
        return irdl_op_definition(kind)

    return define


def like(base: type[_Operator], name: str, doc: str) -> type[_Operator]:
    """
    Define an operator that differs from others of its base in name and formula alone.

        SinOp = like(Elementwise, "mine.sin", "Take the sine of `data`, in radians.")
    """
    title = "".join(map(str.capitalize, name.rpartition(".")[2].split("_")))
    kind: Any = type(f"{title}Op", (base,), {"__doc__": doc, "__module__": base.__module__})
    return operator(name)(kind)


class RelayOperator(Operator, ABC):
    """An operator of `relay`, whose rule is in `xrelay.operators` under its name."""

    traits = traits_def(InferTypes(infer))


class SizesOnHost(DeviceRule):
    """
    Operands that are sizes are on the host; the other operands and the results are on one device.

    An operand is a size if the operator's rule reads its elements as sizes.
    """

    names_no_device: ClassVar = True

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        rule = RULES.get(op.name)
        sizes = rule.size_operands if rule is not None else ()
        others = [operand for i, operand in enumerate(op.operands) if i not in sizes]
        values = (*others, *op.results)
        if len(values) > 1:
            yield SameDomain(values, f"operands and results of {op.name} share a device")
        for i in sizes:
            yield OnHost(op.operands[i], f"operand {i} of {op.name}, a size, is on the host")


_PLACED = (Pure(), SizesOnHost())

ELEMWISE = (*_PLACED, Fusible(FusionKind.ELEMWISE))
BROADCAST = (*_PLACED, Fusible(FusionKind.BROADCAST))
INJECTIVE = (*_PLACED, Fusible(FusionKind.INJECTIVE))
COMM_REDUCE = (*_PLACED, Fusible(FusionKind.COMM_REDUCE))
OUT_FUSABLE = (*_PLACED, Fusible(FusionKind.OUT_ELEMWISE_FUSABLE))


class Broadcasting(RelayOperator, ABC):
    """An operator with one result that is fused as a broadcast."""

    result = result_def(AnyTensor)

    traits = traits_def(*BROADCAST)


class Injective(RelayOperator, ABC):
    """An operator with one result that is fused as injective."""

    result = result_def(AnyTensor)

    traits = traits_def(*INJECTIVE)


class OutFusable(RelayOperator, ABC):
    """An operator with whose one result elementwise operators are fused."""

    result = result_def(AnyTensor)

    traits = traits_def(*OUT_FUSABLE)


class NotFused(RelayOperator, ABC):
    """An operator that is not fused."""

    traits = traits_def(*_PLACED, Fusible(FusionKind.OPAQUE))


class Opaque(NotFused, ABC):
    """An operator with one result that is not fused."""

    result = result_def(AnyTensor)

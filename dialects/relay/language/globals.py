"""References to global functions by name: as values, closures, and calls of generic functions."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import ArrayAttr, FunctionType, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ...device import with_device
from ...interfaces import (
    CalleeDevices,
    CallsFunction,
    Equation,
    Fresh,
    FunctionDeviceConstraint,
    FunctionDeviceRule,
    FunctionParameter,
    FunctionResult,
    Lookup,
    Operand,
    PartsMatch,
    ResultAliases,
    TypeEquations,
)
from ...xdsl_extras.formats import FunctionTypeOf, TypeArguments
from ..incomplete import IncompleteType, is_incomplete, refine
from .annotations import type_params_of
from .closures import FnOp, verify_call
from .language_types import substituted


def instantiated(function: FuncOp, args: Sequence[Attribute]) -> FunctionType:
    """Return the type of `function` at the type arguments `args`; check their number."""
    names = type_params_of(function)
    if len(names) != len(args):
        raise VerifyException(
            f"@{function.sym_name.data} has {len(names)} type parameters, "
            f"but {len(args)} type arguments are given"
        )
    type = substituted(function.function_type, dict(zip(names, args, strict=True)))
    assert isinstance(type, FunctionType)
    return type


def _global_type(lookup: Lookup, name: SymbolRefAttr, args: Sequence[Attribute]) -> FunctionType:
    function = lookup(name.string_value())
    if function is None:
        raise VerifyException(f"@{name.string_value()} is not defined in the module")
    if not isinstance(function, FuncOp):
        raise VerifyException(f"@{name.string_value()} is a {function.name}, not a function")
    return instantiated(function, args)


def _is_value_of(declared: Attribute, function: FunctionType) -> bool:
    """
    Test whether a function is a value of the type `declared`, ignoring devices.

    Parameters are equal; of the results' dims one of the types may know more. Types that are still
    to be inferred are left to `infer-types`.
    """
    if is_incomplete(declared) or is_incomplete(function):
        return True
    declared = with_device(declared, None)
    plain = with_device(function, None)
    assert isinstance(declared, FunctionType)
    assert isinstance(plain, FunctionType)
    outputs = declared.outputs.data, plain.outputs.data
    if declared.inputs != plain.inputs or len(outputs[0]) != len(outputs[1]):
        return False
    return all(refine(a, b) is not None for a, b in zip(*outputs, strict=True))


def _function_equations(
    op: GlobalOp | ClosureOp | InvokeOp, lookup: Lookup, fresh: Fresh
) -> Iterable[Equation]:
    """Yield the equation between the type of the function that `op` names and its use there."""
    callee, result = lookup(op.callee.string_value()), op.result.type
    if not isinstance(callee, FuncOp):
        return
    type = FunctionType.from_lists(op.operand_types, [result])
    if not isinstance(op, InvokeOp):
        assert isinstance(result, FunctionType)
        type = FunctionType.from_lists([*op.operand_types, *result.inputs], result.outputs.data)
    wanted = instantiated(callee, op.type_args.data)
    yield Equation(type, wanted, f"@{op.callee.string_value()}")


class GlobalDevices(FunctionDeviceRule):
    """
    Captured values, the value's parameters and its result are where those of `callee` are.
    """

    def constraints(self, op: Operation, lookup: Lookup) -> Iterable[FunctionDeviceConstraint]:
        assert isinstance(op, GlobalOp | ClosureOp)
        type, name, captured = op.result.type, op.callee.string_value(), len(op.operands)
        assert isinstance(type, FunctionType)
        for i in range(captured):
            reason = f"captured value {i} is where parameter {i} of @{name} is"
            yield PartsMatch(Operand(i), FunctionParameter(name, i), reason)
        reason = f"the value is {'a closure of' if captured else 'the function'} @{name}"
        for i in range(len(type.inputs)):
            parameter = FunctionParameter(name, captured + i)
            yield PartsMatch(FunctionParameter(op.result, i), parameter, reason)
        yield PartsMatch(FunctionResult(op.result, 0), FunctionResult(name, 0), reason)


class NamesFunction(IRDLOperation, ABC):
    """An op that names a global function, which is instantiated at type arguments if generic."""

    callee = prop_def(SymbolRefAttr)
    type_args = prop_def(ArrayAttr[Attribute], default_value=ArrayAttr[Attribute]([]))

    custom_directives = (TypeArguments, FunctionTypeOf)

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        type_args: Sequence[Attribute],
        operands: Sequence[Sequence[SSAValue]],
        type: Attribute,
    ):
        super().__init__(
            operands=operands,
            properties={
                "callee": SymbolRefAttr(callee) if isinstance(callee, str) else callee,
                "type_args": ArrayAttr(type_args),
            },
            result_types=[type],
        )


@irdl_op_definition
class GlobalOp(NamesFunction):
    """
    Take the global function `callee` as a value; a generic one is instantiated at type arguments.

    ```mlir
    %f = relay.global @f : (tensor<4xf32>) -> tensor<4xf32>
    %g = relay.global @id<[tensor<4xf32>]> : (tensor<4xf32>) -> tensor<4xf32>
    ```

    The type is that of the function, except that the dims of its results may be better known.
    """

    name = "relay.global"

    result = result_def(FunctionType)

    traits = traits_def(Pure(), GlobalDevices(), TypeEquations(_function_equations))
    assembly_format = "$callee custom<TypeArguments>($type_args) attr-dict `:` type($result)"

    def __init__(
        self, callee: str | SymbolRefAttr, type: FunctionType, type_args: Sequence[Attribute] = ()
    ):
        super().__init__(callee, type_args, [], type)

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        wanted = _global_type(lookup, self.callee, self.type_args.data)
        if not _is_value_of(self.result.type, wanted):
            raise VerifyException(
                f"@{self.callee.string_value()} is {wanted}, but is declared as {self.result.type}"
            )


@irdl_op_definition
class ClosureOp(NamesFunction):
    """
    Create a closure of the global function `callee` over the values `captured`.

    ```mlir
    %f = relay.closure @scale(%k) : (tensor<f32>) -> ((tensor<4xf32>) -> tensor<4xf32>)
    %g = relay.closure @first<[tensor<i1>]>(%k) : (tensor<f32>) -> ((tensor<i1>) -> tensor<f32>)
    ```

    The callee's first parameters are the captured values, the others those of the closure: a call
    of `%f` on `%x` calls `@scale` on `%k` and `%x`. A generic function is instantiated at type
    arguments. Without captured values the closure is the function itself, as of `relay.global`.
    """

    name = "relay.closure"

    captured = var_operand_def(AnyAttr())
    result = result_def(FunctionType)

    traits = traits_def(
        Pure(), GlobalDevices(), ResultAliases(), TypeEquations(_function_equations)
    )
    assembly_format = (
        "$callee custom<TypeArguments>($type_args) `(` $captured `)` attr-dict `:` "
        "custom<FunctionTypeOf>(type($captured), type($result))"
    )

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        captured: Sequence[SSAValue],
        type: FunctionType,
        type_args: Sequence[Attribute] = (),
    ):
        super().__init__(callee, type_args, [captured], type)

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        name, count = self.callee.string_value(), len(self.captured)
        type = _global_type(lookup, self.callee, self.type_args.data)
        if len(type.inputs) < count:
            raise VerifyException(
                f"@{name} has {len(type.inputs)} parameters, "
                f"but the closure captures {count} values"
            )
        if len(type.outputs) != 1:
            raise VerifyException(
                f"a closure returns one value, but @{name} returns {len(type.outputs)}"
            )
        wanted = FunctionType.from_lists(type.inputs.data[count:], type.outputs.data)
        curried = FunctionType.from_lists(type.inputs.data[:count], [wanted])
        if not _is_value_of(self.result.type, wanted):
            raise VerifyException(
                f"after {count} captured values @{name} is {wanted}, "
                f"but the closure is declared as {self.result.type}"
            )
        verify_call(self, curried, self.captured, f"the closure of @{name}")


def generic_closure(value: SSAValue) -> FnOp | None:
    """Return the generic closure that `value` names, in or outside of its body."""
    op = value.owner.parent_op() if isinstance(value.owner, Block) else value.owner
    if not isinstance(op, FnOp) or not op.type_params:
        return None
    return op if value is op.result or value not in op.params else None


def _instance_type(op: InstantiateOp) -> Attribute | None:
    """Return the type of the closure at the type arguments; None while it is unknown."""
    closure, type = generic_closure(op.function), op.function.type
    if closure is None or is_incomplete(type):
        return None
    return substituted(type, dict(zip(closure.own_type_params, op.type_args, strict=True)))


def _instance_equations(op: InstantiateOp, lookup: Lookup, fresh: Fresh) -> Iterable[Equation]:
    type = _instance_type(op)
    if type is not None:
        yield Equation(op.result.type, type, "this function")


class InstanceDevices(FunctionDeviceRule):
    """The parts of the value are where those of the closure are."""

    def constraints(self, op: Operation, lookup: Lookup) -> Iterable[FunctionDeviceConstraint]:
        yield PartsMatch(op.results[0], op.operands[0], "an instance is where its closure is")


@irdl_op_definition
class InstantiateOp(IRDLOperation):
    """
    Take the closure `function`, which has type parameters, at type arguments.

    ```mlir
    %g = relay.instantiate %f<[tensor<i32>]>
           : ((!relay.type_var<A>) -> !relay.type_var<A>) -> ((tensor<i32>) -> tensor<i32>)
    ```

    `%f` is the result of a `relay.fn` with `type_params`, or the closure itself inside of it.
    `lambda-lift` makes the closure a generic function, of which this is a value, or a call.
    """

    name = "relay.instantiate"

    function = operand_def(FunctionType)
    type_args = prop_def(ArrayAttr[Attribute])
    result = result_def(FunctionType | IncompleteType)

    traits = traits_def(
        Pure(), InstanceDevices(), ResultAliases(), TypeEquations(_instance_equations)
    )
    custom_directives = (TypeArguments, FunctionTypeOf)
    assembly_format = (
        "$function custom<TypeArguments>($type_args) attr-dict `:` "
        "custom<FunctionTypeOf>(type($function), type($result))"
    )

    def __init__(self, function: SSAValue, type_args: Sequence[Attribute], type: Attribute):
        super().__init__(
            operands=[function],
            properties={"type_args": ArrayAttr(type_args)},
            result_types=[type],
        )

    def verify_(self) -> None:
        closure = generic_closure(self.function)
        if closure is None:
            raise VerifyException("expected a closure with type parameters")
        params, args = len(closure.own_type_params), len(self.type_args)
        if params != args:
            raise VerifyException(
                f"the closure has {params} type parameters, but {args} type arguments are given"
            )
        type, declared = _instance_type(self), self.result.type
        if isinstance(type, FunctionType) and not _is_value_of(declared, type):
            raise VerifyException(f"the instance is {type}, but is declared as {declared}")


@irdl_op_definition
class InvokeOp(NamesFunction):
    """
    Call the generic global function `callee`, instantiated at type arguments.

    ```mlir
    %r = relay.invoke @id<[tensor<4xf32>]>(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```

    `func.call` calls functions without type parameters.
    """

    name = "relay.invoke"

    args = var_operand_def(AnyAttr())
    result = result_def(AnyAttr())

    traits = traits_def(CalleeDevices(), CallsFunction(), TypeEquations(_function_equations))
    assembly_format = (
        "$callee custom<TypeArguments>($type_args) `(` $args `)` attr-dict `:` "
        "custom<FunctionTypeOf>(type($args), type($result))"
    )

    def __init__(
        self,
        callee: str | SymbolRefAttr,
        type_args: Sequence[Attribute],
        args: Sequence[SSAValue],
        result_type: Attribute,
    ):
        super().__init__(callee, type_args, [args], result_type)

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        type = _global_type(lookup, self.callee, self.type_args.data)
        verify_call(self, type, self.args, f"@{self.callee.string_value()}")

"""
Unification of the incomplete types of a module: what its ops say of types that must be equal.

    %f = relay.fn (%x: <0>) -> <1> {…}              <0> = tensor<4xf32>
    %y = relay.call %f(%a) : (tensor<4xf32>) -> <2>     <2> = <1>

The equations are those of the ops (`TypeEquations`), and of functions and their calls. Operators
give the types of their results as soon as those of their operands are known.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...dialects.interfaces import Equation, InferTypes, Lookup, TypeEquations
from ...dialects.relay.incomplete import IncompleteType
from ...dialects.relay.language.annotations import TYPE_PARAMS
from ...dialects.relay.language.language_types import replace_types
from ...dialects.relay.operator import stands_for_tuple
from ...dialects.relay.unification import TypeTooLarge, Unifier
from ...dialects.type_algebra import parts, rebuild
from ...dialects.xdsl_extras.walking import walk
from ...dialects.xdsl_extras.xdsl_internals import set_type
from ..support.diagnostics import PassError


def values_of(module: ModuleOp) -> Iterator[SSAValue]:
    """Yield the values of a module, in program order."""
    for op in walk(module):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def unify_types(module: ModuleOp, lookup: Lookup) -> bool:
    """
    Replace incomplete types by what the ops say of them; return whether anything became known.

    Those that stay unknown are numbered. Raises an error at an op whose types contradict each
    other.
    """
    types = Unifier()
    replace_types(module, types.reserve)
    replace_types(module, types.annotation)
    count = types.count  # the ops' equations have unknown types of their own
    for op in walk(module):
        types.steps += (Stated(op, equation) for equation in equations_of(op, lookup, types))
        trait = None if op.regions or stands_for_tuple(op) else op.get_trait(InferTypes)
        if trait is not None:
            types.steps.append(Inferred(op, trait))
    try:
        types.solve()
        replace_types(module, types.resolved)
    except TypeTooLarge as error:
        raise PassError(str(error), module) from None
    return types.has_learned(count)


@dataclass(frozen=True, eq=False)
class Stated:
    """Two types that an op says are equal."""

    op: Operation
    equation: Equation

    def take(self, types: Unifier) -> IncompleteType | None:
        """Unify them."""
        wanted, given = self.equation.wanted, self.equation.given
        if not types.unify(wanted, given):
            wanted, given = (unnumbered(types.resolved(type)) for type in (wanted, given))
            text = f"{self.equation.what} must be of type {wanted}, but is of type {given}"
            raise PassError(text, self.op)
        return None


@dataclass(frozen=True, eq=False)
class Inferred:
    """An operator whose results follow from its operands."""

    op: Operation
    trait: InferTypes

    def take(self, types: Unifier) -> IncompleteType | None:
        """Unify its results with what its rule says; what the rule rejects is reported later."""
        for operand in self.op.operands:
            unknown = types.first_unknown(operand.type)
            if unknown is not None:
                return unknown
            set_type(operand, types.resolved(operand.type))
        try:
            inferred = self.trait.rule(self.op)
        except VerifyException:
            return None
        for result, type in zip(self.op.results, inferred, strict=False):
            types.unify(result.type, type)
        return None


def unnumbered(type: Attribute) -> Attribute:
    """Return `type` without the numbers of unknown types, for a message."""
    if isinstance(type, IncompleteType):
        return IncompleteType()
    return rebuild(type, [unnumbered(part) for part in parts(type)])


def equations_of(op: Operation, lookup: Lookup, types: Unifier) -> Iterator[Equation]:
    """Yield the equations between the types of `op`."""
    trait = op.get_trait(TypeEquations)
    if trait is not None:
        yield from trait.rule(op, lookup, types.fresh)
    elif isinstance(op, FuncOp):
        for block in op.body.blocks:
            values = block.last_op.operands if isinstance(block.last_op, ReturnOp) else ()
            returned = [v.type for v in values] or op.function_type.outputs.data
            type = FunctionType.from_lists(block.arg_types, returned)
            yield Equation(type, op.function_type, f"@{op.sym_name.data}")
    elif isinstance(op, CallOp):
        callee = lookup(op.callee.string_value())
        if isinstance(callee, FuncOp) and TYPE_PARAMS not in callee.attributes:
            type = FunctionType.from_lists([a.type for a in op.operands], op.result_types)
            yield Equation(type, callee.function_type, f"@{op.callee.string_value()}")

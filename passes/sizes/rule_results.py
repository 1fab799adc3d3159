"""The shapes of operators' results, by their rules, as IR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, OpResult

from ...dialects.tensors import has_dynamic
from ...dialects.type_rules import call_of, operand_of, rule_of
from ...operators.signature import Elements, Tensor
from ...operators.sizes import Shape, SignatureError, Size, is_known, require_equal
from ..support.diagnostics import PassError
from .rule_code import RuleCode
from .rule_dims import RuleDim


def rule_results(
    code: RuleCode,
    op: Operation,
    operands: Sequence[Tensor | str],
    elements: Mapping[int, Elements],
) -> list[Tensor]:
    """
    Return the results of `op` on `operands`, which are its operands with the dims of rules.

    A dim that the declared type knows and the rule does not is required to be so.
    """
    is_static = not any(has_dynamic(result.type) for result in op.results)
    if is_static and not elements and not any(map(_is_dynamic, operands)):
        return [known_tensor(result) for result in op.results]
    rule = rule_of(op)
    if rule is None:
        raise PassError(
            f"{op.name} has no rule over sizes, so the shapes of its results cannot be computed: "
            "give it one, InferTypes(typed(rule)) with a Rule of xrelay.operators.rules",
            op,
        )
    code.enter(op, operands)
    call = call_of(op.name, op.properties, ())._replace(operands=operands, elements=elements)
    try:
        found = rule(call)
        return [
            Tensor(given.element, checked_dims(given.dims, result))
            for given, result in zip(found, op.results, strict=True)
        ]
    except SignatureError as error:
        raise PassError(str(error), op) from error


def known_tensor(result: OpResult) -> Tensor:
    tensor = operand_of(result.type)
    if isinstance(tensor, str):
        raise PassError(f"result {result.index} must be a tensor, but is {tensor}", result)
    return tensor


def checked_dims(dims: Shape, result: OpResult) -> Shape:
    """Return `dims` of a result, those of its declared type where it knows them."""
    checked: list[Size] = []
    for axis, (dim, declared) in enumerate(zip(dims, known_tensor(result).dims, strict=True)):
        if is_known(declared):
            message = f"dim {axis} of result {result.index} is {{0}}, but is declared as {{1}}"
            if isinstance(dim, int | RuleDim):
                require_equal(dim, declared, message)
            dim = declared
        elif not isinstance(dim, int | RuleDim):
            raise PassError(
                f"the rule of {result.op.name} does not compute dim {axis} of result "
                f"{result.index}",
                result,
            )
        checked.append(dim)
    return tuple(checked)


def _is_dynamic(operand: Tensor | str) -> bool:
    return not isinstance(operand, str) and not all(map(is_known, operand.dims))

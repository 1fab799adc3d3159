"""Argument and attribute checks for calls that are not ordinary operators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.ir import SSAValue

from ...text import syntax as ast
from ..build_context import Context, Value


def name_of(call: ast.Call) -> str:
    """Return the name of the operator that is called."""
    assert isinstance(call.callee, ast.Name)
    return call.callee.name


def problem(context: Context, call: ast.Call, message: str) -> Exception:
    """Return the error `message` about a call."""
    name = name_of(call)
    return context.error(f"{name}: {message}", call.offset, len(name))


def require_count(context: Context, call: ast.Call, given: int, *counts: int) -> None:
    """Require that a call has as many arguments as one of `counts`."""
    if given not in counts:
        name = name_of(call)
        wanted = " or ".join(map(str, counts))
        raise context.error(
            f"{name} expects {wanted} argument{'' if counts == (1,) else 's'}, but got {given}",
            call.offset,
            len(name),
        )


def values_of(
    context: Context, call: ast.Call, args: Sequence[Value], *counts: int
) -> list[SSAValue]:
    """Return the arguments as SSA values; there must be as many as one of `counts`."""
    require_count(context, call, len(args), *counts)
    return [context.ssa(arg) for arg in args]


def attributes_given(
    context: Context, call: ast.Call, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the attributes of a call, with defaults for those omitted; reject any others."""
    name = name_of(call)
    for given in call.attrs:
        if given not in defaults:
            known = ", ".join(defaults) or "none"
            raise context.error(
                f"{name} has no attribute {given} (its attributes: {known})", call.offset, len(name)
            )
    return {**defaults, **call.attrs}


def not_a_tensor(context: Context, call: ast.Call, value: SSAValue) -> Exception:
    """Return the error that a call expects a tensor but got `value`."""
    given = context.text(value.type)
    return problem(context, call, f"expected a tensor, but got a value of type {given}")

"""Which ops say more of their result's type than a reader would find."""

from __future__ import annotations

from functools import cache

from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from ...dialects.device import with_device
from ...dialects.interfaces import InferTypes
from ...dialects.relay.closures import FnOp
from ...dialects.relay.globals import InvokeOp
from ...dialects.relay.matching import MatchOp
from ...dialects.relay.operator import infer_result_types
from ...dialects.tensors import as_tensor, is_static


def is_declared(op: Operation) -> bool:
    """
    Return whether the type of `op`'s one result must be printed, as its operands do not imply it.
    """
    if type(op) is InvokeOp:  # built where dims are known on one side only
        return not op.type_args.data
    if type(op) is MatchOp and not op.cases:
        return True
    if len(op.results) != 1 or not _infers(type(op)):
        return False
    if op.operands and not op.regions and all(_is_static(o.type) for o in op.operands):
        return False
    try:
        inferred = infer_result_types(op)
    except VerifyException:
        return True
    if inferred is None:
        return False
    return with_device(inferred[0], None) != with_device(op.results[0].type, None)


@cache
def _infers(kind: type[Operation]) -> bool:
    """Return whether operand types imply result types; a closure states all its types."""
    return kind is not FnOp and kind.has_trait(InferTypes)


def _is_static(type: Attribute) -> bool:
    tensor = as_tensor(type)
    return tensor is not None and is_static(tensor)

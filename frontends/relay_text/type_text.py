"""Types as Relay writes them, for messages."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, TupleType
from xdsl.ir import Attribute

from ...dialects.memory import StorageType
from ...dialects.relay.language_types import AdtType, RefType, TypeVarType
from ...dialects.tensors import as_tensor, dtype_name


def type_text(type: Attribute) -> str:
    """
    `Tensor[(3, ?), float32]`, `(int32, fn (A) -> B)`, `List[A]`; an unknown type is `_`.
    """
    tensor = as_tensor(type)
    if tensor is not None:
        dtype = dtype_name(tensor.element_type) or str(tensor.element_type)
        if not tensor.get_num_dims():
            return dtype
        dims = ("?" if dim == DYNAMIC_INDEX else str(dim) for dim in tensor.get_shape())
        return f"Tensor[({', '.join(dims)}), {dtype}]"
    match type:
        case TupleType():
            return f"({', '.join(map(type_text, type.types.data))})"
        case FunctionType():
            params = ", ".join(map(type_text, type.inputs.data))
            return f"fn ({params}) -> {', '.join(map(type_text, type.outputs.data))}"
        case RefType():
            return f"ref({type_text(type.contents)})"
        case AdtType():
            args = f"[{', '.join(map(type_text, type.args.data))}]" if type.args.data else ""
            return f"{type.adt.string_value()}{args}"
        case StorageType():
            return "Storage[]"
        case TypeVarType():
            return type.parameter.data
        case _:
            return "_"

"""
Ops of upstream dialects that are fields and a format, and need no code of their own.

    declared("memref.reshape", "View a memref …", "source: memref, shape: memref -> result: memref",
             "$source `(` $shape `)` attr-dict …", MemoryReadEffect())

A field is an operand, a result or a property, by its kind; `*` is any number, `?` at most one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    AffineMapAttr,
    BoolAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    TensorType,
    UnrankedMemRefType,
    i32,
    i64,
)
from xdsl.irdl import (
    AnyAttr,
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import CustomDirective
from xdsl.traits import OpTrait

from .directives import RoundingMode

AnyMemRef = base(MemRefType) | base(UnrankedMemRefType)
_TYPES: Mapping[str, Any] = {
    **{"any": AnyAttr(), "index": IndexType, "function": FunctionType, "memref": MemRefType},
    **{"tensor": TensorType, "T": VarConstraint("T", AnyAttr()), "any memref": AnyMemRef},
}
_PROPERTIES: Mapping[str, Any] = {
    **{"attribute": AnyAttr(), "bool": BoolAttr, "map": AffineMapAttr, "rounding": RoundingMode},
    **{"i32": IntegerAttr.constr(i32), "i64": IntegerAttr.constr(i64), "integer": IntegerAttr},
    **{"fast math": FastMathFlagsAttr, "symbol": FlatSymbolRefAttrConstr},
    "integers": DenseArrayBase.constr(i64),
}
_OPERANDS: Mapping[str, Callable[[Any], Any]] = {
    **{"": operand_def, "*": var_operand_def, "?": opt_operand_def}
}
_RESULTS: Mapping[str, Callable[[Any], Any]] = {"": result_def, "*": var_result_def}


def declared(
    name: str, doc: str, fields: str, form: str, *parts: OpTrait | type[CustomDirective]
) -> type[IRDLOperation]:
    """Return the class of an op; `parts` are its traits, and the directives of its form."""
    members: dict[str, Any] = {}
    counts: list[str] = []
    inputs, _, outputs = fields.partition("->")
    for text, define in ((inputs, _OPERANDS), (outputs, _RESULTS)):
        for field in filter(None, text.split(",")):
            key, kind = map(str.strip, field.split(":"))
            count, kind = kind[len(kind.rstrip("*?")) :], kind.rstrip("*?")
            if kind in _PROPERTIES:
                members[key] = (opt_prop_def if count else prop_def)(_PROPERTIES[kind])
                continue
            members[key] = define[count](_TYPES[kind])
            counts += [count] if count and define is _OPERANDS else []
    segments = (AttrSizedOperandSegments(as_property=True),) if len(counts) > 1 else ()
    members |= {
        "traits": traits_def(*(part for part in parts if isinstance(part, OpTrait))),
        "custom_directives": tuple(part for part in parts if isinstance(part, type)),
        "irdl_options": (ParsePropInAttrDict(), *segments),
        "assembly_format": form,
    }
    title = "".join(map(str.capitalize, name.partition(".")[2].split("_")))
    about = {"name": name, "__doc__": doc, "__module__": __name__}
    return irdl_op_definition(type(f"{title}Op", (IRDLOperation,), {**about, **members}))

"""
The types of tuples and data, as a program records them: bytecode does not keep them.

    !relay.adt<@List, [tensor<i32>]>    ->    DataType(0, (0,))  where type 0 is a TensorType
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.builtin import TupleType as BuiltinTupleType
from xdsl.ir import Attribute

from ...dialects.relay.language.adt import TypeDataOp
from ...dialects.relay.language.language_types import AdtType, TypeVarType
from ...dialects.tensors import as_tensor
from ...lowering.bytecode.assemble import machine_type
from ...runtime.program.data_types import (
    Constructor,
    DataType,
    DataTypes,
    Definition,
    OpaqueType,
    TensorType,
    TupleType,
    TypeParameter,
    ValueType,
)


class TypeTable:
    """Collects types of a module that is not bytecode yet, and the definitions that they use."""

    def __init__(self, module: ModuleOp) -> None:
        self._ops = {op.sym_name.data: op for op in module.ops if isinstance(op, TypeDataOp)}
        self._numbers: dict[str, int] = {}
        self._definitions: list[Definition] = []
        self._types: dict[ValueType, int] = {}

    @property
    def data(self) -> DataTypes:
        """The types collected so far."""
        return DataTypes(tuple(self._definitions), tuple(self._types))

    def of(self, type: Attribute) -> int | None:
        """Return the index of a tuple or data, with those that it uses; None of any other type."""
        if not isinstance(type, BuiltinTupleType) and not self._is_data(type):
            return None
        found = self._add(type, ())
        while len(self._definitions) < len(self._numbers):
            self._define(self._ops[list(self._numbers)[len(self._definitions)]])
        return found

    def _is_data(self, type: Attribute) -> bool:
        return isinstance(type, AdtType) and type.adt.string_value() in self._ops

    def _define(self, op: TypeDataOp) -> None:
        params = tuple(param.data for param in op.params)
        constructors = tuple(
            Constructor(
                constructor.constructor.data,
                tuple(self._add(field, params) for field in constructor.fields),
            )
            for constructor in op.constructors
        )
        self._definitions.append(Definition(op.sym_name.data, len(params), constructors))

    def _add(self, type: Attribute, params: Sequence[str]) -> int:
        """Return the index of a type in a definition with these parameters."""
        made: ValueType = OpaqueType()
        if isinstance(type, BuiltinTupleType):
            made = TupleType(tuple(self._add(part, params) for part in type.types))
        elif isinstance(type, TypeVarType) and type.parameter.data in params:
            made = TypeParameter(params.index(type.parameter.data))
        elif isinstance(type, AdtType) and type.adt.string_value() in self._ops:
            args = tuple(self._add(arg, params) for arg in type.args)
            name = type.adt.string_value()
            made = DataType(self._numbers.setdefault(name, len(self._numbers)), args)
        elif (tensor := as_tensor(type)) is not None and (spec := machine_type(tensor)) is not None:
            made = TensorType(spec.dtype, spec.shape)
        return self._types.setdefault(made, len(self._types))

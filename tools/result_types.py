"""
The types of functions' results, which bytecode does not keep: they name the machine's data.

    Tagged(0, (x, Tagged(1, ())))  of type  !relay.adt<@List, […]>   ->   Cons(x, Nil)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ..dialects.relay.adt import TypeDataOp
from ..dialects.relay.language_types import AdtType, TypeVarType
from ..passes.evaluation import values as evaluated
from ..runtime import values as machine


@dataclass(frozen=True)
class KnownType:
    """
    A type, and the meaning of its type variables.

    Variables are not substituted, as a type may contain itself at larger and larger arguments.
    """

    type: Attribute
    variables: Mapping[str, KnownType] = field(default_factory=dict["str", "KnownType"])

    def resolved(self) -> KnownType:
        """Return what this type, if it is a variable, stands for."""
        known = self
        while isinstance(known.type, TypeVarType):
            name = known.type.parameter.data
            if name not in known.variables:
                break
            known = known.variables[name]
        return known


@dataclass(frozen=True)
class Definition:
    """A data type: its parameters, and the name and field types of each constructor."""

    params: tuple[str, ...]
    constructors: tuple[tuple[str, tuple[Attribute, ...]], ...]


@dataclass(frozen=True)
class Build:
    """Make a tuple, or data of `constructor`, of the last `count` finished values."""

    constructor: str | None
    count: int


Pending: TypeAlias = "tuple[machine.Value, KnownType | None] | Build"


@dataclass(frozen=True)
class ResultTypes:
    """The result types of the functions of a module, and its data types."""

    functions: Mapping[str, Sequence[Attribute]] = field(
        default_factory=dict[str, Sequence[Attribute]]
    )
    definitions: Mapping[str, Definition] = field(default_factory=dict[str, Definition])

    @staticmethod
    def of(module: ModuleOp) -> ResultTypes:
        """Read them from a module that is not bytecode yet."""
        functions = {
            op.sym_name.data: op.function_type.outputs.data
            for op in module.ops
            if isinstance(op, FuncOp)
        }
        definitions = {
            op.sym_name.data: Definition(
                tuple(p.data for p in op.params),
                tuple((c.constructor.data, c.fields.data) for c in op.constructors),
            )
            for op in module.ops
            if isinstance(op, TypeDataOp)
        }
        return ResultTypes(functions, definitions)

    def results(self, function: str, value: machine.Value) -> list[evaluated.Value]:
        """
        Return the results of `function` for the `value` that the machine returned.

        If the types are unknown, these are its tensors.
        """
        types = self.functions.get(function)
        if types is None:
            return list(machine.leaves(value))
        if len(types) == 1:
            return [self.named(value, types[0])]
        parts = cast("tuple[machine.Value, ...]", value)
        return [self.named(part, type) for part, type in zip(parts, types, strict=True)]

    def named(self, value: machine.Value, type: Attribute) -> evaluated.Value:
        """Return `value`, of type `type`, with the names of its constructors."""
        done: list[evaluated.Value] = []
        rest: list[Pending] = [(value, KnownType(type))]
        while rest:
            item = rest.pop()
            if isinstance(item, Build):
                fields = tuple(done[len(done) - item.count :])
                del done[len(done) - item.count :]
                name = item.constructor
                done.append(fields if name is None else evaluated.DataValue(name, fields))
                continue
            here, known = item
            if not isinstance(here, tuple):
                done.append(here)
                continue
            constructor, types = self._fields(here, known)
            rest.append(Build(constructor, len(here)))
            rest += reversed(list(zip(here, types, strict=True)))
        (result,) = done
        return result

    def _fields(
        self, value: tuple[machine.Value, ...], known: KnownType | None
    ) -> tuple[str | None, Sequence[KnownType | None]]:
        """Return the constructor of data (None: it is a tuple) and the types of its fields."""
        known = None if known is None else known.resolved()
        unknown = None, [None] * len(value)
        if known is None:
            return unknown
        if isinstance(known.type, TupleType):
            return None, [KnownType(part, known.variables) for part in known.type.types]
        if not isinstance(known.type, AdtType):
            return unknown
        definition = self.definitions.get(known.type.adt.string_value())
        tag = value.tag if isinstance(value, machine.Tagged) else 0
        if definition is None or tag >= len(definition.constructors):
            return unknown
        args = (KnownType(arg, known.variables) for arg in known.type.args)
        variables = dict(zip(definition.params, args, strict=False))
        name, fields = definition.constructors[tag]
        return name, [KnownType(type, variables) for type in fields]

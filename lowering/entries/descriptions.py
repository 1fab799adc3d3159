"""
The descriptions of functions for callers from outside, as attributes that upstream MLIR reads.

    xrelay.entry = {function = {name = "main", params = [{name = "x", spec = {dtype = "uint8",
                                shape = [-1, 8]}, dims = ["n", ""]}], dim_bounds = {n = [1, 64]},
                                results = […]}, allocated = [1], structure = {…}}
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from ...dialects import attributes
from ...operators.records import record
from ...passes.support.diagnostics import PassError
from ...runtime.codec.plain import ATTRIBUTES, DAMAGED
from ...runtime.errors import MachineError
from ...runtime.native.interface import Structure
from ...runtime.program.dtypes import element_type
from ...runtime.program.program import Function

T = TypeVar("T")

ENTRY = "xrelay.entry"
"""The description of a function."""
STEPS = "xrelay.steps"
"""The operators of a kernel that the runtime supplies: its `Kernel`."""
PARAMS = "xrelay.params"
"""The element type of each param of a module."""
METADATA = "xrelay.metadata"
"""The interface of a module: its `Library`."""
DEVICES = "xrelay.devices"
"""The devices of a module, the host first."""

Plain: TypeAlias = "int | str | Sequence[Plain] | Mapping[str, Plain] | None"


def attribute_of(value: Plain) -> Attribute:
    """Return `value` as an attribute; None is `unit`."""
    match value:
        case None:
            return UnitAttr()
        case Mapping():
            return DictionaryAttr({name: attribute_of(part) for name, part in value.items()})
        case list() | tuple():
            return ArrayAttr(map(attribute_of, value))
        case _:
            attribute = attributes.attribute_of(value)
            assert attribute is not None, "the codec writes numbers of 64 bits and texts"
            return attribute


def value_of(attribute: Attribute) -> Plain:
    """Return the value that `attribute_of` made an attribute of."""
    match attribute:
        case IntegerAttr() | StringAttr():
            return cast("int | str", attributes.plain_value(attribute))
        case UnitAttr():
            return None
        case DictionaryAttr():
            return {name: value_of(part) for name, part in attribute.data.items()}
        case ArrayAttr():
            return [value_of(part) for part in attribute.data]
        case _:
            raise ValueError(f"{attribute} is not part of a description")


def record_attribute(cls: type[Any], value: Any) -> Attribute:
    """Return a record of class `cls` as an attribute."""
    return attribute_of(ATTRIBUTES.of(cls).put(value))


def record_of(cls: type[T], attribute: Attribute | None, op: Operation, cure: str) -> T:
    """Return the record in an attribute of `op`; `PassError` with its `cure` if it has none."""
    try:
        if attribute is None:
            raise ValueError("it is missing")
        return ATTRIBUTES.of(cls).take(value_of(attribute))
    except DAMAGED as error:
        raise PassError(f"{cure} ({error})", op) from error


def texts_of(attribute: Attribute | None) -> list[str]:
    """Return the strings of a list; a missing attribute is an empty list."""
    texts = cast("ArrayAttr[Attribute]", attribute) if isinstance(attribute, ArrayAttr) else ()
    return [text.data for text in texts if isinstance(text, StringAttr)]


def table_of(attribute: Attribute | None) -> dict[str, str]:
    """Return the strings of a dictionary by name; a missing attribute is an empty dictionary."""
    empty = DictionaryAttr({})
    table = attribute if isinstance(attribute, DictionaryAttr) else empty
    return {name: text.data for name, text in table.data.items() if isinstance(text, StringAttr)}


@record
class Described:
    """A function's types, the outputs that it allocates, and the tuples that its callers see."""

    function: Function
    allocated: tuple[int, ...] = ()
    structure: Structure | None = None


def described(op: func.FuncOp, devices: Sequence[str]) -> Described:
    """Read the description of a function; raise `PassError` at `op` if it is malformed."""
    cure = f"the attribute {ENTRY} must be a description; run describe-entries to make one"
    entry = record_of(Described, op.attributes[ENTRY], op, cure)
    try:
        for param in (*entry.function.params, *(entry.function.results or ())):
            if param.spec is None or not 0 <= param.device < len(devices):
                raise ValueError(f"'{param.name}' must be a tensor on a device of the module")
            element_type(param.spec.dtype)
        if entry.structure is not None:
            entry.structure.require_fit(entry.function)
    except (MachineError, ValueError) as error:
        raise PassError(f"{cure} ({error})", op) from error
    return entry

"""
Skip checks on ops identical to one already verified.

    %1 = relay.add %0, %b : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16x16xf32>     verified
    %7 = relay.add %4, %b : (tensor<16x16xf32>, tensor<16xf32>) -> tensor<16x16xf32>     known

Most ops have the contents of another op, and ops that a pass leaves alone keep theirs. A key
records the contents: the op class with its traits, and numbers for the types of operands and
results, properties and attributes. Equal numbers mean equal structure, down to the Python values
that attributes consist of. The numbers are looked up anew in every verification, so changes of ops
and attributes in place are seen; within one verification nothing changes, and attributes are
compared by identity.

Checks that may depend on more than contents are repeated: see `repeated_checks`. An op with regions
or successors, or with an attribute that is large or of unknown structure, has no key; nor has an op
all of whose checks would be repeated, but for that of its definition (`definitions`), which takes
no longer than a key.
"""

from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, cast

from immutabledict import immutabledict
from xdsl.ir import Attribute, Operation, OpTraits
from xdsl.traits import OpTrait

from ...dialects.xdsl_extras.contents import Check, is_declared
from ...dialects.xdsl_extras.xdsl_internals import operands_of, successors_of, verification_of
from .op_definitions import Definition, NotUnderstood

if TYPE_CHECKING:
    from ...dialects.interfaces import Lookup

Key: TypeAlias = tuple[Any, ...]

MAX_LENGTH = 4096
"""The length from which strings and bytes are not compared."""

MAX_DEPTH = 64
"""The depth from which the structure of an attribute is not compared."""

_SCALARS = (int, bool, NoneType)
_SEQUENCES = (tuple, list)
_MAPPINGS = (dict, immutabledict)


class SymbolUser(Protocol):
    """An op that refers to symbols."""

    def verify_symbol_uses(self, lookup: "Lookup") -> None:
        """
        Raise `VerifyException` if a symbol is missing or of the wrong kind.

        The verifier calls it after `verify_`, so that `verify_` need not look symbols up itself
        (xDSL's lookup walks the whole module for each).
        """
        ...


class OpChecks(NamedTuple):
    """The checks that ops of a class need."""

    number: int
    """The number of the class with its traits."""
    definition: Definition | None
    """The definition, if it is understood."""
    further: Sequence[Check]
    """The checks in `verify_` after that of the definition."""
    repeated: Sequence[Check] | None
    """The checks that an op with known contents must pass; None if nothing is saved by a key."""
    uses_symbols: bool
    """True if the ops are each a `SymbolUser`."""


class _Unknown(Exception):
    """A part of an attribute is large, or of unknown structure."""


class ValidOps:
    """The contents of the ops that were verified in a run of a pipeline."""

    def __init__(self) -> None:
        self._keys: set[Key] = set()
        self._numbers: dict[Key, int] = {}
        """A number for each structure of an attribute, and for each op class."""
        self._attributes: dict[int, int] = {}
        """The number of each attribute by its identity, in the current verification."""
        self._classes: dict[type[Operation], OpChecks] = {}
        """In the same, as traits may be added."""

    def start(self) -> None:
        """Begin a verification: attributes may have changed in place."""
        self._attributes.clear()
        self._classes.clear()

    def verify(self, op: Operation, lookup: "Lookup") -> None:
        """Run the checks of `op`, as far as they are not known to pass."""
        kind = type(op)
        checks = self._classes.get(kind)
        if checks is None:
            checks = self._classes[kind] = self._checks_of(kind)
        key = None
        if checks.repeated is not None and not op.regions and not successors_of(op):
            key = self._key(op, checks.number)
        if key is not None and key in self._keys:
            for check in checks.repeated or ():
                check(op)
        else:
            if checks.definition is not None and checks.definition.holds(op):
                for check in checks.further:
                    check(op)
            else:
                op.verify_()
            if key is not None:
                self._keys.add(key)
        if checks.uses_symbols:
            cast(SymbolUser, op).verify_symbol_uses(lookup)

    def _checks_of(self, kind: type[Operation]) -> OpChecks:
        number = self._number((kind, kind.traits.traits))
        uses_symbols = hasattr(kind, "verify_symbol_uses")
        generated = verification_of(kind.verify_)
        if generated is None:
            return OpChecks(number, None, (), None, uses_symbols)
        further = _checked(generated.definition.traits)
        if generated.further is not None and generated.further is not Operation.verify_:
            further.append(generated.further)
        again = repeated_checks(kind)
        if again == further:
            again = None
        return OpChecks(number, definition_of(kind.verify_), further, again, uses_symbols)

    def _number(self, structure: Key) -> int:
        return self._numbers.setdefault(structure, len(self._numbers) + 1)

    def _key(self, op: Operation, number: int) -> Key | None:
        """Return the contents of `op`, of a class of this number; None if they are unknown."""
        try:
            return self._known_key(op, number)
        except KeyError:  # an attribute is seen for the first time
            pass
        values = *(v.type for v in operands_of(op)), *(v.type for v in op.results)
        try:
            for attribute in *values, *op.properties.values(), *op.attributes.values():
                self._number_of(attribute)
        except _Unknown:
            return None
        return self._known_key(op, number)

    def _known_key(self, op: Operation, number: int) -> Key:
        known, properties, attributes = self._attributes, op.properties, op.attributes
        return (
            number,
            (*[known[id(value.type)] for value in operands_of(op)],),
            (*[known[id(value.type)] for value in op.results],),
            (*properties, *[known[id(value)] for value in properties.values()]),
            (*attributes, *[known[id(value)] for value in attributes.values()]),
        )

    def _number_of(self, attribute: Attribute, depth: int = 0) -> int:
        """Return the number of the structure of `attribute`."""
        found = self._attributes.get(id(attribute))
        if found is None:
            if depth > MAX_DEPTH or not _has_only_a_dict(type(attribute)):
                raise _Unknown
            data, known = vars(attribute), self._attributes
            parts = [known.get(id(v)) or self._part(v, depth + 1) for v in data.values()]
            found = self._number((type(attribute), *data, *parts))
            self._attributes[id(attribute)] = found
        return found

    def _part(self, value: object, depth: int) -> object:
        """Return the structure of a Python value that is part of an attribute."""
        if isinstance(value, Attribute):
            return self._number_of(value, depth)
        kind: type = type(value)
        if kind in _SCALARS or isinstance(value, Enum):
            return kind, value
        if isinstance(value, float) and kind is float:
            return kind, value.hex()  # 0.0 == -0.0
        if isinstance(value, str | bytes) and kind in (str, bytes) and len(value) < MAX_LENGTH:
            return kind, value
        if depth < MAX_DEPTH and kind in _SEQUENCES:
            values = cast("Sequence[object]", value)
            return kind, *(self._part(v, depth + 1) for v in values)
        if depth < MAX_DEPTH and kind in _MAPPINGS:
            items = cast("Mapping[object, object]", value).items()
            return kind, *((self._part(k, depth + 1), self._part(v, depth + 1)) for k, v in items)
        raise _Unknown


@cache
def _has_only_a_dict(kind: type[Attribute]) -> bool:
    """Test whether `vars` returns all data of attributes of a class."""
    return not any(getattr(base, "__slots__", ()) for base in kind.__mro__)


def repeated_checks(kind: type[Operation]) -> Sequence[Check] | None:
    """
    Return the checks in `verify_` of an op class that read more than the contents of the op.

    They are in the order in which `verify_` runs them. None if it is not known what `verify_` does,
    or if ops of the class have regions or successors.
    """
    return _repeated(cast(Check, kind.verify_), kind)


def _repeated(verify: Check, kind: type[Operation]) -> Sequence[Check] | None:
    generated = verification_of(verify)
    if generated is None or generated.definition.regions or generated.definition.successors:
        return None
    traits = _checked(generated.definition.traits)
    further = generated.further
    if further is None or further is Operation.verify_:
        return traits
    if verification_of(further) is not None:
        inherited = _repeated(further, kind)
        return None if inherited is None else [*traits, *inherited]
    return traits if is_declared(further, kind) else [*traits, further]


def _checked(traits: OpTraits) -> list[Check]:
    return [t.verify for t in traits if type(t).verify is not OpTrait.verify]


@cache
def definition_of(verify: Check) -> Definition | None:
    """Return the definition that the method `verify_` checks, if it is understood."""
    generated = verification_of(verify)
    assert generated is not None
    try:
        return Definition(generated.definition)
    except NotUnderstood:
        return None

"""
A faster check of an op against its IRDL definition.

xDSL looks at the options of a definition four times an op, and puts operands into lists to look at
them. Here that is done once, for the definition:

    memory.kill      1 operand of any type; no results, regions, successors, properties
    bytecode.move    dst and src, each a RegisterAttr; no operands, results, regions, successors

A definition that is not understood here, and every op in doubt, is left to xDSL, whose errors are
thus the only ones.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias, cast

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, ArrayOfConstraint, StringAttr, SymbolNameConstraint
from xdsl.ir import Attribute, Operation, OpTraits, Region, SSAValue
from xdsl.irdl import (
    AllOf,
    AnyAttr,
    AnyOf,
    AttrConstraint,
    AttributeDef,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    AttrSizedSegments,
    BaseAttr,
    EqAttrConstraint,
    EqIntConstraint,
    OpDef,
    OperandDef,
    OptionalDef,
    ParamAttrConstraint,
    ParsePropInAttrDict,
    PropertyDef,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    RegionDef,
    ResultDef,
    SingleBlockRegionDef,
    VariadicDef,
)
from xdsl.traits import IsolatedFromAbove, OpTrait

from ...dialects.xdsl_extras.described_constraints import Described
from ...dialects.xdsl_extras.segments import sizes_in
from ...dialects.xdsl_extras.xdsl_internals import operands_of, successors_of, verification_of

Check: TypeAlias = Callable[[Any], object]
"""A check of an op, which may raise `VerifyException`."""

Test: TypeAlias = Callable[[Attribute], bool]
"""Tests an attribute against a constraint; false if there is a doubt."""

_OPTIONS = (ParsePropInAttrDict, AttrSizedOperandSegments, AttrSizedResultSegments)

_MANY = 1 << 62

_FEW = 16
"""The number of operands of an op for which tests are remembered."""

_LIMIT = 256


class NotUnderstood(Exception):
    """Only xDSL can check some part of a definition."""


class Definition:
    """The definition of an op class; raises `NotUnderstood`."""

    def __init__(self, definition: OpDef):
        if definition.successors or not all(isinstance(o, _OPTIONS) for o in definition.options):
            raise NotUnderstood
        options = {type(option): option for option in definition.options}
        sizes = cast(Mapping[type, AttrSizedSegments], options)
        self._operands = _values(definition.operands, sizes.get(AttrSizedOperandSegments))
        self._results = _values(definition.results, sizes.get(AttrSizedResultSegments))
        self._regions = [_region(region) for _, region in definition.regions]
        self._properties = _attributes(definition.properties)
        self._attributes = _attributes(definition.attributes)

    def holds(self, op: Operation) -> bool:
        """Test whether `op`, traits aside, is as the definition says; False if that is in doubt."""
        regions, defined = op.regions, self._regions
        try:
            return (
                self._operands.hold(operands_of(op), op)
                and self._results.hold(op.results, op)
                and _hold(self._properties, op.properties) == len(op.properties)
                and (not self._attributes or _hold(self._attributes, op.attributes) >= 0)
                and len(regions) == len(defined)
                and (not defined or all(map(_Region.holds, defined, regions)))
                and not successors_of(op)
            )
        except Exception:  # xDSL's check fails in the same way, or is right
            return False


@cache
def definition_of(verify: Check) -> Definition | None:
    """Return the definition that the generated method `verify_` checks, if it is understood."""
    generated = verification_of(verify)
    try:
        return None if generated is None else Definition(generated.definition)
    except NotUnderstood:
        return None


def checks_after_definition(kind: type[Operation]) -> Sequence[Check]:
    """
    Return the checks of ops of class `kind` after that of the definition, in order.

    That nothing from outside is used in an isolated op is left to the caller, who knows what is
    visible.
    """
    generated = verification_of(kind.verify_)
    if generated is None:
        return ()
    traits: OpTraits = generated.definition.traits
    checks: list[Check] = [
        t.verify
        for t in traits
        if type(t).verify is not OpTrait.verify and not isinstance(t, IsolatedFromAbove)
    ]
    if generated.further is not None and generated.further is not Operation.verify_:
        checks.append(generated.further)
    return checks


class _Values:
    """The operands of a definition, or its results: a fixed number of them."""

    def __init__(self, tests: Sequence[Test]):
        self._tests = tests

    def hold(self, values: Sequence[SSAValue], op: Operation) -> bool:
        """Test whether the operands, or results, of `op` are as defined."""
        tests = self._tests_of_each(op, len(values))
        if len(values) != len(tests):
            return False
        for value, test in zip(values, tests, strict=True):
            if not test(value.type):
                return False
        return True

    def _tests_of_each(self, op: Operation, count: int) -> Sequence[Test]:
        """Return the tests of `count` operands, or results, of `op`; others are in doubt."""
        return self._tests


class _Groups(_Values):
    """Operands or results in groups, of which some need not have one member."""

    def __init__(
        self,
        tests: Sequence[Test],
        limits: Sequence[tuple[int, int]],
        sizes: AttrSizedSegments | None,
    ):
        super().__init__(tests)
        self._limits = limits
        """The least and the greatest number of members of each group."""
        self._sizes = sizes
        self._known: dict[Sequence[int] | int, Sequence[Test]] = {}
        """The tests of each member by the sizes, or by the number of members that has them."""

    @override
    def _tests_of_each(self, op: Operation, count: int) -> Sequence[Test]:
        given = self._sizes
        sizes = count if given is None else sizes_in(given.container(op)[given.attribute_name])
        tests = self._known.get(sizes)
        if tests is None:
            groups = self._of_free(sizes) if isinstance(sizes, int) else sizes
            tests = self._laid_out(groups, count)
            if len(tests) <= _FEW and len(self._known) < _LIMIT:
                self._known[sizes] = tests
        return tests

    def _of_free(self, count: int) -> Sequence[int]:
        """Return the sizes of the groups, of which one is not fixed, of `count` members."""
        free = count - len(self._limits) + 1
        return [1 if limits == _ONE else free for limits in self._limits]

    def _laid_out(self, sizes: Sequence[int], count: int) -> Sequence[Test]:
        """Return the tests of all members of groups of these sizes, which must be `count`."""
        groups = list(zip(sizes, self._limits, strict=True))
        if sum(sizes) != count or any(not least <= size <= most for size, (least, most) in groups):
            raise ValueError("a group has too few or too many members")
        return [test for size, test in zip(sizes, self._tests, strict=True) for _ in range(size)]


_ONE = (1, 1)


def _values(
    definitions: Sequence[tuple[str, OperandDef]] | Sequence[tuple[str, ResultDef]],
    sizes: AttrSizedSegments | None,
) -> _Values:
    tests: list[Test] = []
    limits: list[tuple[int, int]] = []
    for _, definition in definitions:
        range = definition.constr
        if not isinstance(definition, VariadicDef):
            limits.append(_ONE)
            if isinstance(range, RangeLengthConstraint) and range.length == EqIntConstraint(1):
                range = range.constraint
        else:
            limits.append((0, 1 if isinstance(definition, OptionalDef) else _MANY))
        tests.append(_test_of_each(range))
    free = len(limits) - limits.count(_ONE)
    if free == 0 and sizes is None:
        return _Values(tests)
    if free > 1 and sizes is None:
        raise NotUnderstood
    return _Groups(tests, limits, sizes)


class _Region(NamedTuple):
    """A region of a definition."""

    has_one_block: bool
    test: Test
    """That of each argument of the first block."""

    def holds(self, region: Region) -> bool:
        """Test whether `region` is as defined."""
        first = region.first_block
        if first is None:
            return not self.has_one_block
        if self.has_one_block and first.next_block is not None:
            return False
        return all(self.test(argument.type) for argument in first.args)


def _region(definition: RegionDef) -> _Region:
    if isinstance(definition, VariadicDef):
        raise NotUnderstood
    has_one_block = isinstance(definition, SingleBlockRegionDef)
    return _Region(has_one_block, _test_of_each(definition.entry_args))


class _Attribute(NamedTuple):
    """A property or attribute of a definition."""

    name: str
    is_optional: bool
    test: Test


def _attributes(
    definitions: Mapping[str, AttributeDef] | Mapping[str, PropertyDef],
) -> Sequence[_Attribute]:
    return [
        _Attribute(name, isinstance(definition, OptionalDef), test_of(definition.constr))
        for name, definition in definitions.items()
    ]


def _hold(definitions: Sequence[_Attribute], given: Mapping[str, Attribute]) -> int:
    """Return how many attributes are given as defined; -1 unless all are that need be."""
    count = 0
    for name, is_optional, test in definitions:
        if name in given:
            if not test(given[name]):
                return -1
            count += 1
        elif not is_optional:
            return -1
    return count


def _test_of_each(constraint: RangeConstraint) -> Test:
    """Return the test of each attribute of a sequence that satisfies `constraint`."""
    if not isinstance(constraint, RangeOf):
        raise NotUnderstood
    return test_of(constraint.constr)


def test_of(constraint: AttrConstraint) -> Test:
    """Return the test for `constraint`; raises `NotUnderstood`."""
    match constraint:
        case AnyAttr():
            return lambda attribute: True
        case BaseAttr():
            return _is_a(constraint.attr)
        case SymbolNameConstraint():
            return _is_a(StringAttr)
        case EqAttrConstraint():
            return _equals(constraint.attr)
        case AnyOf():
            return _any([test_of(choice) for choice in constraint.attr_constrs])
        case AllOf():
            return _all([test_of(part) for part in constraint.attr_constrs])
        case ParamAttrConstraint():
            kind = constraint.base_attr
            names = [name for name, _ in kind.get_irdl_definition().parameters]
            tests = [test_of(part) for part in constraint.param_constrs]
            if len(names) != len(tests):
                raise NotUnderstood
            return _has(kind, list(zip(names, tests, strict=True)))
        case ArrayOfConstraint():
            return _all_in_array(_test_of_each(constraint.elem_range_constraint))
        case Described():
            return _any(
                [
                    _is_a(kind) if field is None else _has(kind, [(field, _equals(value))])
                    for kind, field, value in constraint.choices
                ]
            )
        case _:
            raise NotUnderstood


def _is_a(kind: type[Attribute]) -> Test:
    def test(attribute: Attribute) -> bool:
        return type(attribute) is kind or isinstance(attribute, kind)

    return test


def _equals(wanted: Attribute | None) -> Test:
    return lambda attribute: attribute is wanted or attribute == wanted


def _any(tests: Sequence[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]

    def test(attribute: Attribute) -> bool:
        for choice in tests:
            if choice(attribute):
                return True
        return False

    return test


def _all(tests: Sequence[Test]) -> Test:
    return lambda attribute: all(test(attribute) for test in tests)


def _has(kind: type[Attribute], fields: Sequence[tuple[str, Test]]) -> Test:
    def test(attribute: Attribute) -> bool:
        if type(attribute) is not kind:
            return False
        for name, holds in fields:
            if not holds(getattr(attribute, name)):
                return False
        return True

    return test


def _all_in_array(test: Test) -> Test:
    def tests(attribute: Attribute) -> bool:
        if type(attribute) is not ArrayAttr:
            return False
        return all(map(test, attribute.data))

    return tests

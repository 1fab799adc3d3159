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
from types import CodeType
from typing import Any, NamedTuple, TypeAlias, cast

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
from ...dialects.xdsl_extras.xdsl_internals import OPERANDS, SUCCESSORS, TYPE, verification_of

Check: TypeAlias = Callable[[Any], object]
"""A check of an op, which may raise `VerifyException`."""

_OPTIONS = (ParsePropInAttrDict, AttrSizedOperandSegments, AttrSizedResultSegments)

_MANY = 1 << 62

_FEW = 16
"""The number of operands of an op for which tests are remembered."""

_LIMIT = 256


class NotUnderstood(Exception):
    """Only xDSL can check some part of a definition."""


class Test:
    """Tests an attribute against a constraint; false if there is a doubt."""

    def __init__(self, accepts: Callable[[Attribute], bool], by_class: bool = False):
        self.classes: set[type] = set()
        """Attributes of these classes pass: a look here saves the call."""
        self.by_class = by_class
        """True if the test looks at nothing but the class."""
        self.accepts = self._remembering(accepts) if by_class else accepts

    def _remembering(self, accepts: Callable[[Attribute], bool]) -> Callable[[Attribute], bool]:
        def accepts_class(attribute: Attribute) -> bool:
            is_accepted = accepts(attribute)
            if is_accepted:
                self.classes.add(attribute.__class__)
            return is_accepted

        return accepts_class

    def __call__(self, attribute: Attribute) -> bool:
        return attribute.__class__ in self.classes or self.accepts(attribute)


class Definition:
    """The definition of an op class; raises `NotUnderstood`."""

    def __init__(self, definition: OpDef):
        if definition.successors or not all(isinstance(o, _OPTIONS) for o in definition.options):
            raise NotUnderstood
        options = {type(option): option for option in definition.options}
        sizes = cast(Mapping[type, AttrSizedSegments], options)
        text = _Text()
        text.check_values(OPERANDS, definition.operands, sizes.get(AttrSizedOperandSegments))
        text.check_values("results", definition.results, sizes.get(AttrSizedResultSegments))
        text.check_attributes("properties", definition.properties, are_all=True)
        text.check_attributes("attributes", definition.attributes, are_all=False)
        text.check_regions([_region(region) for _, region in definition.regions])
        self.holds = text.function()
        """Tests whether an op, traits aside, is as the definition says; False if in doubt."""


@cache
def _compiled(body: str) -> CodeType:
    """Compile the body of a function; many classes share theirs."""
    text = f"def holds(op):\n try:\n  {body}\n except Exception: return False"
    return compile(text, "op_definitions", "exec")


class _Text:
    """
    The text of a function that checks an op, and what is used there.

        def holds(op):
            try:
                if op._successors: return False
                v0, = op._operands
                a = v0._type
                if a.__class__ not in c0 and not t0(a): return False
                …
    """

    def __init__(self) -> None:
        self.lines = [f"if op.{SUCCESSORS}: return False"]
        self.names: dict[str, object] = {}

    def function(self) -> Callable[[Operation], bool]:
        """Return the function; it doubts an op for which it raises an error."""
        exec(_compiled("\n  ".join([*self.lines, "return True"])), self.names)
        return cast("Callable[[Operation], bool]", self.names["holds"])

    def require(self, condition: str) -> None:
        """Add a condition for what is valid."""
        self.lines.append(f"if not ({condition}): return False")

    def name(self, value: object) -> str:
        """Return a name for `value`."""
        name = f"n{len(self.names)}"
        self.names[name] = value
        return name

    def passes(self, test: Test) -> str:
        """Return the condition that the attribute `a` passes `test`."""
        accepts = f"{self.name(test.accepts)}(a)"
        return (
            f"a.__class__ in {self.name(test.classes)} or {accepts}" if test.by_class else accepts
        )

    def check_values(
        self,
        which: str,
        definitions: Sequence[tuple[str, OperandDef]] | Sequence[tuple[str, ResultDef]],
        sizes: AttrSizedSegments | None,
    ) -> None:
        """Add a check of the operands, or results."""
        tests, limits = _tests_and_limits(definitions)
        if sizes is not None or any(limit != _ONE for limit in limits):
            self.require(f"{self.name(_Groups(tests, limits, sizes).hold)}(op.{which}, op)")
        elif not tests:
            self.require(f"not op.{which}")
        else:
            values = [f"v{i}" for i in range(len(tests))]
            self.lines.append(f"{', '.join(values)}, = op.{which}")
            for value, test in zip(values, tests, strict=True):
                self.lines.append(f"a = {value}.{TYPE}")
                self.require(self.passes(test))

    def check_attributes(
        self,
        which: str,
        definitions: Mapping[str, AttributeDef] | Mapping[str, PropertyDef],
        are_all: bool,
    ) -> None:
        """Add a check of the properties, which are all that there are, or attributes."""
        optional = {n: d for n, d in definitions.items() if isinstance(d, OptionalDef)}
        if definitions:
            self.lines.append(f"table, count = op.{which}, {len(definitions) - len(optional)}")
        elif are_all:
            self.require(f"not op.{which}")
        for name, definition in definitions.items():
            condition = self.passes(test_of(definition.constr))
            if name in optional:
                self.lines.append(f"a = table.get({name!r})")
                condition = f"a is None or {condition}"
                self.lines.append("if a is not None: count += 1")
            else:
                self.lines.append(f"a = table[{name!r}]")
            self.require(condition)
        if definitions and are_all:
            self.require("count == len(table)")

    def check_regions(self, regions: "Sequence[_Region]") -> None:
        """Add a check of the regions."""
        if not regions:
            self.require("not op.regions")
            return
        names = [f"r{i}" for i in range(len(regions))]
        self.lines.append(f"{', '.join(names)}, = op.regions")
        for name, region in zip(names, regions, strict=True):
            self.require(f"{self.name(region.holds)}({name})")


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


class _Groups:
    """Operands or results in groups, of which some need not have one member."""

    def __init__(
        self,
        tests: Sequence[Test],
        limits: Sequence[tuple[int, int]],
        sizes: AttrSizedSegments | None,
    ):
        if len(limits) - limits.count(_ONE) > 1 and sizes is None:
            raise NotUnderstood
        self._tests = tests
        self._limits = limits
        """The least and the greatest number of members of each group."""
        self._sizes = sizes
        self._known: dict[Sequence[int] | int, Sequence[Test]] = {}
        """The tests of each member by the sizes, or by the number of members that has them."""

    def hold(self, values: Sequence[SSAValue], op: Operation) -> bool:
        """Test whether the operands, or results, of `op` are as defined."""
        segments, count = self._sizes, len(values)
        sizes: Sequence[int] | int = count
        if segments is not None:
            sizes = sizes_in(segments.container(op)[segments.attribute_name])
        tests = self._known.get(sizes)
        if tests is None:
            groups = self._of_free(sizes) if isinstance(sizes, int) else sizes
            tests = self._laid_out(groups, count)
            if len(tests) <= _FEW and len(self._known) < _LIMIT:
                self._known[sizes] = tests
        if len(tests) != count:
            return False
        for value, test in zip(values, tests, strict=True):
            type = value.type
            if type.__class__ not in test.classes and not test.accepts(type):
                return False
        return True

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


def _tests_and_limits(
    definitions: Sequence[tuple[str, OperandDef]] | Sequence[tuple[str, ResultDef]],
) -> tuple[Sequence[Test], Sequence[tuple[int, int]]]:
    """Return the tests of operands or results, and the least and greatest number of each."""
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
    return tests, limits


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


def _test_of_each(constraint: RangeConstraint) -> Test:
    """Return the test of each attribute of a sequence that satisfies `constraint`."""
    if not isinstance(constraint, RangeOf):
        raise NotUnderstood
    return test_of(constraint.constr)


def test_of(constraint: AttrConstraint) -> Test:
    """Return the test for `constraint`; raises `NotUnderstood`."""
    match constraint:
        case AnyAttr():
            return Test(lambda attribute: True, by_class=True)
        case BaseAttr():
            return _is_a(constraint.attr)
        case SymbolNameConstraint():
            return _is_a(StringAttr)
        case EqAttrConstraint():
            return _equals(constraint.attr)
        case AnyOf():
            return _any([test_of(choice) for choice in constraint.attr_constrs])
        case AllOf():
            tests = [test_of(part) for part in constraint.attr_constrs]
            return Test(lambda attribute: all(test(attribute) for test in tests))
        case ParamAttrConstraint():
            kind = constraint.base_attr
            names = [name for name, _ in kind.get_irdl_definition().parameters]
            parts = zip(names, constraint.param_constrs, strict=True)
            if len(names) != len(constraint.param_constrs):
                raise NotUnderstood
            fields = [(name, test_of(p)) for name, p in parts if not isinstance(p, AnyAttr)]
            return _has(kind, fields)
        case ArrayOfConstraint():
            test = _test_of_each(constraint.elem_range_constraint)
            return Test(lambda array: type(array) is ArrayAttr and all(map(test, array.data)))
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
    return Test(lambda attribute: isinstance(attribute, kind), by_class=True)


def _equals(wanted: Attribute | None) -> Test:
    return Test(lambda attribute: attribute is wanted or attribute == wanted)


def _any(tests: Sequence[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    by_class = all(test.by_class for test in tests)
    return Test(lambda attribute: any(test(attribute) for test in tests), by_class)


def _has(kind: type[Attribute], fields: Sequence[tuple[str, Test]]) -> Test:
    def accepts(attribute: Attribute) -> bool:
        if type(attribute) is not kind:
            return False
        for name, test in fields:
            if not test(getattr(attribute, name)):
                return False
        return True

    return Test(accepts, by_class=not fields)

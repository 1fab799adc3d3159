"""Pattern matching: `relay.match`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, SymbolRefAttr, TupleType, UnitAttr
from xdsl.ir import Attribute, BlockArgument, Operation, Region
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import RecursivelySpeculatable, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from ...device import with_device
from ...interfaces import (
    DeviceConstraint,
    DeviceRule,
    Equation,
    Fresh,
    InferTypes,
    Lookup,
    SameDomain,
    TypeEquations,
)
from ...type_algebra import MAX_PARTS, has_more_parts, tuple_of
from ...xdsl_extras.formats import parse_location
from ..incomplete import IncompleteType, is_incomplete, refine
from .adt import TypeDataOp, defined_type
from .control import YieldsAlias, common_yields, verify_yielded, yield_equations, yielded
from .exhaustiveness import missing_cases
from .language_types import AdtType
from .match_patterns import (
    ConstructorPattern,
    TuplePattern,
    VarPattern,
    WildcardPattern,
    subpatterns,
    variables,
)


class MatchDevices(DeviceRule):
    """The data, variables, yielded values and results are on the same device (as in Relay)."""

    def constraints(self, op: Operation) -> Iterable[DeviceConstraint]:
        args = [a for region in op.regions for a in region.block.args]
        yields = [v for region in op.regions for v in yielded(region)]
        yield SameDomain(
            (op.operands[0], *args, *yields, *op.results),
            "data, cases and result of relay.match share a device",
        )


def _result_types(op: Operation) -> Sequence[Attribute]:
    """The types that the cases yield; without cases, the declared types."""
    return common_yields(op) if op.regions else op.result_types


def _match_equations(op: MatchOp, lookup: Lookup, fresh: Fresh) -> Iterable[Equation]:
    for pattern, region in zip(op.patterns, op.cases, strict=True):
        yield from _pattern_equations(pattern, op.data.type, lookup, fresh)
        for variable, argument in zip(variables(pattern), region.block.args, strict=False):
            yield Equation(argument.type, variable.type, "the variable")
    yield from yield_equations(op, lookup, fresh)


def _pattern_equations(
    pattern: Attribute, type: Attribute, lookup: Lookup, fresh: Fresh
) -> Iterable[Equation]:
    match pattern:
        case VarPattern():
            yield Equation(pattern.type, type, "the variable")
            return
        case TuplePattern():
            types: Sequence[Attribute] = [fresh() for _ in pattern.fields]
            yield Equation(type, tuple_of(types), "the matched value")
        case ConstructorPattern():
            definition = lookup(pattern.adt.string_value())
            if not isinstance(definition, TypeDataOp):
                return
            args = [fresh() for _ in definition.params]
            yield Equation(type, AdtType(pattern.adt.string_value(), args), "the matched value")
            types = definition.field_types(pattern.constructor.data, args)
        case _:
            return
    for part, inner in zip(subpatterns(pattern), types, strict=False):
        yield from _pattern_equations(part, inner, lookup, fresh)


@irdl_op_definition
class MatchOp(IRDLOperation):
    """
    Execute the region of the first case whose pattern matches `data`.

    ```mlir
    %r = relay.match %l : !relay.adt<@List, [tensor<i32>]> -> (tensor<i32>) {
      case @List::@Cons(%h: tensor<i32>, _) {
        relay.yield %h : tensor<i32>
      }
      case _ {
        relay.yield %zero : tensor<i32>
      }
    }
    ```

    The variables of a pattern, from left to right, are the arguments of its region; they alias the
    data. The cases must be exhaustive (see `exhaustiveness.py`), except in `relay.match partial`,
    where a value that no case matches is a fatal error at run time. A redundant case is not an
    error. A match without cases needs data of a type without values.
    """

    name = "relay.match"

    data = operand_def(AnyAttr())
    patterns = prop_def(ArrayAttr[Attribute])
    partial = opt_prop_def(UnitAttr)
    outputs = var_result_def(AnyAttr())
    cases = var_region_def("single_block")

    traits = traits_def(
        RecursiveMemoryEffect(),
        RecursivelySpeculatable(),
        YieldsAlias(),
        MatchDevices(),
        InferTypes(_result_types),
        TypeEquations(_match_equations),
    )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse a match; by hand, as variables of patterns are the arguments of regions."""
        partial = parser.parse_optional_keyword("partial")
        unresolved = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        data = parser.resolve_operand(unresolved, parser.parse_type())
        parser.parse_punctuation("->")
        types = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
        patterns: list[Attribute] = []
        regions: list[Region] = []
        parser.parse_punctuation("{")
        while parser.parse_optional_keyword("case") is not None:
            arguments: list[Parser.Argument] = []
            patterns.append(_parse_pattern(parser, arguments))
            regions.append(parser.parse_region(arguments))
        parser.parse_punctuation("}")
        flags = {} if partial is None else {"partial": UnitAttr()}
        return cls.create(
            operands=[data],
            properties={"patterns": ArrayAttr(patterns), **flags},
            attributes=parser.parse_optional_attr_dict(),
            result_types=types,
            regions=regions,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" partial " if self.partial is not None else " ")
        printer.print_operand(self.data)
        printer.print_string(" : ")
        printer.print_attribute(self.data.type)
        printer.print_string(" -> (")
        printer.print_list(self.results, lambda r: printer.print_attribute(r.type))
        printer.print_string(") {")
        with printer.indented():
            for pattern, region in zip(self.patterns, self.cases, strict=True):
                printer.print_string("\n")
                printer.print_string("case ")
                _print_pattern(pattern, iter(region.block.args), printer)
                printer.print_string(" ")
                printer.print_region(region, print_entry_block_args=False)
        printer.print_string("\n")
        printer.print_string("}")
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        if len(self.patterns) != len(self.cases):
            raise VerifyException(
                f"there are {len(self.patterns)} patterns, but {len(self.cases)} regions"
            )
        types = [r.type for r in self.results]
        for i, (pattern, region) in enumerate(zip(self.patterns, self.cases, strict=True)):
            wanted = [v.type for v in variables(pattern)]
            given = [a.type for a in region.block.args]
            if [with_device(t, None) for t in wanted] != [with_device(t, None) for t in given]:
                raise VerifyException(
                    f"the pattern of case {i} has {len(wanted)} variables, of types "
                    f"({', '.join(map(str, wanted))}), but its region takes "
                    f"({', '.join(map(str, given))})"
                )
            verify_yielded(self, region, types, f"case {i}")

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        for i, pattern in enumerate(self.patterns):
            _verify_pattern(pattern, self.data.type, lookup, f"the pattern of case {i}")
        if self.partial is None and not is_incomplete(self.data.type):
            self._verify_complete(lookup)

    def _verify_complete(self, lookup: Lookup) -> None:
        missing = missing_cases(self.patterns.data, self.data.type, lookup)
        if missing is None:
            return
        what = f"does not cover {missing}" if self.patterns else "has no case"
        raise VerifyException(f"{what}: add the missing cases, or 'partial'")


def _parse_pattern(parser: Parser, variables: list[Parser.Argument]) -> Attribute:
    if (argument := parser.parse_optional_argument()) is not None:
        variables.append(parse_location(parser, argument))
        return VarPattern(argument.type)
    if parser.parse_optional_keyword("_") is not None:
        return WildcardPattern()

    def parts() -> list[Attribute]:
        return parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_pattern(parser, variables)
        )

    adt = parser.parse_optional_symbol_name()
    if adt is None:
        return TuplePattern(parts())
    parser.parse_punctuation(":")
    parser.parse_punctuation(":")
    return ConstructorPattern(SymbolRefAttr(adt), parser.parse_symbol_name(), parts())


def _print_pattern(pattern: Attribute, names: Iterable[BlockArgument], printer: Printer) -> None:
    match pattern:
        case WildcardPattern():
            printer.print_string("_")
            return
        case VarPattern():
            argument = next(iter(names))
            printer.print_block_argument(argument)
            return
        case ConstructorPattern():
            printer.print_attribute(pattern.adt)
            printer.print_string("::")
            printer.print_symbol_name(pattern.constructor.data)
        case _:
            pass
    with printer.in_parens():
        printer.print_list(subpatterns(pattern), lambda p: _print_pattern(p, names, printer))


def _verify_pattern(pattern: Attribute, type: Attribute, lookup: Lookup, what: str) -> None:
    """Check that `pattern` can match values of `type`."""
    stack = [(pattern, type)]
    while stack:
        pattern, type = stack.pop()
        parts = subpatterns(pattern)
        types = _part_types(pattern, type, lookup, what)
        if types is not None:
            stack += reversed(list(zip(parts, types, strict=True)))


def _part_types(
    pattern: Attribute, type: Attribute, lookup: Lookup, what: str
) -> Sequence[Attribute] | None:
    """
    The types of the subpatterns of `pattern`, which must match `type`; None if `type` is unknown.
    """
    if isinstance(pattern, WildcardPattern):
        return ()
    if has_more_parts(type, MAX_PARTS):
        raise VerifyException(f"{what} looks into a type of more than {MAX_PARTS} parts")
    if isinstance(type, IncompleteType):
        return None
    match pattern:
        case VarPattern():
            if is_incomplete(type):
                return ()
            if refine(with_device(pattern.type, None), with_device(type, None)) is None:
                raise VerifyException(
                    f"{what} names a {pattern.type}, but the value has type {type}"
                )
            return ()
        case TuplePattern():
            types = type.types.data if isinstance(type, TupleType) else None
            if types is None or len(types) != len(pattern.fields):
                raise VerifyException(
                    f"{what} matches a tuple of {len(pattern.fields)} fields, "
                    f"but the value has type {type}"
                )
            return types
        case ConstructorPattern():
            return _field_types(pattern, type, lookup, what)
        case _:
            raise VerifyException(f"{what} must be a pattern, but is {pattern}")


def _field_types(
    pattern: ConstructorPattern, type: Attribute, lookup: Lookup, what: str
) -> Sequence[Attribute]:
    name = pattern.constructor.data
    if not isinstance(type, AdtType) or type.adt != pattern.adt:
        raise VerifyException(
            f"{what} matches a @{pattern.adt.string_value()}, but the value has type {type}"
        )
    definition = defined_type(lookup, type.adt, len(type.args), name)
    types = definition.field_types(name, type.args.data)
    if len(types) != len(pattern.fields):
        raise VerifyException(
            f"@{name} has {len(types)} fields, but {what} has {len(pattern.fields)}"
        )
    return types

"""Algebraic data types: definition and construction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ...device import with_device
from ...interfaces import (
    AnyDevice,
    Equation,
    Fresh,
    Lookup,
    ResultAliases,
    SameDevice,
    TypeEquations,
)
from ...type_algebra import pairs
from ...xdsl_extras.formats import FunctionTypeOf, TypeArguments, form
from ..incomplete import refine
from .closures import verify_call
from .language_types import AdtType, TypeVarType, substituted


@irdl_attr_definition
class ConstructorAttr(ParametrizedAttribute):
    """A constructor of a data type: its name and the types of its fields."""

    name = "relay.constructor"

    constructor: StringAttr
    fields: ArrayAttr[Attribute]

    def __init__(
        self, constructor: str | StringAttr, fields: Sequence[Attribute] | ArrayAttr[Attribute]
    ):
        super().__init__(
            StringAttr(constructor) if isinstance(constructor, str) else constructor,
            fields if isinstance(fields, ArrayAttr) else ArrayAttr(fields),
        )


def parse_constructors(parser: Parser) -> ArrayAttr[ConstructorAttr]:
    """Parse constructors with the types of their fields: `[@Nil(), @Cons(T, U)]`."""

    def constructor() -> ConstructorAttr:
        name, paren = parser.parse_symbol_name(), parser.Delimiter.PAREN
        return ConstructorAttr(name, parser.parse_comma_separated_list(paren, parser.parse_type))

    return ArrayAttr(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, constructor))


def print_constructors(printer: Printer, constructors: ArrayAttr[ConstructorAttr]) -> None:
    def constructor(attr: ConstructorAttr) -> None:
        printer.print_symbol_name(attr.constructor.data)
        with printer.in_parens():
            printer.print_list(attr.fields, printer.print_attribute)

    with printer.in_square_brackets():
        printer.print_list(constructors, constructor)


Constructors = form("Constructors", parse_constructors, print_constructors)


@irdl_op_definition
class TypeDataOp(IRDLOperation):
    """
    Define a data type by its type parameters and its constructors.

    ```mlir
    relay.type_data @List<["A"]> [
      @Nil(), @Cons(!relay.type_var<A>, !relay.adt<@List, [!relay.type_var<A>]>)
    ]
    relay.type_data extern @Storage []
    ```

    A constructor's tag is its index in the list. An `extern` type has none.
    """

    name = "relay.type_data"

    sym_name = prop_def(SymbolNameConstraint())
    params = prop_def(ArrayAttr[StringAttr], default_value=ArrayAttr[StringAttr]([]))
    constructors = prop_def(ArrayAttr[ConstructorAttr])
    extern = opt_prop_def(UnitAttr)

    traits = traits_def(SymbolOpInterface(), AnyDevice())

    def __init__(
        self,
        name: str,
        params: Sequence[str],
        constructors: Sequence[tuple[str, Sequence[Attribute]]],
        extern: bool = False,
    ):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "params": ArrayAttr([StringAttr(p) for p in params]),
                "constructors": ArrayAttr([ConstructorAttr(n, t) for n, t in constructors]),
                "extern": UnitAttr() if extern else None,
            }
        )

    custom_directives = (TypeArguments, Constructors)
    assembly_format = (
        "(`extern` $extern^)? $sym_name custom<TypeArguments>($params) "
        "custom<Constructors>($constructors) attr-dict"
    )

    def verify_(self) -> None:
        names = [c.constructor.data for c in self.constructors]
        known: set[str] = set()
        for name in names:
            if name in known:
                raise VerifyException(f"@{self.sym_name.data} has two constructors named @{name}")
            known.add(name)
        if self.extern is not None and names:
            raise VerifyException("an extern type has no constructors")

    def tag(self, constructor: str) -> int | None:
        """The index of a constructor in the list; None if there is none of that name."""
        names = [c.constructor.data for c in self.constructors]
        return names.index(constructor) if constructor in names else None

    def field_types(self, constructor: str, args: Sequence[Attribute]) -> list[Attribute]:
        """The types of a constructor's fields for the type arguments `args`."""
        tag = self.tag(constructor)
        assert tag is not None, f"no constructor {constructor}"
        given = dict(zip((p.data for p in self.params), args, strict=True))
        return [substituted(t, given) for t in self.constructors.data[tag].fields]

    def completed(self, type: AdtType, constructor: str, fields: Sequence[Attribute]) -> AdtType:
        """
        `type` with its type arguments completed from the types of a constructor's `fields`.

        A type argument that contradicts the fields stays as declared.
        """
        tag = self.tag(constructor)
        if tag is None or len(type.args) != len(self.params):
            return type
        args = dict(zip((p.data for p in self.params), type.args, strict=True))
        pending = list(zip(self.constructors.data[tag].fields, fields, strict=False))
        while pending:
            pattern, given = pending.pop()
            if not isinstance(pattern, TypeVarType):
                pending += pairs(pattern, given) or ()
            elif (known := args.get(pattern.parameter.data)) is not None:
                joined = refine(known, with_device(given, None))
                args[pattern.parameter.data] = known if joined is None else joined
        return type.with_parts(list(args.values()))


def defined_type(lookup: Lookup, adt: SymbolRefAttr, args: int, constructor: str) -> TypeDataOp:
    """The definition of a data type that has `constructor` and takes `args` type arguments."""
    name = adt.string_value()
    definition = lookup(name)
    if not isinstance(definition, TypeDataOp):
        actual = "not defined" if definition is None else f"a {definition.name}, not a data type"
        raise VerifyException(f"@{name} is {actual}")
    if len(definition.params) != args:
        raise VerifyException(
            f"@{name} has {len(definition.params)} type parameters, "
            f"but {args} type arguments are given"
        )
    if definition.tag(constructor) is None:
        known = ", ".join(f"@{c.constructor.data}" for c in definition.constructors) or "none"
        raise VerifyException(f"@{name} has no constructor @{constructor} (it has {known})")
    return definition


def _construct_equations(op: ConstructOp, lookup: Lookup, fresh: Fresh) -> Iterable[Equation]:
    definition = lookup(op.result.type.adt.string_value())
    args = op.result.type.args.data
    if not isinstance(definition, TypeDataOp) or len(args) != len(definition.params):
        return
    types = definition.field_types(op.constructor.data, args)
    for i, (field, type) in enumerate(zip(op.fields, types, strict=False)):
        yield Equation(field.type, type, f"field {i} of @{op.constructor.data}")


@irdl_op_definition
class ConstructOp(IRDLOperation):
    """
    Construct a value of a data type with `constructor`; the value aliases its fields.

    ```mlir
    %l = relay.construct @Cons(%h, %t)
           : (tensor<i32>, !relay.adt<@List, [tensor<i32>]>) -> !relay.adt<@List, [tensor<i32>]>
    ```
    """

    name = "relay.construct"

    constructor = prop_def(SymbolNameConstraint())
    fields = var_operand_def(AnyAttr())
    result = result_def(AdtType)

    traits = traits_def(Pure(), SameDevice(), ResultAliases(), TypeEquations(_construct_equations))
    custom_directives = (FunctionTypeOf,)
    assembly_format = (
        "$constructor `(` $fields `)` attr-dict `:` custom<FunctionTypeOf>(type($fields), "
        "type($result))"
    )

    def __init__(self, adt: AdtType, constructor: str | StringAttr, fields: Sequence[SSAValue]):
        name = StringAttr(constructor) if isinstance(constructor, str) else constructor
        super().__init__(operands=[fields], properties={"constructor": name}, result_types=[adt])

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        type, name = self.result.type, self.constructor.data
        assert isinstance(type, AdtType)
        definition = defined_type(lookup, type.adt, len(type.args), name)
        fields = definition.field_types(name, type.args.data)
        verify_call(self, FunctionType.from_lists(fields, [type]), self.fields, f"@{name}")

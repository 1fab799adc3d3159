"""The check of definitions: it holds for the ops that xDSL's check accepts, and for no others."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import product

import pytest
from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Block, Operation, Region, TypeAttribute
from xdsl.irdl import (
    AllOf,
    AnyAttr,
    AttrConstraint,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    ParamAttrConstraint,
    RangeOf,
    SameVariadicOperandSize,
    VarConstraint,
    attr_def,
    irdl_op_definition,
    irdl_to_attr_constraint,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    region_def,
    result_def,
    successor_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.xdsl_extras.described_constraints import Described, of
from xrelay.passes.support.op_definitions import Definition, NotUnderstood, definition_of
from xrelay.passes.support.op_definitions import test_of as holds_of
from xrelay.tools.registry import UNIVERSE


@irdl_op_definition
class OneGroupOp(IRDLOperation):
    name = "test.one_group"
    first = operand_def(i32)
    rest = var_operand_def(i64)
    last = operand_def(i32)
    maybe = opt_result_def(i32)
    certain = result_def(i64)


@irdl_op_definition
class SizedOp(IRDLOperation):
    name = "test.sized"
    one = operand_def(i32)
    maybe = opt_operand_def(i64)
    many = var_operand_def(i32)
    results_ = var_result_def(i32)
    others = var_result_def(i64)
    irdl_options = (AttrSizedOperandSegments(as_property=True), AttrSizedResultSegments())


@irdl_op_definition
class RegionOp(IRDLOperation):
    name = "test.regions"
    one = region_def("single_block", entry_args=RangeOf(EqAttrConstraint(i32)))
    any = region_def()


@irdl_op_definition
class AttributesOp(IRDLOperation):
    name = "test.attributes"
    needed = prop_def(IntegerAttr[I64])
    optional = opt_prop_def(StringAttr)
    discardable = attr_def(UnitAttr)


def numbers(*sizes: int) -> Attribute:
    return DenseArrayBase.from_list(i32, sizes)


def one_group_ops() -> Iterator[Operation]:
    for count in range(5):
        for types in product((i32, i64), repeat=count):
            for results in ([], [i64], [i32, i64], [i64, i64], [i32, i32, i64]):
                values = TestOp(result_types=types).results
                yield OneGroupOp.create(operands=values, result_types=results)


def sized_ops() -> Iterator[Operation]:
    sizes = [numbers(*some) for some in product((-1, 0, 1, 2), repeat=3)]
    huge = numbers(1, 2**31 - 1, 2 - 2**31)
    wrong = (huge, numbers(), numbers(1), DenseArrayBase.from_list(i64, [1, 0, 0]), UnitAttr())
    for types in ([], [i32], [i32, i32], [i32, i64], [i32, i64, i32], [i64, i32], [i32] * 3):
        for given in (*sizes, *wrong):
            op = SizedOp.create(operands=TestOp(result_types=types).results)
            op.properties["operandSegmentSizes"] = given
            op.attributes["resultSegmentSizes"] = numbers(0, 0)
            yield op
    for types in ([i32], [i64], [i32, i32, i64]):
        for given in (numbers(1, 0), numbers(0, 1), numbers(2, 1), numbers(1), None):
            op = SizedOp.create(operands=TestOp(result_types=[i32]).results, result_types=types)
            op.properties["operandSegmentSizes"] = numbers(1, 0, 0)
            if given is not None:
                op.attributes["resultSegmentSizes"] = given
            yield op


def region_ops() -> Iterator[Operation]:
    def regions() -> Iterator[Callable[[], Region]]:
        yield Region
        for types in ([], [i32], [i64], [i32, i64]):
            yield lambda types=types: Region(Block(arg_types=types))
            yield lambda types=types: Region([Block(arg_types=types), Block()])

    for made in product(regions(), repeat=2):
        yield RegionOp.create(regions=[make() for make in made])
    for count in (0, 1, 3):
        yield RegionOp.create(regions=[Region(Block()) for _ in range(count)])
    whole = [Region(Block()), Region()]
    yield RegionOp.create(regions=whole, successors=[Block()])


def attribute_ops() -> Iterator[Operation]:
    choices = (None, IntegerAttr(1, i64), IntegerAttr(1, i32), StringAttr("a"), UnitAttr())
    for needed, optional, discardable, more in product(choices, choices, choices, (False, True)):
        given = {"needed": needed, "optional": optional}
        properties = {name: value for name, value in given.items() if value is not None}
        if more:
            properties["more"] = UnitAttr()
        op = AttributesOp.create(properties=properties)
        if discardable is not None:
            op.attributes = {"discardable": discardable, "other": UnitAttr()}
        yield op


def accepts(check: Callable[[], object]) -> bool:
    try:
        check()
    except (VerifyException, ValueError):
        return False
    return True


@pytest.mark.parametrize("ops", [one_group_ops, sized_ops, region_ops, attribute_ops])
def test_it_agrees_with_xdsl(ops: Callable[[], Iterator[Operation]]):
    found: Counter[bool] = Counter()
    for op in ops():
        assert isinstance(op, IRDLOperation)
        definition = op.get_irdl_definition()
        wanted = accepts(lambda definition=definition, op=op: definition.verify(op))
        assert Definition(definition).holds(op) == wanted, op
        found[wanted] += 1
    assert found[True] >= 2
    assert found[False] >= 4


CONSTRAINTS: Sequence[AttrConstraint] = (
    AnyAttr(),
    BaseAttr(IntegerAttr),
    BaseAttr(TypeAttribute),
    EqAttrConstraint(i64),
    SymbolNameConstraint(),
    BaseAttr(IntegerAttr) | BaseAttr(StringAttr) | EqAttrConstraint(i1),
    AllOf((BaseAttr(IntegerType), EqAttrConstraint(i64))),
    IntegerAttr.constr(),
    IntegerAttr.constr(i64),
    irdl_to_attr_constraint(ArrayAttr[StringAttr]),
    irdl_to_attr_constraint(ArrayAttr[StringAttr | IntegerAttr[I64]]),
    ParamAttrConstraint(IntegerAttr, (EqAttrConstraint(IntAttr(2)), AnyAttr())),
    Described("a number", (of(IntegerAttr, "type", i64), of(FloatAttr))),
)

ATTRIBUTES: Sequence[Attribute] = (
    *(i1, i32, i64, IntegerType(64), f32, IndexType(), UnitAttr(), StringAttr("a")),
    *(IntegerAttr(2, i64), IntegerAttr(3, i64), IntegerAttr(2, i32), FloatAttr(1.0, f32)),
    *(ArrayAttr([]), ArrayAttr([StringAttr("a")]), ArrayAttr([UnitAttr()])),
    ArrayAttr([StringAttr("a"), IntegerAttr(1, i64)]),
    ArrayAttr([StringAttr("a"), IntegerAttr(1, i32)]),
)


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=str)
def test_constraints_hold_for_what_satisfies_them(constraint: AttrConstraint):
    holds = holds_of(constraint)
    found = [attribute for attribute in ATTRIBUTES if holds(attribute)]
    assert found == [attribute for attribute in ATTRIBUTES if constraint.verifies(attribute)]
    assert found


def test_what_is_not_understood_is_left_to_xdsl():
    @irdl_op_definition
    class VariablesOp(IRDLOperation):
        name = "test.variables"
        one = operand_def(VarConstraint("T", AnyAttr()))

    @irdl_op_definition
    class SameSizeOp(IRDLOperation):
        name = "test.same_size"
        one = var_operand_def()
        other = var_operand_def()
        irdl_options = (SameVariadicOperandSize(),)

    @irdl_op_definition
    class SuccessorOp(IRDLOperation):
        name = "test.successor"
        next = successor_def()

    @irdl_op_definition
    class RegionsOp(IRDLOperation):
        name = "test.several"
        some = var_region_def()

    for kind in (VariablesOp, SameSizeOp, SuccessorOp, RegionsOp):
        with pytest.raises(NotUnderstood):
            Definition(kind.get_irdl_definition())


def test_our_definitions_are_understood():
    left = {
        kind.name
        for dialect in ("relay", "memory", "vm", "bytecode")
        for kind in UNIVERSE.all_dialects[dialect]().operations
        if definition_of(kind.verify_) is None
    }
    assert left == {"relay.match"}

"""
The memory of valid ops: a wrong module has the same error with it as without.

Every op of the dialects' syntax tests is changed in a third of the ways below, one at a time,
in a module whose ops are all remembered as valid.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest
from helpers.programs.programs import context
from typing_extensions import override
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Data, Operation
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    prop_def,
    result_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xrelay.dialects.device import CPU, VirtualDeviceAttr, with_device
from xrelay.dialects.xdsl_extras.contents import reads_contents
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.dialects.xdsl_extras.xdsl_internals import set_type
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.valid_ops import OpChecks, ValidOps, repeated_checks
from xrelay.passes.support.verifier import verify
from xrelay.tools.pass_run.process import settings
from xrelay.tools.registry import UNIVERSE
from xrelay.tools.text.parser import LocatingParser

DIALECTS = Path(__file__).parents[2] / "lit_tests" / "dialects"
PROGRAMS = {
    f"{path.parent.name}/{path.stem}": path.read_text(encoding="utf-8")
    for path in sorted(DIALECTS.glob("*/*.mlir"))
    if "invalid" not in path.stem
}

PROGRAMS["shapes"] = """
relay.shape_func @shape(%x: tensor<2xi64>) -> tensor<2xi64> {
  %m, %n = "test.op"() : () -> (i64, i64)
  relay.require eq %m, %n, "{0} and {1} differ in {2}"(%m)
  %k = relay.measure "topk_length"(%m, %n) : (i64, i64) -> i64
  relay.yield %x : tensor<2xi64>
}
"""

DEFINED = ("relay", "memory", "vm", "bytecode")
"""The dialects all of whose ops are changed."""

CUDA = VirtualDeviceAttr("cuda", 1)
TYPES = (i32, TensorType(f32, [3, 5]), TensorType(f32, [3, 5], CUDA), TensorType(i64, [2], CPU))


class NoMemory(ValidOps):
    """Remembers nothing: all checks run on every op, and those of definitions are xDSL's."""

    @override
    def _checks_of(self, kind: type[Operation]) -> OpChecks:
        checks = super()._checks_of(kind)
        return checks._replace(definition=None, repeated=None)


def error(module: ModuleOp, valid: ValidOps) -> str | None:
    """Return the error of the verifier, with the op at fault."""
    try:
        verify(module, valid)
    except PassError as found:
        return f"{found.location}: {found.message}"
    except (AssertionError, AttributeError, TypeError, ValueError, LookupError) as found:
        return f"{type(found).__name__}: {found}"
    return None


Change = Callable[[], object]


def retyped(op: Operation) -> Iterator[Change]:
    """Yield changes of the type of each operand, result, and argument of a block in `op`."""
    arguments = [a for region in op.regions for block in region.blocks for a in block.args]
    for value in (*op.operands, *op.results, *arguments):
        for type in (*TYPES, with_device(value.type, CUDA), with_device(value.type, None)):
            yield lambda value=value, type=type: set_type(value, type)
    for value in (*op.operands, *op.results):
        yield lambda value=value: scramble(value.type)


def rewired(op: Operation) -> Iterator[Change]:
    """Yield changes of the operands of `op`: to values of another type, later ones, and fewer."""
    block = op.parent
    assert block is not None
    others = [r for other in block.ops for r in other.results] + list(block.args)
    detached = ConstantOp.from_int_and_width(1, 32)
    for i, operand in enumerate(op.operands):
        wrong = [v for v in others if v.type != operand.type]
        for other in (*wrong, *others[-1:], detached.result):
            yield lambda i=i, other=other: op.operands.__setitem__(i, other)
    for operands in (list(op.operands)[:-1], [*op.operands, *others[:1]]):
        yield lambda operands=operands: setattr(op, "operands", operands)


def relabeled(op: Operation) -> Iterator[Change]:
    """Yield changes of the properties and attributes of `op`."""
    for given in (op.properties, op.attributes):
        yield lambda given=given: given.update(unheard_of=UnitAttr())
        for name, value in list(given.items()):
            yield lambda given=given, name=name: cast("dict[str, object]", given).pop(name)
            wrong = (UnitAttr(), StringAttr("wrong"), IntegerAttr(-7, i64), TYPES[1])
            for other in wrong:
                yield lambda given=given, name=name, other=other: given.update({name: other})
            yield lambda value=value: scramble(value)


def scramble(attribute: Attribute) -> None:
    """Change the innermost data of `attribute` in place, which is forbidden, and may happen."""
    values = list(vars(attribute).items())
    for name, value in values:
        match value:
            case Attribute():
                scramble(value)
            case bool():
                object.__setattr__(attribute, name, not value)
            case int():
                object.__setattr__(attribute, name, -value - 3)
            case str():
                object.__setattr__(attribute, name, value + "?")
            case bytes():
                object.__setattr__(attribute, name, value + b"\xff" * 8)
            case tuple() | list():
                items = cast("tuple[object, ...]", value)
                object.__setattr__(attribute, name, (*items[:-1],) if items else (UnitAttr(),))
            case _:
                pass


def misplaced(op: Operation) -> Iterator[Change]:
    """Yield changes of the place of `op`, of its regions, and of what surrounds it."""
    yield op.detach
    yield lambda: op.detach() if op.next_op is None else move_after(op, op.next_op)
    for region in op.regions:
        for block in region.blocks:
            if block.last_op is not None:
                yield block.last_op.detach
            yield lambda block=block: block.insert_arg(i32, 0) and None
    for region in op.regions:
        yield lambda region=region: op.detach_region(region) and None


def move_after(op: Operation, other: Operation) -> None:
    op.detach()
    assert other.parent is not None
    other.parent.insert_op_after(op, other)


CHANGES = (retyped, rewired, relabeled, misplaced)


def modules(text: str) -> Iterator[ModuleOp]:
    """Yield the valid modules of a test, or one for each function where that is valid alone."""
    for part in text.split("// -----"):
        module = LocatingParser(context(), part, "program.mlir", 0).parse_module()
        alone = [ModuleOp([op.clone()]) for op in module.ops]
        if all(error(one, ValidOps()) is None for one in alone):
            yield from alone
        elif error(module, ValidOps()) is None:
            yield module


def differences(module: ModuleOp, seen: set[type[Operation]], count: Counter[str]) -> Iterator[str]:
    """Yield changes of the ops of new classes that have another error if ops are remembered."""
    valid = ValidOps()
    for index, op in enumerate(walk(module)):
        if op is module or type(op) in seen:
            continue
        seen.add(type(op))
        for kind in CHANGES:
            for number in range(index % 3, sum(1 for _ in kind(op)), 3):
                copy = module.clone()
                target = next(islice(walk(copy), index, None))
                own(target)
                change = next(islice(kind(target), number, None))
                assert error(copy, valid) is None
                change()
                wanted, found = error(copy, NoMemory()), error(copy, valid)
                count["valid" if wanted is None else "wrong"] += 1
                if wanted != found:
                    yield f"{kind.__name__} {number} of {op.name}: {found}, but it is: {wanted}"


def own(op: Operation) -> None:
    """Let no other op share the attributes and types of `op`, so that they may be changed."""
    op.properties, op.attributes = deepcopy(op.properties), deepcopy(op.attributes)
    for value in (*op.operands, *op.results):
        set_type(value, deepcopy(value.type))


def test_a_wrong_module_has_the_same_error():
    seen: set[type[Operation]] = set()
    count: Counter[str] = Counter()
    with settings():
        found = [
            difference
            for text in PROGRAMS.values()
            for module in modules(text)
            for difference in differences(module, seen, count)
        ]
    assert found == []
    assert count["wrong"] > 1500
    ops = {op for name in DEFINED for op in UNIVERSE.all_dialects[name]().operations}
    assert ops <= seen


ran: list[str] = []
"""The checks of the ops below that ran, in order."""


class _Traced(IRDLOperation):
    result = result_def(i32)
    given = prop_def(IntegerAttr)


@irdl_op_definition
class PlainOp(_Traced):
    """An op as plug-ins write it."""

    name = "test.plain"

    def verify_(self) -> None:
        ran.append("plain")


class _Declared(_Traced):
    @reads_contents()
    def verify_(self) -> None:
        ran.append("contents")


@irdl_op_definition
class DeclaredOp(_Declared):
    name = "test.declared"


@irdl_op_definition
class OverridingOp(_Declared):
    name = "test.overriding"

    @override
    def verify_(self) -> None:
        super().verify_()
        ran.append("further")


@pytest.mark.parametrize(
    ("kind", "first", "again"),
    [
        (PlainOp, ["plain"], ["plain"]),
        (DeclaredOp, ["contents"], []),
        (OverridingOp, ["contents", "further"], ["contents", "further"]),
    ],
)
def test_only_declared_checks_are_not_repeated(
    kind: type[Operation], first: list[str], again: list[str]
):
    def op(number: int) -> Operation:
        return kind.create(result_types=[i32], properties={"given": IntegerAttr(number, i32)})

    ran.clear()
    valid = ValidOps()
    verify(ModuleOp([op(1)]), valid)
    assert ran == first
    verify(ModuleOp([op(1)]), valid)
    assert ran == first + again
    verify(ModuleOp([op(2)]), valid)
    assert ran == first + again + first


def test_a_method_that_replaces_the_generated_one_is_not_trusted():
    class Replacing(DeclaredOp):
        @override
        def verify_(self) -> None:
            pass

    assert repeated_checks(Replacing) is None
    assert repeated_checks(DeclaredOp) is not None


def test_ops_with_unknown_attributes_are_checked_again():
    @irdl_attr_definition
    class ObjectAttr(Data[object]):
        name = "test.object"

        @override
        @classmethod
        def parse_parameter(cls, parser: AttrParser) -> object:
            return parser.parse_optional_str_literal()

        @override
        def print_parameter(self, printer: Printer) -> None:
            printer.print_string(f'"{self.data}"')

    ran.clear()
    valid = ValidOps()
    op = DeclaredOp.create(
        result_types=[i32],
        properties={"given": IntegerAttr(1, i32)},
        attributes={"test.object": ObjectAttr(object())},
    )
    for _ in range(2):
        verify(ModuleOp([op.clone()]), valid)
    assert ran == ["contents"] * 2


def test_equal_numbers_of_other_types_are_told_apart():
    numbers: list[object] = [1, True, 1.0, 0.0, -0.0, "1", b"1", (1,), [1], None]
    valid = ValidOps()
    ran.clear()
    for number in numbers:
        attribute = ArrayAttr(cast("Any", [IntAttr(cast("int", number))]))
        op = DeclaredOp.create(
            result_types=[i32],
            properties={"given": IntegerAttr(1, i32)},
            attributes={"test.number": attribute},
        )
        verify(ModuleOp([op]), valid)
    assert ran == ["contents"] * len(numbers)

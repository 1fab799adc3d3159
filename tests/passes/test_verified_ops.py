"""
The tables of definitions: a wrong module has the same error with them as without.

Every op of the dialects' syntax tests is changed in one of 48 of the ways below, one at a time; in
a third with `XRELAY_ROUNDS=4`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import cast

import pytest
from helpers.programs.programs import context
from helpers.programs.random_settings import ROUNDS
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation

from xrelay.dialects.device import CPU, VirtualDeviceAttr, with_device
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.dialects.xdsl_extras.xdsl_internals import set_type
from xrelay.passes.support import verifier
from xrelay.passes.support.diagnostics import PassError
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

DEFINED = ("relay", "qnn", "memory", "vm", "bytecode")
"""The dialects all of whose ops are changed."""

EACH = 3 if ROUNDS >= 4 else 48
"""One change of so many is made."""

CUDA = VirtualDeviceAttr("cuda", 1)
TYPES = (i32, TensorType(f32, [3, 5]), TensorType(f32, [3, 5], CUDA), TensorType(i64, [2], CPU))


def error(module: ModuleOp) -> str | None:
    """Return the error of the verifier, with the op at fault."""
    try:
        verify(module)
    except PassError as found:
        return f"{found.location}: {found.message}"
    except (AssertionError, AttributeError, TypeError, ValueError, LookupError) as found:
        return f"{type(found).__name__}: {found}"
    return None


def error_of_xdsl(module: ModuleOp, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """Return the same, with definitions checked by xDSL alone."""

    def unknown(verify: object) -> None:
        return None

    with monkeypatch.context() as patch:
        patch.setattr(verifier, "definition_of", unknown)
        return error(module)


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
        if all(error(one) is None for one in alone):
            yield from alone
        elif error(module) is None:
            yield module


def differences(
    module: ModuleOp,
    seen: set[type[Operation]],
    count: Counter[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[str]:
    """Yield changes of the ops of new classes that have another error by tables."""
    for index, op in enumerate(walk(module)):
        if op is module or type(op) in seen:
            continue
        seen.add(type(op))
        for kind in CHANGES:
            for number in range(index % EACH, sum(1 for _ in kind(op)), EACH):
                copy = module.clone()
                target = next(islice(walk(copy), index, None))
                own(target)
                change = next(islice(kind(target), number, None))
                change()
                wanted, found = error_of_xdsl(copy, monkeypatch), error(copy)
                count["valid" if wanted is None else "wrong"] += 1
                if wanted != found:
                    yield f"{kind.__name__} {number} of {op.name}: {found}, but it is: {wanted}"


def own(op: Operation) -> None:
    """Let no other op share the attributes and types of `op`, so that they may be changed."""
    op.properties, op.attributes = deepcopy(op.properties), deepcopy(op.attributes)
    for value in (*op.operands, *op.results):
        set_type(value, deepcopy(value.type))


def test_a_wrong_module_has_the_same_error(monkeypatch: pytest.MonkeyPatch):
    seen: set[type[Operation]] = set()
    count: Counter[str] = Counter()
    with settings():
        found = [
            difference
            for text in PROGRAMS.values()
            for module in modules(text)
            for difference in differences(module, seen, count, monkeypatch)
        ]
    assert found == []
    assert count["wrong"] > 4500 // EACH
    ops = {op for name in DEFINED for op in UNIVERSE.all_dialects[name]().operations}
    assert ops <= seen

"""Every op of level `relay` holds types that are still to be inferred, also in its text."""

import re
from functools import cache
from pathlib import Path

import pytest
from helpers.programs.programs import assert_same, context, parse, printed
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects import relay
from xrelay.dialects.relay.incomplete import is_incomplete
from xrelay.dialects.type_algebra import parts, rebuild
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.tools.text.parser import LocatingParser

PROGRAMS = Path(__file__).parents[3] / "lit_tests" / "dialects" / "relay"

KNOWN = {"relay.constant", "relay.param", "relay.type_data"}
"""Ops whose types follow from their attributes."""

LATER = {
    *("relay.primitive", "relay.prim_func", "relay.call_lowered", "relay.scratch"),
    *("relay.shape_func", "relay.require", "relay.measure"),
    *("relay.loop", "relay.end_loop", "relay.read_rows", "relay.write_rows", "relay.fill_rows"),
}
"""Ops of kernels and shape functions: of levels at which every type is known."""

OPS = sorted({op.name for op in relay.Relay.operations} - KNOWN - LATER)

OF_ONE_KIND = (FunctionType, relay.AdtType)
"""Types of results that an op has by definition: only parts of them are to be inferred."""


@cache
def programs() -> dict[str, tuple[ModuleOp, int]]:
    """The first golden program with each op outside kernels, and the op's number in it."""
    first: dict[str, tuple[ModuleOp, int]] = {}
    for path in sorted(PROGRAMS.glob("*.mlir")):
        if "invalid" in path.name or path.stem == "function-results":
            continue  # the form of the latter is printed by xrelay-opt only
        for text in re.split(r"^// -----$", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            module = parse(text)
            for number, op in enumerate(walk(module)):
                parent = op.parent_op()
                if parent is None or parent.name not in LATER:
                    first.setdefault(op.name, (module, number))
    return first


def example(name: str) -> tuple[ModuleOp, Operation]:
    """Return a program and its first op of that name, without functions that it does not need."""
    whole, number = programs()[name]
    module = whole.clone()
    op = next(op for i, op in enumerate(walk(module)) if i == number)
    others = [f for f in module.ops if isinstance(f, func.FuncOp) and not f.is_ancestor(op)]
    (top,) = (top for top in module.ops if top.is_ancestor(op))
    text = str(top)
    if not any(f"@{other.sym_name.data}" in text for other in others):
        for other in others:
            Rewriter.erase_op(other)
    return module, op


class Numbers:
    """Unknown types in place of known ones, each with the next number."""

    count = 0

    def new(self) -> relay.IncompleteType:
        self.count += 1
        return relay.IncompleteType(self.count - 1)

    def unknown(self, type: Attribute) -> Attribute:
        """Return `type` without what is known of it; an op may fix that it is a function."""
        if isinstance(type, OF_ONE_KIND):
            return rebuild(type, [self.new() for _ in parts(type)])
        return self.new()


def forget(value: SSAValue, type: Attribute, at: InsertPoint) -> None:
    """Give `value` another type; an op `at` a place turns it into one of the old type for users."""
    known, users = value.type, [use.operation for use in value.uses]
    value = Rewriter.replace_value_with_new_type(value, type)
    if users:
        op = TestOp(operands=[value], result_types=[known])
        Rewriter.insert_op(op, at)
        value.replace_uses_with_if(op.results[0], lambda use: use.operation in users)


def with_unknown_types(name: str) -> ModuleOp:
    """Return a program in which all types of the first op of that name are unknown."""
    (module, op), numbers = example(name), Numbers()
    for i, operand in enumerate(op.operands):
        if not isinstance(op, relay.InstantiateOp):  # of a `relay.fn` only
            unknown = TestOp(operands=[operand], result_types=[numbers.new()])
            Rewriter.insert_op(unknown, InsertPoint.before(op))
            op.operands[i] = unknown.results[0]
    if isinstance(op, relay.FnOp):
        for param in op.params:
            forget(param, numbers.new(), InsertPoint.at_start(op.body.block))
        type = FunctionType.from_lists([p.type for p in op.params], [numbers.new()])
        forget(op.result, type, InsertPoint.after(op))
    else:
        for result in op.results:
            forget(result, numbers.unknown(result.type), InsertPoint.after(op))
    assert all(map(is_incomplete, op.result_types))
    return module


def test_every_op_has_a_program():
    assert set(OPS) <= set(programs())


@pytest.mark.parametrize("name", OPS)
def test_unknown_types_round_trip(name: str):
    module = with_unknown_types(name)
    module.verify()
    for generic in (False, True):
        text = printed(module, generic)
        again = LocatingParser(context(), text, "unknown.mlir").parse_module()
        again.verify()
        assert_same(again, module)
        assert printed(again, generic) == text

"""`apply_patterns`: order, locations, the iteration limit, and unchanged errors."""

from dataclasses import dataclass, field

import pytest
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp, TestPureOp, TestTermOp
from xdsl.ir import Block, Operation, Region
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.xdsl_extras.xdsl_internals import set_type
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.rewriting import apply_patterns, op_trait_rewrite_pattern


def at(line: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("f.mlir"), IntAttr(line), IntAttr(1))


def marked(name: str, line: int, regions: tuple[Region, ...] = ()) -> TestOp:
    op = TestOp(result_types=[i32], attributes={name: UnitAttr()}, regions=regions)
    op.location = at(line)
    return op


class Rename(RewritePattern):
    """Replace an op marked `old` with one marked `new`."""

    def __init__(self, old: str, new: str):
        self.old, self.new = old, new

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TestOp, rewriter: PatternRewriter, /):
        if self.old not in op.attributes:
            return
        new = TestOp(result_types=[i32], attributes={self.new: UnitAttr()})
        rewriter.replace(op, new)


class AToB(Rename):
    def __init__(self):
        super().__init__("a", "b")


class BToA(Rename):
    def __init__(self):
        super().__init__("b", "a")


class Fail(RewritePattern):
    def __init__(self, error: Exception):
        self.error = error

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /):
        raise self.error


def names(module: ModuleOp) -> list[str]:
    return [next(iter(op.attributes)) for op in module.body.block.ops]


def test_each_op_is_visited_once():
    module = ModuleOp([marked("a", 1), marked("b", 2)])
    assert apply_patterns(module, Rename("a", "b"), Rename("b", "c"))
    assert names(module) == ["b", "c"]


def test_says_when_nothing_changed():
    assert not apply_patterns(ModuleOp([marked("a", 1)]), BToA())


def test_first_pattern_that_acts_wins():
    module = ModuleOp([marked("a", 1)])
    apply_patterns(module, Rename("a", "first"), Rename("a", "second"))
    assert names(module) == ["first"]


def test_dead_ops_stay():
    module = ModuleOp([TestPureOp(result_types=[i32]), marked("a", 1)])
    apply_patterns(module, AToB())
    assert len(list(module.body.block.ops)) == 2


def test_new_op_has_the_location_of_the_op_it_replaces():
    module = ModuleOp([marked("a", 7)])
    apply_patterns(module, AToB())
    assert [op.location for op in module.body.block.ops] == [at(7)]


def test_ops_in_regions_of_a_new_op_are_located_too():
    class Wrap(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: TestOp, rewriter: PatternRewriter, /):
            moved = marked("kept", 3)
            inner = Region(Block([TestOp(), moved]))
            rewriter.replace(op, TestOp(result_types=[i32], regions=[inner]))

    module = ModuleOp([marked("a", 7)])
    apply_patterns(module, Wrap())
    (wrapper,) = module.body.block.ops
    assert [op.location for op in wrapper.walk()] == [at(7), at(7), at(3)]


def test_replacing_another_op_gives_that_ops_location():
    class ReplaceInside(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: TestOp, rewriter: PatternRewriter, /):
            if "outer" not in op.attributes:
                return
            first = op.regions[0].block.first_op
            assert first is not None
            made = TestOp(), TestOp(result_types=[i32])
            rewriter.replace(first, made)
            rewriter.insert(TestOp(), InsertPoint.before(op))

    outer = marked("outer", 1, (Region(Block([marked("inner", 2)])),))
    module = ModuleOp([outer])
    apply_patterns(module, ReplaceInside())
    lines = [op.location for op in module.body.walk()]
    assert lines == [at(1), at(1), at(2), at(2)]


def test_a_given_location_is_kept():
    class Relocate(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: TestOp, rewriter: PatternRewriter, /):
            rewriter.replace(op, marked("b", 42))

    module = ModuleOp([marked("a", 1)])
    apply_patterns(module, Relocate())
    assert [op.location for op in module.body.block.ops] == [at(42)]


def test_unknown_stays_unknown():
    op = marked("a", 1)
    op.location = UNKNOWN_LOC
    module = ModuleOp([op])
    apply_patterns(module, AToB())
    assert [op.location for op in module.body.block.ops] == [UNKNOWN_LOC]


def test_a_pass_error_passes_through_untouched():
    op = marked("a", 3)
    error = PassError("no room", op)
    with pytest.raises(PassError) as raised:
        apply_patterns(ModuleOp([op]), Fail(error))
    assert raised.value is error
    assert not hasattr(error, "__notes__")


def test_a_bad_attribute_is_an_error_at_the_matched_op():
    with pytest.raises(PassError, match="alignment is 48") as raised:
        apply_patterns(ModuleOp([marked("a", 3)]), Fail(VerifyException("alignment is 48")))
    assert raised.value.location == at(3)
    assert isinstance(raised.value.__cause__, VerifyException)


def test_an_internal_error_says_where_it_happened():
    with pytest.raises(KeyError) as raised:
        apply_patterns(ModuleOp([marked("a", 3)]), Fail(KeyError("k")))
    assert raised.value.__notes__ == ["in pattern Fail, on an op 'test.op'"]


def test_removed_ops_are_announced():
    removed: list[Operation] = []
    op = marked("a", 1)
    apply_patterns(ModuleOp([op]), AToB(), on_removed=removed.append)
    assert removed == [op]


@dataclass
class EraseNext(RewritePattern):
    """Record the matched op, and erase the op after it."""

    offered: list[Operation] = field(default_factory=list[Operation])

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /):
        self.offered.append(op)
        if op.next_op is not None:
            rewriter.erase(op.next_op)


def test_only_some_ops_are_offered_and_none_that_is_gone():
    a, b, c, d, e = ops = [marked("a", i) for i in range(5)]
    module, pattern = ModuleOp(ops), EraseNext()
    apply_patterns(module, pattern, only=[e, a, b, c])
    assert pattern.offered == [e, a, c]
    assert list(module.body.block.ops) == [a, c, e]
    assert d.parent is None


def test_a_value_gets_another_type_in_place():
    op = marked("a", 1)
    (result,) = op.results
    set_type(result, i64)
    assert op.results == (result,)
    assert result.type == i64


@dataclass
class RecordPure(RewritePattern):
    """Record the ops without effects that are offered."""

    offered: list[Operation] = field(default_factory=list[Operation])

    @op_trait_rewrite_pattern(Pure)
    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /):
        self.offered.append(op)


@dataclass
class RecordEither(RecordPure):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TestOp | ModuleOp, rewriter: PatternRewriter, /):
        self.offered.append(op)


def test_a_pattern_is_offered_ops_of_its_classes_or_trait():
    inner = ModuleOp([])
    ops: list[Operation] = [TestOp(), TestPureOp(), inner, TestTermOp()]
    pure, either = RecordPure(), RecordEither()
    apply_patterns(ModuleOp(ops), pure, either)
    assert pure.offered == [ops[1]]
    assert either.offered == [ops[0], inner]

"""
Lower data types: constructors are tags, and a match is a chain of tests.

    %r = relay.match %l : … {                      get_tag r2, r0
      case @List::@Cons(%h: T, _) {                load_consti r3, 1
        relay.yield %h : T                         if r2 eq r3 1, 4      to the next case
      }                                    ->      get_field r4, r0[0]
      case _ {                                     move r1, r4
        relay.yield %zero : T                      goto 2                over the next case
      }                                            move r1, …
    }

Each case is emitted once: its tests, in the order of its pattern, then its body. A test that fails
jumps to the next case, that of the last case to `fatal`. (TVM's compiler repeats all later cases
for every test of a nested pattern, so that its code may grow exponentially.) Cases after one that
matches every value are not emitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects import bytecode, relay
from ..dialects.bytecode.fields import RegisterAttr
from ..dialects.relay.patterns import ConstructorPattern, VarPattern, WildcardPattern, subpatterns
from .bytecode_builder import BytecodeBuilder, Tags, integer
from .register_lifetimes import Cleared


def tags_in(module: ModuleOp) -> Tags:
    """Return the tags of the constructors of `module`."""
    return {
        (op.sym_name.data, constructor.constructor.data): tag
        for op in module.ops
        if isinstance(op, relay.TypeDataOp)
        for tag, constructor in enumerate(op.constructors)
    }


def lower_construct(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.ConstructOp)
    type = op.result.type
    assert isinstance(type, relay.AdtType)
    tag = builder.tags[type.adt.string_value(), op.constructor.data]
    fields = builder.registers_of(op.fields)
    builder.emit(
        bytecode.AllocADTOp, op, dst=builder.define(op.result), tag=integer(tag), fields=fields
    )


@dataclass(frozen=True)
class Part:
    """A pattern, and the value that it is to match: a field of `source`, or (None) `source`."""

    pattern: Attribute
    source: RegisterAttr
    field: int | None = None


Jump: TypeAlias = tuple[Operation, int]
"""A jump, and its number among the instructions."""


@dataclass
class CaseTests:
    """Emits the tests of the cases of `match`; its data is in register `data`."""

    builder: BytecodeBuilder
    match: relay.MatchOp
    data: RegisterAttr
    tag: RegisterAttr | None = None
    """The tag of the data: read by the first test of the first case, which all others follow."""

    def emit(self, pattern: Attribute, variables: Iterable[SSAValue]) -> list[Jump]:
        """
        Emit the tests of `pattern`, and assign registers to its `variables`.

        Returns the tests, each of which still needs the offset by which to jump if it fails.
        """
        tests: list[Jump] = []
        names = iter(variables)
        rest = [Part(pattern, self.data)]
        while rest:
            part = rest.pop()
            match part.pattern:
                case WildcardPattern():
                    pass
                case VarPattern():
                    self.builder.registers[next(names)] = self._read(part)
                case _:
                    value = self._read(part)
                    if isinstance(part.pattern, ConstructorPattern):
                        tests.append(self._test(part.pattern, value))
                    parts = enumerate(subpatterns(part.pattern))
                    rest += reversed([Part(inner, value, number) for number, inner in parts])
        return tests

    def _read(self, part: Part) -> RegisterAttr:
        if part.field is None:
            return part.source
        value, number = self.builder.new_register(), integer(part.field)
        self.builder.emit(
            bytecode.GetFieldOp, self.match, dst=value, data=part.source, field=number
        )
        return value

    def _test(self, pattern: ConstructorPattern, value: RegisterAttr) -> Jump:
        """Test that the data in `value` has the pattern's constructor."""
        builder, at = self.builder, self.match
        tag = self._tag(value)
        target = builder.new_register()
        wanted = builder.tags[pattern.adt.string_value(), pattern.constructor.data]
        builder.emit(bytecode.LoadConstiOp, at, dst=target, value=integer(wanted))
        test = builder.emit(bytecode.IfOp, at, test=tag, target=target, true_offset=integer(1))
        return test, len(builder.code) - 1

    def _tag(self, value: RegisterAttr) -> RegisterAttr:
        if value == self.data and self.tag is not None:
            return self.tag
        tag = self.builder.new_register()
        self.builder.emit(bytecode.GetTagOp, self.match, dst=tag, data=value)
        if value == self.data:
            self.tag = tag
        return tag


def jump_here(builder: BytecodeBuilder, jumps: Sequence[Jump], offset: str) -> None:
    """Set `offset` of `jumps` so that they jump to the next instruction emitted."""
    for jump, number in jumps:
        jump.properties[offset] = integer(len(builder.code) - number)


def lower_match(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.MatchOp)
    merged = [builder.new_register() for _ in op.results]
    case_tests = CaseTests(builder, op, builder.registers[op.data])
    exits: list[Jump] = []
    cleared: Cleared = []
    for pattern, region in zip(op.patterns, op.cases, strict=True):
        tests = case_tests.emit(pattern, region.block.args)
        cleared += builder.lower_region(region, merged, op)
        if not tests:
            break
        exits.append((builder.emit(bytecode.GotoOp, op), len(builder.code) - 1))
        jump_here(builder, tests, "false_offset")
    else:
        builder.emit(bytecode.FatalOp, op)
    jump_here(builder, exits, "offset")
    builder.define_merged(op.results, merged, cleared)

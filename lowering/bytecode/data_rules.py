"""
Lower data types: constructors are tags, and a match jumps along a decision tree.

    %r = relay.match %l : … {                      get_tag r2, r0
      case @List::@Cons(%h: T, _) {                if r2 1, 4            to the default: not Nil
        relay.yield %h : T                         move r1, …            the second case
      }                                    ->      goto 3
      case _ {                                     get_field r4, r0[0]   the first case
        relay.yield %zero : T                      move r1, r4
      }
    }

Each case is emitted once, after all tests that lead to it, so that jumps go forward. A field has
one register, and is read where it is first needed on a path: by a test in it, or by a case whose
body uses it. `fatal` is only where no case applies.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Attribute, Operation

from ...dialects import bytecode, relay
from ...dialects.bytecode.fields import RegisterAttr
from ...dialects.integers import i64_attribute
from .bytecode_builder import BytecodeBuilder
from .decision_trees import DATA, Body, Decisions, Fail, Patterns, Switch
from .register_lifetimes import Cleared


def tag_of(builder: BytecodeBuilder, op: Operation) -> Attribute:
    """Return the tag of a constructor."""
    assert isinstance(op, relay.ConstructOp)
    type = op.result.type
    assert isinstance(type, relay.AdtType)
    return i64_attribute(builder.constructors.tags[type.adt.string_value(), op.constructor.data])


@dataclass
class MatchLowering:
    """Emits the nodes of the decisions of `match`, whose results are in the registers `merged`."""

    builder: BytecodeBuilder
    match: relay.MatchOp
    decisions: Decisions
    merged: list[RegisterAttr]
    registers: dict[int, RegisterAttr]
    """By place, for those that were read on some path."""
    jumps: dict[int | None, list[tuple[Operation, str, int]]] = field(
        default_factory=dict[int | None, list[tuple[Operation, str, int]]]
    )
    """By the node to which they lead, None for the end: jumps, fields and positions."""
    known: dict[int, set[int]] = field(default_factory=dict[int, set[int]])
    """By node: the places that were read on all paths to it."""
    cleared: Cleared = field(default_factory=list[tuple[int, RegisterAttr]])

    def emit(self) -> None:
        """Emit all nodes."""
        order = self.decisions.in_order()
        self.known[order[0]] = {DATA}
        for number in order:
            self._arrive(number)
            node, known = self.decisions.nodes[number], self.known[number]
            match node:
                case Switch():
                    self._emit_switch(node, known)
                case Body():
                    self._emit_body(node, known)
                    if number != order[-1]:
                        self._jump(self.builder.emit(bytecode.GotoOp, self.match), "offset", None)
                case Fail():
                    self.builder.emit(bytecode.FatalOp, self.match)
            for target in self.decisions.targets_of(number):
                self.known[target] = self.known.get(target, known) & known
        self._arrive(None)

    def _jump(self, jump: Operation, name: str, target: int | None) -> None:
        """Point `jump`, the last instruction emitted, at `target`."""
        self.jumps.setdefault(target, []).append((jump, name, len(self.builder.code) - 1))

    def _arrive(self, target: int | None) -> None:
        """Let the jumps to `target` lead to the next instruction emitted."""
        for jump, name, position in self.jumps.get(target, ()):
            jump.properties[name] = i64_attribute(len(self.builder.code) - position)

    def _emit_switch(self, node: Switch, known: set[int]) -> None:
        """Test for all targets but the last, which it continues at otherwise."""
        builder, at = self.builder, self.match
        value, tag = self._read(node.place, known), builder.new_register()
        builder.emit(bytecode.GetTagOp, at, dst=tag, data=value)
        targets = sorted(node.targets, key=lambda target: target[0] == 0)
        last = node.default if node.default is not None else targets.pop(0)[1]
        for number, (wanted, target) in enumerate(targets):
            if wanted:
                constant = builder.new_register()
                builder.emit(bytecode.LoadConstiOp, at, dst=constant, value=i64_attribute(wanted))
                test = builder.emit(bytecode.IfOp, at, test=tag, target=constant)
                same, other = "true_offset", "false_offset"
            else:
                test = builder.emit(bytecode.IfOp, at, test=tag)
                same, other = "false_offset", "true_offset"
            self._jump(test, same, target)
            if number == len(targets) - 1:
                self._jump(test, other, last)
            else:
                test.properties[other] = i64_attribute(1)

    def _emit_body(self, node: Body, known: set[int]) -> None:
        """Read the variables that the case uses, and emit its region."""
        region = self.match.cases[node.case]
        places = self.decisions.patterns.cases[node.case].variables
        for variable, place in zip(region.block.args, places, strict=True):
            if variable.uses:
                self.builder.registers[variable] = self._read(place, known)
        self.cleared += self.builder.lower_region(region, self.merged, self.match)

    def _read(self, place: int, known: set[int]) -> RegisterAttr:
        """Emit what is needed for `place` to be in its register; return that."""
        unknown: list[int] = []
        while place not in known:
            unknown.append(place)
            place = self.decisions.patterns.places[place].parent
        register = self.registers[place]
        for inner in reversed(unknown):
            data, register = register, self.registers.get(inner) or self.builder.new_register()
            self.registers[inner] = register
            number = i64_attribute(self.decisions.patterns.places[inner].field)
            self.builder.emit(
                bytecode.GetFieldOp, self.match, dst=register, data=data, field=number
            )
            known.add(inner)
        return register


def lower_match(builder: BytecodeBuilder, op: Operation) -> None:
    assert isinstance(op, relay.MatchOp)
    patterns = Patterns.of(op.patterns.data, builder.constructors)
    merged = [builder.new_register() for _ in op.results]
    registers = {DATA: builder.registers[op.data]}
    lowering = MatchLowering(builder, op, Decisions.of(patterns), merged, registers)
    lowering.emit()
    builder.define_merged(op.results, merged, lowering.cleared)

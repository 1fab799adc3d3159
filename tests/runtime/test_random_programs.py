"""Random programs with branches, calls and kills, compared with direct evaluation of the tree."""

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
from helpers.machine.both_machines import Machine
from helpers.programs.machine_programs import call, f32, function, kernel, program
from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st

from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.program.instructions import (
    AllocADT,
    Goto,
    If,
    Instruction,
    Invoke,
    KillRegister,
    Move,
    Ret,
)
from xrelay.runtime.program.program import TensorSpec

CONDITIONS = 3
Values = dict[int, Any]
Statement = Callable[[Values, tuple[bool, ...]], None]


class Builder:
    """Emits code together with its meaning; each variable is a register."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.next = 1 + CONDITIONS
        self.calls = 0

    def fresh(self) -> int:
        self.next += 2  # the storage of a tensor is in the register after it
        return self.next - 2

    def block(self, live: set[int], depth: int) -> tuple[list[Instruction], list[Statement]]:
        """Emit a few statements; `live` are the readable variables, updated in place."""
        code: list[Instruction] = []
        meaning: list[Statement] = []
        for _ in range(self.draw(st.integers(1, 4))):
            kinds = ["add", "add", "kill", "call"] + ["if"] * (depth > 0)
            kind = self.draw(st.sampled_from(kinds))
            if kind == "if":
                more, statement = self.branch(live, depth)
            elif kind == "kill":
                more, statement = self.kill(live)
            else:
                more, statement = self.sum(live, kind == "call")
            code += more
            meaning.append(statement)
        return code, meaning

    def sum(self, live: set[int], by_call: bool) -> tuple[list[Instruction], Statement]:
        a, b = (self.draw(st.sampled_from(sorted(live))) for _ in "ab")
        out = self.fresh()
        live.add(out)

        def add(values: Values, conditions: tuple[bool, ...]) -> None:
            values[out] = values[a] + values[b]

        code: list[Instruction] = [*call(0, [a, b], out, 2), KillRegister(out + 1)]
        return [Invoke(out, 1, (a, b))] if by_call else code, add

    def kill(self, live: set[int]) -> tuple[list[Instruction], Statement]:
        if len(live) == 1:
            return [], lambda values, conditions: None
        victim = self.draw(st.sampled_from(sorted(live)))
        live.discard(victim)
        return [KillRegister(victim)], lambda values, conditions: None

    def branch(self, live: set[int], depth: int) -> tuple[list[Instruction], Statement]:
        condition = self.draw(st.integers(0, CONDITIONS - 1))
        arms = [set(live), set(live)]
        (yes, mean_yes), (no, mean_no) = (self.block(arm, depth - 1) for arm in arms)
        picks = [self.draw(st.sampled_from(sorted(arm))) for arm in arms]
        merged = self.fresh()
        live &= arms[0] & arms[1]
        live.add(merged)

        def choose(values: Values, conditions: tuple[bool, ...]) -> None:
            taken = conditions[condition]
            for statement in mean_yes if taken else mean_no:
                statement(values, conditions)
            values[merged] = values[picks[0] if taken else picks[1]]

        code = [
            If(1 + condition, None, 1, len(yes) + 3),
            *yes,
            Move(merged, picks[0]),
            Goto(len(no) + 2),
            *no,
            Move(merged, picks[1]),
        ]
        return code, choose


@st.composite
def programs(draw: st.DrawFn) -> tuple[Machine, Callable[[Any, tuple[bool, ...]], Iterator[Any]]]:
    builder = Builder(draw)
    live = {0}
    code, meaning = builder.block(live, 2)
    results = sorted(live)
    code += [AllocADT(builder.next, 0, tuple(results)), Ret(builder.next)]
    main = function(
        [f32(2), *[TensorSpec("bool", ())] * CONDITIONS], *code, registers=builder.next + 1
    )
    add = function([f32(2), f32(2)], *call(0, [0, 1], 2, 2), Ret(2), name="add")
    machine = Machine(
        program(main, add, kernels=[kernel("add", [f32(2)] * 2, f32(2))]),
        memory=Memory(poison=True),
        sanitize=draw(st.booleans()),
    )

    def evaluate(x: Any, conditions: tuple[bool, ...]) -> Iterator[Any]:
        values: Values = {0: x}
        for statement in meaning:
            statement(values, conditions)
        return (values[result] for result in results)

    return machine, evaluate


@exactly(40)
@given(programs())
def test_paths_share_memory_but_not_values(
    case: tuple[Machine, Callable[[Any, tuple[bool, ...]], Iterator[Any]]],
):
    machine, evaluate = case
    ways = list(product([False, True], repeat=CONDITIONS))
    for number, conditions in enumerate([*ways, *reversed(ways)]):
        x = np.array([1, number], np.float32)
        expected = list(evaluate(x, conditions))
        for got, want in zip(machine.run("main", x, *conditions), expected, strict=True):
            np.testing.assert_array_equal(got, want)

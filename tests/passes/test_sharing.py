"""`Names`: the pairs of values that name a common byte on some path, held against all paths."""

from itertools import product
from random import Random
from time import process_time

import pytest
from helpers.programs.random_settings import rounds
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.test import TestOp
from xdsl.ir import SSAValue

from xrelay.passes.plan_check.names import Names

TENSOR = TensorType(f32, [4])

Sources = dict[SSAValue, list[tuple[SSAValue, tuple[TestOp, int] | None]]]
"""The values that each value names, and the region of the choice through which it does."""


def fresh() -> SSAValue:
    return TestOp(result_types=[TENSOR]).results[0]


def choose(names: Names[SSAValue], yields: list[list[SSAValue]]) -> TestOp:
    """Return a choice with an arm for each list of values, which yields them."""
    op = TestOp(result_types=[TENSOR] * len(yields[0]))
    names.add_choice(op, [list(zip(op.results, values, strict=True)) for values in yields])
    return op


class Program:
    """Random tensors, tuples and nested choices, told to `Names` as the checker does."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names = Names[SSAValue]()
        self.sources: Sources = {}
        self.choices: list[TestOp] = []
        self.values = self.body([], depth=0)

    def body(self, outside: list[SSAValue], depth: int) -> list[SSAValue]:
        """Return the values that are visible at the end of a block."""
        values = [*outside, fresh(), fresh()]
        for _ in range(self.rng.randint(1, 4)):
            if self.rng.random() < 0.6 and depth < 2 and len(self.choices) < 6:
                values += self.choice(values, depth)
            else:
                name = fresh()
                for source in self.rng.sample(values, self.rng.randint(1, 2)):
                    self.names.add(name, source)
                    self.sources.setdefault(name, []).append((source, None))
                values.append(name)
        return values

    def choice(self, outside: list[SSAValue], depth: int) -> list[SSAValue]:
        count = self.rng.randint(1, 3)
        yields = [self.rng.choices(self.body(outside, depth + 1), k=count) for _ in range(2)]
        op = choose(self.names, yields)
        self.choices.append(op)
        for result, one, other in zip(op.results, *yields, strict=True):
            self.sources[result] = [(one, (op, 0)), (other, (op, 1))]
        return list(op.results)

    def named_on(self, path: dict[TestOp, int], value: SSAValue) -> set[SSAValue]:
        """Return all values that `value` names on one path."""
        named = {value}
        for source, through in self.sources.get(value, ()):
            if through is None or path[through[0]] == through[1]:
                named |= self.named_on(path, source)
        return named


@pytest.mark.parametrize("seed", range(rounds(60)))
def test_values_share_bytes_that_do_on_a_path(seed: int):
    program = Program(Random(seed))
    choices = program.choices
    paths = [
        dict(zip(choices, regions, strict=True))
        for regions in product(range(2), repeat=len(choices))
    ]
    named = [{v: program.named_on(path, v) for v in program.values} for path in paths]
    for value in program.values:
        expected = {
            other
            for other in program.values
            if any(not on_path[value].isdisjoint(on_path[other]) for on_path in named)
        }
        assert expected == set(program.names.sharing(value)) & set(program.values)


def test_a_cell_shares_bytes_with_what_is_written_into_it_later():
    names = Names[SSAValue]()
    cell, element = fresh(), fresh()
    names.add(element, cell)
    tensor, view = fresh(), fresh()
    names.add(view, tensor)
    assert not names.share(element, view)
    names.add(cell, tensor)
    assert names.share(element, view)


def swaps(count: int) -> tuple[Names[SSAValue], SSAValue, SSAValue]:
    """Return the last two names of two tensors that `count` choices swap, or not."""
    names = Names[SSAValue]()
    one, other = fresh(), fresh()
    for _ in range(count):
        one, other = choose(names, [[one, other], [other, one]]).results
    return names, one, other


def test_swaps_are_told_apart_however_many_there_are():
    names, one, other = swaps(400)
    started = process_time()
    assert other not in names.sharing(one)
    assert process_time() - started < 2

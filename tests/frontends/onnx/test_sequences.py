"""Sequences and optional values whose length, or presence, is known only at run time."""

from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import run_onnxruntime
from helpers.onnx.onnx_small import assert_close, random_array
from onnx import ModelProto, parser

import xrelay
from xrelay.frontends.onnx.backend import Backend
from xrelay.frontends.onnx.convert.importer import convert_model


def model_of(graph: str) -> ModelProto:
    return parser.parse_model(f'<ir_version: 9, opset_import: ["" : 18]> small {graph}')


PARTS = model_of("""(float[n, m] x, int64 size, int64 at, int64 to) => (
  float[a, b] y, int64 count, float[n, m] whole, float[p, q] stacked, float[c, d] last
) {
  parts = SplitToSequence<axis = 1>(x, size)
  count = SequenceLength(parts)
  shorter = SequenceErase(parts, at)
  y = SequenceAt(shorter, to)
  whole = ConcatFromSequence<axis = 1>(parts)
  rows = SplitToSequence<axis = 0, keepdims = 0>(x)
  row = SequenceAt(rows, at)
  longer = SequenceInsert(rows, row, to)
  stacked = ConcatFromSequence<axis = -1, new_axis = 1>(longer)
  ends = SequenceInsert(parts, y)
  minus = Constant<value_int = -1>()
  last = SequenceAt(ends, minus)
}""")


@cache
def prepared_parts() -> Any:
    return Backend.prepare(PARTS)


@pytest.mark.parametrize(
    ("shape", "size", "at", "to"), [((3, 7), 2, 1, -1), ((4, 5), 2, -1, 0), ((2, 6), 3, -2, 0)]
)
def test_positions_of_run_time(shape: tuple[int, int], size: int, at: int, to: int):
    numbers = {"size": size, "at": at, "to": to}
    feeds = {"x": random_array(*shape), **{name: np.asarray(n) for name, n in numbers.items()}}
    actual: Any = prepared_parts().run(feeds)
    assert_close(actual, run_onnxruntime(PARTS, feeds))


@pytest.mark.ci
def test_a_position_that_a_sequence_does_not_have_is_an_error():
    feeds = {"x": random_array(3, 6), "size": np.asarray(2)}
    prepared = prepared_parts()
    for at, to, line, count in ((0, 2, 4, 2), (0, -3, 4, 2), (0, 2**32, 4, 2), (3, 0, 3, 3)):
        with pytest.raises(xrelay.MachineError) as caught:
            prepared.run({**feeds, "at": np.asarray(at), "to": np.asarray(to)})
        position = at or to
        text = f"the position is {position}, but the sequence has {count} elements"
        assert text in str(caught.value)
        assert str(caught.value.location).endswith(f":{line}:1")
    more = model_of("""(float[n, m] x, int64 to) => (seq(float[n, m]) y) {
      parts = SplitToSequence<axis = 1>(x)
      y = SequenceInsert(parts, x, to)
    }""")
    insert = Backend.prepare(more)
    for to in (-2, 2, 3, -3):
        run = partial(insert.run, [random_array(3, 2), np.asarray(to)])
        if abs(to) <= 2:
            assert len(run()[0]) == 3
            continue
        with pytest.raises(xrelay.MachineError, match=f"position is {to}, but .* has 2 elements"):
            run()


LOOP = model_of("""(int64 count, float[2] x, bool keep) => (float[n] y, int64 length) {
  true = Constant<value = bool {1}>()
  start = SequenceEmpty()
  nothing = Optional<type = seq(float[n])>()
  all, sum = Loop(count, true, start, x) <body = step(
      int64 i, bool on, seq(float[n]) before, float[n] s
    ) => (bool goes_on, seq(float[n]) after, float[n] t) {
      goes_on = Identity(on)
      t = Concat<axis = 0>(s, x)
      after = SequenceInsert(before, s)
    }
  >
  chosen = If(keep) <
    then_branch = yes() => (optional(seq(float[n])) a) { a = Optional(all) },
    else_branch = no() => (optional(seq(float[n])) b) { b = Identity(nothing) }
  >
  is_there = OptionalHasElement(chosen)
  y = If(is_there) <
    then_branch = some() => (float[n] c) {
      found = OptionalGetElement(chosen)
      c = ConcatFromSequence<axis = 0>(found)
    },
    else_branch = none() => (float[n] d) { d = Identity(sum) }
  >
  length = SequenceLength(all)
}""")


@pytest.mark.parametrize(("count", "keep"), [(3, True), (5, False), (0, False)])
def test_a_loop_whose_state_is_a_sequence(count: int, keep: bool):
    x = random_array(2)
    y, length = Backend.run_model(LOOP, [np.asarray(count), x, np.asarray(keep)])
    parts = [np.tile(x, i + 1) for i in range(count)]
    assert length == count
    np.testing.assert_array_equal(y, np.concatenate(parts) if keep else np.tile(x, count + 1))


def test_what_is_known_leaves_no_data_behind():
    model = model_of("""(float[2, n] x) => (float[n] y) {
      rows = SplitToSequence<axis = 0, keepdims = 0>(x)
      more = SequenceMap(rows) <body = step(float[n] a) => (float[n] b) { b = Neg(a) }>
      at = Constant<value_int = -1>()
      y = SequenceAt(more, at)
    }""")
    text = str(convert_model(model, "known.onnx").module)
    assert "relay.adt" not in text
    (y,) = Backend.run_model(model, [x := random_array(2, 3)])
    np.testing.assert_array_equal(y, -x[1])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("s = SequenceConstruct(x, i)\n j = Identity(k)\n y = SequenceAt(s, j)", "not of one rank"),
        ("s = SequenceConstruct(x)\n z = SequenceConstruct(s)\n y = SequenceAt(s, i)", "supported"),
        ("s = SequenceConstruct(x)\n y = Neg(s)", "input 0 is a sequence or optional"),
        ("y = SequenceAt(x, k)", "input 0 is a tensor; supported: sequences"),
        (
            "s = SequenceConstruct(x)\n c = Constant<value_int = 1>()\n y = SequenceAt(s, c)",
            "the position is 1, but the sequence has 1 elements",
        ),
        ("s = SequenceEmpty()\n y = SequenceAt(s, k)", "the rank of the sequence's elements"),
    ],
)
def test_what_is_refused(body: str, message: str):
    model = model_of(f"(float[n] x, int64[1] i, int64 k) => (float[n] y) {{ {body} }}")
    with pytest.raises(xrelay.Error, match=message):
        Backend.prepare(model)

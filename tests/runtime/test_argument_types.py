"""Tuples and data that a program is called with must be of the types of its parameters."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.machine.reference_machine import ReferenceMachine

import xrelay
from xrelay.runtime.calls.values import Tagged

TEXT = """#[version = "0.0.5"]
type List[A] { Cons(A, List[A]), Nil }

def @main(%t: (Tensor[(2), float32], (Tensor[(?), int32],)), %l: List[float32]) {
  %t.0
}
"""
NIL = Tagged(1, ())


def f32(*shape: int) -> Any:
    return np.ones(shape, np.float32)


def i32(*shape: int) -> Any:
    return np.ones(shape, np.int32)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> xrelay.Executable:
    """The program as it was saved and loaded."""
    folder: Path = tmp_path_factory.mktemp("types")
    (folder / "main.relay").write_text(TEXT)
    xrelay.compile(folder / "main.relay").save(folder / "main.xrx")
    loaded = xrelay.load(folder / "main.xrx")
    assert isinstance(loaded, xrelay.Executable)
    return loaded


def test_arguments_of_their_types_are_accepted(program: xrelay.Executable):
    deep = NIL
    for _ in range(5_000):
        deep = Tagged(0, (f32(), deep))
    for data in (NIL, (f32(), NIL), [f32(), Tagged(0, [f32(), NIL])], deep):
        np.testing.assert_array_equal(program((f32(2), [i32(7)]), data), f32(2))


@pytest.mark.parametrize(
    ("pair", "data", "message"),
    [
        (f32(2), NIL, "'t' of main must be a tuple of 2, but is a tensor"),
        ((f32(2),), NIL, "'t' of main must be a tuple of 2, but is a tuple of 1"),
        (Tagged(1, (f32(2), (i32(1),))), NIL, "'t' of main must be a tuple of 2, but is data of"),
        ((f32(3), (i32(1),)), NIL, "'t[0]' of main must be float32[2], but is float32[3]"),
        ((f32(2), (f32(1),)), NIL, "'t[1][0]' of main must be int32[?], but is float32[1]"),
        ((f32(2), ((i32(1),),)), NIL, "'t[1][0]' of main must be int32[?], but is data"),
        ((f32(2), (i32(1),)), f32(), "'l' of main must be List, data with the tag of a constr"),
        ((f32(2), (i32(1),)), Tagged(2, ()), "(0 to 1), but is data of tag 2"),
        ((f32(2), (i32(1),)), (), "'l' of main is wrong: Cons of List has 2 fields, but 0 are"),
        ((f32(2), (i32(1),)), (f32(), (f32(1), NIL)), "'l[1][0]' of main must be float32[], but"),
        ((f32(2), (i32(1),)), (NIL, NIL), "'l[0]' of main must be float32[], but is data"),
    ],
)
def test_others_are_not(program: xrelay.Executable, pair: Any, data: Any, message: str):
    with pytest.raises(xrelay.MachineError, match=re.escape(message)):
        program(pair, data)
    with pytest.raises(xrelay.MachineError, match=re.escape(message)):
        ReferenceMachine(program.program).evaluate("main", pair, data)

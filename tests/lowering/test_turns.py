"""Loops that clip rows of known heights, and skip kernels in some turns, against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from helpers.machine.in_machine import compiled, machine_of, results_in_machine

import xrelay
from xrelay.lowering.pipelines import AotPipeline

PLANNED = "verify-stage{stage=memory-planned}"
POISONED = AotPipeline().text.replace(PLANNED, f"overwrite-dead-bytes,{PLANNED}")
"""Overwrites bytes when the plan calls them dead, and before they are first written."""

SUMS = """
func.func @main(%x: tensor<7x4xf32>) -> tensor<7x4xf32> {
  %zeros = relay.zeros {shape = array<i64: 1, 4>, dtype = f32} : tensor<1x4xf32>
  %result = relay.zeros {shape = array<i64: 7, 4>, dtype = f32} : tensor<7x4xf32>
  %zero = relay.constant dense<0.0> : tensor<f32>
  %shape = relay.constant dense<[7, 4]> : tensor<2xi64>
  %h, %y = relay.loop %zeros, %result {count = 5 : i64}
    : (tensor<1x4xf32>, tensor<7x4xf32>) -> (tensor<1x4xf32>, tensor<7x4xf32>)
  %r = relay.read_rows %x fill %zero : tensor<f32>
    {axis = 0 : i64, start = -5 : i64, step = 3 : i64}
    : (tensor<7x4xf32>) -> tensor<3x4xf32>
  %e = relay.exp %r {EXP} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %j = relay.concatenate %h, %e {axis = 0 : i64, relay.unfused}
    : (tensor<1x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  %f = relay.fill_rows %j, %zero, %shape {axis = 0 : i64, start = -6 : i64, step = 3 : i64}
    : (tensor<4x4xf32>, tensor<f32>, tensor<2xi64>) -> tensor<4x4xf32>
  %a = relay.strided_slice %f {begin = array<i64: 0>, end = array<i64: 3>, SLICE}
    : (tensor<4x4xf32>) -> tensor<3x4xf32>
  %b = relay.strided_slice %f {begin = array<i64: 1>, end = array<i64: 4>, SLICE}
    : (tensor<4x4xf32>) -> tensor<3x4xf32>
  %s = relay.add %a, %b {SUM} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %n = relay.negative %s {NEG} : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %w = relay.write_rows %n, %y
    {axis = 0 : i64, clips, count = 3 : i64, start = -5 : i64, step = 3 : i64}
    : (tensor<3x4xf32>, tensor<7x4xf32>) -> tensor<7x4xf32>
  %k = relay.read_rows %f {axis = 0 : i64, start = 3 : i64} : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %last, %z = relay.end_loop %k, %w
    : (tensor<1x4xf32>, tensor<7x4xf32>) -> (tensor<1x4xf32>, tensor<7x4xf32>)
  func.return %z : tensor<7x4xf32>
}
"""
"""Adds to each row the one before it, three rows a turn: -5 to 9, of which 0 to 6 are there."""

X = np.linspace(-1, 1, 28, dtype=np.float32).reshape(7, 4)
E = np.exp(X)
EXPECTED = -(E + np.vstack([np.zeros((1, 4), np.float32), E[:-1]]))


def sums(path: Path, exp: str = "[1, 4]", sum: str = "[1, 4]", neg: str = "[1, 4]") -> Path:
    """Write the program, whose operators are needed in such turns, or in all."""
    text = SUMS
    for name, turns in (("EXP", exp), (", SLICE", sum), ("SUM", sum), ("NEG", neg)):
        only = f"relay.turns = array<i64: {turns[1:-1]}>" if turns else ""
        text = text.replace(name, f", {only}" if only and name[0] == "," else only)
    (file := path / "sums.mlir").write_text(text)
    return file


@pytest.mark.parametrize("turns", ["[1, 4]", ""])
def test_the_machines_agree(tmp_path: Path, turns: str):
    (found,) = results_in_machine(xrelay.parse(sums(tmp_path, turns, turns, turns)), [X], "main")
    np.testing.assert_allclose(found, EXPECTED, rtol=1e-6)


WAYS = pytest.mark.parametrize(
    ("pipeline", "target"),
    [
        ("vm", "machine"),
        ("vm{memory=coalesce}", "machine"),
        ("vm{kernels=native}", "machine"),
        ("aot", "native"),
        (POISONED, "native"),
    ],
    ids=["vm", "coalesced", "vm-native", "aot", "dead-bytes-overwritten"],
)


@WAYS
def test_kernels_run_in_the_turns_in_which_they_are_needed(
    tmp_path: Path, pipeline: str, target: Literal["machine", "native"]
):
    """Of those that are not run where they are, rows are missing."""
    program = xrelay.compile(sums(tmp_path), pipeline=pipeline, target=target)
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(program(X)), EXPECTED, rtol=1e-6)
    few = sums(tmp_path, sum="[2, 3]", neg="[2, 3]")
    outputs = np.asarray(xrelay.compile(few, pipeline=pipeline, target=target)(X))
    np.testing.assert_allclose(outputs[1:4], EXPECTED[1:4], rtol=1e-6)
    for rows in (slice(0, 1), slice(4, 7)):
        assert not np.isclose(outputs[rows], EXPECTED[rows]).any()


@pytest.mark.parametrize(
    ("turns", "calls"),
    [
        (("[1, 4]", "[1, 4]", "[1, 4]"), (3, 3)),
        (("[1, 3]", "[1, 2]", "[2, 4]"), (2, 3)),  # the hull of what is fused
        (("[0, 5]", "", "[1, 4]"), (5, 5)),
        (("[2, 3]", "[0, 2]", "[2, 5]"), (1, 5)),
    ],
)
def test_calls_are_counted(tmp_path: Path, turns: tuple[str, str, str], calls: tuple[int, int]):
    program = compiled(xrelay.parse(sums(tmp_path, *turns)))
    machine = machine_of(program)
    with machine.profile() as profile:
        machine.run("main", X)
    report: Any = profile.json()
    counts = {row["operator"]: row["calls"] for row in report["operators"]}
    assert (counts["relay.exp"], counts["relay.negative"]) == calls

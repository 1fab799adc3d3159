"""Regression tests of modules that caused an internal error, or IR that could not be read back."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xrelay.tools.run import run

Opt = Callable[..., Any]
Write = Callable[[str], Path]

FAULTS = Path(__file__).parents[1] / "data" / "faults"


def test_a_value_that_a_region_of_its_user_defines(opt: Opt):
    """By then, the region's op has resolved the operand."""
    ran = opt(FAULTS / "fwd4.mlir")
    assert ran.status == 1
    assert ran.err.startswith(
        f"{FAULTS / 'fwd4.mlir'}:1:6: error: 'relay.match' op operand #0 is defined in a region "
        "that does not enclose this use\n"
    )
    assert "7:22: note: operand defined here" in ran.err


@pytest.mark.parametrize("pipeline", ["vm", "plan-devices", "lower-to-bytecode"])
def test_a_function_of_two_blocks(opt: Opt, pipeline: str):
    path = FAULTS / "blocks.mlir"
    ran = opt(path, "-p", pipeline)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(
        f"{path}:1:1: error: @main must be one block, but has 2: branch with relay.if, and loop "
        "with calls\n"
    )


def test_a_function_of_two_blocks_is_not_evaluated(capsys: pytest.CaptureFixture[str]):
    path = FAULTS / "blocks.mlir"
    assert run.main([str(path), "--evaluate"]) == 1
    assert f"{path}:1:1: error: @main must be one block, but has 2" in capsys.readouterr().err


def test_every_return_says_what_a_function_returns(opt: Opt, source: Write):
    path = source(
        """\
        func.func @f(%c: i1, %x: tensor<4xf32>) -> !relay.incomplete {
          %y = relay.tanh %x : (tensor<4xf32>) -> !relay.incomplete
          cf.cond_br %c, ^a, ^b
        ^a:
          func.return %y : !relay.incomplete
        ^b:
          func.return %y : !relay.incomplete
        }
        """
    )
    ran = opt(path, "-p", "infer-types")
    assert (ran.status, ran.err) == (0, "")
    assert "@f(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32>" in ran.out


@pytest.mark.parametrize(
    ("body", "count"),
    [("", 0), ('"test.termop"()[^a] : () -> ()\n^a:\n"test.termop"()[^a] : () -> ()', 2)],
)
def test_a_module_has_one_block(opt: Opt, source: Write, body: str, count: int):
    path = source(f'"builtin.module"() ({{{body}}}) : () -> ()')
    ran = opt(path)
    assert ran.status == 1
    said = f"{path}:1:1: error: 'builtin.module' op must have one block, but has {count}\n"
    assert ran.err.startswith(said)

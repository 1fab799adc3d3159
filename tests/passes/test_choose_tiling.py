"""The chains that `choose-tiling` tries, and the copies that it counts."""

import pytest
from helpers.programs.programs import parse

import xrelay
from xrelay.lowering.pipelines import AotPipeline
from xrelay.planning.stripes import chosen_chains
from xrelay.planning.stripes.striped import Striped


def convolutions(count: int) -> str:
    """Return convolutions of one size, of which stripes lower the peak of no part."""
    image, kernel, lines = "tensor<1x4x12x8xf32>", "tensor<4x4x3x3xf32>", list[str]()
    for at in range(count):
        lines.append(
            f"%v{at + 1} = relay.nn.conv2d %v{at}, %w {{padding = array<i64: 1, 1, 1, 1>}} : "
            f"({image}, {kernel}) -> {image}"
        )
    lines.append(f"%y = relay.cumsum %v{count} {{axis = 1}} : ({image}) -> {image}")
    body = "\n".join(lines)
    head = f"func.func @main(%v0: {image}, %w: {kernel}) -> {image}"
    return f"{head} {{\n{body}\nfunc.return %y : {image}\n}}"


def test_what_is_tried_grows_with_the_steps(monkeypatch: pytest.MonkeyPatch):
    added, add = [0], Striped.add

    def counted(striped: Striped) -> None:
        added[0] += 1
        add(striped)

    monkeypatch.setattr(Striped, "add", counted)
    tried: list[int] = []
    for count in (20, 40):
        added[0] = 0
        xrelay.run_pipeline(parse(convolutions(count)), "choose-tiling{work=1.0}")
        tried.append(added[0])
    assert 0 < tried[1] < 2.2 * tried[0]


def test_a_remark_says_that_not_all_chains_were_tried(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    xrelay.run_pipeline(parse(convolutions(4)), "choose-tiling{work=1.0}")
    assert "not all chains" not in capsys.readouterr().err
    monkeypatch.setattr(chosen_chains, "TRIES", 0)
    monkeypatch.setattr(chosen_chains, "FEW", 1)
    xrelay.run_pipeline(parse(convolutions(4)), "choose-tiling{work=1.0}")
    assert "not all chains were tried that end at" in capsys.readouterr().err


NCHW = """
func.func @main(%x: tensor<1x8x32x8xf32>, %w: tensor<16x8x5x5xf32>, %v: tensor<16x16x3x3xf32>)
    -> tensor<1x16x32x8xf32> {
  %a = relay.tanh %x : (tensor<1x8x32x8xf32>) -> tensor<1x8x32x8xf32>
  %b = relay.nn.conv2d %a, %w {padding = array<i64: 2, 2, 2, 2>}
    : (tensor<1x8x32x8xf32>, tensor<16x8x5x5xf32>) -> tensor<1x16x32x8xf32>
  %c = relay.nn.conv2d %b, %v {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x16x32x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x32x8xf32>
  %y = relay.add %c, %b : (tensor<1x16x32x8xf32>, tensor<1x16x32x8xf32>) -> tensor<1x16x32x8xf32>
  func.return %y : tensor<1x16x32x8xf32>
}
"""


@pytest.mark.parametrize("peak", [37696, 49280])
def test_rows_that_are_not_contiguous_are_copied_in_aot_too(peak: int):
    passes = AotPipeline(peak=str(peak)).text
    xrelay.run_pipeline(parse(NCHW), passes[: passes.index("}", passes.index("check-peak")) + 1])

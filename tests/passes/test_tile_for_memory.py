"""Chains in stripes compute what the program computes, and need the bytes that are said."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.programs.agreement import agree, evaluated
from helpers.programs.programs import parse
from helpers.programs.random_chains import chain_in_stripes, image_of, random_skip, stripe_all
from helpers.programs.random_settings import FIRST_SEED, OTHER, rounds
from numpy.lib.stride_tricks import sliding_window_view
from xdsl.dialects import func

import xrelay
from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.tiling.step_network import network_of
from xrelay.planning.stripes import chosen_chains

AT_EVERY_LEVEL = VmPipeline().text.replace(
    ",expand-packs", ",verify-memory-plan,overwrite-dead-bytes,expand-packs"
)


@pytest.mark.parametrize("part", [1, 3, *(pytest.param(n, marks=pytest.mark.ci) for n in (0, 2))])
def test_random_chains_in_random_stripes(part: int):
    """They compute the same at every level, and in the machine, when dead bytes are overwritten."""
    count = (OTHER or rounds(60)) // 4 + 1
    tried = number = loops = 0
    while tried < count:
        drawn = chain_in_stripes(FIRST_SEED + part, number)
        number += 1
        if drawn is None:
            continue
        tried += 1
        module, tiled, argument, what = drawn
        run_passes(tiled, "tile-for-memory")
        assert "relay.stripes" not in str(tiled), what
        loops += "relay.loop" in str(tiled)
        (whole,) = evaluated(module, [argument])
        assert isinstance(whole, np.ndarray), what
        try:
            ((found,),) = agree(tiled, AT_EVERY_LEVEL, [[argument]])
        except Exception as error:
            error.add_note(what)
            raise
        assert isinstance(found, np.ndarray), what
        scale = np.abs(whole[np.isfinite(whole)]).max(initial=1)  # a mean of ones may be 0
        np.testing.assert_allclose(found, whole, rtol=0, atol=2e-6 * scale, err_msg=what)
    assert loops > count // 4, "stripes that are alike"


def test_random_stripes_are_one_loop():
    """One of eight draws is one, so that the test above runs some."""
    for number in range(60):
        drawn = chain_in_stripes(FIRST_SEED, number)
        if drawn is not None:
            run_passes(drawn[1], "tile-for-memory")
            if "clips" in str(drawn[1]):
                return
    pytest.fail("no stripes that are alike at both ends, too")


def planned(program: xrelay.Executable) -> int:
    (device,) = program.memory.devices.values()
    return device.planned["main"] or 0


POOLS = """
func.func @main(%x: tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32> {
  %a = relay.tanh %x : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %b = relay.nn.max_pool2d %a {layout = "NHWC", pool_size = array<i64: 3, 3>,
                               padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x32x8x32xf32>
  %y = relay.nn.max_pool2d %b {layout = "NHWC", pool_size = array<i64: 2, 2>,
                               strides = array<i64: 2, 2>}
    : (tensor<1x32x8x32xf32>) -> tensor<1x16x4x32xf32>
  func.return %y : tensor<1x16x4x32xf32>
}
"""


def pools_in(folder: Path) -> tuple[Path, np.ndarray, np.ndarray]:
    """Write `POOLS` to a file; return this, an input, and what NumPy computes of it."""
    path = folder / "pools.mlir"
    path.write_text(POOLS)
    x = np.random.default_rng(0).standard_normal((1, 32, 8, 32), np.float32)
    tanh = np.tanh(np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)), constant_values=-np.inf))
    wide = sliding_window_view(tanh, (3, 3), (1, 2)).max((-2, -1))
    return path, x, wide.reshape(1, 16, 2, 4, 2, 32).max((2, 4))


@pytest.mark.ci
def test_a_peak_that_is_reached_is_kept_and_a_lower_one_refused(tmp_path: Path):
    path, x, expected = pools_in(tmp_path)
    whole = planned(xrelay.compile(path))
    for peak in (17408, 17408 * 101 // 100, 27648, 50000):
        tiled = xrelay.compile(path, pipeline=f"vm{{peak={peak} work=1.0}}")
        assert planned(tiled) <= peak < whole
        np.testing.assert_allclose(tiled(x), expected, rtol=1e-6)
    message = "a peak of 17234 bytes is not reached with 1.0 times the work: the least is 17408"
    with pytest.raises(xrelay.Error, match=message):
        xrelay.compile(path, pipeline="vm{peak=17234 work=1.0}")


PLACED = Path(__file__).parents[2] / "lit_tests" / "passes" / "choose-tiling" / "placed.mlir"


@pytest.mark.parametrize("kernels", ["numpy", "native"])
@pytest.mark.parametrize("text", PLACED.read_text().split("// -----"))
def test_a_peak_is_not_refused_that_the_plan_without_stripes_has(text: str, kernels: str):
    text = re.sub("@[a-z_]+\\(", "@main(", text)
    plan = planned(xrelay.compile(parse(text), pipeline=f"vm{{kernels={kernels}}}"))
    same = xrelay.compile(parse(text), pipeline=f"vm{{kernels={kernels} peak={plan}}}")
    assert planned(same) == plan
    with pytest.raises(xrelay.Error, match=f"the least is {plan}"):
        xrelay.compile(parse(text), pipeline=f"vm{{kernels={kernels} peak={plan - 1} work=1.0}}")


HALVES = """
func.func @main(%x: tensor<1x16x16x16xf32>) -> (tensor<1x8x16x16xf32>, tensor<1x8x8x8xf32>) {
  %a, %b = relay.split %x {axis = 1, indices_or_sections = 2}
    : (tensor<1x16x16x16xf32>) -> (tensor<1x8x16x16xf32>, tensor<1x8x16x16xf32>)
  %y = relay.nn.relu %a : (tensor<1x8x16x16xf32>) -> tensor<1x8x16x16xf32>
  %z = relay.nn.max_pool2d %b {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x8x16x16xf32>) -> tensor<1x8x8x8xf32>
  func.return %y, %z : tensor<1x8x16x16xf32>, tensor<1x8x8x8xf32>
}
"""


def test_a_peak_that_only_the_plan_without_stripes_keeps_is_not_refused():
    """Slices of a parameter are views in the machine, which the choice counts as copies."""
    plan = planned(xrelay.compile(parse(HALVES)))
    with pytest.raises(xrelay.Error, match=f"a peak of {plan} bytes is not reached: the least is"):
        xrelay.run_pipeline(parse(HALVES), f"choose-tiling{{peak={plan}}}")
    assert planned(xrelay.compile(parse(HALVES), pipeline=f"vm{{peak={plan}}}")) == plan
    message = f"not reached with 1.0 times the work: the least is {plan}"
    with pytest.raises(xrelay.Error, match=message):
        xrelay.compile(parse(HALVES), pipeline=f"vm{{peak={plan - 1} work=1.0}}")


@pytest.mark.ci
def test_a_step_has_no_more_calls_than_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path, x, expected = pools_in(tmp_path)
    monkeypatch.setattr(chosen_chains, "VAIN", -1.0)  # no chain is one loop
    peaks = [planned(xrelay.compile(path, pipeline="vm{kernels=native}"))]
    for code in (2.0, 2.5, 3.0):
        limits = f"work=1.0 code={code}"
        passes = f"choose-tiling{{{limits} copies=false}},tile-for-memory"
        steps = ("relay.tanh", "relay.nn.max_pool2d")
        calls = sum(
            op.name in steps for op in xrelay.run_pipeline(xrelay.parse(path), passes).walk()
        )
        assert 3 < calls <= 3 * code
        tiled = xrelay.compile(path, pipeline=f"vm{{kernels=native {limits}}}")
        np.testing.assert_allclose(tiled(x), expected, rtol=1e-6)
        peaks.append(planned(tiled))
    assert peaks == sorted({*peaks}, reverse=True), "fewer calls need more bytes"
    message = "a peak of 30000 bytes .* with 2.0 calls a step: the least is 50176"
    with pytest.raises(xrelay.Error, match=message):
        xrelay.compile(path, pipeline="vm{kernels=native peak=30000 work=1.0 code=2.0}")


CONVOLUTIONS = """
func.func @main(%x: tensor<1x16x64x64xf32>) -> tensor<1x16x30x30xf32> {
  %w = relay.param "w" : tensor<16x16x3x3xf32>
  %a = relay.nn.conv2d %x, %w
    : (tensor<1x16x64x64xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x62x62xf32>
  %b = relay.nn.conv2d %a, %w
    : (tensor<1x16x62x62xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x60x60xf32>
  %y = relay.nn.max_pool2d %b {pool_size = array<i64: 2, 2>, strides = array<i64: 2, 2>}
    : (tensor<1x16x60x60xf32>) -> tensor<1x16x30x30xf32>
  func.return %y : tensor<1x16x30x30xf32>
}
"""


def test_a_peak_counts_the_scratch_memory_of_kernels(tmp_path: Path):
    path = tmp_path / "convolutions.mlir"
    path.write_text(CONVOLUTIONS)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 16, 64, 64), np.float32)
    w = rng.standard_normal((16, 16, 3, 3), np.float32) / 12
    whole, tiled = (
        xrelay.compile(path, params={"w": w}, pipeline=f"vm{{kernels=native {options}}}")
        for options in ("", "peak=155000")
    )
    assert planned(tiled) <= 155000 < planned(whole)
    np.testing.assert_allclose(tiled(x), whole(x), rtol=1e-4, atol=1e-5)
    module = xrelay.run_pipeline(xrelay.parse(path), "vm{kernels=native peak=155000}")
    assert "relay.scratch" in str(module)
    least = r"the least is (\d+)"
    with pytest.raises(xrelay.Error, match=least) as refusal:
        xrelay.compile(path, params={"w": w}, pipeline="vm{kernels=native peak=10000}")
    lowest = re.search(least, str(refusal.value))
    assert lowest is not None
    direct = xrelay.compile(
        path, params={"w": w}, pipeline=f"vm{{kernels=native peak={lowest[1]}}}"
    )
    assert planned(direct) <= int(lowest[1]) < 150_000, "without the scratch memory"
    np.testing.assert_allclose(direct(x), whole(x), rtol=1e-4, atol=1e-5)


FIRE = """
func.func @main(%x: tensor<1x3x38x35xf32>) -> tensor<1x14x8x8xf32> {
  %w1 = relay.param "w1" : tensor<10x3x3x3xf32>
  %w2 = relay.param "w2" : tensor<6x10x1x1xf32>
  %w3 = relay.param "w3" : tensor<9x6x1x1xf32>
  %w4 = relay.param "w4" : tensor<9x6x3x3xf32>
  %w5 = relay.param "w5" : tensor<14x18x1x1xf32>
  %a = relay.nn.conv2d %x, %w1 {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x3x38x35xf32>, tensor<10x3x3x3xf32>) -> tensor<1x10x38x35xf32>
  %b = relay.nn.max_pool2d %a {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>}
    : (tensor<1x10x38x35xf32>) -> tensor<1x10x18x17xf32>
  %s = relay.nn.conv2d %b, %w2
    : (tensor<1x10x18x17xf32>, tensor<6x10x1x1xf32>) -> tensor<1x6x18x17xf32>
  %c = relay.nn.conv2d %s, %w3
    : (tensor<1x6x18x17xf32>, tensor<9x6x1x1xf32>) -> tensor<1x9x18x17xf32>
  %d = relay.nn.conv2d %s, %w4 {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x6x18x17xf32>, tensor<9x6x3x3xf32>) -> tensor<1x9x18x17xf32>
  %e = relay.concatenate %c, %d {axis = 1}
    : (tensor<1x9x18x17xf32>, tensor<1x9x18x17xf32>) -> tensor<1x18x18x17xf32>
  %f = relay.nn.max_pool2d %e {pool_size = array<i64: 3, 3>, strides = array<i64: 2, 2>}
    : (tensor<1x18x18x17xf32>) -> tensor<1x18x8x8xf32>
  %y = relay.nn.conv2d %f, %w5
    : (tensor<1x18x8x8xf32>, tensor<14x18x1x1xf32>) -> tensor<1x14x8x8xf32>
  func.return %y : tensor<1x14x8x8xf32>
}
"""


def test_peaks_are_kept_natively(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Rows are not multiples of vectors, so slices and parts of joins are at any address."""
    monkeypatch.setattr(sys.modules["xrelay.planning.solve"], "NODES", 20_000)
    path = tmp_path / "fire.mlir"
    path.write_text(FIRE)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 3, 38, 35), np.float32)
    shapes = ((10, 3, 3, 3), (6, 10, 1, 1), (9, 6, 1, 1), (9, 6, 3, 3), (14, 18, 1, 1))
    w = {f"w{i}": rng.standard_normal(s, np.float32) for i, s in enumerate(shapes, 1)}
    whole = xrelay.compile(path, params=w, pipeline="vm{kernels=native}")
    with pytest.raises(xrelay.Error, match="is not reached") as refusal:
        xrelay.compile(path, params=w, pipeline="vm{kernels=native peak=1000 work=1.0}")
    least = int(str(refusal.value).splitlines()[0].rpartition(" ")[2])
    assert 5 * least < planned(whole)
    for peak in (least, 2 * least, 3 * least, 4 * least):
        options = f"kernels=native peak={peak} work=1.0"
        tiled = xrelay.compile(path, params=w, pipeline=f"vm{{{options}}}")
        assert planned(tiled) <= peak
        np.testing.assert_allclose(tiled(x), whole(x), rtol=1e-4, atol=1e-4)


ATTENTION = """
func.func @main(%q: tensor<4x64x32xf32>, %k: tensor<4x64x32xf32>, %v: tensor<4x32x64xf32>)
    -> tensor<4x64x32xf32> {
  %a = relay.nn.batch_matmul %q, %k
    : (tensor<4x64x32xf32>, tensor<4x64x32xf32>) -> tensor<4x64x64xf32>
  %b = relay.nn.softmax %a : (tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  %c = relay.nn.batch_matmul %b, %v
    : (tensor<4x64x64xf32>, tensor<4x32x64xf32>) -> tensor<4x64x32xf32>
  func.return %c : tensor<4x64x32xf32>
}
"""


@pytest.mark.ci
@pytest.mark.parametrize("peak", [34816, 80000])
def test_attention_is_computed_by_rows_of_queries(tmp_path: Path, peak: int):
    path = tmp_path / "attention.mlir"
    path.write_text(ATTENTION)
    rng = np.random.default_rng(0)
    q, k = rng.standard_normal((2, 4, 64, 32), np.float32)
    v = rng.standard_normal((4, 32, 64), np.float32)
    weights = np.exp(q.astype(np.float64) @ k.transpose(0, 2, 1))
    expected = weights / weights.sum(-1, keepdims=True) @ v.transpose(0, 2, 1)
    tiled = xrelay.compile(path, pipeline=f"vm{{peak={peak} work=1.0}}")
    assert planned(tiled) <= peak < planned(xrelay.compile(path))
    np.testing.assert_allclose(tiled(q, k, v), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.ci
def test_a_program_does_not_grow_with_the_number_of_stripes(tmp_path: Path):
    sizes: set[int] = set()
    for rows in (32, 64, 128):
        path = tmp_path / f"pools{rows}.mlir"
        path.write_text(
            POOLS.replace("1x32x8", f"1x{rows}x8").replace("1x16x4", f"1x{rows // 2}x4")
        )
        tiled = xrelay.run_pipeline(xrelay.parse(path), "vm{work=1.0}")
        sizes.add(str(tiled).count("bytecode.invoke_packed"))
    assert len(sizes) == 1


@pytest.mark.parametrize(
    ("long", "wide", "limit", "ops", "peak"),
    [
        (2.4, 2.0, None, 9, 17408),
        (2.4, 3.0, None, 6, 51200),
        (4.0, 1.0, 50000, 9, 43008),
        (3.1, 1.0, 50000, 6, 47104),
    ],
)
def test_a_long_chain_is_shortened_within_a_wider_peak_or_that_which_is_given(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    long: float,
    wide: float,
    limit: int | None,
    ops: int,
    peak: int,
):
    path = tmp_path / "pools.mlir"
    path.write_text(POOLS)
    (function,) = xrelay.parse(path).ops
    assert isinstance(function, func.FuncOp)
    net, *_ = network_of(function.body.block)
    monkeypatch.setattr(chosen_chains, "LONG", long)
    monkeypatch.setattr(chosen_chains, "WIDE", wide)
    choice = chosen_chains.choose(net, 1.0, limit)
    assert (sum(chain.ops for chain in choice.chains), choice.peak) == (ops, peak)


@pytest.mark.parametrize("layout", ["NHWC", pytest.param("NCHW", marks=pytest.mark.ci)])
def test_rows_of_skips_stay_in_rings(layout: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules["xrelay.planning.solve"], "NODES", 4_000)  # any plan will do
    rings = 0
    for number in range(rounds(24)):
        rng = np.random.default_rng(number)
        module = random_skip(rng, layout)
        tiled = module.clone()
        stripe_all(tiled, height=int(rng.choice([1, 2, 4])))
        tiled = xrelay.run_pipeline(tiled, "tile-for-memory")
        rings += "wraps" in str(tiled)
        argument = rng.standard_normal(image_of(module), np.float32)
        whole = np.asarray(xrelay.compile(module)(argument))
        programs = [xrelay.compile(tiled.clone(), pipeline="vm{memory=coalesce}", sanitize=True)]
        if number == 0 and layout == "NHWC":
            programs += [xrelay.compile(tiled.clone(), sanitize=True)]
            programs += [xrelay.compile(tiled.clone(), target="native")]
        for program in programs:
            found = np.asarray(program(argument))
            np.testing.assert_allclose(found, whole, rtol=0, atol=2e-6, err_msg=str(module))
    assert rings, "no rings in loops"


BRANCH = """
func.func @main(%c: tensor<i1>, %x: tensor<4x8xf32>) -> tensor<8xf32> {
  %i = relay.constant dense<0> : tensor<i64>
  %b = relay.logical_not %c : (tensor<i1>) -> tensor<i1>
  %y = relay.if %b : tensor<i1> -> (tensor<8xf32>) {
    %a = relay.take %x, %i {axis = 0} : (tensor<4x8xf32>, tensor<i64>) -> tensor<8xf32>
    relay.yield %a : tensor<8xf32>
  } else {
    %a = relay.tanh %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %d = relay.take %a, %i {axis = 0} : (tensor<4x8xf32>, tensor<i64>) -> tensor<8xf32>
    relay.yield %d : tensor<8xf32>
  }
  func.return %y : tensor<8xf32>
}
"""


def test_a_choice_leaves_no_uses_of_what_branches_read(tmp_path: Path):
    """A use that is left behind has no device, and a constant would be on one more."""
    path = tmp_path / "branch.mlir"
    path.write_text(BRANCH)
    program = xrelay.compile(path, pipeline="vm{peak=9000}")
    assert [*program.memory.devices] == ["cpu:0"]
    x = np.random.default_rng(0).standard_normal((4, 8), np.float32)
    np.testing.assert_array_equal(program(np.array(False), x), x[0])


@pytest.mark.parametrize("seed", range(4))
def test_bytes_around_a_chain(seed: int):
    """Running sums are what all values are, one by one."""
    (function,) = random_skip(np.random.default_rng(seed), "NHWC").ops
    assert isinstance(function, func.FuncOp)
    net, *_ = network_of(function.body.block)
    for last in range(len(net.steps)):
        result = net.values[net.steps[last].writes]
        for first in range(last):
            inner = {step.writes for step in net.steps[first:last]}
            live = [
                value.live
                for number, value in enumerate(net.values)
                if number not in inner
                and (value.is_returned or value.start <= last)
                and value.dead >= first
            ]
            own = result.bytes if result.is_view else 0
            assert net.around(first, last) == sum(live) + own

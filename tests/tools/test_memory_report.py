"""`--memory-report` of `xrelay-opt` and `xrelay-run`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from xrelay.tools.run.run import main as run_main

Opt = Callable[..., Any]
Source = Callable[[str], Path]

LAYERS = """
func.func @main(%x: tensor<?x8xf32> {relay.dims = ["n", 8]}) -> tensor<?x8xf32> {
  %a = relay.exp %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = relay.nn.softmax %a : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %c = relay.nn.softmax %b : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %c : tensor<?x8xf32>
}
"""

TWO_DEVICES = """
func.func @main(%x: tensor<8xf32> {relay.device = #relay.device<cpu:0>}) -> tensor<8xf32> {
  %a = relay.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %f = relay.on_device %a, #relay.device<cpu:0> : (tensor<8xf32>) -> tensor<8xf32>
  %h = relay.on_device %f, #relay.device<cuda:0> {constrain_result = true} : (tensor<8xf32>) -> tensor<8xf32>
  %b = relay.nn.softmax %h : (tensor<8xf32>) -> tensor<8xf32>
  %c = relay.nn.softmax %b : (tensor<8xf32>) -> tensor<8xf32>
  func.return %c : tensor<8xf32>
}
"""  # noqa: E501

CALLS = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = func.call @twice(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %c = relay.add %a, %b : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  func.return %c : tensor<8xf32>
}
func.func private @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.nn.softmax %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = relay.nn.softmax %a : (tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    capsys.readouterr()
    status = run_main([str(argument) for argument in arguments])
    return status, str(capsys.readouterr().err)


def test_json_has_the_figures_of_each_function(opt: Opt, source: Source):
    ran = opt(
        "-p", "vm{memory=none}", "--memory-report=json", "--plan-dim", "x:0=3", source(LAYERS)
    )
    (main,) = json.loads(ran.err)["functions"]
    assert (main["function"], main["device"], main["dims"]) == ("@main", "cpu:0", {"n": 3})
    assert main["tensors"] == 3
    assert main["sum"] == {"bytes": 3 * 3 * 32, "formula": "96*n"}
    assert main["lower_bound"] == {"bytes": 2 * 3 * 32, "formula": "64*n"}
    assert main["ratio"] == 1.0
    assert main["allocations"] == {"before": 3, "after": 3}
    names = {tensor["name"] for tensor in main["largest"]}
    assert names <= {"a", "b", "c"}
    lines = {tensor["source"].rpartition(":")[2] for tensor in main["largest"]}
    assert lines <= {"3", "4", "5"}


def test_each_device_is_reported(opt: Opt, source: Source):
    ran = opt("-p", "vm", "--memory-report=json", source(TWO_DEVICES))
    found = json.loads(ran.err)["functions"]
    assert {report["device"]: report["tensors"] for report in found} == {"cpu:0": 1, "cuda:0": 3}
    page = opt("-p", "vm", "-t", "memory-plan-html", source(TWO_DEVICES)).out
    assert "@main on cpu:0" in page
    assert "@main on cuda:0" in page


@pytest.mark.parametrize("text", [TWO_DEVICES, CALLS])
@pytest.mark.parametrize("memory", ["none", "plan"])
def test_a_run_uses_what_was_planned(
    text: str, memory: str, source: Source, capsys: pytest.CaptureFixture[str]
):
    pipeline = ("--pipeline", f"vm{{memory={memory}}}")
    status, err = run(capsys, source(text), "--random-seed", 0, "--memory-report=json", *pipeline)
    assert status == 0
    devices = json.loads(err)["run"]["devices"]
    assert devices
    for device in devices:
        assert device["peak"] == device["planned"]
        assert device["allocations"] > 0


def test_the_dims_of_a_run_are_those_of_its_inputs(
    source: Source, capsys: pytest.CaptureFixture[str]
):
    _, err = run(capsys, source(LAYERS), "--random-seed", 0, "--dim", "n=5", "--memory-report=json")
    found = json.loads(err)
    assert found["functions"][0]["dims"] == {"n": 5}
    (device,) = found["run"]["devices"]
    assert device["peak"] == device["planned"] == found["functions"][0]["planned"]["bytes"]


def test_what_is_not_planned_cannot_be_reported(
    opt: Opt, source: Source, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    file = source(LAYERS)
    ran = opt("-p", "infer-types", "--memory-report", file)
    assert ran.status == 1
    assert "is not in a kernel: run fuse-ops, outline-primitives, manifest-alloc first" in ran.err
    bytecode = tmp_path / "bytecode.mlir"
    bytecode.write_text(opt("-p", "vm", file).out)
    status, err = run(capsys, bytecode, "--random-seed", 0, "--dim", "n=5", "--memory-report")
    assert status == 1
    assert "it is bytecode already" in err
    status, err = run(capsys, file, "--random-seed", 0, "--evaluate", "--memory-report")
    assert status == 2
    assert "--memory-report shows what the machine allocates" in err


def test_the_file_after_the_option_is_not_its_value(opt: Opt, source: Source):
    ran = opt("-p", "vm", "--memory-report", source(LAYERS))
    assert ran.status == 0
    assert ran.err.startswith("memory of @main on cpu:0")


def test_names_from_strangers_do_not_reach_the_terminal(opt: Opt, source: Source):
    text = LAYERS.replace('"n"', '"\\1b[31mred\\0a"').replace("@main", '@"\\1b]0;title"')
    ran = opt("-p", "vm", "--memory-report", source(text))
    assert ran.status == 0, ran.err
    assert "\x1b" not in ran.err
    assert "x1b[31mred" in ran.err

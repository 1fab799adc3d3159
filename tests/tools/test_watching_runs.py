"""`xrelay-run --sanitize`, `--profile` and `--trace`: output, files, and what excludes them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import xrelay
from xrelay.tools.run import run

ROOT = Path(__file__).parent.parent.parent
WRONG_PLAN = ROOT / "docs" / "debugging" / "wrong_plan.mlir"
PLANNED = "lower-to-bytecode,allocate-registers"
NET = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %y = relay.nn.softmax %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %there = relay.on_device %y, #relay.device<cuda:0> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = relay.exp %there : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}
"""
NOTES = [
    ":12:10: error: main[7] invoke_packed add: reads bytes 64 to 127 of a tensor float32[4, 8], "
    "which were overwritten",
    ":9:10: note: overwritten here, by main[4] invoke_packed softmax, with a tensor float32[4, 8]",
    ":7:10: note: the tensor was written here, by main[2] invoke_packed exp",
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "net.mlir").write_text(NET)
    shutil.copy(WRONG_PLAN, tmp_path / "wrong.mlir")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_wrong_plan_is_reported_at_its_lines(folder: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ["wrong.mlir", "--pipeline", PLANNED, "--random-seed", "0"]
    assert run.main(arguments) == 0
    capsys.readouterr()
    assert run.main([*arguments, "--sanitize"]) == 1
    said = capsys.readouterr().err.split("\n")
    assert [line for line in said if line.startswith("wrong.mlir")] == [
        f"wrong.mlir{note}" for note in NOTES
    ]


def test_executables_are_sanitized_too(folder: Path, capsys: pytest.CaptureFixture[str]):
    xrelay.compile("wrong.mlir", pipeline=PLANNED).save("wrong.xrx")
    assert run.main(["wrong.xrx", "--random-seed", "0", "--sanitize"]) == 1
    assert capsys.readouterr().err == "".join(f"wrong.mlir{note}\n" for note in NOTES)
    exe = xrelay.load("wrong.xrx", sanitize=True)
    with pytest.raises(xrelay.MachineError, match="which were overwritten") as caught:
        exe(np.ones((4, 8), np.float32))
    assert len(caught.value.notes) == 2
    assert "note: overwritten here" in str(caught.value)


def test_a_right_program_passes(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run.main(["net.mlir", "--random-seed", "0"]) == 0
    wanted = capsys.readouterr().out
    assert run.main(["net.mlir", "--random-seed", "0", "--sanitize"]) == 0
    assert capsys.readouterr().out == wanted


def test_a_profile_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run.main(["net.mlir", "--random-seed", "0", "--profile"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("output_0: float32[2, 3]\n")
    assert said.err.startswith("profile of 1 call of main: ")
    assert "\n  cuda:0: simulated, so times are those of the simulation\n" in said.err
    assert "\n  net.mlir:3:8 " in said.err


def test_a_profile_as_json_and_a_trace(folder: Path, capsys: pytest.CaptureFixture[str]):
    arguments = ["net.mlir", "--random-seed", "0", "--profile=json", "--trace", "trace.json"]
    assert run.main(arguments) == 0
    profile = json.loads(capsys.readouterr().err)
    assert sum(profile["parts"].values()) == profile["total"]
    assert [op["operator"] for op in profile["operators"] if "relay" in op["operator"]]
    (copy,) = profile["copies"]
    assert (copy["from"], copy["to"], copy["bytes"]) == ("cuda:0", "cpu:0", 24)
    trace = json.loads((folder / "trace.json").read_text())
    names = {event["name"] for event in trace["traceEvents"]}
    assert {"main", "relay.nn.softmax", "relay.exp", "device_copy", "allocate"} <= names


def test_executables_are_profiled(folder: Path, capsys: pytest.CaptureFixture[str]):
    xrelay.compile("net.mlir").save("net.xrx")
    assert run.main(["net.xrx", "--random-seed", "0", "--profile", "--trace", "t.json"]) == 0
    assert "\n  net.mlir:3:8 " in capsys.readouterr().err
    exe = xrelay.load("net.xrx")
    assert isinstance(exe, xrelay.Executable)
    with exe.profile() as profile:
        exe(np.ones((2, 3), np.float32))
    profile.save_trace(folder / "api.json")
    assert (folder / "api.json").exists()
    assert "relay.nn.softmax" in str(profile)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--profile", "--evaluate"], "--profile watches the machine, but --evaluate does not"),
        (["--trace", "t", "--evaluate"], "--trace watches the machine, but --evaluate does not"),
        (["--sanitize", "--evaluate"], "--sanitize watches the machine, but --evaluate does not"),
        (["--profile", "--sanitize"], "--profile measures kernels, but --sanitize runs other code"),
        (["--trace", "t", "--sanitize"], "--trace measures kernels, but --sanitize runs"),
        (["--profile=xml"], "argument --profile: invalid choice: 'xml'"),
    ],
)
def test_what_excludes_them(
    arguments: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
):
    assert run.main(["net.mlir", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_trace_that_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run.main(["net.mlir", "--random-seed", "0", "--trace", "no/trace.json"]) == 1
    assert "error: cannot write 'no/trace.json': No such file" in capsys.readouterr().err

"""`xrelay-run` on programs that exceed limits, never end, or read unwritten memory."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from helpers.programs.compiled_files import compile_file

from xrelay.runtime.errors import MachineError
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.machine.machine import Machine
from xrelay.tools.array_files import NpzFile
from xrelay.tools.opt import opt
from xrelay.tools.run import run

FAULTS = Path(__file__).parents[1] / "data" / "faults"
STACK = "the stack of "
SEED = ("--random-seed", "0")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with the programs."""
    for file in FAULTS.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "layers.mlir").write_text(LAYERS)
    np.savez(tmp_path / "many.npz", n=np.int32(10**9))
    monkeypatch.chdir(tmp_path)
    return tmp_path


LAYERS = """func.func @main(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %0 = relay.nn.softmax %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = relay.nn.softmax %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = relay.nn.dense %1, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
  %3 = relay.nn.relu %2 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  func.return %3 : tensor<2x4xf32>
}
"""


@pytest.mark.parametrize(
    ("argv", "place", "message"),
    [
        (["uninit.mlir"], "uninit.mlir:5:3", "main[2] ret: reads unwritten bytes"),
        (["recurse.mlir"], "recurse.mlir:3:2", f"main[0] invoke: {STACK}"),
        (["goto.mlir"], "goto.mlir:3:2", "main[0] goto: exceeded the limit of 5000 instructions"),
        (["rec.relay", "--inputs", "many.npz"], "rec.relay:2:69", f"count[...] invoke: {STACK}"),
        (["rec.relay", "--inputs", "many.npz", "--evaluate"], "rec.relay:2:34", STACK),
        (
            ["hugeconst2.mlir"],
            "hugeconst2.mlir:2:7",
            "main[0] load_const: a constant float32[",
        ),
        (["hugeshape.mlir"], "hugeshape.mlir", "drawing 'x', float32[1000000000, 1000000000], "),
        (["hugeshape.mlir", "--evaluate"], "hugeshape.mlir", "drawing 'x', float32[1000000000, "),
        (
            ["full.relay", "--evaluate"],
            "full.relay:2:15",
            "relay.full is out of memory: a result",
        ),
    ],
)
def test_too_much(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], place: str, message: str
):
    (folder / "full.relay").write_text(
        '#[version = "0.0.5"]\ndef @main() { full(1f, shape=[600000000], dtype="float32") }\n'
    )
    limits = ["--memory-limit", "8M"]
    if argv[0] == "goto.mlir":
        limits += ["--max-instructions", "5000"]
    assert run.main([*argv, *SEED, *limits]) == 1
    said = capsys.readouterr().err
    start = re.escape(f"{place}: error: {message}").replace(re.escape("[...]"), r"\[\d+\]")
    assert re.match(start, said)
    assert ("(--memory-limit)" in said) == (argv[0] not in ("goto.mlir", "uninit.mlir"))
    line = place.removeprefix(argv[0]).strip(":")
    if line:  # quoted, with a caret
        assert said.splitlines()[1] == (folder / argv[0]).read_text().splitlines()[int(line[0]) - 1]


@pytest.mark.parametrize("options", [[], ["--evaluate"]], ids=["machine", "evaluate"])
def test_an_array_that_does_not_fit_is_not_inflated(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
):
    """A file of 16 KiB claims 16 MiB; what fits is read."""
    x, w = np.zeros((2, 3), np.float32), np.zeros((4, 3), np.float32)
    np.savez_compressed("fits.npz", x=x, w=w)
    np.savez_compressed("large.npz", n=np.zeros(1 << 22, np.float32))
    assert Path("large.npz").stat().st_size < 1 << 15
    (folder / "open.relay").write_text(
        '#[version = "0.0.5"]\ndef @main(%n: Tensor[(?), float32]) { nn.relu(%n) }\n'
    )
    assert run.main(["layers.mlir", "--inputs", "fits.npz", "--memory-limit", "1M", *options]) == 0

    def inflate(*_: object) -> None:
        raise AssertionError("the array is read")

    capsys.readouterr()
    monkeypatch.setattr(NpzFile, "read", inflate)
    assert run.main(["open.relay", "--inputs", "large.npz", "--memory-limit", "1M", *options]) == 1
    assert capsys.readouterr().err == (
        "large.npz: error: member 'n', float32[4194304], needs 16777216 bytes, but 0 are in use "
        "and the memory limit is 1000000 (--memory-limit)\n"
    )
    np.savez_compressed("large.npz", output_0=np.zeros(1 << 22, np.float32))
    assert run.main(["layers.mlir", *SEED, "--expect", "large.npz", *options]) == 1
    assert capsys.readouterr().err.endswith(
        "output_0: is float32[2, 4], but float32[4194304] is expected\n"
    )


def test_the_evaluator_counts_ops(folder: Path, capsys: pytest.CaptureFixture[str]):
    argv = ["rec.relay", "--evaluate", "--inputs", "many.npz", "--max-instructions", "40"]
    assert run.main(argv) == 1
    said = capsys.readouterr().err
    assert said.startswith("rec.relay:2:")
    assert "error: more than 40 ops were evaluated (--max-instructions)" in said


def test_a_tuple_is_the_same_outputs_in_both(folder: Path, capsys: pytest.CaptureFixture[str]):
    shown: list[str] = []
    for options in ([], ["--evaluate"]):
        assert run.main(["tup.relay", *SEED, *options, "--outputs", "out.npz"]) == 0
        shown.append(capsys.readouterr().out)
        with np.load("out.npz") as written:
            assert {name: written[name].dtype.name for name in written.files} == {
                "output_0": "int32",
                "output_1": "int64",
            }
    assert shown[0] == shown[1]


def test_a_huge_splat_is_printed_as_it_is_written(folder: Path, capsys: pytest.CaptureFixture[str]):
    huge = "dense<1.000000e+00> : tensor<1000000000x1000000000xf32>"
    hexadecimal = 'dense<"0x0000803F"> : tensor<1000000000x1000000000xf32>'
    for written in (huge, hexadecimal):
        (folder / "huge.mlir").write_text(f'"test.op"() {{value = {written}}} : () -> ()')
        assert opt.main(["huge.mlir", "--allow-unregistered-dialect"]) == 0
        assert huge in capsys.readouterr().out


@pytest.mark.parametrize(
    "where", ["tools.api.loaded.verify", "passes.infer_types.InferTypesPass.change"]
)
def test_no_memory_is_no_internal_error(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, where: str
):
    def fail(*_: object) -> None:
        raise MemoryError("unable to allocate 6 EiB")

    monkeypatch.setattr(f"xrelay.{where}", fail)
    file = "uninit.mlir" if where.startswith("tools") else "layers.mlir"
    assert run.main([file, *SEED]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{file}: error: ")
    assert said.endswith("there is not enough memory for this program\n")


@pytest.mark.parametrize(
    ("op", "count", "place"),
    [
        ("relay.nn.softmax", 1, (2, 8)),
        ("relay.nn.softmax", 2, (3, 8)),
        ("relay.nn.relu", 1, (5, 8)),
    ],
)
def test_an_error_of_a_kernel_has_the_place_of_its_operator(
    folder: Path, op: str, count: int, place: tuple[int, int]
):
    """The softmaxes share one kernel, which has no location; the relu is a step of a larger one."""
    bound: list[int] = []

    def bind(*_: object) -> Callable[[], None]:
        bound.append(len(bound) + 1)
        number = bound[-1]

        def compute() -> None:
            if number == count:
                raise ValueError("broken")

        return compute

    program = compile_file("layers.mlir").program
    machine = Machine(program, kernels={**KERNELS, op: bind})
    with pytest.raises(MachineError, match="ValueError: broken") as caught:
        machine.run("main", np.ones((2, 3), np.float32), np.ones((4, 3), np.float32))
    assert caught.value.location == ("layers.mlir", *place)


def test_a_fault_of_bytecode_has_its_line(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert opt.main(["layers.mlir", "-p", "vm", "-o", "code.mlir"]) == 0
    text = Path("code.mlir").read_text()
    Path("code.mlir").write_text(text.replace('"relay.nn.relu"', '"my.relu"'))
    assert run.main(["code.mlir", *SEED]) == 1
    said = capsys.readouterr().err
    line = next(i for i, line in enumerate(text.splitlines(), 1) if '"relay.nn.relu"' in line)
    assert said.startswith(f"code.mlir:{line}:5: error: main[")
    assert "my.relu has no kernel" in said

"""The command `xrelay-run`: its output, its files and its errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.onnx.onnx_models import light_network, onnxruntime_results
from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

from xrelay.tools.opt import opt
from xrelay.tools.run import run

MLP = """
builtin.module attributes {relay.params = "w.safetensors"} {
  func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>)
      -> (tensor<2x4xf32> {relay.name = "sum"}, tensor<4x2xf32>) {
    %w = relay.param "w" : tensor<4x3xf32>
    %0 = relay.nn.dense %x, %w : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
    %1 = relay.nn.relu %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %2 = relay.add %1, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    %3 = relay.transpose %2 : (tensor<2x4xf32>) -> tensor<4x2xf32>
    func.return %2, %3 : tensor<2x4xf32>, tensor<4x2xf32>
  }
  func.func @twice(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = relay.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    func.return %0 : tensor<2xf32>
  }
}
"""
X = np.array([[1, 2, 3], [-1, 0, 1]], np.float32)
Y = np.ones((2, 4), np.float32)
W = np.arange(12, dtype=np.float32).reshape(4, 3) - 5


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a program, its weights and its inputs."""
    (tmp_path / "mlp.mlir").write_text(MLP)
    save_file({"w": W, "unused": X}, tmp_path / "w.safetensors")
    np.savez(tmp_path / "in.npz", x=X, y=Y)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def error(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """Run a command line that must fail; return its stderr."""
    status = run.main(list(argv))
    said = capsys.readouterr()
    wrong_usage = "(see xrelay-run --help)" in said.err or said.err.startswith("pipeline:")
    assert status == (2 if wrong_usage else 1)
    assert "Traceback" not in said.err
    return said.err


def test_outputs_are_shown_and_written(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run.main(["mlp.mlir", "--inputs", "in.npz", "--outputs", "out.npz"]) == 0
    assert capsys.readouterr().out == (
        "sum: float32[2, 4]\n"
        "  [1, 1, 15, 33, 3, 3, …]\n"
        "  min 1, max 33, mean 7.75\n"
        "output_1: float32[4, 2]\n"
        "  [1, 3, 1, 3, 15, 3, …]\n"
        "  min 1, max 33, mean 7.75\n"
    )
    want = np.maximum(X @ W.T, 0) + Y
    with np.load("out.npz") as written:
        np.testing.assert_array_equal(written["sum"], want)
        np.testing.assert_array_equal(written["output_1"], want.T)


def test_statistics(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run.main(["mlp.mlir", "--inputs", "in.npz", "--stats"]) == 0
    out = capsys.readouterr().out
    instructions, _, copies = out.partition("instructions: ")[2].rpartition("memory")
    assert "  alloc_storage: 2\n  alloc_tensor: 2\n  invoke_packed: 2\n" in instructions
    assert copies == (
        " of cpu:0: 2 allocations, 64 bytes, 64 bytes at the peak\ncopies between devices: 0\n"
    )


def test_any_level_runs(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run.main(["mlp.mlir", "--inputs", "in.npz"]) == 0
    figures = [line for line in capsys.readouterr().out.splitlines() if line.startswith(" ")]
    for name, pipeline in {
        "fused": "infer-types,plan-devices,fuse-ops",
        "bytecode": "vm",
    }.items():
        assert opt.main(["mlp.mlir", "-p", pipeline, "-o", f"{name}.mlir"]) == 0
        rest = "vm"
        if name == "fused":
            rest = "outline-primitives,manifest-alloc,lower-to-bytecode"
        argv = [f"{name}.mlir", "--inputs", "in.npz", "--params", "w.safetensors"]
        assert run.main([*argv, "--pipeline", rest]) == 0
        out = capsys.readouterr().out
        assert [line for line in out.splitlines() if line.startswith(" ")] == figures


def test_another_function(folder: Path, capsys: pytest.CaptureFixture[str]):
    np.savez("two.npz", x=np.array([1.5, -2], np.float32))
    assert run.main(["mlp.mlir", "--function", "twice", "--inputs", "two.npz"]) == 0
    assert (
        capsys.readouterr().out == "output_0: float32[2]\n  [3, -4]\n  min -4, max 3, mean -0.5\n"
    )


def test_a_seed_gives_the_same_numbers_each_time(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "w.safetensors").unlink()
    shown: list[str] = []
    for seed in ("1", "1", "2"):
        assert run.main(["mlp.mlir", "--random-seed", seed, "--random-weights"]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != shown[2]


def test_a_seed_leaves_what_files_give(folder: Path, capsys: pytest.CaptureFixture[str]):
    argv = ["mlp.mlir", "--inputs", "in.npz"]
    assert run.main(argv) == 0
    without = capsys.readouterr().out
    assert run.main([*argv, "--random-seed", "1"]) == 0
    assert capsys.readouterr().out == without


OPEN = """
func.func @main(%x: tensor<?x4xf32> {relay.dims = ["n", 4]},
                %y: tensor<?x?xf32> {relay.dims = ["n", ""]}) -> tensor<?x4xf32> {
  %0 = relay.add %x, %y : (tensor<?x4xf32>, tensor<?x?xf32>) -> tensor<?x4xf32>
  func.return %0 : tensor<?x4xf32>
}
"""


@pytest.mark.parametrize("mode", [[], ["--evaluate"]])
def test_dims_of_inputs_to_draw(folder: Path, capsys: pytest.CaptureFixture[str], mode: list[str]):
    (folder / "open.mlir").write_text(OPEN)
    np.savez("x.npz", x=np.zeros((5, 4), np.float32))
    argv = ["open.mlir", "--random-seed", "0", *mode]
    for dims, rows in (
        (["n=3", "y:1=4"], 3),
        (["x:0=2", "y:0=2", "y:1=1"], 2),
        (["n=0", "y:1=4"], 0),
    ):
        options = [word for dim in dims for word in ("--dim", dim)]
        assert run.main([*argv, *options]) == 0
        assert capsys.readouterr().out.startswith(f"output_0: float32[{rows}, 4]")
    assert run.main([*argv, "--inputs", "x.npz", "--dim", "y:1=4"]) == 0
    assert capsys.readouterr().out.startswith("output_0: float32[5, 4]")


@pytest.mark.parametrize("mode", [[], ["--evaluate"]])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            [],
            "cannot draw inputs of dynamic shape: the size of dim 0 (n) of 'x', dim 0 (n) of 'y', "
            "dim 1 of 'y' is unknown; give --dim n=SIZE --dim y:1=SIZE\n",
        ),
        (
            ["--dim", "n=3"],
            "cannot draw inputs of dynamic shape: the size of dim 1 of 'y' is unknown; "
            "give --dim y:1=SIZE\n",
        ),
        (["--dim", "m=3"], "main: 'm' is not an open dim; the open dims are: n, y:1"),
        (["--dim", "x:1=3"], "main: dim 1 of input 'x' is 4, and cannot be 3\n"),
        (
            ["--inputs", "x.npz", "--dim", "n=3", "--dim", "y:1=4"],
            "main: dim 0 of input 'x' is n, which is given as 3, but the shape of 'x' as [5, 4]\n",
        ),
        (
            ["--dim", "n=999999999999999999", "--dim", "y:1=1"],
            "drawing 'x', float32[999999999999999999, 4], needs ",
        ),
    ],
)
def test_dims_that_nothing_binds(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    mode: list[str],
    options: list[str],
    message: str,
):
    (folder / "open.mlir").write_text(OPEN)
    np.savez("x.npz", x=np.zeros((5, 4), np.float32))
    said = error(capsys, "open.mlir", "--random-seed", "0", *options, *mode)
    assert said.removeprefix("open.mlir: ").startswith(f"error: {message}")


@pytest.mark.parametrize("mode", [[], ["--evaluate"]])
def test_dims_of_one_name_are_equal(
    folder: Path, capsys: pytest.CaptureFixture[str], mode: list[str]
):
    (folder / "open.mlir").write_text(OPEN)
    np.savez("in.npz", x=np.zeros((1, 4), np.float32), y=np.zeros((3, 4), np.float32))
    said = error(capsys, "open.mlir", "--inputs", "in.npz", *mode)
    wanted = "main: parameter 'x' has dim 0 (n) of 1, but parameter 'y' has dim 0 (n) of 3\n"
    assert wanted in said


def test_a_failed_check_is_at_the_operator(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "open.mlir").write_text(OPEN.replace('["n", ""]', '["m", ""]'))
    np.savez("in.npz", x=np.zeros((2, 4), np.float32), y=np.zeros((3, 4), np.float32))
    said = error(capsys, "open.mlir", "--inputs", "in.npz")
    assert said.startswith("open.mlir:4:8: error: main[")
    assert "relay.add of tensor<2x4xf32> and tensor<3x4xf32>: dims 2 and 3 at axis -2" in said


def test_scalars_truth_values_and_empty_outputs(folder: Path, capsys: pytest.CaptureFixture[str]):
    (folder / "s.mlir").write_text(
        "func.func @main(%x: tensor<i64>, %c: tensor<2xi1>, %e: tensor<0x2xf32>)\n"
        "    -> (tensor<i64>, tensor<2xi1>, tensor<0x2xf32>) {\n"
        "  func.return %x, %c, %e : tensor<i64>, tensor<2xi1>, tensor<0x2xf32>\n}\n"
    )
    np.savez("s.npz", x=-3, c=[True, False], e=np.zeros((0, 2), np.float32))
    assert run.main(["s.mlir", "--inputs", "s.npz"]) == 0
    assert capsys.readouterr().out == (
        "output_0: int64[]\n  [-3]\n  min -3, max -3, mean -3\n"
        "output_1: bool[2]\n  [true, false]\n  min false, max true, mean 0.5\n"
        "output_2: float32[0, 2]\n"
    )


@pytest.mark.ci
def test_an_onnx_network(folder: Path, capsys: pytest.CaptureFixture[str]):
    network = light_network("squeezenet")
    (folder / "net.onnx").write_bytes(network.model.SerializeToString())
    feeds: dict[str, Any] = network.feeds
    np.savez("feeds.npz", **feeds)
    before = sorted(path.name for path in folder.iterdir())
    assert run.main(["net.onnx", "--inputs", "feeds.npz", "--outputs", "out.npz", "--stats"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{network.outputs[0]}: float32[1, 1000")
    assert "  invoke_packed: " in out
    with np.load("out.npz") as written:
        for name, want in zip(network.outputs, onnxruntime_results(network), strict=True):
            np.testing.assert_allclose(written[name], want, 1e-4, 1e-5)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*before, "out.npz"])


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["mlp.mlir"],
            "error: no value for inputs 'x' (float32[2, 3]), 'y' (float32[2, 4]); give "
            "--inputs, or --random-seed 0 to draw them\n",
        ),
        (
            ["mlp.mlir", "--function", "nope", "--random-seed", "1"],
            "error: unknown function 'nope'; the program has: main, twice\n",
        ),
        (["no.mlir"], "error: cannot read 'no.mlir': No such file or directory\n"),
        (
            ["mlp.mlir", "--inputs", "no.npz"],
            "no.npz: error: cannot be read: No such file or directory\n",
        ),
        (
            ["mlp.mlir", "--inputs", "mlp.mlir"],
            "mlp.mlir: error: not an .npz file, or damaged: File is not a zip file\n",
        ),
        (
            ["mlp.mlir", "--inputs", "one.npy"],
            "error: 'one.npy' has one array without a name; give NAME=one.npy\n",
        ),
        (
            ["mlp.mlir", "--inputs", "objects.npz"],
            "objects.npz: error: member 'x.npy': its elements are Python objects, which are never "
            "unpickled\n",
        ),
        (
            ["mlp.mlir", "--inputs", "extra.npz"],
            "extra.npz: error: member 'z' is not an input of main; its inputs are: x, y\n",
        ),
        (
            ["mlp.mlir", "--inputs", "wrong.npz"],
            "wrong.npz: error: member 'y' must be float32[2, 4] for main, but is float64[2, 4]\n",
        ),
        (
            ["mlp.mlir", "--inputs", "in.npz", "--params", "no.safetensors"],
            "error: cannot read 'no.safetensors': No such file",
        ),
        (
            ["mlp.mlir", "--inputs", "in.npz", "--params", "mlp.mlir"],
            "mlp.mlir: error: 'mlp.mlir' is not a safetensors file: ",
        ),
        (
            ["mlp.mlir", "--inputs", "in.npz", "--params", "other.safetensors"],
            "error: no value for weight 'w' (float32[4, 3]): other.safetensors has "
            "none; give --params, or --random-weights to draw it\n",
        ),
        (
            ["mlp.mlir", "--random-seed", "0", "--params", "other.safetensors"],
            "error: no value for weight 'w' (float32[4, 3]): other.safetensors has "
            "none; give --params, or --random-weights to draw it\n",
        ),
        (
            ["gone.mlir", "--random-seed", "0"],
            "error: no value for weight 'w' (float32[4, 3]): its file "
            "'gone.safetensors' does not exist; give --params, or --random-weights to draw it\n",
        ),
        (
            ["mlp.mlir", "--random-seed", "0", "--random-weights", "--params", "no.safetensors"],
            "error: cannot read 'no.safetensors': No such file",
        ),
        (
            ["mlp.mlir", "--memory-limit", "1X"],
            "error: argument --memory-limit: must be a size such as 500M, 4G or "
            "512MiB, but is '1X' (see",
        ),
        (
            ["mlp.mlir", "--max-instructions", "few"],
            "error: argument --max-instructions: must be a non-negative integer, but is 'few' (see",
        ),
        (
            ["mlp.mlir", "--inputs", "in.npz", "--params", "small.safetensors"],
            "mlp.mlir: error: constant 'w' must be float32[4, 3], but is float32[1]\n",
        ),
        (
            ["mlp.mlir", "--inputs", "in.npz", "--outputs", "no/out.npz"],
            "error: cannot write 'no/out.npz': No such file or directory\n",
        ),
        (["syntax.mlir"], "syntax.mlir:2:"),
        (["bytes.mlir"], "bytes.mlir:1:1: error: not UTF-8: byte 0xff"),
        (["mlp.mlir", "--inputs", "in.npz", "--pipeline", "vn"], "pipeline:1:1: error: "),
        (
            ["mlp.mlir", "--inputs", "in.npz", "--pipeline", "infer-types"],
            "mlp.mlir:3:",
        ),
        (["bad.onnx"], "bad.onnx:1:1: error: "),
        (["--nonsense"], "error: "),
        (
            ["mlp.mlir", "--random-seed", "0", "--dim", "n="],
            "error: argument --dim: must be a dim and its size, like n=3 or x:0=3, "
            "but is 'n=' (see",
        ),
        (
            ["mlp.mlir", "--random-seed", "0", "--dim", f"n={10**18}"],
            "error: argument --dim: must have at most 18 digits in its size, "
            "but 'n=1000000000000000000' has more (see",
        ),
        (
            ["mlp.mlir", "--random-seed", "0", "--dim", "n=3", "--dim", "n=4"],
            "error: argument --dim: 'n' must have one value, but has 3 and 4 (see",
        ),
        (
            ["mlp.mlir", "--inputs", "in.npz", "--dim", "n=3"],
            "error: main: 'n' is not an open dim; the open dims are: none\n",
        ),
        (["mlp.mlir", "--random-seed", "-1"], "error: "),
    ],
)
def test_mistakes(folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str):
    np.save("one.npy", X)
    np.savez("objects.npz", x=np.array([None]))
    np.savez("extra.npz", x=X, z=X)
    np.savez("wrong.npz", x=X, y=np.zeros((2, 4)))
    save_file({"v": W}, "other.safetensors")
    save_file({"w": np.zeros(1, np.float32)}, "small.safetensors")
    (folder / "syntax.mlir").write_text("func.func @main() {\n  what is this\n}\n")
    (folder / "bytes.mlir").write_bytes(b"\xff")
    (folder / "gone.mlir").write_text(MLP.replace("w.safetensors", "gone.safetensors"))
    (folder / "bad.onnx").write_bytes(b"not a model")
    said = error(capsys, *argv)
    assert said.startswith(message)
    assert said.endswith("\n")


def test_a_weights_file_that_is_named_must_be_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    (folder / "w.safetensors").unlink()
    said = error(capsys, "mlp.mlir", "--inputs", "in.npz")
    assert "its file 'w.safetensors' does not exist" in said


def test_help(capsys: pytest.CaptureFixture[str]):
    assert run.main(["--help"]) == 0
    assert "--random-seed" in capsys.readouterr().out


def test_passes_are_watched(folder: Path, capsys: pytest.CaptureFixture[str]):
    argv = ["mlp.mlir", "--inputs", "in.npz", "--print-ir-tree-dir=levels", "--mlir-timing"]
    assert run.main([*argv, "-p", "vm", "--print-ir-before", "plan-devices"]) == 0
    said = capsys.readouterr().err
    assert said.count("IR Dump Before plan-devices") == 1
    assert "relay.nn.dense" in said
    assert "plan-memory" in said.partition("Execution time report")[2]
    last = max(Path("levels").iterdir())
    assert last.name.endswith("_verify-stage.mlir")
    assert "bytecode.func" in last.read_text()
    assert run.main(["mlp.mlir", "--inputs", "in.npz", "--print-ir-after", "vmm"]) == 2
    assert "unknown pass or pipeline 'vmm'" in capsys.readouterr().err


def test_the_traceback_when_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert run.main(["mlp.mlir", "--traceback"]) == 1
    said = capsys.readouterr().err
    assert "Traceback" in said
    assert said.rpartition("\nerror: ")[2].startswith("no value for inputs 'x'")


DATA = """#[version = "0.0.5"]
def @main(%x: float32) {
  let %square = fn (%x: float32) { %x * %x };
  (@map(%square, Cons(%x, Cons(2f, Nil))), @nat_double(s(z)), ref(1), %square)
}
def @iota(%n: int32) -> List[int32] {
  if (%n == 0) { Nil } else { Cons(%n, @iota(%n - 1)) }
}
def @first(%l: List[int32]) -> int32 { @hd(%l) }
"""


def test_the_reference_evaluator_needs_no_compilation(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    Path("data.relay").write_text(DATA)
    np.savez("x.npz", x=np.float32(1.5))
    assert run.main(["data.relay", "--evaluate", "--inputs", "x.npz"]) == 0
    assert capsys.readouterr().out == (
        "output_0: (Cons(2.25, Cons(4, Nil)), s(s(z)), ref(1), <function>)\n"
    )


LANGUAGE = DATA.replace(", ref(1), %square)", ")")
"""Like `DATA`, without the results that cannot leave the machine."""


def test_data_is_the_same_in_both(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("data.relay").write_text(LANGUAGE)
    np.savez("x.npz", x=np.float32(1.5))
    for options in ([], ["--evaluate"]):
        assert run.main(["data.relay", "--inputs", "x.npz", *options]) == 0
        assert capsys.readouterr().out == "output_0: (Cons(2.25, Cons(4, Nil)), s(s(z)))\n"


def test_data_of_a_type_that_contains_itself_at_larger_arguments(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    """The type of the innermost list has 2^40 parts."""
    Path("nest.relay").write_text(
        '#[version = "0.0.5"]\n'
        "type Nest[A] { Flat(List[A]), Deep(Nest[(A, A)]) }\n"
        "def @deepen[A](%n: int32) -> Nest[A] {\n"
        "  if (%n == 0) { Flat(Nil) } else { Deep(@deepen(%n - 1)) }\n"
        "}\n"
        "def @main(%n: int32) -> Nest[int32] { @deepen(%n) }\n"
    )
    np.savez("n.npz", n=np.int32(40))
    for options in ([], ["--evaluate"]):
        assert run.main(["nest.relay", "--inputs", "n.npz", *options]) == 0
        out = capsys.readouterr().out
        assert out == f"output_0: {'Deep(' * 40}Flat(Nil){')' * 40}\n"


@pytest.mark.parametrize(
    ("result", "what", "cure"),
    [
        ("ref(%x)", "reference", "return what it refers to"),
        ("%f", "closure", "return what it computes"),
    ],
)
def test_results_that_cannot_leave_the_machine(
    folder: Path, capsys: pytest.CaptureFixture[str], result: str, what: str, cure: str
):
    Path("data.relay").write_text(
        f'#[version = "0.0.5"]\ndef @main(%x: float32) {{ let %f = fn (%y: float32) {{ %x }};'
        f" (%x, {result}) }}"
    )
    message = f"the result contains a {what}, which cannot leave the machine: {cure}"
    said = error(capsys, "data.relay", "--random-seed", "0")
    assert said.startswith(f"data.relay:2:60: error: {message}\ndef @main(%x: float32) {{ let")


def test_data_cannot_be_drawn(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("data.relay").write_text(LANGUAGE)
    argv = ["data.relay", "--function", "first", "--random-seed", "0"]
    assert "'l': it is not a tensor" in error(capsys, *argv)


def test_a_match_that_no_case_fits(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("data.relay").write_text(
        '#[version = "0.0.5"]\ndef @main(%x: float32) {\n  @hd(@tl(Cons(%x, Nil)))\n}'
    )
    for options, message in (
        ([], "] fatal: no clause of a match applies"),
        (["--evaluate"], "no case of this match fits the value"),
    ):
        assert message in error(capsys, "data.relay", "--random-seed", "0", *options)


def test_evaluation_is_what_the_machine_computes(folder: Path, capsys: pytest.CaptureFixture[str]):
    shown: list[str] = []
    for options in ([], ["--evaluate"], ["--evaluate", "--pipeline", "infer-types,plan-devices"]):
        assert run.main(["mlp.mlir", "--inputs", "in.npz", *options]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0].startswith("sum: float32[2, 4]")
    assert shown[1:] == shown[:1] * 2


def test_a_deep_value_is_cut(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("data.relay").write_text(DATA)
    np.savez("n.npz", n=np.int32(3_000))
    assert run.main(["data.relay", "--evaluate", "--function", "iota", "--inputs", "n.npz"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("output_0: Cons(3000, Cons(2999, ")
    assert out.endswith("…\n")
    assert len(out) < 2_000


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--stats"], "--stats counts what the machine does"),
        (["--random-seed", "0", "--outputs", "o.npz"], "'output_0' is not a tensor"),
        (["--inputs", "bad.npz"], "member 'x' must be float32[] for main, but is int64[]"),
        (["--function", "first", "--random-seed", "0"], "'l': it is not a tensor"),
        (["--function", "none"], "unknown function 'none'; the program has: "),
    ],
)
def test_wrong_calls_of_the_evaluator(
    folder: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str
):
    Path("data.relay").write_text(DATA)
    np.savez("bad.npz", x=np.int64(1))
    assert message in error(capsys, "data.relay", "--evaluate", *argv)


def test_other_functions_compute_in_the_memory_of_the_one_that_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    program = tmp_path / "calls.mlir"
    program.write_text("""
func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = relay.nn.dense %x, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relay.nn.dense %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = func.call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = relay.nn.dense %0, %x : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %1 : tensor<4x4xf32>
}
""")
    printed: list[str] = []
    for pipeline in ([], ["--pipeline", "vm"]):
        assert run.main([str(program), "--random-seed", "0", "--stats", *pipeline]) == 0
        printed.append(capsys.readouterr().out)
    assert "memory of cpu:0: 2 allocations, " in printed[0]  # an arena, and the result
    assert "memory of cpu:0: 3 allocations, " in printed[1]  # `f` may be called from outside
    assert run.main([str(program), "--random-seed", "0", "--function", "f"]) == 0
    assert "unknown function 'g'; the program has: f, main" in error(
        capsys, str(program), "--random-seed", "0", "--function", "g"
    )

"""`xrelay-run` on Relay programs: text, modules saved as JSON, unknown operators."""

from pathlib import Path

import numpy as np
import pytest

from xrelay.tools.opt import opt
from xrelay.tools.run import run

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = Path(__file__).parent.parent / "data" / "relay_text"
OPAQUE = """#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32]) {
  nn.fancy(%x, depth=3) /* ty=Tensor[(2), float32] */
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with a program in all forms and its input."""
    monkeypatch.chdir(tmp_path)
    for name in ("meta_small.relay", "meta_small.json"):
        Path(name).write_bytes((DATA / name).read_bytes())
    np.savez("in.npz", x=np.arange(12, dtype=np.float32).reshape(3, 4))
    return tmp_path


def outputs(*argv: str) -> np.ndarray:
    """The one output of a command line that must succeed."""
    assert run.main([*argv, "--inputs", "in.npz", "--outputs", "out.npz"]) == 0
    (array,) = np.load("out.npz").values()
    return array


def test_text_and_json_are_the_same_program(folder: Path):
    expected = outputs("meta_small.relay")
    assert expected.shape == (3, 5)
    np.testing.assert_array_equal(outputs("meta_small.json"), expected)
    np.testing.assert_array_equal(outputs("meta_small.json", "--evaluate"), expected)


def test_an_lstm_of_given_dims_is_the_same_evaluated(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    dims = ["xs:0=5", "xs:1=2", "h:0=2", "c:0=2"]
    argv = [str(EXAMPLES / "lstm.relay"), "--random-seed", "0", "--outputs", "out.npz"]
    found: list[list[np.ndarray]] = []
    for mode in ([], ["--evaluate"]):
        assert run.main([*argv, *(f"--dim={dim}" for dim in dims), *mode]) == 0
        with np.load("out.npz") as written:
            found.append(list(written.values()))
    assert [array.shape for array in found[0]] == [(5, 2, 4), (2, 4), (2, 4)]
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found[0][0][-1], found[0][1])  # the last step


def test_the_flag_says_what_the_extension_does_not(folder: Path):
    expected = outputs("meta_small.relay")
    for name, frontend in (("meta_small.relay", "relay"), ("meta_small.json", "relay-json")):
        other = Path(name).rename(f"{frontend}.txt")
        np.testing.assert_array_equal(outputs(str(other), "-f", frontend), expected)


def test_xrelay_opt_knows_the_extension(folder: Path, capsys: pytest.CaptureFixture[str]):
    assert opt.main(["meta_small.json"]) == 0
    json = capsys.readouterr().out
    assert opt.main(["meta_small.json", "-f", "relay-json"]) == 0
    assert capsys.readouterr().out == json


def test_a_mistake_in_json_is_named_by_its_node(folder: Path, capsys: pytest.CaptureFixture[str]):
    text = Path("meta_small.json").read_text()
    Path("bad.json").write_text(text.replace('"nn.dense"', '"nn.dens"'))
    assert run.main(["bad.json", "--random-seed", "0"]) == 1
    error = capsys.readouterr().err
    assert error.startswith("bad.json:")
    assert "unknown operator or constructor nn.dens; did you mean 'nn.dense'" in error
    assert "Traceback" not in error


@pytest.mark.parametrize("options", [[], ["--evaluate"]])
def test_an_operator_without_a_kernel_is_named_with_the_cure(
    folder: Path, capsys: pytest.CaptureFixture[str], options: list[str]
):
    Path("opaque.relay").write_text(OPAQUE)
    np.savez("in.npz", x=np.zeros(2, np.float32))
    argv = ["opaque.relay", "--inputs", "in.npz", *options]
    assert run.main(argv) == 1
    assert "3:3: error: unknown operator or constructor nn.fancy" in capsys.readouterr().err
    assert run.main([*argv, "--allow-unregistered-dialect"]) == 1
    error = capsys.readouterr().err
    assert (
        "nn.fancy has no kernel; install a package that provides one through the entry-point "
        "group 'xrelay.kernels'"
    ) in error
    assert "internal error" not in error

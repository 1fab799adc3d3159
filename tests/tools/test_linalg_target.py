"""The target `linalg`: weights in the text, as arguments, or outside; its errors."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.native.linalg_programs import call, library_of
from onnx import TensorProto, helper, numpy_helper

from xrelay.lowering.native.toolchain.processes import run
from xrelay.lowering.native.toolchain.tool_paths import tool
from xrelay.runtime.weights.tensor_file import TensorFile, write_tensors

Opt = Callable[..., Any]

EXAMPLES = Path(__file__).parent.parent.parent / "examples"

TEXT = """
builtin.module attributes {relay.params = "weights.safetensors"} {
  func.func @main(%x: tensor<300xf32>) -> (tensor<300xf32>, tensor<300xui8>) {
    %w = relay.param "layer/w" : tensor<300xf32>
    %b = relay.param "b" : tensor<300xf32>
    %n = relay.param "n" : tensor<300xui8>
    %0 = relay.multiply %x, %w : (tensor<300xf32>, tensor<300xf32>) -> tensor<300xf32>
    %1 = relay.add %0, %b : (tensor<300xf32>, tensor<300xf32>) -> tensor<300xf32>
    func.return %1, %n : tensor<300xf32>, tensor<300xui8>
  }
}
"""
RESULTS = [("float32", 1), ("uint8", 1)]


@pytest.fixture
def weights(tmp_path: Path) -> dict[str, Any]:
    """The weights of `TEXT`, in its file."""
    random = np.random.default_rng(0)
    made = {
        "b": random.standard_normal(300, dtype=np.float32),
        "n": random.integers(0, 256, 300, dtype=np.uint8),
        "layer/w": random.standard_normal(300, dtype=np.float32),
    }
    write_tensors(tmp_path / "weights.safetensors", made)
    return made


def read_by_mlir(text: str) -> None:
    """Let `mlir-opt` read and verify `text`."""
    run("mlir-opt", [tool("mlir-opt")], text.encode())


def test_embedded_weights_are_what_mlir_computes_with(
    opt: Opt, source: Callable[[str], Path], weights: dict[str, Any], tmp_path: Path
):
    out = tmp_path / "out.mlir"
    ran = opt(source(TEXT), "-t", "linalg", "-o", out)
    assert (ran.status, ran.err) == (0, "")
    text = out.read_text().replace(" {\n    %", " attributes {llvm.emit_c_interface} {\n    %", 1)
    x = np.random.default_rng(1).standard_normal(300, dtype=np.float32)
    y, n = call(library_of(text, tmp_path), "main", [x], RESULTS)
    np.testing.assert_allclose(y, x * weights["layer/w"] + weights["b"], rtol=1e-6)
    np.testing.assert_array_equal(n, weights["n"])


def test_weights_of_a_model_are_in_the_file_that_the_text_names(opt: Opt, tmp_path: Path):
    w = np.arange(1024, dtype=np.float32)
    shape = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1024]) for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        *("g", shape[:1], shape[1:], [numpy_helper.from_array(w, "w")]),
    )
    opset = helper.make_opsetid("", 13)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    out = tmp_path / "out.mlir"
    ran = opt(tmp_path / "m.onnx", "-t", "linalg{weights=arguments}", "-o", out)
    assert (ran.status, "the weights are in" in ran.err) == (0, True)
    assert 'relay.params = "out.safetensors"' in out.read_text()
    np.testing.assert_array_equal(TensorFile(tmp_path / "out.safetensors").array("w"), w)


def test_weights_as_arguments(
    opt: Opt, source: Callable[[str], Path], weights: dict[str, Any], tmp_path: Path
):
    ran = opt(source(TEXT), "-t", "linalg{weights=arguments}")
    assert (ran.status, ran.err) == (0, "")
    assert re.findall(r'relay.name = "(.*?)"', ran.out) == ["layer/w", "b", "n"]
    assert 'relay.params = "weights.safetensors"' in ran.out
    text = ran.out.replace(" {\n    %", " attributes {llvm.emit_c_interface} {\n    %", 1)
    x = np.ones(300, np.float32)
    inputs = [x, *(weights[name] for name in ("layer/w", "b", "n"))]
    y, n = call(library_of(text, tmp_path), "main", inputs, RESULTS)
    np.testing.assert_allclose(y, weights["layer/w"] + weights["b"], rtol=1e-6)
    np.testing.assert_array_equal(n, weights["n"])


@pytest.mark.parametrize("options", [[], ["--params", "some.safetensors"]], ids=["none", "some"])
def test_missing_weights_are_drawn_at_random(
    opt: Opt, source: Callable[[str], Path], options: list[str], tmp_path: Path
):
    w = np.ones(300, np.float32)
    write_tensors(tmp_path / "some.safetensors", {"layer/w": w})
    options = [str(tmp_path / o) if o.endswith(".safetensors") else o for o in options]
    program = source(TEXT.replace("weights.safetensors", "nowhere.safetensors"))
    ran = opt(program, "-t", "linalg", "--random-weights", *options)
    missing = "the weight 'b' and 1 more" if options else "the weight 'layer/w' and 2 more"
    assert (ran.status, ran.err) == (0, f"xrelay-opt: {missing} are random, with seed 0\n")
    read_by_mlir(ran.out)
    assert (f'"0x40000000{w.tobytes().hex().upper()}"' in ran.out) == bool(options)
    values = re.findall(r': "0x40000000([0-9A-F]+)"', ran.out)
    assert [len(value) for value in values] == [2400, 2400, 600]
    assert len({*values}) == 3


EXPORTED = [p for p in sorted(EXAMPLES.iterdir()) if p.suffix in (".mlir", ".relay")]
EXPORTED.remove(EXAMPLES / "lists.relay")  # which has data, as examples/README.md says


@pytest.mark.parametrize("path", EXPORTED, ids=lambda path: path.name)
def test_examples_are_exported(opt: Opt, path: Path, tmp_path: Path):
    out = tmp_path / "out.mlir"
    ran = opt(path, "-t", "linalg", "--random-weights", "-o", out)
    assert ran.status == 0, ran.err
    read_by_mlir(out.read_text())


def test_weights_outside(opt: Opt, source: Callable[[str], Path]):
    ran = opt(source(TEXT), "-t", "linalg{weights=external}")
    assert (ran.status, ran.err) == (0, "")
    assert 'dense_resource<"layer/w"> : tensor<300xf32>' in ran.out
    assert "dense_resource<b> : tensor<300xf32>" in ran.out
    assert "{-#" not in ran.out
    read_by_mlir(ran.out)


def test_other_compilers_read_long_constants(opt: Opt, source: Callable[[str], Path]):
    rows = ", ".join(
        f"[{', '.join('true' if i % 3 else 'false' for i in range(n, n + 150))}]" for n in (0, 1)
    )
    ran = opt(
        source(f"""
        func.func @main() -> tensor<2x150xi1> {{
          %0 = relay.constant dense<[{rows}]> : tensor<2x150xi1>
          func.return %0 : tensor<2x150xi1>
        }}
        """),
        "-t",
        "linalg",
    )
    assert (ran.status, ran.err) == (0, "")
    assert f"dense<[{rows}]>" in ran.out
    read_by_mlir(ran.out)


def test_a_program_whose_weights_are_nowhere(opt: Opt, source: Callable[[str], Path]):
    ran = opt(source(TEXT), "-t", "linalg")
    assert (ran.status, ran.out) == (1, "")
    assert "cannot read" in ran.err
    assert "weights.safetensors" in ran.err
    assert "-t linalg{weights=arguments}" in ran.err
    ran = opt(source(TEXT.replace('{relay.params = "weights.safetensors"}', "{}")), "-t", "linalg")
    assert ran.status == 1
    assert "the program's weights are in no file (relay.params): --params names one" in ran.err


def test_weights_that_do_not_fit(
    opt: Opt, source: Callable[[str], Path], weights: dict[str, Any], tmp_path: Path
):
    write_tensors(tmp_path / "weights.safetensors", {**weights, "b": np.ones(2, np.float32)})
    ran = opt(source(TEXT), "-t", "linalg", "-o", tmp_path / "out.mlir")
    assert ran.status == 1
    assert "in.mlir:5:" in ran.err
    assert "weight 'b' is tensor<300xf32>, but in" in ran.err
    assert "it is 2xfloat32" in ran.err
    assert not (tmp_path / "out.mlir").exists()
    del weights["b"]
    write_tensors(tmp_path / "weights.safetensors", weights)
    ran = opt(source(TEXT), "-t", "linalg")
    assert "weight 'b' is missing in" in ran.err


def test_unknown_choice_of_weights(opt: Opt, source: Callable[[str], Path]):
    ran = opt(source(TEXT), "-t", "linalg{weights=inside}")
    assert (ran.status, ran.out) == (2, "")
    assert 'must be one of embedded, arguments, external, but is "inside"' in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.ci
def test_other_compilers_read_all_examples(opt: Opt):
    texts: list[str] = []
    for path in sorted(EXAMPLES.glob("*.mlir")) + sorted(EXAMPLES.glob("*.relay")):
        ran = opt(path, "-t", "linalg{weights=external}")
        if path.name == "lists.relay":
            assert ran.status == 1
            assert "lists.relay:6:5: error: a value of type !relay.adt<@List" in ran.err
            assert "xrelay-run can run the program" in ran.err
        else:
            assert (ran.status, ran.err) == (0, ""), path.name
            texts.append(ran.out)
    run("mlir-opt", [tool("mlir-opt"), "--split-input-file"], "\n// -----\n".join(texts).encode())

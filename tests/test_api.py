"""`import xrelay`: compiling, calling, and errors."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from helpers.onnx.onnx_models import run_onnxruntime
from numpy.typing import NDArray

import xrelay
from xrelay.tools import objdump

EXAMPLES = Path(__file__).parent.parent / "examples"
DENSE = """func.func @main(%x: tensor<?x3xf32> {relay.dims = ["n", 3]}, %w: tensor<4x3xf32>)
    -> tensor<?x4xf32> {
  %y = relay.nn.dense %x, %w : (tensor<?x3xf32>, tensor<4x3xf32>) -> tensor<?x4xf32>
  func.return %y : tensor<?x4xf32>
}
func.func @both(%a: tensor<2xf32>, %k: tensor<i32>) -> (tensor<2xf32>, tensor<i32>) {
  %n = relay.negative %a : (tensor<2xf32>) -> tensor<2xf32>
  %j = relay.add %k, %k : (tensor<i32>, tensor<i32>) -> tensor<i32>
  func.return %n, %j : tensor<2xf32>, tensor<i32>
}
"""


def drawn(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


@pytest.fixture(scope="module")
def exe(tmp_path_factory: pytest.TempPathFactory) -> xrelay.Executable:
    path = tmp_path_factory.mktemp("api") / "dense.mlir"
    path.write_text(DENSE)
    return xrelay.compile(path)


X, W = drawn(5, 3), drawn(4, 3, seed=1)
Y = X @ W.T


@pytest.mark.ci
def test_importing_is_light():
    code = """
import sys, xrelay
assert not {"numpy", "xdsl", "safetensors", "onnx"} & set(sys.modules)
assert "compile" in dir(xrelay) and "Executable" in dir(xrelay)
xrelay.Executable
assert "numpy" in sys.modules and "xdsl" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_calls_by_position_and_name(exe: xrelay.Executable):
    for y in (exe(X, W), exe(w=W, x=X), exe.main(X, w=W), exe["main"](X, W)):
        np.testing.assert_allclose(y, Y, rtol=1e-5, atol=1e-6)
    assert list(exe.functions) == ["main", "both"]


def test_several_results_are_a_tuple(exe: xrelay.Executable):
    a, k = exe.both(np.array([1, 2], np.float32), 3)
    np.testing.assert_array_equal(a, np.array([-1, -2], np.float32))
    np.testing.assert_array_equal(k, np.int32(6), strict=True)


class OnlyDlpack:
    """An array of another library, which NumPy can read through DLPack alone."""

    def __init__(self, array: NDArray[np.float32]) -> None:
        self.array = array

    def __dlpack__(self, **options: object) -> object:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class OnAnotherDevice(OnlyDlpack):
    def __dlpack__(self, **options: object) -> object:
        raise BufferError("it is on cuda:0")


def test_arrays_of_other_libraries(exe: xrelay.Executable):
    np.testing.assert_allclose(exe(OnlyDlpack(X), w=OnlyDlpack(W)), Y, rtol=1e-5, atol=1e-6)
    with pytest.raises(xrelay.MachineError, match=r"parameter 'x' of main: .*it is on cuda:0"):
        exe(OnAnotherDevice(X), W)


def test_results_are_the_callers(exe: xrelay.Executable):
    first = exe(X, W)
    kept = first.copy()
    exe(X + 1, W)
    np.testing.assert_array_equal(first, kept)
    first[:] = 0
    np.testing.assert_allclose(exe(X, W), Y, rtol=1e-5, atol=1e-6)


# ------------------------------------------------------------------ out=


def test_results_in_memory_of_the_caller(exe: xrelay.Executable):
    out = np.empty((5, 4), np.float32)
    assert exe(X, W, out=out) is out
    np.testing.assert_array_equal(out, exe(X, W))
    strided = np.zeros((10, 8), np.float32)[::2, ::-2]
    assert exe(X, w=W, out=strided) is strided
    np.testing.assert_array_equal(strided, out)
    a, k = np.empty(2, np.float32), np.empty((), np.int32)
    exe.both(np.array([1, 2], np.float32), 3, out=(a, k))
    assert (a.tolist(), k.item()) == ([-1.0, -2.0], 6)


def test_out_may_be_an_argument(exe: xrelay.Executable):
    a = np.array([1, 2], np.float32)
    exe.both(a, 3, out=(a, np.empty((), np.int32)))
    assert a.tolist() == [-1.0, -2.0]


def read_only(shape: tuple[int, ...]) -> NDArray[np.float32]:
    array = np.empty(shape, np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((5, 3), np.float32), r"must be float32\[5, 4\], but is float32\[5, 3\]"),
        (np.empty((5, 4), np.float64), r"must be float32\[5, 4\], but is float64\[5, 4\]"),
        (read_only((5, 4)), "is read-only"),
        ([[0.0]], "must be an array, but is list"),
        (
            np.lib.stride_tricks.as_strided(np.empty(4, np.float32), (5, 4), (0, 4)),
            "elements overlap",
        ),
    ],
)
def test_wrong_out(exe: xrelay.Executable, out: object, message: str):
    with pytest.raises(xrelay.MachineError, match=f"out .*{message}"):
        exe(X, W, out=out)


def test_wrong_out_of_several_results(exe: xrelay.Executable):
    a, whole = np.array([1, 2], np.float32), np.zeros(3, np.float32)
    with pytest.raises(xrelay.MachineError, match="out must be a tuple of 2"):
        exe.both(a, 3, out=np.empty(2, np.float32))
    with pytest.raises(xrelay.MachineError, match="out must be a tuple of 2"):
        exe.both(a, 3, out=(whole[:2],))
    with pytest.raises(xrelay.MachineError, match="arrays that overlap"):
        exe.both(a, 3, out=(whole[:2], whole[1:2].view(np.int32).reshape(())))
    with pytest.raises(xrelay.MachineError, match=r"out\[1\] must be int32"):
        exe.both(a, 3, out=(whole[:2], np.empty((), np.int64)))
    assert not whole.any()  # nothing is written unless all fit


# ------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("args", "named", "message"),
    [
        ((X,), {}, "main needs a value for parameter 'w'"),
        ((), {}, "main needs a value for parameters 'x', 'w'"),
        ((X, W, W), {}, "main expects 2 arguments, but got 3; its parameters are: x, w"),
        ((X, W), {"x": X}, "parameter 'x' of main is given twice"),
        ((X,), {"weight": W}, "main has no parameter 'weight'; its parameters are: x, w"),
        ((X, W.astype(np.float64)), {}, "parameter 'w' of main must be float32[4, 3], but is flo"),
        ((X, None), {}, "parameter 'w' of main must be float32[4, 3], but is object[]"),
        ((X, 1.0), {}, "parameter 'w' of main must be float32[4, 3], but is the number 1.0"),
        ((X, (W, W)), {}, "parameter 'w' of main must be float32[4, 3], but is "),
    ],
)
def test_wrong_arguments(
    exe: xrelay.Executable, args: tuple[object, ...], named: dict[str, object], message: str
):
    with pytest.raises(xrelay.MachineError) as caught:
        exe(*args, **named)
    assert str(caught.value).startswith(message)
    np.testing.assert_allclose(exe(X, W), Y, rtol=1e-5, atol=1e-6)  # it is usable afterwards


@pytest.mark.parametrize("number", [1.5, True, 2**31, "1"])
def test_wrong_numbers(exe: xrelay.Executable, number: object):
    with pytest.raises(xrelay.MachineError, match=r"parameter 'k' of both must be int32\[\], but"):
        exe.both(np.zeros(2, np.float32), number)


def test_unknown_functions(exe: xrelay.Executable):
    with pytest.raises(KeyError, match="no function f; its functions are: main, both") as caught:
        exe["f"]
    assert isinstance(caught.value, xrelay.MachineError)
    with pytest.raises(AttributeError, match="function 'f'; its functions are: main, both"):
        exe.f


def test_errors_of_the_compiler_have_their_place(tmp_path: Path):
    path = tmp_path / "wrong.mlir"
    path.write_text(DENSE.replace("relay.nn.dense", "relay.nn.dence"))
    with pytest.raises(xrelay.Error) as caught:
        xrelay.compile(path)
    error = caught.value
    assert error.location == (str(path), 3, 8)
    line = path.read_text().splitlines()[2]
    assert str(error).splitlines()[0] == f"{path}:3:8: error: {error.message}"
    assert str(error).splitlines()[1:] == [line, " " * 7 + "^" * 14]
    assert error.__suppress_context__


def test_errors_of_passes_quote_a_module_that_was_parsed():
    module = xrelay.parse(EXAMPLES / "classifier.mlir")
    with pytest.raises(xrelay.Error, match="pass 'fuse-ops' has no option 'levle'") as caught:
        xrelay.run_pipeline(module, "infer-types,fuse-ops{levle=0}")
    assert "^^^^^" in str(caught.value)
    with pytest.raises(xrelay.Error, match=r"classifier.mlir:\d+:\d+: error: ") as caught:
        xrelay.run_pipeline(module, "verify-stage{stage=bytecode}")
    assert len(str(caught.value).splitlines()) >= 3


def test_faults_of_programs_have_their_place(tmp_path: Path):
    path = tmp_path / "split.mlir"
    text = DENSE.replace("tensor<4x3xf32>)\n", "tensor<?x3xf32>)\n")
    path.write_text(text.replace("(tensor<?x3xf32>, tensor<4x3", "(tensor<?x3xf32>, tensor<?x3"))
    program = """func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = relay.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  func.return %z : tensor<?xf32>
}
"""
    path.write_text(program)
    exe = xrelay.compile(path)
    with pytest.raises(xrelay.MachineError) as caught:
        exe(drawn(2), drawn(3))
    assert caught.value.location == (str(path), 2, 8)
    assert program.splitlines()[1] in str(caught.value)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("none.mlir", "cannot read 'none.mlir': No such file"),
        (3, "expected a file, a module or an ONNX model, but got int"),
        ("def @main() {\n  0\n}", "got a text, which begins 'def @main"),
        ("none.txt", "cannot read 'none.txt'"),
        (__file__, "its extension is not one of .mlir, .onnx"),
    ],
)
def test_what_is_not_a_program(model: str, message: str):
    with pytest.raises(xrelay.Error, match=message):
        xrelay.compile(model)


def test_a_pipeline_must_end_in_bytecode():
    with pytest.raises(xrelay.Error, match="'infer-types' must end in bytecode"):
        xrelay.compile(EXAMPLES / "classifier.mlir", pipeline="infer-types")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"frontend": "foo"}, "unknown frontend 'foo'; the frontends are: mlir, onnx"),
        ({"pipeline": 3}, "pipeline must be a str, but got int 3"),
        ({"dims": ["n"]}, "dims must be a mapping from dims to sizes, but got list"),
        ({"shapes": "x"}, "shapes must be a mapping from inputs to shapes, but got str 'x'"),
        ({"memory_limit": "4G"}, "memory_limit must be an integer of at least 0, but got '4G'"),
        ({"memory_limit": -1}, "memory_limit must be an integer of at least 0, but got -1"),
        ({"max_instructions": 0.5}, "max_instructions must be an integer of at least 0, but"),
    ],
)
def test_wrong_arguments_of_compile(arguments: Any, message: str):
    with pytest.raises(xrelay.Error, match=message):
        xrelay.compile(EXAMPLES / "dynamic.mlir", **arguments)


def test_wrong_module():
    with pytest.raises(xrelay.Error, match="module must be a ModuleOp, but got int 3"):
        xrelay.run_pipeline(3, "vm")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("path", [None, 3, b"m.xrx"])
def test_wrong_paths(exe: xrelay.Executable, path: Any):
    message = f"expected a path as str or os.PathLike, but got {type(path).__name__}"
    with pytest.raises(xrelay.MachineError, match=message):
        exe.save(path)
    with pytest.raises(xrelay.MachineError, match=message):
        xrelay.load(path)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2], r"must be float32\[2\], but is int64\[2\]"),
        (None, r"must be float32\[2\], but is object"),
        ([[1], [1, 2]], "weight 'w' is not an array: "),
    ],
)
def test_wrong_weights(tmp_path: Path, weight: Any, message: str):
    (tmp_path / "m.mlir").write_text("""func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = relay.param "w" : tensor<2xf32>
  %y = relay.add %x, %w : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}""")
    w = np.ones(2, np.float32)
    exe = xrelay.compile(tmp_path / "m.mlir", params={"w": w})
    exe.save(tmp_path / "m.xrx")
    assert xrelay.load(tmp_path / "m.xrx", params={"w": w})(w).tolist() == [2, 2]
    with pytest.raises(xrelay.Error, match=message):
        xrelay.compile(tmp_path / "m.mlir", params={"w": weight})
    with pytest.raises(xrelay.Error, match=message):
        xrelay.load(tmp_path / "m.xrx", params={"w": weight})


def test_the_memory_limit():
    exe = xrelay.compile(EXAMPLES / "classifier.mlir", memory_limit=100)
    with pytest.raises(xrelay.MachineError, match="the memory limit is 100"):
        exe(drawn(2, 8), drawn(4, 8), drawn(4))


# ------------------------------------------------------------------ modules and weights


def test_modules_are_not_changed():
    module = xrelay.parse(EXAMPLES / "classifier.mlir")
    before = str(module)
    exe = xrelay.compile(module)
    assert str(module) == before
    xrelay.run_pipeline(module, "vm")
    again = xrelay.compile(module)
    args = drawn(2, 8), drawn(4, 8), drawn(4)
    np.testing.assert_array_equal(exe(*args), again(*args))


def test_weights_by_name_or_file(tmp_path: Path):
    from safetensors.numpy import save_file  # pyright: ignore[reportUnknownVariableType]

    text = """func.func @main(%x: tensor<2x3xf32>) -> tensor<2x400xf32> {
  %w = relay.param "w" : tensor<400x3xf32>
  %y = relay.nn.dense %x, %w : (tensor<2x3xf32>, tensor<400x3xf32>) -> tensor<2x400xf32>
  func.return %y : tensor<2x400xf32>
}
"""
    path = tmp_path / "weights.mlir"
    path.write_text(text)
    with pytest.raises(xrelay.Error, match=r"no value for parameter 'w' \(float32\[400, 3\]\); gi"):
        xrelay.compile(path)
    w, x = drawn(400, 3), drawn(2, 3)
    save_file({"w": w, "v": w}, tmp_path / "w.safetensors")
    for params in ({"w": w}, tmp_path / "w.safetensors", str(tmp_path / "w.safetensors")):
        y = xrelay.compile(path, params=params)(x)
        np.testing.assert_allclose(y, x @ w.T, rtol=1e-5, atol=1e-6)
    with pytest.raises(xrelay.MachineError, match=r"constant 'w' must be float32\[400, 3\], but"):
        xrelay.compile(path, params={"w": w.T})
    with pytest.raises(xrelay.Error, match=r"cannot read .*none\.safetensors"):
        xrelay.compile(path, params=tmp_path / "none.safetensors")
    named = 'module attributes {relay.params = "w.safetensors"} {\n' + text + "}\n"
    path.write_text(named)
    np.testing.assert_allclose(xrelay.compile(path)(x), x @ w.T, rtol=1e-5, atol=1e-6)


# ------------------------------------------------------------------ looking at it


def test_signatures(exe: xrelay.Executable):
    assert str(exe.signature).splitlines() == [
        "main(x: float32[n, 3], w: float32[4, 3]) -> (output_0: float32[n, 4])",
        "both(a: float32[2], k: int32[]) -> (output_0: float32[2], output_1: int32[])",
    ]
    x, _ = exe.main.signature.params
    assert (x.name, x.dtype, x.shape, x.device) == ("x", "float32", ("n", 3), "cpu:0")


def test_memory():
    exe = xrelay.compile(EXAMPLES / "classifier.mlir")
    cuda = exe.memory.devices["cuda:0"]
    assert (cuda.planned, cuda.peak, cuda.allocations) == ({"main": 32}, 0, 0)
    for _ in range(2):
        exe(drawn(2, 8), drawn(4, 8), drawn(4))
    cuda = exe.memory.devices["cuda:0"]
    assert (cuda.peak, cuda.allocations, cuda.allocated) == (32, 2, 64)
    assert "cuda:0" in str(exe.memory)
    assert "relay.nn.dense" in exe.listing


@pytest.mark.parametrize("name", ["classifier.mlir", "dynamic.mlir", "closures.relay"])
def test_memory_is_what_the_saved_file_shows(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    exe = xrelay.compile(EXAMPLES / name)
    exe.save(tmp_path / "m.xrx")
    assert objdump.main([str(tmp_path / "m.xrx"), "--section", "memory", "--json"]) == 0
    plans = json.loads(capsys.readouterr().out)["memory"]
    assert all(plan["tensors"] >= plan["allocations"] > 0 for plan in plans)
    shown = {(plan["function"], plan["device"]): plan["planned"]["bytes"] for plan in plans}
    assert shown
    for found in (exe, xrelay.load(tmp_path / "m.xrx")):
        for device, memory in found.memory.devices.items():
            for function, planned in memory.planned.items():
                assert planned == shown[function, device]


def test_a_program_that_allocates_nothing(tmp_path: Path):
    path = tmp_path / "same.relay"
    path.write_text('#[version = "0.0.5"]\ndef @main(%x: float32) { %x }\n')
    exe = xrelay.compile(path)
    exe.save(tmp_path / "same.xrx")
    for found in (exe, xrelay.load(tmp_path / "same.xrx")):
        assert found.memory.devices["cpu:0"].planned == {"main": 0}
        assert found(np.float32(2)) == 2


def test_a_closure_cannot_be_returned(tmp_path: Path):
    path = tmp_path / "c.relay"
    path.write_text(
        '#[version = "0.0.5"]\ndef @main(%x: float32) {\n  fn (%y: float32) { %x }\n}\n'
    )
    with pytest.raises(xrelay.MachineError, match=r"a closure, which .*: return what it") as caught:
        xrelay.compile(path)(np.float32(2))
    assert caught.value.location == (str(path), 3, 3)


# ------------------------------------------------------------------ threads


def test_threads_share_an_executable(exe: xrelay.Executable):
    faults: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for i in range(40):
                x = drawn(1 + (seed + i) % 6, 3, seed=seed)
                np.testing.assert_allclose(exe(x, w=W), x @ W.T, rtol=1e-4, atol=1e-5)
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_threads_compile_at_the_same_time():
    limit = sys.getrecursionlimit()
    found: list[xrelay.Executable] = []

    def work() -> None:
        found.append(xrelay.compile(EXAMPLES / "classifier.mlir"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert sys.getrecursionlimit() == limit


# ------------------------------------------------------------------ ONNX, and dims


def relu_of_product() -> onnx.ModelProto:
    """`relu(x @ w)` for `x` of [batch, t, 3]; its weight is too large for IR text."""
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("MatMul", ["x", "w"], ["y"]),
            onnx.helper.make_node("Relu", ["y"], ["z"]),
        ],
        "g",
        [info("x", onnx.TensorProto.FLOAT, ["batch", "t", 3])],
        [info("z", onnx.TensorProto.FLOAT, ["batch", "t", 400])],
        [onnx.numpy_helper.from_array(drawn(3, 400), "w")],
    )
    opsets = [onnx.helper.make_opsetid("", 17)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize(
    ("shapes", "dims", "x", "z"),
    [
        (None, None, "batch, t, 3", "batch, t, 400"),
        (None, {"batch": 2}, "2, t, 3", "2, t, 400"),
        (None, {"x:1": 5}, "batch, 5, 3", "batch, 5, 400"),
        ({"x": (2, None, 3)}, None, "2, t, 3", "2, t, 400"),
        ({"x": (2, 5, 3)}, None, "2, 5, 3", "2, 5, 400"),
        ({"x": (2, None, 3)}, {"t": 5}, "2, 5, 3", "2, 5, 400"),
    ],
)
def test_onnx_models_and_their_dims(
    shapes: dict[str, tuple[int | None, ...]] | None,
    dims: dict[str, int] | None,
    x: str,
    z: str,
    tmp_path: Path,
):
    model = relu_of_product()
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    given = drawn(2, 5, 3)
    (expected,) = run_onnxruntime(model, {"x": given})
    for source in (model, tmp_path / "model.onnx"):
        exe = xrelay.compile(source, shapes=shapes, dims=dims)
        assert str(exe.signature) == f"main(x: float32[{x}]) -> (z: float32[{z}])"
        np.testing.assert_allclose(exe(given), expected, rtol=1e-5, atol=1e-5)
    module = xrelay.parse(model, shapes=shapes, dims=dims)
    np.testing.assert_allclose(xrelay.compile(module)(given), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "dims", "message"),
    [
        (None, {"batc": 2}, "<model>:1:1: error: 'batc' is not an open dim; .* did you mean 'b"),
        ({"x": (2, 5)}, None, "<model>:1:1: error: input 'x' has 3 dims"),
        ({"x": "2x5x3"}, None, "shapes: 'x' must have a tuple of sizes, but has '2x5x3'"),
        (None, {"t": 1.5}, "dims: t must be a size of at least 0, but is 1.5"),
        (None, {"t": True}, "dims: t must be a size of at least 0, but is True"),
    ],
)
def test_wrong_dims(shapes: Any, dims: Any, message: str):
    with pytest.raises(xrelay.Error, match=message):
        xrelay.compile(relu_of_product(), shapes=shapes, dims=dims)


def test_text_of_bytecode_keeps_the_names_of_dims(tmp_path: Path):
    module = xrelay.run_pipeline(xrelay.parse(EXAMPLES / "dynamic.mlir"), "vm")
    (tmp_path / "program.mlir").write_text(str(module))
    exe = xrelay.compile(tmp_path / "program.mlir")
    assert str(exe.signature).endswith(", w: float32[4, 8]) -> (output_0: float32[n, 4])")
    assert [value.shape for value in exe.outputs] == [("n", 4)]


def test_dims_of_modules():
    module = xrelay.parse(EXAMPLES / "dynamic.mlir")
    exe = xrelay.compile(module, dims={"n": 3})
    assert str(exe.signature).startswith("main(x: float32[3, 8], y: float32[3, 8], w: ")
    with pytest.raises(xrelay.Error, match=r"dynamic.mlir:\d+:1: error: @main: 'm' is not an open"):
        xrelay.compile(module, dims={"m": 3})
    with pytest.raises(xrelay.MachineError, match=r"parameter 'x' of main must be float32\[3, 8\]"):
        exe(drawn(2, 8), drawn(2, 8), drawn(4, 8))
    assert exe(drawn(3, 8), drawn(3, 8), drawn(4, 8)).shape == (3, 4)

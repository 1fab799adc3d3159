"""The targets `native` and `object`, of a program that was lowered by hand."""

import ctypes
import os
import shutil
import subprocess
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from helpers.processes.forked_commands import with_commands

from xrelay.lowering.entries.descriptions import record_attribute
from xrelay.runtime.native.interface import Constant, ConstantPool, Entry, Library, Pool
from xrelay.runtime.native.native_executable import load_library
from xrelay.runtime.program.program import Function, Param, TensorSpec
from xrelay.runtime.weights.tensor_file import write_tensors
from xrelay.tools.opt.opt import main

WEIGHTS = np.arange(12, dtype=np.float32).reshape(4, 3)
WHERE = ConstantPool("constants", 0, 48, 64)
X = np.arange(8, dtype=np.float32).reshape(2, 4)


def library() -> Library:
    x, y, w = (TensorSpec("float32", shape) for shape in ((2, 4), (2, 3), (4, 3)))
    main = Function("main", (Param("x", x),), 0, (), results=(Param("y", y),))
    pools = (Pool("workspace", 0, 64, 64),)
    entry = Entry(main, "model_main", ("x", "y"), (True,), (False,), pools, True)
    return Library("model", (entry,), constants=(Constant("w", w, 0, 48),), constant_pools=(WHERE,))


PROGRAM = """
builtin.module attributes {relay.params = "model.safetensors", xrelay.metadata = METADATA} {
  func.func @model_main_flat(%x: memref<2x4xf32>, %y: memref<2x3xf32>, %constants: memref<?xi8>,
      %workspace: memref<?xi8>) attributes {llvm.emit_c_interface} {
    %zero = arith.constant 0 : index
    %w = memref.view %constants[%zero][] : memref<?xi8> to memref<4x3xf32>
    func.call @product(%x, %w, %y)
        : (memref<2x4xf32>, memref<4x3xf32>, memref<2x3xf32>) -> ()
    func.return
  }
  func.func private @product(%a: memref<2x4xf32>, %b: memref<4x3xf32>, %out: memref<2x3xf32>)
      attributes {xrelay.kernel} {
    %ta = bufferization.to_tensor %a restrict : memref<2x4xf32> to tensor<2x4xf32>
    %tb = bufferization.to_tensor %b restrict : memref<4x3xf32> to tensor<4x3xf32>
    %e = tensor.empty() : tensor<2x3xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
    %m = linalg.matmul ins(%ta, %tb : tensor<2x4xf32>, tensor<4x3xf32>)
        outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
    bufferization.materialize_in_destination %m in restrict writable %out
        : (tensor<2x3xf32>, memref<2x3xf32>) -> ()
    func.return
  }
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The program and its weights, in a folder of their own."""
    path = tmp_path / "model.mlir"
    path.write_text(PROGRAM.replace("METADATA", str(record_attribute(Library, library()))))
    write_tensors(tmp_path / "model.safetensors", {"w": WEIGHTS})
    return path


def call(path: Path) -> tuple[int, np.ndarray, str]:
    """Call the function in `path`; return its status, the output and the error."""
    loaded = ctypes.CDLL(str(path))
    loaded.model_last_error.restype = ctypes.c_char_p
    y = np.zeros((2, 3), np.float32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (X, y)]
    status = loaded.model_main(*pointers, None)
    return status, y, (loaded.model_last_error() or b"").decode()


@pytest.mark.ci
def test_a_library_with_its_weights_inside(model: Path, tmp_path: Path):
    out = tmp_path / "libmodel.so"
    assert main([str(model), "-t", "native", "-o", str(out)]) == 0
    (tmp_path / "model.safetensors").unlink()
    status, y, error = call(out)
    assert (status, error) == (0, "")
    np.testing.assert_array_equal(y, X @ WEIGHTS)
    symbols = subprocess.run(["nm", "-D", "--defined-only", out], capture_output=True, text=True)
    names = {line.split()[-1] for line in symbols.stdout.splitlines()}
    forms = {f"model_main{form}" for form in ("", "_packed", "_cpacked")}
    sizes = {"model_main_workspace_size", "model_main_output_shapes"}
    others = {"model_last_error", "model_metadata", "xrelay_library_metadata"}
    others |= {"model_set_threads", "xrelay_pool_2"}
    assert names == {*forms, *sizes, *others}
    loaded = load_library(out).interface.constants
    assert [c.digest for c in loaded] == [sha256(WEIGHTS.tobytes()).hexdigest()]


@pytest.mark.ci
def test_weights_beside_the_library(model: Path, tmp_path: Path):
    out = tmp_path / "libmodel.so"
    assert main([str(model), "-t", "native{weights=file}", "-o", str(out)]) == 0
    weights = tmp_path / "libmodel.weights"
    assert weights.read_bytes()[64:] == WEIGHTS.tobytes()
    np.testing.assert_array_equal(call(out)[1], X @ WEIGHTS)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("contents", "message"),
    [
        (None, "cannot read the weights '{}': No such file or directory"),
        (bytes(48), "the weights '{}' have 48 bytes, but those of this program have 112"),
        (bytes(112), "the weights '{}' are not those of this program"),
    ],
)
def test_weights_that_do_not_fit(model: Path, tmp_path: Path, contents: bytes | None, message: str):
    out, weights = tmp_path / "lib.so", tmp_path / "lib.weights"
    assert main([str(model), "-t", "native{weights=file}", "-o", str(out)]) == 0
    weights.unlink()
    if contents is not None:
        weights.write_bytes(contents)
    status, _, error = call(out)
    assert (status, error) == (1, message.format(weights))


CALLER = """
#include <stdint.h>
#include <stdio.h>
int32_t model_main(const float *x, float *y, void *workspace);
int main(void) {
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[6];
  if (model_main(x, y, NULL)) return 1;
  for (int i = 0; i < 6; ++i) printf("%g\\n", y[i]);
  return 0;
}
"""


TWO = """
#include <stdint.h>
#include <stdio.h>
#include <string.h>
int32_t model_main(const float *x, float *y, void *workspace);
int32_t other_main(const float *x, float *y, void *workspace);
const char *model_last_error(void), *other_last_error(void);
int main(void) {
  float x[8] = {0, 1, 2, 3, 4, 5, 6, 7}, y[6], z[6];
  if (model_main(x, y, NULL) || other_main(x, z, NULL)) return 1;
  for (int i = 0; i < 6; ++i) printf("%g %g\\n", y[i], z[i]);
  if (!model_main(NULL, y, NULL) || strstr(other_last_error(), "NULL")) return 1;
  return !strstr(model_last_error(), "NULL");
}
"""


@pytest.fixture
def other(model: Path, tmp_path: Path) -> Path:
    """The same program under another name, with weights of which each is one more."""
    path = tmp_path / "other.mlir"
    path.write_text(model.read_text().replace("model", "other"))
    write_tensors(tmp_path / "other.safetensors", {"w": WEIGHTS + 1})
    return path


@pytest.mark.ci
def test_two_libraries_in_one_process(model: Path, other: Path, tmp_path: Path):
    names = ("libmodel.so", "libother.so")
    for path, name in zip((model, other), names, strict=True):
        assert main([str(path), "-t", "native", "-o", str(tmp_path / name)]) == 0
    one, two = (load_library(tmp_path / name) for name in names)
    np.testing.assert_array_equal(one(X), X @ WEIGHTS)
    np.testing.assert_array_equal(two(X), X @ (WEIGHTS + 1))
    np.testing.assert_array_equal(one(X), X @ WEIGHTS)


@pytest.mark.ci
@pytest.mark.parametrize("kind", ["native", "object"])
def test_two_models_in_a_c_program(model: Path, other: Path, tmp_path: Path, kind: str):
    source, program = tmp_path / "two.c", tmp_path / "two"
    source.write_text(TWO)
    made = [path.with_suffix(".so" if kind == "native" else ".o") for path in (model, other)]
    for path, out in zip((model, other), made, strict=True):
        assert main([str(path), "-t", kind, "-o", str(out)]) == 0
    command = ["cc", source, *made, f"-Wl,-rpath,{tmp_path}", "-lm", "-o", program]
    subprocess.run(command, check=True)
    printed = subprocess.run([program], capture_output=True, text=True, check=True)
    found = np.array(printed.stdout.split(), float).reshape(6, 2).T
    np.testing.assert_array_equal(found[0], (X @ WEIGHTS).ravel())
    np.testing.assert_array_equal(found[1], (X @ (WEIGHTS + 1)).ravel())


@pytest.mark.ci
@pytest.mark.parametrize("weights", ["object", "file"])
def test_an_object_in_a_c_program(model: Path, tmp_path: Path, weights: str):
    out, source, program = (tmp_path / name for name in ("model.o", "call.c", "call"))
    assert main([str(model), "-t", f"object{{weights={weights} cpu=levels}}", "-o", str(out)]) == 0
    source.write_text(CALLER)
    subprocess.run(["cc", source, out, "-lm", "-o", program], check=True)
    environment = {**os.environ, "XRELAY_CPU_LEVEL": "v3"}
    done = subprocess.run([program], capture_output=True, text=True, check=True, env=environment)
    assert [float(line) for line in done.stdout.split()] == (X @ WEIGHTS).ravel().tolist()
    assert done.stderr == "xrelay: XRELAY_CPU_LEVEL must be a number from 1 to 4, but is 'v3'\n"


def test_the_code_of_each_level_computes_the_same(tmp_path: Path):
    source, out = tmp_path / "model.relay", tmp_path / "libmodel.so"
    source.write_text(MLP)
    assert main([str(source), "-p", "aot", "-t", "native{cpu=levels}", "-o", str(out)]) == 0
    rng = np.random.default_rng(0)
    x, a, b = (rng.random(shape, np.float32) / 8 for shape in ((8, 64), (32, 64), (10, 32)))
    powers = np.exp(np.maximum(x @ a.T, 0) @ b.T)
    np.savez(tmp_path / "in.npz", x=x, a=a, b=b)
    np.savez(tmp_path / "out.npz", output_0=powers / powers.sum(axis=1, keepdims=True))
    for level in (1, 3, 4):
        command = ["xrelay-run", out, "--inputs", "in.npz", "--expect", "out.npz", "--rtol", "1e-4"]
        environment = with_commands({**os.environ, "XRELAY_CPU_LEVEL": str(level)})
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    environment["XRELAY_CPU_LEVEL"] = "9"
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith(b"XRELAY_CPU_LEVEL must be a number from 1 to 4, but is '9'\n")


@pytest.mark.ci
def test_stages_are_kept(model: Path, tmp_path: Path):
    stages = tmp_path / "stages"
    arguments = [str(model), "-t", "native{cache=off}", "-o", str(tmp_path / "lib.so")]
    assert main([*arguments, "--save-temps", str(stages)]) == 0
    names = {path.name for path in stages.iterdir()}
    assert {"program.0.mlir", "program.2.ll", "interface.c", "module.json"} <= names


def errors(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) != 0
    return capsys.readouterr().err


def test_errors_of_users(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    out = str(tmp_path / "lib.so")
    empty = tmp_path / "empty.mlir"
    empty.write_text("func.func @main() { func.return }")
    assert "end the pipeline in it, as -p aot does" in errors(
        [str(empty), "-p", "infer-types", "-t", "native", "-o", out], capsys
    )
    assert "target=aarch64-linux-gnu needs a C compiler for it: give it as cc=COMMAND" in errors(
        [str(model), "-t", 'native{target="aarch64-linux-gnu"}', "-o", out], capsys
    )
    assert "error: LLVM has no target 'vax'" in errors(
        [str(model), "-t", "native{target=vax}", "-o", out], capsys
    )
    assert "error: LLVM knows no processor 'z80' of x86_64" in errors(
        [str(model), "-t", 'native{target="x86_64-linux-gnu" cpu=z80}', "-o", out], capsys
    )
    assert "--save-temps needs -t native or -t object" in errors(
        [str(model), "--save-temps", str(tmp_path)], capsys
    )
    assert "the output is several files: give a file with -o" in errors(
        [str(model), "-t", "native{weights=file}"], capsys
    )
    unnamed = tmp_path / "unnamed.mlir"
    text = model.read_text()
    unnamed.write_text(text.replace('relay.params = "model.safetensors"', "demo.nothing"))
    assert "give one with --params, or name it in the attribute relay.params" in errors(
        [str(unnamed), "-t", "native", "-o", out], capsys
    )
    (tmp_path / "model.safetensors").unlink()
    assert "model.safetensors" in errors([str(model), "-t", "native", "-o", out], capsys)
    write_tensors(tmp_path / "model.safetensors", {"w": WEIGHTS.T.copy()})
    assert "weight 'w' must be float32 of shape (4, 3), but is float32 of shape (3, 4)" in errors(
        [str(model), "-t", "native", "-o", out], capsys
    )
    assert not Path(out).exists()


INTERPOSER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
static long count;
long allocations(void) { return count; }
void *malloc(size_t size) {
  static void *(*next)(size_t);
  if (!next) next = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
  ++count;
  return next(size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  static void *(*next)(size_t, size_t);
  if (!next) next = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
  ++count;
  return next(alignment, size);
}
"""

COUNTING = """
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
int32_t model_main(POINTERS, void *workspace);
int64_t model_main_workspace_size(const int64_t *dims);
long allocations(void);
static _Alignas(64) char workspace[1 << 22];
static float x[1 << 16], y[1 << 16];
int main(void) {
  if (model_main_workspace_size(NULL) > (int64_t)sizeof workspace) return 2;
  free(malloc(1));
  long before = allocations();
  int32_t failed = model_main(VALUES, workspace);
  long after = allocations();
  printf("%ld %ld\\n", before, after);
  return failed;
}
"""

MLP = """#[version = "0.0.5"]
def @main(%x: Tensor[(8, 64), float32], %a: Tensor[(32, 64), float32],
          %b: Tensor[(10, 32), float32]) {
  nn.softmax(nn.dense(nn.relu(nn.dense(%x, %a)), %b))
}
"""
CONVOLUTIONS = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3, 32, 32), float32], %a: Tensor[(16, 3, 3, 3), float32],
          %b: Tensor[(16, 16, 3, 3), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %a, padding=[1, 1, 1, 1]));
  %1 = nn.max_pool2d(%0, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]);
  %2 = add(nn.conv2d(%1, %b, padding=[1, 1, 1, 1]), %1);
  nn.softmax(nn.batch_flatten(nn.global_avg_pool2d(%2)))
}
"""


@pytest.mark.parametrize(
    "text",
    [None, *(pytest.param(text, marks=pytest.mark.ci) for text in (MLP, CONVOLUTIONS))],
    ids=["lowered", "mlp", "convolutions"],
)
def test_a_run_allocates_nothing(model: Path, tmp_path: Path, text: str | None):
    out = tmp_path / "libmodel.so"
    command = [str(model)]
    if text is not None:
        (tmp_path / "model.relay").write_text(text)
        command = [str(tmp_path / "model.relay"), "-p", "aot"]
    assert main([*command, "-t", "native", "-o", str(out)]) == 0
    inputs = 1 if text is None else 3
    pointers = ", ".join(["const float *"] * inputs + ["float *"])
    values = ", ".join(["x"] * inputs + ["y"])
    defined = [f"-DPOINTERS={pointers}", f"-DVALUES={values}"]
    counter, program = tmp_path / "libcounter.so", tmp_path / "count"
    (tmp_path / "counter.c").write_text(INTERPOSER)
    (tmp_path / "count.c").write_text(COUNTING)
    build = ["cc", "-O0", "-fno-builtin", "-fPIC", *defined]
    subprocess.run([*build, "-shared", tmp_path / "counter.c", "-o", counter, "-ldl"], check=True)
    subprocess.run(
        [*build, tmp_path / "count.c", out, counter, f"-Wl,-rpath,{tmp_path}", "-o", program],
        check=True,
    )
    environment = {"LD_PRELOAD": str(counter)}
    done = subprocess.run([program], capture_output=True, text=True, check=True, env=environment)
    before, after = map(int, done.stdout.split())
    assert before == after > 0


EXAMPLE = Path(__file__).parents[3] / "examples" / "c"
PRINTED = """\
0.0900 0.2447 0.6652
0.2119 0.5761 0.2119
"""
"""The softmax of the example's products, which NumPy computed."""


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A copy of the example, with its header."""
    folder = Path(shutil.copytree(EXAMPLE, tmp_path / "c"))
    header = ["-t", "c-header", "-o", str(folder / "scores.h")]
    assert main([str(folder / "scores.relay"), "-p", "aot", *header]) == 0
    return folder


@pytest.mark.ci
def test_the_example_runs(model: Path, example: Path):
    out = example / "libscores.so"
    assert main([str(example / "scores.relay"), "-p", "aot", "-t", "native", "-o", str(out)]) == 0
    made = subprocess.run(["make", "-C", example, "OPT=false"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    done = subprocess.run([example / "scores"], capture_output=True, text=True, check=True)
    assert done.stdout == PRINTED


@pytest.mark.ci
def test_the_example_under_address_sanitizer(model: Path, example: Path):
    out = example / "scores.o"
    assert main([str(example / "scores.relay"), "-p", "aot", "-t", "object", "-o", str(out)]) == 0
    flags = ["-Wall", "-Werror", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    command = ["cc", *flags, "main.c", "scores.o", "-lm", "-o", "scores"]
    subprocess.run(command, check=True, cwd=example)
    done = subprocess.run([example / "scores"], capture_output=True, text=True, check=True)
    assert done.stdout == PRINTED

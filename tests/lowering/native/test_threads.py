"""Threads of machine code: the same bits for any number, failures, forks, one pool for all."""

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import xrelay
from xrelay.lowering.native.c.c_interface import support_source
from xrelay.runtime.native import thread_count
from xrelay.runtime.native.thread_count import MOST, default_threads
from xrelay.tools.opt.opt import main

HARNESS = Path(__file__).parents[2] / "helpers" / "native" / "threads_harness.c"
TURNS = 37

PROGRAM = """
func.func @main(%x: tensor<{n}x256xf32> {{relay.name = "x"}})
    -> (tensor<{n}x512xf32>, tensor<512x{n}xf32>) {{
  %w = relay.param "w" : tensor<512x256xf32>
  %y = relay.nn.dense %x, %w : (tensor<{n}x256xf32>, tensor<512x256xf32>) -> tensor<{n}x512xf32>
  %z = relay.exp %y : (tensor<{n}x512xf32>) -> tensor<{n}x512xf32>
  %s = relay.nn.softmax %z : (tensor<{n}x512xf32>) -> tensor<{n}x512xf32>
  %t = relay.transpose %s {{axes = array<i64: 1, 0>}} : (tensor<{n}x512xf32>) -> tensor<512x{n}xf32>
  %u = relay.nn.softmax %t : (tensor<512x{n}xf32>) -> tensor<512x{n}xf32>
  func.return %s, %u : tensor<{n}x512xf32>, tensor<512x{n}xf32>
}}"""

Harness = Callable[[str], ctypes.CDLL]


def compiled(folder: Path, name: str, *flags: str) -> Path:
    source, out = folder / f"{name}.c", folder / name
    source.write_text(support_source() + HARNESS.read_text())
    command = ["cc", "-std=gnu11", "-g", "-O1", "-fPIC", "-DXRELAY_THREADS", "-pthread", *flags]
    subprocess.run([*command, source, "-o", out, "-lm"], check=True)
    return out


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    folder = tmp_path_factory.mktemp("threads")

    def loaded(name: str) -> ctypes.CDLL:
        flags = "-shared", "-DXRELAY_LIBRARY", "-fvisibility=hidden", "-Wl,-z,nodelete"
        library = ctypes.CDLL(str(compiled(folder, f"{name}.so", *flags)))
        library.harness_turns.restype = ctypes.c_int64
        library.harness_turns.argtypes = [ctypes.c_int32, ctypes.c_int64, ctypes.c_int64]
        library.harness_error.restype = ctypes.c_char_p
        return library

    return loaded


@pytest.fixture(scope="module")
def first(harness: Harness) -> ctypes.CDLL:
    return harness("first")


KINDS = """
func.func @main(%x: tensor<1x64x40x40xf32>, %m: tensor<64x256xf32>, %h: tensor<8x64x64xf32>)
    -> (tensor<1x64x36x36xf32>, tensor<1x64x8x8xf32>, tensor<64x512xf32>, tensor<8x64x64xf32>,
    tensor<8x64x64xf32>, tensor<8x64x128xf32>, tensor<8x66x64xf32>) {
  %a = relay.param "a" : tensor<64x64x3x3xf32>
  %b = relay.nn.conv2d %x, %a {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x64x40x40xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x40x40xf32>
  %c = relay.nn.conv2d %b, %a {padding = array<i64: 1, 1, 1, 1>, strides = array<i64: 2, 2>}
    : (tensor<1x64x40x40xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x20x20xf32>
  %v = relay.nn.max_pool2d %b {pool_size = array<i64: 5, 5>}
    : (tensor<1x64x40x40xf32>) -> tensor<1x64x36x36xf32>
  %d = relay.nn.max_pool2d %c {pool_size = array<i64: 5, 5>, strides = array<i64: 2, 2>}
    : (tensor<1x64x20x20xf32>) -> tensor<1x64x8x8xf32>
  %e = relay.nn.conv2d %d, %a {padding = array<i64: 1, 1, 1, 1>}
    : (tensor<1x64x8x8xf32>, tensor<64x64x3x3xf32>) -> tensor<1x64x8x8xf32>
  %w = relay.param "w" : tensor<512x256xf32>
  %n = relay.nn.dense %m, %w : (tensor<64x256xf32>, tensor<512x256xf32>) -> tensor<64x512xf32>
  %o = relay.nn.softmax %n : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %p = relay.nn.batch_matmul %h, %h
    : (tensor<8x64x64xf32>, tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %t = relay.transpose %h {axes = array<i64: 0, 2, 1>}
    : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %j = relay.concatenate %h, %h {axis = 2}
    : (tensor<8x64x64xf32>, tensor<8x64x64xf32>) -> tensor<8x64x128xf32>
  %k = relay.exp %j : (tensor<8x64x128xf32>) -> tensor<8x64x128xf32>
  %i = relay.exp %h : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %z = relay.constant dense<1.5> : tensor<f32>
  %q = relay.nn.pad %i, %z {pad_width = array<i64: 0, 0, 1, 1, 0, 0>}
    : (tensor<8x64x64xf32>, tensor<f32>) -> tensor<8x66x64xf32>
  func.return %v, %e, %o, %p, %t, %k, %q
    : tensor<1x64x36x36xf32>, tensor<1x64x8x8xf32>, tensor<64x512xf32>, tensor<8x64x64xf32>,
      tensor<8x64x64xf32>, tensor<8x64x128xf32>, tensor<8x66x64xf32>
}"""
"""
Convolutions in blocks, in tiles, in panels; windows, products, rows of a softmax, batches, squares,
and the parts of a join and of a padded tensor.
"""


def regions_in(ir: str) -> dict[str, bool]:
    """Return the functions of LLVM IR that workers run, and whether each allocates."""
    functions = re.findall(r"^define [^@]*@([\w.$]+)\((.*?)^}", ir, re.M | re.S)
    is_allocation = re.compile(r"@(_mlir_memref_to_llvm_\w*alloc|malloc|calloc|aligned_alloc)\b")
    return {name: bool(is_allocation.search(body)) for name, body in functions if "omp_par" in name}


@pytest.mark.ci
def test_workers_allocate_nothing(tmp_path: Path):
    source, out = tmp_path / "net.mlir", tmp_path / "net.so"
    source.write_text(KINDS)
    arguments = ["-p", "aot", "-t", "native{cpu=native cache=off}", "--random-weights"]
    assert main([str(source), *arguments, "--save-temps", str(tmp_path), "-o", str(out)]) == 0
    texts = [path.read_text() for path in tmp_path.glob("kernels_*.2.ll")]
    regions = {name: found for text in texts for name, found in regions_in(text).items()}
    assert len(regions) >= 11, regions
    assert not any(regions.values()), regions
    worker = "define internal void @k..omp_par(ptr %0) {\n  %1 = call ptr @malloc(i64 4)\n}\n"
    assert regions_in(worker + worker.replace("..omp_par", "")) == {"k..omp_par": True}


@pytest.mark.ci
@pytest.mark.parametrize("threads", [1, 2, 3, 64])
def test_each_turn_is_done_once(first: ctypes.CDLL, threads: int):
    assert first.harness_turns(threads, 60, -1) == 60 * TURNS


@pytest.mark.ci
@pytest.mark.parametrize("turn", [0, 20, 36])
def test_a_failure_of_any_thread_is_that_of_the_call(first: ctypes.CDLL, turn: int):
    for _ in range(60):
        assert first.harness_turns(4, 1, turn) == -1
        assert first.harness_error() == f"turn {turn} fails".encode()
    assert first.harness_turns(4, 1, -1) == TURNS


def test_workers_round_as_the_caller(first: ctypes.CDLL):
    assert first.harness_rounded_down() == TURNS


@pytest.mark.ci
def test_libraries_share_a_pool(first: ctypes.CDLL, harness: Harness):
    second = harness("second")
    assert first.harness_turns(4, 1, -1) == TURNS
    workers = first.harness_workers()
    assert workers >= 3
    assert second.harness_workers() == workers
    assert second.harness_turns(3, 20, -1) == 20 * TURNS  # code of one library, workers of another
    with ThreadPoolExecutor(4) as callers:
        both = [callers.submit(lib.harness_turns, 3, 50, -1) for lib in (first, second) * 2]
        assert [call.result() for call in both] == [50 * TURNS] * 4


@pytest.mark.ci
def test_a_child_process_has_workers_of_its_own(first: ctypes.CDLL):
    for _ in range(20):
        assert first.harness_turns(3, 5, -1) == 5 * TURNS
        child = os.fork()
        if not child:
            os._exit(first.harness_turns(3, 5, -1) != 5 * TURNS)
        assert os.waitpid(child, 0)[1] == 0


@pytest.mark.ci
def test_sanitized(tmp_path: Path):
    program = compiled(tmp_path, "alone", "-DALONE", "-fsanitize=thread")
    done = subprocess.run([program], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture(scope="module", params=[pytest.param("96", marks=pytest.mark.ci), "?"])
def library(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    source, out = folder / "net.mlir", folder / "libnet.so"
    source.write_text(PROGRAM.format(n=request.param))
    target = "native{cache=off}" if request.param == "?" else "native{cpu=native cache=off}"
    arguments = ["-t", target, "--random-weights", "-o", str(out), "--save-temps", str(folder)]
    assert main([str(source), *arguments]) == 0
    symbols = subprocess.run(["nm", out], capture_output=True, text=True, check=True).stdout
    assert "..omp_par" in symbols, "a kernel is divided"
    return out


def test_results_are_the_same_bits(library: Path):
    x = np.random.default_rng(0).standard_normal((96, 256), np.float32)
    whole, columns = cast(Any, xrelay.load(library, threads=1))(x)
    powers = np.exp(whole.T.astype(np.float64))
    np.testing.assert_allclose(columns, powers / powers.sum(-1, keepdims=True), rtol=2e-6)
    for threads in (2, 3, 5, 7):
        parts = cast(Any, xrelay.load(library, threads=threads))(x)
        assert all(map(np.array_equal, (whole, columns), parts))
    few = cast(Any, xrelay.load(library, threads=2))
    if "?" in library.with_name("net.mlir").read_text():
        assert np.array_equal(few(x[:1])[0], whole[:1])


PARTS = """
func.func @main(%h: tensor<8x64x64xf32>, %w: tensor<128xf32>)
    -> (tensor<8x64x64xf32>, tensor<8x64x128xf32>, tensor<8x67x66xf32>) {
  %t = relay.transpose %h {axes = array<i64: 0, 2, 1>}
    : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %a = relay.nn.relu %h : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %j = relay.concatenate %h, %a {axis = 2}
    : (tensor<8x64x64xf32>, tensor<8x64x64xf32>) -> tensor<8x64x128xf32>
  %m = relay.multiply %j, %w : (tensor<8x64x128xf32>, tensor<128xf32>) -> tensor<8x64x128xf32>
  %k = relay.exp %m : (tensor<8x64x128xf32>) -> tensor<8x64x128xf32>
  %e = relay.exp %h : (tensor<8x64x64xf32>) -> tensor<8x64x64xf32>
  %z = relay.constant dense<1.5> : tensor<f32>
  %p = relay.nn.pad %e, %z {pad_width = array<i64: 0, 0, 1, 2, 0, 2>}
    : (tensor<8x64x64xf32>, tensor<f32>) -> tensor<8x67x66xf32>
  func.return %t, %k, %p : tensor<8x64x64xf32>, tensor<8x64x128xf32>, tensor<8x67x66xf32>
}"""


def test_squares_and_parts_are_the_same_bits(tmp_path: Path):
    source, out = tmp_path / "parts.mlir", tmp_path / "parts.so"
    source.write_text(PARTS)
    arguments = ["-p", "aot", "-t", "native{cpu=native cache=off}", "-o", str(out)]
    assert main([str(source), *arguments, "--save-temps", str(tmp_path)]) == 0
    texts = [path.read_text() for path in tmp_path.glob("kernels_*.2.ll")]
    assert sum(len(regions_in(text)) for text in texts) >= 4, "squares, two parts, the inside"
    rng = np.random.default_rng(0)
    h, w = (rng.standard_normal(shape, np.float32) for shape in ((8, 64, 64), 128))
    one = cast(Any, xrelay.load(out, threads=1))(h, w)
    joined = np.concatenate([h, np.maximum(h, 0)], 2)
    padded = np.pad(np.exp(h), ((0, 0), (1, 2), (0, 2)), constant_values=1.5)
    for ours, theirs in zip(one, (h.transpose(0, 2, 1), np.exp(joined * w), padded), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=2e-6)
    for threads in (2, 3, 7):
        several = cast(Any, xrelay.load(out, threads=threads))(h, w)
        assert all(map(np.array_equal, one, several))


def test_threads_have_no_memory_but_their_stacks(library: Path):
    code = "".join(path.read_text() for path in sorted(library.parent.glob("kernels_*.2.ll")))
    parts = re.findall(r"^define [^\n]*\.\.omp_par\(.*?^}", code, re.M | re.S)
    assert len(parts) >= 3, "the product and both softmax are divided"
    assert not any("_mlir_memref_to_llvm_alloc" in part for part in parts)


OPENMP = """
#include <stdlib.h>
void __kmpc_fork_call(void) { abort(); }
int __kmpc_global_thread_num(void *place) { abort(); }
"""


@pytest.mark.ci
def test_an_openmp_library_in_the_process_is_not_called(library: Path, tmp_path: Path):
    source, openmp = tmp_path / "openmp.c", tmp_path / "libomp.so"
    source.write_text(OPENMP)
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", openmp], check=True)
    text = (
        "import ctypes, sys, numpy as np, xrelay; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL);"
        "xrelay.load(sys.argv[2], threads=3)(np.ones((96, 256), np.float32))"
    )
    subprocess.run([sys.executable, "-c", text, openmp, library], timeout=60, check=True)


def test_a_wrong_number_is_an_error(library: Path):
    with pytest.raises(xrelay.MachineError, match=f"threads must be from 1 to {MOST}, but is 0"):
        xrelay.load(library, threads=0)
    code = ctypes.CDLL(str(library))
    assert code.net_set_threads(65) == 1
    code.net_last_error.restype = ctypes.c_char_p
    assert code.net_last_error() == b"the number of threads must be from 1 to 64, but is 65"


@pytest.mark.ci
def test_a_process_that_ends_does_not_wait(library: Path):
    text = (
        "import sys, numpy as np, xrelay; e = xrelay.load(sys.argv[1], threads=2);"
        "e(np.ones((96, 256), np.float32))"
    )
    subprocess.run([sys.executable, "-c", text, library], timeout=60, check=True)


INTERRUPTED = """
import signal, sys, numpy as np, xrelay
net, x = xrelay.load(sys.argv[1], threads=2), np.ones((96, 256), np.float32)
expected, count = net(x)[0], 0
signal.signal(signal.SIGALRM, signal.default_int_handler)
for i in range(80):
    try:
        signal.setitimer(signal.ITIMER_REAL, 1e-4 * (1 + i % 20))
        while True:
            net(x)
    except KeyboardInterrupt:
        count += 1
    assert (net(x)[0] == expected).all()
assert count == 80
"""


@pytest.mark.ci
def test_an_interrupted_call_leaves_the_threads_to_the_next(library: Path):
    """Ctrl-C, at 80 moments."""
    subprocess.run([sys.executable, "-c", INTERRUPTED, library], timeout=120, check=True)


def four_processors(process: int) -> set[int]:
    return set(range(4))


@pytest.mark.parametrize(
    ("variable", "quota", "expected"),
    [("3", "max 100000", 3), ("", "150000 100000", 2), ("", "max 100000", 4), ("64", "", MOST)],
)
def test_the_default(
    variable: str, quota: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "cpu.max").write_text(quota)
    monkeypatch.setattr(thread_count, "QUOTA", tmp_path / "cpu.max")
    monkeypatch.setattr(os, "sched_getaffinity", four_processors)
    monkeypatch.setenv("XRELAY_NUM_THREADS", variable)
    assert default_threads() == expected


@pytest.mark.parametrize("text", ["abc", "0", "-1", "65", "2.5", " 2", "9" * 5000])
def test_a_number_of_threads_that_is_none(text: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XRELAY_NUM_THREADS", text)
    with pytest.raises(xrelay.MachineError) as raised:
        default_threads()
    assert str(raised.value).startswith(
        "XRELAY_NUM_THREADS must be a number from 1 to 64, but is '"
    )

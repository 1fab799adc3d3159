"""Compiled libraries as Python callables, their checks, and their C interface."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from mmap import PAGESIZE
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.native.built_libraries import build_library

import xrelay
from xrelay.lowering.native.build.build_files import library_of
from xrelay.lowering.native.c.c_interface import (
    header_source,
    interface_source,
    support_sources,
)
from xrelay.lowering.native.toolchain import linking
from xrelay.runtime.native import entry_calls
from xrelay.runtime.native.interface import Constant, InterfaceError, Library
from xrelay.runtime.program.program import TensorSpec

PROGRAM = """
func.func @main(%x: tensor<?x4xf32> {relay.name = "x", relay.dims = ["n", 4 : i64]},
                %y: tensor<?x4xf32> {relay.name = "y", relay.dims = ["n", 4 : i64]})
    -> (tensor<?x4xf32> {relay.name = "sum"}, tensor<?x4xf32> {relay.name = "x"})
    attributes {relay.dim_bounds = {n = [1 : i64, 64 : i64]}} {
  %e = relay.exp %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = relay.add %e, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  func.return %s, %x : tensor<?x4xf32>, tensor<?x4xf32>
}
func.func @true_ones(%x: tensor<?xi32> {relay.name = "x"})
    -> (tensor<?x1xi32> {relay.name = "where"}, tensor<?xi32> {relay.name = "twice"}) {
  %w = relay.argwhere %x : (tensor<?xi32>) -> tensor<?x1xi32>
  %t = relay.add %x, %x : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
  func.return %w, %t : tensor<?x1xi32>, tensor<?xi32>
}
func.func @view(%x: tensor<6xi32> {relay.name = "x"}, %k: tensor<2xi64> {relay.name = "k"})
    -> (tensor<?x?xi32> {relay.name = "view"}) {
  %v = relay.dyn.reshape %x, %k : (tensor<6xi32>, tensor<2xi64>) -> tensor<?x?xi32>
  func.return %v : tensor<?x?xi32>
}
func.func @nested(%p: tuple<tensor<2xf32>, tuple<tensor<?xf32>, tensor<i64>>> {relay.name = "p"},
                  %e: tuple<> {relay.name = "e"}, %x: tensor<2xf32> {relay.name = "x"})
    -> (tensor<i64>, tuple<tuple<tensor<2xf32>>, tensor<?xf32>, tuple<>> {relay.name = "r"}) {
  %a = relay.tuple_get_item %p[0]
      : (tuple<tensor<2xf32>, tuple<tensor<?xf32>, tensor<i64>>>) -> tensor<2xf32>
  %q = relay.tuple_get_item %p[1] : (tuple<tensor<2xf32>, tuple<tensor<?xf32>, tensor<i64>>>)
      -> tuple<tensor<?xf32>, tensor<i64>>
  %n = relay.tuple_get_item %q[0] : (tuple<tensor<?xf32>, tensor<i64>>) -> tensor<?xf32>
  %i = relay.tuple_get_item %q[1] : (tuple<tensor<?xf32>, tensor<i64>>) -> tensor<i64>
  %s = relay.subtract %a, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %m = relay.negative %n : (tensor<?xf32>) -> tensor<?xf32>
  %t = relay.tuple %s : (tensor<2xf32>) -> tuple<tensor<2xf32>>
  %r = relay.tuple %t, %m, %e : (tuple<tensor<2xf32>>, tensor<?xf32>, tuple<>)
      -> tuple<tuple<tensor<2xf32>>, tensor<?xf32>, tuple<>>
  func.return %i, %r : tensor<i64>, tuple<tuple<tensor<2xf32>>, tensor<?xf32>, tuple<>>
}
func.func @single(%x: tensor<2xf32> {relay.name = "x"}) -> tuple<tensor<2xf32>> {
  %y = relay.negative %x : (tensor<2xf32>) -> tensor<2xf32>
  %r = relay.tuple %y : (tensor<2xf32>) -> tuple<tensor<2xf32>>
  func.return %r : tuple<tensor<2xf32>>
}
func.func @double(%x: tensor<3xi32> {relay.name = "int"}) -> tensor<3xi32> {
  %y = relay.add %x, %x : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
  func.return %y : tensor<3xi32>
}
"""

AOT = (
    "infer-types,flatten-tuples,plan-devices,fuse-ops,outline-primitives,create-shape-functions,"
    "manifest-alloc,simplify-shapes,remove-dead-writes,remove-unused-kernels,"
    "plan-memory{lend-entries},convert-relay-to-linalg,describe-entries,convert-memory-to-memref,"
    "aot-lower-main{prefix=net},erase-memory-spaces"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Library]:
    folder = tmp_path_factory.mktemp("native")
    source = folder / "net.mlir"
    source.write_text(PROGRAM, encoding="utf-8")
    return build(source, AOT)


def build(source: Path, passes: str) -> tuple[Path, Library]:
    """Compile a program to a library beside it."""
    module = xrelay.run_pipeline(xrelay.parse(source), passes)
    library = library_of(module)
    del module.attributes["xrelay.metadata"]
    path = source.parent / "libnet.so"
    sources = {"interface.c": interface_source(library), **support_sources()}
    build_library(module, path, sources=sources, flags=["-DXRELAY_LIBRARY"])
    return path, library


@pytest.fixture(scope="module")
def exe(built: tuple[Path, Library]) -> xrelay.NativeExecutable:
    loaded = xrelay.load(built[0])
    assert isinstance(loaded, xrelay.NativeExecutable)
    return loaded


def rows(n: int) -> np.ndarray:
    return np.linspace(-1, 1, 4 * n, dtype=np.float32).reshape(n, 4)


@pytest.mark.parametrize("n", [1, 7])
def test_results(exe: xrelay.NativeExecutable, n: int):
    x = rows(n)
    total, same = exe(x, y=x)
    np.testing.assert_allclose(total, np.exp(x) + x, rtol=1e-6)
    np.testing.assert_array_equal(same, x)
    assert same is not x


def test_arrays_that_code_cannot_read_as_they_are(exe: xrelay.NativeExecutable):
    x = np.arange(24, dtype=np.float32).reshape(6, 4) / 8
    expected = np.exp(x) + x
    held = np.zeros(x.nbytes + 1, np.uint8)
    odd = held[1:].view(np.float32).reshape(x.shape)
    odd[...] = x
    strided = np.repeat(x, 2, axis=0)[::2]
    for given in (x, strided, np.asfortranarray(x), x.astype(">f4"), odd, x.view(np.memmap), x):
        for args in ((given, x), (x, given)):
            sums, same = exe.main(*args)
            np.testing.assert_allclose(sums, expected, rtol=1e-6)
            np.testing.assert_array_equal(same, x)


def test_shapes_that_were_seen_are_forgotten(exe: xrelay.NativeExecutable, monkeypatch: Any):
    monkeypatch.setattr(entry_calls, "MOST_KEPT", 3)
    for n in (*range(1, 9), *range(1, 9)):
        x = np.full((n, 4), n, np.float32)
        assert exe.main(x, x)[1].shape == (n, 4)
    with pytest.raises(xrelay.Error, match="n must be from 1 to 64"):
        exe.main(np.zeros((65, 4), np.float32), np.zeros((65, 4), np.float32))


def test_views_are_copied_and_out_is_written(exe: xrelay.NativeExecutable):
    x = np.asfortranarray(rows(5))[::-1]
    out = np.empty((5, 4), np.float32), np.empty((4, 5), np.float32).T
    assert exe.main(x, x, out=out) is out
    np.testing.assert_allclose(out[0], np.exp(x) + x, rtol=1e-6)
    np.testing.assert_array_equal(out[1], x)


def test_out_may_be_an_argument(exe: xrelay.NativeExecutable):
    x = np.arange(3, dtype=np.int32)
    exe["double"](x, out=x)
    assert x.tolist() == [0, 2, 4]


def test_sizes_that_are_known_after_the_call(exe: xrelay.NativeExecutable):
    x = np.array([0, 3, 0, 5, 1, 0], np.int32)
    where, twice = exe.true_ones(x)
    np.testing.assert_array_equal(where, np.argwhere(x))
    np.testing.assert_array_equal(twice, 2 * x)
    assert [array.shape for array in exe.true_ones(x[:0])] == [(0, 1), (0,)]
    view = exe["view"](x, np.array([2, 3]))
    np.testing.assert_array_equal(view, x.reshape(2, 3))
    assert not np.may_share_memory(view, x)
    for shape in ([4, 2], [-5, 2], [2**40, 2**40]):
        with pytest.raises(xrelay.MachineError, match=r"cannot reshape a tensor of \[6\]"):
            exe["view"](x, np.array(shape))


def test_out_for_sizes_that_are_known_after_the_call(exe: xrelay.NativeExecutable):
    x = np.array([0, 3, 0, 5, 1, 0], np.int32)
    out = np.empty((3, 1), np.int32), np.empty(6, np.int32)
    assert exe.true_ones(x, out=out) is out
    np.testing.assert_array_equal(out[0], np.argwhere(x))
    with pytest.raises(xrelay.MachineError, match=r"^out\[0\] must be int32\[6, 1\], but is int32"):
        exe.true_ones(np.ones(6, np.int32), out=out)
    np.testing.assert_array_equal(out[1], 2 * x)  # as before the call that failed
    with pytest.raises(
        xrelay.MachineError, match=r"^out\[0\] must be int32\[\?, 1\], but is int32"
    ):
        exe.true_ones(x, out=(np.empty(3, np.int32), out[1]))


def resident() -> int:
    """Return the bytes of this process in memory; the peak may be that of other tests."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGESIZE


@pytest.mark.ci
def test_memory_of_results_is_freed_with_them(exe: xrelay.NativeExecutable):
    x = np.ones(1 << 20, np.int32)
    kept = [exe.true_ones(x)[0][-1] for _ in range(3)]
    before = resident()
    for _ in range(50):
        exe.true_ones(x)
    assert resident() - before < 50 << 20
    assert [int(row[0]) for row in kept] == [(1 << 20) - 1] * 3


def test_signature(exe: xrelay.NativeExecutable):
    assert exe.signature.splitlines() == [
        "main(x: float32[n, 4], y: float32[n, 4]) -> (sum: float32[n, 4], x: float32[n, 4])"
        " where n is from 1 to 64",
        "true_ones(x: int32[?]) -> (where: int32[?, 1], twice: int32[?])",
        "view(x: int32[6], k: int64[2]) -> (view: int32[?, ?])",
        "nested(p: any, e: any, x: float32[2]) -> (output_0: int64[], r: any)",
        "single(x: float32[2]) -> (output_0: any)",
        "double(int: int32[3]) -> (output_0: int32[3])",
    ]


@pytest.fixture(scope="module")
def machine(built: tuple[Path, Library]) -> xrelay.Executable:
    return xrelay.compile(built[0].with_name("net.mlir"))


def test_tuples(exe: xrelay.NativeExecutable, machine: xrelay.Executable):
    """Functions of a library take and return tuples as those of the machine do."""
    a, n, x = rows(1)[0, :2], rows(2)[0], rows(1)[0, 2:]
    for one in exe, machine:
        number, ((difference,), negative, nothing) = one.nested((a, [n, 7]), (), x=x)
        assert (number.dtype, number.shape, int(number)) == (np.int64, (), 7)
        np.testing.assert_array_equal(difference, a - x)
        np.testing.assert_array_equal(negative, -n)
        assert nothing == ()
        (only,) = one.single(x)
        np.testing.assert_array_equal(only, -x)
        out = np.array(0), ([np.zeros(2, np.float32)], np.zeros(4, np.float32), ())
        assert one.nested((a, (n, 7)), (), x, out=out) is out
        np.testing.assert_array_equal(out[1][0][0], a - x)
        np.testing.assert_array_equal(out[1][1], -n)
        assert out[0] == 7
    assert str(exe.nested.signature) == str(machine.nested.signature)
    assert str(exe.single.signature) == str(machine.single.signature)


def test_tuples_that_do_not_fit(exe: xrelay.NativeExecutable, machine: xrelay.Executable):
    x = rows(1)[0, :2]
    args = (x, (x, 7)), (), x
    room = np.array(0), ((np.zeros(2, np.float32),), np.zeros(2, np.float32), ())
    for out in (x, (), room[:1], (room[0], room[1][:2]), (room[0], (room[1][0], 3, ()))):
        with pytest.raises(xrelay.MachineError) as ours:
            exe.nested(*args, out=out)
        with pytest.raises(xrelay.MachineError) as theirs:
            machine.nested(*args, out=out)
        assert str(ours.value) == str(theirs.value)
    wrong: list[tuple[object, str]] = [
        (x, "'p' of nested must be a tuple of 2"),
        ((x,), "'p' of nested must be a tuple of 2"),
        ((x, (x, 7, 7)), "'p[1]' of nested must be a tuple of 2"),
        ((x, (x, 7.5)), "'p.2' of nested must be int64[], but is float64[]"),
        (((x,), (x, 7)), "'p.0' of nested must be float32[2], but is data"),
    ]
    for p, error in wrong:
        with pytest.raises(xrelay.MachineError) as found:
            exe.nested(p, (), x)
        assert str(found.value) == f"parameter {error}"
    with pytest.raises(xrelay.MachineError, match=r"nested needs a value for parameter 'x'"):
        exe.nested((x, (x, 7)), ())


def test_errors_are_those_of_the_machine(exe: xrelay.NativeExecutable, machine: xrelay.Executable):
    x = rows(2)
    calls: list[tuple[tuple[object, ...], dict[str, object]]] = [
        ((x, rows(3)), {}),
        ((rows(65), rows(65)), {}),
        ((rows(0), rows(0)), {}),
        ((x.astype(float), x), {}),
        ((x[0], x), {}),
        ((x,), {}),
        ((x, x, x), {}),
        ((x,), {"z": x}),
        ((x, x), {"out": (x, np.empty(3))}),
        ((x, x), {"out": x}),
    ]
    for args, named in calls:
        with pytest.raises(xrelay.MachineError) as ours:
            exe.main(*args, **named)
        with pytest.raises(xrelay.MachineError) as theirs:
            machine.main(*args, **named)
        assert str(ours.value) == str(theirs.value)


def test_threads(exe: xrelay.NativeExecutable):
    def work(n: int) -> bool:
        x = rows(n)
        return all(np.allclose(exe.main(x, x)[0], np.exp(x) + x, atol=1e-6) for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(1, 9)))


def test_threads_have_their_own_workspaces(exe: xrelay.NativeExecutable):
    def work(n: int) -> bool:
        x = np.full(3, n, np.int32)
        return all((exe["double"](x) == 2 * n).all() for _ in range(100))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(16)))


@pytest.mark.ci
def test_loads_without_a_compiler(built: tuple[Path, Library]):
    code = (
        "import sys; sys.modules['xdsl'] = None; import xrelay, numpy as np; "
        f"print(xrelay.load({str(built[0])!r}).double(np.ones(3, 'i')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, capture_output=True, text=True
    )
    assert done.stdout == "[2 2 2]\n"


def test_files_that_are_not_libraries(tmp_path: Path, built: tuple[Path, Library]):
    broken = tmp_path / "libbroken.so"
    broken.write_bytes(b"\x7fELF" + bytes(60))
    with pytest.raises(xrelay.MachineError, match="cannot load"):
        xrelay.load(broken)
    whole = built[0].read_bytes()
    for size in (64, 4096, len(whole) - 1):
        broken.write_bytes(whole[:size])
        with pytest.raises(xrelay.MachineError, match=f"has {size} bytes, but must have"):
            xrelay.load(broken)
    with pytest.raises(xrelay.MachineError, match="is machine code"):
        xrelay.load(built[0], memory_limit=1)
    with pytest.raises(InterfaceError, match="damaged"):
        Library.from_json('{"format": 3}')
    lost = Constant("w", TensorSpec("float32", (1,)), 0, 4)
    with pytest.raises(InterfaceError, match="'w' is in pool 0, which does not exist"):
        Library.from_json(Library("net", (), constants=(lost,)).to_json())


OTHERS = {
    "": "it has no symbol xrelay_library_metadata",
    '"{"': "the metadata are damaged",
    r'"{\"format\": 99}"': "have format 99, but this version reads 3: compile the program again",
    "0": "the metadata are damaged",
}
"""Libraries of others, by what their metadata are in C, and the errors."""


@pytest.mark.parametrize("text", OTHERS)
def test_libraries_of_others(tmp_path: Path, text: str):
    source, path = tmp_path / "other.c", tmp_path / "libother.so"
    function = f"const char *xrelay_library_metadata(void) {{ return {text}; }}"
    source.write_text(function if text else "int other;", encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", path], check=True, timeout=60)
    with pytest.raises(xrelay.MachineError, match=OTHERS[text]):
        xrelay.load(path)


def test_calls_of_kernels_are_listed(built: tuple[Path, Library]):
    main, *_, double = built[1].entries
    assert [call.function for call in main.calls] == ["main"] * len(main.calls)
    assert main.calls
    assert main.may_fail
    assert not double.may_fail


def test_metadata_are_kept(built: tuple[Path, Library]):
    text = built[1].to_json()
    assert Library.from_json(text).entries == built[1].entries
    assert Library.from_json(text).to_json() == text
    main, *_, double = built[1].entries
    assert (main.symbol, main.names) == ("net_main", ("x", "y", "sum", "x_1"))
    assert double.names == ("int_", "output_0")
    assert (double.io, main.io) == (24, None)


CHECKS = r"""
#include "net.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define FAILS(call) (call ? puts(net_last_error()) : puts("no error"))

int main(void) {
  int64_t dims[2] = {2, 2}, bad[2] = {-1, 2}, other[2] = {2, 3}, shapes[4], size;
  float x[8] = {0}, y[8] = {0}, a[9], b[8];
  int64_t shape[2] = {2, 4}, strides[2] = {1, 2};
  void *workspace;
  DLTensor t[4] = {
      {x, {1, 0}, 2, {2, 32, 1}, shape, NULL, 0}, {y, {1, 0}, 2, {2, 32, 1}, shape, NULL, 0},
      {a, {1, 0}, 2, {2, 32, 1}, shape, NULL, 0}, {b, {1, 0}, 2, {2, 32, 1}, shape, NULL, 0}};
  DLTensor *list[4] = {t, t + 1, t + 2, t + 3};
  int32_t six[6] = {0, 1, 2, 3, 4, 5};
  int64_t grid[2] = {2, 3}, place[2], six_shape[1] = {6}, two[1] = {2};
  DLTensor v = {.shape = place}, *views[3];
  DLTensor s = {six, {1, 0}, 1, {0, 32, 1}, six_shape, NULL, 0};
  DLTensor k = {grid, {1, 0}, 1, {0, 64, 1}, two, NULL, 0};
  views[0] = &s, views[1] = &k, views[2] = &v;
  size = net_main_workspace_size(dims);
  workspace = aligned_alloc(64, (size_t)(size + 63) / 64 * 64 + 64);
  if (size < 0 || net_main(x, y, a, b, dims, workspace) || a[7] != 1) return 1;
  if (net_main(x, y, a, b, dims, NULL) || net_main_packed(list, 4, NULL)) return 1;
  if (net_main_cpacked(list, 4, workspace, NULL)) return 1;
  if (net_main_output_shapes(dims, shapes) || shapes[0] != 2 || shapes[3] != 4) return 1;
  FAILS(net_main(x, y, a, b, bad, NULL));
  FAILS(net_main(x, y, a, b, other, NULL));
  FAILS(net_main(NULL, y, a, b, dims, NULL));
  FAILS(net_main(x, y, x, b, dims, NULL));
  FAILS(net_main(x, y, a, a + 1, dims, NULL));
  FAILS(net_main(x, y, (float *)((char *)a + 1), b, dims, NULL));
  FAILS(net_main(x, y, a, b, dims, (char *)workspace + 1));
  FAILS(net_main_packed(list, 3, NULL));
  t[0].strides = strides;
  FAILS(net_main_packed(list, 4, NULL));
  t[0].strides = NULL, t[0].dtype.bits = 64;
  FAILS(net_main_packed(list, 4, NULL));
  t[0].dtype.bits = 32, t[1].device.device_type = 2;
  FAILS(net_main_packed(list, 4, NULL));
  t[1].device.device_type = 1, list[3] = NULL;
  FAILS(net_main_packed(list, 4, NULL));
  free(workspace);
  if (net_view(six, grid, &v, NULL) || v.shape[1] != 3 || ((int32_t *)v.data)[5] != 5) return 1;
  net_release(v.data);
  v.data = NULL;
  if (net_view_packed(views, 3, NULL) || !v.data || net_view_output_shapes(NULL, shapes)) return 1;
  if (v.ndim != 2 || v.dtype.bits != 32 || shapes[0] != -1 || shapes[1] != -1) return 1;
  net_release(v.data);
  net_release(NULL);
  FAILS(net_view(six, grid, NULL, NULL));
  grid[0] = 4;
  FAILS(net_view(six, grid, &v, NULL));
  v.shape = NULL;
  FAILS(net_view_packed(views, 3, NULL));
  return strstr(net_metadata, "net_main") == NULL;
}
"""

MESSAGES = """\
dim 0 of main is -1
main: parameter 'x' has dim 0 (n) of 2, but parameter 'y' has dim 0 (n) of 3
the data of parameter 'x' of main are NULL
result 'sum' of main overlaps 'x'
result 'x' of main overlaps 'sum'
the data of result 'sum' of main must be aligned to 4 bytes
the workspace of main must be aligned to 64 bytes
main expects 4 tensors, 2 inputs and then 2 outputs, but got 3
parameter 'x' of main must be contiguous, but dim 1 has stride 2 in place of 1
parameter 'x' of main must be float32[?, 4], but is float64[2, 4]
parameter 'y' of main must be in the memory of the CPU, but is on device type 2
result 'x' of main is NULL
result 'view' of view must be a tensor with room for a shape of 2, but is NULL
cannot reshape a tensor of [6] to [4, 3]
result 'view' of view must be a tensor with room for a shape of 2, but is NULL
"""


def test_calls_from_c(built: tuple[Path, Library], tmp_path: Path):
    """All forms, and what they reject; with AddressSanitizer in what C compiles."""
    path, library = built
    (tmp_path / "net.h").write_text(header_source(library), encoding="utf-8")
    (tmp_path / "checks.c").write_text(CHECKS, encoding="utf-8")
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-fsanitize=address"]
    command += ["checks.c", str(path), f"-Wl,-rpath,{path.parent}", "-o", "checks"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    done = subprocess.run(
        [tmp_path / "checks"], check=False, timeout=60, capture_output=True, text=True
    )
    assert done.stderr == ""
    assert done.stdout == MESSAGES
    assert done.returncode == 0


WARNINGS = ["cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-c"]


@pytest.mark.ci
def test_a_c_compiler_reads_the_support_file_and_the_tables(
    built: tuple[Path, Library], tmp_path: Path
):
    folder = Path(linking.__file__).parents[1] / "c"
    generated = tmp_path / "interface.c"
    generated.write_text(interface_source(built[1]), encoding="utf-8")
    for source in (folder / "shim.c", generated):
        subprocess.run([*WARNINGS, source, "-o", tmp_path / "out.o"], check=True, timeout=60)


VIEWS = """
func.func @main(%x: tensor<4xi1>, %k: tensor<2xi64>) -> (tensor<2x2xi1>, tensor<?x?xi1>) {
  %a = relay.reshape %x {newshape = array<i64: 2, 2>} : (tensor<4xi1>) -> tensor<2x2xi1>
  %b = relay.dyn.reshape %x, %k : (tensor<4xi1>, tensor<2xi64>) -> tensor<?x?xi1>
  func.return %a, %b : tensor<2x2xi1>, tensor<?x?xi1>
}
"""


@pytest.mark.ci
def test_bools_on_foreign_bytes_are_returned_as_0_or_1(tmp_path: Path):
    """Results that are written into the caller's memory, and ones that the call allocates."""
    source = tmp_path / "net.mlir"
    source.write_text(VIEWS, encoding="utf-8")
    main = xrelay.load(build(source, AOT)[0])
    x = np.array([0, 1, 2, -1], np.int8).view(np.bool_)
    for result in main(x, np.array([2, 2])):
        assert result.dtype == np.bool_
        assert result.view(np.uint8).tolist() == [[0, 1], [1, 1]]

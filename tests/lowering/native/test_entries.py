"""
The interface of compiled programs, from source text to calls.

Each function is one that TVM's AOTLowerMain computes wrongly or refuses: a field after a nested
tuple, the result of a variable that is not visited last, a parameter or constant that is returned
twice or in a tuple, names that collide, branches, calls, and devices of which some have a context.
"""

import ctypes
import re
import subprocess
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xrelay
from xrelay.runtime.calls.values import Value, leaves
from xrelay.runtime.native.output_memory import DLTensor
from xrelay.runtime.program.program import Array
from xrelay.tools.opt.opt import main

V, W = "tensor<2xf32>", "tensor<3xi32>"
NESTED = f"tuple<tuple<{V}, {W}>, {V}>"
ENTRIES = f"""
func.func @projection(%p: {NESTED}) -> ({V}, {W}) {{
  %v = relay.tuple_get_item %p[1] : ({NESTED}) -> {V}
  %f = relay.tuple_get_item %p[0] : ({NESTED}) -> tuple<{V}, {W}>
  %w = relay.tuple_get_item %f[1] : (tuple<{V}, {W}>) -> {W}
  func.return %v, %w : {V}, {W}
}}
func.func @earlier(%x: {V}) -> {V} {{
  %a = relay.negative %x : ({V}) -> {V}
  %b = relay.exp %a : ({V}) -> {V}
  %c = relay.sqrt %b : ({V}) -> {V}
  func.return %a : {V}
}}
func.func @parameter_after_others(%x: {V}, %y: {V}) -> ({V}, {V}) {{
  %a = relay.add %x, %y : ({V}, {V}) -> {V}
  func.return %x, %a : {V}, {V}
}}
func.func @copies(%x: {V}, %p: tuple<{V}, {W}>)
    -> tuple<{V}, {V}, tuple<{V}, {W}>, tuple<{V}, {W}>> {{
  %r = relay.tuple %x, %x, %p, %p : ({V}, {V}, tuple<{V}, {W}>, tuple<{V}, {W}>)
      -> tuple<{V}, {V}, tuple<{V}, {W}>, tuple<{V}, {W}>>
  func.return %r : tuple<{V}, {V}, tuple<{V}, {W}>, tuple<{V}, {W}>>
}}
func.func @constants() -> ({V}, {V}, {W}) {{
  %v = relay.constant dense<[1.5, -2.0]> : {V}
  %w = relay.constant dense<[1, 2, 3]> : {W}
  func.return %v, %v, %w : {V}, {V}, {W}
}}
func.func @twice(%x: {V}) -> ({V}, {V}) {{
  %y = relay.exp %x : ({V}) -> {V}
  func.return %y, %y : {V}, {V}
}}
func.func @names(%0: {V} {{relay.name = "a.b"}}, %1: {V} {{relay.name = "a:b"}},
                 %2: {V} {{relay.name = "a_b"}}, %3: {V} {{relay.name = "int"}},
                 %4: {V} {{relay.name = "workspace"}})
    -> ({V} {{relay.name = "a_b"}}, {V} {{relay.name = "3"}}) {{
  %5 = relay.subtract %0, %1 : ({V}, {V}) -> {V}
  %6 = relay.subtract %2, %3 : ({V}, {V}) -> {V}
  %7 = relay.multiply %6, %4 : ({V}, {V}) -> {V}
  func.return %5, %7 : {V}, {V}
}}
func.func @"names.2"(%x: {V}) -> {V} {{
  %y = relay.negative %x : ({V}) -> {V}
  func.return %y : {V}
}}
func.func @names_2(%x: {V}) -> {V} {{
  func.return %x : {V}
}}
func.func @branches(%c: tensor<i1>, %x: {V}) -> {V} {{
  %r = relay.if %c : tensor<i1> -> ({V}) {{
    %y = func.call @earlier(%x) : ({V}) -> {V}
    relay.yield %y : {V}
  }} else {{
    relay.yield %x : {V}
  }}
  func.return %r : {V}
}}
func.func @types(%a: tensor<i1>, %b: tensor<2xui8>, %c: tensor<2xf16>, %d: tensor<0x4xi64>)
    -> (tensor<i1>, tensor<2xui8>, tensor<2xf16>, tensor<0x4xi64>) {{
  %e = relay.logical_not %a : (tensor<i1>) -> tensor<i1>
  %f = relay.add %b, %b : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xui8>
  %g = relay.add %c, %c : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xf16>
  %h = relay.add %d, %d : (tensor<0x4xi64>, tensor<0x4xi64>) -> tensor<0x4xi64>
  func.return %e, %f, %g, %h : tensor<i1>, tensor<2xui8>, tensor<2xf16>, tensor<0x4xi64>
}}
"""


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("entries")
    source, library = folder / "net.mlir", folder / "libnet.so"
    source.write_text(ENTRIES, encoding="utf-8")
    assert main([str(source), "-p", "aot", "-t", "native", "-o", str(library)]) == 0
    return library


@pytest.fixture(scope="module")
def exe(entries: Path) -> xrelay.NativeExecutable:
    loaded = xrelay.load(entries)
    assert isinstance(loaded, xrelay.NativeExecutable)
    return loaded


X, Y, N = np.array([1, -4], np.float32), np.array([3, 5], np.float32), np.arange(3, dtype=np.int32)
OTHER, FLOATS = np.array([-7, 8], np.float32), np.array([1.5, -2], np.float32)
BYTES, HALVES = np.array([200, 3], np.uint8), np.array([0.5, 2], np.float16)
TRUE, FALSE, NOTHING = np.array(True), np.array(False), np.empty((0, 4), np.int64)

CASES: dict[str, tuple[tuple[Value, ...], Value]] = {
    "projection": ((((X, N), Y),), (Y, N)),
    "earlier": ((X,), -X),
    "parameter_after_others": ((X, Y), (X, X + Y)),
    "copies": ((X, (Y, N)), (X, X, (Y, N), (Y, N))),
    "constants": ((), (FLOATS, FLOATS, N + 1)),
    "twice": ((X,), (np.exp(X), np.exp(X))),
    "names": ((X, Y, OTHER, X, Y), (X - Y, (OTHER - X) * Y)),
    "names.2": ((X,), -X),
    "names_2": ((X,), X),
    "types": ((TRUE, BYTES, HALVES, NOTHING), (FALSE, BYTES + BYTES, HALVES + HALVES, NOTHING)),
}


def shape_of(value: Value) -> object:
    return [shape_of(field) for field in value] if isinstance(value, tuple) else value.shape


def equal(found: Value, wanted: Value) -> None:
    assert shape_of(found) == shape_of(wanted)
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_results(exe: xrelay.NativeExecutable, name: str):
    inputs, wanted = CASES[name]
    found = exe[name](*inputs)
    equal(found, wanted)
    arrays = list(leaves(found))
    for i, array in enumerate(arrays):  # each has its own memory
        others = [*leaves(inputs), *arrays[:i]]
        assert not any(np.shares_memory(array, other) for other in others)


def test_branches_and_calls(exe: xrelay.NativeExecutable):
    """TVM's AOTLowerMain refuses both."""
    equal(exe["branches"](TRUE, X), -X)
    equal(exe["branches"](np.array(False), X), X)


def test_names_do_not_collide(exe: xrelay.NativeExecutable):
    library = exe.interface
    by_name = {entry.function.name: entry for entry in library.entries}
    assert by_name["names"].names == ("a_b_2", "a_b_3", "a_b", "int_", "workspace_1", "a_b_1", "v3")
    symbols = [entry.symbol for entry in library.entries]
    assert len(set(symbols)) == len(symbols)
    assert by_name["names_2"].symbol == "net_names_2"


def tensor(array: Array) -> DLTensor:
    """Return a DLPack tensor in the memory of `array`, which must outlive it."""
    code = {"i": 0, "u": 1, "f": 2, "b": 6}[array.dtype.kind]
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    pointer = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
    bits = 8 * array.dtype.itemsize
    made = DLTensor(array.ctypes.data, 1, 0, array.ndim, code, bits, 1, pointer, None, 0)
    return made


def packed(code: Any, symbol: str, tensors: Sequence[Array], *more: Any) -> int:
    """Call the packed or cpacked form `symbol` without a workspace."""
    made = [tensor(array) for array in tensors]
    listed = (ctypes.POINTER(DLTensor) * len(made))(*map(ctypes.pointer, made))
    return code[symbol](listed, len(made), None, *more)


@pytest.mark.parametrize("form", ["unpacked", "packed", "cpacked"])
@pytest.mark.parametrize("name", ["copies", "types"])
def test_forms(exe: xrelay.NativeExecutable, entries: Path, form: str, name: str):
    code, (inputs, wanted) = ctypes.CDLL(str(entries)), (list(leaves(v)) for v in CASES[name])
    outputs = [np.zeros_like(array) for array in wanted]
    if form == "unpacked":
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*inputs, *outputs)]
        assert code[f"net_{name}"](*pointers, None) == 0
    else:
        handle = [None] if form == "cpacked" else []
        assert packed(code, f"net_{name}_{form}", [*inputs, *outputs], *handle) == 0
    equal(tuple(outputs), tuple(wanted))


# ---- devices ----

G0, G1 = "#relay.device<cuda:0>", "#relay.device<cuda:1>"
DEVICES = f"""
func.func private @sine(%x: {V}) -> {V} {{
  %y = relay.sin %x : ({V}) -> {V}
  func.return %y : {V}
}}
func.func @main(%x: {V}, %c: tensor<i1>) -> {V} {{
  %e = relay.exp %x : ({V}) -> {V}
  %f = relay.on_device %e, {G0} {{constrain_body = true}} : ({V}) -> {V}
  %r = relay.if %c : tensor<i1> -> ({V}) {{
    %n = relay.negative %f : ({V}) -> {V}
    %o = relay.on_device %n, {G1} {{constrain_body = true}} : ({V}) -> {V}
    relay.yield %o : {V}
  }} else {{
    relay.yield %f : {V}
  }}
  %s = func.call @sine(%r) : ({V}) -> {V}
  %t = relay.on_device %s, #relay.device<cpu:0> {{constrain_body = false}} : ({V}) -> {V}
  func.return %t : {V}
}}
func.func @failing(%x: {V}) -> {V} {{
  %e = relay.topk %x {{k = 2 : i64, ret_type = "values", dtype = i32}} : ({V}) -> {V}
  %f = relay.on_device %e, {G1} {{constrain_body = true, constrain_result = false}} : ({V}) -> {V}
  func.return %f : {V}
}}
"""

EVENTS = ("activate", "open", "close", "deactivate")
HOOKS = """
#include <stdint.h>
static int events[64], count, failing;
static int32_t note(int event, void *context) {
  events[count] = 10 * event + (int)(intptr_t)context;
  return ++count == failing;
}
void reset(int event) { count = 0, failing = event; }
int event(int number) { return number < count ? events[number] : -1; }
""" + "".join(
    f"int32_t xrelay_device_cuda_{device}_{event}(void *c) {{ return note({i}, c); }}\n"
    for device, (i, event) in product((0, 1), enumerate(EVENTS))
)


@pytest.fixture(scope="module")
def hooked(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The program twice, with contexts for the last device only and for both, and its hooks."""
    folder = tmp_path_factory.mktemp("devices")
    source, hooks, library = (folder / name for name in ("net.mlir", "hooks.c", "libnet.so"))
    source.write_text(DEVICES, encoding="utf-8")
    hooks.write_text(HOOKS, encoding="utf-8")
    for name, contexts in (("one", '"cuda:1"'), ("both", '"cuda:0","cuda:1"')):
        passes = f"aot{{prefix={name} device-contexts={contexts}}}"
        made = ["-t", "object", "-o", f"{folder}/{name}.o"]
        assert main([str(source), "-p", passes, *made]) == 0
    objects = [folder / "one.o", folder / "both.o"]
    command = ["cc", "-shared", "-fPIC", hooks, *objects, "-lm", "-o", library]
    subprocess.run(command, check=True, timeout=60)
    return ctypes.CDLL(str(library))


def events_of(code: Any) -> list[str]:
    """Return the events so far, each with its context: 1 for cuda:0, 2 for cuda:1."""
    found: list[str] = []
    while (number := int(code.event(len(found)))) >= 0:
        found.append(f"{EVENTS[number // 10]} {number % 10}")
    return found


def run(
    code: Any, name: str, *inputs: Array, failing: int = 0, workspaces: int = 3
) -> tuple[int, Array, list[str]]:
    """Call an entry; return its status, its output, and the events."""
    output = np.zeros(2, np.float32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*inputs, output)]
    contexts = map(ctypes.c_void_p, (2,) if name.startswith("one") else (1, 2))
    code.reset(failing)
    status = code[name](*pointers, *[None] * workspaces, *contexts)
    return status, output, events_of(code)


USES = {
    "one": ["open 2", "close 2"] * 3,
    "both": [
        *("open 1", "close 1"),
        *("open 1", "open 2", "close 2", "close 1"),  # the copy
        *("open 2", "close 2", "open 2", "close 2"),
    ],
}


@pytest.mark.parametrize("name", USES)
def test_events_of_devices(hooked: Any, name: str):
    """Each is active in the whole call, and open around the uses of its memory on the path."""
    status, output, events = run(hooked, f"{name}_main", X, TRUE)
    assert status == 0
    np.testing.assert_allclose(output, np.sin(-np.exp(X)), rtol=1e-6)
    devices = ["2"] if name == "one" else ["1", "2"]
    activated, deactivated = ([f"{e} {d}" for d in devices] for e in ("activate", "deactivate"))
    assert events == [*activated, *USES[name], *deactivated]
    _, output, events = run(hooked, f"{name}_main", X, FALSE)
    np.testing.assert_allclose(output, np.sin(np.exp(X)), rtol=1e-6)
    assert events == [*activated, *USES[name][:-2], *deactivated]


def assert_balanced(events: Sequence[str], failed: int | None) -> None:
    """Check that what succeeded was undone, once, and that nothing began after a failure."""
    undone = {"open": "close", "activate": "deactivate"}
    done: list[str] = []
    for i, (event, device) in enumerate(text.split() for text in events):
        if event in undone:
            assert failed is None or i <= failed
            if i != failed:
                done.append(f"{undone[event]} {device}")
        else:
            done.remove(f"{event} {device}")
    assert not done


def test_events_after_a_failure_of_a_device(hooked: Any):
    error = hooked.both_last_error
    error.restype = ctypes.c_char_p
    _, _, events = run(hooked, "both_main", X, TRUE)
    for number, event in enumerate(events):
        status, _, found = run(hooked, "both_main", X, TRUE, failing=number + 1)
        name, device = event.split()
        assert status == 1
        assert error() == f"device cuda:{int(device) - 1} failed to {name}".encode()
        assert found[: number + 1] == events[: number + 1]
        assert_balanced(found, number)


def test_events_after_a_failure_of_a_kernel(hooked: Any):
    status, _, events = run(hooked, "one_failing", X, workspaces=2)
    assert status == 1
    assert events == ["activate 2", "open 2", "close 2", "deactivate 2"]
    error = hooked.one_last_error
    error.restype = ctypes.c_char_p
    assert re.search(rb"^kernel \w+ needs the runtime", error())


def test_contexts_of_the_cpacked_form(hooked: Any):
    """One context is the handle itself; several are an array."""
    output, handles = np.zeros(2, np.float32), (ctypes.c_void_p * 2)(1, 2)
    tensors = [X, TRUE, output]
    for name, handle in (("one", ctypes.c_void_p(2)), ("both", handles)):
        hooked.reset(0)
        assert packed(hooked, f"{name}_main_cpacked", tensors, None, None, handle) == 0
        assert [event for event in events_of(hooked) if "activate" not in event] == USES[name]
        np.testing.assert_allclose(output, np.sin(-np.exp(X)), rtol=1e-6)


@pytest.mark.ci
def test_devices_without_contexts(tmp_path: Path):
    """A loaded library, whose devices share the memory of the host."""
    source, library = tmp_path / "net.mlir", tmp_path / "libnet.so"
    source.write_text(DEVICES, encoding="utf-8")
    assert main([str(source), "-p", "aot", "-t", "native", "-o", str(library)]) == 0
    exe = xrelay.load(library)
    equal(exe.main(X, TRUE), np.sin(-np.exp(X)))
    equal(exe.failing(X), np.sort(X)[::-1])


def test_an_unknown_device(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    source = tmp_path / "net.mlir"
    source.write_text(DEVICES, encoding="utf-8")
    passes = 'aot{device-contexts="npu:0"}'
    assert main([str(source), "-p", passes]) == 1
    message = "error: the program has no device 'npu:0'; it has: cpu:0, cuda:0, cuda:1"
    assert message in capsys.readouterr().err

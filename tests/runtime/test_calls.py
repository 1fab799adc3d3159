"""Calls of a machine: arguments, places for results, threads, and calls that fail."""

import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from weakref import ref

import numpy as np
import pytest
from helpers.programs.machine_programs import call, f32, function, kernel, program

from xrelay.operators.named_dims import Bounds
from xrelay.runtime.errors import MachineError
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.bind import Thunk
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Function, Kernel, Param, Step, TensorSpec

ADD = kernel("add", [f32(2), f32(2)], f32(2))
X = np.array([1, 2], np.float32)
Y = np.array([10, 20], np.float32)


def adder() -> Machine:
    """main(x, y) is x + y."""
    code = [*call(0, [0, 1], 2, 2), vm.Ret(2)]
    return Machine(program(function([f32(2), f32(2)], *code), kernels=[ADD]), poison=True)


def identity(*specs: TensorSpec | None) -> Machine:
    """main returns its arguments as a tuple."""
    count = len(specs)
    code = [vm.AllocADT(count, 0, tuple(range(count))), vm.Ret(count)]
    return Machine(program(function(specs, *code)))


def test_a_machine_that_nobody_uses_returns_its_memory():
    memory = Memory(1 << 28)
    code = [*call(0, [0, 1], 2, 2), vm.Ret(2)]
    machine = Machine(program(function([f32(2), f32(2)], *code), kernels=[ADD]), memory=memory)
    machine.run("main", X, Y)
    assert memory.used
    lives = ref(machine)
    del machine
    gc.collect()
    assert lives() is None
    assert not memory.used


# -------------------------------------------------------------------------- arguments


class Exchanged:
    """An array that has DLPack's protocol only."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class Special(np.ndarray[Any, Any]):
    """A subclass of NumPy's arrays."""


def read_only(array: Any) -> Any:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "given",
    [
        np.array([5, 1, 6, 2], np.float32)[1::2],
        np.array([2, 1], np.float32)[::-1],
        X.astype(">f4"),
        read_only(X.copy()),
        X.view(Special),
        np.ma.masked_array([1, 2], dtype=np.float32),
        Exchanged(X),
        np.frombuffer(b"\0" + X.tobytes(), np.uint8)[1:].view(np.float32),
    ],
    ids=["strided", "reversed", "big-endian", "read-only", "subclass", "masked", "dlpack", "odd"],
)
def test_any_array_of_the_type_is_an_argument(given: Any):
    machine = adder()
    for x in (given, Y, given):
        want = [20, 40] if x is Y else [11, 22]
        (found,) = machine.run("main", x, Y)
        assert type(found) is np.ndarray
        assert found.tolist() == want


def test_arguments_may_be_one_array():
    machine = adder()
    pair = np.array([1, 2, 4], np.float32)
    assert machine.run("main", pair[:2], pair[1:])[0].tolist() == [3, 6]
    assert machine.run("main", pair[:2], pair[:2])[0].tolist() == [2, 4]


def test_arguments_without_elements_or_dims():
    machine = identity(f32(0, 3), f32(None, 2), f32())
    for rows in (0, 2, 0):
        empty, some, scalar = machine.run(
            "main", np.empty((0, 3), np.float32), np.ones((rows, 2), np.float32), np.float32(7)
        )
        assert (empty.shape, some.shape, scalar.shape) == ((0, 3), (rows, 2), ())
        assert scalar == 7


def test_a_weight_in_a_file_comes_back_as_a_plain_array(tmp_path: Path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    code = [vm.LoadConst(0, 0), vm.Ret(0)]
    (found,) = Machine(program(function([], *code), constants=[mapped])).run("main")
    assert type(found) is np.ndarray
    found[0] = 7
    assert adder().run("main", mapped, Y)[0].tolist() == [11, 22]


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.array(["a", "b"]), r"'x1' of main must be float32\[2\], but is str"),
        (np.array([X, None], object), r"'x1' of main must be float32\[2\], but is object"),
        (np.ma.masked_array(X, [True, False]), "'x1' of main: elements are masked"),
        (X.astype(np.float64), r"'x1' of main must be float32\[2\], but is float64\[2\]"),
        (X[:1], r"'x1' of main must be float32\[2\], but is float32\[1\]"),
        ((X, X), r"'x1' of main must be float32\[2\], but is data"),
        (np.float32(1), r"'x1' of main must be float32\[2\], but is float32\[\]"),
    ],
)
def test_an_argument_that_does_not_fit_is_named(x: Any, message: str):
    machine = adder()
    for _ in range(2):
        with pytest.raises(MachineError, match=message):
            machine.run("main", X, x)
        assert machine.run("main", X, Y)[0].tolist() == [11, 22]
    any_type = identity(None, None)
    with pytest.raises(MachineError, match="'x1' of main has unsupported type complex64"):
        any_type.run("main", X, (X, X.astype(np.complex64)))


def test_an_argument_that_does_not_fit_takes_no_memory():
    machine = Machine(program(function([f32(2)], vm.Ret(0))), memory_limit=1 << 20)
    huge = np.broadcast_to(np.float32(1), (1 << 30,))
    with pytest.raises(MachineError, match=r"'x0' of main must be float32\[2\], but is float32\[1"):
        machine.run("main", huge)


def test_named_dims_are_checked_at_every_call():
    params = (Param("x", f32(None), 0, ("n",)), Param("y", f32(None), 0, ("n",)))
    main = Function("main", params, 2, (vm.Ret(0),), dim_bounds={"n": Bounds(1, 3)})
    machine = Machine(program(main))
    three, four = np.zeros(3, np.float32), np.zeros(4, np.float32)
    assert machine.run("main", three, three)[0].shape == (3,)
    for args, message in [
        ((three, four), "parameter 'y' has dim 0 .n. of 4"),
        ((four, four), "n must be from 1 to 3"),
        ((three[:2], three), "parameter 'x' has dim 0 .n. of 2, but parameter 'y' has dim 0"),
    ]:
        with pytest.raises(MachineError, match=message):
            machine.run("main", *args)
        assert machine.run("main", three, three)[0].shape == (3,)


# ------------------------------------------------------------------ places for results


def test_a_result_is_written_where_the_caller_says():
    machine = adder()
    out = np.zeros(2, np.float32)
    assert machine.evaluate("main", X, Y, out=out) is out
    assert out.tolist() == [11, 22]
    wide = np.zeros((2, 2), np.float32)
    machine.evaluate("main", X, Y, out=wide[:, 1])
    assert wide.tolist() == [[0, 11], [0, 22]]
    x = X.copy()
    for want in ([11, 22], [21, 42]):
        assert machine.evaluate("main", x, Y, out=x).tolist() == want  # type: ignore[union-attr]


def test_results_of_a_tuple_are_written_in_order():
    machine = identity(f32(2), None)
    out = (np.zeros(2, np.float32), (np.zeros(2, np.float32), np.zeros(2, np.float32)))
    assert machine.evaluate("main", X, (Y, X), out=out) is out
    assert [part.tolist() for part in (out[0], *out[1])] == [[1, 2], [10, 20], [1, 2]]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (np.zeros(2), r"^out\[1\] must be float32\[2\], but is float64\[2\]$"),
        (np.zeros(3, np.float32), r"^out\[1\] must be float32\[2\], but is float32\[3\]$"),
        (read_only(np.zeros(2, np.float32)), r"^out\[1\] is read-only$"),
        ([1, 2], r"^out\[1\] must be an array, but is list$"),
        (None, r"^out must be a tuple of 2$"),
    ],
)
def test_places_that_do_not_fit_are_not_written(second: Any, message: str):
    machine = identity(f32(2), f32(2))
    first = np.zeros(2, np.float32)
    out: Any = (first,) if second is None else (first, second)
    with pytest.raises(MachineError, match=message):
        machine.evaluate("main", X, Y, out=out)
    assert first.tolist() == [0, 0]


# ------------------------------------------------------------------ calls that fail


def calling(run: Callable[[Any], object]) -> Machine:
    """main(x) is x + x; `run(x)` is called in a kernel in between."""

    def bind(attrs: Any, ins: Any, outs: Any) -> Thunk:
        def thunk() -> None:
            outs[0][...] = ins[0]
            run(ins[0])

        return thunk

    probe = Kernel("probe", (f32(2),), (), (f32(2),), (Step("my.probe", {}, (0,), (1,)),), (1,))
    code = [*call(0, [0], 1, 2), *call(1, [1, 1], 3, 2), vm.Ret(3)]
    made = program(function([f32(2)], *code), kernels=[probe, ADD])
    return Machine(made, kernels={**KERNELS, "my.probe": bind}, poison=True)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, ZeroDivisionError])
def test_a_machine_goes_on_after_any_exception(error: type[BaseException]):
    def run(x: Any) -> None:
        if x[0] < 0:
            raise error

    machine = calling(run)
    expected = error if not issubclass(error, Exception) else MachineError
    for _ in range(3):
        with pytest.raises(expected):
            machine.run("main", -X)
        assert machine.run("main", X)[0].tolist() == [2, 4]
    assert machine.memory.used <= 3 * 4096


def test_floating_point_settings_are_the_callers_again():
    found: list[Any] = []
    machine = calling(lambda x: found.append(np.geterr()["divide"]) if x[0] > 0 else 1 / 0)
    with np.errstate(divide="raise"):
        machine.run("main", X)
        with pytest.raises(MachineError):
            machine.run("main", -X)
        assert np.geterr()["divide"] == "raise"
    assert found == ["ignore"]


def test_a_kernel_may_call_its_own_machine():
    depth: list[int] = []

    def run(x: Any) -> None:
        if len(depth) < 5:
            depth.append(0)
            assert machine.run("main", x)[0].tolist() == [2, 4]

    machine = calling(run)
    assert machine.run("main", X)[0].tolist() == [2, 4]


def test_many_threads_with_many_shapes_and_errors():
    rows = f32(None, 4)
    code = [
        vm.ShapeOf(1, 0),
        vm.LoadConsti(2, 16),
        vm.LoadConsti(3, 0),
        vm.Compute(4, "extract", (1, 3)),
        vm.Compute(5, "muli", (2, 4)),
        vm.AllocStorage(6, vm.Reg(5), 64),
        vm.AllocTensorReg(7, 6, 0, 1, "float32"),
        vm.InvokePacked(0, (0, 0), (7,)),
        vm.Ret(7),
    ]
    made = program(function([rows], *code), kernels=[kernel("add", [rows, rows], rows)])
    machine = Machine(made, poison=True)

    def work(seed: int) -> int:
        random = np.random.default_rng(seed)
        for _ in range(200):
            count = int(random.integers(0, 24)) if seed % 2 else 7
            if random.random() < 0.1:
                with pytest.raises(MachineError, match="parameter 'x0'"):
                    machine.run("main", np.zeros(3))
            x = random.random((count, 4), np.float32)
            out = np.empty_like(x) if random.random() < 0.5 else None
            y: Any = machine.evaluate("main", x, out=out)
            np.testing.assert_array_equal(y, x + x)
        return 200

    with ThreadPoolExecutor(8) as pool:
        total = sum(pool.map(work, range(8)))
    assert machine.counters.instructions["ret"] == total == 1600
    assert machine.counters.allocations[0] == 1600


# ------------------------------------------------------------------------- constants


def test_constants_are_used_in_place_on_every_device():
    """Also those of a program with little memory; a splat is expanded once for all devices."""
    big = np.ones(1 << 20, np.float32)
    splat = np.broadcast_to(np.float32(2), (1 << 20,))
    spec = f32(1 << 20)
    first = Kernel("first", (spec,), (), (f32(1),), (Step("my.first", {}, (0,), (1,)),), (1,))
    code: list[vm.Instruction] = []
    for constant in (0, 1):
        for device in (0, 1):
            at = 4 * (2 * constant + device)
            code += [
                vm.LoadConst(at, constant, device),
                vm.AllocStorage(at + 1, 4, 64, device),
                vm.AllocTensor(at + 2, at + 1, 0, (1,), "float32"),
                vm.InvokePacked(0, (at,), (at + 2,)),
            ]
    seen: list[Any] = []

    def bind(attrs: Any, ins: Any, outs: Any) -> Thunk:
        seen.append(ins[0])
        return lambda: outs[0].fill(ins[0][0])

    machine = Machine(
        program(
            function([], *code, vm.Ret(2)),
            kernels=[first],
            constants=[big, splat],
            devices=("cpu:0", "cuda:0"),
        ),
        kernels={"my.first": bind},
        memory_limit=5 << 20,
    )
    assert machine.run("main")[0].tolist() == [1]
    assert all(np.shares_memory(array, big) for array in seen[:2])
    assert np.shares_memory(seen[2], seen[3])
    assert splat.nbytes <= machine.memory.used < splat.nbytes + 4096

"""All prepared calls lie in the same bytes."""

import gc
import mmap
import weakref
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from helpers.machine.recorded import without_templates
from helpers.programs.machine_programs import call, f32, function, kernel, program

from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory import arena as arena_module
from xrelay.runtime.memory import regions
from xrelay.runtime.memory.limits import Memory
from xrelay.runtime.memory.regions import Extent, Region
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Function, Program, TensorSpec

MIB = 1 << 20
ROWS = f32(None, 4)


@pytest.fixture(params=[True, False], ids=["reserved", "in pieces"])
def reserves(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run a test twice: where regions can reserve addresses, and where they cannot."""
    if not request.param:
        monkeypatch.setattr(regions, "can_reserve", lambda: False)
    return request.param


def doubling(name: str = "main", device: int = 0) -> Function:
    """(x + x) + x in new storages, for any number of rows."""
    code: list[vm.Instruction] = [
        vm.ShapeOf(1, 0),
        vm.LoadConsti(2, 16),
        vm.LoadConsti(3, 0),
        vm.Compute(4, "extract", (1, 3)),
        vm.Compute(5, "muli", (2, 4)),
    ]
    for operand, storage in ((0, 6), (7, 8)):
        code += [
            vm.AllocStorage(storage, vm.Reg(5), 64, device),
            vm.AllocTensorReg(storage + 1, storage, 0, 1, "float32"),
            vm.InvokePacked(0, (operand, 0), (storage + 1,)),
        ]
    return function([ROWS], *code, vm.Ret(9), name=name, devices=[device])


def tripled() -> Program:
    return program(doubling(), kernels=[kernel("add", [ROWS, ROWS], ROWS)])


def rows(count: int) -> Any:
    return np.arange(4 * count, dtype=np.float32).reshape(count, 4)


def used_by(count: int) -> int:
    """The memory of a machine that was called with so many rows only."""
    machine = Machine(tripled())
    machine.run("main", rows(count))
    return machine.memory.used


def test_many_shapes_take_the_memory_of_the_largest(reserves: bool):
    machine = Machine(tripled(), poison=True)
    random = np.random.default_rng(0)
    counts = [4000, *random.integers(0, 4000, 60), 4000]
    for count in counts:
        x = rows(count)
        (y,) = machine.run("main", x)
        np.testing.assert_array_equal(y, 3 * x)
    assert 3 * 4000 * 16 <= machine.memory.used <= used_by(4000)
    (arena,) = machine.idle
    assert len(arena.entries) == 1  # other shapes run the template of the second


def test_growing_shapes_take_little_more(reserves: bool):
    """In pieces, outgrown buffers stay as long as an entry uses them."""
    machine = Machine(tripled())
    for count in range(250, 4001, 250):
        x = rows(count)
        np.testing.assert_array_equal(machine.run("main", x)[0], 3 * x)
    assert machine.memory.used <= used_by(4000) * (1 if reserves else 2)


def test_the_longest_path_decides_and_calls_share_bytes(reserves: bool):
    """f is called ten times, and keeps two storages alive at once."""
    add = kernel("add", [f32(256), f32(256)], f32(256))
    f = function([f32(256)], *call(0, [0, 0], 1, 256), *call(0, [1, 0], 3, 256), vm.Ret(3))
    main = [code for i in range(10) for code in (vm.Invoke(i + 1, 1, (i,)), vm.KillRegister(i))]
    both = [function([f32(256)], *main, vm.Ret(10)), Function("f", f.params, 64, f.instructions)]
    machine = Machine(program(*both, kernels=[add]))
    x = np.ones(256, np.float32)
    assert machine.run("main", x)[0][0] == 3**10
    assert machine.held == [4 * 1024]  # the argument, one result, two storages
    assert machine.memory.used == 4 * 1024


def test_memory_of_an_unusually_large_call_is_returned():
    machine = Machine(tripled(), poison=True)
    large, small = rows(200_000), rows(10)
    used: list[int] = []
    for x in [large, *[small] * 40, large, large]:
        np.testing.assert_array_equal(machine.run("main", x)[0], 3 * x)
        used.append(machine.memory.used)
    assert used[0] == used_by(200_000) > 9 * MIB
    assert used[-3] <= mmap.PAGESIZE
    assert MIB < used[-1] <= used[0]
    assert all(a >= b for a, b in pairwise(used[:41]))


def test_a_call_of_a_few_rows_more_covers_nothing(monkeypatch: pytest.MonkeyPatch):
    machine, cover = Machine(tripled()), Extent.cover
    for count in (1, 2):  # the second one gets a template
        machine.run("main", rows(count))
    covered: list[int] = []

    def counted(extent: Extent, size: int, what: str) -> None:
        covered.append(size)
        cover(extent, size, what)

    monkeypatch.setattr(Extent, "cover", counted)
    for count in range(3, 129):
        np.testing.assert_array_equal(machine.run("main", rows(count))[0], 3 * rows(count))
    assert covered == [64 + 32, 0, mmap.PAGESIZE, 0]  # when it is bound, and for the third call


def test_whole_pages_are_covered_within_the_limit():
    memory = Memory(mmap.PAGESIZE + 100)
    region = Region(memory)
    assert region.whole_pages(1) == region.whole_pages(mmap.PAGESIZE) == mmap.PAGESIZE
    assert region.whole_pages(mmap.PAGESIZE + 1) == mmap.PAGESIZE + 1
    memory.reserve(200)
    assert region.whole_pages(1) == 1


def test_a_limit_that_fits_each_call_fits_all():
    """Storages prepared on one device are freed when a call on the other reaches the limit."""
    functions = [doubling("f", 0), doubling("g", 1)]
    add = kernel("add", [ROWS, ROWS], ROWS)
    both = program(*functions, kernels=[add], devices=("cpu:0", "cuda:0"))
    machine = Machine(both, memory_limit=4 * MIB)
    x = rows(4 * MIB // 64)
    for name in ("f", "g", "f"):
        np.testing.assert_array_equal(machine.run(name, x[:-4000])[0], 3 * x[:-4000])
    with pytest.raises(MachineError, match=r"f\[8\] alloc_storage: a storage of .* needs .* limit"):
        machine.run("f", np.concatenate([x, x]))
    np.testing.assert_array_equal(machine.run("g", x[:-4000])[0], 3 * x[:-4000])


def test_the_types_of_a_function_that_were_used_before_are_dropped_at_once(
    monkeypatch: pytest.MonkeyPatch,
):
    without_templates(monkeypatch)
    machine = Machine(tripled())
    inputs: dict[int, Any] = {}
    gc.disable()
    try:
        for count in (1, 2, 3):
            machine.run("main", rows(count))
            (arena,) = machine.idle
            assert arena.last is not None
            inputs[count] = weakref.ref(arena.last.inputs[0])
        assert [count for count, found in inputs.items() if found() is not None] == [3]
    finally:
        gc.enable()


def test_recorded_paths_have_a_limit_together(monkeypatch: pytest.MonkeyPatch):
    names = [f"f{i}" for i in range(10)]
    add = kernel("add", [ROWS, ROWS], ROWS)
    many, x = program(*map(doubling, names), kernels=[add]), rows(2)
    machine = Machine(many)
    machine.run("f0", x)
    (arena,) = machine.idle
    one = arena.trace_size
    monkeypatch.setattr(arena_module, "MAX_TRACE_SIZE", 3 * one)
    machine = Machine(many)
    for number, name in enumerate(names):
        np.testing.assert_array_equal(machine.run(name, x)[0], 3 * x)
        (arena,) = machine.idle
        assert arena.trace_size == one * len(arena.entries)
        assert len(arena.entries) == (number + 1) % 4


def test_what_references_hold_is_not_overwritten_on_another_path():
    """g returns its argument on both paths, but on one it leaves a sum in the reference."""
    add = kernel("add", [f32(2), f32(2)], f32(2))
    flag = TensorSpec("bool", ())
    g = function(
        [None, f32(2), flag],
        vm.If(2, None, 1, 5),
        *call(0, [1, 1], 3, 2),
        vm.WriteRef(0, 3),
        vm.Ret(1),
    )
    main = function(
        [f32(2), flag],
        vm.AllocRef(2, 0),
        vm.Invoke(3, 1, (2, 0, 1)),
        *call(0, [3, 3], 4, 2),
        *call(0, [4, 4], 6, 2),
        vm.ReadRef(8, 2),
        vm.Ret(8),
    )
    both = [main, Function("g", g.params, 64, g.instructions)]
    machine = Machine(program(*both, kernels=[add]), poison=True)
    x = np.array([1, 2], np.float32)
    for flag_now, want in [(False, [1, 2]), (True, [2, 4]), (False, [1, 2])]:
        assert machine.run("main", x, flag_now)[0].tolist() == want


def test_a_machine_returns_its_memory_when_it_dies():
    memory = Memory(MIB)
    machine = Machine(tripled(), memory=memory)
    machine.run("main", rows(100))
    assert memory.used > 4000
    del machine
    gc.collect()
    memory.reclaim = gc.collect
    gc.collect()
    assert memory.used == 0


# --------------------------------------------------------------------------- regions


def test_a_region_is_zero_after_it_was_trimmed(reserves: bool):
    memory = Memory(MIB)
    region = Region(memory)
    region.cover(10_000, "a table")
    view = region.view(0, 10_000)
    view.fill(7)
    region.trim(100)
    assert memory.used == region.charged == 100
    region.cover(10_000, "a table")
    assert view[:100].tolist() == [7] * 100
    assert not view[8192:].any()
    assert memory.used == 10_000


def test_views_survive_a_region_that_grows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(regions, "can_reserve", lambda: False)
    memory = Memory(8 * MIB)
    extent = Extent(Region(memory))
    extent.cover(1000, "a table")
    old = extent.view(0, 1000)
    old.fill(1)
    extent.cover(MIB, "a table")
    new = extent.view(0, MIB)
    new.fill(2)
    assert (old == 1).all()
    assert memory.used == MIB + 1000
    del old
    assert memory.used == MIB
    assert new.ctypes.data % MIB == 0


def test_a_system_that_refuses_large_mappings(monkeypatch: pytest.MonkeyPatch):
    whole = regions.map_memory

    def refuse(size: int) -> Any:
        if size > 4 * MIB:
            raise OSError(12, "Cannot allocate memory")
        return whole(size)

    monkeypatch.setattr(regions, "map_memory", refuse)
    machine = Machine(tripled())
    np.testing.assert_array_equal(machine.run("main", rows(100))[0], 3 * rows(100))
    with pytest.raises(MachineError, match="but the system has not enough"):
        machine.run("main", rows(100_000))
    np.testing.assert_array_equal(machine.run("main", rows(100))[0], 3 * rows(100))

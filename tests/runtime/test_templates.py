"""Templates of recorded paths: calls with new sizes neither record nor bind."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from helpers.machine.recorded import count_recorded, same, without_templates
from helpers.machine.reference_machine import ReferenceMachine
from helpers.programs.machine_programs import f32, function, kernel
from helpers.programs.machine_programs import program as machine_program

import xrelay
from xrelay.operators.sizes import Check
from xrelay.runtime.calls.values import Tagged
from xrelay.runtime.kernels.loading import kernels_of
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.observe.profile_report import parts
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import Program
from xrelay.runtime.templates.sizes import NoTemplate, Trace, Traced

TEXT = """
func.func @main(%x: !t {relay.dims = ["n", 8]}, %y: !t {relay.dims = ["m", 8]}) -> (!t, !t) {
  %z = relay.concatenate %x, %y : (!t, !t) -> !t
  %s = relay.nn.softmax %z : (!t) -> !t
  %t = relay.add %s, %z : (!t, !t) -> !t
  func.return %t, %z : !t, !t
}
""".replace("!t", "tensor<?x8xf32>")


@pytest.fixture(scope="module", name="program")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return program_of(TEXT, tmp_path_factory.mktemp("templates"))


def program_of(text: str, folder: Path) -> Program:
    path = folder / "main.mlir"
    path.write_text(text)
    return xrelay.compile(path).program


def arguments(n: int, m: int) -> list[Any]:
    random = np.random.default_rng(n * 100 + m)
    return [random.standard_normal((rows, 8)).astype(np.float32) for rows in (n, m)]


@pytest.mark.parametrize("option", [{}, {"poison": True}, {"sanitize": True}])
def test_new_sizes_are_not_recorded(
    program: Program, monkeypatch: pytest.MonkeyPatch, option: dict[str, bool]
):
    machine, reference = Machine(program, **option), ReferenceMachine(program)  # pyright: ignore
    segments = count_recorded(monkeypatch)
    for n, m in [(2, 3), (4, 6), (5, 2), (300, 70), (3, 3), (7, 1000)]:
        args = arguments(n, m)
        args[0] = np.asfortranarray(args[0])  # kernels need it contiguous
        result = machine.run("main", *args)
        same(result, reference.run("main", *args))
        z = np.concatenate(args)
        powers = np.exp(z - z.max(-1, keepdims=True))
        np.testing.assert_allclose(result[0], powers / powers.sum(-1, keepdims=True) + z, 1e-5)
    assert len(segments) == 2


def test_results_share_no_memory_with_the_machine_or_arguments(program: Program):
    machine = Machine(program)
    kept: list[Any] = []
    for n in range(2, 8):
        args = arguments(n, n + 1)
        result = machine.run("main", *args)
        kept.append((result, [array.copy() for array in result]))
        assert not any(np.may_share_memory(x, y) for x in args for y in result)
    for result, copies in kept:
        same(result, copies)


def test_counters_are_those_of_recorded_calls(program: Program):
    calls = [(2, 3), (4, 6), (5, 2), (30, 70)]
    machine = Machine(program)
    for n, m in calls:
        machine.run("main", *arguments(n, m))
    each = [Machine(program) for _ in calls]
    for one, (n, m) in zip(each, calls, strict=True):
        one.run("main", *arguments(n, m))
    found = machine.counters
    assert found.instructions == sum((one.counters.instructions for one in each), Counter[str]())
    assert found.storage_bytes.total() == sum(one.counters.storage_bytes.total() for one in each)
    assert found.peak == {0: max(one.counters.peak[0] for one in each)}


def test_a_profile_is_that_of_recorded_calls(program: Program, monkeypatch: pytest.MonkeyPatch):
    machine = Machine(program)
    for n in range(2, 5):
        machine.run("main", *arguments(n, n))
    segments = count_recorded(monkeypatch)
    with machine.profile() as found:
        for n in range(5, 9):
            machine.run("main", *arguments(n, n + 1))
    assert segments == []
    without_templates(monkeypatch)
    recorded = Machine(program)
    with recorded.profile() as wanted:
        for n in range(5, 9):
            recorded.run("main", *arguments(n, n + 1))
    kernels = [
        {work: total.count for work, total in profile.times.works.items() if work.kernel}
        for profile in (found, wanted)
    ]
    assert kernels[0] == kernels[1] != {}
    assert found.times.peak == wanted.times.peak
    assert {d: (t.count, t.size) for d, t in found.times.allocations.items()} == {
        d: (t.count, t.size) for d, t in wanted.times.allocations.items()
    }
    assert sum(parts(found.times).values()) == found.times.total
    assert found.times.recording == 0 < wanted.times.recording


def test_faults_of_kernels_are_found_at_sizes_that_were_not_recorded(program: Program):
    """The sanitizer sees templates: here a kernel that leaves an element of long tensors."""
    operators = (step.op for kernel in program.kernels for step in kernel.steps)
    kernels = dict(kernels_of(operators))

    def bind(attrs: Any, ins: Any, outs: Any) -> Any:
        def run() -> None:
            count = outs[0].size - (len(outs[0]) > 20)
            x, y, z = (array.reshape(-1)[:count] for array in (*ins, *outs))
            np.add(x, y, out=z)

        return run

    machine = Machine(program, sanitize=True, kernels=kernels | {"relay.add": bind})
    for n in range(2, 6):
        same(machine.run("main", *arguments(n, n)), Machine(program).run("main", *arguments(n, n)))
    assert machine.templates.runs == {0: 2}
    with pytest.raises(xrelay.MachineError, match=r"relay\.add does not write 4 of 704 bytes"):
        machine.run("main", *arguments(11, 11))


def test_errors_are_those_of_recorded_calls(program: Program):
    machine = Machine(program, memory_limit=1 << 20)
    for n in range(2, 6):
        machine.run("main", *arguments(n, n + 1))
    with pytest.raises(xrelay.MachineError, match="parameter 'y' of main must be"):
        machine.run("main", *arguments(2, 3)[:1], np.ones((3, 9), np.float32))
    with pytest.raises(xrelay.MachineError, match="memory limit"):
        machine.run("main", *arguments(20_000, 20_000))
    machine.run("main", *arguments(9, 4))


DATA = """
func.func @main(
    %x: tensor<?xf32> {relay.dims = ["n"]}, %count: tensor<i64>, %flag: tensor<i1>
) -> tensor<?xf32> {
  %shape = relay.expand_dims %count {axis = 0, num_newaxis = 1} : (tensor<i64>) -> tensor<1xi64>
  %rows = relay.dyn.ones %shape {dtype = f32} : (tensor<1xi64>) -> tensor<?xf32>
  %r = relay.if %flag : tensor<i1> -> (tensor<?xf32>) {
    %a = relay.concatenate %x, %rows : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    relay.yield %a : tensor<?xf32>
  } else {
    %b = relay.concatenate %rows, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    relay.yield %b : tensor<?xf32>
  }
  func.return %r : tensor<?xf32>
}
"""


def test_sizes_and_decisions_from_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A decision is a guard, so both ways have templates; a size is one of the call."""
    machine = Machine(program_of(DATA, tmp_path))
    segments = count_recorded(monkeypatch)
    for number, n in enumerate([2, 3, 4, 5, 6, 7, 8, 9, 10]):
        if number == 4:
            segments.clear()
        x, ones = np.arange(n, dtype=np.float32), np.ones(2 * n, np.float32)
        (found,) = machine.run("main", x, np.int64(2 * n), n % 2 == 0)
        same([found], [np.concatenate([x, ones] if n % 2 == 0 else [ones, x])])
    assert segments == []


def test_a_kernel_that_cannot_be_traced_is_bound_in_each_call(tmp_path: Path):
    text = """
func.func @main(%x: tensor<?xf32>, %y: tensor<?x8xf32>) -> (tensor<?xf32>, tensor<?x8xf32>) {
  %a = relay.reverse %x {axis = 0} : (tensor<?xf32>) -> tensor<?xf32>
  %b = relay.nn.softmax %y : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %a, %b : tensor<?xf32>, tensor<?x8xf32>
}
"""
    program = program_of(text, tmp_path)
    machine, reference = Machine(program), ReferenceMachine(program)
    for n in range(2, 9):
        args = [np.linspace(-2, 2, 9 * n).astype(np.float32), arguments(n, 2)[0]]
        same(machine.run("main", *args), reference.run("main", *args))
    ((template,),) = machine.templates.by_function.values()
    assert template.opaque
    assert machine.templates.runs == {0: 5}


def test_names_of_a_program_are_data(tmp_path: Path):
    """Names with quotes and newlines do not become code."""
    machine = Machine(program_of(TEXT.replace('"n"', '"n\\22) or\\0Aimport os #"'), tmp_path))
    for n in range(2, 5):
        assert machine.run("main", *arguments(n, 3))[0].shape == (n + 3, 8)
    ((template,),) = machine.templates.by_function.values()
    assert "import" not in template.source
    assert "fused" not in template.source


def test_guards_are_the_decisions_that_bounds_leave_open():
    trace = Trace()
    n: Any = trace.dim("n", 5)
    assert isinstance(n, Traced)
    n = cast(Any, n)
    assert n + 1 > 2  # always: a dim is at least 2
    assert n * 4 < 100
    assert (n * 4 + 8) // 4 - 2 is n
    assert n * 8 >= n * 4 + 8  # always
    assert max(n, 3) is n
    guards = [code for name, code in trace.lines if not name]
    assert guards[1:] == ["s2 < 100", "s0 >= 3"]
    assert list(range(n)) == [0, 1, 2, 3, 4]  # fixes the value
    assert trace.binary("*", n, 2) == 10
    with pytest.raises(NoTemplate):
        n.require(Check.EQUAL, n, 6, "differ")


def test_slices_are_planned_by_the_sizes_of_a_call():
    """x and y are parts of an arena: abs(x) at one offset, -abs(x) at another."""
    kernels = [kernel(op, [f32(None)], f32(None)) for op in ("abs", "negative")]
    code = [
        vm.ShapeOf(1, 0),
        vm.LoadConsti(2, 0),
        vm.LoadConsti(3, 4),
        vm.Compute(4, "extract", (1, 2)),
        vm.Compute(5, "muli", (3, 4)),
        vm.Pack(6, (7, 8), 64, (0, 2, 1, 3), (vm.Reg(5), vm.Reg(5))),
        vm.AllocStorage(9, vm.Reg(6), 64),
        vm.SliceStorage(10, 9, vm.Reg(7), vm.Reg(5), 64),
        vm.SliceStorage(11, 9, vm.Reg(8), vm.Reg(5), 64),
        vm.AllocTensorReg(12, 10, 0, 1, "float32"),
        vm.AllocTensorReg(13, 11, 0, 1, "float32"),
        vm.InvokePacked(0, (0,), (12,)),
        vm.InvokePacked(1, (12,), (13,)),
        vm.AllocADT(14, 0, (12, 13)),
        vm.Ret(14),
    ]
    machine = Machine(machine_program(function([f32(None)], *code), kernels=kernels))
    for n in (3, 20, 40, 41, 300):
        x = np.linspace(-1, 1, n, dtype=np.float32)
        same(machine.run("main", x), [np.abs(x), -np.abs(x)])
    assert machine.templates.runs == {0: 3}


def test_data_of_constructors_are_arguments():
    code = [
        vm.GetTag(1, 0),
        vm.GetField(2, 0, 0),
        vm.AllocADT(3, 2, (1, 2)),
        vm.Ret(3),
    ]
    machine = Machine(machine_program(function([None], *code)))
    for n, tag in [(2, 1), (3, 1), (4, 1), (4, 2), (5, 2), (6, 1)]:
        x = np.arange(n, dtype=np.float32)
        result = machine.evaluate("main", Tagged(tag, (x,)))
        assert isinstance(result, Tagged)
        assert result.tag == 2
        same(list(cast(Any, result)), [np.array(tag, np.int32), x])
    assert machine.templates.runs == {0: 3}


def test_several_devices_and_closures(monkeypatch: pytest.MonkeyPatch):
    """-x is computed on another device, and |-x| in a closure."""
    kernels = [kernel(op, [f32(None)], f32(None)) for op in ("abs", "negative")]

    def tensor(dst: int, device: int, shape: int, size: int) -> list[vm.Instruction]:
        storage = vm.AllocStorage(dst + 1, vm.Reg(size), 64, device)
        return [storage, vm.AllocTensorReg(dst, dst + 1, 0, shape, "float32")]

    code = [
        vm.ShapeOf(1, 0),
        vm.LoadConsti(2, 0),
        vm.LoadConsti(3, 4),
        vm.Compute(4, "extract", (1, 2)),
        vm.Compute(5, "muli", (3, 4)),
        *tensor(10, 1, 1, 5),
        vm.DeviceCopy(0, 10, 0, 1),
        *tensor(12, 1, 1, 5),
        vm.InvokePacked(1, (10,), (12,)),
        *tensor(14, 0, 1, 5),
        vm.DeviceCopy(12, 14, 1, 0),
        vm.AllocClosure(20, 1, (14,)),
        vm.InvokeClosure(21, 20, (5,)),
        vm.Ret(21),
    ]
    absolute = [
        vm.ShapeOf(2, 0),
        *tensor(4, 0, 2, 1),
        vm.InvokePacked(0, (0,), (4,)),
        vm.AllocADT(6, 0, (4, 0)),
        vm.Ret(6),
    ]
    functions = (
        function([f32(None)], *code),
        function([None, None], *absolute, name="absolute"),
    )
    devices = ["cpu:0", "cuda:0"]
    machine = Machine(machine_program(*functions, kernels=kernels, devices=devices))
    segments = count_recorded(monkeypatch)
    for number, n in enumerate((3, 20, 40, 7)):
        if number == 2:
            segments.clear()
        x = np.linspace(-1, 1, n, dtype=np.float32)
        same(machine.run("main", x), [np.abs(x), -x])
    assert segments == []
    assert machine.counters.copied == {(0, 1): 280, (1, 0): 280}


@pytest.mark.ci
def test_long_paths():
    """Each size of a path may follow from the one before, as live bytes do."""
    kernels = [kernel("negative", [f32(None)], f32(None))]
    count, code = 1200, [vm.ShapeOf(1, 0), vm.LoadConsti(2, 0), vm.LoadConsti(3, 4)]
    code += [vm.Compute(4, "extract", (1, 2)), vm.Compute(5, "muli", (3, 4))]
    for number in range(count):
        source, storage = (2 * number + 9) * (number > 0), 2 * number + 10
        code += [vm.AllocStorage(storage, vm.Reg(5), 64)]
        code += [vm.AllocTensorReg(storage + 1, storage, 0, 1, "float32")]
        code += [vm.InvokePacked(0, (source,), (storage + 1,))]
    last = 2 * count + 9
    main = function([f32(None)], *code, vm.Ret(last), registers=last + 1)
    machine = Machine(machine_program(main, kernels=kernels))
    for n in (3, 4, 5, 60):
        x = np.linspace(-1, 1, n, dtype=np.float32)
        same(machine.run("main", x), [x])
    assert machine.templates.runs == {0: 2}
    assert machine.counters.peak == {0: 60 * 4 * count}


def test_products_by_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    types = "tensor<2x?x8xf32>", "tensor<2x?x?xf32>"
    names = (f'{{relay.dims = [2, "{name}", 8]}}' for name in "nm")
    head = ", ".join(f"%{x}: {types[0]} {dims}" for x, dims in zip("xy", names, strict=True))
    text = f"""func.func @main({head}) -> {types[1]} {{
      %z = relay.nn.batch_matmul %x, %y : ({types[0]}, {types[0]}) -> {types[1]}
      func.return %z : {types[1]}
    }}"""
    machine = Machine(program_of(text, tmp_path))
    segments = count_recorded(monkeypatch)
    for n, m in ((2, 3), (3, 5), (4, 7), (9, 20)):
        if n == 4:
            segments.clear()
        x, y = (np.stack(arguments(rows, rows)) for rows in (n, m))
        (found,) = machine.run("main", x, y)
        np.testing.assert_allclose(found, x @ y.swapaxes(1, 2), rtol=1e-5, atol=1e-5)
    assert segments == []

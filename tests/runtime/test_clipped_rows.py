"""Copies of rows that tensors do not have, in the machine and in the reference machine."""

from collections.abc import Sequence

import numpy as np
import pytest
from helpers.machine.both_machines import Machine
from helpers.programs.machine_programs import f32, function, program, tensor

from xrelay.runtime.errors import MachineError
from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.program import TensorSpec

FAR = 2**62
STARTS = [-FAR, -7, -3, -1, 0, 1, 2, 4, 5, FAR]
X = np.arange(20, dtype=np.float32).reshape(2, 5, 2)


def run(params: Sequence[TensorSpec], *code: vm.Instruction, args: Sequence[object]) -> np.ndarray:
    machine = Machine(program(function(params, *code, vm.Ret(20))))
    (result,) = machine.run("main", *args)
    return result


@pytest.mark.parametrize("start", STARTS)
def test_rows_that_are_not_there_are_filled(start: int):
    """All of the target is written, so it need not be before."""
    code = *tensor(20, 2, 3, 2), vm.ReadRows(0, vm.Reg(2), 20, 1, 1)
    args = [X, np.float32(-1), np.int64(start)]
    result = run([f32(2, 5, 2), f32(), TensorSpec("int64", ())], *code, args=args)
    for i in range(3):
        row = X[:, start + i] if 0 <= start + i < 5 else np.full((2, 2), -1)
        np.testing.assert_array_equal(result[:, i], row)


@pytest.mark.parametrize("start", STARTS)
def test_rows_that_are_not_there_are_not_written(start: int):
    code = *tensor(20, 2, 5, 2), vm.CopyRows(0, 0, 20, 0, 1, 5)
    write = vm.WriteRows(1, 1, 20, start, 1, 3)
    data = np.arange(100, 116, dtype=np.float32).reshape(2, 4, 2)
    result = run([f32(2, 5, 2), f32(2, 4, 2)], *code, write, args=[X, data])
    for row in range(5):
        expected = data[:, 1 + row - start] if 0 <= row - start < 3 else X[:, row]
        np.testing.assert_array_equal(result[:, row], expected)


@pytest.mark.parametrize("bound", [-(2**63), -1, 0, 1, 4, 2**63 - 1])
@pytest.mark.parametrize("start", STARTS)
def test_rows_besides_those_of_a_tensor_are_filled(start: int, bound: int):
    code = *tensor(20, 2, 5, 2), vm.CopyRows(0, 0, 20, 0, 1, 5)
    fill = vm.FillRows(1, 20, start, 1, vm.Reg(2))
    specs = [f32(2, 5, 2), f32(), TensorSpec("int64", ())]
    result = run(specs, *code, fill, args=[X, np.float32(-1), np.int64(bound)])
    for row in range(5):
        expected = X[:, row] if 0 <= start + row < bound else np.full((2, 2), -1)
        np.testing.assert_array_equal(result[:, row], expected)


@pytest.mark.parametrize(
    ("instruction", "message"),
    [
        (vm.ReadRows(0, 0, 20, 1, 0), "rows are filled with a scalar, but this is float32"),
        (vm.FillRows(0, 20, 0, 1, 3), "rows are filled with a scalar, but this is float32"),
        (vm.ReadRows(0, 0, 20, 3, 1), "has no 0 rows from 0 on along axis 3"),
        (vm.WriteRows(0, 0, 20, 0, -1, 2), "has no 0 rows from 0 on along axis -1"),
        (vm.WriteRows(0, 4, 20, 0, 1, 2), "has no 2 rows from 4 on along axis 1"),
        (vm.ReadRows(0, 0, 20, 0, 1), "cannot be copied over rows of type"),
        (vm.ReadRows(0, 0, 20, 1, 2), "cannot be copied over rows of type"),
        (vm.WriteRows(0, 0, 20, 1, 1, 2), "unwritten bytes"),
        (vm.FillRows(1, 20, 0, 1, 2), "unwritten bytes"),
    ],
)
def test_errors(instruction: vm.Instruction, message: str):
    specs = [f32(2, 5, 2), f32(), TensorSpec("int64", ())]
    with pytest.raises(MachineError, match=message):
        run(specs, *tensor(20, 2, 3, 2), instruction, args=[X, np.float32(0), np.int64(0)])

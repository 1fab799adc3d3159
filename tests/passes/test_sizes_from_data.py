"""
Plans with sizes that depend on data, of a tensor in an arm that is perhaps not taken.

The size is computed before the branch. Where the arm is not taken, it may be negative, or larger
than any memory. Results are compared with
those of the program that is not planned; unwritten and dead memory is poisoned.
"""

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from helpers.machine.in_machine import machine_of, run_passes
from helpers.programs.programs import parse

from xrelay.lowering.bytecode.assemble import assemble
from xrelay.runtime.errors import MachineError
from xrelay.runtime.machine.machine import Machine

PROGRAM = """
#cpu = #relay.device<cpu:0>

func.func @main(%c: tensor<i1, #cpu>, %n: tensor<1xi64, #cpu>, %x: T) -> T {
  %i0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %k = tensor.extract %n[%i0] : tensor<1xi64, #cpu>
  %shape = tensor.from_elements %k : tensor<1xi64, #cpu>
  %bytes = arith.muli %k, %c4 : i64
  %dims = vm.shape_of %x : (T) -> tensor<1xi64, #cpu>
  %d = tensor.extract %dims[%i0] : tensor<1xi64, #cpu>
  %room = arith.muli %d, %c4 : i64
  %p_s = memory.alloc_storage %room align 64 : !memory.storage<#cpu>
  %p_t = memory.alloc_tensor %p_s[0] shape %dims : tensor<1xi64, #cpu> -> T
  %p = vm.invoke_tvm_op @next ins(%x : T) outs(%p_t : T) -> T
  %q_s = memory.alloc_storage %room align 64 : !memory.storage<#cpu>
  %q_t = memory.alloc_tensor %q_s[0] shape %dims : tensor<1xi64, #cpu> -> T
  %q = vm.invoke_tvm_op @next ins(%p : T) outs(%q_t : T) -> T
  %r = relay.if %c : tensor<i1, #cpu> -> (T) {
    %f_s = memory.alloc_storage %bytes align 64 : !memory.storage<#cpu>
    %f_t = memory.alloc_tensor %f_s[0] shape %shape : tensor<1xi64, #cpu> -> T
    %f = vm.invoke_tvm_op @full ins(%n : tensor<1xi64, #cpu>) outs(%f_t : T) -> T
    %g_s = memory.alloc_storage %bytes align 64 : !memory.storage<#cpu>
    %g = func.call @lent(%f, %g_s) : (T, !memory.storage<#cpu>) -> T
    %s_s = memory.alloc_storage 4 align 64 : !memory.storage<#cpu>
    %s_t = memory.alloc_tensor %s_s[0] : tensor<f32, #cpu>
    %s = vm.invoke_tvm_op @both ins(%f, %g : T, T) outs(%s_t : S) -> S
    %y_s = memory.alloc_storage %room align 64 : !memory.storage<#cpu>
    %y_t = memory.alloc_tensor %y_s[0] shape %dims : tensor<1xi64, #cpu> -> T
    %y = vm.invoke_tvm_op @more ins(%x, %s : T, tensor<f32, #cpu>) outs(%y_t : T) -> T
    relay.yield %y : T
  } else {
    relay.yield %x : T
  }
  %u_s = memory.alloc_storage %room align 64 : !memory.storage<#cpu>
  %u_t = memory.alloc_tensor %u_s[0] shape %dims : tensor<1xi64, #cpu> -> T
  %u = vm.invoke_tvm_op @add ins(%r, %q : T, T) outs(%u_t : T) -> T
  %v_s = memory.alloc_storage %room align 64 : !memory.storage<#cpu>
  %v_t = memory.alloc_tensor %v_s[0] shape %dims : tensor<1xi64, #cpu> -> T
  %v = vm.invoke_tvm_op @add ins(%u, %p : T, T) outs(%v_t : T) -> T
  func.return %v : T
}

func.func private @lent(%x: T, %s: !memory.storage<#cpu>) -> T {
  %dims = vm.shape_of %x : (T) -> tensor<1xi64, #cpu>
  %t = memory.alloc_tensor %s[0] shape %dims : tensor<1xi64, #cpu> -> T
  %y = vm.invoke_tvm_op @next ins(%x : T) outs(%t : T) -> T
  func.return %y : T
}

relay.prim_func @full(%n: tensor<1xi64>) -> K {
  %one = relay.constant dense<1.0> : tensor<f32>
  %y = relay.dyn.full %one, %n : (tensor<f32>, tensor<1xi64>) -> K
  relay.yield %y : K
}

relay.prim_func @both(%x: K, %y: K) -> tensor<f32> {
  %sum = relay.add %x, %y : (K, K) -> K
  %s = relay.sum %sum {axis = array<i64: 0>} : (K) -> tensor<f32>
  relay.yield %s : tensor<f32>
}

relay.prim_func @more(%x: K, %s: tensor<f32>) -> K {
  %y = relay.add %x, %s : (K, tensor<f32>) -> K
  relay.yield %y : K
}

relay.prim_func @add(%x: K, %y: K) -> K {
  %z = relay.add %x, %y : (K, K) -> K
  relay.yield %z : K
}

relay.prim_func @next(%x: K) -> K {
  %one = relay.constant dense<1.0> : tensor<f32>
  %y = relay.add %x, %one : (K, tensor<f32>) -> K
  relay.yield %y : K
}
"""
TYPES = {"T": "tensor<?xf32, #cpu>", "K": "tensor<?xf32>", "S": "tensor<f32, #cpu>"}

PLANS = (
    "plan-memory",
    "plan-memory{in_place=false}",
    "plan-memory{reorder=true}",
    "plan-memory{strategy=coalesce}",
    "plan-memory{strategy=greedy-by-size}",
    "plan-memory{dynamic=at-bind}",
    "coalesce-storage,layout-slices,manifest-lifetimes,verify-memory-plan",
)

SIZES = (-(2**61), -1000, -5, -1, 0, 1, 7, 100)

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def machine_of_plan(plan: str) -> Machine:
    module = parse(re.sub(r"\b[TKS]\b", lambda match: TYPES[match[0]], PROGRAM))
    run_passes(module, f"{plan},expand-packs,lower-to-bytecode")
    return machine_of(assemble(module))


def results(machine: Machine, is_taken: bool, size: int, length: int) -> Array | str:
    x = np.linspace(-1, 1, length, dtype=np.float32)
    try:
        (result,) = machine.run("main", np.array(is_taken), np.array([size]), x)
    except MachineError as error:
        return str(error)
    return np.array(result)


@pytest.fixture(scope="module")
def machine_with() -> Callable[[str], Machine]:
    """The machine for a plan, made once."""
    return cache(machine_of_plan)


@pytest.fixture(scope="module")
def unplanned(machine_with: Callable[[str], Machine]) -> Machine:
    return machine_with("manifest-lifetimes")


@pytest.mark.ci
@pytest.mark.parametrize("plan", PLANS)
def test_results_are_those_without_a_plan(
    plan: str, unplanned: Machine, machine_with: Callable[[str], Machine]
):
    machine = machine_with(plan)
    for length in (3, 16, 50):
        for size in SIZES:
            for is_taken in (False, True, False):
                found = results(machine, is_taken, size, length)
                wanted = results(unplanned, is_taken, size, length)
                what = f"{size}, {length}, {is_taken}: {found}, not {wanted}"
                if isinstance(found, str) or isinstance(wanted, str):
                    assert isinstance(found, str), what
                    assert isinstance(wanted, str), what
                    assert is_taken, what
                    assert size < 0, what
                    continue
                np.testing.assert_array_equal(found, wanted, err_msg=what)
                extra = size * (1 + 2) if is_taken else 0
                x = np.linspace(-1, 1, length, dtype=np.float32)
                np.testing.assert_allclose(found, 3 * x + 3 + extra, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("size", [2**40, 2**61 - 8, 2**61, 2**63 - 1])
def test_a_huge_size_matters_only_where_its_arm_is_taken(
    plan: str, size: int, unplanned: Machine, machine_with: Callable[[str], Machine]
):
    machine = machine_with(plan)
    found, wanted = (results(each, False, size, 16) for each in (machine, unplanned))
    if isinstance(wanted, str):  # its computation, before the branch, has no result
        assert "does not fit in 64 bits" in wanted
        assert isinstance(found, str)
        assert "does not fit in 64 bits" in found
    else:
        np.testing.assert_array_equal(found, wanted)
    error = results(machine, True, size, 16)
    assert isinstance(error, str)
    assert "main[" in error

"""Runs in which dead bytes are overwritten show overlaps that other runs do not."""

import numpy as np
from helpers.machine.in_machine import machine_of, run_passes
from helpers.programs.programs import parse

from xrelay.lowering.bytecode.assemble import assemble

LOWER = "plan-devices,expand-packs,lower-to-bytecode,allocate-registers"

OVERLAP = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %s = memory.alloc_storage 64 align 64 : !memory.storage
  %t = memory.alloc_tensor %s[0] : tensor<4xf32>
  %a = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %u = memory.alloc_tensor %s[OFFSET] : tensor<4xf32>
  %b = vm.invoke_tvm_op @exp ins(%x : tensor<4xf32>) outs(%u : tensor<4xf32>) -> tensor<4xf32>
  memory.kill %b : tensor<4xf32>
  %r = memory.alloc_storage 16 align 64 : !memory.storage
  %v = memory.alloc_tensor %r[0] : tensor<4xf32>
  %c = vm.invoke_tvm_op @exp ins(%a : tensor<4xf32>) outs(%v : tensor<4xf32>) -> tensor<4xf32>
  memory.kill %a : tensor<4xf32>
  func.return %c : tensor<4xf32>
}
relay.prim_func @exp(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %y : tensor<4xf32>
}
"""


def test_an_overlap_of_equal_values_is_seen_when_one_of_them_dies():
    x = np.array([0, 0.5, 1, 1.5], np.float32)
    for offset, passes, is_right in (
        (0, LOWER, True),
        (0, f"overwrite-dead-bytes,{LOWER}", False),
        (16, f"overwrite-dead-bytes,{LOWER}", True),
    ):
        module = parse(OVERLAP.replace("OFFSET", str(offset)))
        run_passes(module, passes)
        machine = machine_of(assemble(module))
        for _ in range(2):  # the second time along the recorded path
            found = np.asarray(machine.run("main", x))
            assert np.isnan(found).all() != is_right
            assert not is_right or np.allclose(found, np.exp(np.exp(x)))
